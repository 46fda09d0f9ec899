/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trap of accesses to VRAM that the driver has freed: over such ranges lies a
 * region that counts.
 */
#include "xpu.h"
#include "qemu/bitmap.h"
#include "qemu/units.h"

#define TRAP_PAGE (4 * KiB)

static void trap_count(MemoryRegion *mr, hwaddr addr, enum xpu_counter counter)
{
    XpuState *s = XPU(memory_region_owner(mr));

    s->trap.last = mr->addr + addr;
    s->counter[counter]++;
}

static uint64_t trap_read(void *opaque, hwaddr addr, unsigned size)
{
    trap_count(opaque, addr, XPU_CNT_STALE_READS);
    return UINT64_MAX;
}

static void trap_write(void *opaque, hwaddr addr, uint64_t val, unsigned size)
{
    trap_count(opaque, addr, XPU_CNT_STALE_WRITES);
}

static const MemoryRegionOps trap_ops = {
    .read = trap_read,
    .write = trap_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
};

/* Lays the regions over what is free now. */
static void trap_update(XpuState *s)
{
    uint64_t pages = s->vram_size / TRAP_PAGE, start = 0, end;

    memory_region_transaction_begin();
    for (int i = 0; i < XPU_TRAP_RANGES; i++) {
        MemoryRegion *mr = &s->trap.range[i];

        start = find_next_bit(s->trap.freed, pages, start);
        memory_region_set_enabled(mr, start < pages);
        if (start < pages) {
            end = find_next_zero_bit(s->trap.freed, pages, start);
            memory_region_set_address(mr, start * TRAP_PAGE);
            memory_region_set_size(mr, (end - start) * TRAP_PAGE);
            start = end;
        }
    }
    memory_region_transaction_commit();
}

void xpu_trap_ctrl(XpuState *s, uint32_t ctrl)
{
    XpuTrap *trap = &s->trap;
    uint64_t first = trap->start / TRAP_PAGE;
    uint64_t pages = trap->length / TRAP_PAGE;

    if (!trap->on || trap->start % TRAP_PAGE || trap->length % TRAP_PAGE ||
        !pages || !xpu_in_vram(s, trap->start, trap->length)) {
        return;
    }
    if (ctrl == XPU_TRAP_FREED) {
        bitmap_set(trap->freed, first, pages);
    } else if (ctrl == XPU_TRAP_ALLOCATED) {
        bitmap_clear(trap->freed, first, pages);
    } else {
        return;
    }
    trap_update(s);
}

void xpu_trap_init(XpuState *s)
{
    if (!s->trap.on) {
        return;
    }
    s->trap.freed = bitmap_new(s->vram_size / TRAP_PAGE);
    for (int i = 0; i < XPU_TRAP_RANGES; i++) {
        MemoryRegion *mr = &s->trap.range[i];

        memory_region_init_io(mr, OBJECT(s), &trap_ops, mr, "xpu-trap",
                              TRAP_PAGE);
        memory_region_set_enabled(mr, false);
        memory_region_add_subregion_overlap(&s->bar, 0, mr, 1);
    }
}

void xpu_trap_exit(XpuState *s)
{
    if (!s->trap.on) {
        return;
    }
    for (int i = 0; i < XPU_TRAP_RANGES; i++) {
        memory_region_del_subregion(&s->bar, &s->trap.range[i]);
    }
    g_free(s->trap.freed);
}
