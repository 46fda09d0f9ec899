// SPDX-License-Identifier: GPL-2.0
/*
 * XPU_COPY: the copy engine between buffers, DMA-bufs of other exporters and
 * memory of the caller. Foreign buffers are imported for the time of the copy.
 */
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "xpu_drv.h"

/* Memory of the caller is pinned in pieces of this size. */
#define XPU_USER_PIECE	SZ_16M

/**
 * struct xpu_side - source or destination of a copy
 * @write: destination
 * @dmabuf: referenced; NULL for memory of the caller
 * @buf: @dmabuf's buffer if it is of this device
 * @attach: @dmabuf is foreign: the device attached to it
 * @sgt: mapping of @attach
 * @pages: memory of the caller, pinned
 * @npages: how many
 * @cursor: where the engine is
 */
struct xpu_side {
	bool write;
	struct dma_buf *dmabuf;
	struct xpu_buf *buf;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
	struct page **pages;
	int npages;
	struct xpu_cursor cursor;
};

static enum dma_data_direction xpu_side_dir(const struct xpu_side *side)
{
	return side->write ? DMA_FROM_DEVICE : DMA_TO_DEVICE;
}

/*
 * Mappings live only while the reservation lock is held, so there is none that a
 * move could concern.
 */
static void xpu_import_invalidate(struct dma_buf_attachment *attach)
{
}

static const struct dma_buf_attach_ops xpu_import_ops = {
	.allow_peer2peer = true,
	.invalidate_mappings = xpu_import_invalidate,
};

static const struct dma_buf_attach_ops xpu_import_ops_no_p2p = {
	.allow_peer2peer = false,
	.invalidate_mappings = xpu_import_invalidate,
};

static int xpu_side_check(struct xpu_side *side, u64 offset, u64 length)
{
	size_t size = side->dmabuf->size;

	if (offset > size || length > size - offset)
		return -EINVAL;
	if (side->write && !(side->dmabuf->file->f_mode & FMODE_WRITE))
		return -EACCES;
	return 0;
}

static int xpu_side_open(struct xpu_device *xdev, struct xpu_side *side, bool user, bool no_p2p,
			 int fd, u64 offset, u64 length)
{
	struct dma_buf_attachment *attach;
	struct dma_buf *dmabuf;
	int ret;

	if (user)
		return fd ? -EINVAL : 0;
	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	side->dmabuf = dmabuf;
	ret = xpu_side_check(side, offset, length);
	if (ret)
		return ret;
	side->buf = xpu_buf_of(xdev, dmabuf);
	if (side->buf)
		return 0;

	attach = dma_buf_dynamic_attach(dmabuf, &xdev->pdev->dev,
					no_p2p ? &xpu_import_ops_no_p2p : &xpu_import_ops, NULL);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	side->attach = attach;
	return 0;
}

static void xpu_side_close(struct xpu_side *side)
{
	if (side->attach)
		dma_buf_detach(side->dmabuf, side->attach);
	if (side->dmabuf)
		dma_buf_put(side->dmabuf);
}

/* Before the reservation locks: page faults take mmap_lock, which is outside them. */
static int xpu_side_pin(struct xpu_side *side, u64 addr, u64 len)
{
	unsigned int count = PFN_UP(offset_in_page(addr) + len);

	if (side->dmabuf)
		return 0;
	side->pages = kvcalloc(count, sizeof(*side->pages), GFP_KERNEL);
	if (!side->pages)
		return -ENOMEM;
	side->npages = pin_user_pages_fast(addr & PAGE_MASK, count,
					   side->write ? FOLL_WRITE : 0, side->pages);
	return side->npages == count ? 0 : -EFAULT;
}

static void xpu_side_unpin(struct xpu_side *side)
{
	if (side->npages > 0)
		unpin_user_pages_dirty_lock(side->pages, side->npages, side->write);
	kvfree(side->pages);
	side->pages = NULL;
	side->npages = 0;
}

static int xpu_side_wait(struct xpu_side *side)
{
	long left = dma_resv_wait_timeout(side->dmabuf->resv, dma_resv_usage_rw(side->write), true,
					  XPU_IMPORTER_TIMEOUT);

	if (left < 0)
		return left;
	return left ? 0 : -ETIMEDOUT;
}

static int xpu_side_map(struct xpu_device *xdev, struct xpu_side *side, u64 offset, u64 len)
{
	enum dma_data_direction dir = xpu_side_dir(side);
	struct sg_table *sgt;
	int ret;

	if (!side->dmabuf)
		return xpu_cursor_pages(&side->cursor, xdev, side->pages, offset_in_page(offset),
					len, dir);
	ret = xpu_side_wait(side);
	if (ret)
		return ret;
	if (side->buf) {
		if (!side->buf->store)
			return -ENODEV;
		return xpu_cursor_store(&side->cursor, side->buf->store, offset, len, dir);
	}
	sgt = dma_buf_map_attachment(side->attach, dir);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	side->sgt = sgt;
	xpu_cursor_table(&side->cursor, sgt, offset);
	return 0;
}

static void xpu_side_unmap(struct xpu_device *xdev, struct xpu_side *side)
{
	xpu_cursor_release(&side->cursor, xdev);
	memset(&side->cursor, 0, sizeof(side->cursor));
	if (side->sgt)
		dma_buf_unmap_attachment(side->attach, side->sgt, xpu_side_dir(side));
	side->sgt = NULL;
}

static int xpu_lock_sides(struct ww_acquire_ctx *ctx, struct dma_buf *a, struct dma_buf *b)
{
	struct dma_resv *first = a ? a->resv : b->resv;
	struct dma_resv *second = a && b && a->resv != b->resv ? b->resv : NULL;
	int ret;

	ww_acquire_init(ctx, &reservation_ww_class);
	ret = dma_resv_lock_interruptible(first, ctx);
	while (!ret && second) {
		ret = dma_resv_lock_interruptible(second, ctx);
		if (!ret)
			break;
		dma_resv_unlock(first);
		if (ret != -EDEADLK)
			break;
		swap(first, second);
		ret = dma_resv_lock_slow_interruptible(first, ctx);
	}
	if (ret)
		ww_acquire_fini(ctx);
	else
		ww_acquire_done(ctx);
	return ret;
}

static void xpu_unlock_sides(struct ww_acquire_ctx *ctx, struct dma_buf *a, struct dma_buf *b)
{
	if (a)
		dma_resv_unlock(a->resv);
	if (b && !(a && a->resv == b->resv))
		dma_resv_unlock(b->resv);
	ww_acquire_fini(ctx);
}

static int xpu_copy_locked(struct xpu_device *xdev, struct xpu_side *dst, struct xpu_side *src,
			   u64 dst_at, u64 src_at, u64 len)
{
	int ret;

	ret = xpu_side_map(xdev, dst, dst_at, len);
	if (!ret)
		ret = xpu_side_map(xdev, src, src_at, len);
	if (!ret)
		ret = xpu_cursor_copy(xdev, &dst->cursor, &src->cursor, len);
	xpu_side_unmap(xdev, src);
	xpu_side_unmap(xdev, dst);
	return ret;
}

static int xpu_copy_piece(struct xpu_device *xdev, struct xpu_side *dst, struct xpu_side *src,
			  u64 dst_at, u64 src_at, u64 len)
{
	struct ww_acquire_ctx ctx;
	int ret;

	ret = xpu_side_pin(dst, dst_at, len);
	if (!ret)
		ret = xpu_side_pin(src, src_at, len);
	if (ret)
		goto out;
	ret = xpu_lock_sides(&ctx, dst->dmabuf, src->dmabuf);
	if (ret)
		goto out;
	ret = xpu_copy_locked(xdev, dst, src, dst_at, src_at, len);
	xpu_unlock_sides(&ctx, dst->dmabuf, src->dmabuf);
out:
	xpu_side_unpin(src);
	xpu_side_unpin(dst);
	return ret;
}

static bool xpu_copy_overlaps(const struct xpu_copy *copy)
{
	return copy->src_offset < copy->dst_offset + copy->length &&
	       copy->dst_offset < copy->src_offset + copy->length;
}

/**
 * xpu_copy() - XPU_COPY
 * @xdev: device; the caller holds unplug_lock
 * @copy: argument
 *
 * Return: 0 or a negative errno; after an error some of the bytes may have moved.
 */
int xpu_copy(struct xpu_device *xdev, const struct xpu_copy *copy)
{
	bool src_user = copy->flags & XPU_COPY_SRC_USER;
	bool dst_user = copy->flags & XPU_COPY_DST_USER;
	bool no_p2p = copy->flags & XPU_COPY_NO_P2P;
	struct xpu_side src = {}, dst = { .write = true };
	u64 done, n;
	int ret;

	if ((copy->flags & ~(XPU_COPY_SRC_USER | XPU_COPY_DST_USER | XPU_COPY_NO_P2P)) ||
	    !copy->length || (src_user && dst_user))
		return -EINVAL;
	ret = xpu_side_open(xdev, &dst, dst_user, no_p2p, copy->dst_fd, copy->dst_offset,
			    copy->length);
	if (!ret)
		ret = xpu_side_open(xdev, &src, src_user, no_p2p, copy->src_fd, copy->src_offset,
				    copy->length);
	if (!ret && src.dmabuf == dst.dmabuf && xpu_copy_overlaps(copy))
		ret = -EINVAL;

	for (done = 0; !ret && done < copy->length; done += n) {
		n = copy->length - done;
		if (src_user || dst_user)
			n = min_t(u64, n, XPU_USER_PIECE);
		ret = xpu_copy_piece(xdev, &dst, &src, copy->dst_offset + done,
				     copy->src_offset + done, n);
	}
	xpu_side_close(&src);
	xpu_side_close(&dst);
	return ret;
}
