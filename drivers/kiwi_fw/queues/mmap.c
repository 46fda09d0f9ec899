// SPDX-License-Identifier: GPL-2.0
/* Which doorbell a file maps. */
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/mm.h>

#include <kiwi/bar.h>
#include <kiwi/compat.h>
#include <kiwi/queues.h>

#include "object.h"

/**
 * kiwi_db_map_offset() - where in the file a doorbell is mapped
 * @db: the doorbell
 *
 * The offset names the page of the device, so that no two files have the same; none is 0.
 *
 * Return: offset for mmap()
 */
u64 kiwi_db_map_offset(const struct kiwi_db *db)
{
	return db->obj.part->queues->map_base + ((u64)db->page.index + 1) * db->page.size;
}

static struct kiwi_db *get_doorbell(struct kiwi_file *file, u64 offset)
{
	struct kiwi_part *part = file->part;
	u64 at = offset - part->queues->map_base;
	struct kiwi_obj *obj;
	struct kiwi_db *db;

	spin_lock(&part->event_lock);
	obj = xa_load(&part->queues->dbs, (at >> kiwi_db_shift(part)) - 1);
	if (obj && obj->owner == &file->owner)
		kref_get(&obj->ref);
	else
		obj = NULL;
	spin_unlock(&part->event_lock);

	if (!obj)
		return NULL;
	db = container_of(obj, struct kiwi_db, obj);
	if (kiwi_db_map_offset(db) == offset)
		return db;
	kiwi_obj_put(obj);
	return NULL;
}

/**
 * kiwi_queues_mmap() - map a doorbell
 * @file: of the doorbell; the gate is held
 * @vma: to be filled
 *
 * Return: 0 or negative errno
 */
int kiwi_queues_mmap(struct kiwi_file *file, struct vm_area_struct *vma)
{
	struct kiwi_db *db;
	int ret;

	db = get_doorbell(file, (u64)vma->vm_pgoff << PAGE_SHIFT);
	if (!db)
		return -EINVAL;
	ret = kiwi_bar_mmap(db->bar, vma);
	kiwi_obj_put(&db->obj);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_mmap, "KIWI_FW");
