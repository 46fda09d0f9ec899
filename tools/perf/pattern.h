/* SPDX-License-Identifier: GPL-2.0 */
/* Bytes that tell the message they belong to, and what atomics do to a word. */
#ifndef PATTERN_H
#define PATTERN_H

#include "perf.h"

void pattern_fill(void *to, uint64_t size, uint64_t iteration);

/* False after telling the first byte that is wrong, on behalf of @who. */
bool pattern_check(const void *from, uint64_t size, uint64_t iteration, const char *who);

/* What lies behind the message in each slot of a region, and must stay. */
void guards_fill(void *region, const struct layout *l);

/* How many are damaged; tells of each on behalf of @who. */
uint64_t guards_check(const void *region, const struct layout *l, const char *who);

struct atomic_step {
	uint64_t compare;
	uint64_t swap_add;
	uint64_t next;		/* the word afterwards */
};

/* The operation of an iteration on a word that holds @current; some compare unequal. */
struct atomic_step atomic_step(enum op op, uint64_t iteration, uint64_t current);

#endif /* PATTERN_H */
