// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <linux/dma-direct.h>
#include <linux/pci.h>
#include <linux/string.h>

#include "fake_g2g.h"

static struct fake_g2g *to_g2g(struct kiwi_fw *fw)
{
	return container_of(fw, struct fake_g2g, fw);
}

/* Exports ------------------------------------------------------------------------ */

static struct fake_export *find_export(struct kiwi_fw *fw, u32 number)
{
	struct fake_export *e;

	for (e = to_g2g(fw)->exports; e < to_g2g(fw)->exports + FAKE_OBJECTS; e++) {
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
		.number = fake_fw_number(fw),
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

	for (w = to_g2g(fw)->windows; w < to_g2g(fw)->windows + FAKE_OBJECTS; w++) {
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
		.number = fake_fw_number(fw),
		.state.state = to_g2g(fw)->bind_state,
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

	for (w = to_g2g(fw)->windows; w < to_g2g(fw)->windows + FAKE_OBJECTS; w++) {
		if (overlaps(w, offset, length))
			fake_fw_broken(fw, "granules are mapped twice");
	}
	w = find_window(fw, le32_to_cpu(in->window));
	if (!w)
		return KIWI_ST_BAD_HANDLE;
	if (w->state.state != KIWI_G2G_WINDOW_BOUND)
		return KIWI_ST_BAD_STATE;
	if (offset % BIT(to_g2g(fw)->caps.granule_shift) || offset + length > FAKE_BAR_LEN / 2)
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
	if (generation != to_g2g(fw)->generation)
		return KIWI_ST_BAD_STATE;
	out->id = cpu_to_le32(++to_g2g(fw)->generation);
	return KIWI_ST_OK;
}

static u16 write_image(struct kiwi_fw *fw, const struct kiwi_g2g_write_image_in *in)
{
	struct kiwi_g2g_slot *slot = &to_g2g(fw)->slot[le32_to_cpu(in->slot)];
	u32 offset = le32_to_cpu(in->offset), len = le32_to_cpu(in->len);
	void *bytes;

	if (slot->state != KIWI_G2G_SLOT_LOADING)
		return KIWI_ST_BAD_STATE;
	if (offset != le32_to_cpu(slot->written) || offset + len > sizeof(to_g2g(fw)->image))
		return KIWI_ST_BAD_PARAM;
	bytes = phys_to_virt(dma_to_phys(&to_g2g(fw)->pdev->dev, le64_to_cpu(in->addr)));
	memcpy(to_g2g(fw)->image + offset, bytes, len);
	le32_add_cpu(&slot->written, len);
	return KIWI_ST_OK;
}

static u16 begin_image(struct kiwi_fw *fw, const struct kiwi_g2g_begin_image_in *in)
{
	struct kiwi_g2g_slot *slot = &to_g2g(fw)->slot[le32_to_cpu(in->slot)];

	if (slot->active)
		return KIWI_ST_BUSY;
	*slot = (struct kiwi_g2g_slot) { .state = KIWI_G2G_SLOT_LOADING };
	return KIWI_ST_OK;
}

static u16 activate_image(struct kiwi_fw *fw, u32 slot)
{
	if (fake_fw_live(fw))
		return KIWI_ST_BUSY;
	to_g2g(fw)->slot[0].active = !slot;
	to_g2g(fw)->slot[1].active = slot;
	return KIWI_ST_OK;
}

static void deliver(struct kiwi_fw *fw)
{
	u8 code = to_g2g(fw)->undelivered;

	to_g2g(fw)->undelivered = 0;
	if (code)
		fake_fw_event(fw, KIWI_G2G_EV_PAUSE, 0, code, 0);
}

static u16 pause_die(struct kiwi_fw *fw)
{
	deliver(fw);
	if (to_g2g(fw)->paused)
		return KIWI_ST_BAD_STATE;
	to_g2g(fw)->paused = true;
	if (to_g2g(fw)->drains)
		fake_fw_event(fw, KIWI_G2G_EV_PAUSE, 0, KIWI_G2G_PAUSE_DRAINED, 0);
	return KIWI_ST_OK;
}

static u16 resume_die(struct kiwi_fw *fw)
{
	u16 status = to_g2g(fw)->paused ? KIWI_ST_OK : KIWI_ST_BAD_STATE;

	to_g2g(fw)->paused = false;
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
		return reply(out, &to_g2g(fw)->caps, sizeof(to_g2g(fw)->caps));
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
		to_g2g(fw)->fabric.routes = cpu_to_le32(to_g2g(fw)->generation);
		return reply(out, &to_g2g(fw)->fabric, sizeof(to_g2g(fw)->fabric));
	case KIWI_G2G_OP_PAUSE:
		return pause_die(fw);
	case KIWI_G2G_OP_RESUME:
		return resume_die(fw);
	case KIWI_G2G_OP_QUERY_PORT:
		return reply(out, &to_g2g(fw)->port, sizeof(to_g2g(fw)->port));
	case KIWI_G2G_OP_QUERY_PEER:
		to_g2g(fw)->peer.accel = cpu_to_le16(id);
		return reply(out, &to_g2g(fw)->peer, sizeof(to_g2g(fw)->peer));
	case KIWI_G2G_OP_READ_LOG:
		memcpy(out, &to_g2g(fw)->log, sizeof(to_g2g(fw)->log));
		to_g2g(fw)->log.count = 0;
		to_g2g(fw)->log.left = 0;
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
		return reply(out, &to_g2g(fw)->slot[id], sizeof(to_g2g(fw)->slot[id]));
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
		return fake_queues_execute(fw, opcode, in, out);
	}
}

/* Model ---------------------------------------------------------------------------------- */

static void forget(struct kiwi_fw *fw)
{
	struct fake_g2g *g2g = to_g2g(fw);

	memset(g2g->exports, 0, sizeof(g2g->exports));
	memset(g2g->windows, 0, sizeof(g2g->windows));
	fake_queues_forget(fw);
}

static unsigned int live(const struct kiwi_fw *fw)
{
	const struct fake_g2g *g2g = container_of(fw, struct fake_g2g, fw);
	unsigned int n, live = fake_queues_live(fw);

	for (n = 0; n < FAKE_OBJECTS; n++)
		live += !!g2g->exports[n].number + !!g2g->windows[n].number;
	return live;
}

/* What was revoked peers do not reach any more. */
static bool reaches(const struct kiwi_fw *fw, u64 addr)
{
	const struct fake_g2g *g2g = container_of(fw, struct fake_g2g, fw);
	const struct fake_export *e;

	for (e = g2g->exports; e < g2g->exports + FAKE_OBJECTS; e++) {
		if (e->number && e->state == KIWI_G2G_EXPORT_LIVE &&
		    le64_to_cpu(e->in.pbl.addr[0]) == addr)
			return true;
	}
	return fake_queues_reaches(fw, addr);
}

static const struct fake_model model = {
	.execute = execute,
	.forget = forget,
	.live = live,
	.reaches = reaches,
};

/* For tests ------------------------------------------------------------------------------- */

/* The only one. */
struct fake_export *fake_g2g_export(struct fake_g2g *g2g)
{
	return g2g->exports;
}

struct fake_window *fake_g2g_window(struct fake_g2g *g2g)
{
	return g2g->windows;
}

void fake_g2g_window_state(struct fake_g2g *g2g, u32 number, u8 state, u8 reason)
{
	struct fake_window *w = find_window(&g2g->fw, number);

	w->state.state = state;
	w->state.reason = reason;
	fake_fw_event(&g2g->fw, KIWI_G2G_EV_WINDOW, number, state, reason);
}

/* All importers acknowledge that an export was revoked. */
void fake_g2g_acknowledge(struct fake_g2g *g2g, u32 number, u32 isolated)
{
	struct fake_export *e = find_export(&g2g->fw, number);

	e->bindings = 0;
	e->state = KIWI_G2G_EXPORT_REVOKED;
	fake_fw_event(&g2g->fw, KIWI_G2G_EV_EXPORT, number, 0, isolated);
}

void fake_g2g_init(struct fake_g2g *g2g, struct pci_dev *pdev)
{
	fake_fw_init(&g2g->fw, &model);
	fake_queues_init(&g2g->fw, &g2g->queues);
	g2g->fw.syncing = deliver;
	g2g->fw.identity.caps = KIWI_G2G_CAP_ATOMICS | KIWI_G2G_CAP_PFC;
	g2g->fw.last = 0x100;	/* windows have numbers up to max_window */
	g2g->pdev = pdev;
	g2g->caps = (struct kiwi_g2g_caps) {
		.queue = fake_queues_caps,
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
	g2g->fabric.state = KIWI_G2G_FABRIC_ACTIVE;
	g2g->port = (struct kiwi_g2g_port) {
		.config.mode = KIWI_G2G_PORT_DIRECT,
		.state = KIWI_G2G_PORT_TRAINING,
		.reason = KIWI_G2G_WHY_NO_NEIGHBOUR,
		.neighbour = cpu_to_le16(KIWI_G2G_ACCEL_NONE),
	};
	g2g->peer.state = KIWI_G2G_PEER_ESTABLISHED;
	g2g->slot[0] = (struct kiwi_g2g_slot) { .state = KIWI_G2G_SLOT_VERIFIED, .active = 1 };
	g2g->bind_state = KIWI_G2G_WINDOW_BINDING;
}
