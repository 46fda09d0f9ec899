// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>

#include "ksnic.h"
#include "object.h"

static int db_destroy(struct ksnic_obj *obj, struct kiwi_error *err)
{
	struct ksnic_db *db = container_of(obj, struct ksnic_db, obj);
	struct kiwi_fw *fw = obj->ks->fw;
	int ret;

	ret = kiwi_fw_db_close(fw, &db->page);
	if (ret) {
		kiwi_fail(err, ret, db->page.index, 0, "doorbell page %u could not be closed",
			  db->page.index);
		err->refused = kiwi_fw_is_up(fw);
	}
	return ret;
}

static void db_forget(struct ksnic_obj *obj)
{
	struct ksnic_db *db = container_of(obj, struct ksnic_db, obj);

	ksnic_route_del(obj->ks, &obj->ks->dbs, db->page.index, obj);
}

/* The page itself was given back when it was closed. */
static void db_release(struct ksnic_obj *obj)
{
}

const struct ksnic_obj_ops ksnic_db_ops = {
	.name = "doorbell",
	.kind = KSNIC_DB,
	.destroy = db_destroy,
	.forget = db_forget,
	.release = db_release,
};

/**
 * ksnic_db_shift() - size of a doorbell as it is handed out
 * @ks: the device, started
 *
 * Return: n of 2^n bytes: whole pages of the CPU
 */
u8 ksnic_db_shift(const struct ksnic *ks)
{
	return max_t(u8, PAGE_SHIFT, kiwi_fw_identity(ks->fw)->db_page_shift);
}

struct ksnic_db *ksnic_db_new(struct ksnic_owner *owner)
{
	return ksnic_obj_new(owner, &ksnic_db_ops, sizeof(struct ksnic_db), 0);
}

int ksnic_db_create(struct ksnic_db *db, struct kiwi_error *err)
{
	struct kiwi_fw_err why = { };
	int ret;

	ret = kiwi_fw_db_open(db->obj.ks->fw, &db->page, &why);
	if (ret)
		return kiwi_fail(err, ret, why.value, why.limit, "OPEN_DB_PAGE: %s",
				 why.status ? kiwi_fw_status_str(why.status) :
				 ret == -ENOSPC ? "all doorbell pages are in use" :
				 kiwi_errno_text(ret));
	db->obj.live = true;
	return ksnic_route_add(db->obj.ks, &db->obj.ks->dbs, db->page.index, &db->obj, err);
}
