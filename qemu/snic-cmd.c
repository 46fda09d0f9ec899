/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of the SNIC.
 */
#include "snic.h"
#include "qemu/bswap.h"

static enum kiwi_status query_caps_cmd(KiwiState *k, KiwiCall *c)
{
    SnicState *s = KIWI_SNIC(k);
    struct kiwi_snic_caps *out = (void *)c->out;

    *out = (struct kiwi_snic_caps) {
        .max_pd = cpu_to_le32(s->max_pd),
        .max_mr = cpu_to_le32(s->max_mr),
        .max_cq = cpu_to_le32(s->max_cq),
        .max_qp = cpu_to_le32(s->max_qp),
        .max_mr_size = cpu_to_le64(s->max_mr_size),
        .max_mr_pages = cpu_to_le32(s->max_mr_pages),
        .max_inline = cpu_to_le32(s->max_inline),
        .page_shift_max = s->page_shift_max,
        .pbl_table_shift_max = s->pbl_table_shift_max,
        .ports = s->ports,
        .gids = s->num_gids,
        .sq_log2_max = s->sq_log2_max,
        .rq_log2_max = s->rq_log2_max,
        .cq_log2_max = s->cq_log2_max,
        .max_sge = s->max_sge,
        .max_rd_atomic = s->max_rd_atomic,
        .max_msg_size = cpu_to_le32(s->max_msg_size),
        .link_mbps = cpu_to_le32(s->link_mbps * s->ports),
    };
    return KIWI_ST_OK;
}

#define ID sizeof(struct kiwi_cmd_id)
#define SIZE(name) sizeof(struct kiwi_snic_##name)

const KiwiCommand snic_commands[] = {
    { KIWI_OP_QUERY_CAPS, 0, SIZE(caps), query_caps_cmd },
    { KIWI_SNIC_OP_QUERY_PORT, ID, SIZE(port), snic_query_port_cmd },
    { KIWI_SNIC_OP_SET_PORT, SIZE(set_port_in), 0, snic_set_port_cmd },
    { KIWI_SNIC_OP_SET_GID, SIZE(set_gid_in), 0, snic_set_gid_cmd },
    { KIWI_SNIC_OP_QUERY_PORT_COUNTERS, ID, SIZE(port_counters),
      snic_query_port_counters_cmd },
    { KIWI_SNIC_OP_ALLOC_PD, 0, ID, snic_alloc_pd_cmd },
    { KIWI_SNIC_OP_DEALLOC_PD, ID, 0, snic_dealloc_pd_cmd },
    { KIWI_SNIC_OP_REG_MR, SIZE(reg_mr_in), ID, snic_reg_mr_cmd },
    { KIWI_SNIC_OP_DEREG_MR, ID, 0, snic_dereg_mr_cmd },
    { KIWI_SNIC_OP_HOLD_MR, ID, 0, snic_hold_mr_cmd, KIWI_SNIC_CAP_MR_HOLD },
    { KIWI_SNIC_OP_RESUME_MR, SIZE(resume_mr_in), 0, snic_resume_mr_cmd,
      KIWI_SNIC_CAP_MR_HOLD },
    { KIWI_SNIC_OP_CREATE_CQ, SIZE(create_cq_in), SIZE(queue_out),
      snic_create_cq_cmd },
    { KIWI_SNIC_OP_DESTROY_CQ, ID, 0, snic_destroy_cq_cmd },
    { KIWI_SNIC_OP_CREATE_QP, SIZE(create_qp_in), SIZE(queue_out),
      snic_create_qp_cmd },
    { KIWI_SNIC_OP_MODIFY_QP, SIZE(modify_qp_in), 0, snic_modify_qp_cmd },
    { KIWI_SNIC_OP_QUERY_QP, ID, sizeof(struct kiwi_qp_attr),
      snic_query_qp_cmd },
    { KIWI_SNIC_OP_DESTROY_QP, ID, 0, snic_destroy_qp_cmd },
};

const size_t snic_num_commands = ARRAY_SIZE(snic_commands);
