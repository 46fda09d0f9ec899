// SPDX-License-Identifier: GPL-2.0
#include "stall.h"

#include <time.h>

unsigned int stall_seconds;
unsigned int stall_polls;

bool stall_look(void)
{
	static struct timespec since;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (stall_polls <= STALL_POLLS)
		since = now;
	return now.tv_sec - since.tv_sec >= (time_t)stall_seconds;
}
