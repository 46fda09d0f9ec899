// SPDX-License-Identifier: GPL-2.0
/* Ioctls of the SNIC itself, and the table of all. */
#include <linux/errno.h>
#include <linux/etherdevice.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "ksnic.h"
#include "port.h"

static int query_device(struct kiwi_call *call, void *data)
{
	const struct kiwi_fw_identity *id = kiwi_fw_identity(call->part->fw);
	const struct kiwi_queue_caps *caps = &call->part->queues->caps;
	struct kiwi_snic_query_device *reply = data;

	*reply = (struct kiwi_snic_query_device) {
		.size = reply->size,
		.serial = id->serial,
		.fw_version = id->fw_version,
		.abi = id->abi,
		.generation = id->generation,
		.max_mr_size = caps->max_mr_size,
		.max_mr_pages = caps->max_mr_pages,
		.max_pd = caps->max_pd,
		.max_mr = caps->max_mr,
		.max_cq = caps->max_cq,
		.max_qp = caps->max_qp,
		.max_msg_size = caps->max_msg_size,
		.max_inline = caps->max_inline,
		.link_mbps = caps->link_mbps,
		.max_doorbells = id->db_pages,
		.doorbell_size = BIT(kiwi_db_shift(call->part)),
		.max_sge = caps->max_sge,
		.max_rd_atomic = caps->max_rd_atomic,
		.ports = caps->ports,
		.gids = caps->gids,
		.sq_log2_max = caps->sq_log2_max,
		.rq_log2_max = caps->rq_log2_max,
		.cq_log2_max = caps->cq_log2_max,
		.page_shift_max = caps->page_shift_max,
		.caps = id->caps,
	};
	return 0;
}

static int query_port(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_query_port *q = data;
	struct ksnic_port_info info;
	int ret;

	if (memchr_inv(q->rsvd, 0, sizeof(q->rsvd)))
		return kiwi_call_reserved(call);
	ret = ksnic_port_query(to_ksnic(call->part), q->port, &info, &call->err);
	if (ret)
		return ret;
	*q = (struct kiwi_snic_query_port) {
		.size = q->size,
		.port = q->port,
		.mbps = info.mbps,
		.state = info.state,
		.enabled = info.enabled,
		.mtu = info.mtu,
		.mtu_max = info.mtu_max,
	};
	ether_addr_copy(q->mac, info.mac);
	return 0;
}

static int set_port(struct kiwi_call *call, void *data)
{
	const struct kiwi_snic_set_port *s = data;

	if (s->rsvd[0] || s->rsvd[1])
		return kiwi_call_reserved(call);
	return ksnic_port_set(to_ksnic(call->part), s->port, s->enabled, s->mtu, &call->err);
}

static int query_gid(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_gid *g = data;
	struct ksnic_gid gid;
	int ret;

	if (g->rsvd[0] || g->rsvd[1])
		return kiwi_call_reserved(call);
	ret = ksnic_gid_query(to_ksnic(call->part), g->port, g->index, &gid, &call->err);
	if (ret)
		return ret;
	g->type = gid.type;
	memcpy(g->gid, gid.raw, sizeof(g->gid));
	return 0;
}

static int set_gid(struct kiwi_call *call, void *data)
{
	const struct kiwi_snic_gid *g = data;
	struct ksnic_gid gid = { .type = g->type };

	if (g->rsvd[0] || g->rsvd[1])
		return kiwi_call_reserved(call);
	memcpy(gid.raw, g->gid, sizeof(gid.raw));
	return ksnic_gid_set(to_ksnic(call->part), g->port, g->index, &gid, &call->err);
}

#define REPLY	KIWI_IOCTL_REPLY
#define ADMIN	KIWI_IOCTL_ADMIN

#define KIWI_SNIC_QUEUE_CAP	0

#define IOCTL(_name, _type, _min_size, _flags, _rules, _handler)		\
	[_IOC_NR(KIWI_SNIC_##_name)] = KIWI_IOCTL(KIWI_SNIC_##_name, #_name,	\
		struct _type, _min_size, _flags, _rules, _handler, 0)

const struct kiwi_ioctl ksnic_ioctls[KSNIC_IOCTLS] = {
	IOCTL(QUERY_DEVICE, kiwi_snic_query_device, 88, 0, REPLY, query_device),
	IOCTL(QUERY_PORT, kiwi_snic_query_port, 32, 0, REPLY, query_port),
	IOCTL(SET_PORT, kiwi_snic_set_port, 16, 0, ADMIN, set_port),
	IOCTL(QUERY_GID, kiwi_snic_gid, 32, 0, REPLY, query_gid),
	IOCTL(SET_GID, kiwi_snic_gid, 32, 0, ADMIN, set_gid),
	IOCTL(LAST_ERROR, kiwi_snic_last_error, 160, 0, REPLY | KIWI_IOCTL_NO_DEVICE,
	      kiwi_ioctl_last_error),
	IOCTL(DESTROY, kiwi_snic_destroy, 16, 0, 0, kiwi_ioctl_destroy),
	KIWI_QUEUES_IOCTLS(KIWI_SNIC),
	IOCTL(PREFLIGHT, kiwi_snic_preflight, 24, 0, REPLY, ksnic_ioctl_preflight),
};

/* A structure may only grow at its end. Some are what all parts have, by another name. */
static_assert(sizeof(struct kiwi_snic_query_device) == 96);
static_assert(sizeof(struct kiwi_snic_query_port) == 32);
static_assert(sizeof(struct kiwi_snic_set_port) == 16);
static_assert(sizeof(struct kiwi_snic_gid) == 32);
static_assert(sizeof(struct kiwi_snic_last_error) == sizeof(struct kiwi_last_error));
static_assert(sizeof(struct kiwi_snic_destroy) == sizeof(struct kiwi_destroy));
static_assert(sizeof(struct kiwi_check) == 256);
static_assert(sizeof(struct kiwi_snic_preflight) == 24);
static_assert(sizeof(struct kiwi_snic_event) == sizeof(struct kiwi_file_event));
static_assert(offsetof(struct kiwi_snic_last_error, text) ==
	      offsetof(struct kiwi_last_error, text));
static_assert(offsetof(struct kiwi_snic_event, code) == offsetof(struct kiwi_file_event, code));
static_assert((u32)KIWI_SNIC_EVENT_DEVICE_FATAL == (u32)KIWI_EVENT_DEVICE_FATAL);
static_assert((u32)KIWI_SNIC_EVENT_LOST == (u32)KIWI_EVENT_LOST);
