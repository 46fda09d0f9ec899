/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One SNIC.
 *
 * Locks, in the order of kiwi/part.h: ksnic_ports.lock stands between the gate and the locks of
 * objects, which are those of kiwi/queues.h.
 */
#ifndef KSNIC_H
#define KSNIC_H

#include <linux/types.h>
#include <linux/workqueue.h>

#include <kiwi/queues.h>
#include <uapi/kiwi/snic.h>

struct kiwi_eqe;
struct ksnic_port_groups;
struct ksnic_ports;

/**
 * struct ksnic - one SNIC
 * @part: what all parts have
 * @queues: its queues, with the capabilities of the device as started last
 * @ports: of the device as started last
 * @port_groups: their attributes in sysfs
 * @lost_work: looks at ports and queues after events were lost
 */
struct ksnic {
	struct kiwi_part part;
	struct kiwi_queues queues;
	struct ksnic_ports *ports;
	struct ksnic_port_groups *port_groups;
	struct work_struct lost_work;
};

static inline struct ksnic *to_ksnic(struct kiwi_part *part)
{
	return container_of(part, struct ksnic, part);
}

/* part.c */
int ksnic_setup(struct ksnic *ks, const struct kiwi_part_ops *ops, struct device *parent);
void ksnic_teardown(struct ksnic *ks);
int ksnic_start(struct ksnic *ks, struct kiwi_error *err);
void ksnic_stopped(struct ksnic *ks);

/* events.c */
void ksnic_event(void *part, const struct kiwi_eqe *eqe, bool lost);
void ksnic_lost_work(struct work_struct *work);

/* ioctl.c */
#define KSNIC_IOCTLS	(_IOC_NR(KIWI_SNIC_PREFLIGHT) + 1)
extern const struct kiwi_ioctl ksnic_ioctls[KSNIC_IOCTLS];

/* preflight.c */
int ksnic_ioctl_preflight(struct kiwi_call *call, void *data);

/* sysfs.c */
extern const struct attribute_group *ksnic_dev_groups[];

/* sysfs_port.c */
int ksnic_sysfs_ports_add(struct ksnic *ks);
void ksnic_sysfs_ports_del(struct ksnic *ks);

#endif /* KSNIC_H */
