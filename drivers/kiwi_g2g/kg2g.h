/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One G2G IO die.
 *
 * Locks, in the order of kiwi/part.h: kg2g.admin stands between the gate and the locks of
 * objects; kg2g_aperture.lock and kg2g_log.lock are innermost of the mutexes.
 */
#ifndef KG2G_H
#define KG2G_H

#include <linux/bits.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <kiwi/queues.h>
#include <uapi/kiwi/g2g.h>

#include "aperture.h"
#include "caps.h"
#include "fw_cmd.h"

#define KG2G_LOG_KEPT	256

/**
 * struct kg2g_log - the latest records of the error log
 * @lock: protects all
 * @lost: events that found no room in the device
 * @total: records ever; the latest are at (@total - 1) % KG2G_LOG_KEPT and before
 * @records: ring
 */
struct kg2g_log {
	struct mutex lock;	/* records */
	u64 lost;
	u64 total;
	struct kiwi_g2g_log_record records[KG2G_LOG_KEPT];
};

/**
 * struct kg2g - one die
 * @part: what all parts have
 * @queues: with KIWI_G2G_CAP_MSGQ; else there are none
 * @caps: of the device as started last
 * @aperture: of BAR 4; of the longest life: ranges that importers still have mapped survive a reset
 * @admin: one change of fabric, ports, routes or images at a time
 * @paused: enum kiwi_g2g_pause, 0 since a pause began; under event_lock, waited for by part.wait
 * @exports: by number, for events
 * @windows: likewise
 * @log: errors
 * @log_work: takes records off the device
 * @lost_work: looks at all objects after events were lost
 * @reap_work: destroys what could not be destroyed before
 */
struct kg2g {
	struct kiwi_part part;
	struct kiwi_queues queues;
	struct kg2g_caps caps;
	struct kg2g_aperture aperture;
	struct mutex admin;	/* configuration */
	u32 paused;
	struct xarray exports;
	struct xarray windows;
	struct kg2g_log log;
	struct work_struct log_work;
	struct work_struct lost_work;
	struct work_struct reap_work;
};

static inline struct kg2g *to_kg2g(struct kiwi_part *part)
{
	return container_of(part, struct kg2g, part);
}

/* In the order in which a file's objects are destroyed. */
enum kg2g_kind {
	KG2G_WINDOW = KIWI_QUEUES_KINDS,
	KG2G_EXPORT,
	KG2G_KINDS
};

/* part.c */
int kg2g_setup(struct kg2g *kg, const struct kiwi_part_ops *ops, struct device *parent);
void kg2g_teardown(struct kg2g *kg);
int kg2g_start(struct kg2g *kg, u64 bar_len, struct kiwi_error *err);
void kg2g_stopped(struct kg2g *kg);
int kg2g_may_go_on(const struct kg2g *kg, struct kiwi_error *err);

/* events.c */
void kg2g_event(void *part, const struct kiwi_eqe *eqe, bool lost);
void kg2g_lost_work(struct work_struct *work);
void kg2g_reap_work(struct work_struct *work);
void kg2g_tell(struct kg2g *kg, u32 type, u32 id, u32 code, u32 info);

/* log.c */
void kg2g_log_init(struct kg2g_log *log);
void kg2g_log_clear(struct kg2g_log *log);
void kg2g_log_work(struct work_struct *work);
void kg2g_log_read(struct kg2g *kg, struct kiwi_g2g_log_read *read);

/* fabric.c */
int kg2g_fabric_set(struct kg2g *kg, const struct kiwi_g2g_fabric_set *set,
		    struct kiwi_error *err);
int kg2g_fabric_change(struct kg2g *kg, u32 op, struct kiwi_error *err);
int kg2g_fabric_query(struct kg2g *kg, struct kiwi_g2g_fabric_query *q, struct kiwi_error *err);
int kg2g_port_check(const struct kg2g *kg, u32 port, struct kiwi_error *err);
int kg2g_port_set(struct kg2g *kg, const struct kiwi_g2g_port_set *set, struct kiwi_error *err);
int kg2g_port_query(struct kg2g *kg, struct kiwi_g2g_port_query *q, struct kiwi_error *err);
int kg2g_peer_query(struct kg2g *kg, struct kiwi_g2g_peer_query *q, struct kiwi_error *err);
int kg2g_peer_change(struct kg2g *kg, u16 accel, u32 op, struct kiwi_error *err);
int kg2g_name_holders(struct kg2g *kg, int ret, struct kiwi_error *err);
int kg2g_drain(struct kg2g *kg, struct kiwi_error *err);

/* routes.c */
int kg2g_routes_commit(struct kg2g *kg, u32 flags, u32 *generation, struct kiwi_error *err);
int kg2g_routes_query(struct kg2g *kg, struct kiwi_g2g_routes_query *q, struct kiwi_error *err);

/* route_stage.c */
int kg2g_routes_stage(struct kg2g *kg, const struct kiwi_g2g_routes_stage *in,
		      struct kiwi_error *err);

/* image.c */
int kg2g_image_load(struct kg2g *kg, u32 slot, const char *name, struct kiwi_error *err);
int kg2g_image_write(struct kg2g *kg, const struct kiwi_g2g_image_write *w,
		     struct kiwi_error *err);
int kg2g_image_change(struct kg2g *kg, u32 slot, u32 op, struct kiwi_error *err);
int kg2g_image_query(struct kg2g *kg, struct kiwi_g2g_image_query *q, struct kiwi_error *err);

/* names.c */
const char *kg2g_fabric_state_name(unsigned int state);
const char *kg2g_port_state_name(unsigned int state);
const char *kg2g_peer_state_name(unsigned int state);
const char *kg2g_slot_state_name(unsigned int state);
const char *kg2g_reason_name(unsigned int reason);

/* ioctl.c */
extern const struct kiwi_ioctl kg2g_ioctls[];
extern const unsigned int kg2g_nr_ioctls;
/* Doorbells are mapped from here on, imports before. The mmap() of 32 bits ends at 2^44. */
#define KG2G_MAP_DOORBELLS	BIT_ULL(43)
int kg2g_mmap(struct kiwi_file *file, struct vm_area_struct *vma);

/* sysfs.c */
extern const struct attribute_group *kg2g_dev_groups[];

/* sysfs_port.c */
int kg2g_sysfs_ports_add(struct kg2g *kg);

#endif /* KG2G_H */
