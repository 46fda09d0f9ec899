// SPDX-License-Identifier: GPL-2.0
#include "ticks.h"

#include <stdlib.h>
#include <time.h>

double seconds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

void ticks_latencies(struct result *res, uint64_t *ticks, uint64_t all)
{
	double us_per_tick = res->seconds * 1e6 / (double)(all ? all : 1);
	uint64_t n = res->iterations;

	qsort(ticks, n, sizeof(*ticks), ascending);
	res->us_min = (double)ticks[0] * us_per_tick;
	res->us_median = (double)ticks[n / 2] * us_per_tick;
	res->us_p99 = (double)ticks[n - 1 - n / 100] * us_per_tick;
	res->us_max = (double)ticks[n - 1] * us_per_tick;
}
