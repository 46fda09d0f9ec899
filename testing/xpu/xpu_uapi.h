/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * xpu: the ioctl interface of /dev/xpuN, the stand-in accelerator.
 *
 * A buffer is a DMA-buf: XPU_ALLOC returns its file descriptor, and it lives until
 * the last descriptor, mapping and importer of it are gone. mmap() of the descriptor
 * gives the CPU its bytes: write-combined in VRAM, cached in system memory.
 *
 * Doorbells, queues and kernels belong to the open file that made them, are named by
 * numbers, and end with the file. A queue is one of a network device, which kernels
 * (xpu_cmd.h) post work to. Buffers that a queue or kernel uses must not be scattered, and
 * stay in VRAM as long as it lives. A revoked buffer ends the kernels that use it, and takes
 * queues away; a doorbell that its exporter takes back is never rung again. A reset of the
 * device ends kernels, queues and doorbells.
 *
 * Rules of every ioctl: the argument starts with @size, the size of the structure
 * the caller was built with, and @flags. A longer structure than the kernel knows is
 * accepted when the excess is zero; a shorter one is extended with zero. Unknown flags
 * and non-zero reserved fields are refused.
 *
 * errno, the same for every ioctl:
 *   EINVAL		a field is out of range, or a reserved one is not zero; or a
 *			descriptor names no buffer of this device
 *   E2BIG		the structure is longer than known and the excess is not zero
 *   EFAULT		the argument, or user memory handed over, cannot be accessed
 *   ENOTTY		no such ioctl
 *   EBADF		a descriptor handed over is not open
 *   EACCES		the destination or doorbell is a DMA-buf that was handed over read-only
 *   ENOENT		the file has no such doorbell, queue or kernel
 *   EOPNOTSUPP		a doorbell cannot be written by a peer; a queue is none that the
 *			engine knows how to work
 *   ENOSPC		no free range of VRAM is large enough; or there are as many doorbells,
 *			queues or kernels as there can be
 *   ENOMEM		system memory does not suffice
 *   EBUSY		the buffer is pinned where it is, by an importer, queue or kernel; or a
 *			queue uses the doorbell
 *   ETIMEDOUT		an importer did not finish with the buffer, or the copy engine
 *			with a command, or a kernel at all, in time
 *   EIO		the copy engine failed: the bus refused an access, or it needs a reset
 *   EAGAIN		the device is being reset
 *   ENODEV		the device is gone, or the buffer or doorbell is revoked
 *   EINTR, ERESTARTSYS	a signal arrived; a copy may be done in part
 * XPU_COPY and XPU_DOORBELL_IMPORT also pass on what the exporter of a foreign DMA-buf
 * returned.
 */
#ifndef XPU_UAPI_H
#define XPU_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define XPU_IOC_TYPE		0xE7

#define XPU_QUERY		_IO(XPU_IOC_TYPE, 0x00)
#define XPU_ALLOC		_IO(XPU_IOC_TYPE, 0x01)
#define XPU_QUERY_BUF		_IO(XPU_IOC_TYPE, 0x02)
#define XPU_EVICT		_IO(XPU_IOC_TYPE, 0x03)
#define XPU_RETURN		_IO(XPU_IOC_TYPE, 0x04)
#define XPU_REVOKE		_IO(XPU_IOC_TYPE, 0x05)
#define XPU_COPY		_IO(XPU_IOC_TYPE, 0x06)
#define XPU_FAIL_NEXT_MAP	_IO(XPU_IOC_TYPE, 0x07)
#define XPU_DOORBELL_IMPORT	_IO(XPU_IOC_TYPE, 0x08)
#define XPU_DOORBELL_RELEASE	_IO(XPU_IOC_TYPE, 0x09)
#define XPU_QUEUE_ADD		_IO(XPU_IOC_TYPE, 0x0a)
#define XPU_QUEUE_REMOVE	_IO(XPU_IOC_TYPE, 0x0b)
#define XPU_LAUNCH		_IO(XPU_IOC_TYPE, 0x0c)
#define XPU_WAIT		_IO(XPU_IOC_TYPE, 0x0d)
#define XPU_STOP		_IO(XPU_IOC_TYPE, 0x0e)

/* bits of @features */
#define XPU_FEATURE_MOVE_NOTIFY		0x00000001U	/* mapped buffers can move */
#define XPU_FEATURE_P2P_DISTANCE	0x00000002U	/* peers that cannot reach VRAM are known */
#define XPU_FEATURE_TRAP		0x00000004U	/* accesses to freed VRAM are counted */

/**
 * struct xpu_query - XPU_QUERY
 * @size: sizeof(struct xpu_query)
 * @flags: 0
 * @vram_size: out: bytes of VRAM
 * @vram_free: out: bytes of VRAM not allocated
 * @vram_largest: out: bytes of the largest free range
 * @dma_reads: out: transactions of the copy engine that read from the bus
 * @dma_read_bytes: out
 * @dma_writes: out: transactions of the copy engine that wrote to the bus
 * @dma_write_bytes: out
 * @dma_errors: out: transactions that the bus refused
 * @commands: out: copy commands started
 * @resets: out: resets that the device has seen
 * @features: out: XPU_FEATURE_*, of this kernel and device
 * @kernels: out: kernels started
 * @kernel_commands: out: commands of kernels done
 * @kernel_faults: out: kernels that failed
 * @wqes: out: entries that kernels wrote to queues
 * @doorbells: out: doorbells that they wrote to the bus
 * @doorbells_lost: out: of these: to where nobody is
 * @proxy_rings: out: producer indices that they left for a CPU
 * @polls: out: looks at completions and awaited words
 * @stale_reads: out: with XPU_FEATURE_TRAP: accesses from outside to freed VRAM
 * @stale_writes: out: likewise
 */
struct xpu_query {
	__u32 size;
	__u32 flags;
	__aligned_u64 vram_size;
	__aligned_u64 vram_free;
	__aligned_u64 vram_largest;
	__aligned_u64 dma_reads;
	__aligned_u64 dma_read_bytes;
	__aligned_u64 dma_writes;
	__aligned_u64 dma_write_bytes;
	__aligned_u64 dma_errors;
	__aligned_u64 commands;
	__u32 resets;
	__u32 features;
	__aligned_u64 kernels;
	__aligned_u64 kernel_commands;
	__aligned_u64 kernel_faults;
	__aligned_u64 wqes;
	__aligned_u64 doorbells;
	__aligned_u64 doorbells_lost;
	__aligned_u64 proxy_rings;
	__aligned_u64 polls;
	__aligned_u64 stale_reads;
	__aligned_u64 stale_writes;
};

/* flags of XPU_ALLOC */
#define XPU_ALLOC_SCATTERED	0x00000001U	/* no two chunks of @chunk_size can be joined */
#define XPU_ALLOC_NO_P2P	0x00000002U	/* refuse peers: they get system memory */

/**
 * struct xpu_alloc - XPU_ALLOC: a buffer of zeroed VRAM
 * @size: sizeof(struct xpu_alloc)
 * @flags: XPU_ALLOC_*
 * @length: bytes, a multiple of the page size, and of @chunk_size if scattered
 * @chunk_size: bytes, a multiple of the page size; 0 unless scattered
 * @fd: out: DMA-buf
 *
 * A buffer that is not scattered is one range, aligned to the largest power of two
 * that its length allows (at most 1 GiB) if there is such a range.
 */
struct xpu_alloc {
	__u32 size;
	__u32 flags;
	__aligned_u64 length;
	__u32 chunk_size;
	__s32 fd;
};

/* values of @placement */
#define XPU_PLACE_REVOKED	0
#define XPU_PLACE_VRAM		1
#define XPU_PLACE_SYSTEM	2

/**
 * struct xpu_query_buf - XPU_QUERY_BUF
 * @size: sizeof(struct xpu_query_buf)
 * @flags: 0
 * @fd: DMA-buf of this device
 * @placement: out: XPU_PLACE_*
 * @length: out: bytes
 * @attachments: out: importers attached
 * @mappings: out: mappings that importers hold
 * @pins: out: pins that importers, queues and kernels hold
 * @moves: out: how often the buffer has moved
 */
struct xpu_query_buf {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 placement;
	__aligned_u64 length;
	__u32 attachments;
	__u32 mappings;
	__u32 pins;
	__u32 moves;
};

/**
 * struct xpu_buf_op - XPU_EVICT, XPU_RETURN, XPU_REVOKE
 * @size: sizeof(struct xpu_buf_op)
 * @flags: 0
 * @fd: DMA-buf of this device
 * @reserved: 0
 *
 * XPU_EVICT moves the buffer to system memory and XPU_RETURN back to VRAM; both do
 * nothing if it is there. XPU_REVOKE takes its bytes away for good: importers are
 * told, accesses by the CPU end in SIGBUS.
 */
struct xpu_buf_op {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 reserved;
};

/* flags of XPU_COPY */
#define XPU_COPY_SRC_USER	0x00000001U	/* the source is memory of the caller */
#define XPU_COPY_DST_USER	0x00000002U	/* the destination is memory of the caller */
#define XPU_COPY_NO_P2P		0x00000004U	/* import as a device without peer-to-peer */

/**
 * struct xpu_copy - XPU_COPY: bytes moved by the copy engine
 * @size: sizeof(struct xpu_copy)
 * @flags: XPU_COPY_*
 * @src_fd: DMA-buf, of this device or another exporter; 0 with XPU_COPY_SRC_USER
 * @dst_fd: DMA-buf, of this device or another exporter; 0 with XPU_COPY_DST_USER
 * @src_offset: offset in the DMA-buf; address with XPU_COPY_SRC_USER
 * @dst_offset: offset in the DMA-buf; address with XPU_COPY_DST_USER
 * @length: bytes
 *
 * Source and destination must not overlap, and are not both memory of the caller.
 */
struct xpu_copy {
	__u32 size;
	__u32 flags;
	__s32 src_fd;
	__s32 dst_fd;
	__aligned_u64 src_offset;
	__aligned_u64 dst_offset;
	__aligned_u64 length;
};

/**
 * struct xpu_fail_next_map - XPU_FAIL_NEXT_MAP: for tests of importers
 * @size: sizeof(struct xpu_fail_next_map)
 * @flags: 0
 * @fd: DMA-buf of this device
 * @error: errno that the next mapping of the buffer by an importer fails with;
 *         0: it returns no table at all
 */
struct xpu_fail_next_map {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 error;
};

/* flags of XPU_DOORBELL_IMPORT */
#define XPU_DOORBELL_KEEP	0x00000001U	/* for tests of exporters: write on when revoked */

/**
 * struct xpu_doorbell_import - XPU_DOORBELL_IMPORT: a window that kernels may write to
 * @size: sizeof(struct xpu_doorbell_import)
 * @flags: XPU_DOORBELL_KEEP: the engine keeps the bus address when the exporter takes the page
 *	back, as a GPU does whose driver took it from page tables and is told nothing
 * @fd: DMA-buf of a network device; it must stay in the device for this peer
 * @doorbell: out: number
 * @length: out: bytes that can be reached
 */
struct xpu_doorbell_import {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 doorbell;
	__aligned_u64 length;
};

/**
 * struct xpu_object - XPU_DOORBELL_RELEASE, XPU_QUEUE_REMOVE, XPU_STOP
 * @size: sizeof(struct xpu_object)
 * @flags: 0
 * @number: of the doorbell, queue or kernel
 * @reserved: 0
 *
 * When XPU_DOORBELL_RELEASE or XPU_QUEUE_REMOVE returns, the engine accesses nothing of it.
 * XPU_STOP ends a kernel where it is; XPU_WAIT then tells that.
 */
struct xpu_object {
	__u32 size;
	__u32 flags;
	__u32 number;
	__u32 reserved;
};

/**
 * struct xpu_mem - a place in a buffer
 * @fd: DMA-buf of this device; -1: nothing, where that is allowed
 * @reserved: 0
 * @offset: bytes; 0 with nothing
 */
struct xpu_mem {
	__s32 fd;
	__u32 reserved;
	__aligned_u64 offset;
};

/* values of @fence and @cq_owner: as in the descriptor of the network device's driver */
#define XPU_QUEUE_FENCE_SYSTEM	1
#define XPU_QUEUE_OWNER_PHASE	2
#define XPU_QUEUE_OWNER_COUNTER	3

/* flags of XPU_QUEUE_ADD */
#define XPU_QUEUE_PROXY		0x00000001U	/* a CPU rings: @proxy in place of a doorbell */

/**
 * struct xpu_queue_add - XPU_QUEUE_ADD: a send queue that kernels may post to
 * @size: sizeof(struct xpu_queue_add)
 * @flags: XPU_QUEUE_PROXY or 0
 * @ring: first entry
 * @record: 32-bit producer index, or nothing
 * @cq: first completion; the completion queue serves this queue alone
 * @cq_record: 32-bit count of completions consumed, or nothing
 * @proxy: 64-bit count of entries handed over, for a CPU to ring; else nothing
 * @error: two 32-bit words that are not 0 after an error, such as one of the device and one
 *	of the queue; either may be nothing
 * @db_value: constant part of the doorbell's value
 * @doorbell: number; 0 with XPU_QUEUE_PROXY, as is @db_offset
 * @db_offset: of the register in the window
 * @db_width: bytes of the store: 8
 * @db_index_shift: where the index stands in the value
 * @db_index_bits: and how wide
 * @fence: XPU_QUEUE_FENCE_SYSTEM
 * @count: entries, a power of two
 * @entry_size: bytes
 * @stride: bytes from one to the next
 * @index_bits: of an index: 16
 * @index: of the next entry: 0 for a new queue
 * @max_outstanding: entries handed over and not completed
 * @max_inline: bytes
 * @cq_count: completions, a power of two
 * @cq_entry_size: bytes
 * @cq_stride: bytes, a multiple of 8
 * @cq_owner: XPU_QUEUE_OWNER_*
 * @cq_progress: offset in a completion of the 16-bit index of entries done; the status
 *	stands 3 bytes behind it, in the same 8 bytes
 * @queue: out: number
 * @reserved: 0
 *
 * The caller vouches for the values: a wrong one harms his own queue and buffers.
 */
struct xpu_queue_add {
	__u32 size;
	__u32 flags;
	struct xpu_mem ring;
	struct xpu_mem record;
	struct xpu_mem cq;
	struct xpu_mem cq_record;
	struct xpu_mem proxy;
	struct xpu_mem error[2];
	__aligned_u64 db_value;
	__u32 doorbell;
	__u32 db_offset;
	__u32 db_width;
	__u32 db_index_shift;
	__u32 db_index_bits;
	__u32 fence;
	__u32 count;
	__u32 entry_size;
	__u32 stride;
	__u32 index_bits;
	__u32 index;
	__u32 max_outstanding;
	__u32 max_inline;
	__u32 cq_count;
	__u32 cq_entry_size;
	__u32 cq_stride;
	__u32 cq_owner;
	__u32 cq_progress;
	__u32 queue;
	__u32 reserved;
};

#define XPU_LAUNCH_BUFFERS	8
#define XPU_TIMEOUT_MAX_US	60000000U

/**
 * struct xpu_launch - XPU_LAUNCH: a kernel runs
 * @size: sizeof(struct xpu_launch)
 * @flags: 0
 * @list: commands (struct xpu_cmd); those of thread t begin with the t * @count-th
 * @count: commands of a thread, 1..4096
 * @threads: 1..64
 * @timeout_us: bound on a command that has none of its own, 1..XPU_TIMEOUT_MAX_US
 * @kernel: out: number
 * @buffer_fd: buffers that commands name by their index here; -1: none
 *
 * XPU_WAIT gives the number back; a kernel that nobody waits for keeps its place until the
 * file is closed.
 */
struct xpu_launch {
	__u32 size;
	__u32 flags;
	struct xpu_mem list;
	__u32 count;
	__u32 threads;
	__u32 timeout_us;
	__u32 kernel;
	__s32 buffer_fd[XPU_LAUNCH_BUFFERS];
};

/**
 * struct xpu_wait - XPU_WAIT: until a kernel has ended
 * @size: sizeof(struct xpu_wait)
 * @flags: 0
 * @kernel: number; not valid any more after success
 * @timeout_ms: 0..600000; 0 asks only
 * @state: out: enum xpu_ex_state
 * @fault: out: enum xpu_ex_fault
 * @thread: out: after a fault: thread
 * @command: out: after a fault: command in its list
 * @detail: out: after a fault: see enum xpu_ex_fault
 * @reserved: 0
 * @commands: out: commands done
 * @time_ns: out: from start to end
 */
struct xpu_wait {
	__u32 size;
	__u32 flags;
	__u32 kernel;
	__u32 timeout_ms;
	__u32 state;
	__u32 fault;
	__u32 thread;
	__u32 command;
	__u32 detail;
	__u32 reserved;
	__aligned_u64 commands;
	__aligned_u64 time_ns;
};

#endif /* XPU_UAPI_H */
