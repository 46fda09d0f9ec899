/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC transport, requester: send queue, packets out, responses in, retries.
 */
#include "msgq-rc.h"

#define ACK_TIMEOUT_UNIT_NS 4096
#define RNR_UNIT_NS         10000
#define RNR_RETRY_FOREVER   7

/* RNR NAK timer codes in units of 10 us [IBTA 9.7.5.2.8] */
static const uint32_t rnr_time[32] = {
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288,
    16384, 24576, 32768, 49152,
};

static int64_t now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static uint32_t behind_psn(const RcWqe *w)
{
    return roce_psn_add(w->first_psn, w->num_psn);
}

static bool outstanding(const RcRequester *q)
{
    return q->una_psn != q->high_psn;
}

/* Nothing is under way, and a region on hold keeps the oldest from being sent. */
static bool stands_still(const RcRequester *q)
{
    return q->held && q->next_psn == q->una_psn;
}

static bool window_full(const RcRequester *q)
{
    return roce_psn_diff(q->next_psn, q->una_psn) >= RC_WINDOW;
}

/* The WQE that next_psn belongs to, @w or a later one, if it may be sent. */
static RcWqe *wqe_to_send(const RcRequester *q, RcWqe *w)
{
    for (; w && !w->status; w = QTAILQ_NEXT(w, next)) {
        if (w->num_psn && roce_psn_diff(q->next_psn, behind_psn(w)) < 0) {
            return w;
        }
    }
    return NULL;
}

/* --- Timer --------------------------------------------------------------- */

/*
 * The deadline moves with every acknowledgement, the timer does not: it looks
 * at the deadline when it fires.
 */
static void deadline_restart(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    if (!qp->attr.timeout || !outstanding(q) || q->rnr_wait ||
        stands_still(q)) {
        q->deadline = INT64_MAX;
        return;
    }
    q->deadline = now_ns() + ((int64_t)ACK_TIMEOUT_UNIT_NS << qp->attr.timeout);
    if (!timer_pending(q->timer) ||
        timer_expire_time_ns(q->timer) > q->deadline) {
        timer_mod(q->timer, q->deadline);
    }
}

static void timer_fired(void *opaque)
{
    MsgqQp *qp = opaque;
    RcRequester *q = &qp->rc->req;

    if (q->rnr_wait || q->deadline <= now_ns()) {
        q->expired = true;
        rc_activate(qp);
    } else if (q->deadline != INT64_MAX) {
        timer_mod(q->timer, q->deadline);
    }
}

/* --- Completion ---------------------------------------------------------- */

static uint8_t cqe_opcode(const RcWqe *w)
{
    switch (w->opcode) {
    case KIWI_WQE_SEND:
    case KIWI_WQE_SEND_IMM:
        return KIWI_CQE_SEND;
    case KIWI_WQE_WRITE:
    case KIWI_WQE_WRITE_IMM:
        return KIWI_CQE_WRITE;
    case KIWI_WQE_READ:
        return KIWI_CQE_READ;
    case KIWI_WQE_CMP_SWAP:
        return KIWI_CQE_CMP_SWAP;
    case KIWI_WQE_FETCH_ADD:
        return KIWI_CQE_FETCH_ADD;
    default:
        return KIWI_CQE_NOP;
    }
}

static void wqe_complete(MsgqQp *qp, const RcWqe *w, uint8_t status,
                         uint8_t vendor_err)
{
    struct kiwi_cqe cqe = {
        .wr_id = cpu_to_le64(w->wr_id),
        .qpn = cpu_to_le32(qp->number),
        .vendor_err = cpu_to_le32(vendor_err),
        .sq_index = cpu_to_le16(w->sq_index),
        .opcode = cqe_opcode(w),
        .status = status,
    };

    if (status == KIWI_CQE_ST_OK) {
        if (!(w->flags & KIWI_WQE_SIGNALED)) {
            return;
        }
        if (rc_wqe_is_rd_atomic(w)) {
            cqe.byte_len = cpu_to_le32(w->len);
        }
    }
    qp->sq.ci = w->sq_index;
    msgq_cqe_push(qp->s, qp->send_cq, &cqe);
}

static RcWqe *begun_pop(RcRequester *q)
{
    RcWqe *w = QTAILQ_FIRST(&q->begun);

    if (w) {
        QTAILQ_REMOVE(&q->begun, w, next);
        q->num_begun--;
        q->rd_atomic -= rc_wqe_is_rd_atomic(w);
    }
    return w;
}

/* Completes, in order, what is done. */
static void retire(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;
    RcWqe *w;

    while ((w = QTAILQ_FIRST(&q->begun))) {
        bool failed = w->status;

        if (!failed && w->num_psn &&
            roce_psn_diff(q->una_psn, behind_psn(w)) < 0) {
            return;
        }
        begun_pop(q);
        wqe_complete(qp, w, w->status, w->vendor_err);
        g_free(w);
        if (failed) {
            rc_error(qp);
            return;
        }
    }
}

/* @w ends with an error once all before it are complete. */
static void wqe_fail(MsgqQp *qp, RcWqe *w, uint8_t status, uint8_t vendor_err)
{
    RcRequester *q = &qp->rc->req;

    w->status = status;
    w->vendor_err = vendor_err;
    q->stopped = true;
    q->cur = wqe_to_send(q, QTAILQ_FIRST(&q->begun));
    retire(qp);
}

/* --- Going back ---------------------------------------------------------- */

/* Sends again from the oldest unacknowledged PSN on. */
static void rewind_to_una(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    q->held = false;
    q->next_psn = q->una_psn;
    q->cur = wqe_to_send(q, QTAILQ_FIRST(&q->begun));
    deadline_restart(qp);
    rc_activate(qp);
}

/* The packet that is next to be sent needs a region on hold. */
static void stand_still(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    q->held = true;
    qp->s->k->diag[KIWI_DIAG_HELD_WQE]++;
    deadline_restart(qp);
}

static void retry(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    if (q->retries >= qp->attr.retry_cnt) {
        rc_count(qp)->retry_exceeded_err++;
        wqe_fail(qp, QTAILQ_FIRST(&q->begun), KIWI_CQE_ST_RETRY_EXC_ERR,
                 MSGQ_ERR_SILENT);
        return;
    }
    q->retries++;
    rewind_to_una(qp);
}

/*
 * Packets of the peer tell that something is missing. Those that were under way
 * when we went back tell it once more, and are not listened to; nor are they
 * when we are to go back anyhow.
 */
static void lost(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    if (!q->recovering && !q->rnr_wait && !stands_still(q)) {
        q->recovering = true;
        retry(qp);
    }
}

static void expired(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    if (q->rnr_wait) {
        q->rnr_wait = false;
        rewind_to_una(qp);
    } else if (q->deadline <= now_ns()) {
        rc_count(qp)->local_ack_timeout_err++;
        q->recovering = false;
        retry(qp);
    } else if (q->deadline != INT64_MAX) {
        timer_mod(q->timer, q->deadline);
    }
}

/* --- Responses ----------------------------------------------------------- */

/* All before @psn is done. Retires, which may put the QP into ERR. */
static void advance(MsgqQp *qp, uint32_t psn)
{
    RcRequester *q = &qp->rc->req;

    q->una_psn = psn;
    q->retries = 0;
    q->rnr_retries = 0;
    q->recovering = false;
    retire(qp);
    if (qp->state == KIWI_QPS_ERR) {
        return;
    }
    if (roce_psn_diff(q->next_psn, psn) < 0) {
        q->held = false;
        q->next_psn = psn;
        q->cur = wqe_to_send(q, QTAILQ_FIRST(&q->begun));
    }
    deadline_restart(qp);
    rc_activate(qp);
}

/* False: a READ or atomic before @psn lacks its answer, or the QP is in ERR. */
static bool acked_before(MsgqQp *qp, uint32_t psn)
{
    RcRequester *q = &qp->rc->req;

    while (roce_psn_diff(psn, q->una_psn) > 0) {
        const RcWqe *w = QTAILQ_FIRST(&q->begun);
        uint32_t behind;

        if (rc_wqe_is_rd_atomic(w)) {
            lost(qp);
            return false;
        }
        behind = behind_psn(w);
        advance(qp, roce_psn_diff(psn, behind) < 0 ? psn : behind);
        if (qp->state == KIWI_QPS_ERR) {
            return false;
        }
    }
    return true;
}

static void bad_response(MsgqQp *qp, RcWqe *w)
{
    wqe_fail(qp, w, KIWI_CQE_ST_BAD_RESP_ERR, MSGQ_ERR_PEER);
}

/* @len bytes for @w at @off. */
static void place(MsgqQp *qp, RcWqe *w, uint32_t psn, uint64_t off,
                  const uint8_t *data, uint32_t len)
{
    MsgqVendorErr err = rc_scatter(qp, w->sge, w->num_sge, off, data, len);

    if (err == MSGQ_HELD) {
        /* It is asked for again when there is a place for it. */
        if (!stands_still(&qp->rc->req)) {
            rewind_to_una(qp);
            stand_still(qp);
        }
    } else if (err) {
        wqe_fail(qp, w, KIWI_CQE_ST_LOC_PROT_ERR, err);
    } else {
        advance(qp, roce_psn_add(psn, 1));
    }
}

static void read_response(MsgqQp *qp, RcWqe *w, const RocePacket *pkt)
{
    uint32_t n = roce_psn_diff(pkt->psn, w->first_psn);
    uint64_t off = (uint64_t)n * rc_mtu(qp);
    bool last = n == w->num_psn - 1;

    if (w->opcode != KIWI_WQE_READ || last != !!(pkt->flags & ROCE_F_LAST) ||
        pkt->payload_len != MIN(w->len - off, rc_mtu(qp))) {
        bad_response(qp, w);
        return;
    }
    place(qp, w, pkt->psn, off, pkt->payload, pkt->payload_len);
}

static void atomic_response(MsgqQp *qp, RcWqe *w, const RocePacket *pkt)
{
    uint8_t value[sizeof(uint64_t)];

    if (w->opcode != KIWI_WQE_CMP_SWAP && w->opcode != KIWI_WQE_FETCH_ADD) {
        bad_response(qp, w);
        return;
    }
    stq_le_p(value, pkt->orig);
    place(qp, w, pkt->psn, 0, value, sizeof(value));
}

static void rnr_nak(MsgqQp *qp, RcWqe *w, unsigned code)
{
    RcRequester *q = &qp->rc->req;

    rc_count(qp)->rnr_nak_rcvd++;
    if (q->rnr_wait) {
        return;
    }
    if (qp->attr.rnr_retry != RNR_RETRY_FOREVER &&
        q->rnr_retries >= qp->attr.rnr_retry) {
        rc_count(qp)->rnr_nak_retry_err++;
        wqe_fail(qp, w, KIWI_CQE_ST_RNR_RETRY_EXC_ERR, MSGQ_ERR_PEER);
        return;
    }
    q->rnr_retries++;
    q->retries = 0;
    q->rnr_wait = true;
    q->expired = false;
    q->deadline = INT64_MAX;
    timer_mod(q->timer, now_ns() + (int64_t)rnr_time[code] * RNR_UNIT_NS);
}

static void acknowledge(MsgqQp *qp, RcWqe *w, const RocePacket *pkt)
{
    unsigned value = pkt->syndrome & ROCE_AETH_VALUE;
    static const uint8_t nak_status[] = {
        [ROCE_NAK_INVALID] = KIWI_CQE_ST_REM_INV_REQ_ERR,
        [ROCE_NAK_ACCESS] = KIWI_CQE_ST_REM_ACCESS_ERR,
        [ROCE_NAK_OPERATION] = KIWI_CQE_ST_REM_OP_ERR,
    };

    switch (pkt->syndrome & ROCE_AETH_TYPE) {
    case ROCE_AETH_ACK:
        if (rc_wqe_is_rd_atomic(w)) {
            lost(qp);
        } else {
            advance(qp, roce_psn_add(pkt->psn, 1));
        }
        break;
    case ROCE_AETH_RNR:
        rnr_nak(qp, w, value);
        break;
    case ROCE_AETH_NAK:
        if (value == ROCE_NAK_SEQUENCE) {
            rc_count(qp)->packet_seq_err++;
            lost(qp);
        } else if (value < ARRAY_SIZE(nak_status)) {
            wqe_fail(qp, w, nak_status[value], MSGQ_ERR_PEER);
        } else {
            bad_response(qp, w);
        }
        break;
    }
}

void rc_req_rx(MsgqQp *qp, const RocePacket *pkt)
{
    RcRequester *q = &qp->rc->req;
    RcWqe *w;

    /* Of old packets, and of those never sent, nothing is to be learned. */
    if (roce_psn_diff(pkt->psn, q->una_psn) < 0 ||
        roce_psn_diff(pkt->psn, q->high_psn) >= 0 ||
        !acked_before(qp, pkt->psn)) {
        return;
    }
    w = QTAILQ_FIRST(&q->begun);
    switch (pkt->opcode) {
    case ROCE_ACK:
        acknowledge(qp, w, pkt);
        break;
    case ROCE_ATOMIC_ACK:
        atomic_response(qp, w, pkt);
        break;
    default:
        read_response(qp, w, pkt);
        break;
    }
}

/* --- Send queue ---------------------------------------------------------- */

/* The next WQE of the ring, or NULL. */
static RcWqe *fetch_wqe(MsgqQp *qp)
{
    RcFetch *f = &qp->rc->req.fetch;
    RcFetchResult result;
    const uint8_t *p;
    unsigned units;
    RcWqe *w;

    result = rc_fetch(qp->s, &qp->sq, f, 1, &p);
    if (result == RC_FETCH_OK) {
        units = rc_wqe_units(p);
        result = rc_fetch(qp->s, &qp->sq, f, units, &p);
    }
    switch (result) {
    case RC_FETCH_OK:
        w = rc_wqe_parse(qp, p);
        rc_fetch_take(f, units);
        break;
    case RC_FETCH_FAULT:
        /* Stands for all that was handed over: what it was cannot be known. */
        w = g_new0(RcWqe, 1);
        w->status = KIWI_CQE_ST_FATAL_ERR;
        w->vendor_err = MSGQ_ERR_DMA;
        rc_fetch_reset(f, qp->sq.pi);
        break;
    default:
        return NULL;
    }
    w->sq_index = f->index;
    return w;
}

static bool begin(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;
    RcWqe *w = q->staged;

    if (!w) {
        w = q->staged = fetch_wqe(qp);
        if (!w) {
            return false;
        }
        rc_depends(qp, MSGQ_REQUESTS);
    }
    if (!w->status && rc_wqe_is_rd_atomic(w)) {
        if (!qp->attr.max_rd_atomic) {
            w->status = KIWI_CQE_ST_LOC_QP_OP_ERR;
        } else if (q->rd_atomic >= qp->attr.max_rd_atomic) {
            return false;
        }
    }
    if ((w->flags & KIWI_WQE_FENCE) && q->rd_atomic) {
        return false;
    }

    q->staged = NULL;
    QTAILQ_INSERT_TAIL(&q->begun, w, next);
    q->num_begun++;
    q->rd_atomic += rc_wqe_is_rd_atomic(w);
    w->first_psn = q->next_psn;
    if (w->status) {
        q->stopped = true;
        retire(qp);
    } else if (w->opcode == KIWI_WQE_NOP) {
        retire(qp);
    } else {
        w->num_psn = rc_num_psn(qp, w->len);
        q->cur = w;
    }
    return true;
}

static uint8_t data_opcode(const RcWqe *w, bool first, bool last)
{
    static const struct DataOpcodes {
        uint8_t first, middle, last, last_imm, only, only_imm;
    } send = {
        ROCE_SEND_FIRST, ROCE_SEND_MIDDLE, ROCE_SEND_LAST,
        ROCE_SEND_LAST_IMM, ROCE_SEND_ONLY, ROCE_SEND_ONLY_IMM,
    }, write = {
        ROCE_WRITE_FIRST, ROCE_WRITE_MIDDLE, ROCE_WRITE_LAST,
        ROCE_WRITE_LAST_IMM, ROCE_WRITE_ONLY, ROCE_WRITE_ONLY_IMM,
    };
    const struct DataOpcodes *op =
        w->opcode == KIWI_WQE_SEND || w->opcode == KIWI_WQE_SEND_IMM ?
        &send : &write;
    bool imm = w->opcode == KIWI_WQE_SEND_IMM ||
               w->opcode == KIWI_WQE_WRITE_IMM;

    if (last) {
        return first ? (imm ? op->only_imm : op->only) :
                       (imm ? op->last_imm : op->last);
    }
    return first ? op->first : op->middle;
}

/*
 * What the packet carries at @payload; of a READ or atomic, whether the answer
 * has a place.
 */
static MsgqVendorErr fetch_payload(MsgqQp *qp, const RcWqe *w, uint64_t off,
                                   uint8_t *payload, size_t len)
{
    if (rc_wqe_is_rd_atomic(w)) {
        return rc_sge_check(qp, w->sge, w->num_sge, KIWI_ACCESS_LOCAL_WRITE);
    }
    if (w->flags & KIWI_WQE_INLINE) {
        memcpy(payload, w->inline_data + off, len);
        return MSGQ_OK;
    }
    return rc_gather(qp, w->sge, w->num_sge, off, payload, len);
}

static void send_packet(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;
    RcWqe *w = q->cur;
    uint32_t n = roce_psn_diff(q->next_psn, w->first_psn);
    uint64_t off = (uint64_t)n * rc_mtu(qp);
    uint32_t psns = 1;
    bool last = n == w->num_psn - 1;
    MsgqVendorErr err;
    uint8_t *payload;
    RocePacket pkt = {
        .psn = q->next_psn,
        .va = w->raddr,
        .rkey = w->rkey,
        .dma_len = w->len,
    };

    switch (w->opcode) {
    case KIWI_WQE_READ:
        /* Asks for what is still missing of it. */
        pkt.opcode = ROCE_READ_REQUEST;
        pkt.va += off;
        pkt.dma_len -= off;
        psns = w->num_psn - n;
        last = true;
        break;
    case KIWI_WQE_CMP_SWAP:
    case KIWI_WQE_FETCH_ADD:
        pkt.opcode = w->opcode == KIWI_WQE_CMP_SWAP ? ROCE_CMP_SWAP :
                                                      ROCE_FETCH_ADD;
        pkt.swap_add = w->swap_add;
        pkt.compare = w->compare;
        break;
    default:
        pkt.opcode = data_opcode(w, n == 0, last);
        pkt.payload_len = MIN(w->len - off, rc_mtu(qp));
        pkt.solicited = last && (w->flags & KIWI_WQE_SOLICITED);
        memcpy(pkt.imm, w->imm, sizeof(pkt.imm));
        break;
    }
    pkt.ack_req = last || q->since_ack_req == RC_ACK_EVERY - 1;

    payload = rc_build(qp, &pkt);
    err = fetch_payload(qp, w, off, payload, pkt.payload_len);
    if (err == MSGQ_HELD) {
        stand_still(qp);
        return;
    }
    if (err) {
        wqe_fail(qp, w, KIWI_CQE_ST_LOC_PROT_ERR, err);
        return;
    }
    rc_send(qp, MSGQ_REQUESTS, payload, pkt.payload_len);

    if (roce_psn_diff(q->next_psn, q->high_psn) < 0) {
        rc_count(qp)->retransmitted++;
    }
    q->next_psn = roce_psn_add(q->next_psn, psns);
    if (roce_psn_diff(q->next_psn, q->high_psn) > 0) {
        q->high_psn = q->next_psn;
    }
    if (pkt.ack_req && roce_psn_diff(q->next_psn, q->ask_psn) > 0) {
        q->ask_psn = q->next_psn;
    }
    q->since_ack_req = pkt.ack_req ? 0 : q->since_ack_req + 1;
    if (last) {
        q->cur = wqe_to_send(q, w);
    }
    if (q->deadline == INT64_MAX) {
        deadline_restart(qp);
    }
}

void rc_req_check_drained(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    if (q->draining && QTAILQ_EMPTY(&q->begun)) {
        q->draining = false;
        msgq_event(qp->s, KIWI_EV_QP_DRAINED, 0, qp->number, 0);
    }
}

bool rc_req_step(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    if (q->expired) {
        q->expired = false;
        expired(qp);
        return true;
    }
    rc_req_check_drained(qp);
    if (q->rnr_wait || q->held || window_full(q)) {
        return false;
    }
    if (q->cur) {
        send_packet(qp);
        return true;
    }
    return qp->state == KIWI_QPS_RTS && !q->stopped &&
           q->num_begun < RC_BEGUN_MAX && begin(qp);
}

bool rc_req_flush_step(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;
    RcWqe *w = begun_pop(q);

    if (w && q->lost) {
        q->lost = false;
        wqe_complete(qp, w, KIWI_CQE_ST_RETRY_EXC_ERR, MSGQ_ERR_SILENT);
        g_free(w);
        return true;
    }
    if (!w) {
        w = q->staged ?: fetch_wqe(qp);
        q->staged = NULL;
    }
    if (!w) {
        return false;
    }
    if (w->status == KIWI_CQE_ST_FATAL_ERR) {
        wqe_complete(qp, w, w->status, w->vendor_err);
    } else {
        wqe_complete(qp, w, KIWI_CQE_ST_WR_FLUSH_ERR, MSGQ_OK);
    }
    g_free(w);
    return true;
}

/*
 * A packet is being made, or an answer may be under way that was asked for (M-54):
 * not to what was put off, nor to what is to be sent again anyhow.
 */
bool rc_req_waits(const MsgqQp *qp)
{
    const RcRequester *q = &qp->rc->req;

    return !delay_idle(qp->rc->out[MSGQ_REQUESTS]) ||
           (roce_psn_diff(q->ask_psn, q->una_psn) > 0 && !q->rnr_wait &&
            !q->expired && !stands_still(q));
}

void rc_req_lost(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    q->lost = !QTAILQ_EMPTY(&q->begun);
}

/* --- Life ---------------------------------------------------------------- */

void rc_req_init(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    QTAILQ_INIT(&q->begun);
    q->deadline = INT64_MAX;
    q->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, timer_fired, qp);
}

void rc_req_free(MsgqQp *qp)
{
    rc_req_reset(qp);
    timer_free(qp->rc->req.timer);
}

/* To ERR: nothing is sent or retried any more; what was begun is flushed. */
void rc_req_halt(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    timer_del(q->timer);
    q->deadline = INT64_MAX;
    q->expired = false;
    q->rnr_wait = false;
    q->held = false;
    q->draining = false;
    q->cur = NULL;
}

void rc_req_reset(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;
    RcWqe *w;

    rc_req_halt(qp);
    while ((w = begun_pop(q))) {
        g_free(w);
    }
    g_free(q->staged);
    q->staged = NULL;
    q->stopped = false;
    q->lost = false;
    rc_fetch_reset(&q->fetch, 0);
}

void rc_req_start(MsgqQp *qp)
{
    RcRequester *q = &qp->rc->req;

    q->next_psn = qp->attr.sq_psn;
    q->una_psn = qp->attr.sq_psn;
    q->high_psn = qp->attr.sq_psn;
    q->ask_psn = qp->attr.sq_psn;
    q->since_ack_req = 0;
    q->retries = 0;
    q->rnr_retries = 0;
    q->recovering = false;
}

void rc_req_drain(MsgqQp *qp)
{
    qp->rc->req.draining = true;
    rc_activate(qp);
}

void rc_req_resume(MsgqQp *qp)
{
    qp->rc->req.draining = false;
    rc_activate(qp);
}

void rc_req_release(MsgqQp *qp)
{
    if (qp->rc->req.held) {
        qp->rc->req.held = false;
        rc_activate(qp);
    }
}
