/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands that make queues and what they need, one function each; see kiwi/cmd.h for failures.
 * What is returned lies in the ranges of the ABI.
 */
#ifndef KIWI_FW_QUEUES_CMD_H
#define KIWI_FW_QUEUES_CMD_H

#include <linux/types.h>

#include <kiwi/cmd.h>
#include <kiwi/error.h>
#include <kiwi_abi/snic.h>

/*
 * struct kiwi_queue_id - how doorbells name a CQ or QP
 */
struct kiwi_queue_id {
	u32 number;
	u16 epoch;
};

int kiwi_cmd_alloc_pd(struct kiwi_fw *fw, u32 *pdn, struct kiwi_error *err);
int kiwi_cmd_dealloc_pd(struct kiwi_fw *fw, u32 pdn, struct kiwi_error *err);

int kiwi_cmd_reg_mr(struct kiwi_fw *fw, u32 pdn, u32 access, u64 iova, u64 length,
		    const struct kiwi_pbl *pbl, u32 *key, struct kiwi_error *err);
int kiwi_cmd_dereg_mr(struct kiwi_fw *fw, u32 key, struct kiwi_error *err);
int kiwi_cmd_hold_mr(struct kiwi_fw *fw, u32 key, struct kiwi_error *err);
int kiwi_cmd_resume_mr(struct kiwi_fw *fw, u32 key, const struct kiwi_pbl *pbl,
		       struct kiwi_error *err);

/*
 * struct kiwi_cq_params - struct kiwi_snic_create_cq_in in host order
 */
struct kiwi_cq_params {
	const struct kiwi_pbl *pbl;
	u64 ci_offset;
	u64 length;
	u32 eqn;
	u32 db_page;
	u8 log2;
	u8 flags;
};

int kiwi_cmd_create_cq(struct kiwi_fw *fw, const struct kiwi_cq_params *params,
		       struct kiwi_queue_id *id, struct kiwi_error *err);
int kiwi_cmd_destroy_cq(struct kiwi_fw *fw, u32 cqn, struct kiwi_error *err);

/*
 * struct kiwi_qp_params - struct kiwi_snic_create_qp_in in host order
 */
struct kiwi_qp_params {
	const struct kiwi_pbl *sq;
	const struct kiwi_pbl *rq;	/* or NULL */
	u64 db_record;
	u32 pdn;
	u32 send_cqn;
	u32 recv_cqn;
	u32 db_page;
	u8 type;
	u8 flags;
	u8 sq_log2;
	u8 rq_log2;
	u8 rq_stride;
};

int kiwi_cmd_create_qp(struct kiwi_fw *fw, const struct kiwi_qp_params *params,
		       struct kiwi_queue_id *id, struct kiwi_error *err);
int kiwi_cmd_modify_qp(struct kiwi_fw *fw, u32 qpn, u32 mask, const struct kiwi_qp_attr *attr,
		       struct kiwi_error *err);
int kiwi_cmd_query_qp(struct kiwi_fw *fw, u32 qpn, struct kiwi_qp_attr *attr,
		      struct kiwi_error *err);
int kiwi_cmd_destroy_qp(struct kiwi_fw *fw, u32 qpn, struct kiwi_error *err);

#endif /* KIWI_FW_QUEUES_CMD_H */
