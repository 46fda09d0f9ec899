/* SPDX-License-Identifier: GPL-2.0 */
/* Bytes that tell the message they belong to, and what atomics do to a word. */
#ifndef PATTERN_H
#define PATTERN_H

#include "perf.h"

void pattern_fill(void *to, uint64_t size, uint64_t iteration);

/* False after telling the first byte that is wrong, on behalf of @who. */
bool pattern_check(const void *from, uint64_t size, uint64_t iteration, const char *who);

/* What lies between slots, and in slots before they are used. */
void guard_fill(void *to, uint64_t size);
bool guard_check(const void *from, uint64_t size, const char *who);

struct atomic_step {
	uint64_t compare;
	uint64_t swap_add;
	uint64_t next;		/* the word afterwards */
};

/* The operation of an iteration on a word that holds @current; some compare unequal. */
struct atomic_step atomic_step(enum op op, uint64_t iteration, uint64_t current);

#endif /* PATTERN_H */
