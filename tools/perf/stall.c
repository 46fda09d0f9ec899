// SPDX-License-Identifier: GPL-2.0
#include "stall.h"

#include <time.h>

unsigned int stall_seconds;
unsigned int stall_polls;

enum stall stall_look(void)
{
	static struct timespec since;
	struct timespec now;
	time_t seconds;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (stall_polls <= STALL_POLLS)
		since = now;
	seconds = now.tv_sec - since.tv_sec;
	return seconds >= (time_t)stall_seconds ? STALL_YES : seconds ? STALL_SLOW : STALL_NO;
}
