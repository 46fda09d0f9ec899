// SPDX-License-Identifier: GPL-2.0
/* Ioctls of the die itself, and the table of all. */
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include <kiwi/fw.h>

#include "ioctl.h"
#include "kg2g.h"

static int query_device(struct kiwi_call *call, void *data)
{
	const struct kiwi_fw_identity *id = kiwi_fw_identity(call->part->fw);
	const struct kg2g_caps *caps = &to_kg2g(call->part)->caps;
	const struct kiwi_queue_caps *queues = &call->part->queues->caps;
	struct kiwi_g2g_query_device *reply = data;
	bool msgq = id->caps & KIWI_G2G_CAP_MSGQ;

	if (reply->rsvd || memchr_inv(reply->rsvd1, 0, sizeof(reply->rsvd1)))
		return kiwi_call_reserved(call);
	*reply = (struct kiwi_g2g_query_device) {
		.size = reply->size,
		.serial = id->serial,
		.fw_version = id->fw_version,
		.caps = id->caps,
		.abi = id->abi,
		.generation = id->generation,
		.aperture_size = caps->aperture_size,
		.max_export_size = caps->max_export_size,
		.max_export_pages = caps->max_export_pages,
		.max_export = caps->max_export,
		.max_import = caps->max_window,
		.max_binding = caps->max_binding,
		.image_max = caps->image_max,
		.lane_mbps = caps->lane_mbps,
		.load_us = caps->load_us,
		.bind_ms = caps->bind_ms,
		.revoke_ms = caps->revoke_ms,
		.pause_ms = caps->pause_ms,
		.peer_ms = caps->peer_ms,
		.link_ms = caps->link_ms,
		.accels = caps->accels,
		.mail = caps->mail,
		.stations = caps->stations,
		.ports = caps->ports,
		.lanes = caps->lanes,
		.layers = caps->layers,
		.granule_shift = caps->granule_shift,
		.slots = caps->slots,
		.fec = caps->fec,
		.flow = caps->flow,
		.atomics = caps->atomics,
		.max_mr_size = queues->max_mr_size,
		.max_mr_pages = queues->max_mr_pages,
		.max_pd = queues->max_pd,
		.max_mr = queues->max_mr,
		.max_cq = queues->max_cq,
		.max_qp = queues->max_qp,
		.max_msg_size = queues->max_msg_size,
		.max_inline = queues->max_inline,
		.max_doorbells = msgq ? id->db_pages : 0,
		.doorbell_size = msgq ? BIT(kiwi_db_shift(call->part)) : 0,
		.max_sge = queues->max_sge,
		.max_rd_atomic = queues->max_rd_atomic,
		.sq_log2_max = queues->sq_log2_max,
		.rq_log2_max = queues->rq_log2_max,
		.cq_log2_max = queues->cq_log2_max,
		.page_shift_max = queues->page_shift_max,
	};
	return 0;
}

static int fabric_set(struct kiwi_call *call, void *data)
{
	return kg2g_fabric_set(to_kg2g(call->part), data, &call->err);
}

static int fabric_change(struct kiwi_call *call, void *data)
{
	const struct kiwi_g2g_fabric_change *c = data;

	if (c->rsvd)
		return kiwi_call_reserved(call);
	return kg2g_fabric_change(to_kg2g(call->part), c->op, &call->err);
}

static int fabric_query(struct kiwi_call *call, void *data)
{
	return kg2g_fabric_query(to_kg2g(call->part), data, &call->err);
}

static int read_log(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_log_read *read = data;

	if (read->rsvd)
		return kiwi_call_reserved(call);
	*read = (struct kiwi_g2g_log_read) { .size = read->size, .after = read->after };
	kg2g_log_read(to_kg2g(call->part), read);
	return 0;
}

static int port_set(struct kiwi_call *call, void *data)
{
	const struct kiwi_g2g_port_set *set = data;

	if (set->rsvd || set->rsvd1)
		return kiwi_call_reserved(call);
	return kg2g_port_set(to_kg2g(call->part), set, &call->err);
}

static int port_query(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_port_query *q = data;

	if (q->rsvd || memchr_inv(q->rsvd1, 0, sizeof(q->rsvd1)))
		return kiwi_call_reserved(call);
	return kg2g_port_query(to_kg2g(call->part), q, &call->err);
}

static int peer_query(struct kiwi_call *call, void *data)
{
	return kg2g_peer_query(to_kg2g(call->part), data, &call->err);
}

static int peer_change(struct kiwi_call *call, void *data)
{
	const struct kiwi_g2g_peer_change *c = data;

	if (c->rsvd)
		return kiwi_call_reserved(call);
	return kg2g_peer_change(to_kg2g(call->part), c->accel, c->op, &call->err);
}

static int routes_stage(struct kiwi_call *call, void *data)
{
	return kg2g_routes_stage(to_kg2g(call->part), data, &call->err);
}

static int routes_commit(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_routes_commit *c = data;

	if (c->rsvd)
		return kiwi_call_reserved(call);
	return kg2g_routes_commit(to_kg2g(call->part), c->flags, &c->generation, &call->err);
}

static int routes_query(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_routes_query *q = data;

	if (q->rsvd)
		return kiwi_call_reserved(call);
	return kg2g_routes_query(to_kg2g(call->part), q, &call->err);
}

static int image_load(struct kiwi_call *call, void *data)
{
	const struct kiwi_g2g_image_load *l = data;

	if (l->rsvd)
		return kiwi_call_reserved(call);
	if (strnlen(l->name, sizeof(l->name)) == sizeof(l->name))
		return kiwi_fail(&call->err, -EINVAL, 0, 0, "name is not NUL-terminated");
	return kg2g_image_load(to_kg2g(call->part), l->slot, l->name, &call->err);
}

static int image_write(struct kiwi_call *call, void *data)
{
	return kg2g_image_write(to_kg2g(call->part), data, &call->err);
}

static int image_change(struct kiwi_call *call, void *data)
{
	const struct kiwi_g2g_image_change *c = data;

	return kg2g_image_change(to_kg2g(call->part), c->slot, c->op, &call->err);
}

static int image_query(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_image_query *q = data;

	if (q->rsvd)
		return kiwi_call_reserved(call);
	return kg2g_image_query(to_kg2g(call->part), q, &call->err);
}

#define REPLY	KIWI_IOCTL_REPLY
#define ADMIN	KIWI_IOCTL_ADMIN

#define KIWI_G2G_QUEUE_CAP	KIWI_G2G_CAP_MSGQ

#define IOCTL(_name, _type, _min_size, _flags, _rules, _handler)		\
	[_IOC_NR(KIWI_G2G_##_name)] = KIWI_IOCTL(KIWI_G2G_##_name, #_name,	\
		struct _type, _min_size, _flags, _rules, _handler, 0)

const struct kiwi_ioctl kg2g_ioctls[] = {
	IOCTL(QUERY_DEVICE, kiwi_g2g_query_device, 120, 0, REPLY, query_device),
	IOCTL(FABRIC_SET, kiwi_g2g_fabric_set, 32, 0, ADMIN, fabric_set),
	IOCTL(FABRIC_CHANGE, kiwi_g2g_fabric_change, 16, 0, ADMIN, fabric_change),
	IOCTL(FABRIC_QUERY, kiwi_g2g_fabric_query, 52, 0, REPLY, fabric_query),
	IOCTL(LAST_ERROR, kiwi_last_error, 160, 0, REPLY | KIWI_IOCTL_NO_DEVICE,
	      kiwi_ioctl_last_error),
	IOCTL(DESTROY, kiwi_destroy, 16, 0, 0, kiwi_ioctl_destroy),
	IOCTL(READ_LOG, kiwi_g2g_log_read, 352, 0, REPLY, read_log),
	IOCTL(PORT_SET, kiwi_g2g_port_set, 24, 0, ADMIN, port_set),
	IOCTL(PORT_QUERY, kiwi_g2g_port_query, 52, 0, REPLY, port_query),
	IOCTL(PEER_QUERY, kiwi_g2g_peer_query, 48, 0, REPLY, peer_query),
	IOCTL(PEER_CHANGE, kiwi_g2g_peer_change, 16, 0, ADMIN, peer_change),
	IOCTL(ROUTES_STAGE, kiwi_g2g_routes_stage, 48, 0, ADMIN, routes_stage),
	IOCTL(ROUTES_COMMIT, kiwi_g2g_routes_commit, 16,
	      KIWI_G2G_ROUTES_DRAIN | KIWI_G2G_ROUTES_ROLLBACK, REPLY | ADMIN, routes_commit),
	IOCTL(ROUTES_QUERY, kiwi_g2g_routes_query, 280, 0, REPLY, routes_query),
	IOCTL(IMAGE_LOAD, kiwi_g2g_image_load, 80, 0, ADMIN, image_load),
	IOCTL(IMAGE_WRITE, kiwi_g2g_image_write, 32, 0, ADMIN, image_write),
	IOCTL(IMAGE_CHANGE, kiwi_g2g_image_change, 16, 0, ADMIN, image_change),
	IOCTL(IMAGE_QUERY, kiwi_g2g_image_query, 104, 0, REPLY, image_query),
	KIWI_QUEUES_IOCTLS(KIWI_G2G),
	IOCTL(EXPORT_CREATE, kiwi_g2g_export_create, 192, 0, REPLY, kg2g_ioctl_export_create),
	IOCTL(EXPORT_REVOKE, kiwi_g2g_export_revoke, 16, 0, 0, kg2g_ioctl_export_revoke),
	IOCTL(EXPORT_QUERY, kiwi_g2g_export_query, 152, 0, REPLY, kg2g_ioctl_export_query),
	IOCTL(IMPORT_BIND, kiwi_g2g_import_bind, 48, 0, REPLY, kg2g_ioctl_import_bind),
	IOCTL(IMPORT_MAP, kiwi_g2g_import_map, 64, KIWI_G2G_IMPORT_WC, REPLY,
	      kg2g_ioctl_import_map),
	IOCTL(IMPORT_QUERY, kiwi_g2g_import_query, 48, 0, REPLY, kg2g_ioctl_import_query),
	IOCTL(IMPORT_DMABUF, kiwi_g2g_import_dmabuf, 24, O_CLOEXEC, REPLY,
	      kg2g_ioctl_import_dmabuf),
};

const unsigned int kg2g_nr_ioctls = ARRAY_SIZE(kg2g_ioctls);

/* A structure may only grow at its end, and up to what the dispatcher has room for. */
static_assert(sizeof(struct kiwi_g2g_query_device) == 176);
static_assert(sizeof(struct kiwi_g2g_fabric_set) == 32);
static_assert(sizeof(struct kiwi_g2g_fabric_change) == 16);
static_assert(sizeof(struct kiwi_g2g_fabric_query) == 56);
static_assert(sizeof(struct kiwi_g2g_log_read) == 352);
static_assert(sizeof(struct kiwi_g2g_log_read) <= KIWI_IOCTL_DATA_MAX);
static_assert(sizeof(struct kiwi_g2g_port_set) == 24);
static_assert(sizeof(struct kiwi_g2g_port_query) == 52);
static_assert(sizeof(struct kiwi_g2g_peer_query) == 48);
static_assert(sizeof(struct kiwi_g2g_peer_change) == 16);
static_assert(sizeof(struct kiwi_g2g_route_node) == 8);
static_assert(sizeof(struct kiwi_g2g_route_link) == 12);
static_assert(sizeof(struct kiwi_g2g_route_entry) == 12);
static_assert(sizeof(struct kiwi_g2g_routes_stage) == 48);
static_assert(sizeof(struct kiwi_g2g_routes_commit) == 16);
static_assert(sizeof(struct kiwi_g2g_routes_query) == 280);
static_assert(sizeof(struct kiwi_g2g_image_load) == 80);
static_assert(sizeof(struct kiwi_g2g_image_write) == 32);
static_assert(sizeof(struct kiwi_g2g_image_change) == 16);
static_assert(sizeof(struct kiwi_g2g_image_query) == 104);
static_assert(sizeof(struct kiwi_g2g_export_create) == 192);
static_assert(sizeof(struct kiwi_g2g_export_revoke) == 16);
static_assert(sizeof(struct kiwi_g2g_export_query) == 152);
static_assert(sizeof(struct kiwi_g2g_import_bind) == 48);
static_assert(sizeof(struct kiwi_g2g_import_map) == 64);
static_assert(sizeof(struct kiwi_g2g_import_query) == 48);
static_assert(sizeof(struct kiwi_g2g_import_dmabuf) == 24);
