/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC transport: states, frames, and the engine that serves the QPs in turn.
 */
#include "msgq-rc.h"

#define TURN_STEPS      16      /* of one QP, before the next has its turn */
#define ROUND_TURNS     4
#define PORT_BUSY_NS    10000   /* until it is tried again */

#define ROCE_PKEY_MASK  0x7fff

/* --- Engine -------------------------------------------------------------- */

void rc_activate(MsgqQp *qp)
{
    MsgqRcDevice *dev = qp->s->rc;
    MsgqRc *rc = qp->rc;

    if (!rc->active) {
        rc->active = true;
        QTAILQ_INSERT_TAIL(&dev->active, rc, link);
    }
    msgq_work_kick(&dev->work);
}

static int64_t now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static bool read_record(MsgqQp *qp)
{
    if (!msgq_qp_read_record(qp)) {
        return false;
    }
    qp->rc->handed_ns = now_ns() + kiwi_dma_waited(qp->s->k);
    return true;
}

/* True: the QP has a port, and the network takes more on this path. */
static bool has_room(const MsgqQp *qp, MsgqPath path)
{
    return !qp->attr.port || qp->s->ops->has_room(qp, path);
}

/* @full: requests wait until the network takes more. */
static bool step(MsgqQp *qp, bool *full)
{
    bool did;

    kiwi_dma_waited(qp->s->k);   /* of others */
    did = read_record(qp) || rc_resp_step(qp);

    switch (qp->state) {
    case KIWI_QPS_RTS:
    case KIWI_QPS_SQD:
        if (qp->s->paused) {
            rc_req_check_drained(qp);
            return did;
        }
        if (!has_room(qp, MSGQ_REQUESTS)) {
            *full = true;
            return did;
        }
        return rc_req_step(qp) || did;
    case KIWI_QPS_ERR:
        return rc_req_flush_step(qp) || rc_resp_flush_step(qp) || did;
    default:
        return did;
    }
}

/* False: the network takes no more for now. */
static bool turn(MsgqQp *qp)
{
    bool full = false;

    for (int i = 0; i < TURN_STEPS; i++) {
        if (!has_room(qp, MSGQ_REPLIES)) {
            return false;
        }
        if (!step(qp, &full)) {
            return !full;
        }
    }
    rc_activate(qp);
    return true;
}

/*
 * The link is busy for as long as the frames of a round take on it, or in the
 * device; no round
 * begins before. Where the clock counts instructions, no time passes by itself,
 * and the guest would have no turn.
 */
static int64_t link_busy_ns(const MsgqRcDevice *dev)
{
    return MAX(dev->link_free_ns - now_ns(), 0);
}

static int64_t engine_round(void *opaque)
{
    Msgq *s = opaque;
    MsgqRcDevice *dev = s->rc;
    int64_t start_ns = now_ns();
    int64_t delay_ns = link_busy_ns(dev);
    MsgqRc *rc;

    if (delay_ns) {
        return delay_ns;
    }
    if (!msgq_running(s)) {
        return -1;
    }
    dev->sent = dev->packets = 0;
    for (int i = 0; i < ROUND_TURNS && (rc = QTAILQ_FIRST(&dev->active)); i++) {
        QTAILQ_REMOVE(&dev->active, rc, link);
        rc->active = false;
        if (!turn(rc->qp)) {
            rc_activate(rc->qp);
            delay_ns = PORT_BUSY_NS;
        }
    }
    dev->link_free_ns = start_ns + MAX(dev->sent * 8000 / s->link_mbps,
                                       dev->packets * s->packet_ns);
    return QTAILQ_EMPTY(&dev->active) ? -1 : delay_ns + link_busy_ns(dev);
}

/* --- Frames -------------------------------------------------------------- */

uint8_t *rc_build(MsgqQp *qp, RocePacket *pkt)
{
    pkt->pkey = ROCE_PKEY_DEFAULT;
    pkt->dest_qpn = qp->attr.dest_qpn;
    return qp->s->ops->build(qp, qp->s->rc->frame, pkt);
}

static void request_made(void *opaque, const void *frame, size_t len)
{
    MsgqQp *qp = opaque;

    qp->s->ops->send(qp, MSGQ_REQUESTS, frame, len);
}

static void reply_made(void *opaque, const void *frame, size_t len)
{
    MsgqQp *qp = opaque;

    qp->s->ops->send(qp, MSGQ_REPLIES, frame, len);
}

void rc_send(MsgqQp *qp, MsgqPath path, const uint8_t *payload,
             size_t payload_len)
{
    MsgqRcDevice *dev = qp->s->rc;
    size_t len = qp->s->ops->finish(dev->frame, payload, payload_len);
    int64_t ready_ns = MAX(now_ns(), qp->rc->ready_ns[path]) +
                       kiwi_dma_waited(qp->s->k);

    dev->sent += len;
    dev->packets++;
    delay_add(qp->rc->out[path], ready_ns + qp->s->nic_ns, dev->frame, len);
}

void rc_depends(MsgqQp *qp, MsgqPath path)
{
    int64_t *ready_ns = &qp->rc->ready_ns[path];
    int64_t from_ns = path == MSGQ_REQUESTS ? MAX(now_ns(), qp->rc->handed_ns)
                                          : now_ns();

    *ready_ns = MAX(*ready_ns, from_ns + kiwi_dma_waited(qp->s->k));
}

static bool accepts(const MsgqQp *qp, const RocePacket *pkt)
{
    switch (qp->state) {
    case KIWI_QPS_RTR:
        if (pkt->flags & ROCE_F_RESPONSE) {
            return false;
        }
        break;
    case KIWI_QPS_RTS:
    case KIWI_QPS_SQD:
        break;
    default:
        return false;
    }
    return (pkt->pkey & ROCE_PKEY_MASK) == ROCE_PKEY_MASK;
}

MsgqQp *msgq_rc_find(Msgq *s, const RocePacket *pkt)
{
    MsgqQp *qp = msgq_qp_find(s, pkt->dest_qpn);

    return qp && accepts(qp, pkt) ? qp : NULL;
}

void msgq_rc_rx(MsgqQp *qp, const RocePacket *pkt)
{
    kiwi_dma_waited(qp->s->k);      /* of others */
    if (pkt->flags & ROCE_F_RESPONSE) {
        rc_req_rx(qp, pkt);
    } else {
        rc_resp_rx(qp, pkt);
    }
}

/* --- States -------------------------------------------------------------- */

void rc_error(MsgqQp *qp)
{
    qp->state = KIWI_QPS_ERR;
    rc_req_halt(qp);
    rc_activate(qp);
}

void msgq_rc_fail(MsgqQp *qp)
{
    if (qp->state != KIWI_QPS_RESET && qp->state != KIWI_QPS_ERR) {
        rc_error(qp);
    }
}

static void queue_reset(MsgqQueue *q)
{
    q->pi = q->ci = 0;
    q->rung = q->fault = false;
}

static void reset(MsgqQp *qp)
{
    rc_req_reset(qp);
    rc_resp_reset(qp);
    for (int path = 0; path < MSGQ_PATHS; path++) {
        delay_drop(qp->rc->out[path]);
    }
    queue_reset(&qp->sq);
    queue_reset(&qp->rq);
}

void msgq_rc_modify(MsgqQp *qp, uint8_t old_state)
{
    if (qp->state == old_state) {
        return;
    }
    switch (qp->state) {
    case KIWI_QPS_RESET:
        reset(qp);
        break;
    case KIWI_QPS_RTR:
        rc_resp_start(qp);
        break;
    case KIWI_QPS_RTS:
        if (old_state == KIWI_QPS_RTR) {
            rc_req_start(qp);
        }
        rc_req_resume(qp);
        break;
    case KIWI_QPS_SQD:
        rc_req_drain(qp);
        break;
    case KIWI_QPS_ERR:
        rc_resp_drop_replies(qp);
        rc_error(qp);
        break;
    }
}

void msgq_rc_query(MsgqQp *qp, uint32_t *sq_psn, uint32_t *rq_psn)
{
    *sq_psn = qp->rc->req.high_psn;
    *rq_psn = qp->rc->resp.psn;
}

void msgq_rc_sq_doorbell(MsgqQp *qp)
{
    if (qp->state == KIWI_QPS_RTS || qp->state == KIWI_QPS_ERR) {
        rc_activate(qp);
    }
}

void msgq_rc_rq_doorbell(MsgqQp *qp)
{
    if (qp->state == KIWI_QPS_ERR) {
        rc_activate(qp);
    }
}

void msgq_rc_record_doorbell(MsgqQp *qp)
{
    rc_activate(qp);
}

void msgq_rc_resume(Msgq *s)
{
    for (uint32_t n = s->qps.first; n < s->qps.fresh; n++) {
        MsgqQp *qp = msgq_qp_find(s, n);

        if (qp) {
            rc_req_release(qp);
        }
    }
}

void msgq_rc_pause(Msgq *s, bool paused)
{
    s->paused = paused;
    for (uint32_t n = s->qps.first; !paused && n < s->qps.fresh; n++) {
        MsgqQp *qp = msgq_qp_find(s, n);

        if (qp) {
            rc_activate(qp);
        }
    }
}

bool msgq_rc_waits(const MsgqQp *qp)
{
    return (qp->state == KIWI_QPS_RTS || qp->state == KIWI_QPS_SQD) &&
           rc_req_waits(qp);
}

/* Nothing that was to be sent is. */
static void drop_frames(MsgqQp *qp)
{
    rc_resp_drop_replies(qp);
    for (int path = 0; path < MSGQ_PATHS; path++) {
        delay_drop(qp->rc->out[path]);
    }
}

bool msgq_rc_lost(MsgqQp *qp)
{
    switch (qp->state) {
    case KIWI_QPS_RTR:
    case KIWI_QPS_RTS:
    case KIWI_QPS_SQD:
        drop_frames(qp);
        rc_req_lost(qp);
        rc_error(qp);
        return true;
    case KIWI_QPS_ERR:
        drop_frames(qp);
        return false;
    default:
        return false;
    }
}

/* --- Life ---------------------------------------------------------------- */

void msgq_rc_create(MsgqQp *qp)
{
    qp->rc = g_new0(MsgqRc, 1);
    qp->rc->qp = qp;
    qp->rc->out[MSGQ_REQUESTS] = delay_new(request_made, qp);
    qp->rc->out[MSGQ_REPLIES] = delay_new(reply_made, qp);
    rc_req_init(qp);
    rc_resp_init(qp);
}

void msgq_rc_destroy(MsgqQp *qp)
{
    MsgqRc *rc = qp->rc;

    if (rc->active) {
        QTAILQ_REMOVE(&qp->s->rc->active, rc, link);
    }
    rc_req_free(qp);
    rc_resp_free(qp);
    for (int path = 0; path < MSGQ_PATHS; path++) {
        delay_free(rc->out[path]);
    }
    qp->rc = NULL;
    g_free(rc);
}

void msgq_rc_init(Msgq *s)
{
    s->rc = g_new0(MsgqRcDevice, 1);
    s->rc->s = s;
    QTAILQ_INIT(&s->rc->active);
    msgq_work_init(&s->rc->work, s, engine_round, s);
}

void msgq_rc_exit(Msgq *s)
{
    msgq_work_exit(&s->rc->work);
    g_free(s->rc);
    s->rc = NULL;
}
