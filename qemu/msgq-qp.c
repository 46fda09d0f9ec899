/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs: create, query, destroy, their queues and doorbells.
 */
#include "msgq.h"
#include "qemu/bswap.h"

MsgqQp *msgq_qp_find(Msgq *s, uint32_t number)
{
    return kiwi_table_get(&s->qps, number);
}

/*
 * Queues
 */

bool msgq_queue_read(Msgq *s, const MsgqQueue *q, uint16_t index,
                     unsigned count, void *buf)
{
    unsigned ring = 1U << q->log2;
    unsigned at = index & (ring - 1);
    uint64_t begin = (uint64_t)at << q->shift;
    uint64_t first = (uint64_t)MIN(count, ring - at) << q->shift;
    uint64_t rest = ((uint64_t)count << q->shift) - first;

    return kiwi_pbl_read(s->k, KIWI_DMA_WQE, q->mem, begin, buf, first) &&
           kiwi_pbl_read(s->k, KIWI_DMA_WQE, q->mem, 0, buf + first, rest);
}

static bool queue_advance(MsgqQueue *q, uint16_t index)
{
    uint16_t held = q->pi - q->ci;
    uint16_t more = index - q->pi;

    if (more > (1U << q->log2) - held) {
        return false;
    }
    q->pi = index;
    return true;
}

static void queue_rung(MsgqQp *qp, MsgqQueue *q, uint32_t index, bool readable)
{
    if (!q->rung) {
        return;
    }
    q->rung = false;
    if (!readable) {
        q->fault = true;
    } else if (!queue_advance(q, index)) {
        qp->s->k->diag[KIWI_DIAG_DB_BAD_INDEX]++;
    }
}

bool msgq_qp_read_record(MsgqQp *qp)
{
    struct kiwi_qp_db_record record = { 0 };
    bool readable;

    if (!qp->sq.rung && !qp->rq.rung) {
        return false;
    }
    readable = kiwi_dma_read(qp->s->k, KIWI_DMA_DB_RECORD, qp->db_record,
                             &record, sizeof(record));
    queue_rung(qp, &qp->sq, le32_to_cpu(record.sq), readable);
    queue_rung(qp, &qp->rq, le32_to_cpu(record.rq), readable);
    return true;
}

enum kiwi_diag msgq_qp_doorbell(Msgq *s, uint32_t page, uint8_t type,
                                uint32_t number, uint16_t epoch, uint16_t index)
{
    MsgqQp *qp = msgq_qp_find(s, number);
    MsgqQueue *q;

    if (!qp) {
        return KIWI_DIAG_DB_NO_QUEUE;
    }
    if (qp->db_page != page) {
        return KIWI_DIAG_DB_OTHER_PAGE;
    }
    if (qp->epoch != epoch) {
        return KIWI_DIAG_DB_OLD_EPOCH;
    }
    q = type == KIWI_DB_SQ ? &qp->sq : &qp->rq;
    /* In RESET a queue holds nothing. */
    if (qp->state == KIWI_QPS_RESET || !q->mem) {
        return KIWI_DIAG_DB_BAD_INDEX;
    }
    if (qp->flags & KIWI_QP_DB_RECORD) {
        q->rung = true;
        msgq_rc_record_doorbell(qp);
        return KIWI_DIAG_DB_ACCEPTED;
    }
    if (!queue_advance(q, index)) {
        return KIWI_DIAG_DB_BAD_INDEX;
    }
    if (type == KIWI_DB_SQ) {
        msgq_rc_sq_doorbell(qp);
    } else {
        msgq_rc_rq_doorbell(qp);
    }
    return KIWI_DIAG_DB_ACCEPTED;
}

/*
 * Create
 */

#define IN_FIELD(member) offsetof(struct kiwi_snic_create_qp_in, member)

static uint64_t sq_length(const struct kiwi_snic_create_qp_in *in)
{
    return (uint64_t)KIWI_WQEBB << in->sq_log2;
}

static uint64_t rq_length(const struct kiwi_snic_create_qp_in *in)
{
    return 1ULL << (in->rq_log2 + in->rq_stride);
}

static enum kiwi_status check_ring(Msgq *s, KiwiCall *c, size_t field,
                                   uint64_t length, uint64_t align)
{
    const struct kiwi_pbl *in = (void *)(c->in + field);
    uint64_t offset = le64_to_cpu(in->offset);
    enum kiwi_status st = kiwi_pbl_check(s->k, c, field);

    if (!st && offset % align) {
        st = kiwi_refuse(c, KIWI_ST_BAD_PARAM,
                         field + offsetof(struct kiwi_pbl, offset), offset,
                         align);
    }
    return st ? st : kiwi_pbl_check_length(s->k, c, field, length);
}

static uint8_t known_flags(Msgq *s)
{
    return KIWI_QP_SQ_SIG_ALL |
           (kiwi_accepted(s->k, KIWI_SNIC_CAP_GPU_QUEUES) ?
            KIWI_QP_SQ_ONLY | KIWI_QP_DB_RECORD : 0);
}

static enum kiwi_status check_flags(Msgq *s, KiwiCall *c, uint8_t flags)
{
    uint8_t known = known_flags(s);

    return flags & ~known ? kiwi_refuse(c, KIWI_ST_BAD_RESERVED,
                                        IN_FIELD(flags), flags, known)
                          : KIWI_ST_OK;
}

#define CHECK_ZERO(c, member) \
    kiwi_check_zero(c, IN_FIELD(member), \
                    sizeof_field(struct kiwi_snic_create_qp_in, member))

static enum kiwi_status check_record(KiwiCall *c,
                                     const struct kiwi_snic_create_qp_in *in)
{
    uint64_t addr = le64_to_cpu(in->db_record);

    if (!(in->flags & KIWI_QP_DB_RECORD)) {
        return CHECK_ZERO(c, db_record);
    }
    if (addr % sizeof(struct kiwi_qp_db_record)) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(db_record), addr,
                           sizeof(struct kiwi_qp_db_record));
    }
    return KIWI_ST_OK;
}

static enum kiwi_status check_create(Msgq *s, KiwiCall *c,
                                     const struct kiwi_snic_create_qp_in *in)
{
    bool rq = !(in->flags & known_flags(s) & KIWI_QP_SQ_ONLY);
    enum kiwi_status st = rq ? KIWI_ST_OK : CHECK_ZERO(c, recv_cqn);

    if (!st) {
        st = kiwi_check_range(c, IN_FIELD(type), in->type, KIWI_QP_RC,
                              KIWI_QP_RC);
    }
    if (!st) {
        st = check_flags(s, c, in->flags);
    }
    if (!st) {
        st = kiwi_check_range(c, IN_FIELD(sq_log2), in->sq_log2, 3,
                              s->sq_log2_max);
    }
    if (!st) {
        st = rq ? kiwi_check_range(c, IN_FIELD(rq_log2), in->rq_log2, 0,
                                   s->rq_log2_max)
                : CHECK_ZERO(c, rq_log2);
    }
    if (!st) {
        st = rq ? kiwi_check_range(c, IN_FIELD(rq_stride), in->rq_stride,
                                   KIWI_RQE_MIN_SHIFT, KIWI_RQE_MAX_SHIFT)
                : CHECK_ZERO(c, rq_stride);
    }
    if (!st) {
        st = CHECK_ZERO(c, rsvd);
    }
    if (!st) {
        st = check_record(c, in);
    }
    if (!st) {
        st = check_ring(s, c, IN_FIELD(sq), sq_length(in), KIWI_WQEBB);
    }
    if (!st) {
        st = rq ? check_ring(s, c, IN_FIELD(rq), rq_length(in),
                             1ULL << in->rq_stride)
                : CHECK_ZERO(c, rq);
    }
    return st;
}

static enum kiwi_status find_object(KiwiCall *c, const KiwiTable *t,
                                    size_t field, void *out)
{
    uint32_t number = ldl_le_p(c->in + field);
    void *object = kiwi_table_get(t, number);

    if (!object) {
        return kiwi_refuse(c, KIWI_ST_BAD_HANDLE, field, number, 0);
    }
    *(void **)out = object;
    return KIWI_ST_OK;
}

/* No completion will ever come out of a CQ in error. */
static enum kiwi_status check_cq(KiwiCall *c, size_t field, const MsgqCq *cq)
{
    return cq->error ? kiwi_refuse(c, KIWI_ST_BAD_STATE, field, cq->number, 0)
                     : KIWI_ST_OK;
}

static enum kiwi_status find_objects(Msgq *s, KiwiCall *c, MsgqQp *qp)
{
    const struct kiwi_snic_create_qp_in *in = (void *)c->in;
    enum kiwi_status st = find_object(c, &s->pds, IN_FIELD(pdn), &qp->pd);
    bool rq = !(qp->flags & KIWI_QP_SQ_ONLY);

    if (!st) {
        st = find_object(c, &s->cqs, IN_FIELD(send_cqn), &qp->send_cq);
    }
    if (!st && rq) {
        st = find_object(c, &s->cqs, IN_FIELD(recv_cqn), &qp->recv_cq);
    }
    if (!st) {
        st = check_cq(c, IN_FIELD(send_cqn), qp->send_cq);
    }
    if (!st && rq) {
        st = check_cq(c, IN_FIELD(recv_cqn), qp->recv_cq);
    }
    if (!st && !kiwi_db_page(s->k, qp->db_page)) {
        st = kiwi_refuse(c, KIWI_ST_BAD_HANDLE, IN_FIELD(db_page),
                         le32_to_cpu(in->db_page), 0);
    }
    if (!st && kiwi_table_full(&s->qps)) {
        st = kiwi_refuse_full(c, &s->qps);
    }
    return st;
}

static enum kiwi_status load_rings(Msgq *s, KiwiCall *c, MsgqQp *qp)
{
    const struct kiwi_snic_create_qp_in *in = (void *)c->in;
    enum kiwi_status st;

    st = kiwi_pbl_load(s->k, c, IN_FIELD(sq), sq_length(in), &qp->sq.mem);
    if (!st && !(qp->flags & KIWI_QP_SQ_ONLY)) {
        st = kiwi_pbl_load(s->k, c, IN_FIELD(rq), rq_length(in),
                           &qp->rq.mem);
    }
    return st;
}

static void qp_release(MsgqQp *qp)
{
    kiwi_pbl_free(qp->sq.mem);
    kiwi_pbl_free(qp->rq.mem);
    g_free(qp);
}

static void qp_insert(Msgq *s, MsgqQp *qp)
{
    qp->number = kiwi_table_add(s->k, &s->qps, qp);
    qp->epoch = kiwi_table_epoch(&s->qps, qp->number);
    qp->pd->users++;
    qp->send_cq->users++;
    if (qp->recv_cq) {
        qp->recv_cq->users++;
    }
    kiwi_db_page(s->k, qp->db_page)->users++;
    msgq_rc_create(qp);
}

enum kiwi_status msgq_create_qp_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    const struct kiwi_snic_create_qp_in *in = (void *)c->in;
    struct kiwi_snic_queue_out *out = (void *)c->out;
    enum kiwi_status st = check_create(s, c, in);
    MsgqQp *qp;

    if (!st && s->ops->check_create) {
        st = s->ops->check_create(s, c);
    }
    if (st) {
        return st;
    }
    qp = g_new0(MsgqQp, 1);
    qp->s = s;
    qp->db_page = le32_to_cpu(in->db_page);
    qp->flags = in->flags;
    qp->db_record = le64_to_cpu(in->db_record);
    qp->state = KIWI_QPS_RESET;
    qp->sq.log2 = in->sq_log2;
    qp->sq.shift = ctz32(KIWI_WQEBB);
    qp->rq.log2 = in->rq_log2;
    qp->rq.shift = in->rq_stride;
    st = find_objects(s, c, qp);
    if (!st) {
        st = load_rings(s, c, qp);
    }
    if (st) {
        qp_release(qp);
        return st;
    }
    qp_insert(s, qp);
    out->number = cpu_to_le32(qp->number);
    out->epoch = cpu_to_le16(qp->epoch);
    return KIWI_ST_OK;
}

/*
 * Query and destroy
 */

enum kiwi_status msgq_query_qp_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    struct kiwi_qp_attr *out = (void *)c->out;
    uint32_t sq_psn, rq_psn;
    const MsgqQpAttr *a;
    void *object;
    enum kiwi_status st = kiwi_id_in(c, &s->qps, &object);
    MsgqQp *qp = object;

    if (st) {
        return st;
    }
    /* What no attribute has set yet is not told from an earlier life. */
    msgq_rc_query(qp, &sq_psn, &rq_psn);
    if (qp->state < KIWI_QPS_RTS) {
        sq_psn = 0;
    }
    if (qp->state < KIWI_QPS_RTR) {
        rq_psn = 0;
    }
    a = &qp->attr;
    out->state = qp->state;
    out->mtu = a->mtu;
    out->port = a->port;
    out->dest_qpn = cpu_to_le32(a->dest_qpn);
    out->sq_psn = cpu_to_le32(sq_psn);
    out->rq_psn = cpu_to_le32(rq_psn);
    out->timeout = a->timeout;
    out->retry_cnt = a->retry_cnt;
    out->rnr_retry = a->rnr_retry;
    out->min_rnr_timer = a->min_rnr_timer;
    out->max_rd_atomic = a->max_rd_atomic;
    out->max_dest_rd_atomic = a->max_dest_rd_atomic;
    out->hop_limit = a->hop_limit;
    out->traffic_class = a->traffic_class;
    memcpy(out->dmac, a->dmac, sizeof(out->dmac));
    out->sgid_index = a->sgid_index;
    memcpy(out->dgid, a->dgid, sizeof(out->dgid));
    out->access = cpu_to_le32(a->access);
    out->flow_label = cpu_to_le32(a->flow_label);
    out->udp_sport = cpu_to_le16(a->udp_sport);
    return KIWI_ST_OK;
}

void msgq_qp_free(Msgq *s, MsgqQp *qp)
{
    msgq_rc_destroy(qp);
    kiwi_table_del(s->k, &s->qps, qp->number);
    qp->pd->users--;
    qp->send_cq->users--;
    if (qp->recv_cq) {
        qp->recv_cq->users--;
    }
    kiwi_db_page(s->k, qp->db_page)->users--;
    qp_release(qp);
}

enum kiwi_status msgq_destroy_qp_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    void *qp;
    enum kiwi_status st = kiwi_id_in(c, &s->qps, &qp);

    if (!st) {
        msgq_qp_free(s, qp);
    }
    return st;
}
