/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ports as QEMU NICs. Frames received wait, since QEMU calls us in the middle of
 * whatever the sender is doing.
 */
#include "g2g.h"
#include "net/eth.h"

#define RX_MAX          1024
#define FRAMES_PER_RUN  64

bool g2g_net_carrier(const G2gPort *port)
{
    NetClientState *nc = qemu_get_queue(port->nic);

    return nc->peer && !nc->link_down && !port->flap_until;
}

void g2g_net_send(G2gPort *port, const uint8_t *frame, size_t len)
{
    uint8_t wire[G2G_FRAME_MAX];

    assert(len <= sizeof(wire));
    if (!kiwi_running(KIWI(port->s)) || port->s->silent ||
        !g2g_net_carrier(port)) {
        return;
    }
    memcpy(wire, frame, len);
    if (len < ETH_ZLEN) {
        memset(wire + len, 0, ETH_ZLEN - len);
        len = ETH_ZLEN;
    }
    port->count.tx_frames++;
    port->count.tx_bytes += len;
    if (g2g_fault_frame(port, wire, len) == G2G_FRAME_GOES) {
        qemu_send_packet(qemu_get_queue(port->nic), wire, len);
    }
}

bool g2g_net_run(G2gPort *port)
{
    G2gFrame *f;

    for (int i = 0; i < FRAMES_PER_RUN && port->rx_count; i++) {
        f = QSIMPLEQ_FIRST(&port->rx);
        QSIMPLEQ_REMOVE_HEAD(&port->rx, next);
        port->rx_count--;
        if (port->state != KIWI_G2G_PORT_DOWN && g2g_net_carrier(port)) {
            port->count.rx_frames++;
            port->count.rx_bytes += f->len;
            g2g_frame_rx(port, f->data, f->len);
        }
        g_free(f);
    }
    if (port->refused) {
        port->refused = false;
        qemu_flush_queued_packets(qemu_get_queue(port->nic));
    }
    return port->rx_count;
}

static bool net_can_receive(NetClientState *nc)
{
    G2gPort *port = qemu_get_nic_opaque(nc);

    port->refused = port->rx_count == RX_MAX;
    return !port->refused;
}

static ssize_t net_receive(NetClientState *nc, const uint8_t *buf, size_t size)
{
    G2gPort *port = qemu_get_nic_opaque(nc);
    G2gFrame *f;

    if (!kiwi_running(KIWI(port->s)) || port->s->silent ||
        port->state == KIWI_G2G_PORT_DOWN || size < ETH_HLEN) {
        return size;
    }
    if (size > G2G_FRAME_MAX) {
        port->count.rx_malformed++;
        return size;
    }
    if (port->rx_count == RX_MAX) {
        port->refused = true;
        return 0;
    }
    f = g_malloc(sizeof(*f) + size);
    f->len = size;
    memcpy(f->data, buf, size);
    QSIMPLEQ_INSERT_TAIL(&port->rx, f, next);
    port->rx_count++;
    g2g_kick(port->s);
    return size;
}

static void net_link_changed(NetClientState *nc)
{
    g2g_port_carrier(qemu_get_nic_opaque(nc));
}

static NetClientInfo net_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .can_receive = net_can_receive,
    .receive = net_receive,
    .link_status_changed = net_link_changed,
};

void g2g_net_reset(G2gPort *port)
{
    G2gFrame *f;

    while ((f = QSIMPLEQ_FIRST(&port->rx))) {
        QSIMPLEQ_REMOVE_HEAD(&port->rx, next);
        g_free(f);
    }
    port->rx_count = 0;
}

void g2g_net_init(G2gPort *port)
{
    DeviceState *dev = DEVICE(port->s);
    g_autofree char *name = NULL;

    if (dev->id) {
        name = g_strdup_printf("%s.port%u", dev->id, port->number);
    }
    QSIMPLEQ_INIT(&port->rx);
    port->nic = qemu_new_nic(&net_info, &port->conf, TYPE_KIWI_G2G, name,
                             &dev->mem_reentrancy_guard, port);
}

void g2g_net_exit(G2gPort *port)
{
    g2g_net_reset(port);
    qemu_del_nic(port->nic);
}
