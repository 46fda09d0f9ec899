/* SPDX-License-Identifier: GPL-2.0 */
/* Pseudo-random numbers: splitmix64. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
	uint64_t state;
};

static inline uint64_t rng_next(struct rng *rng)
{
	uint64_t z = rng->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static inline uint64_t rng_below(struct rng *rng, uint64_t n)
{
	return rng_next(rng) % n;
}

static inline uint64_t rng_range(struct rng *rng, uint64_t min, uint64_t max)
{
	return min + rng_below(rng, max - min + 1);
}

static inline bool rng_one_in(struct rng *rng, unsigned int n)
{
	return !rng_below(rng, n);
}

/* A number at a border of something, around the range min..max. */
uint64_t rng_odd_number(struct rng *rng, uint64_t min, uint64_t max);

#endif /* RANDOM_H */
