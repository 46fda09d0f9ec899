/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kiwi-snic: an RDMA NIC with two ports.
 */
#include "snic.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"

static void snic_reset_part(KiwiState *k)
{
    SnicState *s = KIWI_SNIC(k);

    msgq_reset(&s->msgq);
    for (unsigned i = 0; i < s->msgq.ports; i++) {
        snic_port_reset(&s->port[i]);
    }
}

static bool check_properties(SnicState *s, Error **errp)
{
    const struct {
        const char *name;
        uint64_t value;
        uint64_t min;
        uint64_t max;
    } limits[] = {
        { "max-mr-pages", s->max_mr_pages, 1, 1 << 24 },
        { "link-mbps", s->msgq.link_mbps, 1, UINT32_MAX / SNIC_PORTS_MAX },
        { "page-shift-max", s->page_shift_max, KIWI_PAGE_SHIFT_MIN, 40 },
        { "table-shift-max", s->pbl_table_shift_max, 12, 24 },
        { "ports", s->msgq.ports, 1, SNIC_PORTS_MAX },
        { "gids", s->msgq.num_gids, 1, 255 },
        { "mtu-max", s->msgq.mtu_max, KIWI_MTU_256, KIWI_MTU_4096 },
    };

    for (int i = 0; i < ARRAY_SIZE(limits); i++) {
        if (!kiwi_check_property(limits[i].name, limits[i].value, limits[i].min,
                                 limits[i].max, errp)) {
            return false;
        }
    }
    return msgq_check_properties(&s->msgq, errp);
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
    msgq_init(&s->msgq, k, &snic_roce_ops);
    for (unsigned i = 0; i < s->msgq.ports; i++) {
        snic_port_init(&s->port[i], s, i + 1);
    }
}

static void snic_exit(PCIDevice *pci)
{
    SnicState *s = KIWI_SNIC(pci);

    kiwi_unrealize(KIWI(s));
    for (unsigned i = 0; i < s->msgq.ports; i++) {
        snic_port_exit(&s->port[i]);
    }
    msgq_exit(&s->msgq);
}

static Property snic_properties[] = {
    DEFINE_PROP_MACADDR("mac0", SnicState, port[0].conf.macaddr),
    DEFINE_PROP_NETDEV("netdev0", SnicState, port[0].conf.peers),
    DEFINE_PROP_MACADDR("mac1", SnicState, port[1].conf.macaddr),
    DEFINE_PROP_NETDEV("netdev1", SnicState, port[1].conf.peers),
    DEFINE_PROP_UINT64("seed", SnicState, seed, 1),
    DEFINE_PROP_UINT32("max-mr-pages", SnicState, max_mr_pages, 1 << 24),
    /* Vendor claim: 800G in all */
    DEFINE_PROP_UINT32("link-mbps", SnicState, msgq.link_mbps, 400000),
    DEFINE_PROP_UINT8("page-shift-max", SnicState, page_shift_max, 34),
    DEFINE_PROP_UINT8("table-shift-max", SnicState, pbl_table_shift_max, 16),
    DEFINE_PROP_UINT8("ports", SnicState, msgq.ports, SNIC_PORTS_MAX),
    DEFINE_PROP_UINT8("gids", SnicState, msgq.num_gids, 16),
    DEFINE_PROP_UINT8("mtu-max", SnicState, msgq.mtu_max, KIWI_MTU_4096),
    DEFINE_PROP_UINT32("nic-ns", SnicState, msgq.nic_ns, 0),
    DEFINE_PROP_UINT32("packet-ns", SnicState, msgq.packet_ns, 0),
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
    kc->doorbell = msgq_doorbell;
    dc->desc = "Kiwi SNIC, an RDMA NIC with two ports";
    device_class_set_props(dc, msgq_properties(snic_properties,
                                               offsetof(SnicState, msgq)));
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
