/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * xpu: an accelerator. VRAM in a prefetchable BAR, a copy engine that moves
 * bytes between VRAM and the bus, and an execution engine (xpu-exec.c).
 */
#include "xpu.h"
#include "qemu/cutils.h"
#include "qemu/module.h"
#include "qemu/rcu.h"
#include "qemu/units.h"
#include "qapi/error.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie.h"
#include "hw/pci/pcie_aer.h"
#include "hw/qdev-properties.h"
#include "migration/vmstate.h"

#include "pci-gone.h"

#define XPU_VRAM_MIN        (1 * MiB)
#define XPU_VRAM_MAX        (16 * GiB)
#define XPU_VRAM_DEFAULT    (256 * MiB)

#define XPU_EXP_CAP         0x80
#define XPU_AER_CAP         0x100
#define XPU_SERIAL_CAP      0x150

#define XPU_CE_MAX_LEN      (32 * MiB)
#define XPU_CE_TIMEOUT_DEFAULT_MS 30000
/* The guest runs on between two chunks; the pace is about 100 GB/s. */
#define XPU_CE_CHUNK        (1 * MiB)
#define XPU_CE_CHUNK_NS     10000
#define XPU_DMA_MAX         (4 * KiB)

#define XPU_CE_START_BITS   (XPU_CE_CTRL_START | XPU_CE_CTRL_SRC_BUS | \
                             XPU_CE_CTRL_DST_BUS | XPU_CE_CTRL_CLEAR | \
                             XPU_CE_CTRL_TAG)

/*
 * Copy engine
 */

uint8_t *xpu_vram(XpuState *s, uint64_t offset)
{
    return (uint8_t *)memory_region_get_ram_ptr(&s->vram) + offset;
}

bool xpu_in_vram(XpuState *s, uint64_t offset, uint64_t len)
{
    return len <= s->vram_size && offset <= s->vram_size - len;
}

void xpu_store(XpuState *s, uint64_t offset, const void *buf, uint64_t len)
{
    memcpy(xpu_vram(s, offset), buf, len);
    memory_region_set_dirty(&s->vram, offset, len);
}

static uint64_t xpu_dma_room(uint64_t addr, uint64_t len)
{
    return MIN(len, XPU_DMA_MAX - addr % XPU_DMA_MAX);
}

/* All-ones from an empty slot are no data. At most a page: one translation. */
bool xpu_dma_answered(XpuState *s, uint64_t addr, uint64_t len,
                      DMADirection dir)
{
    AddressSpace *as = pci_get_address_space(&s->parent_obj);
    hwaddr xlat, n = len;

    RCU_READ_LOCK_GUARD();
    return !pci_gone_region(
        address_space_translate(as, addr, &xlat, &n,
                                dir == DMA_DIRECTION_FROM_DEVICE,
                                MEMTXATTRS_UNSPECIFIED));
}

static bool xpu_dma(XpuState *s, uint64_t addr, void *buf, uint64_t len,
                    DMADirection dir)
{
    bool from_bus = dir == DMA_DIRECTION_TO_DEVICE;

    if (!xpu_dma_answered(s, addr, len, dir) ||
        pci_dma_rw(&s->parent_obj, addr, buf, len, dir,
                   MEMTXATTRS_UNSPECIFIED) != MEMTX_OK) {
        s->counter[XPU_CNT_DMA_ERRORS]++;
        s->fault = addr;
        return false;
    }
    s->counter[from_bus ? XPU_CNT_DMA_READS : XPU_CNT_DMA_WRITES]++;
    s->counter[from_bus ? XPU_CNT_DMA_READ_BYTES
                        : XPU_CNT_DMA_WRITE_BYTES] += len;
    return true;
}

static void xpu_clear(XpuState *s, uint64_t offset, uint64_t len)
{
    /* Pages of VRAM that nobody wrote shall stay without memory behind them. */
    if (!buffer_is_zero(xpu_vram(s, offset), len)) {
        memset(xpu_vram(s, offset), 0, len);
        memory_region_set_dirty(&s->vram, offset, len);
    }
}

/* Moves at most @len bytes; returns how many, or 0 when the bus refused. */
static uint64_t xpu_copy_piece(XpuState *s, const XpuCopy *c, uint64_t at,
                               uint64_t len)
{
    uint64_t src = c->src + at, dst = c->dst + at;
    uint8_t bounce[XPU_DMA_MAX];
    uint8_t *from;

    if (c->ctrl & XPU_CE_CTRL_CLEAR) {
        xpu_clear(s, dst, len);
        return len;
    }
    if (c->ctrl & XPU_CE_CTRL_SRC_BUS) {
        len = xpu_dma_room(src, len);
    }
    if (c->ctrl & XPU_CE_CTRL_DST_BUS) {
        len = xpu_dma_room(dst, len);
    }

    if (!(c->ctrl & XPU_CE_CTRL_SRC_BUS)) {
        from = xpu_vram(s, src);
    } else {
        from = bounce; /* a read that fails shall not reach VRAM */
        if (!xpu_dma(s, src, from, len, DMA_DIRECTION_TO_DEVICE)) {
            return 0;
        }
    }
    if (c->ctrl & XPU_CE_CTRL_DST_BUS) {
        return xpu_dma(s, dst, from, len, DMA_DIRECTION_FROM_DEVICE) ? len : 0;
    }
    memmove(xpu_vram(s, dst), from, len);
    memory_region_set_dirty(&s->vram, dst, len);
    return len;
}

static void xpu_copy_end(XpuState *s, uint32_t state, uint32_t error)
{
    timer_del(&s->copy_timer);
    s->state = state;
    s->error = error;
    if (msix_enabled(&s->parent_obj)) {
        msix_notify(&s->parent_obj, XPU_VECTOR_COPY);
    }
}

static void xpu_copy_schedule(XpuState *s)
{
    timer_mod(&s->copy_timer,
              qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + XPU_CE_CHUNK_NS);
}

static void xpu_copy_chunk(void *opaque)
{
    XpuState *s = opaque;
    XpuCopy c = s->run;
    uint64_t run = s->run_count;
    uint64_t end = s->done + MIN(c.len - s->done, XPU_CE_CHUNK);
    uint64_t n;

    while (s->done < end) {
        n = xpu_copy_piece(s, &c, s->done, end - s->done);
        if (s->state != XPU_CE_BUSY || s->run_count != run) {
            return; /* a bus address led to our own registers */
        }
        if (!n) {
            xpu_copy_end(s, XPU_CE_FAILED, XPU_CE_DMA);
            return;
        }
        s->done += n;
    }
    if (s->done == c.len) {
        xpu_copy_end(s, XPU_CE_DONE, XPU_CE_OK);
    } else {
        xpu_copy_schedule(s);
    }
}

static uint32_t xpu_copy_check(XpuState *s, const XpuCopy *c)
{
    bool clear = c->ctrl & XPU_CE_CTRL_CLEAR;
    bool src_bus = c->ctrl & XPU_CE_CTRL_SRC_BUS;
    bool dst_bus = c->ctrl & XPU_CE_CTRL_DST_BUS;

    if ((c->ctrl & ~XPU_CE_START_BITS) || !c->len || c->len > XPU_CE_MAX_LEN ||
        (clear && (src_bus || dst_bus))) {
        return XPU_CE_BAD_COMMAND;
    }
    if ((!clear && !src_bus && !xpu_in_vram(s, c->src, c->len)) ||
        (!dst_bus && !xpu_in_vram(s, c->dst, c->len))) {
        return XPU_CE_VRAM_RANGE;
    }
    return XPU_CE_OK;
}

static void xpu_copy_start(XpuState *s, uint32_t ctrl)
{
    uint32_t error;

    if (s->state == XPU_CE_BUSY) {
        return;
    }
    s->run = s->next;
    s->run.ctrl = ctrl;
    s->run_count++;
    s->done = 0;
    s->fault = 0;
    s->state = XPU_CE_BUSY;
    s->error = XPU_CE_OK;
    s->counter[XPU_CNT_COMMANDS]++;

    error = xpu_copy_check(s, &s->run);
    if (error != XPU_CE_OK) {
        xpu_copy_end(s, XPU_CE_FAILED, error);
    } else {
        xpu_copy_schedule(s);
    }
}

static void xpu_copy_ctrl(XpuState *s, uint32_t ctrl)
{
    if (ctrl & XPU_CE_CTRL_START) {
        xpu_copy_start(s, ctrl);
    } else if (ctrl == XPU_CE_CTRL_ABORT && s->state == XPU_CE_BUSY) {
        xpu_copy_end(s, XPU_CE_ABORTED, XPU_CE_OK);
    }
}

static uint32_t xpu_copy_status(XpuState *s)
{
    return s->state | s->error << ctz32(XPU_CE_STATUS_ERROR) |
           (s->run.ctrl & XPU_CE_STATUS_TAG);
}

QEMU_BUILD_BUG_ON(XPU_CE_STATUS_TAG != XPU_CE_CTRL_TAG);

/*
 * Registers. QEMU splits a 64-bit access into two halves, the lower one first.
 */

static uint64_t xpu_reg64(XpuState *s, hwaddr reg)
{
    if (reg >= XPU_REG_COUNTER(0) && reg < XPU_REG_COUNTER(XPU_CNT_COUNT)) {
        return s->counter[(reg - XPU_REG_COUNTER(0)) / 8];
    }
    switch (reg) {
    case XPU_REG_VRAM_SIZE:
        return s->vram_size;
    case XPU_REG_TRAP_START:
        return s->trap.start;
    case XPU_REG_TRAP_LENGTH:
        return s->trap.length;
    case XPU_REG_TRAP_LAST:
        return s->trap.last;
    case XPU_REG_CE_SRC:
        return s->next.src;
    case XPU_REG_CE_DST:
        return s->next.dst;
    case XPU_REG_CE_LEN:
        return s->next.len;
    case XPU_REG_CE_DONE:
        return s->done;
    case XPU_REG_CE_FAULT:
        return s->fault;
    case XPU_REG_CE_MAX_LEN:
        return XPU_CE_MAX_LEN;
    default:
        return 0;
    }
}

static uint64_t xpu_read(void *opaque, hwaddr addr, unsigned size)
{
    XpuState *s = opaque;

    if (xpu_exec_owns(addr)) {
        return xpu_exec_read(s, addr);
    }
    switch (addr) {
    case XPU_REG_MAGIC:
        return XPU_MAGIC;
    case XPU_REG_VERSION:
        return XPU_VERSION_MAJOR << 16 | XPU_VERSION_MINOR;
    case XPU_REG_RESETS:
        return s->resets;
    case XPU_REG_DMA_BITS:
        return 64;
    case XPU_REG_CAPS:
        return s->trap.on ? XPU_CAP_TRAP : 0;
    case XPU_REG_CE_STATUS:
        return xpu_copy_status(s);
    case XPU_REG_CE_TIMEOUT_MS:
        return s->timeout_ms;
    default:
        return extract64(xpu_reg64(s, addr & ~7ULL), addr % 8 * 8, 32);
    }
}

static void xpu_write(void *opaque, hwaddr addr, uint64_t val, unsigned size)
{
    XpuState *s = opaque;
    uint64_t *reg;

    if (xpu_exec_owns(addr)) {
        xpu_exec_write(s, addr, val);
        return;
    }
    switch (addr & ~7ULL) {
    case XPU_REG_TRAP_START:
        reg = &s->trap.start;
        break;
    case XPU_REG_TRAP_LENGTH:
        reg = &s->trap.length;
        break;
    case XPU_REG_CE_SRC:
        reg = &s->next.src;
        break;
    case XPU_REG_CE_DST:
        reg = &s->next.dst;
        break;
    case XPU_REG_CE_LEN:
        reg = &s->next.len;
        break;
    default:
        if (addr == XPU_REG_CE_CTRL) {
            xpu_copy_ctrl(s, val);
        } else if (addr == XPU_REG_TRAP_CTRL) {
            xpu_trap_ctrl(s, val);
        }
        return;
    }
    *reg = deposit64(*reg, addr % 8 * 8, 32, val);
}

static const MemoryRegionOps xpu_reg_ops = {
    .read = xpu_read,
    .write = xpu_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 4, .max_access_size = 8 },
    .impl = { .min_access_size = 4, .max_access_size = 4 },
};

/*
 * PCI Express function
 */

static void xpu_reset(DeviceState *dev)
{
    XpuState *s = XPU(dev);

    timer_del(&s->copy_timer);
    memset(&s->next, 0, sizeof(s->next));
    memset(&s->run, 0, sizeof(s->run));
    s->done = 0;
    s->fault = 0;
    s->state = XPU_CE_IDLE;
    s->error = XPU_CE_OK;
    xpu_exec_reset(s);
    s->resets++;
    pcie_cap_deverr_reset(PCI_DEVICE(dev));
}

static void xpu_config_write(PCIDevice *pci, uint32_t addr, uint32_t val,
                             int len)
{
    pci_default_write_config(pci, addr, val, len);
    pcie_cap_flr_write_config(pci, addr, val, len);
    pcie_aer_write_config(pci, addr, val, len);
}

static bool xpu_init_memory(XpuState *s, Error **errp)
{
    PCIDevice *pci = &s->parent_obj;
    Error *err = NULL;

    if (!is_power_of_2(s->vram_size) || s->vram_size < XPU_VRAM_MIN ||
        s->vram_size > XPU_VRAM_MAX) {
        error_setg(errp, "vram-size %" PRIu64 " is not a power of two from "
                   "%" PRIu64 " to %" PRIu64, s->vram_size,
                   (uint64_t)XPU_VRAM_MIN, (uint64_t)XPU_VRAM_MAX);
        return false;
    }
    /* No swap is set aside: VRAM costs what the guest writes to. */
    memory_region_init_ram_flags_nomigrate(&s->vram, OBJECT(s), "xpu-vram",
                                           s->vram_size, RAM_NORESERVE, &err);
    if (err) {
        error_propagate(errp, err);
        return false;
    }
    memory_region_init(&s->bar, OBJECT(s), "xpu-bar", s->vram_size);
    memory_region_add_subregion(&s->bar, 0, &s->vram);
    xpu_trap_init(s);
    memory_region_init_io(&s->regs, OBJECT(s), &xpu_reg_ops, s, "xpu-regs",
                          XPU_BAR_REGS_SIZE);
    pci_register_bar(pci, XPU_BAR_REGS, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64, &s->regs);
    pci_register_bar(pci, XPU_BAR_VRAM, PCI_BASE_ADDRESS_SPACE_MEMORY |
                     PCI_BASE_ADDRESS_MEM_TYPE_64 |
                     PCI_BASE_ADDRESS_MEM_PREFETCH, &s->bar);
    return true;
}

static void xpu_realize(PCIDevice *pci, Error **errp)
{
    XpuState *s = XPU(pci);
    int ret;

    pci->config_write = xpu_config_write;
    if (!xpu_init_memory(s, errp)) {
        return;
    }
    ret = pcie_endpoint_cap_init(pci, XPU_EXP_CAP);
    if (ret < 0) {
        error_setg_errno(errp, -ret, "no PCI Express capability");
        return;
    }
    pcie_cap_flr_init(pci);
    pcie_cap_deverr_init(pci);
    if (pcie_aer_init(pci, PCI_ERR_VER, XPU_AER_CAP, PCI_ERR_SIZEOF,
                      errp) < 0) {
        goto err_exp;
    }
    pcie_dev_ser_num_init(pci, XPU_SERIAL_CAP,
                          (uint64_t)XPU_PCI_VENDOR_ID << 48 |
                          (uint64_t)XPU_PCI_DEVICE_ID << 32 | pci->devfn);
    if (msix_init(pci, XPU_VECTORS, &s->regs, XPU_BAR_REGS,
                  XPU_MSIX_TABLE_OFFSET, &s->regs, XPU_BAR_REGS,
                  XPU_MSIX_PBA_OFFSET, 0, errp) < 0) {
        goto err_aer;
    }
    msix_vector_use(pci, XPU_VECTOR_COPY);
    msix_vector_use(pci, XPU_VECTOR_EXEC);
    timer_init_ns(&s->copy_timer, QEMU_CLOCK_VIRTUAL, xpu_copy_chunk, s);
    xpu_exec_init(s);
    pci_gone_init(pci);
    return;

err_aer:
    pcie_aer_exit(pci);
err_exp:
    pcie_cap_exit(pci);
}

static void xpu_exit(PCIDevice *pci)
{
    XpuState *s = XPU(pci);

    timer_del(&s->copy_timer);
    xpu_exec_exit(s);
    xpu_trap_exit(s);
    memory_region_del_subregion(&s->bar, &s->vram);
    msix_unuse_all_vectors(pci);
    msix_uninit(pci, &s->regs, &s->regs);
    pcie_aer_exit(pci);
    pcie_cap_exit(pci);
}

/*
 * What a step of a kernel costs in time that the clock of the guest counts: a
 * command taken from memory, a request composed, an access that misses all
 * caches, a fence that other devices observe, the way of a doorbell over the
 * bus. No vendor publishes these for its GPU: they are assumptions, of the order
 * that microbenchmarks of data centre GPUs find for a load that misses (400 to
 * 800 ns), and of half a PCI Express round trip (1 us) for a posted write.
 *
 * The time between two polls doubles up to poll-max-ns, so that a kernel that
 * waits leaves the processor of the machine alone; a measurement sets both alike.
 */
static Property xpu_properties[] = {
    DEFINE_PROP_SIZE("vram-size", XpuState, vram_size, XPU_VRAM_DEFAULT),
    DEFINE_PROP_UINT32("copy-timeout-ms", XpuState, timeout_ms,
                       XPU_CE_TIMEOUT_DEFAULT_MS),
    DEFINE_PROP_BOOL("trap-freed", XpuState, trap.on, false),
    DEFINE_PROP_UINT32("command-ns", XpuState, exec.command_ns, 20),
    DEFINE_PROP_UINT32("wqe-ns", XpuState, exec.wqe_ns, 150),
    DEFINE_PROP_UINT32("mem-ns", XpuState, exec.mem_ns, 500),
    DEFINE_PROP_UINT32("fence-ns", XpuState, exec.fence_ns, 400),
    DEFINE_PROP_UINT32("bus-ns", XpuState, exec.bus_ns, 400),
    DEFINE_PROP_UINT32("poll-ns", XpuState, exec.poll_ns, 500),
    DEFINE_PROP_UINT32("poll-max-ns", XpuState, exec.poll_max_ns, 64000),
    DEFINE_PROP_END_OF_LIST(),
};

static const VMStateDescription xpu_vmstate = {
    .name = TYPE_XPU,
    .unmigratable = 1,
};

static void xpu_class_init(ObjectClass *oc, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(oc);
    PCIDeviceClass *pc = PCI_DEVICE_CLASS(oc);

    pc->realize = xpu_realize;
    pc->exit = xpu_exit;
    pc->vendor_id = XPU_PCI_VENDOR_ID;
    pc->device_id = XPU_PCI_DEVICE_ID;
    pc->class_id = 0x1200; /* processing accelerator */
    dc->desc = "Stand-in accelerator with VRAM, copy and execution engine";
    dc->reset = xpu_reset;
    dc->vmsd = &xpu_vmstate;
    device_class_set_props(dc, xpu_properties);
    pci_gone_class_init(oc);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo xpu_info = {
    .name = TYPE_XPU,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(XpuState),
    .class_init = xpu_class_init,
    .interfaces = (InterfaceInfo[]) {
        { INTERFACE_PCIE_DEVICE },
        { },
    },
};

static void xpu_register(void)
{
    type_register_static(&xpu_info);
}

type_init(xpu_register)
