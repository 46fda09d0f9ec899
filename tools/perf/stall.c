// SPDX-License-Identifier: GPL-2.0
#include "stall.h"

#include <stddef.h>
#include <sys/time.h>

volatile uint64_t progress;
volatile sig_atomic_t stalled;

static unsigned int limit, quiet;
static uint64_t last;

static void tick(int sig)
{
	(void)sig;
	quiet = progress == last ? quiet + 1 : 0;
	last = progress;
	stalled = quiet >= limit;
}

void stall_watch(unsigned int seconds)
{
	struct sigaction action = { .sa_handler = tick, .sa_flags = SA_RESTART };
	struct itimerval timer = { .it_interval = { .tv_sec = 1 }, .it_value = { .tv_sec = 1 } };

	limit = seconds;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}
