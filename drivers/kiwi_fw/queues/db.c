// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pci.h>

#include <kiwi/bar.h>
#include <kiwi/compat.h>
#include <kiwi/queues.h>

#include "object.h"

static struct lock_class_key db_lock_key;

static int db_destroy(struct kiwi_obj *obj, struct kiwi_error *err)
{
	struct kiwi_db *db = container_of(obj, struct kiwi_db, obj);
	struct kiwi_fw *fw = obj->part->fw;
	int ret;

	ret = kiwi_fw_db_close(fw, &db->page);
	if (ret) {
		kiwi_fail(err, ret, db->page.index, 0, "doorbell page %u could not be closed",
			  db->page.index);
		err->refused = kiwi_fw_is_up(fw);
	}
	return ret;
}

static void db_forget(struct kiwi_obj *obj)
{
	struct kiwi_db *db = container_of(obj, struct kiwi_db, obj);

	kiwi_route_del(obj, &obj->part->queues->dbs, db->page.index);
}

static void db_withdraw(struct kiwi_obj *obj)
{
	struct kiwi_db *db = container_of(obj, struct kiwi_db, obj);

	if (db->bar)
		kiwi_bar_revoke(db->bar);
}

/* The page itself was given back when it was closed. */
static void db_release(struct kiwi_obj *obj)
{
}

static void db_free(struct kiwi_obj *obj)
{
	struct kiwi_db *db = container_of(obj, struct kiwi_db, obj);

	if (db->bar)
		kiwi_bar_put(db->bar);
}

const struct kiwi_obj_ops kiwi_db_ops = {
	.name = "doorbell",
	.kind = KIWI_KIND_DB,
	.key = &db_lock_key,
	.destroy = db_destroy,
	.forget = db_forget,
	.withdraw = db_withdraw,
	.release = db_release,
	.free = db_free,
};

/**
 * kiwi_db_shift() - size of a doorbell as it is handed out
 * @part: the device, started
 *
 * Return: n of 2^n bytes: whole pages of the CPU
 */
u8 kiwi_db_shift(const struct kiwi_part *part)
{
	return max_t(u8, PAGE_SHIFT, kiwi_fw_identity(part->fw)->db_page_shift);
}
EXPORT_SYMBOL_NS_GPL(kiwi_db_shift, "KIWI_FW");

struct kiwi_db *kiwi_db_new(struct kiwi_owner *owner)
{
	return kiwi_obj_new(owner, &kiwi_db_ops, sizeof(struct kiwi_db), 0);
}

/*
 * A GPU that rings the doorbell imports it. One that keeps its mapping when the doorbell is
 * withdrawn writes into a closed page, or with an epoch of the past: the page may become
 * another's at once.
 */
static struct kiwi_bar *db_bar(const struct kiwi_db *db)
{
	const struct kiwi_bar_range range = {
		.owner = db->obj.part->ops->owner,
		.pdev = to_pci_dev(db->obj.part->dev.parent),
		.phys = db->page.phys,
		.size = db->page.size,
		.write_combined = db->write_combined,
	};

	return kiwi_bar_new(&range);
}

/**
 * kiwi_db_create() - open a doorbell page
 * @db: filled in by its maker
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kiwi_db_create(struct kiwi_db *db, struct kiwi_error *err)
{
	struct kiwi_obj *obj = &db->obj;
	struct kiwi_fw_err why = { };
	int ret;

	ret = kiwi_fw_db_open(obj->part->fw, &db->page, &why);
	if (ret)
		return kiwi_fail(err, ret, why.value, why.limit, "OPEN_DB_PAGE: %s",
				 why.status ? kiwi_fw_status_str(why.status) :
				 ret == -ENOSPC ? "all doorbell pages are in use" :
				 kiwi_errno_text(ret));
	obj->live = true;
	db->bar = db_bar(db);
	if (!db->bar)
		return kiwi_fail_plain(err, -ENOMEM);
	return kiwi_route_add(obj, &obj->part->queues->dbs, db->page.index, err);
}

/**
 * kiwi_db_dmabuf() - the DMA-buf of a doorbell's page
 * @db: the doorbell, looked up
 * @err: filled on failure
 *
 * Return: the DMA-buf with a reference, or an ERR_PTR: -ENOENT when the doorbell is being
 * destroyed, -ENOMEM, -EMFILE or -ENFILE
 */
struct dma_buf *kiwi_db_dmabuf(struct kiwi_db *db, struct kiwi_error *err)
{
	struct dma_buf *dmabuf = kiwi_bar_dmabuf(db->bar);
	int ret;

	if (dmabuf == ERR_PTR(-ENODEV))
		return ERR_PTR(kiwi_obj_absent(db->obj.id, &kiwi_db_ops, err));
	if (!IS_ERR(dmabuf))
		return dmabuf;
	ret = PTR_ERR(dmabuf);
	return ERR_PTR(kiwi_fail(err, ret, 0, 0, "DMA-buf: %s", kiwi_errno_text(ret)));
}
