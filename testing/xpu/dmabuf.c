// SPDX-License-Identifier: GPL-2.0
/*
 * The exporter. Importers that can do peer-to-peer get addresses in the VRAM BAR;
 * for others the buffer moves to system memory first. Where the kernel can tell
 * importers about moves, a mapped buffer stays movable; elsewhere the core pins it.
 */
#include <linux/dma-mapping.h>
#include <linux/pci-p2pdma.h>
#include <linux/slab.h>

#include "xpu_drv.h"

/* Without P2PDMA the kernel cannot tell; then the importer's word counts. */
static bool xpu_reaches_vram(struct xpu_device *xdev, struct device *peer)
{
	return !IS_ENABLED(CONFIG_PCI_P2PDMA) ||
	       pci_p2pdma_distance(xdev->pdev, peer, false) >= 0;
}

static int xpu_dmabuf_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct xpu_buf *buf = dmabuf->priv;

	if ((buf->flags & XPU_ALLOC_NO_P2P) || !xpu_reaches_vram(buf->xdev, attach->dev))
		attach->peer2peer = false;
	return 0;
}

/* An importer that cannot reach VRAM may come later: a pin would then shut it out. */
static u32 xpu_dmabuf_common_placement(struct xpu_buf *buf)
{
	struct dma_buf_attachment *attach;

	list_for_each_entry(attach, &buf->dmabuf->attachments, node) {
		if (!attach->peer2peer)
			return XPU_PLACE_SYSTEM;
	}
	return XPU_PLACE_VRAM;
}

static int xpu_dmabuf_pin(struct dma_buf_attachment *attach)
{
	struct xpu_buf *buf = attach->dmabuf->priv;
	int ret;

	dma_resv_assert_held(attach->dmabuf->resv);
	if (!buf->store)
		return -ENODEV;
	if (xpu_dmabuf_common_placement(buf) == XPU_PLACE_SYSTEM) {
		ret = xpu_buf_move(buf, XPU_PLACE_SYSTEM);
		if (ret)
			return ret;
	}
	buf->pins++;
	return 0;
}

static void xpu_dmabuf_unpin(struct dma_buf_attachment *attach)
{
	struct xpu_buf *buf = attach->dmabuf->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	buf->pins--;
}

/* Memory is mapped once for each importer, so no mapping may move what the CPU sees. */
#define XPU_MAP_ATTRS	DMA_ATTR_SKIP_CPU_SYNC

static void xpu_unmap_vram(struct device *dev, struct sg_table *sgt, unsigned int count,
			   enum dma_data_direction dir)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sg(sgt->sgl, sg, count, i)
		dma_unmap_resource(dev, sg_dma_address(sg), sg_dma_len(sg), dir,
				   XPU_MAP_ATTRS);
	sg_free_table(sgt);
}

static u64 xpu_vram_segment(struct xpu_store *store, struct device *dev, u64 offset, u64 *start)
{
	u64 max = round_down(min_t(u64, dma_get_max_seg_size(dev), XPU_SEGMENT_MAX), PAGE_SIZE);
	u64 len;

	*start = xpu_store_vram_at(store, offset, &len);
	return min(len, max);
}

static int xpu_map_vram(struct xpu_store *store, struct device *dev, struct sg_table *sgt,
			enum dma_data_direction dir)
{
	unsigned int count = 0, mapped = 0;
	struct scatterlist *sg;
	u64 at, len, start;
	dma_addr_t addr;
	int ret;

	for (at = 0; at < store->size; at += xpu_vram_segment(store, dev, at, &start))
		count++;
	ret = sg_alloc_table(sgt, count, GFP_KERNEL);
	if (ret)
		return ret;

	sg = sgt->sgl;
	for (at = 0; at < store->size; at += len) {
		len = xpu_vram_segment(store, dev, at, &start);
		addr = dma_map_resource(dev, store->xdev->vram.base + start, len, dir,
					XPU_MAP_ATTRS);
		if (dma_mapping_error(dev, addr)) {
			xpu_unmap_vram(dev, sgt, mapped, dir);
			return -EIO;
		}
		sg_set_page(sg, NULL, len, 0);	/* there is no struct page */
		sg_dma_address(sg) = addr;
		sg_dma_len(sg) = len;
		sg = sg_next(sg);
		mapped++;
	}
	return 0;
}

static struct xpu_mapping *xpu_mapping_create(struct xpu_store *store, struct device *dev,
					      enum dma_data_direction dir)
{
	struct xpu_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL);
	int ret;

	if (!mapping)
		return ERR_PTR(-ENOMEM);
	if (store->placement == XPU_PLACE_VRAM)
		ret = xpu_map_vram(store, dev, &mapping->sgt, dir);
	else
		ret = xpu_map_pages(dev, &mapping->sgt, store->pages, 0, store->size, dir,
				    XPU_MAP_ATTRS);
	if (ret) {
		kfree(mapping);
		return ERR_PTR(ret);
	}
	mapping->dev = dev;
	mapping->store = store;
	xpu_store_get(store);
	if (store->placement == XPU_PLACE_VRAM)
		atomic_inc(&store->xdev->vram_mappings);
	return mapping;
}

static void xpu_mapping_destroy(struct xpu_mapping *mapping, enum dma_data_direction dir)
{
	struct xpu_store *store = mapping->store;

	if (store->placement == XPU_PLACE_VRAM) {
		xpu_unmap_vram(mapping->dev, &mapping->sgt, mapping->sgt.nents, dir);
		if (atomic_dec_and_test(&store->xdev->vram_mappings))
			wake_up_all(&store->xdev->unmapped);
	} else {
		dma_unmap_sgtable(mapping->dev, &mapping->sgt, dir, XPU_MAP_ATTRS);
		sg_free_table(&mapping->sgt);
	}
	xpu_store_put(store);
	kfree(mapping);
}

static struct sg_table *xpu_dmabuf_map(struct dma_buf_attachment *attach,
				       enum dma_data_direction dir)
{
	struct xpu_buf *buf = attach->dmabuf->priv;
	struct xpu_mapping *mapping;
	int ret;

	dma_resv_assert_held(attach->dmabuf->resv);
	if (buf->fail_armed) {
		buf->fail_armed = false;
		return buf->fail_error ? ERR_PTR(-(int)buf->fail_error) : NULL;
	}
	if (!buf->store)
		return ERR_PTR(-ENODEV);
	if (!attach->peer2peer) {
		ret = xpu_buf_move(buf, XPU_PLACE_SYSTEM);
		if (ret)
			return ERR_PTR(ret);
	}
	mapping = xpu_mapping_create(buf->store, attach->dev, dir);
	if (IS_ERR(mapping))
		return ERR_CAST(mapping);
	list_add_tail(&mapping->link, &buf->mappings);
	return &mapping->sgt;
}

static void xpu_dmabuf_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			     enum dma_data_direction dir)
{
	struct xpu_mapping *mapping = container_of(sgt, struct xpu_mapping, sgt);

	dma_resv_assert_held(attach->dmabuf->resv);
	list_del(&mapping->link);
	xpu_mapping_destroy(mapping, dir);
}

static void xpu_dmabuf_sync(struct xpu_mapping *mapping, enum dma_data_direction dir, bool to_cpu)
{
	if (mapping->store->placement != XPU_PLACE_SYSTEM)
		return;
	if (to_cpu)
		dma_sync_sgtable_for_cpu(mapping->dev, &mapping->sgt, dir);
	else
		dma_sync_sgtable_for_device(mapping->dev, &mapping->sgt, dir);
}

static int xpu_dmabuf_cpu_access(struct dma_buf *dmabuf, enum dma_data_direction dir, bool begin)
{
	struct xpu_buf *buf = dmabuf->priv;
	struct xpu_mapping *mapping;
	int ret;

	ret = dma_resv_lock_interruptible(dmabuf->resv, NULL);
	if (ret)
		return ret;
	if (buf->store) {
		list_for_each_entry(mapping, &buf->mappings, link)
			xpu_dmabuf_sync(mapping, dir, begin);
	} else {
		ret = -ENODEV;
	}
	dma_resv_unlock(dmabuf->resv);
	return ret;
}

static int xpu_dmabuf_begin_cpu_access(struct dma_buf *dmabuf, enum dma_data_direction dir)
{
	return xpu_dmabuf_cpu_access(dmabuf, dir, true);
}

static int xpu_dmabuf_end_cpu_access(struct dma_buf *dmabuf, enum dma_data_direction dir)
{
	wmb(); /* write-combined stores leave the CPU before the importer is told to read */
	return xpu_dmabuf_cpu_access(dmabuf, dir, false);
}

static void xpu_dmabuf_release(struct dma_buf *dmabuf)
{
	xpu_buf_free(dmabuf->priv);
}

#define XPU_DMABUF_OPS					\
	.attach = xpu_dmabuf_attach,			\
	.pin = xpu_dmabuf_pin,				\
	.unpin = xpu_dmabuf_unpin,			\
	.map_dma_buf = xpu_dmabuf_map,			\
	.unmap_dma_buf = xpu_dmabuf_unmap,		\
	.begin_cpu_access = xpu_dmabuf_begin_cpu_access,	\
	.end_cpu_access = xpu_dmabuf_end_cpu_access,	\
	.mmap = xpu_buf_mmap,				\
	.release = xpu_dmabuf_release

const struct dma_buf_ops xpu_dmabuf_ops = {
	XPU_DMABUF_OPS,
	.vmap = xpu_dmabuf_vmap,
	.vunmap = xpu_dmabuf_vunmap,
};

/* The core warns of a vmap() that fails, so a buffer in many pieces has none. */
const struct dma_buf_ops xpu_dmabuf_scattered_ops = {
	XPU_DMABUF_OPS,
};
