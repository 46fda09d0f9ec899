// SPDX-License-Identifier: GPL-2.0
/*
 * Allocator of VRAM: best fit over the gaps between allocated ranges, so that
 * freeing needs no memory.
 */
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/log2.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include "xpu_drv.h"

/* A gap between two neighbours in the list, either of which may be its head. */
struct xpu_gap {
	struct list_head *before;
	u64 start;
	u64 end;
};

static struct xpu_gap xpu_gap_after(struct xpu_vram *vram, struct list_head *before)
{
	struct xpu_gap gap = { .before = before, .end = vram->size };

	if (before != &vram->nodes) {
		struct xpu_vram_node *node = list_entry(before, struct xpu_vram_node, link);

		gap.start = node->start + node->size;
	}
	if (!list_is_last(before, &vram->nodes))
		gap.end = list_entry(before->next, struct xpu_vram_node, link)->start;
	return gap;
}

static bool xpu_vram_place(struct xpu_vram *vram, struct xpu_vram_node *node, u64 align)
{
	struct list_head *best = NULL, *pos = &vram->nodes;
	u64 best_size = U64_MAX;

	lockdep_assert_held(&vram->lock);
	do {
		struct xpu_gap gap = xpu_gap_after(vram, pos);
		u64 start = ALIGN(gap.start, align);

		if (start < gap.end && gap.end - start >= node->size &&
		    gap.end - gap.start < best_size) {
			best = pos;
			best_size = gap.end - gap.start;
			node->start = start;
		}
		pos = pos->next;
	} while (pos != &vram->nodes);

	if (best)
		list_add(&node->link, best);
	return best;
}

/* So that a peer that still uses freed VRAM is found out. */
static void xpu_vram_tell(struct xpu_vram *vram, u64 start, u64 size, u32 what)
{
	lockdep_assert_held(&vram->lock);
	if (!vram->trap)
		return;
	lo_hi_writeq(start, vram->trap + XPU_REG_TRAP_START);
	lo_hi_writeq(size, vram->trap + XPU_REG_TRAP_LENGTH);
	writel(what, vram->trap + XPU_REG_TRAP_CTRL);
}

/**
 * xpu_vram_alloc() - allocate one range
 * @vram: allocator
 * @size: bytes, a multiple of the page size
 *
 * Alignment is what page lists and large mappings profit from; when VRAM is too
 * fragmented for it, a less aligned range serves too.
 *
 * Return: the range, or an ERR_PTR: -ENOSPC or -ENOMEM.
 */
struct xpu_vram_node *xpu_vram_alloc(struct xpu_vram *vram, u64 size)
{
	const u64 natural = min_t(u64, rounddown_pow_of_two(size), SZ_1G);
	const u64 aligns[] = { natural, min_t(u64, natural, SZ_2M), PAGE_SIZE };
	struct xpu_vram_node *node;
	unsigned int i;

	node = kzalloc(sizeof(*node), GFP_KERNEL);
	if (!node)
		return ERR_PTR(-ENOMEM);
	node->size = size;

	mutex_lock(&vram->lock);
	for (i = 0; i < ARRAY_SIZE(aligns); i++) {
		if (xpu_vram_place(vram, node, aligns[i])) {
			vram->free -= size;
			xpu_vram_tell(vram, node->start, size, XPU_TRAP_ALLOCATED);
			mutex_unlock(&vram->lock);
			return node;
		}
	}
	mutex_unlock(&vram->lock);
	kfree(node);
	return ERR_PTR(-ENOSPC);
}

void xpu_vram_free(struct xpu_vram *vram, struct xpu_vram_node *node)
{
	mutex_lock(&vram->lock);
	list_del(&node->link);
	vram->free += node->size;
	xpu_vram_tell(vram, node->start, node->size, XPU_TRAP_FREED);
	mutex_unlock(&vram->lock);
	kfree(node);
}

void xpu_vram_usage(struct xpu_vram *vram, u64 *free, u64 *largest)
{
	struct list_head *pos = &vram->nodes;

	*largest = 0;
	mutex_lock(&vram->lock);
	*free = vram->free;
	do {
		struct xpu_gap gap = xpu_gap_after(vram, pos);

		*largest = max(*largest, gap.end - gap.start);
		pos = pos->next;
	} while (pos != &vram->nodes);
	mutex_unlock(&vram->lock);
}

/**
 * xpu_vram_init() - all is free
 * @vram: allocator
 * @base: CPU physical address of the BAR
 * @size: bytes
 * @regs: registers of the device, used until xpu_vram_fini()
 */
void xpu_vram_init(struct xpu_vram *vram, phys_addr_t base, u64 size, void __iomem *regs)
{
	vram->base = base;
	vram->size = size;
	vram->free = size;
	mutex_init(&vram->lock);
	INIT_LIST_HEAD(&vram->nodes);
	if (readl(regs + XPU_REG_CAPS) & XPU_CAP_TRAP) {
		mutex_lock(&vram->lock);
		vram->trap = regs;
		xpu_vram_tell(vram, 0, size, XPU_TRAP_FREED);
		mutex_unlock(&vram->lock);
	}
	/* Without these the CPU sees VRAM uncached: slower, not wrong. */
	vram->wc_reserved = !arch_io_reserve_memtype_wc(base, size);
	vram->wc_cookie = arch_phys_wc_add(base, size);
}

/* Buffers may outlive the driver's hold on the device; their ranges are freed later. */
void xpu_vram_fini(struct xpu_vram *vram)
{
	mutex_lock(&vram->lock);
	vram->trap = NULL;
	mutex_unlock(&vram->lock);
	arch_phys_wc_del(vram->wc_cookie);
	if (vram->wc_reserved)
		arch_io_free_memtype_wc(vram->base, vram->size);
}
