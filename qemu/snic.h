/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kiwi-snic: objects, ports, and the seam to the RC transport (snic-rc-*.c).
 * All code runs in the main loop or in MMIO handlers, under the BQL. MMIO
 * handlers access no memory and send no frame: they schedule a bottom half.
 */
#ifndef SNIC_H
#define SNIC_H

#include "kiwi.h"
#include "net/net.h"
#include "qemu/queue.h"

#include "kiwi_abi/snic.h"

#define TYPE_KIWI_SNIC "kiwi-snic"
OBJECT_DECLARE_SIMPLE_TYPE(SnicState, KIWI_SNIC)

#define SNIC_PORTS_MAX 2
#define SNIC_FRAME_MAX 4608     /* the largest frame, room for every header */

typedef struct SnicQp SnicQp;
typedef struct SnicRx SnicRx;
typedef struct SnicWire SnicWire;
typedef struct SnicRc SnicRc;               /* transport: one QP */
typedef struct SnicRcDevice SnicRcDevice;   /* transport: one device */

typedef struct SnicPd {
    uint32_t number;
    uint32_t users;
} SnicPd;

typedef struct SnicMr {
    uint32_t number;
    uint32_t key;
    SnicPd *pd;
    uint32_t access;            /* KIWI_ACCESS_* */
    uint64_t iova;
    uint64_t length;
    KiwiPbl *mem;               /* NULL: on hold */
} SnicMr;

typedef struct SnicCq {
    uint32_t number;
    uint16_t epoch;
    uint32_t db_page;
    uint32_t eqn;
    uint32_t users;
    uint8_t log2;
    uint8_t flags;              /* KIWI_CQ_* */
    uint8_t arm;                /* 0, or how: KIWI_DB_CQ_ARM* */
    bool error;                 /* for good */
    bool error_told;
    uint8_t error_code;         /* enum kiwi_cq_error */
    uint32_t arm_index;         /* extended to the width of pi */
    uint64_t ci_offset;
    uint32_t pi;                /* CQEs written */
    uint32_t ci;                /* consumed, by the record as last read */
    uint32_t solicited_pi;      /* behind the last solicited or failed CQE */
    uint8_t status;             /* of the CQE written last */
    KiwiPbl *mem;
    QTAILQ_ENTRY(SnicCq) work;  /* arm or error to look at */
    bool queued;
} SnicCq;

/* A send or receive queue in memory of the host. Indices are free-running. */
typedef struct SnicQueue {
    KiwiPbl *mem;               /* NULL: there is none (SQ_ONLY) */
    uint8_t log2;               /* entries */
    uint8_t shift;              /* bytes of an entry, 2^n */
    uint16_t pi;                /* behind the last entry handed over */
    uint16_t ci;                /* behind the last entry given back by a CQE */
    bool rung;                  /* the doorbell record is to be read */
    bool fault;                 /* it could not be read */
} SnicQueue;

/* struct kiwi_qp_attr in host order, and what it resolves to. */
typedef struct SnicQpAttr {
    uint8_t mtu;
    uint8_t port;               /* from 1 */
    uint8_t timeout;
    uint8_t retry_cnt;
    uint8_t rnr_retry;
    uint8_t min_rnr_timer;
    uint8_t max_rd_atomic;
    uint8_t max_dest_rd_atomic;
    uint8_t hop_limit;          /* never 0 once AV was given */
    uint8_t traffic_class;
    uint8_t sgid_index;
    uint8_t dmac[6];
    uint8_t dgid[16];
    uint8_t sgid[16];           /* copied from the port's table with AV */
    bool ipv4;                  /* both GIDs are ::ffff:a.b.c.d */
    uint16_t udp_sport;         /* as given: 0 lets the device choose */
    uint32_t dest_qpn;
    uint32_t sq_psn;
    uint32_t rq_psn;
    uint32_t access;
    uint32_t flow_label;
} SnicQpAttr;

struct SnicQp {
    SnicState *s;
    uint32_t number;
    uint16_t epoch;
    uint32_t db_page;
    uint8_t flags;              /* KIWI_QP_* */
    uint8_t state;              /* enum kiwi_qp_state */
    SnicPd *pd;
    SnicCq *send_cq;
    SnicCq *recv_cq;            /* NULL: SQ_ONLY */
    uint64_t db_record;
    SnicQueue sq;
    SnicQueue rq;
    SnicQpAttr attr;
    SnicRc *rc;                 /* owned by the transport */
};

typedef struct SnicPortCounters {
    uint64_t tx_frames;
    uint64_t tx_bytes;
    uint64_t rx_frames;
    uint64_t rx_bytes;
    uint64_t rx_not_roce;
    uint64_t rx_icrc_encapsulated;
    uint64_t rx_malformed;
    uint64_t rx_no_qp;
    uint64_t out_of_sequence;
    uint64_t duplicate_request;
    uint64_t packet_seq_err;
    uint64_t local_ack_timeout_err;
    uint64_t rnr_nak_sent;
    uint64_t rnr_nak_rcvd;
    uint64_t rnr_nak_retry_err;
    uint64_t retry_exceeded_err;
    uint64_t remote_access_err;
    uint64_t retransmitted;
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

    /* Properties: what QUERY_CAPS reports */
    uint32_t max_pd;
    uint32_t max_mr;
    uint32_t max_cq;
    uint32_t max_qp;
    uint64_t max_mr_size;
    uint32_t max_mr_pages;
    uint32_t max_inline;
    uint32_t max_msg_size;
    uint32_t link_mbps;         /* of one port */
    uint8_t page_shift_max;
    uint8_t pbl_table_shift_max;
    uint8_t ports;
    uint8_t num_gids;
    uint8_t sq_log2_max;
    uint8_t rq_log2_max;
    uint8_t cq_log2_max;
    uint8_t max_sge;
    uint8_t max_rd_atomic;
    uint8_t mtu_max;
    uint64_t seed;

    /* Properties: time that things take */
    uint32_t nic_ns;            /* from memory to the wire, or from there */
    uint32_t packet_ns;         /* from one packet to the next */
    uint32_t write_ns;          /* from the device to memory */
    uint32_t wire_ns;           /* from a port to the next */

    KiwiTable pds;
    KiwiTable mrs;
    KiwiTable cqs;
    KiwiTable qps;

    QTAILQ_HEAD(, SnicCq) cq_work;
    QEMUBH *cq_bh;

    SnicPort port[SNIC_PORTS_MAX];
    SnicRcDevice *rc;           /* owned by the transport */
};

/*
 * snic-work.c: does one piece of work; says after how many nanoseconds there is
 * more to do, or -1: when it is kicked.
 */
typedef int64_t SnicWorkFn(void *opaque);

typedef struct SnicWork {
    SnicState *s;
    SnicWorkFn *run;
    void *opaque;
    QEMUTimer *timer;
} SnicWork;

void snic_work_init(SnicWork *w, SnicState *s, SnicWorkFn *run, void *opaque);
void snic_work_exit(SnicWork *w);
/* There is something to do. From anywhere. */
void snic_work_kick(SnicWork *w);

/* --- What the core gives the transport --------------------------------- */

/* The values are those of kiwi_cqe.vendor_err. */
typedef enum SnicVendorErr {
    SNIC_OK = 0,
    SNIC_ERR_KEY = 1,           /* unknown, or of another PD */
    SNIC_ERR_BOUNDS = 2,
    SNIC_ERR_RIGHT = 3,
    SNIC_ERR_DMA = 4,
    SNIC_ERR_FORMAT = 5,        /* malformed WQE or RQE */
    SNIC_ERR_PEER = 6,          /* NAK */
    SNIC_ERR_SILENT = 7,        /* no answer from the peer */

    SNIC_HELD = -1,             /* no error: the region is on hold (S-40) */
} SnicVendorErr;

/*
 * Memory by key. @need is one KIWI_ACCESS_* that the region must grant, or 0.
 * They check key, PD, right, bounds, hold, in this order; a length of 0 is
 * checked too: do not call where the rules let an empty range pass without a key.
 */
SnicVendorErr snic_mr_check(SnicState *s, SnicPd *pd, uint32_t key,
                            uint64_t addr, uint64_t len, uint32_t need);
SnicVendorErr snic_mr_read(SnicState *s, SnicPd *pd, uint32_t key,
                           uint64_t addr, void *buf, uint64_t len,
                           uint32_t need);
SnicVendorErr snic_mr_write(SnicState *s, SnicPd *pd, uint32_t key,
                            uint64_t addr, const void *buf, uint64_t len,
                            uint32_t need);
/*
 * One 8-byte little-endian value, host order in @old: CMP_SWAP when @compare is
 * not NULL, else FETCH_ADD. Needs REMOTE_ATOMIC. The caller checks alignment.
 */
SnicVendorErr snic_mr_atomic(SnicState *s, SnicPd *pd, uint32_t key,
                             uint64_t addr, uint64_t swap_add,
                             const uint64_t *compare, uint64_t *old);

/*
 * Reads @count entries from @index on into @buf, wrapping with the ring: one
 * transaction for each contiguous stretch. False: the ring cannot be read.
 */
bool snic_queue_read(SnicState *s, const SnicQueue *q, uint16_t index,
                     unsigned count, void *buf);

/*
 * Writes a CQE; the phase is filled in here, so @cqe->flags holds the others
 * only. A CQ in error drops it. An overrun is handled later, from a bottom
 * half: the QPs of the CQ then see snic_rc_fail().
 */
void snic_cqe_push(SnicState *s, SnicCq *cq, const struct kiwi_cqe *cqe);

/* To the asynchronous event queue. */
static inline void snic_event(SnicState *s, enum kiwi_event type, uint8_t code,
                              uint32_t id, uint32_t info)
{
    kiwi_async_event(KIWI(s), type, code, id, info);
}

/*
 * Reads the doorbell record if a doorbell was rung since. False: there was none.
 */
bool snic_qp_read_record(SnicQp *qp);

SnicQp *snic_qp_find(SnicState *s, uint32_t number);    /* NULL: none */
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

/* --- What the transport gives the core ---------------------------------- */

/* Once in the life of the device model. */
void snic_rc_init(SnicState *s);
void snic_rc_exit(SnicState *s);

/* @qp is filled in, in RESET. After destroy: no CQE, no event, no access. */
void snic_rc_create(SnicQp *qp);
void snic_rc_destroy(SnicQp *qp);
/*
 * The transition was validated, @qp->state and @qp->attr are the new ones,
 * @mask tells which attributes were given. To RESET: drop all work and set the
 * indices of both queues to 0 (S-21). To ERR: flush.
 */
void snic_rc_modify(SnicQp *qp, uint8_t old_state, uint32_t mask);
/* Fills in sq_psn and rq_psn as QUERY_QP reports them. */
void snic_rc_query(SnicQp *qp, uint32_t *sq_psn, uint32_t *rq_psn);
/* The producer index of the queue has been advanced. From an MMIO handler. */
void snic_rc_sq_doorbell(SnicQp *qp);
void snic_rc_rq_doorbell(SnicQp *qp);
/* snic_qp_read_record() has something to do. From an MMIO handler. */
void snic_rc_record_doorbell(SnicQp *qp);
/* A region was on hold and is no longer. */
void snic_rc_resume(SnicState *s);
/*
 * A CQ of the QP is in error: state ERR, flush. The core raises QP_ERROR.
 */
void snic_rc_fail(SnicQp *qp);
/*
 * An Ethernet frame to the port's own MAC, untagged, IP, UDP 4791 by its
 * headers; everything behind them is unchecked. Valid until return.
 */
void snic_rc_rx(SnicPort *port, const uint8_t *frame, size_t len);

/* --- Between the files of the core -------------------------------------- */

/* snic-cmd.c */
extern const KiwiCommand snic_commands[];
extern const size_t snic_num_commands;

/* Commands, in the file of their object */
enum kiwi_status snic_alloc_pd_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_dealloc_pd_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_reg_mr_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_dereg_mr_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_hold_mr_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_resume_mr_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_create_cq_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_destroy_cq_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_create_qp_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_modify_qp_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_query_qp_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_destroy_qp_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_query_port_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_set_port_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_set_gid_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status snic_query_port_counters_cmd(KiwiState *k, KiwiCall *c);

void snic_pd_free(SnicState *s, SnicPd *pd);
void snic_mr_free(SnicState *s, SnicMr *mr);
void snic_cq_free(SnicState *s, SnicCq *cq);
void snic_qp_free(SnicState *s, SnicQp *qp);

/* snic-cq.c, snic-qp.c */
void snic_cq_init(SnicState *s);
void snic_cq_exit(SnicState *s);
enum kiwi_diag snic_cq_doorbell(SnicState *s, uint32_t page, uint8_t type,
                                uint32_t number, uint16_t epoch,
                                uint16_t index);
enum kiwi_diag snic_qp_doorbell(SnicState *s, uint32_t page, uint8_t type,
                                uint32_t number, uint16_t epoch,
                                uint16_t index);

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
