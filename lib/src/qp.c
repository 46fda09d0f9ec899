// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Queue pairs. */
#include "priv.h"

#include <stdlib.h>

#define SQ_MIN_UNITS	8U
#define INLINE_MAX	((KIWI_WQE_MAX_BB * KIWI_UNIT_SEGS_ - 2) * KIWI_WQE_SEG - 4U)
#define RECV_SGE_MAX	(((1U << KIWI_RQE_MAX_SHIFT) - sizeof(struct kiwi_rqe)) / \
			 sizeof(struct kiwi_sge))

static void qp_release(struct object *obj)
{
	struct qp *qp = container_of(obj, struct qp, obj);

	ring_memory_free(&qp->memory);
	free(qp);
}

static unsigned int recv_stride(uint32_t sge)
{
	unsigned int shift = KIWI_RQE_MIN_SHIFT;

	while ((1U << shift) < sizeof(struct kiwi_rqe) + sge * sizeof(struct kiwi_sge))
		shift++;
	return shift;
}

static int qp_check(struct kiwi_device *dev, const struct kiwi_qp_config *config)
{
	uint32_t sq_max = UINT32_C(1) << dev->info.sq_log2_max;
	uint32_t rq_max = UINT32_C(1) << dev->info.rq_log2_max;

	if (!config->send_cq)
		return refuse(EINVAL, "%s: QP without a send CQ", dev->handle.name);
	if (config->sq_units > sq_max)
		return refuse(EINVAL, "%s: send queue of %u units, at most %u", dev->handle.name,
			      config->sq_units, sq_max);
	if (config->rq_entries > rq_max)
		return refuse(EINVAL, "%s: receive queue of %u entries, at most %u", dev->handle.name,
			      config->rq_entries, rq_max);
	if ((config->flags & KIWI_QP_SQ_ONLY) &&
	    (config->recv_cq || config->rq_mem || config->rq_entries || config->recv_sge))
		return refuse(EINVAL, "%s: receive queue of a QP with KIWI_QP_SQ_ONLY", dev->handle.name);
	if (config->recv_sge > RECV_SGE_MAX)
		return refuse(EINVAL, "%s: receive entries of %u pieces, at most %zu", dev->handle.name,
			      config->recv_sge, RECV_SGE_MAX);
	return 0;
}

/* A part of the memory that the library allocates, or what the caller brings. */
static void *qp_part(struct qp *qp, const struct kiwi_ring_mem *given, const struct kiwi_mem *own,
		     size_t offset, size_t length, struct kiwi_mem *mem)
{
	if (given) {
		*mem = given->mem;
		return given->cpu;
	}
	*mem = *own;
	mem->addr += offset;
	mem->length = length;
	return (unsigned char *)qp->memory.cpu + offset;
}

/* Rings and record in one piece of memory, as far as the caller brings none. */
static int qp_memory(struct qp *qp, const struct kiwi_qp_config *config,
		     struct kiwi_snic_qp_create *arg)
{
	bool has_rq = !(config->flags & KIWI_QP_SQ_ONLY);
	bool has_record = config->flags & KIWI_QP_DB_RECORD;
	const struct kiwi_ring_mem *record_mem = has_record ? config->record_mem : NULL;
	size_t sq = (size_t)KIWI_WQEBB << arg->sq_log2;
	size_t rq = has_rq ? (size_t)1 << (arg->rq_log2 + arg->rq_stride) : 0;
	size_t at_rq = config->sq_mem ? 0 : sq;
	size_t at_record = at_rq + (config->rq_mem ? 0 : rq);
	size_t size = at_record + (has_record && !record_mem ? sizeof(*qp->pub.record) : 0);
	struct kiwi_mem own = { 0 };
	int rc;

	if (size) {
		rc = ring_memory_alloc(&qp->memory, &own, size);
		if (rc)
			return rc;
	}
	qp->pub.sq = qp_part(qp, config->sq_mem, &own, 0, sq, &arg->sq);
	if (has_rq)
		qp->pub.rq = qp_part(qp, config->rq_mem, &own, at_rq, rq, &arg->rq);
	if (has_record)
		qp->pub.record = qp_part(qp, record_mem, &own, at_record,
					 sizeof(*qp->pub.record), &arg->db_record);
	return 0;
}

/* Nothing posted. */
static void qp_clear(struct kiwi_qp *qp)
{
	qp->sq_pi = 0;
	qp->rq_pi = 0;
	qp->sq_ci = 0;
	qp->rq_ci = 0;
	qp->sq_stop = 0;
}

int kiwi_qp_create(struct kiwi_pd *pd, const struct kiwi_qp_config *config,
		   struct kiwi_qp **out)
{
	struct kiwi_device *dev = pd->dev;
	struct kiwi_cq *recv_cq = config->recv_cq ? config->recv_cq : config->send_cq;
	bool has_rq = !(config->flags & KIWI_QP_SQ_ONLY);
	uint32_t sq_units = round_up_pow2(config->sq_units);
	struct kiwi_doorbell *db = config->doorbell;
	struct kiwi_snic_qp_create arg = {
		.size = sizeof(arg),
		.flags = config->flags,
		.user_data = config->user_data,
		.pd = pd->id,
		.type = KIWI_QP_RC,
	};
	struct qp *qp;
	int rc;

	rc = qp_check(dev, config);
	if (rc)
		return rc;
	if (sq_units < SQ_MIN_UNITS)
		sq_units = SQ_MIN_UNITS;
	if (!db) {
		rc = doorbell_default(dev, &db);
		if (rc)
			return rc;
	}
	arg.send_cq = config->send_cq->id;
	arg.doorbell = db->id;
	arg.sq_log2 = (uint8_t)log2_of(sq_units);
	if (has_rq) {
		arg.recv_cq = recv_cq->id;
		arg.rq_log2 = (uint8_t)log2_of(round_up_pow2(config->rq_entries));
		arg.rq_stride = (uint8_t)recv_stride(config->recv_sge);
	}

	qp = object_alloc(sizeof(*qp));
	if (!qp)
		return refuse(ENOMEM, "no memory for a QP");
	rc = qp_memory(qp, config, &arg);
	if (rc)
		goto err_free;
	pthread_mutex_lock(&dev->qpn_lock);
	rc = queue_ioctl(&dev->handle, KIWI_SNIC_QP_CREATE, &arg);
	if (rc)
		goto err_unlock;

	qp->pub.db = db->reg;
	qp->pub.sq_db = KIWI_DB_VALUE(KIWI_DB_SQ, arg.qpn, arg.epoch, 0);
	qp->pub.rq_db = KIWI_DB_VALUE(KIWI_DB_RQ, arg.qpn, arg.epoch, 0);
	/* Memory of the caller may be mapped write-combined as well. */
	qp->pub.db_wc = (db->flags & KIWI_SNIC_DOORBELL_WC) || config->sq_mem || config->rq_mem ||
			(config->flags & KIWI_QP_DB_RECORD);
	qp->pub.sq_mask = sq_units - 1;
	qp->pub.max_inline = dev->info.max_inline < INLINE_MAX ? dev->info.max_inline : INLINE_MAX;
	qp->pub.max_sge = dev->info.max_sge;
	if (has_rq)
		qp->pub.max_recv_sge = (uint8_t)(((1U << arg.rq_stride) -
						  sizeof(struct kiwi_rqe)) /
						 sizeof(struct kiwi_sge));
	qp->pub.rq_stride = arg.rq_stride;
	qp->pub.rq_entries = qp->pub.rq ? 1U << arg.rq_log2 : 0;
	qp->pub.qpn = arg.qpn;
	qp->pub.id = arg.qp;
	qp->pub.user_data = config->user_data;
	qp->pub.pd = pd;
	qp->pub.send_cq = config->send_cq;
	qp->pub.recv_cq = has_rq ? recv_cq : NULL;
	qp_clear(&qp->pub);
	object_add(&dev->handle, &qp->obj, qp_release);
	rc = qp_table_set(dev, &qp->pub);
	pthread_mutex_unlock(&dev->qpn_lock);
	if (rc) {
		object_destroy(&qp->obj, arg.qp);
		return rc;
	}
	*out = &qp->pub;
	return 0;

err_unlock:
	pthread_mutex_unlock(&dev->qpn_lock);
	ring_memory_free(&qp->memory);
err_free:
	free(qp);
	return rc;
}

static void forget_completions(struct kiwi_cq *send_cq, struct kiwi_cq *recv_cq, uint32_t qpn)
{
	cq_forget_qp(send_cq, qpn);
	if (recv_cq && recv_cq != send_cq)
		cq_forget_qp(recv_cq, qpn);
}

int kiwi_qp_destroy(struct kiwi_qp *qp)
{
	struct kiwi_cq *send_cq = qp->send_cq, *recv_cq = qp->recv_cq;
	struct kiwi_device *dev = qp->pd->dev;
	uint32_t qpn = qp->qpn;
	int rc;

	pthread_mutex_lock(&dev->qpn_lock);
	rc = object_destroy(&container_of(qp, struct qp, pub)->obj, qp->id);
	if (!rc) {
		qp_table_clear(dev, qpn);
		forget_completions(send_cq, recv_cq, qpn);
	}
	pthread_mutex_unlock(&dev->qpn_lock);
	return rc;
}

int kiwi_qp_modify(struct kiwi_qp *qp, const struct kiwi_snic_qp_modify *attr)
{
	struct kiwi_snic_qp_modify arg = *attr;
	int rc;

	arg.size = sizeof(arg);
	arg.flags = 0;
	arg.qp = qp->id;
	rc = queue_ioctl(&qp->pd->dev->handle, KIWI_SNIC_QP_MODIFY, &arg);
	if (!rc && (arg.mask & KIWI_QP_ATTR_STATE) && arg.state == KIWI_QPS_RESET) {
		forget_completions(qp->send_cq, qp->recv_cq, qp->qpn);
		qp_clear(qp);
	}
	return rc;
}

int kiwi_qp_query(struct kiwi_qp *qp, struct kiwi_snic_qp_modify *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->qp = qp->id;
	return queue_ioctl(&qp->pd->dev->handle, KIWI_SNIC_QP_QUERY, attr);
}
