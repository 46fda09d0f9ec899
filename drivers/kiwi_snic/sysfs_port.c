// SPDX-License-Identifier: GPL-2.0
/* ports/<p>/ of a device: state, configuration, GIDs, counters. */
#include <linux/inet.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <kiwi/sysfs.h>

#include "ksnic.h"
#include "port.h"

/* MTU codes are powers of two, the first of 256 bytes. */
#define MTU_BYTES(_code)	(128U << (_code))

/* State and configuration ---------------------------------------------------------- */

enum port_field {
	STATE,
	ENABLED,
	MTU,
	MTU_MAX,
	MAC,
	MBPS,
};

static ssize_t field_show(const struct kiwi_port *port, unsigned int which, char *buf,
			  struct kiwi_error *err)
{
	struct ksnic_port_info info;
	int ret;

	ret = ksnic_port_query(to_ksnic(port->part), port->number, &info, err);
	if (ret)
		return ret;
	switch (which) {
	case STATE:
		return sysfs_emit(buf, "%s\n", info.state == KIWI_PORT_ACTIVE ? "ACTIVE" : "DOWN");
	case ENABLED:
		return sysfs_emit(buf, "%u\n", info.enabled);
	case MTU:
		return sysfs_emit(buf, "%u\n", MTU_BYTES(info.mtu));
	case MTU_MAX:
		return sysfs_emit(buf, "%u\n", MTU_BYTES(info.mtu_max));
	case MAC:
		return sysfs_emit(buf, "%pM\n", info.mac);
	case MBPS:
		return sysfs_emit(buf, "%u\n", info.mbps);
	}
	return -EINVAL;
}

static int enabled_store(const struct kiwi_port *port, unsigned int arg, const char *buf,
			 struct kiwi_error *err)
{
	u8 enabled;

	if (kstrtou8(buf, 10, &enabled) || enabled > 1)
		return -EINVAL;
	return ksnic_port_set_enabled(to_ksnic(port->part), port->number, enabled, err);
}

static int mtu_store(const struct kiwi_port *port, unsigned int arg, const char *buf,
		     struct kiwi_error *err)
{
	u32 bytes;

	if (kstrtou32(buf, 10, &bytes) || !is_power_of_2(bytes) ||
	    bytes < MTU_BYTES(KIWI_MTU_256) || bytes > MTU_BYTES(KIWI_MTU_4096))
		return -EINVAL;
	return ksnic_port_set_mtu(to_ksnic(port->part), port->number,
				  ilog2(bytes) - ilog2(MTU_BYTES(0)), err);
}

#define FIELD_ATTR(_name, _which)		\
	KIWI_PORT_ATTR(__stringify(_name), field_show, _which)
#define FIELD_ATTR_RW(_name, _store, _which)	\
	KIWI_PORT_ATTR_RW(__stringify(_name), 0644, field_show, _store, _which)

static struct attribute *port_attrs[] = {
	FIELD_ATTR(state, STATE),
	FIELD_ATTR_RW(enabled, enabled_store, ENABLED),
	FIELD_ATTR_RW(mtu, mtu_store, MTU),
	FIELD_ATTR(mtu_max, MTU_MAX),
	FIELD_ATTR(mac, MAC),
	FIELD_ATTR(mbps, MBPS),
	NULL
};

static const struct attribute_group port_group = {
	.attrs = port_attrs,
};

/* Counters ------------------------------------------------------------------------- */

static ssize_t counter_show(const struct kiwi_port *port, unsigned int offset, char *buf,
			    struct kiwi_error *err)
{
	struct kiwi_snic_port_counters counters;
	int ret;

	ret = ksnic_cmd_query_port_counters(port->part->fw, port->number, &counters, err);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%llu\n", le64_to_cpup((void *)&counters + offset));
}

#define COUNTER_ATTR(_name)							\
	KIWI_PORT_ATTR(__stringify(_name), counter_show,			\
		       offsetof(struct kiwi_snic_port_counters, _name))

static struct attribute *counter_attrs[] = {
	COUNTER_ATTR(tx_frames),
	COUNTER_ATTR(tx_bytes),
	COUNTER_ATTR(rx_frames),
	COUNTER_ATTR(rx_bytes),
	COUNTER_ATTR(rx_not_roce),
	COUNTER_ATTR(rx_icrc_encapsulated),
	COUNTER_ATTR(rx_malformed),
	COUNTER_ATTR(rx_no_qp),
	COUNTER_ATTR(out_of_sequence),
	COUNTER_ATTR(duplicate_request),
	COUNTER_ATTR(packet_seq_err),
	COUNTER_ATTR(local_ack_timeout_err),
	COUNTER_ATTR(rnr_nak_sent),
	COUNTER_ATTR(rnr_nak_rcvd),
	COUNTER_ATTR(rnr_nak_retry_err),
	COUNTER_ATTR(retry_exceeded_err),
	COUNTER_ATTR(remote_access_err),
	COUNTER_ATTR(retransmitted),
	NULL
};

static const struct attribute_group counters_group = {
	.name = "counters",
	.attrs = counter_attrs,
};

/* GIDs ------------------------------------------------------------------------------- */

static ssize_t gid_show(const struct kiwi_port *port, unsigned int index, char *buf,
			struct kiwi_error *err)
{
	struct ksnic_gid gid;
	int ret;

	ret = ksnic_gid_query(to_ksnic(port->part), port->number, index, &gid, err);
	return ret ?: sysfs_emit(buf, "%pI6c\n", gid.raw);
}

static int gid_store(const struct kiwi_port *port, unsigned int index, const char *buf,
		     struct kiwi_error *err)
{
	struct ksnic_gid gid;
	const char *end;

	if (!in6_pton(buf, -1, gid.raw, '\n', &end) || !sysfs_streq(end, ""))
		return -EINVAL;
	gid.type = memchr_inv(gid.raw, 0, sizeof(gid.raw)) ? KIWI_GID_ROCE_V2 : KIWI_GID_NONE;
	return ksnic_gid_set(to_ksnic(port->part), port->number, index, &gid, err);
}

struct gid_attr {
	struct kiwi_port_attr port_attr;
	char name[4];
};

/**
 * struct ksnic_port_groups - attributes of each port
 * @gids: group of the GIDs
 * @groups: all groups
 * @attrs: of @gids, for sysfs
 * @gid_attrs: the same
 */
struct ksnic_port_groups {
	struct attribute_group gids;
	const struct attribute_group *groups[4];
	struct attribute **attrs;
	struct gid_attr gid_attrs[];
};

static struct attribute *gid_attr_init(struct gid_attr *gid, unsigned int index)
{
	struct kiwi_port_attr *attr = &gid->port_attr;

	scnprintf(gid->name, sizeof(gid->name), "%u", index);
	attr->attr.name = gid->name;
	attr->attr.mode = 0644;
	attr->show = gid_show;
	attr->store = gid_store;
	attr->arg = index;
	sysfs_attr_init(&attr->attr);
	return &attr->attr;
}

/* As many GIDs as the device has. */
static struct ksnic_port_groups *port_groups_new(unsigned int gids)
{
	struct ksnic_port_groups *g;
	unsigned int n;

	g = kzalloc(struct_size(g, gid_attrs, gids), GFP_KERNEL);
	if (!g)
		return NULL;
	g->attrs = kcalloc(gids + 1, sizeof(*g->attrs), GFP_KERNEL);
	if (!g->attrs) {
		kfree(g);
		return NULL;
	}
	for (n = 0; n < gids; n++)
		g->attrs[n] = gid_attr_init(&g->gid_attrs[n], n);
	g->gids.name = "gids";
	g->gids.attrs = g->attrs;
	g->groups[0] = &port_group;
	g->groups[1] = &counters_group;
	g->groups[2] = &g->gids;
	return g;
}

/* Folders ---------------------------------------------------------------------------- */

/**
 * ksnic_sysfs_ports_add() - make the folder of the ports
 * @ks: the device, added and started
 *
 * Return: 0 or negative errno
 */
int ksnic_sysfs_ports_add(struct ksnic *ks)
{
	struct ksnic_port_groups *g = port_groups_new(ks->queues.caps.gids);
	int ret;

	if (!g)
		return -ENOMEM;
	ks->port_groups = g;
	ret = kiwi_ports_add(&ks->part, 1, ks->queues.caps.ports, g->groups);
	if (ret)
		ksnic_sysfs_ports_del(ks);
	return ret;
}

/**
 * ksnic_sysfs_ports_del() - remove the folder of the ports, if there is one
 * @ks: the device
 *
 * None of its attributes is in use when this returns.
 */
void ksnic_sysfs_ports_del(struct ksnic *ks)
{
	kiwi_ports_del(&ks->part);
	if (!ks->port_groups)
		return;
	kfree(ks->port_groups->attrs);
	kfree(ks->port_groups);
	ks->port_groups = NULL;
}
