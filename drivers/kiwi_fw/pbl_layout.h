/* SPDX-License-Identifier: GPL-2.0 */
/* How memory is described to the device as a page list: computation alone. */
#ifndef KIWI_FW_PBL_LAYOUT_H
#define KIWI_FW_PBL_LAYOUT_H

#include <kiwi/fw.h>

/**
 * struct kiwi_fw_pbl_layout - shape of a page list
 * @count: pages
 * @offset: of the first byte into the first page
 * @page_shift: page size 2^n
 * @levels: of tables, 0..KIWI_PBL_MAX_LEVELS
 * @table_shift: table size 2^n, 0 when there is none
 */
struct kiwi_fw_pbl_layout {
	u64 count;
	u64 offset;
	u8 page_shift;
	u8 levels;
	u8 table_shift;
};

/**
 * struct kiwi_fw_pbl_cursor - goes through the pages of a list
 * @run: that the next page begins in or before
 * @addr: of the next page
 */
struct kiwi_fw_pbl_cursor {
	const struct kiwi_fw_run *run;
	dma_addr_t addr;
};

u64 kiwi_fw_pbl_max_pages(const struct kiwi_fw_pbl_limits *limits);
int kiwi_fw_pbl_layout(const struct kiwi_fw_run *runs, unsigned int nr_runs, u64 length,
		       const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl_layout *layout);
void kiwi_fw_pbl_first(struct kiwi_fw_pbl_cursor *cursor, const struct kiwi_fw_run *runs,
		       const struct kiwi_fw_pbl_layout *layout);
void kiwi_fw_pbl_fill(struct kiwi_fw_pbl_cursor *cursor, const struct kiwi_fw_pbl_layout *layout,
		      __le64 *entries, u64 count);

#endif /* KIWI_FW_PBL_LAYOUT_H */
