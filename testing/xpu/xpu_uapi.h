/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * xpu: the ioctl interface of /dev/xpuN, the stand-in accelerator.
 *
 * A buffer is a DMA-buf: XPU_ALLOC returns its file descriptor, and it lives until
 * the last descriptor, mapping and importer of it are gone. mmap() of the descriptor
 * gives the CPU its bytes: write-combined in VRAM, cached in system memory.
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
 *   EACCES		the destination is a DMA-buf that was handed over read-only
 *   ENOSPC		no free range of VRAM is large enough
 *   ENOMEM		system memory does not suffice
 *   EBUSY		the buffer is pinned where it is by an importer
 *   ETIMEDOUT		an importer did not finish with the buffer, or the copy engine
 *			with a command, in time
 *   EIO		the copy engine failed: the bus refused an access, or it needs a reset
 *   EAGAIN		the device is being reset
 *   ENODEV		the device is gone, or the buffer is revoked
 *   EINTR, ERESTARTSYS	a signal arrived; a copy may be done in part
 * XPU_COPY also passes on what the exporter of a foreign DMA-buf returned.
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

/* bits of @features */
#define XPU_FEATURE_MOVE_NOTIFY		0x00000001U	/* mapped buffers can move */
#define XPU_FEATURE_P2P_DISTANCE	0x00000002U	/* peers that cannot reach VRAM are known */

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
 * @features: out: XPU_FEATURE_*, of this kernel
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
 * @pins: out: pins that importers hold
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

#endif /* XPU_UAPI_H */
