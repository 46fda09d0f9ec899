// SPDX-License-Identifier: GPL-2.0
/* From one rank to another. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "gpu-test.h"
#include "world.h"

#define SEND	16384UL
#define RECEIVE	524288UL

static struct world w;
static struct rank *const a = &w.rank[0], *const b = &w.rank[1];

static void make(struct world_config config)
{
	config.ranks = 2;
	world_make(&w, &config);
}

static struct link *first(unsigned int from)
{
	return link_of(&w, from, !from, 0);
}

/* Put ------------------------------------------------------------------------- */

/* Neither a byte more nor one less. */
static void put_once(struct rank *from, struct rank *to, uint32_t size)
{
	struct link *l = first(from->number);
	const struct xpu_cmd list[] = {
		put(l, from, SEND + 3, to, RECEIVE + 5, size), quiet(l),
	};

	scramble(from->mem + SEND, size + 8);
	memset(to->mem + RECEIVE, 0, size + 16);
	run_list(from, list, 2);
	CHECK(!memcmp(to->mem + RECEIVE + 5, from->mem + SEND + 3, size));
	EQUAL(to->mem[RECEIVE + 4], 0);
	EQUAL(to->mem[RECEIVE + 5 + size], 0);
}

static void put_sizes(struct world_config config)
{
	static const uint32_t sizes[] = { 0, 1, 8, 1023, 4096, 70000, 300000 };
	size_t i;

	make(config);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		put_once(a, b, sizes[i]);
		put_once(b, a, sizes[i]);
	}
}

static void puts_collapsed(void)
{
	put_sizes((struct world_config) { 0 });
}

static void puts_no_record(void)
{
	put_sizes((struct world_config) { .no_record = true });
}

static void puts_phase(void)
{
	put_sizes((struct world_config) { .phase = true });
}

static void puts_own_pages(void)
{
	put_sizes((struct world_config) { .phase = true, .no_record = true, .own_pages = true });
}

/*
 * More work than the ring, the completion queue and the 16 bits of an index hold, one doorbell
 * each or merged; the value tells which arrived last.
 */
static void rounds(struct world_config config, uint32_t count, uint8_t flags)
{
	struct link *l;
	struct xpu_cmd list[4];
	struct xpu_query before, after;

	make(config);
	l = first(0);
	list[0] = (struct xpu_cmd) { .op = XPU_OP_REPEAT, .count = count };
	list[1] = put(l, a, 0, b, RECEIVE, 8);
	list[1].flags = XPU_CMD_INLINE | flags;
	list[1].laddr = 0;
	list[1].lkey = 0;
	list[1].value = 1;
	list[1].step = 1;
	list[2] = (struct xpu_cmd) { .op = XPU_OP_END };
	list[3] = quiet(l);
	EQUAL(xpu_query(a->xpu, &before), 0);
	run_list(a, list, 4);
	EQUAL(xpu_query(a->xpu, &after), 0);
	EQUAL(*word_at(b, RECEIVE), count);
	EQUAL(after.wqes - before.wqes, count);
	EQUAL(after.doorbells_lost, before.doorbells_lost);
	if (flags)
		CHECK(after.doorbells - before.doorbells < count / 4);
	else
		EQUAL(after.doorbells - before.doorbells, count);
}

static void many(void)
{
	rounds((struct world_config) { .units = 16 }, 1000, 0);
}

static void merged(void)
{
	rounds((struct world_config) { .phase = true }, 70000, XPU_CMD_MORE);
}

/* Signal ---------------------------------------------------------------------- */

/* The far kernel relies on it that data are there when the signal is, and answers. */
static void signalled(uint8_t flags)
{
	const uint64_t word = 0, answer = 8, old = 16, size = 50000;
	struct xpu_cmd list[3];
	uint64_t value = 0;
	uint32_t far;
	int round;

	make((struct world_config) { 0 });
	for (round = 1; round < 6; round++) {
		value += round;
		scramble(a->mem + SEND, size);
		b->cmd[0] = wait_for(word, value);
		b->cmd[1] = put(first(1), b, RECEIVE, a, RECEIVE, size);
		b->cmd[2] = quiet(first(1));
		b->cmd[3] = store(answer, round);
		far = begin(b, 4, 1);
		list[0] = put(first(0), a, SEND, b, RECEIVE, size);
		list[0].op = XPU_OP_PUT_SIGNAL;
		list[0].flags = flags;
		list[0].sig_raddr = iova(b, word);
		list[0].sig_rkey = b->mr->key;
		list[0].sig_laddr = flags ? iova(a, old) : 0;
		list[0].value = flags ? (uint64_t)round : value;
		list[1] = quiet(first(0));
		run_list(a, list, 2);
		done(b, far);
		EQUAL(*word_at(b, word), value);
		EQUAL(*word_at(b, answer), round);
		if (flags)
			EQUAL(*word_at(a, old), value - round);
		CHECK(!memcmp(a->mem + RECEIVE, a->mem + SEND, size));
	}
}

static void signal_written(void)
{
	signalled(0);
}

static void signal_added(void)
{
	signalled(XPU_CMD_ADD);
}

/* Get, atomics, fence --------------------------------------------------------- */

static void gets(void)
{
	static const uint32_t sizes[] = { 1, 8, 4097, 200000 };
	struct xpu_cmd list[2];
	size_t i;

	make((struct world_config) { 0 });
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		scramble(b->mem + SEND, sizes[i]);
		memset(a->mem + RECEIVE, 0, sizes[i] + 1);
		list[0] = get(first(0), a, RECEIVE, b, SEND, sizes[i]);
		list[1] = quiet(first(0));
		run_list(a, list, 2);
		CHECK(!memcmp(a->mem + RECEIVE, b->mem + SEND, sizes[i]));
		EQUAL(a->mem[RECEIVE + sizes[i]], 0);
	}
}

/* What is fetched is sent on: only behind a fence. */
static void fence(void)
{
	const uint64_t at = 65536, size = 200000;
	struct link *l;
	int round;

	make((struct world_config) { 0 });
	l = first(0);
	for (round = 0; round < 8; round++) {
		struct xpu_cmd list[] = {
			get(l, a, at, b, SEND, size),
			{ .op = XPU_OP_FENCE, .queue = l->queue },
			put(l, a, at, b, RECEIVE, size),
			quiet(l),
		};

		list[0].flags = round % 2 ? XPU_CMD_MORE : 0;
		scramble(b->mem + SEND, size);
		run_list(a, list, 4);
		CHECK(!memcmp(b->mem + RECEIVE, b->mem + SEND, size));
	}
}

enum { THREADS = 8, ADDS = 50 };

/* Threads of both ranks, each with a queue of its own, add to one word. */
static void atomics(void)
{
	uint32_t kernel[2];
	unsigned int r, t;

	make((struct world_config) { .links = THREADS, .own_pages = true });
	for (r = 0; r < 2; r++) {
		struct rank *me = &w.rank[r];

		for (t = 0; t < THREADS; t++) {
			struct link *l = link_of(&w, r, !r, t);
			struct xpu_cmd *cmd = me->cmd + 4 * t;

			cmd[0] = (struct xpu_cmd) { .op = XPU_OP_REPEAT, .count = ADDS };
			cmd[1] = fetch_add(l, me, 64 + 8 * t, &w.rank[!r], 0, t + 1);
			cmd[2] = (struct xpu_cmd) { .op = XPU_OP_END };
			cmd[3] = quiet(l);
		}
	}
	for (r = 0; r < 2; r++)
		kernel[r] = begin(&w.rank[r], 4, THREADS);
	for (r = 0; r < 2; r++)
		done(&w.rank[r], kernel[r]);
	for (r = 0; r < 2; r++) {
		EQUAL(*word_at(&w.rank[r], 0), ADDS * THREADS * (THREADS + 1) / 2);
		for (t = 0; t < THREADS; t++)
			CHECK(*word_at(&w.rank[r], 64 + 8 * t) < *word_at(&w.rank[!r], 0));
	}
}

/* Threads and queues ---------------------------------------------------------- */

/*
 * Eight threads of each rank on four queues, two to a queue: each puts its own bytes, many
 * times, one behind the other, each to a place of its own.
 */
static void threads(void)
{
	enum { QUEUES = 4, PIECES = 40, PIECE = 1000 };
	const uint64_t own = PIECES * PIECE;
	uint32_t kernel[2];
	unsigned int r, t, i;

	make((struct world_config) { .links = QUEUES, .own_pages = true });
	for (r = 0; r < 2; r++) {
		struct rank *me = &w.rank[r];

		scramble(me->mem + SEND, THREADS * own);
		for (t = 0; t < THREADS; t++) {
			struct link *l = link_of(&w, r, !r, t % QUEUES);
			struct xpu_cmd *cmd = me->cmd + (PIECES + 1) * t;

			for (i = 0; i < PIECES; i++) {
				uint64_t at = t * own + i * PIECE;

				cmd[i] = put(l, me, SEND + at, &w.rank[!r], RECEIVE + at, PIECE);
				cmd[i].flags = i % 3 ? XPU_CMD_MORE : 0;
			}
			cmd[i] = quiet(l);
		}
	}
	for (r = 0; r < 2; r++)
		kernel[r] = begin(&w.rank[r], PIECES + 1, THREADS);
	for (r = 0; r < 2; r++)
		done(&w.rank[r], kernel[r]);
	for (r = 0; r < 2; r++)
		CHECK(!memcmp(w.rank[!r].mem + RECEIVE, w.rank[r].mem + SEND, THREADS * own));
}

/* A queue that nothing was posted to: what the memory holds is taken for no completion. */
static void untouched(void)
{
	struct xpu_cmd cmd;

	make((struct world_config) { .phase = true });
	cmd = quiet(first(0));
	run_list(a, &cmd, 1);
	/* and with an entry that cannot be complete yet, its bound ends the kernel */
	a->cmd[0] = (struct xpu_cmd) { .op = XPU_OP_WAIT, .value = 1, .timeout_us = 20000 };
	EQUAL(outcome(a, begin(a, 1, 1)).fault, XPU_FAULT_TIMEOUT);
}

/* Who was handed the files needs no privileges. */
static void unprivileged(void)
{
	put_sizes((struct world_config) { .unprivileged = true, .errors = true });
}

/* What the peer refuses ends the kernel with the status of the completion. */
static void refused(void)
{
	struct xpu_cmd list[2];
	struct xpu_wait wait;

	make((struct world_config) { 0 });
	list[0] = put(first(0), a, SEND, b, RECEIVE, 64);
	list[0].rkey ^= 1;
	list[1] = quiet(first(0));
	memcpy(a->cmd, list, sizeof(list));
	wait = outcome(a, begin(a, 2, 1));
	EQUAL(wait.state, XPU_EX_FAILED);
	EQUAL(wait.fault, XPU_FAULT_COMPLETION);
	EQUAL(wait.detail, KIWI_CQE_ST_REM_ACCESS_ERR);
	EQUAL(wait.command, 1);
}

const struct test pair_tests[] = {
	{ "put.collapsed", puts_collapsed },
	{ "put.no-record", puts_no_record },
	{ "put.phase", puts_phase },
	{ "put.own-pages", puts_own_pages },
	{ "put.many", many },
	{ "put.merged", merged },
	{ "signal.written", signal_written },
	{ "signal.added", signal_added },
	{ "get", gets },
	{ "fence", fence },
	{ "atomics", atomics },
	{ "threads", threads },
	{ "untouched", untouched },
	{ "unprivileged", unprivileged },
	{ "refused", refused },
	{ NULL, NULL }
};
