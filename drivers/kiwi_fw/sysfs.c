// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include <kiwi/compat.h>
#include <kiwi/part.h>
#include <kiwi/sysfs.h>

/* Device ---------------------------------------------------------------------- */

/**
 * kiwi_dev_attr_show() - read an attribute, for KIWI_DEV_ATTR()
 * @dev: the device
 * @attr: in a struct kiwi_dev_attr
 * @buf: to be filled
 *
 * Return: bytes, or negative errno
 */
ssize_t kiwi_dev_attr_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct kiwi_dev_attr *dev_attr = container_of(attr, struct kiwi_dev_attr, attr);
	struct kiwi_part *part = dev_get_drvdata(dev);
	ssize_t ret;
	int idx;

	idx = srcu_read_lock(&part->gate);
	ret = dev_attr->when_down ? 0 : kiwi_part_check_up(part);
	if (!ret)
		ret = dev_attr->emit(part, dev_attr->arg, buf);
	srcu_read_unlock(&part->gate, idx);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_dev_attr_show, "KIWI_FW");

/**
 * kiwi_cap_bit_emit() - print whether a capability is in force, for KIWI_CAP_BIT_ATTR()
 * @part: the device
 * @bit: number of its bit
 * @buf: to be filled
 *
 * Return: bytes
 */
ssize_t kiwi_cap_bit_emit(struct kiwi_part *part, unsigned long bit, char *buf)
{
	return sysfs_emit(buf, "%u\n", !!(kiwi_fw_identity(part->fw)->caps & BIT_ULL(bit)));
}
EXPORT_SYMBOL_NS_GPL(kiwi_cap_bit_emit, "KIWI_FW");

enum identity {
	SERIAL,
	FW_VERSION,
	ABI_VERSION,
	REVISION,
	GENERATION,
};

static ssize_t identity_emit(struct kiwi_part *part, unsigned long which, char *buf)
{
	const struct kiwi_fw_identity *id = kiwi_fw_identity(part->fw);

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

static struct attribute *identity_attrs[] = {
	KIWI_DEV_ATTR("serial", identity_emit, SERIAL),
	KIWI_DEV_ATTR("fw_version", identity_emit, FW_VERSION),
	KIWI_DEV_ATTR("abi_version", identity_emit, ABI_VERSION),
	KIWI_DEV_ATTR("revision", identity_emit, REVISION),
	KIWI_DEV_ATTR("generation", identity_emit, GENERATION),
	NULL
};

/* For device.groups: who the device says it is. */
const struct attribute_group kiwi_identity_group = {
	.attrs = identity_attrs,
};
EXPORT_SYMBOL_NS_GPL(kiwi_identity_group, "KIWI_FW");

/* Ports ----------------------------------------------------------------------- */

/**
 * struct kiwi_ports - folder ports
 * @folder: the folder
 * @count: of @ports
 * @ports: in order
 */
struct kiwi_ports {
	struct kobject *folder;
	u32 count;
	struct kiwi_port *ports[];
};

static ssize_t port_attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	const struct kiwi_port_attr *port_attr = container_of(attr, struct kiwi_port_attr, attr);
	const struct kiwi_port *port = container_of(kobj, struct kiwi_port, kobj);
	struct kiwi_part *part = port->part;
	struct kiwi_error err;
	ssize_t ret;
	int idx;

	idx = srcu_read_lock(&part->gate);
	ret = kiwi_part_check_up(part);
	if (!ret)
		ret = port_attr->show(port, port_attr->arg, buf, &err);
	srcu_read_unlock(&part->gate, idx);
	return ret;
}

static ssize_t port_attr_store(struct kobject *kobj, struct attribute *attr, const char *buf,
			       size_t count)
{
	const struct kiwi_port_attr *port_attr = container_of(attr, struct kiwi_port_attr, attr);
	const struct kiwi_port *port = container_of(kobj, struct kiwi_port, kobj);
	struct kiwi_part *part = port->part;
	struct kiwi_error err;
	int ret, idx;

	/* The mode in sysfs is root's to change. */
	if (!port_attr->store)
		return -EIO;
	if (!capable(CAP_NET_ADMIN))
		return -EPERM;
	idx = srcu_read_lock(&part->gate);
	ret = kiwi_part_check_up(part);
	if (!ret)
		ret = port_attr->store(port, port_attr->arg, buf, &err);
	srcu_read_unlock(&part->gate, idx);
	return ret ?: count;
}

static const struct sysfs_ops port_sysfs_ops = {
	.show = port_attr_show,
	.store = port_attr_store,
};

static void port_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct kiwi_port, kobj));
}

static const struct kobj_type port_ktype = {
	.release = port_release,
	.sysfs_ops = &port_sysfs_ops,
};

static int port_add(struct kiwi_part *part, u32 number, const struct attribute_group **groups)
{
	struct kiwi_ports *ports = part->ports;
	struct kiwi_port *port;
	int ret;

	port = kzalloc(sizeof(*port), GFP_KERNEL);
	if (!port)
		return -ENOMEM;
	port->part = part;
	port->number = number;
	ret = kobject_init_and_add(&port->kobj, &port_ktype, ports->folder, "%u", number);
	if (!ret)
		ret = sysfs_create_groups(&port->kobj, groups);
	if (ret) {
		kobject_put(&port->kobj);
		return ret;
	}
	ports->ports[ports->count++] = port;
	return 0;
}

/**
 * kiwi_ports_add() - make the folder of the ports, for kiwi_part_ops.publish
 * @part: the device, added and started
 * @first: number of the first port
 * @count: how many there are
 * @groups: attributes of each, struct kiwi_port_attr, ended by NULL; the array itself is used
 *	before this returns, the rest until kiwi_ports_del() has
 *
 * Return: 0 or negative errno
 */
int kiwi_ports_add(struct kiwi_part *part, u32 first, u32 count,
		   const struct attribute_group **groups)
{
	struct kiwi_ports *ports;
	int ret = 0;

	ports = kzalloc(struct_size(ports, ports, count), GFP_KERNEL);
	if (!ports)
		return -ENOMEM;
	ports->folder = kobject_create_and_add("ports", &part->dev.kobj);
	if (!ports->folder) {
		kfree(ports);
		return -ENOMEM;
	}
	part->ports = ports;
	while (!ret && ports->count < count)
		ret = port_add(part, first + ports->count, groups);
	if (ret)
		kiwi_ports_del(part);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ports_add, "KIWI_FW");

/**
 * kiwi_ports_del() - remove the folder of the ports, if there is one
 * @part: the device
 *
 * None of its attributes is in use when this returns.
 */
void kiwi_ports_del(struct kiwi_part *part)
{
	struct kiwi_ports *ports = part->ports;
	u32 n;

	if (!ports)
		return;
	for (n = 0; n < ports->count; n++) {
		kobject_del(&ports->ports[n]->kobj);
		kobject_put(&ports->ports[n]->kobj);
	}
	kobject_put(ports->folder);
	kfree(ports);
	part->ports = NULL;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ports_del, "KIWI_FW");
