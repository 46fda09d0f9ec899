/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kiwi-snic: an RDMA NIC with two ports.
 */
#include "snic.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"

/* Beside ctrl, raddr and count in a WQE of the largest size. */
#define WQE_INLINE_MAX (KIWI_WQE_MAX_BB * KIWI_WQEBB - 2 * KIWI_WQE_SEG - 4)
/* Half of the PSN space holds it at the smallest MTU, and a window. */
#define MSG_SIZE_MAX (1U << 30)

static enum kiwi_diag snic_doorbell(KiwiState *k, uint32_t page, uint8_t type,
                                    uint32_t queue, uint16_t epoch,
                                    uint16_t index)
{
    SnicState *s = KIWI_SNIC(k);

    if (type == KIWI_DB_SQ || type == KIWI_DB_RQ) {
        return snic_qp_doorbell(s, page, type, queue, epoch, index);
    }
    return snic_cq_doorbell(s, page, type, queue, epoch, index);
}

static void snic_reset_part(KiwiState *k)
{
    SnicState *s = KIWI_SNIC(k);

    /* Users before what they use */
    for (uint32_t n = 1; n < s->qps.fresh; n++) {
        if (s->qps.object[n]) {
            snic_qp_free(s, s->qps.object[n]);
        }
    }
    for (uint32_t n = 1; n < s->cqs.fresh; n++) {
        if (s->cqs.object[n]) {
            snic_cq_free(s, s->cqs.object[n]);
        }
    }
    for (uint32_t n = 1; n < s->mrs.fresh; n++) {
        if (s->mrs.object[n]) {
            snic_mr_free(s, s->mrs.object[n]);
        }
    }
    for (uint32_t n = 1; n < s->pds.fresh; n++) {
        if (s->pds.object[n]) {
            snic_pd_free(s, s->pds.object[n]);
        }
    }
    for (unsigned i = 0; i < s->ports; i++) {
        snic_port_reset(&s->port[i]);
    }
}

static bool check_properties(SnicState *s, Error **errp)
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
        { "max-mr-pages", s->max_mr_pages, 1, 1 << 24 },
        { "max-inline", s->max_inline, 0, WQE_INLINE_MAX },
        { "max-msg-size", s->max_msg_size, 1, MSG_SIZE_MAX },
        { "link-mbps", s->link_mbps, 1, UINT32_MAX / SNIC_PORTS_MAX },
        { "page-shift-max", s->page_shift_max, KIWI_PAGE_SHIFT_MIN, 40 },
        { "table-shift-max", s->pbl_table_shift_max, 12, 24 },
        { "ports", s->ports, 1, SNIC_PORTS_MAX },
        { "gids", s->num_gids, 1, 255 },
        { "sq-log2-max", s->sq_log2_max, 3, log2 },
        { "rq-log2-max", s->rq_log2_max, 0, log2 },
        { "cq-log2-max", s->cq_log2_max, 1, log2 },
        { "max-sge", s->max_sge, 1, 30 },
        { "mtu-max", s->mtu_max, KIWI_MTU_256, KIWI_MTU_4096 },
    };

    for (int i = 0; i < ARRAY_SIZE(limits); i++) {
        if (!kiwi_check_property(limits[i].name, limits[i].value, limits[i].min,
                                 limits[i].max, errp)) {
            return false;
        }
    }
    return true;
}

static void snic_realize(PCIDevice *pci, Error **errp)
{
    SnicState *s = KIWI_SNIC(pci);
    KiwiState *k = KIWI(pci);

    if (!check_properties(s, errp) || !kiwi_realize(k, errp)) {
        return;
    }
    k->pbl_limits = (KiwiPblLimits) {
        .count = s->max_mr_pages,
        .page_shift = s->page_shift_max,
        .table_shift = s->pbl_table_shift_max,
    };
    kiwi_table_init(&s->pds, 1, s->max_pd, KIWI_DIAG_LIVE_PD);
    kiwi_table_init(&s->mrs, 1, s->max_mr, KIWI_DIAG_LIVE_MR);
    kiwi_table_init(&s->cqs, 1, s->max_cq, KIWI_DIAG_LIVE_CQ);
    kiwi_table_init(&s->qps, KIWI_SNIC_QPN_MIN, s->max_qp, KIWI_DIAG_LIVE_QP);
    snic_cq_init(s);
    snic_rc_init(s);
    for (unsigned i = 0; i < s->ports; i++) {
        snic_port_init(&s->port[i], s, i + 1);
    }
}

static void snic_exit(PCIDevice *pci)
{
    SnicState *s = KIWI_SNIC(pci);

    kiwi_unrealize(KIWI(s));
    for (unsigned i = 0; i < s->ports; i++) {
        snic_port_exit(&s->port[i]);
    }
    snic_rc_exit(s);
    snic_cq_exit(s);
    kiwi_table_free(&s->qps);
    kiwi_table_free(&s->cqs);
    kiwi_table_free(&s->mrs);
    kiwi_table_free(&s->pds);
}

static Property snic_properties[] = {
    DEFINE_PROP_MACADDR("mac0", SnicState, port[0].conf.macaddr),
    DEFINE_PROP_NETDEV("netdev0", SnicState, port[0].conf.peers),
    DEFINE_PROP_MACADDR("mac1", SnicState, port[1].conf.macaddr),
    DEFINE_PROP_NETDEV("netdev1", SnicState, port[1].conf.peers),
    DEFINE_PROP_UINT64("seed", SnicState, seed, 1),
    DEFINE_PROP_UINT32("max-pd", SnicState, max_pd, 16384),
    DEFINE_PROP_UINT32("max-mr", SnicState, max_mr, 65536),
    DEFINE_PROP_UINT32("max-cq", SnicState, max_cq, 16384),
    DEFINE_PROP_UINT32("max-qp", SnicState, max_qp, 16384),
    DEFINE_PROP_UINT64("max-mr-size", SnicState, max_mr_size, 1ULL << 40),
    DEFINE_PROP_UINT32("max-mr-pages", SnicState, max_mr_pages, 1 << 24),
    DEFINE_PROP_UINT32("max-inline", SnicState, max_inline,
                       WQE_INLINE_MAX),
    DEFINE_PROP_UINT32("max-msg-size", SnicState, max_msg_size, 1 << 30),
    /* Vendor claim: 800G in all */
    DEFINE_PROP_UINT32("link-mbps", SnicState, link_mbps, 400000),
    DEFINE_PROP_UINT8("page-shift-max", SnicState, page_shift_max, 34),
    DEFINE_PROP_UINT8("table-shift-max", SnicState, pbl_table_shift_max, 16),
    DEFINE_PROP_UINT8("ports", SnicState, ports, SNIC_PORTS_MAX),
    DEFINE_PROP_UINT8("gids", SnicState, num_gids, 16),
    DEFINE_PROP_UINT8("sq-log2-max", SnicState, sq_log2_max,
                      KIWI_QUEUE_LOG2_MAX),
    DEFINE_PROP_UINT8("rq-log2-max", SnicState, rq_log2_max,
                      KIWI_QUEUE_LOG2_MAX),
    DEFINE_PROP_UINT8("cq-log2-max", SnicState, cq_log2_max,
                      KIWI_QUEUE_LOG2_MAX),
    DEFINE_PROP_UINT8("max-sge", SnicState, max_sge, 30),
    DEFINE_PROP_UINT8("max-rd-atomic", SnicState, max_rd_atomic, 16),
    DEFINE_PROP_UINT8("mtu-max", SnicState, mtu_max, KIWI_MTU_4096),
    DEFINE_PROP_UINT32("nic-ns", SnicState, nic_ns, 0),
    DEFINE_PROP_UINT32("packet-ns", SnicState, packet_ns, 0),
    DEFINE_PROP_UINT32("write-ns", SnicState, write_ns, 0),
    DEFINE_PROP_UINT32("wire-ns", SnicState, wire_ns, 0),
    DEFINE_PROP_END_OF_LIST(),
};

static void snic_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);
    KiwiClass *kc = KIWI_CLASS(oc);

    pc->realize = snic_realize;
    pc->exit = snic_exit;
    pc->device_id = KIWI_PCI_DEVICE_SNIC;
    pc->class_id = PCI_CLASS_NETWORK_OTHER;
    kc->part = KIWI_PART_SNIC;
    kc->caps = KIWI_SNIC_CAP_GPU_QUEUES | KIWI_SNIC_CAP_MR_HOLD;
    kc->commands = snic_commands;
    kc->num_commands = snic_num_commands;
    kc->reset_part = snic_reset_part;
    kc->doorbell = snic_doorbell;
    dc->desc = "Kiwi SNIC, an RDMA NIC with two ports";
    device_class_set_props(dc, snic_properties);
    snic_wire_class_init(oc);
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo snic_info = {
    .name = TYPE_KIWI_SNIC,
    .parent = TYPE_KIWI,
    .instance_size = sizeof(SnicState),
    .class_init = snic_class_init,
};

static void snic_register(void)
{
    type_register_static(&snic_info);
}

type_init(snic_register)
