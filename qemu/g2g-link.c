/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Training (W-48, W-49): what two neighbours tell each other.
 */
#include "g2g.h"
#include <zlib.h>
#include "qemu/bswap.h"
#include "qemu/guest-random.h"
#include "net/eth.h"

#define HEAD        14          /* of Ethernet */
/* TRAIN is repeated so many times in link_ms. */
#define REPEATS     8

static int64_t link_ns(const G2gPort *port)
{
    return (int64_t)port->s->link_ms * SCALE_MS;
}

static uint32_t crc_of(const void *data, size_t len)
{
    const size_t at = offsetof(struct kiwi_g2g_link_head, crc);
    static const uint8_t zero[4];
    uint32_t crc = crc32(0, data, at);

    crc = crc32(crc, zero, sizeof(zero));
    return crc32(crc, data + at + sizeof(zero), len - at - sizeof(zero));
}

void g2g_link_send(G2gPort *port, enum kiwi_g2g_link_type type, void *body,
                   size_t size)
{
    uint8_t frame[HEAD + sizeof(struct kiwi_g2g_link_train)];
    struct kiwi_g2g_link_head *head = body;

    *head = (struct kiwi_g2g_link_head) {
        .version = KIWI_G2G_LINK_VERSION,
        .type = type,
        .nonce = cpu_to_le32(port->nonce),
        .heard = cpu_to_le32(port->now.nonce),
    };
    head->crc = cpu_to_le32(crc_of(body, size));
    for (int i = 0; i < 6; i++) {
        frame[i] = KIWI_G2G_MAC_LINK >> 8 * (5 - i);
    }
    g2g_port_mac(port, port->s->accel, frame + 6);
    stw_be_p(frame + 12, KIWI_G2G_ETH_CONTROL);
    memcpy(frame + HEAD, body, size);
    g2g_net_send(port, frame, HEAD + size);
}

static void send_train(G2gPort *port)
{
    G2gState *s = port->s;
    struct kiwi_g2g_link_train train = {
        .accel = cpu_to_le16(s->accel),
        .port = port->number,
        .flags = port->config.flags & KIWI_G2G_PORT_LLR,
        .lanes = ctpop8(port->config.lanes),
        .fec = port->config.fec,
        .flow = port->config.flow,
        .mtu = cpu_to_le16(g2g_port_limit(port)),
        .image_id = s->image->id,
        .image_version = s->image->version,
        .llr_window = cpu_to_le16(g2g_hop_window(port)),
    };

    memcpy(train.pod, s->pod, sizeof(train.pod));
    memcpy(train.image_hash, s->image->hash, sizeof(train.image_hash));
    for (int i = 0; i < KIWI_G2G_VCS; i++) {
        train.credits[i] = cpu_to_le16(g2g_hop_credits(port));
    }
    g2g_link_send(port, KIWI_G2G_LINK_TRAIN, &train, sizeof(train));
    g2g_hop_credit(port);

    port->train_at = g2g_now() + link_ns(port) / REPEATS;
    g2g_wake_at(s, port->train_at);
}

void g2g_link_begin(G2gPort *port, uint8_t reason)
{
    if (port->config.mode == KIWI_G2G_PORT_SWITCHED) {
        g2g_port_set(port, KIWI_G2G_PORT_UP, KIWI_G2G_WHY_NONE);
        return;
    }
    memset(&port->now, 0, sizeof(port->now));
    do {
        qemu_guest_getrandom_nofail(&port->nonce, sizeof(port->nonce));
    } while (!port->nonce);
    port->silent_since = g2g_now();
    g2g_port_set(port, KIWI_G2G_PORT_TRAINING, reason);
    send_train(port);
}

/*
 * What comes
 */

/* What the two ends do not agree on, or NONE. */
static uint8_t disagreement(G2gPort *port)
{
    const struct kiwi_g2g_link_train *t = &port->now.train;
    const struct kiwi_g2g_image *image = port->s->image;

    if (memcmp(t->pod, port->s->pod, sizeof(t->pod))) {
        return KIWI_G2G_WHY_POD;
    }
    if (t->image_id != image->id || t->image_version != image->version ||
        memcmp(t->image_hash, image->hash, sizeof(t->image_hash))) {
        return KIWI_G2G_WHY_IMAGE;
    }
    if (le16_to_cpu(t->mtu) != g2g_port_limit(port)) {
        return KIWI_G2G_WHY_MTU;
    }
    if (t->lanes != ctpop8(port->config.lanes)) {
        return KIWI_G2G_WHY_LANES;
    }
    if (t->fec != port->config.fec) {
        return KIWI_G2G_WHY_FEC;
    }
    if (t->flags != (port->config.flags & KIWI_G2G_PORT_LLR)) {
        return KIWI_G2G_WHY_LLR;
    }
    if (t->flow != port->config.flow) {
        return KIWI_G2G_WHY_FLOW;
    }
    return le16_to_cpu(t->accel) == port->s->accel ? KIWI_G2G_WHY_ID_CONFLICT
                                                   : KIWI_G2G_WHY_NONE;
}

static void evaluate(G2gPort *port)
{
    uint8_t why;

    if (port->exhausted_until) {
        return;
    }
    if (g2g_now() < port->turns_until) {
        g2g_port_set(port, KIWI_G2G_PORT_FAULT, KIWI_G2G_WHY_NEIGHBOURS);
        return;
    }
    why = disagreement(port);
    if (why) {
        g2g_port_set(port, KIWI_G2G_PORT_FAULT, why);
    } else if (le32_to_cpu(port->now.train.head.heard) == port->nonce) {
        if (port->state != KIWI_G2G_PORT_UP) {
            send_train(port);
            g2g_port_set(port, KIWI_G2G_PORT_UP, KIWI_G2G_WHY_NONE);
        }
    } else if (port->state == KIWI_G2G_PORT_FAULT ||
               (port->state == KIWI_G2G_PORT_TRAINING &&
                port->reason != KIWI_G2G_WHY_RESTARTED)) {
        g2g_port_set(port, KIWI_G2G_PORT_TRAINING, KIWI_G2G_WHY_NONE);
    }
}

static bool same(const G2gNeighbour *n, uint32_t nonce, const uint8_t *mac)
{
    return n->nonce == nonce && !memcmp(n->mac, mac, sizeof(n->mac));
}

static void rx_train(G2gPort *port, const struct kiwi_g2g_link_train *train,
                     const uint8_t *mac)
{
    uint32_t nonce = le32_to_cpu(train->head.nonce);
    int64_t now = g2g_now();
    bool news = !same(&port->now, nonce, mac);

    if (news && port->now.nonce) {
        if (memcmp(port->now.mac, mac, sizeof(port->now.mac)) &&
            same(&port->before, nonce, mac) &&
            now - port->before.at < link_ns(port)) {
            port->turns_until = now + link_ns(port);
        }
        port->before = port->now;
    }
    port->now.nonce = nonce;
    port->now.at = now;
    memcpy(port->now.mac, mac, sizeof(port->now.mac));
    port->now.train = *train;
    port->silent_since = now;
    if (news) {
        if (port->state == KIWI_G2G_PORT_UP) {
            g2g_port_set(port, KIWI_G2G_PORT_TRAINING,
                         KIWI_G2G_WHY_RESTARTED);
        }
        send_train(port);
    }
    evaluate(port);
}

/* What there is between neighbours. */
typedef union LinkBody {
    struct kiwi_g2g_link_head head;
    struct kiwi_g2g_link_train train;
    struct kiwi_g2g_link_ack ack;
    struct kiwi_g2g_link_credit credit;
} LinkBody;

/* Of the structure, by its type; 0: unknown */
static size_t link_size(uint8_t type)
{
    switch (type) {
    case KIWI_G2G_LINK_TRAIN:
        return sizeof(struct kiwi_g2g_link_train);
    case KIWI_G2G_LINK_ACK:
    case KIWI_G2G_LINK_NACK:
        return sizeof(struct kiwi_g2g_link_ack);
    case KIWI_G2G_LINK_CREDIT:
        return sizeof(struct kiwi_g2g_link_credit);
    default:
        return 0;
    }
}

static bool well_formed(const LinkBody *b)
{
    const struct kiwi_g2g_link_train *t = &b->train;

    if (b->head.version != KIWI_G2G_LINK_VERSION || b->head.rsvd ||
        !b->head.nonce) {
        return false;
    }
    switch (b->head.type) {
    case KIWI_G2G_LINK_TRAIN:
        return !(t->flags & ~KIWI_G2G_PORT_LLR) && !t->rsvd0 && !t->rsvd1 &&
               !t->rsvd2;
    case KIWI_G2G_LINK_ACK:
    case KIWI_G2G_LINK_NACK:
        return !b->ack.rsvd[0] && !b->ack.rsvd[1] && !b->ack.rsvd[2];
    default:
        return true;
    }
}

static void rx_hop(G2gPort *port, const LinkBody *b)
{
    if (port->state != KIWI_G2G_PORT_UP || !g2g_hop_replays(port) ||
        le32_to_cpu(b->head.nonce) != port->now.nonce ||
        le32_to_cpu(b->head.heard) != port->nonce) {
        return;
    }
    if (b->head.type == KIWI_G2G_LINK_CREDIT) {
        g2g_hop_rx_credit(port, b->credit.freed);
    } else {
        g2g_hop_rx_ack(port, le16_to_cpu(b->ack.next),
                       b->head.type == KIWI_G2G_LINK_NACK);
    }
}

void g2g_link_rx(G2gPort *port, const uint8_t *mac, const uint8_t *body,
                 size_t size)
{
    LinkBody b = { };
    size_t len;

    if (port->config.mode != KIWI_G2G_PORT_DIRECT || g2g_port_unfit(port)) {
        port->count.rx_other++;
        return;
    }
    len = size < sizeof(b.head) ? 0 : link_size(body[1]);
    if (!len || size < len || (size > len && size > ETH_ZLEN - HEAD)) {
        port->count.rx_malformed++;
        return;
    }
    memcpy(&b, body, len);
    if (le32_to_cpu(b.head.crc) != crc_of(&b, len)) {
        port->count.rx_crc++;
    } else if (!well_formed(&b)) {
        port->count.rx_malformed++;
    } else if (b.head.type == KIWI_G2G_LINK_TRAIN) {
        rx_train(port, &b.train, mac);
    } else {
        rx_hop(port, &b);
    }
}

/*
 * What does not come
 */

int64_t g2g_link_tick(G2gPort *port, int64_t now)
{
    int64_t lost_at = port->silent_since + link_ns(port);

    if (port->config.mode == KIWI_G2G_PORT_SWITCHED ||
        port->state == KIWI_G2G_PORT_DOWN || !g2g_net_carrier(port) ||
        g2g_port_unfit(port)) {
        return G2G_NEVER;
    }
    if (port->exhausted_until) {
        if (now >= port->exhausted_until) {
            port->exhausted_until = 0;
            g2g_link_begin(port, KIWI_G2G_WHY_NONE);
        } else if (now >= port->train_at) {
            send_train(port);
        }
        return MIN(port->exhausted_until ?: G2G_NEVER, port->train_at);
    }
    if (now >= lost_at) {
        if (port->state == KIWI_G2G_PORT_TRAINING) {
            memset(&port->now, 0, sizeof(port->now));
            g2g_port_set(port, KIWI_G2G_PORT_TRAINING,
                         KIWI_G2G_WHY_NO_NEIGHBOUR);
            port->silent_since = now;
        } else {
            g2g_link_begin(port, port->state == KIWI_G2G_PORT_UP
                                 ? KIWI_G2G_WHY_TIMEOUT
                                 : KIWI_G2G_WHY_NO_NEIGHBOUR);
        }
        lost_at = now + link_ns(port);
    }
    if (now >= port->train_at) {
        send_train(port);
    }
    return MIN(lost_at, port->train_at);
}
