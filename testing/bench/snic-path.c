// SPDX-License-Identifier: GPL-2.0
#include "bench.h"
#include "snic-path.h"

/* The kind of the work is known when the program is compiled, the rest is not. */
uint32_t count_post_write(struct kiwi_qp *qp, uint64_t addr, uint32_t lkey, uint32_t len,
			  uint64_t raddr, uint32_t rkey, int *rc)
{
	uint32_t start = tsc();
	struct kiwi_sg sg = { .addr = addr, .lkey = lkey, .len = len };
	struct kiwi_send_wr wr = {
		.wr_id = addr,
		.sg = &sg,
		.num_sg = 1,
		.opcode = KIWI_WQE_WRITE,
		.flags = KIWI_WQE_SIGNALED,
		.rkey = rkey,
		.raddr = raddr,
	};

	*rc = kiwi_post_send_ring(qp, &wr);
	return tsc() - start;
}

/* Nothing is known of the request. */
uint32_t count_post_any(struct kiwi_qp *qp, const struct kiwi_send_wr *wr, int *rc)
{
	uint32_t start = tsc();

	*rc = kiwi_post_send_ring(qp, wr);
	return tsc() - start;
}

uint32_t count_poll(struct kiwi_cq *cq, struct kiwi_wc *wc, int *rc)
{
	uint32_t start = tsc();

	*rc = kiwi_poll_cq(cq, wc, 1);
	return tsc() - start;
}
