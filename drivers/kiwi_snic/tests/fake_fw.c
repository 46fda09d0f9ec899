// SPDX-License-Identifier: GPL-2.0
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <kiwi_abi/queues.h>

#include "fake_fw.h"

/* What files look the class of their device up by. */
struct class kiwi_fw_class = {
	.name = "kiwi_snic_test",
};

static void fake_broken(struct kiwi_fw *fw, const char *rule)
{
	if (!fw->broken)
		fw->broken = rule;
}

/* Objects ---------------------------------------------------------------------- */

static struct fake_object *fake_find(struct kiwi_fw *fw, enum fake_kind kind, u32 number)
{
	struct fake_object *obj;

	for (obj = fw->objects; obj < fw->objects + FAKE_OBJECTS; obj++) {
		if (obj->kind == kind && obj->number == number)
			return obj;
	}
	return NULL;
}

static bool fake_in_use(struct kiwi_fw *fw, const struct fake_object *used)
{
	const struct fake_object *obj;

	for (obj = fw->objects; obj < fw->objects + FAKE_OBJECTS; obj++) {
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
		fake_broken(fw, "the fake has no room for an object");
		return 0;
	}
	fw->last = fw->number < 0 ? fw->last + 1 : fw->number;
	*obj = *made;
	obj->number = fw->last;
	return fw->last;
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

	if (cq.db_page >= FAKE_DB_PAGES || !test_bit(cq.db_page, fw->db_open))
		return KIWI_ST_BAD_HANDLE;
	out->number = cpu_to_le32(fake_add(fw, &cq));
	out->epoch = cpu_to_le16(++fw->epoch);
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
	    !test_bit(qp.db_page, fw->db_open))
		return KIWI_ST_BAD_HANDLE;
	out->number = cpu_to_le32(fake_add(fw, &qp));
	out->epoch = cpu_to_le16(++fw->epoch);
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

static u16 fake_execute(struct kiwi_fw *fw, u16 opcode, const void *in, void *out)
{
	const struct kiwi_cmd_id *id = in;

	switch (opcode) {
	case KIWI_OP_QUERY_CAPS:
		memcpy(out, &fw->caps, sizeof(fw->caps));
		return KIWI_ST_OK;
	case KIWI_SNIC_OP_QUERY_PORT:
		memcpy(out, &fw->port, sizeof(fw->port));
		return KIWI_ST_OK;
	case KIWI_SNIC_OP_QUERY_PORT_COUNTERS:
		memset(out, 0x11, sizeof(struct kiwi_snic_port_counters));
		return KIWI_ST_OK;
	case KIWI_SNIC_OP_SET_PORT:
	case KIWI_SNIC_OP_SET_GID:
		return KIWI_ST_OK;
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
		memcpy(out, &fw->attr, sizeof(fw->attr));
		return fake_named(fw, FAKE_QP, in);
	case KIWI_SNIC_OP_DESTROY_QP:
		return fake_del(fw, FAKE_QP, le32_to_cpu(id->id));
	default:
		return KIWI_ST_BAD_OPCODE;
	}
}

/* Commands ------------------------------------------------------------------------ */

static int fake_errno(u16 status)
{
	switch (status) {
	case KIWI_ST_OK:
		return 0;
	case KIWI_ST_BUSY:
		return -EBUSY;
	case KIWI_ST_BAD_HANDLE:
		return -ENOENT;
	case KIWI_ST_NO_RESOURCE:
		return -ENOSPC;
	case KIWI_ST_NOT_READY:
		return -EIO;
	default:
		return -EINVAL;
	}
}

static void fake_die(struct kiwi_fw *fw, int error)
{
	fw->error = error;
	memset(fw->objects, 0, sizeof(fw->objects));
	bitmap_zero(fw->db_open, FAKE_DB_PAGES);
}

int kiwi_fw_exec(struct kiwi_fw *fw, u16 opcode, const void *in, size_t in_len, void *out,
		 size_t out_len, struct kiwi_fw_err *err)
{
	struct fake_cmd *cmd;

	guard(mutex)(&fw->lock);
	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	if (fw->error)
		return fw->error;
	cmd = &fw->cmds[fw->nr_cmds++ % FAKE_CMDS];
	*cmd = (struct fake_cmd) { .opcode = opcode, .in_len = in_len, .out_len = out_len };
	memcpy(cmd->in, in, min(in_len, sizeof(cmd->in)));
	if (opcode == fw->kill) {
		fake_die(fw, fw->kill_error);
		return fw->error;
	}
	if (opcode == fw->refuse)
		*err = fw->refusal;
	else
		err->status = fake_execute(fw, opcode, in, out);
	return fake_errno(err->status);
}

void kiwi_fw_fail(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	guard(mutex)(&fw->lock);
	fw->fails++;
	fw->fail_reason = reason;
	fake_die(fw, -EIO);
}

bool kiwi_fw_is_up(struct kiwi_fw *fw)
{
	return !fw->error;
}

int kiwi_fw_error(struct kiwi_fw *fw)
{
	return fw->error;
}

const struct kiwi_fw_identity *kiwi_fw_identity(struct kiwi_fw *fw)
{
	return &fw->identity;
}

/* Events --------------------------------------------------------------------------- */

void kiwi_fw_sync_events(struct kiwi_fw *fw)
{
	fw->syncs++;
	if (fw->syncing)
		fw->syncing(fw);
}

u32 kiwi_fw_comp_eqn(struct kiwi_fw *fw, u32 vector)
{
	return 100 + vector % fw->identity.comp_vectors;
}

int kiwi_fw_comp_add(struct kiwi_fw *fw, u32 cqn, struct kiwi_fw_comp *comp)
{
	if (fw->comp_error)
		return fw->comp_error;
	comp->cqn = cqn;
	fw->comp = comp;
	fw->comps++;
	return 0;
}

void kiwi_fw_comp_del(struct kiwi_fw *fw, struct kiwi_fw_comp *comp)
{
	if (fw->comp == comp)
		fw->comp = NULL;
	fw->comps--;
}

/* Doorbell pages ----------------------------------------------------------------------- */

int kiwi_fw_db_open(struct kiwi_fw *fw, struct kiwi_fw_db *db, struct kiwi_fw_err *err)
{
	unsigned int page = find_first_zero_bit(fw->db_open, FAKE_DB_PAGES);

	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	if (fw->error)
		return fw->error;
	if (page == FAKE_DB_PAGES) {
		err->value = FAKE_DB_PAGES + 1;
		err->limit = FAKE_DB_PAGES;
		return -ENOSPC;
	}
	__set_bit(page, fw->db_open);
	*db = (struct kiwi_fw_db) {
		.phys = FAKE_DB_BASE + page * SZ_4K,
		.size = SZ_4K,
		.index = page,
		.reg_offset = KIWI_DB_REG,
	};
	return 0;
}

u32 kiwi_fw_db_left(struct kiwi_fw *fw)
{
	return fw->identity.db_pages;
}

/* No path leads from a fake: PREFLIGHT is tested where there is a bus. */
bool kiwi_fw_is_translated(const struct kiwi_fw *fw)
{
	return false;
}

int kiwi_fw_route_to(struct kiwi_fw *fw, int fd, struct kiwi_fw_route *route)
{
	return -EBADF;
}

int kiwi_fw_db_close(struct kiwi_fw *fw, struct kiwi_fw_db *db)
{
	unsigned int n;

	if (fw->error)
		return fw->error;
	if (fw->refuse == KIWI_OP_CLOSE_DB_PAGE)
		return fake_errno(fw->refusal.status);
	if (!test_bit(db->index, fw->db_open))
		fake_broken(fw, "a doorbell page is closed twice");
	for (n = 0; n < FAKE_OBJECTS; n++) {
		if (fw->objects[n].kind && fw->objects[n].db_page == (int)db->index)
			return -EBUSY;
	}
	__clear_bit(db->index, fw->db_open);
	return 0;
}

/* Life: tests make the device themselves. ---------------------------------------------- */

struct kiwi_fw *kiwi_fw_create(struct pci_dev *pdev, u32 part, const struct kiwi_fw_ops *ops,
			       void *priv)
{
	return ERR_PTR(-ENODEV);
}

void kiwi_fw_destroy(struct kiwi_fw *fw)
{
}

int kiwi_fw_start(struct kiwi_fw *fw)
{
	return -ENODEV;
}

void kiwi_fw_stop(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	fake_die(fw, -ENODEV);
}

void kiwi_fw_enable_events(struct kiwi_fw *fw)
{
}

void kiwi_fw_vanished(struct kiwi_fw *fw)
{
}

/* Memory -------------------------------------------------------------------------------- */

static struct kiwi_fw_mem *fake_mem_new(struct kiwi_fw *fw, int fd, u64 addr, u64 length,
					bool writable, struct kiwi_fw_err *err)
{
	struct fake_mem *m;

	*err = fw->mem_why;
	if (fw->mem_error)
		return ERR_PTR(fw->mem_error);
	m = kzalloc(sizeof(*m), GFP_KERNEL);
	if (!m)
		return ERR_PTR(-ENOMEM);
	fw->next_dma += SZ_1M;
	m->run = (struct kiwi_fw_run) { .addr = fw->next_dma, .len = length };
	m->mem.runs = &m->run;
	m->mem.nr_runs = 1;
	m->mem.length = length;
	m->mem.path = (struct kiwi_fw_path) { .path = 1, .reason = 2, .peer = 3, .bridge = 4 };
	m->fw = fw;
	m->fd = fd;
	m->addr = addr;
	m->writable = writable;
	fw->mems++;
	fw->last_mem = m;
	return &m->mem;
}

struct kiwi_fw_mem *kiwi_fw_mem_user(struct kiwi_fw *fw, u64 addr, u64 length, bool writable,
				     struct kiwi_fw_err *err)
{
	return fake_mem_new(fw, -1, addr, length, writable, err);
}

struct kiwi_fw_mem *kiwi_fw_mem_dmabuf(struct kiwi_fw *fw, int fd, u64 offset, u64 length,
				       bool writable, const struct kiwi_fw_dmabuf_ops *ops,
				       void *arg, struct kiwi_fw_err *err)
{
	struct kiwi_fw_mem *mem = fake_mem_new(fw, fd, offset, length, writable, err);

	if (!IS_ERR(mem)) {
		fw->last_mem->ops = ops;
		fw->last_mem->arg = arg;
	}
	return mem;
}

/* There is nothing behind the addresses. */
int kiwi_fw_mem_vmap(struct kiwi_fw_mem *mem, struct iosys_map *map)
{
	return -EOPNOTSUPP;
}

/* A fake's memory stays where it is, until a test has it move. */
int kiwi_fw_mem_lock(struct kiwi_fw_mem *mem)
{
	return 0;
}

void kiwi_fw_mem_unlock(struct kiwi_fw_mem *mem)
{
}

void kiwi_fw_mem_release(struct kiwi_fw_mem *mem)
{
	struct fake_mem *m = container_of(mem, struct fake_mem, mem);
	struct kiwi_fw *fw = m->fw;
	unsigned int n;

	for (n = 0; n < FAKE_OBJECTS; n++) {
		if (fw->objects[n].kind && (fw->objects[n].memory[0] == m->run.addr ||
					    fw->objects[n].memory[1] == m->run.addr))
			fake_broken(fw, "memory is given back while the device may reach it");
	}
	fw->mems--;
	kfree(m);
}

int kiwi_fw_pbl_build(struct kiwi_fw *fw, const struct kiwi_fw_mem *mem,
		      const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl *pbl,
		      struct kiwi_fw_err *err)
{
	fw->pbl_limits = *limits;
	*err = fw->pbl_why;
	if (fw->pbl_error)
		return fw->pbl_error;
	*pbl = (struct kiwi_fw_pbl) {
		.wire.count = cpu_to_le32(1),
		.wire.page_shift = 20,
		.wire.addr = { cpu_to_le64(mem->runs[0].addr) },
	};
	fw->pbls++;
	return 0;
}

void kiwi_fw_pbl_release(struct kiwi_fw *fw, struct kiwi_fw_pbl *pbl)
{
	fw->pbls--;
}

/* For tests ------------------------------------------------------------------------------- */

unsigned int fake_fw_live(struct kiwi_fw *fw)
{
	unsigned int n, live = 0;

	for (n = 0; n < FAKE_OBJECTS; n++)
		live += !!fw->objects[n].kind;
	return live;
}

const struct fake_cmd *fake_fw_last(struct kiwi_fw *fw)
{
	return &fw->cmds[(fw->nr_cmds - 1) % FAKE_CMDS];
}

void fake_fw_refuse(struct kiwi_fw *fw, u16 opcode, u16 status)
{
	fw->refuse = opcode;
	fw->refusal = (struct kiwi_fw_err) { .status = status, .field = KIWI_ERR_FIELD_NONE };
}

/* As after kiwi_fw_stop(): the device knows nothing. */
void fake_fw_reset(struct kiwi_fw *fw)
{
	fake_die(fw, -ENODEV);
}

void fake_fw_init(struct kiwi_fw *fw)
{
	mutex_init(&fw->lock);
	fw->identity = (struct kiwi_fw_identity) {
		.serial = 0x1122334455667788ULL,
		.fw_version = 0x0001000200000003ULL,
		.abi = 0x10001,
		.generation = 7,
		.db_pages = FAKE_DB_PAGES,
		.db_page_shift = 12,
		.comp_vectors = 2,
	};
	fw->caps = (struct kiwi_snic_caps) {
		.max_pd = cpu_to_le32(16),
		.max_mr = cpu_to_le32(17),
		.max_cq = cpu_to_le32(18),
		.max_qp = cpu_to_le32(19),
		.max_mr_size = cpu_to_le64(SZ_64M),
		.max_mr_pages = cpu_to_le32(1000),
		.max_inline = cpu_to_le32(200),
		.page_shift_max = 30,
		.pbl_table_shift_max = 20,
		.ports = 2,
		.gids = 4,
		.sq_log2_max = 12,
		.rq_log2_max = 11,
		.cq_log2_max = 10,
		.max_sge = 9,
		.max_rd_atomic = 8,
		.max_msg_size = cpu_to_le32(SZ_1G),
		.link_mbps = cpu_to_le32(800000),
	};
	fw->port = (struct kiwi_snic_port) {
		.state = KIWI_PORT_ACTIVE,
		.enabled = 1,
		.mtu = KIWI_MTU_2048,
		.mtu_max = KIWI_MTU_4096,
		.mbps = cpu_to_le32(400000),
		.mac = { 0x52, 0x54, 0x00, 0x4b, 0x00, 0x01 },
	};
	fw->attr = (struct kiwi_qp_attr) { .state = KIWI_QPS_RTS, .mtu = KIWI_MTU_1024 };
	fw->next_dma = SZ_1G;
	fw->number = -1;
	fw->last = 0x1000;
}
