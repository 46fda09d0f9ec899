/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_SNIC_PATH_H
#define BENCH_SNIC_PATH_H

#include <kiwi/kiwi.h>

/*
 * Instructions of one call of the data path, which the library has inline, in a
 * function of its own as a program would have it. They leave the call's result in @rc.
 */
uint32_t count_post_write(struct kiwi_qp *qp, uint64_t addr, uint32_t lkey, uint32_t len,
			  uint64_t raddr, uint32_t rkey, int *rc);
uint32_t count_post_any(struct kiwi_qp *qp, const struct kiwi_send_wr *wr, int *rc);
uint32_t count_poll(struct kiwi_cq *cq, struct kiwi_wc *wc, int *rc);

#endif /* BENCH_SNIC_PATH_H */
