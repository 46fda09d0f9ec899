/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PDU and control frames: how they are made, what is dropped, what is sent on.
 */
#include "g2g.h"
#include <zlib.h>
#include "qemu/bswap.h"
#include "net/eth.h"

#define FH_SIZE         sizeof(struct kiwi_g2g_fh)
#define TRAILER_SIZE    sizeof(struct kiwi_g2g_trailer)
#define HELLO_SIZE      sizeof(struct kiwi_g2g_hello)

/* A frame taken apart. */
typedef struct Parts {
    bool pdu;                   /* else a control frame */
    bool ours;                  /* it may have the active image's header */
    uint8_t kind;               /* of the personality header */
    const uint8_t *body;        /* behind the Ethernet header */
    size_t head_size;
    size_t len;                 /* of the body, trailer included */
    G2gHead head;
    struct kiwi_g2g_fh fh;
    const uint8_t *payload;
    uint16_t payload_len;
    uint16_t seq;               /* of the trailer */
    uint16_t flags;             /* likewise */
} Parts;

/*
 * Sending
 */

size_t g2g_frame_seal(uint8_t *frame, size_t len, uint16_t flags, uint16_t seq)
{
    struct kiwi_g2g_trailer trailer = {
        .llr_seq = cpu_to_le16(seq),
        .flags = cpu_to_le16(flags),
    };
    size_t at = len + offsetof(typeof(trailer), crc);

    memcpy(frame + len, &trailer, TRAILER_SIZE);
    trailer.crc = cpu_to_le32(crc32(0, frame + ETH_HLEN, at - ETH_HLEN));
    memcpy(frame + len, &trailer, TRAILER_SIZE);
    return len + TRAILER_SIZE;
}

static void address(G2gPort *port, uint8_t *frame, bool pdu, uint16_t dst)
{
    if (port->config.mode == KIWI_G2G_PORT_DIRECT) {
        memcpy(frame, port->now.mac, ETH_ALEN);
    } else {
        g2g_port_mac(port, dst, frame);
    }
    g2g_port_mac(port, port->s->accel, frame + ETH_ALEN);
    stw_be_p(frame + 2 * ETH_ALEN,
             pdu ? KIWI_G2G_ETH_PDU : KIWI_G2G_ETH_CONTROL);
}

static void send_plain(G2gPort *port, uint8_t *frame, size_t len)
{
    g2g_net_send(port, frame, g2g_frame_seal(frame, ETH_HLEN + len, 0, 0));
}

static void send_control(G2gPort *port, uint8_t *frame, size_t len,
                         uint16_t dst)
{
    address(port, frame, false, dst);
    send_plain(port, frame, len);
}

/* True: it keeps the buffer that it has at @from. */
static bool send_pdu(G2gPort *port, uint8_t *frame, size_t len, uint16_t dst,
                     uint8_t vc, G2gPort *from, uint8_t from_vc)
{
    address(port, frame, true, dst);
    if (!g2g_hop_replays(port)) {
        send_plain(port, frame, len);
        return false;
    }
    g2g_hop_send(port, vc, frame, ETH_HLEN + len, from, from_vc);
    return true;
}

void g2g_frame_send_pdu(G2gPeer *p, enum kiwi_g2g_pdu op, uint8_t class,
                        uint16_t psn, uint16_t rpsn, const void *tx,
                        uint16_t len)
{
    G2gState *s = p->s;
    uint8_t kind = s->image->header_kind;
    uint8_t layer;
    G2gPort *port = g2g_route_port(s, s->accel, p->accel, &layer);
    uint8_t frame[G2G_FRAME_MAX];
    uint8_t *at = frame + ETH_HLEN;
    struct kiwi_g2g_fh fh = {
        .version = KIWI_G2G_FH_VERSION,
        .hops = KIWI_G2G_HOPS,
        .dst = cpu_to_le16(p->accel),
        .src = cpu_to_le16(s->accel),
        .len = cpu_to_le16(len),
        .session = cpu_to_le32(p->heard),
        .epoch = cpu_to_le32(s->epoch),
    };

    if (!port) {
        g2g_route_lost(s, p->accel);
        return;
    }
    g2g_head_put(kind, at, &(G2gHead) {
        .op = op,
        .vc = layer * G2G_CLASSES + class,
        .dst = p->accel,
        .src = s->accel,
        .partition = s->partition,
        .psn = psn,
        .rpsn = rpsn,
    });
    at += g2g_head_size[kind];
    memcpy(at, &fh, sizeof(fh));
    memcpy(at + sizeof(fh), tx, len);
    send_pdu(port, frame, g2g_head_size[kind] + sizeof(fh) + len, p->accel,
             layer * G2G_CLASSES + class, NULL, 0);
}

void g2g_frame_send_control(G2gState *s, uint16_t accel,
                            const struct kiwi_g2g_hello *hello)
{
    uint8_t layer;
    G2gPort *port = g2g_route_port(s, s->accel, accel, &layer);
    uint8_t frame[ETH_HLEN + FH_SIZE + HELLO_SIZE + TRAILER_SIZE];
    struct kiwi_g2g_fh fh = {
        .version = KIWI_G2G_FH_VERSION,
        .hops = KIWI_G2G_HOPS,
        .dst = cpu_to_le16(accel),
        .src = cpu_to_le16(s->accel),
        .len = cpu_to_le16(HELLO_SIZE),
        .epoch = cpu_to_le32(s->epoch),
    };

    if (!port) {
        g2g_route_lost(s, accel);
        return;
    }
    memcpy(frame + ETH_HLEN, &fh, sizeof(fh));
    memcpy(frame + ETH_HLEN + sizeof(fh), hello, sizeof(*hello));
    s->count.control_pdus++;
    send_control(port, frame, FH_SIZE + HELLO_SIZE, accel);
}

/*
 * Receiving
 */

/* Which header a PDU may have: that of the active image, if it can be. */
static uint8_t guess_kind(G2gState *s, uint8_t first)
{
    if (g2g_head_may_be(s->image->header_kind, first)) {
        return s->image->header_kind;
    }
    for (uint8_t kind = KIWI_G2G_HDR_SUE; kind <= KIWI_G2G_HDR_ETHX; kind++) {
        if (g2g_head_may_be(kind, first)) {
            return kind;
        }
    }
    return s->image->header_kind;
}

/* Finds the parts by the lengths; false: they do not fit. */
static bool take_apart(G2gPort *port, Parts *x, size_t eth_len, size_t len)
{
    size_t room = len - eth_len;
    size_t least = FH_SIZE + TRAILER_SIZE;

    if (x->pdu) {
        if (!room) {
            return false;
        }
        x->kind = guess_kind(port->s, x->body[0]);
        x->ours = g2g_head_may_be(port->s->image->header_kind, x->body[0]);
        x->head_size = g2g_head_size[x->kind];
    }
    if (room < x->head_size + least) {
        return false;
    }
    memcpy(&x->fh, x->body + x->head_size, FH_SIZE);
    x->payload = x->body + x->head_size + FH_SIZE;
    x->payload_len = le16_to_cpu(x->fh.len);
    x->len = x->head_size + least + x->payload_len;
    if (x->len > room) {
        return false;
    }
    x->seq = lduw_le_p(x->body + x->len - TRAILER_SIZE);
    x->flags = lduw_le_p(x->body + x->len - TRAILER_SIZE + 2);
    return x->len == room || (x->len < room && len <= ETH_ZLEN + eth_len -
                                                      ETH_HLEN);
}

static bool crc_fits(const Parts *x)
{
    size_t at = x->len - sizeof(uint32_t);

    return (uint32_t)ldl_le_p(x->body + at) == crc32(0, x->body, at);
}

static bool well_formed(G2gPort *port, Parts *x)
{
    bool numbered = x->pdu && g2g_hop_replays(port);
    bool sue = x->kind == KIWI_G2G_HDR_SUE;

    if (x->fh.version != KIWI_G2G_FH_VERSION || x->fh.hops > KIWI_G2G_HOPS ||
        x->flags != (numbered ? KIWI_G2G_TRAILER_LLR : 0) ||
        (!numbered && x->seq)) {
        return false;
    }
    if (!x->pdu) {
        return x->payload_len == HELLO_SIZE && !x->fh.session;
    }
    if (!x->ours) {
        return true;            /* rx_image */
    }
    if (!g2g_head_get(x->kind, x->body, &x->head) ||
        x->head.src != le16_to_cpu(x->fh.src) ||
        (!sue && x->head.dst != le16_to_cpu(x->fh.dst)) ||
        x->payload_len % 8 || x->len > g2g_port_limit(port)) {
        return false;
    }
    return x->head.op == KIWI_G2G_PDU_DATA ||
           (!x->head.psn && !x->payload_len);
}

/* True: it keeps its buffer. */
static bool forward(G2gPort *from, const Parts *x)
{
    G2gState *s = from->s;
    uint16_t src = le16_to_cpu(x->fh.src), dst = le16_to_cpu(x->fh.dst);
    size_t len = x->len - TRAILER_SIZE;
    uint8_t frame[G2G_FRAME_MAX];
    uint8_t *body = frame + ETH_HLEN;
    G2gHead head = x->head;
    uint8_t layer;
    G2gPort *to;

    if (!kiwi_accepted(KIWI(s), KIWI_G2G_CAP_FORWARD) || !g2g_active(s)) {
        from->count.unroutable++;
        return false;
    }
    to = g2g_route_port(s, src, dst, &layer);
    if (!x->fh.hops || to == from) {
        from->count.hop_limit++;
        return false;
    }
    if (!to || len + TRAILER_SIZE > g2g_port_limit(to)) {
        from->count.unroutable++;
        return false;
    }
    memcpy(body, x->body, len);
    body[x->head_size + offsetof(struct kiwi_g2g_fh, hops)]--;
    from->count.forwarded++;
    if (!x->pdu) {
        send_control(to, frame, len, dst);
        return false;
    }
    head.dst = dst;
    head.vc = layer * G2G_CLASSES + x->head.vc % G2G_CLASSES;
    g2g_head_put(x->kind, body, &head);
    return send_pdu(to, frame, len, dst, head.vc, from, x->head.vc);
}

static void take_pdu(G2gPort *port, const Parts *x)
{
    G2gState *s = port->s;
    G2gPeer *p = g2g_peer_find(s, le16_to_cpu(x->fh.src));

    if (!g2g_peer_up(p) || x->head.partition != s->partition ||
        le32_to_cpu(x->fh.session) != s->session[p->accel]) {
        port->count.rx_stale++;
        return;
    }
    g2g_stream_rx(p, port, &x->head, x->payload, x->payload_len);
}

static void take_control(G2gPort *port, const Parts *x)
{
    struct kiwi_g2g_hello hello;

    memcpy(&hello, x->payload, sizeof(hello));
    if (hello.type < KIWI_G2G_HELLO || hello.type > KIWI_G2G_BYE ||
        hello.reason >= KIWI_G2G_WHY_COUNT || !hello.session || hello.rsvd) {
        port->count.rx_malformed++;
        return;
    }
    g2g_peer_control(port, le16_to_cpu(x->fh.src), &hello);
}

/* A good frame that came by a port that is up. */
static void take(G2gPort *port, const Parts *x)
{
    G2gState *s = port->s;
    bool replays = x->pdu && g2g_hop_replays(port);
    bool kept = false;

    if (replays && !g2g_hop_rx(port, x->seq, x->head.vc)) {
        return;
    }
    if (x->pdu && le32_to_cpu(x->fh.epoch) != s->epoch) {
        port->count.rx_stale++;
    } else if (le16_to_cpu(x->fh.dst) != s->accel) {
        kept = forward(port, x);
    } else if (x->pdu) {
        take_pdu(port, x);
    } else {
        take_control(port, x);
    }
    if (replays && !kept) {
        g2g_hop_rx_done(port, x->head.vc);
    }
}

void g2g_frame_rx(G2gPort *port, const uint8_t *frame, size_t len)
{
    static const uint8_t link_mac[] = { 0x01, 0x80, 0xc2, 0, 0, 0x0e };
    G2gState *s = port->s;
    size_t eth_len = ETH_HLEN;
    uint16_t type = lduw_be_p(frame + 12);
    uint8_t mac[ETH_ALEN];
    Parts x = { };

    if (type == ETH_P_VLAN && len >= ETH_HLEN + 4) {
        eth_len += 4;
        type = lduw_be_p(frame + 16);
    }
    if (type != KIWI_G2G_ETH_PDU && type != KIWI_G2G_ETH_CONTROL) {
        port->count.rx_other++;
        return;
    }
    if (type == KIWI_G2G_ETH_CONTROL && !memcmp(frame, link_mac, ETH_ALEN)) {
        g2g_link_rx(port, frame + ETH_ALEN, frame + eth_len, len - eth_len);
        return;
    }
    x.pdu = type == KIWI_G2G_ETH_PDU;
    x.body = frame + eth_len;
    g2g_port_mac(port, s->accel, mac);
    if (!take_apart(port, &x, eth_len, len)) {
        port->count.rx_malformed++;
    } else if (!crc_fits(&x)) {
        port->count.rx_crc++;
        if (x.pdu) {
            g2g_hop_rx_bad(port);
        }
    } else if (!well_formed(port, &x)) {
        port->count.rx_malformed++;
    } else if (memcmp(frame, mac, ETH_ALEN)) {
        port->count.rx_other++;
    } else if (x.pdu && !x.ours) {
        port->count.rx_image++;
    } else if (port->state == KIWI_G2G_PORT_UP) {
        take(port, &x);
    }
}
