/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC transport of queue pairs, strict profile: what its files share.
 *
 * Frames received are worked on at once, but all that is sent goes through the
 * engine (msgq-rc.c), which serves the QPs that have work in turn.
 */
#ifndef MSGQ_RC_H
#define MSGQ_RC_H

#include "msgq.h"

#define RC_WINDOW       128     /* PSNs sent and not acknowledged */
#define RC_ACK_EVERY    64      /* packets between requests for an ACK */
#define RC_BEGUN_MAX    256     /* WQEs begun and not complete */
#define RC_FETCH_BYTES  2048    /* entries of a ring fetched ahead */
#define RC_SGE_MAX      31      /* more than a WQE or an RQE can hold */

typedef struct RcSge {
    uint64_t addr;
    uint32_t lkey;
    uint32_t len;
} RcSge;

/* Entries of a ring that were read together. */
typedef struct RcFetch {
    uint16_t index;             /* of the first entry held */
    uint16_t count;             /* entries held */
    uint16_t start;             /* where the first one stands, in entries */
    uint8_t buf[RC_FETCH_BYTES];
} RcFetch;

typedef enum RcFetchResult {
    RC_FETCH_OK,
    RC_FETCH_NONE,              /* not handed over yet */
    RC_FETCH_FAULT,             /* the ring cannot be read */
} RcFetchResult;

typedef struct RcWqe {
    uint64_t wr_id;
    uint64_t raddr;
    uint64_t swap_add;
    uint64_t compare;
    uint32_t rkey;
    uint32_t len;               /* of the message */
    uint32_t first_psn;
    uint32_t num_psn;           /* 0: nothing goes on the wire */
    uint16_t sq_index;          /* behind the WQE */
    uint8_t opcode;             /* enum kiwi_wqe_opcode */
    uint8_t flags;
    uint8_t status;             /* not OK: ends so when it is the oldest */
    uint8_t vendor_err;
    uint8_t imm[4];
    uint8_t num_sge;
    union {
        RcSge sge[RC_SGE_MAX];
        uint8_t inline_data[KIWI_WQE_MAX_BB * KIWI_WQEBB];
    };
    QTAILQ_ENTRY(RcWqe) next;
} RcWqe;

typedef struct RcRequester {
    RcFetch fetch;
    RcWqe *staged;              /* fetched, not begun */
    QTAILQ_HEAD(, RcWqe) begun; /* oldest first */
    unsigned num_begun;
    unsigned rd_atomic;         /* READs and atomics among them */
    RcWqe *cur;                 /* whose packets are due; NULL: all are sent */
    uint32_t next_psn;          /* to be sent */
    uint32_t una_psn;           /* oldest unacknowledged */
    uint32_t high_psn;          /* behind the newest ever sent */
    uint32_t ask_psn;           /* behind the newest that asks for an answer */
    unsigned since_ack_req;
    unsigned retries;           /* without progress */
    unsigned rnr_retries;
    bool stopped;               /* a WQE failed: none begins after it */
    bool lost;                  /* the peer is: the oldest WQE begun tells it */
    bool recovering;            /* went back, no progress since */
    bool rnr_wait;
    bool held;                  /* next_psn stands at a region on hold */
    bool expired;               /* the timer fired */
    bool draining;              /* SQD: QP_DRAINED is owed */
    int64_t deadline;           /* of the oldest packet, INT64_MAX: none */
    QEMUTimer *timer;
} RcRequester;

typedef struct RcRqe {
    uint64_t wr_id;
    uint64_t capacity;
    uint16_t index;             /* behind the entry */
    uint8_t num_sge;
    RcSge sge[RC_SGE_MAX];
} RcRqe;

/* What the responder owes the peer, in the order it is to be sent. */
typedef struct RcReply {
    enum { RC_REPLY_ACK, RC_REPLY_READ, RC_REPLY_ATOMIC } kind;
    uint32_t psn;
    uint32_t num_psn;
    uint32_t msn;
    uint8_t syndrome;
    uint32_t rkey;              /* READ, from here */
    uint64_t va;
    uint32_t len;
    uint32_t sent;              /* packets */
    bool again;                 /* of a duplicate request */
    uint64_t orig;              /* ATOMIC */
    QTAILQ_ENTRY(RcReply) next;
} RcReply;

typedef struct RcAtomicResult {
    bool valid;
    uint32_t psn;
    uint64_t orig;
} RcAtomicResult;

typedef struct RcResponder {
    RcFetch fetch;
    QTAILQ_HEAD(, RcReply) replies;
    unsigned num_replies;
    unsigned rd_atomic;         /* READs and atomics among them */
    uint32_t psn;               /* expected */
    uint32_t msn;
    unsigned message;           /* coming in: ROCE_F_SEND, ROCE_F_WRITE or 0 */
    uint64_t received;          /* bytes of it */
    uint32_t rkey;              /* WRITE */
    uint64_t va;
    uint32_t left;
    bool has_rqe;               /* taken, not yet completed; also on hold */
    bool quiet;                 /* no other NAK before the expected packet */
    bool heard;                 /* a packet was received since RTR */
    RcRqe rqe;
    RcAtomicResult *results;    /* ring of Msgq.max_rd_atomic */
    unsigned next_result;
} RcResponder;

struct MsgqRc {
    MsgqQp *qp;
    Delay *out[MSGQ_PATHS];       /* frames that are being made */
    int64_t handed_ns;          /* when the doorbell record was there */
    int64_t ready_ns[MSGQ_PATHS]; /* when what is to be sent was there */
    RcRequester req;
    RcResponder resp;
    bool active;
    QTAILQ_ENTRY(MsgqRc) link;  /* on MsgqRcDevice.active */
};

struct MsgqRcDevice {
    Msgq *s;
    QTAILQ_HEAD(, MsgqRc) active;
    MsgqWork work;
    uint64_t sent;              /* bytes, in this round of the engine */
    uint64_t packets;           /* likewise */
    int64_t link_free_ns;       /* when they all are on their way */
    uint8_t frame[ROCE_FRAME_MAX];
};

/* --- msgq-rc.c: engine, state, frames ----------------------------------- */

/* The QP has something to send, to begin or to flush. */
void rc_activate(MsgqQp *qp);
/* State ERR, all work is to be flushed. */
void rc_error(MsgqQp *qp);

static inline uint32_t rc_mtu(const MsgqQp *qp)
{
    return 128u << qp->attr.mtu;
}

/* PSNs that a message or response of @len bytes takes. */
static inline uint32_t rc_num_psn(const MsgqQp *qp, uint32_t len)
{
    uint32_t mtu = rc_mtu(qp);

    return len ? (len - 1) / mtu + 1 : 1;
}

static inline MsgqCounters *rc_count(MsgqQp *qp)
{
    return qp->s->ops->counters(qp);
}

/* Returns where pkt->payload_len bytes are to be put before rc_send(). */
uint8_t *rc_build(MsgqQp *qp, RocePacket *pkt);
void rc_send(MsgqQp *qp, MsgqPath path, const uint8_t *payload,
             size_t payload_len);
/* What is sent on the path from now on depends on what was read just now. */
void rc_depends(MsgqQp *qp, MsgqPath path);

/* --- msgq-rc-mem.c: rings and scatter lists ------------------------------ */

void rc_fetch_reset(RcFetch *f, uint16_t index);
RcFetchResult rc_fetch(Msgq *s, MsgqQueue *q, RcFetch *f,
                       unsigned entries, const uint8_t **p);
void rc_fetch_take(RcFetch *f, unsigned entries);

/* MSGQ_HELD when nothing but that is in the way. */
MsgqVendorErr rc_sge_check(MsgqQp *qp, const RcSge *sge, unsigned num_sge,
                           uint32_t need);
/* @off and @len lie within the list. */
MsgqVendorErr rc_gather(MsgqQp *qp, const RcSge *sge, unsigned num_sge,
                        uint64_t off, uint8_t *buf, uint32_t len);
MsgqVendorErr rc_scatter(MsgqQp *qp, const RcSge *sge, unsigned num_sge,
                         uint64_t off, const uint8_t *buf, uint32_t len);

/* --- msgq-rc-wqe.c: meaning of a WQE ------------------------------------- */

/* Units of the WQE whose first is @unit; 1 when it says nonsense. */
unsigned rc_wqe_units(const uint8_t *unit);
/* Status and vendor_err tell what is wrong with it. */
RcWqe *rc_wqe_parse(MsgqQp *qp, const uint8_t *units);
static inline bool rc_wqe_is_rd_atomic(const RcWqe *w)
{
    return w->opcode == KIWI_WQE_READ || w->opcode == KIWI_WQE_CMP_SWAP ||
           w->opcode == KIWI_WQE_FETCH_ADD;
}

/* --- msgq-rc-req.c ------------------------------------------------------- */

void rc_req_init(MsgqQp *qp);
void rc_req_free(MsgqQp *qp);
void rc_req_reset(MsgqQp *qp);
void rc_req_start(MsgqQp *qp);      /* RTR to RTS */
void rc_req_drain(MsgqQp *qp);      /* RTS to SQD */
void rc_req_resume(MsgqQp *qp);     /* RTR or SQD to RTS */
void rc_req_release(MsgqQp *qp);    /* what it stands at may be there again */
void rc_req_halt(MsgqQp *qp);       /* to ERR */
void rc_req_rx(MsgqQp *qp, const RocePacket *pkt);
/* Does one thing; false: there is nothing to do now. */
bool rc_req_step(MsgqQp *qp);
bool rc_req_flush_step(MsgqQp *qp);
/* SQD: tells it once all that was begun is complete, in a pause, too. */
void rc_req_check_drained(MsgqQp *qp);
bool rc_req_waits(const MsgqQp *qp);
/* To ERR follows: the oldest WQE begun tells why, when it is flushed. */
void rc_req_lost(MsgqQp *qp);

/* --- msgq-rc-resp.c ------------------------------------------------------ */

void rc_resp_init(MsgqQp *qp);
void rc_resp_free(MsgqQp *qp);
void rc_resp_reset(MsgqQp *qp);
void rc_resp_start(MsgqQp *qp);     /* INIT to RTR */
void rc_resp_drop_replies(MsgqQp *qp);
void rc_resp_rx(MsgqQp *qp, const RocePacket *pkt);
bool rc_resp_step(MsgqQp *qp);
bool rc_resp_flush_step(MsgqQp *qp);

#endif /* MSGQ_RC_H */
