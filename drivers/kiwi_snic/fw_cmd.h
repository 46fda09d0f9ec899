/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands of the SNIC, one function each; see kiwi/cmd.h for failures. What is returned lies
 * in the ranges of the ABI.
 */
#ifndef KSNIC_FW_CMD_H
#define KSNIC_FW_CMD_H

#include <linux/if_ether.h>
#include <linux/types.h>

#include <kiwi/cmd.h>
#include <kiwi/error.h>
#include <kiwi_abi/snic.h>

#include "caps.h"

/*
 * struct ksnic_port_info - struct kiwi_snic_port in host order
 */
struct ksnic_port_info {
	u32 mbps;
	u8 state;
	u8 enabled;
	u8 mtu;
	u8 mtu_max;
	u8 mac[ETH_ALEN];
};

/*
 * struct ksnic_queue_id - how doorbells name a CQ or QP
 */
struct ksnic_queue_id {
	u32 number;
	u16 epoch;
};

int ksnic_cmd_query_caps(struct kiwi_fw *fw, struct ksnic_caps *caps, struct kiwi_error *err);

int ksnic_cmd_query_port(struct kiwi_fw *fw, u32 port, struct ksnic_port_info *info,
			 struct kiwi_error *err);
int ksnic_cmd_set_port(struct kiwi_fw *fw, u32 port, u8 enabled, u8 mtu,
		       struct kiwi_error *err);
int ksnic_cmd_set_gid(struct kiwi_fw *fw, u32 port, u8 index, u8 type, const u8 gid[16],
		      struct kiwi_error *err);
int ksnic_cmd_query_port_counters(struct kiwi_fw *fw, u32 port,
				  struct kiwi_snic_port_counters *counters,
				  struct kiwi_error *err);

int ksnic_cmd_alloc_pd(struct kiwi_fw *fw, u32 *pdn, struct kiwi_error *err);
int ksnic_cmd_dealloc_pd(struct kiwi_fw *fw, u32 pdn, struct kiwi_error *err);

int ksnic_cmd_reg_mr(struct kiwi_fw *fw, u32 pdn, u32 access, u64 iova, u64 length,
		     const struct kiwi_pbl *pbl, u32 *key, struct kiwi_error *err);
int ksnic_cmd_dereg_mr(struct kiwi_fw *fw, u32 key, struct kiwi_error *err);
int ksnic_cmd_hold_mr(struct kiwi_fw *fw, u32 key, struct kiwi_error *err);
int ksnic_cmd_resume_mr(struct kiwi_fw *fw, u32 key, const struct kiwi_pbl *pbl,
			struct kiwi_error *err);

/*
 * struct ksnic_cq_params - struct kiwi_snic_create_cq_in in host order
 */
struct ksnic_cq_params {
	const struct kiwi_pbl *pbl;
	u64 ci_offset;
	u64 length;
	u32 eqn;
	u32 db_page;
	u8 log2;
	u8 flags;
};

int ksnic_cmd_create_cq(struct kiwi_fw *fw, const struct ksnic_cq_params *params,
			struct ksnic_queue_id *id, struct kiwi_error *err);
int ksnic_cmd_destroy_cq(struct kiwi_fw *fw, u32 cqn, struct kiwi_error *err);

/*
 * struct ksnic_qp_params - struct kiwi_snic_create_qp_in in host order
 */
struct ksnic_qp_params {
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

int ksnic_cmd_create_qp(struct kiwi_fw *fw, const struct ksnic_qp_params *params,
			struct ksnic_queue_id *id, struct kiwi_error *err);
int ksnic_cmd_modify_qp(struct kiwi_fw *fw, u32 qpn, u32 mask, const struct kiwi_qp_attr *attr,
			struct kiwi_error *err);
int ksnic_cmd_query_qp(struct kiwi_fw *fw, u32 qpn, struct kiwi_qp_attr *attr,
		       struct kiwi_error *err);
int ksnic_cmd_destroy_qp(struct kiwi_fw *fw, u32 qpn, struct kiwi_error *err);

#endif /* KSNIC_FW_CMD_H */
