/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Refuses to run when a structure that the models embed has another size in
 * this QEMU than in the headers they were compiled with. The build stamp says
 * that the source is the same; a configure option may still change a layout.
 *
 * The check is an abstract type: QEMU initialises every class when it looks for
 * its machines, so the check runs before any device exists.
 */
#include "qemu/osdep.h"
#include "qemu/module.h"
#include "qom/object.h"
#include "hw/pci/pci.h"
#include "hw/pci/pci_bus.h"
#if __has_include("hw/pci/pci_device.h")
#include "hw/pci/pci_device.h"
#endif

#define TYPE_KIWI_ABI_CHECK "kiwi-abi-check"

static const struct {
    const char *type;
    size_t size;
} embedded[] = {
    { TYPE_DEVICE, sizeof(DeviceState) },
    { TYPE_PCI_DEVICE, sizeof(PCIDevice) },
    { TYPE_PCIE_BUS, sizeof(PCIBus) },
    { TYPE_MEMORY_REGION, sizeof(MemoryRegion) },
    { TYPE_IOMMU_MEMORY_REGION, sizeof(IOMMUMemoryRegion) },
};

static void kiwi_abi_check_class_init(ObjectClass *oc, void *data)
{
    for (int i = 0; i < ARRAY_SIZE(embedded); i++) {
        size_t size = object_type_get_instance_size(embedded[i].type);

        if (size != embedded[i].size) {
            fprintf(stderr, "kiwi: %s is %zu bytes in this QEMU, %zu in the "
                    "headers of the models\n", embedded[i].type, size,
                    embedded[i].size);
            exit(1);
        }
    }
}

static const TypeInfo kiwi_abi_check_info = {
    .name = TYPE_KIWI_ABI_CHECK,
    .parent = TYPE_OBJECT,
    .abstract = true,
    .class_init = kiwi_abi_check_class_init,
};

static void kiwi_abi_check_register(void)
{
    type_register_static(&kiwi_abi_check_info);
}

type_init(kiwi_abi_check_register)
