/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * End to end: go-back-N for each class of a session (W-40 to W-42).
 */
#include "g2g.h"
#include "qemu/bswap.h"

#define ACK_PDUS        16
#define ACK_NS          (1 * SCALE_MS)
/* With more answers than these waiting, requests are taken later (W-10). */
#define BACKLOG_MAX     1024

static int64_t resend_ns(const G2gPeer *p)
{
    return (int64_t)MIN(p->s->peer_ms / 8, p->s->resend_ms) * SCALE_MS;
}

static uint8_t op_class(uint8_t op)
{
    return op >> 7 ? KIWI_G2G_CLASS_RSP : KIWI_G2G_CLASS_REQ;
}

static bool is_memory(uint8_t op)
{
    switch (op) {
    case KIWI_G2G_TX_READ:
    case KIWI_G2G_TX_WRITE:
    case KIWI_G2G_TX_ATOMIC:
    case KIWI_G2G_TX_READ_RSP:
    case KIWI_G2G_TX_WRITE_ERR:
    case KIWI_G2G_TX_ATOMIC_RSP:
        return true;
    default:
        return false;
    }
}

static uint8_t pdu_op(G2gPdu *pdu)
{
    return g2g_pdu_tx(pdu)->op;
}

G2gPdu *g2g_pdu_new(enum kiwi_g2g_tx_op op, uint16_t len)
{
    size_t size = sizeof(struct kiwi_g2g_tx) + ROUND_UP(len, 8);
    G2gPdu *pdu = g_malloc0(sizeof(*pdu) + size);

    pdu->len = size;
    g2g_pdu_tx(pdu)->op = op;
    return pdu;
}

/*
 * Sending
 */

static void transmit(G2gPeer *p, uint8_t class, G2gPdu *pdu, uint16_t psn)
{
    G2gStream *st = &p->stream[class];

    st->owed = 0;
    st->ack_at = G2G_NEVER;
    g2g_frame_send_pdu(p, KIWI_G2G_PDU_DATA, class, psn, st->expected, pdu->tx,
                       pdu->len);
}

static void send_ack(G2gPeer *p, uint8_t class, enum kiwi_g2g_pdu op)
{
    G2gStream *st = &p->stream[class];

    st->owed = 0;
    st->ack_at = G2G_NEVER;
    p->s->count.acks++;
    g2g_frame_send_pdu(p, op, class, 0, st->expected, NULL, 0);
}

static void count_pdu(G2gState *s, uint8_t op)
{
    if (is_memory(op)) {
        s->count.memory_pdus++;
    } else if (op == KIWI_G2G_TX_MESSAGE) {
        s->count.message_pdus++;
    } else {
        s->count.control_pdus++;
    }
}

static G2gPdu *take_from(G2gPdus *pdus, uint32_t *count)
{
    G2gPdu *pdu = QSIMPLEQ_FIRST(pdus);

    if (pdu) {
        QSIMPLEQ_REMOVE_HEAD(pdus, next);
        (*count)--;
    }
    return pdu;
}

static G2gPdu *take_memory(G2gPeer *p, G2gStream *st)
{
    G2gPdu *pdu = take_from(&st->memory, &st->memory_count);

    if (pdu) {
        qemu_cond_broadcast(&p->s->answered);
    }
    return pdu;
}

/* After control, memory and messages in turn. */
static G2gPdu *take_next(G2gPeer *p, G2gStream *st)
{
    G2gPdu *pdu = take_from(&st->control, &st->control_count);

    for (int i = 0; !pdu && i <= MSGQ_PATHS; i++) {
        st->turn = (st->turn + 1) % (MSGQ_PATHS + 1);
        if (st->turn < MSGQ_PATHS) {
            pdu = take_from(&st->message[st->turn],
                            &st->message_count[st->turn]);
        } else if (!p->s->paused) {
            pdu = take_memory(p, st);
        }
    }
    return pdu;
}

static void stream_run(G2gPeer *p, uint8_t class)
{
    G2gStream *st = &p->stream[class];
    int64_t now = g2g_now();
    G2gPdu *pdu;

    while ((uint16_t)(st->next - st->una) < G2G_WINDOW &&
           (pdu = take_next(p, st))) {
        if (st->next == st->una) {
            st->progress_at = now;
            st->resend_at = now + resend_ns(p);
            g2g_wake_at(p->s, st->resend_at);
        }
        QSIMPLEQ_INSERT_TAIL(&st->unacked, pdu, next);
        count_pdu(p->s, pdu_op(pdu));
        transmit(p, class, pdu, st->next++);
    }
}

void g2g_stream_run(G2gPeer *p)
{
    for (int class = 0; class < G2G_CLASSES; class++) {
        stream_run(p, class);
    }
}

void g2g_stream_send(G2gPeer *p, G2gPdu *pdu)
{
    uint8_t op = pdu_op(pdu), class = op_class(op);
    G2gStream *st = &p->stream[class];

    if (class == KIWI_G2G_CLASS_REQ && is_memory(op)) {
        QSIMPLEQ_INSERT_TAIL(&st->memory, pdu, next);
        st->memory_count++;
    } else {
        QSIMPLEQ_INSERT_TAIL(&st->control, pdu, next);
        st->control_count++;
    }
    stream_run(p, class);
}

void g2g_stream_send_message(G2gPeer *p, G2gPdu *pdu, MsgqPath path)
{
    G2gStream *st = &p->stream[KIWI_G2G_CLASS_REQ];

    QSIMPLEQ_INSERT_TAIL(&st->message[path], pdu, next);
    st->message_count[path]++;
    stream_run(p, KIWI_G2G_CLASS_REQ);
}

static void resend_from(G2gPeer *p, uint8_t class, uint16_t psn)
{
    G2gStream *st = &p->stream[class];
    uint16_t at = st->una;
    G2gPdu *pdu;

    QSIMPLEQ_FOREACH(pdu, &st->unacked, next) {
        if ((int16_t)(at - psn) >= 0) {
            p->s->count.retransmitted++;
            transmit(p, class, pdu, at);
        }
        at++;
    }
    st->resend_at = g2g_now() + resend_ns(p);
}

void g2g_stream_withdraw(G2gPeer *p, bool (*found)(G2gPdu *pdu, void *opaque),
                         void *opaque)
{
    G2gStream *st = &p->stream[KIWI_G2G_CLASS_REQ];
    G2gPdu *pdu, *next;

    QSIMPLEQ_FOREACH_SAFE(pdu, &st->memory, next, next) {
        if (found(pdu, opaque)) {
            QSIMPLEQ_REMOVE(&st->memory, pdu, G2gPdu, next);
            st->memory_count--;
            g_free(pdu);
        }
    }
    qemu_cond_broadcast(&p->s->answered);
}

/* Packets wait only while others are not acknowledged. */
bool g2g_stream_idle(const G2gPeer *p)
{
    int answers = 0;
    G2gPdu *pdu;

    for (int class = 0; class < G2G_CLASSES; class++) {
        if (p->stream[class].next != p->stream[class].una) {
            return false;
        }
    }
    for (int i = 0; i < G2G_TAGS; i++) {
        answers += p->tag[i].use == G2G_TAG_ACCESS ||
                   p->tag[i].use == G2G_TAG_BIND;
    }
    QSIMPLEQ_FOREACH(pdu, &p->stream[KIWI_G2G_CLASS_REQ].memory, next) {
        answers -= pdu_op(pdu) != KIWI_G2G_TX_WRITE;    /* not asked yet */
    }
    return !answers;
}

/*
 * Receiving
 */

static void acknowledged(G2gPeer *p, uint8_t class, uint16_t rpsn, bool nack)
{
    G2gStream *st = &p->stream[class];
    uint16_t count = rpsn - st->una;
    G2gPdu *pdu;

    if (count > (uint16_t)(st->next - st->una)) {
        return;
    }
    if (count) {
        st->progress_at = g2g_now();
        st->resend_at = st->progress_at + resend_ns(p);
    }
    for (; count; count--) {
        pdu = QSIMPLEQ_FIRST(&st->unacked);
        QSIMPLEQ_REMOVE_HEAD(&st->unacked, next);
        st->una++;
        g_free(pdu);
    }
    if (nack) {
        resend_from(p, class, rpsn);
    }
    stream_run(p, class);
}

static void taken(G2gPeer *p, uint8_t class, const uint8_t *tx, uint16_t len)
{
    G2gStream *st = &p->stream[class];

    st->expected++;
    st->nacked = false;
    st->owed++;
    if (st->ack_at == G2G_NEVER) {
        st->ack_at = g2g_now() + ACK_NS;
        g2g_wake_at(p->s, st->ack_at);
    }
    if (!g2g_tx_run(p, class, tx, len)) {
        return;
    }
    if (st->owed >= ACK_PDUS) {
        send_ack(p, class, KIWI_G2G_PDU_ACK);
    }
}

void g2g_stream_rx(G2gPeer *p, G2gPort *port, const G2gHead *head,
                   const uint8_t *tx, uint16_t len)
{
    G2gState *s = p->s;
    uint8_t class = head->vc % G2G_CLASSES;
    G2gStream *st = &p->stream[class];
    uint32_t answers = p->stream[KIWI_G2G_CLASS_RSP].control_count;
    int16_t ahead = head->psn - st->expected;

    p->silent_since = g2g_now();
    acknowledged(p, class, head->rpsn, head->op == KIWI_G2G_PDU_NACK);
    if (head->op != KIWI_G2G_PDU_DATA) {
        return;
    }
    if (ahead < 0) {
        s->count.duplicate++;
        send_ack(p, class, KIWI_G2G_PDU_ACK);
    } else if (ahead > 0) {
        s->count.out_of_sequence++;
        if (!st->nacked) {
            st->nacked = true;
            send_ack(p, class, KIWI_G2G_PDU_NACK);
        }
    } else if (class == KIWI_G2G_CLASS_RSP || answers <= BACKLOG_MAX) {
        taken(p, class, tx, len);
    }
}

/*
 * Time
 */

/* 0: no progress for too long. */
int64_t g2g_stream_tick(G2gPeer *p, int64_t now)
{
    int64_t limit = (int64_t)p->s->peer_ms * SCALE_MS;
    int64_t next = G2G_NEVER;

    for (int class = 0; class < G2G_CLASSES; class++) {
        G2gStream *st = &p->stream[class];

        if (now >= st->ack_at) {
            send_ack(p, class, KIWI_G2G_PDU_ACK);
        }
        next = MIN(next, st->ack_at);
        if (st->next == st->una) {
            continue;
        }
        if (now - st->progress_at >= limit) {
            return 0;
        }
        if (now >= st->resend_at) {
            resend_from(p, class, st->una);
        }
        next = MIN(next, MIN(st->resend_at, st->progress_at + limit));
    }
    return next;
}

static void drop_all(G2gPdus *pdus)
{
    G2gPdu *pdu;

    while ((pdu = QSIMPLEQ_FIRST(pdus))) {
        QSIMPLEQ_REMOVE_HEAD(pdus, next);
        g_free(pdu);
    }
}

void g2g_stream_reset(G2gPeer *p)
{
    for (int class = 0; class < G2G_CLASSES; class++) {
        G2gStream *st = &p->stream[class];

        drop_all(&st->unacked);
        drop_all(&st->control);
        drop_all(&st->memory);
        for (int path = 0; path < MSGQ_PATHS; path++) {
            drop_all(&st->message[path]);
            st->message_count[path] = 0;
        }
        st->control_count = st->memory_count = 0;
        st->una = st->next = st->expected = 0;
        st->nacked = false;
        st->owed = 0;
        st->ack_at = G2G_NEVER;
    }
    memset(p->tag, 0, sizeof(p->tag));
    g_hash_table_remove_all(p->shot);
    qemu_cond_broadcast(&p->s->answered);
}
