/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Sources are written to the newest kernel interfaces; this header gives older
 * kernels the same names.
 */
#ifndef KIWI_COMPAT_H
#define KIWI_COMPAT_H

#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/eventfd.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/version.h>

/* Argument of class.devnode. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define KIWI_DEVNODE_CONST
#else
#define KIWI_DEVNODE_CONST const
#endif

/*
 * Pinning for reading only: older kernels need a write fault to make sure that the page
 * stays the one that the process sees.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define KIWI_FOLL_LONGTERM_READ (FOLL_LONGTERM | FOLL_WRITE | FOLL_FORCE)
#else
#define KIWI_FOLL_LONGTERM_READ FOLL_LONGTERM
#endif

/* For exporters: newer kernels call vmap() and vunmap() with the reservation lock held. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define dma_buf_vmap_unlocked dma_buf_vmap
#define dma_buf_vunmap_unlocked dma_buf_vunmap
#define kiwi_dmabuf_vmap_lock(dmabuf) dma_resv_lock((dmabuf)->resv, NULL)
#define kiwi_dmabuf_vmap_unlock(dmabuf) dma_resv_unlock((dmabuf)->resv)
#else
#define kiwi_dmabuf_vmap_lock(dmabuf) dma_resv_assert_held((dmabuf)->resv)
#define kiwi_dmabuf_vmap_unlock(dmabuf) dma_resv_assert_held((dmabuf)->resv)
#endif

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

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 8, 0)
#define eventfd_signal(ctx) eventfd_signal(ctx, 1)
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
#undef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(ns) MODULE_INFO(import_ns, ns)
#undef EXPORT_SYMBOL_NS_GPL
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 5, 0)
#define EXPORT_SYMBOL_NS_GPL(sym, ns) __EXPORT_SYMBOL(sym, "_gpl", ns)
#else
#define EXPORT_SYMBOL_NS_GPL(sym, ns) __EXPORT_SYMBOL(sym, "GPL", ns)
#endif
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
