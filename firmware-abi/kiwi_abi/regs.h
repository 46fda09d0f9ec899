/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: BARs and registers, common to all parts. Text: ../spec/common.md
 */
#ifndef KIWI_ABI_REGS_H
#define KIWI_ABI_REGS_H

#include "types.h"

#define KIWI_ABI_MAJOR			1
#define KIWI_ABI_MINOR			1

/* BAR numbers [ours] */
#define KIWI_BAR_REGS			0	/* 64-bit, not prefetchable, 128 KiB */
#define KIWI_BAR_DOORBELL		2	/* 64-bit, prefetchable */
#define KIWI_BAR_APERTURE		4	/* G2G: windows into peers' memory */

#define KIWI_BAR_REGS_SIZE		0x20000
#define KIWI_MSIX_TABLE_OFFSET		0x10000	/* in BAR 0 */
#define KIWI_MSIX_PBA_OFFSET		0x18000	/* in BAR 0 */

/* Identity, read-only */
#define KIWI_REG_MAGIC			0x000	/* u32 */
#define   KIWI_MAGIC			0x4957494b	/* "KIWI" */
#define KIWI_REG_ABI			0x004	/* u32: major << 16 | minor */
#define KIWI_REG_PART			0x008	/* u32 */
#define   KIWI_PART_SNIC		1
#define   KIWI_PART_G2G			2
#define KIWI_REG_REVISION		0x00c	/* u32: hardware revision */
#define KIWI_REG_FW_VERSION		0x010	/* u64: major << 48 | minor << 32 | patch */
#define KIWI_REG_SERIAL			0x018	/* u64 */
#define KIWI_REG_CAPS			0x020	/* u64: KIWI_CAP_* */
#define   KIWI_CAP_DIAG			(1ULL << 0)	/* diagnostic block present */
/* Bits 32..63 belong to the part. */
#define   KIWI_SNIC_CAP_GPU_QUEUES	(1ULL << 32)	/* S-41 */
#define   KIWI_SNIC_CAP_MR_HOLD		(1ULL << 33)	/* HOLD_MR, RESUME_MR */
/* G2G: bits 32 and 33 as in the SNIC, and spec/g2g.md */
#define   KIWI_G2G_CAP_MSGQ		(1ULL << 40)	/* PD, MR, CQ and QP commands */
#define   KIWI_G2G_CAP_ATOMICS		(1ULL << 41)	/* atomic pages: M-40 */
#define   KIWI_G2G_CAP_PCIE_ATOMICS	(1ULL << 42)	/* completer of PCIe AtomicOps: M-43 */
#define   KIWI_G2G_CAP_FORWARD		(1ULL << 43)	/* PDUs for others: W-12 */
#define   KIWI_G2G_CAP_LLR		(1ULL << 44)	/* link-level replay: W-50 */
#define   KIWI_G2G_CAP_PFC		(1ULL << 45)	/* W-55 */
#define   KIWI_G2G_CAP_CBFC		(1ULL << 46)	/* W-53 */
#define   KIWI_G2G_CAP_MAIL		(1ULL << 47)	/* peer messages: F-55 */
#define KIWI_REG_LIMITS			0x028	/* u32 */
#define   KIWI_LIMITS_AQ_LOG2_MAX	0x000000ffU	/* admin queue entries, 2^n, 2..16 */
#define   KIWI_LIMITS_EQ_LOG2_MAX	0x0000ff00U	/* event queue entries, 2^n, 6..23 */
#define   KIWI_LIMITS_DB_PAGE_SHIFT	0x00ff0000U	/* doorbell page, 2^n bytes, 12..16 */
#define KIWI_REG_CMD_TIMEOUT_MS		0x02c	/* u32: bound on one admin command, 1..60000 */
#define KIWI_REG_RESET_TIMEOUT_MS	0x030	/* u32: bound on a reset, 1..60000 */
#define KIWI_REG_HEARTBEAT_MS		0x034	/* u32: period of HEARTBEAT, 1..60000 */
#define KIWI_REG_DMA_BITS		0x038	/* u32: width of DMA addresses, 32..64 */
#define KIWI_REG_EQ_COUNT		0x03c	/* u32: event queues, 2..1024 */
#define KIWI_REG_DB_PAGES		0x040	/* u32: doorbell pages in BAR 2, 1.. */

/* Control and status */
#define KIWI_REG_DEV_CTL		0x080	/* u32, write */
#define   KIWI_DEV_CTL_ENABLE		0x00000001U
#define   KIWI_DEV_CTL_RESET		0x00000002U
#define   KIWI_DEV_CTL_REASON		0x0000ff00U	/* with RESET */
#define KIWI_REG_DEV_STS		0x084	/* u32, read-only */
#define   KIWI_DEV_STS_READY		0x00000001U
#define   KIWI_DEV_STS_ENABLED		0x00000002U
#define   KIWI_DEV_STS_RESETTING	0x00000004U
#define   KIWI_DEV_STS_FATAL		0x00000008U
#define KIWI_REG_GENERATION		0x088	/* u32: counts firmware starts */
#define KIWI_REG_HEARTBEAT		0x08c	/* u32: advances while firmware lives */
#define KIWI_REG_RESET_REASON		0x090	/* u32: enum kiwi_reset_reason of the last reset */

enum kiwi_reset_reason {	/* [ours], after EFA's list */
	KIWI_RESET_POWER_ON	= 0,
	KIWI_RESET_FLR		= 1,
	KIWI_RESET_PROBE	= 2,	/* driver found the device in use */
	KIWI_RESET_REMOVE	= 3,	/* driver unbinds */
	KIWI_RESET_TIMEOUT	= 4,	/* an admin command timed out */
	KIWI_RESET_FATAL	= 5,	/* device reported FATAL */
	KIWI_RESET_PROTOCOL	= 6,	/* device broke this ABI */
	KIWI_RESET_USER		= 7,	/* administrator asked */
	KIWI_RESET_SHUTDOWN	= 8,
};

/* Health, read-only, meaningful while DEV_STS.FATAL [borrowed: mlx5 health buffer] */
#define KIWI_REG_HEALTH_SEVERITY	0x0c0	/* u32 */
#define KIWI_REG_HEALTH_SYNDROME	0x0c4	/* u32: enum kiwi_health_syndrome */
#define KIWI_REG_HEALTH_EXT_SYNDROME	0x0c8	/* u32: offset of the register at fault, or 0 */
#define KIWI_REG_HEALTH_PC		0x0cc	/* u32 */
#define KIWI_REG_HEALTH_VAR(n)		(0x0d0 + 4 * (n))	/* u32, n 0..5 */

enum kiwi_health_syndrome {
	KIWI_HEALTH_OK		= 0,
	KIWI_HEALTH_BAD_CONFIG	= 1,	/* a register was out of range at ENABLE */
	KIWI_HEALTH_AQ_DMA	= 2,	/* admin queue memory could not be reached */
	KIWI_HEALTH_ASSERT	= 3,	/* firmware assertion */
};

/* Admin queue, written before ENABLE */
#define KIWI_REG_AQ_BASE		0x100	/* u64: DMA address, 4 KiB aligned */
#define KIWI_REG_ACQ_BASE		0x108	/* u64: DMA address, 4 KiB aligned */
#define KIWI_REG_AQ_CFG			0x110	/* u32 */
#define   KIWI_AQ_CFG_LOG2		0x000000ffU	/* entries of each, 2^n, n 2..max */
#define   KIWI_AQ_CFG_VECTOR		0xffff0000U	/* MSI-X vector of completions */
#define KIWI_REG_AQ_PI			0x118	/* u32, write: producer index, free-running */
#define KIWI_REG_ACQ_CI			0x11c	/* u32, write: consumer index; arms the interrupt */

/* Event queue n: consumer index and arm */
#define KIWI_REG_EQ_DB(n)		(0x1000 + 8 * (n))	/* u32, write */
#define   KIWI_EQ_DB_CI			0x00ffffffU	/* consumer index, modulo 2^24 */
#define   KIWI_EQ_DB_ARM		0x80000000U

/* Diagnostic counters, read-only, with KIWI_CAP_DIAG; index: diag.h */
#define KIWI_REG_DIAG(index)		(0x4000 + 8 * (index))	/* u64 */
#define KIWI_DIAG_COUNT			1024

#endif /* KIWI_ABI_REGS_H */
