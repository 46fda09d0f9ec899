/* SPDX-License-Identifier: GPL-2.0 */
/* All kinds of steps: the ioctls first, in the order of their table, then the rest. */
#ifndef STEPS_H
#define STEPS_H

#include "fuzz.h"

extern const unsigned int step_kinds;

const char *step_name(unsigned int kind);
/* -1 if there is none of this name. */
int step_by_name(const char *name, size_t length);
/* Picks by weight. */
unsigned int step_random(struct rng *rng);

/* Does one. */
void step_run(struct context *ctx, unsigned int kind, uint32_t seed);

/* Seeds of this kind try to succeed. */
#define SEED_VALID	0x1

#endif /* STEPS_H */
