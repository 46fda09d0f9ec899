/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * xpu: the stand-in accelerator from user space. Functions that return int give a
 * negative errno on failure; a buffer is a DMA-buf descriptor, closed with close().
 */
#ifndef XPU_H
#define XPU_H

#include <stddef.h>
#include <stdint.h>

#include "xpu_cmd.h"
#include "xpu_regs.h"	/* states and faults of kernels */
#include "xpu_uapi.h"

/* Opens /dev/xpuINDEX. */
int xpu_open(unsigned int index);
int xpu_query(int xpu, struct xpu_query *query);

/* A buffer in one range of VRAM, or in chunks of chunk_size if that is not 0. */
int xpu_alloc(int xpu, uint64_t length, uint32_t chunk_size, uint32_t flags);
int xpu_query_buf(int xpu, int buf, struct xpu_query_buf *query);
int xpu_evict(int xpu, int buf);
int xpu_return(int xpu, int buf);
int xpu_revoke(int xpu, int buf);
int xpu_fail_next_map(int xpu, int buf, unsigned int error);

/* The CPU's view of a buffer, unmapped with munmap(); NULL and errno on failure. */
void *xpu_map(int buf, size_t length);

/* The copy engine: between buffers, and between a buffer and memory of the caller. */
int xpu_copy(int xpu, int dst, uint64_t dst_offset, int src, uint64_t src_offset,
	     uint64_t length, uint32_t flags);
int xpu_write(int xpu, int dst, uint64_t dst_offset, const void *src, uint64_t length);
int xpu_read(int xpu, void *dst, int src, uint64_t src_offset, uint64_t length);

/* A window that kernels may write to; the number of it, which xpu_doorbell_release() takes. */
int xpu_doorbell_import(int xpu, int dmabuf, uint64_t *length);
/* The same for tests of exporters: see XPU_DOORBELL_KEEP. */
int xpu_doorbell_keep(int xpu, int dmabuf, uint64_t *length);
int xpu_doorbell_release(int xpu, unsigned int doorbell);

/* The number of the queue, which commands name; add->size is set here. */
int xpu_queue_add(int xpu, struct xpu_queue_add *add);
int xpu_queue_remove(int xpu, unsigned int queue);

/*
 * Runs the commands at the start of list, count of them for each thread. Commands name
 * buffers by their place among bufs. Gives the number of the kernel, for xpu_wait().
 */
int xpu_launch(int xpu, int list, uint32_t count, uint32_t threads, const int *bufs,
	       unsigned int nbufs, uint32_t timeout_us, uint32_t *kernel);
int xpu_wait(int xpu, uint32_t kernel, uint32_t timeout_ms, struct xpu_wait *wait);
int xpu_stop(int xpu, uint32_t kernel);

#endif /* XPU_H */
