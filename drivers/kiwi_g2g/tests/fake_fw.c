// SPDX-License-Identifier: GPL-2.0
#include <linux/cleanup.h>
#include <linux/device.h>
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "../../kiwi_fw/admin.h"
#include "fixture.h"

/* What files look the class of their device up by. */
struct class kiwi_fw_class = {
	.name = "kiwi_g2g_test",
};

static void fake_broken(struct kiwi_fw *fw, const char *rule)
{
	if (!fw->broken)
		fw->broken = rule;
}

static u32 fake_number(struct kiwi_fw *fw)
{
	fw->last = fw->number < 0 ? fw->last + 1 : fw->number;
	return fw->last;
}

/* Exports ------------------------------------------------------------------------ */

static struct fake_export *find_export(struct kiwi_fw *fw, u32 number)
{
	struct fake_export *e;

	for (e = fw->exports; e < fw->exports + FAKE_OBJECTS; e++) {
		if (e->number == number)
			return e;
	}
	return NULL;
}

static u16 create_export(struct kiwi_fw *fw, const struct kiwi_g2g_create_export_in *in,
			 struct kiwi_cmd_id *out)
{
	struct fake_export *e = find_export(fw, 0);

	if (!e)
		return KIWI_ST_NO_RESOURCE;
	*e = (struct fake_export) {
		.number = fake_number(fw),
		.state = KIWI_G2G_EXPORT_LIVE,
		.in = *in,
	};
	out->id = cpu_to_le32(e->number);
	return KIWI_ST_OK;
}

static u16 revoke_export(struct kiwi_fw *fw, u32 number)
{
	struct fake_export *e = find_export(fw, number);

	if (!e)
		return KIWI_ST_BAD_HANDLE;
	if (e->state != KIWI_G2G_EXPORT_LIVE)
		return KIWI_ST_BAD_STATE;
	e->state = e->bindings ? KIWI_G2G_EXPORT_REVOKING : KIWI_G2G_EXPORT_REVOKED;
	return KIWI_ST_OK;
}

static u16 destroy_export(struct kiwi_fw *fw, u32 number)
{
	struct fake_export *e = find_export(fw, number);

	if (!e)
		return KIWI_ST_BAD_HANDLE;
	if (e->state == KIWI_G2G_EXPORT_REVOKING || e->bindings)
		return KIWI_ST_BUSY;
	memset(e, 0, sizeof(*e));
	return KIWI_ST_OK;
}

static u16 query_export(struct kiwi_fw *fw, u32 number, struct kiwi_g2g_export *out)
{
	const struct fake_export *e = find_export(fw, number);

	if (!e)
		return KIWI_ST_BAD_HANDLE;
	*out = (struct kiwi_g2g_export) {
		.state = e->state,
		.bindings = cpu_to_le32(e->bindings),
	};
	return KIWI_ST_OK;
}

/* Windows ------------------------------------------------------------------------ */

static struct fake_window *find_window(struct kiwi_fw *fw, u32 number)
{
	struct fake_window *w;

	for (w = fw->windows; w < fw->windows + FAKE_OBJECTS; w++) {
		if (w->number == number)
			return w;
	}
	return NULL;
}

static u16 bind_window(struct kiwi_fw *fw, const struct kiwi_g2g_bind_window_in *in,
		       struct kiwi_cmd_id *out)
{
	struct fake_window *w = find_window(fw, 0);

	if (!w)
		return KIWI_ST_NO_RESOURCE;
	*w = (struct fake_window) {
		.number = fake_number(fw),
		.state.state = fw->bind_state,
		.state.accel = in->accel,
		.state.rights = in->rights,
	};
	out->id = cpu_to_le32(w->number);
	return KIWI_ST_OK;
}

static bool overlaps(const struct fake_window *w, u64 offset, u64 length)
{
	u64 start = le64_to_cpu(w->state.offset);

	return w->state.length && start < offset + length &&
	       offset < start + le64_to_cpu(w->state.length);
}

static u16 map_window(struct kiwi_fw *fw, const struct kiwi_g2g_map_window_in *in)
{
	u64 offset = le64_to_cpu(in->offset), length = le64_to_cpu(in->length);
	struct fake_window *w;

	for (w = fw->windows; w < fw->windows + FAKE_OBJECTS; w++) {
		if (overlaps(w, offset, length))
			fake_broken(fw, "granules are mapped twice");
	}
	w = find_window(fw, le32_to_cpu(in->window));
	if (!w)
		return KIWI_ST_BAD_HANDLE;
	if (w->state.state != KIWI_G2G_WINDOW_BOUND)
		return KIWI_ST_BAD_STATE;
	if (offset % BIT(fw->caps.granule_shift) || offset + length > FAKE_BAR_LEN / 2)
		return KIWI_ST_BAD_PARAM;
	w->state.state = KIWI_G2G_WINDOW_MAPPED;
	w->state.offset = in->offset;
	w->state.export_offset = in->export_offset;
	w->state.length = in->length;
	return KIWI_ST_OK;
}

static u16 unbind_window(struct kiwi_fw *fw, u32 number)
{
	struct fake_window *w = find_window(fw, number);

	if (!w)
		return KIWI_ST_BAD_HANDLE;
	memset(w, 0, sizeof(*w));
	return KIWI_ST_OK;
}

static u16 query_window(struct kiwi_fw *fw, u32 number, struct kiwi_g2g_window *out)
{
	const struct fake_window *w = find_window(fw, number);

	if (!w)
		return KIWI_ST_BAD_HANDLE;
	*out = w->state;
	return KIWI_ST_OK;
}

/* The rest of the die --------------------------------------------------------------- */

static u16 switch_routes(struct kiwi_fw *fw, u32 generation, struct kiwi_cmd_id *out)
{
	if (generation != fw->generation)
		return KIWI_ST_BAD_STATE;
	out->id = cpu_to_le32(++fw->generation);
	return KIWI_ST_OK;
}

static u16 write_image(struct kiwi_fw *fw, const struct kiwi_g2g_write_image_in *in)
{
	struct kiwi_g2g_slot *slot = &fw->slot[le32_to_cpu(in->slot)];
	u32 offset = le32_to_cpu(in->offset), len = le32_to_cpu(in->len);
	struct fixture *x = container_of(fw, struct fixture, fw);
	void *bytes;

	if (slot->state != KIWI_G2G_SLOT_LOADING)
		return KIWI_ST_BAD_STATE;
	if (offset != le32_to_cpu(slot->written) || offset + len > sizeof(fw->image))
		return KIWI_ST_BAD_PARAM;
	bytes = phys_to_virt(dma_to_phys(&x->pdev.dev, le64_to_cpu(in->addr)));
	memcpy(fw->image + offset, bytes, len);
	le32_add_cpu(&slot->written, len);
	return KIWI_ST_OK;
}

static u16 begin_image(struct kiwi_fw *fw, const struct kiwi_g2g_begin_image_in *in)
{
	struct kiwi_g2g_slot *slot = &fw->slot[le32_to_cpu(in->slot)];

	if (slot->active)
		return KIWI_ST_BUSY;
	*slot = (struct kiwi_g2g_slot) { .state = KIWI_G2G_SLOT_LOADING };
	return KIWI_ST_OK;
}

static u16 activate_image(struct kiwi_fw *fw, u32 slot)
{
	if (fake_fw_live(fw))
		return KIWI_ST_BUSY;
	fw->slot[0].active = !slot;
	fw->slot[1].active = slot;
	return KIWI_ST_OK;
}

static u16 pause_die(struct kiwi_fw *fw)
{
	if (fw->paused)
		return KIWI_ST_BAD_STATE;
	fw->paused = true;
	if (fw->drains)
		fake_fw_event(fw, KIWI_G2G_EV_PAUSE, 0, KIWI_G2G_PAUSE_DRAINED, 0);
	return KIWI_ST_OK;
}

static u16 resume_die(struct kiwi_fw *fw)
{
	u16 status = fw->paused ? KIWI_ST_OK : KIWI_ST_BAD_STATE;

	fw->paused = false;
	return status;
}

static u16 change_fabric(struct kiwi_fw *fw)
{
	return fake_fw_live(fw) ? KIWI_ST_BUSY : KIWI_ST_OK;
}

static u16 reply(void *out, const void *value, size_t size)
{
	memcpy(out, value, size);
	return KIWI_ST_OK;
}

static u16 execute(struct kiwi_fw *fw, u16 opcode, const void *in, void *out)
{
	const struct kiwi_cmd_id *cmd = in;
	u32 id = in ? le32_to_cpu(cmd->id) : 0;

	switch (opcode) {
	case KIWI_OP_QUERY_CAPS:
		return reply(out, &fw->caps, sizeof(fw->caps));
	case KIWI_G2G_OP_SET_FABRIC:
	case KIWI_G2G_OP_DEACTIVATE:
		return change_fabric(fw);
	case KIWI_G2G_OP_ACTIVATE:
	case KIWI_G2G_OP_SET_PORT:
	case KIWI_G2G_OP_STAGE_ROUTES:
	case KIWI_G2G_OP_ISOLATE_PEER:
	case KIWI_G2G_OP_RECOVER_PEER:
	case KIWI_G2G_OP_VERIFY_IMAGE:
		return KIWI_ST_OK;
	case KIWI_G2G_OP_QUERY_FABRIC:
		fw->fabric.routes = cpu_to_le32(fw->generation);
		return reply(out, &fw->fabric, sizeof(fw->fabric));
	case KIWI_G2G_OP_PAUSE:
		return pause_die(fw);
	case KIWI_G2G_OP_RESUME:
		return resume_die(fw);
	case KIWI_G2G_OP_QUERY_PORT:
		return reply(out, &fw->port, sizeof(fw->port));
	case KIWI_G2G_OP_QUERY_PEER:
		fw->peer.accel = cpu_to_le16(id);
		return reply(out, &fw->peer, sizeof(fw->peer));
	case KIWI_G2G_OP_READ_LOG:
		memcpy(out, &fw->log, sizeof(fw->log));
		fw->log.count = 0;
		fw->log.left = 0;
		return KIWI_ST_OK;
	case KIWI_G2G_OP_COMMIT_ROUTES:
	case KIWI_G2G_OP_ROLLBACK_ROUTES:
		return switch_routes(fw, id, out);
	case KIWI_G2G_OP_QUERY_ROUTES:
		memset(out, 0, sizeof(struct kiwi_g2g_query_routes_out));
		return KIWI_ST_OK;
	case KIWI_G2G_OP_BEGIN_IMAGE:
		return begin_image(fw, in);
	case KIWI_G2G_OP_WRITE_IMAGE:
		return write_image(fw, in);
	case KIWI_G2G_OP_ACTIVATE_IMAGE:
		return activate_image(fw, id);
	case KIWI_G2G_OP_QUERY_IMAGE:
		return reply(out, &fw->slot[id], sizeof(fw->slot[id]));
	case KIWI_G2G_OP_CREATE_EXPORT:
		return create_export(fw, in, out);
	case KIWI_G2G_OP_REVOKE_EXPORT:
		return revoke_export(fw, id);
	case KIWI_G2G_OP_DESTROY_EXPORT:
		return destroy_export(fw, id);
	case KIWI_G2G_OP_QUERY_EXPORT:
		return query_export(fw, id, out);
	case KIWI_G2G_OP_BIND_WINDOW:
		return bind_window(fw, in, out);
	case KIWI_G2G_OP_MAP_WINDOW:
		return map_window(fw, in);
	case KIWI_G2G_OP_UNBIND_WINDOW:
		return unbind_window(fw, id);
	case KIWI_G2G_OP_QUERY_WINDOW:
		return query_window(fw, id, out);
	default:
		return KIWI_ST_BAD_OPCODE;
	}
}

/* Commands ------------------------------------------------------------------------ */

static void fake_die(struct kiwi_fw *fw, int error)
{
	fw->error = error;
	memset(fw->exports, 0, sizeof(fw->exports));
	memset(fw->windows, 0, sizeof(fw->windows));
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
	*cmd = (struct fake_cmd) { .opcode = opcode, .in_len = in_len };
	memcpy(cmd->in, in, min(in_len, sizeof(cmd->in)));
	if (opcode == fw->kill) {
		fake_die(fw, fw->kill_error);
		return fw->error;
	}
	if (opcode == fw->refuse)
		*err = fw->refusal;
	else
		err->status = execute(fw, opcode, in, out);
	return kiwi_fw_status_errno(err->status);
}

void kiwi_fw_fail(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	guard(mutex)(&fw->lock);
	fw->fails++;
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

void kiwi_fw_sync_events(struct kiwi_fw *fw)
{
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

struct kiwi_fw_mem *kiwi_fw_mem_dmabuf(struct kiwi_fw *fw, int fd, u64 offset, u64 length,
				       bool writable, const struct kiwi_fw_dmabuf_ops *ops,
				       void *arg, struct kiwi_fw_err *err)
{
	struct fake_mem *m;

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
	m->fw = fw;
	m->fd = fd;
	m->writable = writable;
	m->ops = ops;
	m->arg = arg;
	fw->mems++;
	fw->last_mem = m;
	return &m->mem;
}

void kiwi_fw_mem_release(struct kiwi_fw_mem *mem)
{
	struct fake_mem *m = container_of(mem, struct fake_mem, mem);
	struct kiwi_fw *fw = m->fw;
	struct fake_export *e;

	for (e = fw->exports; e < fw->exports + FAKE_OBJECTS; e++) {
		if (e->number && e->state == KIWI_G2G_EXPORT_LIVE &&
		    le64_to_cpu(e->in.pbl.addr[0]) == m->run.addr)
			fake_broken(fw, "memory is given back while peers may reach it");
	}
	fw->mems--;
	kfree(m);
}

int kiwi_fw_pbl_build(struct kiwi_fw *fw, const struct kiwi_fw_mem *mem,
		      const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl *pbl,
		      struct kiwi_fw_err *err)
{
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
		live += !!fw->exports[n].number + !!fw->windows[n].number;
	return live;
}

unsigned int fake_fw_count(struct kiwi_fw *fw, u16 opcode)
{
	unsigned int n, count = 0;

	for (n = 0; n < min(fw->nr_cmds, FAKE_CMDS); n++)
		count += fw->cmds[n].opcode == opcode;
	return count;
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

void fake_fw_event(struct kiwi_fw *fw, u8 type, u32 id, u8 code, u32 info)
{
	const struct kiwi_eqe eqe = {
		.type = type,
		.code = code,
		.id = cpu_to_le32(id),
		.info = cpu_to_le32(info),
	};

	fw->ops->event(fw->priv, &eqe, false);
}

/* The only one. */
struct fake_export *fake_fw_export(struct kiwi_fw *fw)
{
	return fw->exports;
}

struct fake_window *fake_fw_window(struct kiwi_fw *fw)
{
	return fw->windows;
}

void fake_fw_window_state(struct kiwi_fw *fw, u32 number, u8 state, u8 reason)
{
	struct fake_window *w = find_window(fw, number);

	w->state.state = state;
	w->state.reason = reason;
	fake_fw_event(fw, KIWI_G2G_EV_WINDOW, number, state, reason);
}

/* All importers acknowledge that an export was revoked. */
void fake_fw_acknowledge(struct kiwi_fw *fw, u32 number, u32 isolated)
{
	struct fake_export *e = find_export(fw, number);

	e->bindings = 0;
	e->state = KIWI_G2G_EXPORT_REVOKED;
	fake_fw_event(fw, KIWI_G2G_EV_EXPORT, number, 0, isolated);
}

void fake_fw_init(struct kiwi_fw *fw)
{
	mutex_init(&fw->lock);
	fw->identity = (struct kiwi_fw_identity) {
		.serial = 0x1122334455667788ULL,
		.fw_version = 0x0001000200000003ULL,
		.caps = KIWI_G2G_CAP_ATOMICS | KIWI_G2G_CAP_PFC,
		.abi = 0x10001,
		.generation = 7,
		.db_page_shift = 12,
	};
	fw->caps = (struct kiwi_g2g_caps) {
		.queue.page_shift_max = 30,
		.queue.pbl_table_shift_max = 20,
		.accels = cpu_to_le16(256),
		.stations = 2,
		.ports = 8,
		.lanes = 4,
		.layers = 2,
		.granule_shift = 16,
		.slots = 2,
		.fec = KIWI_G2G_FEC_ALL,
		.flow = BIT(KIWI_G2G_FLOW_NONE) | BIT(KIWI_G2G_FLOW_PFC),
		.atomics = KIWI_G2G_ATOMIC_ALL,
		.aperture_size = cpu_to_le64(FAKE_BAR_LEN / 2),
		.atomic_base = cpu_to_le64(FAKE_BAR_LEN / 2),
		.max_export_size = cpu_to_le64(SZ_64M),
		.max_export_pages = cpu_to_le32(1000),
		.max_export = cpu_to_le32(16),
		.max_window = cpu_to_le32(4096),
		.max_binding = cpu_to_le32(32),
		.image_max = cpu_to_le32(FAKE_IMAGE_MAX),
		.lane_mbps = cpu_to_le32(100000),
		.load_us = cpu_to_le32(100000),
		.bind_ms = cpu_to_le32(100),
		.revoke_ms = cpu_to_le32(200),
		.pause_ms = cpu_to_le32(50),
		.peer_ms = cpu_to_le32(160),
		.link_ms = cpu_to_le32(80),
	};
	fw->fabric.state = KIWI_G2G_FABRIC_ACTIVE;
	fw->port = (struct kiwi_g2g_port) {
		.config.mode = KIWI_G2G_PORT_DIRECT,
		.state = KIWI_G2G_PORT_TRAINING,
		.reason = KIWI_G2G_WHY_NO_NEIGHBOUR,
		.neighbour = cpu_to_le16(KIWI_G2G_ACCEL_NONE),
	};
	fw->peer.state = KIWI_G2G_PEER_ESTABLISHED;
	fw->slot[0] = (struct kiwi_g2g_slot) { .state = KIWI_G2G_SLOT_VERIFIED, .active = 1 };
	fw->next_dma = SZ_1G;
	fw->number = -1;
	fw->last = 0x100;
	fw->bind_state = KIWI_G2G_WINDOW_BINDING;
}
