/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Attributes in sysfs as the drivers of all parts have them: of a device, and of its ports. They
 * are read and written with the gate held and, unless they say otherwise, while the device is
 * up: EIO or ENODEV else. Who writes needs CAP_NET_ADMIN.
 */
#ifndef KIWI_SYSFS_H
#define KIWI_SYSFS_H

#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/log2.h>
#include <linux/stringify.h>
#include <linux/sysfs.h>
#include <linux/types.h>

struct kiwi_error;
struct kiwi_part;

/* Device ---------------------------------------------------------------------- */

/**
 * struct kiwi_dev_attr - attribute of a device
 * @attr: the attribute
 * @emit: prints its value
 * @arg: which of those that share the function
 * @when_down: can be read when the device is of no use, too
 */
struct kiwi_dev_attr {
	struct device_attribute attr;
	ssize_t (*emit)(struct kiwi_part *part, unsigned long arg, char *buf);
	unsigned long arg;
	bool when_down;
};

#define __KIWI_DEV_ATTR(_name, _emit, _arg, _when_down)					\
	(&((struct kiwi_dev_attr[]) { {							\
		.attr.attr = { .name = (_name), .mode = 0444 },				\
		.attr.show = kiwi_dev_attr_show,					\
		.emit = (_emit),							\
		.arg = (_arg),								\
		.when_down = (_when_down),						\
	} })[0].attr.attr)

#define KIWI_DEV_ATTR(_name, _emit, _arg)	\
	__KIWI_DEV_ATTR(_name, _emit, _arg, false)
#define KIWI_DEV_ATTR_WHEN_DOWN(_name, _emit, _arg)	\
	__KIWI_DEV_ATTR(_name, _emit, _arg, true)

/* 1 or 0: whether a capability bit is in force */
#define KIWI_CAP_BIT_ATTR(_name, _cap)	\
	KIWI_DEV_ATTR(__stringify(_name), kiwi_cap_bit_emit, const_ilog2(_cap))

ssize_t kiwi_dev_attr_show(struct device *dev, struct device_attribute *attr, char *buf);
ssize_t kiwi_cap_bit_emit(struct kiwi_part *part, unsigned long bit, char *buf);

/* serial, fw_version, abi_version, revision, generation */
extern const struct attribute_group kiwi_identity_group;
/* diag/ */
extern const struct attribute_group kiwi_diag_group;

/* Ports ----------------------------------------------------------------------- */

/**
 * struct kiwi_port - ports/<number>
 * @kobj: the folder
 * @part: the device, which lives as long as the folder is in sysfs
 * @number: of the port
 */
struct kiwi_port {
	struct kobject kobj;
	struct kiwi_part *part;
	u32 number;
};

/**
 * struct kiwi_port_attr - attribute of a port
 * @attr: the attribute
 * @show: reads it
 * @store: writes it, or NULL
 * @arg: which of those that share the functions
 */
struct kiwi_port_attr {
	struct attribute attr;
	ssize_t (*show)(const struct kiwi_port *port, unsigned int arg, char *buf,
			struct kiwi_error *err);
	int (*store)(const struct kiwi_port *port, unsigned int arg, const char *buf,
		     struct kiwi_error *err);
	unsigned int arg;
};

#define KIWI_PORT_ATTR_RW(_name, _mode, _show, _store, _arg)			\
	(&((struct kiwi_port_attr[]) { {					\
		.attr = { .name = (_name), .mode = (_mode) },			\
		.show = (_show),						\
		.store = (_store),						\
		.arg = (_arg),							\
	} })[0].attr)

#define KIWI_PORT_ATTR(_name, _show, _arg)	\
	KIWI_PORT_ATTR_RW(_name, 0444, _show, NULL, _arg)

int kiwi_ports_add(struct kiwi_part *part, u32 first, u32 count,
		   const struct attribute_group **groups);
void kiwi_ports_del(struct kiwi_part *part);

#endif /* KIWI_SYSFS_H */
