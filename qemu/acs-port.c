/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A switch's downstream port with access control services, which QEMU's own
 * lacks. It keeps what the host sets; kiwi-way.c tells what that does to requests.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "hw/pci/pci.h"
#include "hw/pci/pcie.h"

#define TYPE_ACS_PORT   "kiwi-acs-port"
#define ACS_CAP         0x148   /* behind the AER capability of the parent */

static void (*parent_realize)(PCIDevice *pci, Error **errp);
static void (*parent_reset)(DeviceState *dev);

static void acs_port_realize(PCIDevice *pci, Error **errp)
{
    ERRP_GUARD();

    parent_realize(pci, errp);
    if (!*errp) {
        pcie_acs_init(pci, ACS_CAP);
    }
}

static void acs_port_reset(DeviceState *dev)
{
    parent_reset(dev);
    pcie_acs_reset(PCI_DEVICE(dev));
}

static void acs_port_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);

    parent_realize = pc->realize;
    pc->realize = acs_port_realize;
    parent_reset = dc->reset;
    dc->reset = acs_port_reset;
    dc->desc = "Downstream port of a switch, with ACS";
}

static const TypeInfo acs_port_info = {
    .name = TYPE_ACS_PORT,
    .parent = "xio3130-downstream",
    .class_init = acs_port_class_init,
};

static void acs_port_register(void)
{
    type_register_static(&acs_port_info);
}

type_init(acs_port_register)
