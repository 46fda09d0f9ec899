// SPDX-License-Identifier: GPL-2.0
/* Among several ranks: all to all, and the two exchanges of a mixture of experts. */
#include <string.h>

#include "exchange.h"
#include "gpu-test.h"
#include "world.h"

#define TABLE	0UL		/* of struct xpu_peer */
#define SIGNALS	4096UL
#define SEND	16384UL
#define RECEIVE	262144UL

static struct world w;

static uint64_t doorbells(void)
{
	struct xpu_query q[2];

	EQUAL(xpu_query(w.rank[0].xpu, &q[0]), 0);
	EQUAL(xpu_query(w.rank[1].xpu, &q[1]), 0);
	return q[0].doorbells + q[1].doorbells;
}

/* All to all ------------------------------------------------------------------ */

static void alltoall(unsigned int ranks, uint8_t flags)
{
	static const uint32_t sizes[] = { 8, 1024, 10000 };
	uint64_t before;
	size_t i;

	world_make(&w, &(struct world_config) { .ranks = ranks });
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		before = doorbells();
		exchange_prepare(&w, sizes[i], flags);
		exchange_run(&w);
		exchange_check(&w, sizes[i]);
		EQUAL(doorbells() - before, ranks * (ranks - 1));
	}
}

static void alltoall_few(void)
{
	alltoall(3, 0);
}

static void alltoall_many(void)
{
	alltoall(8, 0);
}

static void alltoall_merged(void)
{
	alltoall(8, XPU_CMD_MERGE | XPU_CMD_ADD);
}

/* Mixture of experts ---------------------------------------------------------- */

#define ROUTING		2048UL
#define MOE		1024UL	/* struct xpu_moe of DISPATCH, and behind it that of COMBINE */
#define COUNTS		8192UL
#define ARRIVED		SIGNALS
#define RETURNED	(SIGNALS + 2048)
#define BACK		524288UL

enum {
	PEERS = 4, TOKENS = 20, TOPK = 3, ROW = 256, EXPERTS = 8, CAPACITY = 20,
	EACH = EXPERTS / PEERS
};

static uint32_t *route(struct rank *r, unsigned int token)
{
	return (uint32_t *)(r->mem + ROUTING) + token * TOPK;
}

/* Different experts, none of the rank's own; now and then one less. */
static void choose_routes(struct rank *r)
{
	unsigned int t, k, at;
	uint8_t chance;

	for (t = 0; t < TOKENS; t++) {
		scramble(&chance, 1);
		for (k = 0, at = chance % EXPERTS; k < TOPK; at = (at + 1) % EXPERTS) {
			if (at / EACH != r->number)
				route(r, t)[k++] = at;
		}
		if (t % 7 == 0)
			route(r, t)[TOPK - 1] = XPU_EXPERT_NONE;
	}
}

static bool routed(struct rank *r, unsigned int token, unsigned int expert)
{
	unsigned int k;

	for (k = 0; k < TOPK; k++) {
		if (route(r, token)[k] == expert)
			return true;
	}
	return false;
}

static void prepare_moe(struct rank *r)
{
	struct xpu_moe *moe = (struct xpu_moe *)(r->mem + MOE), shape = {
		.tokens = TOKENS, .topk = TOPK, .row = ROW, .experts = EXPERTS, .peers = PEERS,
		.capacity = CAPACITY, .rank = r->number, .lkey = r->mr->key,
	};
	unsigned int t, e;

	memset(r->mem, 0, RANK_BYTES);
	choose_routes(r);
	scramble(r->mem + SEND, TOKENS * ROW);
	for (t = 0; t < TOKENS; t++)
		memcpy(r->mem + SEND + t * ROW, &t, 4);
	fill_table(&w, r, TABLE, RECEIVE + r->number * EACH * CAPACITY * ROW,
		   ARRIVED + 8 * r->number * EACH);
	fill_table(&w, r, TABLE + 512, BACK, RETURNED);
	moe[0] = shape;
	moe[0].laddr = iova(r, SEND);
	moe[0].table = TABLE;
	moe[0].routing = ROUTING;
	moe[0].counts = COUNTS;
	moe[1] = shape;
	moe[1].laddr = iova(r, RECEIVE);
	moe[1].table = TABLE + 512;
	moe[1].counts = ARRIVED;
	moe[1].rows = RECEIVE;
	for (e = r->number * EACH; e < (r->number + 1) * EACH; e++) {
		*word_at(r, ARRIVED + 8 * e) = 1;	/* from itself nothing comes */
		*word_at(r, RETURNED + 8 * e) = 1;
	}
}

static uint32_t moe_commands(struct rank *r, uint8_t flags)
{
	r->cmd[0] = (struct xpu_cmd) { .op = XPU_OP_DISPATCH, .flags = flags, .offset = MOE };
	r->cmd[1] = wait_for(ARRIVED, 1);
	r->cmd[1].count = EXPERTS;
	r->cmd[2] = (struct xpu_cmd) {
		.op = XPU_OP_COMBINE, .flags = flags, .offset = MOE + sizeof(struct xpu_moe),
	};
	r->cmd[3] = wait_for(RETURNED, 1);
	r->cmd[3].count = EXPERTS;
	return add_quiet(&w, r, 4);
}

/* The rows of source @s for an expert, in the order of its tokens, and zero behind them. */
static void check_dispatched(struct rank *r, struct rank *s, unsigned int e)
{
	const unsigned int pair = s->number * EACH + e;
	uint8_t *at = r->mem + RECEIVE + pair * CAPACITY * ROW;
	static const uint8_t zero[ROW];
	unsigned int t, n = 0;

	for (t = 0; t < TOKENS; t++) {
		if (routed(s, t, r->number * EACH + e))
			CHECK(!memcmp(at + n++ * ROW, s->mem + SEND + t * ROW, ROW));
	}
	EQUAL(*word_at(r, ARRIVED + 8 * pair), 1 + n);
	for (; n < CAPACITY; n++)
		CHECK(!memcmp(at + n * ROW, zero, ROW));
}

static void check_combined(struct rank *r)
{
	static const uint8_t zero[ROW];
	unsigned int e, t;

	for (e = 0; e < EXPERTS; e++) {
		for (t = 0; t < TOKENS; t++)
			CHECK(!memcmp(r->mem + BACK + (e * TOKENS + t) * ROW,
				      routed(r, t, e) ? r->mem + SEND + t * ROW : zero, ROW));
	}
}

static void experts(uint8_t flags)
{
	uint32_t count[RANKS_MAX];
	unsigned int r, s, e;
	uint64_t before;

	world_make(&w, &(struct world_config) { .ranks = PEERS });
	for (r = 0; r < PEERS; r++) {
		prepare_moe(&w.rank[r]);
		count[r] = moe_commands(&w.rank[r], flags);
	}
	before = doorbells();
	run_all(&w, count);
	if (flags & XPU_CMD_MERGE)
		EQUAL(doorbells() - before, 2 * PEERS * (PEERS - 1));
	for (r = 0; r < PEERS; r++) {
		for (s = 0; s < PEERS; s++) {
			for (e = 0; s != r && e < EACH; e++)
				check_dispatched(&w.rank[r], &w.rank[s], e);
		}
		check_combined(&w.rank[r]);
	}
}

static void moe(void)
{
	experts(0);
}

static void moe_merged(void)
{
	experts(XPU_CMD_MERGE);
}

const struct test collective_tests[] = {
	{ "alltoall.3", alltoall_few },
	{ "alltoall.8", alltoall_many },
	{ "alltoall.merged", alltoall_merged },
	{ "moe", moe },
	{ "moe.merged", moe_merged },
	{ NULL, NULL }
};
