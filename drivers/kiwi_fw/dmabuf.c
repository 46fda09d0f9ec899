// SPDX-License-Identifier: GPL-2.0
/*
 * DMA-bufs: attached as a dynamic importer that can do peer-to-peer, so that GPU memory is
 * reached in place. Where kernel, exporter and user can do it the memory may move: its user is
 * told to hold still, it is unmapped, and mapped anew by a worker when the exporter is done.
 * Elsewhere it is pinned; an exporter that tells of a move all the same is taking the
 * memory away for good.
 *
 * Only DMA addresses are used: there may be no struct page behind them.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "core.h"
#include "mem.h"

/* What is moved may stay out of reach for so long; the time between tries doubles. */
#define KIWI_FW_REMAP_WITHIN	(5 * HZ)
#define KIWI_FW_REMAP_DELAY_MS	10
/* The worker waits for the content below the reservation lock, so others wait for the worker. */
#define KIWI_FW_REMAP_FENCES	HZ

/**
 * struct kiwi_fw_dmabuf - an attached buffer; the reservation lock protects what changes
 * @mem: what the caller sees
 * @fw: device
 * @attach: attachment
 * @sgt: mapping, NULL when there is none
 * @offset: of the memory in the buffer
 * @vmap: the CPU's view of the buffer, if there is one
 * @ops: callbacks
 * @arg: for them
 * @remap: maps anew after a move
 * @until: the last try to map anew, in jiffies
 * @tries: that failed since the last move
 * @writable: the device may write
 * @mapping: what is told of a move is our own pin's or mapping's doing
 * @gone: the exporter says that the memory does not come back
 * @ended: revoked, or about to be released: it is not mapped any more
 */
struct kiwi_fw_dmabuf {
	struct kiwi_fw_mem mem;
	struct kiwi_fw *fw;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
	u64 offset;
	struct iosys_map vmap;
	const struct kiwi_fw_dmabuf_ops *ops;
	void *arg;
	struct delayed_work remap;
	unsigned long until;
	unsigned int tries;
	bool writable;
	bool mapping;
	bool gone;
	bool ended;
};

static enum dma_data_direction kiwi_fw_dmabuf_dir(const struct kiwi_fw_dmabuf *buf)
{
	return buf->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

/* What the exporter says is its own; callers learn that it was the exporter. */
static int kiwi_fw_exporter_error(int error)
{
	switch (error) {
	case -EINTR:
	case -ERESTARTSYS:
		return -EINTR;
	case -EBUSY:		/* out of the device's reach, and cannot move */
	case -EOPNOTSUPP:
		return -EOPNOTSUPP;
	default:
		return -EREMOTEIO;
	}
}

static void kiwi_fw_dmabuf_unpin(struct kiwi_fw_dmabuf *buf)
{
	if (!buf->mem.dynamic)
		dma_buf_unpin(buf->attach);
}

static void kiwi_fw_dmabuf_unmap(struct kiwi_fw_dmabuf *buf)
{
	dma_resv_assert_held(buf->attach->dmabuf->resv);
	if (!buf->sgt)
		return;
	dma_buf_unmap_attachment(buf->attach, buf->sgt, kiwi_fw_dmabuf_dir(buf));
	kiwi_fw_dmabuf_unpin(buf);
	buf->sgt = NULL;
}

/* Mapping ------------------------------------------------------------------- */

/*
 * The addresses are known when the buffer is mapped, the content is there when it has arrived.
 * The worker, which no signal reaches, does not wait for ever.
 */
static int kiwi_fw_dmabuf_wait(struct kiwi_fw_dmabuf *buf, bool worker)
{
	long left = MAX_SCHEDULE_TIMEOUT;

	if (worker)
		left = clamp_t(long, buf->until - jiffies, 1, KIWI_FW_REMAP_FENCES);
	left = dma_resv_wait_timeout(buf->attach->dmabuf->resv, DMA_RESV_USAGE_KERNEL, !worker,
				     left);
	if (left < 0)
		return left;
	return left ? 0 : -ETIMEDOUT;
}

static int kiwi_fw_dmabuf_attach_sgt(struct kiwi_fw_dmabuf *buf)
{
	struct sg_table *sgt;
	int ret;

	if (!buf->mem.dynamic) {
		ret = dma_buf_pin(buf->attach);
		if (ret)
			return ret;
	}
	sgt = dma_buf_map_attachment(buf->attach, kiwi_fw_dmabuf_dir(buf));
	if (IS_ERR(sgt)) {
		kiwi_fw_dmabuf_unpin(buf);
		return PTR_ERR(sgt);
	}
	buf->sgt = sgt;
	return 0;
}

static int kiwi_fw_dmabuf_locate(struct kiwi_fw_dmabuf *buf)
{
	struct kiwi_fw_mem *mem = &buf->mem;
	int ret;

	kiwi_fw_mem_free_runs(mem);
	ret = kiwi_fw_mem_set_runs(buf->fw, mem, buf->sgt, buf->offset, mem->length);
	if (ret)
		return ret == -ERANGE ? -EREMOTEIO : ret;
	kiwi_fw_path_find(buf->fw, mem->runs, mem->nr_runs, &mem->path);
	return 0;
}

static int kiwi_fw_dmabuf_map(struct kiwi_fw_dmabuf *buf, bool worker)
{
	int ret;

	dma_resv_assert_held(buf->attach->dmabuf->resv);
	buf->mapping = true;
	ret = kiwi_fw_dmabuf_attach_sgt(buf);
	buf->mapping = false;
	buf->gone = ret == -ENODEV;
	if (ret)
		return kiwi_fw_exporter_error(ret);
	ret = kiwi_fw_dmabuf_wait(buf, worker);
	ret = ret ? kiwi_fw_exporter_error(ret) : kiwi_fw_dmabuf_locate(buf);
	if (ret)
		kiwi_fw_dmabuf_unmap(buf);
	return ret;
}

/* Moving ---------------------------------------------------------------------- */

static void kiwi_fw_dmabuf_revoke(struct kiwi_fw_dmabuf *buf)
{
	buf->ended = true;
	buf->ops->revoked(buf->arg);
	kiwi_fw_dmabuf_unmap(buf);
}

static void kiwi_fw_dmabuf_invalidate(struct dma_buf_attachment *attach)
{
	struct kiwi_fw_dmabuf *buf = attach->importer_priv;

	if (buf->ended || buf->mapping)
		return;
	if (!buf->mem.dynamic) {
		/* It may move until it is pinned. */
		if (buf->sgt)
			kiwi_fw_dmabuf_revoke(buf);
		return;
	}
	if (buf->sgt) {
		buf->ops->hold(buf->arg);
		kiwi_fw_dmabuf_unmap(buf);
	}
	/* The worker may be there before dma_buf_dynamic_attach() returns. */
	buf->attach = attach;
	/* Where it could not be mapped before, it is somewhere else now. */
	buf->tries = 0;
	buf->until = jiffies + KIWI_FW_REMAP_WITHIN;
	mod_delayed_work(buf->fw->wq, &buf->remap, 0);
}

static const struct dma_buf_attach_ops kiwi_fw_dmabuf_attach_ops = {
	.allow_peer2peer = true,
	.invalidate_mappings = kiwi_fw_dmabuf_invalidate,
};

static int kiwi_fw_dmabuf_vmap(struct kiwi_fw_mem *mem, struct iosys_map *map)
{
	struct kiwi_fw_dmabuf *buf = container_of(mem, struct kiwi_fw_dmabuf, mem);
	int ret;

	ret = dma_buf_vmap_unlocked(buf->attach->dmabuf, &buf->vmap);
	if (ret) {
		iosys_map_clear(&buf->vmap);
		return ret == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	}
	*map = buf->vmap;
	iosys_map_incr(map, buf->offset);
	return 0;
}

static int kiwi_fw_dmabuf_bring_back(struct kiwi_fw_dmabuf *buf)
{
	int ret;

	ret = kiwi_fw_dmabuf_map(buf, true);
	if (ret)
		return ret;
	ret = buf->ops->resume(buf->arg);
	if (ret)
		kiwi_fw_dmabuf_unmap(buf);
	return ret;
}

static void kiwi_fw_dmabuf_remap(struct work_struct *work)
{
	struct kiwi_fw_dmabuf *buf = container_of(to_delayed_work(work), struct kiwi_fw_dmabuf,
						  remap);
	struct dma_resv *resv = buf->attach->dmabuf->resv;
	long left;

	dma_resv_lock(resv, NULL);
	if (buf->ended || buf->sgt || !kiwi_fw_dmabuf_bring_back(buf)) {
		dma_resv_unlock(resv);
		return;
	}
	left = buf->until - jiffies;
	if (!buf->gone && left > 0)
		queue_delayed_work(buf->fw->wq, &buf->remap,
				   min_t(long, left, msecs_to_jiffies(KIWI_FW_REMAP_DELAY_MS <<
								      ++buf->tries)));
	else
		kiwi_fw_dmabuf_revoke(buf);
	dma_resv_unlock(resv);
}

static int kiwi_fw_dmabuf_lock(struct kiwi_fw_mem *mem)
{
	struct kiwi_fw_dmabuf *buf = container_of(mem, struct kiwi_fw_dmabuf, mem);
	struct dma_resv *resv = buf->attach->dmabuf->resv;
	int ret = 0;

	if (dma_resv_lock_interruptible(resv, NULL))
		return -EINTR;
	if (buf->ended)
		ret = -EREMOTEIO;
	else if (!buf->sgt)
		ret = kiwi_fw_dmabuf_map(buf, false);
	if (ret)
		dma_resv_unlock(resv);
	return ret;
}

static void kiwi_fw_dmabuf_unlock(struct kiwi_fw_mem *mem)
{
	struct kiwi_fw_dmabuf *buf = container_of(mem, struct kiwi_fw_dmabuf, mem);

	dma_resv_unlock(buf->attach->dmabuf->resv);
}

/* From first to last ------------------------------------------------------------ */

static void kiwi_fw_dmabuf_release(struct kiwi_fw_mem *mem)
{
	struct kiwi_fw_dmabuf *buf = container_of(mem, struct kiwi_fw_dmabuf, mem);
	struct dma_buf *dmabuf = buf->attach->dmabuf;

	if (iosys_map_is_set(&buf->vmap))
		dma_buf_vunmap_unlocked(dmabuf, &buf->vmap);
	dma_resv_lock(dmabuf->resv, NULL);
	buf->ended = true;
	kiwi_fw_dmabuf_unmap(buf);
	dma_resv_unlock(dmabuf->resv);
	cancel_delayed_work_sync(&buf->remap);
	dma_buf_detach(dmabuf, buf->attach);
	dma_buf_put(dmabuf);
	kiwi_fw_mem_free_runs(mem);
	kfree(buf);
}

static const struct kiwi_fw_mem_ops kiwi_fw_dmabuf_mem_ops = {
	.vmap = kiwi_fw_dmabuf_vmap,
	.lock = kiwi_fw_dmabuf_lock,
	.unlock = kiwi_fw_dmabuf_unlock,
	.release = kiwi_fw_dmabuf_release,
};

static struct kiwi_fw_mem *kiwi_fw_dmabuf_import(struct kiwi_fw_dmabuf *buf,
						 struct dma_buf *dmabuf)
{
	struct dma_buf_attachment *attach;
	int ret;

	attach = dma_buf_dynamic_attach(dmabuf, &buf->fw->pdev->dev, &kiwi_fw_dmabuf_attach_ops,
					buf);
	if (IS_ERR(attach)) {
		dma_buf_put(dmabuf);
		kfree(buf);
		return ERR_PTR(kiwi_fw_exporter_error(PTR_ERR(attach)));
	}
	buf->attach = attach;
	/* It may have moved, and the worker mapped it, already. */
	ret = kiwi_fw_dmabuf_lock(&buf->mem);
	if (ret) {
		kiwi_fw_mem_release(&buf->mem);
		return ERR_PTR(ret);
	}
	kiwi_fw_dmabuf_unlock(&buf->mem);
	return &buf->mem;
}

/**
 * kiwi_fw_mem_dmabuf() - have the device reach a part of a DMA-buf
 * @fw: device
 * @fd: file descriptor of the DMA-buf
 * @offset: first byte
 * @length: bytes
 * @writable: the device may write it
 * @ops: callbacks, see kiwi/fw.h
 * @arg: for them
 * @err: with -EINVAL: the end asked for and the size of the buffer
 *
 * Return: the memory or an ERR_PTR: -EBADF if @fd is no DMA-buf, -EINVAL if the part is empty or
 * not in the buffer, -EREMOTEIO if the exporter fails, -EOPNOTSUPP if it, or the device, cannot
 * do it, -ENOMEM, -EINTR.
 */
struct kiwi_fw_mem *kiwi_fw_mem_dmabuf(struct kiwi_fw *fw, int fd, u64 offset, u64 length,
				       bool writable, const struct kiwi_fw_dmabuf_ops *ops,
				       void *arg, struct kiwi_fw_err *err)
{
	struct kiwi_fw_dmabuf *buf;
	struct dma_buf *dmabuf;
	u64 end;

	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return ERR_PTR(-EBADF);
	if (!length || check_add_overflow(offset, length, &end) || end > dmabuf->size) {
		err->value = length && offset <= U64_MAX - length ? offset + length : length;
		err->limit = dmabuf->size;
		dma_buf_put(dmabuf);
		return ERR_PTR(-EINVAL);
	}

	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf) {
		dma_buf_put(dmabuf);
		return ERR_PTR(-ENOMEM);
	}
	buf->mem.ops = &kiwi_fw_dmabuf_mem_ops;
	buf->mem.length = length;
	buf->mem.dynamic = KIWI_DMABUF_MOVE_NOTIFY && ops->hold && dmabuf->ops->pin;
	buf->fw = fw;
	buf->offset = offset;
	buf->writable = writable;
	buf->ops = ops;
	buf->arg = arg;
	INIT_DELAYED_WORK(&buf->remap, kiwi_fw_dmabuf_remap);
	return kiwi_fw_dmabuf_import(buf, dmabuf);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_mem_dmabuf, "KIWI_FW");
