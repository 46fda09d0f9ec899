// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "exchange.h"

#define TABLE	0UL		/* of struct xpu_peer */
#define SIGNALS	4096UL
#define OLD	(SIGNALS + 1024)
#define SEND	16384UL
#define RECEIVE	(SEND + EXCHANGE_BYTES)

void fill_table(struct world *w, struct rank *r, uint64_t table, uint64_t to, uint64_t signal)
{
	struct xpu_peer *peer = (struct xpu_peer *)(r->mem + table);
	unsigned int s;

	for (s = 0; s < w->config.ranks; s++) {
		const struct rank *other = &w->rank[s];

		peer[s] = (struct xpu_peer) { .queue = XPU_PEER_NONE };
		if (s == r->number)
			continue;
		peer[s] = (struct xpu_peer) {
			.queue = link_of(w, r->number, s, 0)->queue,
			.raddr = iova(other, to), .rkey = other->mr->key,
			.sig_raddr = iova(other, signal), .sig_rkey = other->mr->key,
		};
	}
}

uint32_t add_quiet(struct world *w, struct rank *r, uint32_t count)
{
	unsigned int s;

	for (s = 0; s < w->config.ranks; s++) {
		if (s != r->number)
			r->cmd[count++] = quiet(link_of(w, r->number, s, 0));
	}
	return count;
}

void run_all(struct world *w, const uint32_t *count)
{
	uint32_t kernel[RANKS_MAX];
	unsigned int r;

	for (r = 0; r < w->config.ranks; r++)
		kernel[r] = begin(&w->rank[r], count[r], 1);
	for (r = 0; r < w->config.ranks; r++)
		done(&w->rank[r], kernel[r]);
}

static void prepare_rank(struct world *w, struct rank *r, uint32_t size, uint8_t flags)
{
	const unsigned int n = w->config.ranks;
	const bool add = flags & XPU_CMD_ADD;

	scramble(r->mem + SEND, n * size);
	memset(r->mem + RECEIVE, 0, n * size);
	memset(r->mem + SIGNALS, 0, 8 * n);
	fill_table(w, r, TABLE, RECEIVE + r->number * size, SIGNALS + (add ? 0 : 8 * r->number));
	r->cmd[0] = (struct xpu_cmd) {
		.op = XPU_OP_ALLTOALL, .flags = flags, .offset = TABLE, .count = n, .value = 1,
		.laddr = iova(r, SEND), .lkey = r->mr->key, .length = size,
		.sig_laddr = add ? iova(r, OLD) : 0,
	};
	if (add) {
		r->cmd[1] = wait_for(SIGNALS, n - 1);
	} else {
		*word_at(r, SIGNALS + 8 * r->number) = 1;	/* from itself nothing comes */
		r->cmd[1] = wait_for(SIGNALS, 1);
		r->cmd[1].count = n;
	}
	add_quiet(w, r, 2);
}

void exchange_prepare(struct world *w, uint32_t size, uint8_t flags)
{
	unsigned int r;

	CHECK(w->config.ranks * (uint64_t)size <= EXCHANGE_BYTES);
	for (r = 0; r < w->config.ranks; r++)
		prepare_rank(w, &w->rank[r], size, flags);
}

void exchange_run(struct world *w)
{
	uint32_t count[RANKS_MAX];
	unsigned int r;

	for (r = 0; r < w->config.ranks; r++)
		count[r] = 2 + w->config.ranks - 1;
	run_all(w, count);
}

void exchange_check(struct world *w, uint32_t size)
{
	unsigned int r, s;

	for (r = 0; r < w->config.ranks; r++) {
		for (s = 0; s < w->config.ranks; s++) {
			uint8_t *got = w->rank[r].mem + RECEIVE + s * size;

			if (s != r)
				CHECK(!memcmp(got, w->rank[s].mem + SEND + r * size, size));
			else
				CHECK(!got[0] && !memcmp(got, got + 1, size - 1));
		}
	}
}
