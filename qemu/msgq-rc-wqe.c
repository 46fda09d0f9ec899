/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC transport: meaning and validity of a send queue entry.
 */
#include "msgq-rc.h"

#define SEGS_MAX    (KIWI_WQE_MAX_BB * KIWI_WQEBB / KIWI_WQE_SEG)
#define SEGS_PER_BB (KIWI_WQEBB / KIWI_WQE_SEG)

#define ANY (KIWI_WQE_SIGNALED | KIWI_WQE_FENCE)

typedef enum WqeData {
    DATA_NONE,
    DATA_LIST,
    DATA_LIST_OR_INLINE,
    DATA_ATOMIC,                /* one entry of 8 bytes */
} WqeData;

static const struct {
    uint8_t flags;              /* allowed */
    uint8_t data;
    bool imm;
    bool raddr;
} opcodes[KIWI_WQE_OPCODE_COUNT] = {
    [KIWI_WQE_NOP] = { .flags = ANY },
    [KIWI_WQE_SEND] = {
        .flags = ANY | KIWI_WQE_SOLICITED | KIWI_WQE_INLINE,
        .data = DATA_LIST_OR_INLINE,
    },
    [KIWI_WQE_SEND_IMM] = {
        .flags = ANY | KIWI_WQE_SOLICITED | KIWI_WQE_INLINE,
        .data = DATA_LIST_OR_INLINE, .imm = true,
    },
    [KIWI_WQE_WRITE] = {
        .flags = ANY | KIWI_WQE_INLINE,
        .data = DATA_LIST_OR_INLINE, .raddr = true,
    },
    [KIWI_WQE_WRITE_IMM] = {
        .flags = ANY | KIWI_WQE_SOLICITED | KIWI_WQE_INLINE,
        .data = DATA_LIST_OR_INLINE, .imm = true, .raddr = true,
    },
    [KIWI_WQE_READ] = {
        .flags = ANY, .data = DATA_LIST, .raddr = true,
    },
    [KIWI_WQE_CMP_SWAP] = {
        .flags = ANY, .data = DATA_ATOMIC, .raddr = true,
    },
    [KIWI_WQE_FETCH_ADD] = {
        .flags = ANY, .data = DATA_ATOMIC, .raddr = true,
    },
};

unsigned rc_wqe_units(const uint8_t *unit)
{
    const struct kiwi_wqe_ctrl *ctrl = (const void *)unit;

    return ctrl->segs && ctrl->segs <= SEGS_MAX ?
           DIV_ROUND_UP(ctrl->segs, SEGS_PER_BB) : 1;
}

static void wqe_bad(RcWqe *w, enum kiwi_cqe_status status, MsgqVendorErr err)
{
    w->status = status;
    w->vendor_err = err;
}

/* The @segs segments at @p are a scatter list. */
static bool parse_list(MsgqQp *qp, RcWqe *w, const uint8_t *p, unsigned segs)
{
    uint64_t len = 0;

    if (segs > qp->s->max_sge) {
        return false;
    }
    for (unsigned i = 0; i < segs; i++, p += KIWI_WQE_SEG) {
        const struct kiwi_sge *sge = (const void *)p;

        w->sge[i].addr = le64_to_cpu(sge->addr);
        w->sge[i].lkey = le32_to_cpu(sge->lkey);
        w->sge[i].len = le32_to_cpu(sge->len);
        len += w->sge[i].len;
    }
    w->num_sge = segs;
    if (len > qp->s->max_msg_size) {
        wqe_bad(w, KIWI_CQE_ST_LOC_LEN_ERR, MSGQ_OK);
        return true;
    }
    w->len = len;
    return true;
}

static bool parse_inline(MsgqQp *qp, RcWqe *w, const uint8_t *p, unsigned segs)
{
    uint32_t len;

    if (!segs) {
        return false;
    }
    len = ldl_le_p(p);
    if (len > qp->s->max_inline || len > sizeof(w->inline_data) ||
        segs != DIV_ROUND_UP(sizeof(__le32) + len, KIWI_WQE_SEG)) {
        return false;
    }
    memcpy(w->inline_data, p + sizeof(__le32), len);
    w->len = len;
    return true;
}

/* False: malformed. Other errors are put into @w. */
static bool parse(MsgqQp *qp, RcWqe *w, const uint8_t *units)
{
    const struct kiwi_wqe_ctrl *ctrl = (const void *)units;
    const uint8_t *p = units + sizeof(*ctrl);
    const uint8_t *end = units + ctrl->segs * KIWI_WQE_SEG;
    const struct kiwi_wqe_raddr *raddr;
    const struct kiwi_wqe_atomic *atomic;

    if (w->opcode >= KIWI_WQE_OPCODE_COUNT || !ctrl->segs ||
        ctrl->segs > SEGS_MAX || ctrl->rsvd ||
        (w->flags & ~opcodes[w->opcode].flags) ||
        (!opcodes[w->opcode].imm && ctrl->imm)) {
        return false;
    }
    if (opcodes[w->opcode].raddr) {
        raddr = (const void *)p;
        p += sizeof(*raddr);
        if (p > end || raddr->rsvd) {
            return false;
        }
        w->raddr = le64_to_cpu(raddr->addr);
        w->rkey = le32_to_cpu(raddr->rkey);
    }

    switch (opcodes[w->opcode].data) {
    case DATA_NONE:
        return p == end;
    case DATA_LIST_OR_INLINE:
        if (w->flags & KIWI_WQE_INLINE) {
            return parse_inline(qp, w, p, (end - p) / KIWI_WQE_SEG);
        }
        /* fall through */
    case DATA_LIST:
        return parse_list(qp, w, p, (end - p) / KIWI_WQE_SEG);
    case DATA_ATOMIC:
        atomic = (const void *)p;
        p += sizeof(*atomic);
        if (p + sizeof(struct kiwi_sge) != end ||
            (w->opcode == KIWI_WQE_FETCH_ADD && atomic->compare)) {
            return false;
        }
        w->swap_add = le64_to_cpu(atomic->swap_add);
        w->compare = le64_to_cpu(atomic->compare);
        return parse_list(qp, w, p, 1) && w->len == sizeof(uint64_t);
    }
    g_assert_not_reached();
}

RcWqe *rc_wqe_parse(MsgqQp *qp, const uint8_t *units)
{
    const struct kiwi_wqe_ctrl *ctrl = (const void *)units;
    RcWqe *w = g_new0(RcWqe, 1);
    MsgqVendorErr err;

    w->opcode = ctrl->opcode;
    w->flags = ctrl->flags;
    w->wr_id = le64_to_cpu(ctrl->wr_id);
    memcpy(w->imm, &ctrl->imm, sizeof(w->imm));
    if (qp->flags & KIWI_QP_SQ_SIG_ALL) {
        w->flags |= KIWI_WQE_SIGNALED;
    }

    if (!parse(qp, w, units)) {
        wqe_bad(w, KIWI_CQE_ST_LOC_QP_OP_ERR, MSGQ_ERR_FORMAT);
    } else if (!w->status) {
        err = rc_sge_check(qp, w->sge, w->num_sge, rc_wqe_is_rd_atomic(w) ?
                           KIWI_ACCESS_LOCAL_WRITE : 0);
        if (err && err != MSGQ_HELD) {
            wqe_bad(w, KIWI_CQE_ST_LOC_PROT_ERR, err);
        }
    }
    return w;
}
