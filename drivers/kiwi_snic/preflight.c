// SPDX-License-Identifier: GPL-2.0
/*
 * Is all there for GPU-initiated work? One small function for each prerequisite; each says
 * what it found, and what to do about it unless that is good.
 */
#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/pci.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include <kiwi/compat.h>
#include <kiwi/fw.h>
#include <uapi/kiwi/snic.h>

#include "ksnic.h"
#include "port.h"

/* Rings of a queue pair and its CQ in host memory, 4096 entries of 64 bytes each. */
#define MEMLOCK_WANTED	(3ULL * SZ_4K * 64)

struct pci_name {
	char text[sizeof("dddddddd:bb:ss.f")];
};

/**
 * struct preflight - what the checks look at
 * @ks: the device
 * @pdev: its function
 * @self: PCI address
 * @command: its command register
 * @route_ret: 0, why there is no @route, or -ENODATA when nobody asked for one
 * @route: to the DMA-buf
 */
struct preflight {
	struct ksnic *ks;
	struct pci_dev *pdev;
	u32 self;
	u16 command;
	int route_ret;
	struct kiwi_fw_route route;
};

static struct pci_name pci_name_of(u32 at)
{
	struct pci_name name;

	scnprintf(name.text, sizeof(name.text), "%04x:%02x:%02x.%x", at >> 16, at >> 8 & 0xff,
		  PCI_SLOT(at & 0xff), PCI_FUNC(at));
	return name;
}

__printf(4, 5)
static void say(struct kiwi_check *c, u32 state, const char *fix, const char *fmt, ...)
{
	va_list args;

	c->state = state;
	strscpy(c->fix, fix, sizeof(c->fix));
	va_start(args, fmt);
	vscnprintf(c->reason, sizeof(c->reason), fmt, args);
	va_end(args);
}

#define good(_c, ...)		say(_c, KIWI_CHECK_OK, "", __VA_ARGS__)
#define warn(_c, _fix, ...)	say(_c, KIWI_CHECK_WARN, _fix, __VA_ARGS__)
#define bad(_c, _fix, ...)	say(_c, KIWI_CHECK_FAIL, _fix, __VA_ARGS__)
#define skip(_c, _fix, ...)	say(_c, KIWI_CHECK_SKIP, _fix, __VA_ARGS__)

/* Firmware and kernel -------------------------------------------------------------- */

static bool offers(const struct preflight *p, u64 cap)
{
	return kiwi_fw_identity(p->ks->part.fw)->offered & cap;
}

static void check_firmware(struct preflight *p, struct kiwi_check *c)
{
	u32 abi = kiwi_fw_identity(p->ks->part.fw)->abi;

	c->value = abi;
	c->limit = 1 << 16 | 1;
	if (offers(p, KIWI_SNIC_CAP_GPU_QUEUES))
		good(c, "firmware ABI %u.%u offers queues for GPU code", abi >> 16, abi & 0xffff);
	else
		bad(c, "update the firmware of the SNIC to one of ABI 1.1 with GPU queues",
		    "firmware ABI %u.%u offers no queues for GPU code", abi >> 16, abi & 0xffff);
}

static void check_mr_hold(struct preflight *p, struct kiwi_check *c)
{
	if (offers(p, KIWI_SNIC_CAP_MR_HOLD))
		good(c, "firmware can hold regions while their memory moves");
	else
		warn(c, "update the firmware of the SNIC to one of ABI 1.1 that holds regions",
		     "firmware cannot hold regions: DMA-bufs are pinned");
}

static void check_p2pdma(struct preflight *p, struct kiwi_check *c)
{
	if (IS_ENABLED(CONFIG_PCI_P2PDMA))
		good(c, "the kernel knows distances between PCI functions");
	else
		warn(c, "use a kernel with CONFIG_PCI_P2PDMA=y",
		     "kernel without CONFIG_PCI_P2PDMA: exporters may keep peers out");
}

static void check_move_notify(struct preflight *p, struct kiwi_check *c)
{
	if (KIWI_DMABUF_MOVE_NOTIFY)
		good(c, "the kernel tells importers when a DMA-buf moves");
	else
		warn(c, "use a kernel with CONFIG_DMABUF_MOVE_NOTIFY=y",
		     "kernel without CONFIG_DMABUF_MOVE_NOTIFY: DMA-bufs are pinned");
}

/* The way to the GPU ----------------------------------------------------------------- */

static void check_iommu(struct preflight *p, struct kiwi_check *c)
{
	c->address = p->self;
	if (!kiwi_fw_is_translated(p->ks->part.fw))
		good(c, "no IOMMU translates the addresses of the SNIC");
	else
		warn(c, "boot with iommu=pt, or write identity to the type of the IOMMU group",
		     "an IOMMU translates: all requests to peers go up to the root complex");
}

/* Return: whether there is a route; else @c says why not. */
static bool has_route(struct preflight *p, struct kiwi_check *c)
{
	switch (p->route_ret) {
	case 0:
		if (p->route.path.peer)
			return true;
		skip(c, "", "the DMA-buf is in system memory");
		return false;
	case -ENODATA:
		skip(c, "name a DMA-buf of the GPU", "no DMA-buf was named");
		return false;
	default:
		skip(c, "mend the exporter first", "where the DMA-buf is cannot be told");
		return false;
	}
}

static void check_acs(struct preflight *p, struct kiwi_check *c)
{
	const struct kiwi_fw_route *route = &p->route;
	u32 first = route->redirects[0];
	char fix[sizeof(c->fix)];
	unsigned int n;
	int len;

	if (!has_route(p, c))
		return;
	if (!route->common) {
		skip(c, "", "no common switch: requests pass the root complex in any case");
		return;
	}
	if (!route->nr_redirects) {
		good(c, "no bridge on the way redirects requests");
		return;
	}
	len = scnprintf(fix, sizeof(fix), "boot with pci=disable_acs_redir=");
	for (n = 0; n < route->nr_redirects; n++)
		len += scnprintf(fix + len, sizeof(fix) - len, "%s%s", n ? ";" : "",
				 pci_name_of(route->redirects[n]).text);
	c->address = first;
	c->value = route->nr_redirects;
	warn(c, fix, "ACS at %s%s sends requests up to the root complex",
	     pci_name_of(first).text, route->nr_redirects > 1 ? " and elsewhere" : "");
}

static void check_distance(struct preflight *p, struct kiwi_check *c)
{
	const struct kiwi_fw_route *route = &p->route;
	u32 peer = route->path.peer;

	if (!has_route(p, c))
		return;
	c->address = peer;
	c->value = max(route->distance, 0);
	if (IS_ENABLED(CONFIG_PCI_P2PDMA) && route->distance < 0)
		bad(c, "have SNIC and GPU below one switch that does not redirect",
		    "the root complex is not known to pass requests on to %s",
		    pci_name_of(peer).text);
	else if (route->common)
		good(c, "the GPU at %s is below the switch of %s", pci_name_of(peer).text,
		     pci_name_of(route->common).text);
	else
		warn(c, "move SNIC and GPU below one switch",
		     "no switch above both: requests to %s cross the root complex",
		     pci_name_of(peer).text);
}

static void check_exporter(struct preflight *p, struct kiwi_check *c)
{
	u32 peer = p->route.path.peer;

	switch (p->route_ret) {
	case 0:
		break;
	case -ENODATA:
		skip(c, "name a DMA-buf of the GPU", "no DMA-buf was named");
		return;
	case -EOPNOTSUPP:
		bad(c, "export it with peer-to-peer allowed, from a GPU that the SNIC can reach",
		    "the exporter lets no peer reach the memory in its place");
		return;
	default:
		bad(c, "see the log of the GPU's driver", "the exporter does not map it");
		return;
	}
	c->address = peer;
	if (p->route.path.path == KIWI_PATH_MIXED)
		bad(c, "export a buffer that is in GPU memory as a whole",
		    "parts of the DMA-buf are elsewhere than others");
	else if (peer)
		good(c, "the DMA-buf stays in memory of %s", pci_name_of(peer).text);
	else
		bad(c, "export GPU memory, with peer-to-peer allowed",
		    "the DMA-buf is in system memory");
}

/* Resources ---------------------------------------------------------------------------- */

static void check_vectors(struct preflight *p, struct kiwi_check *c)
{
	c->value = kiwi_fw_identity(p->ks->part.fw)->comp_vectors;
	c->limit = num_online_cpus();
	if (c->value >= c->limit)
		good(c, "%llu completion vectors for %llu CPUs", c->value, c->limit);
	else
		warn(c, "raise the MSI-X vectors and event queues of the function, in its firmware",
		     "%llu completion vectors for %llu CPUs: some share one", c->value, c->limit);
}

static void check_doorbells(struct preflight *p, struct kiwi_check *c)
{
	u32 all = kiwi_fw_identity(p->ks->part.fw)->db_pages;

	c->value = kiwi_fw_db_left(p->ks->part.fw);
	c->limit = 1;
	if (c->value >= c->limit)
		good(c, "%llu of %u doorbell pages are left", c->value, all);
	else
		bad(c, "end programs that hold doorbells, or raise the function's doorbell pages",
		    "none of %u doorbell pages is left", all);
}

/* As kiwi_fw_mem_user() counts. */
static void check_memlock(struct preflight *p, struct kiwi_check *c)
{
	u64 allowed = rlimit(RLIMIT_MEMLOCK), pinned = 0;

	if (allowed == RLIM_INFINITY || capable(CAP_IPC_LOCK)) {
		good(c, "memory of this process is pinned without limit");
		return;
	}
	if (current->mm)
		pinned = (u64)atomic64_read(&current->mm->pinned_vm) << PAGE_SHIFT;
	c->value = allowed > pinned ? allowed - pinned : 0;
	c->limit = MEMLOCK_WANTED;
	if (c->value >= c->limit)
		good(c, "%llu bytes can still be pinned", c->value);
	else
		warn(c, "raise RLIMIT_MEMLOCK (ulimit -l unlimited), or keep rings in GPU memory",
		     "%llu bytes can still be pinned, RLIMIT_MEMLOCK is %llu", c->value, allowed);
}

/* The function itself -------------------------------------------------------------------- */

static void check_bar(struct preflight *p, struct kiwi_check *c)
{
	const struct kiwi_fw_identity *id = kiwi_fw_identity(p->ks->part.fw);
	unsigned long flags = pci_resource_flags(p->pdev, KIWI_BAR_DOORBELL);

	c->address = p->self;
	c->value = pci_resource_len(p->pdev, KIWI_BAR_DOORBELL);
	c->limit = (u64)id->db_pages << id->db_page_shift;
	if (c->value < c->limit)
		bad(c, "enable large BARs (above 4G decoding) in the setup of the host",
		    "BAR %d is %llu bytes, doorbells need %llu", KIWI_BAR_DOORBELL, c->value,
		    c->limit);
	else if (!(flags & IORESOURCE_PREFETCH))
		warn(c, "update the firmware of the SNIC",
		     "doorbell BAR %d is not prefetchable: no write-combining", KIWI_BAR_DOORBELL);
	else
		good(c, "doorbell BAR %d is %llu bytes, prefetchable", KIWI_BAR_DOORBELL,
		     c->value);
}

static void check_link(struct preflight *p, struct kiwi_check *c)
{
	u32 can = 0;
	u16 is = 0;

	c->address = p->self;
	if (pcie_capability_read_dword(p->pdev, PCI_EXP_LNKCAP, &can) ||
	    pcie_capability_read_word(p->pdev, PCI_EXP_LNKSTA, &is)) {
		skip(c, "", "the state of the PCIe link cannot be read");
		return;
	}
	c->value = FIELD_GET(PCI_EXP_LNKSTA_NLW, is);
	c->limit = FIELD_GET(PCI_EXP_LNKCAP_MLW, can);
	if (c->value >= c->limit && (is & PCI_EXP_LNKSTA_CLS) >= (can & PCI_EXP_LNKCAP_SLS))
		good(c, "PCIe link at x%llu and speed %u, as the SNIC can", c->value,
		     is & PCI_EXP_LNKSTA_CLS);
	else
		warn(c, "seat the card anew, or use a slot of full width and speed",
		     "PCIe link at x%llu and speed %u; the SNIC can x%llu and speed %u", c->value,
		     is & PCI_EXP_LNKSTA_CLS, c->limit, can & PCI_EXP_LNKCAP_SLS);
}

static bool port_has_gid(struct ksnic *ks, u32 port)
{
	struct kiwi_error err;
	struct ksnic_gid gid;
	u32 index;

	for (index = 0; index < ks->queues.caps.gids; index++) {
		if (!ksnic_gid_query(ks, port, index, &gid, &err) && gid.type != KIWI_GID_NONE)
			return true;
	}
	return false;
}

static int port_is_active(struct preflight *p, u32 port)
{
	struct ksnic_port_info info;
	struct kiwi_error err;
	int ret;

	ret = ksnic_port_query(p->ks, port, &info, &err);
	return ret ?: info.state == KIWI_PORT_ACTIVE;
}

/* A function that may not do DMA cannot answer, and would be taken for dead. */
static void check_port(struct preflight *p, struct kiwi_check *c)
{
	u32 port, named = 0;
	int active;

	c->limit = 1;
	for (port = 1; port <= p->ks->queues.caps.ports; port++) {
		if (!port_has_gid(p->ks, port))
			continue;
		named++;
		active = p->command & PCI_COMMAND_MASTER ? port_is_active(p, port) : 0;
		if (active < 0) {
			skip(c, "", "the state of port %u cannot be asked for", port);
			return;
		}
		c->value += active;
	}
	if (!named)
		bad(c, "set one: kiwictl gid set DEV PORT INDEX ADDRESS", "no port has a GID");
	else if (!(p->command & PCI_COMMAND_MASTER))
		skip(c, "", "ports cannot be asked for their state: bus mastering is off");
	else if (c->value)
		good(c, "%llu of %llu ports are active and have a GID", c->value,
		     p->ks->queues.caps.ports);
	else
		bad(c, "plug in a cable, and enable the port: kiwictl port set DEV PORT up",
		    "no port that has a GID is active");
}

static void check_bus_master(struct preflight *p, struct kiwi_check *c)
{
	const u16 need = PCI_COMMAND_MASTER | PCI_COMMAND_MEMORY;

	c->address = p->self;
	c->value = p->command & need;
	c->limit = need;
	if (c->value == need)
		good(c, "bus mastering and memory space are on");
	else
		bad(c, "reset the function: echo 1 > /sys/bus/pci/devices/ADDRESS/reset",
		    "%s off", p->command & PCI_COMMAND_MASTER ? "memory space is" :
		    p->command & PCI_COMMAND_MEMORY ? "bus mastering is" :
						      "bus mastering and memory space are");
}

/* All of them ------------------------------------------------------------------------------ */

static void (*const checks[])(struct preflight *p, struct kiwi_check *c) = {
	[KIWI_CHECK_FIRMWARE] = check_firmware,
	[KIWI_CHECK_MR_HOLD] = check_mr_hold,
	[KIWI_CHECK_P2PDMA] = check_p2pdma,
	[KIWI_CHECK_MOVE_NOTIFY] = check_move_notify,
	[KIWI_CHECK_IOMMU] = check_iommu,
	[KIWI_CHECK_ACS] = check_acs,
	[KIWI_CHECK_DISTANCE] = check_distance,
	[KIWI_CHECK_EXPORTER] = check_exporter,
	[KIWI_CHECK_VECTORS] = check_vectors,
	[KIWI_CHECK_DOORBELLS] = check_doorbells,
	[KIWI_CHECK_MEMLOCK] = check_memlock,
	[KIWI_CHECK_BAR] = check_bar,
	[KIWI_CHECK_LINK] = check_link,
	[KIWI_CHECK_PORT] = check_port,
	[KIWI_CHECK_BUS_MASTER] = check_bus_master,
};

#define CHECKS	(ARRAY_SIZE(checks) - 1)	/* numbered from 1 */

static int preflight_init(struct preflight *p, struct kiwi_call *call, int fd)
{
	*p = (struct preflight) {
		.ks = to_ksnic(call->part),
		.pdev = to_pci_dev(call->part->dev.parent),
		.route_ret = -ENODATA,
	};
	p->self = (u32)pci_domain_nr(p->pdev->bus) << 16 | pci_dev_id(p->pdev);
	pci_read_config_word(p->pdev, PCI_COMMAND, &p->command);
	if (PCI_POSSIBLE_ERROR(p->command))
		return -ENODEV;
	if (fd < 0)
		return 0;
	p->route_ret = kiwi_fw_route_to(p->ks->part.fw, fd, &p->route);
	if (p->route_ret == -EBADF)
		return kiwi_fail(&call->err, -EBADF, fd, 0, "fd %d is not open or no DMA-buf", fd);
	return p->route_ret == -ENOMEM ? -ENOMEM : 0;
}

int ksnic_ioctl_preflight(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_preflight *f = data;
	struct kiwi_check __user *user = u64_to_user_ptr(f->checks);
	u32 room = f->count, n;
	struct preflight p;
	int ret;

	if (f->fd < -1)
		return kiwi_fail(&call->err, -EBADF, f->fd, 0, "fd %d is no descriptor", f->fd);
	ret = preflight_init(&p, call, f->fd);
	if (ret)
		return ret;
	f->count = CHECKS;
	for (n = 0; n < min_t(u32, room, CHECKS); n++) {
		struct kiwi_check c = { .id = n + 1 };

		checks[c.id](&p, &c);
		if (copy_to_user(&user[n], &c, sizeof(c)))
			return -EFAULT;
	}
	return 0;
}
