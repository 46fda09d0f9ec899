// SPDX-License-Identifier: GPL-2.0
#include <linux/dma-buf.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "bar.h"

/**
 * kiwi_bar_new() - have a range that can be mapped and imported
 * @range: what it is made of
 *
 * Return: the range, or NULL
 */
struct kiwi_bar *kiwi_bar_new(const struct kiwi_bar_range *range)
{
	struct kiwi_bar *bar;

	bar = kzalloc(sizeof(*bar), GFP_KERNEL_ACCOUNT);
	if (!bar)
		return NULL;
	kref_init(&bar->ref);
	bar->range = *range;
	mutex_init(&bar->lock);
	INIT_LIST_HEAD(&bar->maps);
	atomic_set(&bar->imports, 1);
	return bar;
}
EXPORT_SYMBOL_NS_GPL(kiwi_bar_new, "KIWI_FW");

static void bar_free(struct kref *ref)
{
	struct kiwi_bar *bar = container_of(ref, struct kiwi_bar, ref);

	if (bar->stand_in)
		__free_page(bar->stand_in);
	kfree(bar);
}

/**
 * kiwi_bar_put() - give a range back
 * @bar: the range, revoked if it was ever mapped or imported
 */
void kiwi_bar_put(struct kiwi_bar *bar)
{
	kref_put(&bar->ref, bar_free);
}
EXPORT_SYMBOL_NS_GPL(kiwi_bar_put, "KIWI_FW");

/**
 * kiwi_bar_import_put() - an importer has unmapped the range, or it was revoked
 * @bar: the range
 */
void kiwi_bar_import_put(struct kiwi_bar *bar)
{
	if (atomic_dec_and_test(&bar->imports) && bar->range.idle)
		bar->range.idle(bar->range.arg);
}

/**
 * kiwi_bar_dmabuf() - the range as a DMA-buf, made when first asked for
 * @bar: the range
 *
 * Only a dynamic importer that can do peer-to-peer may attach; it is given the bus address.
 *
 * Return: the DMA-buf with a reference, or an ERR_PTR: -ENODEV when the range was revoked,
 * -ENOMEM, -EMFILE or -ENFILE
 */
struct dma_buf *kiwi_bar_dmabuf(struct kiwi_bar *bar)
{
	struct dma_buf *dmabuf;

	mutex_lock(&bar->lock);
	dmabuf = bar->gone ? ERR_PTR(-ENODEV) : bar->dmabuf;
	if (!dmabuf) {
		dmabuf = kiwi_bar_buf_new(bar);
		if (!IS_ERR(dmabuf))
			bar->dmabuf = dmabuf;
	}
	if (!IS_ERR(dmabuf))
		get_dma_buf(dmabuf);
	mutex_unlock(&bar->lock);
	return dmabuf;
}
EXPORT_SYMBOL_NS_GPL(kiwi_bar_dmabuf, "KIWI_FW");

/**
 * kiwi_bar_revoke() - take a range away from all who have it
 * @bar: the range; nothing is done if it was revoked before
 *
 * No process reaches the range when this returns; importers were told.
 */
void kiwi_bar_revoke(struct kiwi_bar *bar)
{
	struct dma_buf *dmabuf;
	bool gone;

	mutex_lock(&bar->lock);
	gone = bar->gone;
	bar->gone = true;
	dmabuf = bar->dmabuf;
	bar->dmabuf = NULL;
	mutex_unlock(&bar->lock);

	/* Whoever comes second waits for the mappings, too. */
	kiwi_bar_unmap(bar);
	if (dmabuf)
		kiwi_bar_buf_revoke(dmabuf);
	if (!gone)
		kiwi_bar_import_put(bar);
}
EXPORT_SYMBOL_NS_GPL(kiwi_bar_revoke, "KIWI_FW");
