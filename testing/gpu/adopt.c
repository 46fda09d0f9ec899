// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <stdbool.h>

#include "adopt.h"

#define STATUS_BEHIND	3	/* bytes from index to status in a completion, as kernels load them */

static bool in_buffer(const struct kiwi_mem *mem)
{
	return mem->type == KIWI_MEM_DMABUF;
}

static struct xpu_mem place(const struct kiwi_mem *mem, int buf, uint32_t offset)
{
	if (!in_buffer(mem))
		return (struct xpu_mem){ .fd = -1 };
	return (struct xpu_mem){ .fd = buf, .offset = mem->addr + offset };
}

static struct xpu_mem word(const struct xpu_mem *page, uint32_t offset)
{
	struct xpu_mem at = *page;

	if (at.fd != -1)
		at.offset += offset;
	return at;
}

static int check(const struct kiwi_snic_queue_query *sq, const struct kiwi_snic_queue_query *cq)
{
	if (sq->kind != KIWI_QUEUE_SQ || cq->kind != KIWI_QUEUE_CQ || !in_buffer(&sq->ring) ||
	    !in_buffer(&cq->ring) || (sq->record.type && !in_buffer(&sq->record)))
		return -EINVAL;
	if (sq->owner != KIWI_OWNER_INDEX || cq->status_offset != cq->progress_offset + STATUS_BEHIND)
		return -EOPNOTSUPP;
	return 0;
}

/* The queue's own word; a descriptor without one has the offset 0, which is the device's. */
static void errors(struct xpu_queue_add *add, const struct gpu_queue *queue)
{
	add->error[0] = word(&queue->error, offsetof(struct kiwi_error_page, device));
	add->error[1] = word(&queue->error, queue->sq->error_offset);
}

int gpu_adopt(int xpu, const struct gpu_queue *queue)
{
	const struct kiwi_snic_queue_query *sq = queue->sq, *cq = queue->cq;
	bool proxy = queue->proxy.fd != -1;
	struct xpu_queue_add add = {
		.flags = proxy ? XPU_QUEUE_PROXY : 0,
		.ring = place(&sq->ring, queue->sq_buf, 0),
		.record = place(&sq->record, queue->record_buf, sq->record_offset),
		.cq = place(&cq->ring, queue->cq_buf, 0),
		.cq_record = place(&cq->record, queue->cq_buf, cq->record_offset),
		.proxy = queue->proxy,
		.db_value = sq->db_value,
		.doorbell = proxy ? 0 : queue->doorbell,
		.db_offset = proxy ? 0 : sq->db_offset,
		.db_width = sq->db_width,
		.db_index_shift = sq->db_index_shift,
		.db_index_bits = sq->db_index_bits,
		.fence = sq->fence,
		.count = sq->count,
		.entry_size = sq->entry_size,
		.stride = sq->stride,
		.index_bits = sq->index_bits,
		.max_outstanding = sq->max_outstanding,
		.max_inline = sq->max_inline,
		.cq_count = cq->count,
		.cq_entry_size = cq->entry_size,
		.cq_stride = cq->stride,
		.cq_owner = cq->owner,
		.cq_progress = cq->progress_offset,
	};
	int ret = check(sq, cq);

	if (ret)
		return ret;
	errors(&add, queue);
	return xpu_queue_add(xpu, &add);
}
