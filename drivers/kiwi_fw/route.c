// SPDX-License-Identifier: GPL-2.0
/* A look at a DMA-buf from afar: where it is, and what lies between. Nothing is kept. */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/pci-p2pdma.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>

#include <kiwi/compat.h>

#include "core.h"
#include "mem.h"

/* The mapping lasts no longer than the reservation lock is held, so nothing moves meanwhile. */
static void kiwi_fw_route_invalidate(struct dma_buf_attachment *attach)
{
}

static const struct dma_buf_attach_ops kiwi_fw_route_attach_ops = {
	.allow_peer2peer = true,
	.invalidate_mappings = kiwi_fw_route_invalidate,
};

static void kiwi_fw_route_beyond_path(struct kiwi_fw *fw, struct kiwi_fw_route *route)
{
	u32 at = route->path.peer;
	struct pci_dev *peer = pci_get_domain_bus_and_slot(at >> 16, (at >> 8) & 0xff, at & 0xff);

	if (!peer)
		return;
	kiwi_fw_route_find(fw, peer, route);
	route->distance = pci_p2pdma_distance(peer, &fw->pdev->dev, false);
	pci_dev_put(peer);
}

static int kiwi_fw_route_of_mapping(struct kiwi_fw *fw, struct sg_table *sgt, u64 length,
				    struct kiwi_fw_route *route)
{
	struct kiwi_fw_mem mem = {};
	int ret;

	ret = kiwi_fw_mem_set_runs(fw, &mem, sgt, 0, length);
	if (ret)
		return ret == -ERANGE ? -EREMOTEIO : ret;
	kiwi_fw_path_find(fw, mem.runs, mem.nr_runs, &route->path);
	kiwi_fw_mem_free_runs(&mem);
	if (route->path.peer)
		kiwi_fw_route_beyond_path(fw, route);
	return 0;
}

static int kiwi_fw_route_of(struct kiwi_fw *fw, struct dma_buf_attachment *attach,
			    struct kiwi_fw_route *route)
{
	struct sg_table *sgt;
	int ret;

	dma_resv_assert_held(attach->dmabuf->resv);
	sgt = dma_buf_map_attachment(attach, DMA_TO_DEVICE);
	if (IS_ERR(sgt))
		return -EREMOTEIO;
	ret = kiwi_fw_route_of_mapping(fw, sgt, attach->dmabuf->size, route);
	dma_buf_unmap_attachment(attach, sgt, DMA_TO_DEVICE);
	return ret;
}

/**
 * kiwi_fw_route_to() - find what lies between the device and a DMA-buf
 * @fw: device
 * @fd: file descriptor of the DMA-buf
 * @route: the answer
 *
 * The buffer is mapped for a moment, unless the exporter would move it for that.
 *
 * Return: 0, -EBADF if @fd is no DMA-buf, -EOPNOTSUPP if the exporter lets no peer reach the
 * memory in its place, -EREMOTEIO if it does not attach or map it, -ENOMEM.
 */
int kiwi_fw_route_to(struct kiwi_fw *fw, int fd, struct kiwi_fw_route *route)
{
	struct dma_buf_attachment *attach;
	struct dma_buf *dmabuf;
	int ret;

	*route = (struct kiwi_fw_route) {};
	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return -EBADF;
	attach = dma_buf_dynamic_attach(dmabuf, &fw->pdev->dev, &kiwi_fw_route_attach_ops, fw);
	if (IS_ERR(attach)) {
		dma_buf_put(dmabuf);
		return -EREMOTEIO;
	}
	ret = -EOPNOTSUPP;
	if (attach->peer2peer) {
		dma_resv_lock(dmabuf->resv, NULL);
		ret = kiwi_fw_route_of(fw, attach, route);
		dma_resv_unlock(dmabuf->resv);
	}
	dma_buf_detach(dmabuf, attach);
	dma_buf_put(dmabuf);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_route_to, "KIWI_FW");
