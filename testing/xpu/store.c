// SPDX-License-Identifier: GPL-2.0
/*
 * The bytes of a buffer: a range of VRAM, or pages of system memory.
 */
#include <linux/gfp.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "xpu_drv.h"

static struct xpu_store *xpu_store_new(struct xpu_device *xdev, u64 size, u32 placement)
{
	struct xpu_store *store = kzalloc(sizeof(*store), GFP_KERNEL);

	if (!store)
		return ERR_PTR(-ENOMEM);
	kref_init(&store->ref);
	store->xdev = xdev;
	store->size = size;
	store->placement = placement;
	return store;
}

/**
 * xpu_store_vram() - allocate VRAM, which holds what it held before
 * @xdev: device
 * @size: bytes, a multiple of the page size
 * @chunk: bytes of a chunk, a divisor of @size
 *
 * The chunks of a scattered store lie in descending order: neighbours in the
 * buffer are then never neighbours on the bus.
 *
 * Return: the store, or an ERR_PTR: -ENOSPC or -ENOMEM.
 */
struct xpu_store *xpu_store_vram(struct xpu_device *xdev, u64 size, u64 chunk)
{
	struct xpu_store *store = xpu_store_new(xdev, size, XPU_PLACE_VRAM);
	struct xpu_vram_node *node;

	if (IS_ERR(store))
		return store;
	node = xpu_vram_alloc(&xdev->vram, size);
	if (IS_ERR(node)) {
		kfree(store);
		return ERR_CAST(node);
	}
	store->node = node;
	store->chunk = chunk;
	return store;
}

static void xpu_free_pages(struct page **pages, unsigned long count)
{
	while (count--)
		__free_page(pages[count]);
	kvfree(pages);
}

/* Large pieces first: they make short tables, for importers and the copy engine alike. */
static struct page *xpu_alloc_pages(unsigned long max, unsigned int *order)
{
	static const unsigned int orders[] = { 9, 4, 0 };
	gfp_t gfp = GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN;
	struct page *page;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(orders); i++) {
		*order = orders[i];
		if (max < 1UL << *order)
			continue;
		page = alloc_pages(*order ? gfp | __GFP_NORETRY : gfp | __GFP_RETRY_MAYFAIL,
				   *order);
		if (page) {
			split_page(page, *order);
			return page;
		}
	}
	return NULL;
}

/**
 * xpu_store_system() - allocate zeroed system memory
 * @xdev: device
 * @size: bytes, a multiple of the page size
 *
 * Return: the store, or ERR_PTR(-ENOMEM).
 */
struct xpu_store *xpu_store_system(struct xpu_device *xdev, u64 size)
{
	unsigned long count = size >> PAGE_SHIFT, done = 0;
	struct xpu_store *store;
	unsigned int order, i;
	struct page **pages;
	struct page *page;

	pages = kvcalloc(count, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return ERR_PTR(-ENOMEM);
	while (done < count) {
		page = xpu_alloc_pages(count - done, &order);
		if (!page)
			goto err_pages;
		for (i = 0; i < 1U << order; i++)
			pages[done++] = page + i;
	}

	store = xpu_store_new(xdev, size, XPU_PLACE_SYSTEM);
	if (IS_ERR(store))
		goto err_pages;
	store->pages = pages;
	return store;

err_pages:
	xpu_free_pages(pages, done);
	return ERR_PTR(-ENOMEM);
}

static void xpu_store_release(struct kref *ref)
{
	struct xpu_store *store = container_of(ref, struct xpu_store, ref);

	if (store->node)
		xpu_vram_free(&store->xdev->vram, store->node);
	if (store->pages)
		xpu_free_pages(store->pages, store->size >> PAGE_SHIFT);
	kfree(store);
}

void xpu_store_get(struct xpu_store *store)
{
	kref_get(&store->ref);
}

void xpu_store_put(struct xpu_store *store)
{
	kref_put(&store->ref, xpu_store_release);
}

/**
 * xpu_store_vram_at() - where a byte of the buffer lies in VRAM
 * @store: VRAM
 * @offset: in the buffer
 * @len: set to the bytes from there to the end of the chunk
 *
 * Return: offset in VRAM.
 */
u64 xpu_store_vram_at(const struct xpu_store *store, u64 offset, u64 *len)
{
	u64 in_chunk, index = div64_u64_rem(offset, store->chunk, &in_chunk);
	u64 last = div64_u64(store->size, store->chunk) - 1;

	*len = store->chunk - in_chunk;
	return store->node->start + (last - index) * store->chunk + in_chunk;
}

unsigned long xpu_store_pfn(const struct xpu_store *store, u64 offset)
{
	u64 len;

	if (store->placement == XPU_PLACE_SYSTEM)
		return page_to_pfn(store->pages[offset >> PAGE_SHIFT]);
	return PHYS_PFN(store->xdev->vram.base + xpu_store_vram_at(store, offset, &len));
}

int xpu_store_clear(struct xpu_store *store)
{
	return xpu_engine_copy(store->xdev, store->node->start, 0, store->size, XPU_CE_CTRL_CLEAR);
}

int xpu_store_copy(struct xpu_store *dst, struct xpu_store *src)
{
	struct xpu_cursor to = {}, from = {};
	int ret;

	ret = xpu_cursor_store(&to, dst, 0, dst->size, DMA_FROM_DEVICE);
	if (ret)
		return ret;
	ret = xpu_cursor_store(&from, src, 0, src->size, DMA_TO_DEVICE);
	if (!ret)
		ret = xpu_cursor_copy(dst->xdev, &to, &from, src->size);
	xpu_cursor_release(&from, src->xdev);
	xpu_cursor_release(&to, dst->xdev);
	return ret;
}
