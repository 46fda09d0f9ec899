// SPDX-License-Identifier: GPL-2.0
/*
 * DMA-bufs: attached as a dynamic importer that can do peer-to-peer, so that GPU memory is
 * reached in place, and pinned. A pinned buffer cannot move; an exporter that tells of a move
 * all the same is taking the memory away for good.
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

/**
 * struct kiwi_fw_dmabuf - an attached buffer; the reservation lock protects what changes
 * @mem: what the caller sees
 * @attach: attachment
 * @sgt: mapping, NULL when there is none
 * @offset: of the memory in the buffer
 * @vmap: the CPU's view of the buffer, if there is one
 * @writable: the device may write
 * @revoked: callback
 * @arg: for it
 */
struct kiwi_fw_dmabuf {
	struct kiwi_fw_mem mem;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
	u64 offset;
	struct iosys_map vmap;
	bool writable;
	void (*revoked)(void *arg);
	void *arg;
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

static void kiwi_fw_dmabuf_unmap(struct kiwi_fw_dmabuf *buf)
{
	dma_resv_assert_held(buf->attach->dmabuf->resv);
	if (!buf->sgt)
		return;
	dma_buf_unmap_attachment(buf->attach, buf->sgt, kiwi_fw_dmabuf_dir(buf));
	dma_buf_unpin(buf->attach);
	buf->sgt = NULL;
}

/* Before the mapping is there this tells of a move that our own pin brought about. */
static void kiwi_fw_dmabuf_invalidate(struct dma_buf_attachment *attach)
{
	struct kiwi_fw_dmabuf *buf = attach->importer_priv;

	if (!buf->sgt)
		return;
	buf->revoked(buf->arg);
	kiwi_fw_dmabuf_unmap(buf);
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

static void kiwi_fw_dmabuf_release(struct kiwi_fw_mem *mem)
{
	struct kiwi_fw_dmabuf *buf = container_of(mem, struct kiwi_fw_dmabuf, mem);
	struct dma_buf *dmabuf = buf->attach->dmabuf;

	if (iosys_map_is_set(&buf->vmap))
		dma_buf_vunmap_unlocked(dmabuf, &buf->vmap);
	dma_resv_lock(dmabuf->resv, NULL);
	kiwi_fw_dmabuf_unmap(buf);
	dma_resv_unlock(dmabuf->resv);
	dma_buf_detach(dmabuf, buf->attach);
	dma_buf_put(dmabuf);
	kfree(buf);
}

static const struct kiwi_fw_mem_ops kiwi_fw_dmabuf_ops = {
	.vmap = kiwi_fw_dmabuf_vmap,
	.release = kiwi_fw_dmabuf_release,
};

/* The addresses are known when the buffer is mapped, the content is there when it has arrived. */
static int kiwi_fw_dmabuf_wait(struct kiwi_fw_dmabuf *buf)
{
	long left = dma_resv_wait_timeout(buf->attach->dmabuf->resv, DMA_RESV_USAGE_KERNEL, true,
					  MAX_SCHEDULE_TIMEOUT);

	return left < 0 ? left : 0;
}

static int kiwi_fw_dmabuf_map(struct kiwi_fw *fw, struct kiwi_fw_dmabuf *buf, u64 offset,
			      u64 length)
{
	struct sg_table *sgt;
	int ret;

	dma_resv_assert_held(buf->attach->dmabuf->resv);
	ret = dma_buf_pin(buf->attach);
	if (ret)
		return kiwi_fw_exporter_error(ret);
	sgt = dma_buf_map_attachment(buf->attach, kiwi_fw_dmabuf_dir(buf));
	if (IS_ERR(sgt)) {
		dma_buf_unpin(buf->attach);
		return kiwi_fw_exporter_error(PTR_ERR(sgt));
	}
	buf->sgt = sgt;
	ret = kiwi_fw_dmabuf_wait(buf);
	if (ret)
		return kiwi_fw_exporter_error(ret);
	ret = kiwi_fw_mem_set_runs(fw, &buf->mem, sgt, offset, length);
	if (ret)
		return ret == -ERANGE ? -EREMOTEIO : ret;
	kiwi_fw_path_find(fw, buf->mem.runs, buf->mem.nr_runs, &buf->mem.path);
	return 0;
}

static struct kiwi_fw_mem *kiwi_fw_dmabuf_import(struct kiwi_fw *fw, struct kiwi_fw_dmabuf *buf,
						 struct dma_buf *dmabuf, u64 offset, u64 length)
{
	struct dma_buf_attachment *attach;
	int ret;

	attach = dma_buf_dynamic_attach(dmabuf, &fw->pdev->dev, &kiwi_fw_dmabuf_attach_ops, buf);
	if (IS_ERR(attach)) {
		dma_buf_put(dmabuf);
		kfree(buf);
		return ERR_PTR(kiwi_fw_exporter_error(PTR_ERR(attach)));
	}
	buf->attach = attach;
	dma_resv_lock(dmabuf->resv, NULL);
	ret = kiwi_fw_dmabuf_map(fw, buf, offset, length);
	dma_resv_unlock(dmabuf->resv);
	if (ret) {
		kiwi_fw_mem_release(&buf->mem);
		return ERR_PTR(ret);
	}
	return &buf->mem;
}

/**
 * kiwi_fw_mem_dmabuf() - have the device reach a part of a DMA-buf
 * @fw: device
 * @fd: file descriptor of the DMA-buf
 * @offset: first byte
 * @length: bytes
 * @writable: the device may write it
 * @revoked: called if the exporter takes the memory away, see kiwi/fw.h
 * @arg: for it
 * @err: with -EINVAL: the end asked for and the size of the buffer
 *
 * Return: the memory or an ERR_PTR: -EBADF if @fd is no DMA-buf, -EINVAL if the part is empty or
 * not in the buffer, -EREMOTEIO if the exporter fails, -EOPNOTSUPP if it, or the device, cannot
 * do it, -ENOMEM, -EINTR.
 */
struct kiwi_fw_mem *kiwi_fw_mem_dmabuf(struct kiwi_fw *fw, int fd, u64 offset, u64 length,
				       bool writable, void (*revoked)(void *arg), void *arg,
				       struct kiwi_fw_err *err)
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
	buf->mem.ops = &kiwi_fw_dmabuf_ops;
	buf->offset = offset;
	buf->writable = writable;
	buf->revoked = revoked;
	buf->arg = arg;
	return kiwi_fw_dmabuf_import(fw, buf, dmabuf, offset, length);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_mem_dmabuf, "KIWI_FW");
