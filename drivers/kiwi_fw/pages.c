// SPDX-License-Identifier: GPL-2.0
/*
 * Gathers pinned pages as runs of neighbours, in few instructions a page: a large region
 * is mostly huge pages, and scatter lists are made of the few runs that remain.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/scatterlist.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "pages.h"

/* The length of an entry of a scatter list is 32 bits wide. */
#define KIWI_FW_PAGE_RUN_MAX	(UINT_MAX >> PAGE_SHIFT)

struct kiwi_fw_page_run {
	struct page *page;
	unsigned int nr;
};

struct kiwi_fw_page_chunk {
	struct kiwi_fw_page_chunk *next;
	unsigned int nr;
	unsigned int size;
	struct kiwi_fw_page_run runs[] __counted_by(size);
};

#define KIWI_FW_CHUNK_RUNS \
	((PAGE_SIZE - sizeof(struct kiwi_fw_page_chunk)) / sizeof(struct kiwi_fw_page_run))

static struct kiwi_fw_page_chunk *kiwi_fw_page_chunk_add(struct kiwi_fw_pages *pages)
{
	unsigned int size = min(pages->left, KIWI_FW_CHUNK_RUNS);
	struct kiwi_fw_page_chunk *chunk;

	chunk = kmalloc(struct_size(chunk, runs, size), GFP_KERNEL);
	if (!chunk)
		return NULL;
	chunk->next = NULL;
	chunk->nr = 0;
	chunk->size = size;
	if (pages->last)
		pages->last->next = chunk;
	else
		pages->first = chunk;
	pages->last = chunk;
	return chunk;
}

static unsigned int kiwi_fw_neighbours(struct page **batch, unsigned int nr)
{
	unsigned long pfn = page_to_pfn(batch[0]);
	unsigned int n = 1;

	while (n < nr && page_to_pfn(batch[n]) == pfn + n)
		n++;
	return n;
}

static bool kiwi_fw_run_extend(struct kiwi_fw_pages *pages, struct page *page, unsigned int nr)
{
	struct kiwi_fw_page_run *run;

	if (!pages->nr_runs)
		return false;
	run = &pages->last->runs[pages->last->nr - 1];
	if (page_to_pfn(run->page) + run->nr != page_to_pfn(page) ||
	    run->nr + nr > KIWI_FW_PAGE_RUN_MAX)
		return false;
	run->nr += nr;
	return true;
}

static int kiwi_fw_run_add(struct kiwi_fw_pages *pages, struct page *page, unsigned int nr)
{
	struct kiwi_fw_page_chunk *chunk = pages->last;

	if (kiwi_fw_run_extend(pages, page, nr))
		return 0;
	if (!chunk || chunk->nr == chunk->size)
		chunk = kiwi_fw_page_chunk_add(pages);
	if (!chunk)
		return -ENOMEM;
	chunk->runs[chunk->nr++] = (struct kiwi_fw_page_run) { .page = page, .nr = nr };
	pages->nr_runs++;
	return 0;
}

/**
 * kiwi_fw_pages_add() - add pinned pages
 * @pages: so far
 * @batch: pages, pinned
 * @nr: of @batch
 *
 * Return: 0, or -ENOMEM, and those of @batch that are not in @pages are unpinned.
 */
int kiwi_fw_pages_add(struct kiwi_fw_pages *pages, struct page **batch, unsigned int nr)
{
	unsigned int n, done;
	int ret;

	for (done = 0; done < nr; done += n) {
		n = kiwi_fw_neighbours(batch + done, nr - done);
		ret = kiwi_fw_run_add(pages, batch[done], n);
		if (ret) {
			unpin_user_pages(batch + done, nr - done);
			return ret;
		}
		pages->left -= n;
	}
	return 0;
}

/**
 * kiwi_fw_pages_table() - make a scatter list of the runs
 * @pages: complete
 * @sgt: to be filled in; empty on failure
 *
 * Return: 0 or -ENOMEM.
 */
int kiwi_fw_pages_table(const struct kiwi_fw_pages *pages, struct sg_table *sgt)
{
	const struct kiwi_fw_page_chunk *chunk;
	struct scatterlist *sg;
	unsigned int n;
	int ret;

	ret = sg_alloc_table(sgt, pages->nr_runs, GFP_KERNEL_ACCOUNT);
	if (ret) {
		/* It gave the list back, but still tells how long that had become. */
		*sgt = (struct sg_table) {};
		return ret;
	}
	sg = sgt->sgl;
	for (chunk = pages->first; chunk; chunk = chunk->next) {
		for (n = 0; n < chunk->nr; n++, sg = sg_next(sg))
			sg_set_page(sg, chunk->runs[n].page, chunk->runs[n].nr << PAGE_SHIFT, 0);
	}
	return 0;
}

/**
 * kiwi_fw_pages_unpin() - unpin all pages, that nobody has written
 * @pages: so far
 */
void kiwi_fw_pages_unpin(const struct kiwi_fw_pages *pages)
{
	const struct kiwi_fw_page_chunk *chunk;
	unsigned int n;

	for (chunk = pages->first; chunk; chunk = chunk->next) {
		for (n = 0; n < chunk->nr; n++)
			unpin_user_page_range_dirty_lock(chunk->runs[n].page, chunk->runs[n].nr,
							 false);
		cond_resched();
	}
}

/**
 * kiwi_fw_pages_free() - forget the runs
 * @pages: unpinned, or in a scatter list
 */
void kiwi_fw_pages_free(struct kiwi_fw_pages *pages)
{
	struct kiwi_fw_page_chunk *chunk, *next;

	for (chunk = pages->first; chunk; chunk = next) {
		next = chunk->next;
		kfree(chunk);
	}
}
