// SPDX-License-Identifier: GPL-2.0
/* Attributes of the die itself: holders, capabilities, fabric, peers, images, counters. */
#include <linux/bitmap.h>
#include <linux/slab.h>

#include <kiwi/fw.h>
#include <kiwi/sysfs.h>

#include "kg2g.h"

/* Files ----------------------------------------------------------------------- */

/* Those who forbid that fabric or image is changed. */
static ssize_t holders_emit(struct kiwi_part *part, unsigned long arg, char *buf)
{
	return kiwi_files_holders(part, buf, PAGE_SIZE);
}

static struct attribute *files_attrs[] = {
	KIWI_DEV_ATTR("holders", holders_emit, 0),
	NULL
};

static const struct attribute_group files_group = {
	.attrs = files_attrs,
};

/* Capabilities ------------------------------------------------------------------ */

static ssize_t caps_emit(struct kiwi_part *part, unsigned long offset, char *buf)
{
	return sysfs_emit(buf, "%llu\n", *(u64 *)((u8 *)&to_kg2g(part)->caps + offset));
}

#define CAPS_ATTR(_name)	\
	KIWI_DEV_ATTR(__stringify(_name), caps_emit, offsetof(struct kg2g_caps, _name))

#define QUEUE_CAPS_ATTR(_name)						\
	KIWI_DEV_ATTR(__stringify(_name), kiwi_queue_caps_emit,		\
		      offsetof(struct kiwi_queue_caps, _name))

static struct attribute *caps_attrs[] = {
	CAPS_ATTR(accels),
	CAPS_ATTR(stations),
	CAPS_ATTR(ports),
	CAPS_ATTR(lanes),
	CAPS_ATTR(layers),
	CAPS_ATTR(granule_shift),
	CAPS_ATTR(slots),
	CAPS_ATTR(mail),
	CAPS_ATTR(aperture_size),
	CAPS_ATTR(max_export_size),
	CAPS_ATTR(max_export_pages),
	CAPS_ATTR(max_export),
	CAPS_ATTR(max_window),
	CAPS_ATTR(max_binding),
	CAPS_ATTR(image_max),
	CAPS_ATTR(lane_mbps),
	CAPS_ATTR(load_us),
	CAPS_ATTR(bind_ms),
	CAPS_ATTR(revoke_ms),
	CAPS_ATTR(pause_ms),
	CAPS_ATTR(peer_ms),
	CAPS_ATTR(link_ms),
	KIWI_CAP_BIT_ATTR(atomics, KIWI_G2G_CAP_ATOMICS),
	KIWI_CAP_BIT_ATTR(pcie_atomics, KIWI_G2G_CAP_PCIE_ATOMICS),
	KIWI_CAP_BIT_ATTR(forward, KIWI_G2G_CAP_FORWARD),
	KIWI_CAP_BIT_ATTR(llr, KIWI_G2G_CAP_LLR),
	KIWI_CAP_BIT_ATTR(pfc, KIWI_G2G_CAP_PFC),
	KIWI_CAP_BIT_ATTR(cbfc, KIWI_G2G_CAP_CBFC),
	KIWI_CAP_BIT_ATTR(msgq, KIWI_G2G_CAP_MSGQ),
	KIWI_CAP_BIT_ATTR(gpu_queues, KIWI_SNIC_CAP_GPU_QUEUES),
	QUEUE_CAPS_ATTR(max_pd),
	QUEUE_CAPS_ATTR(max_mr),
	QUEUE_CAPS_ATTR(max_cq),
	QUEUE_CAPS_ATTR(max_qp),
	QUEUE_CAPS_ATTR(max_mr_size),
	QUEUE_CAPS_ATTR(max_mr_pages),
	QUEUE_CAPS_ATTR(max_inline),
	QUEUE_CAPS_ATTR(page_shift_max),
	QUEUE_CAPS_ATTR(pbl_table_shift_max),
	QUEUE_CAPS_ATTR(sq_log2_max),
	QUEUE_CAPS_ATTR(rq_log2_max),
	QUEUE_CAPS_ATTR(cq_log2_max),
	QUEUE_CAPS_ATTR(max_sge),
	QUEUE_CAPS_ATTR(max_rd_atomic),
	QUEUE_CAPS_ATTR(max_msg_size),
	NULL
};

static bool has_queues(struct kobject *kobj)
{
	struct kiwi_part *part = dev_get_drvdata(kobj_to_dev(kobj));

	return kiwi_fw_identity(part->fw)->caps & KIWI_G2G_CAP_MSGQ;
}

static const struct kiwi_dev_attr *to_dev_attr(const struct attribute *attr)
{
	return container_of(attr, struct kiwi_dev_attr, attr.attr);
}

static umode_t caps_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	if (to_dev_attr(attr)->emit == kiwi_queue_caps_emit && !has_queues(kobj))
		return 0;
	return attr->mode;
}

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps_attrs,
	.is_visible = caps_visible,
};

/* Fabric -------------------------------------------------------------------------- */

enum fabric {
	POD,
	ACCEL,
	PARTITION,
	EPOCH,
	STATE,
	REASON,
	SLOT,
	PAUSED,
	ROUTES,
	PEERS,
};

static ssize_t fabric_emit(struct kiwi_part *part, unsigned long which, char *buf)
{
	struct kiwi_g2g_fabric_query q = { };
	struct kiwi_error err;
	int ret;

	ret = kg2g_fabric_query(to_kg2g(part), &q, &err);
	if (ret)
		return ret;
	switch (which) {
	case POD:
		return sysfs_emit(buf, "%pUb\n", q.pod);
	case ACCEL:
		return sysfs_emit(buf, "%u\n", q.accel);
	case PARTITION:
		return sysfs_emit(buf, "%u\n", q.partition);
	case EPOCH:
		return sysfs_emit(buf, "%u\n", q.epoch);
	case STATE:
		return sysfs_emit(buf, "%s\n", kg2g_fabric_state_name(q.state));
	case REASON:
		return sysfs_emit(buf, "%s\n", kg2g_reason_name(q.reason));
	case SLOT:
		return sysfs_emit(buf, "%u\n", q.slot);
	case PAUSED:
		return sysfs_emit(buf, "%u\n", q.paused);
	case ROUTES:
		return sysfs_emit(buf, "%u\n", q.routes);
	case PEERS:
		return sysfs_emit(buf, "%u\n", q.peers);
	}
	return -EINVAL;
}

static struct attribute *fabric_attrs[] = {
	KIWI_DEV_ATTR("pod", fabric_emit, POD),
	KIWI_DEV_ATTR("accel", fabric_emit, ACCEL),
	KIWI_DEV_ATTR("partition", fabric_emit, PARTITION),
	KIWI_DEV_ATTR("epoch", fabric_emit, EPOCH),
	KIWI_DEV_ATTR("state", fabric_emit, STATE),
	KIWI_DEV_ATTR("reason", fabric_emit, REASON),
	KIWI_DEV_ATTR("image", fabric_emit, SLOT),
	KIWI_DEV_ATTR("paused", fabric_emit, PAUSED),
	KIWI_DEV_ATTR("routes", fabric_emit, ROUTES),
	KIWI_DEV_ATTR("peers", fabric_emit, PEERS),
	NULL
};

static const struct attribute_group fabric_group = {
	.name = "fabric",
	.attrs = fabric_attrs,
};

/* Peers: which are in a state, as a list of ranges ----------------------------------- */

static ssize_t peers_emit(struct kiwi_part *part, unsigned long state, char *buf)
{
	unsigned long *set = bitmap_zalloc(KIWI_G2G_ACCELS_MAX, GFP_KERNEL);
	struct kiwi_g2g_peer peer;
	struct kiwi_error err;
	u16 accel;
	int ret = 0;

	if (!set)
		return -ENOMEM;
	for (accel = 0; accel < to_kg2g(part)->caps.accels; accel++) {
		ret = kg2g_may_go_on(to_kg2g(part), &err);
		if (ret)
			break;
		/* The own id is refused. */
		ret = kg2g_cmd_query_peer(part->fw, accel, &peer, &err);
		if (ret && !err.refused)
			break;
		if (!ret && peer.state == state)
			__set_bit(accel, set);
		ret = 0;
	}
	if (!ret)
		ret = sysfs_emit(buf, "%*pbl\n", KIWI_G2G_ACCELS_MAX, set);
	bitmap_free(set);
	return ret;
}

static struct attribute *peers_attrs[] = {
	KIWI_DEV_ATTR("seeking", peers_emit, KIWI_G2G_PEER_SEEKING),
	KIWI_DEV_ATTR("established", peers_emit, KIWI_G2G_PEER_ESTABLISHED),
	KIWI_DEV_ATTR("mismatch", peers_emit, KIWI_G2G_PEER_MISMATCH),
	KIWI_DEV_ATTR("isolated", peers_emit, KIWI_G2G_PEER_ISOLATED),
	NULL
};

static const struct attribute_group peers_group = {
	.name = "peers",
	.attrs = peers_attrs,
};

/* Images: there are two slots --------------------------------------------------------- */

enum image {
	IMAGE_STATE,
	IMAGE_ACTIVE,
	IMAGE_NAME,
	IMAGE_ID,
	IMAGE_VERSION,
	IMAGE_PROVISIONAL,
	IMAGE_HASH,
	IMAGE_FIELDS
};

static ssize_t image_emit(struct kiwi_part *part, unsigned long which, char *buf)
{
	struct kiwi_g2g_image_query q = { .slot = which / IMAGE_FIELDS };
	struct kiwi_error err;
	int ret;

	ret = kg2g_image_query(to_kg2g(part), &q, &err);
	if (ret)
		return ret;
	switch (which % IMAGE_FIELDS) {
	case IMAGE_STATE:
		return sysfs_emit(buf, "%s\n", kg2g_slot_state_name(q.state));
	case IMAGE_ACTIVE:
		return sysfs_emit(buf, "%u\n", q.active);
	case IMAGE_NAME:
		return sysfs_emit(buf, "%*pE\n", (int)strlen(q.name), q.name);
	case IMAGE_ID:
		return sysfs_emit(buf, "%u\n", q.id);
	case IMAGE_VERSION:
		return sysfs_emit(buf, "%u\n", q.version);
	case IMAGE_PROVISIONAL:
		return sysfs_emit(buf, "%u\n", !!(q.image_flags & KIWI_G2G_IMAGE_PROVISIONAL));
	case IMAGE_HASH:
		return sysfs_emit(buf, "%*phN\n", (int)sizeof(q.hash), q.hash);
	}
	return -EINVAL;
}

#define IMAGE_ATTR(_name, _slot, _field)	\
	KIWI_DEV_ATTR(__stringify(_name), image_emit, (_slot) * IMAGE_FIELDS + IMAGE_##_field)

static struct attribute *image0_attrs[] = {
	IMAGE_ATTR(state, 0, STATE),
	IMAGE_ATTR(active, 0, ACTIVE),
	IMAGE_ATTR(name, 0, NAME),
	IMAGE_ATTR(id, 0, ID),
	IMAGE_ATTR(version, 0, VERSION),
	IMAGE_ATTR(provisional, 0, PROVISIONAL),
	IMAGE_ATTR(hash, 0, HASH),
	NULL
};

static const struct attribute_group image0_group = {
	.name = "image0",
	.attrs = image0_attrs,
};

static struct attribute *image1_attrs[] = {
	IMAGE_ATTR(state, 1, STATE),
	IMAGE_ATTR(active, 1, ACTIVE),
	IMAGE_ATTR(name, 1, NAME),
	IMAGE_ATTR(id, 1, ID),
	IMAGE_ATTR(version, 1, VERSION),
	IMAGE_ATTR(provisional, 1, PROVISIONAL),
	IMAGE_ATTR(hash, 1, HASH),
	NULL
};

static const struct attribute_group image1_group = {
	.name = "image1",
	.attrs = image1_attrs,
};

/* Counters ------------------------------------------------------------------------------ */

static ssize_t counter_emit(struct kiwi_part *part, unsigned long offset, char *buf)
{
	struct kiwi_g2g_counters counters;
	struct kiwi_error err;
	int ret;

	ret = kg2g_cmd_query_counters(part->fw, &counters, &err);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%llu\n", le64_to_cpup((void *)&counters + offset));
}

#define COUNTER_ATTR(_name)	\
	KIWI_DEV_ATTR(__stringify(_name), counter_emit, offsetof(struct kiwi_g2g_counters, _name))

static struct attribute *counter_attrs[] = {
	COUNTER_ATTR(memory_pdus),
	COUNTER_ATTR(message_pdus),
	COUNTER_ATTR(control_pdus),
	COUNTER_ATTR(acks),
	COUNTER_ATTR(retransmitted),
	COUNTER_ATTR(out_of_sequence),
	COUNTER_ATTR(duplicate),
	COUNTER_ATTR(loads),
	COUNTER_ATTR(load_bytes),
	COUNTER_ATTR(stores),
	COUNTER_ATTR(store_bytes),
	COUNTER_ATTR(atomics),
	COUNTER_ATTR(poisoned),
	COUNTER_ATTR(stores_dropped),
	COUNTER_ATTR(unmapped),
	COUNTER_ATTR(timeouts),
	COUNTER_ATTR(served_reads),
	COUNTER_ATTR(served_read_bytes),
	COUNTER_ATTR(served_writes),
	COUNTER_ATTR(served_write_bytes),
	COUNTER_ATTR(served_atomics),
	COUNTER_ATTR(refused_key),
	COUNTER_ATTR(refused_bounds),
	COUNTER_ATTR(refused_right),
	COUNTER_ATTR(refused_revoked),
	COUNTER_ATTR(refused_bind),
	COUNTER_ATTR(shootdowns),
	COUNTER_ATTR(isolations),
	COUNTER_ATTR(peers_lost),
	COUNTER_ATTR(mail_sent),
	COUNTER_ATTR(mail_received),
	COUNTER_ATTR(protocol),
	COUNTER_ATTR(messages_dropped),
	COUNTER_ATTR(qp_out_of_sequence),
	COUNTER_ATTR(qp_duplicate_request),
	COUNTER_ATTR(qp_packet_seq_err),
	COUNTER_ATTR(qp_local_ack_timeout_err),
	COUNTER_ATTR(qp_rnr_nak_sent),
	COUNTER_ATTR(qp_rnr_nak_rcvd),
	COUNTER_ATTR(qp_rnr_nak_retry_err),
	COUNTER_ATTR(qp_retry_exceeded_err),
	COUNTER_ATTR(qp_remote_access_err),
	COUNTER_ATTR(qp_retransmitted),
	NULL
};

static umode_t counter_visible(struct kobject *kobj, struct attribute *attr, int n)
{
	if (to_dev_attr(attr)->arg >= offsetof(struct kiwi_g2g_counters, qp_out_of_sequence) &&
	    !has_queues(kobj))
		return 0;
	return attr->mode;
}

static const struct attribute_group counters_group = {
	.name = "counters",
	.attrs = counter_attrs,
	.is_visible = counter_visible,
};

const struct attribute_group *kg2g_dev_groups[] = {
	&kiwi_identity_group,
	&files_group,
	&caps_group,
	&fabric_group,
	&peers_group,
	&image0_group,
	&image1_group,
	&counters_group,
	&kiwi_diag_group,
	NULL
};
