/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of peers, carried out on the memory of exports (M-2).
 */
#include "g2g.h"
#include "qemu/bswap.h"

/* Finds the binding; a status other than OK: why it is refused. */
static uint8_t check(G2gPeer *p, const struct kiwi_g2g_tx *tx, uint32_t right,
                     G2gBinding **binding)
{
    G2gState *s = p->s;
    uint64_t addr = le64_to_cpu(tx->addr);
    uint16_t len = le16_to_cpu(tx->len);
    G2gBinding *b = g_hash_table_lookup(s->bindings,
                                        GUINT_TO_POINTER(le32_to_cpu(tx->key)));

    if (!b || b->accel != p->accel) {
        s->count.refused_key++;
        *binding = NULL;
        return KIWI_G2G_ST_PROTECTION;
    }
    *binding = b;
    if (b->export->state != KIWI_G2G_EXPORT_LIVE) {
        s->count.refused_revoked++;
        return KIWI_G2G_ST_REVOKED;
    }
    if (len > b->export->length || addr > b->export->length - len ||
        (right == KIWI_ACCESS_REMOTE_ATOMIC && addr % 8)) {
        s->count.refused_bounds++;
        return KIWI_G2G_ST_DECODE_ERROR;
    }
    if (!(b->rights & right)) {
        s->count.refused_right++;
        return KIWI_G2G_ST_PROTECTION;
    }
    return KIWI_G2G_ST_OK;
}

static void log_refused(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                        const G2gBinding *b, uint8_t status)
{
    g2g_log(p->s, KIWI_G2G_LOG_TARGET, b ? b->export->number : 0, p->accel,
            status, le64_to_cpu(tx->addr), le16_to_cpu(tx->len));
}

static void answer(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                   enum kiwi_g2g_tx_op op, uint8_t status, const void *data,
                   uint16_t len)
{
    G2gPdu *pdu;

    g2g_fault_served(p->s);
    if (status) {
        len = 0;
    }
    pdu = g2g_pdu_new(op, len);
    g2g_pdu_tx(pdu)->status = status;
    g2g_pdu_tx(pdu)->tag = tx->tag;
    g2g_pdu_tx(pdu)->len = cpu_to_le16(len);
    memcpy(g2g_pdu_payload(pdu), data, len);
    g2g_stream_send(p, pdu);
}

void g2g_target_read(G2gPeer *p, const struct kiwi_g2g_tx *tx)
{
    G2gState *s = p->s;
    uint16_t len = le16_to_cpu(tx->len);
    uint8_t data[KIWI_G2G_TX_MAX];
    G2gBinding *b;
    uint8_t status = check(p, tx, KIWI_ACCESS_REMOTE_READ, &b);

    if (!status && !kiwi_pbl_read(KIWI(s), KIWI_DMA_PAYLOAD_READ,
                                  b->export->mem, le64_to_cpu(tx->addr), data,
                                  len)) {
        status = KIWI_G2G_ST_TARGET_ABORT;
    }
    if (status) {
        log_refused(p, tx, b, status);
    } else {
        s->count.served_reads++;
        s->count.served_read_bytes += len;
    }
    answer(p, tx, KIWI_G2G_TX_READ_RSP, status, data, len);
}

void g2g_target_write(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                      const void *data)
{
    G2gState *s = p->s;
    uint16_t len = le16_to_cpu(tx->len);
    G2gBinding *b;
    uint8_t status = check(p, tx, KIWI_ACCESS_REMOTE_WRITE, &b);
    G2gPdu *pdu;

    if (!status && !kiwi_pbl_write(KIWI(s), KIWI_DMA_PAYLOAD_WRITE,
                                   b->export->mem, le64_to_cpu(tx->addr), data,
                                   len)) {
        status = KIWI_G2G_ST_TARGET_ABORT;
    }
    g2g_fault_served(s);
    if (!status) {
        s->count.served_writes++;
        s->count.served_write_bytes += len;
        return;
    }
    log_refused(p, tx, b, status);
    pdu = g2g_pdu_new(KIWI_G2G_TX_WRITE_ERR, 0);
    g2g_pdu_tx(pdu)->status = status;
    g2g_pdu_tx(pdu)->addr = tx->addr;
    g2g_pdu_tx(pdu)->len = tx->len;
    g2g_pdu_tx(pdu)->key = tx->key;
    g2g_stream_send(p, pdu);
}

/* False: the memory could not be reached. */
static bool carry_out(G2gState *s, const G2gExport *e, uint64_t addr,
                      uint8_t op, const struct kiwi_g2g_tx_atomic *atomic,
                      uint64_t *old)
{
    uint64_t value;

    if (!kiwi_pbl_read(KIWI(s), KIWI_DMA_PAYLOAD_READ, e->mem, addr, old,
                       sizeof(*old))) {
        return false;
    }
    switch (op) {
    case KIWI_G2G_FETCH_ADD:
        value = cpu_to_le64(le64_to_cpu(*old) + le64_to_cpu(atomic->operand));
        break;
    case KIWI_G2G_CMP_SWAP:
        if (*old != atomic->compare) {
            return true;
        }
        /* fall through */
    default:
        value = atomic->operand;
    }
    return kiwi_pbl_write(KIWI(s), KIWI_DMA_PAYLOAD_WRITE, e->mem, addr, &value,
                          sizeof(value));
}

void g2g_target_atomic(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                       const struct kiwi_g2g_tx_atomic *atomic)
{
    G2gState *s = p->s;
    uint64_t old = 0;
    G2gBinding *b;
    uint8_t status = check(p, tx, KIWI_ACCESS_REMOTE_ATOMIC, &b);

    if (!status && (tx->status < KIWI_G2G_FETCH_ADD ||
                    tx->status > KIWI_G2G_CMP_SWAP ||
                    (tx->status != KIWI_G2G_CMP_SWAP && atomic->compare))) {
        s->count.refused_bounds++;
        status = KIWI_G2G_ST_DECODE_ERROR;
    }
    if (!status && !carry_out(s, b->export, le64_to_cpu(tx->addr), tx->status,
                              atomic, &old)) {
        status = KIWI_G2G_ST_TARGET_ABORT;
    }
    if (status) {
        log_refused(p, tx, b, status);
    } else {
        s->count.served_atomics++;
    }
    answer(p, tx, KIWI_G2G_TX_ATOMIC_RSP, status, &old, sizeof(old));
}
