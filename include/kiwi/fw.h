/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel API of kiwi_fw: what the drivers of all Kiwi parts share.
 * All functions are exported in the symbol namespace KIWI_FW.
 */
#ifndef KIWI_FW_H
#define KIWI_FW_H

#include <linux/pci.h>
#include <linux/refcount.h>
#include <linux/types.h>

#include <kiwi_abi/admin.h>
#include <kiwi_abi/regs.h>

struct class;
struct iosys_map;
struct kiwi_fw;
struct kiwi_fw_mem_ops;
struct kiwi_fw_pbl_table;

/* Device ------------------------------------------------------------------ */

/**
 * struct kiwi_fw_identity - what the device said of itself, range-checked
 * @serial: serial number
 * @fw_version: major << 48 | minor << 32 | patch
 * @offered: capability bits that the device announced, in force or not
 * @caps: capability bits in force: announced by the device, and known here or to the part's driver
 * @abi: major << 16 | minor
 * @revision: hardware revision
 * @generation: at the last (re)start
 * @db_pages: doorbell pages
 * @db_page_shift: size of one, 2^n bytes
 * @comp_vectors: completion event queues, at least 1
 */
struct kiwi_fw_identity {
	u64 serial;
	u64 fw_version;
	u64 offered;
	u64 caps;
	u32 abi;
	u32 revision;
	u32 generation;
	u32 db_pages;
	u8 db_page_shift;
	u16 comp_vectors;
};

/**
 * struct kiwi_fw_ops - what a part's driver is told, and what it knows
 * @caps: capability bits of the part, 32..63, that the driver understands
 * @bars: of the part's own, 1 << BAR, to be reserved for it
 * @events_end: types of the part's own events are from KIWI_EV_PART on and below this
 * @event: an asynchronous event of a known type; process context (a worker of
 *	kiwi_fw or a caller of kiwi_fw_sync_events()); takes no lock but spinlocks and issues no
 *	command; @lost is set when events were lost before this one, which may be none: type 0
 * @down: the device can no longer be used: it vanished, died or broke the ABI. Called at most
 *	once per start, process context, from a worker of kiwi_fw; no command works from
 *	here on and the device no longer reaches memory. Objects of the device are gone or
 *	will be with the next reset. May be NULL. KIWI_RESET_REMOVE says that it vanished.
 *
 * kiwi_fw_stop() waits for callbacks that run: it must not be called from one, nor with a lock
 * held that one takes.
 */
struct kiwi_fw_ops {
	u64 caps;
	int bars;
	u8 events_end;
	void (*event)(void *priv, const struct kiwi_eqe *eqe, bool lost);
	void (*down)(void *priv, enum kiwi_reset_reason reason);
};

struct kiwi_fw *kiwi_fw_create(struct pci_dev *pdev, u32 part, const struct kiwi_fw_ops *ops,
			       void *priv);
void kiwi_fw_destroy(struct kiwi_fw *fw);
int kiwi_fw_start(struct kiwi_fw *fw);
void kiwi_fw_stop(struct kiwi_fw *fw, enum kiwi_reset_reason reason);
void kiwi_fw_enable_events(struct kiwi_fw *fw);
void kiwi_fw_fail(struct kiwi_fw *fw, enum kiwi_reset_reason reason);
void kiwi_fw_vanished(struct kiwi_fw *fw);
bool kiwi_fw_is_up(struct kiwi_fw *fw);
int kiwi_fw_error(struct kiwi_fw *fw);
const struct kiwi_fw_identity *kiwi_fw_identity(struct kiwi_fw *fw);
u64 kiwi_fw_diag(struct kiwi_fw *fw, unsigned int index);

/*
 * Handles, in the caller's context or by waiting, each asynchronous event that
 * the device had written before the call (E-5: before a number is met again).
 * kiwi_fw_ops.event takes spinlocks only, so any lock but those may be held.
 */
void kiwi_fw_sync_events(struct kiwi_fw *fw);

/*
 * Class "kiwi" of all parts' character devices: a device of this class named
 * "snic0" is /dev/kiwi/snic0, of the mode that udev says (by default 0600).
 */
extern struct class kiwi_fw_class;

/* Commands ---------------------------------------------------------------- */

/**
 * struct kiwi_fw_err - what an errno alone does not say
 * @status: enum kiwi_status, or KIWI_ST_OK when the device refused nothing
 * @field: byte offset in the input, or KIWI_ERR_FIELD_NONE
 * @value: the value refused
 * @limit: the limit it broke, or 0
 */
struct kiwi_fw_err {
	u16 status;
	u16 field;
	u64 value;
	u64 limit;
};

/*
 * With any of -EPROTO, -ETIMEDOUT, -EIO and -ENODEV nobody knows what the command did, and the
 * device no longer reaches memory. Who finds a reply out of range that kiwi_fw could not check
 * calls kiwi_fw_fail() before memory is given back.
 */
int kiwi_fw_exec(struct kiwi_fw *fw, u16 opcode, const void *in, size_t in_len, void *out,
		 size_t out_len, struct kiwi_fw_err *err);
const char *kiwi_fw_status_str(u16 status);

/* Completion events --------------------------------------------------------- */

/**
 * struct kiwi_fw_comp - a completion queue's listener
 * @fn: called for each completion event of the queue, and when events were lost; in hard
 *	interrupt or with interrupts disabled: must not sleep
 * @cqn: set by kiwi_fw_comp_add()
 */
struct kiwi_fw_comp {
	void (*fn)(struct kiwi_fw_comp *comp);
	u32 cqn;
};

u32 kiwi_fw_comp_eqn(struct kiwi_fw *fw, u32 vector);
int kiwi_fw_comp_add(struct kiwi_fw *fw, u32 cqn, struct kiwi_fw_comp *comp);
void kiwi_fw_comp_del(struct kiwi_fw *fw, struct kiwi_fw_comp *comp);

/* Doorbell pages ------------------------------------------------------------ */

/**
 * struct kiwi_fw_db - an open doorbell page, its owner's alone
 * @phys: CPU physical address of the page, aligned to @size
 * @size: bytes, a multiple of PAGE_SIZE
 * @index: number of the page in the ABI
 * @reg_offset: of the doorbell register from @phys
 */
struct kiwi_fw_db {
	phys_addr_t phys;
	size_t size;
	u32 index;
	u32 reg_offset;
};

int kiwi_fw_db_open(struct kiwi_fw *fw, struct kiwi_fw_db *db, struct kiwi_fw_err *err);
int kiwi_fw_db_close(struct kiwi_fw *fw, struct kiwi_fw_db *db);
u32 kiwi_fw_db_left(struct kiwi_fw *fw);

/* Memory ---------------------------------------------------------------------- */

/**
 * struct kiwi_fw_run - contiguous DMA addresses
 * @addr: first byte
 * @len: bytes
 */
struct kiwi_fw_run {
	dma_addr_t addr;
	u64 len;
};

/**
 * struct kiwi_fw_path - how the bytes travel
 * @path: enum kiwi_path
 * @reason: enum kiwi_path_reason
 * @peer: domain << 16 | bus << 8 | devfn of the function that holds the memory, or 0
 * @bridge: likewise of the bridge that @reason is about, or 0
 */
struct kiwi_fw_path {
	u8 path;
	u8 reason;
	u32 peer;
	u32 bridge;
};

/**
 * struct kiwi_fw_mem - memory that the device may reach, as runs
 * @runs: in order; the first and last begin and end anywhere, all between lie
 *	on page boundaries
 * @nr_runs: 1 or more
 * @length: bytes, the sum of the runs
 * @dynamic: it may move, and is told of by hold and resume of struct kiwi_fw_dmabuf_ops; @runs,
 *	@nr_runs and @path are then to be read in resume or below kiwi_fw_mem_lock() alone
 * @path: how the bytes travel
 */
struct kiwi_fw_mem {
	struct kiwi_fw_run *runs;
	unsigned int nr_runs;
	u64 length;
	bool dynamic;
	struct kiwi_fw_path path;
	/* private: */
	const struct kiwi_fw_mem_ops *ops;
};

/**
 * struct kiwi_fw_dmabuf_ops - what the user of a DMA-buf is told of it
 * @revoked: the exporter takes the memory away for good; called at most once. The callee ends the
 *	device's access before it returns; kiwi_fw unmaps after that.
 * @hold: the exporter is about to move the memory; likewise, but for the time being. What the
 *	device was told of its place is no longer true. NULL: the memory is pinned.
 * @resume: with @hold: the memory is back and in reach, at a new place: the device may go on. An
 *	errno: it cannot be told of this place; that is tried again, then @revoked is called.
 *
 * All of them in process context and with the buffer's reservation lock held, possibly before
 * kiwi_fw_mem_dmabuf() has returned; by commands if need be, which sleep for as long as the
 * firmware takes to answer, at most its time limit. That is long for an exporter that holds the
 * lock to evict, and the price of a device without page faults: when the callback returns no
 * access is in flight, so no fence is left to wait for. None is running nor called once
 * kiwi_fw_mem_release() has returned.
 *
 * Whoever hands the memory to the device does so below a lock that these take too, and not after
 * @revoked was called. Such locks must not be held when a function of this group is called.
 */
struct kiwi_fw_dmabuf_ops {
	void (*revoked)(void *arg);
	void (*hold)(void *arg);
	int (*resume)(void *arg);
};

/* @err: what was asked and the limit it broke, for -EINVAL, -ENOMEM and -ENOSPC if there is one */
struct kiwi_fw_mem *kiwi_fw_mem_user(struct kiwi_fw *fw, u64 addr, u64 length, bool writable,
				     struct kiwi_fw_err *err);
struct kiwi_fw_mem *kiwi_fw_mem_dmabuf(struct kiwi_fw *fw, int fd, u64 offset, u64 length,
				       bool writable, const struct kiwi_fw_dmabuf_ops *ops,
				       void *arg, struct kiwi_fw_err *err);
int kiwi_fw_mem_vmap(struct kiwi_fw_mem *mem, struct iosys_map *map);
int kiwi_fw_mem_lock(struct kiwi_fw_mem *mem);
void kiwi_fw_mem_unlock(struct kiwi_fw_mem *mem);
void kiwi_fw_mem_release(struct kiwi_fw_mem *mem);

/**
 * struct kiwi_fw_route - what lies between the device and the memory of a DMA-buf
 * @path: how the bytes travel; the rest is 0 without a peer, and tells more than decides @path
 * @common: PCI address of the lowest bridge of a switch that both are below, or 0
 * @redirects: PCI addresses of bridges below that one that send requests up by ACS, those on the
 *	device's side first
 * @nr_redirects: of @redirects; there may be more bridges than there is room for
 * @distance: as pci_p2pdma_distance(): negative when the kernel does not vouch for the way, or
 *	cannot tell
 */
struct kiwi_fw_route {
	struct kiwi_fw_path path;
	u32 common;
	u32 redirects[8];
	unsigned int nr_redirects;
	int distance;
};

int kiwi_fw_route_to(struct kiwi_fw *fw, int fd, struct kiwi_fw_route *route);
bool kiwi_fw_is_translated(const struct kiwi_fw *fw);

/**
 * struct kiwi_fw_pbl - a page list as a command carries it
 * @wire: for the command
 *
 * Build, send the command, release.
 */
struct kiwi_fw_pbl {
	struct kiwi_pbl wire;
	/* private: tables of levels 1 and 2 */
	struct kiwi_fw_pbl_table *tables;
	unsigned int nr_tables;
};

/**
 * struct kiwi_fw_pbl_limits - what the device reported
 * @max_pages: entries
 * @page_shift_max: page size 2^n, KIWI_PAGE_SHIFT_MIN or more
 * @table_shift_max: table size 2^n, likewise
 */
struct kiwi_fw_pbl_limits {
	u32 max_pages;
	u8 page_shift_max;
	u8 table_shift_max;
};

int kiwi_fw_pbl_build(struct kiwi_fw *fw, const struct kiwi_fw_mem *mem,
		      const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl *pbl,
		      struct kiwi_fw_err *err);
void kiwi_fw_pbl_release(struct kiwi_fw *fw, struct kiwi_fw_pbl *pbl);

#endif /* KIWI_FW_H */
