// SPDX-License-Identifier: GPL-2.0
/* What user memory and DMA-bufs have in common: runs of DMA addresses. */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "core.h"
#include "mem.h"

/*
 * The device reaches the memory whenever it likes, so a mapping that the CPU would have
 * to copy or flush around each access is of no use. With an IOMMU there is none.
 */
static bool kiwi_fw_needs_sync(struct kiwi_fw *fw, dma_addr_t addr)
{
	return !fw->iommu && dma_need_sync(&fw->pdev->dev, addr);
}

/* Neighbours are merged. */
static int kiwi_fw_add_run(struct kiwi_fw_mem *mem, dma_addr_t addr, u64 len, unsigned int max)
{
	struct kiwi_fw_run *last = mem->nr_runs ? &mem->runs[mem->nr_runs - 1] : NULL;

	if (last && last->addr + last->len == addr) {
		last->len += len;
		return 0;
	}
	if (mem->nr_runs == max)
		return -EOPNOTSUPP;
	mem->runs[mem->nr_runs++] = (struct kiwi_fw_run) { .addr = addr, .len = len };
	return 0;
}

static int kiwi_fw_fill_runs(struct kiwi_fw *fw, struct kiwi_fw_mem *mem, struct sg_table *sgt,
			     u64 offset, unsigned int max)
{
	u64 left = mem->length, len;
	struct scatterlist *sg;
	unsigned int i;
	int ret;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (offset >= sg_dma_len(sg)) {
			offset -= sg_dma_len(sg);
			continue;
		}
		if (kiwi_fw_needs_sync(fw, sg_dma_address(sg)))
			return -EOPNOTSUPP;
		len = min(sg_dma_len(sg) - offset, left);
		ret = kiwi_fw_add_run(mem, sg_dma_address(sg) + offset, len, max);
		left -= len;
		if (ret || !left)
			return ret;
		offset = 0;
	}
	return -ERANGE;
}

/* Runs that meet off a page are of no use, so there are no more than pages are touched. */
static unsigned int kiwi_fw_max_runs(const struct sg_table *sgt, u64 length)
{
	return min_t(u64, sgt->nents, ((length - 1) >> KIWI_PAGE_SHIFT_MIN) + 2);
}

/**
 * kiwi_fw_mem_set_runs() - fill in the runs of a part of a mapped table
 * @fw: device it is mapped for
 * @mem: memory
 * @sgt: table
 * @offset: of the part
 * @length: of the part, at least 1
 *
 * Return: 0, -ENOMEM, -ERANGE if the table ends before the part, -EOPNOTSUPP if the device
 * cannot reach the memory without the CPU's help, or if it is not made of pages.
 */
int kiwi_fw_mem_set_runs(struct kiwi_fw *fw, struct kiwi_fw_mem *mem, struct sg_table *sgt,
			 u64 offset, u64 length)
{
	unsigned int max = kiwi_fw_max_runs(sgt, length);
	int ret;

	mem->runs = kvmalloc_array(max, sizeof(*mem->runs), GFP_KERNEL_ACCOUNT);
	if (!mem->runs)
		return -ENOMEM;
	mem->nr_runs = 0;
	mem->length = length;
	ret = kiwi_fw_fill_runs(fw, mem, sgt, offset, max);
	if (ret)
		kiwi_fw_mem_free_runs(mem);
	return ret;
}

/**
 * kiwi_fw_mem_free_runs() - undo kiwi_fw_mem_set_runs()
 * @mem: memory
 */
void kiwi_fw_mem_free_runs(struct kiwi_fw_mem *mem)
{
	kvfree(mem->runs);
	mem->runs = NULL;
}

/**
 * kiwi_fw_mem_vmap() - have the CPU reach the memory, too
 * @mem: memory; done at most once
 * @map: filled in with its first byte, valid until kiwi_fw_mem_release(); of a DMA-buf it must
 *	not be used once revocation was told
 *
 * Return: 0, -EOPNOTSUPP if the exporter of a DMA-buf does not do it, -ENOMEM
 */
int kiwi_fw_mem_vmap(struct kiwi_fw_mem *mem, struct iosys_map *map)
{
	return mem->ops->vmap(mem, map);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_mem_vmap, "KIWI_FW");

/**
 * kiwi_fw_mem_lock() - keep memory where it is, to hand it to the device
 * @mem: memory that the device does not know yet
 *
 * The locks of struct kiwi_fw_dmabuf_ops nest in this one.
 *
 * Return: 0, -EINTR, -EREMOTEIO if it was revoked, or as kiwi_fw_mem_dmabuf() if it has moved
 * meanwhile and cannot be reached. On failure there is nothing to unlock.
 */
int kiwi_fw_mem_lock(struct kiwi_fw_mem *mem)
{
	return mem->ops->lock ? mem->ops->lock(mem) : 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_mem_lock, "KIWI_FW");

/**
 * kiwi_fw_mem_unlock() - undo kiwi_fw_mem_lock()
 * @mem: memory
 */
void kiwi_fw_mem_unlock(struct kiwi_fw_mem *mem)
{
	if (mem->ops->unlock)
		mem->ops->unlock(mem);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_mem_unlock, "KIWI_FW");

/**
 * kiwi_fw_mem_release() - give memory back
 * @mem: memory that the device no longer reaches
 */
void kiwi_fw_mem_release(struct kiwi_fw_mem *mem)
{
	mem->ops->release(mem);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_mem_release, "KIWI_FW");
