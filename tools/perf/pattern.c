// SPDX-License-Identifier: GPL-2.0
#include "pattern.h"

#include "../common/say.h"

#include <inttypes.h>

#define GUARD	0xa5

static uint64_t mix(uint64_t x)
{
	x ^= x >> 31;
	x *= UINT64_C(0xbf58476d1ce4e5b9);
	return x ^ x >> 29;
}

/* No two sizes or iterations share a seed. */
static uint64_t seed_of(uint64_t size, uint64_t iteration)
{
	return mix(size * UINT64_C(0x9e3779b97f4a7c15) + mix(iteration + 1));
}

/* Cheap, for emulated hosts: no two places of a message have the same word. */
static inline uint64_t word_of(uint64_t seed, uint64_t at)
{
	return seed + at * UINT64_C(0x9e3779b97f4a7c15);
}

void pattern_fill(void *to, uint64_t size, uint64_t iteration)
{
	uint64_t seed = seed_of(size, iteration), *words = to, i, last;

	for (i = 0; i < size / 8; i++)
		words[i] = word_of(seed, i);
	last = word_of(seed, i);
	memcpy(words + i, &last, size % 8);
}

bool pattern_check(const void *from, uint64_t size, uint64_t iteration, const char *who)
{
	uint64_t seed = seed_of(size, iteration), i, last, tail = 0;
	const uint64_t *words = from;

	for (i = 0; i < size / 8; i++) {
		if (words[i] == word_of(seed, i))
			continue;
		complain("%s: message %" PRIu64 " of %" PRIu64 " bytes: at byte %" PRIu64
			 " %016" PRIx64 ", not %016" PRIx64, who, iteration, size, i * 8,
			 words[i], word_of(seed, i));
		return false;
	}
	last = word_of(seed, i);
	memcpy(&tail, words + i, size % 8);
	if (!memcmp(&tail, &last, size % 8))
		return true;
	complain("%s: message %" PRIu64 " of %" PRIu64 " bytes: its last %" PRIu64
		 " bytes are wrong", who, iteration, size, size % 8);
	return false;
}

void guards_fill(void *region, const struct layout *l)
{
	uint32_t i;

	for (i = 0; i < l->slots; i++)
		memset((char *)region + i * l->stride + l->size, GUARD, l->stride - l->size);
}

uint64_t guards_check(const void *region, const struct layout *l, const char *who)
{
	uint64_t at, bad = 0;
	uint32_t i;

	for (i = 0; i < l->slots; i++) {
		const unsigned char *slot = (const unsigned char *)region + i * l->stride;

		for (at = l->size; at < l->stride && slot[at] == GUARD; at++)
			;
		if (at == l->stride)
			continue;
		complain("%s: slot %u: byte %" PRIu64 " behind the message was written", who, i,
			 at - l->size);
		bad++;
	}
	return bad;
}

struct atomic_step atomic_step(enum op op, uint64_t iteration, uint64_t current)
{
	struct atomic_step s = { .swap_add = seed_of(8, iteration) };

	if (op == OP_FETCH_ADD) {
		s.next = current + s.swap_add;
		return s;
	}
	s.compare = iteration % 4 == 3 ? ~current : current;
	s.next = s.compare == current ? s.swap_add : current;
	return s;
}
