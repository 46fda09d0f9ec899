/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MODIFY_QP: attributes, transitions (S-20), and what an address resolves to.
 */
#include "msgq.h"
#include "qemu/bswap.h"

#define IN_FIELD(member) offsetof(struct kiwi_snic_modify_qp_in, member)
#define ATTR(name) KIWI_QP_ATTR_##name

#define STATE_ANY 0xff

#define RTS_OPTIONAL (ATTR(CUR_STATE) | ATTR(ACCESS) | ATTR(MIN_RNR_TIMER))

static const struct {
    uint8_t from;
    uint8_t to;
    uint32_t required;          /* besides STATE */
    uint32_t optional;
} transitions[] = {
    { KIWI_QPS_RESET, KIWI_QPS_INIT, ATTR(PORT) | ATTR(ACCESS), 0 },
    { KIWI_QPS_INIT, KIWI_QPS_INIT, 0, ATTR(PORT) | ATTR(ACCESS) },
    { KIWI_QPS_INIT, KIWI_QPS_RTR,
      ATTR(AV) | ATTR(MTU) | ATTR(DEST_QPN) | ATTR(RQ_PSN) |
      ATTR(MAX_DEST_RD_ATOMIC) | ATTR(MIN_RNR_TIMER), ATTR(ACCESS) },
    { KIWI_QPS_RTR, KIWI_QPS_RTS,
      ATTR(SQ_PSN) | ATTR(TIMEOUT) | ATTR(RETRY_CNT) | ATTR(RNR_RETRY) |
      ATTR(MAX_RD_ATOMIC), RTS_OPTIONAL },
    { KIWI_QPS_RTS, KIWI_QPS_RTS, 0, RTS_OPTIONAL },
    { KIWI_QPS_RTS, KIWI_QPS_SQD, 0, 0 },
    { KIWI_QPS_SQD, KIWI_QPS_RTS, 0, RTS_OPTIONAL },
    { KIWI_QPS_SQD, KIWI_QPS_SQD, 0,
      ATTR(AV) | ATTR(TIMEOUT) | ATTR(RETRY_CNT) | ATTR(RNR_RETRY) |
      ATTR(MAX_RD_ATOMIC) | ATTR(MAX_DEST_RD_ATOMIC) | ATTR(ACCESS) |
      ATTR(MIN_RNR_TIMER) },
    { STATE_ANY, KIWI_QPS_RESET, 0, 0 },
    { STATE_ANY, KIWI_QPS_ERR, 0, 0 },
};

/*
 * Fields
 */

typedef struct AttrField {
    uint16_t offset;
    uint16_t size;
    uint32_t attr;              /* 0: reserved */
    uint64_t min;
    uint64_t max;
} AttrField;

#define ATTR_FIELD(member, bits, min, max) \
    { IN_FIELD(attr.member), sizeof_field(struct kiwi_qp_attr, member), \
      bits, min, max }

static enum kiwi_status check_field(KiwiCall *c, uint32_t mask,
                                    const AttrField *f)
{
    if (!(mask & f->attr)) {
        return kiwi_check_zero(c, f->offset, f->size);
    }
    /* A GID is looked at together with the one of the port. */
    if (f->size > sizeof(uint64_t)) {
        return KIWI_ST_OK;
    }
    return kiwi_check_range(c, f->offset,
                            kiwi_le_value(c->in + f->offset, f->size),
                            f->min, f->max);
}

static enum kiwi_status check_special(Msgq *s, KiwiCall *c, uint32_t mask,
                                      const AttrField *f)
{
    const struct kiwi_snic_modify_qp_in *in = (void *)c->in;
    const uint32_t rights = KIWI_ACCESS_ALL & ~KIWI_ACCESS_LOCAL_WRITE;
    uint32_t access = le32_to_cpu(in->attr.access);

    if (f->attr == ATTR(ACCESS) && (access & ~rights)) {
        return kiwi_refuse(c, KIWI_ST_BAD_RESERVED, f->offset, access, rights);
    }
    return mask & f->attr & ATTR(AV) ? s->ops->check_address(s, c, f->offset)
                                     : KIWI_ST_OK;
}

static enum kiwi_status check_fields(Msgq *s, KiwiCall *c, uint32_t mask)
{
    const AttrField fields[] = {
        ATTR_FIELD(state, ATTR(STATE), 0, KIWI_QPS_ERR),
        ATTR_FIELD(cur_state, ATTR(CUR_STATE), 0, KIWI_QPS_ERR),
        ATTR_FIELD(mtu, ATTR(MTU), KIWI_MTU_256, s->mtu_max),
        ATTR_FIELD(port, ATTR(PORT), 1, s->ports),
        ATTR_FIELD(dest_qpn, ATTR(DEST_QPN), 0, ROCE_QPN_MASK),
        ATTR_FIELD(sq_psn, ATTR(SQ_PSN), 0, ROCE_PSN_MASK),
        ATTR_FIELD(rq_psn, ATTR(RQ_PSN), 0, ROCE_PSN_MASK),
        ATTR_FIELD(timeout, ATTR(TIMEOUT), 0, 31),
        ATTR_FIELD(retry_cnt, ATTR(RETRY_CNT), 0, 7),
        ATTR_FIELD(rnr_retry, ATTR(RNR_RETRY), 0, 7),
        ATTR_FIELD(min_rnr_timer, ATTR(MIN_RNR_TIMER), 0, 31),
        ATTR_FIELD(max_rd_atomic, ATTR(MAX_RD_ATOMIC), 0, s->max_rd_atomic),
        ATTR_FIELD(max_dest_rd_atomic, ATTR(MAX_DEST_RD_ATOMIC), 0,
              s->max_rd_atomic),
        ATTR_FIELD(hop_limit, ATTR(AV), 0, UINT8_MAX),
        ATTR_FIELD(traffic_class, ATTR(AV), 0, UINT8_MAX),
        ATTR_FIELD(dmac, ATTR(AV), 0, UINT64_MAX),
        ATTR_FIELD(sgid_index, ATTR(AV), 0, s->num_gids - 1),
        ATTR_FIELD(rsvd0, 0, 0, 0),
        ATTR_FIELD(dgid, ATTR(AV), 0, 0),
        ATTR_FIELD(access, ATTR(ACCESS), 0, UINT32_MAX),
        ATTR_FIELD(flow_label, ATTR(AV), 0, 0xfffff),
        ATTR_FIELD(udp_sport, ATTR(AV), 0, UINT16_MAX),
        ATTR_FIELD(rsvd1, 0, 0, 0),
    };
    enum kiwi_status st = KIWI_ST_OK;

    for (int i = 0; !st && i < ARRAY_SIZE(fields); i++) {
        st = check_field(c, mask, &fields[i]);
        if (!st) {
            st = check_special(s, c, mask, &fields[i]);
        }
    }
    return st;
}

/*
 * State
 */

static enum kiwi_status check_transition(KiwiCall *c, const MsgqQp *qp,
                                         uint32_t mask, uint8_t to)
{
    for (int i = 0; i < ARRAY_SIZE(transitions); i++) {
        uint32_t required = transitions[i].required | ATTR(STATE);

        if ((transitions[i].from != STATE_ANY &&
             transitions[i].from != qp->state) || transitions[i].to != to) {
            continue;
        }
        if ((mask & required) != required ||
            (mask & ~(required | transitions[i].optional))) {
            return kiwi_refuse(c, KIWI_ST_BAD_STATE, IN_FIELD(mask), mask,
                               required);
        }
        return KIWI_ST_OK;
    }
    return kiwi_refuse(c, KIWI_ST_BAD_STATE, IN_FIELD(attr.state), to,
                       qp->state);
}

/* What depends on the QP and its port. */
static enum kiwi_status check_resolved(Msgq *s, KiwiCall *c, const MsgqQp *qp,
                                       uint32_t mask)
{
    const struct kiwi_snic_modify_qp_in *in = (void *)c->in;

    if ((mask & ATTR(CUR_STATE)) && in->attr.cur_state != qp->state) {
        return kiwi_refuse(c, KIWI_ST_BAD_STATE, IN_FIELD(attr.cur_state),
                           in->attr.cur_state, qp->state);
    }
    return mask & (ATTR(MTU) | ATTR(AV)) ?
           s->ops->check_resolved(s, c, qp, mask) : KIWI_ST_OK;
}

static void take_address(Msgq *s, MsgqQpAttr *to, const struct kiwi_qp_attr *a)
{
    to->hop_limit = a->hop_limit;
    to->traffic_class = a->traffic_class;
    memcpy(to->dmac, a->dmac, sizeof(to->dmac));
    to->sgid_index = a->sgid_index;
    memcpy(to->dgid, a->dgid, sizeof(to->dgid));
    to->flow_label = le32_to_cpu(a->flow_label);
    to->udp_sport = le16_to_cpu(a->udp_sport);
    if (s->ops->take_address) {
        s->ops->take_address(s, to, a);
    }
}

#define TAKE(bit, member, value) \
    do { \
        if (mask & ATTR(bit)) { \
            to->member = (value); \
        } \
    } while (0)

static void take_attributes(Msgq *s, MsgqQpAttr *to, uint32_t mask,
                            const struct kiwi_qp_attr *a)
{
    TAKE(ACCESS, access, le32_to_cpu(a->access));
    TAKE(PORT, port, a->port);
    TAKE(MTU, mtu, a->mtu);
    TAKE(DEST_QPN, dest_qpn, le32_to_cpu(a->dest_qpn));
    TAKE(SQ_PSN, sq_psn, le32_to_cpu(a->sq_psn));
    TAKE(RQ_PSN, rq_psn, le32_to_cpu(a->rq_psn));
    TAKE(TIMEOUT, timeout, a->timeout);
    TAKE(RETRY_CNT, retry_cnt, a->retry_cnt);
    TAKE(RNR_RETRY, rnr_retry, a->rnr_retry);
    TAKE(MIN_RNR_TIMER, min_rnr_timer, a->min_rnr_timer);
    TAKE(MAX_RD_ATOMIC, max_rd_atomic, a->max_rd_atomic);
    TAKE(MAX_DEST_RD_ATOMIC, max_dest_rd_atomic, a->max_dest_rd_atomic);
    if (mask & ATTR(AV)) {
        take_address(s, to, a);
    }
}

enum kiwi_status msgq_modify_qp_cmd(KiwiState *k, KiwiCall *c)
{
    Msgq *s = k->msgq;
    const struct kiwi_snic_modify_qp_in *in = (void *)c->in;
    uint32_t mask = le32_to_cpu(in->mask);
    uint32_t number = le32_to_cpu(in->qpn);
    enum kiwi_status st;
    uint8_t old_state;
    MsgqQp *qp;

    if (mask & ~KIWI_QP_ATTR_ALL) {
        return kiwi_refuse(c, KIWI_ST_BAD_RESERVED, IN_FIELD(mask), mask,
                           KIWI_QP_ATTR_ALL);
    }
    st = check_fields(s, c, mask);
    if (st) {
        return st;
    }
    qp = msgq_qp_find(s, number);
    if (!qp) {
        return kiwi_refuse(c, KIWI_ST_BAD_HANDLE, IN_FIELD(qpn), number, 0);
    }
    st = check_transition(c, qp, mask, in->attr.state);
    if (!st) {
        st = check_resolved(s, c, qp, mask);
    }
    if (st) {
        return st;
    }
    old_state = qp->state;
    qp->state = in->attr.state;
    if (qp->state == KIWI_QPS_RESET) {
        memset(&qp->attr, 0, sizeof(qp->attr));
    }
    take_attributes(s, &qp->attr, mask, &in->attr);
    msgq_rc_modify(qp, old_state);
    return KIWI_ST_OK;
}
