/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counting instructions: with -icount the time-stamp counter of the guest
 * advances by one for each instruction that it executes.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>

#define REPEAT 31	/* the minimum of so many is taken */

/* Kept from the optimiser: what stands behind the pointer has to be read. */
#define OPAQUE(p) ({ __typeof__(p) p_ = (p); __asm__ __volatile__("" : "+r"(p_) :: "memory"); p_; })

static inline uint64_t tsc(void)
{
	uint32_t low, high;

	__asm__ __volatile__("rdtsc" : "=a"(low), "=d"(high) :: "memory");
	return (uint64_t)high << 32 | low;
}

/* The least count over the repetitions of work, between setup and teardown. */
#define LEAST(setup, work, teardown) ({						\
	uint64_t least_ = UINT64_MAX, count_;					\
	int i_;									\
										\
	for (i_ = 0; i_ < REPEAT; i_++) {					\
		setup;								\
		count_ = tsc();							\
		work;								\
		count_ = tsc() - count_;					\
		teardown;							\
		if (count_ < least_)						\
			least_ = count_;					\
	}									\
	least_;									\
})

/* Prints one line of the result, without what reading the counter costs. */
void report(const char *who, const char *what, uint64_t least);

enum pages_kind {
	PAGES_AS_GIVEN,		/* as malloc() gets them: in huge pages if there are */
	PAGES_SMALL,		/* none in a huge page */
};

/* Memory that is there. */
void *pages(unsigned long count, enum pages_kind kind);

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void need(int ok, const char *what);

void bench_rxe(const char *device, unsigned int gid_index);
void bench_snic(const char *device, const char *peer);

#endif /* BENCH_H */
