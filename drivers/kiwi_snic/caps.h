/* SPDX-License-Identifier: GPL-2.0 */
/* Capabilities of the device, range-checked. */
#ifndef KSNIC_CAPS_H
#define KSNIC_CAPS_H

#include <linux/types.h>

#include <kiwi_abi/snic.h>

struct kiwi_fw;
struct kiwi_error;

/*
 * struct ksnic_caps - struct kiwi_snic_caps, in host order and known to be sane
 *
 * All of one type, so that tables can name the fields by their offset.
 */
struct ksnic_caps {
	u64 max_pd;
	u64 max_mr;
	u64 max_cq;
	u64 max_qp;
	u64 max_mr_size;
	u64 max_mr_pages;
	u64 max_inline;
	u64 page_shift_max;
	u64 pbl_table_shift_max;
	u64 ports;
	u64 gids;
	u64 sq_log2_max;
	u64 rq_log2_max;
	u64 cq_log2_max;
	u64 max_sge;
	u64 max_rd_atomic;
	u64 max_msg_size;
	u64 link_mbps;
};

int ksnic_caps_parse(const struct kiwi_snic_caps *wire, struct ksnic_caps *caps,
		     struct kiwi_error *err);
int ksnic_need_gpu_queues(struct kiwi_fw *fw, const char *what, struct kiwi_error *err);

#endif /* KSNIC_CAPS_H */
