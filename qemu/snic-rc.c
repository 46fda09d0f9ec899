/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC transport: states, frames, and the engine that serves the QPs in turn.
 */
#include "snic-rc.h"

#define TURN_STEPS      16      /* of one QP, before the next has its turn */
#define ROUND_TURNS     4
#define PORT_BUSY_NS    10000   /* until it is tried again */

#define ROCE_PKEY_MASK  0x7fff
#define UDP_SPORT_BASE  0xc000

/* --- Engine -------------------------------------------------------------- */

void rc_activate(SnicQp *qp)
{
    SnicRcDevice *dev = qp->s->rc;
    SnicRc *rc = qp->rc;

    if (!rc->active) {
        rc->active = true;
        QTAILQ_INSERT_TAIL(&dev->active, rc, link);
    }
    snic_work_kick(&dev->work);
}

static int64_t now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

static bool read_record(SnicQp *qp)
{
    if (!snic_qp_read_record(qp)) {
        return false;
    }
    qp->rc->handed_ns = now_ns() + kiwi_dma_waited(KIWI(qp->s));
    return true;
}

static bool step(SnicQp *qp)
{
    bool did;

    kiwi_dma_waited(KIWI(qp->s));   /* of others */
    did = read_record(qp) || rc_resp_step(qp);

    switch (qp->state) {
    case KIWI_QPS_RTS:
    case KIWI_QPS_SQD:
        return rc_req_step(qp) || did;
    case KIWI_QPS_ERR:
        return rc_req_flush_step(qp) || rc_resp_flush_step(qp) || did;
    default:
        return did;
    }
}

/* False: the network takes no more for now. */
static bool turn(SnicQp *qp)
{
    for (int i = 0; i < TURN_STEPS; i++) {
        if (qp->attr.port &&
            !snic_port_can_send(snic_port(qp->s, qp->attr.port))) {
            return false;
        }
        if (!step(qp)) {
            return true;
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
static int64_t link_busy_ns(const SnicRcDevice *dev)
{
    return MAX(dev->link_free_ns - now_ns(), 0);
}

static int64_t engine_round(void *opaque)
{
    SnicState *s = opaque;
    SnicRcDevice *dev = s->rc;
    int64_t start_ns = now_ns();
    int64_t delay_ns = link_busy_ns(dev);
    SnicRc *rc;

    if (delay_ns) {
        return delay_ns;
    }
    if (!snic_running(s)) {
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

uint8_t *rc_build(SnicQp *qp, RocePacket *pkt)
{
    pkt->pkey = ROCE_PKEY_DEFAULT;
    pkt->dest_qpn = qp->attr.dest_qpn;
    return roce_build(qp->s->rc->frame, &qp->rc->path, pkt);
}

static void out_arrived(void *opaque, const void *frame, size_t len)
{
    SnicQp *qp = opaque;

    snic_port_send(snic_port(qp->s, qp->attr.port), frame, len);
}

void rc_send(SnicQp *qp, RcPath path, const uint8_t *payload,
             size_t payload_len)
{
    SnicRcDevice *dev = qp->s->rc;
    size_t len = roce_finish(dev->frame, payload, payload_len);
    int64_t ready_ns = MAX(now_ns(), qp->rc->ready_ns[path]) +
                       kiwi_dma_waited(KIWI(qp->s));

    dev->sent += len;
    dev->packets++;
    delay_add(qp->rc->out[path], ready_ns + qp->s->nic_ns, dev->frame, len);
}

void rc_depends(SnicQp *qp, RcPath path)
{
    int64_t *ready_ns = &qp->rc->ready_ns[path];
    int64_t from_ns = path == RC_REQUESTS ? MAX(now_ns(), qp->rc->handed_ns)
                                          : now_ns();

    *ready_ns = MAX(*ready_ns, from_ns + kiwi_dma_waited(KIWI(qp->s)));
}

static bool accepts(const SnicQp *qp, const SnicPort *port,
                    const RocePacket *pkt)
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
    return qp->attr.port == port->number &&
           (pkt->pkey & ROCE_PKEY_MASK) == ROCE_PKEY_MASK &&
           !memcmp(pkt->sgid, qp->attr.dgid, sizeof(pkt->sgid)) &&
           !memcmp(pkt->dgid, qp->attr.sgid, sizeof(pkt->dgid));
}

void snic_rc_rx(SnicPort *port, const uint8_t *frame, size_t len)
{
    RocePacket pkt;
    SnicQp *qp;

    switch (roce_parse(frame, len, &pkt)) {
    case ROCE_OK:
        break;
    case ROCE_NOT_ROCE:
        port->count.rx_not_roce++;
        return;
    case ROCE_MALFORMED:
        port->count.rx_malformed++;
        return;
    case ROCE_BAD_ICRC:
        port->count.rx_icrc_encapsulated++;
        return;
    }
    qp = snic_qp_find(port->s, pkt.dest_qpn);
    if (!qp || !accepts(qp, port, &pkt)) {
        port->count.rx_no_qp++;
        return;
    }
    kiwi_dma_waited(KIWI(qp->s));   /* of others */
    if (pkt.flags & ROCE_F_RESPONSE) {
        rc_req_rx(qp, &pkt);
    } else {
        rc_resp_rx(qp, &pkt);
    }
}

/* --- States -------------------------------------------------------------- */

static void path_set(SnicQp *qp)
{
    const SnicQpAttr *a = &qp->attr;
    RocePath *path = &qp->rc->path;

    memcpy(path->smac, snic_port(qp->s, a->port)->conf.macaddr.a,
           sizeof(path->smac));
    memcpy(path->dmac, a->dmac, sizeof(path->dmac));
    memcpy(path->sgid, a->sgid, sizeof(path->sgid));
    memcpy(path->dgid, a->dgid, sizeof(path->dgid));
    path->flow_label = a->flow_label;
    path->traffic_class = a->traffic_class;
    path->hop_limit = a->hop_limit;
    /* Connections differ in it, so that a network may spread them. */
    path->udp_sport = a->udp_sport ?:
        UDP_SPORT_BASE | (qp->number * 2654435761u ^ a->dest_qpn) >> 18;
}

void rc_error(SnicQp *qp)
{
    qp->state = KIWI_QPS_ERR;
    rc_req_halt(qp);
    rc_activate(qp);
}

void snic_rc_fail(SnicQp *qp)
{
    if (qp->state != KIWI_QPS_RESET && qp->state != KIWI_QPS_ERR) {
        rc_error(qp);
    }
}

static void queue_reset(SnicQueue *q)
{
    q->pi = q->ci = 0;
    q->rung = q->fault = false;
}

static void reset(SnicQp *qp)
{
    rc_req_reset(qp);
    rc_resp_reset(qp);
    for (int path = 0; path < RC_PATHS; path++) {
        delay_drop(qp->rc->out[path]);
    }
    queue_reset(&qp->sq);
    queue_reset(&qp->rq);
}

void snic_rc_modify(SnicQp *qp, uint8_t old_state, uint32_t mask)
{
    if (mask & KIWI_QP_ATTR_AV) {
        path_set(qp);
    }
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

void snic_rc_query(SnicQp *qp, uint32_t *sq_psn, uint32_t *rq_psn)
{
    *sq_psn = qp->rc->req.high_psn;
    *rq_psn = qp->rc->resp.psn;
}

void snic_rc_sq_doorbell(SnicQp *qp)
{
    if (qp->state == KIWI_QPS_RTS || qp->state == KIWI_QPS_ERR) {
        rc_activate(qp);
    }
}

void snic_rc_rq_doorbell(SnicQp *qp)
{
    if (qp->state == KIWI_QPS_ERR) {
        rc_activate(qp);
    }
}

void snic_rc_record_doorbell(SnicQp *qp)
{
    rc_activate(qp);
}

void snic_rc_resume(SnicState *s)
{
    for (uint32_t n = s->qps.first; n < s->qps.fresh; n++) {
        SnicQp *qp = snic_qp_find(s, n);

        if (qp) {
            rc_req_release(qp);
        }
    }
}

/* --- Life ---------------------------------------------------------------- */

void snic_rc_create(SnicQp *qp)
{
    qp->rc = g_new0(SnicRc, 1);
    qp->rc->qp = qp;
    for (int path = 0; path < RC_PATHS; path++) {
        qp->rc->out[path] = delay_new(out_arrived, qp);
    }
    rc_req_init(qp);
    rc_resp_init(qp);
}

void snic_rc_destroy(SnicQp *qp)
{
    SnicRc *rc = qp->rc;

    if (rc->active) {
        QTAILQ_REMOVE(&qp->s->rc->active, rc, link);
    }
    rc_req_free(qp);
    rc_resp_free(qp);
    for (int path = 0; path < RC_PATHS; path++) {
        delay_free(rc->out[path]);
    }
    qp->rc = NULL;
    g_free(rc);
}

void snic_rc_init(SnicState *s)
{
    s->rc = g_new0(SnicRcDevice, 1);
    s->rc->s = s;
    QTAILQ_INIT(&s->rc->active);
    snic_work_init(&s->rc->work, s, engine_round, s);
}

void snic_rc_exit(SnicState *s)
{
    snic_work_exit(&s->rc->work);
    g_free(s->rc);
    s->rc = NULL;
}
