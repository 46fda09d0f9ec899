/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PDU frames of a port with link-level replay (W-50), and perhaps credits (W-53).
 */
#include "g2g.h"
#include "qemu/bswap.h"

#define WINDOW      256         /* frames kept until they are acknowledged */
#define CREDITS     32          /* frames of a virtual channel that we take */
#define TRIES       8           /* replays without progress */
#define DUE_NS      (1 * SCALE_MS)
/* Frames of others that wait here, where their link has no credits. */
#define FORWARDS_MAX 1024

typedef struct G2gHopFrame {
    QSIMPLEQ_ENTRY(G2gHopFrame) next;
    G2gPort *from;              /* forwarded: whose buffer it keeps, or NULL */
    uint32_t from_ups;
    uint8_t from_vc;
    size_t len;                 /* without trailer */
    uint8_t data[];             /* room for a trailer behind it */
} G2gHopFrame;

typedef QSIMPLEQ_HEAD(, G2gHopFrame) G2gHopFrames;

struct G2gHop {
    G2gHopFrames waiting[KIWI_G2G_VCS];
    unsigned num_waiting;
    G2gHopFrames kept;          /* sent and not acknowledged */
    uint16_t una;               /* of the first of kept */
    uint16_t next;
    unsigned tries;
    int64_t resend_at;
    uint32_t sent[KIWI_G2G_VCS];
    uint32_t room[KIWI_G2G_VCS];    /* freed, as the other end told */

    uint16_t expected;
    bool nacked;
    unsigned owed;              /* frames taken and not acknowledged */
    int64_t ack_at;
    uint32_t got[KIWI_G2G_VCS];
    uint32_t freed[KIWI_G2G_VCS];
    uint32_t told[KIWI_G2G_VCS];
    int64_t credit_at;
};

bool g2g_hop_replays(const G2gPort *port)
{
    return port->config.flags & KIWI_G2G_PORT_LLR;
}

static bool has_credits(const G2gPort *port)
{
    return port->config.flow == KIWI_G2G_FLOW_CBFC;
}

static int64_t resend_ns(const G2gPort *port)
{
    return (int64_t)MIN(port->s->link_ms / 8, port->s->replay_ms) * SCALE_MS;
}

uint16_t g2g_hop_window(const G2gPort *port)
{
    return g2g_hop_replays(port) ? WINDOW : 1;
}

uint16_t g2g_hop_credits(const G2gPort *port)
{
    return has_credits(port) ? CREDITS : 1;
}

/*
 * Credits given
 */

static void send_credit(G2gPort *port)
{
    G2gHop *hop = port->hop;
    struct kiwi_g2g_link_credit credit = { };

    for (int vc = 0; vc < KIWI_G2G_VCS; vc++) {
        hop->told[vc] = hop->freed[vc];
        credit.freed[vc] = cpu_to_le32(hop->freed[vc]);
    }
    hop->credit_at = G2G_NEVER;
    g2g_link_send(port, KIWI_G2G_LINK_CREDIT, &credit, sizeof(credit));
}

void g2g_hop_credit(G2gPort *port)
{
    if (has_credits(port) && port->state == KIWI_G2G_PORT_UP) {
        send_credit(port);
    }
}

/* The buffer of a frame that came by this port is free again. */
static void give_back(G2gPort *port, uint8_t vc)
{
    G2gHop *hop = port->hop;

    hop->freed[vc]++;
    if (hop->freed[vc] - hop->told[vc] >= CREDITS / 4) {
        send_credit(port);
    } else if (hop->credit_at == G2G_NEVER) {
        hop->credit_at = g2g_now() + DUE_NS;
        g2g_wake_at(port->s, hop->credit_at);
    }
}

/* The frame leaves this die, or is dropped here. */
static void release(G2gHopFrame *f)
{
    G2gPort *from = f->from;

    f->from = NULL;
    if (from && from->state == KIWI_G2G_PORT_UP && from->ups == f->from_ups) {
        give_back(from, f->from_vc);
    }
}

/*
 * Sending
 */

static void transmit(G2gPort *port, G2gHopFrame *f, uint16_t seq)
{
    size_t len = g2g_frame_seal(f->data, f->len, KIWI_G2G_TRAILER_LLR, seq);

    g2g_net_send(port, f->data, len);
}

static bool has_credit(const G2gPort *port, uint8_t vc)
{
    const G2gHop *hop = port->hop;
    uint32_t given = le16_to_cpu(port->now.train.credits[vc]) + hop->room[vc];

    return !has_credits(port) || (int32_t)(given - hop->sent[vc]) > 0;
}

/* Sends the first that waits on a channel; false: none, or it may not yet. */
static bool send_one(G2gPort *port, uint8_t vc)
{
    G2gHop *hop = port->hop;
    G2gHopFrame *f = QSIMPLEQ_FIRST(&hop->waiting[vc]);

    if (!f || !has_credit(port, vc) ||
        (uint16_t)(hop->next - hop->una) >= WINDOW) {
        return false;
    }
    QSIMPLEQ_REMOVE_HEAD(&hop->waiting[vc], next);
    hop->num_waiting--;
    hop->sent[vc]++;
    if (hop->next == hop->una) {
        hop->resend_at = g2g_now() + resend_ns(port);
        g2g_wake_at(port->s, hop->resend_at);
    }
    QSIMPLEQ_INSERT_TAIL(&hop->kept, f, next);
    transmit(port, f, hop->next++);
    release(f);
    return true;
}

/* The channels take turns. */
static void run(G2gPort *port)
{
    bool more = port->state == KIWI_G2G_PORT_UP;

    while (more) {
        more = false;
        for (int vc = 0; vc < KIWI_G2G_VCS; vc++) {
            more |= send_one(port, vc);
        }
    }
}

void g2g_hop_send(G2gPort *port, uint8_t vc, const uint8_t *frame, size_t len,
                  G2gPort *from, uint8_t from_vc)
{
    G2gHop *hop = port->hop;
    bool keeps = from && has_credits(from);
    G2gHopFrame *f;

    if (from && !keeps && hop->num_waiting >= FORWARDS_MAX) {
        from->count.rx_overrun++;
        return;
    }
    f = g_malloc(sizeof(*f) + len + sizeof(struct kiwi_g2g_trailer));
    f->from = keeps ? from : NULL;
    f->from_ups = keeps ? from->ups : 0;
    f->from_vc = from_vc;
    f->len = len;
    memcpy(f->data, frame, len);
    QSIMPLEQ_INSERT_TAIL(&hop->waiting[vc], f, next);
    hop->num_waiting++;
    if (!has_credit(port, vc)) {
        port->count.credit_stall++;
    }
    run(port);
}

static void resend(G2gPort *port)
{
    G2gHop *hop = port->hop;
    uint16_t seq = hop->una;
    G2gHopFrame *f;

    if (hop->tries++ == TRIES) {
        port->count.llr_exhausted++;
        port->exhausted_until = g2g_now() +
                                (int64_t)port->s->link_ms * SCALE_MS;
        g2g_wake_at(port->s, port->exhausted_until);
        g2g_port_set(port, KIWI_G2G_PORT_FAULT, KIWI_G2G_WHY_LLR_EXHAUSTED);
        return;
    }
    hop->resend_at = g2g_now() + resend_ns(port);
    g2g_wake_at(port->s, hop->resend_at);
    QSIMPLEQ_FOREACH(f, &hop->kept, next) {
        port->count.llr_replayed++;
        transmit(port, f, seq++);
    }
}

void g2g_hop_rx_ack(G2gPort *port, uint16_t next, bool nack)
{
    G2gHop *hop = port->hop;
    uint16_t count = next - hop->una;

    if (count > (uint16_t)(hop->next - hop->una)) {
        return;
    }
    port->count.llr_nack += nack;
    if (count) {
        hop->tries = 0;
        hop->resend_at = g2g_now() + resend_ns(port);
    }
    for (; count; count--) {
        G2gHopFrame *f = QSIMPLEQ_FIRST(&hop->kept);

        QSIMPLEQ_REMOVE_HEAD(&hop->kept, next);
        hop->una++;
        g_free(f);
    }
    if (nack && hop->una != hop->next) {
        resend(port);
    }
    run(port);
}

void g2g_hop_rx_credit(G2gPort *port, const __le32 *freed)
{
    if (!has_credits(port)) {
        return;
    }
    for (int vc = 0; vc < KIWI_G2G_VCS; vc++) {
        uint32_t now = le32_to_cpu(freed[vc]);

        /* An old one, or one of frames never sent, says nothing. */
        if (now - port->hop->room[vc] <=
            port->hop->sent[vc] - port->hop->room[vc]) {
            port->hop->room[vc] = now;
        }
    }
    run(port);
}

/*
 * Receiving
 */

static void send_ack(G2gPort *port, enum kiwi_g2g_link_type type)
{
    struct kiwi_g2g_link_ack ack = {
        .next = cpu_to_le16(port->hop->expected),
    };

    port->hop->owed = 0;
    port->hop->ack_at = G2G_NEVER;
    g2g_link_send(port, type, &ack, sizeof(ack));
}

static void nack(G2gPort *port)
{
    if (!port->hop->nacked) {
        port->hop->nacked = true;
        send_ack(port, KIWI_G2G_LINK_NACK);
    }
}

void g2g_hop_rx_bad(G2gPort *port)
{
    if (g2g_hop_replays(port) && port->state == KIWI_G2G_PORT_UP) {
        nack(port);
    }
}

static bool in_sequence(G2gPort *port, uint16_t seq)
{
    G2gHop *hop = port->hop;
    int16_t ahead = seq - hop->expected;

    if (ahead < 0) {
        send_ack(port, KIWI_G2G_LINK_ACK);
        return false;
    }
    if (ahead > 0) {
        nack(port);
        return false;
    }
    hop->expected++;
    hop->nacked = false;
    if (++hop->owed >= MAX(le16_to_cpu(port->now.train.llr_window) / 4, 1)) {
        send_ack(port, KIWI_G2G_LINK_ACK);
    } else if (hop->ack_at == G2G_NEVER) {
        hop->ack_at = g2g_now() + DUE_NS;
        g2g_wake_at(port->s, hop->ack_at);
    }
    return true;
}

bool g2g_hop_rx(G2gPort *port, uint16_t seq, uint8_t vc)
{
    G2gHop *hop = port->hop;

    if (!in_sequence(port, seq)) {
        return false;
    }
    if (!has_credits(port)) {
        return true;
    }
    if (++hop->got[vc] - hop->told[vc] > CREDITS) {
        port->count.rx_overrun++;
        give_back(port, vc);
        return false;
    }
    return true;
}

void g2g_hop_rx_done(G2gPort *port, uint8_t vc)
{
    if (has_credits(port) && port->state == KIWI_G2G_PORT_UP) {
        give_back(port, vc);
    }
}

/*
 * Time
 */

int64_t g2g_hop_tick(G2gPort *port, int64_t now)
{
    G2gHop *hop = port->hop;
    int64_t next;

    if (port->state != KIWI_G2G_PORT_UP) {
        return G2G_NEVER;
    }
    if (now >= hop->ack_at) {
        send_ack(port, KIWI_G2G_LINK_ACK);
    }
    if (now >= hop->credit_at) {
        send_credit(port);
    }
    next = MIN(hop->ack_at, hop->credit_at);
    if (hop->una == hop->next) {
        return next;
    }
    if (now >= hop->resend_at) {
        resend(port);
    }
    return MIN(next, hop->resend_at);
}

static void drop_all(G2gHopFrames *frames)
{
    G2gHopFrame *f;

    while ((f = QSIMPLEQ_FIRST(frames))) {
        QSIMPLEQ_REMOVE_HEAD(frames, next);
        release(f);
        g_free(f);
    }
}

void g2g_hop_reset(G2gPort *port)
{
    G2gHop *hop = port->hop;

    for (int vc = 0; vc < KIWI_G2G_VCS; vc++) {
        drop_all(&hop->waiting[vc]);
    }
    drop_all(&hop->kept);
    memset(hop, 0, sizeof(*hop));
    for (int vc = 0; vc < KIWI_G2G_VCS; vc++) {
        QSIMPLEQ_INIT(&hop->waiting[vc]);
    }
    QSIMPLEQ_INIT(&hop->kept);
    hop->ack_at = hop->credit_at = G2G_NEVER;
}

void g2g_hop_init(G2gPort *port)
{
    port->hop = g_new0(G2gHop, 1);
    for (int vc = 0; vc < KIWI_G2G_VCS; vc++) {
        QSIMPLEQ_INIT(&port->hop->waiting[vc]);
    }
    QSIMPLEQ_INIT(&port->hop->kept);
    g2g_hop_reset(port);
}

void g2g_hop_exit(G2gPort *port)
{
    g2g_hop_reset(port);
    g_free(port->hop);
}
