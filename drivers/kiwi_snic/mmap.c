// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbell pages in user space. A mapping is made whole at once, since drivers of
 * accelerators look its page frames up, and stays in one piece; and it is taken
 * away before the device closes the page, since the page will be another's.
 *
 * While mmap() is under way the mapping is not yet where unmap_mapping_range() would
 * find it. So each file lists its mappings, and whoever takes them away waits for the
 * lock that mmap() holds.
 */
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "file.h"
#include "ksnic.h"

/**
 * struct ksnic_map - one mapping
 * @node: in the file's list, until it was taken away
 * @file: the file, which lives as long as the mapping
 * @vma: the mapping
 * @db: the doorbell, while in the list
 */
struct ksnic_map {
	struct list_head node;
	struct ksnic_file *file;
	struct vm_area_struct *vma;
	const struct ksnic_db *db;
};

/**
 * ksnic_map_offset() - where in the file a doorbell is mapped
 * @db: the doorbell
 *
 * The offset names the page of the device, so that no two files have the same; none is 0.
 *
 * Return: offset for mmap()
 */
u64 ksnic_map_offset(const struct ksnic_db *db)
{
	return ((u64)db->page.index + 1) * db->page.size;
}

static struct ksnic_db *map_get_doorbell(struct ksnic_file *file, u64 offset)
{
	struct ksnic *ks = file->ks;
	struct ksnic_obj *obj;
	struct ksnic_db *db;

	spin_lock(&ks->event_lock);
	obj = xa_load(&ks->dbs, (offset >> ksnic_db_shift(ks)) - 1);
	if (obj && obj->owner == &file->owner)
		kref_get(&obj->ref);
	else
		obj = NULL;
	spin_unlock(&ks->event_lock);

	if (!obj)
		return NULL;
	db = container_of(obj, struct ksnic_db, obj);
	if (ksnic_map_offset(db) == offset)
		return db;
	ksnic_obj_put(obj);
	return NULL;
}

static void map_close(struct vm_area_struct *vma)
{
	struct ksnic_map *map = vma->vm_private_data;

	/* A copy that mremap() made before it was refused shares the pointer. */
	if (map->vma != vma)
		return;
	mutex_lock(&map->file->map_lock);
	list_del(&map->node);
	mutex_unlock(&map->file->map_lock);
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

/*
 * The doorbell was taken away. A program in the middle of its data path shall learn that from
 * its file, not die of a store: it gets a page of memory in place, as RDMA core does.
 */
static vm_fault_t map_fault(struct vm_fault *vmf)
{
	struct ksnic_map *map = vmf->vma->vm_private_data;
	struct ksnic_file *file = map->file;
	vm_fault_t ret = VM_FAULT_OOM;

	mutex_lock(&file->map_lock);
	if (!file->stand_in)
		file->stand_in = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (file->stand_in) {
		get_page(file->stand_in);
		vmf->page = file->stand_in;
		ret = 0;
	}
	mutex_unlock(&file->map_lock);
	return ret;
}

static const struct vm_operations_struct map_ops = {
	.close = map_close,
	.may_split = map_may_split,
	.mremap = map_mremap,
	.fault = map_fault,
};

static int map_doorbell(struct ksnic_file *file, struct vm_area_struct *vma,
			const struct ksnic_db *db)
{
	struct ksnic_map *map;
	int ret;

	if (vma->vm_end - vma->vm_start != db->page.size)
		return -EINVAL;
	map = kmalloc(sizeof(*map), GFP_KERNEL_ACCOUNT);
	if (!map)
		return -ENOMEM;
	map->file = file;
	map->vma = vma;
	map->db = db;

	vm_flags_set(vma, VM_IO | VM_PFNMAP | VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP);
	if (db->write_combined)
		vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	else
		vma->vm_page_prot = pgprot_noncached(vma->vm_page_prot);

	mutex_lock(&file->map_lock);
	if (ksnic_obj_condemned(&db->obj))
		ret = -EINVAL;
	else if (io_remap_pfn_range(vma, vma->vm_start, PHYS_PFN(db->page.phys), db->page.size,
				    vma->vm_page_prot))
		ret = -ENOMEM;	/* also what x86 calls EINVAL: the arguments are right */
	else
		ret = 0;
	if (!ret)
		list_add(&map->node, &file->maps);
	mutex_unlock(&file->map_lock);
	if (ret) {
		kfree(map);
		return ret;
	}
	vma->vm_private_data = map;
	vma->vm_ops = &map_ops;
	return 0;
}

static int map_at(struct ksnic_file *file, struct vm_area_struct *vma)
{
	struct ksnic_db *db;
	int ret;

	db = map_get_doorbell(file, (u64)vma->vm_pgoff << PAGE_SHIFT);
	if (!db)
		return -EINVAL;
	ret = map_doorbell(file, vma, db);
	ksnic_obj_put(&db->obj);
	return ret;
}

int ksnic_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct ksnic_file *file = filp->private_data;
	int ret, idx;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	idx = srcu_read_lock(&file->ks->gate);
	ret = ksnic_file_check_up(file);
	if (!ret)
		ret = map_at(file, vma);
	srcu_read_unlock(&file->ks->gate, idx);
	return ret;
}

static bool map_matches(const struct ksnic_map *map, const struct ksnic_db *db)
{
	return !db || map->db == db;
}

/* A process that still has a matching mapping, with a reference to its memory. */
static struct mm_struct *map_next_mm(struct ksnic_file *file, const struct ksnic_db *db)
{
	struct ksnic_map *map, *next;
	struct mm_struct *mm = NULL;

	mutex_lock(&file->map_lock);
	list_for_each_entry_safe(map, next, &file->maps, node) {
		if (!map_matches(map, db))
			continue;
		if (mmget_not_zero(map->vma->vm_mm)) {
			mm = map->vma->vm_mm;
			break;
		}
		/* Nobody runs there any more, and the mapping is about to be closed. */
		list_del_init(&map->node);
	}
	mutex_unlock(&file->map_lock);
	return mm;
}

/**
 * ksnic_unmap() - take mappings away from all processes; accesses lead nowhere after that
 * @file: of the mappings
 * @db: that cannot be mapped any more, or NULL for all, when nothing of the file can
 */
void ksnic_unmap(struct ksnic_file *file, const struct ksnic_db *db)
{
	struct ksnic_map *map, *next;
	struct vm_area_struct *vma;
	struct mm_struct *mm;

	while ((mm = map_next_mm(file, db))) {
		/* For writing: munmap() frees page tables with the lock held for reading. */
		mmap_write_lock(mm);
		mutex_lock(&file->map_lock);
		list_for_each_entry_safe(map, next, &file->maps, node) {
			vma = map->vma;
			if (vma->vm_mm != mm || !map_matches(map, db))
				continue;
			list_del_init(&map->node);
			zap_vma_ptes(vma, vma->vm_start, vma->vm_end - vma->vm_start);
		}
		mutex_unlock(&file->map_lock);
		mmap_write_unlock(mm);
		mmput(mm);
	}
}
