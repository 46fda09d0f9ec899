// SPDX-License-Identifier: GPL-2.0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sequence.h"
#include "steps.h"

#define CORPUS_MAX	4096

static struct corpus {
	pthread_mutex_t lock;
	unsigned int count;
	struct sequence sequence[CORPUS_MAX];
	bool useful[CORPUS_MAX];
} *corpus;

/* Making -------------------------------------------------------------------------- */

static void append(struct sequence *s, unsigned int kind, uint32_t seed)
{
	if (s->length == STEPS_MAX)
		return;
	s->kind[s->length] = kind;
	s->seed[s->length++] = seed;
}

/* What most steps need, in the order in which it can be made. */
static const char *const chain[] = {
	"PD_ALLOC", "DOORBELL_ALLOC", "buffer", "MR_REG", "CQ_CREATE", "QP_CREATE", "map",
	"QP_MODIFY", "QP_MODIFY", "QP_MODIFY", "post", "ring",
};

#define CHAIN	(sizeof(chain) / sizeof(chain[0]))

void sequence_make(struct rng *rng, struct sequence *s)
{
	unsigned int i, more = rng_range(rng, 8, STEPS_MAX - CHAIN);
	uint32_t seed;

	s->length = 0;
	for (i = 0; i < CHAIN; i++) {
		seed = rng_next(rng);
		if (rng_one_in(rng, 16))
			continue;
		if (!rng_one_in(rng, 16))
			seed |= SEED_VALID;
		append(s, step_by_name(chain[i], strlen(chain[i])), seed);
	}
	while (more--)
		append(s, step_random(rng), rng_next(rng));
	s->race = rng_one_in(rng, 3) ? rng_range(rng, s->length / 2, s->length) : s->length;
}

static void insert(struct sequence *s, unsigned int at, unsigned int kind, uint32_t seed)
{
	if (s->length == STEPS_MAX)
		return;
	memmove(&s->kind[at + 1], &s->kind[at], (s->length - at) * sizeof(s->kind[0]));
	memmove(&s->seed[at + 1], &s->seed[at], (s->length - at) * sizeof(s->seed[0]));
	s->kind[at] = kind;
	s->seed[at] = seed;
	s->length++;
	s->race += s->race >= at;
}

static void delete(struct sequence *s, unsigned int at)
{
	s->length--;
	s->race -= s->race > at;
	memmove(&s->kind[at], &s->kind[at + 1], (s->length - at) * sizeof(s->kind[0]));
	memmove(&s->seed[at], &s->seed[at + 1], (s->length - at) * sizeof(s->seed[0]));
}

static void splice(struct rng *rng, struct sequence *s, const struct sequence *other)
{
	unsigned int from = rng_below(rng, other->length + 1), i;

	sequence_cut(s, rng_below(rng, s->length + 1));
	for (i = from; i < other->length; i++)
		append(s, other->kind[i], other->seed[i]);
	s->race = s->length;
}

void sequence_vary(struct rng *rng, struct sequence *s, const struct sequence *other)
{
	unsigned int times = rng_range(rng, 1, 6), at;

	while (times--) {
		at = rng_below(rng, s->length + 1);
		switch (s->length ? rng_below(rng, 8) : 0) {
		case 0:
		case 1:
		case 2:
			insert(s, at, step_random(rng), rng_next(rng));
			break;
		case 3:
			delete(s, at % s->length);
			break;
		case 4:
			s->seed[at % s->length] = rng_next(rng);
			break;
		case 5:		/* as before, but it need not succeed */
			s->seed[at % s->length] ^= SEED_VALID;
			break;
		case 6:
			insert(s, at, s->kind[at % s->length], s->seed[at % s->length]);
			break;
		default:
			if (rng_one_in(rng, 2))
				s->race = rng_range(rng, 0, s->length);
			else
				splice(rng, s, other);
			break;
		}
	}
	if (!s->length)
		sequence_make(rng, s);
}

void sequence_cut(struct sequence *s, unsigned int length)
{
	if (s->length > length)
		s->length = length;
	if (s->race > s->length)
		s->race = s->length;
}

/* Text ------------------------------------------------------------------------------- */

size_t sequence_print(const struct sequence *s, char text[TEXT_MAX])
{
	unsigned int i, at = 0;

	for (i = 0; i < s->length; i++)
		at += sprintf(text + at, "%s%s%s:%x", at ? " " : "", i == s->race ? "race " : "",
			      step_name(s->kind[i]), s->seed[i]);
	at += sprintf(text + at, "\n");
	return at;
}

bool sequence_parse(const char *text, struct sequence *s)
{
	char *end;
	size_t n;
	int kind;

	s->length = 0;
	s->race = STEPS_MAX;
	for (;;) {
		text += strspn(text, " \r\n");
		if (!*text)
			break;
		n = strcspn(text, ": \r\n");
		if (n == 4 && !strncmp(text, "race", n)) {
			s->race = s->length;
			text += n;
			continue;
		}
		kind = step_by_name(text, n);
		if (kind < 0 || text[n] != ':' || s->length == STEPS_MAX)
			return false;
		append(s, kind, strtoul(text + n + 1, &end, 16));
		text = end;
	}
	sequence_cut(s, s->length);
	return s->length;
}

/* Corpus ------------------------------------------------------------------------------ */

void corpus_init(void)
{
	pthread_mutexattr_t attr;

	corpus = mmap(NULL, sizeof(*corpus), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (corpus == MAP_FAILED)
		abort();
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&corpus->lock, &attr);
}

int corpus_read(const char *path)
{
	FILE *file = fopen(path, "r");
	char line[TEXT_MAX];
	struct sequence s;
	int n = 0;

	while (file && n >= 0 && fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		if (!sequence_parse(line, &s)) {
			fprintf(stderr, "%s: no sequence: %s", path, line);
			n = -2;
			continue;
		}
		corpus_add(&s, false);
		n++;
	}
	if (!file || fclose(file) || n < 0)
		return -1;
	return n;
}

void corpus_add(const struct sequence *s, bool useful)
{
	pthread_mutex_lock(&corpus->lock);
	if (corpus->count < CORPUS_MAX) {
		corpus->sequence[corpus->count] = *s;
		corpus->useful[corpus->count] = useful;
		__atomic_store_n(&corpus->count, corpus->count + 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&corpus->lock);
}

void corpus_set_useful(unsigned int i)
{
	corpus->useful[i] = true;
}

unsigned int corpus_count(void)
{
	return __atomic_load_n(&corpus->count, __ATOMIC_ACQUIRE);
}

void corpus_get(unsigned int i, struct sequence *s)
{
	*s = corpus->sequence[i];
}

bool corpus_write(const char *path)
{
	FILE *file = fopen(path, "w");
	char text[TEXT_MAX];
	unsigned int i;

	if (!file)
		return false;
	for (i = 0; i < corpus_count(); i++) {
		if (!corpus->useful[i])
			continue;
		sequence_print(&corpus->sequence[i], text);
		fputs(text, file);
	}
	return !fclose(file);
}
