/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Surprise removal: what device_del does not do. The port loses presence and
 * link in the same instant, and reads below it give all-ones from then on (QEMU
 * itself reads zero where nothing is mapped).
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "block/aio.h"
#include "hw/hotplug.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "hw/pci/pci.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pci_bus.h"
#include "hw/pci/pcie.h"
#if __has_include("hw/pci/pci_device.h")
#include "hw/pci/pci_device.h"
#endif

#include "pci-gone.h"

#define GONE_REGION "pci-gone"

static uint64_t gone_read(void *opaque, hwaddr addr, unsigned size)
{
    return UINT64_MAX;
}

static void gone_write(void *opaque, hwaddr addr, uint64_t val, unsigned size)
{
}

static const MemoryRegionOps gone_ops = {
    .read = gone_read,
    .write = gone_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

bool pci_gone_region(MemoryRegion *mr)
{
    return mr->ops == &gone_ops;
}

void pci_gone_init(PCIDevice *pci)
{
    PCIBus *bus = pci_get_bus(pci);
    MemoryRegion *mr;

    if (pci_bus_is_root(bus) ||
        object_property_find(OBJECT(bus), GONE_REGION "[0]")) {
        return;
    }
    /* It lives with the bus, below every BAR. */
    mr = g_new0(MemoryRegion, 1);
    memory_region_init_io(mr, OBJECT(bus), &gone_ops, NULL, GONE_REGION,
                          UINT64_MAX);
    memory_region_add_subregion_overlap(bus->address_space_mem, 0, mr, -10);
}

static void gone_notify(PCIDevice *port)
{
    unsigned vector = pcie_cap_flags_get_vector(port);

    port->exp.hpev_notified = true;
    if (msix_enabled(port)) {
        msix_notify(port, vector);
    } else if (msi_enabled(port)) {
        msi_notify(port, vector);
    } else if (pci_intx(port) != -1) {
        pci_set_irq(port, 1);
    }
}

static void gone_bh(void *opaque)
{
    PCIDevice *pci = opaque;
    PCIDevice *port;
    uint8_t *exp;

    if (DEVICE(pci)->realized) {
        port = pci_bridge_get_device(pci_get_bus(pci));
        hotplug_handler_unplug(qdev_get_hotplug_handler(DEVICE(pci)),
                               DEVICE(pci), &error_abort);
        object_unparent(OBJECT(pci));
        exp = port->config + port->exp.exp_cap;
        pci_word_test_and_clear_mask(exp + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDS);
        pci_word_test_and_clear_mask(exp + PCI_EXP_LNKSTA,
                                     PCI_EXP_LNKSTA_DLLLA);
        pci_word_test_and_set_mask(exp + PCI_EXP_SLTSTA, PCI_EXP_SLTSTA_PDC);
        if (pci_get_word(exp + PCI_EXP_SLTCTL) & PCI_EXP_SLTCTL_HPIE) {
            gone_notify(port);
        }
    }
    object_unref(OBJECT(pci));
}

static void gone_set(Object *obj, bool value, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(obj);
    PCIDevice *port;

    if (!value) {
        return;
    }
    port = pci_bridge_get_device(pci_get_bus(pci));
    if (!port || !port->exp.exp_cap || !qdev_get_hotplug_handler(DEVICE(obj))) {
        error_setg(errp, "the device is in no slot that can be emptied");
        return;
    }
    object_ref(obj);
    aio_bh_schedule_oneshot(qemu_get_aio_context(), gone_bh, pci);
}

void pci_gone_class_init(ObjectClass *oc)
{
    object_class_property_add_bool(oc, "surprise", NULL, gone_set);
}
