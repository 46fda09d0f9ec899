// SPDX-License-Identifier: GPL-2.0
#include <linux/sizes.h>
#include <linux/string.h>

#include <kiwi_abi/queues.h>

#include "../admin.h"
#include "fake_queues.h"

/* Objects ---------------------------------------------------------------------- */

static struct fake_object *fake_find(struct kiwi_fw *fw, enum fake_kind kind, u32 number)
{
	struct fake_object *obj;

	for (obj = fw->queues->objects; obj < fw->queues->objects + FAKE_QUEUE_OBJECTS; obj++) {
		if (obj->kind == kind && obj->number == number)
			return obj;
	}
	return NULL;
}

static bool fake_in_use(struct kiwi_fw *fw, const struct fake_object *used)
{
	const struct fake_object *obj;

	for (obj = fw->queues->objects; obj < fw->queues->objects + FAKE_QUEUE_OBJECTS; obj++) {
		if (!obj->kind)
			continue;
		if (used->kind == FAKE_PD && obj->pd == used->number)
			return true;
		if (used->kind == FAKE_CQ &&
		    (obj->cqs[0] == used->number || obj->cqs[1] == used->number))
			return true;
	}
	return false;
}

static u32 fake_add(struct kiwi_fw *fw, const struct fake_object *made)
{
	struct fake_object *obj = fake_find(fw, 0, 0);

	if (!obj) {
		fake_fw_broken(fw, "the fake has no room for an object");
		return 0;
	}
	*obj = *made;
	obj->number = fake_fw_number(fw);
	return obj->number;
}

static u16 fake_del(struct kiwi_fw *fw, enum fake_kind kind, u32 number)
{
	struct fake_object *obj = fake_find(fw, kind, number);

	if (!obj)
		return KIWI_ST_BAD_HANDLE;
	if (fake_in_use(fw, obj))
		return KIWI_ST_BUSY;
	memset(obj, 0, sizeof(*obj));
	return KIWI_ST_OK;
}

static u16 fake_reg_mr(struct kiwi_fw *fw, const struct kiwi_snic_reg_mr_in *in,
		       struct kiwi_cmd_id *out)
{
	struct fake_object mr = {
		.kind = FAKE_MR,
		.pd = le32_to_cpu(in->pdn),
		.db_page = -1,
		.memory = { le64_to_cpu(in->pbl.addr[0]) },
	};

	if (!fake_find(fw, FAKE_PD, mr.pd))
		return KIWI_ST_BAD_HANDLE;
	out->id = cpu_to_le32(fake_add(fw, &mr) << 8 | 0x5a);
	return KIWI_ST_OK;
}

/* A region that is held has no memory. */
static u16 fake_hold_mr(struct kiwi_fw *fw, u32 key)
{
	struct fake_object *mr = fake_find(fw, FAKE_MR, key >> 8);

	if (!mr)
		return KIWI_ST_BAD_HANDLE;
	if (!mr->memory[0])
		return KIWI_ST_BAD_STATE;
	mr->memory[0] = 0;
	return KIWI_ST_OK;
}

static u16 fake_resume_mr(struct kiwi_fw *fw, const struct kiwi_snic_resume_mr_in *in)
{
	struct fake_object *mr = fake_find(fw, FAKE_MR, le32_to_cpu(in->key) >> 8);

	if (!mr)
		return KIWI_ST_BAD_HANDLE;
	if (mr->memory[0])
		return KIWI_ST_BAD_STATE;
	mr->memory[0] = le64_to_cpu(in->pbl.addr[0]);
	return KIWI_ST_OK;
}

static u16 fake_create_cq(struct kiwi_fw *fw, const struct kiwi_snic_create_cq_in *in,
			  struct kiwi_snic_queue_out *out)
{
	struct fake_object cq = {
		.kind = FAKE_CQ,
		.db_page = le32_to_cpu(in->db_page),
		.memory = { le64_to_cpu(in->pbl.addr[0]) },
	};

	if (cq.db_page >= FAKE_DB_PAGES || !test_bit(cq.db_page, fw->queues->db_open))
		return KIWI_ST_BAD_HANDLE;
	out->number = cpu_to_le32(fake_add(fw, &cq));
	out->epoch = cpu_to_le16(++fw->queues->epoch);
	return KIWI_ST_OK;
}

static u16 fake_create_qp(struct kiwi_fw *fw, const struct kiwi_snic_create_qp_in *in,
			  struct kiwi_snic_queue_out *out)
{
	struct fake_object qp = {
		.kind = FAKE_QP,
		.pd = le32_to_cpu(in->pdn),
		.cqs = { le32_to_cpu(in->send_cqn), le32_to_cpu(in->recv_cqn) },
		.db_page = le32_to_cpu(in->db_page),
		.memory = { le64_to_cpu(in->sq.addr[0]), le64_to_cpu(in->rq.addr[0]) },
	};

	if (!fake_find(fw, FAKE_PD, qp.pd) || !fake_find(fw, FAKE_CQ, qp.cqs[0]) ||
	    !fake_find(fw, FAKE_CQ, qp.cqs[1]) || qp.db_page >= FAKE_DB_PAGES ||
	    !test_bit(qp.db_page, fw->queues->db_open))
		return KIWI_ST_BAD_HANDLE;
	out->number = cpu_to_le32(fake_add(fw, &qp));
	out->epoch = cpu_to_le16(++fw->queues->epoch);
	return KIWI_ST_OK;
}

static u16 fake_alloc_pd(struct kiwi_fw *fw, struct kiwi_cmd_id *out)
{
	const struct fake_object pd = { .kind = FAKE_PD, .db_page = -1 };

	out->id = cpu_to_le32(fake_add(fw, &pd));
	return KIWI_ST_OK;
}

static u16 fake_named(struct kiwi_fw *fw, enum fake_kind kind, const void *in)
{
	const struct kiwi_cmd_id *id = in;

	return fake_find(fw, kind, le32_to_cpu(id->id)) ? KIWI_ST_OK : KIWI_ST_BAD_HANDLE;
}

/**
 * fake_queues_execute() - carry out a command that is about queues
 * @fw: takes the commands
 * @opcode: in the ABI
 * @in: input
 * @out: reply
 *
 * Return: enum kiwi_status, KIWI_ST_BAD_OPCODE for all other commands
 */
u16 fake_queues_execute(struct kiwi_fw *fw, u16 opcode, const void *in, void *out)
{
	const struct kiwi_cmd_id *id = in;

	switch (opcode) {
	case KIWI_SNIC_OP_ALLOC_PD:
		return fake_alloc_pd(fw, out);
	case KIWI_SNIC_OP_DEALLOC_PD:
		return fake_del(fw, FAKE_PD, le32_to_cpu(id->id));
	case KIWI_SNIC_OP_REG_MR:
		return fake_reg_mr(fw, in, out);
	case KIWI_SNIC_OP_DEREG_MR:
		return fake_del(fw, FAKE_MR, le32_to_cpu(id->id) >> 8);
	case KIWI_SNIC_OP_HOLD_MR:
		return fake_hold_mr(fw, le32_to_cpu(id->id));
	case KIWI_SNIC_OP_RESUME_MR:
		return fake_resume_mr(fw, in);
	case KIWI_SNIC_OP_CREATE_CQ:
		return fake_create_cq(fw, in, out);
	case KIWI_SNIC_OP_DESTROY_CQ:
		return fake_del(fw, FAKE_CQ, le32_to_cpu(id->id));
	case KIWI_SNIC_OP_CREATE_QP:
		return fake_create_qp(fw, in, out);
	case KIWI_SNIC_OP_MODIFY_QP:
		return fake_named(fw, FAKE_QP, in);
	case KIWI_SNIC_OP_QUERY_QP:
		memcpy(out, &fw->queues->attr, sizeof(fw->queues->attr));
		return fake_named(fw, FAKE_QP, in);
	case KIWI_SNIC_OP_DESTROY_QP:
		return fake_del(fw, FAKE_QP, le32_to_cpu(id->id));
	default:
		return KIWI_ST_BAD_OPCODE;
	}
}

/* Completion events ------------------------------------------------------------------ */

u32 kiwi_fw_comp_eqn(struct kiwi_fw *fw, u32 vector)
{
	return 100 + vector % fw->identity.comp_vectors;
}

int kiwi_fw_comp_add(struct kiwi_fw *fw, u32 cqn, struct kiwi_fw_comp *comp)
{
	if (fw->queues->comp_error)
		return fw->queues->comp_error;
	comp->cqn = cqn;
	fw->queues->comp = comp;
	fw->queues->comps++;
	return 0;
}

void kiwi_fw_comp_del(struct kiwi_fw *fw, struct kiwi_fw_comp *comp)
{
	if (fw->queues->comp == comp)
		fw->queues->comp = NULL;
	fw->queues->comps--;
}

/* Doorbell pages ----------------------------------------------------------------------- */

int kiwi_fw_db_open(struct kiwi_fw *fw, struct kiwi_fw_db *db, struct kiwi_fw_err *err)
{
	unsigned int page = find_first_zero_bit(fw->queues->db_open, FAKE_DB_PAGES);

	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	if (fw->error)
		return fw->error;
	if (page == FAKE_DB_PAGES) {
		err->value = FAKE_DB_PAGES + 1;
		err->limit = FAKE_DB_PAGES;
		return -ENOSPC;
	}
	__set_bit(page, fw->queues->db_open);
	*db = (struct kiwi_fw_db) {
		.phys = FAKE_DB_BASE + page * SZ_4K,
		.size = SZ_4K,
		.index = page,
		.reg_offset = KIWI_DB_REG,
	};
	return 0;
}

int kiwi_fw_db_close(struct kiwi_fw *fw, struct kiwi_fw_db *db)
{
	struct fake_queues *queues = fw->queues;
	const struct fake_object *obj;

	if (fw->error)
		return fw->error;
	if (fw->refuse == KIWI_OP_CLOSE_DB_PAGE)
		return kiwi_fw_status_errno(fw->refusal.status);
	if (!test_bit(db->index, queues->db_open))
		fake_fw_broken(fw, "a doorbell page is closed twice");
	for (obj = queues->objects; obj < queues->objects + FAKE_QUEUE_OBJECTS; obj++) {
		if (obj->kind && obj->db_page == (int)db->index)
			return -EBUSY;
	}
	__clear_bit(db->index, queues->db_open);
	return 0;
}

/* For models ----------------------------------------------------------------------------- */

void fake_queues_forget(struct kiwi_fw *fw)
{
	memset(fw->queues->objects, 0, sizeof(fw->queues->objects));
	bitmap_zero(fw->queues->db_open, FAKE_DB_PAGES);
}

unsigned int fake_queues_live(const struct kiwi_fw *fw)
{
	unsigned int n, live = 0;

	for (n = 0; n < FAKE_QUEUE_OBJECTS; n++)
		live += !!fw->queues->objects[n].kind;
	return live;
}

bool fake_queues_reaches(const struct kiwi_fw *fw, u64 addr)
{
	const struct fake_object *obj, *end = fw->queues->objects + FAKE_QUEUE_OBJECTS;

	for (obj = fw->queues->objects; obj < end; obj++) {
		if (obj->kind && (obj->memory[0] == addr || obj->memory[1] == addr))
			return true;
	}
	return false;
}

/* Of a device with one port; no two numbers alike. */
const struct kiwi_snic_caps fake_queues_caps = {
	.max_pd = cpu_to_le32(16),
	.max_mr = cpu_to_le32(17),
	.max_cq = cpu_to_le32(18),
	.max_qp = cpu_to_le32(19),
	.max_mr_size = cpu_to_le64(SZ_64M),
	.max_mr_pages = cpu_to_le32(1000),
	.max_inline = cpu_to_le32(200),
	.page_shift_max = 30,
	.pbl_table_shift_max = 20,
	.ports = 1,
	.gids = 1,
	.sq_log2_max = 12,
	.rq_log2_max = 11,
	.cq_log2_max = 10,
	.max_sge = 9,
	.max_rd_atomic = 8,
	.max_msg_size = cpu_to_le32(SZ_1G),
};

/**
 * fake_queues_init() - a device with queues
 * @fw: takes the commands
 * @queues: zero
 */
void fake_queues_init(struct kiwi_fw *fw, struct fake_queues *queues)
{
	fw->queues = queues;
	fw->identity.db_pages = FAKE_DB_PAGES;
	fw->identity.comp_vectors = 2;
	queues->attr = (struct kiwi_qp_attr) { .state = KIWI_QPS_RTS, .mtu = KIWI_MTU_1024 };
}
