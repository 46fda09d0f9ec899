/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sequences of steps, made, varied, kept. As text: a line of KIND:SEED words, of which
 * "race" says that two threads do the rest at the same time.
 */
#ifndef SEQUENCE_H
#define SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random.h"

#define STEPS_MAX	48
#define TEXT_MAX	(STEPS_MAX * 32)

struct sequence {
	uint8_t length;
	uint8_t race;			/* the first step of the race; length: none */
	uint8_t kind[STEPS_MAX];
	uint32_t seed[STEPS_MAX];
};

void sequence_make(struct rng *rng, struct sequence *s);
/* Changes it a little; other gives steps to it. */
void sequence_vary(struct rng *rng, struct sequence *s, const struct sequence *other);
void sequence_cut(struct sequence *s, unsigned int length);

/* A line with its end. */
size_t sequence_print(const struct sequence *s, char text[TEXT_MAX]);
bool sequence_parse(const char *text, struct sequence *s);

/* Sequences to be varied; all processes share them. Those that prove useful can be written. */
void corpus_init(void);
/* Reads lines; those that are none are an error. How many, or -1. */
int corpus_read(const char *path);
void corpus_add(const struct sequence *s, bool useful);
void corpus_set_useful(unsigned int i);
unsigned int corpus_count(void);
void corpus_get(unsigned int i, struct sequence *s);
bool corpus_write(const char *path);

#endif /* SEQUENCE_H */
