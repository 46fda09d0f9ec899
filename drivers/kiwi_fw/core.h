/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of kiwi_fw know of each other.
 *
 * Locks, outermost first:
 *   (the caller's)	create, destroy, start and stop of one device are never concurrent
 *   dma_resv		of an imported DMA-buf; callbacks of struct kiwi_fw_dmabuf_ops and their
 *			commands run below it
 *   eq->deliver	mutex: one deliverer of asynchronous events, which keeps their order
 *   eq->lock		spinlock: ring of an event queue; completion callbacks run below it
 *   admin->lock	spinlock: rings and slots of the admin queue
 *   fw->lock		spinlock: state
 * The spinlocks are taken in hard interrupts and do not nest in each other.
 */
#ifndef KIWI_FW_CORE_H
#define KIWI_FW_CORE_H

#include <linux/atomic.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <kiwi/fw.h>

#include "admin.h"
#include "limits.h"

struct dentry;
struct iommu_domain;

enum kiwi_fw_state {
	KIWI_FW_STOPPED,
	KIWI_FW_STARTING,
	KIWI_FW_UP,
	KIWI_FW_STOPPING,	/* commands still work, until the reset */
	KIWI_FW_DOWN,		/* failed since it was started */
};

enum kiwi_fw_counter {
	KIWI_FW_COMMANDS,
	KIWI_FW_REFUSED,		/* commands, by the device */
	KIWI_FW_RESCUED,		/* commands whose completion raised no interrupt in time */
	KIWI_FW_TIMEOUTS,
	KIWI_FW_LATE_REPLIES,		/* to commands that timed out */
	KIWI_FW_UNEXPECTED_REPLIES,	/* to commands that were never sent */
	KIWI_FW_BAD_REPLIES,		/* that the ABI does not allow */
	KIWI_FW_EVENTS,
	KIWI_FW_UNKNOWN_EVENTS,
	KIWI_FW_UNOWNED_COMPLETIONS,	/* for a queue that nobody listens to */
	KIWI_FW_LOST_EVENTS,		/* entries that said that others were lost */
	KIWI_FW_COUNTERS
};

/**
 * struct kiwi_fw_eq - an event queue
 * @fw: device
 * @lock: protects @active, @ci, @told, @lost, @armed and the reading of @ring
 * @deliver: asynchronous queue: one deliverer at a time
 * @work: delivery that an interrupt should not do
 * @ring: entries, the device's from creation to reset
 * @dma: of @ring
 * @ci: consumer index, free-running
 * @told: as the device was told last
 * @number: in the ABI
 * @vector: MSI-X
 * @log2: entries 2^n
 * @active: delivers events
 * @lost: events were lost since the last one delivered
 * @armed: the device was told to interrupt, and has written nothing since
 * @sweep: completion queue: CQ number to go on with in telling everybody, 0: nothing to tell
 * @created: the device knows @number
 * @irq: the interrupt of @vector is requested
 * @name: of the interrupt
 */
struct kiwi_fw_eq {
	struct kiwi_fw *fw;
	spinlock_t lock;	/* ring */
	struct mutex deliver;	/* order of asynchronous events */
	struct work_struct work;
	struct kiwi_eqe *ring;
	dma_addr_t dma;
	u32 ci;
	u32 told;
	u32 number;
	u16 vector;
	u8 log2;
	bool active;
	bool lost;
	bool armed;
	bool created;
	bool irq;
	unsigned long sweep;
	char name[40];
};

/**
 * struct kiwi_fw - one device
 * @pdev: the function
 * @part: KIWI_PART_*
 * @bars: that are reserved, 1 << BAR
 * @ops: the part's driver
 * @priv: of @ops
 * @bar: registers, as mapped
 * @regs: @bar, or NULL from when the device was seen to be gone
 * @iommu: domain that translates the device's addresses, NULL if none does
 * @wq: for all workers of the device
 * @identity: read at the last start
 * @limits: likewise, by enum kiwi_fw_limit_id
 * @lock: protects @state and @reason
 * @state: see there
 * @reason: of the last failure
 * @down_work: calls ops->down
 * @health_work: looks at the device regularly
 * @heartbeat: last one seen
 * @heartbeat_missed: times that it was seen unchanged
 * @admin: command queue
 * @async: event queue of kind async
 * @comp_eqs: event queues of kind completion, as many as there are vectors for
 * @nr_comp_eqs: size of @comp_eqs; identity.comp_vectors of them are in use
 * @admin_irq: the interrupt of vector 0 is requested
 * @comps: listeners by CQ number
 * @db_pages: indices of open and quarantined doorbell pages, in units of @db_unit
 * @db_next: where the next search begins
 * @db_unit: doorbell pages that one CPU page covers
 * @db_units: how many there are
 * @counters: by enum kiwi_fw_counter
 * @debugfs: folder
 */
struct kiwi_fw {
	struct pci_dev *pdev;
	u32 part;
	int bars;
	const struct kiwi_fw_ops *ops;
	void *priv;
	void __iomem *bar;
	void __iomem *regs;
	struct iommu_domain *iommu;
	struct workqueue_struct *wq;

	struct kiwi_fw_identity identity;
	u32 limits[KIWI_FW_LIMITS];

	spinlock_t lock;	/* state */
	enum kiwi_fw_state state;
	enum kiwi_reset_reason reason;
	struct work_struct down_work;

	struct delayed_work health_work;
	u32 heartbeat;
	unsigned int heartbeat_missed;

	struct kiwi_fw_admin admin;
	struct kiwi_fw_eq async;
	struct kiwi_fw_eq *comp_eqs;
	unsigned int nr_comp_eqs;
	bool admin_irq;
	struct xarray comps;

	struct xarray db_pages;
	u32 db_next;
	u32 db_unit;
	u32 db_units;

	atomic_t counters[KIWI_FW_COUNTERS];
	struct dentry *debugfs;
};

static inline void kiwi_fw_count(struct kiwi_fw *fw, enum kiwi_fw_counter counter)
{
	atomic_inc(&fw->counters[counter]);
}

/* regs.c */
u32 kiwi_fw_rd32(struct kiwi_fw *fw, u32 reg);
u64 kiwi_fw_rd64(struct kiwi_fw *fw, u32 reg);
u64 kiwi_fw_peek64(struct kiwi_fw *fw, u32 reg);
void kiwi_fw_wr32(struct kiwi_fw *fw, u32 reg, u32 value);
void kiwi_fw_wr64(struct kiwi_fw *fw, u32 reg, u64 value);
bool kiwi_fw_gone(struct kiwi_fw *fw);

/* device.c */
int kiwi_fw_check_presence(struct kiwi_fw *fw);
int kiwi_fw_identify(struct kiwi_fw *fw);

/* lifecycle.c */
int kiwi_fw_wait_ready(struct kiwi_fw *fw);
int kiwi_fw_wait_enabled(struct kiwi_fw *fw);

/* state.c */
void kiwi_fw_state_init(struct kiwi_fw *fw);
void kiwi_fw_state_starting(struct kiwi_fw *fw);
int kiwi_fw_state_check(struct kiwi_fw *fw);
int kiwi_fw_state_up(struct kiwi_fw *fw);
void kiwi_fw_state_stopping(struct kiwi_fw *fw);
void kiwi_fw_state_stopped(struct kiwi_fw *fw);

/* irq.c */
int kiwi_fw_irq_alloc(struct kiwi_fw *fw);
void kiwi_fw_irq_free(struct kiwi_fw *fw);
int kiwi_fw_irq_request_admin(struct kiwi_fw *fw);
void kiwi_fw_irq_release_admin(struct kiwi_fw *fw);
int kiwi_fw_irq_request_comp(struct kiwi_fw *fw, struct kiwi_fw_eq *eq);
void kiwi_fw_irq_release_comp(struct kiwi_fw *fw, struct kiwi_fw_eq *eq);

/* eq.c */
void kiwi_fw_eq_init(struct kiwi_fw *fw, struct kiwi_fw_eq *eq, u16 vector);
int kiwi_fw_eqs_create(struct kiwi_fw *fw);
void kiwi_fw_eqs_destroy(struct kiwi_fw *fw);
void kiwi_fw_eqs_free(struct kiwi_fw *fw);
void kiwi_fw_eqs_kick(struct kiwi_fw *fw);
bool kiwi_fw_async_irq(struct kiwi_fw_eq *eq);
bool kiwi_fw_comp_irq(struct kiwi_fw_eq *eq);

/* db.c */
void kiwi_fw_db_init(struct kiwi_fw *fw);
int kiwi_fw_db_start(struct kiwi_fw *fw);
void kiwi_fw_db_stop(struct kiwi_fw *fw);

/* health.c */
void kiwi_fw_health_init(struct kiwi_fw *fw);
void kiwi_fw_health_start(struct kiwi_fw *fw);
void kiwi_fw_health_stop(struct kiwi_fw *fw);
void kiwi_fw_health_look(struct kiwi_fw *fw);
void kiwi_fw_health_report(struct kiwi_fw *fw);

/* counters.c */
void kiwi_fw_debugfs_init(void);
void kiwi_fw_debugfs_exit(void);
void kiwi_fw_counters_show(struct kiwi_fw *fw);
void kiwi_fw_counters_hide(struct kiwi_fw *fw);

#endif /* KIWI_FW_CORE_H */
