/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RC transport: entries fetched from rings, and scatter lists.
 */
#include "msgq-rc.h"

void rc_fetch_reset(RcFetch *f, uint16_t index)
{
    f->index = index;
    f->count = 0;
    f->start = 0;
}

/*
 * Makes sure that at least @entries entries are held. Reads all that is handed
 * over and fits, but does not go over the end of the ring unless it must: each
 * read is then one transaction.
 */
RcFetchResult rc_fetch(Msgq *s, MsgqQueue *q, RcFetch *f,
                       unsigned entries, const uint8_t **p)
{
    uint16_t behind = f->index + f->count;
    unsigned avail = (uint16_t)(q->pi - behind);
    unsigned ring = 1u << q->log2;
    unsigned to_end = ring - (behind & (ring - 1));
    unsigned n;

    if (q->fault) {
        q->fault = false;
        return RC_FETCH_FAULT;
    }
    if (f->count < entries) {
        if (f->count + avail < entries) {
            return RC_FETCH_NONE;
        }
        memmove(f->buf, f->buf + ((size_t)f->start << q->shift),
                (size_t)f->count << q->shift);
        f->start = 0;
        n = MIN(avail, (RC_FETCH_BYTES >> q->shift) - f->count);
        if (f->count + to_end >= entries) {
            n = MIN(n, to_end);
        }
        if (!msgq_queue_read(s, q, behind, n,
                             f->buf + ((size_t)f->count << q->shift))) {
            return RC_FETCH_FAULT;
        }
        f->count += n;
    }
    *p = f->buf + ((size_t)f->start << q->shift);
    return RC_FETCH_OK;
}

void rc_fetch_take(RcFetch *f, unsigned entries)
{
    f->index += entries;
    f->start += entries;
    f->count -= entries;
}

MsgqVendorErr rc_sge_check(MsgqQp *qp, const RcSge *sge, unsigned num_sge,
                           uint32_t need)
{
    MsgqVendorErr held = MSGQ_OK;
    MsgqVendorErr err;

    for (unsigned i = 0; i < num_sge; i++) {
        if (sge[i].len) {
            err = msgq_mr_check(qp->s, qp->pd, sge[i].lkey, sge[i].addr,
                                sge[i].len, need);
            if (err == MSGQ_HELD) {
                held = err;
            } else if (err) {
                return err;
            }
        }
    }
    return held;
}

typedef MsgqVendorErr RcSgeFn(MsgqQp *qp, const RcSge *part, void *buf);

static MsgqVendorErr rc_sge_walk(MsgqQp *qp, const RcSge *sge, unsigned num_sge,
                                 uint64_t off, uint32_t len, uint8_t *buf,
                                 RcSgeFn *fn)
{
    for (unsigned i = 0; i < num_sge && len; i++) {
        RcSge part = sge[i];
        MsgqVendorErr err;

        if (off >= part.len) {
            off -= part.len;
            continue;
        }
        part.addr += off;
        part.len = MIN(part.len - off, len);
        off = 0;
        err = fn(qp, &part, buf);
        if (err) {
            return err;
        }
        buf += part.len;
        len -= part.len;
    }
    return MSGQ_OK;
}

static MsgqVendorErr rc_sge_read(MsgqQp *qp, const RcSge *part, void *buf)
{
    return msgq_mr_read(qp->s, qp->pd, part->lkey, part->addr, buf, part->len,
                        0);
}

static MsgqVendorErr rc_sge_writable(MsgqQp *qp, const RcSge *part, void *buf)
{
    return msgq_mr_check(qp->s, qp->pd, part->lkey, part->addr, part->len,
                         KIWI_ACCESS_LOCAL_WRITE);
}

static MsgqVendorErr rc_sge_write(MsgqQp *qp, const RcSge *part, void *buf)
{
    return msgq_mr_write(qp->s, qp->pd, part->lkey, part->addr, buf, part->len,
                         KIWI_ACCESS_LOCAL_WRITE);
}

MsgqVendorErr rc_gather(MsgqQp *qp, const RcSge *sge, unsigned num_sge,
                        uint64_t off, uint8_t *buf, uint32_t len)
{
    return rc_sge_walk(qp, sge, num_sge, off, len, buf, rc_sge_read);
}

/* All is checked first, so that nothing of a refused packet is placed. */
MsgqVendorErr rc_scatter(MsgqQp *qp, const RcSge *sge, unsigned num_sge,
                         uint64_t off, const uint8_t *buf, uint32_t len)
{
    uint8_t *from = (uint8_t *)buf;
    MsgqVendorErr err;

    err = rc_sge_walk(qp, sge, num_sge, off, len, from, rc_sge_writable);
    return err ?: rc_sge_walk(qp, sge, num_sge, off, len, from, rc_sge_write);
}
