/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads, stores and atomics of the host, from the moment they meet a window to
 * the answer or the log (M-30 to M-35).
 */
#include "g2g.h"
#include "qemu/bswap.h"

uint8_t g2g_access_check(const G2gWindow *w, uint64_t offset, unsigned len,
                         uint32_t right)
{
    if (w->state == KIWI_G2G_WINDOW_DEAD) {
        return g2g_window_dead_status(w);
    }
    if (len > w->length || offset > w->length - len) {
        return KIWI_G2G_ST_DECODE_ERROR;
    }
    return w->rights & right ? KIWI_G2G_ST_OK : KIWI_G2G_ST_PROTECTION;
}

bool g2g_access_begin(G2gState *s, G2gAccess *a, const void *atomic)
{
    G2gWindow *w = a->window;
    G2gPeer *p = s->peer[w->accel];
    int tag = g2g_tag_new(p, G2G_TAG_ACCESS, a);
    struct kiwi_g2g_tx *tx;
    G2gPdu *pdu;

    if (tag < 0) {
        return false;
    }
    a->tag = tag;
    a->done = false;
    QTAILQ_INSERT_TAIL(&w->accesses, a, next);
    if (a->kind == KIWI_G2G_LOG_ATOMIC) {
        pdu = g2g_pdu_new(KIWI_G2G_TX_ATOMIC,
                          sizeof(struct kiwi_g2g_tx_atomic));
        g2g_pdu_tx(pdu)->status = a->status;
        memcpy(g2g_pdu_payload(pdu), atomic, sizeof(struct kiwi_g2g_tx_atomic));
    } else {
        pdu = g2g_pdu_new(KIWI_G2G_TX_READ, 0);
    }
    tx = g2g_pdu_tx(pdu);
    tx->tag = cpu_to_le16(tag);
    tx->len = cpu_to_le16(a->len);
    tx->addr = cpu_to_le64(w->export_offset + a->offset);
    tx->key = cpu_to_le32(w->key);
    g2g_stream_send(p, pdu);
    return true;
}

static void finish(G2gState *s, G2gAccess *a, uint8_t status)
{
    QTAILQ_REMOVE(&a->window->accesses, a, next);
    a->status = status;
    if (status) {
        memset(a->data, 0xff, sizeof(a->data));
        s->count.poisoned++;
        s->count.timeouts += status == KIWI_G2G_ST_TIMEOUT;
        g2g_log(s, a->kind, a->window->number, a->window->accel, status,
                a->offset, a->len);
    }
    a->done = true;
    if (a->kind == KIWI_G2G_LOG_ATOMIC) {
        g2g_cell_done(s, a);
    }
    qemu_cond_broadcast(&s->answered);
}

void g2g_access_end(G2gState *s, G2gAccess *a, uint8_t status)
{
    g2g_tag_orphan(s->peer[a->window->accel], a->tag);
    finish(s, a, status);
}

void g2g_access_answered(G2gPeer *p, G2gAccess *a,
                         const struct kiwi_g2g_tx *tx, const void *data)
{
    uint8_t status = tx->status;

    if (!status && le16_to_cpu(tx->len) != a->len) {
        status = KIWI_G2G_ST_DECODE_ERROR;
    }
    if (!status) {
        memcpy(a->data, data, a->len);
    }
    finish(p->s, a, status);
}

/*
 * Stores
 */

void g2g_access_store(G2gState *s, G2gWindow *w, uint64_t offset,
                      const void *data, unsigned size)
{
    G2gPdu *pdu = g2g_pdu_new(KIWI_G2G_TX_WRITE, size);
    struct kiwi_g2g_tx *tx = g2g_pdu_tx(pdu);

    pdu->window = w;
    pdu->offset = offset;
    tx->len = cpu_to_le16(size);
    tx->addr = cpu_to_le64(w->export_offset + offset);
    tx->key = cpu_to_le32(w->key);
    memcpy(g2g_pdu_payload(pdu), data, size);
    g2g_stream_send(s->peer[w->accel], pdu);
}

typedef struct Drop {
    G2gState *s;
    G2gWindow *w;
    uint8_t status;
} Drop;

static bool is_dropped(G2gPdu *pdu, void *opaque)
{
    const Drop *d = opaque;

    if (pdu->window != d->w) {
        return false;
    }
    d->s->count.stores_dropped++;
    g2g_log(d->s, KIWI_G2G_LOG_STORE, d->w->number, d->w->accel, d->status,
            pdu->offset, le16_to_cpu(g2g_pdu_tx(pdu)->len));
    return true;
}

void g2g_access_drop_stores(G2gState *s, G2gWindow *w, uint8_t status)
{
    Drop drop = { .s = s, .w = w, .status = status };

    g2g_stream_withdraw(s->peer[w->accel], is_dropped, &drop);
}
