/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs over the fabric: addresses, and packets as MESSAGE transactions
 * (M-50 to M-55, W-33).
 */
#include "g2g.h"
#include "qemu/bswap.h"

#define IN_FIELD(member) offsetof(struct kiwi_snic_modify_qp_in, member)

/* Packets that wait in the stream of a peer, on each path. */
#define PACKETS_MAX 64

static G2gState *state(const Msgq *s)
{
    return KIWI_G2G(s->k);
}

static uint16_t accel_of(const uint8_t dgid[16])
{
    return lduw_be_p(dgid + KIWI_G2G_DGID_ACCEL);
}

static G2gPeer *qp_peer(const MsgqQp *qp)
{
    return g2g_peer_find(state(qp->s), accel_of(qp->attr.dgid));
}

/*
 * MTU (F-6)
 */

static uint32_t pdu_bytes(uint8_t mtu)
{
    return (128U << mtu) + KIWI_G2G_MESSAGE_ROOM;
}

uint8_t g2g_message_mtu(const G2gState *s)
{
    uint16_t limit = le16_to_cpu(s->image->mtu);
    uint8_t mtu = KIWI_MTU_4096;

    for (unsigned i = 0; i < s->ports; i++) {
        if (s->port[i].config.flags & KIWI_G2G_PORT_ENABLED) {
            limit = MIN(limit, s->port[i].config.mtu);
        }
    }
    while (pdu_bytes(mtu) > limit) {
        mtu--;
    }
    return mtu;
}

uint32_t g2g_message_pdu_min(G2gState *s)
{
    uint32_t bytes = 0;

    for (uint32_t n = s->msgq.qps.first; n < s->msgq.qps.fresh; n++) {
        const MsgqQp *qp = msgq_qp_find(&s->msgq, n);

        if (qp && qp->attr.mtu) {
            bytes = MAX(bytes, pdu_bytes(qp->attr.mtu));
        }
    }
    return bytes;
}

/*
 * Commands
 */

static enum kiwi_status check_create(Msgq *s, KiwiCall *c)
{
    G2gState *g = state(s);

    if (!(g->image->semantics & KIWI_G2G_SEM_MESSAGE)) {
        return kiwi_refuse(c, KIWI_ST_UNSUPPORTED, KIWI_ERR_FIELD_NONE, 0, 0);
    }
    return g2g_configured(g) ? KIWI_ST_OK
                             : kiwi_refuse(c, KIWI_ST_BAD_STATE,
                                           KIWI_ERR_FIELD_NONE, g->state, 0);
}

static bool names_peer(const G2gState *s, const uint8_t dgid[16])
{
    static const uint8_t zero[KIWI_G2G_DGID_ACCEL];

    return !memcmp(dgid, zero, sizeof(zero)) && accel_of(dgid) < s->accels &&
           !(g2g_configured(s) && accel_of(dgid) == s->accel);
}

static enum kiwi_status check_address(Msgq *s, KiwiCall *c, size_t offset)
{
    const struct kiwi_snic_modify_qp_in *in = (void *)c->in;
    const struct kiwi_qp_attr *a = &in->attr;
    uint64_t value = 0;

    switch (offset) {
    case IN_FIELD(attr.dmac):
        value = kiwi_le_value(a->dmac, sizeof(a->dmac));
        break;
    case IN_FIELD(attr.dgid):
        return names_peer(state(s), a->dgid)
               ? KIWI_ST_OK : kiwi_refuse(c, KIWI_ST_BAD_PARAM, offset,
                                          ldq_le_p(a->dgid + 8), 0);
    case IN_FIELD(attr.flow_label):
        value = le32_to_cpu(a->flow_label);
        break;
    case IN_FIELD(attr.udp_sport):
        value = le16_to_cpu(a->udp_sport);
        break;
    }
    return kiwi_check_range(c, offset, value, 0, 0);
}

static enum kiwi_status check_resolved(Msgq *s, KiwiCall *c, const MsgqQp *qp,
                                       uint32_t mask)
{
    const struct kiwi_snic_modify_qp_in *in = (void *)c->in;
    uint16_t accel = accel_of(in->attr.dgid);
    const G2gPeer *p = g2g_peer_find(state(s), accel);
    uint8_t mtu = g2g_message_mtu(state(s));

    if ((mask & KIWI_QP_ATTR_MTU) && in->attr.mtu > mtu) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(attr.mtu),
                           in->attr.mtu, mtu);
    }
    if ((mask & KIWI_QP_ATTR_AV) &&
        (!g2g_peer_up(p) || (qp->state == KIWI_QPS_SQD &&
                             accel != accel_of(qp->attr.dgid)))) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, IN_FIELD(attr.dgid),
                           p ? p->state : KIWI_G2G_PEER_NONE, 0);
    }
    return KIWI_ST_OK;
}

/*
 * Packets
 */

static MsgqCounters *counters(const MsgqQp *qp)
{
    return &state(qp->s)->count.qp;
}

static bool has_room(const MsgqQp *qp, MsgqPath path)
{
    const G2gPeer *p = qp_peer(qp);

    return !g2g_peer_up(p) ||
           p->stream[KIWI_G2G_CLASS_REQ].message_count[path] < PACKETS_MAX;
}

static uint8_t *build(const MsgqQp *qp, uint8_t *packet, const RocePacket *pkt)
{
    return roce_build_packet(packet, pkt);
}

static void send_packet(MsgqQp *qp, MsgqPath path, const uint8_t *packet,
                        size_t len)
{
    G2gPeer *p = qp_peer(qp);
    G2gPdu *pdu;

    if (!g2g_peer_up(p)) {
        return;
    }
    pdu = g2g_pdu_new(KIWI_G2G_TX_MESSAGE, len);
    g2g_pdu_tx(pdu)->len = cpu_to_le16(len);
    memcpy(g2g_pdu_payload(pdu), packet, len);
    g2g_stream_send_message(p, pdu, path);
}

void g2g_message_rx(G2gPeer *p, const uint8_t *packet, uint16_t len)
{
    G2gState *s = p->s;
    MsgqQp *qp = NULL;
    RocePacket pkt;

    if (roce_parse_packet(packet, len, &pkt)) {
        qp = msgq_rc_find(&s->msgq, &pkt);
    }
    if (!qp || qp_peer(qp) != p) {
        s->count.messages_dropped++;
        return;
    }
    msgq_rc_rx(qp, &pkt);
}

/*
 * Sessions and pauses
 */

void g2g_message_peer_gone(G2gPeer *p, GArray *lost)
{
    Msgq *m = &p->s->msgq;

    for (uint32_t n = m->qps.first; n < m->qps.fresh; n++) {
        MsgqQp *qp = msgq_qp_find(m, n);

        if (qp && qp_peer(qp) == p && msgq_rc_lost(qp)) {
            g_array_append_val(lost, n);
        }
    }
}

bool g2g_message_in_flight(G2gState *s)
{
    for (uint32_t n = s->msgq.qps.first; n < s->msgq.qps.fresh; n++) {
        const MsgqQp *qp = msgq_qp_find(&s->msgq, n);

        if (qp && msgq_rc_waits(qp)) {
            return true;
        }
    }
    return false;
}

/*
 * Life
 */

static const MsgqOps ops = {
    .check_create = check_create,
    .check_address = check_address,
    .check_resolved = check_resolved,
    .counters = counters,
    .has_room = has_room,
    .build = build,
    .finish = roce_finish_packet,
    .send = send_packet,
};

void g2g_message_init(G2gState *s)
{
    s->msgq.cap = KIWI_G2G_CAP_MSGQ;
    s->msgq.ports = 1;
    s->msgq.num_gids = 1;
    s->msgq.mtu_max = KIWI_MTU_4096;
    s->msgq.link_mbps = s->lane_mbps * s->lanes * s->stations;
    msgq_init(&s->msgq, KIWI(s), &ops);
}
