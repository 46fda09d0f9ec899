/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * TYPE_KIWI: the PCI Express function that all Kiwi parts are.
 */
#include "kiwi.h"
#include "qemu/module.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_aer.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"

#include "kiwi-diag.h"
#include "kiwi-fault.h"
#include "pci-gone.h"

#define KIWI_EXP_CAP    0x80
#define KIWI_AER_CAP    0x100
#define KIWI_SERIAL_CAP 0x150

#define KIWI_LINK_WIDTH 16      /* lanes */

#define KIWI_VECTORS_MIN 2
#define KIWI_VECTORS_MAX 1024

bool kiwi_check_property(const char *name, uint64_t value, uint64_t min,
                         uint64_t max, Error **errp)
{
    if (value < min || value > max) {
        error_setg(errp, "%s is %" PRIu64 ", not %" PRIu64 " to %" PRIu64,
                   name, value, min, max);
        return false;
    }
    return true;
}

static bool check_properties(KiwiState *k, Error **errp)
{
    return kiwi_check_property("vectors", k->vectors, KIWI_VECTORS_MIN,
                               KIWI_VECTORS_MAX, errp) &&
           kiwi_check_property("cmd-timeout-ms", k->cmd_timeout_ms, 1, 60000,
                               errp) &&
           kiwi_check_property("reset-timeout-ms", k->reset_timeout_ms, 1,
                               60000, errp) &&
           kiwi_check_property("heartbeat-ms", k->heartbeat_ms, 1, 60000,
                               errp) &&
           kiwi_check_property("dma-bits", k->dma_bits, 32, 64, errp) &&
           kiwi_check_property("eq-count", k->eq_count, 2, 1024, errp) &&
           kiwi_check_property("db-pages", k->db_pages, 1, 1 << 20, errp) &&
           kiwi_check_property("link-width", k->link_width, 1, KIWI_LINK_WIDTH,
                               errp) &&
           kiwi_check_property("db-page-shift", k->db_page_shift, 12, 16,
                               errp) &&
           kiwi_check_property("aq-log2-max", k->aq_log2_max, 2, 16, errp) &&
           kiwi_check_property("eq-log2-max", k->eq_log2_max, KIWI_EQ_LOG2_MIN,
                               22, errp);
}

static bool init_capabilities(KiwiState *k, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(k);
    int ret = pcie_endpoint_cap_init(pci, KIWI_EXP_CAP);

    if (ret < 0) {
        error_setg_errno(errp, -ret, "no PCI Express capability");
        return false;
    }
    /* As wide as a link can be that it is part of, trained to what is asked for */
    pci_set_long_by_mask(pci->config + KIWI_EXP_CAP + PCI_EXP_LNKCAP,
                         PCI_EXP_LNKCAP_MLW, KIWI_LINK_WIDTH);
    pci_set_word_by_mask(pci->config + KIWI_EXP_CAP + PCI_EXP_LNKSTA,
                         PCI_EXP_LNKSTA_NLW, k->link_width);
    pcie_cap_flr_init(pci);
    pcie_cap_deverr_init(pci);
    if (pcie_aer_init(pci, PCI_ERR_VER, KIWI_AER_CAP, PCI_ERR_SIZEOF,
                      errp) < 0) {
        goto err_exp;
    }
    pcie_dev_ser_num_init(pci, KIWI_SERIAL_CAP, k->serial);
    if (msix_init(pci, k->vectors, &k->regs, KIWI_BAR_REGS,
                  KIWI_MSIX_TABLE_OFFSET, &k->regs, KIWI_BAR_REGS,
                  KIWI_MSIX_PBA_OFFSET, 0, errp) < 0) {
        goto err_aer;
    }
    for (uint32_t i = 0; i < k->vectors; i++) {
        msix_vector_use(pci, i);
    }
    return true;

err_aer:
    pcie_aer_exit(pci);
err_exp:
    pcie_cap_exit(pci);
    return false;
}

static void config_write(PCIDevice *pci, uint32_t addr, uint32_t val, int len)
{
    KiwiState *k = KIWI(pci);

    kiwi_db_push(k);
    pci_default_write_config(pci, addr, val, len);
    k->in_flr = true;
    pcie_cap_flr_write_config(pci, addr, val, len);
    k->in_flr = false;
    pcie_aer_write_config(pci, addr, val, len);
}

static void kiwi_reset(DeviceState *dev)
{
    KiwiState *k = KIWI(dev);

    kiwi_reset_begin(k, k->in_flr ? KIWI_RESET_FLR : KIWI_RESET_POWER_ON);
    pcie_cap_deverr_reset(PCI_DEVICE(dev));
}

static void exit_parts(KiwiState *k)
{
    kiwi_db_exit(k);
    kiwi_eq_exit(k);
    kiwi_aq_exit(k);
    kiwi_regs_exit(k);
}

bool kiwi_realize(KiwiState *k, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(k);

    if (!check_properties(k, errp)) {
        return false;
    }
    pci->config_write = config_write;
    kiwi_regs_init(k);
    kiwi_aq_init(k);
    kiwi_eq_init(k);
    kiwi_db_init(k);
    if (!init_capabilities(k, errp)) {
        exit_parts(k);
        return false;
    }
    pci_gone_init(pci);
    return true;
}

void kiwi_unrealize(KiwiState *k)
{
    PCIDevice *pci = PCI_DEVICE(k);

    kiwi_lose_all(k);
    k->gone = true;
    msix_unuse_all_vectors(pci);
    msix_uninit(pci, &k->regs, &k->regs);
    pcie_aer_exit(pci);
    pcie_cap_exit(pci);
    exit_parts(k);
}

static Property kiwi_properties[] = {
    DEFINE_PROP_UINT64("caps", KiwiState, caps, UINT64_MAX),
    DEFINE_PROP_UINT64("fw-version", KiwiState, fw_version, 1ULL << 48),
    DEFINE_PROP_UINT64("serial", KiwiState, serial, 0x4b57000000000001ULL),
    DEFINE_PROP_UINT32("revision", KiwiState, revision, 1),
    DEFINE_PROP_UINT32("vectors", KiwiState, vectors, 64),
    DEFINE_PROP_UINT32("cmd-timeout-ms", KiwiState, cmd_timeout_ms, 5000),
    DEFINE_PROP_UINT32("reset-timeout-ms", KiwiState, reset_timeout_ms, 5000),
    DEFINE_PROP_UINT32("reset-ms", KiwiState, reset_ms, 1),
    DEFINE_PROP_UINT32("heartbeat-ms", KiwiState, heartbeat_ms, 1000),
    DEFINE_PROP_UINT32("dma-bits", KiwiState, dma_bits, 64),
    DEFINE_PROP_UINT32("eq-count", KiwiState, eq_count, 64),
    DEFINE_PROP_UINT8("link-width", KiwiState, link_width, KIWI_LINK_WIDTH),
    DEFINE_PROP_UINT32("db-pages", KiwiState, db_pages, 4096),
    DEFINE_PROP_UINT8("db-page-shift", KiwiState, db_page_shift, 12),
    DEFINE_PROP_UINT32("doorbell-ns", KiwiState, doorbell_ns, 0),
    DEFINE_PROP_UINT32("read-ns", KiwiState, read_ns, 0),
    DEFINE_PROP_UINT8("aq-log2-max", KiwiState, aq_log2_max, 10),
    DEFINE_PROP_UINT8("eq-log2-max", KiwiState, eq_log2_max, 16),
    DEFINE_PROP_END_OF_LIST(),
};

static const VMStateDescription kiwi_vmstate = {
    .name = TYPE_KIWI,
    .unmigratable = 1,
};

static void kiwi_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);

    pc->vendor_id = KIWI_PCI_VENDOR_ID;
    dc->reset = kiwi_reset;
    dc->vmsd = &kiwi_vmstate;
    device_class_set_props(dc, kiwi_properties);
    kiwi_diag_class_init(oc);
    kiwi_way_class_init(oc);
    kiwi_fault_class_init(oc);
    pci_gone_class_init(oc);
}

static void kiwi_instance_init(Object *obj)
{
    kiwi_fault_init(KIWI(obj));
}

static void kiwi_instance_finalize(Object *obj)
{
    kiwi_fault_exit(KIWI(obj));
}

static const TypeInfo kiwi_info = {
    .name = TYPE_KIWI,
    .parent = TYPE_PCI_DEVICE,
    .abstract = true,
    .instance_size = sizeof(KiwiState),
    .instance_init = kiwi_instance_init,
    .instance_finalize = kiwi_instance_finalize,
    .class_size = sizeof(KiwiClass),
    .class_init = kiwi_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { },
    },
};

static void kiwi_register(void)
{
    type_register_static(&kiwi_info);
}

type_init(kiwi_register)
