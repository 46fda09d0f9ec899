// SPDX-License-Identifier: GPL-2.0
#include "random.h"

uint64_t rng_odd_number(struct rng *rng, uint64_t min, uint64_t max)
{
	switch (rng_below(rng, 10)) {
	case 0:
		return 0;
	case 1:
		return 1;
	case 2:
		return max;
	case 3:
		return max + 1;
	case 4:
		return min - 1;
	case 5:
		return UINT64_MAX;
	case 6:
		return 1ULL << rng_below(rng, 64);
	case 7:
		return (1ULL << rng_below(rng, 64)) - 1;
	case 8:
		return rng_range(rng, min, max) ^ 1ULL << rng_below(rng, 64);
	default:
		return rng_next(rng);
	}
}
