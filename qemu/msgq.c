/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queue pairs: life, limits, the list of commands, doorbells.
 */
#include "msgq.h"
#include "qemu/bswap.h"
#include "hw/qdev-properties.h"

Property *msgq_properties(const Property *part, size_t offset)
{
    static const Property queues[] = {
        DEFINE_PROP_UINT32("max-pd", Msgq, max_pd, 16384),
        DEFINE_PROP_UINT32("max-mr", Msgq, max_mr, 65536),
        DEFINE_PROP_UINT32("max-cq", Msgq, max_cq, 16384),
        DEFINE_PROP_UINT32("max-qp", Msgq, max_qp, 16384),
        DEFINE_PROP_UINT64("max-mr-size", Msgq, max_mr_size, 1ULL << 40),
        DEFINE_PROP_UINT32("max-inline", Msgq, max_inline, MSGQ_INLINE_MAX),
        DEFINE_PROP_UINT32("max-msg-size", Msgq, max_msg_size, MSGQ_SIZE_MAX),
        DEFINE_PROP_UINT8("sq-log2-max", Msgq, sq_log2_max, KIWI_QUEUE_LOG2_MAX),
        DEFINE_PROP_UINT8("rq-log2-max", Msgq, rq_log2_max, KIWI_QUEUE_LOG2_MAX),
        DEFINE_PROP_UINT8("cq-log2-max", Msgq, cq_log2_max, KIWI_QUEUE_LOG2_MAX),
        DEFINE_PROP_UINT8("max-sge", Msgq, max_sge, 30),
        DEFINE_PROP_UINT8("max-rd-atomic", Msgq, max_rd_atomic, 16),
    };
    Property *all;
    size_t n = 0;

    while (part[n].name) {
        n++;
    }
    all = g_new0(Property, n + ARRAY_SIZE(queues) + 1);
    memcpy(all, part, n * sizeof(*all));
    for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
        all[n + i] = queues[i];
        all[n + i].offset += offset;
    }
    return all;
}

bool msgq_check_properties(const Msgq *s, Error **errp)
{
    const uint32_t numbers = KIWI_SNIC_NUMBER_MAX;
    const uint8_t log2 = KIWI_QUEUE_LOG2_MAX;
    const struct {
        const char *name;
        uint64_t value;
        uint64_t min;
        uint64_t max;
    } limits[] = {
        { "max-pd", s->max_pd, 1, numbers },
        { "max-mr", s->max_mr, 1, numbers },
        { "max-cq", s->max_cq, 1, numbers },
        { "max-qp", s->max_qp, 1, KIWI_SNIC_QPN_MAX - KIWI_SNIC_QPN_MIN + 1 },
        { "max-mr-size", s->max_mr_size, 1, INT64_MAX },
        { "max-inline", s->max_inline, 0, MSGQ_INLINE_MAX },
        { "max-msg-size", s->max_msg_size, 1, MSGQ_SIZE_MAX },
        { "sq-log2-max", s->sq_log2_max, 3, log2 },
        { "rq-log2-max", s->rq_log2_max, 0, log2 },
        { "cq-log2-max", s->cq_log2_max, 1, log2 },
        { "max-sge", s->max_sge, 1, 30 },
        { "max-rd-atomic", s->max_rd_atomic, 1, UINT8_MAX },
    };

    for (int i = 0; i < ARRAY_SIZE(limits); i++) {
        if (!kiwi_check_property(limits[i].name, limits[i].value, limits[i].min,
                                 limits[i].max, errp)) {
            return false;
        }
    }
    return true;
}

void msgq_init(Msgq *s, KiwiState *k, const MsgqOps *ops)
{
    s->k = k;
    s->ops = ops;
    k->msgq = s;
    kiwi_table_init(&s->pds, 1, s->max_pd, KIWI_DIAG_LIVE_PD);
    kiwi_table_init(&s->mrs, 1, s->max_mr, KIWI_DIAG_LIVE_MR);
    kiwi_table_init(&s->cqs, 1, s->max_cq, KIWI_DIAG_LIVE_CQ);
    kiwi_table_init(&s->qps, KIWI_SNIC_QPN_MIN, s->max_qp, KIWI_DIAG_LIVE_QP);
    msgq_cq_init(s);
    msgq_rc_init(s);
}

void msgq_exit(Msgq *s)
{
    msgq_rc_exit(s);
    msgq_cq_exit(s);
    kiwi_table_free(&s->qps);
    kiwi_table_free(&s->cqs);
    kiwi_table_free(&s->mrs);
    kiwi_table_free(&s->pds);
}

void msgq_reset(Msgq *s)
{
    /* Users before what they use */
    for (uint32_t n = 1; n < s->qps.fresh; n++) {
        if (s->qps.object[n]) {
            msgq_qp_free(s, s->qps.object[n]);
        }
    }
    for (uint32_t n = 1; n < s->cqs.fresh; n++) {
        if (s->cqs.object[n]) {
            msgq_cq_free(s, s->cqs.object[n]);
        }
    }
    for (uint32_t n = 1; n < s->mrs.fresh; n++) {
        if (s->mrs.object[n]) {
            msgq_mr_free(s, s->mrs.object[n]);
        }
    }
    for (uint32_t n = 1; n < s->pds.fresh; n++) {
        if (s->pds.object[n]) {
            msgq_pd_free(s, s->pds.object[n]);
        }
    }
    s->paused = false;
}

void msgq_caps(const Msgq *s, struct kiwi_snic_caps *out)
{
    const KiwiPblLimits *pbl = &s->k->pbl_limits;

    *out = (struct kiwi_snic_caps) {
        .page_shift_max = pbl->page_shift,
        .pbl_table_shift_max = pbl->table_shift,
        .ports = s->ports,
        .gids = s->num_gids,
    };
    if (!kiwi_accepted(s->k, s->cap)) {
        return;
    }
    out->max_pd = cpu_to_le32(s->max_pd);
    out->max_mr = cpu_to_le32(s->max_mr);
    out->max_cq = cpu_to_le32(s->max_cq);
    out->max_qp = cpu_to_le32(s->max_qp);
    out->max_mr_size = cpu_to_le64(s->max_mr_size);
    out->max_mr_pages = cpu_to_le32(pbl->count);
    out->max_inline = cpu_to_le32(s->max_inline);
    out->sq_log2_max = s->sq_log2_max;
    out->rq_log2_max = s->rq_log2_max;
    out->cq_log2_max = s->cq_log2_max;
    out->max_sge = s->max_sge;
    out->max_rd_atomic = s->max_rd_atomic;
    out->max_msg_size = cpu_to_le32(s->max_msg_size);
}

enum kiwi_diag msgq_doorbell(KiwiState *k, uint32_t page, uint8_t type,
                             uint32_t queue, uint16_t epoch, uint16_t index)
{
    if (type == KIWI_DB_SQ || type == KIWI_DB_RQ) {
        return msgq_qp_doorbell(k->msgq, page, type, queue, epoch, index);
    }
    return msgq_cq_doorbell(k->msgq, page, type, queue, epoch, index);
}

#define ID sizeof(struct kiwi_cmd_id)
#define SIZE(name) sizeof(struct kiwi_snic_##name)

static const KiwiCommand commands[] = {
    { KIWI_SNIC_OP_ALLOC_PD, 0, ID, msgq_alloc_pd_cmd },
    { KIWI_SNIC_OP_DEALLOC_PD, ID, 0, msgq_dealloc_pd_cmd },
    { KIWI_SNIC_OP_REG_MR, SIZE(reg_mr_in), ID, msgq_reg_mr_cmd },
    { KIWI_SNIC_OP_DEREG_MR, ID, 0, msgq_dereg_mr_cmd },
    { KIWI_SNIC_OP_HOLD_MR, ID, 0, msgq_hold_mr_cmd, KIWI_SNIC_CAP_MR_HOLD },
    { KIWI_SNIC_OP_RESUME_MR, SIZE(resume_mr_in), 0, msgq_resume_mr_cmd,
      KIWI_SNIC_CAP_MR_HOLD },
    { KIWI_SNIC_OP_CREATE_CQ, SIZE(create_cq_in), SIZE(queue_out),
      msgq_create_cq_cmd },
    { KIWI_SNIC_OP_DESTROY_CQ, ID, 0, msgq_destroy_cq_cmd },
    { KIWI_SNIC_OP_CREATE_QP, SIZE(create_qp_in), SIZE(queue_out),
      msgq_create_qp_cmd },
    { KIWI_SNIC_OP_MODIFY_QP, SIZE(modify_qp_in), 0, msgq_modify_qp_cmd },
    { KIWI_SNIC_OP_QUERY_QP, ID, sizeof(struct kiwi_qp_attr),
      msgq_query_qp_cmd },
    { KIWI_SNIC_OP_DESTROY_QP, ID, 0, msgq_destroy_qp_cmd },
};

const KiwiCommand *msgq_command(const Msgq *s, uint16_t opcode)
{
    for (int i = 0; i < ARRAY_SIZE(commands); i++) {
        if (commands[i].opcode == opcode &&
            kiwi_accepted(s->k, s->cap | commands[i].cap)) {
            return &commands[i];
        }
    }
    return NULL;
}
