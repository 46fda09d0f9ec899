// SPDX-License-Identifier: GPL-2.0
/* Attributes of the device itself: identity, capabilities, fabric, peers, images, counters. */
#include <linux/bitmap.h>
#include <linux/device.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include <kiwi/fw.h>

#include "kg2g.h"

/**
 * struct dev_attr - attribute of the device
 * @attr: the attribute
 * @emit: prints its value
 * @arg: which of those that share the function
 */
struct dev_attr {
	struct device_attribute attr;
	ssize_t (*emit)(struct kg2g *kg, unsigned long arg, char *buf);
	unsigned long arg;
};

static ssize_t dev_attr_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct dev_attr *dev_attr = container_of(attr, struct dev_attr, attr);
	struct kiwi_part *part = dev_get_drvdata(dev);
	ssize_t ret;
	int idx;

	idx = srcu_read_lock(&part->gate);
	ret = kiwi_part_check_up(part);
	if (!ret)
		ret = dev_attr->emit(to_kg2g(part), dev_attr->arg, buf);
	srcu_read_unlock(&part->gate, idx);
	return ret;
}

#define DEV_ATTR(_name, _emit, _arg)							\
	(&((struct dev_attr[]) { {							\
		.attr.attr = { .name = (_name), .mode = 0444 },				\
		.attr.show = dev_attr_show,						\
		.emit = (_emit),							\
		.arg = (_arg),								\
	} })[0].attr.attr)

/* Identity -------------------------------------------------------------------- */

enum identity {
	SERIAL,
	FW_VERSION,
	ABI_VERSION,
	REVISION,
	GENERATION,
};

static ssize_t identity_emit(struct kg2g *kg, unsigned long which, char *buf)
{
	const struct kiwi_fw_identity *id = kiwi_fw_identity(kg->part.fw);

	switch (which) {
	case SERIAL:
		return sysfs_emit(buf, "%016llx\n", id->serial);
	case FW_VERSION:
		return sysfs_emit(buf, "%u.%u.%u\n", (u16)(id->fw_version >> 48),
				  (u16)(id->fw_version >> 32), (u32)id->fw_version);
	case ABI_VERSION:
		return sysfs_emit(buf, "%u.%u\n", id->abi >> 16, id->abi & 0xffff);
	case REVISION:
		return sysfs_emit(buf, "%u\n", id->revision);
	case GENERATION:
		return sysfs_emit(buf, "%u\n", id->generation);
	}
	return -EINVAL;
}

/* Those who forbid that fabric or image is changed. */
static ssize_t holders_emit(struct kg2g *kg, unsigned long arg, char *buf)
{
	return kiwi_files_holders(&kg->part, buf, PAGE_SIZE);
}

static struct attribute *identity_attrs[] = {
	DEV_ATTR("serial", identity_emit, SERIAL),
	DEV_ATTR("fw_version", identity_emit, FW_VERSION),
	DEV_ATTR("abi_version", identity_emit, ABI_VERSION),
	DEV_ATTR("revision", identity_emit, REVISION),
	DEV_ATTR("generation", identity_emit, GENERATION),
	DEV_ATTR("holders", holders_emit, 0),
	NULL
};

static const struct attribute_group identity_group = {
	.attrs = identity_attrs,
};

/* Capabilities ------------------------------------------------------------------ */

static ssize_t caps_emit(struct kg2g *kg, unsigned long offset, char *buf)
{
	return sysfs_emit(buf, "%llu\n", *(u64 *)((u8 *)&kg->caps + offset));
}

static ssize_t cap_bit_emit(struct kg2g *kg, unsigned long bit, char *buf)
{
	return sysfs_emit(buf, "%u\n", !!(kiwi_fw_identity(kg->part.fw)->caps & BIT_ULL(bit)));
}

#define CAPS_ATTR(_name)	\
	DEV_ATTR(__stringify(_name), caps_emit, offsetof(struct kg2g_caps, _name))
#define CAP_BIT_ATTR(_name, _cap)	\
	DEV_ATTR(__stringify(_name), cap_bit_emit, const_ilog2(_cap))

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
	CAP_BIT_ATTR(atomics, KIWI_G2G_CAP_ATOMICS),
	CAP_BIT_ATTR(pcie_atomics, KIWI_G2G_CAP_PCIE_ATOMICS),
	CAP_BIT_ATTR(forward, KIWI_G2G_CAP_FORWARD),
	CAP_BIT_ATTR(llr, KIWI_G2G_CAP_LLR),
	CAP_BIT_ATTR(pfc, KIWI_G2G_CAP_PFC),
	CAP_BIT_ATTR(cbfc, KIWI_G2G_CAP_CBFC),
	NULL
};

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps_attrs,
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

static ssize_t fabric_emit(struct kg2g *kg, unsigned long which, char *buf)
{
	struct kiwi_g2g_fabric_query q = { };
	struct kiwi_error err;
	int ret;

	ret = kg2g_fabric_query(kg, &q, &err);
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
	DEV_ATTR("pod", fabric_emit, POD),
	DEV_ATTR("accel", fabric_emit, ACCEL),
	DEV_ATTR("partition", fabric_emit, PARTITION),
	DEV_ATTR("epoch", fabric_emit, EPOCH),
	DEV_ATTR("state", fabric_emit, STATE),
	DEV_ATTR("reason", fabric_emit, REASON),
	DEV_ATTR("image", fabric_emit, SLOT),
	DEV_ATTR("paused", fabric_emit, PAUSED),
	DEV_ATTR("routes", fabric_emit, ROUTES),
	DEV_ATTR("peers", fabric_emit, PEERS),
	NULL
};

static const struct attribute_group fabric_group = {
	.name = "fabric",
	.attrs = fabric_attrs,
};

/* Peers: which are in a state, as a list of ranges ----------------------------------- */

static ssize_t peers_emit(struct kg2g *kg, unsigned long state, char *buf)
{
	unsigned long *set = bitmap_zalloc(KIWI_G2G_ACCELS_MAX, GFP_KERNEL);
	struct kiwi_g2g_peer peer;
	struct kiwi_error err;
	u16 accel;
	int ret = 0;

	if (!set)
		return -ENOMEM;
	for (accel = 0; accel < kg->caps.accels; accel++) {
		/* The own id is refused. */
		ret = kg2g_cmd_query_peer(kg->part.fw, accel, &peer, &err);
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
	DEV_ATTR("seeking", peers_emit, KIWI_G2G_PEER_SEEKING),
	DEV_ATTR("established", peers_emit, KIWI_G2G_PEER_ESTABLISHED),
	DEV_ATTR("mismatch", peers_emit, KIWI_G2G_PEER_MISMATCH),
	DEV_ATTR("isolated", peers_emit, KIWI_G2G_PEER_ISOLATED),
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

static ssize_t image_emit(struct kg2g *kg, unsigned long which, char *buf)
{
	struct kiwi_g2g_image_query q = { .slot = which / IMAGE_FIELDS };
	struct kiwi_error err;
	int ret;

	ret = kg2g_image_query(kg, &q, &err);
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
	DEV_ATTR(__stringify(_name), image_emit, (_slot) * IMAGE_FIELDS + IMAGE_##_field)

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

static ssize_t counter_emit(struct kg2g *kg, unsigned long offset, char *buf)
{
	struct kiwi_g2g_counters counters;
	struct kiwi_error err;
	int ret;

	ret = kg2g_cmd_query_counters(kg->part.fw, &counters, &err);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%llu\n", le64_to_cpup((void *)&counters + offset));
}

#define COUNTER_ATTR(_name)	\
	DEV_ATTR(__stringify(_name), counter_emit, offsetof(struct kiwi_g2g_counters, _name))

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
	NULL
};

static const struct attribute_group counters_group = {
	.name = "counters",
	.attrs = counter_attrs,
};

const struct attribute_group *kg2g_dev_groups[] = {
	&identity_group,
	&caps_group,
	&fabric_group,
	&peers_group,
	&image0_group,
	&image1_group,
	&counters_group,
	NULL
};
