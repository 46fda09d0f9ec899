/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * xpu: registers of the stand-in accelerator. It plays a GPU and is no Kiwi part:
 * this is not firmware ABI, and both the device and its driver stand in this tree.
 *
 * Registers are little-endian, 32 or 64 bits wide and naturally aligned; a 64-bit
 * one may be accessed as two 32-bit halves. What is not listed reads zero and
 * drops writes. Offsets from 0x1000 up to the MSI-X table are kept for engines
 * other than the copy engine.
 *
 * Constants are [ours], and the PCI IDs are provisional.
 */
#ifndef XPU_REGS_H
#define XPU_REGS_H

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
#define XPU_VECTORS			1

/* Identity, read-only */
#define XPU_REG_MAGIC			0x000	/* u32 */
#define   XPU_MAGIC			0x30555058	/* "XPU0" */
#define XPU_REG_VERSION			0x004	/* u32: major << 16 | minor */
#define   XPU_VERSION_MAJOR		1
#define   XPU_VERSION_MINOR		0
#define XPU_REG_VRAM_SIZE		0x008	/* u64: a power of two, size of BAR 2 */
#define XPU_REG_RESETS			0x010	/* u32: resets since power-on */
#define XPU_REG_DMA_BITS		0x014	/* u32: width of bus addresses, 32..64 */

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
	XPU_CNT_COUNT		= 6,
};

#endif /* XPU_REGS_H */
