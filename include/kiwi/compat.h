/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources are written to the newest kernel interfaces; this header gives older
 * kernels the same names.
 */
#ifndef KIWI_COMPAT_H
#define KIWI_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	mmap_assert_write_locked(vma->vm_mm);
	vma->vm_flags |= flags;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 7, 0)
static inline struct file *get_file_active(struct file **f)
{
	struct file *file;

	rcu_read_lock();
	file = READ_ONCE(*f);
	if (file && !get_file_rcu(file))
		file = NULL;
	rcu_read_unlock();
	return file;
}
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 1, 0)
#define invalidate_mappings move_notify	/* in struct dma_buf_attach_ops */

static inline void dma_buf_invalidate_mappings(struct dma_buf *dmabuf)
{
	dma_buf_move_notify(dmabuf);
}
#endif

/* Whether mapped DMA-bufs can move; if not, mapping one pins it. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
#define KIWI_DMABUF_MOVE_NOTIFY IS_ENABLED(CONFIG_DMABUF_MOVE_NOTIFY)
#else
#define KIWI_DMABUF_MOVE_NOTIFY 1
#endif

#endif /* KIWI_COMPAT_H */
