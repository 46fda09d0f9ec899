/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A range of a BAR that user space maps and accelerators import, and that can be taken away
 * from both at any time.
 */
#ifndef KIWI_BAR_H
#define KIWI_BAR_H

#include <linux/types.h>

struct dma_buf;
struct kiwi_bar;
struct module;
struct pci_dev;
struct vm_area_struct;

/**
 * struct kiwi_bar_range - what a range is made of
 * @owner: module of @idle
 * @pdev: the function, which is there until the range is revoked
 * @phys: CPU physical address, a multiple of the page size
 * @size: bytes, likewise
 * @write_combined: how user space maps it: write-combined, or uncached
 * @fill: what bytes user space reads after the range was revoked
 * @idle: called once, when the range is revoked and nobody has it mapped any more, so that
 *	it may become another's; may take mutexes, none of which is held when a function of
 *	this file is called
 * @arg: for @idle
 */
struct kiwi_bar_range {
	struct module *owner;
	struct pci_dev *pdev;
	phys_addr_t phys;
	size_t size;
	bool write_combined;
	u8 fill;
	void (*idle)(void *arg);
	void *arg;
};

struct kiwi_bar *kiwi_bar_new(const struct kiwi_bar_range *range);
void kiwi_bar_put(struct kiwi_bar *bar);
int kiwi_bar_mmap(struct kiwi_bar *bar, struct vm_area_struct *vma);
struct dma_buf *kiwi_bar_dmabuf(struct kiwi_bar *bar);
void kiwi_bar_revoke(struct kiwi_bar *bar);

#endif /* KIWI_BAR_H */
