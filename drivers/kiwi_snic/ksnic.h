/* SPDX-License-Identifier: GPL-2.0 */
/* One SNIC. */
#ifndef KSNIC_H
#define KSNIC_H

#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <kiwi_abi/regs.h>

#include "caps.h"

struct kiwi_eqe;
struct kiwi_fw;
struct kiwi_error;
struct ksnic_obj;
struct ksnic_ports;
struct ksnic_ports_dir;

#define KSNIC_MINORS	256

/**
 * struct ksnic - one SNIC
 * @dev: of class kiwi; its reference count is this structure's
 * @cdev: character device
 * @index: N of snicN
 * @fw: firmware interface, from probe to remove
 * @caps: of the device as started last
 * @ports: likewise
 * @ports_dir: their folder in sysfs
 * @gate: held for reading by whoever uses the device; all of them are waited for
 *	before it goes away
 * @life: excludes start, stop and failure from each other; outermost of all locks, and not
 *	taken with the gate held, which stop and failure wait for
 * @fail_work: takes the device down after a failure
 * @fail_reason: that failure
 * @files_lock: protects @files, @up, @down_errno and @port_down
 * @files: open files
 * @up: files may be opened
 * @down_errno: what those who may no longer use the device are told
 * @port_down: bit n - 1: port n is not active
 * @event_lock: see object.h
 * @cqs: CQs by number, for events
 * @qps: QPs by number
 * @dbs: doorbells by index of their page, for mappings
 * @zombie_lock: protects @zombies; outside of objects' locks
 * @zombies: objects that their owners gave up but the device refused to destroy.
 *	It may still reach their memory, which they therefore keep.
 */
struct ksnic {
	struct device dev;
	struct cdev cdev;
	unsigned int index;
	struct kiwi_fw *fw;
	struct ksnic_caps caps;
	struct ksnic_ports *ports;
	struct ksnic_ports_dir *ports_dir;

	struct srcu_struct gate;
	struct mutex life;	/* start, stop, failure */
	struct work_struct fail_work;
	enum kiwi_reset_reason fail_reason;

	spinlock_t files_lock;	/* the next four */
	struct list_head files;
	bool up;
	int down_errno;
	u32 port_down;

	spinlock_t event_lock;	/* routes of events to owners */
	struct xarray cqs;
	struct xarray qps;
	struct xarray dbs;

	struct mutex zombie_lock;	/* the list */
	struct list_head zombies;
};

/* main.c */
int ksnic_check_up(const struct ksnic *ks);

/* events.c */
void ksnic_event(void *ks, const struct kiwi_eqe *eqe, bool lost);
int ksnic_route_add(struct ksnic *ks, struct xarray *routes, u32 number, struct ksnic_obj *obj,
		    struct kiwi_error *err);
void ksnic_route_del(struct ksnic *ks, struct xarray *routes, u32 number, struct ksnic_obj *obj);

/* chardev.c */
int ksnic_chardev_init(void);
void ksnic_chardev_exit(void);
int ksnic_chardev_prepare(struct ksnic *ks);
void ksnic_files_admit(struct ksnic *ks);
void ksnic_files_shut(struct ksnic *ks, int down_errno);
void ksnic_files_clear(struct ksnic *ks);
void ksnic_files_event(struct ksnic *ks, u32 type, u32 id, u32 code);
void ksnic_files_port(struct ksnic *ks, u32 port, u32 state);

/* sysfs.c */
extern const struct attribute_group *ksnic_dev_groups[];

/* sysfs_port.c */
int ksnic_sysfs_ports_add(struct ksnic *ks);
void ksnic_sysfs_ports_del(struct ksnic *ks);

#endif /* KSNIC_H */
