// SPDX-License-Identifier: GPL-2.0
/* ports/<p>/ of a device: state, configuration, GIDs, counters. */
#include <linux/capability.h>
#include <linux/inet.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/log2.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "ksnic.h"
#include "port.h"

struct port_dir;

/**
 * struct port_attr - attribute of a port
 * @attr: the attribute
 * @show: reads it
 * @store: writes it
 * @arg: which of those that share the functions
 */
struct port_attr {
	struct attribute attr;
	ssize_t (*show)(const struct port_dir *dir, unsigned int arg, char *buf,
			struct kiwi_error *err);
	int (*store)(const struct port_dir *dir, unsigned int arg, const char *buf,
		     struct kiwi_error *err);
	unsigned int arg;
};

struct gid_attr {
	struct port_attr port_attr;
	char name[4];
};

/**
 * struct port_dir - ports/<p>
 * @kobj: the folder
 * @ks: the device, which lives as long as the folder is in sysfs
 * @port: its number
 * @gids: attributes of gids/
 * @gid_attrs: the same, for sysfs
 */
struct port_dir {
	struct kobject kobj;
	struct ksnic *ks;
	u32 port;
	struct gid_attr *gids;
	struct attribute **gid_attrs;
};

/**
 * struct ksnic_ports_dir - ports
 * @folder: the folder
 * @count: of @ports
 * @ports: by number, from 1
 */
struct ksnic_ports_dir {
	struct kobject *folder;
	unsigned int count;
	struct port_dir *ports[];
};

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

static ssize_t field_show(const struct port_dir *dir, unsigned int which, char *buf,
			  struct kiwi_error *err)
{
	struct ksnic_port_info info;
	int ret;

	ret = ksnic_port_query(dir->ks, dir->port, &info, err);
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

static int enabled_store(const struct port_dir *dir, unsigned int arg, const char *buf,
			 struct kiwi_error *err)
{
	u8 enabled;

	if (kstrtou8(buf, 10, &enabled) || enabled > 1)
		return -EINVAL;
	return ksnic_port_set_enabled(dir->ks, dir->port, enabled, err);
}

static int mtu_store(const struct port_dir *dir, unsigned int arg, const char *buf,
		     struct kiwi_error *err)
{
	u32 bytes;

	if (kstrtou32(buf, 10, &bytes) || !is_power_of_2(bytes) ||
	    bytes < MTU_BYTES(KIWI_MTU_256) || bytes > MTU_BYTES(KIWI_MTU_4096))
		return -EINVAL;
	return ksnic_port_set_mtu(dir->ks, dir->port, ilog2(bytes) - ilog2(MTU_BYTES(0)), err);
}

#define PORT_ATTR(_name, _mode, _store, _arg)					\
	(&((struct port_attr[]) { {						\
		.attr = { .name = __stringify(_name), .mode = (_mode) },	\
		.show = field_show,						\
		.store = (_store),						\
		.arg = (_arg),							\
	} })[0].attr)

static struct attribute *port_attrs[] = {
	PORT_ATTR(state, 0444, NULL, STATE),
	PORT_ATTR(enabled, 0644, enabled_store, ENABLED),
	PORT_ATTR(mtu, 0644, mtu_store, MTU),
	PORT_ATTR(mtu_max, 0444, NULL, MTU_MAX),
	PORT_ATTR(mac, 0444, NULL, MAC),
	PORT_ATTR(mbps, 0444, NULL, MBPS),
	NULL
};

static const struct attribute_group port_group = {
	.attrs = port_attrs,
};

/* Counters ------------------------------------------------------------------------- */

static ssize_t counter_show(const struct port_dir *dir, unsigned int offset, char *buf,
			    struct kiwi_error *err)
{
	struct kiwi_snic_port_counters counters;
	int ret;

	ret = ksnic_cmd_query_port_counters(dir->ks->part.fw, dir->port, &counters, err);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%llu\n", le64_to_cpup((void *)&counters + offset));
}

#define COUNTER_ATTR(_name)							\
	(&((struct port_attr[]) { {						\
		.attr = { .name = __stringify(_name), .mode = 0444 },		\
		.show = counter_show,						\
		.arg = offsetof(struct kiwi_snic_port_counters, _name),		\
	} })[0].attr)

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

static ssize_t gid_show(const struct port_dir *dir, unsigned int index, char *buf,
			struct kiwi_error *err)
{
	struct ksnic_gid gid;
	int ret;

	ret = ksnic_gid_query(dir->ks, dir->port, index, &gid, err);
	return ret ?: sysfs_emit(buf, "%pI6c\n", gid.raw);
}

static int gid_store(const struct port_dir *dir, unsigned int index, const char *buf,
		     struct kiwi_error *err)
{
	struct ksnic_gid gid;
	const char *end;

	if (!in6_pton(buf, -1, gid.raw, '\n', &end) || !sysfs_streq(end, ""))
		return -EINVAL;
	gid.type = memchr_inv(gid.raw, 0, sizeof(gid.raw)) ? KIWI_GID_ROCE_V2 : KIWI_GID_NONE;
	return ksnic_gid_set(dir->ks, dir->port, index, &gid, err);
}

static int gids_add(struct port_dir *dir, unsigned int count)
{
	struct attribute_group group = { .name = "gids" };
	unsigned int i;

	dir->gids = kcalloc(count, sizeof(*dir->gids), GFP_KERNEL);
	dir->gid_attrs = kcalloc(count + 1, sizeof(*dir->gid_attrs), GFP_KERNEL);
	if (!dir->gids || !dir->gid_attrs)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		struct gid_attr *gid = &dir->gids[i];

		scnprintf(gid->name, sizeof(gid->name), "%u", i);
		gid->port_attr.attr.name = gid->name;
		gid->port_attr.attr.mode = 0644;
		gid->port_attr.show = gid_show;
		gid->port_attr.store = gid_store;
		gid->port_attr.arg = i;
		sysfs_attr_init(&gid->port_attr.attr);
		dir->gid_attrs[i] = &gid->port_attr.attr;
	}
	group.attrs = dir->gid_attrs;
	return sysfs_create_group(&dir->kobj, &group);
}

/* Folders ---------------------------------------------------------------------------- */

static ssize_t attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct port_attr *port_attr = container_of(attr, struct port_attr, attr);
	struct port_dir *dir = container_of(kobj, struct port_dir, kobj);
	struct kiwi_error err;
	ssize_t ret;
	int idx;

	idx = srcu_read_lock(&dir->ks->part.gate);
	ret = kiwi_part_check_up(&dir->ks->part);
	if (!ret)
		ret = port_attr->show(dir, port_attr->arg, buf, &err);
	srcu_read_unlock(&dir->ks->part.gate, idx);
	return ret;
}

static ssize_t attr_store(struct kobject *kobj, struct attribute *attr, const char *buf,
			  size_t count)
{
	struct port_attr *port_attr = container_of(attr, struct port_attr, attr);
	struct port_dir *dir = container_of(kobj, struct port_dir, kobj);
	struct kiwi_error err;
	int ret, idx;

	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	idx = srcu_read_lock(&dir->ks->part.gate);
	ret = kiwi_part_check_up(&dir->ks->part);
	if (!ret)
		ret = port_attr->store(dir, port_attr->arg, buf, &err);
	srcu_read_unlock(&dir->ks->part.gate, idx);
	return ret ?: count;
}

static const struct sysfs_ops port_sysfs_ops = {
	.show = attr_show,
	.store = attr_store,
};

static const struct attribute_group *port_groups[] = {
	&port_group,
	&counters_group,
	NULL
};

static void port_release(struct kobject *kobj)
{
	struct port_dir *dir = container_of(kobj, struct port_dir, kobj);

	kfree(dir->gid_attrs);
	kfree(dir->gids);
	kfree(dir);
}

static const struct kobj_type port_ktype = {
	.release = port_release,
	.sysfs_ops = &port_sysfs_ops,
	.default_groups = port_groups,
};

static int port_add(struct ksnic *ks, struct ksnic_ports_dir *ports)
{
	struct port_dir *dir;
	int ret;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	if (!dir)
		return -ENOMEM;
	dir->ks = ks;
	dir->port = ports->count + 1;
	ret = kobject_init_and_add(&dir->kobj, &port_ktype, ports->folder, "%u", dir->port);
	if (!ret)
		ret = gids_add(dir, ks->caps.gids);
	if (ret) {
		kobject_put(&dir->kobj);
		return ret;
	}
	ports->ports[ports->count++] = dir;
	return 0;
}

/**
 * ksnic_sysfs_ports_add() - make the folder of the ports
 * @ks: the device, added and started
 *
 * Return: 0 or negative errno
 */
int ksnic_sysfs_ports_add(struct ksnic *ks)
{
	struct ksnic_ports_dir *ports;
	int ret = 0;

	ports = kzalloc(struct_size(ports, ports, ks->caps.ports), GFP_KERNEL);
	if (!ports)
		return -ENOMEM;
	ports->folder = kobject_create_and_add("ports", &ks->part.dev.kobj);
	if (!ports->folder) {
		kfree(ports);
		return -ENOMEM;
	}
	ks->ports_dir = ports;
	while (!ret && ports->count < ks->caps.ports)
		ret = port_add(ks, ports);
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
	struct ksnic_ports_dir *ports = ks->ports_dir;
	unsigned int i;

	if (!ports)
		return;
	for (i = 0; i < ports->count; i++) {
		kobject_del(&ports->ports[i]->kobj);
		kobject_put(&ports->ports[i]->kobj);
	}
	kobject_put(ports->folder);
	kfree(ports);
	ks->ports_dir = NULL;
}
