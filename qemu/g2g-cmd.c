/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of the G2G IO die.
 */
#include "g2g.h"
#include "qemu/bswap.h"

uint8_t g2g_flows(G2gState *s)
{
    uint8_t flows = 1 << KIWI_G2G_FLOW_NONE;

    if (kiwi_accepted(KIWI(s), KIWI_G2G_CAP_CBFC | KIWI_G2G_CAP_LLR)) {
        flows |= 1 << KIWI_G2G_FLOW_CBFC;
    }
    return flows;
}

uint8_t g2g_atomic_ops(G2gState *s)
{
    return kiwi_accepted(KIWI(s), KIWI_G2G_CAP_ATOMICS) ? KIWI_G2G_ATOMIC_ALL
                                                        : 0;
}

enum kiwi_status g2g_check_rights(G2gState *s, KiwiCall *c, size_t field,
                                  uint32_t rights)
{
    uint32_t known = KIWI_G2G_RIGHTS;

    if (!kiwi_accepted(KIWI(s), KIWI_G2G_CAP_ATOMICS)) {
        known &= ~KIWI_ACCESS_REMOTE_ATOMIC;
    }
    if (rights & ~known) {
        return kiwi_refuse(c, KIWI_ST_BAD_RESERVED, field, rights, known);
    }
    return rights ? KIWI_ST_OK
                  : kiwi_refuse(c, KIWI_ST_BAD_PARAM, field, 0, known);
}

enum kiwi_status g2g_number_in(KiwiCall *c, uint32_t count, uint32_t *number)
{
    const struct kiwi_cmd_id *in = (void *)c->in;
    enum kiwi_status st;

    *number = le32_to_cpu(in->id);
    st = kiwi_check_range(c, offsetof(typeof(*in), id), *number, 0, count - 1);
    return st ? st : kiwi_id_check(c);
}

static enum kiwi_status query_caps_cmd(KiwiState *k, KiwiCall *c)
{
    G2gState *s = KIWI_G2G(k);
    struct kiwi_g2g_caps *out = (void *)c->out;

    *out = (struct kiwi_g2g_caps) {
        .accels = cpu_to_le16(s->accels),
        .stations = s->stations,
        .ports = s->ports,
        .lanes = s->lanes,
        .layers = G2G_LAYERS,
        .granule_shift = s->granule_shift,
        .slots = G2G_SLOTS,
        .fec = KIWI_G2G_FEC_ALL,
        .flow = g2g_flows(s),
        .atomics = g2g_atomic_ops(s),
        .mail = s->mail_max,
        .aperture_size = cpu_to_le64(s->aperture_size),
        .atomic_base = cpu_to_le64(g2g_atomic_ops(s) ? s->atomic_base : 0),
        .max_export_size = cpu_to_le64(s->max_export_size),
        .max_export_pages = cpu_to_le32(s->max_export_pages),
        .max_export = cpu_to_le32(s->max_export),
        .max_window = cpu_to_le32(s->max_window),
        .max_binding = cpu_to_le32(s->max_binding),
        .image_max = cpu_to_le32(s->image_max),
        .lane_mbps = cpu_to_le32(s->lane_mbps),
        .load_us = cpu_to_le32(s->load_us),
        .bind_ms = cpu_to_le32(s->bind_ms),
        .revoke_ms = cpu_to_le32(s->revoke_ms),
        .pause_ms = cpu_to_le32(s->pause_ms),
        .peer_ms = cpu_to_le32(s->peer_ms),
        .link_ms = cpu_to_le32(s->link_ms),
    };
    msgq_caps(&s->msgq, &out->queue);
    out->queue.link_mbps = cpu_to_le32(s->msgq.link_mbps);
    return KIWI_ST_OK;
}

#define ID sizeof(struct kiwi_cmd_id)
#define SIZE(name) sizeof(struct kiwi_g2g_##name)
#define OP(name) KIWI_G2G_OP_##name

const KiwiCommand g2g_commands[] = {
    { KIWI_OP_QUERY_CAPS, 0, SIZE(caps), query_caps_cmd },
    { OP(SET_FABRIC), SIZE(set_fabric_in), 0, g2g_set_fabric_cmd },
    { OP(QUERY_FABRIC), 0, SIZE(fabric), g2g_query_fabric_cmd },
    { OP(ACTIVATE), 0, 0, g2g_activate_cmd },
    { OP(DEACTIVATE), 0, 0, g2g_deactivate_cmd },
    { OP(PAUSE), 0, 0, g2g_pause_cmd },
    { OP(RESUME), 0, 0, g2g_resume_cmd },
    { OP(SET_PORT), SIZE(set_port_in), 0, g2g_set_port_cmd },
    { OP(QUERY_PORT), ID, SIZE(port), g2g_query_port_cmd },
    { OP(QUERY_PORT_COUNTERS), ID, SIZE(port_counters),
      g2g_query_port_counters_cmd },
    { OP(QUERY_COUNTERS), 0, SIZE(counters), g2g_query_counters_cmd },
    { OP(READ_LOG), 0, SIZE(log), g2g_read_log_cmd },
    { OP(STAGE_ROUTES), SIZE(stage_routes_in), 0, g2g_stage_routes_cmd },
    { OP(COMMIT_ROUTES), ID, ID, g2g_commit_routes_cmd },
    { OP(ROLLBACK_ROUTES), ID, ID, g2g_rollback_routes_cmd },
    { OP(QUERY_ROUTES), SIZE(query_routes_in), SIZE(query_routes_out),
      g2g_query_routes_cmd },
    { OP(BEGIN_IMAGE), SIZE(begin_image_in), 0, g2g_begin_image_cmd },
    { OP(WRITE_IMAGE), SIZE(write_image_in), 0, g2g_write_image_cmd },
    { OP(VERIFY_IMAGE), ID, 0, g2g_verify_image_cmd },
    { OP(ACTIVATE_IMAGE), ID, 0, g2g_activate_image_cmd },
    { OP(QUERY_IMAGE), ID, SIZE(slot), g2g_query_image_cmd },
    { OP(CREATE_EXPORT), SIZE(create_export_in), ID, g2g_create_export_cmd },
    { OP(REVOKE_EXPORT), ID, 0, g2g_revoke_export_cmd },
    { OP(DESTROY_EXPORT), ID, 0, g2g_destroy_export_cmd },
    { OP(QUERY_EXPORT), ID, SIZE(export), g2g_query_export_cmd },
    { OP(BIND_WINDOW), SIZE(bind_window_in), ID, g2g_bind_window_cmd },
    { OP(MAP_WINDOW), SIZE(map_window_in), 0, g2g_map_window_cmd },
    { OP(UNBIND_WINDOW), ID, 0, g2g_unbind_window_cmd },
    { OP(QUERY_WINDOW), ID, SIZE(window), g2g_query_window_cmd },
    { OP(QUERY_PEER), ID, SIZE(peer), g2g_query_peer_cmd },
    { OP(ISOLATE_PEER), ID, 0, g2g_isolate_peer_cmd },
    { OP(RECOVER_PEER), ID, 0, g2g_recover_peer_cmd },
    { OP(SEND_MAIL), SIZE(mail), 0, g2g_send_mail_cmd, KIWI_G2G_CAP_MAIL },
    { OP(READ_MAIL), 0, SIZE(mail), g2g_read_mail_cmd, KIWI_G2G_CAP_MAIL },
};

const size_t g2g_num_commands = ARRAY_SIZE(g2g_commands);
