/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs over RoCEv2: addresses, and the way of packets to and from ports.
 */
#include "snic.h"
#include "qemu/bswap.h"

#define IN_FIELD(member) offsetof(struct kiwi_snic_modify_qp_in, member)

#define UDP_SPORT_BASE  0xc000

static SnicState *state(const Msgq *s)
{
    return KIWI_SNIC(s->k);
}

static SnicPort *qp_port(const MsgqQp *qp)
{
    return snic_port(state(qp->s), qp->attr.port);
}

/*
 * Addresses
 */

static enum kiwi_status check_address(Msgq *s, KiwiCall *c, size_t offset)
{
    const struct kiwi_snic_modify_qp_in *in = (void *)c->in;
    uint16_t sport = le16_to_cpu(in->attr.udp_sport);

    if (offset == IN_FIELD(attr.dmac) && (in->attr.dmac[0] & 1)) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, offset,
                           kiwi_le_value(in->attr.dmac, 6), 0);
    }
    if (offset == IN_FIELD(attr.udp_sport) && sport) {
        return kiwi_check_range(c, offset, sport, UDP_SPORT_BASE, UINT16_MAX);
    }
    return KIWI_ST_OK;
}

static enum kiwi_status check_resolved(Msgq *s, KiwiCall *c, const MsgqQp *qp,
                                       uint32_t mask)
{
    const struct kiwi_snic_modify_qp_in *in = (void *)c->in;
    const struct kiwi_qp_attr *a = &in->attr;
    SnicPort *port = qp_port(qp);
    const SnicGid *sgid;

    if ((mask & KIWI_QP_ATTR_MTU) && a->mtu > port->mtu) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(attr.mtu), a->mtu,
                           port->mtu);
    }
    if (!(mask & KIWI_QP_ATTR_AV)) {
        return KIWI_ST_OK;
    }
    sgid = &port->gids[a->sgid_index];
    if (sgid->type == KIWI_GID_NONE) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(attr.sgid_index),
                           a->sgid_index, 0);
    }
    if (!snic_gid_is_unicast(a->dgid) ||
        roce_gid_is_ipv4(a->dgid) != roce_gid_is_ipv4(sgid->gid)) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, IN_FIELD(attr.dgid),
                           ldq_le_p(a->dgid + 8), 0);
    }
    return KIWI_ST_OK;
}

static void take_address(Msgq *s, MsgqQpAttr *to, const struct kiwi_qp_attr *a)
{
    to->hop_limit = a->hop_limit ? a->hop_limit : 64;
    memcpy(to->sgid, snic_port(state(s), to->port)->gids[a->sgid_index].gid,
           sizeof(to->sgid));
}

/*
 * Packets
 */

static MsgqCounters *counters(const MsgqQp *qp)
{
    return &qp_port(qp)->count.qp;
}

static bool has_room(const MsgqQp *qp, MsgqPath path)
{
    return snic_port_can_send(qp_port(qp));
}

static uint8_t *build(const MsgqQp *qp, uint8_t *frame, const RocePacket *pkt)
{
    const MsgqQpAttr *a = &qp->attr;
    RocePath path = {
        .flow_label = a->flow_label,
        .traffic_class = a->traffic_class,
        .hop_limit = a->hop_limit,
        /* Connections differ in it, so that a network may spread them. */
        .udp_sport = a->udp_sport ?:
            UDP_SPORT_BASE | (qp->number * 2654435761u ^ a->dest_qpn) >> 18,
    };

    memcpy(path.smac, qp_port(qp)->conf.macaddr.a, sizeof(path.smac));
    memcpy(path.dmac, a->dmac, sizeof(path.dmac));
    memcpy(path.sgid, a->sgid, sizeof(path.sgid));
    memcpy(path.dgid, a->dgid, sizeof(path.dgid));
    return roce_build(frame, &path, pkt);
}

static void send_frame(MsgqQp *qp, MsgqPath path, const uint8_t *frame,
                       size_t len)
{
    snic_port_send(qp_port(qp), frame, len);
}

const MsgqOps snic_roce_ops = {
    .check_address = check_address,
    .check_resolved = check_resolved,
    .take_address = take_address,
    .counters = counters,
    .has_room = has_room,
    .build = build,
    .finish = roce_finish,
    .send = send_frame,
};

static bool from_peer(const MsgqQp *qp, const SnicPort *port,
                      const RocePacket *pkt)
{
    return qp->attr.port == port->number &&
           !memcmp(pkt->sgid, qp->attr.dgid, sizeof(pkt->sgid)) &&
           !memcmp(pkt->dgid, qp->attr.sgid, sizeof(pkt->dgid));
}

void snic_roce_rx(SnicPort *port, const uint8_t *frame, size_t len)
{
    RocePacket pkt;
    MsgqQp *qp;

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
    qp = msgq_rc_find(&port->s->msgq, &pkt);
    if (!qp || !from_peer(qp, port, &pkt)) {
        port->count.rx_no_qp++;
        return;
    }
    msgq_rc_rx(qp, &pkt);
}
