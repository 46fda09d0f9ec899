/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which way requests to a peer take: a switch turns them, or they climb to the root
 * complex. QEMU hands them over directly in either case, so this follows the rules of PCI
 * Express by what the host has set in the ports, and counts.
 */
#include "kiwi-diag.h"
#include "hw/pci/pci_bridge.h"
#include "hw/pci/pci_bus.h"

static const char *const way_names[KIWI_WAYS] = {
    [KIWI_WAY_SWITCH] = "switch_bytes",
    [KIWI_WAY_ROOT] = "root_bytes",
};

/* Ports route by the address as it was sent, before an IOMMU translates it. */
static bool is_sent_to(PCIDevice *peer, uint64_t addr)
{
    for (int i = 0; i < PCI_NUM_REGIONS; i++) {
        const PCIIORegion *bar = &peer->io_regions[i];

        if (bar->addr != PCI_BAR_UNMAPPED && addr - bar->addr < bar->size &&
            !(bar->type & PCI_BASE_ADDRESS_SPACE_IO)) {
            return true;
        }
    }
    return false;
}

static bool is_below(PCIDevice *pci, PCIBus *bus)
{
    PCIBus *up = pci_get_bus(pci);

    while (up != bus && !pci_bus_is_root(up)) {
        up = pci_get_bus(pci_bridge_get_device(up));
    }
    return up == bus;
}

static bool redirects(PCIDevice *port, uint16_t what)
{
    uint16_t acs = port->exp.acs_cap;

    return acs && pci_get_word(port->config + acs + PCI_ACS_CTRL) & what;
}

/* What @from sends to @to turns at a switch that no port below it redirects past. */
static bool turns(PCIDevice *from, PCIDevice *to, uint16_t redirect)
{
    PCIBus *bus = pci_get_bus(from);

    while (!pci_bus_is_root(bus) && !is_below(to, bus)) {
        PCIDevice *port = pci_bridge_get_device(bus);

        if (redirects(port, redirect)) {
            return false;
        }
        bus = pci_get_bus(port);
    }
    return !pci_bus_is_root(bus);
}

void kiwi_way_count(KiwiState *k, PCIDevice *peer, uint64_t addr,
                    uint64_t bytes, bool is_write)
{
    PCIDevice *pci = PCI_DEVICE(k);
    bool direct = is_sent_to(peer, addr) && turns(pci, peer, PCI_ACS_RR) &&
                  (is_write || turns(peer, pci, PCI_ACS_CR));

    k->ways[direct ? KIWI_WAY_SWITCH : KIWI_WAY_ROOT] += bytes;
}

static char *ways_get(Object *obj, Error **errp)
{
    KiwiState *k = KIWI(obj);
    GString *text = g_string_new("{");

    for (int way = 0; way < KIWI_WAYS; way++) {
        kiwi_json_append(text, k->ways[way], "%s", way_names[way]);
    }
    g_string_append_c(text, '}');
    return g_string_free(text, false);
}

void kiwi_way_class_init(ObjectClass *oc)
{
    object_class_property_add_str(oc, "ways", ways_get, NULL);
}
