// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "priv.h"

#include <time.h>

#define PAUSE_MAX_MS	32

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void patience_begin(struct patience *p, int timeout_ms)
{
	p->end_ms = timeout_ms < 0 ? UINT64_MAX : now_ms() + (uint64_t)timeout_ms;
	p->pause_ms = 1;
}

bool patience_left(struct patience *p)
{
	struct timespec pause = { .tv_nsec = p->pause_ms * 1000000L };

	if (now_ms() >= p->end_ms)
		return false;
	nanosleep(&pause, NULL);
	if (p->pause_ms < PAUSE_MAX_MS)
		p->pause_ms *= 2;
	return true;
}
