// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/overflow.h>

#include <uapi/kiwi/snic.h>

#include "error.h"
#include "ksnic.h"
#include "object.h"

static int mr_destroy(struct ksnic_obj *obj, struct ksnic_error *err)
{
	struct ksnic_mr *mr = container_of(obj, struct ksnic_mr, obj);

	return ksnic_cmd_dereg_mr(obj->ks->fw, mr->key, err);
}

static void mr_release(struct ksnic_obj *obj)
{
	struct ksnic_mr *mr = container_of(obj, struct ksnic_mr, obj);

	if (mr->mem)
		kiwi_fw_mem_release(mr->mem);
	if (mr->pd)
		ksnic_obj_unuse(&mr->pd->obj);
}

const struct ksnic_obj_ops ksnic_mr_ops = {
	.name = "MR",
	.kind = KSNIC_MR,
	.destroy = mr_destroy,
	.release = mr_release,
};

struct ksnic_mr *ksnic_mr_new(struct ksnic_owner *owner, u64 user_data)
{
	return ksnic_obj_new(owner, &ksnic_mr_ops, sizeof(struct ksnic_mr), user_data);
}

/**
 * ksnic_mr_check() - whether a region could be registered, before memory is taken
 * @ks: the device
 * @iova: address of the first byte in work requests
 * @length: bytes
 * @access: KIWI_ACCESS_*
 * @err: filled on failure
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP
 */
int ksnic_mr_check(const struct ksnic *ks, u64 iova, u64 length, u32 access,
		   struct ksnic_error *err)
{
	const u32 known = KIWI_ACCESS_ALL | KIWI_ACCESS_RELAXED;
	u64 last;
	int ret;

	if (access & ~known)
		return ksnic_fail(err, -EINVAL, access, known,
				  "access %#x has unknown bits, known are %#x", access, known);
	if (access & KIWI_ACCESS_RELAXED) {
		ret = ksnic_need_gpu_queues(ks->fw, "KIWI_ACCESS_RELAXED", err);
		if (ret)
			return ret;
	}
	if ((access & (KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_ATOMIC)) &&
	    !(access & KIWI_ACCESS_LOCAL_WRITE))
		return ksnic_fail(err, -EINVAL, access, 0,
				  "access %#x: remote write and atomic need local write", access);
	if (!length || length > ks->caps.max_mr_size)
		return ksnic_fail(err, -EINVAL, length, ks->caps.max_mr_size,
				  "length %llu is not in 1..%llu (max_mr_size)", length,
				  ks->caps.max_mr_size);
	if (check_add_overflow(iova, length - 1, &last))
		return ksnic_fail(err, -EINVAL, iova, 0,
				  "iova %#llx with length %llu goes beyond 2^64", iova, length);
	return 0;
}

/**
 * ksnic_mr_create() - register the region with the device
 * @mr: filled in by its maker
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int ksnic_mr_create(struct ksnic_mr *mr, struct ksnic_error *err)
{
	struct ksnic_obj *obj = &mr->obj;
	struct kiwi_fw_pbl pbl;
	int ret;

	ret = ksnic_pbl_build(obj->ks, mr->mem, &pbl, err);
	if (ret)
		return ret;
	mr->pages = le32_to_cpu(pbl.wire.count);
	mr->page_shift = pbl.wire.page_shift;

	mutex_lock(&obj->lock);
	if (obj->revoked)
		ret = ksnic_obj_not_live(obj, err);
	else
		ret = ksnic_cmd_reg_mr(obj->ks->fw, mr->pd->pdn, mr->access, mr->iova,
				       mr->mem->length, &pbl.wire, &mr->key, err);
	obj->live = !ret;
	mutex_unlock(&obj->lock);

	kiwi_fw_pbl_release(obj->ks->fw, &pbl);
	return ret;
}

/**
 * ksnic_mr_revoked() - for kiwi_fw_mem_dmabuf(): the exporter takes the memory away
 * @arg: the region
 */
void ksnic_mr_revoked(void *arg)
{
	struct ksnic_mr *mr = arg;

	mutex_lock(&mr->obj.lock);
	ksnic_obj_revoke(&mr->obj, KIWI_SNIC_EVENT_MR_REVOKED, 0);
	mutex_unlock(&mr->obj.lock);
}
