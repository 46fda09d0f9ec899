/* SPDX-License-Identifier: GPL-2.0 */
/*
 * xpu: the driver of the stand-in accelerator, internal interfaces.
 *
 * Lock order: unplug_lock, bufs_lock or import_lock, reservation lock of a DMA-buf
 * (mmap_lock is outside it), vram.lock or engine.lock or exec.lock.
 */
#ifndef XPU_DRV_H
#define XPU_DRV_H

#include <linux/cdev.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/rwsem.h>
#include <linux/scatterlist.h>
#include <linux/wait.h>

#include <kiwi/compat.h>

#include "xpu_cmd.h"
#include "xpu_regs.h"
#include "xpu_uapi.h"

/* How long an importer may take to finish with a buffer. */
#define XPU_IMPORTER_TIMEOUT	(5 * HZ)

/* Segments of a mapping stay below 4 GiB, and keep the alignment of their start. */
#define XPU_SEGMENT_MAX		SZ_2G

/**
 * struct xpu_vram - allocator of VRAM
 * @base: CPU physical address of the BAR
 * @size: bytes
 * @free: bytes that are not allocated
 * @lock: protects @free and @nodes
 * @nodes: allocated ranges by address; what lies between them is free
 * @wc_cookie: of arch_phys_wc_add()
 * @wc_reserved: the memory type of the BAR is reserved
 * @trap: registers that are told what is free, or NULL; under @lock
 */
struct xpu_vram {
	phys_addr_t base;
	u64 size;
	u64 free;
	struct mutex lock; /* free and nodes */
	struct list_head nodes;
	int wc_cookie;
	bool wc_reserved;
	void __iomem *trap;
};

struct xpu_vram_node {
	struct list_head link;
	u64 start;
	u64 size;
};

/**
 * struct xpu_engine - the copy engine
 * @regs: registers of the device
 * @lock: one command at a time
 * @ended: the interrupt of the command with @tag arrived, or @stopped was set
 * @max_len: bytes of one command
 * @timeout: bound on one command, in jiffies
 * @tag: of the last command
 * @stopped: why no command can be run, a negative errno; 0 if one can
 */
struct xpu_engine {
	void __iomem *regs;
	struct mutex lock; /* the command */
	struct completion ended;
	u64 max_len;
	unsigned long timeout;
	u16 tag;
	int stopped;
};

/**
 * struct xpu_exec - the execution engine
 * @regs: registers of the device
 * @import_lock: protects @doorbells, held for whatever waits for an exporter
 * @lock: the registers; protects all that follows, @doorbells in addition to @import_lock
 * @stopped: why nothing can be run, a negative errno; 0 if it can
 * @tag: of the last kernel
 * @doorbells: by number
 * @queues: by number
 * @kernels: by place in the engine
 * @ended: bits of @kernels: it may have ended; set by the interrupt, a hint
 * @wait: woken when @ended changes
 */
struct xpu_exec {
	void __iomem *regs;
	struct mutex import_lock; /* doorbells */
	struct mutex lock; /* registers and tables */
	int stopped;
	u32 tag;
	struct xpu_doorbell *doorbells[XPU_EX_DOORBELLS];
	struct xpu_queue *queues[XPU_EX_QUEUES];
	struct xpu_kernel *kernels[XPU_EX_KERNELS];
	unsigned long ended;
	wait_queue_head_t wait;
};

/**
 * struct xpu_device - one accelerator
 * @dev: the character device; its release frees this
 * @cdev: open files hold it, and it holds @dev
 * @pdev: referenced
 * @engine: copy engine
 * @exec: execution engine
 * @vram: allocator
 * @unplug_lock: held for reading by ioctls, for writing to set @unplugged
 * @unplugged: the driver is unbound
 * @bufs_lock: protects @bufs
 * @bufs: all buffers that were not released
 * @vram_mappings: mappings of VRAM that importers hold
 * @unmapped: woken when @vram_mappings drops to zero
 */
struct xpu_device {
	struct device dev;
	struct cdev cdev;
	struct pci_dev *pdev;
	struct xpu_engine engine;
	struct xpu_exec exec;
	struct xpu_vram vram;
	struct rw_semaphore unplug_lock;
	bool unplugged;
	struct mutex bufs_lock; /* bufs */
	struct list_head bufs;
	atomic_t vram_mappings;
	wait_queue_head_t unmapped;
};

/**
 * struct xpu_file - an open file, which owns doorbells, queues and kernels
 * @xdev: device
 * @context: in the engine, kernels and queues of the same file share it
 */
struct xpu_file {
	struct xpu_device *xdev;
	u32 context;
};

/**
 * struct xpu_store - the bytes of a buffer, in one place
 * @ref: held by the buffer and by each mapping, so that memory that an importer
 *	still has addresses of is not used for anything else
 * @xdev: device
 * @placement: XPU_PLACE_VRAM or XPU_PLACE_SYSTEM
 * @size: bytes
 * @node: VRAM
 * @chunk: VRAM: bytes of one chunk; the buffer's chunks stand in @node in
 *	descending order. @size if there is but one
 * @pages: system memory
 */
struct xpu_store {
	struct kref ref;
	struct xpu_device *xdev;
	u32 placement;
	u64 size;
	struct xpu_vram_node *node;
	u64 chunk;
	struct page **pages;
};

/**
 * struct xpu_buf - a buffer
 * @xdev: device, referenced
 * @dmabuf: holds the buffer; its reservation lock protects all that follows @link
 * @link: in @xdev->bufs
 * @flags: XPU_ALLOC_*, constant
 * @chunk: wanted size of chunks in VRAM, constant
 * @store: where the bytes are; NULL once revoked
 * @mappings: list of struct xpu_mapping
 * @pins: pins that importers, views, queues and kernels hold
 * @viewed: memory that vmap() shows, referenced; NULL if there is no view
 * @moves: how often the buffer has moved
 * @fail_armed: the next mapping fails with @fail_error
 * @fail_error: positive errno; 0 for a missing table
 */
struct xpu_buf {
	struct xpu_device *xdev;
	struct dma_buf *dmabuf;
	u32 flags;
	u64 chunk;
	struct list_head link;
	struct xpu_store *store;
	struct list_head mappings;
	u32 pins;
	struct xpu_store *viewed;
	u32 moves;
	bool fail_armed;
	u32 fail_error;
};

/**
 * struct xpu_mapping - what an importer got
 * @sgt: table in the importer's hands
 * @link: in the buffer's list
 * @store: the memory behind it, referenced
 * @dev: the importer's device
 */
struct xpu_mapping {
	struct sg_table sgt;
	struct list_head link;
	struct xpu_store *store;
	struct device *dev;
};

/**
 * struct xpu_cursor - a position in memory, as the copy engine sees it
 * @store: VRAM; NULL for memory on the bus
 * @at: VRAM: offset in @store
 * @sg: bus: current segment; NULL at the end
 * @sg_left: bus: segments from @sg to the end
 * @sg_at: bus: offset in @sg
 * @own: bus: table that the cursor has mapped and unmaps, if any
 * @dir: of @own
 */
struct xpu_cursor {
	struct xpu_store *store;
	u64 at;
	struct scatterlist *sg;
	unsigned int sg_left;
	u64 sg_at;
	struct sg_table own;
	enum dma_data_direction dir;
};

/* vram.c */
void xpu_vram_init(struct xpu_vram *vram, phys_addr_t base, u64 size, void __iomem *regs);
void xpu_vram_fini(struct xpu_vram *vram);
struct xpu_vram_node *xpu_vram_alloc(struct xpu_vram *vram, u64 size);
void xpu_vram_free(struct xpu_vram *vram, struct xpu_vram_node *node);
void xpu_vram_usage(struct xpu_vram *vram, u64 *free, u64 *largest);

/* engine.c */
int xpu_engine_init(struct xpu_device *xdev, void __iomem *regs);
void xpu_engine_start(struct xpu_engine *engine);
void xpu_engine_stop(struct xpu_engine *engine, int error);
void xpu_engine_irq(struct xpu_engine *engine);
int xpu_engine_copy(struct xpu_device *xdev, u64 dst, u64 src, u64 len, u32 ctrl);
int xpu_engine_query(struct xpu_engine *engine, struct xpu_query *query);

/* store.c */
struct xpu_store *xpu_store_vram(struct xpu_device *xdev, u64 size, u64 chunk);
struct xpu_store *xpu_store_system(struct xpu_device *xdev, u64 size);
void xpu_store_get(struct xpu_store *store);
void xpu_store_put(struct xpu_store *store);
u64 xpu_store_vram_at(const struct xpu_store *store, u64 offset, u64 *len);
unsigned long xpu_store_pfn(const struct xpu_store *store, u64 offset);
int xpu_store_clear(struct xpu_store *store);
int xpu_store_copy(struct xpu_store *dst, struct xpu_store *src);

/* cursor.c */
int xpu_map_pages(struct device *dev, struct sg_table *sgt, struct page **pages,
		  unsigned int offset, u64 len, enum dma_data_direction dir,
		  unsigned long attrs);
int xpu_cursor_store(struct xpu_cursor *cursor, struct xpu_store *store, u64 offset, u64 len,
		     enum dma_data_direction dir);
int xpu_cursor_pages(struct xpu_cursor *cursor, struct xpu_device *xdev, struct page **pages,
		     unsigned int offset, u64 len, enum dma_data_direction dir);
void xpu_cursor_table(struct xpu_cursor *cursor, struct sg_table *sgt, u64 offset);
void xpu_cursor_release(struct xpu_cursor *cursor, struct xpu_device *xdev);
int xpu_cursor_copy(struct xpu_device *xdev, struct xpu_cursor *dst, struct xpu_cursor *src,
		    u64 len);

/* buffer.c */
struct xpu_buf *xpu_buf_create(struct xpu_device *xdev, u32 flags, u64 size, u64 chunk);
void xpu_buf_free(struct xpu_buf *buf);
struct xpu_buf *xpu_buf_of(struct xpu_device *xdev, struct dma_buf *dmabuf);
int xpu_buf_move(struct xpu_buf *buf, u32 placement);
void xpu_buf_revoke(struct xpu_buf *buf);
void xpu_buf_query(struct xpu_buf *buf, struct xpu_query_buf *query);
void xpu_revoke_all(struct xpu_device *xdev, bool vram_only);
struct xpu_buf *xpu_buf_hold(struct xpu_device *xdev, int fd, u64 *start);
void xpu_buf_drop(struct xpu_buf *buf);

/* exec.c */
void xpu_exec_init(struct xpu_device *xdev, void __iomem *regs);
void xpu_exec_start(struct xpu_exec *exec);
void xpu_exec_stop(struct xpu_device *xdev, int error);
void xpu_exec_ended(struct xpu_exec *exec, u32 kernels);
void xpu_exec_irq(struct xpu_exec *exec);
void xpu_exec_flush(struct xpu_exec *exec);
void xpu_exec_withdraw(struct xpu_device *xdev, struct xpu_buf *buf);
void xpu_exec_close(struct xpu_file *file);

/* doorbell.c */
int xpu_doorbell_import(struct xpu_file *file, struct xpu_doorbell_import *import);
int xpu_doorbell_release(struct xpu_file *file, u32 number);
int xpu_doorbell_use(struct xpu_file *file, u32 number);
void xpu_doorbell_unuse(struct xpu_exec *exec, u32 number);
void xpu_doorbells_stop(struct xpu_exec *exec);
void xpu_doorbells_unmap(struct xpu_device *xdev);
void xpu_doorbells_close(struct xpu_file *file);

/* queue.c */
int xpu_queue_add(struct xpu_file *file, struct xpu_queue_add *add);
int xpu_queue_remove(struct xpu_file *file, u32 number);
void xpu_queues_stop(struct xpu_exec *exec);
void xpu_queues_withdraw(struct xpu_exec *exec, struct xpu_buf *buf);
void xpu_queues_close(struct xpu_file *file);

/* kernel.c */
int xpu_kernel_launch(struct xpu_file *file, struct xpu_launch *launch);
int xpu_kernel_wait(struct xpu_file *file, struct xpu_wait *wait);
int xpu_kernel_stop(struct xpu_file *file, u32 number);
void xpu_kernels_stop(struct xpu_exec *exec);
void xpu_kernels_withdraw(struct xpu_exec *exec, struct xpu_buf *buf);
void xpu_kernels_close(struct xpu_file *file);

/* dmabuf.c */
extern const struct dma_buf_ops xpu_dmabuf_ops;
extern const struct dma_buf_ops xpu_dmabuf_scattered_ops;

/* mmap.c */
int xpu_buf_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma);
void xpu_buf_zap(struct xpu_buf *buf);

/* vmap.c */
int xpu_dmabuf_vmap(struct dma_buf *dmabuf, struct iosys_map *map);
void xpu_dmabuf_vunmap(struct dma_buf *dmabuf, struct iosys_map *map);

/* copy.c */
int xpu_copy(struct xpu_device *xdev, const struct xpu_copy *copy);

/* chardev.c */
struct xpu_device *xpu_device_alloc(struct pci_dev *pdev);
int xpu_chardev_init(void);
void xpu_chardev_exit(void);

#endif /* XPU_DRV_H */
