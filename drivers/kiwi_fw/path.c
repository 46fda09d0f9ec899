// SPDX-License-Identifier: GPL-2.0
/*
 * How the bytes of a DMA-buf travel: each address belongs to system memory or to a BAR of
 * some function, and the bridges between that and the device decide about the way.
 */
#include <linux/ioport.h>
#include <linux/iommu.h>
#include <linux/pci.h>
#include <linux/sizes.h>

#include <uapi/kiwi/snic.h>

#include "core.h"
#include "mem.h"

/**
 * struct kiwi_fw_place - a range of addresses that are reached in one way
 * @start: first address
 * @end: last address
 * @path: the way
 */
struct kiwi_fw_place {
	u64 start;
	u64 end;
	struct kiwi_fw_path path;
};

/* From a function upwards ---------------------------------------------------- */

static u32 kiwi_fw_pci_address(struct pci_dev *pdev)
{
	return (u32)pci_domain_nr(pdev->bus) << 16 | pci_dev_id(pdev);
}

static bool kiwi_fw_is_above(struct pci_dev *bridge, struct pci_dev *pdev)
{
	struct pci_dev *b;

	for (b = pci_upstream_bridge(pdev); b; b = pci_upstream_bridge(b)) {
		if (b == bridge)
			return true;
	}
	return false;
}

static struct pci_dev *kiwi_fw_common_bridge(struct pci_dev *a, struct pci_dev *b)
{
	struct pci_dev *bridge = pci_upstream_bridge(a);

	while (bridge && !kiwi_fw_is_above(bridge, b))
		bridge = pci_upstream_bridge(bridge);
	return bridge;
}

static bool kiwi_fw_acs_redirects(struct pci_dev *bridge)
{
	u16 ctrl;

	if (!bridge->acs_cap)
		return false;
	if (pci_read_config_word(bridge, bridge->acs_cap + PCI_ACS_CTRL, &ctrl))
		return false;
	return ctrl & (PCI_ACS_RR | PCI_ACS_CR | PCI_ACS_EC);
}

/* Bridges between @pdev and @common that send requests up. */
static void kiwi_fw_add_redirects(struct pci_dev *pdev, struct pci_dev *common,
				  struct kiwi_fw_route *route)
{
	struct pci_dev *bridge;

	for (bridge = pci_upstream_bridge(pdev); bridge && bridge != common;
	     bridge = pci_upstream_bridge(bridge)) {
		if (!kiwi_fw_acs_redirects(bridge))
			continue;
		if (route->nr_redirects == ARRAY_SIZE(route->redirects))
			return;
		route->redirects[route->nr_redirects++] = kiwi_fw_pci_address(bridge);
	}
}

/**
 * kiwi_fw_route_find() - find the bridges between the device and a peer
 * @fw: device
 * @peer: function
 * @route: its bridges are filled in
 */
void kiwi_fw_route_find(struct kiwi_fw *fw, struct pci_dev *peer, struct kiwi_fw_route *route)
{
	struct pci_dev *common = kiwi_fw_common_bridge(fw->pdev, peer);

	route->common = 0;
	route->nr_redirects = 0;
	if (!common || pci_pcie_type(common) == PCI_EXP_TYPE_ROOT_PORT)
		return;
	route->common = kiwi_fw_pci_address(common);
	kiwi_fw_add_redirects(fw->pdev, common, route);
	kiwi_fw_add_redirects(peer, common, route);
}

static void kiwi_fw_path_to_peer(struct kiwi_fw *fw, struct pci_dev *peer,
				 struct kiwi_fw_path *path)
{
	struct kiwi_fw_route route;

	*path = (struct kiwi_fw_path) {
		.path = KIWI_PATH_P2P_ROOT,
		.peer = kiwi_fw_pci_address(peer),
	};
	kiwi_fw_route_find(fw, peer, &route);
	if (fw->iommu) {
		path->reason = KIWI_PATH_IOMMU;
	} else if (!route.common) {
		path->reason = KIWI_PATH_NO_SWITCH;
	} else if (route.nr_redirects) {
		path->reason = KIWI_PATH_ACS;
		path->bridge = route.redirects[0];
	} else {
		path->path = KIWI_PATH_P2P_SWITCH;
		path->reason = KIWI_PATH_DIRECT;
	}
}

/* From an address to what is there --------------------------------------------- */

static int kiwi_fw_first_ram(struct resource *res, void *arg)
{
	*(struct resource *)arg = *res;
	return 1;
}

/* Return: whether @addr is RAM; @place then ends with it, else at latest where RAM begins. */
static bool kiwi_fw_place_in_ram(u64 addr, struct kiwi_fw_place *place)
{
	struct resource ram = {};

	place->start = addr;
	place->end = U64_MAX;
	if (walk_iomem_res_desc(IORES_DESC_NONE, IORESOURCE_SYSTEM_RAM, addr, U64_MAX, &ram,
				kiwi_fw_first_ram) != 1)
		return false;
	if (ram.start > addr) {
		place->end = ram.start - 1;
		return false;
	}
	place->end = ram.end;
	return true;
}

/* Where a BAR is as the device sees it. */
static u64 kiwi_fw_bar_start(struct kiwi_fw *fw, struct pci_dev *pdev, int bar)
{
	return fw->iommu ? pci_resource_start(pdev, bar) : pci_bus_address(pdev, bar);
}

/* Return: whether a BAR of @pdev holds @addr; @place is that BAR then, else it ends before one. */
static bool kiwi_fw_place_in_bar(struct kiwi_fw *fw, u64 addr, struct pci_dev *pdev,
				 struct kiwi_fw_place *place)
{
	u64 start, len;
	int bar;

	for (bar = 0; bar < PCI_STD_NUM_BARS; bar++) {
		start = kiwi_fw_bar_start(fw, pdev, bar);
		len = pci_resource_len(pdev, bar);
		if (!(pci_resource_flags(pdev, bar) & IORESOURCE_MEM) || !start || !len)
			continue;
		if (addr >= start && addr - start < len) {
			place->start = start;
			place->end = start + len - 1;
			return true;
		}
		if (start > addr)
			place->end = min(place->end, start - 1);
	}
	return false;
}

static void kiwi_fw_place_of(struct kiwi_fw *fw, u64 addr, struct kiwi_fw_place *place)
{
	struct pci_dev *pdev = NULL;

	place->path = (struct kiwi_fw_path) {
		.path = KIWI_PATH_SYSTEM,
		.reason = KIWI_PATH_EXPORTER,
	};
	if (kiwi_fw_place_in_ram(addr, place))
		return;
	for_each_pci_dev(pdev) {
		if (kiwi_fw_place_in_bar(fw, addr, pdev, place)) {
			kiwi_fw_path_to_peer(fw, pdev, &place->path);
			pci_dev_put(pdev);
			return;
		}
	}
	/* Memory of another kind that the root complex reaches, as persistent memory. */
}

/* All of a buffer ------------------------------------------------------------------ */

/**
 * struct kiwi_fw_path_search - paths of the addresses seen so far
 * @fw: device
 * @place: around the last address
 * @found: of all, by kiwi_fw_path_merge()
 */
struct kiwi_fw_path_search {
	struct kiwi_fw *fw;
	struct kiwi_fw_place place;
	struct kiwi_fw_path *found;
};

/* A difference makes the path mixed; peer and reason tell of the first that is a peer. */
static void kiwi_fw_path_merge(struct kiwi_fw_path *found, const struct kiwi_fw_path *path)
{
	struct kiwi_fw_path was = *found;

	if (was.path && was.path == path->path && was.peer == path->peer)
		return;
	if (!was.path || (!was.peer && path->peer))
		*found = *path;
	if (was.path)
		found->path = KIWI_PATH_MIXED;
}

static void kiwi_fw_search(struct kiwi_fw_path_search *search, u64 addr, u64 len)
{
	struct kiwi_fw_place *place = &search->place;
	u64 part;

	for (; len; addr += part, len -= part) {
		if (!place->path.path || addr < place->start || addr > place->end) {
			kiwi_fw_place_of(search->fw, addr, place);
			kiwi_fw_path_merge(search->found, &place->path);
		}
		part = min(len - 1, place->end - addr) + 1;
	}
}

static u64 kiwi_fw_translate(struct kiwi_fw *fw, u64 addr)
{
	return iommu_iova_to_phys(fw->iommu, addr);
}

/*
 * What is contiguous for the device may lie scattered behind the IOMMU. A chunk
 * whose ends are as far apart behind as before is taken for contiguous.
 */
static void kiwi_fw_search_translated(struct kiwi_fw_path_search *search, u64 addr, u64 len)
{
	struct kiwi_fw *fw = search->fw;
	u64 part, behind;

	for (; len; addr += part, len -= part) {
		cond_resched();
		part = min(len, SZ_2M - (addr & (SZ_2M - 1)));
		behind = kiwi_fw_translate(fw, addr);
		if (kiwi_fw_translate(fw, addr + part - 1) - behind != part - 1)
			part = min(part, PAGE_SIZE - offset_in_page(addr));
		kiwi_fw_search(search, behind, part);
	}
}

/**
 * kiwi_fw_path_find() - find how the bytes of a buffer travel
 * @fw: device
 * @runs: the buffer
 * @nr_runs: of @runs
 * @path: the answer
 */
void kiwi_fw_path_find(struct kiwi_fw *fw, const struct kiwi_fw_run *runs, unsigned int nr_runs,
		       struct kiwi_fw_path *path)
{
	struct kiwi_fw_path_search search = { .fw = fw, .found = path };
	unsigned int n;

	*path = (struct kiwi_fw_path) {};
	for (n = 0; n < nr_runs; n++) {
		if (fw->iommu)
			kiwi_fw_search_translated(&search, runs[n].addr, runs[n].len);
		else
			kiwi_fw_search(&search, runs[n].addr, runs[n].len);
		cond_resched();
	}
}
