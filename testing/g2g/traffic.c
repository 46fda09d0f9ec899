// SPDX-License-Identifier: GPL-2.0
/*
 * Loads, stores or atomics without end, until something ends them. A second stream between other
 * dies has to go on as if nothing had happened.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "g2g-test.h"
#include "xpu.h"

#define LENGTH	0x10000ULL
#define STEPS	8		/* that show that a stream runs */
#define PATTERN	0x5a5a5a5a00000000ULL
/*
 * The page that stands in for a window that is gone is one for all its pages, and keeps what is
 * stored: in each page the upper half is never stored to.
 */
#define LOADED	2048

/**
 * struct stream - one importer at work
 * @kind: load, store or atomic
 * @stop: asked to end
 * @goal: steps that are waited for
 * @steps: done
 * @poisoned: of them, by an answer of all-ones
 * @wrong: of them, by another answer than the right one
 * @worst_us: of one access
 */
struct stream {
	struct export export;
	struct import import;
	const char *kind;
	pthread_t thread;
	volatile bool stop;
	unsigned int goal;
	volatile unsigned int steps, poisoned, wrong;
	uint64_t worst_us;
};

static uint64_t load_word(struct stream *s, uint64_t offset)
{
	uint64_t start = now_us(), value, took;

	value = *(volatile uint64_t *)(s->import.at + offset);
	took = now_us() - start;
	if (took > s->worst_us)
		s->worst_us = took;
	return value;
}

static void load(struct stream *s)
{
	uint64_t offset = s->steps * 8 % 2048 + LOADED + s->steps * 4096ULL % LENGTH;
	uint64_t value = load_word(s, offset);

	if (value == ONES)
		s->poisoned++;
	else if (value != PATTERN + offset)
		s->wrong++;
}

static void store(struct stream *s)
{
	uint64_t n;

	for (n = 0; n < 16; n++)
		*(volatile uint64_t *)(s->import.at + n * 8 + s->steps * 4096ULL % LENGTH) =
			(uint64_t)s->steps << 8 | n;
	load(s);
}

static void atomic(struct stream *s)
{
	uint64_t start = now_us(), took, before, status;

	status = atomic_run(&s->import, 0, KIWI_G2G_FETCH_ADD, 0, 1, 0, &before);
	took = now_us() - start;
	if (took > s->worst_us)
		s->worst_us = took;
	if (status != KIWI_G2G_ST_OK)
		s->poisoned++;
	else if (before != PATTERN + s->steps)
		s->wrong++;
}

static void *run(void *arg)
{
	struct stream *s = arg;

	for (; !s->stop; s->steps++) {
		if (!strcmp(s->kind, "load"))
			load(s);
		else if (!strcmp(s->kind, "store"))
			store(s);
		else
			atomic(s);
	}
	return NULL;
}

static bool has_come_far(void *arg)
{
	const struct stream *s = arg;

	return s->steps >= s->goal;
}

static void wait_steps(struct stream *s, unsigned int more)
{
	s->goal = s->steps + more;
	wait_until(has_come_far, s, "traffic is to go on");
}

static void begin(struct stream *s, const char *kind, const struct die *from,
		  const struct die *to)
{
	static uint64_t fill[LENGTH / 8];
	uint64_t n;

	*s = (struct stream) { .kind = kind };
	for (n = 0; n < LENGTH / 8; n++)
		fill[n] = PATTERN + n * 8;
	export_make(&s->export, from, LENGTH, ALL, 1ULL << to->index);
	if (xpu_write(from->xpu, s->export.buf, 0, fill, LENGTH))
		fail("xpu%u: its memory cannot be written", from->index);
	import_make(&s->import, to, &s->export, ALL);
	import_map(&s->import, 0, LENGTH, 0);
	if (pthread_create(&s->thread, NULL, run, s))
		fail("no thread");
	wait_steps(s, STEPS);
}

static void stop(struct stream *s)
{
	s->stop = true;
	pthread_join(s->thread, NULL);
}

static void end(struct stream *s)
{
	import_destroy(&s->import);
	export_destroy(&s->export);
}

/* Nothing of a stream that was to go on may have met what ended the other. */
static void end_undisturbed(struct stream *s)
{
	wait_steps(s, STEPS);
	stop(s);
	if (s->poisoned || s->wrong)
		fail("other dies: %u accesses poisoned, %u wrong of %u", s->poisoned, s->wrong,
		     s->steps);
	end(s);
}

/* What the log says --------------------------------------------------------------- */

/**
 * struct account - what the importer had said before
 * @log: latest report
 * @poisoned: counter
 */
struct account {
	uint64_t log;
	long long poisoned;
};

/* Loads and atomics that were reported, by status. */
static unsigned int reported(const struct import *i, uint64_t after, unsigned int *by_status)
{
	struct kiwi_g2g_log_record records[64];
	unsigned int n, nr = die_log(i->die, after, i->number, records, 64), sum = 0;

	memset(by_status, 0, 32 * sizeof(*by_status));
	for (n = 0; n < nr; n++) {
		if (records[n].kind == KIWI_G2G_LOG_STORE)
			continue;
		by_status[records[n].status % 32] += records[n].count;
		sum += records[n].count;
	}
	return sum;
}

/*
 * Every access that was poisoned is in the log, and nothing else is. Where stores and loads take
 * turns each is a record of its own, and there are more of them than the log holds.
 */
static void check_log(const struct stream *s, const struct account *before)
{
	const struct import *i = &s->import;
	long long poisoned = die_counter(i->die, "poisoned") - before->poisoned;
	bool all = strcmp(s->kind, "store");
	uint64_t end = now_us() + 5000000;
	unsigned int by_status[32], status, sum;

	while ((sum = reported(i, before->log, by_status)) < (all ? poisoned : !!poisoned) &&
	       now_us() < end)
		usleep(2000);
	if (all ? sum != poisoned : !sum != !poisoned)
		fail("g2g%u: %lld accesses poisoned, %u in the log", i->die->index, poisoned, sum);
	printf(", \"log\": {");
	for (sum = 0, status = 0; status < 32; status++) {
		if (by_status[status])
			printf("%s \"%u\": %u", sum++ ? "," : "", status, by_status[status]);
	}
	printf(" }");
}

static struct account account_of(const struct die *die)
{
	return (struct account) { die_log_end(die), die_counter(die, "poisoned") };
}

/* Ends ------------------------------------------------------------------------------ */

/* A window that is dead reads as all-ones, also when the driver has taken the mapping away. */
static void check_dead(const struct stream *s)
{
	uint64_t offset, value;

	for (offset = LOADED; offset < LENGTH; offset += 4096 + 8) {
		value = *(volatile uint64_t *)(s->import.at + offset);
		if (value != ONES)
			fail("a dead import reads %#llx at %#llx", (unsigned long long)value,
			     (unsigned long long)offset);
	}
}

/* The file tells first that the die goes, then the mapping goes. */
static bool reads_ones(void *arg)
{
	const struct stream *s = arg;

	return *(volatile uint64_t *)(s->import.at + LOADED) == ONES;
}

static void report(const struct stream *s, const char *ended, uint32_t reason, uint64_t us)
{
	printf("{ \"ended\": \"%s\", \"reason\": %u, \"us\": %llu, \"steps\": %u, \"poisoned\": %u, \"worst_us\": %llu",
	       ended, reason, (unsigned long long)us, s->steps, s->poisoned,
	       (unsigned long long)s->worst_us);
	if (s->wrong)
		fail("%u of %u answers were wrong", s->wrong, s->steps);
}

static struct die *die_of(struct fabric *f, const char *word)
{
	char *end = NULL;
	unsigned long n = word ? strtoul(word, &end, 10) : 0;

	if (!end || end == word || *end || n >= f->nr_dies || f->dies[n].xpu < 0)
		fail("no die %s with an accelerator", word ? word : "named");
	return &f->dies[n];
}

/* DEAD, or the file is of no more use. */
static bool wait_dead(const struct stream *s, uint32_t *reason)
{
	struct kiwi_file_event event;
	struct pollfd p[] = {
		{ .fd = s->import.die->fd, .events = POLLIN },
		{ .fd = s->export.die->fd },
	};
	uint64_t end = now_us() + 120 * 1000000ULL;

	while (now_us() < end) {
		if (poll(p, 2, 1000) <= 0)
			continue;
		if (p[0].revents & POLLHUP)
			return false;
		if (!(p[0].revents & POLLIN)) {
			usleep(1000);	/* the exporter's file alone has ended */
			continue;
		}
		if (read(p[0].fd, &event, sizeof(event)) != sizeof(event))
			return false;
		if (event.type == KIWI_G2G_EVENT_IMPORT && event.id == s->import.id &&
		    event.code == KIWI_G2G_WINDOW_DEAD) {
			*reason = event.info;
			return true;
		}
	}
	fail("the import did not die");
}

/* KIND FROM TO [KIND FROM TO]: until the first import dies, or its die goes. */
void traffic(struct fabric *f, char **argv)
{
	static struct stream s, other;
	struct account before;
	uint32_t reason = 0;
	bool dead;

	if (!argv[0] || !argv[1] || !argv[2])
		fail("traffic KIND FROM TO [KIND FROM TO]");
	before = account_of(die_of(f, argv[2]));
	begin(&s, argv[0], die_of(f, argv[1]), die_of(f, argv[2]));
	if (argv[3])
		begin(&other, argv[3], die_of(f, argv[4]), die_of(f, argv[4] ? argv[5] : NULL));
	fprintf(stderr, "ready\n");
	dead = wait_dead(&s, &reason);
	stop(&s);
	if (!dead)
		wait_until(reads_ones, &s, "a mapping is to be taken away");
	check_dead(&s);
	report(&s, dead ? "dead" : "gone", reason, 0);
	if (dead)
		check_log(&s, &before);
	if (argv[3]) {
		end_undisturbed(&other);
		printf(", \"other\": %u, \"other_worst_us\": %llu", other.steps,
		       (unsigned long long)other.worst_us);
	}
	printf(" }\n");
}

/* A sum over memory that nobody may reach any more. */
static uint64_t sum_of(const struct export *e)
{
	static uint64_t words[LENGTH / 8];
	uint64_t sum = 0, n;

	if (xpu_read(e->die->xpu, words, e->buf, 0, LENGTH))
		fail("xpu%u: its memory cannot be read", e->die->index);
	for (n = 0; n < LENGTH / 8; n++)
		sum = sum * 31 + words[n];
	return sum;
}

/* KIND FROM TO KIND FROM TO: the export is revoked while the first stream uses it. */
void revoke_export(struct fabric *f, char **argv)
{
	static struct stream s, other;
	struct kiwi_g2g_export_revoke r = { };
	struct kiwi_file_event event;
	struct account before;
	uint64_t start, sum;
	uint32_t reason = 0;

	if (!argv[0] || !argv[1] || !argv[2] || !argv[3] || !argv[4])
		fail("revoke KIND FROM TO KIND FROM TO");
	before = account_of(die_of(f, argv[2]));
	begin(&s, argv[0], die_of(f, argv[1]), die_of(f, argv[2]));
	begin(&other, argv[3], die_of(f, argv[4]), die_of(f, argv[5]));
	usleep(now_us() % 5000);
	r.export_id = s.export.id;
	start = now_us();
	MUST(s.export.die, EXPORT_REVOKE, &r);
	sum = sum_of(&s.export);
	if (!wait_dead(&s, &reason))
		fail("the importer's die is gone");
	start = now_us() - start;
	if (!die_event(s.export.die, KIWI_G2G_EVENT_EXPORT, s.export.id,
		       s.export.die->info.revoke_ms * 10, &event) ||
	    event.code != KIWI_G2G_EXPORT_REVOKED || event.info)
		fail("no EVENT_EXPORT, or peers were isolated for it");
	usleep(2000);
	stop(&s);
	check_dead(&s);
	if (sum_of(&s.export) != sum)
		fail("memory has changed after its export was revoked");
	report(&s, "dead", reason, start);
	check_log(&s, &before);
	end(&s);
	end_undisturbed(&other);
	printf(", \"other\": %u }\n", other.steps);
}
