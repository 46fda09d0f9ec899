// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Completion queues. */
#include "priv.h"

#include <stdlib.h>

#define CQ_MAX_ENTRIES	(1U << KIWI_QUEUE_LOG2_MAX)

static void cq_release(struct object *obj)
{
	struct cq *cq = container_of(obj, struct cq, obj);

	ring_memory_free(&cq->memory);
	free(cq);
}

static uint32_t cq_entries(uint32_t wanted)
{
	return round_up_pow2(wanted < 2 ? 2 : wanted);
}

size_t kiwi_cq_bytes(uint32_t entries)
{
	if (entries > CQ_MAX_ENTRIES)
		return 0;
	return (cq_entries(entries) + 1) * sizeof(struct kiwi_cqe);
}

/* Point the inline functions at the ring, or at one that is empty for ever. */
static void cq_set_ring(struct cq *cq, uint32_t flags, uint32_t entries)
{
	struct kiwi_cq *pub = &cq->pub;
	void *ring = cq->memory.cpu;

	if (flags & KIWI_CQ_COLLAPSED) {
		pub->collapsed = ring;
		ring = NULL;
	}
	if (ring) {
		pub->ring = ring;
		pub->end = pub->ring + entries;
	} else {
		pub->ring = cq->no_entry;
		pub->end = pub->ring + 2;
	}
	if (ring && !(flags & KIWI_CQ_OVERRUN_IGNORE))
		pub->ci_rec = (struct kiwi_cq_ci *)pub->end;
	else
		pub->ci_rec = &cq->no_ci;
	pub->next = pub->ring;
	pub->phase = KIWI_CQE_PHASE;
	pub->last_qpn = KIWI_NO_QPN_;
}

int kiwi_cq_create(struct kiwi_device *dev, const struct kiwi_cq_config *config,
		   struct kiwi_cq **out)
{
	bool collapsed = config->flags & KIWI_CQ_COLLAPSED;
	uint32_t entries = collapsed ? 1 : cq_entries(config->entries);
	uint32_t max = UINT32_C(1) << dev->info.cq_log2_max;
	struct kiwi_doorbell *db = config->doorbell;
	struct kiwi_snic_cq_create arg = {
		.size = sizeof(arg),
		.flags = config->flags,
		.ci_offset = config->flags & KIWI_CQ_OVERRUN_IGNORE ? 0 :
			     entries * sizeof(struct kiwi_cqe),
		.user_data = config->user_data,
		.log2 = log2_of(entries),
		.event_fd = config->event_fd > 0 ? config->event_fd : -1,
		.vector = config->vector,
	};
	struct cq *cq;
	int rc;

	if (!collapsed && (config->entries > max || entries > CQ_MAX_ENTRIES))
		return refuse(EINVAL, "%s: CQ of %u entries, at most %u", dev->handle.name,
			      config->entries, max);
	if (!db) {
		rc = doorbell_default(dev, &db);
		if (rc)
			return rc;
	}
	arg.doorbell = db->id;

	cq = object_alloc(sizeof(*cq));
	if (!cq)
		return refuse(ENOMEM, "no memory for a CQ");
	if (config->mem) {
		cq->memory.cpu = config->mem->cpu;
		arg.mem = config->mem->mem;
	} else {
		rc = ring_memory_alloc(&cq->memory, &arg.mem, kiwi_cq_bytes(entries));
		if (rc)
			goto err_free;
	}
	rc = queue_ioctl(&dev->handle, KIWI_SNIC_CQ_CREATE, &arg);
	if (rc)
		goto err_memory;

	cq_set_ring(cq, config->flags, entries);
	cq->pub.qps = (struct kiwi_qp *const *const *)dev->qps;
	cq->pub.db = db->reg;
	cq->pub.arm_db[0] = KIWI_DB_VALUE(KIWI_DB_CQ_ARM, arg.cqn, arg.epoch, 0);
	cq->pub.arm_db[1] = KIWI_DB_VALUE(KIWI_DB_CQ_ARM_SOLICITED, arg.cqn, arg.epoch, 0);
	cq->pub.db_wc = !!(db->flags & KIWI_SNIC_DOORBELL_WC);
	cq->pub.cqn = arg.cqn;
	cq->pub.id = arg.cq;
	cq->pub.event_fd = arg.event_fd;
	cq->pub.user_data = config->user_data;
	object_add(&dev->handle, &cq->obj, cq_release);
	*out = &cq->pub;
	return 0;

err_memory:
	ring_memory_free(&cq->memory);
err_free:
	free(cq);
	return rc;
}

int kiwi_cq_destroy(struct kiwi_cq *cq)
{
	return object_destroy(&container_of(cq, struct cq, pub)->obj, cq->id);
}

/*
 * The number may be given again, and the new QP must not take what completions
 * of the old one say: those left in the ring get number 0, which names no QP.
 */
void cq_forget_qp(struct kiwi_cq *cq, uint32_t qpn)
{
	struct kiwi_cqe *cqe = cq->next;
	size_t left = (size_t)(cq->end - cq->ring);
	uint8_t phase = cq->phase;

	cq->last_qpn = KIWI_NO_QPN_;
	/* The indices of who comes next begin at 0. */
	if (cq->collapsed) {
		memset(cq->collapsed, 0, sizeof(*cq->collapsed));
		return;
	}
	while (left--) {
		uint8_t flags = __atomic_load_n(&cqe->flags, __ATOMIC_RELAXED);

		if ((flags ^ phase) & KIWI_CQE_PHASE)
			break;
		kiwi_dma_rmb();
		if (cqe->qpn == qpn)
			cqe->qpn = 0;
		if (++cqe == cq->end) {
			cqe = cq->ring;
			phase ^= KIWI_CQE_PHASE;
		}
	}
}
