/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counting instructions: with -icount the time-stamp counter of the guest
 * advances by one for each instruction that it executes.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>

#define REPEAT 31	/* the minimum of so many is taken */

/* The low half is enough: nothing here takes four billion instructions. */
static inline uint32_t tsc(void)
{
	uint32_t low;

	__asm__ __volatile__("rdtsc" : "=a"(low) :: "edx", "memory");
	return low;
}

/* The least of the counts that an expression gives, between setup and teardown. */
#define LEAST_OF(setup, counting, teardown) ({					\
	uint32_t least_ = UINT32_MAX, count_;					\
	int i_;									\
										\
	for (i_ = 0; i_ < REPEAT; i_++) {					\
		setup;								\
		count_ = (counting);						\
		teardown;							\
		if (count_ < least_)						\
			least_ = count_;					\
	}									\
	least_;									\
})

/* The least count of instructions of work, likewise. */
#define LEAST(setup, work, teardown) \
	LEAST_OF(setup, ({ uint32_t start_ = tsc(); work; tsc() - start_; }), teardown)

/* Prints one line of the result, without what reading the counter costs. */
void report(const char *who, const char *what, uint32_t least);

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
