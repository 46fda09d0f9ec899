/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports: configuration, state, counters (F-10 to F-12).
 */
#include "g2g.h"
#include "qemu/bswap.h"

static const G2gConfig default_config = {
    .mode = KIWI_G2G_PORT_DIRECT,
    .mtu = KIWI_G2G_MTU_MAX,
};

static unsigned port_station(const G2gPort *port)
{
    return port->number / (port->s->ports / port->s->stations);
}

bool g2g_port_routable(const G2gPort *port)
{
    return port->state == KIWI_G2G_PORT_UP &&
           port->config.flags & KIWI_G2G_PORT_ROUTABLE;
}

uint32_t g2g_ports_routable(G2gState *s)
{
    uint32_t ports = 0;

    for (unsigned i = 0; i < s->ports; i++) {
        ports |= (uint32_t)g2g_port_routable(&s->port[i]) << i;
    }
    return ports;
}

uint16_t g2g_port_limit(const G2gPort *port)
{
    return MIN(port->config.mtu, le16_to_cpu(port->s->image->mtu));
}

void g2g_port_mac(const G2gPort *port, uint16_t accel, uint8_t *mac)
{
    mac[0] = KIWI_G2G_MAC_OUI >> 16;
    mac[1] = KIWI_G2G_MAC_OUI >> 8 & 0xff;
    mac[2] = KIWI_G2G_MAC_OUI & 0xff;
    mac[3] = 0;
    for (unsigned i = 0; i < sizeof(port->s->pod); i++) {
        mac[3] ^= port->s->pod[i];
    }
    mac[4] = port->number << 2 | accel >> 8;
    mac[5] = accel & 0xff;
}

void g2g_port_set(G2gPort *port, uint8_t state, uint8_t reason)
{
    bool was_up = port->state == KIWI_G2G_PORT_UP;

    if (port->state == state && port->reason == reason) {
        return;
    }
    port->state = state;
    port->reason = reason;
    if (was_up != (state == KIWI_G2G_PORT_UP)) {
        g2g_hop_reset(port);
    }
    if (was_up && state != KIWI_G2G_PORT_UP) {
        port->count.link_down++;
    } else if (!was_up && state == KIWI_G2G_PORT_UP) {
        port->ups++;
    }
    g2g_event(port->s, KIWI_G2G_EV_PORT, state, port->number, reason);
    g2g_fabric_update(port->s);
}

uint8_t g2g_port_unfit(const G2gPort *port)
{
    const struct kiwi_g2g_image *image = port->s->image;

    if ((port->config.flags & KIWI_G2G_PORT_LLR) &&
        !(image->reliability & KIWI_G2G_REL_LLR)) {
        return KIWI_G2G_WHY_LLR;
    }
    return image->flow & 1 << port->config.flow ? KIWI_G2G_WHY_NONE
                                                : KIWI_G2G_WHY_FLOW;
}

void g2g_port_restart(G2gPort *port)
{
    memset(&port->now, 0, sizeof(port->now));
    memset(&port->before, 0, sizeof(port->before));
    port->turns_until = 0;
    port->exhausted_until = 0;
    if (!(port->config.flags & KIWI_G2G_PORT_ENABLED)) {
        g2g_port_set(port, KIWI_G2G_PORT_DOWN, KIWI_G2G_WHY_ADMIN);
    } else if (!g2g_configured(port->s)) {
        g2g_port_set(port, KIWI_G2G_PORT_DOWN, KIWI_G2G_WHY_NOT_CONFIGURED);
    } else if (g2g_port_unfit(port)) {
        g2g_port_set(port, KIWI_G2G_PORT_FAULT, g2g_port_unfit(port));
    } else if (!g2g_net_carrier(port)) {
        g2g_port_set(port, KIWI_G2G_PORT_TRAINING, KIWI_G2G_WHY_NO_CARRIER);
    } else {
        g2g_link_begin(port, KIWI_G2G_WHY_NONE);
    }
}

void g2g_port_carrier(G2gPort *port)
{
    if (kiwi_running(KIWI(port->s)) && port->state != KIWI_G2G_PORT_DOWN) {
        g2g_port_restart(port);
    }
}

void g2g_port_reset(G2gPort *port)
{
    port->config = default_config;
    port->state = KIWI_G2G_PORT_DOWN;
    port->reason = KIWI_G2G_WHY_ADMIN;
    port->ups = 0;
    port->flap_until = 0;
    port->exhausted_until = 0;
    g2g_hop_reset(port);
    memset(&port->now, 0, sizeof(port->now));
    memset(&port->before, 0, sizeof(port->before));
    memset(&port->count, 0, sizeof(port->count));
    g2g_net_reset(port);
}

/*
 * Commands
 */

#define SET_FIELD(member) offsetof(struct kiwi_g2g_set_port_in, member)

/* A value of 0 to @max that @mask has. */
static enum kiwi_status check_mask(KiwiCall *c, size_t field, uint8_t value,
                                   uint8_t max, uint8_t mask)
{
    enum kiwi_status st = kiwi_check_range(c, field, value, 0, max);

    return st || mask & 1 << value
           ? st : kiwi_refuse(c, KIWI_ST_BAD_PARAM, field, value, mask);
}

static enum kiwi_status check_fields(G2gState *s, KiwiCall *c,
                                     const struct kiwi_g2g_set_port_in *in)
{
    const uint8_t known = KIWI_G2G_PORT_ENABLED | KIWI_G2G_PORT_ROUTABLE |
                          KIWI_G2G_PORT_LLR;
    bool llr = in->config.flags & KIWI_G2G_PORT_LLR;
    enum kiwi_status st;

    st = kiwi_check_range(c, SET_FIELD(port), le32_to_cpu(in->port), 0,
                          s->ports - 1);
    if (!st) {
        st = kiwi_check_zero(c, SET_FIELD(rsvd), sizeof(in->rsvd));
    }
    if (!st && in->config.flags & ~known) {
        st = kiwi_refuse(c, KIWI_ST_BAD_RESERVED, SET_FIELD(config.flags),
                         in->config.flags, known);
    }
    if (!st && llr && (!kiwi_accepted(KIWI(s), KIWI_G2G_CAP_LLR) ||
                       in->config.mode == KIWI_G2G_PORT_SWITCHED)) {
        st = kiwi_refuse(c, KIWI_ST_BAD_PARAM, SET_FIELD(config.flags),
                         in->config.flags, known & ~KIWI_G2G_PORT_LLR);
    }
    if (!st) {
        st = kiwi_check_range(c, SET_FIELD(config.mode), in->config.mode,
                              KIWI_G2G_PORT_DIRECT, KIWI_G2G_PORT_SWITCHED);
    }
    if (!st) {
        st = kiwi_check_range(c, SET_FIELD(config.lanes), in->config.lanes,
                              in->config.flags & KIWI_G2G_PORT_ENABLED ? 1 : 0,
                              (1 << s->lanes) - 1);
    }
    if (!st) {
        st = check_mask(c, SET_FIELD(config.fec), in->config.fec,
                        KIWI_G2G_FEC_RS272, KIWI_G2G_FEC_ALL);
    }
    if (!st) {
        st = check_mask(c, SET_FIELD(config.flow), in->config.flow,
                        KIWI_G2G_FLOW_CBFC, g2g_flows(s));
    }
    if (!st && in->config.flow == KIWI_G2G_FLOW_CBFC && !llr) {
        st = kiwi_refuse(c, KIWI_ST_BAD_PARAM, SET_FIELD(config.flow),
                         in->config.flow, 0);
    }
    if (!st) {
        st = kiwi_check_zero(c, SET_FIELD(config.rsvd), 1);
    }
    return st ? st : kiwi_check_range(c, SET_FIELD(config.mtu),
                                      le16_to_cpu(in->config.mtu),
                                      KIWI_G2G_MTU_MIN, KIWI_G2G_MTU_MAX);
}

/* The lanes that other enabled ports of the station have. */
static uint8_t lanes_taken(const G2gPort *port)
{
    G2gState *s = port->s;
    uint8_t taken = 0;

    for (unsigned i = 0; i < s->ports; i++) {
        const G2gPort *other = &s->port[i];

        if (other != port && port_station(other) == port_station(port) &&
            other->config.flags & KIWI_G2G_PORT_ENABLED) {
            taken |= other->config.lanes;
        }
    }
    return taken;
}

static bool only_routable_differs(const G2gConfig *a, const G2gConfig *b)
{
    return !((a->flags ^ b->flags) & ~KIWI_G2G_PORT_ROUTABLE) &&
           a->mode == b->mode && a->lanes == b->lanes && a->fec == b->fec &&
           a->flow == b->flow && a->mtu == b->mtu;
}

enum kiwi_status g2g_set_port_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_set_port_in *in = (void *)c->in;
    enum kiwi_status st = check_fields(s, c, in);
    G2gConfig old;
    G2gPort *port;

    if (st) {
        return st;
    }
    port = &s->port[le32_to_cpu(in->port)];
    if (in->config.lanes & lanes_taken(port)) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, SET_FIELD(config.lanes),
                           in->config.lanes, lanes_taken(port));
    }
    if (in->config.flags & KIWI_G2G_PORT_ENABLED &&
        le16_to_cpu(in->config.mtu) < g2g_message_pdu_min(s)) {
        return kiwi_refuse(c, KIWI_ST_BUSY, SET_FIELD(config.mtu),
                           le16_to_cpu(in->config.mtu), g2g_message_pdu_min(s));
    }
    old = port->config;
    port->config = (G2gConfig) {
        .flags = in->config.flags,
        .mode = in->config.mode,
        .lanes = in->config.lanes,
        .fec = in->config.fec,
        .flow = in->config.flow,
        .mtu = le16_to_cpu(in->config.mtu),
    };
    if (!only_routable_differs(&old, &port->config)) {
        g2g_port_restart(port);
    }
    g2g_fabric_update(s);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_query_port_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_port *out = (void *)c->out;
    uint32_t number;
    enum kiwi_status st = g2g_number_in(c, s->ports, &number);
    const struct kiwi_g2g_link_train *train;
    G2gPort *port;

    if (st) {
        return st;
    }
    port = &s->port[number];
    train = &port->now.train;
    out->config = (struct kiwi_g2g_port_config) {
        .flags = port->config.flags,
        .mode = port->config.mode,
        .lanes = port->config.lanes,
        .fec = port->config.fec,
        .flow = port->config.flow,
        .mtu = cpu_to_le16(port->config.mtu),
    };
    out->state = port->state;
    out->reason = port->reason;
    out->station = port_station(port);
    out->neighbour = cpu_to_le16(KIWI_G2G_ACCEL_NONE);
    if (port->now.nonce) {
        out->neighbour = train->accel;
        out->neighbour_port = train->port;
        out->neighbour_image_id = train->image_id;
        out->neighbour_image_version = train->image_version;
    }
    if (g2g_configured(s)) {
        g2g_port_mac(port, s->accel, out->mac);
    }
    if (port->state == KIWI_G2G_PORT_UP) {
        out->mbps = cpu_to_le32(ctpop8(port->config.lanes) * s->lane_mbps);
    }
    out->ups = cpu_to_le32(port->ups);
    return KIWI_ST_OK;
}

QEMU_BUILD_BUG_ON(sizeof(G2gPortCounters) !=
                  offsetof(struct kiwi_g2g_port_counters, rsvd));

enum kiwi_status g2g_query_port_counters_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    uint32_t number;
    enum kiwi_status st = g2g_number_in(c, s->ports, &number);

    if (!st) {
        g2g_put_counters(c, &s->port[number].count, sizeof(G2gPortCounters));
    }
    return st;
}
