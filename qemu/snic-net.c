/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports as QEMU NICs. Frames received wait in a ring, since QEMU calls us in the
 * middle of whatever the sender is doing.
 */
#include "snic.h"
#include "qemu/bswap.h"
#include "net/eth.h"

#include "roce.h"

#define RX_SLOTS        1024
#define FRAMES_PER_RUN  64

typedef struct SnicRxSlot {
    int64_t due_ns;             /* when all that it does is in memory */
    uint32_t len;
    uint8_t frame[SNIC_FRAME_MAX];
} SnicRxSlot;

struct SnicRx {
    MsgqWork work;
    uint32_t head;
    uint32_t count;
    bool refused;               /* the backend has frames for us */
    int64_t last_ns;            /* when the last frame received is due */
    SnicRxSlot slot[RX_SLOTS];
};

static ssize_t net_receive(NetClientState *nc, const uint8_t *buf, size_t size);

bool snic_net_link_up(const SnicPort *port)
{
    NetClientState *nc = qemu_get_queue(port->nic);

    return nc->peer && !nc->link_down;
}

static bool to_us(const SnicPort *port, const uint8_t *frame)
{
    return !memcmp(frame, port->conf.macaddr.a, ETH_ALEN);
}

bool snic_port_can_send(const SnicPort *port)
{
    return !snic_port_active(port) ||
           (port->rx->count < RX_SLOTS &&
            qemu_can_send_packet(qemu_get_queue(port->nic)));
}

/* No network carries a frame back to where it came from, so the port does. */
static void out_arrived(void *opaque, const void *frame, size_t len)
{
    SnicPort *port = opaque;
    NetClientState *nc = qemu_get_queue(port->nic);

    if (to_us(port, frame)) {
        net_receive(nc, frame, len);
    } else {
        qemu_send_packet(nc, frame, len);
    }
}

void snic_net_transmit(SnicPort *port, const uint8_t *frame, size_t len)
{
    const SnicState *s = port->s;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    port->count.tx_frames++;
    port->count.tx_bytes += len;
    port->out_free_ns = MAX(port->out_free_ns, now) +
                        MAX(len * 8000 / s->msgq.link_mbps, s->msgq.packet_ns);
    delay_add(port->out, s->wire_ns ? port->out_free_ns + s->wire_ns : now,
              frame, len);
}

/*
 * Receive
 */

/* The headers say UDP to the port of RoCEv2; roce_parse() looks closer. */
static bool is_roce(const uint8_t *frame, size_t len)
{
    const uint8_t *ip = frame + ETH_HLEN;
    size_t hdr;

    switch (lduw_be_p(frame + 12)) {
    case ETH_P_IP:
        hdr = len > ETH_HLEN ? (ip[0] & 0xf) * 4 : 0;
        return hdr >= 20 && len >= ETH_HLEN + hdr + 8 &&
               ip[9] == IP_PROTO_UDP &&
               lduw_be_p(ip + hdr + 2) == ROCE_UDP_PORT;
    case ETH_P_IPV6:
        return len >= ETH_HLEN + 40 + 8 && ip[6] == IP_PROTO_UDP &&
               lduw_be_p(ip + 42) == ROCE_UDP_PORT;
    default:
        return false;
    }
}

static void rx_frame(SnicPort *port, const uint8_t *frame, size_t len)
{
    uint16_t type = lduw_be_p(frame + 12);

    port->count.rx_frames++;
    port->count.rx_bytes += len;
    if (to_us(port, frame) && is_roce(frame, len)) {
        snic_roce_rx(port, frame, len);
        return;
    }
    port->count.rx_not_roce++;
    if (type == ETH_P_ARP) {
        snic_neigh_arp(port, frame, len);
    } else if (type == ETH_P_IPV6) {
        snic_neigh_ipv6(port, frame, len);
    }
}

static int64_t rx_work(void *opaque)
{
    SnicPort *port = opaque;
    SnicRx *rx = port->rx;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    SnicRxSlot *slot = &rx->slot[rx->head];

    for (int i = 0; i < FRAMES_PER_RUN && rx->count && slot->due_ns <= now;
         i++) {
        if (snic_running(port->s) && snic_port_active(port)) {
            rx_frame(port, slot->frame, slot->len);
        }
        if (rx->count) {
            rx->head = (rx->head + 1) % RX_SLOTS;
            rx->count--;
        }
        slot = &rx->slot[rx->head];
    }
    if (rx->refused) {
        rx->refused = false;
        qemu_flush_queued_packets(qemu_get_queue(port->nic));
    }
    return rx->count ? MAX(slot->due_ns - now, 0) : -1;
}

static bool net_can_receive(NetClientState *nc)
{
    SnicPort *port = qemu_get_nic_opaque(nc);

    if (port->rx->count == RX_SLOTS) {
        port->rx->refused = true;
        return false;
    }
    return true;
}

static ssize_t net_receive(NetClientState *nc, const uint8_t *buf, size_t size)
{
    SnicPort *port = qemu_get_nic_opaque(nc);
    const SnicState *s = port->s;
    SnicRx *rx = port->rx;
    SnicRxSlot *slot;

    if (!snic_running(port->s) || !snic_port_active(port) || size < ETH_HLEN ||
        !(to_us(port, buf) || (buf[0] & 1))) {
        return size;
    }
    if (size > SNIC_FRAME_MAX) {
        port->count.rx_malformed++;
        return size;
    }
    if (rx->count == RX_SLOTS) {
        rx->refused = true;
        return 0;
    }
    slot = &rx->slot[(rx->head + rx->count) % RX_SLOTS];
    rx->last_ns = MAX(qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + s->msgq.nic_ns +
                      s->write_ns, rx->last_ns + s->msgq.packet_ns);
    slot->due_ns = rx->last_ns;
    slot->len = size;
    memcpy(slot->frame, buf, size);
    rx->count++;
    msgq_work_kick(&rx->work);
    return size;
}

static void net_link_changed(NetClientState *nc)
{
    snic_port_update(qemu_get_nic_opaque(nc));
}

static NetClientInfo net_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .can_receive = net_can_receive,
    .receive = net_receive,
    .link_status_changed = net_link_changed,
};

void snic_net_reset(SnicPort *port)
{
    port->rx->count = 0;
    delay_drop(port->out);
}

void snic_net_init(SnicPort *port)
{
    DeviceState *dev = DEVICE(port->s);
    g_autofree char *name = NULL;

    if (dev->id) {
        name = g_strdup_printf("%s.port%u", dev->id, port->number);
    }
    port->rx = g_new0(SnicRx, 1);
    port->out = delay_new(out_arrived, port);
    msgq_work_init(&port->rx->work, &port->s->msgq, rx_work, port);
    qemu_macaddr_default_if_unset(&port->conf.macaddr);
    port->nic = qemu_new_nic(&net_info, &port->conf, TYPE_KIWI_SNIC, name,
                             &dev->mem_reentrancy_guard, port);
    qemu_format_nic_info_str(qemu_get_queue(port->nic), port->conf.macaddr.a);
}

void snic_net_exit(SnicPort *port)
{
    qemu_del_nic(port->nic);
    msgq_work_exit(&port->rx->work);
    delay_free(port->out);
    g_free(port->rx);
}
