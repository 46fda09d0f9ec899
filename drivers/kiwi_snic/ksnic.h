/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One SNIC.
 *
 * Locks, in the order of kiwi/part.h: ksnic_ports.lock stands between the gate and the locks of
 * objects. Of objects, that of a CQ (of two the one with the lower id first) is outside of that
 * of a QP. A region's reservation lock is held while it is registered. ksnic_errpage.lock is
 * innermost.
 */
#ifndef KSNIC_H
#define KSNIC_H

#include <linux/types.h>
#include <linux/xarray.h>

#include <kiwi/part.h>
#include <uapi/kiwi/snic.h>

#include "caps.h"

struct kiwi_eqe;
struct ksnic_port_groups;
struct ksnic_ports;

/**
 * struct ksnic - one SNIC
 * @part: what all parts have
 * @caps: of the device as started last
 * @ports: likewise
 * @port_groups: their attributes in sysfs
 * @port_down: bit n - 1: port n is not active; under files_lock
 * @cqs: CQs by number, for events
 * @qps: QPs by number
 * @dbs: doorbells by index of their page, for mappings
 */
struct ksnic {
	struct kiwi_part part;
	struct ksnic_caps caps;
	struct ksnic_ports *ports;
	struct ksnic_port_groups *port_groups;
	u32 port_down;
	struct xarray cqs;
	struct xarray qps;
	struct xarray dbs;
};

static inline struct ksnic *to_ksnic(struct kiwi_part *part)
{
	return container_of(part, struct ksnic, part);
}

/* In the order in which a file's objects are destroyed: users before used. */
enum ksnic_kind {
	KSNIC_QP,
	KSNIC_CQ,
	KSNIC_MR,
	KSNIC_DB,
	KSNIC_PD,
	KSNIC_KINDS
};

/* part.c */
int ksnic_setup(struct ksnic *ks, const struct kiwi_part_ops *ops, struct device *parent);
void ksnic_teardown(struct ksnic *ks);
int ksnic_start(struct ksnic *ks, struct kiwi_error *err);

/* events.c */
void ksnic_event(void *part, const struct kiwi_eqe *eqe, bool lost);

/* mmap.c */
int ksnic_mmap(struct kiwi_file *file, struct vm_area_struct *vma);

/* ioctl.c */
#define KSNIC_IOCTLS	(_IOC_NR(KIWI_SNIC_PREFLIGHT) + 1)
extern const struct kiwi_ioctl ksnic_ioctls[KSNIC_IOCTLS];

/* sysfs.c */
extern const struct attribute_group *ksnic_dev_groups[];

/* sysfs_port.c */
int ksnic_sysfs_ports_add(struct ksnic *ks);
void ksnic_sysfs_ports_del(struct ksnic *ks);

#endif /* KSNIC_H */
