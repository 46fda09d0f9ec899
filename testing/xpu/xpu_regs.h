/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * xpu: registers of the stand-in accelerator. It plays a GPU and is no Kiwi part:
 * this is not firmware ABI, and both the device and its driver stand in this tree.
 *
 * Registers are little-endian, 32 or 64 bits wide and naturally aligned; a 64-bit
 * one may be accessed as two 32-bit halves. What is not listed reads zero and
 * drops writes.
 *
 * Constants are [ours], and the PCI IDs are provisional.
 */
#ifndef XPU_REGS_H
#define XPU_REGS_H

#include <linux/types.h>

#define XPU_PCI_VENDOR_ID		0x4b57
#define XPU_PCI_DEVICE_ID		0x0a00

/* BARs */
#define XPU_BAR_REGS			0	/* 64-bit, not prefetchable */
#define XPU_BAR_REGS_SIZE		0x10000
#define XPU_BAR_VRAM			2	/* 64-bit, prefetchable: all of VRAM */
#define XPU_MSIX_TABLE_OFFSET		0x8000	/* in BAR 0 */
#define XPU_MSIX_PBA_OFFSET		0xc000	/* in BAR 0 */

/* MSI-X vectors */
#define XPU_VECTOR_COPY			0
#define XPU_VECTOR_EXEC			1
#define XPU_VECTORS			2

/* Identity, read-only */
#define XPU_REG_MAGIC			0x000	/* u32 */
#define   XPU_MAGIC			0x30555058	/* "XPU0" */
#define XPU_REG_VERSION			0x004	/* u32: major << 16 | minor */
#define   XPU_VERSION_MAJOR		1
#define   XPU_VERSION_MINOR		1
#define XPU_REG_VRAM_SIZE		0x008	/* u64: a power of two, size of BAR 2 */
#define XPU_REG_RESETS			0x010	/* u32: resets since power-on */
#define XPU_REG_DMA_BITS		0x014	/* u32: width of bus addresses, 32..64 */
#define XPU_REG_CAPS			0x018	/* u32 */
#define   XPU_CAP_TRAP			0x00000001U	/* freed VRAM is trapped */

/*
 * Copy engine. It runs one command at a time: SRC, DST and LEN are latched when
 * START is written, START while a command runs is dropped. The command ends by
 * one MSI-X message and a STATE other than BUSY, with the TAG of its START.
 * Source and destination shall not overlap.
 *
 * A reset (FLR or bus reset) stops a running command with no interrupt and sets
 * the engine to IDLE. It keeps the counters; the content of VRAM is then undefined.
 */
#define XPU_REG_CE_SRC			0x100	/* u64: VRAM offset or bus address */
#define XPU_REG_CE_DST			0x108	/* u64: VRAM offset or bus address */
#define XPU_REG_CE_LEN			0x110	/* u64: bytes, 1..MAX_LEN */
#define XPU_REG_CE_CTRL			0x118	/* u32, write */
#define   XPU_CE_CTRL_START		0x00000001U
#define   XPU_CE_CTRL_ABORT		0x00000002U	/* alone; takes effect at once */
#define   XPU_CE_CTRL_SRC_BUS		0x00000010U	/* SRC is a bus address */
#define   XPU_CE_CTRL_DST_BUS		0x00000020U	/* DST is a bus address */
#define   XPU_CE_CTRL_CLEAR		0x00000040U	/* no source: zero VRAM at DST */
#define   XPU_CE_CTRL_TAG		0xffff0000U
#define XPU_REG_CE_STATUS		0x11c	/* u32, read-only */
#define   XPU_CE_STATUS_STATE		0x0000000fU	/* enum xpu_ce_state */
#define   XPU_CE_STATUS_ERROR		0x0000ff00U	/* enum xpu_ce_error */
#define   XPU_CE_STATUS_TAG		0xffff0000U
#define XPU_REG_CE_DONE			0x120	/* u64, read-only: bytes moved by the command */
#define XPU_REG_CE_FAULT		0x128	/* u64, read-only: bus address that failed */
#define XPU_REG_CE_MAX_LEN		0x130	/* u64, read-only */
#define XPU_REG_CE_TIMEOUT_MS		0x138	/* u32, read-only: bound on one command */

enum xpu_ce_state {
	XPU_CE_IDLE	= 0,
	XPU_CE_BUSY	= 1,
	XPU_CE_DONE	= 2,
	XPU_CE_FAILED	= 3,
	XPU_CE_ABORTED	= 4,
};

enum xpu_ce_error {
	XPU_CE_OK		= 0,
	XPU_CE_BAD_COMMAND	= 1,	/* CTRL has unknown bits, or LEN is out of bounds */
	XPU_CE_VRAM_RANGE	= 2,	/* offset + LEN lies beyond VRAM */
	XPU_CE_DMA		= 3,	/* the bus refused an access: see FAULT */
};

/*
 * Counters, read-only, free-running since power-on. A transaction is one access
 * of at most 4 KiB that crosses no 4 KiB boundary, as on PCI Express.
 */
#define XPU_REG_COUNTER(n)		(0x200 + 8 * (n))	/* u64, n: enum xpu_counter */

enum xpu_counter {
	XPU_CNT_DMA_READS	= 0,
	XPU_CNT_DMA_READ_BYTES	= 1,
	XPU_CNT_DMA_WRITES	= 2,
	XPU_CNT_DMA_WRITE_BYTES	= 3,
	XPU_CNT_DMA_ERRORS	= 4,
	XPU_CNT_COMMANDS	= 5,	/* copy commands started */
	/* execution engine */
	XPU_CNT_KERNELS		= 6,	/* started */
	XPU_CNT_KERNEL_COMMANDS	= 7,	/* done */
	XPU_CNT_WQES		= 8,	/* written to rings */
	XPU_CNT_DOORBELLS	= 9,	/* written to the bus */
	XPU_CNT_DOORBELLS_LOST	= 10,	/* of these: to where nobody is */
	XPU_CNT_PROXY_RINGS	= 11,	/* producer indices left for a CPU to ring */
	XPU_CNT_POLLS		= 12,	/* looks at a completion queue or an awaited word */
	XPU_CNT_FAULTS		= 13,	/* kernels that failed */
	/* accesses of at most 8 bytes from outside to VRAM that is not allocated */
	XPU_CNT_STALE_READS	= 14,
	XPU_CNT_STALE_WRITES	= 15,
	XPU_CNT_COUNT		= 16,
};

/*
 * Trap of accesses to freed VRAM, with XPU_CAP_TRAP: the driver tells what it frees
 * and what it allocates, before the first and after the last use. What comes from outside,
 * be it a peer or the CPU, to a freed range is counted and dropped; a read gives all-ones. The
 * engines of the device itself are not looked at. The device traps the XPU_TRAP_RANGES
 * lowest of the free ranges. A reset changes nothing; after power-on nothing is free.
 */
#define XPU_REG_TRAP_START		0x1010	/* u64: VRAM offset, in pages of 4 KiB */
#define XPU_REG_TRAP_LENGTH		0x1018	/* u64: bytes, likewise */
#define XPU_REG_TRAP_CTRL		0x1020	/* u32, write: takes effect at once */
#define   XPU_TRAP_FREED		1U
#define   XPU_TRAP_ALLOCATED		2U
#define XPU_REG_TRAP_LAST		0x1028	/* u64, read-only: VRAM offset of the last access */
#define XPU_TRAP_RANGES			32

/*
 * Execution engine. It runs kernels, which are lists of commands in VRAM (xpu_cmd.h),
 * several at a time, each of several threads. Commands post work to queues of network
 * devices: the engine writes the entries to rings in VRAM, rings a doorbell by one write
 * to the bus, and reads completions from VRAM. It knows of a queue what stands in struct
 * xpu_ex_queue, and nothing of the device behind it.
 *
 * Doorbells, queues and kernels are tables of registers. The driver alone writes them:
 * what user space may name is checked by CONTEXT, which queue and kernel must share.
 *
 * A reset (FLR or bus reset) ends kernels without interrupt, and empties the tables.
 */
#define XPU_EX_DOORBELLS		64
#define XPU_EX_KERNELS			8
#define XPU_EX_QUEUES			128
#define XPU_EX_THREADS			64	/* of a kernel */
#define XPU_EX_BUFFERS			8	/* of a kernel */
#define XPU_EX_COMMANDS			4096	/* of a thread */
#define XPU_EX_NONE			0xffffffffffffffffULL	/* no VRAM offset */

/* u32: bit n: kernel n has ended; an interrupt comes with each; cleared by writing 1 */
#define XPU_REG_EX_ENDED		0x1000

/*
 * Doorbell n: a window on the bus. A LENGTH of 0 withdraws it: once a read from the device
 * after this write has returned, nothing is written to the window any more; what was on
 * its way is dropped.
 */
#define XPU_REG_EX_DB_ADDR(n)		(0x1400 + 16 * (n))	/* u64: bus address */
#define XPU_REG_EX_DB_LENGTH(n)		(0x1408 + 16 * (n))	/* u32: bytes */

/**
 * struct xpu_ex_range - bytes of VRAM
 * @start: offset in VRAM
 * @length: bytes
 */
struct xpu_ex_range {
	__le64 start;
	__le64 length;
};

/**
 * struct xpu_ex_kernel - registers of a kernel, latched by START
 * @list: VRAM offset of the commands; those of thread t begin with the t * @count-th
 * @count: commands of a thread, 1..XPU_EX_COMMANDS
 * @threads: 1..XPU_EX_THREADS
 * @context: only queues of the same context can be used
 * @timeout_us: bound on one command, unless that has its own; not 0
 * @rsvd: 0
 * @buffer: VRAM that commands may name
 */
struct xpu_ex_kernel {
	__le64 list;
	__le32 count;
	__le32 threads;
	__le32 context;
	__le32 timeout_us;
	__le32 rsvd[2];
	struct xpu_ex_range buffer[XPU_EX_BUFFERS];
};

/* Kernel n: struct xpu_ex_kernel, then these. START while it runs is dropped. */
#define XPU_REG_EX_KERNEL(n)		(0x1800 + 0x100 * (n))
#define XPU_EX_KERNEL_CTRL		0xc0	/* u32, write */
#define   XPU_EX_CTRL_START		0x00000001U
#define   XPU_EX_CTRL_STOP		0x00000002U	/* takes effect at once */
#define   XPU_EX_CTRL_FAULT		0x0000ff00U	/* STOP: fail with this; 0: STOPPED */
#define   XPU_EX_CTRL_TAG		0xffff0000U	/* START */
#define XPU_EX_KERNEL_STATUS		0xc4	/* u32, read-only, as all that follow */
#define   XPU_EX_STATUS_STATE		0x0000000fU	/* enum xpu_ex_state */
#define   XPU_EX_STATUS_FAULT		0x0000ff00U	/* enum xpu_ex_fault */
#define   XPU_EX_STATUS_TAG		0xffff0000U
#define XPU_EX_KERNEL_COMMAND		0xc8	/* u32: fault: command in the thread's list */
#define XPU_EX_KERNEL_THREAD		0xcc	/* u32: fault: thread */
#define XPU_EX_KERNEL_DETAIL		0xd0	/* u32: fault: see enum xpu_ex_fault */
#define XPU_EX_KERNEL_DONE		0xd8	/* u64: commands done */
#define XPU_EX_KERNEL_TIME		0xe0	/* u64: ns from START to end, or to now */

enum xpu_ex_state {
	XPU_EX_IDLE	= 0,
	XPU_EX_RUNNING	= 1,
	XPU_EX_DONE	= 2,
	XPU_EX_FAILED	= 3,
	XPU_EX_STOPPED	= 4,
};

enum xpu_ex_fault {
	XPU_FAULT_NONE		= 0,
	XPU_FAULT_LAUNCH	= 1,	/* struct xpu_ex_kernel is malformed */
	XPU_FAULT_COMMAND	= 2,	/* malformed; detail: byte offset in the command */
	XPU_FAULT_BUFFER	= 3,	/* no such buffer, or out of its bounds */
	XPU_FAULT_QUEUE		= 4,	/* none (any more), or too small; detail: queue */
	XPU_FAULT_DOORBELL	= 5,	/* the queue's doorbell is withdrawn; detail: queue */
	XPU_FAULT_COMPLETION	= 6,	/* detail: status, or XPU_COMPLETION_INDEX */
	XPU_FAULT_ERROR_WORD	= 7,	/* detail: the word */
	XPU_FAULT_TIMEOUT	= 8,	/* the command took longer than its bound */
	/* no such expert, no room for a row, or no such token; detail: what was found */
	XPU_FAULT_ROUTING	= 9,
	XPU_FAULT_MEMORY	= 10,	/* told by the driver: a buffer was taken away */
	XPU_FAULT_RESET		= 11,	/* likewise: the device was reset */
};

#define XPU_COMPLETION_INDEX	0x100	/* a completion of what was not handed over */

enum xpu_ex_owner {	/* how a completion is known to be there */
	XPU_OWNER_PHASE		= 2,	/* bit 0 of its last byte: 1 on the first pass, then 0 */
	XPU_OWNER_COUNTER	= 3,	/* one entry, whose index moves on */
};

enum xpu_ex_fence {
	XPU_FENCE_SYSTEM	= 1,	/* between ring, record and doorbell */
};

/**
 * struct xpu_ex_queue - registers of a queue, latched by ENABLE
 * @ring: VRAM offset of the first entry
 * @cq: VRAM offset of the first completion
 * @record: VRAM offset of the 32-bit producer index, or XPU_EX_NONE
 * @cq_record: VRAM offset of the 32-bit count of completions consumed, or XPU_EX_NONE
 * @proxy: VRAM offset of a 64-bit producer index that is written in place of the doorbell,
 *	for a CPU to ring; or XPU_EX_NONE
 * @error: VRAM offsets of 32-bit words that are not 0 after an error, or XPU_EX_NONE
 * @db_value: constant part of the doorbell's value
 * @doorbell: index of the doorbell; not used with @proxy
 * @db_offset: of the doorbell register in its window, 8-byte aligned
 * @db_index_shift: where the index stands in the value
 * @db_index_bits: and how wide
 * @fence: enum xpu_ex_fence
 * @count: entries of the ring, a power of two
 * @entry_size: bytes of an entry
 * @stride: bytes from one entry to the next
 * @index_bits: of producer and consumer index
 * @index: of the next entry, as it stands in the completion of the one before
 * @max_outstanding: entries handed over and not completed
 * @max_inline: bytes
 * @cq_count: completions, a power of two
 * @cq_entry_size: bytes
 * @cq_stride: bytes
 * @cq_owner: enum xpu_ex_owner
 * @cq_progress: offset in a completion of the 16-bit index behind the entry that it
 *	reports; the status stands 3 bytes behind it, in the same 8 bytes
 * @context: which kernels may use it
 * @rsvd: 0
 * @rsvd1: 0
 */
struct xpu_ex_queue {
	__le64 ring;
	__le64 cq;
	__le64 record;
	__le64 cq_record;
	__le64 proxy;
	__le64 error[2];
	__le64 db_value;
	__le32 doorbell;
	__le32 db_offset;
	__u8 db_index_shift;
	__u8 db_index_bits;
	__u8 fence;
	__u8 index_bits;
	__le32 count;
	__le16 entry_size;
	__le16 stride;
	__le32 index;
	__le32 max_outstanding;
	__le32 max_inline;
	__le32 cq_count;
	__le16 cq_entry_size;
	__le16 cq_stride;
	__le16 cq_progress;
	__u8 cq_owner;
	__u8 rsvd;
	__le32 context;
	__le32 rsvd1[2];
};

/* Queue n: struct xpu_ex_queue, which cannot be written while it is enabled, then these. */
#define XPU_REG_EX_QUEUE(n)		(0x2000 + 0x80 * (n))
#define XPU_EX_QUEUE_CTRL		0x78	/* u32, write */
#define   XPU_EX_QUEUE_ENABLE		1U
#define   XPU_EX_QUEUE_DISABLE		2U	/* takes effect at once */
#define XPU_EX_QUEUE_STATUS		0x7c	/* u32, read-only: 1: enabled */

#endif /* XPU_REGS_H */
