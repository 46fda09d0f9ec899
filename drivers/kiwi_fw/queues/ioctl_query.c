// SPDX-License-Identifier: GPL-2.0
/* What code that knows no header of this driver needs to work a ring. */
#include <linux/errno.h>

#include <kiwi/compat.h>
#include <kiwi/queues.h>
#include <kiwi_abi/queues.h>

#include "errpage.h"
#include "object.h"

#define INDEX_BITS	16	/* of doorbells, and of work queues */

/* A descriptor of a DMA-buf was its maker's, and may name another file by now. */
static struct kiwi_mem queue_mem(const struct kiwi_mem *where)
{
	struct kiwi_mem mem = *where;

	if (mem.type == KIWI_MEM_DMABUF)
		mem.fd = -1;
	return mem;
}

static void describe_doorbell(struct kiwi_snic_queue_query *q, const struct kiwi_db *db)
{
	q->doorbell = db->obj.id;
	q->db_offset = db->page.reg_offset;
	q->db_width = sizeof(u64);
	q->db_index_shift = KIWI_DB_INDEX_SHIFT;
	q->db_index_bits = INDEX_BITS;
}

static void describe_sq(struct kiwi_snic_queue_query *q, const struct kiwi_qp *qp)
{
	const struct kiwi_queue_caps *caps = &qp->obj.part->queues->caps;

	q->ring = queue_mem(&qp->sq_where);
	q->entry_size = KIWI_WQEBB;
	q->count = BIT(qp->sq_log2);
	q->record_offset = offsetof(struct kiwi_qp_db_record, sq);
	q->db_value = KIWI_DB_VALUE(KIWI_DB_SQ, qp->hw.number, qp->hw.epoch, 0);
	q->max_inline = caps->max_inline;
	q->max_sge = caps->max_sge;
}

static void describe_rq(struct kiwi_snic_queue_query *q, const struct kiwi_qp *qp)
{
	q->ring = queue_mem(&qp->rq_where);
	q->entry_size = BIT(qp->rq_stride);
	q->count = BIT(qp->rq_log2);
	q->record_offset = offsetof(struct kiwi_qp_db_record, rq);
	q->db_value = KIWI_DB_VALUE(KIWI_DB_RQ, qp->hw.number, qp->hw.epoch, 0);
	q->max_sge = (q->entry_size - sizeof(struct kiwi_rqe)) / sizeof(struct kiwi_sge);
}

static int describe_work_queue(struct kiwi_call *call, struct kiwi_snic_queue_query *q,
			       const struct kiwi_qp *qp)
{
	if (q->kind == KIWI_QUEUE_RQ && !qp->rq)
		return kiwi_fail(&call->err, -EINVAL, q->kind, 0, "QP %u has no receive queue",
				 q->id);
	if (q->kind == KIWI_QUEUE_SQ)
		describe_sq(q, qp);
	else
		describe_rq(q, qp);
	if (qp->db_record)
		q->record = queue_mem(&qp->record_where);
	else
		q->record_offset = 0;
	q->stride = q->entry_size;
	q->error_offset = kiwi_errpage_offset(qp->place);
	q->max_outstanding = q->count;
	q->index_bits = INDEX_BITS;
	q->owner = KIWI_OWNER_INDEX;
	q->number = qp->hw.number;
	describe_doorbell(q, qp->db);
	return 0;
}

static void describe_cq(struct kiwi_snic_queue_query *q, const struct kiwi_cq *cq)
{
	q->ring = queue_mem(&cq->where);
	if (!(cq->flags & KIWI_CQ_OVERRUN_IGNORE)) {
		q->record = q->ring;
		q->record.addr += cq->ci_offset;
		q->record.length = sizeof(struct kiwi_cq_ci);
		q->record_offset = offsetof(struct kiwi_cq_ci, ci);
	}
	q->entry_size = sizeof(struct kiwi_cqe);
	q->stride = sizeof(struct kiwi_cqe);
	q->count = BIT(cq->log2);
	q->index_bits = 32;
	q->owner = cq->flags & KIWI_CQ_COLLAPSED ? KIWI_OWNER_COUNTER : KIWI_OWNER_PHASE;
	q->progress_offset = offsetof(struct kiwi_cqe, sq_index);
	q->status_offset = offsetof(struct kiwi_cqe, status);
	q->error_offset = kiwi_errpage_offset(cq->place);
	q->arm_value = KIWI_DB_VALUE(KIWI_DB_CQ_ARM, cq->hw.number, cq->hw.epoch, 0);
	q->number = cq->hw.number;
	describe_doorbell(q, cq->db);
}

static int query_qp(struct kiwi_call *call, struct kiwi_snic_queue_query *q)
{
	struct kiwi_qp *qp;
	int ret;

	qp = kiwi_obj_get(&call->file->owner, q->id, &kiwi_qp_ops, &call->err);
	if (!qp)
		return -ENOENT;
	ret = kiwi_obj_lock(&qp->obj, &call->err);
	if (!ret) {
		ret = describe_work_queue(call, q, qp);
		mutex_unlock(&qp->obj.lock);
	}
	kiwi_obj_put(&qp->obj);
	return ret;
}

static int query_cq(struct kiwi_call *call, struct kiwi_snic_queue_query *q)
{
	struct kiwi_cq *cq;
	int ret;

	cq = kiwi_obj_get(&call->file->owner, q->id, &kiwi_cq_ops, &call->err);
	if (!cq)
		return -ENOENT;
	ret = kiwi_obj_lock(&cq->obj, &call->err);
	if (!ret) {
		describe_cq(q, cq);
		mutex_unlock(&cq->obj.lock);
	}
	kiwi_obj_put(&cq->obj);
	return ret;
}

/**
 * kiwi_ioctl_queue_query() - the ioctl of struct kiwi_snic_queue_query
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_queue_query(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_queue_query *q = data;

	if (q->rsvd)
		return kiwi_call_reserved(call);
	*q = (struct kiwi_snic_queue_query) {
		.size = q->size,
		.id = q->id,
		.kind = q->kind,
		.fence = KIWI_FENCE_SYSTEM,
	};
	switch (q->kind) {
	case KIWI_QUEUE_SQ:
	case KIWI_QUEUE_RQ:
		return query_qp(call, q);
	case KIWI_QUEUE_CQ:
		return query_cq(call, q);
	}
	return kiwi_fail(&call->err, -EINVAL, q->kind, KIWI_QUEUE_CQ, "kind %u is unknown",
			 q->kind);
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_queue_query, "KIWI_FW");
