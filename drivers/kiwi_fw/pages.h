/* SPDX-License-Identifier: GPL-2.0 */
/* Pinned pages, gathered as runs of neighbours. */
#ifndef KIWI_FW_PAGES_H
#define KIWI_FW_PAGES_H

#include <linux/types.h>

struct kiwi_fw_page_chunk;
struct page;
struct sg_table;

/**
 * struct kiwi_fw_pages - runs of pages
 * @first: chunk of runs, NULL when there is none
 * @last: the one that is being filled
 * @nr_runs: in all chunks
 * @left: pages still to come, at most: a chunk is no larger than they need
 */
struct kiwi_fw_pages {
	struct kiwi_fw_page_chunk *first;
	struct kiwi_fw_page_chunk *last;
	unsigned int nr_runs;
	unsigned long left;
};

int kiwi_fw_pages_add(struct kiwi_fw_pages *pages, struct page **batch, unsigned int nr);
int kiwi_fw_pages_table(const struct kiwi_fw_pages *pages, struct sg_table *sgt);
void kiwi_fw_pages_unpin(const struct kiwi_fw_pages *pages);
void kiwi_fw_pages_free(struct kiwi_fw_pages *pages);

#endif /* KIWI_FW_PAGES_H */
