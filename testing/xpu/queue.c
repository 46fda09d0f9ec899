// SPDX-License-Identifier: GPL-2.0
/*
 * Queues of network devices, as the execution engine works them. Their format is the
 * caller's word; where they are in VRAM is checked here.
 */
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/slab.h>

#include "xpu_drv.h"

#define XPU_QUEUE_BUFFERS	7	/* ring, records, completions, proxy, error words */

#define XPU_QUEUE_ENTRIES_MAX	SZ_64K

/**
 * struct xpu_queue - a queue
 * @file: owner
 * @number: in the engine
 * @doorbell: it uses, -1 for none
 * @count: entries of @bufs
 * @bufs: held
 * @regs: what the engine gets
 */
struct xpu_queue {
	struct xpu_file *file;
	u32 number;
	int doorbell;
	unsigned int count;
	struct xpu_buf *bufs[XPU_QUEUE_BUFFERS];
	struct xpu_ex_queue regs;
};

static void xpu_queue_free(struct xpu_queue *queue)
{
	while (queue->count)
		xpu_buf_drop(queue->bufs[--queue->count]);
	kfree(queue);
}

/* @at is set to where in VRAM the bytes are, and the buffer is held. */
static int xpu_queue_place(struct xpu_queue *queue, const struct xpu_mem *mem, u64 size,
			   unsigned int align, __le64 *at)
{
	struct xpu_buf *buf;
	u64 start;

	if (mem->reserved || !IS_ALIGNED(mem->offset, align))
		return -EINVAL;
	buf = xpu_buf_hold(queue->file->xdev, mem->fd, &start);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	queue->bufs[queue->count++] = buf;
	if (size > buf->dmabuf->size || mem->offset > buf->dmabuf->size - size)
		return -EINVAL;
	*at = cpu_to_le64(start + mem->offset);
	return 0;
}

static int xpu_queue_word(struct xpu_queue *queue, const struct xpu_mem *mem, u64 size, __le64 *at)
{
	if (mem->fd != -1)
		return xpu_queue_place(queue, mem, size, size, at);
	*at = cpu_to_le64(XPU_EX_NONE);
	return mem->reserved || mem->offset ? -EINVAL : 0;
}

static int xpu_queue_places(struct xpu_queue *queue, const struct xpu_queue_add *add)
{
	struct xpu_ex_queue *regs = &queue->regs;
	int ret;

	ret = xpu_queue_place(queue, &add->ring, (u64)add->count * add->stride, 8, &regs->ring);
	if (!ret)
		ret = xpu_queue_place(queue, &add->cq, (u64)add->cq_count * add->cq_stride, 8,
				      &regs->cq);
	if (!ret)
		ret = xpu_queue_word(queue, &add->record, 4, &regs->record);
	if (!ret)
		ret = xpu_queue_word(queue, &add->cq_record, 4, &regs->cq_record);
	if (!ret)
		ret = xpu_queue_word(queue, &add->proxy, 8, &regs->proxy);
	if (!ret)
		ret = xpu_queue_word(queue, &add->error[0], 4, &regs->error[0]);
	if (!ret)
		ret = xpu_queue_word(queue, &add->error[1], 4, &regs->error[1]);
	return ret;
}

static bool xpu_queue_ring_good(u32 count, u32 entry_size, u32 stride)
{
	return is_power_of_2(count) && count <= XPU_QUEUE_ENTRIES_MAX && entry_size &&
	       entry_size <= stride && stride <= U16_MAX;
}

static int xpu_queue_check(const struct xpu_queue_add *add)
{
	bool proxy = add->flags & XPU_QUEUE_PROXY;

	if ((add->flags & ~XPU_QUEUE_PROXY) || add->reserved || proxy != (add->proxy.fd != -1) ||
	    (proxy && (add->doorbell || add->db_offset)) ||
	    !xpu_queue_ring_good(add->count, add->entry_size, add->stride) ||
	    !xpu_queue_ring_good(add->cq_count, add->cq_entry_size, add->cq_stride) ||
	    !IS_ALIGNED(add->cq_stride, 8) || !add->max_outstanding ||
	    add->max_outstanding > add->count || add->index > U16_MAX ||
	    add->cq_progress > add->cq_entry_size ||
	    add->cq_entry_size - add->cq_progress < 4)
		return -EINVAL;
	if (add->fence != XPU_QUEUE_FENCE_SYSTEM || add->index_bits != 16 || add->db_width != 8 ||
	    !add->db_index_bits || add->db_index_bits > 32 || add->db_index_shift > 63 ||
	    add->db_index_shift + add->db_index_bits > 64 || !IS_ALIGNED(add->db_offset, 8) ||
	    add->cq_progress % 8 > 4 || add->cq_progress % 2 ||
	    (add->cq_owner != XPU_QUEUE_OWNER_PHASE && add->cq_owner != XPU_QUEUE_OWNER_COUNTER))
		return -EOPNOTSUPP;
	return 0;
}

static void xpu_queue_translate(struct xpu_queue *queue, const struct xpu_queue_add *add)
{
	struct xpu_ex_queue *regs = &queue->regs;

	regs->db_value = cpu_to_le64(add->db_value);
	regs->doorbell = cpu_to_le32(add->doorbell);
	regs->db_offset = cpu_to_le32(add->db_offset);
	regs->db_index_shift = add->db_index_shift;
	regs->db_index_bits = add->db_index_bits;
	regs->fence = add->fence;
	regs->index_bits = add->index_bits;
	regs->count = cpu_to_le32(add->count);
	regs->entry_size = cpu_to_le16(add->entry_size);
	regs->stride = cpu_to_le16(add->stride);
	regs->index = cpu_to_le32(add->index);
	regs->max_outstanding = cpu_to_le32(add->max_outstanding);
	regs->max_inline = cpu_to_le32(add->max_inline);
	regs->cq_count = cpu_to_le32(add->cq_count);
	regs->cq_entry_size = cpu_to_le16(add->cq_entry_size);
	regs->cq_stride = cpu_to_le16(add->cq_stride);
	regs->cq_progress = cpu_to_le16(add->cq_progress);
	regs->cq_owner = add->cq_owner;
	regs->context = cpu_to_le32(queue->file->context);
}

static bool xpu_queue_revoked(const struct xpu_queue *queue)
{
	unsigned int i;

	for (i = 0; i < queue->count; i++)
		if (!READ_ONCE(queue->bufs[i]->store))
			return true;
	return false;
}

/* Hands the queue to the engine, with a doorbell that stays its own. */
static int xpu_queue_enable(struct xpu_exec *exec, struct xpu_queue *queue)
{
	void __iomem *regs = exec->regs + XPU_REG_EX_QUEUE(queue->number);
	int ret;

	BUILD_BUG_ON(sizeof(queue->regs) != XPU_EX_QUEUE_CTRL);
	lockdep_assert_held(&exec->lock);
	if (exec->stopped)
		return exec->stopped;
	if (xpu_queue_revoked(queue))
		return -ENODEV;
	if (queue->doorbell >= 0) {
		ret = xpu_doorbell_use(queue->file, queue->doorbell);
		if (ret)
			return ret;
	}
	__iowrite32_copy(regs, &queue->regs, sizeof(queue->regs) / 4);
	writel(XPU_EX_QUEUE_ENABLE, regs + XPU_EX_QUEUE_CTRL);
	if (readl(regs + XPU_EX_QUEUE_STATUS) == 1)
		return 0;
	if (queue->doorbell >= 0)
		xpu_doorbell_unuse(exec, queue->doorbell);
	return -EIO;
}

static int xpu_queue_publish(struct xpu_exec *exec, struct xpu_queue *queue)
{
	unsigned int i;
	int ret;

	lockdep_assert_held(&exec->lock);
	for (i = 0; i < XPU_EX_QUEUES && exec->queues[i]; i++)
		;
	if (i == XPU_EX_QUEUES)
		return -ENOSPC;
	queue->number = i;
	ret = xpu_queue_enable(exec, queue);
	if (!ret)
		exec->queues[i] = queue;
	return ret;
}

int xpu_queue_add(struct xpu_file *file, struct xpu_queue_add *add)
{
	struct xpu_exec *exec = &file->xdev->exec;
	struct xpu_queue *queue;
	int ret;

	ret = xpu_queue_check(add);
	if (ret)
		return ret;
	queue = kzalloc(sizeof(*queue), GFP_KERNEL_ACCOUNT);
	if (!queue)
		return -ENOMEM;
	queue->file = file;
	queue->doorbell = add->flags & XPU_QUEUE_PROXY ? -1 : (int)add->doorbell;
	if (!(add->flags & XPU_QUEUE_PROXY) && add->doorbell >= XPU_EX_DOORBELLS) {
		ret = -ENOENT;
		goto err;
	}
	ret = xpu_queue_places(queue, add);
	if (ret)
		goto err;
	xpu_queue_translate(queue, add);
	mutex_lock(&exec->lock);
	ret = xpu_queue_publish(exec, queue);
	add->queue = queue->number;
	mutex_unlock(&exec->lock);
	if (!ret)
		return 0;
err:
	xpu_queue_free(queue);
	return ret;
}

static void xpu_queue_disable(struct xpu_exec *exec, const struct xpu_queue *queue)
{
	writel(XPU_EX_QUEUE_DISABLE,
	       exec->regs + XPU_REG_EX_QUEUE(queue->number) + XPU_EX_QUEUE_CTRL);
}

static void xpu_queue_unpublish(struct xpu_exec *exec, struct xpu_queue *queue)
{
	lockdep_assert_held(&exec->lock);
	if (!exec->stopped) {
		xpu_queue_disable(exec, queue);
		xpu_exec_flush(exec);
	}
	if (queue->doorbell >= 0)
		xpu_doorbell_unuse(exec, queue->doorbell);
	exec->queues[queue->number] = NULL;
}

int xpu_queue_remove(struct xpu_file *file, u32 number)
{
	struct xpu_exec *exec = &file->xdev->exec;
	struct xpu_queue *queue = NULL;

	mutex_lock(&exec->lock);
	if (number < XPU_EX_QUEUES)
		queue = exec->queues[number];
	if (queue && queue->file != file)
		queue = NULL;
	if (queue)
		xpu_queue_unpublish(exec, queue);
	mutex_unlock(&exec->lock);
	if (!queue)
		return -ENOENT;
	xpu_queue_free(queue);
	return 0;
}

void xpu_queues_stop(struct xpu_exec *exec)
{
	unsigned int i;

	lockdep_assert_held(&exec->lock);
	for (i = 0; i < XPU_EX_QUEUES; i++)
		if (exec->queues[i])
			xpu_queue_disable(exec, exec->queues[i]);
}

/* A buffer is revoked: kernels that still want the queue are told by a fault. */
void xpu_queues_withdraw(struct xpu_exec *exec, struct xpu_buf *buf)
{
	unsigned int i, n;

	lockdep_assert_held(&exec->lock);
	for (i = 0; i < XPU_EX_QUEUES; i++) {
		struct xpu_queue *queue = exec->queues[i];

		for (n = 0; queue && n < queue->count; n++)
			if (queue->bufs[n] == buf)
				xpu_queue_disable(exec, queue);
	}
}

/* The file is closed; its kernels have ended. */
void xpu_queues_close(struct xpu_file *file)
{
	unsigned int i;

	for (i = 0; i < XPU_EX_QUEUES; i++)
		xpu_queue_remove(file, i);
}
