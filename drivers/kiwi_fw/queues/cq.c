// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/eventfd.h>

#include <kiwi/compat.h>
#include <kiwi/queues.h>
#include <kiwi_abi/queues.h>

#include "object.h"

static struct lock_class_key cq_lock_key;

static int cq_destroy(struct kiwi_obj *obj, struct kiwi_error *err)
{
	struct kiwi_cq *cq = container_of(obj, struct kiwi_cq, obj);

	if (cq->comp.fn) {
		kiwi_fw_comp_del(obj->part->fw, &cq->comp);
		cq->comp.fn = NULL;
	}
	return kiwi_cmd_destroy_cq(obj->part->fw, cq->hw.number, err);
}

static void cq_forget(struct kiwi_obj *obj)
{
	struct kiwi_cq *cq = container_of(obj, struct kiwi_cq, obj);

	kiwi_fw_sync_events(obj->part->fw);
	kiwi_route_del(obj, &obj->part->queues->cqs, cq->hw.number);
}

static void cq_release(struct kiwi_obj *obj)
{
	struct kiwi_cq *cq = container_of(obj, struct kiwi_cq, obj);

	if (cq->signal)
		eventfd_ctx_put(cq->signal);
	if (cq->mem)
		kiwi_fw_mem_release(cq->mem);
	if (cq->db)
		kiwi_obj_unuse(&cq->db->obj);
}

const struct kiwi_obj_ops kiwi_cq_ops = {
	.name = "CQ",
	.kind = KIWI_KIND_CQ,
	.key = &cq_lock_key,
	.destroy = cq_destroy,
	.forget = cq_forget,
	.release = cq_release,
};

struct kiwi_cq *kiwi_cq_new(struct kiwi_owner *owner, u64 user_data)
{
	struct kiwi_cq *cq;

	cq = kiwi_obj_new(owner, &kiwi_cq_ops, sizeof(*cq), user_data);
	if (cq) {
		INIT_LIST_HEAD(&cq->senders);
		INIT_LIST_HEAD(&cq->receivers);
	}
	return cq;
}

static int cq_check_flags(const struct kiwi_part *part, u32 flags, struct kiwi_error *err)
{
	if ((flags & KIWI_CQ_COLLAPSED) && !(flags & KIWI_CQ_OVERRUN_IGNORE))
		return kiwi_fail(err, -EINVAL, flags, 0,
				 "flags %#x: KIWI_CQ_COLLAPSED needs KIWI_CQ_OVERRUN_IGNORE",
				 flags);
	return flags ? kiwi_queues_need_gpu(part->fw, "KIWI_CQ_OVERRUN_IGNORE", err) : 0;
}

static int cq_check_log2(const struct kiwi_part *part, u32 flags, u32 log2, struct kiwi_error *err)
{
	if (flags & KIWI_CQ_COLLAPSED)
		return log2 ? kiwi_fail(err, -EINVAL, log2, 0,
					"log2 %u: a collapsed CQ has one entry, so 0", log2) : 0;
	if (log2 < 1 || log2 > part->queues->caps.cq_log2_max)
		return kiwi_fail(err, -EINVAL, log2, part->queues->caps.cq_log2_max,
				 "log2 %u is not in 1..%llu (cq_log2_max)", log2,
				 part->queues->caps.cq_log2_max);
	return 0;
}

static int cq_check_no_index(u64 ring, u64 length, u64 ci_offset, struct kiwi_error *err)
{
	if (ci_offset)
		return kiwi_fail(err, -EINVAL, ci_offset, 0,
				 "ci_offset %llu: with KIWI_CQ_OVERRUN_IGNORE there is none, so 0",
				 ci_offset);
	if (length < ring)
		return kiwi_fail(err, -EINVAL, length, ring,
				 "mem.length %llu is too short for the entries, %llu", length,
				 ring);
	return 0;
}

/**
 * kiwi_cq_check() - whether a CQ could be created, before memory is taken
 * @part: the device
 * @flags: KIWI_CQ_*
 * @log2: entries
 * @length: bytes of its memory
 * @ci_offset: of the consumer index in it
 * @err: filled on failure
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP
 */
int kiwi_cq_check(const struct kiwi_part *part, u32 flags, u32 log2, u64 length, u64 ci_offset,
		  struct kiwi_error *err)
{
	u64 ring;
	int ret;

	ret = cq_check_flags(part, flags, err);
	if (!ret)
		ret = cq_check_log2(part, flags, log2, err);
	if (ret)
		return ret;
	ring = (u64)sizeof(struct kiwi_cqe) << log2;
	if (flags & KIWI_CQ_OVERRUN_IGNORE)
		return cq_check_no_index(ring, length, ci_offset, err);
	if (length < ring + sizeof(struct kiwi_cq_ci))
		return kiwi_fail(err, -EINVAL, length, ring + sizeof(struct kiwi_cq_ci),
				 "mem.length %llu is too short for 2^%u entries and the consumer index, %llu",
				 length, log2, ring + sizeof(struct kiwi_cq_ci));
	if (ci_offset < ring || ci_offset > length - sizeof(struct kiwi_cq_ci) ||
	    !IS_ALIGNED(ci_offset, __alignof__(u64)))
		return kiwi_fail(err, -EINVAL, ci_offset, length - sizeof(struct kiwi_cq_ci),
				 "ci_offset %llu is not a multiple of 8 in %llu..%llu", ci_offset,
				 ring, length - sizeof(struct kiwi_cq_ci));
	return 0;
}

/**
 * kiwi_cq_signal() - count an event for whoever waits for completions
 * @cq: the CQ
 */
void kiwi_cq_signal(struct kiwi_cq *cq)
{
	if (cq->signal)
		eventfd_signal(cq->signal);
}

static void cq_completion(struct kiwi_fw_comp *comp)
{
	kiwi_cq_signal(container_of(comp, struct kiwi_cq, comp));
}

static int cq_connect(struct kiwi_cq *cq, struct kiwi_error *err)
{
	struct kiwi_part *part = cq->obj.part;
	int ret;

	ret = kiwi_route_add(&cq->obj, &part->queues->cqs, cq->hw.number, err);
	if (ret || !cq->signal)
		return ret;
	cq->comp.fn = cq_completion;
	ret = kiwi_fw_comp_add(part->fw, cq->hw.number, &cq->comp);
	if (!ret)
		return 0;
	cq->comp.fn = NULL;
	return kiwi_fail_plain(err, ret);
}

/**
 * kiwi_cq_create() - create the CQ in the device
 * @cq: filled in by its maker
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kiwi_cq_create(struct kiwi_cq *cq, struct kiwi_error *err)
{
	struct kiwi_obj *obj = &cq->obj;
	struct kiwi_fw *fw = obj->part->fw;
	struct kiwi_cq_params params = {
		.ci_offset = cq->ci_offset,
		.length = cq->mem->length,
		.eqn = kiwi_fw_comp_eqn(fw, cq->vector),
		.db_page = cq->db->page.index,
		.log2 = cq->log2,
		.flags = cq->flags,
	};
	struct kiwi_fw_pbl pbl;
	int ret;

	ret = kiwi_queues_pbl(obj->part, cq->mem, &pbl, err);
	if (ret)
		return ret;
	params.pbl = &pbl.wire;

	mutex_lock(&obj->lock);
	if (obj->revoked)
		ret = kiwi_obj_not_live(obj, err);
	else
		ret = kiwi_cmd_create_cq(fw, &params, &cq->hw, err);
	if (!ret) {
		obj->live = true;
		ret = cq_connect(cq, err);
	}
	mutex_unlock(&obj->lock);

	kiwi_fw_pbl_release(fw, &pbl);
	return ret;
}

static void cq_revoke_qp(struct kiwi_qp *qp)
{
	mutex_lock(&qp->obj.lock);
	kiwi_obj_revoke(&qp->obj, KIWI_EVENT_QP_ERROR, KIWI_CQE_ST_FATAL_ERR);
	mutex_unlock(&qp->obj.lock);
}

/* The device destroys no CQ that a QP uses, so the QPs go first. */
static void cq_revoked(void *arg)
{
	struct kiwi_cq *cq = arg;
	struct kiwi_qp *qp;

	mutex_lock(&cq->obj.lock);
	list_for_each_entry(qp, &cq->senders, send_node)
		cq_revoke_qp(qp);
	list_for_each_entry(qp, &cq->receivers, recv_node)
		cq_revoke_qp(qp);
	kiwi_obj_revoke(&cq->obj, KIWI_EVENT_CQ_ERROR, KIWI_CQ_ERR_DMA);
	mutex_unlock(&cq->obj.lock);
}

/* The device does not hold rings. */
const struct kiwi_fw_dmabuf_ops kiwi_cq_mem_ops = {
	.revoked = cq_revoked,
};
