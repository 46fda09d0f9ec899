// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include <kiwi/fw.h>

#include "cmd.h"

#define FIELD(_type, _member) KIWI_CMD_FIELD(_type, _member)

static const struct kiwi_cmd_field number_fields[] = {
	{ "number", offsetof(struct kiwi_cmd_id, id) },
	{ }
};

static const struct kiwi_cmd_field reg_mr_fields[] = {
	FIELD(kiwi_snic_reg_mr_in, pdn),
	FIELD(kiwi_snic_reg_mr_in, access),
	FIELD(kiwi_snic_reg_mr_in, iova),
	FIELD(kiwi_snic_reg_mr_in, length),
	FIELD(kiwi_snic_reg_mr_in, pbl.count),
	FIELD(kiwi_snic_reg_mr_in, pbl.page_shift),
	FIELD(kiwi_snic_reg_mr_in, pbl.levels),
	FIELD(kiwi_snic_reg_mr_in, pbl.table_shift),
	FIELD(kiwi_snic_reg_mr_in, pbl.offset),
	{ }
};

static const struct kiwi_cmd_field resume_mr_fields[] = {
	FIELD(kiwi_snic_resume_mr_in, key),
	FIELD(kiwi_snic_resume_mr_in, pbl.count),
	FIELD(kiwi_snic_resume_mr_in, pbl.page_shift),
	FIELD(kiwi_snic_resume_mr_in, pbl.levels),
	FIELD(kiwi_snic_resume_mr_in, pbl.table_shift),
	FIELD(kiwi_snic_resume_mr_in, pbl.offset),
	{ }
};

static const struct kiwi_cmd_field create_cq_fields[] = {
	FIELD(kiwi_snic_create_cq_in, pbl.count),
	FIELD(kiwi_snic_create_cq_in, pbl.page_shift),
	FIELD(kiwi_snic_create_cq_in, pbl.levels),
	FIELD(kiwi_snic_create_cq_in, pbl.table_shift),
	FIELD(kiwi_snic_create_cq_in, pbl.offset),
	FIELD(kiwi_snic_create_cq_in, ci_offset),
	FIELD(kiwi_snic_create_cq_in, length),
	FIELD(kiwi_snic_create_cq_in, eqn),
	FIELD(kiwi_snic_create_cq_in, db_page),
	FIELD(kiwi_snic_create_cq_in, log2),
	FIELD(kiwi_snic_create_cq_in, flags),
	{ }
};

static const struct kiwi_cmd_field create_qp_fields[] = {
	FIELD(kiwi_snic_create_qp_in, pdn),
	FIELD(kiwi_snic_create_qp_in, send_cqn),
	FIELD(kiwi_snic_create_qp_in, recv_cqn),
	FIELD(kiwi_snic_create_qp_in, db_page),
	FIELD(kiwi_snic_create_qp_in, type),
	FIELD(kiwi_snic_create_qp_in, flags),
	FIELD(kiwi_snic_create_qp_in, sq_log2),
	FIELD(kiwi_snic_create_qp_in, rq_log2),
	FIELD(kiwi_snic_create_qp_in, rq_stride),
	FIELD(kiwi_snic_create_qp_in, db_record),
	FIELD(kiwi_snic_create_qp_in, sq.count),
	FIELD(kiwi_snic_create_qp_in, sq.page_shift),
	FIELD(kiwi_snic_create_qp_in, sq.offset),
	FIELD(kiwi_snic_create_qp_in, rq.count),
	FIELD(kiwi_snic_create_qp_in, rq.page_shift),
	FIELD(kiwi_snic_create_qp_in, rq.offset),
	{ }
};

static const struct kiwi_cmd_field modify_qp_fields[] = {
	FIELD(kiwi_snic_modify_qp_in, qpn),
	FIELD(kiwi_snic_modify_qp_in, mask),
	FIELD(kiwi_snic_modify_qp_in, attr.state),
	FIELD(kiwi_snic_modify_qp_in, attr.cur_state),
	FIELD(kiwi_snic_modify_qp_in, attr.mtu),
	FIELD(kiwi_snic_modify_qp_in, attr.port),
	FIELD(kiwi_snic_modify_qp_in, attr.dest_qpn),
	FIELD(kiwi_snic_modify_qp_in, attr.sq_psn),
	FIELD(kiwi_snic_modify_qp_in, attr.rq_psn),
	FIELD(kiwi_snic_modify_qp_in, attr.timeout),
	FIELD(kiwi_snic_modify_qp_in, attr.retry_cnt),
	FIELD(kiwi_snic_modify_qp_in, attr.rnr_retry),
	FIELD(kiwi_snic_modify_qp_in, attr.min_rnr_timer),
	FIELD(kiwi_snic_modify_qp_in, attr.max_rd_atomic),
	FIELD(kiwi_snic_modify_qp_in, attr.max_dest_rd_atomic),
	FIELD(kiwi_snic_modify_qp_in, attr.hop_limit),
	FIELD(kiwi_snic_modify_qp_in, attr.traffic_class),
	FIELD(kiwi_snic_modify_qp_in, attr.dmac),
	FIELD(kiwi_snic_modify_qp_in, attr.sgid_index),
	FIELD(kiwi_snic_modify_qp_in, attr.dgid),
	FIELD(kiwi_snic_modify_qp_in, attr.access),
	FIELD(kiwi_snic_modify_qp_in, attr.flow_label),
	FIELD(kiwi_snic_modify_qp_in, attr.udp_sport),
	{ }
};

#define EMPTY	0

#define QUEUE_CMD(_name, _in_len, _out_len, _fields)		\
	KIWI_CMD(KIWI_SNIC_OP_##_name, #_name, _in_len, _out_len, _fields)

/* Commands that name an object, and reply nothing. */
#define NAMING_CMD(_name)					\
	QUEUE_CMD(_name, sizeof(struct kiwi_cmd_id), EMPTY, number_fields)

static const struct kiwi_cmd alloc_pd =
	QUEUE_CMD(ALLOC_PD, EMPTY, sizeof(struct kiwi_cmd_id), NULL);
static const struct kiwi_cmd dealloc_pd = NAMING_CMD(DEALLOC_PD);

static const struct kiwi_cmd reg_mr =
	QUEUE_CMD(REG_MR, sizeof(struct kiwi_snic_reg_mr_in), sizeof(struct kiwi_cmd_id),
		  reg_mr_fields);
static const struct kiwi_cmd dereg_mr = NAMING_CMD(DEREG_MR);
static const struct kiwi_cmd hold_mr = NAMING_CMD(HOLD_MR);
static const struct kiwi_cmd resume_mr =
	QUEUE_CMD(RESUME_MR, sizeof(struct kiwi_snic_resume_mr_in), EMPTY, resume_mr_fields);

static const struct kiwi_cmd create_cq =
	QUEUE_CMD(CREATE_CQ, sizeof(struct kiwi_snic_create_cq_in),
		  sizeof(struct kiwi_snic_queue_out), create_cq_fields);
static const struct kiwi_cmd destroy_cq = NAMING_CMD(DESTROY_CQ);

static const struct kiwi_cmd create_qp =
	QUEUE_CMD(CREATE_QP, sizeof(struct kiwi_snic_create_qp_in),
		  sizeof(struct kiwi_snic_queue_out), create_qp_fields);
static const struct kiwi_cmd modify_qp =
	QUEUE_CMD(MODIFY_QP, sizeof(struct kiwi_snic_modify_qp_in), EMPTY, modify_qp_fields);
static const struct kiwi_cmd query_qp =
	QUEUE_CMD(QUERY_QP, sizeof(struct kiwi_cmd_id), sizeof(struct kiwi_qp_attr),
		  number_fields);
static const struct kiwi_cmd destroy_qp = NAMING_CMD(DESTROY_QP);

static bool number_ok(u32 number)
{
	return number && number <= KIWI_SNIC_NUMBER_MAX;
}

int kiwi_cmd_alloc_pd(struct kiwi_fw *fw, u32 *pdn, struct kiwi_error *err)
{
	struct kiwi_cmd_id out;
	u32 number;
	int ret;

	ret = kiwi_cmd_exec(fw, &alloc_pd, NULL, &out, err);
	if (ret)
		return ret;
	number = le32_to_cpu(out.id);
	if (!number_ok(number))
		return kiwi_cmd_bad_number(fw, &alloc_pd, "number", number, err);
	*pdn = number;
	return 0;
}

int kiwi_cmd_dealloc_pd(struct kiwi_fw *fw, u32 pdn, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &dealloc_pd, pdn, NULL, err);
}

int kiwi_cmd_reg_mr(struct kiwi_fw *fw, u32 pdn, u32 access, u64 iova, u64 length,
		    const struct kiwi_pbl *pbl, u32 *key, struct kiwi_error *err)
{
	struct kiwi_snic_reg_mr_in in = {
		.pdn = cpu_to_le32(pdn),
		.access = cpu_to_le32(access),
		.iova = cpu_to_le64(iova),
		.length = cpu_to_le64(length),
		.pbl = *pbl,
	};
	struct kiwi_cmd_id out;
	int ret;

	ret = kiwi_cmd_exec(fw, &reg_mr, &in, &out, err);
	if (ret)
		return ret;
	*key = le32_to_cpu(out.id);
	if (!number_ok(*key >> 8))
		return kiwi_cmd_bad_number(fw, &reg_mr, "key", *key, err);
	return 0;
}

int kiwi_cmd_dereg_mr(struct kiwi_fw *fw, u32 key, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &dereg_mr, key, NULL, err);
}

int kiwi_cmd_hold_mr(struct kiwi_fw *fw, u32 key, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &hold_mr, key, NULL, err);
}

int kiwi_cmd_resume_mr(struct kiwi_fw *fw, u32 key, const struct kiwi_pbl *pbl,
		       struct kiwi_error *err)
{
	struct kiwi_snic_resume_mr_in in = {
		.key = cpu_to_le32(key),
		.pbl = *pbl,
	};

	return kiwi_cmd_exec(fw, &resume_mr, &in, NULL, err);
}

static int cmd_create_queue(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, const void *in,
			    u32 min, u32 max, struct kiwi_queue_id *id,
			    struct kiwi_error *err)
{
	struct kiwi_snic_queue_out out;
	u32 number;
	int ret;

	ret = kiwi_cmd_exec(fw, cmd, in, &out, err);
	if (ret)
		return ret;
	number = le32_to_cpu(out.number);
	if (number < min || number > max)
		return kiwi_cmd_bad_number(fw, cmd, "number", number, err);
	id->number = number;
	id->epoch = le16_to_cpu(out.epoch);
	return 0;
}

int kiwi_cmd_create_cq(struct kiwi_fw *fw, const struct kiwi_cq_params *params,
		       struct kiwi_queue_id *id, struct kiwi_error *err)
{
	struct kiwi_snic_create_cq_in in = {
		.pbl = *params->pbl,
		.ci_offset = cpu_to_le64(params->ci_offset),
		.length = cpu_to_le64(params->length),
		.eqn = cpu_to_le32(params->eqn),
		.db_page = cpu_to_le32(params->db_page),
		.log2 = params->log2,
		.flags = params->flags,
	};

	return cmd_create_queue(fw, &create_cq, &in, 1, KIWI_SNIC_NUMBER_MAX, id, err);
}

int kiwi_cmd_destroy_cq(struct kiwi_fw *fw, u32 cqn, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &destroy_cq, cqn, NULL, err);
}

int kiwi_cmd_create_qp(struct kiwi_fw *fw, const struct kiwi_qp_params *params,
		       struct kiwi_queue_id *id, struct kiwi_error *err)
{
	struct kiwi_snic_create_qp_in in = {
		.pdn = cpu_to_le32(params->pdn),
		.send_cqn = cpu_to_le32(params->send_cqn),
		.recv_cqn = cpu_to_le32(params->recv_cqn),
		.db_page = cpu_to_le32(params->db_page),
		.type = params->type,
		.flags = params->flags,
		.sq_log2 = params->sq_log2,
		.rq_log2 = params->rq_log2,
		.rq_stride = params->rq_stride,
		.db_record = cpu_to_le64(params->db_record),
		.sq = *params->sq,
	};

	if (params->rq)
		in.rq = *params->rq;

	return cmd_create_queue(fw, &create_qp, &in, KIWI_SNIC_QPN_MIN, KIWI_SNIC_QPN_MAX, id,
				err);
}

int kiwi_cmd_modify_qp(struct kiwi_fw *fw, u32 qpn, u32 mask, const struct kiwi_qp_attr *attr,
		       struct kiwi_error *err)
{
	struct kiwi_snic_modify_qp_in in = {
		.qpn = cpu_to_le32(qpn),
		.mask = cpu_to_le32(mask),
		.attr = *attr,
	};

	return kiwi_cmd_exec(fw, &modify_qp, &in, NULL, err);
}

static int query_qp_check(const struct kiwi_qp_attr *a, struct kiwi_error *err)
{
	const struct {
		const char *name;
		u32 value;
		u32 max;
	} fields[] = {
		{ "state", a->state, KIWI_QPS_ERR },
		{ "cur_state", a->cur_state, KIWI_QPS_ERR },
		{ "mtu", a->mtu, KIWI_MTU_4096 },
		{ "dest_qpn", le32_to_cpu(a->dest_qpn), KIWI_SNIC_NUMBER_MAX },
		{ "sq_psn", le32_to_cpu(a->sq_psn), KIWI_SNIC_NUMBER_MAX },
		{ "rq_psn", le32_to_cpu(a->rq_psn), KIWI_SNIC_NUMBER_MAX },
		{ "timeout", a->timeout, 31 },
		{ "retry_cnt", a->retry_cnt, 7 },
		{ "rnr_retry", a->rnr_retry, 7 },
		{ "min_rnr_timer", a->min_rnr_timer, 31 },
		{ "access", le32_to_cpu(a->access), KIWI_ACCESS_ALL },
		{ "flow_label", le32_to_cpu(a->flow_label), BIT(20) - 1 },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		if (fields[i].value > fields[i].max)
			return kiwi_cmd_bad_reply(&query_qp, fields[i].name, fields[i].value, err);
	}
	return 0;
}

int kiwi_cmd_query_qp(struct kiwi_fw *fw, u32 qpn, struct kiwi_qp_attr *attr,
		      struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_exec_id(fw, &query_qp, qpn, attr, err);
	return ret ?: query_qp_check(attr, err);
}

int kiwi_cmd_destroy_qp(struct kiwi_fw *fw, u32 qpn, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &destroy_qp, qpn, NULL, err);
}
