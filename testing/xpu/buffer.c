// SPDX-License-Identifier: GPL-2.0
/*
 * Buffers: made, moved between VRAM and system memory, revoked.
 */
#include <linux/slab.h>

#include "xpu_drv.h"

/**
 * xpu_buf_create() - make a buffer of zeroed VRAM
 * @xdev: device; the caller holds unplug_lock
 * @flags: XPU_ALLOC_*
 * @size: bytes, a multiple of the page size
 * @chunk: bytes of a chunk, a divisor of @size
 *
 * Return: the buffer, owned by its DMA-buf, or an ERR_PTR.
 */
struct xpu_buf *xpu_buf_create(struct xpu_device *xdev, u32 flags, u64 size, u64 chunk)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	struct xpu_buf *buf;
	int ret;

	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->xdev = xdev;
	buf->flags = flags;
	buf->chunk = chunk;
	INIT_LIST_HEAD(&buf->mappings);

	buf->store = xpu_store_vram(xdev, size, chunk);
	if (IS_ERR(buf->store)) {
		ret = PTR_ERR(buf->store);
		goto err_free;
	}
	ret = xpu_store_clear(buf->store);
	if (ret)
		goto err_store;

	info.ops = buf->flags & XPU_ALLOC_SCATTERED ? &xpu_dmabuf_scattered_ops : &xpu_dmabuf_ops;
	info.size = size;
	info.flags = O_RDWR | O_CLOEXEC;
	info.priv = buf;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		ret = PTR_ERR(dmabuf);
		goto err_store;
	}
	buf->dmabuf = dmabuf;
	get_device(&xdev->dev);
	mutex_lock(&xdev->bufs_lock);
	list_add_tail(&buf->link, &xdev->bufs);
	mutex_unlock(&xdev->bufs_lock);
	return buf;

err_store:
	xpu_store_put(buf->store);
err_free:
	kfree(buf);
	return ERR_PTR(ret);
}

/* The last reference to the DMA-buf is gone, so no importer and no mapping is left. */
void xpu_buf_free(struct xpu_buf *buf)
{
	struct xpu_device *xdev = buf->xdev;

	mutex_lock(&xdev->bufs_lock);
	list_del(&buf->link);
	mutex_unlock(&xdev->bufs_lock);
	if (buf->store)
		xpu_store_put(buf->store);
	kfree(buf);
	put_device(&xdev->dev);
}

/**
 * xpu_buf_of() - the buffer behind a DMA-buf
 * @xdev: device
 * @dmabuf: any DMA-buf
 *
 * Return: NULL if it is no buffer of this device.
 */
struct xpu_buf *xpu_buf_of(struct xpu_device *xdev, struct dma_buf *dmabuf)
{
	struct xpu_buf *buf;

	if (dmabuf->ops != &xpu_dmabuf_ops && dmabuf->ops != &xpu_dmabuf_scattered_ops)
		return NULL;
	buf = dmabuf->priv;
	return buf->xdev == xdev ? buf : NULL;
}

/* Importers are told first, then given time to finish with what they had. */
static int xpu_buf_quiesce(struct xpu_buf *buf)
{
	long left;

	dma_resv_assert_held(buf->dmabuf->resv);
	dma_buf_invalidate_mappings(buf->dmabuf);
	left = dma_resv_wait_timeout(buf->dmabuf->resv, DMA_RESV_USAGE_BOOKKEEP, false,
				     XPU_IMPORTER_TIMEOUT);
	if (left < 0)
		return left;
	return left ? 0 : -ETIMEDOUT;
}

/**
 * xpu_buf_move() - move a buffer to where it is wanted
 * @buf: buffer; the caller holds its reservation lock
 * @placement: XPU_PLACE_VRAM or XPU_PLACE_SYSTEM
 *
 * Return: 0 if it is there; on failure it is where it was.
 */
int xpu_buf_move(struct xpu_buf *buf, u32 placement)
{
	struct xpu_store *old = buf->store, *new;
	int ret;

	dma_resv_assert_held(buf->dmabuf->resv);
	if (!old)
		return -ENODEV;
	if (old->placement == placement)
		return 0;
	if (buf->pins)
		return -EBUSY;

	if (placement == XPU_PLACE_VRAM)
		new = xpu_store_vram(buf->xdev, old->size, buf->chunk);
	else
		new = xpu_store_system(buf->xdev, old->size);
	if (IS_ERR(new))
		return PTR_ERR(new);

	ret = xpu_buf_quiesce(buf);
	if (ret)
		goto err_new;
	xpu_buf_zap(buf);
	ret = xpu_store_copy(new, old);
	if (ret)
		goto err_new;
	buf->store = new;
	buf->moves++;
	xpu_store_put(old);
	return 0;

err_new:
	xpu_store_put(new);
	return ret;
}

/**
 * xpu_buf_revoke() - take the bytes of a buffer away for good
 * @buf: buffer; the caller holds its reservation lock
 *
 * Mappings that an importer still holds keep the memory from being used anew.
 */
void xpu_buf_revoke(struct xpu_buf *buf)
{
	struct xpu_store *store = buf->store;

	dma_resv_assert_held(buf->dmabuf->resv);
	if (!store)
		return;
	WRITE_ONCE(buf->store, NULL);	/* then exec.lock: a launch sees it, or is seen */
	xpu_exec_withdraw(buf->xdev, buf);
	if (xpu_buf_quiesce(buf))
		dev_warn_ratelimited(&buf->xdev->pdev->dev,
				     "importer still uses a revoked buffer of %zu bytes\n",
				     buf->dmabuf->size);
	xpu_buf_zap(buf);
	xpu_store_put(store);
}

static int xpu_buf_pin(struct xpu_buf *buf, u64 *start)
{
	int ret;

	dma_resv_assert_held(buf->dmabuf->resv);
	ret = xpu_buf_move(buf, XPU_PLACE_VRAM);
	if (ret)
		return ret;
	if (buf->store->chunk != buf->store->size)
		return -EINVAL;
	buf->pins++;
	*start = buf->store->node->start;
	return 0;
}

/**
 * xpu_buf_hold() - keep a buffer in VRAM, for the execution engine
 * @xdev: device
 * @fd: descriptor of a buffer that is not scattered
 * @start: set to where in VRAM it begins
 *
 * It may be revoked all the same: whoever gives @start to the engine checks @store under
 * exec.lock, and is told by xpu_exec_withdraw() later.
 *
 * Return: the buffer, referenced, for xpu_buf_drop(), or an ERR_PTR.
 */
struct xpu_buf *xpu_buf_hold(struct xpu_device *xdev, int fd, u64 *start)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct xpu_buf *buf;
	int ret = -EINVAL;

	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	buf = xpu_buf_of(xdev, dmabuf);
	if (buf)
		ret = dma_resv_lock_interruptible(dmabuf->resv, NULL);
	if (!ret) {
		ret = xpu_buf_pin(buf, start);
		dma_resv_unlock(dmabuf->resv);
	}
	if (ret) {
		dma_buf_put(dmabuf);
		return ERR_PTR(ret);
	}
	return buf;
}

void xpu_buf_drop(struct xpu_buf *buf)
{
	struct dma_buf *dmabuf = buf->dmabuf;

	dma_resv_lock(dmabuf->resv, NULL);
	buf->pins--;
	dma_resv_unlock(dmabuf->resv);
	dma_buf_put(dmabuf);
}

void xpu_buf_query(struct xpu_buf *buf, struct xpu_query_buf *query)
{
	dma_resv_assert_held(buf->dmabuf->resv);
	query->placement = buf->store ? buf->store->placement : XPU_PLACE_REVOKED;
	query->length = buf->dmabuf->size;
	query->attachments = list_count_nodes(&buf->dmabuf->attachments);
	query->mappings = list_count_nodes(&buf->mappings);
	query->pins = buf->pins;
	query->moves = buf->moves;
}

/**
 * xpu_revoke_all() - revoke buffers
 * @xdev: device
 * @vram_only: leave those in system memory alone
 */
void xpu_revoke_all(struct xpu_device *xdev, bool vram_only)
{
	struct xpu_buf *buf;
	struct file *file;

	mutex_lock(&xdev->bufs_lock);
	list_for_each_entry(buf, &xdev->bufs, link) {
		/* One that is being released waits for bufs_lock. */
		file = get_file_active(&buf->dmabuf->file);
		if (!file)
			continue;
		dma_resv_lock(buf->dmabuf->resv, NULL);
		if (buf->store && (!vram_only || buf->store->placement == XPU_PLACE_VRAM))
			xpu_buf_revoke(buf);
		dma_resv_unlock(buf->dmabuf->resv);
		fput(file);
	}
	mutex_unlock(&xdev->bufs_lock);
}
