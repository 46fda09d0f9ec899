/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completion queues.
 */
#include "msgq.h"
#include "qemu/bswap.h"

#include "kiwi-fault.h"

#define CQE_SIZE sizeof(struct kiwi_cqe)

/*
 * Arming and errors are looked at from a bottom half, since what leads to them
 * may be an MMIO write or the middle of the transport's work.
 */
static void cq_queue_work(Msgq *s, MsgqCq *cq)
{
    if (!cq->queued) {
        cq->queued = true;
        QTAILQ_INSERT_TAIL(&s->cq_work, cq, work);
    }
    qemu_bh_schedule(s->cq_bh);
}

static void cq_error(Msgq *s, MsgqCq *cq, enum kiwi_cq_error code)
{
    cq->error = true;
    cq->error_code = code;
    cq_queue_work(s, cq);
}

static void cq_fail_users(Msgq *s, MsgqCq *cq)
{
    msgq_event(s, KIWI_EV_CQ_ERROR, cq->error_code, cq->number, 0);
    for (uint32_t n = 1; n < s->qps.fresh; n++) {
        MsgqQp *qp = msgq_qp_find(s, n);

        if (qp && qp->state != KIWI_QPS_ERR &&
            (qp->send_cq == cq || qp->recv_cq == cq)) {
            msgq_rc_fail(qp);
            msgq_event(s, KIWI_EV_QP_ERROR, KIWI_CQE_ST_FATAL_ERR, n, 0);
        }
    }
}

static void cq_check_arm(Msgq *s, MsgqCq *cq)
{
    uint32_t behind = cq->arm == KIWI_DB_CQ_ARM ? cq->pi : cq->solicited_pi;

    if (cq->arm && (int32_t)(behind - cq->arm_index) > 0) {
        cq->arm = 0;
        kiwi_eq_event(s->k, kiwi_eq_find(s->k, cq->eqn),
                      KIWI_EV_COMPLETION, 0, cq->number, 0);
    }
}

static void cq_bh(void *opaque)
{
    Msgq *s = opaque;
    MsgqCq *cq;

    while ((cq = QTAILQ_FIRST(&s->cq_work))) {
        QTAILQ_REMOVE(&s->cq_work, cq, work);
        cq->queued = false;
        if (!msgq_running(s)) {
            continue;
        }
        cq_check_arm(s, cq);
        if (cq->error && !cq->error_told) {
            cq->error_told = true;
            cq_fail_users(s, cq);
        }
    }
}

/* Reads the consumer index record; false when the ring is full even so. */
static bool cq_make_room(Msgq *s, MsgqCq *cq)
{
    uint32_t size = 1U << cq->log2;
    struct kiwi_cq_ci record;
    uint32_t ci;

    if ((cq->flags & KIWI_CQ_OVERRUN_IGNORE) || cq->pi - cq->ci < size) {
        return true;
    }
    if (!kiwi_pbl_read(s->k, KIWI_DMA_CQ_CI, cq->mem, cq->ci_offset,
                       &record, sizeof(record))) {
        cq_error(s, cq, KIWI_CQ_ERR_DMA);
        return false;
    }
    ci = le32_to_cpu(record.ci);
    if (cq->pi - ci >= size) {
        cq_error(s, cq, KIWI_CQ_ERR_OVERRUN);
        return false;
    }
    cq->ci = ci;
    kiwi_fault_taken(s->k, KIWI_FAULT_CQE, cq->number, ci);
    return true;
}

static void cq_fault(Msgq *s, MsgqCq *cq, uint64_t off, struct kiwi_cqe *e)
{
    kiwi_fault_entry(s->k, KIWI_FAULT_CQE, cq->number, cq->pi,
                     kiwi_pbl_entry_addr(cq->mem, off, sizeof(*e)), e,
                     sizeof(*e));
}

static bool cq_write_latest(Msgq *s, MsgqCq *cq, struct kiwi_cqe *e)
{
    /* The first error of a queue stays to be read. */
    if (e->status == KIWI_CQE_ST_WR_FLUSH_ERR &&
        cq->status != KIWI_CQE_ST_OK &&
        cq->status != KIWI_CQE_ST_WR_FLUSH_ERR) {
        return true;
    }
    cq->status = e->status;
    e->flags |= KIWI_CQE_PHASE;
    cq_fault(s, cq, 0, e);
    return kiwi_pbl_publish_word(s->k, KIWI_DMA_CQE, cq->mem, 0, e,
                                 sizeof(*e),
                                 offsetof(struct kiwi_cqe, sq_index));
}

static bool cq_write_next(Msgq *s, MsgqCq *cq, struct kiwi_cqe *e)
{
    uint64_t index = cq->pi & ((1U << cq->log2) - 1);

    if (!((cq->pi >> cq->log2) & 1)) {
        e->flags |= KIWI_CQE_PHASE;
    }
    cq_fault(s, cq, index * CQE_SIZE, e);
    return kiwi_pbl_publish(s->k, KIWI_DMA_CQE, cq->mem, index * CQE_SIZE, e,
                            sizeof(*e));
}

static void cq_write(KiwiState *k, uint32_t number, void *entry)
{
    Msgq *s = k->msgq;
    MsgqCq *cq = kiwi_table_get(&s->cqs, number);
    struct kiwi_cqe *e = entry;
    bool wanted = (e->flags & KIWI_CQE_SOLICITED) ||
                  e->status != KIWI_CQE_ST_OK;

    /* A fault may have it written when the queue is gone. */
    if (!cq || cq->error || !cq_make_room(s, cq)) {
        return;
    }
    if (!(cq->flags & KIWI_CQ_COLLAPSED ? cq_write_latest(s, cq, e)
                                        : cq_write_next(s, cq, e))) {
        cq_error(s, cq, KIWI_CQ_ERR_DMA);
        return;
    }
    cq->pi++;
    if (wanted) {
        cq->solicited_pi = cq->pi;
    }
    cq_check_arm(s, cq);
}

void msgq_cqe_push(Msgq *s, MsgqCq *cq, const struct kiwi_cqe *cqe)
{
    kiwi_fault_begin(s->k, KIWI_FAULT_CQE, cqe->opcode);
    kiwi_fault_write(s->k, KIWI_FAULT_CQE, cq->number, cqe, sizeof(*cqe),
                     cq_write);
}

/* How far an index of ARM may be behind the CQEs written. */
static uint32_t cq_reach(const MsgqCq *cq)
{
    return 1U << (cq->flags & KIWI_CQ_OVERRUN_IGNORE ? KIWI_QUEUE_LOG2_MAX
                                                     : cq->log2);
}

enum kiwi_diag msgq_cq_doorbell(Msgq *s, uint32_t page, uint8_t type,
                                uint32_t number, uint16_t epoch, uint16_t index)
{
    MsgqCq *cq = kiwi_table_get(&s->cqs, number);
    uint16_t waiting;

    if (!cq) {
        return KIWI_DIAG_DB_NO_QUEUE;
    }
    if (cq->db_page != page) {
        return KIWI_DIAG_DB_OTHER_PAGE;
    }
    if (cq->epoch != epoch) {
        return KIWI_DIAG_DB_OLD_EPOCH;
    }
    waiting = cq->pi - index;
    if (waiting > cq_reach(cq)) {
        return KIWI_DIAG_DB_BAD_INDEX;
    }
    cq->arm = type;
    cq->arm_index = cq->pi - waiting;
    kiwi_fault_taken(s->k, KIWI_FAULT_CQE, number, cq->arm_index);
    cq_queue_work(s, cq);
    return KIWI_DIAG_DB_ACCEPTED;
}

/*
 * Commands
 */

#define IN_FIELD(member) offsetof(struct kiwi_snic_create_cq_in, member)

/* Says where the record ends, if there is one, else the ring. */
static enum kiwi_status check_ci_offset(KiwiCall *c, uint64_t *end)
{
    const struct kiwi_snic_create_cq_in *in = (void *)c->in;
    uint64_t ci_offset = le64_to_cpu(in->ci_offset);
    uint64_t ring = CQE_SIZE << in->log2;

    if (in->flags & KIWI_CQ_OVERRUN_IGNORE) {
        *end = ring;
        return kiwi_check_zero(c, IN_FIELD(ci_offset), sizeof(in->ci_offset));
    }
    *end = ci_offset + sizeof(struct kiwi_cq_ci);
    if (ci_offset % sizeof(struct kiwi_cq_ci)) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(ci_offset), ci_offset,
                           sizeof(struct kiwi_cq_ci));
    }
    return kiwi_check_range(c, IN_FIELD(ci_offset), ci_offset, ring,
                            UINT64_MAX - sizeof(struct kiwi_cq_ci));
}

static enum kiwi_status check_layout(KiwiCall *c,
                                     const struct kiwi_snic_create_cq_in *in)
{
    uint64_t offset = le64_to_cpu(in->pbl.offset);
    enum kiwi_status st;
    uint64_t end;

    if (offset % CQE_SIZE) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(pbl.offset), offset,
                           CQE_SIZE);
    }
    st = check_ci_offset(c, &end);
    if (!st) {
        st = kiwi_check_range(c, IN_FIELD(length), le64_to_cpu(in->length),
                              end, UINT64_MAX);
    }
    return st;
}

static uint8_t known_flags(Msgq *s)
{
    return kiwi_accepted(s->k, KIWI_SNIC_CAP_GPU_QUEUES) ?
           KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED : 0;
}

static enum kiwi_status check_flags(Msgq *s, KiwiCall *c,
                                    const struct kiwi_snic_create_cq_in *in)
{
    uint8_t known = known_flags(s);

    if (in->flags & ~known) {
        return kiwi_refuse(c, KIWI_ST_BAD_RESERVED, IN_FIELD(flags), in->flags,
                           known);
    }
    if (in->flags == KIWI_CQ_COLLAPSED) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(flags), in->flags,
                           KIWI_CQ_COLLAPSED | KIWI_CQ_OVERRUN_IGNORE);
    }
    return KIWI_ST_OK;
}

static enum kiwi_status check_create(Msgq *s, KiwiCall *c,
                                     const struct kiwi_snic_create_cq_in *in)
{
    enum kiwi_status st = kiwi_pbl_check(s->k, c, IN_FIELD(pbl));

    if (!st) {
        st = in->flags & known_flags(s) & KIWI_CQ_COLLAPSED ?
             kiwi_check_zero(c, IN_FIELD(log2), sizeof(in->log2)) :
             kiwi_check_range(c, IN_FIELD(log2), in->log2, 1, s->cq_log2_max);
    }
    if (!st) {
        st = check_flags(s, c, in);
    }
    if (!st) {
        st = kiwi_check_zero(c, IN_FIELD(rsvd), sizeof(in->rsvd));
    }
    if (!st) {
        st = check_layout(c, in);
    }
    if (!st) {
        st = kiwi_pbl_check_length(s->k, c, IN_FIELD(pbl),
                                   le64_to_cpu(in->length));
    }
    return st;
}

static enum kiwi_status check_objects(Msgq *s, KiwiCall *c,
                                      const struct kiwi_snic_create_cq_in *in)
{
    uint32_t eqn = le32_to_cpu(in->eqn);
    KiwiEq *eq = kiwi_eq_find(s->k, eqn);

    if (!eq || eq->kind != KIWI_EQ_COMPLETION) {
        return kiwi_refuse(c, KIWI_ST_BAD_HANDLE, IN_FIELD(eqn), eqn, 0);
    }
    if (!kiwi_db_page(s->k, le32_to_cpu(in->db_page))) {
        return kiwi_refuse(c, KIWI_ST_BAD_HANDLE, IN_FIELD(db_page),
                           le32_to_cpu(in->db_page), 0);
    }
    return kiwi_table_full(&s->cqs) ? kiwi_refuse_full(c, &s->cqs) : KIWI_ST_OK;
}

enum kiwi_status msgq_create_cq_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    const struct kiwi_snic_create_cq_in *in = (void *)c->in;
    struct kiwi_snic_queue_out *out = (void *)c->out;
    enum kiwi_status st = check_create(s, c, in);
    KiwiPbl *mem;
    MsgqCq *cq;

    if (!st) {
        st = check_objects(s, c, in);
    }
    if (!st) {
        st = kiwi_pbl_load(k, c, IN_FIELD(pbl), le64_to_cpu(in->length), &mem);
    }
    if (st) {
        return st;
    }
    cq = g_new0(MsgqCq, 1);
    cq->mem = mem;
    cq->log2 = in->log2;
    cq->flags = in->flags;
    cq->ci_offset = le64_to_cpu(in->ci_offset);
    cq->eqn = le32_to_cpu(in->eqn);
    cq->db_page = le32_to_cpu(in->db_page);
    cq->number = kiwi_table_add(s->k, &s->cqs, cq);
    cq->epoch = kiwi_table_epoch(&s->cqs, cq->number);
    kiwi_eq_find(k, cq->eqn)->users++;
    kiwi_db_page(k, cq->db_page)->users++;
    out->number = cpu_to_le32(cq->number);
    out->epoch = cpu_to_le16(cq->epoch);
    return KIWI_ST_OK;
}

void msgq_cq_free(Msgq *s, MsgqCq *cq)
{
    kiwi_table_del(s->k, &s->cqs, cq->number);
    kiwi_fault_forget(s->k, KIWI_FAULT_CQE, cq->number);
    kiwi_eq_find(s->k, cq->eqn)->users--;
    kiwi_db_page(s->k, cq->db_page)->users--;
    if (cq->queued) {
        QTAILQ_REMOVE(&s->cq_work, cq, work);
    }
    kiwi_pbl_free(cq->mem);
    g_free(cq);
}

enum kiwi_status msgq_destroy_cq_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    void *cq;
    enum kiwi_status st = kiwi_id_in(c, &s->cqs, &cq);

    if (st) {
        return st;
    }
    if (((MsgqCq *)cq)->users) {
        return kiwi_refuse_id(c, KIWI_ST_BUSY, ((MsgqCq *)cq)->users);
    }
    msgq_cq_free(s, cq);
    return KIWI_ST_OK;
}

void msgq_cq_init(Msgq *s)
{
    QTAILQ_INIT(&s->cq_work);
    s->cq_bh = qemu_bh_new(cq_bh, s);
}

void msgq_cq_exit(Msgq *s)
{
    qemu_bh_delete(s->cq_bh);
}
