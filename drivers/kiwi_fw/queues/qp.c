// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>

#include <kiwi/queues.h>
#include <kiwi_abi/queues.h>

#include "object.h"

static struct lock_class_key qp_lock_key;

static int qp_destroy(struct kiwi_obj *obj, struct kiwi_error *err)
{
	struct kiwi_qp *qp = to_qp(obj);

	return kiwi_cmd_destroy_qp(obj->part->fw, qp->hw.number, err);
}

static void qp_forget(struct kiwi_obj *obj)
{
	struct kiwi_qp *qp = to_qp(obj);

	kiwi_fw_sync_events(obj->part->fw);
	kiwi_route_del(obj, &obj->part->queues->qps, qp->hw.number);
}

static void qp_leave_cq(struct kiwi_cq *cq, struct list_head *node)
{
	mutex_lock(&cq->obj.lock);
	list_del_init(node);
	mutex_unlock(&cq->obj.lock);
	kiwi_obj_unuse(&cq->obj);
}

static void qp_release(struct kiwi_obj *obj)
{
	struct kiwi_qp *qp = to_qp(obj);

	if (qp->send_cq)
		qp_leave_cq(qp->send_cq, &qp->send_node);
	if (qp->recv_cq)
		qp_leave_cq(qp->recv_cq, &qp->recv_node);
	if (qp->sq)
		kiwi_fw_mem_release(qp->sq);
	if (qp->rq)
		kiwi_fw_mem_release(qp->rq);
	if (qp->db_record)
		kiwi_fw_mem_release(qp->db_record);
	if (qp->db)
		kiwi_obj_unuse(&qp->db->obj);
	if (qp->pd)
		kiwi_obj_unuse(&qp->pd->obj);
}

const struct kiwi_obj_ops kiwi_qp_ops = {
	.name = "QP",
	.kind = KIWI_KIND_QP,
	.holds = true,
	.key = &qp_lock_key,
	.destroy = qp_destroy,
	.forget = qp_forget,
	.release = qp_release,
};

struct kiwi_qp *kiwi_qp_new(struct kiwi_owner *owner, u64 user_data)
{
	struct kiwi_qp *qp;

	qp = kiwi_obj_new(owner, &kiwi_qp_ops, sizeof(*qp), user_data);
	if (qp) {
		INIT_LIST_HEAD(&qp->send_node);
		INIT_LIST_HEAD(&qp->recv_node);
	}
	return qp;
}

static int qp_check_ring(const char *name, u8 log2, u8 min, u64 max, u64 length, u64 unit,
			 struct kiwi_error *err)
{
	if (log2 < min || log2 > max)
		return kiwi_fail(err, -EINVAL, log2, max, "%s_log2 %u is not in %u..%llu", name,
				 log2, min, max);
	if (length != unit << log2)
		return kiwi_fail(err, -EINVAL, length, unit << log2,
				 "%s.length %llu: 2^%u times %llu bytes are %llu", name, length,
				 log2, unit, unit << log2);
	return 0;
}

static int qp_check_rq(const struct kiwi_queue_caps *caps, const struct kiwi_snic_qp_create *c,
		       struct kiwi_error *err)
{
	if (c->rq_stride < KIWI_RQE_MIN_SHIFT || c->rq_stride > KIWI_RQE_MAX_SHIFT)
		return kiwi_fail(err, -EINVAL, c->rq_stride, KIWI_RQE_MAX_SHIFT,
				 "rq_stride %u is not in %u..%u", c->rq_stride,
				 KIWI_RQE_MIN_SHIFT, KIWI_RQE_MAX_SHIFT);
	return qp_check_ring("rq", c->rq_log2, 0, caps->rq_log2_max, c->rq.length,
			     1ULL << c->rq_stride, err);
}

static bool mem_unused(const struct kiwi_mem *m)
{
	return !m->type && !m->fd && !m->addr && !m->length;
}

static int qp_check_no_rq(const struct kiwi_snic_qp_create *c, struct kiwi_error *err)
{
	if (mem_unused(&c->rq) && !c->recv_cq && !c->rq_log2 && !c->rq_stride)
		return 0;
	return kiwi_fail(err, -EINVAL, 0, 0,
			 "rq, recv_cq, rq_log2 and rq_stride are 0 with KIWI_QP_SQ_ONLY");
}

static int qp_check_record(const struct kiwi_snic_qp_create *c, struct kiwi_error *err)
{
	if (!(c->flags & KIWI_QP_DB_RECORD))
		return mem_unused(&c->db_record) ? 0 :
			kiwi_fail(err, -EINVAL, 0, 0,
				  "db_record is all 0 without KIWI_QP_DB_RECORD");
	if (c->db_record.length != sizeof(struct kiwi_qp_db_record))
		return kiwi_fail(err, -EINVAL, c->db_record.length,
				 sizeof(struct kiwi_qp_db_record),
				 "db_record.length %llu is not %zu", c->db_record.length,
				 sizeof(struct kiwi_qp_db_record));
	return 0;
}

/**
 * kiwi_qp_check() - whether a QP could be created, before memory is taken
 * @part: the device
 * @c: what is asked for
 * @err: filled on failure
 *
 * Return: 0, -EINVAL or -EOPNOTSUPP
 */
int kiwi_qp_check(const struct kiwi_part *part, const struct kiwi_snic_qp_create *c,
		  struct kiwi_error *err)
{
	const struct kiwi_queue_caps *caps = &part->queues->caps;
	int ret;

	if (c->flags & (KIWI_QP_SQ_ONLY | KIWI_QP_DB_RECORD)) {
		ret = kiwi_queues_need_gpu(part->fw, c->flags & KIWI_QP_SQ_ONLY ?
					    "KIWI_QP_SQ_ONLY" : "KIWI_QP_DB_RECORD", err);
		if (ret)
			return ret;
	}
	ret = qp_check_ring("sq", c->sq_log2, ilog2(KIWI_WQE_MAX_BB), caps->sq_log2_max,
			    c->sq.length, KIWI_WQEBB, err);
	if (!ret)
		ret = c->flags & KIWI_QP_SQ_ONLY ? qp_check_no_rq(c, err) :
						   qp_check_rq(caps, c, err);
	return ret ?: qp_check_record(c, err);
}

static void qp_lock_cqs(struct kiwi_qp *qp)
{
	struct kiwi_cq *first = qp->send_cq, *second = qp->recv_cq ?: qp->send_cq;

	if (first->obj.id > second->obj.id)
		swap(first, second);
	mutex_lock(&first->obj.lock);
	if (first != second)
		mutex_lock_nested(&second->obj.lock, SINGLE_DEPTH_NESTING);
}

static void qp_unlock_cqs(struct kiwi_qp *qp)
{
	mutex_unlock(&qp->send_cq->obj.lock);
	if (qp->recv_cq && qp->recv_cq != qp->send_cq)
		mutex_unlock(&qp->recv_cq->obj.lock);
}

static int qp_create_locked(struct kiwi_qp *qp, const struct kiwi_qp_params *params,
			    struct kiwi_error *err)
{
	struct kiwi_obj *obj = &qp->obj;
	int ret;

	if (obj->revoked)
		return kiwi_obj_not_live(obj, err);
	if (!qp->send_cq->obj.live)
		return kiwi_obj_not_live(&qp->send_cq->obj, err);
	if (qp->recv_cq && !qp->recv_cq->obj.live)
		return kiwi_obj_not_live(&qp->recv_cq->obj, err);

	ret = kiwi_cmd_create_qp(obj->part->fw, params, &qp->hw, err);
	if (ret)
		return ret;
	obj->live = true;
	list_add(&qp->send_node, &qp->send_cq->senders);
	if (qp->recv_cq && qp->recv_cq != qp->send_cq)
		list_add(&qp->recv_node, &qp->recv_cq->receivers);
	return kiwi_route_add(obj, &obj->part->queues->qps, qp->hw.number, err);
}

/* An exporter may place the buffer at any address of the device's. */
static int qp_record_address(const struct kiwi_fw_mem *mem, u64 *addr, struct kiwi_error *err)
{
	*addr = mem->runs[0].addr;
	if (mem->nr_runs == 1 && IS_ALIGNED(*addr, sizeof(struct kiwi_qp_db_record)))
		return 0;
	return kiwi_fail(err, -EOPNOTSUPP, 0, 0,
			 "db_record: the exporter did not map it as 8 aligned bytes");
}

/**
 * kiwi_qp_create() - create the QP in the device
 * @qp: filled in by its maker
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kiwi_qp_create(struct kiwi_qp *qp, struct kiwi_error *err)
{
	struct kiwi_qp_params params = {
		.pdn = qp->pd->pdn,
		.send_cqn = qp->send_cq->hw.number,
		.recv_cqn = qp->recv_cq ? qp->recv_cq->hw.number : 0,
		.db_page = qp->db->page.index,
		.type = qp->type,
		.flags = qp->flags,
		.sq_log2 = qp->sq_log2,
		.rq_log2 = qp->rq_log2,
		.rq_stride = qp->rq_stride,
	};
	struct kiwi_part *part = qp->obj.part;
	struct kiwi_fw_pbl sq, rq = { };
	int ret;

	if (qp->db_record) {
		ret = qp_record_address(qp->db_record, &params.db_record, err);
		if (ret)
			return ret;
	}
	ret = kiwi_queues_pbl(part, qp->sq, &sq, err);
	if (ret)
		return ret;
	params.sq = &sq.wire;
	if (qp->rq) {
		ret = kiwi_queues_pbl(part, qp->rq, &rq, err);
		if (ret)
			goto release_sq;
		params.rq = &rq.wire;
	}

	qp_lock_cqs(qp);
	mutex_lock(&qp->obj.lock);
	ret = qp_create_locked(qp, &params, err);
	mutex_unlock(&qp->obj.lock);
	qp_unlock_cqs(qp);

	if (qp->rq)
		kiwi_fw_pbl_release(part->fw, &rq);
release_sq:
	kiwi_fw_pbl_release(part->fw, &sq);
	return ret;
}

/* Who puts a QP in error knows it. In RESET it cannot fail, and what came before is told first. */
static void qp_begin_state(struct kiwi_qp *qp, u8 state)
{
	struct kiwi_part *part = qp->obj.part;

	lockdep_assert_held(&qp->obj.lock);
	if (state != KIWI_QPS_RESET && state != KIWI_QPS_ERR)
		return;
	if (state == KIWI_QPS_RESET)
		kiwi_fw_sync_events(part->fw);
	spin_lock(&part->event_lock);
	qp->told = state == KIWI_QPS_ERR;
	spin_unlock(&part->event_lock);
}

/**
 * kiwi_qp_modify() - change state or attributes
 * @qp: looked up
 * @mask: KIWI_QP_ATTR_*
 * @attr: values; those not named are zero
 * @err: filled on failure
 *
 * Ranges and transitions are the device's to judge.
 *
 * Return: 0 or negative errno
 */
int kiwi_qp_modify(struct kiwi_qp *qp, u32 mask, const struct kiwi_qp_attr *attr,
		   struct kiwi_error *err)
{
	int ret;

	ret = kiwi_obj_lock(&qp->obj, err);
	if (ret)
		return ret;
	ret = kiwi_cmd_modify_qp(qp->obj.part->fw, qp->hw.number, mask, attr, err);
	if (!ret && (mask & KIWI_QP_ATTR_STATE))
		qp_begin_state(qp, attr->state);
	mutex_unlock(&qp->obj.lock);
	return ret;
}

/**
 * kiwi_qp_query() - read state and attributes
 * @qp: looked up
 * @attr: to be filled
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kiwi_qp_query(struct kiwi_qp *qp, struct kiwi_qp_attr *attr, struct kiwi_error *err)
{
	int ret;

	ret = kiwi_obj_lock(&qp->obj, err);
	if (ret)
		return ret;
	ret = kiwi_cmd_query_qp(qp->obj.part->fw, qp->hw.number, attr, err);
	mutex_unlock(&qp->obj.lock);
	return ret;
}

/**
 * kiwi_qp_tell_error() - tell the owner that a QP is in error
 * @qp: the QP
 * @type: of the event
 * @code: by type
 */
void kiwi_qp_tell_error(struct kiwi_qp *qp, u32 type, u32 code)
{
	lockdep_assert_held(&qp->obj.part->event_lock);

	qp->told = true;
	kiwi_obj_notify(&qp->obj, type, code, 0);
}

/**
 * kiwi_qp_look() - tell the owner that a QP is in error, if it is and he was not told
 * @qp: with a reference
 *
 * Why it is in error went with the event.
 */
void kiwi_qp_look(struct kiwi_qp *qp)
{
	struct kiwi_part *part = qp->obj.part;
	struct kiwi_qp_attr attr;
	struct kiwi_error err;

	if (kiwi_obj_lock(&qp->obj, &err))
		return;
	if (!kiwi_cmd_query_qp(part->fw, qp->hw.number, &attr, &err) &&
	    attr.state == KIWI_QPS_ERR) {
		spin_lock(&part->event_lock);
		if (!qp->told)
			kiwi_qp_tell_error(qp, KIWI_EVENT_QP_ERROR, KIWI_CQE_ST_OK);
		spin_unlock(&part->event_lock);
	}
	mutex_unlock(&qp->obj.lock);
}

static void qp_revoked(void *arg)
{
	struct kiwi_qp *qp = arg;

	mutex_lock(&qp->obj.lock);
	kiwi_obj_revoke(&qp->obj, KIWI_EVENT_QP_ERROR, KIWI_CQE_ST_FATAL_ERR);
	mutex_unlock(&qp->obj.lock);
}

/* The device does not hold rings. */
const struct kiwi_fw_dmabuf_ops kiwi_qp_mem_ops = {
	.revoked = qp_revoked,
};
