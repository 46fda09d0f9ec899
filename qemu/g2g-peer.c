/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Peers and the sessions with them (F-50 to F-53, W-20 to W-24).
 */
#include "g2g.h"
#include "qemu/bswap.h"
#include "qemu/guest-random.h"

/* HELLO is repeated so many times in peer_ms. */
#define REPEATS     8
#define ANSWER_NS   (10 * SCALE_MS)

static int64_t peer_ns(const G2gPeer *p)
{
    return (int64_t)p->s->peer_ms * SCALE_MS;
}

G2gPeer *g2g_peer_find(G2gState *s, uint32_t accel)
{
    return accel < s->accels ? s->peer[accel] : NULL;
}

bool g2g_peer_up(const G2gPeer *p)
{
    return p && p->state == KIWI_G2G_PEER_ESTABLISHED;
}

G2gPeer *g2g_peer_need(G2gState *s, uint16_t accel)
{
    G2gPeer *p = s->peer[accel];

    if (!p) {
        p = g_new0(G2gPeer, 1);
        p->s = s;
        p->accel = accel;
        p->shot = g_hash_table_new(NULL, NULL);
        for (int i = 0; i < G2G_CLASSES; i++) {
            QSIMPLEQ_INIT(&p->stream[i].unacked);
            QSIMPLEQ_INIT(&p->stream[i].control);
            QSIMPLEQ_INIT(&p->stream[i].memory);
            for (int path = 0; path < MSGQ_PATHS; path++) {
                QSIMPLEQ_INIT(&p->stream[i].message[path]);
            }
        }
        g2g_stream_reset(p);
        s->peer[accel] = p;
    }
    return p;
}

static void peer_set(G2gPeer *p, uint8_t state, uint8_t reason)
{
    uint8_t old = p->state;

    p->state = state;
    p->reason = reason;
    if (state != old) {
        g2g_event(p->s, KIWI_G2G_EV_PEER, state, p->accel, reason);
    }
}

/*
 * Control frames
 */

static void send_control(G2gPeer *p, uint8_t type, uint8_t reason,
                         uint32_t heard)
{
    G2gState *s = p->s;
    struct kiwi_g2g_hello hello = {
        .type = type,
        .reason = reason,
        .partition = cpu_to_le16(s->partition),
        .session = cpu_to_le32(s->session[p->accel]),
        .heard = cpu_to_le32(heard),
        .epoch = cpu_to_le32(s->epoch),
        .serial = cpu_to_le64(KIWI(s)->serial),
        .image_id = s->image->id,
        .mail = cpu_to_le16(g2g_mail_kept(s)),
        .image_version = s->image->version,
    };

    memcpy(hello.pod, s->pod, sizeof(hello.pod));
    memcpy(hello.image_hash, s->image->hash, sizeof(hello.image_hash));
    g2g_frame_send_control(s, p->accel, &hello);
}

static void send_hello(G2gPeer *p)
{
    send_control(p, KIWI_G2G_HELLO, 0, p->heard);
    p->hello_at = g2g_now() + peer_ns(p) / REPEATS;
    g2g_wake_at(p->s, p->hello_at);
}

/* Whether an answer may be given now. */
static bool may_answer(G2gPeer *p)
{
    int64_t now = g2g_now();

    if (now < p->answer_at) {
        return false;
    }
    p->answer_at = now + ANSWER_NS;
    return true;
}

/*
 * The life of a session
 */

static void new_session(G2gPeer *p)
{
    uint32_t *session = &p->s->session[p->accel];

    if (!++*session) {
        *session = 1;
    }
    p->heard = 0;
}

void g2g_peer_seek(G2gPeer *p, uint8_t reason)
{
    new_session(p);
    peer_set(p, KIWI_G2G_PEER_SEEKING, reason);
    send_hello(p);
}

static uint8_t window_reason(const G2gPeer *p, uint8_t state, uint8_t reason)
{
    return state == KIWI_G2G_PEER_ISOLATED ? KIWI_G2G_WHY_ISOLATED : reason;
}

/* F-51, and on to another state. */
static void session_end(G2gPeer *p, uint8_t state, uint8_t reason)
{
    G2gState *s = p->s;
    bool was_up = g2g_peer_up(p);
    uint8_t why = window_reason(p, state, reason);
    g_autofree G2gWindow **dead = NULL;
    g_autoptr(GArray) lost = g_array_new(false, false, sizeof(uint32_t));
    unsigned count = 0;

    if (was_up) {
        /* Nothing is taken from it any more, and nothing sent. */
        p->state = KIWI_G2G_PEER_NONE;
        s->count.peers_lost++;
        dead = g_new(G2gWindow *, s->windows.fresh);
        for (uint32_t n = 1; n < s->windows.fresh; n++) {
            G2gWindow *w = s->windows.object[n];

            if (w && w->accel == p->accel &&
                w->state != KIWI_G2G_WINDOW_DEAD) {
                g2g_window_kill(s, w, why);
                dead[count++] = w;
            }
        }
        g2g_export_peer_gone(s, p->accel);
        g2g_mail_peer_gone(p);
        g2g_message_peer_gone(p, lost);
        g2g_stream_reset(p);
        p->state = KIWI_G2G_PEER_ESTABLISHED;
    }
    p->heard = 0;
    if (state == KIWI_G2G_PEER_SEEKING) {
        g2g_peer_seek(p, reason);
    } else {
        if (was_up && state == KIWI_G2G_PEER_MISMATCH) {
            new_session(p);
        }
        peer_set(p, state, reason);
    }
    for (unsigned i = 0; i < count; i++) {
        g2g_window_event(s, dead[i]);
    }
    for (unsigned i = 0; i < lost->len; i++) {
        msgq_event(&s->msgq, KIWI_EV_QP_ERROR, KIWI_CQE_ST_RETRY_EXC_ERR,
                   g_array_index(lost, uint32_t, i), 0);
    }
    g2g_kick(s);
}

void g2g_peer_leave(G2gPeer *p, uint8_t bye, uint8_t state, uint8_t reason)
{
    if (p->heard) {
        send_control(p, KIWI_G2G_BYE, bye, p->heard);
    }
    session_end(p, state, reason);
}

void g2g_peer_isolate(G2gPeer *p, uint8_t reason)
{
    p->s->count.isolations++;
    g2g_peer_leave(p, KIWI_G2G_WHY_ISOLATED, KIWI_G2G_PEER_ISOLATED, reason);
}

void g2g_peer_protocol(G2gPeer *p, uint8_t op)
{
    p->s->count.protocol++;
    g2g_log(p->s, KIWI_G2G_LOG_PROTOCOL, op, p->accel, KIWI_G2G_ST_DECODE_ERROR,
            0, 0);
    g2g_peer_leave(p, KIWI_G2G_WHY_PROTOCOL, KIWI_G2G_PEER_SEEKING,
                   KIWI_G2G_WHY_PROTOCOL);
}

static void established(G2gPeer *p, const struct kiwi_g2g_hello *hello)
{
    g2g_stream_reset(p);
    p->generation++;
    p->mail_limit = le16_to_cpu(hello->mail);
    p->mail_sent = p->mail_taken = p->mail_got = p->mail_read = 0;
    p->want_room = false;
    send_hello(p);
    peer_set(p, KIWI_G2G_PEER_ESTABLISHED, KIWI_G2G_WHY_NONE);
}

/*
 * What control frames say
 */

static uint8_t disagreement(G2gState *s, const struct kiwi_g2g_hello *hello)
{
    if (memcmp(hello->pod, s->pod, sizeof(s->pod))) {
        return KIWI_G2G_WHY_POD;
    }
    if (le32_to_cpu(hello->epoch) != s->epoch) {
        return KIWI_G2G_WHY_EPOCH;
    }
    if (le16_to_cpu(hello->partition) != s->partition) {
        return KIWI_G2G_WHY_PARTITION;
    }
    if (hello->image_id != s->image->id ||
        hello->image_version != s->image->version ||
        memcmp(hello->image_hash, s->image->hash, sizeof(hello->image_hash))) {
        return KIWI_G2G_WHY_IMAGE;
    }
    return KIWI_G2G_WHY_NONE;
}

static void refuse(G2gPeer *p, const struct kiwi_g2g_hello *hello, uint8_t why)
{
    if (may_answer(p)) {
        send_control(p, KIWI_G2G_REFUSE, why, le32_to_cpu(hello->session));
    }
}

static void rx_hello(G2gPeer *p, const struct kiwi_g2g_hello *hello)
{
    G2gState *s = p->s;
    uint32_t session = le32_to_cpu(hello->session);
    uint8_t why = disagreement(s, hello);

    if (p->state == KIWI_G2G_PEER_ISOLATED) {
        refuse(p, hello, KIWI_G2G_WHY_ISOLATED);
        return;
    }
    if (!g2g_active(s)) {
        refuse(p, hello, KIWI_G2G_WHY_FABRIC);
        return;
    }
    if (g2g_peer_up(p) && session != p->heard) {
        session_end(p, KIWI_G2G_PEER_SEEKING, KIWI_G2G_WHY_RESTARTED);
    }
    if (why) {
        session_end(p, KIWI_G2G_PEER_MISMATCH, why);
        refuse(p, hello, why);
        return;
    }
    p->silent_since = g2g_now();
    p->heard = session;
    if (le32_to_cpu(hello->heard) != s->session[p->accel]) {
        if (may_answer(p)) {
            send_hello(p);
        }
    } else if (!g2g_peer_up(p)) {
        established(p, hello);
    }
}

static void rx_refuse(G2gPeer *p, uint8_t reason)
{
    if (p->state == KIWI_G2G_PEER_NONE || p->state == KIWI_G2G_PEER_ISOLATED) {
        return;
    }
    if (reason != KIWI_G2G_WHY_FABRIC) {
        session_end(p, KIWI_G2G_PEER_MISMATCH, reason);
    } else if (p->state != KIWI_G2G_PEER_SEEKING) {
        session_end(p, KIWI_G2G_PEER_SEEKING, reason);
    }
}

void g2g_peer_control(G2gPort *port, uint16_t src,
                      const struct kiwi_g2g_hello *hello)
{
    G2gState *s = port->s;
    uint64_t serial = le64_to_cpu(hello->serial);
    G2gPeer *p;
    bool ours;

    if (src == s->accel) {
        if (serial != KIWI(s)->serial) {
            g2g_log(s, KIWI_G2G_LOG_ID_CONFLICT, 0, src, KIWI_G2G_ST_OK, serial,
                    0);
            g2g_fabric_conflict(s);
        }
        return;
    }
    if (!g2g_route_known(s, src)) {
        port->count.unroutable++;
        return;
    }
    p = g2g_peer_need(s, src);
    if (g2g_peer_up(p) && p->serial != serial) {
        g2g_log(s, KIWI_G2G_LOG_ID_CONFLICT, 0, src, KIWI_G2G_ST_OK, serial, 0);
        return;
    }
    p->serial = serial;
    p->image_id = le16_to_cpu(hello->image_id);
    p->image_version = le32_to_cpu(hello->image_version);
    p->epoch = le32_to_cpu(hello->epoch);
    p->partition = le16_to_cpu(hello->partition);
    ours = le32_to_cpu(hello->heard) == s->session[src];
    if (hello->type == KIWI_G2G_HELLO) {
        rx_hello(p, hello);
    } else if (ours && hello->type == KIWI_G2G_REFUSE) {
        rx_refuse(p, hello->reason);
    } else if (ours && g2g_peer_up(p)) {
        session_end(p, KIWI_G2G_PEER_SEEKING, hello->reason);
    }
}

int64_t g2g_peer_tick(G2gPeer *p, int64_t now)
{
    int64_t next;

    if (p->state == KIWI_G2G_PEER_NONE || p->state == KIWI_G2G_PEER_ISOLATED) {
        return G2G_NEVER;
    }
    if (now >= p->hello_at) {
        send_hello(p);
    }
    if (!g2g_peer_up(p)) {
        return p->hello_at;
    }
    next = g2g_stream_tick(p, now);
    if (g2g_peer_up(p) && now - p->silent_since >= peer_ns(p)) {
        next = 0;
    }
    if (next <= now) {
        session_end(p, KIWI_G2G_PEER_SEEKING, KIWI_G2G_WHY_TIMEOUT);
        return p->hello_at;
    }
    return MIN(next, MIN(p->hello_at, p->silent_since + peer_ns(p)));
}

/*
 * All of them
 */

void g2g_peer_init(G2gState *s)
{
    s->peer = g_new0(G2gPeer *, s->accels);
    s->session = g_new(uint32_t, s->accels);
    qemu_guest_getrandom_nofail(s->session, s->accels * sizeof(*s->session));
    for (unsigned i = 0; i < s->accels; i++) {
        s->session[i] |= !s->session[i];
    }
}

void g2g_peer_exit(G2gState *s)
{
    g_free(s->peer);
    g_free(s->session);
}

void g2g_peer_reset(G2gState *s)
{
    for (unsigned i = 0; i < s->accels; i++) {
        if (s->peer[i]) {
            g2g_stream_reset(s->peer[i]);
            g_hash_table_destroy(s->peer[i]->shot);
            g_free(s->peer[i]);
            s->peer[i] = NULL;
        }
    }
}

/*
 * Commands
 */

enum kiwi_status g2g_peer_check(G2gState *s, KiwiCall *c, size_t field,
                                uint32_t accel)
{
    enum kiwi_status st = kiwi_check_range(c, field, accel, 0, s->accels - 1);

    if (!st && g2g_configured(s) && accel == s->accel) {
        st = kiwi_refuse(c, KIWI_ST_BAD_PARAM, field, accel, 0);
    }
    return st;
}

static enum kiwi_status peer_in(G2gState *s, KiwiCall *c, uint32_t *accel)
{
    const struct kiwi_cmd_id *in = (void *)c->in;
    enum kiwi_status st;

    *accel = le32_to_cpu(in->id);
    st = g2g_peer_check(s, c, offsetof(typeof(*in), id), *accel);
    return st ? st : kiwi_id_check(c);
}

enum kiwi_status g2g_query_peer_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_peer *out = (void *)c->out;
    uint32_t accel;
    enum kiwi_status st = peer_in(s, c, &accel);
    const G2gPeer *p;

    if (st) {
        return st;
    }
    out->accel = cpu_to_le16(accel);
    out->bindings = cpu_to_le32(g2g_export_bindings(s, accel));
    out->windows = cpu_to_le32(g2g_window_count(s, accel));
    p = s->peer[accel];
    if (p) {
        out->state = p->state;
        out->reason = p->reason;
        out->generation = cpu_to_le32(p->generation);
        out->serial = cpu_to_le64(p->serial);
        out->image_id = cpu_to_le16(p->image_id);
        out->mail_room = cpu_to_le16(g2g_mail_room(p));
        out->image_version = cpu_to_le32(p->image_version);
        out->epoch = cpu_to_le32(p->epoch);
        out->partition = cpu_to_le16(p->partition);
    }
    return KIWI_ST_OK;
}

enum kiwi_status g2g_isolate_peer_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    uint32_t accel;
    enum kiwi_status st = peer_in(s, c, &accel);
    G2gPeer *p;

    if (st) {
        return st;
    }
    if (!g2g_configured(s)) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, KIWI_ERR_FIELD_NONE, s->state,
                           0);
    }
    p = g2g_peer_need(s, accel);
    if (p->state == KIWI_G2G_PEER_ISOLATED) {
        return kiwi_refuse_id(c, KIWI_ST_BAD_STATE, 0);
    }
    g2g_peer_isolate(p, KIWI_G2G_WHY_ADMIN);
    return KIWI_ST_OK;
}

enum kiwi_status g2g_recover_peer_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    uint32_t accel;
    enum kiwi_status st = peer_in(s, c, &accel);
    G2gPeer *p;

    if (st) {
        return st;
    }
    p = s->peer[accel];
    if (!p || p->state != KIWI_G2G_PEER_ISOLATED) {
        return kiwi_refuse_id(c, KIWI_ST_BAD_STATE, 0);
    }
    if (g2g_active(s) && g2g_route_known(s, accel)) {
        g2g_peer_seek(p, KIWI_G2G_WHY_ADMIN);
    } else {
        peer_set(p, KIWI_G2G_PEER_NONE, KIWI_G2G_WHY_ADMIN);
    }
    return KIWI_ST_OK;
}
