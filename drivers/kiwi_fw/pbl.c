// SPDX-License-Identifier: GPL-2.0
/* Page lists as commands carry them: the structure, and tables that it points to. */
#include <linux/dma-mapping.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "core.h"
#include "pbl_layout.h"

/**
 * struct kiwi_fw_pbl_table - a table or directory
 * @entries: addresses
 * @dma: of @entries
 */
struct kiwi_fw_pbl_table {
	__le64 *entries;
	dma_addr_t dma;
};

static size_t kiwi_fw_pbl_table_size(const struct kiwi_fw_pbl *pbl)
{
	return BIT(pbl->wire.table_shift);
}

static __le64 *kiwi_fw_pbl_alloc_table(const struct kiwi_fw_pbl *pbl)
{
	/* A power of two, to which it is aligned. */
	return kmalloc(kiwi_fw_pbl_table_size(pbl), GFP_KERNEL);
}

/* The device finds nothing behind the entries that were written. */
static int kiwi_fw_pbl_add_table(struct kiwi_fw *fw, struct kiwi_fw_pbl *pbl, __le64 *entries,
				 u64 written)
{
	struct kiwi_fw_pbl_table *table = &pbl->tables[pbl->nr_tables];
	size_t size = kiwi_fw_pbl_table_size(pbl);

	memset(entries + written, 0, size - written * sizeof(*entries));
	table->dma = dma_map_single(&fw->pdev->dev, entries, size, DMA_TO_DEVICE);
	if (dma_mapping_error(&fw->pdev->dev, table->dma)) {
		kfree(entries);
		return -ENOMEM;
	}
	table->entries = entries;
	pbl->nr_tables++;
	return 0;
}

static int kiwi_fw_pbl_write_directory(struct kiwi_fw *fw, struct kiwi_fw_pbl *pbl)
{
	__le64 *entries = kiwi_fw_pbl_alloc_table(pbl);
	unsigned int i;

	if (!entries)
		return -ENOMEM;
	for (i = 0; i < pbl->nr_tables; i++)
		entries[i] = cpu_to_le64(pbl->tables[i].dma);
	return kiwi_fw_pbl_add_table(fw, pbl, entries, i);
}

/* The tables of pages; with two levels a directory follows. */
static int kiwi_fw_pbl_write_tables(struct kiwi_fw *fw, struct kiwi_fw_pbl *pbl,
				    const struct kiwi_fw_pbl_layout *layout,
				    struct kiwi_fw_pbl_cursor *cursor)
{
	u64 per_table = kiwi_fw_pbl_table_size(pbl) / sizeof(__le64), left, n;
	__le64 *entries;
	int ret = 0;

	for (left = layout->count; left; left -= n) {
		n = min(left, per_table);
		entries = kiwi_fw_pbl_alloc_table(pbl);
		if (!entries)
			return -ENOMEM;
		kiwi_fw_pbl_fill(cursor, layout, entries, n);
		ret = kiwi_fw_pbl_add_table(fw, pbl, entries, n);
		if (ret)
			return ret;
		cond_resched();
	}
	if (layout->levels == 2)
		ret = kiwi_fw_pbl_write_directory(fw, pbl);
	if (!ret)
		pbl->wire.addr[0] = cpu_to_le64(pbl->tables[pbl->nr_tables - 1].dma);
	return ret;
}

static unsigned int kiwi_fw_pbl_count_tables(const struct kiwi_fw_pbl_layout *layout)
{
	u8 per_table_shift = layout->table_shift - ilog2(sizeof(__le64));

	return ((layout->count - 1) >> per_table_shift) + 1 + (layout->levels == 2);
}

/**
 * kiwi_fw_pbl_build() - describe memory to the device
 * @fw: device
 * @mem: memory
 * @limits: of the device
 * @pbl: the description
 * @err: with -ENOSPC: the pages needed and the limit
 *
 * Return: 0, -ENOSPC, -EOPNOTSUPP if the memory is not made of pages, -ENOMEM.
 */
int kiwi_fw_pbl_build(struct kiwi_fw *fw, const struct kiwi_fw_mem *mem,
		      const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl *pbl,
		      struct kiwi_fw_err *err)
{
	struct kiwi_fw_pbl_cursor cursor;
	struct kiwi_fw_pbl_layout layout;
	int ret;

	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	ret = kiwi_fw_pbl_layout(mem->runs, mem->nr_runs, mem->length, limits, &layout);
	if (ret == -ENOSPC) {
		err->value = layout.count;
		err->limit = kiwi_fw_pbl_max_pages(limits);
	}
	if (ret)
		return ret;

	*pbl = (struct kiwi_fw_pbl) {
		.wire.count = cpu_to_le32(layout.count),
		.wire.page_shift = layout.page_shift,
		.wire.levels = layout.levels,
		.wire.table_shift = layout.table_shift,
		.wire.offset = cpu_to_le64(layout.offset),
	};
	kiwi_fw_pbl_first(&cursor, mem->runs, &layout);
	if (!layout.levels) {
		kiwi_fw_pbl_fill(&cursor, &layout, pbl->wire.addr, layout.count);
		return 0;
	}
	pbl->tables = kvcalloc(kiwi_fw_pbl_count_tables(&layout), sizeof(*pbl->tables), GFP_KERNEL);
	ret = pbl->tables ? kiwi_fw_pbl_write_tables(fw, pbl, &layout, &cursor) : -ENOMEM;
	if (ret)
		kiwi_fw_pbl_release(fw, pbl);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_pbl_build, "KIWI_FW");

/**
 * kiwi_fw_pbl_release() - give back what kiwi_fw_pbl_build() took
 * @fw: device
 * @pbl: description, no longer read by the device
 */
void kiwi_fw_pbl_release(struct kiwi_fw *fw, struct kiwi_fw_pbl *pbl)
{
	unsigned int n;

	for (n = 0; n < pbl->nr_tables; n++) {
		dma_unmap_single(&fw->pdev->dev, pbl->tables[n].dma, kiwi_fw_pbl_table_size(pbl),
				 DMA_TO_DEVICE);
		kfree(pbl->tables[n].entries);
	}
	kvfree(pbl->tables);
	pbl->tables = NULL;
	pbl->nr_tables = 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_pbl_release, "KIWI_FW");
