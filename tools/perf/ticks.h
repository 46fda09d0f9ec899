/* SPDX-License-Identifier: GPL-2.0 */
/* Time, and what many times have in common. */
#ifndef TICKS_H
#define TICKS_H

#include "load.h"

/* Time without a system call. */
static inline uint64_t ticks_now(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t t;

	__asm__ __volatile__("isb; mrs %0, cntvct_el0" : "=r"(t));
	return t;
#endif
}

double seconds_now(void);

/* Latencies of the result from those of its iterations, which @all ticks were spent on. */
void ticks_latencies(struct result *res, uint64_t *ticks, uint64_t all);

#endif /* TICKS_H */
