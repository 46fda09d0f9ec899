// SPDX-License-Identifier: GPL-2.0
/*
 * Ranges of BARs in user space. A mapping is made whole at once, since drivers of
 * accelerators look its page frames up, and stays in one piece; and it is taken
 * away before the range becomes another's.
 *
 * While mmap() is under way the mapping is not yet where unmap_mapping_range() would
 * find it. So each range lists its mappings, and whoever takes them away waits for the
 * lock that mmap() holds.
 */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "bar.h"

/**
 * struct bar_map - one mapping
 * @node: in the range's list, until it was taken away
 * @bar: the range, with a reference
 * @vma: the mapping
 */
struct bar_map {
	struct list_head node;
	struct kiwi_bar *bar;
	struct vm_area_struct *vma;
};

static void map_close(struct vm_area_struct *vma)
{
	struct bar_map *map = vma->vm_private_data;

	/* A copy that mremap() made before it was refused shares the pointer. */
	if (map->vma != vma)
		return;
	mutex_lock(&map->bar->lock);
	list_del(&map->node);
	mutex_unlock(&map->bar->lock);
	kiwi_bar_put(map->bar);
	kfree(map);
}

static int map_may_split(struct vm_area_struct *vma, unsigned long addr)
{
	return -EINVAL;
}

static int map_mremap(struct vm_area_struct *vma)
{
	return -EINVAL;
}

static struct page *stand_in_page(struct kiwi_bar *bar)
{
	struct page *page;

	lockdep_assert_held(&bar->lock);
	if (bar->stand_in)
		return bar->stand_in;
	page = alloc_page(GFP_KERNEL_ACCOUNT);
	if (page)
		memset(page_address(page), bar->range.fill, PAGE_SIZE);
	bar->stand_in = page;
	return page;
}

/*
 * The range was taken away. A program in the middle of its data path shall learn that from
 * its file, not die of an access: it gets a page of memory in place, as RDMA core does.
 */
static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct bar_map *map = vmf->vma->vm_private_data;
	struct kiwi_bar *bar = map->bar;
	vm_fault_t ret = VM_FAULT_OOM;
	struct page *page;

	mutex_lock(&bar->lock);
	page = stand_in_page(bar);
	if (page) {
		get_page(page);
		vmf->page = page;
		ret = 0;
	}
	mutex_unlock(&bar->lock);
	return ret;
}

static const struct vm_operations_struct map_ops = {
	.close = map_close,
	.may_split = map_may_split,
	.mremap = map_mremap,
	.fault = map_fault,
};

static int map_range(struct bar_map *map, const struct kiwi_bar_range *range)
{
	struct vm_area_struct *vma = map->vma;

	lockdep_assert_held(&map->bar->lock);
	if (map->bar->gone)
		return -EINVAL;
	/* What x86 calls EINVAL is ENOMEM, too: the arguments are right. */
	return io_remap_pfn_range(vma, vma->vm_start, PHYS_PFN(range->phys), range->size,
				  vma->vm_page_prot) ? -ENOMEM : 0;
}

/**
 * kiwi_bar_mmap() - map a range, all of it
 * @bar: the range
 * @vma: shared mapping to be filled
 *
 * Return: 0, -EINVAL when the size is another or the range was revoked, -ENOMEM
 */
int kiwi_bar_mmap(struct kiwi_bar *bar, struct vm_area_struct *vma)
{
	const struct kiwi_bar_range *range = &bar->range;
	struct bar_map *map;
	int ret;

	if (vma->vm_end - vma->vm_start != range->size)
		return -EINVAL;
	map = kmalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return -ENOMEM;
	map->bar = bar;
	map->vma = vma;

	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	if (range->write_combined)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	else
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);

	mutex_lock(&bar->lock);
	ret = map_range(map, range);
	if (!ret) {
		kiwi_bar_get(bar);
		list_add(&map->node, &bar->maps);
	}
	mutex_unlock(&bar->lock);
	if (ret) {
		kfree(map);
		return ret;
	}
	vma->vm_private_data = map;
	vma->vm_ops = &map_ops;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_bar_mmap, "KIWI_FW");

/* A process that still has a mapping, with a reference to its memory. */
static struct mm_struct *map_next_mm(struct kiwi_bar *bar)
{
	struct bar_map *map, *next;
	struct mm_struct *mm = NULL;

	mutex_lock(&bar->lock);
	list_for_each_entry_safe(map, next, &bar->maps, node) {
		if (mmget_not_zero(map->vma->vm_mm)) {
			mm = map->vma->vm_mm;
			break;
		}
		/* Nobody runs there any more, and the mapping is about to be closed. */
		list_del_init(&map->node);
	}
	mutex_unlock(&bar->lock);
	return mm;
}

/**
 * kiwi_bar_unmap() - take mappings away from all processes; accesses lead nowhere after that
 * @bar: the range, which nobody can map any more
 */
void kiwi_bar_unmap(struct kiwi_bar *bar)
{
	struct bar_map *map, *next;
	struct vm_area_struct *vma;
	struct mm_struct *mm;

	while ((mm = map_next_mm(bar))) {
		/* For writing: munmap() frees page tables with the lock held for reading. */
		mmap_write_lock(mm);
		mutex_lock(&bar->lock);
		list_for_each_entry_safe(map, next, &bar->maps, node) {
			vma = map->vma;
			if (vma->vm_mm != mm)
				continue;
			list_del_init(&map->node);
			zap_vma_ptes(vma, vma->vm_start, vma->vm_end - vma->vm_start);
		}
		mutex_unlock(&bar->lock);
		mmap_write_unlock(mm);
		mmput(mm);
	}
}
