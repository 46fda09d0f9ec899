/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: diagnostic counters, read at KIWI_REG_DIAG(index).
 * They survive every reset of the device; power-on clears them. [ours]
 */
#ifndef KIWI_ABI_DIAG_H
#define KIWI_ABI_DIAG_H

#include "types.h"

enum kiwi_diag {
	/* Live objects now */
	KIWI_DIAG_LIVE_PD		= 0,
	KIWI_DIAG_LIVE_MR		= 1,
	KIWI_DIAG_LIVE_CQ		= 2,
	KIWI_DIAG_LIVE_QP		= 3,
	KIWI_DIAG_LIVE_EQ		= 4,
	KIWI_DIAG_LIVE_DB_PAGE		= 5,
	KIWI_DIAG_LIVE_EXPORT		= 6,	/* G2G, and the two below */
	KIWI_DIAG_LIVE_WINDOW		= 7,
	KIWI_DIAG_LIVE_BINDING		= 8,	/* peers' on our exports */
	KIWI_DIAG_LIVE_END		= 15,
	KIWI_DIAG_LOST_AT_RESET		= 16,	/* objects that a reset found alive, summed */

	/* Doorbell writes */
	KIWI_DIAG_DB_ACCEPTED		= 24,
	KIWI_DIAG_DB_CLOSED_PAGE	= 25,	/* dropped: page not open */
	KIWI_DIAG_DB_MALFORMED		= 26,	/* dropped: width, offset, reserved bits, type */
	KIWI_DIAG_DB_NO_QUEUE		= 27,	/* dropped: no such queue */
	KIWI_DIAG_DB_OTHER_PAGE		= 28,	/* dropped: the queue belongs to another page */
	KIWI_DIAG_DB_OLD_EPOCH		= 29,	/* dropped: epoch of an earlier owner */
	KIWI_DIAG_DB_BAD_INDEX		= 30,	/* dropped: index beyond what the ring holds */

	KIWI_DIAG_MSIX_SENT		= 40,
	KIWI_DIAG_EQE_WRITTEN		= 41,
	KIWI_DIAG_EQE_LOST		= 42,	/* event queue full */
	KIWI_DIAG_COMMANDS		= 43,	/* admin commands completed */

	/* Regions on hold */
	KIWI_DIAG_MR_HELD		= 48,	/* regions held now */
	KIWI_DIAG_HELD_WQE		= 49,	/* requester: times a WQE had to stand still */
	KIWI_DIAG_HELD_REQUEST		= 50,	/* responder: requests put off, READs stopped */

	/* DMA: KIWI_DIAG_DMA(kind, target, what) */
	KIWI_DIAG_DMA_BASE		= 64,
};

enum kiwi_diag_dma_kind {
	KIWI_DMA_ADMIN		= 0,	/* admin queues and payloads */
	KIWI_DMA_PBL		= 1,	/* page-list tables */
	KIWI_DMA_EQE		= 2,
	KIWI_DMA_WQE		= 3,	/* send and receive entries fetched */
	KIWI_DMA_CQE		= 4,	/* CQE writes */
	KIWI_DMA_CQ_CI		= 5,	/* consumer index reads */
	KIWI_DMA_PAYLOAD_READ	= 6,
	KIWI_DMA_PAYLOAD_WRITE	= 7,
	KIWI_DMA_DB_RECORD	= 8,	/* doorbell record reads */
	KIWI_DMA_KINDS
};

enum kiwi_diag_dma_target {
	KIWI_DMA_SYSTEM		= 0,	/* system memory */
	KIWI_DMA_PEER		= 1,	/* a BAR of another PCI function */
	KIWI_DMA_FAULT		= 2,	/* refused by the IOMMU or decoded by nobody */
	KIWI_DMA_TARGETS
};

enum kiwi_diag_dma_what {
	KIWI_DMA_TRANSACTIONS	= 0,	/* contiguous accesses to one target */
	KIWI_DMA_BYTES		= 1,
	KIWI_DMA_WHATS
};

#define KIWI_DIAG_DMA(kind, target, what) \
	(KIWI_DIAG_DMA_BASE + \
	 ((kind) * KIWI_DMA_TARGETS + (target)) * KIWI_DMA_WHATS + (what))

#endif /* KIWI_ABI_DIAG_H */
