/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kiwi-g2g: an IO die of a scale-up fabric, with up to 32 ports.
 */
#include "g2g.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/qdev-properties.h"
#include "hw/qdev-properties-system.h"

/* A die that is reset sends nothing (F-7). */
static void g2g_reset_part(KiwiState *k)
{
    G2gState *s = KIWI_G2G(k);

    msgq_reset(&s->msgq);
    g2g_window_reset(s);
    g2g_export_reset(s);
    g2g_peer_reset(s);
    g2g_mail_reset(s);
    g2g_log_reset(s);
    g2g_route_forget(s);
    g2g_image_reset(s);
    g2g_fabric_reset(s);
    for (unsigned i = 0; i < s->ports; i++) {
        g2g_port_reset(&s->port[i]);
    }
}

static bool check_properties(G2gState *s, Error **errp)
{
    const uint64_t pages = s->aperture_size >> s->granule_shift;
    const struct {
        const char *name;
        uint64_t value;
        uint64_t min;
        uint64_t max;
    } limits[] = {
        { "accels", s->accels, 2, KIWI_G2G_ACCELS_MAX },
        { "stations", s->stations, 1, 8 },
        { "ports", s->ports, s->stations, KIWI_G2G_PORTS_MAX },
        { "lanes", s->lanes, 1, 8 },
        { "granule-shift", s->granule_shift, 12, 30 },
        { "mail", s->mail_max, 1, 255 },
        { "page-shift-max", s->page_shift_max, KIWI_PAGE_SHIFT_MIN, 40 },
        { "table-shift-max", s->table_shift_max, 12, 24 },
        { "aperture-size", pages, 1, 1 << 24 },
        { "max-export-size", s->max_export_size, 1, INT64_MAX },
        { "max-export-pages", s->max_export_pages, 1, 1 << 24 },
        { "max-export", s->max_export, 1, KIWI_SNIC_NUMBER_MAX },
        { "max-window", s->max_window, 1, UINT16_MAX },
        { "max-binding", s->max_binding, 1, UINT32_MAX },
        { "image-max", s->image_max, sizeof(struct kiwi_g2g_image), 1 << 28 },
        { "lane-mbps", s->lane_mbps, 1, UINT32_MAX / 64 },
        { "load-us", s->load_us, 2000, 10000000 },
        { "bind-ms", s->bind_ms, 1, 60000 },
        { "revoke-ms", s->revoke_ms, 1, 60000 },
        /* A load waits for three quarters of its bound. */
        { "pause-ms", s->pause_ms, 1, MIN(10000, s->load_us / 2000) },
        { "peer-ms", s->peer_ms, 16, 60000 },
        { "link-ms", s->link_ms, 16, 60000 },
        { "resend-ms", s->resend_ms, 2, 60000 },
        { "replay-ms", s->replay_ms, 2, 60000 },
    };

    for (int i = 0; i < ARRAY_SIZE(limits); i++) {
        if (!kiwi_check_property(limits[i].name, limits[i].value, limits[i].min,
                                 limits[i].max, errp)) {
            return false;
        }
    }
    if (s->ports % s->stations) {
        error_setg(errp, "ports is no multiple of stations");
        return false;
    }
    if (s->aperture_size & MAKE_64BIT_MASK(0, s->granule_shift)) {
        error_setg(errp, "aperture-size is no multiple of the granule");
        return false;
    }
    return msgq_check_properties(&s->msgq, errp);
}

static void g2g_realize(PCIDevice *pci, Error **errp)
{
    G2gState *s = KIWI_G2G(pci);
    KiwiState *k = KIWI(pci);

    if (!check_properties(s, errp) || !kiwi_realize(k, errp)) {
        return;
    }
    k->pbl_limits = (KiwiPblLimits) {
        .count = s->max_export_pages,
        .page_shift = s->page_shift_max,
        .table_shift = s->table_shift_max,
    };
    s->mail = g_queue_new();
    g2g_work_init(s);
    g2g_message_init(s);
    g2g_fault_init(s);
    g2g_image_init(s);
    g2g_route_init(s);
    g2g_peer_init(s);
    g2g_export_init(s);
    g2g_window_init(s);
    g2g_aperture_init(s);
    for (unsigned i = 0; i < s->ports; i++) {
        s->port[i].s = s;
        s->port[i].number = i;
        g2g_hop_init(&s->port[i]);
        g2g_net_init(&s->port[i]);
        g2g_port_reset(&s->port[i]);
    }
}

static void g2g_exit(PCIDevice *pci)
{
    G2gState *s = KIWI_G2G(pci);

    kiwi_unrealize(KIWI(s));
    for (unsigned i = 0; i < s->ports; i++) {
        g2g_net_exit(&s->port[i]);
        g2g_hop_exit(&s->port[i]);
    }
    g2g_window_exit(s);
    g2g_export_exit(s);
    g2g_peer_exit(s);
    g2g_route_exit(s);
    g2g_image_exit(s);
    msgq_exit(&s->msgq);
    g2g_work_exit(s);
    g_queue_free(s->mail);
}

static void g2g_instance_init(Object *obj)
{
    qemu_cond_init(&KIWI_G2G(obj)->answered);
}

/* Whoever waits holds a reference. */
static void g2g_instance_finalize(Object *obj)
{
    qemu_cond_destroy(&KIWI_G2G(obj)->answered);
}

#define PORT(n) DEFINE_PROP_NETDEV("netdev" #n, G2gState, port[n].conf.peers)

static Property g2g_properties[] = {
    PORT(0), PORT(1), PORT(2), PORT(3), PORT(4), PORT(5), PORT(6), PORT(7),
    PORT(8), PORT(9), PORT(10), PORT(11), PORT(12), PORT(13), PORT(14),
    PORT(15), PORT(16), PORT(17), PORT(18), PORT(19), PORT(20), PORT(21),
    PORT(22), PORT(23), PORT(24), PORT(25), PORT(26), PORT(27), PORT(28),
    PORT(29), PORT(30), PORT(31),
    DEFINE_PROP_UINT16("accels", G2gState, accels, KIWI_G2G_ACCELS_MAX),
    DEFINE_PROP_UINT8("stations", G2gState, stations, 4),
    DEFINE_PROP_UINT8("ports", G2gState, ports, 16),
    DEFINE_PROP_UINT8("lanes", G2gState, lanes, 4),
    DEFINE_PROP_UINT8("granule-shift", G2gState, granule_shift, 16),
    DEFINE_PROP_UINT8("mail", G2gState, mail_max, 16),
    DEFINE_PROP_UINT8("page-shift-max", G2gState, page_shift_max, 34),
    DEFINE_PROP_UINT8("table-shift-max", G2gState, table_shift_max, 16),
    DEFINE_PROP_UINT64("aperture-size", G2gState, aperture_size, 256ULL << 20),
    DEFINE_PROP_UINT64("max-export-size", G2gState, max_export_size,
                       1ULL << 40),
    DEFINE_PROP_UINT32("max-export-pages", G2gState, max_export_pages,
                       1 << 24),
    DEFINE_PROP_UINT32("max-export", G2gState, max_export, 4096),
    DEFINE_PROP_UINT32("max-window", G2gState, max_window, 1024),
    DEFINE_PROP_UINT32("max-binding", G2gState, max_binding, 16384),
    DEFINE_PROP_UINT32("image-max", G2gState, image_max, 1 << 20),
    /* Vendor claim: 1.6T in all */
    DEFINE_PROP_UINT32("lane-mbps", G2gState, lane_mbps, 100000),
    DEFINE_PROP_UINT32("load-us", G2gState, load_us, 1000000),
    DEFINE_PROP_UINT32("bind-ms", G2gState, bind_ms, 2000),
    DEFINE_PROP_UINT32("revoke-ms", G2gState, revoke_ms, 4000),
    DEFINE_PROP_UINT32("pause-ms", G2gState, pause_ms, 500),
    DEFINE_PROP_UINT32("peer-ms", G2gState, peer_ms, 2000),
    DEFINE_PROP_UINT32("link-ms", G2gState, link_ms, 1000),
    DEFINE_PROP_UINT32("resend-ms", G2gState, resend_ms, 20),
    DEFINE_PROP_UINT32("replay-ms", G2gState, replay_ms, 20),
    DEFINE_PROP_UINT64("seed", G2gState, seed, 1),
    DEFINE_PROP_END_OF_LIST(),
};

static void g2g_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);
    KiwiClass *kc = KIWI_CLASS(oc);

    pc->realize = g2g_realize;
    pc->exit = g2g_exit;
    pc->device_id = KIWI_PCI_DEVICE_G2G;
    pc->class_id = PCI_CLASS_NETWORK_OTHER;
    kc->part = KIWI_PART_G2G;
    kc->caps = KIWI_SNIC_CAP_GPU_QUEUES | KIWI_SNIC_CAP_MR_HOLD |
               KIWI_G2G_CAP_MSGQ | KIWI_G2G_CAP_ATOMICS |
               KIWI_G2G_CAP_FORWARD | KIWI_G2G_CAP_LLR |
               KIWI_G2G_CAP_CBFC | KIWI_G2G_CAP_MAIL;
    kc->commands = g2g_commands;
    kc->num_commands = g2g_num_commands;
    kc->reset_part = g2g_reset_part;
    kc->doorbell = msgq_doorbell;
    dc->desc = "Kiwi G2G, an IO die of a scale-up fabric";
    device_class_set_props(dc, msgq_properties(g2g_properties,
                                               offsetof(G2gState, msgq)));
    g2g_fault_class_init(oc);
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo g2g_info = {
    .name = TYPE_KIWI_G2G,
    .parent = TYPE_KIWI,
    .instance_size = sizeof(G2gState),
    .instance_init = g2g_instance_init,
    .instance_finalize = g2g_instance_finalize,
    .class_init = g2g_class_init,
};

static void g2g_register(void)
{
    type_register_static(&g2g_info);
}

type_init(g2g_register)
