// SPDX-License-Identifier: GPL-2.0
#include "target.h"

#include "../common/say.h"
#include "pattern.h"
#include "stall.h"

#include <inttypes.h>
#include <stdlib.h>

#define WHO "target"

bool target_open(struct target *t, const struct end_options *options, const struct work *work)
{
	*t = (struct target){ 0 };
	t->words = calloc(work->depth, sizeof(*t->words));
	if (!t->words) {
		complain("no memory for %u words", work->depth);
		return false;
	}
	if (end_open(&t->end, options, work, 8))
		return true;
	free(t->words);
	return false;
}

void target_close(struct target *t)
{
	end_close(&t->end);
	free(t->words);
}

bool target_prepare(struct target *t, struct layout layout)
{
	const struct work *work = t->end.work;
	uint32_t i;

	t->layout = layout;
	if (!work->verify)
		return true;
	mem_cpu_begin(&t->end.mem);
	guards_fill(t->end.mem.cpu, &t->layout);
	for (i = 0; is_atomic(work->op) && i < t->layout.slots; i++) {
		t->words[i] = i;
		memcpy(slot_cpu(&t->end, &t->layout, i), &t->words[i], 8);
	}
	mem_cpu_end(&t->end.mem);
	return true;
}

static bool post_receives(struct target *t)
{
	struct kiwi_sg sg = { .lkey = t->end.mr->key, .len = (uint32_t)t->layout.size };
	struct kiwi_recv_wr wr = { .sg = &sg, .num_sg = 1 };
	bool any = false;

	while (t->to_post && t->posted - t->received < t->end.work->depth) {
		wr.wr_id = t->posted;
		sg.addr = slot_addr(t->end.mr->iova, &t->layout, t->posted);
		if (kiwi_post_recv(t->end.qp, &wr))
			break;
		t->posted++;
		t->to_post--;
		any = true;
	}
	if (any)
		kiwi_qp_ring_recv(t->end.qp);
	return true;
}

bool target_window(struct target *t, uint64_t first, uint64_t n)
{
	const struct work *work = t->end.work;
	uint64_t i;

	if (work->op == OP_READ && work->verify) {
		mem_cpu_begin(&t->end.mem);
		for (i = first; i < first + n; i++)
			pattern_fill(slot_cpu(&t->end, &t->layout, i), t->layout.size, i);
		mem_cpu_end(&t->end.mem);
	}
	if (work->op != OP_SEND)
		return true;
	t->posted = first;
	t->received = first;
	t->expected = first + n;
	t->to_post = n;
	return post_receives(t);
}

bool target_progress(struct target *t)
{
	struct kiwi_wc wc[16];
	int i, got;

	if (t->end.work->op != OP_SEND)
		return true;
	got = kiwi_poll_cq(t->end.recv_cq, wc, 16);
	for (i = 0; i < got; i++) {
		if (wc[i].status != KIWI_CQE_ST_OK) {
			tell_completion(&t->end, &wc[i]);
			t->failed = true;
		} else if (wc[i].wr_id != t->received || wc[i].byte_len != t->layout.size) {
			complain(WHO ": receive %" PRIu64 " of %u bytes, not %" PRIu64 " of %"
				 PRIu64, (uint64_t)wc[i].wr_id, wc[i].byte_len, t->received,
				 t->layout.size);
			t->failed = true;
		}
		t->received++;
	}
	if (got)
		post_receives(t);
	return !t->failed;
}

static bool receives_end(struct target *t)
{
	while (t->received < t->expected) {
		uint64_t before = t->received;

		if (!target_progress(t))
			return false;
		switch (stalled(t->received != before)) {
		case STALL_NO:
			break;
		case STALL_SLOW:
			if (!tell_events(&t->end))
				return false;
			break;
		case STALL_YES:
			complain(WHO ": %" PRIu64 " of %" PRIu64 " messages received, then none",
				 t->received, t->expected);
			return false;
		}
	}
	return true;
}

static bool word_is_right(struct target *t, uint64_t iteration)
{
	uint64_t *word = &t->words[iteration % t->layout.slots], got;

	*word = atomic_step(t->end.work->op, iteration, *word).next;
	memcpy(&got, slot_cpu(&t->end, &t->layout, iteration), 8);
	if (got == *word)
		return true;
	complain(WHO ": after operation %" PRIu64 " the word is %016" PRIx64 ", not %016" PRIx64,
		 iteration, got, *word);
	return false;
}

bool target_check(struct target *t, uint64_t first, uint64_t n, uint64_t *bad)
{
	const struct work *work = t->end.work;
	uint64_t i;

	*bad = 0;
	if (work->op == OP_SEND && !receives_end(t))
		return false;
	if (!work->verify || work->op == OP_READ)
		return true;
	mem_cpu_begin(&t->end.mem);
	for (i = first; i < first + n; i++) {
		if (is_atomic(work->op))
			*bad += !word_is_right(t, i);
		else
			*bad += !pattern_check(slot_cpu(&t->end, &t->layout, i), t->layout.size, i,
					       WHO);
	}
	mem_cpu_end(&t->end.mem);
	return true;
}

bool target_finish(struct target *t, uint64_t *bad)
{
	*bad = 0;
	if (!t->end.work->verify)
		return true;
	mem_cpu_begin(&t->end.mem);
	*bad = guards_check(t->end.mem.cpu, &t->layout, WHO);
	mem_cpu_end(&t->end.mem);
	return true;
}
