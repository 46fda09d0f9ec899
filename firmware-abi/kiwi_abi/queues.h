/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: work queues, completions and doorbells, as user space and
 * GPU code see them. Text: ../spec/queues.md
 */
#ifndef KIWI_ABI_QUEUES_H
#define KIWI_ABI_QUEUES_H

#include "types.h"

/* Send queue ------------------------------------------------------------ */

#define KIWI_WQEBB		64	/* send queue unit in bytes [borrowed: mlx5] */
#define KIWI_WQE_SEG		16	/* segment in bytes [borrowed: mlx5] */
#define KIWI_WQE_MAX_BB		8	/* a WQE spans 1..8 units [ours] */

enum kiwi_wqe_opcode {	/* [ours] */
	KIWI_WQE_NOP		= 0,
	KIWI_WQE_SEND		= 1,
	KIWI_WQE_SEND_IMM	= 2,
	KIWI_WQE_WRITE		= 3,
	KIWI_WQE_WRITE_IMM	= 4,
	KIWI_WQE_READ		= 5,
	KIWI_WQE_CMP_SWAP	= 6,
	KIWI_WQE_FETCH_ADD	= 7,
	KIWI_WQE_OPCODE_COUNT
};

#define KIWI_WQE_SIGNALED	0x01	/* a CQE is wanted */
#define KIWI_WQE_SOLICITED	0x02	/* SEND*, WRITE_IMM: solicited event at the peer */
#define KIWI_WQE_FENCE		0x04	/* start after all earlier READs and atomics are done */
#define KIWI_WQE_INLINE		0x08	/* SEND*, WRITE*: data stands in the WQE */

/**
 * struct kiwi_wqe_ctrl - first segment of each WQE
 * @opcode: enum kiwi_wqe_opcode
 * @flags: KIWI_WQE_*
 * @segs: segments of the WQE, this one included, 1..KIWI_WQE_MAX_BB * 4
 * @rsvd: 0
 * @imm: immediate data, big-endian as on the wire; 0 without
 * @wr_id: echoed in the CQE
 *
 * Followed, by opcode:
 *   NOP			nothing
 *   SEND, SEND_IMM		data
 *   WRITE, WRITE_IMM		kiwi_wqe_raddr, data
 *   READ			kiwi_wqe_raddr, kiwi_sge * n
 *   CMP_SWAP, FETCH_ADD	kiwi_wqe_raddr, kiwi_wqe_atomic, one kiwi_sge of 8 bytes
 * where data is kiwi_sge * n (n 0..max_sge), or with KIWI_WQE_INLINE a __le32
 * byte count and the bytes, padded with zero to a whole segment.
 */
struct kiwi_wqe_ctrl {
	__u8 opcode;
	__u8 flags;
	__u8 segs;
	__u8 rsvd;
	__be32 imm;
	__le64 wr_id;
};
KIWI_ABI_SIZE(struct kiwi_wqe_ctrl, 16);

struct kiwi_wqe_raddr {
	__le64 addr;
	__le32 rkey;
	__le32 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_wqe_raddr, 16);

struct kiwi_wqe_atomic {
	__le64 swap_add;	/* CMP_SWAP: new value; FETCH_ADD: addend */
	__le64 compare;		/* CMP_SWAP: expected value; FETCH_ADD: 0 */
};
KIWI_ABI_SIZE(struct kiwi_wqe_atomic, 16);

struct kiwi_sge {
	__le64 addr;
	__le32 lkey;
	__le32 len;	/* bytes; 0 is allowed and reads no key */
};
KIWI_ABI_SIZE(struct kiwi_sge, 16);

/* Receive queue --------------------------------------------------------- */

/**
 * struct kiwi_rqe - head of a receive entry; num_sge times struct kiwi_sge follow
 * @wr_id: echoed in the CQE
 * @num_sge: entries that follow, 0..what fits the stride
 * @rsvd: 0
 *
 * The stride is 2^n bytes, n KIWI_RQE_MIN_SHIFT..KIWI_RQE_MAX_SHIFT, fixed when
 * the QP is created.
 */
struct kiwi_rqe {
	__le64 wr_id;
	__le32 num_sge;
	__le32 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_rqe, 16);

#define KIWI_RQE_MIN_SHIFT	5
#define KIWI_RQE_MAX_SHIFT	9

/* Completions ----------------------------------------------------------- */

enum kiwi_cqe_opcode {
	KIWI_CQE_SEND		= 1,	/* requester: SEND, SEND_IMM */
	KIWI_CQE_WRITE		= 2,	/* requester: WRITE, WRITE_IMM */
	KIWI_CQE_READ		= 3,
	KIWI_CQE_CMP_SWAP	= 4,
	KIWI_CQE_FETCH_ADD	= 5,
	KIWI_CQE_NOP		= 6,
	KIWI_CQE_RECV		= 0x80,	/* responder: message into an RQE */
	KIWI_CQE_RECV_WRITE_IMM	= 0x81,	/* responder: WRITE_IMM consumed an RQE */
};

/* [public: IBTA 1.7, completion return status; numbered as libibverbs does] */
enum kiwi_cqe_status {
	KIWI_CQE_ST_OK			= 0,
	KIWI_CQE_ST_LOC_LEN_ERR		= 1,
	KIWI_CQE_ST_LOC_QP_OP_ERR	= 2,
	KIWI_CQE_ST_LOC_PROT_ERR	= 4,
	KIWI_CQE_ST_WR_FLUSH_ERR	= 5,
	KIWI_CQE_ST_BAD_RESP_ERR	= 7,
	KIWI_CQE_ST_LOC_ACCESS_ERR	= 8,
	KIWI_CQE_ST_REM_INV_REQ_ERR	= 9,
	KIWI_CQE_ST_REM_ACCESS_ERR	= 10,
	KIWI_CQE_ST_REM_OP_ERR		= 11,
	KIWI_CQE_ST_RETRY_EXC_ERR	= 12,
	KIWI_CQE_ST_RNR_RETRY_EXC_ERR	= 13,
	KIWI_CQE_ST_FATAL_ERR		= 19,
	KIWI_CQE_ST_GENERAL_ERR		= 21,
};

#define KIWI_CQE_PHASE		0x01	/* kiwi_cqe.flags */
#define KIWI_CQE_IMM		0x02	/* imm is valid */
#define KIWI_CQE_SOLICITED	0x04	/* responder: the peer asked for an event */

/**
 * struct kiwi_cqe - one completion
 * @wr_id: of the WQE or RQE
 * @byte_len: responder: bytes received; READ and atomics: bytes placed; else 0
 * @imm: immediate data, big-endian as on the wire, with KIWI_CQE_IMM
 * @qpn: QP number, 24 bits
 * @vendor_err: more about @status, for people: 0..7; see spec/queues.md
 * @sq_index: requester: send queue index (units, modulo 2^16) behind this WQE:
 *	all before it is free again. Responder: index behind the RQE.
 * @opcode: enum kiwi_cqe_opcode; undefined when @status is not OK, but bit 7
 *	still tells responder from requester
 * @status: enum kiwi_cqe_status
 * @rsvd: 0
 * @flags: KIWI_CQE_*; written last
 */
struct kiwi_cqe {
	__le64 wr_id;
	__le32 byte_len;
	__be32 imm;
	__le32 qpn;
	__le32 vendor_err;
	__le16 sq_index;
	__u8 opcode;
	__u8 status;
	__u8 rsvd[35];
	__u8 flags;
};
KIWI_ABI_SIZE(struct kiwi_cqe, 64);
KIWI_ABI_OFFSET(struct kiwi_cqe, flags, 63);

/* Consumer index record of a CQ, host to device, at ci_offset of the CQ memory. */
struct kiwi_cq_ci {
	__le32 ci;	/* entries consumed since creation, modulo 2^32 */
	__le32 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_cq_ci, 8);

/* Producer indices of a QP with KIWI_QP_DB_RECORD, host to device, 8-byte aligned. */
struct kiwi_qp_db_record {
	__le32 sq;	/* send queue producer in units, modulo 2^16 */
	__le32 rq;	/* receive queue producer in entries, modulo 2^16 */
};
KIWI_ABI_SIZE(struct kiwi_qp_db_record, 8);

#define KIWI_QUEUE_LOG2_MAX	15	/* entries of any ring: 16-bit indices stay unambiguous */

/* Doorbells ------------------------------------------------------------- */

#define KIWI_DB_REG		0x000	/* offset in a doorbell page of the 64-bit register */

/* The value: one 64-bit little-endian store. Bits 60..63 are zero. */
#define KIWI_DB_INDEX_SHIFT	0	/* 16 bits: by type, below */
#define KIWI_DB_EPOCH_SHIFT	16	/* 16 bits: epoch returned when the queue was created */
#define KIWI_DB_QUEUE_SHIFT	32	/* 24 bits: QP or CQ number */
#define KIWI_DB_TYPE_SHIFT	56	/* 4 bits: enum kiwi_db_type */

enum kiwi_db_type {
	KIWI_DB_SQ		= 1,	/* index: send queue producer, in units; Q-30 */
	KIWI_DB_RQ		= 2,	/* index: receive queue producer, in entries; Q-30 */
	KIWI_DB_CQ_ARM		= 3,	/* index: CQ consumer; event at the next CQE */
	KIWI_DB_CQ_ARM_SOLICITED = 4,	/* same, at the next solicited or error CQE */
};

#define KIWI_DB_VALUE(type, queue, epoch, index) \
	(((__u64)(type) << KIWI_DB_TYPE_SHIFT) | \
	 ((__u64)(queue) << KIWI_DB_QUEUE_SHIFT) | \
	 ((__u64)(epoch) << KIWI_DB_EPOCH_SHIFT) | \
	 ((__u64)(index) << KIWI_DB_INDEX_SHIFT))

#endif /* KIWI_ABI_QUEUES_H */
