/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports: state, GID table, counters, and their commands.
 */
#include "snic.h"
#include "qemu/bswap.h"
#include "roce.h"

SnicPort *snic_port(SnicState *s, unsigned number)
{
    assert(number >= 1 && number <= s->msgq.ports);
    return &s->port[number - 1];
}

bool snic_port_active(const SnicPort *port)
{
    return port->enabled && snic_net_link_up(port);
}

void snic_port_update(SnicPort *port)
{
    bool active = snic_port_active(port);

    if (active == port->active) {
        return;
    }
    port->active = active;
    if (snic_running(port->s)) {
        msgq_event(&port->s->msgq, KIWI_EV_PORT_CHANGE,
                   active ? KIWI_PORT_ACTIVE : KIWI_PORT_DOWN, port->number, 0);
    }
}

void snic_port_reset(SnicPort *port)
{
    port->enabled = true;
    port->active = snic_port_active(port);
    port->mtu = port->s->msgq.mtu_max;
    memset(port->gids, 0, port->s->msgq.num_gids * sizeof(*port->gids));
    memset(&port->count, 0, sizeof(port->count));
    snic_wire_reset(port);
    snic_net_reset(port);
}

void snic_port_init(SnicPort *port, SnicState *s, unsigned number)
{
    port->s = s;
    port->number = number;
    port->gids = g_new0(SnicGid, s->msgq.num_gids);
    snic_net_init(port);
    snic_wire_init(port);
}

void snic_port_exit(SnicPort *port)
{
    snic_wire_exit(port);
    snic_net_exit(port);
    g_free(port->gids);
}

/*
 * Commands
 */

static enum kiwi_status check_port(SnicState *s, KiwiCall *c, SnicPort **port)
{
    const struct kiwi_cmd_id *in = (void *)c->in;
    uint32_t number = le32_to_cpu(in->id);
    enum kiwi_status st;

    st = kiwi_check_range(c, offsetof(typeof(*in), id), number, 1, s->msgq.ports);
    if (!st) {
        st = kiwi_id_check(c);
    }
    if (!st) {
        *port = snic_port(s, number);
    }
    return st;
}

enum kiwi_status snic_query_port_cmd(KiwiState *k, KiwiCall *c)
{
    SnicState *s = KIWI_SNIC(k);
    struct kiwi_snic_port *out = (void *)c->out;
    SnicPort *port;
    enum kiwi_status st = check_port(s, c, &port);

    if (st) {
        return st;
    }
    out->state = snic_port_active(port) ? KIWI_PORT_ACTIVE : KIWI_PORT_DOWN;
    out->enabled = port->enabled;
    out->mtu = port->mtu;
    out->mtu_max = s->msgq.mtu_max;
    out->mbps = cpu_to_le32(snic_port_active(port) ? s->msgq.link_mbps : 0);
    memcpy(out->mac, port->conf.macaddr.a, sizeof(out->mac));
    return KIWI_ST_OK;
}

QEMU_BUILD_BUG_ON(sizeof(SnicPortCounters) !=
                  offsetof(struct kiwi_snic_port_counters, rsvd));

enum kiwi_status snic_query_port_counters_cmd(KiwiState *k, KiwiCall *c)
{
    const size_t num = sizeof(SnicPortCounters) / sizeof(uint64_t);
    const uint64_t *value;
    SnicPort *port;
    enum kiwi_status st = check_port(KIWI_SNIC(k), c, &port);

    if (st) {
        return st;
    }
    value = (const uint64_t *)&port->count;
    for (size_t i = 0; i < num; i++) {
        stq_le_p(c->out + i * sizeof(uint64_t), value[i]);
    }
    return KIWI_ST_OK;
}

#define SET_FIELD(member) offsetof(struct kiwi_snic_set_port_in, member)

enum kiwi_status snic_set_port_cmd(KiwiState *k, KiwiCall *c)
{
    SnicState *s = KIWI_SNIC(k);
    const struct kiwi_snic_set_port_in *in = (void *)c->in;
    uint32_t number = le32_to_cpu(in->port);
    enum kiwi_status st;
    SnicPort *port;

    st = kiwi_check_range(c, SET_FIELD(port), number, 1, s->msgq.ports);
    if (!st) {
        st = kiwi_check_range(c, SET_FIELD(enabled), in->enabled, 0, 1);
    }
    if (!st) {
        st = kiwi_check_range(c, SET_FIELD(mtu), in->mtu, KIWI_MTU_256,
                              s->msgq.mtu_max);
    }
    if (!st) {
        st = kiwi_check_zero(c, SET_FIELD(rsvd), sizeof(in->rsvd));
    }
    if (st) {
        return st;
    }
    port = snic_port(s, number);
    port->enabled = in->enabled;
    port->mtu = in->mtu;
    snic_port_update(port);
    return KIWI_ST_OK;
}

#define GID_FIELD(member) offsetof(struct kiwi_snic_set_gid_in, member)

bool snic_gid_is_unicast(const uint8_t gid[16])
{
    static const uint8_t zero[15];
    const uint8_t *ip = gid + 12;

    if (roce_gid_is_ipv4(gid)) {
        return ip[0] != 0 && ip[0] != 127 && ip[0] < 224;
    }
    /* Not multicast, not ::, not ::1 */
    return gid[0] != 0xff && (memcmp(gid, zero, 15) || gid[15] > 1);
}

static enum kiwi_status check_gid(SnicState *s, KiwiCall *c,
                                  const struct kiwi_snic_set_gid_in *in)
{
    enum kiwi_status st;

    st = kiwi_check_range(c, GID_FIELD(port), le32_to_cpu(in->port), 1,
                          s->msgq.ports);
    if (!st) {
        st = kiwi_check_range(c, GID_FIELD(index), in->index, 0,
                              s->msgq.num_gids - 1);
    }
    if (!st && in->type != KIWI_GID_NONE && in->type != KIWI_GID_ROCE_V2) {
        st = kiwi_refuse(c, KIWI_ST_BAD_PARAM, GID_FIELD(type), in->type,
                         KIWI_GID_ROCE_V2);
    }
    if (!st) {
        st = kiwi_check_zero(c, GID_FIELD(rsvd), sizeof(in->rsvd));
    }
    if (!st && in->type == KIWI_GID_NONE) {
        st = kiwi_check_zero(c, GID_FIELD(gid), sizeof(in->gid));
    }
    if (!st && in->type == KIWI_GID_ROCE_V2 && !snic_gid_is_unicast(in->gid)) {
        st = kiwi_refuse(c, KIWI_ST_BAD_PARAM, GID_FIELD(gid),
                         ldq_le_p(in->gid + 8), 0);
    }
    return st;
}

enum kiwi_status snic_set_gid_cmd(KiwiState *k, KiwiCall *c)
{
    SnicState *s = KIWI_SNIC(k);
    const struct kiwi_snic_set_gid_in *in = (void *)c->in;
    enum kiwi_status st = check_gid(s, c, in);
    SnicPort *port;

    if (st) {
        return st;
    }
    port = snic_port(s, le32_to_cpu(in->port));
    for (unsigned i = 0; i < s->msgq.num_gids; i++) {
        if (in->type != KIWI_GID_NONE && i != in->index &&
            port->gids[i].type != KIWI_GID_NONE &&
            !memcmp(port->gids[i].gid, in->gid, sizeof(in->gid))) {
            return kiwi_refuse(c, KIWI_ST_BAD_PARAM, GID_FIELD(gid), i, 0);
        }
    }
    port->gids[in->index].type = in->type;
    memcpy(port->gids[in->index].gid, in->gid, sizeof(in->gid));
    return KIWI_ST_OK;
}
