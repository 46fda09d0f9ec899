/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC transport, responder: requests in, receive queue, replies out.
 */
#include "msgq-rc.h"

/* More is owed only to a peer that breaks the protocol: it is not heard. */
#define REPLIES_MAX 1024

/* --- Replies ------------------------------------------------------------- */

static bool reply_is_rd_atomic(const RcReply *reply)
{
    return reply->kind != RC_REPLY_ACK;
}

static RcReply *reply_add(MsgqQp *qp, int kind, uint32_t psn)
{
    RcResponder *r = &qp->rc->resp;
    RcReply *reply = g_new0(RcReply, 1);

    reply->kind = kind;
    reply->psn = psn;
    reply->num_psn = 1;
    reply->msn = r->msn;
    reply->syndrome = ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS;
    QTAILQ_INSERT_TAIL(&r->replies, reply, next);
    r->num_replies++;
    r->rd_atomic += reply_is_rd_atomic(reply);
    rc_activate(qp);
    return reply;
}

static void reply_drop(MsgqQp *qp, RcReply *reply)
{
    RcResponder *r = &qp->rc->resp;

    QTAILQ_REMOVE(&r->replies, reply, next);
    r->num_replies--;
    r->rd_atomic -= reply_is_rd_atomic(reply);
    g_free(reply);
}

/* The same acknowledgement, or one that a later covers, is sent once. */
static void reply_ack(MsgqQp *qp, uint32_t psn, uint8_t syndrome)
{
    RcResponder *r = &qp->rc->resp;
    RcReply *reply = QTAILQ_LAST(&r->replies);

    if (!reply || reply->kind != RC_REPLY_ACK || reply->syndrome != syndrome) {
        reply = reply_add(qp, RC_REPLY_ACK, psn);
        reply->syndrome = syndrome;
    }
    if (roce_psn_diff(psn, reply->psn) > 0) {
        reply->psn = psn;
    }
    reply->msn = r->msn;
}

static void reply_rnr(MsgqQp *qp, uint32_t psn)
{
    rc_count(qp)->rnr_nak_sent++;
    reply_ack(qp, psn, ROCE_AETH_RNR | qp->attr.min_rnr_timer);
}

static void reply_positive(MsgqQp *qp, uint32_t psn)
{
    reply_ack(qp, psn, ROCE_AETH_ACK | ROCE_AETH_NO_CREDITS);
}

void rc_resp_drop_replies(MsgqQp *qp)
{
    RcReply *reply, *tmp;

    QTAILQ_FOREACH_SAFE(reply, &qp->rc->resp.replies, next, tmp) {
        reply_drop(qp, reply);
    }
}

/* The peer went back to @psn: it will ask again for all that lies behind. */
static void replies_go_back(MsgqQp *qp, uint32_t psn)
{
    RcResponder *r = &qp->rc->resp;
    RcReply *reply, *tmp;

    QTAILQ_FOREACH_SAFE(reply, &r->replies, next, tmp) {
        if (roce_psn_diff(roce_psn_add(reply->psn, reply->num_psn), psn) > 0) {
            if (reply->syndrome == (ROCE_AETH_NAK | ROCE_NAK_SEQUENCE)) {
                r->quiet = false;
            }
            reply_drop(qp, reply);
        }
    }
}

/* A READ that was accepted meets a region on hold at @psn. */
static void read_put_off(MsgqQp *qp, uint32_t psn)
{
    qp->s->k->diag[KIWI_DIAG_HELD_REQUEST]++;
    replies_go_back(qp, psn);
    reply_rnr(qp, psn);
}

/* --- Refusal ------------------------------------------------------------- */

static unsigned nak_of(MsgqVendorErr err)
{
    return err == MSGQ_ERR_DMA ? ROCE_NAK_OPERATION : ROCE_NAK_ACCESS;
}

/* The QP dies of a request that took no RQE; the NAK is owed already. */
static void die(MsgqQp *qp, unsigned nak)
{
    static const uint8_t status[] = {
        [ROCE_NAK_INVALID] = KIWI_CQE_ST_REM_INV_REQ_ERR,
        [ROCE_NAK_ACCESS] = KIWI_CQE_ST_REM_ACCESS_ERR,
        [ROCE_NAK_OPERATION] = KIWI_CQE_ST_REM_OP_ERR,
    };

    if (nak == ROCE_NAK_ACCESS) {
        rc_count(qp)->remote_access_err++;
    }
    rc_error(qp);
    msgq_event(qp->s, KIWI_EV_QP_ACCESS, status[nak], qp->number, 0);
}

/* The packet at hand is not carried out now; those behind it are dropped. */
static void put_off(MsgqQp *qp)
{
    reply_rnr(qp, qp->rc->resp.psn);
    qp->rc->resp.quiet = true;
}

/* It meets a region on hold. */
static void put_off_held(MsgqQp *qp)
{
    qp->s->k->diag[KIWI_DIAG_HELD_REQUEST]++;
    put_off(qp);
}

static void reply_nak(MsgqQp *qp, uint32_t psn, unsigned nak)
{
    reply_add(qp, RC_REPLY_ACK, psn)->syndrome = ROCE_AETH_NAK | nak;
}

static void refuse(MsgqQp *qp, unsigned nak)
{
    reply_nak(qp, qp->rc->resp.psn, nak);
    die(qp, nak);
}

/* --- Receive queue ------------------------------------------------------- */

static void rqe_complete(MsgqQp *qp, struct kiwi_cqe *cqe)
{
    RcResponder *r = &qp->rc->resp;

    cqe->wr_id = cpu_to_le64(r->rqe.wr_id);
    cqe->qpn = cpu_to_le32(qp->number);
    cqe->sq_index = cpu_to_le16(r->rqe.index);
    r->has_rqe = false;
    qp->rq.ci = r->rqe.index;
    msgq_cqe_push(qp->s, qp->recv_cq, cqe);
}

static void rqe_fail(MsgqQp *qp, uint8_t status, MsgqVendorErr err)
{
    struct kiwi_cqe cqe = {
        .vendor_err = cpu_to_le32(err),
        .opcode = KIWI_CQE_RECV,
        .status = status,
    };

    rqe_complete(qp, &cqe);
}

/* The QP dies of a request that took an RQE. */
static void refuse_rqe(MsgqQp *qp, unsigned nak, uint8_t status,
                       MsgqVendorErr err)
{
    reply_nak(qp, qp->rc->resp.psn, nak);
    rqe_fail(qp, status, err);
    rc_error(qp);
}

/*
 * Takes the next RQE. What cannot be read stands for all that was handed over;
 * what is malformed has a capacity of 0 and is not valid.
 */
static RcFetchResult rqe_fetch(MsgqQp *qp, bool *valid)
{
    RcResponder *r = &qp->rc->resp;
    const struct kiwi_rqe *head;
    const struct kiwi_sge *sge;
    RcFetchResult result;
    const uint8_t *p;
    unsigned room, num_sge;

    result = rc_fetch(qp->s, &qp->rq, &r->fetch, 1, &p);
    if (result == RC_FETCH_NONE) {
        return result;
    }
    r->has_rqe = true;
    r->rqe.num_sge = 0;
    r->rqe.capacity = 0;
    if (result == RC_FETCH_FAULT) {
        rc_fetch_reset(&r->fetch, qp->rq.pi);
        r->rqe.wr_id = 0;
        r->rqe.index = qp->rq.pi;
        return result;
    }

    head = (const void *)p;
    sge = (const void *)(p + sizeof(*head));
    room = ((1u << qp->rq.shift) - sizeof(*head)) / sizeof(*sge);
    num_sge = le32_to_cpu(head->num_sge);
    r->rqe.wr_id = le64_to_cpu(head->wr_id);
    *valid = num_sge <= room && !head->rsvd;
    if (*valid) {
        r->rqe.num_sge = num_sge;
        for (unsigned i = 0; i < num_sge; i++, sge++) {
            r->rqe.sge[i].addr = le64_to_cpu(sge->addr);
            r->rqe.sge[i].lkey = le32_to_cpu(sge->lkey);
            r->rqe.sge[i].len = le32_to_cpu(sge->len);
            r->rqe.capacity += r->rqe.sge[i].len;
        }
    }
    rc_fetch_take(&r->fetch, 1);
    r->rqe.index = r->fetch.index;
    return result;
}

/*
 * For the packet at hand, unless an earlier one was put off after it had taken
 * one. False: there is none, or none to be used.
 */
static bool rqe_take(MsgqQp *qp)
{
    bool valid;

    if (qp->rc->resp.has_rqe) {
        return true;
    }
    switch (rqe_fetch(qp, &valid)) {
    case RC_FETCH_NONE:
        put_off(qp);
        return false;
    case RC_FETCH_FAULT:
        refuse_rqe(qp, ROCE_NAK_OPERATION, KIWI_CQE_ST_FATAL_ERR, MSGQ_ERR_DMA);
        return false;
    case RC_FETCH_OK:
        if (!valid) {
            refuse_rqe(qp, ROCE_NAK_OPERATION, KIWI_CQE_ST_LOC_QP_OP_ERR,
                       MSGQ_ERR_FORMAT);
        }
        return valid;
    }
    g_assert_not_reached();
}

static void rqe_receive(MsgqQp *qp, const RocePacket *pkt, uint8_t opcode)
{
    struct kiwi_cqe cqe = {
        .byte_len = cpu_to_le32(qp->rc->resp.received),
        .opcode = opcode,
        .status = KIWI_CQE_ST_OK,
        .flags = (pkt->flags & ROCE_F_IMM ? KIWI_CQE_IMM : 0) |
                 (pkt->solicited ? KIWI_CQE_SOLICITED : 0),
    };

    memcpy(&cqe.imm, pkt->imm, sizeof(pkt->imm));
    rqe_complete(qp, &cqe);
}

/* --- Requests ------------------------------------------------------------ */

/* Does the packet continue the message that is being received, or begin one? */
static bool in_order(const RcResponder *r, const RocePacket *pkt)
{
    unsigned message = pkt->flags & (ROCE_F_SEND | ROCE_F_WRITE);

    return r->message == (pkt->flags & ROCE_F_FIRST ? 0 : message);
}

/* It takes no RQE, or the QP has a receive queue. */
static bool has_place(const MsgqQp *qp, const RocePacket *pkt)
{
    return !(qp->flags & KIWI_QP_SQ_ONLY) ||
           !(pkt->flags & (ROCE_F_SEND | ROCE_F_IMM));
}

static bool length_fits(const MsgqQp *qp, const RocePacket *pkt)
{
    if (!(pkt->flags & ROCE_F_LAST)) {
        return pkt->payload_len == rc_mtu(qp);
    }
    return pkt->payload_len <= rc_mtu(qp) &&
           (pkt->payload_len || (pkt->flags & ROCE_F_FIRST));
}

/* A packet of a SEND or WRITE was carried out. */
static void carried_out(MsgqQp *qp, const RocePacket *pkt)
{
    RcResponder *r = &qp->rc->resp;

    r->psn = roce_psn_add(r->psn, 1);
    if (pkt->flags & ROCE_F_LAST) {
        r->message = 0;
        r->msn = (r->msn + 1) & ROCE_PSN_MASK;
    } else {
        r->message = pkt->flags & (ROCE_F_SEND | ROCE_F_WRITE);
    }
    if (pkt->ack_req) {
        reply_positive(qp, pkt->psn);
    }
}

static void request_send(MsgqQp *qp, const RocePacket *pkt)
{
    RcResponder *r = &qp->rc->resp;
    MsgqVendorErr err;

    if (!in_order(r, pkt) || !has_place(qp, pkt) || !length_fits(qp, pkt)) {
        refuse(qp, ROCE_NAK_INVALID);
        return;
    }
    if (pkt->flags & ROCE_F_FIRST) {
        if (!rqe_take(qp)) {
            return;
        }
        r->received = 0;
    }
    if (r->received + pkt->payload_len >
        MIN(r->rqe.capacity, qp->s->max_msg_size)) {
        refuse_rqe(qp, ROCE_NAK_INVALID, KIWI_CQE_ST_LOC_LEN_ERR, MSGQ_OK);
        return;
    }
    err = rc_scatter(qp, r->rqe.sge, r->rqe.num_sge, r->received, pkt->payload,
                     pkt->payload_len);
    if (err == MSGQ_HELD) {
        put_off_held(qp);
        return;
    }
    if (err) {
        refuse_rqe(qp, ROCE_NAK_OPERATION, KIWI_CQE_ST_LOC_PROT_ERR, err);
        return;
    }
    r->received += pkt->payload_len;
    carried_out(qp, pkt);
    if (pkt->flags & ROCE_F_LAST) {
        rqe_receive(qp, pkt, KIWI_CQE_RECV);
    }
}

static void request_write(MsgqQp *qp, const RocePacket *pkt)
{
    RcResponder *r = &qp->rc->resp;
    bool last = pkt->flags & ROCE_F_LAST;
    bool imm = pkt->flags & ROCE_F_IMM;
    MsgqVendorErr err = MSGQ_OK;

    if (!in_order(r, pkt) || !has_place(qp, pkt) || !length_fits(qp, pkt)) {
        refuse(qp, ROCE_NAK_INVALID);
        return;
    }
    if (pkt->flags & ROCE_F_FIRST) {
        r->va = pkt->va;
        r->rkey = pkt->rkey;
        r->left = pkt->dma_len;
        r->received = 0;
    }
    if (r->left > qp->s->max_msg_size ||
        (last ? pkt->payload_len != r->left : pkt->payload_len >= r->left)) {
        refuse(qp, ROCE_NAK_INVALID);
        return;
    }
    if (!(qp->attr.access & KIWI_ACCESS_REMOTE_WRITE)) {
        refuse(qp, ROCE_NAK_ACCESS);
        return;
    }
    if (r->left) {
        err = msgq_mr_check(qp->s, qp->pd, r->rkey, r->va, r->left,
                            KIWI_ACCESS_REMOTE_WRITE);
        if (err == MSGQ_HELD) {
            put_off_held(qp);
            return;
        }
        if (err) {
            refuse(qp, nak_of(err));
            return;
        }
    }
    if (imm && !rqe_take(qp)) {
        return;
    }
    if (pkt->payload_len) {
        err = msgq_mr_write(qp->s, qp->pd, r->rkey, r->va, pkt->payload,
                            pkt->payload_len, KIWI_ACCESS_REMOTE_WRITE);
    }
    if (err) {
        if (imm) {
            refuse_rqe(qp, nak_of(err), KIWI_CQE_ST_LOC_PROT_ERR, err);
        } else {
            refuse(qp, nak_of(err));
        }
        return;
    }
    r->va += pkt->payload_len;
    r->left -= pkt->payload_len;
    r->received += pkt->payload_len;
    carried_out(qp, pkt);
    if (imm) {
        rqe_receive(qp, pkt, KIWI_CQE_RECV_WRITE_IMM);
    }
}

static RcReply *reply_read(MsgqQp *qp, const RocePacket *pkt)
{
    RcReply *reply = reply_add(qp, RC_REPLY_READ, pkt->psn);

    reply->num_psn = rc_num_psn(qp, pkt->dma_len);
    reply->va = pkt->va;
    reply->rkey = pkt->rkey;
    reply->len = pkt->dma_len;
    return reply;
}

static MsgqVendorErr read_check(MsgqQp *qp, const RocePacket *pkt)
{
    if (!(qp->attr.access & KIWI_ACCESS_REMOTE_READ)) {
        return MSGQ_ERR_RIGHT;
    }
    return pkt->dma_len ? msgq_mr_check(qp->s, qp->pd, pkt->rkey, pkt->va,
                                        pkt->dma_len, KIWI_ACCESS_REMOTE_READ) :
                          MSGQ_OK;
}

static void request_read(MsgqQp *qp, const RocePacket *pkt)
{
    RcResponder *r = &qp->rc->resp;
    MsgqVendorErr err;

    if (r->message || pkt->dma_len > qp->s->max_msg_size ||
        r->rd_atomic >= qp->attr.max_dest_rd_atomic) {
        refuse(qp, ROCE_NAK_INVALID);
        return;
    }
    err = read_check(qp, pkt);
    if (err == MSGQ_HELD) {
        put_off_held(qp);
        return;
    }
    if (err) {
        refuse(qp, nak_of(err));
        return;
    }
    r->msn = (r->msn + 1) & ROCE_PSN_MASK;
    r->psn = roce_psn_add(r->psn, reply_read(qp, pkt)->num_psn);
}

static void request_atomic(MsgqQp *qp, const RocePacket *pkt)
{
    RcResponder *r = &qp->rc->resp;
    RcAtomicResult *result;
    MsgqVendorErr err;
    uint64_t orig;

    if (r->message || pkt->va % sizeof(uint64_t) ||
        r->rd_atomic >= qp->attr.max_dest_rd_atomic) {
        refuse(qp, ROCE_NAK_INVALID);
        return;
    }
    if (!(qp->attr.access & KIWI_ACCESS_REMOTE_ATOMIC)) {
        refuse(qp, ROCE_NAK_ACCESS);
        return;
    }
    err = msgq_mr_atomic(qp->s, qp->pd, pkt->rkey, pkt->va, pkt->swap_add,
                         pkt->opcode == ROCE_CMP_SWAP ? &pkt->compare : NULL,
                         &orig);
    if (err == MSGQ_HELD) {
        put_off_held(qp);
        return;
    }
    if (err) {
        refuse(qp, nak_of(err));
        return;
    }
    rc_depends(qp, MSGQ_REPLIES);
    result = &r->results[r->next_result];
    r->next_result = (r->next_result + 1) % qp->s->max_rd_atomic;
    result->valid = true;
    result->psn = pkt->psn;
    result->orig = orig;

    r->msn = (r->msn + 1) & ROCE_PSN_MASK;
    r->psn = roce_psn_add(r->psn, 1);
    reply_add(qp, RC_REPLY_ATOMIC, pkt->psn)->orig = orig;
}

/* --- Duplicates ---------------------------------------------------------- */

/*
 * It may be an old packet that the network kept, so whatever is wrong with it,
 * the QP lives on.
 */
static void duplicate_read(MsgqQp *qp, const RocePacket *pkt)
{
    RcResponder *r = &qp->rc->resp;
    uint32_t behind;
    MsgqVendorErr err;

    if (pkt->dma_len > qp->s->max_msg_size) {
        return;
    }
    behind = roce_psn_add(pkt->psn, rc_num_psn(qp, pkt->dma_len));
    if (roce_psn_diff(behind, r->psn) > 0) {
        return;
    }
    replies_go_back(qp, pkt->psn);
    if (r->rd_atomic >= qp->attr.max_dest_rd_atomic) {
        return;
    }
    err = read_check(qp, pkt);
    if (err == MSGQ_HELD) {
        read_put_off(qp, pkt->psn);
    } else if (err) {
        reply_nak(qp, pkt->psn, nak_of(err));
    } else {
        reply_read(qp, pkt)->again = true;
    }
}

static void duplicate_atomic(MsgqQp *qp, const RocePacket *pkt)
{
    RcResponder *r = &qp->rc->resp;

    unsigned num = qp->s->max_rd_atomic;

    /* The newest first: an older one may have the same PSN, a lap behind. */
    for (unsigned i = 1; i <= num; i++) {
        const RcAtomicResult *result =
            &r->results[(r->next_result + num - i) % num];

        if (result->valid && result->psn == pkt->psn) {
            replies_go_back(qp, pkt->psn);
            if (r->rd_atomic < qp->attr.max_dest_rd_atomic) {
                reply_add(qp, RC_REPLY_ATOMIC, pkt->psn)->orig = result->orig;
            }
            return;
        }
    }
}

static void duplicate(MsgqQp *qp, const RocePacket *pkt)
{
    rc_count(qp)->duplicate_request++;
    if (pkt->opcode == ROCE_READ_REQUEST) {
        duplicate_read(qp, pkt);
    } else if (pkt->flags & ROCE_F_ATOMIC) {
        duplicate_atomic(qp, pkt);
    } else if (pkt->ack_req) {
        /* Of this packet, not of the newest, which may be a READ. */
        reply_positive(qp, pkt->psn);
    }
}

void rc_resp_rx(MsgqQp *qp, const RocePacket *pkt)
{
    RcResponder *r = &qp->rc->resp;
    int32_t ahead = roce_psn_diff(pkt->psn, r->psn);

    if (r->num_replies >= REPLIES_MAX) {
        return;
    }
    if (!r->heard) {
        r->heard = true;
        if (qp->state == KIWI_QPS_RTR) {
            msgq_event(qp->s, KIWI_EV_QP_ESTABLISHED, 0, qp->number, 0);
        }
    }
    if (ahead < 0) {
        duplicate(qp, pkt);
        return;
    }
    if (ahead > 0) {
        rc_count(qp)->out_of_sequence++;
        if (!r->quiet) {
            r->quiet = true;
            reply_nak(qp, r->psn, ROCE_NAK_SEQUENCE);
        }
        return;
    }
    r->quiet = false;
    if (pkt->flags & ROCE_F_SEND) {
        request_send(qp, pkt);
    } else if (pkt->flags & ROCE_F_WRITE) {
        request_write(qp, pkt);
    } else if (pkt->flags & ROCE_F_ATOMIC) {
        request_atomic(qp, pkt);
    } else {
        request_read(qp, pkt);
    }
}

/* --- Engine -------------------------------------------------------------- */

/* What was to be read is gone: a NAK takes the place of the rest. */
static void read_refused(MsgqQp *qp, RcReply *reply, MsgqVendorErr err)
{
    RcReply *later;
    bool again = reply->again;

    reply->psn = roce_psn_add(reply->psn, reply->sent);
    reply->num_psn = 1;
    reply->kind = RC_REPLY_ACK;
    reply->syndrome = ROCE_AETH_NAK | nak_of(err);
    qp->rc->resp.rd_atomic--;
    if (!again) {
        while ((later = QTAILQ_NEXT(reply, next))) {
            reply_drop(qp, later);
        }
        die(qp, nak_of(err));
    }
}

/* One packet of it. True: it was the last. */
static bool send_read_response(MsgqQp *qp, RcReply *reply)
{
    uint64_t off = (uint64_t)reply->sent * rc_mtu(qp);
    bool first = reply->sent == 0;
    bool last = reply->sent == reply->num_psn - 1;
    MsgqVendorErr err = MSGQ_OK;
    uint8_t *payload;
    RocePacket pkt = {
        .opcode = last ? (first ? ROCE_READ_RESP_ONLY : ROCE_READ_RESP_LAST) :
                         (first ? ROCE_READ_RESP_FIRST : ROCE_READ_RESP_MIDDLE),
        .psn = roce_psn_add(reply->psn, reply->sent),
        .syndrome = reply->syndrome,
        .msn = reply->msn,
        .payload_len = MIN(reply->len - off, rc_mtu(qp)),
    };

    payload = rc_build(qp, &pkt);
    if (pkt.payload_len) {
        err = msgq_mr_read(qp->s, qp->pd, reply->rkey, reply->va + off, payload,
                           pkt.payload_len, KIWI_ACCESS_REMOTE_READ);
    }
    if (err == MSGQ_HELD) {
        read_put_off(qp, pkt.psn);
        return false;
    }
    if (err) {
        read_refused(qp, reply, err);
        return false;
    }
    rc_send(qp, MSGQ_REPLIES, payload, pkt.payload_len);
    reply->sent++;
    return last;
}

static void send_short(MsgqQp *qp, const RcReply *reply)
{
    RocePacket pkt = {
        .opcode = reply->kind == RC_REPLY_ATOMIC ? ROCE_ATOMIC_ACK : ROCE_ACK,
        .psn = reply->psn,
        .syndrome = reply->syndrome,
        .msn = reply->msn,
        .orig = reply->orig,
    };

    rc_send(qp, MSGQ_REPLIES, rc_build(qp, &pkt), 0);
}

bool rc_resp_step(MsgqQp *qp)
{
    RcReply *reply = QTAILQ_FIRST(&qp->rc->resp.replies);

    if (!reply) {
        return false;
    }
    if (reply->kind == RC_REPLY_READ) {
        if (send_read_response(qp, reply)) {
            reply_drop(qp, reply);
        }
    } else {
        send_short(qp, reply);
        reply_drop(qp, reply);
    }
    return true;
}

bool rc_resp_flush_step(MsgqQp *qp)
{
    RcResponder *r = &qp->rc->resp;
    RcFetchResult result = RC_FETCH_OK;
    bool valid;

    if (!r->has_rqe) {
        result = rqe_fetch(qp, &valid);
    }
    switch (result) {
    case RC_FETCH_OK:
        rqe_fail(qp, KIWI_CQE_ST_WR_FLUSH_ERR, MSGQ_OK);
        return true;
    case RC_FETCH_FAULT:
        rqe_fail(qp, KIWI_CQE_ST_FATAL_ERR, MSGQ_ERR_DMA);
        return true;
    default:
        return false;
    }
}

/* --- Life ---------------------------------------------------------------- */

void rc_resp_init(MsgqQp *qp)
{
    RcResponder *r = &qp->rc->resp;

    QTAILQ_INIT(&r->replies);
    r->results = g_new0(RcAtomicResult, qp->s->max_rd_atomic);
}

void rc_resp_free(MsgqQp *qp)
{
    rc_resp_drop_replies(qp);
    g_free(qp->rc->resp.results);
}

void rc_resp_reset(MsgqQp *qp)
{
    RcResponder *r = &qp->rc->resp;

    rc_resp_drop_replies(qp);
    rc_fetch_reset(&r->fetch, 0);
    r->message = 0;
    r->has_rqe = false;
    r->quiet = false;
    r->heard = false;
    for (unsigned i = 0; i < qp->s->max_rd_atomic; i++) {
        r->results[i].valid = false;
    }
}

void rc_resp_start(MsgqQp *qp)
{
    qp->rc->resp.psn = qp->attr.rq_psn;
    qp->rc->resp.msn = 0;
}
