// SPDX-License-Identifier: GPL-2.0
#include <linux/bitops.h>
#include <linux/errno.h>
#include <linux/minmax.h>

#include "pbl_layout.h"

#define KIWI_FW_PBL_ENTRY_SHIFT	3	/* __le64 */
#define KIWI_FW_PBL_PAGE_SHIFT	62	/* at most: an offset and a length add up in 64 bits */
#define KIWI_FW_PBL_TABLE_SHIFT	19	/* at most: two levels of that hold 2^32 pages */

static u64 kiwi_fw_pbl_count(dma_addr_t first, u64 length, u8 shift)
{
	u64 offset = first & (BIT_ULL(shift) - 1);

	return ((offset + length - 1) >> shift) + 1;
}

/* Where one run ends and another begins a page must end. */
static u8 kiwi_fw_pbl_max_shift(const struct kiwi_fw_run *runs, unsigned int nr_runs, u8 limit)
{
	u64 boundaries = BIT_ULL(limit);
	unsigned int n;

	for (n = 1; n < nr_runs; n++)
		boundaries |= runs[n].addr | (runs[n - 1].addr + runs[n - 1].len);
	return __ffs64(boundaries);
}

/* Pages that so many levels of tables of a size hold. */
static u64 kiwi_fw_pbl_capacity(u8 table_shift, u8 levels)
{
	return BIT_ULL((table_shift - KIWI_FW_PBL_ENTRY_SHIFT) * levels);
}

/* Small tables are had easily, so the smallest that two levels of do. */
static void kiwi_fw_pbl_tables(struct kiwi_fw_pbl_layout *layout)
{
	layout->levels = 0;
	layout->table_shift = 0;
	if (layout->count <= KIWI_PBL_INLINE)
		return;
	layout->table_shift = KIWI_PAGE_SHIFT_MIN;
	while (layout->count > kiwi_fw_pbl_capacity(layout->table_shift, KIWI_PBL_MAX_LEVELS))
		layout->table_shift++;
	layout->levels = 1;
	while (layout->count > kiwi_fw_pbl_capacity(layout->table_shift, layout->levels))
		layout->levels++;
}

/**
 * kiwi_fw_pbl_max_pages() - the most pages that a list can have
 * @limits: of the device
 *
 * Return: a number that 32 bits hold.
 */
u64 kiwi_fw_pbl_max_pages(const struct kiwi_fw_pbl_limits *limits)
{
	u8 table_shift = min_t(u8, limits->table_shift_max, KIWI_FW_PBL_TABLE_SHIFT);

	return min_t(u64, limits->max_pages,
		     kiwi_fw_pbl_capacity(table_shift, KIWI_PBL_MAX_LEVELS));
}

/**
 * kiwi_fw_pbl_layout() - find the best page list for memory
 * @runs: the memory
 * @nr_runs: of @runs, at least 1
 * @length: of all
 * @limits: of the device
 * @layout: the answer; @count also with -ENOSPC
 *
 * The fewest pages win; of the page sizes that need as few, the smallest does, since a page
 * that is larger only names more memory than was handed over.
 *
 * Return: 0, -EOPNOTSUPP if runs meet off the smallest page, -ENOSPC if there are more than
 * kiwi_fw_pbl_max_pages().
 */
int kiwi_fw_pbl_layout(const struct kiwi_fw_run *runs, unsigned int nr_runs, u64 length,
		       const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl_layout *layout)
{
	dma_addr_t first = runs[0].addr;
	u8 shift;

	shift = kiwi_fw_pbl_max_shift(runs, nr_runs,
				      min_t(u8, limits->page_shift_max, KIWI_FW_PBL_PAGE_SHIFT));
	if (shift < KIWI_PAGE_SHIFT_MIN)
		return -EOPNOTSUPP;
	layout->count = kiwi_fw_pbl_count(first, length, shift);
	while (shift > KIWI_PAGE_SHIFT_MIN &&
	       kiwi_fw_pbl_count(first, length, shift - 1) == layout->count)
		shift--;
	layout->page_shift = shift;
	layout->offset = first & (BIT_ULL(shift) - 1);
	if (layout->count > kiwi_fw_pbl_max_pages(limits))
		return -ENOSPC;
	kiwi_fw_pbl_tables(layout);
	return 0;
}

/**
 * kiwi_fw_pbl_first() - begin at the first page
 * @cursor: to be set
 * @runs: the memory
 * @layout: of its page list
 */
void kiwi_fw_pbl_first(struct kiwi_fw_pbl_cursor *cursor, const struct kiwi_fw_run *runs,
		       const struct kiwi_fw_pbl_layout *layout)
{
	cursor->run = runs;
	cursor->addr = runs[0].addr - layout->offset;
}

/**
 * kiwi_fw_pbl_fill() - write the addresses of the next pages
 * @cursor: where it has come to
 * @layout: of the page list
 * @entries: for the addresses
 * @count: of them, at most as many as are left
 */
void kiwi_fw_pbl_fill(struct kiwi_fw_pbl_cursor *cursor, const struct kiwi_fw_pbl_layout *layout,
		      __le64 *entries, u64 count)
{
	const struct kiwi_fw_run *run = cursor->run;
	u64 page = BIT_ULL(layout->page_shift);
	dma_addr_t addr = cursor->addr;
	dma_addr_t last = run->addr + run->len - 1;
	u64 n;

	for (n = 0; n < count; n++) {
		if (addr > last) {
			run++;
			addr = run->addr;
			last = addr + run->len - 1;
		}
		entries[n] = cpu_to_le64(addr);
		addr += page;
	}
	cursor->run = run;
	cursor->addr = addr;
}
