/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * xpu: commands of kernels, which the execution engine runs (xpu_regs.h).
 *
 * A kernel is a list of struct xpu_cmd in VRAM for each of its threads. A thread runs its
 * list from the start to the end or to XPU_OP_EXIT; the kernel is done when all threads
 * are. Threads run at the same time; one command of a thread ends before the next begins.
 * What goes through queues is only posted by its command: XPU_OP_QUIET waits for it.
 *
 * Commands know two kinds of memory: VRAM that the engine itself accesses, as a buffer of the
 * launch and an offset; and memory that the network devices access, as address and
 * key of a region.
 *
 * A command that breaks a rule, or cannot be done, ends the kernel with a fault that names it.
 */
#ifndef XPU_CMD_H
#define XPU_CMD_H

#include <linux/types.h>

#define XPU_CMD_BYTES		96
#define XPU_CMD_LOOPS		4	/* XPU_OP_REPEAT inside of each other */

enum xpu_op {
	XPU_OP_EXIT		= 0,	/* ends the thread */
	XPU_OP_REPEAT		= 1,	/* what follows up to its END, @count times */
	XPU_OP_END		= 2,
	XPU_OP_DELAY		= 3,	/* @value ns of other work, at most a second */

	/* 64-bit words of VRAM, 8-byte aligned, at @buffer, @offset */
	XPU_OP_STORE		= 4,	/* word = @value */
	XPU_OP_ADD		= 5,	/* word += @value, atomically */
	XPU_OP_WAIT		= 6,	/* until each of @count words is @value or more */

	/* work for @queue; @length bytes, at most 2^30 */
	XPU_OP_PUT		= 8,	/* from @laddr to @raddr */
	XPU_OP_PUT_SIGNAL	= 9,	/* likewise; behind the data @value as a signal */
	XPU_OP_GET		= 10,	/* from @raddr to @laddr */
	XPU_OP_FETCH_ADD	= 11,	/* @value to the word at @raddr, the old one to @laddr */
	XPU_OP_FENCE		= 12,	/* later work starts after earlier GETs and FETCH_ADDs */
	XPU_OP_QUIET		= 13,	/* until all is completed that was posted */

	/* for many peers; the parameters stand in VRAM at @buffer, @offset */
	XPU_OP_ALLTOALL		= 16,	/* struct xpu_peer, @count times */
	XPU_OP_DISPATCH		= 17,	/* struct xpu_moe: tokens to experts */
	XPU_OP_COMBINE		= 18,	/* struct xpu_moe: tokens from experts back */
};

/* PUT, PUT_SIGNAL, GET, FETCH_ADD: the doorbell waits for work without MORE, or for QUIET */
#define XPU_CMD_MORE		0x01
/* ALLTOALL, DISPATCH, COMBINE: one doorbell for each queue at the end, not for each message */
#define XPU_CMD_MERGE		0x02
/* PUT: at most 8 bytes, which are those of @value and stand in the entry */
#define XPU_CMD_INLINE		0x04
/*
 * PUT_SIGNAL, ALLTOALL: the signal is added by a fetch-add, whose old value goes to
 * @sig_laddr (with @lkey), not written
 */
#define XPU_CMD_ADD		0x08

/**
 * struct xpu_cmd - a command
 * @op: enum xpu_op
 * @flags: XPU_CMD_*
 * @buffer: index of a buffer of the launch
 * @queue: number of a queue
 * @laddr: local address
 * @lkey: key of its region
 * @length: bytes
 * @raddr: remote address
 * @rkey: key of its region
 * @sig_rkey: key of the region of @sig_raddr
 * @sig_raddr: remote address of the signal word, 8-byte aligned
 * @sig_laddr: with XPU_CMD_ADD
 * @value: operand
 * @step: added to @value once for each pass that the innermost REPEAT has done
 * @offset: in @buffer
 * @count: of REPEAT (not 0), WAIT (0 is 1), ALLTOALL
 * @timeout_us: bound on the command, from its first step; 0: that of the launch
 * @rsvd: 0
 *
 * What a command does not use is 0.
 */
struct xpu_cmd {
	__u8 op;
	__u8 flags;
	__le16 buffer;
	__le32 queue;
	__le64 laddr;
	__le32 lkey;
	__le32 length;
	__le64 raddr;
	__le32 rkey;
	__le32 sig_rkey;
	__le64 sig_raddr;
	__le64 sig_laddr;
	__le64 value;
	__le64 step;
	__le64 offset;
	__le32 count;
	__le32 timeout_us;
	__le64 rsvd;
};

#define XPU_PEER_NONE	0xffffffffU	/* nothing is sent to this one */

/**
 * struct xpu_peer - where one peer's data go
 * @queue: that leads to it, or XPU_PEER_NONE
 * @rkey: key of the region of @raddr
 * @raddr: where what it gets begins
 * @sig_raddr: its signal word, or the first of them
 * @sig_rkey: key of the region of @sig_raddr
 * @rsvd: 0
 *
 * ALLTOALL sends to peer p the @length bytes at @laddr + p * @length of the command, and
 * the signal.
 */
struct xpu_peer {
	__le32 queue;
	__le32 rkey;
	__le64 raddr;
	__le64 sig_raddr;
	__le32 sig_rkey;
	__le32 rsvd;
};

#define XPU_MOE_EXPERTS	1024	/* at most */
#define XPU_EXPERT_NONE	0xffffffffU	/* in the routing table: no expert */

/**
 * struct xpu_moe - shapes and places of DISPATCH and COMBINE; offsets are in the same buffer
 * @tokens: of one rank
 * @topk: experts that a token goes to
 * @row: bytes of a token, at least 4
 * @experts: of all ranks, a multiple of @peers
 * @peers: ranks; rank r has the experts from r * @experts / @peers on
 * @capacity: rows that a rank has for each of its experts and each source
 * @rank: of this one
 * @lkey: key of the region of @laddr
 * @laddr: DISPATCH: tokens, one row each; COMBINE: what DISPATCH delivered here
 * @table: offset of struct xpu_peer, @peers times
 * @routing: DISPATCH: offset of __le32 expert[@tokens][@topk]
 * @counts: DISPATCH: offset of __le32 [@experts], which the engine uses; COMBINE: offset of the
 *	signal words that DISPATCH wrote here, __le64 [@peers][@experts / @peers]
 * @rows: COMBINE: offset of the rows at @laddr, which are [@peers][@experts / @peers][@capacity]
 *
 * DISPATCH: the n-th row for expert e goes to row n of [e % (@experts / @peers)][@capacity] at
 * the @raddr of its rank: this source's part there. When all rows are posted, 1 + their
 * number is written to word e % (@experts / @peers) at @sig_raddr.
 *
 * COMBINE, once those words have come: the first 4 bytes of a row tell its token t. The row
 * of expert e goes to row [e][t] of [@experts][@tokens] at the @raddr of the rank it came
 * from. Then 1 is written to word e at @sig_raddr. What experts compute, and how their
 * results are added up, is not modelled.
 */
struct xpu_moe {
	__le32 tokens;
	__le32 topk;
	__le32 row;
	__le32 experts;
	__le32 peers;
	__le32 capacity;
	__le32 rank;
	__le32 lkey;
	__le64 laddr;
	__le64 table;
	__le64 routing;
	__le64 counts;
	__le64 rows;
};

#endif /* XPU_CMD_H */
