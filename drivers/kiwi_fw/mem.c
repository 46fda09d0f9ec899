// SPDX-License-Identifier: GPL-2.0
/* What user memory and DMA-bufs have in common: runs of DMA addresses. */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "core.h"
#include "mem.h"

/*
 * The part [offset, offset + length) of a mapped table as runs, neighbours merged.
 * With @runs NULL they are only counted. Return: the number of runs; 0 if the table is too
 * short.
 */
static unsigned int kiwi_fw_runs_of(struct sg_table *sgt, u64 offset, u64 length,
				    struct kiwi_fw_run *runs)
{
	dma_addr_t addr, next = 0;
	struct scatterlist *sg;
	unsigned int nr = 0, i;
	u64 len;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		addr = sg_dma_address(sg);
		len = sg_dma_len(sg);
		if (offset >= len) {
			offset -= len;
			continue;
		}
		addr += offset;
		len = min(len - offset, length);
		offset = 0;
		if (nr && addr == next) {
			if (runs)
				runs[nr - 1].len += len;
		} else {
			if (runs)
				runs[nr] = (struct kiwi_fw_run) { .addr = addr, .len = len };
			nr++;
		}
		next = addr + len;
		length -= len;
		if (!length)
			return nr;
	}
	return 0;
}

/*
 * The device reaches the memory whenever it likes, so a mapping that the CPU would have
 * to copy or flush around each access is of no use. With an IOMMU there is none.
 */
static bool kiwi_fw_runs_need_sync(struct kiwi_fw *fw, const struct kiwi_fw_run *runs,
				   unsigned int nr)
{
	if (fw->iommu)
		return false;
	while (nr--) {
		if (dma_need_sync(&fw->pdev->dev, runs[nr].addr))
			return true;
	}
	return false;
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
 * cannot reach the memory without the CPU's help.
 */
int kiwi_fw_mem_set_runs(struct kiwi_fw *fw, struct kiwi_fw_mem *mem, struct sg_table *sgt,
			 u64 offset, u64 length)
{
	unsigned int nr = kiwi_fw_runs_of(sgt, offset, length, NULL);

	if (!nr)
		return -ERANGE;
	mem->runs = kvmalloc_array(nr, sizeof(*mem->runs), GFP_KERNEL_ACCOUNT);
	if (!mem->runs)
		return -ENOMEM;
	mem->nr_runs = nr;
	mem->length = length;
	kiwi_fw_runs_of(sgt, offset, length, mem->runs);
	if (kiwi_fw_runs_need_sync(fw, mem->runs, nr)) {
		kiwi_fw_mem_free_runs(mem);
		return -EOPNOTSUPP;
	}
	return 0;
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
 * kiwi_fw_mem_release() - give memory back
 * @mem: memory that the device no longer reaches
 */
void kiwi_fw_mem_release(struct kiwi_fw_mem *mem)
{
	kiwi_fw_mem_free_runs(mem);
	mem->ops->release(mem);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_mem_release, "KIWI_FW");
