// SPDX-License-Identifier: GPL-2.0
/*
 * A range of a BAR as a DMA-buf, for an accelerator that reaches it itself. An importer gets the
 * bus address. When the range is taken away, importers are told to unmap and no new mapping is
 * given.
 *
 * The DMA-buf holds the modules, but neither object, file nor device: these may end while
 * importers still have it.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/math.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "bar.h"

/**
 * struct bar_buf - what the DMA-buf refers to; the reservation lock protects @revoked
 * @bar: the range, with a reference
 * @revoked: the range is no more
 */
struct bar_buf {
	struct kiwi_bar *bar;
	bool revoked;
};

/* Without P2PDMA the kernel cannot tell; then the importer's word counts. */
static bool bar_buf_reached_by(const struct bar_buf *buf, struct device *importer)
{
	return !IS_ENABLED(CONFIG_PCI_P2PDMA) ||
	       pci_p2pdma_distance(buf->bar->range.pdev, importer, false) >= 0;
}

/* An importer that is not told of revocation is none that can do peer-to-peer. */
static int bar_buf_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct bar_buf *buf = dmabuf->priv;
	int ret = 0;

	if (!attach->peer2peer)
		return -EOPNOTSUPP;
	dma_resv_lock(dmabuf->resv, NULL);
	if (buf->revoked)
		ret = -ENODEV;
	else if (!bar_buf_reached_by(buf, attach->dev))
		ret = -EOPNOTSUPP;
	dma_resv_unlock(dmabuf->resv);
	return ret;
}

/*
 * A range of a BAR does not move: pinned or not, it ends when it is revoked. Kernels
 * that do not let mapped buffers move pin them here, and tell importers all the same.
 */
static int bar_buf_pin(struct dma_buf_attachment *attach)
{
	struct bar_buf *buf = attach->dmabuf->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	return buf->revoked ? -ENODEV : 0;
}

static void bar_buf_unpin(struct dma_buf_attachment *attach)
{
}

/* The length of an entry is 32 bits wide. */
#define ENTRY_MAX	SZ_2G

/**
 * kiwi_bar_buf_table() - make the scatter list of a range
 * @sgt: to be made, with sg_free_table() to undo it
 * @addr: of the range, as the importer reaches it
 * @size: of the range
 *
 * Return: 0 or -ENOMEM
 */
int kiwi_bar_buf_table(struct sg_table *sgt, dma_addr_t addr, u64 size)
{
	struct scatterlist *sg;
	unsigned int i, len;
	int ret;

	ret = sg_alloc_table(sgt, DIV_ROUND_UP_ULL(size, ENTRY_MAX), GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(sgt, sg, i) {
		len = min_t(u64, size, ENTRY_MAX);
		sg_set_page(sg, NULL, len, 0);
		sg_dma_address(sg) = addr;
		sg_dma_len(sg) = len;
		addr += len;
		size -= len;
	}
	return 0;
}

static struct sg_table *bar_buf_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	struct bar_buf *buf = attach->dmabuf->priv;
	const struct kiwi_bar_range *range = &buf->bar->range;
	struct sg_table *sgt;
	dma_addr_t addr;
	int ret;

	dma_resv_assert_held(attach->dmabuf->resv);
	if (buf->revoked)
		return ERR_PTR(-ENODEV);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	addr = dma_map_resource(attach->dev, range->phys, range->size, dir,
				DMA_ATTR_SKIP_CPU_SYNC);
	ret = dma_mapping_error(attach->dev, addr);
	if (ret)
		goto free_table;
	ret = kiwi_bar_buf_table(sgt, addr, range->size);
	if (ret)
		goto unmap;
	atomic_inc(&buf->bar->imports);
	return sgt;

unmap:
	dma_unmap_resource(attach->dev, addr, range->size, dir, DMA_ATTR_SKIP_CPU_SYNC);
free_table:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void bar_buf_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			  enum dma_data_direction dir)
{
	struct bar_buf *buf = attach->dmabuf->priv;

	/* One mapping, in however many entries. */
	dma_unmap_resource(attach->dev, sg_dma_address(sgt->sgl), buf->bar->range.size, dir,
			   DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
	kfree(sgt);
	kiwi_bar_import_put(buf->bar);
}

static void bar_buf_release(struct dma_buf *dmabuf)
{
	struct bar_buf *buf = dmabuf->priv;

	kiwi_bar_put(buf->bar);
	kfree(buf);
}

static const struct dma_buf_ops bar_buf_ops = {
	.attach = bar_buf_attach,
	.pin = bar_buf_pin,
	.unpin = bar_buf_unpin,
	.map_dma_buf = bar_buf_map,
	.unmap_dma_buf = bar_buf_unmap,
	.release = bar_buf_release,
};

/**
 * kiwi_bar_buf_new() - make the DMA-buf of a range
 * @bar: the range
 *
 * Return: the DMA-buf or an ERR_PTR
 */
struct dma_buf *kiwi_bar_buf_new(struct kiwi_bar *bar)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	struct bar_buf *buf;

	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->bar = kiwi_bar_get(bar);
	info.owner = bar->range.owner;
	info.ops = &bar_buf_ops;
	info.size = bar->range.size;
	info.flags = O_RDWR;
	info.priv = buf;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		kiwi_bar_put(bar);
		kfree(buf);
	}
	return dmabuf;
}

/**
 * kiwi_bar_buf_revoke() - take the range away from all importers
 * @dmabuf: of the range; the reference is given back
 */
void kiwi_bar_buf_revoke(struct dma_buf *dmabuf)
{
	struct bar_buf *buf = dmabuf->priv;

	dma_resv_lock(dmabuf->resv, NULL);
	buf->revoked = true;
	dma_buf_invalidate_mappings(dmabuf);
	dma_resv_unlock(dmabuf->resv);
	dma_buf_put(dmabuf);
}
