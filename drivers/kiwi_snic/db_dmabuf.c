// SPDX-License-Identifier: GPL-2.0
/*
 * A doorbell page as a DMA-buf, for a GPU that rings it. An importer gets the bus address of the
 * page. Before the device closes the page, importers are told to unmap and no new mapping is
 * given; one that keeps its mapping all the same writes into a closed page, or with an epoch of
 * the past.
 *
 * The DMA-buf holds the module, but neither doorbell, file nor device: these may end while
 * importers still have it.
 */
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/pci-p2pdma.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "file.h"
#include "ksnic.h"

/**
 * struct ksnic_db_buf - what the DMA-buf refers to; the reservation lock protects @revoked
 * @pdev: the device, which is there until @revoked
 * @phys: of the page
 * @size: of the page
 * @revoked: the page is the doorbell's no more
 */
struct ksnic_db_buf {
	struct pci_dev *pdev;
	phys_addr_t phys;
	size_t size;
	bool revoked;
};

/* Without P2PDMA the kernel cannot tell; then the importer's word counts. */
static bool db_buf_reached_by(const struct ksnic_db_buf *buf, struct device *importer)
{
	return !IS_ENABLED(CONFIG_PCI_P2PDMA) ||
	       pci_p2pdma_distance(buf->pdev, importer, false) >= 0;
}

/* An importer that is not told of revocation is none that can do peer-to-peer. */
static int db_buf_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct ksnic_db_buf *buf = dmabuf->priv;
	int ret = 0;

	if (!attach->peer2peer)
		return -EOPNOTSUPP;
	dma_resv_lock(dmabuf->resv, NULL);
	if (buf->revoked)
		ret = -ENODEV;
	else if (!db_buf_reached_by(buf, attach->dev))
		ret = -EOPNOTSUPP;
	dma_resv_unlock(dmabuf->resv);
	return ret;
}

/*
 * A page of registers does not move: pinned or not, it ends when the doorbell does. Kernels
 * that do not let mapped buffers move pin them here, and tell importers all the same.
 */
static int db_buf_pin(struct dma_buf_attachment *attach)
{
	struct ksnic_db_buf *buf = attach->dmabuf->priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	return buf->revoked ? -ENODEV : 0;
}

static void db_buf_unpin(struct dma_buf_attachment *attach)
{
}

static struct sg_table *db_buf_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	struct ksnic_db_buf *buf = attach->dmabuf->priv;
	struct sg_table *sgt;
	dma_addr_t addr;
	int ret;

	dma_resv_assert_held(attach->dmabuf->resv);
	if (buf->revoked)
		return ERR_PTR(-ENODEV);
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, 1, GFP_KERNEL);
	if (ret)
		goto free_table;
	addr = dma_map_resource(attach->dev, buf->phys, buf->size, dir, DMA_ATTR_SKIP_CPU_SYNC);
	ret = dma_mapping_error(attach->dev, addr);
	if (ret)
		goto free_list;
	sg_set_page(sgt->sgl, NULL, buf->size, 0);
	sg_dma_address(sgt->sgl) = addr;
	sg_dma_len(sgt->sgl) = buf->size;
	return sgt;

free_list:
	sg_free_table(sgt);
free_table:
	kfree(sgt);
	return ERR_PTR(ret);
}

static void db_buf_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			 enum dma_data_direction dir)
{
	dma_unmap_resource(attach->dev, sg_dma_address(sgt->sgl), sg_dma_len(sgt->sgl), dir,
			   DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
	kfree(sgt);
}

static void db_buf_release(struct dma_buf *dmabuf)
{
	kfree(dmabuf->priv);
}

static const struct dma_buf_ops db_buf_ops = {
	.attach = db_buf_attach,
	.pin = db_buf_pin,
	.unpin = db_buf_unpin,
	.map_dma_buf = db_buf_map,
	.unmap_dma_buf = db_buf_unmap,
	.release = db_buf_release,
};

static struct dma_buf *db_buf_new(const struct ksnic_db *db)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct ksnic_db_buf *buf;
	struct dma_buf *dmabuf;

	buf = kzalloc(sizeof(*buf), GFP_KERNEL_ACCOUNT);
	if (!buf)
		return ERR_PTR(-ENOMEM);
	buf->pdev = to_pci_dev(db->obj.ks->dev.parent);
	buf->phys = db->page.phys;
	buf->size = db->page.size;
	info.ops = &db_buf_ops;
	info.size = buf->size;
	info.flags = O_RDWR;
	info.priv = buf;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf))
		kfree(buf);
	return dmabuf;
}

/**
 * ksnic_db_export() - the DMA-buf of a doorbell's page, made when first asked for
 * @file: that the doorbell belongs to
 * @db: the doorbell, looked up
 * @err: filled on failure
 *
 * Return: the DMA-buf with a reference, or an ERR_PTR: -ENOENT when the doorbell is being
 * destroyed, -ENOMEM, -EMFILE or -ENFILE
 */
struct dma_buf *ksnic_db_export(struct ksnic_file *file, struct ksnic_db *db,
				struct kiwi_error *err)
{
	struct dma_buf *dmabuf;

	mutex_lock(&file->map_lock);
	if (ksnic_obj_condemned(&db->obj)) {
		dmabuf = ERR_PTR(ksnic_obj_absent(db->obj.id, &ksnic_db_ops, err));
		goto unlock;
	}
	if (!db->dmabuf) {
		dmabuf = db_buf_new(db);
		if (IS_ERR(dmabuf)) {
			kiwi_fail(err, PTR_ERR(dmabuf), 0, 0, "DMA-buf: %s",
				  kiwi_errno_text(PTR_ERR(dmabuf)));
			goto unlock;
		}
		db->dmabuf = dmabuf;
	}
	dmabuf = db->dmabuf;
	get_dma_buf(dmabuf);
unlock:
	mutex_unlock(&file->map_lock);
	return dmabuf;
}

/**
 * ksnic_db_revoke() - take the page away from all importers
 * @file: that the doorbell belongs to
 * @db: the doorbell, which nobody can export any more
 */
void ksnic_db_revoke(struct ksnic_file *file, struct ksnic_db *db)
{
	struct ksnic_db_buf *buf;
	struct dma_buf *dmabuf;

	mutex_lock(&file->map_lock);
	dmabuf = db->dmabuf;
	db->dmabuf = NULL;
	mutex_unlock(&file->map_lock);
	if (!dmabuf)
		return;

	buf = dmabuf->priv;
	dma_resv_lock(dmabuf->resv, NULL);
	buf->revoked = true;
	dma_buf_invalidate_mappings(dmabuf);
	dma_resv_unlock(dmabuf->resv);
	dma_buf_put(dmabuf);
}
