/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libkiwi: the data path. Everything here is inline and makes no system call.
 *
 * Threads: one at a time may post to the send queue of a QP, one to its receive
 * queue, and one poll a CQ; these may be different threads. Destroying or resetting
 * a QP counts as posting to it and as polling its CQs.
 */
#ifndef KIWI_QUEUE_H
#define KIWI_QUEUE_H

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include <kiwi/barrier.h>
#include <kiwi_abi/queues.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kiwi_pd;
struct kiwi_cq;

/**
 * struct kiwi_sg - one piece of local memory
 * @addr: address in the region (its iova); with KIWI_WQE_INLINE a pointer
 * @lkey: key of the region; not used with KIWI_WQE_INLINE
 * @len: bytes
 */
struct kiwi_sg {
	uint64_t addr;
	uint32_t lkey;
	uint32_t len;
};

/**
 * struct kiwi_send_wr - work for a send queue
 * @wr_id: given back in the completion
 * @sg: local memory: source of SEND and WRITE, target of READ and atomics
 * @num_sg: entries of @sg, at most kiwi_qp.max_sge; exactly 1 for atomics, 0 for NOP
 * @imm: immediate data in network byte order, with *_IMM
 * @opcode: enum kiwi_wqe_opcode
 * @flags: KIWI_WQE_*
 * @rkey: key of the peer's region: WRITE, READ, atomics
 * @raddr: address in the peer's region, likewise
 * @swap_add: CMP_SWAP: the new value; FETCH_ADD: the addend
 * @compare: CMP_SWAP: the value expected
 */
struct kiwi_send_wr {
	uint64_t wr_id;
	const struct kiwi_sg *sg;
	uint32_t num_sg;
	uint32_t imm;
	uint8_t opcode;
	uint8_t flags;
	uint32_t rkey;
	uint64_t raddr;
	uint64_t swap_add;
	uint64_t compare;
};

/**
 * struct kiwi_recv_wr - a buffer for one incoming message
 * @wr_id: given back in the completion
 * @sg: where the message goes, in this order
 * @num_sg: entries of @sg, at most kiwi_qp.max_recv_sge
 */
struct kiwi_recv_wr {
	uint64_t wr_id;
	const struct kiwi_sg *sg;
	uint32_t num_sg;
};

/**
 * struct kiwi_wc - a completion
 * @wr_id: of the work
 * @byte_len: bytes received (receive side) or placed (READ, atomics), else 0
 * @imm: immediate data in network byte order, with KIWI_CQE_IMM
 * @qpn: number of the QP
 * @vendor_err: more about @status, for people
 * @index: queue index behind the work
 * @opcode: enum kiwi_cqe_opcode; unless @status is OK only bit 7 means something:
 *	it is set on the receive side
 * @status: enum kiwi_cqe_status
 * @flags: KIWI_CQE_*
 * @rsvd: not defined
 * @qp: the QP
 *
 * The head is that of struct kiwi_cqe, so that it is copied in one go.
 */
struct kiwi_wc {
	uint64_t wr_id;
	uint32_t byte_len;
	uint32_t imm;
	uint32_t qpn;
	uint32_t vendor_err;
	uint16_t index;
	uint8_t opcode;
	uint8_t status;
	uint8_t flags;
	uint8_t rsvd[3];
	struct kiwi_qp *qp;
};

#define KIWI_WC_HEAD_	32	/* bytes of struct kiwi_wc copied */
KIWI_ABI_OFFSET(struct kiwi_wc, opcode, __builtin_offsetof(struct kiwi_cqe, opcode));
KIWI_ABI_OFFSET(struct kiwi_wc, status, __builtin_offsetof(struct kiwi_cqe, status));
KIWI_ABI_OFFSET(struct kiwi_wc, qp, KIWI_WC_HEAD_);

/**
 * struct kiwi_qp - a queue pair; made by kiwi_qp_create()
 * @sq: ring of the send queue, NULL when this process does not see it
 * @db: doorbell register
 * @sq_db: doorbell value of the send queue with index 0
 * @sq_pi: units posted
 * @sq_stop: units that may be posted before @sq_ci has to be looked at again
 * @sq_mask: units of the ring - 1
 * @max_inline: bytes of inline data, at most
 * @max_sge: entries of kiwi_send_wr.sg, at most
 * @max_recv_sge: entries of kiwi_recv_wr.sg, at most
 * @rq_stride: bytes of a receive entry, 2^n
 * @db_wc: doorbell or rings are mapped write-combined, or there is a record
 * @rq: ring of the receive queue
 * @rq_db: doorbell value of the receive queue with index 0
 * @rq_pi: entries posted
 * @rq_entries: entries of the ring, 0 when this process does not see it
 * @sq_ci: index behind the work known complete in the send queue
 * @rq_ci: the same for the receive queue
 * @qpn: QP number, for the peer
 * @id: for ioctls
 * @user_data: the caller's
 * @pd: of the QP
 * @send_cq: of the send queue
 * @recv_cq: of the receive queue, NULL when there is none
 * @record: doorbell record, NULL without or when this process does not see it
 *
 * Callers may read the members from @qpn on and the max_* ones; the rest belongs
 * to the inline functions.
 */
struct kiwi_qp {
	unsigned char *sq;
	volatile uint64_t *db;
	uint64_t sq_db;
	uint32_t sq_pi;
	uint32_t sq_stop;
	uint32_t sq_mask;
	uint32_t max_inline;
	uint8_t max_sge;
	uint8_t max_recv_sge;
	uint8_t rq_stride;
	uint8_t db_wc;
	unsigned char *rq;
	uint64_t rq_db;
	uint32_t rq_pi;
	uint32_t rq_entries;
	/* Written by whoever polls: a cache line of its own. */
	uint16_t sq_ci __attribute__((aligned(64)));
	uint16_t rq_ci;
	uint32_t qpn;
	uint32_t id;
	uint64_t user_data;
	struct kiwi_pd *pd;
	struct kiwi_cq *send_cq;
	struct kiwi_cq *recv_cq;
	struct kiwi_qp_db_record *record;
};

#define KIWI_NO_QPN_		UINT64_MAX	/* wider than the field of a completion */
#define KIWI_QP_TABLE_SHIFT	12	/* QP numbers: 12 bits name a leaf, 12 an entry */
#define KIWI_QP_TABLE_SIZE	(1U << KIWI_QP_TABLE_SHIFT)

/**
 * struct kiwi_cq - a completion queue; made by kiwi_cq_create()
 * @next: the entry to be written next
 * @end: behind the ring
 * @ring: the entries
 * @ci_rec: where the device reads what was consumed
 * @last: the QP of the latest completion
 * @last_qpn: its number, or one that no completion can name
 * @qps: the QPs of the device, by number
 * @ci: entries consumed
 * @phase: KIWI_CQE_PHASE of entries written in this pass of the ring
 * @db: doorbell register
 * @arm_db: doorbell values with index 0: any completion, solicited only
 * @db_wc: the doorbell is mapped write-combined
 * @cqn: CQ number
 * @id: for ioctls, and in events
 * @event_fd: eventfd given at creation, or -1
 * @user_data: the caller's
 * @collapsed: the one entry of a collapsed CQ, NULL for any other
 */
struct kiwi_cq {
	struct kiwi_cqe *next;
	struct kiwi_cqe *end;
	struct kiwi_cqe *ring;
	struct kiwi_cq_ci *ci_rec;
	struct kiwi_qp *last;
	uint64_t last_qpn;
	struct kiwi_qp *const *const *qps;
	uint32_t ci;
	uint8_t phase;
	volatile uint64_t *db;
	uint64_t arm_db[2];
	uint8_t db_wc;
	uint32_t cqn;
	uint32_t id;
	int event_fd;
	uint64_t user_data;
	struct kiwi_cqe *collapsed;
};

#define kiwi_likely_(x)		__builtin_expect(!!(x), 1)
#define kiwi_unlikely_(x)	__builtin_expect(!!(x), 0)

/* Doorbells --------------------------------------------------------------- */

static inline void kiwi_db_write_(volatile uint64_t *db, uint64_t value, int wc)
{
	if (kiwi_unlikely_(wc)) {
		kiwi_wc_wmb();
		*db = value;
		kiwi_wc_wmb();
		return;
	}
	kiwi_dma_wmb();
	*db = value;
}

/* The ring, then the record if there is one, then the doorbell. Not inlined, as few need it. */
static __attribute__((noinline, unused)) void kiwi_qp_ring_slow_(struct kiwi_qp *qp, int recv)
{
	uint32_t pi = recv ? qp->rq_pi : qp->sq_pi;

	kiwi_wc_wmb();
	if (qp->record) {
		__atomic_store_n(recv ? &qp->record->rq : &qp->record->sq, pi & 0xffff,
				 __ATOMIC_RELAXED);
		kiwi_wc_wmb();
	}
	*qp->db = (recv ? qp->rq_db : qp->sq_db) | (uint16_t)pi;
	kiwi_wc_wmb();
}

/* Tell the device of all work posted to the send queue: one store. */
static inline void kiwi_qp_ring(struct kiwi_qp *qp)
{
	if (kiwi_unlikely_(qp->db_wc))
		kiwi_qp_ring_slow_(qp, 0);
	else
		kiwi_db_write_(qp->db, qp->sq_db | (uint16_t)qp->sq_pi, 0);
}

/* The same for the receive queue. */
static inline void kiwi_qp_ring_recv(struct kiwi_qp *qp)
{
	if (kiwi_unlikely_(qp->db_wc))
		kiwi_qp_ring_slow_(qp, 1);
	else
		kiwi_db_write_(qp->db, qp->rq_db | (uint16_t)qp->rq_pi, 0);
}

/* Send queue -------------------------------------------------------------- */

#define KIWI_UNIT_SEGS_	(KIWI_WQEBB / KIWI_WQE_SEG)

static inline uint32_t kiwi_wqe_units_(uint32_t segs)
{
	return (segs + KIWI_UNIT_SEGS_ - 1) / KIWI_UNIT_SEGS_;
}

/*
 * Looks at what was polled since. An index that the device made up frees nothing.
 * Not inlined, as it is seldom needed.
 */
static __attribute__((noinline, unused)) int kiwi_sq_refresh_(struct kiwi_qp *qp, uint32_t units)
{
	uint32_t ci = __atomic_load_n(&qp->sq_ci, __ATOMIC_ACQUIRE);
	uint32_t used = (uint16_t)(qp->sq_pi - ci);

	if (!qp->sq || used > qp->sq_mask)
		return 0;
	qp->sq_stop = qp->sq_pi + (qp->sq_mask + 1 - used);
	return qp->sq_stop - qp->sq_pi >= units;
}

/* Units of the send queue that can be posted now. */
static inline uint32_t kiwi_qp_room(struct kiwi_qp *qp)
{
	kiwi_sq_refresh_(qp, 0);
	return qp->sq_stop - qp->sq_pi;
}

static inline int kiwi_sq_has_(struct kiwi_qp *qp, uint32_t units)
{
	return kiwi_likely_(qp->sq_stop - qp->sq_pi >= units) || kiwi_sq_refresh_(qp, units);
}

static inline unsigned char *kiwi_sq_unit_(const struct kiwi_qp *qp, uint32_t pi)
{
	return qp->sq + (size_t)(pi & qp->sq_mask) * KIWI_WQEBB;
}

/* What stands side by side in a request does so in the ring: whole words are stored. */
KIWI_ABI_SIZE(struct kiwi_sg, sizeof(struct kiwi_sge));
KIWI_ABI_OFFSET(struct kiwi_sg, lkey, __builtin_offsetof(struct kiwi_sge, lkey));
KIWI_ABI_OFFSET(struct kiwi_sg, len, __builtin_offsetof(struct kiwi_sge, len));

typedef uint16_t __attribute__((may_alias)) kiwi_u16_;
typedef uint64_t __attribute__((may_alias)) kiwi_u64_;

static inline void kiwi_sge_(void *seg, const struct kiwi_sg *sg)
{
	*(struct kiwi_sg *)seg = *sg;
}

static inline void kiwi_wqe_ctrl_(unsigned char *seg, const struct kiwi_send_wr *wr,
				  uint32_t segs)
{
	struct kiwi_wqe_ctrl *ctrl = (struct kiwi_wqe_ctrl *)seg;
	*(kiwi_u16_ *)&ctrl->opcode = (uint16_t)(wr->flags << 8 | wr->opcode);
	*(kiwi_u16_ *)&ctrl->segs = (uint16_t)segs;
	ctrl->imm = wr->imm;
	ctrl->wr_id = wr->wr_id;
}

static inline void kiwi_wqe_raddr_(unsigned char *seg, const struct kiwi_send_wr *wr)
{
	struct kiwi_wqe_raddr *raddr = (struct kiwi_wqe_raddr *)seg;

	raddr->addr = wr->raddr;
	*(kiwi_u64_ *)&raddr->rkey = wr->rkey;
}

/* The segments before the data, all in the first unit. Returns their number. */
static inline uint32_t kiwi_wqe_head_(unsigned char *unit, const struct kiwi_send_wr *wr,
				      uint32_t data_segs)
{
	struct kiwi_wqe_atomic *atomic = (struct kiwi_wqe_atomic *)(unit + 2 * KIWI_WQE_SEG);
	uint32_t segs = 1;

	if (wr->opcode >= KIWI_WQE_WRITE) {
		kiwi_wqe_raddr_(unit + KIWI_WQE_SEG, wr);
		segs = 2;
	}
	if (wr->opcode >= KIWI_WQE_CMP_SWAP) {
		atomic->swap_add = wr->swap_add;
		atomic->compare = wr->opcode == KIWI_WQE_CMP_SWAP ? wr->compare : 0;
		segs = 3;
	}
	kiwi_wqe_ctrl_(unit, wr, segs + data_segs);
	return segs;
}

static inline uint32_t kiwi_wqe_head_segs_(const struct kiwi_send_wr *wr)
{
	return 1 + (wr->opcode >= KIWI_WQE_WRITE) + (wr->opcode >= KIWI_WQE_CMP_SWAP);
}

/* Copy into the ring from byte @at of the next WQE on, round its end. */
static inline void kiwi_wqe_copy_(const struct kiwi_qp *qp, uint32_t at, const void *from,
				  uint32_t len)
{
	uint32_t bytes = (qp->sq_mask + 1) * KIWI_WQEBB;
	uint32_t start = (qp->sq_pi * KIWI_WQEBB + at) & (bytes - 1);
	uint32_t first = len < bytes - start ? len : bytes - start;

	if (!len)
		return;
	memcpy(qp->sq + start, from, first);
	memcpy(qp->sq, (const unsigned char *)from + first, len - first);
}

static inline int kiwi_post_inline_(struct kiwi_qp *qp, const struct kiwi_send_wr *wr)
{
	static const unsigned char zero[KIWI_WQE_SEG] = { 0 };
	uint32_t i, at, len, data, units;
	uint64_t sum = 0;

	if (wr->opcode == KIWI_WQE_NOP || wr->opcode >= KIWI_WQE_READ)
		return -EINVAL;
	for (i = 0; i < wr->num_sg; i++)
		sum += wr->sg[i].len;
	if (sum > qp->max_inline)
		return -EINVAL;
	len = (uint32_t)sum;
	data = (4 + len + KIWI_WQE_SEG - 1) / KIWI_WQE_SEG;
	units = kiwi_wqe_units_(kiwi_wqe_head_segs_(wr) + data);
	if (!kiwi_sq_has_(qp, units))
		return -EAGAIN;

	at = kiwi_wqe_head_(kiwi_sq_unit_(qp, qp->sq_pi), wr, data) * KIWI_WQE_SEG;
	kiwi_wqe_copy_(qp, at, &len, 4);
	at += 4;
	for (i = 0; i < wr->num_sg; i++) {
		kiwi_wqe_copy_(qp, at, (const void *)(uintptr_t)wr->sg[i].addr,
			       wr->sg[i].len);
		at += wr->sg[i].len;
	}
	kiwi_wqe_copy_(qp, at, zero, data * KIWI_WQE_SEG - 4 - len);
	qp->sq_pi += units;
	return 0;
}

/* Work of any shape. Not inlined, so that what stands inline is short. */
static __attribute__((noinline, unused)) int kiwi_post_any_(struct kiwi_qp *qp,
								const struct kiwi_send_wr *wr)
{
	uint32_t i, at, units, n = wr->num_sg;

	if (wr->opcode >= KIWI_WQE_OPCODE_COUNT || n > qp->max_sge)
		return -EINVAL;
	if (wr->flags & KIWI_WQE_INLINE)
		return kiwi_post_inline_(qp, wr);
	if ((wr->opcode == KIWI_WQE_NOP && n) || (wr->opcode >= KIWI_WQE_CMP_SWAP && n != 1))
		return -EINVAL;
	units = kiwi_wqe_units_(kiwi_wqe_head_segs_(wr) + n);
	if (!kiwi_sq_has_(qp, units))
		return -EAGAIN;

	at = qp->sq_pi * KIWI_UNIT_SEGS_ + kiwi_wqe_head_(kiwi_sq_unit_(qp, qp->sq_pi), wr, n);
	for (i = 0; i < n; i++, at++)
		kiwi_sge_(qp->sq + (size_t)(at & (qp->sq_mask * KIWI_UNIT_SEGS_ + 3)) *
				  KIWI_WQE_SEG, &wr->sg[i]);
	qp->sq_pi += units;
	return 0;
}

/**
 * kiwi_post_send() - put work into the send queue; kiwi_qp_ring() hands it over
 * @qp: the queue pair
 * @wr: the work; neither it nor its list of memory is needed after the call
 *
 * Return: 0; -EAGAIN when the ring has no room: completions have to be polled
 * first; -EINVAL when the opcode, the number of pieces or the inline length is
 * out of range. Nothing is posted on error.
 */
static inline int kiwi_post_send(struct kiwi_qp *qp, const struct kiwi_send_wr *wr)
{
	uint32_t pi = qp->sq_pi;
	unsigned char *unit;

	/* The common shapes take one unit: one piece of memory, no atomic. */
	if (kiwi_unlikely_(wr->num_sg != 1 || (wr->flags & KIWI_WQE_INLINE) ||
			   wr->opcode > KIWI_WQE_READ))
		return kiwi_post_any_(qp, wr);
	if (kiwi_unlikely_(pi == qp->sq_stop) && !kiwi_sq_refresh_(qp, 1))
		return -EAGAIN;

	unit = kiwi_sq_unit_(qp, pi);
	if (kiwi_likely_(wr->opcode >= KIWI_WQE_WRITE)) {
		kiwi_wqe_ctrl_(unit, wr, 3);
		kiwi_wqe_raddr_(unit + KIWI_WQE_SEG, wr);
		kiwi_sge_(unit + 2 * KIWI_WQE_SEG, wr->sg);
	} else if (kiwi_likely_(wr->opcode != KIWI_WQE_NOP)) {
		kiwi_wqe_ctrl_(unit, wr, 2);
		kiwi_sge_(unit + KIWI_WQE_SEG, wr->sg);
	} else {
		return -EINVAL;	/* it has no memory */
	}
	qp->sq_pi = pi + 1;
	return 0;
}

/* Post one piece of work and hand it over. Return: as kiwi_post_send(). */
static inline int kiwi_post_send_ring(struct kiwi_qp *qp, const struct kiwi_send_wr *wr)
{
	int rc = kiwi_post_send(qp, wr);

	if (kiwi_likely_(!rc))
		kiwi_qp_ring(qp);
	return rc;
}

/**
 * kiwi_post_send_list() - post a list and hand it over with one doorbell
 * @qp: the queue pair
 * @wr: the list
 * @n: its length, up to INT32_MAX
 *
 * Return: how many were posted, from the start of the list; when it is none, the
 * error of kiwi_post_send() for the first.
 */
static inline int kiwi_post_send_list(struct kiwi_qp *qp, const struct kiwi_send_wr *wr,
				      uint32_t n)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < n; i++) {
		rc = kiwi_post_send(qp, &wr[i]);
		if (rc)
			break;
	}
	if (!i)
		return rc;
	kiwi_qp_ring(qp);
	return (int)i;
}

/* Receive queue ----------------------------------------------------------- */

/**
 * kiwi_post_recv() - put a buffer into the receive queue; kiwi_qp_ring_recv() hands it over
 * @qp: the queue pair
 * @wr: the buffer
 *
 * Return: 0; -EAGAIN when the ring has no room; -EINVAL when there are too many pieces.
 */
static inline int kiwi_post_recv(struct kiwi_qp *qp, const struct kiwi_recv_wr *wr)
{
	uint32_t i, n = wr->num_sg, pi = qp->rq_pi;
	uint32_t used = (uint16_t)(pi - __atomic_load_n(&qp->rq_ci, __ATOMIC_ACQUIRE));
	unsigned char *entry;
	struct kiwi_rqe *rqe;

	if (kiwi_unlikely_(n > qp->max_recv_sge))
		return -EINVAL;
	if (kiwi_unlikely_(used >= qp->rq_entries))
		return -EAGAIN;

	entry = qp->rq + ((size_t)(pi & (qp->rq_entries - 1)) << qp->rq_stride);
	rqe = (struct kiwi_rqe *)entry;
	rqe->wr_id = wr->wr_id;
	rqe->num_sge = n;
	rqe->rsvd = 0;
	for (i = 0; i < n; i++)
		kiwi_sge_(entry + sizeof(*rqe) + i * sizeof(struct kiwi_sge), &wr->sg[i]);
	qp->rq_pi = pi + 1;
	return 0;
}

/* Post one buffer and hand it over. Return: as kiwi_post_recv(). */
static inline int kiwi_post_recv_ring(struct kiwi_qp *qp, const struct kiwi_recv_wr *wr)
{
	int rc = kiwi_post_recv(qp, wr);

	if (kiwi_likely_(!rc))
		kiwi_qp_ring_recv(qp);
	return rc;
}

/* Completion queue -------------------------------------------------------- */

static inline struct kiwi_qp *kiwi_qp_of_(struct kiwi_cq *cq, uint32_t qpn)
{
	struct kiwi_qp *const *leaf;
	struct kiwi_qp *qp;

	if (kiwi_likely_(cq->last_qpn == qpn))
		return cq->last;
	leaf = cq->qps[(qpn >> KIWI_QP_TABLE_SHIFT) & (KIWI_QP_TABLE_SIZE - 1)];
	qp = __atomic_load_n(&leaf[qpn & (KIWI_QP_TABLE_SIZE - 1)], __ATOMIC_ACQUIRE);
	/* The device is not trusted with the number. */
	if (!qp || qp->qpn != qpn || (qp->send_cq != cq && qp->recv_cq != cq))
		return NULL;
	cq->last = qp;
	cq->last_qpn = qpn;
	return qp;
}

static inline int kiwi_cqe_written_(const struct kiwi_cq *cq, const struct kiwi_cqe *cqe)
{
	uint8_t flags = __atomic_load_n(&cqe->flags, __ATOMIC_RELAXED);

	kiwi_dma_rmb();
	return !((flags ^ cq->phase) & KIWI_CQE_PHASE);
}

/**
 * kiwi_poll_cq() - take completions, oldest first
 * @cq: the completion queue
 * @wc: filled
 * @n: room in @wc
 *
 * Frees the work's place in its queue. Completions of a QP that was destroyed or
 * reset before are passed over.
 *
 * Return: how many were taken, 0 when there are none.
 */
static inline int kiwi_poll_cq(struct kiwi_cq *cq, struct kiwi_wc *wc, int n)
{
	struct kiwi_cqe *cqe = cq->next;
	uint32_t ci = cq->ci;
	int got = 0;

	if (!kiwi_cqe_written_(cq, cqe) || kiwi_unlikely_(n <= 0))
		return 0;
	do {
		struct kiwi_qp *qp = kiwi_qp_of_(cq, cqe->qpn);

		if (kiwi_likely_(qp)) {
			memcpy(wc, cqe, KIWI_WC_HEAD_);
			wc->flags = cqe->flags;
			wc->qp = qp;
			if (cqe->opcode & KIWI_CQE_RECV)
				__atomic_store_n(&qp->rq_ci, cqe->sq_index, __ATOMIC_RELEASE);
			else
				__atomic_store_n(&qp->sq_ci, cqe->sq_index, __ATOMIC_RELEASE);
			wc++;
			got++;
		}
		ci++;
		if (kiwi_unlikely_(++cqe == cq->end)) {
			cqe = cq->ring;
			cq->phase ^= KIWI_CQE_PHASE;
		}
	} while (got < n && kiwi_cqe_written_(cq, cqe));
	cq->next = cqe;
	cq->ci = ci;
	/* What was read of the entries stands before this lets them go. */
	kiwi_dma_rmb();
	__atomic_store_n(&cq->ci_rec->ci, ci, __ATOMIC_RELAXED);
	return got;
}

#define KIWI_CQE_PROGRESS_	__builtin_offsetof(struct kiwi_cqe, sq_index)
KIWI_ABI_OFFSET(struct kiwi_cqe, status, KIWI_CQE_PROGRESS_ + 3);

/**
 * kiwi_poll_collapsed() - how far the send queue has come that completes in a collapsed CQ
 * @cq: a CQ made with KIWI_CQ_COLLAPSED, of this QP's send queue alone
 * @qp: the queue pair
 *
 * Frees the work's place in its queue: kiwi_qp.sq_ci is the index behind what is complete.
 *
 * Return: enum kiwi_cqe_status of the latest completion; once an error, it stays that.
 */
static inline int kiwi_poll_collapsed(const struct kiwi_cq *cq, struct kiwi_qp *qp)
{
	const unsigned char *entry = (const unsigned char *)cq->collapsed;
	uint64_t word;

	if (kiwi_unlikely_(!entry))
		return KIWI_CQE_ST_OK;
	/* The device writes these 8 bytes at once, so index and status belong together. */
	word = __atomic_load_n((const kiwi_u64_ *)(entry + KIWI_CQE_PROGRESS_), __ATOMIC_RELAXED);
	kiwi_dma_rmb();
	__atomic_store_n(&qp->sq_ci, (uint16_t)word, __ATOMIC_RELEASE);
	return (uint8_t)(word >> 24);
}

/**
 * kiwi_cq_arm() - ask for one count of the CQ's eventfd
 * @cq: the completion queue
 * @solicited: only for solicited completions and errors
 *
 * The count comes at once when a completion that was not polled yet exists, so
 * nothing is missed when this is called after a poll that found none.
 */
static inline void kiwi_cq_arm(struct kiwi_cq *cq, int solicited)
{
	kiwi_db_write_(cq->db, cq->arm_db[!!solicited] | (uint16_t)cq->ci, cq->db_wc);
}

#ifdef __cplusplus
}
#endif

#endif /* KIWI_QUEUE_H */
