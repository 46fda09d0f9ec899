// SPDX-License-Identifier: GPL-2.0
#include "bench.h"
#include "post.h"

#define BATCH	16

unsigned int stall_load, stall_store;

/* A request is what the GPU would write to the ring of the SNIC: a WRITE of one piece. */
static void post(struct poster *p, uint64_t index)
{
	const unsigned char *entry = p->ring + (index & p->mask) * KIWI_WQEBB;
	const struct kiwi_wqe_ctrl *ctrl = (const void *)entry;
	const struct kiwi_wqe_raddr *raddr = (const void *)(ctrl + 1);
	const unsigned char *data = (const void *)(raddr + 1);
	const struct kiwi_sge *sge = (const void *)data;
	struct kiwi_sg sg = { .addr = sge->addr, .lkey = sge->lkey, .len = sge->len };
	struct kiwi_send_wr wr = {
		.wr_id = index + 1,
		.sg = &sg,
		.num_sg = 1,
		.opcode = KIWI_WQE_WRITE,
		.flags = ctrl->flags,
		.rkey = raddr->rkey,
		.raddr = raddr->addr,
	};

	if (ctrl->flags & KIWI_WQE_INLINE)
		sg = (struct kiwi_sg){ .addr = (uintptr_t)data + 4, .len = *(uint32_t *)data };
	stall(stall_load);
	if (kiwi_post_send(p->qp, &wr))
		die("the CPU's queue is full");
}

static void complete(struct poster *p)
{
	struct kiwi_wc wc[BATCH];
	int i, n = kiwi_poll_cq(p->cq, wc, BATCH);

	for (i = 0; i < n; i++) {
		if (wc[i].status != KIWI_CQE_ST_OK)
			die("completion: %s", kiwi_status_text(wc[i].status));
		stall(stall_load);
		p->completed = wc[i].wr_id;
	}
	if (n) {
		*p->done = (p->completed & 0xffff) << p->done_shift;
		stall(stall_store);
	}
}

void poster_poll(struct poster *p)
{
	uint64_t index = __atomic_load_n(p->producer, __ATOMIC_ACQUIRE);

	if (index != p->taken) {
		stall(stall_load);
		while (p->taken != index)
			post(p, p->taken++);
		kiwi_qp_ring(p->qp);
		stall(stall_store);
	}
	complete(p);
}
