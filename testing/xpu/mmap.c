// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU's view of a buffer. Pages come in by faults and go by a zap whenever the
 * buffer moves or is revoked, so a mapping follows the buffer.
 */
#include <linux/mm.h>

#include "xpu_drv.h"

#define XPU_FAULT_PAGES	64	/* mapped by one fault */

/* A move can take long: other faults of the process shall not wait for it. */
static vm_fault_t xpu_fault_lock(struct vm_fault *vmf, struct dma_buf *dmabuf)
{
	if (dma_resv_trylock(dmabuf->resv))
		return 0;
	if (fault_flag_allow_retry_first(vmf->flags)) {
		if (vmf->flags & FAULT_FLAG_RETRY_NOWAIT)
			return VM_FAULT_RETRY;
		get_dma_buf(dmabuf);
		mmap_read_unlock(vmf->vma->vm_mm);
		if (!dma_resv_lock_interruptible(dmabuf->resv, NULL))
			dma_resv_unlock(dmabuf->resv);
		dma_buf_put(dmabuf);
		return VM_FAULT_RETRY;
	}
	return dma_resv_lock_interruptible(dmabuf->resv, NULL) ? VM_FAULT_NOPAGE : 0;
}

static vm_fault_t xpu_fault_insert(struct vm_fault *vmf, struct xpu_buf *buf)
{
	struct vm_area_struct *vma = vmf->vma;
	u64 offset = (u64)vmf->pgoff << PAGE_SHIFT;
	unsigned long addr = vmf->address & PAGE_MASK;
	unsigned long end = min(vma->vm_end, addr + XPU_FAULT_PAGES * PAGE_SIZE);
	pgprot_t prot = vma->vm_page_prot;
	vm_fault_t ret, first = VM_FAULT_SIGBUS;

	dma_resv_assert_held(buf->dmabuf->resv);
	if (!buf->store)
		return VM_FAULT_SIGBUS;
	if (buf->store->placement == XPU_PLACE_VRAM)
		prot = pgprot_writecombine(prot);

	while (addr < end && offset < buf->store->size) {
		ret = vmf_insert_pfn_prot(vma, addr, xpu_store_pfn(buf->store, offset), prot);
		if (addr == (vmf->address & PAGE_MASK))
			first = ret;
		if (ret & VM_FAULT_ERROR)
			break;
		addr += PAGE_SIZE;
		offset += PAGE_SIZE;
	}
	return first;
}

static vm_fault_t xpu_vm_fault(struct vm_fault *vmf)
{
	struct xpu_buf *buf = vmf->vma->vm_private_data;
	struct dma_buf *dmabuf = buf->dmabuf;
	vm_fault_t ret;

	ret = xpu_fault_lock(vmf, dmabuf);
	if (ret)
		return ret;
	ret = xpu_fault_insert(vmf, buf);
	dma_resv_unlock(dmabuf->resv);
	return ret;
}

static const struct vm_operations_struct xpu_vm_ops = {
	.fault = xpu_vm_fault,
};

int xpu_buf_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP);
	vma->vm_ops = &xpu_vm_ops;
	vma->vm_private_data = dmabuf->priv;
	return 0;
}

/**
 * xpu_buf_zap() - take the buffer's pages out of all user mappings
 * @buf: buffer; the caller holds its reservation lock, so no fault brings them back
 */
void xpu_buf_zap(struct xpu_buf *buf)
{
	dma_resv_assert_held(buf->dmabuf->resv);
	unmap_mapping_range(buf->dmabuf->file->f_mapping, 0, 0, 1);
}
