// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/addrconf.h>

#include "fw_cmd.h"
#include "ksnic.h"
#include "port.h"

/**
 * struct ksnic_ports - what is kept of the ports
 * @lock: makes read-modify-write of a port, and an entry here and in the device, one
 * @gids: tables of all ports, one after the other
 */
struct ksnic_ports {
	struct mutex lock;	/* a port and its table */
	struct ksnic_gid gids[];
};

static int port_check(const struct ksnic *ks, u32 port, struct kiwi_error *err)
{
	u64 ports = ks->queues.caps.ports;

	if (port && port <= ports)
		return 0;
	return kiwi_fail(err, -EINVAL, port, ports, "port %u is not in 1..%llu", port, ports);
}

static struct ksnic_gid *gid_entry(struct ksnic *ks, u32 port, u32 index)
{
	return &ks->ports->gids[(port - 1) * ks->queues.caps.gids + index];
}

static int gid_check(const struct ksnic *ks, u32 port, u32 index, struct kiwi_error *err)
{
	u64 gids = ks->queues.caps.gids;
	int ret;

	ret = port_check(ks, port, err);
	if (ret || index < gids)
		return ret;
	return kiwi_fail(err, -EINVAL, index, gids - 1, "GID index %u is not in 0..%llu", index,
			 gids - 1);
}

/**
 * ksnic_port_query() - state of a port
 * @ks: the device
 * @port: from 1
 * @info: to be filled
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int ksnic_port_query(struct ksnic *ks, u32 port, struct ksnic_port_info *info,
		     struct kiwi_error *err)
{
	int ret;

	ret = port_check(ks, port, err);
	return ret ?: ksnic_cmd_query_port(ks->part.fw, port, info, err);
}

/**
 * ksnic_port_set() - configure a port
 * @ks: the device
 * @port: from 1
 * @enabled: 0 or 1
 * @mtu: enum kiwi_mtu
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int ksnic_port_set(struct ksnic *ks, u32 port, u8 enabled, u8 mtu, struct kiwi_error *err)
{
	int ret;

	ret = port_check(ks, port, err);
	if (ret)
		return ret;
	mutex_lock(&ks->ports->lock);
	ret = ksnic_cmd_set_port(ks->part.fw, port, enabled, mtu, err);
	mutex_unlock(&ks->ports->lock);
	return ret;
}

static int port_change(struct ksnic *ks, u32 port, const u8 *enabled, const u8 *mtu,
		       struct kiwi_error *err)
{
	struct ksnic_port_info info;
	int ret;

	mutex_lock(&ks->ports->lock);
	ret = ksnic_port_query(ks, port, &info, err);
	if (!ret)
		ret = ksnic_cmd_set_port(ks->part.fw, port, enabled ? *enabled : info.enabled,
					 mtu ? *mtu : info.mtu, err);
	mutex_unlock(&ks->ports->lock);
	return ret;
}

int ksnic_port_set_enabled(struct ksnic *ks, u32 port, u8 enabled, struct kiwi_error *err)
{
	return port_change(ks, port, &enabled, NULL, err);
}

int ksnic_port_set_mtu(struct ksnic *ks, u32 port, u8 mtu, struct kiwi_error *err)
{
	return port_change(ks, port, NULL, &mtu, err);
}

/**
 * ksnic_gid_query() - read an entry of a GID table
 * @ks: the device
 * @port: from 1
 * @index: in the table
 * @gid: to be filled
 * @err: filled on failure
 *
 * Return: 0 or -EINVAL
 */
int ksnic_gid_query(struct ksnic *ks, u32 port, u32 index, struct ksnic_gid *gid,
		    struct kiwi_error *err)
{
	int ret;

	ret = gid_check(ks, port, index, err);
	if (ret)
		return ret;
	mutex_lock(&ks->ports->lock);
	*gid = *gid_entry(ks, port, index);
	mutex_unlock(&ks->ports->lock);
	return 0;
}

/**
 * ksnic_gid_set() - write an entry of a GID table
 * @ks: the device
 * @port: from 1
 * @index: in the table
 * @gid: the entry
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int ksnic_gid_set(struct ksnic *ks, u32 port, u32 index, const struct ksnic_gid *gid,
		  struct kiwi_error *err)
{
	int ret;

	ret = gid_check(ks, port, index, err);
	if (ret)
		return ret;
	mutex_lock(&ks->ports->lock);
	ret = ksnic_cmd_set_gid(ks->part.fw, port, index, gid->type, gid->raw, err);
	if (!ret)
		*gid_entry(ks, port, index) = *gid;
	mutex_unlock(&ks->ports->lock);
	return ret;
}

/* A port can be used before anybody has configured it: it gets a GID. */
static int port_take_over(struct ksnic *ks, u32 port, struct kiwi_error *err)
{
	struct ksnic_gid gid = { .type = KIWI_GID_ROCE_V2, .raw = { 0xfe, 0x80 } };
	struct ksnic_port_info info;
	int ret;

	ret = ksnic_port_query(ks, port, &info, err);
	if (ret)
		return ret;
	kiwi_queues_port(&ks->part, port, info.state == KIWI_PORT_ACTIVE);
	addrconf_addr_eui48(&gid.raw[8], info.mac);
	return ksnic_gid_set(ks, port, 0, &gid, err);
}

/**
 * ksnic_ports_start() - take over the ports of a device that was just started
 * @ks: the device
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int ksnic_ports_start(struct ksnic *ks, struct kiwi_error *err)
{
	const struct kiwi_queue_caps *caps = &ks->queues.caps;
	struct ksnic_ports *ports;
	u32 port;
	int ret;

	ports = kzalloc(struct_size(ports, gids, caps->ports * caps->gids), GFP_KERNEL);
	if (!ports)
		return kiwi_fail_plain(err, -ENOMEM);
	mutex_init(&ports->lock);
	ksnic_ports_free(ks);
	ks->ports = ports;

	for (port = 1; port <= caps->ports; port++) {
		ret = port_take_over(ks, port, err);
		if (ret)
			return ret;
	}
	return 0;
}

void ksnic_ports_free(struct ksnic *ks)
{
	kfree(ks->ports);
	ks->ports = NULL;
}
