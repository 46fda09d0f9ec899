/* SPDX-License-Identifier: GPL-2.0 */
/* Ranges of BARs: what their two uses share. */
#ifndef KIWI_FW_BAR_H
#define KIWI_FW_BAR_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>

#include <kiwi/bar.h>

struct page;
struct sg_table;

/**
 * struct kiwi_bar - a range of a BAR
 * @ref: of the structure: its maker's, and those of mappings and DMA-buf
 * @range: as given
 * @lock: protects @maps, @stand_in, @dmabuf, @gone; inside of mmap_lock
 * @maps: of user space, until they were taken away
 * @stand_in: page that is mapped where the range was taken away, or NULL
 * @dmabuf: of the range, from when it is first asked for until it is revoked
 * @gone: the range is revoked
 * @imports: mappings by importers, and one until the range is revoked
 */
struct kiwi_bar {
	struct kref ref;
	struct kiwi_bar_range range;
	struct mutex lock;	/* mappings */
	struct list_head maps;
	struct page *stand_in;
	struct dma_buf *dmabuf;
	bool gone;
	atomic_t imports;
};

static inline struct kiwi_bar *kiwi_bar_get(struct kiwi_bar *bar)
{
	kref_get(&bar->ref);
	return bar;
}

void kiwi_bar_import_put(struct kiwi_bar *bar);

/* bar_map.c */
void kiwi_bar_unmap(struct kiwi_bar *bar);

/* bar_buf.c */
int kiwi_bar_buf_table(struct sg_table *sgt, dma_addr_t addr, u64 size);
struct dma_buf *kiwi_bar_buf_new(struct kiwi_bar *bar);
void kiwi_bar_buf_revoke(struct dma_buf *dmabuf);

#endif /* KIWI_FW_BAR_H */
