// SPDX-License-Identifier: GPL-2.0
/*
 * Another driver's view of a buffer by the CPU, such as that of one which writes words that
 * kernels poll. A buffer stays where it is as long as there is a view. When it is revoked all the
 * same, its importers are told, which is when they have to stop; its memory is not used
 * for anything else before the view has ended.
 */
#include <linux/io.h>
#include <linux/iosys-map.h>
#include <linux/vmalloc.h>

#include "xpu_drv.h"

static int xpu_vmap_vram(struct xpu_store *store, struct iosys_map *map)
{
	void __iomem *at;

	if (store->chunk != store->size)
		return -EOPNOTSUPP;	/* it does not lie in one piece */
	at = ioremap_wc(store->xdev->vram.base + store->node->start, store->size);
	if (!at)
		return -ENOMEM;
	iosys_map_set_vaddr_iomem(map, at);
	return 0;
}

static int xpu_vmap_pages(struct xpu_store *store, struct iosys_map *map)
{
	void *at = vmap(store->pages, store->size >> PAGE_SHIFT, VM_MAP, PAGE_KERNEL);

	if (!at)
		return -ENOMEM;
	iosys_map_set_vaddr(map, at);
	return 0;
}

static int xpu_buf_vmap(struct xpu_buf *buf, struct iosys_map *map)
{
	struct xpu_store *store = buf->store;
	int ret;

	dma_resv_assert_held(buf->dmabuf->resv);
	if (!store)
		return -ENODEV;
	if (store->placement == XPU_PLACE_VRAM)
		ret = xpu_vmap_vram(store, map);
	else
		ret = xpu_vmap_pages(store, map);
	if (ret)
		return ret;
	xpu_store_get(store);
	buf->viewed = store;
	buf->pins++;
	return 0;
}

/**
 * xpu_dmabuf_vmap() - let a driver have the CPU access the buffer
 * @dmabuf: of the buffer; the core calls this for the first of its users only
 * @map: set to the first byte
 *
 * Return: 0, -ENODEV if it is revoked, -EOPNOTSUPP if it is scattered, -ENOMEM.
 */
int xpu_dmabuf_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	int ret;

	kiwi_dmabuf_vmap_lock(dmabuf);
	ret = xpu_buf_vmap(dmabuf->priv, map);
	kiwi_dmabuf_vmap_unlock(dmabuf);
	return ret;
}

void xpu_dmabuf_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct xpu_buf *buf = dmabuf->priv;
	struct xpu_store *store;

	if (map->is_iomem)
		iounmap(map->vaddr_iomem);
	else
		vunmap(map->vaddr);
	kiwi_dmabuf_vmap_lock(dmabuf);
	store = buf->viewed;
	buf->viewed = NULL;
	buf->pins--;
	kiwi_dmabuf_vmap_unlock(dmabuf);
	xpu_store_put(store);
}
