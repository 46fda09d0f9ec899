/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The commands of the SNIC, beside those of queue pairs.
 */
#include "snic.h"
#include "qemu/bswap.h"

static enum kiwi_status query_caps_cmd(KiwiState *k, KiwiCall *c)
{
    SnicState *s = KIWI_SNIC(k);
    struct kiwi_snic_caps *out = (void *)c->out;

    msgq_caps(&s->msgq, out);
    out->link_mbps = cpu_to_le32(s->msgq.link_mbps * s->msgq.ports);
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
};

const size_t snic_num_commands = ARRAY_SIZE(snic_commands);
