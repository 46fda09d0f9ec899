// SPDX-License-Identifier: GPL-2.0
/*
 * Walks memory in the pieces that one command of the copy engine can take: ranges
 * of VRAM, or segments of a table that is mapped for the device.
 */
#include <linux/dma-mapping.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>

#include "xpu_drv.h"

/**
 * xpu_map_pages() - give a device the addresses of system memory
 * @dev: device
 * @sgt: the mapped table; ends with dma_unmap_sgtable() and sg_free_table()
 * @pages: memory
 * @offset: of the first byte, in the first page
 * @len: bytes
 * @dir: of the transfer
 * @attrs: DMA_ATTR_*
 *
 * Return: 0 or a negative errno.
 */
int xpu_map_pages(struct device *dev, struct sg_table *sgt, struct page **pages,
		  unsigned int offset, u64 len, enum dma_data_direction dir, unsigned long attrs)
{
	int ret;

	ret = sg_alloc_table_from_pages_segment(sgt, pages, PFN_UP(offset + len), offset, len,
						dma_get_max_seg_size(dev), GFP_KERNEL);
	if (ret)
		return ret;
	ret = dma_map_sgtable(dev, sgt, dir, attrs);
	if (ret)
		sg_free_table(sgt);
	return ret;
}

/**
 * xpu_cursor_table() - start in a table that someone else has mapped for the device
 * @cursor: cursor
 * @sgt: table
 * @offset: bytes to skip
 */
void xpu_cursor_table(struct xpu_cursor *cursor, struct sg_table *sgt, u64 offset)
{
	cursor->sg = sgt->sgl;
	cursor->sg_left = sgt->nents;
	while (cursor->sg_left && offset >= sg_dma_len(cursor->sg)) {
		offset -= sg_dma_len(cursor->sg);
		cursor->sg = sg_next(cursor->sg);
		cursor->sg_left--;
	}
	cursor->sg_at = offset;
}

int xpu_cursor_pages(struct xpu_cursor *cursor, struct xpu_device *xdev, struct page **pages,
		     unsigned int offset, u64 len, enum dma_data_direction dir)
{
	int ret;

	ret = xpu_map_pages(&xdev->pdev->dev, &cursor->own, pages, offset, len, dir, 0);
	if (ret)
		return ret;
	cursor->dir = dir;
	xpu_cursor_table(cursor, &cursor->own, 0);
	return 0;
}

int xpu_cursor_store(struct xpu_cursor *cursor, struct xpu_store *store, u64 offset, u64 len,
		     enum dma_data_direction dir)
{
	if (store->placement == XPU_PLACE_VRAM) {
		cursor->store = store;
		cursor->at = offset;
		return 0;
	}
	return xpu_cursor_pages(cursor, store->xdev, store->pages + (offset >> PAGE_SHIFT),
				offset_in_page(offset), len, dir);
}

void xpu_cursor_release(struct xpu_cursor *cursor, struct xpu_device *xdev)
{
	if (cursor->own.sgl) {
		dma_unmap_sgtable(&xdev->pdev->dev, &cursor->own, cursor->dir, 0);
		sg_free_table(&cursor->own);
	}
}

static u64 xpu_cursor_piece(struct xpu_cursor *cursor, u64 *addr)
{
	u64 len;

	if (cursor->store) {
		*addr = xpu_store_vram_at(cursor->store, cursor->at, &len);
		return len;
	}
	if (!cursor->sg_left)
		return 0;
	*addr = sg_dma_address(cursor->sg) + cursor->sg_at;
	return sg_dma_len(cursor->sg) - cursor->sg_at;
}

static void xpu_cursor_advance(struct xpu_cursor *cursor, u64 len)
{
	if (cursor->store) {
		cursor->at += len;
		return;
	}
	cursor->sg_at += len;
	if (cursor->sg_at == sg_dma_len(cursor->sg)) {
		cursor->sg = sg_next(cursor->sg);
		cursor->sg_left--;
		cursor->sg_at = 0;
	}
}

/**
 * xpu_cursor_copy() - move bytes from one cursor to another, and both onward
 * @xdev: device
 * @dst: destination
 * @src: source
 * @len: bytes
 *
 * Return: 0 or a negative errno.
 */
int xpu_cursor_copy(struct xpu_device *xdev, struct xpu_cursor *dst, struct xpu_cursor *src,
		    u64 len)
{
	u32 ctrl = (dst->store ? 0 : XPU_CE_CTRL_DST_BUS) | (src->store ? 0 : XPU_CE_CTRL_SRC_BUS);
	int ret = 0;

	while (len && !ret) {
		u64 to, from;
		u64 n = min3(len, xpu_cursor_piece(dst, &to), xpu_cursor_piece(src, &from));

		if (!n)
			return -EINVAL;	/* a foreign table is shorter than its buffer */
		ret = xpu_engine_copy(xdev, to, from, n, ctrl);
		xpu_cursor_advance(dst, n);
		xpu_cursor_advance(src, n);
		len -= n;
		if (!ret && len && fatal_signal_pending(current))
			ret = -EINTR;
	}
	return ret;
}
