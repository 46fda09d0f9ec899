/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * A send queue of a network device, handed to kernels of the accelerator: what a runtime
 * has to do that stands on the drivers of both. It knows the descriptor of the queue alone, and
 * nothing of the device behind it.
 */
#ifndef GPU_ADOPT_H
#define GPU_ADOPT_H

#include <kiwi/snic.h>
#include <xpu.h>

/**
 * struct gpu_queue - a queue, and where its memory is
 * @sq: descriptor of the send queue
 * @cq: descriptor of its completion queue, which serves it alone
 * @sq_buf: buffer of the accelerator that @sq names as its ring
 * @record_buf: likewise as its record, if it has one
 * @cq_buf: buffer of the completions and of the record of @cq
 * @error: error page, or fd -1: kernels do not look at one
 * @proxy: 64-bit word that a thread of the CPU reads, to ring for the kernels; or fd -1
 * @doorbell: number of the imported doorbell page of @sq; not looked at with @proxy
 *
 * Descriptors tell offsets, and not descriptors of buffers, which are the caller's own.
 */
struct gpu_queue {
	const struct kiwi_snic_queue_query *sq;
	const struct kiwi_snic_queue_query *cq;
	int sq_buf;
	int record_buf;
	int cq_buf;
	struct xpu_mem error;
	struct xpu_mem proxy;
	unsigned int doorbell;
};

/*
 * Gives the number of the queue, which commands name and xpu_queue_remove() takes; -EINVAL
 * when the descriptors are not those of a send queue and its completion queue in buffers,
 * -EOPNOTSUPP when the accelerator cannot work such queues, or what XPU_QUEUE_ADD fails with.
 */
int gpu_adopt(int xpu, const struct gpu_queue *queue);

#endif /* GPU_ADOPT_H */
