/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The fabric as this die sees it: identity, states (F-1), pause.
 */
#include "g2g.h"
#include "qemu/bswap.h"

/* A pause is looked at so often until it is drained. */
#define POLL_NS SCALE_MS

bool g2g_configured(const G2gState *s)
{
    return s->state != KIWI_G2G_FABRIC_UNCONFIGURED;
}

bool g2g_active(const G2gState *s)
{
    return s->state == KIWI_G2G_FABRIC_ACTIVE;
}

static uint8_t fabric_reason(G2gState *s)
{
    switch (s->state) {
    case KIWI_G2G_FABRIC_UNCONFIGURED:
        return KIWI_G2G_WHY_NOT_CONFIGURED;
    case KIWI_G2G_FABRIC_CONFIGURED:
        return g2g_route_any(s) ? KIWI_G2G_WHY_NO_PORT : KIWI_G2G_WHY_NO_ROUTES;
    case KIWI_G2G_FABRIC_ERROR:
        return KIWI_G2G_WHY_ID_CONFLICT;
    default:
        return KIWI_G2G_WHY_NONE;
    }
}

static void fabric_set(G2gState *s, uint8_t state)
{
    if (s->state != state) {
        s->state = state;
        g2g_event(s, KIWI_G2G_EV_FABRIC, state, 0, fabric_reason(s));
    }
}

static uint8_t idle_state(G2gState *s)
{
    return g2g_route_any(s) && g2g_ports_routable(s)
           ? KIWI_G2G_FABRIC_READY : KIWI_G2G_FABRIC_CONFIGURED;
}

void g2g_fabric_update(G2gState *s)
{
    if (s->state == KIWI_G2G_FABRIC_CONFIGURED ||
        s->state == KIWI_G2G_FABRIC_READY) {
        fabric_set(s, idle_state(s));
    }
}

static void set_paused(G2gState *s, bool paused)
{
    s->paused = paused;
    msgq_rc_pause(&s->msgq, paused);
}

static void leave_all(G2gState *s)
{
    set_paused(s, false);
    for (unsigned i = 0; i < s->accels; i++) {
        G2gPeer *p = s->peer[i];

        if (p && p->state != KIWI_G2G_PEER_NONE &&
            p->state != KIWI_G2G_PEER_ISOLATED) {
            g2g_peer_leave(p, KIWI_G2G_WHY_FABRIC, KIWI_G2G_PEER_NONE,
                           KIWI_G2G_WHY_FABRIC);
        }
    }
}

void g2g_fabric_conflict(G2gState *s)
{
    if (g2g_active(s)) {
        leave_all(s);
        fabric_set(s, KIWI_G2G_FABRIC_ERROR);
    }
}

void g2g_fabric_restart(G2gState *s)
{
    if (s->accel >= MIN(s->accels, g2g_image_accels(s))) {
        memset(s->pod, 0, sizeof(s->pod));
        s->accel = 0;
        s->partition = 0;
        s->epoch = 0;
        fabric_set(s, KIWI_G2G_FABRIC_UNCONFIGURED);
    }
    g2g_route_forget(s);
    for (unsigned i = 0; i < s->ports; i++) {
        g2g_port_restart(&s->port[i]);
    }
    g2g_fabric_update(s);
}

void g2g_fabric_reset(G2gState *s)
{
    s->state = KIWI_G2G_FABRIC_UNCONFIGURED;
    memset(s->pod, 0, sizeof(s->pod));
    s->accel = 0;
    s->partition = 0;
    s->epoch = 0;
    s->paused = false;
}

/*
 * Pause (F-5)
 */

static bool in_flight(G2gState *s)
{
    for (unsigned i = 0; i < s->accels; i++) {
        if (s->peer[i] && g2g_peer_up(s->peer[i]) &&
            !g2g_stream_idle(s->peer[i])) {
            return true;
        }
    }
    return g2g_message_in_flight(s);
}

static void resume(G2gState *s)
{
    set_paused(s, false);
    for (unsigned i = 0; i < s->accels; i++) {
        if (s->peer[i] && g2g_peer_up(s->peer[i])) {
            g2g_stream_run(s->peer[i]);
        }
    }
}

int64_t g2g_fabric_tick(G2gState *s, int64_t now)
{
    if (!s->paused) {
        return G2G_NEVER;
    }
    if (now >= s->pause_until) {
        resume(s);
        g2g_event(s, KIWI_G2G_EV_PAUSE, KIWI_G2G_PAUSE_EXPIRED, 0, 0);
        return G2G_NEVER;
    }
    if (!s->drained && !in_flight(s)) {
        s->drained = true;
        g2g_event(s, KIWI_G2G_EV_PAUSE, KIWI_G2G_PAUSE_DRAINED, 0, 0);
    }
    return s->drained ? s->pause_until : MIN(s->pause_until, now + POLL_NS);
}

/*
 * Commands
 */

static enum kiwi_status refuse_state(KiwiCall *c, uint64_t value)
{
    return kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, value, 0);
}

static uint32_t live(G2gState *s)
{
    const uint64_t *diag = KIWI(s)->diag;

    return diag[KIWI_DIAG_LIVE_EXPORT] + diag[KIWI_DIAG_LIVE_WINDOW] +
           diag[KIWI_DIAG_LIVE_QP];
}

enum kiwi_status g2g_fabric_unused(G2gState *s, KiwiCall *c)
{
    return live(s) ? kiwi_refuse(c, KIWI_ST_BUSY, KIWI_ERR_FIELD_NONE, live(s),
                                 0)
                   : KIWI_ST_OK;
}

#define SET_FIELD(member) offsetof(struct kiwi_g2g_set_fabric_in, member)

enum kiwi_status g2g_set_fabric_cmd(KiwiState *k, KiwiCall *c)
{
    static const uint8_t nil[16];
    G2gState *s = KIWI_G2G(k);
    const struct kiwi_g2g_set_fabric_in *in = (void *)c->in;
    enum kiwi_status st;

    if (!memcmp(in->pod, nil, sizeof(nil))) {
        return kiwi_refuse(c, KIWI_ST_BAD_PARAM, SET_FIELD(pod), 0, 0);
    }
    st = kiwi_check_range(c, SET_FIELD(accel), le16_to_cpu(in->accel), 0,
                          MIN(s->accels, g2g_image_accels(s)) - 1);
    if (!st) {
        st = kiwi_check_range(c, SET_FIELD(partition),
                              le16_to_cpu(in->partition), 0,
                              KIWI_G2G_PARTITION_MAX);
    }
    if (st) {
        return st;
    }
    if (g2g_active(s) || s->state == KIWI_G2G_FABRIC_ERROR) {
        return refuse_state(c, s->state);
    }
    st = g2g_fabric_unused(s, c);
    if (st) {
        return st;
    }
    memcpy(s->pod, in->pod, sizeof(s->pod));
    s->accel = le16_to_cpu(in->accel);
    s->partition = le16_to_cpu(in->partition);
    s->epoch = le32_to_cpu(in->epoch);
    g2g_route_forget(s);
    fabric_set(s, KIWI_G2G_FABRIC_CONFIGURED);
    g2g_fabric_restart(s);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_query_fabric_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_fabric *out = (void *)c->out;
    uint32_t up = 0, peers = 0;

    for (unsigned i = 0; i < s->ports; i++) {
        up |= (s->port[i].state == KIWI_G2G_PORT_UP) << i;
    }
    for (unsigned i = 0; i < s->accels; i++) {
        peers += g2g_peer_up(s->peer[i]);
    }
    memcpy(out->config.pod, s->pod, sizeof(s->pod));
    out->config.accel = cpu_to_le16(s->accel);
    out->config.partition = cpu_to_le16(s->partition);
    out->config.epoch = cpu_to_le32(s->epoch);
    out->state = s->state;
    out->reason = fabric_reason(s);
    out->slot = s->active_slot;
    out->msg_mtu = kiwi_accepted(k, KIWI_G2G_CAP_MSGQ) ? g2g_message_mtu(s) : 0;
    out->paused = s->paused;
    out->routes = cpu_to_le32(s->active.generation);
    out->ports_up = cpu_to_le32(up);
    out->ports_routable = cpu_to_le32(g2g_ports_routable(s));
    out->peers = cpu_to_le32(peers);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_activate_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);

    if (s->state != KIWI_G2G_FABRIC_READY) {
        return refuse_state(c, s->state);
    }
    fabric_set(s, KIWI_G2G_FABRIC_ACTIVE);
    for (unsigned i = 0; i < s->accels; i++) {
        if (g2g_route_known(s, i) &&
            g2g_peer_need(s, i)->state == KIWI_G2G_PEER_NONE) {
            g2g_peer_seek(s->peer[i], KIWI_G2G_WHY_NONE);
        }
    }
    return KIWI_ST_OK;
}

enum kiwi_status g2g_deactivate_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    enum kiwi_status st;

    if (!g2g_active(s) && s->state != KIWI_G2G_FABRIC_ERROR) {
        return refuse_state(c, s->state);
    }
    st = g2g_fabric_unused(s, c);
    if (st) {
        return st;
    }
    leave_all(s);
    fabric_set(s, idle_state(s));
    return KIWI_ST_OK;
}

enum kiwi_status g2g_pause_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);

    if (!g2g_active(s) || s->paused) {
        return refuse_state(c, s->state);
    }
    set_paused(s, true);
    s->drained = false;
    s->pause_until = g2g_now() + (int64_t)s->pause_ms * SCALE_MS;
    g2g_kick(s);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_resume_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);

    if (!s->paused) {
        return refuse_state(c, s->state);
    }
    resume(s);
    return KIWI_ST_OK;
}
