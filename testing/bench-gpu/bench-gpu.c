// SPDX-License-Identifier: GPL-2.0
/*
 * GPU-initiated communication against a thread of the CPU that rings, or posts: the same kernels
 * and data, on a host whose clock counts instructions; see run.py. Prints lines of
 * "operation way peers bytes messages ns", the median of several runs,
 * "counts what counter per_message", and "instructions way number"; with "some", of two sizes, and
 * all twice, with a line "again" between.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "counts.h"
#include "world.h"

#define RUNS		5
#define DELAY_NS	100000	/* until the CPU is back from the launch, and polls */
#define PHASE_NS	137	/* by which one run starts later than the one before */
#define BURST		128	/* messages of a thread, where the rate is looked for, */
#define BURST_LARGE	16	/* and where they are large */
#define LIST		16	/* messages of a doorbell, where they are merged */
#define TOPK		2

static const char *const way_name[WAYS] = { "gpu", "ring", "post" };

void die(const char *format, ...)
{
	va_list ap;

	fputs("bench-gpu: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void need(int ok, const char *what)
{
	if (!ok)
		die("%s: %s", what, strerror(errno));
}

/* What is measured. */
struct point {
	struct world *w;
	enum way way;
	uint32_t peers;
	uint32_t size;
	uint64_t tag;		/* another one in each run */
};

static uint64_t *word(const struct point *p, uint64_t at)
{
	return (uint64_t *)(p->w->mem + at);
}

/* The last word of the part of peer or token n. */
static uint64_t tail(const struct point *p, uint64_t area, uint32_t n)
{
	return area + (uint64_t)n * p->size + p->size - sizeof(uint64_t);
}

static struct xpu_cmd put(const struct point *p, uint32_t n)
{
	return (struct xpu_cmd) {
		.op = XPU_OP_PUT, .queue = p->w->queue[p->way][n], .length = p->size,
		.laddr = p->w->local->iova + SOURCE + (uint64_t)n * p->size,
		.lkey = p->w->local->key,
		.raddr = p->w->remote->iova + TARGET + (uint64_t)n * p->size,
		.rkey = p->w->remote->key,
	};
}

static struct xpu_cmd put_signal(const struct point *p, uint32_t n)
{
	struct xpu_cmd cmd = put(p, n);

	cmd.op = XPU_OP_PUT_SIGNAL;
	cmd.value = p->tag;
	cmd.sig_raddr = p->w->remote->iova + SIGNAL + n * sizeof(uint64_t);
	cmd.sig_rkey = p->w->remote->key;
	return cmd;
}

static struct xpu_cmd wait_for(uint64_t at, uint64_t value, uint32_t count)
{
	return (struct xpu_cmd){ .op = XPU_OP_WAIT, .offset = at, .value = value, .count = count };
}

static uint32_t burst(const struct point *p)
{
	return p->size > 4096 ? BURST_LARGE : BURST;
}

/* Operations: each writes its commands, and tells how many messages they are. */

static uint32_t one_put(const struct point *p, struct program *prog)
{
	p->w->cmd[0] = put(p, 0);
	p->w->cmd[1] = wait_for(tail(p, TARGET, 0), p->tag, 1);
	*prog = (struct program){ .threads = 1, .count = 2, .queues = 1, .entries = 1 };
	return 1;
}

static uint32_t one_put_signal(const struct point *p, struct program *prog)
{
	p->w->cmd[0] = put_signal(p, 0);
	p->w->cmd[1] = wait_for(SIGNAL, p->tag, 1);
	*prog = (struct program){ .threads = 1, .count = 2, .queues = 1, .entries = 2 };
	return 1;
}

/* A thread for each queue; until all is completed. */
static uint32_t many_puts(const struct point *p, struct program *prog)
{
	struct xpu_cmd *cmd = p->w->cmd;
	uint32_t n;

	for (n = 0; n < p->peers; n++) {
		*cmd++ = (struct xpu_cmd){ .op = XPU_OP_REPEAT, .count = burst(p) };
		*cmd++ = put(p, n);
		*cmd++ = (struct xpu_cmd){ .op = XPU_OP_END };
		*cmd++ = (struct xpu_cmd){ .op = XPU_OP_QUIET,
					   .queue = p->w->queue[p->way][n] };
	}
	*prog = (struct program){ .threads = p->peers, .count = 4, .queues = p->peers,
				  .entries = burst(p) };
	return p->peers * burst(p);
}

/* Likewise, one doorbell for each list. */
static uint32_t merged_puts(const struct point *p, struct program *prog)
{
	struct xpu_cmd *cmd = p->w->cmd;
	uint32_t n;

	for (n = 0; n < p->peers; n++) {
		*cmd++ = (struct xpu_cmd){ .op = XPU_OP_REPEAT, .count = burst(p) / LIST };
		*cmd++ = (struct xpu_cmd){ .op = XPU_OP_REPEAT, .count = LIST - 1 };
		*cmd = put(p, n);
		cmd++->flags = XPU_CMD_MORE;
		*cmd++ = (struct xpu_cmd){ .op = XPU_OP_END };
		*cmd++ = put(p, n);
		*cmd++ = (struct xpu_cmd){ .op = XPU_OP_END };
		*cmd++ = (struct xpu_cmd){ .op = XPU_OP_QUIET,
					   .queue = p->w->queue[p->way][n] };
	}
	*prog = (struct program){ .threads = p->peers, .count = 7, .queues = p->peers,
				  .entries = burst(p) };
	return p->peers * burst(p);
}

/* A thread for each peer: data and signal to it, and its signal awaited. */
static uint32_t alltoall(const struct point *p, struct program *prog)
{
	uint32_t n;

	for (n = 0; n < p->peers; n++) {
		p->w->cmd[2 * n] = put_signal(p, n);
		p->w->cmd[2 * n + 1] = wait_for(SIGNAL + n * sizeof(uint64_t), p->tag, 1);
	}
	*prog = (struct program){ .threads = p->peers, .count = 2, .queues = p->peers,
				  .entries = 2 };
	return p->peers;
}

static void peer_table(const struct point *p, uint64_t table, uint64_t area, uint64_t part,
		       uint64_t signals)
{
	struct xpu_peer *peer = (void *)(p->w->mem + table);
	uint32_t n;

	for (n = 0; n < p->peers; n++)
		peer[n] = (struct xpu_peer) {
			.queue = p->w->queue[p->way][n],
			.rkey = p->w->remote->key,
			.raddr = p->w->remote->iova + area + n * part,
			.sig_raddr = p->w->remote->iova + signals + n * sizeof(uint64_t),
			.sig_rkey = p->w->remote->key,
		};
}

static struct xpu_moe moe_shape(const struct point *p)
{
	return (struct xpu_moe) {
		.tokens = TOKENS, .topk = TOPK, .row = p->size, .experts = p->peers,
		.peers = p->peers, .capacity = TOKENS, .lkey = p->w->local->key,
	};
}

/* One expert a peer, and each has as many tokens as the next. */
static uint32_t dispatch(const struct point *p, struct program *prog)
{
	struct xpu_moe *moe = (void *)(p->w->mem + MOE);
	uint32_t *routing = (void *)(p->w->mem + ROUTING);
	uint32_t t, k;

	for (t = 0; t < TOKENS; t++) {
		memcpy(p->w->mem + SOURCE + t * p->size, &t, sizeof(t));
		for (k = 0; k < TOPK; k++)
			routing[t * TOPK + k] = (t + k) % p->peers;
	}
	peer_table(p, TABLE, TARGET, (uint64_t)TOKENS * p->size, SIGNAL);
	*moe = moe_shape(p);
	moe->laddr = p->w->local->iova + SOURCE;
	moe->table = TABLE;
	moe->routing = ROUTING;
	moe->counts = COUNTS;
	memset(p->w->mem + SIGNAL, 0, p->peers * sizeof(uint64_t));
	p->w->cmd[0] = (struct xpu_cmd){ .op = XPU_OP_DISPATCH, .offset = MOE };
	p->w->cmd[1] = wait_for(SIGNAL, 1, p->peers);
	*prog = (struct program){ .threads = 1, .count = 2, .queues = p->peers,
				  .entries = TOKENS * TOPK / p->peers + 1 };
	return TOKENS * TOPK + p->peers;
}

/* What dispatch() brought goes back, as if each part were of another source. */
static uint32_t combine(const struct point *p, struct program *prog)
{
	struct xpu_moe *moe = (void *)(p->w->mem + MOE2);

	peer_table(p, TABLE2, RETURN, (uint64_t)TOKENS * p->size, SIGNAL2);
	*moe = moe_shape(p);
	moe->laddr = p->w->local->iova + TARGET;
	moe->table = TABLE2;
	moe->counts = SIGNAL;
	moe->rows = TARGET;
	memset(p->w->mem + SIGNAL2, 0, p->peers * sizeof(uint64_t));
	p->w->cmd[0] = (struct xpu_cmd){ .op = XPU_OP_COMBINE, .offset = MOE2 };
	p->w->cmd[1] = wait_for(SIGNAL2, 1, p->peers);
	*prog = (struct program){ .threads = 1, .count = 2, .queues = p->peers,
				  .entries = TOKENS * TOPK / p->peers + 1 };
	return TOKENS * TOPK + p->peers;
}

/* Data: filled in before a run, looked at after it. */

static void fill_parts(const struct point *p)
{
	uint32_t n;

	for (n = 0; n < p->peers; n++) {
		memset(p->w->mem + SOURCE + n * p->size, (int)(p->tag + n), p->size);
		*word(p, tail(p, SOURCE, n)) = p->tag;
	}
}

static int same(const struct point *p, uint64_t from, uint64_t to)
{
	return !memcmp(p->w->mem + from, p->w->mem + to, p->size);
}

static int parts_arrived(const struct point *p)
{
	uint32_t n;

	for (n = 0; n < p->peers; n++)
		if (!same(p, SOURCE + n * p->size, TARGET + n * p->size))
			return 0;
	return 1;
}

static void fill_tokens(const struct point *p)
{
	memset(p->w->mem + SOURCE, (int)p->tag, TOKENS * (uint64_t)p->size);
	memset(p->w->mem + TARGET, 0, p->peers * (uint64_t)TOKENS * p->size);
}

/* Each source has its rows back where their tokens stand. */
static int rows_returned(const struct point *p)
{
	uint32_t t, k;

	for (t = 0; t < TOKENS; t++)
		for (k = 0; k < TOPK; k++)
			if (!same(p, SOURCE + t * p->size,
				  RETURN + ((t + k) % p->peers * TOKENS + t) * (uint64_t)p->size))
				return 0;
	return 1;
}

static int rows_arrived(const struct point *p)
{
	uint32_t n, t, k, row[PEERS] = { 0 };

	for (t = 0; t < TOKENS; t++)
		for (k = 0; k < TOPK; k++) {
			n = (t + k) % p->peers;
			if (!same(p, SOURCE + t * p->size,
				  TARGET + (n * TOKENS + row[n]++) * (uint64_t)p->size))
				return 0;
		}
	return 1;
}

static void keep(const struct point *p)
{
	memset(p->w->mem + RETURN, 0, p->peers * (uint64_t)TOKENS * p->size);
}

struct operation {
	const char *name;
	uint32_t (*write)(const struct point *p, struct program *prog);
	void (*fill)(const struct point *p);
	int (*right)(const struct point *p);
	uint32_t peers_min, peers_max;
};

/* Combine sends back what dispatch has brought, and so stands behind it. */
static const struct operation operations[] = {
	{ "put", one_put, fill_parts, parts_arrived, 1, 1 },
	{ "put-signal", one_put_signal, fill_parts, parts_arrived, 1, 1 },
	{ "rate", many_puts, fill_parts, parts_arrived, 1, PEERS },
	{ "rate-merged", merged_puts, fill_parts, parts_arrived, 1, PEERS },
	{ "alltoall", alltoall, fill_parts, parts_arrived, 2, PEERS },
	{ "dispatch", dispatch, fill_tokens, rows_arrived, 2, PEERS },
	{ "combine", combine, keep, rows_returned, 2, PEERS },
};

static int less(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Gives the number of messages of one run, and the median of its time. */
static uint32_t measure(const struct operation *o, struct point *p, uint64_t *median)
{
	uint64_t ns[RUNS];
	struct program prog;
	uint32_t messages = 0;
	int i;

	for (i = 0; i < RUNS; i++) {
		p->tag++;
		o->fill(p);
		messages = o->write(p, &prog);
		ns[i] = world_run(p->w, &prog, p->way, DELAY_NS + i * PHASE_NS);
		if (!o->right(p))
			die("%s, %u peers, %u bytes, by the %s: the data are wrong", o->name,
			    p->peers, p->size, way_name[p->way]);
	}
	qsort(ns, RUNS, sizeof(*ns), less);
	*median = ns[RUNS / 2];
	return messages;
}

static uint32_t measure_time(const struct operation *o, struct point *p)
{
	uint64_t ns;
	uint32_t messages = measure(o, p, &ns);

	printf("%s %s %u %u %u %llu\n", o->name, way_name[p->way], p->peers, p->size, messages,
	       (unsigned long long)ns);
	return messages * RUNS;
}

/* What the SNIC counts for a message, on the side that sends. */
static void measure_counts(const struct operation *o, struct point *p)
{
	struct counts before, after;
	char what[64];
	uint32_t messages;

	snprintf(what, sizeof(what), "%s-%s", o->name, way_name[p->way]);
	counts_begin(&before, "snic0", 1);
	messages = measure_time(o, p);
	counts_end(&after, "snic0", 1);
	counts_report(what, &before, &after, messages);
}

static void measure_all(struct world *w, const uint32_t *sizes)
{
	const uint32_t peers[] = { 1, 2, 4, 8, 16 };
	struct point p = { .w = w };
	unsigned int n, way, i, s;

	for (way = 0; way < WAYS; way++)
		for (n = 0; n < sizeof(peers) / sizeof(*peers); n++)
			for (s = 0; sizes[s]; s++)
				for (i = 0; i < sizeof(operations) / sizeof(*operations); i++) {
					const struct operation *o = &operations[i];

					if (peers[n] < o->peers_min || peers[n] > o->peers_max)
						continue;
					p.way = way;
					p.peers = peers[n];
					p.size = sizes[s];
					if (peers[n] == o->peers_max && p.size == 8)
						measure_counts(o, &p);
					else
						measure_time(o, &p);
				}
}

/* What the CPU executes for a put. */
static void measure_instructions(struct world *w)
{
	struct point p = { .w = w, .way = BY_POST, .peers = 1, .size = 8 };
	uint64_t ns;

	measure(&operations[0], &p, &ns);
	printf("instructions ring %u\n", world_ring_cost(w));
	printf("instructions post %u\n", world_post_cost(w));
}

int main(int argc, char **argv)
{
	static const uint32_t all[] = { 8, 64, 256, 1024, 4096, 16384, 65536, 0 };
	static const uint32_t some[] = { 8, 1024, 0 };
	struct world w;
	int few;

	if (argc != 4 || (strcmp(argv[1], "all") && strcmp(argv[1], "some")))
		die("usage: bench-gpu all|some LOAD STORE");
	stall_load = strtoul(argv[2], NULL, 0);
	stall_store = strtoul(argv[3], NULL, 0);
	world_make(&w);
	few = strcmp(argv[1], "all");
	measure_all(&w, few ? some : all);
	measure_instructions(&w);
	if (few) {
		puts("again");
		measure_all(&w, some);
		measure_instructions(&w);
	}
	return 0;
}
