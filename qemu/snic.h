/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kiwi-snic: ports, and queue pairs (msgq.h) whose packets are RoCEv2 frames.
 */
#ifndef SNIC_H
#define SNIC_H

#include "msgq.h"
#include "net/net.h"

#define TYPE_KIWI_SNIC "kiwi-snic"
OBJECT_DECLARE_SIMPLE_TYPE(SnicState, KIWI_SNIC)

#define SNIC_PORTS_MAX 2
#define SNIC_FRAME_MAX 4608     /* the largest frame, room for every header */

typedef struct SnicRx SnicRx;
typedef struct SnicWire SnicWire;

typedef struct SnicPortCounters {
    uint64_t tx_frames;
    uint64_t tx_bytes;
    uint64_t rx_frames;
    uint64_t rx_bytes;
    uint64_t rx_not_roce;
    uint64_t rx_icrc_encapsulated;
    uint64_t rx_malformed;
    uint64_t rx_no_qp;
    MsgqCounters qp;
} SnicPortCounters;

typedef struct SnicGid {
    uint8_t type;               /* enum kiwi_gid_type */
    uint8_t gid[16];
} SnicGid;

typedef struct SnicPort {
    SnicState *s;
    uint8_t number;             /* from 1 */
    NICConf conf;
    NICState *nic;

    bool enabled;
    bool active;                /* as last reported */
    uint8_t mtu;                /* enum kiwi_mtu in force */
    SnicGid *gids;
    SnicPortCounters count;

    Delay *out;                 /* on the wire */
    int64_t out_free_ns;        /* when the last has left the port */
    SnicRx *rx;                 /* received and not yet processed */
    SnicWire *wire;             /* transmit, with its faults */

    /* Faults on transmit, in 1/10000 */
    uint32_t drop;
    uint32_t reorder;

} SnicPort;

struct SnicState {
    KiwiState parent_obj;

    Msgq msgq;

    /* Properties */
    uint32_t max_mr_pages;
    uint8_t page_shift_max;
    uint8_t pbl_table_shift_max;
    uint64_t seed;
    uint32_t write_ns;          /* from the device to memory */
    uint32_t wire_ns;           /* from a port to the next */

    SnicPort port[SNIC_PORTS_MAX];
};

SnicPort *snic_port(SnicState *s, unsigned number);     /* from 1, valid */
/* Enabled and link up: it sends and accepts. */
bool snic_port_active(const SnicPort *port);
/* False: the network has no room now; a frame sent even so may be lost. */
bool snic_port_can_send(const SnicPort *port);
/* Sends, drops or holds back; @frame is the caller's again. Not from MMIO. */
void snic_port_send(SnicPort *port, const uint8_t *frame, size_t len);
/* No access to memory and no frame while false (FATAL, reset). */
static inline bool snic_running(SnicState *s)
{
    return kiwi_running(KIWI(s));
}

/* --- snic-roce.c: the queue pairs' way to the ports ---------------------- */

extern const MsgqOps snic_roce_ops;
/*
 * An Ethernet frame to the port's own MAC, untagged, IP, UDP 4791 by its
 * headers; everything behind them is unchecked. Valid until return.
 */
void snic_roce_rx(SnicPort *port, const uint8_t *frame, size_t len);

/* --- Between the files of the core -------------------------------------- */

/* snic-cmd.c */
extern const KiwiCommand snic_commands[];
extern const size_t snic_num_commands;

/* Commands, in the file of their object */
enum kiwi_status snic_query_port_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_set_port_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_set_gid_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_query_port_counters_cmd(KiwiState *k, KiwiCall *c);

/* snic-port.c */
void snic_port_init(SnicPort *port, SnicState *s, unsigned number);
void snic_port_exit(SnicPort *port);
void snic_port_reset(SnicPort *port);
void snic_port_update(SnicPort *port);      /* tells when the state changed */
bool snic_gid_is_unicast(const uint8_t gid[16]);

/* snic-net.c: the NIC backend */
void snic_net_init(SnicPort *port);
void snic_net_exit(SnicPort *port);
void snic_net_reset(SnicPort *port);
bool snic_net_link_up(const SnicPort *port);
void snic_net_transmit(SnicPort *port, const uint8_t *frame, size_t len);

/* snic-wire.c: between snic_port_send() and the backend */
void snic_wire_class_init(ObjectClass *oc);
void snic_wire_init(SnicPort *port);
void snic_wire_exit(SnicPort *port);
void snic_wire_reset(SnicPort *port);

/* snic-neigh.c: ARP and neighbour discovery for the GIDs of a port (S-13) */
void snic_neigh_arp(SnicPort *port, const uint8_t *frame, size_t len);
/* True when the frame was a neighbour solicitation. */
bool snic_neigh_ipv6(SnicPort *port, const uint8_t *frame, size_t len);

#endif /* SNIC_H */
