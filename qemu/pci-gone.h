/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Surprise removal of a PCI Express function: the slot is empty at once, no
 * orderly unplug is asked for.
 */
#ifndef PCI_GONE_H
#define PCI_GONE_H

#include "hw/pci/pci.h"

/* Adds the property "surprise": writing true removes the device. */
void pci_gone_class_init(ObjectClass *oc);

/* When realized: behind the port is all-ones once nobody is there. */
void pci_gone_init(PCIDevice *pci);

/* The region stands for the absence of a device. */
bool pci_gone_region(MemoryRegion *mr);

#endif /* PCI_GONE_H */
