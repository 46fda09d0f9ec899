// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a process: pinned for long, counted against RLIMIT_MEMLOCK as RDMA core does.
 * Neighbouring pages make one entry of a scatter list, which is mapped in one go.
 */
#include <linux/capability.h>
#include <linux/dma-mapping.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <kiwi/compat.h>
#include <uapi/kiwi/snic.h>

#include "core.h"
#include "mem.h"
#include "pages.h"

#define KIWI_FW_PIN_BATCH	512

/**
 * struct kiwi_fw_user - pinned memory
 * @mem: what the caller sees
 * @dev: it is mapped for
 * @mm: that is charged
 * @start: address of the first page
 * @pages: pinned and charged
 * @table: the pages
 * @writable: the device may have written
 * @mapped: @table is mapped
 * @offset: of the memory in the first page
 * @vaddr: first page as the kernel sees it, or NULL
 */
struct kiwi_fw_user {
	struct kiwi_fw_mem mem;
	struct device *dev;
	struct mm_struct *mm;
	unsigned long start;
	unsigned long pages;
	struct sg_table table;
	bool writable;
	bool mapped;
	unsigned int offset;
	void *vaddr;
};

static enum dma_data_direction kiwi_fw_user_dir(const struct kiwi_fw_user *user)
{
	return user->writable ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

static int kiwi_fw_user_charge(struct kiwi_fw_user *user, struct kiwi_fw_err *err)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long pinned = atomic64_add_return(user->pages, &user->mm->pinned_vm);

	if (pinned <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(user->pages, &user->mm->pinned_vm);
	err->value = (u64)pinned << PAGE_SHIFT;
	err->limit = rlimit(RLIMIT_MEMLOCK);
	return -ENOMEM;
}

static void kiwi_fw_user_uncharge(struct kiwi_fw_user *user)
{
	atomic64_sub(user->pages, &user->mm->pinned_vm);
}

static int kiwi_fw_user_pin_batch(const struct kiwi_fw_user *user, struct kiwi_fw_pages *pages,
				  struct page **batch, unsigned int size)
{
	unsigned int flags = user->writable ? FOLL_LONGTERM | FOLL_WRITE : KIWI_FOLL_LONGTERM_READ;
	unsigned long done = user->pages - pages->left;
	int pinned;

	if (fatal_signal_pending(current))
		return -EINTR;
	cond_resched();
	pinned = pin_user_pages_fast(user->start + (done << PAGE_SHIFT),
				     min_t(unsigned long, pages->left, size), flags, batch);
	if (pinned <= 0)
		return pinned ?: -EFAULT;
	return kiwi_fw_pages_add(pages, batch, pinned);
}

static int kiwi_fw_user_pin_all(const struct kiwi_fw_user *user, struct kiwi_fw_pages *pages)
{
	unsigned int size = min_t(unsigned long, user->pages, KIWI_FW_PIN_BATCH);
	struct page **batch;
	int ret = 0;

	batch = kmalloc_array(size, sizeof(*batch), GFP_KERNEL);
	if (!batch)
		return -ENOMEM;
	while (pages->left && !ret)
		ret = kiwi_fw_user_pin_batch(user, pages, batch, size);
	kfree(batch);
	return ret;
}

static int kiwi_fw_user_pin(struct kiwi_fw_user *user)
{
	struct kiwi_fw_pages pages = { .left = user->pages };
	int ret;

	ret = kiwi_fw_user_pin_all(user, &pages);
	if (!ret)
		ret = kiwi_fw_pages_table(&pages, &user->table);
	if (ret)
		kiwi_fw_pages_unpin(&pages);
	kiwi_fw_pages_free(&pages);
	return ret;
}

/*
 * Memory may be registered more than once, so no mapping of it may move what the CPU sees. Where
 * a device would need that, kiwi_fw_mem_set_runs() refuses.
 */
#define KIWI_FW_USER_ATTRS	DMA_ATTR_SKIP_CPU_SYNC

static void kiwi_fw_user_unpin(struct kiwi_fw_user *user)
{
	bool dirty = user->writable && user->mapped;
	struct scatterlist *sg;
	unsigned int i;

	if (user->mapped)
		dma_unmap_sgtable(user->dev, &user->table, kiwi_fw_user_dir(user),
				  KIWI_FW_USER_ATTRS);
	for_each_sgtable_sg(&user->table, sg, i) {
		unpin_user_page_range_dirty_lock(sg_page(sg), sg->length >> PAGE_SHIFT, dirty);
		cond_resched();
	}
	sg_free_table(&user->table);
}

static int kiwi_fw_user_vmap(struct kiwi_fw_mem *mem, struct iosys_map *map)
{
	struct kiwi_fw_user *user = container_of(mem, struct kiwi_fw_user, mem);
	struct sg_page_iter iter;
	unsigned long n = 0;
	struct page **pages;

	pages = kvmalloc_array(user->pages, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	for_each_sgtable_page(&user->table, &iter, 0)
		pages[n++] = sg_page_iter_page(&iter);
	user->vaddr = vmap(pages, user->pages, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	if (!user->vaddr)
		return -ENOMEM;
	iosys_map_set_vaddr(map, user->vaddr + user->offset);
	return 0;
}

static void kiwi_fw_user_release(struct kiwi_fw_mem *mem)
{
	struct kiwi_fw_user *user = container_of(mem, struct kiwi_fw_user, mem);

	vunmap(user->vaddr);
	kiwi_fw_user_unpin(user);
	kiwi_fw_user_uncharge(user);
	mmdrop(user->mm);
	kiwi_fw_mem_free_runs(mem);
	kfree(user);
}

static const struct kiwi_fw_mem_ops kiwi_fw_user_ops = {
	.vmap = kiwi_fw_user_vmap,
	.release = kiwi_fw_user_release,
};

static int kiwi_fw_user_map(struct kiwi_fw *fw, struct kiwi_fw_user *user, u64 length)
{
	int ret;

	ret = kiwi_fw_user_pin(user);
	if (ret)
		return ret;
	ret = dma_map_sgtable(user->dev, &user->table, kiwi_fw_user_dir(user),
			      KIWI_FW_USER_ATTRS);
	if (ret)
		return ret == -ENOMEM ? -ENOMEM : -EOPNOTSUPP;
	user->mapped = true;
	return kiwi_fw_mem_set_runs(fw, &user->mem, &user->table, user->offset, length);
}

/**
 * kiwi_fw_mem_user() - pin memory of the calling process for the device
 * @fw: device
 * @addr: virtual address, as the process passes it
 * @length: bytes
 * @writable: the device may write it
 * @err: with -EINVAL and -ENOMEM: what was asked for and the limit
 *
 * Return: the memory or an ERR_PTR: -EINVAL for a range that wraps or is empty, -ENOMEM,
 * -EFAULT, -EOPNOTSUPP if it can be mapped only with bounce buffers, -EINTR if the process
 * is killed.
 */
struct kiwi_fw_mem *kiwi_fw_mem_user(struct kiwi_fw *fw, u64 addr, u64 length, bool writable,
				     struct kiwi_fw_err *err)
{
	struct kiwi_fw_user *user;
	u64 end;
	int ret;

	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	addr = untagged_addr((unsigned long)addr);
	if (!length || check_add_overflow(addr, length - 1, &end) || end > ULONG_MAX - PAGE_SIZE) {
		err->value = length;
		return ERR_PTR(-EINVAL);
	}

	user = kzalloc(sizeof(*user), GFP_KERNEL_ACCOUNT);
	if (!user)
		return ERR_PTR(-ENOMEM);
	user->mem.ops = &kiwi_fw_user_ops;
	user->mem.path.path = KIWI_PATH_SYSTEM;
	user->mem.path.reason = KIWI_PATH_USER_MEMORY;
	user->dev = &fw->pdev->dev;
	user->mm = current->mm;
	user->start = addr & PAGE_MASK;
	user->offset = offset_in_page(addr);
	user->pages = (end >> PAGE_SHIFT) - (addr >> PAGE_SHIFT) + 1;
	user->writable = writable;

	ret = kiwi_fw_user_charge(user, err);
	if (ret)
		goto err_free;
	mmgrab(user->mm);
	ret = kiwi_fw_user_map(fw, user, length);
	if (ret) {
		kiwi_fw_user_release(&user->mem);
		return ERR_PTR(ret);
	}
	return &user->mem;

err_free:
	kfree(user);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_mem_user, "KIWI_FW");
