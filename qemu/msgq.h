/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs and what they need: PD, MR, CQ, work queues, doorbells, and the RC
 * transport (msgq-rc*.c). A part embeds a Msgq, says how packets leave it
 * (MsgqOps), and hands over those that come.
 *
 * All code runs in the main loop or in MMIO handlers, under the BQL. MMIO
 * handlers access no memory and send no frame: they have something scheduled.
 */
#ifndef MSGQ_H
#define MSGQ_H

#include "kiwi.h"
#include "roce.h"
#include "qemu/queue.h"

#include "kiwi_abi/snic.h"

typedef struct MsgqQp MsgqQp;
typedef struct MsgqRc MsgqRc;               /* transport: one QP */
typedef struct MsgqRcDevice MsgqRcDevice;   /* transport: one device */

typedef struct MsgqPd {
    uint32_t number;
    uint32_t users;
} MsgqPd;

typedef struct MsgqMr {
    uint32_t number;
    uint32_t key;
    MsgqPd *pd;
    uint32_t access;            /* KIWI_ACCESS_* */
    uint64_t iova;
    uint64_t length;
    KiwiPbl *mem;               /* NULL: on hold */
} MsgqMr;

typedef struct MsgqCq {
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
    QTAILQ_ENTRY(MsgqCq) work;  /* arm or error to look at */
    bool queued;
} MsgqCq;

/* A send or receive queue in memory of the host. Indices are free-running. */
typedef struct MsgqQueue {
    KiwiPbl *mem;               /* NULL: there is none (SQ_ONLY) */
    uint8_t log2;               /* entries */
    uint8_t shift;              /* bytes of an entry, 2^n */
    uint16_t pi;                /* behind the last entry handed over */
    uint16_t ci;                /* behind the last entry given back by a CQE */
    bool rung;                  /* the doorbell record is to be read */
    bool fault;                 /* it could not be read */
} MsgqQueue;

/* struct kiwi_qp_attr in host order, and what it resolves to. */
typedef struct MsgqQpAttr {
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
    uint16_t udp_sport;         /* as given: 0 lets the device choose */
    uint32_t dest_qpn;
    uint32_t sq_psn;
    uint32_t rq_psn;
    uint32_t access;
    uint32_t flow_label;
} MsgqQpAttr;

struct MsgqQp {
    Msgq *s;
    uint32_t number;
    uint16_t epoch;
    uint32_t db_page;
    uint8_t flags;              /* KIWI_QP_* */
    uint8_t state;              /* enum kiwi_qp_state */
    MsgqPd *pd;
    MsgqCq *send_cq;
    MsgqCq *recv_cq;            /* NULL: SQ_ONLY */
    uint64_t db_record;
    MsgqQueue sq;
    MsgqQueue rq;
    MsgqQpAttr attr;
    MsgqRc *rc;                 /* owned by the transport */
};

/* Free-running, since reset, in the order of the ABI */
typedef struct MsgqCounters {
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
} MsgqCounters;

/* What the two sides of a QP send does not wait for each other. */
typedef enum MsgqPath {
    MSGQ_REQUESTS,
    MSGQ_REPLIES,
    MSGQ_PATHS,
} MsgqPath;

/* What a part knows about its network. */
typedef struct MsgqOps {
    /* Whether a QP may be created now; NULL: ever. */
    enum kiwi_status (*check_create)(Msgq *s, KiwiCall *c);
    /*
     * MODIFY_QP: a field at @offset of the call's input that belongs to AV and is
     * within the ranges of all parts; then MTU and AV, as far as @mask has them,
     * in the light of all.
     */
    enum kiwi_status (*check_address)(Msgq *s, KiwiCall *c, size_t offset);
    enum kiwi_status (*check_resolved)(Msgq *s, KiwiCall *c, const MsgqQp *qp,
                                       uint32_t mask);
    /* What the address resolves to; NULL: nothing. */
    void (*take_address)(Msgq *s, MsgqQpAttr *to, const struct kiwi_qp_attr *a);

    /* Those of the QP's port. */
    MsgqCounters *(*counters)(const MsgqQp *qp);
    /* False: no room now; a packet sent even so may be lost. */
    bool (*has_room)(const MsgqQp *qp, MsgqPath path);
    /* As roce_build() and roce_finish(). */
    uint8_t *(*build)(const MsgqQp *qp, uint8_t *frame, const RocePacket *pkt);
    size_t (*finish)(uint8_t *frame, const uint8_t *payload, size_t len);
    /* @frame is the caller's again. Not from MMIO. */
    void (*send)(MsgqQp *qp, MsgqPath path, const uint8_t *frame, size_t len);
} MsgqOps;

struct Msgq {
    KiwiState *k;
    const MsgqOps *ops;
    uint64_t cap;               /* the commands need it; 0: none */

    /* Properties: what QUERY_CAPS reports */
    uint32_t max_pd;
    uint32_t max_mr;
    uint32_t max_cq;
    uint32_t max_qp;
    uint64_t max_mr_size;
    uint32_t max_inline;
    uint32_t max_msg_size;
    uint8_t ports;
    uint8_t num_gids;
    uint8_t sq_log2_max;
    uint8_t rq_log2_max;
    uint8_t cq_log2_max;
    uint8_t max_sge;
    uint8_t max_rd_atomic;
    uint8_t mtu_max;
    uint32_t link_mbps;         /* of one port */

    /* Properties: time that things take */
    uint32_t nic_ns;            /* from memory to the wire, or from there */
    uint32_t packet_ns;         /* from one packet to the next */

    KiwiTable pds;
    KiwiTable mrs;
    KiwiTable cqs;
    KiwiTable qps;

    QTAILQ_HEAD(, MsgqCq) cq_work;
    QEMUBH *cq_bh;

    MsgqRcDevice *rc;           /* owned by the transport */
    bool paused;                /* requesters stand still */
    /*
     * The part is in the middle of its work, and may be waiting for memory of
     * another device: nothing else of it runs meanwhile.
     */
    bool busy;
};

/* --- msgq.c -------------------------------------------------------------- */

/* Beside ctrl, raddr and count in a WQE of the largest size. */
#define MSGQ_INLINE_MAX \
    (KIWI_WQE_MAX_BB * KIWI_WQEBB - 2 * KIWI_WQE_SEG - 4)
/* Half of the PSN space holds it at the smallest MTU, and a window. */
#define MSGQ_SIZE_MAX (1U << 30)

/*
 * A part's properties and, behind them, what QUERY_CAPS reports of its queues,
 * which are offset bytes into its state. They cannot be changed once the device
 * is realized, since tables are as large as they say.
 */
Property *msgq_properties(const Property *part, size_t offset);
bool msgq_check_properties(const Msgq *s, Error **errp);
void msgq_init(Msgq *s, KiwiState *k, const MsgqOps *ops);
void msgq_exit(Msgq *s);
/* Frees every object. */
void msgq_reset(Msgq *s);
/* All but link_mbps. */
void msgq_caps(const Msgq *s, struct kiwi_snic_caps *out);
/* NULL: unknown, or not accepted by the host */
const KiwiCommand *msgq_command(const Msgq *s, uint16_t opcode);
enum kiwi_diag msgq_doorbell(KiwiState *k, uint32_t page, uint8_t type,
                             uint32_t queue, uint16_t epoch, uint16_t index);

/*
 * msgq-work.c: does one piece of work; says after how many nanoseconds there is
 * more to do, or -1: when it is kicked.
 */
typedef int64_t MsgqWorkFn(void *opaque);

typedef struct MsgqWork {
    Msgq *s;
    MsgqWorkFn *run;
    void *opaque;
    QEMUTimer *timer;
} MsgqWork;

void msgq_work_init(MsgqWork *w, Msgq *s, MsgqWorkFn *run, void *opaque);
void msgq_work_exit(MsgqWork *w);
/* There is something to do. From anywhere. */
void msgq_work_kick(MsgqWork *w);

/* --- Memory, completions, events ----------------------------------------- */

/* The values are those of kiwi_cqe.vendor_err. */
typedef enum MsgqVendorErr {
    MSGQ_OK = 0,
    MSGQ_ERR_KEY = 1,           /* unknown, or of another PD */
    MSGQ_ERR_BOUNDS = 2,
    MSGQ_ERR_RIGHT = 3,
    MSGQ_ERR_DMA = 4,
    MSGQ_ERR_FORMAT = 5,        /* malformed WQE or RQE */
    MSGQ_ERR_PEER = 6,          /* NAK */
    MSGQ_ERR_SILENT = 7,        /* no answer from the peer */

    MSGQ_HELD = -1,             /* no error: the region is on hold (S-40) */
} MsgqVendorErr;

/*
 * Memory by key. @need is one KIWI_ACCESS_* that the region must grant, or 0.
 * They check key, PD, right, bounds, hold, in this order; a length of 0 is
 * checked too: do not call where the rules let an empty range pass without a key.
 */
MsgqVendorErr msgq_mr_check(Msgq *s, MsgqPd *pd, uint32_t key,
                            uint64_t addr, uint64_t len, uint32_t need);
MsgqVendorErr msgq_mr_read(Msgq *s, MsgqPd *pd, uint32_t key,
                           uint64_t addr, void *buf, uint64_t len,
                           uint32_t need);
MsgqVendorErr msgq_mr_write(Msgq *s, MsgqPd *pd, uint32_t key,
                            uint64_t addr, const void *buf, uint64_t len,
                            uint32_t need);
/*
 * One 8-byte little-endian value, host order in @old: CMP_SWAP when @compare is
 * not NULL, else FETCH_ADD. Needs REMOTE_ATOMIC. The caller checks alignment.
 */
MsgqVendorErr msgq_mr_atomic(Msgq *s, MsgqPd *pd, uint32_t key,
                             uint64_t addr, uint64_t swap_add,
                             const uint64_t *compare, uint64_t *old);

/*
 * Reads @count entries from @index on into @buf, wrapping with the ring: one
 * transaction for each contiguous stretch. False: the ring cannot be read.
 */
bool msgq_queue_read(Msgq *s, const MsgqQueue *q, uint16_t index,
                     unsigned count, void *buf);

/*
 * Writes a CQE; the phase is filled in here, so @cqe->flags holds the others
 * only. A CQ in error drops it. An overrun is handled later, from a bottom
 * half: the QPs of the CQ then see msgq_rc_fail().
 */
void msgq_cqe_push(Msgq *s, MsgqCq *cq, const struct kiwi_cqe *cqe);

/* To the asynchronous event queue. */
static inline void msgq_event(Msgq *s, enum kiwi_event type, uint8_t code,
                              uint32_t id, uint32_t info)
{
    kiwi_async_event(s->k, type, code, id, info);
}

/* No access to memory and no frame while false (FATAL, reset). */
static inline bool msgq_running(Msgq *s)
{
    return kiwi_running(s->k);
}

/*
 * Reads the doorbell record if a doorbell was rung since. False: there was none.
 */
bool msgq_qp_read_record(MsgqQp *qp);

MsgqQp *msgq_qp_find(Msgq *s, uint32_t number);         /* NULL: none */

/* --- msgq-rc.c: the transport ----------------------------------------------- */

/* Once in the life of the device model. */
void msgq_rc_init(Msgq *s);
void msgq_rc_exit(Msgq *s);

/* @qp is filled in, in RESET. After destroy: no CQE, no event, no access. */
void msgq_rc_create(MsgqQp *qp);
void msgq_rc_destroy(MsgqQp *qp);
/*
 * The transition was validated, @qp->state and @qp->attr are the new ones. To
 * RESET: drop all work and set the indices of both queues to 0 (S-21). To ERR:
 * flush.
 */
void msgq_rc_modify(MsgqQp *qp, uint8_t old_state);
/* Fills in sq_psn and rq_psn as QUERY_QP reports them. */
void msgq_rc_query(MsgqQp *qp, uint32_t *sq_psn, uint32_t *rq_psn);
/* The producer index of the queue has been advanced. From an MMIO handler. */
void msgq_rc_sq_doorbell(MsgqQp *qp);
void msgq_rc_rq_doorbell(MsgqQp *qp);
/* msgq_qp_read_record() has something to do. From an MMIO handler. */
void msgq_rc_record_doorbell(MsgqQp *qp);
/* A region was on hold and is no longer. */
void msgq_rc_resume(Msgq *s);
/*
 * A CQ of the QP is in error: state ERR, flush. The core raises QP_ERROR.
 */
void msgq_rc_fail(MsgqQp *qp);
/*
 * A packet that came. The QP that it names, if there is one in a state to take
 * it; whether it comes from where it should is the part's to see to.
 */
MsgqQp *msgq_rc_find(Msgq *s, const RocePacket *pkt);
void msgq_rc_rx(MsgqQp *qp, const RocePacket *pkt);
/* Begins or ends a pause of all requesters. */
void msgq_rc_pause(Msgq *s, bool paused);
/* A packet was sent as requester, and its answer may still come. */
bool msgq_rc_waits(const MsgqQp *qp);
/*
 * The peer is lost: state ERR, the oldest WQE begun ends with RETRY_EXC_ERR, all
 * else is flushed. False: it had ended before. The caller raises QP_ERROR.
 */
bool msgq_rc_lost(MsgqQp *qp);

/* --- Between the files ---------------------------------------------------- */

/* Commands, in the file of their object */
enum kiwi_status msgq_alloc_pd_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_dealloc_pd_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_reg_mr_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_dereg_mr_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_hold_mr_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_resume_mr_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_create_cq_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_destroy_cq_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_create_qp_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_modify_qp_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_query_qp_cmd(KiwiState *k, KiwiCall *c);
enum kiwi_status msgq_destroy_qp_cmd(KiwiState *k, KiwiCall *c);

void msgq_pd_free(Msgq *s, MsgqPd *pd);
void msgq_mr_free(Msgq *s, MsgqMr *mr);
void msgq_cq_free(Msgq *s, MsgqCq *cq);
void msgq_qp_free(Msgq *s, MsgqQp *qp);

void msgq_cq_init(Msgq *s);
void msgq_cq_exit(Msgq *s);
enum kiwi_diag msgq_cq_doorbell(Msgq *s, uint32_t page, uint8_t type,
                                uint32_t number, uint16_t epoch,
                                uint16_t index);
enum kiwi_diag msgq_qp_doorbell(Msgq *s, uint32_t page, uint8_t type,
                                uint32_t number, uint16_t epoch,
                                uint16_t index);

#endif /* MSGQ_H */
