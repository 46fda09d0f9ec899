/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Transactions received (W-30 to W-32), and the tags of our own.
 */
#include "g2g.h"
#include "qemu/bswap.h"

/* Fields of struct kiwi_g2g_tx that an operation uses. */
#define USES_STATUS 1
#define USES_TAG    2
#define USES_ADDR   4
#define USES_KEY    8

/* What the length of a transaction is, and how much payload stands behind it. */
typedef enum LenRule {
    LEN_NONE,                   /* len is 0, there is no payload */
    LEN_ASKED,                  /* 1..KIWI_G2G_TX_MAX, no payload */
    LEN_DATA,                   /* 1..KIWI_G2G_TX_MAX, that much payload */
    LEN_ANSWER,                 /* likewise if status is OK, else 0 and none */
    LEN_MAIL,                   /* 1..KIWI_G2G_MAIL_MAX, that much payload */
    LEN_MESSAGE,                /* 1 or more, that much payload */
    LEN_ATOMIC,                 /* 8, payload struct kiwi_g2g_tx_atomic */
    LEN_ATOMIC_ANSWER,          /* 8 and as much payload if OK, else 0 */
    LEN_BIND,                   /* 0, payload struct kiwi_g2g_tx_bind */
    LEN_BOUND,                  /* 0, payload struct kiwi_g2g_tx_bound if OK */
} LenRule;

typedef struct TxRule {
    uint8_t op;
    uint8_t uses;
    LenRule len;
} TxRule;

static const TxRule rules[] = {
    { KIWI_G2G_TX_READ, USES_TAG | USES_ADDR | USES_KEY, LEN_ASKED },
    { KIWI_G2G_TX_WRITE, USES_ADDR | USES_KEY, LEN_DATA },
    { KIWI_G2G_TX_ATOMIC, USES_STATUS | USES_TAG | USES_ADDR | USES_KEY,
      LEN_ATOMIC },
    { KIWI_G2G_TX_MESSAGE, 0, LEN_MESSAGE },
    { KIWI_G2G_TX_MAIL, 0, LEN_MAIL },
    { KIWI_G2G_TX_MAIL_ROOM, USES_ADDR, LEN_NONE },
    { KIWI_G2G_TX_BIND, USES_TAG, LEN_BIND },
    { KIWI_G2G_TX_RELEASE, USES_KEY, LEN_NONE },
    { KIWI_G2G_TX_SHOOTDOWN, USES_KEY, LEN_NONE },
    { KIWI_G2G_TX_READ_RSP, USES_STATUS | USES_TAG, LEN_ANSWER },
    { KIWI_G2G_TX_WRITE_ERR, USES_STATUS | USES_ADDR | USES_KEY, LEN_ASKED },
    { KIWI_G2G_TX_ATOMIC_RSP, USES_STATUS | USES_TAG, LEN_ATOMIC_ANSWER },
    { KIWI_G2G_TX_BIND_RSP, USES_STATUS | USES_TAG, LEN_BOUND },
    { KIWI_G2G_TX_SHOOTDOWN_ACK, USES_KEY, LEN_NONE },
};

static const TxRule *find_rule(uint8_t op)
{
    for (int i = 0; i < ARRAY_SIZE(rules); i++) {
        if (rules[i].op == op) {
            return &rules[i];
        }
    }
    return NULL;
}

/* Bytes of payload, or -1: the length is wrong. */
static int payload_len(const TxRule *rule, const struct kiwi_g2g_tx *tx)
{
    uint16_t len = le16_to_cpu(tx->len);
    bool ok = tx->status == KIWI_G2G_ST_OK;

    switch (rule->len) {
    case LEN_NONE:
        return len ? -1 : 0;
    case LEN_ASKED:
        return len && len <= KIWI_G2G_TX_MAX ? 0 : -1;
    case LEN_ANSWER:
        if (!ok) {
            return len ? -1 : 0;
        }
        /* fall through */
    case LEN_DATA:
        return len && len <= KIWI_G2G_TX_MAX ? len : -1;
    case LEN_MAIL:
        return len && len <= KIWI_G2G_MAIL_MAX ? len : -1;
    case LEN_MESSAGE:
        return len ? len : -1;
    case LEN_ATOMIC:
        return len == 8 ? sizeof(struct kiwi_g2g_tx_atomic) : -1;
    case LEN_ATOMIC_ANSWER:
        return len != (ok ? 8 : 0) ? -1 : len;
    case LEN_BIND:
        return len ? -1 : sizeof(struct kiwi_g2g_tx_bind);
    case LEN_BOUND:
        return len ? -1 : ok ? sizeof(struct kiwi_g2g_tx_bound) : 0;
    }
    return -1;
}

static bool fields_good(const TxRule *rule, const struct kiwi_g2g_tx *tx)
{
    return !tx->rsvd0 && !tx->rsvd1 &&
           (rule->uses & USES_STATUS || !tx->status) &&
           (rule->uses & USES_TAG || !tx->tag) &&
           (rule->uses & USES_ADDR || !tx->addr) &&
           (rule->uses & USES_KEY || !tx->key);
}

/*
 * Tags
 */

int g2g_tag_new(G2gPeer *p, G2gTagUse use, void *who)
{
    for (int i = 0; i < G2G_TAGS; i++) {
        uint16_t tag = p->next_tag++ % G2G_TAGS;

        if (p->tag[tag].use == G2G_TAG_FREE) {
            p->tag[tag].use = use;
            p->tag[tag].who = who;
            return tag;
        }
    }
    g2g_peer_leave(p, KIWI_G2G_WHY_TIMEOUT, KIWI_G2G_PEER_SEEKING,
                   KIWI_G2G_WHY_TIMEOUT);
    return -1;
}

typedef struct Unsent {
    uint16_t tag;
    bool found;
} Unsent;

static bool is_unsent(G2gPdu *pdu, void *opaque)
{
    const struct kiwi_g2g_tx *tx = g2g_pdu_tx(pdu);
    Unsent *u = opaque;

    if (tx->op == KIWI_G2G_TX_WRITE || le16_to_cpu(tx->tag) != u->tag) {
        return false;
    }
    return u->found = true;
}

void g2g_tag_orphan(G2gPeer *p, uint16_t tag)
{
    Unsent u = { .tag = tag };

    p->tag[tag].use = G2G_TAG_ORPHAN;
    g2g_stream_withdraw(p, is_unsent, &u);
    if (u.found) {
        p->tag[tag].use = G2G_TAG_FREE;
    }
}

/*
 * Execution
 */

static void send_key(G2gPeer *p, enum kiwi_g2g_tx_op op, uint32_t key)
{
    G2gPdu *pdu = g2g_pdu_new(op, 0);

    g2g_pdu_tx(pdu)->key = cpu_to_le32(key);
    g2g_stream_send(p, pdu);
}

static void rx_answer(G2gPeer *p, const struct kiwi_g2g_tx *tx,
                      const void *payload)
{
    uint16_t tag = le16_to_cpu(tx->tag);
    bool bound = tx->op == KIWI_G2G_TX_BIND_RSP;
    const struct kiwi_g2g_tx_bound *b = payload;
    G2gAccess *a = NULL;
    G2gTagUse use = G2G_TAG_FREE;
    void *who = NULL;

    if (tag < G2G_TAGS) {
        use = p->tag[tag].use;
        who = p->tag[tag].who;
    }
    if (use == G2G_TAG_ACCESS && !bound) {
        a = who;
        if ((a->kind == KIWI_G2G_LOG_ATOMIC) !=
            (tx->op == KIWI_G2G_TX_ATOMIC_RSP)) {
            return;
        }
    } else if (use == G2G_TAG_ACCESS || (use == G2G_TAG_BIND && !bound)) {
        return;
    }
    if (use != G2G_TAG_FREE) {
        p->tag[tag].use = G2G_TAG_FREE;
    }
    if (a) {
        g2g_access_answered(p, a, tx, payload);
    } else if (use == G2G_TAG_BIND) {
        g2g_window_bound(p, who, tx->status, b);
    } else if (bound && tx->status == KIWI_G2G_ST_OK) {
        send_key(p, KIWI_G2G_TX_RELEASE, le32_to_cpu(b->key));
    }
}

/* False: more than was allowed. */
static bool run(G2gPeer *p, const struct kiwi_g2g_tx *tx, const void *payload)
{
    uint32_t key = le32_to_cpu(tx->key);

    switch (tx->op) {
    case KIWI_G2G_TX_READ:
        g2g_target_read(p, tx);
        break;
    case KIWI_G2G_TX_WRITE:
        g2g_target_write(p, tx, payload);
        break;
    case KIWI_G2G_TX_ATOMIC:
        g2g_target_atomic(p, tx, payload);
        break;
    case KIWI_G2G_TX_MESSAGE:
        g2g_message_rx(p, payload, le16_to_cpu(tx->len));
        break;
    case KIWI_G2G_TX_MAIL:
        return g2g_mail_rx(p, payload, le16_to_cpu(tx->len));
    case KIWI_G2G_TX_MAIL_ROOM:
        g2g_mail_room_rx(p, le64_to_cpu(tx->addr));
        break;
    case KIWI_G2G_TX_BIND:
        g2g_export_bind(p, tx, payload);
        break;
    case KIWI_G2G_TX_RELEASE:
    case KIWI_G2G_TX_SHOOTDOWN_ACK:
        g2g_export_unbind(p, key);
        break;
    case KIWI_G2G_TX_SHOOTDOWN:
        g2g_window_shot_down(p, key);
        send_key(p, KIWI_G2G_TX_SHOOTDOWN_ACK, key);
        break;
    case KIWI_G2G_TX_WRITE_ERR:
        g2g_window_write_err(p, tx);
        break;
    default:
        rx_answer(p, tx, payload);
    }
    return true;
}

bool g2g_tx_run(G2gPeer *p, uint8_t class, const uint8_t *at, uint16_t len)
{
    struct kiwi_g2g_tx tx = { };
    uint8_t aligned[ROUND_UP(KIWI_G2G_TX_MAX, 8)] QEMU_ALIGNED(8);
    const uint8_t *payload;
    uint32_t generation = p->generation;
    const TxRule *rule;
    int size;

    do {
        if (len < sizeof(tx)) {
            break;
        }
        memcpy(&tx, at, sizeof(tx));
        at += sizeof(tx);
        len -= sizeof(tx);
        rule = find_rule(tx.op);
        size = rule ? payload_len(rule, &tx) : -1;
        if (size < 0 || tx.op >> 7 != class || !fields_good(rule, &tx) ||
            ROUND_UP(size, 8) > len) {
            break;
        }
        /* A packet is taken where it stands: it is read by bytes. */
        payload = tx.op == KIWI_G2G_TX_MESSAGE ? at : memcpy(aligned, at, size);
        at += ROUND_UP(size, 8);
        len -= ROUND_UP(size, 8);
        if (!run(p, &tx, payload)) {
            break;
        }
        if (!g2g_peer_up(p) || p->generation != generation) {
            return false;
        }
        if (!len) {
            return true;
        }
    } while (true);
    g2g_peer_protocol(p, tx.op);
    return false;
}
