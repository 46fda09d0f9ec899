// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/overflow.h>

#include <kiwi/queues.h>

#include "object.h"

static struct lock_class_key mr_lock_key;

static int mr_destroy(struct kiwi_obj *obj, struct kiwi_error *err)
{
	struct kiwi_mr *mr = container_of(obj, struct kiwi_mr, obj);

	return kiwi_cmd_dereg_mr(obj->part->fw, mr->key, err);
}

static void mr_release(struct kiwi_obj *obj)
{
	struct kiwi_mr *mr = container_of(obj, struct kiwi_mr, obj);

	if (mr->mem)
		kiwi_fw_mem_release(mr->mem);
	if (mr->pd)
		kiwi_obj_unuse(&mr->pd->obj);
}

const struct kiwi_obj_ops kiwi_mr_ops = {
	.name = "MR",
	.kind = KIWI_KIND_MR,
	.key = &mr_lock_key,
	.destroy = mr_destroy,
	.release = mr_release,
};

struct kiwi_mr *kiwi_mr_new(struct kiwi_owner *owner, u64 user_data)
{
	return kiwi_obj_new(owner, &kiwi_mr_ops, sizeof(struct kiwi_mr), user_data);
}

/**
 * kiwi_mr_check() - whether a region could be registered, before memory is taken
 * @part: the device
 * @iova: address of the first byte in work requests
 * @length: bytes
 * @access: KIWI_ACCESS_*
 * @err: filled on failure
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP
 */
int kiwi_mr_check(const struct kiwi_part *part, u64 iova, u64 length, u32 access,
		  struct kiwi_error *err)
{
	const u32 known = KIWI_ACCESS_ALL | KIWI_ACCESS_RELAXED;
	u64 last;
	int ret;

	if (access & ~known)
		return kiwi_fail(err, -EINVAL, access, known,
				 "access %#x has unknown bits, known are %#x", access, known);
	if (access & KIWI_ACCESS_RELAXED) {
		ret = kiwi_queues_need_gpu(part->fw, "KIWI_ACCESS_RELAXED", err);
		if (ret)
			return ret;
	}
	if ((access & (KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & KIWI_ACCESS_LOCAL_WRITE))
		return kiwi_fail(err, -EINVAL, access, 0,
				 "access %#x: remote write and atomic need local write", access);
	if (!length || length > part->queues->caps.max_mr_size)
		return kiwi_fail(err, -EINVAL, length, part->queues->caps.max_mr_size,
				 "length %llu is not in 1..%llu (max_mr_size)", length,
				 part->queues->caps.max_mr_size);
	if (check_add_overflow(iova, length - 1, &last))
		return kiwi_fail(err, -EINVAL, iova, 0,
				 "iova %#llx with length %llu goes beyond 2^64", iova, length);
	return 0;
}

/* The device was told of this list, of where the memory is now. */
static void mr_placed(struct kiwi_mr *mr, const struct kiwi_fw_pbl *pbl)
{
	lockdep_assert_held(&mr->obj.lock);

	mr->path = mr->mem->path;
	mr->segments = mr->mem->nr_runs;
	mr->pages = le32_to_cpu(pbl->wire.count);
	mr->page_shift = pbl->wire.page_shift;
}

static int mr_create_locked(struct kiwi_mr *mr, struct kiwi_error *err)
{
	struct kiwi_obj *obj = &mr->obj;
	struct kiwi_fw_pbl pbl;
	int ret;

	ret = kiwi_queues_pbl(obj->part, mr->mem, &pbl, err);
	if (ret)
		return ret;

	mutex_lock(&obj->lock);
	if (obj->revoked)
		ret = kiwi_obj_not_live(obj, err);
	else
		ret = kiwi_cmd_reg_mr(obj->part->fw, mr->pd->pdn, mr->access, mr->iova,
				      mr->mem->length, &pbl.wire, &mr->key, err);
	obj->live = !ret;
	if (!ret)
		mr_placed(mr, &pbl);
	mutex_unlock(&obj->lock);

	kiwi_fw_pbl_release(obj->part->fw, &pbl);
	return ret;
}

/**
 * kiwi_mr_create() - register the region with the device
 * @mr: filled in by its maker
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kiwi_mr_create(struct kiwi_mr *mr, struct kiwi_error *err)
{
	int ret;

	ret = kiwi_fw_mem_lock(mr->mem);
	if (ret == -EREMOTEIO)
		return kiwi_fail(err, ret, 0, 0, "mem: the exporter took it back");
	if (ret)
		return kiwi_fail(err, ret, 0, 0, "mem: %s", kiwi_errno_text(ret));
	ret = mr_create_locked(mr, err);
	kiwi_fw_mem_unlock(mr->mem);
	return ret;
}

/**
 * kiwi_mr_state() - what may become of the memory
 * @mr: the region, locked
 *
 * Return: enum kiwi_mr_state
 */
u8 kiwi_mr_state(const struct kiwi_mr *mr)
{
	lockdep_assert_held(&mr->obj.lock);

	if (mr->obj.revoked)
		return KIWI_MR_REVOKED;
	return mr->mem->dynamic ? KIWI_MR_DYNAMIC : KIWI_MR_PINNED;
}

/* Moving ------------------------------------------------------------------------ */

static void mr_revoked(void *arg)
{
	struct kiwi_mr *mr = arg;

	mutex_lock(&mr->obj.lock);
	kiwi_obj_revoke(&mr->obj, KIWI_EVENT_MR_REVOKED, 0);
	mutex_unlock(&mr->obj.lock);
}

/*
 * A region that the device does not hold must not be there when the memory goes. If the device
 * is down it reaches no memory, and there is nothing to do.
 */
static void mr_hold(void *arg)
{
	struct kiwi_mr *mr = arg;
	struct kiwi_obj *obj = &mr->obj;
	struct kiwi_error err;

	mutex_lock(&obj->lock);
	if (obj->live && !mr->held) {
		if (!kiwi_cmd_hold_mr(obj->part->fw, mr->key, &err))
			mr->held = true;
		else if (err.refused)
			kiwi_obj_revoke(obj, KIWI_EVENT_MR_REVOKED, 0);
	}
	mutex_unlock(&obj->lock);
}

/* One that is being destroyed stays held, if the device refuses to destroy it. */
static bool mr_is_to_resume(struct kiwi_mr *mr)
{
	lockdep_assert_held(&mr->obj.lock);

	return mr->obj.live && mr->held && !kiwi_obj_condemned(&mr->obj);
}

/* A device that is down forgets the region: it does not matter where the memory is. */
static int mr_resume_at(struct kiwi_mr *mr, const struct kiwi_fw_pbl *pbl)
{
	struct kiwi_error err;
	int ret;

	lockdep_assert_held(&mr->obj.lock);

	ret = kiwi_cmd_resume_mr(mr->obj.part->fw, mr->key, &pbl->wire, &err);
	if (ret)
		return err.refused ? ret : 0;
	mr->held = false;
	mr_placed(mr, pbl);
	return 0;
}

/*
 * Memory for the list is taken without the object's lock: it may come from an exporter that evicts
 * for it, and tells the regions that it moves. The reservation lock keeps this one as it is.
 */
static int mr_resume(void *arg)
{
	struct kiwi_mr *mr = arg;
	struct kiwi_obj *obj = &mr->obj;
	struct kiwi_error err;
	struct kiwi_fw_pbl pbl;
	bool wanted;
	int ret;

	mutex_lock(&obj->lock);
	wanted = mr_is_to_resume(mr);
	mutex_unlock(&obj->lock);
	if (!wanted)
		return 0;
	ret = kiwi_queues_pbl(obj->part, mr->mem, &pbl, &err);
	if (ret)
		return ret;
	mutex_lock(&obj->lock);
	if (mr_is_to_resume(mr))
		ret = mr_resume_at(mr, &pbl);
	mutex_unlock(&obj->lock);
	kiwi_fw_pbl_release(obj->part->fw, &pbl);
	return ret;
}

static const struct kiwi_fw_dmabuf_ops mr_dynamic_ops = {
	.revoked = mr_revoked,
	.hold = mr_hold,
	.resume = mr_resume,
};

static const struct kiwi_fw_dmabuf_ops mr_pinned_ops = {
	.revoked = mr_revoked,
};

/**
 * kiwi_mr_mem_ops() - how regions take moves of a DMA-buf, for kiwi_fw_mem_dmabuf()
 * @part: the device
 *
 * Return: callbacks, with the region for their argument
 */
const struct kiwi_fw_dmabuf_ops *kiwi_mr_mem_ops(const struct kiwi_part *part)
{
	return kiwi_fw_identity(part->fw)->caps & KIWI_SNIC_CAP_MR_HOLD ? &mr_dynamic_ops :
									&mr_pinned_ops;
}
