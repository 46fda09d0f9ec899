/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: commands of the SNIC. Text: ../spec/snic.md
 */
#ifndef KIWI_ABI_SNIC_H
#define KIWI_ABI_SNIC_H

#include "types.h"
#include "admin.h"

enum kiwi_snic_opcode {
	KIWI_SNIC_OP_QUERY_PORT		= 0x0100,
	KIWI_SNIC_OP_SET_PORT		= 0x0101,
	KIWI_SNIC_OP_SET_GID		= 0x0102,
	KIWI_SNIC_OP_QUERY_PORT_COUNTERS = 0x0103,
	KIWI_SNIC_OP_ALLOC_PD		= 0x0110,
	KIWI_SNIC_OP_DEALLOC_PD		= 0x0111,
	KIWI_SNIC_OP_REG_MR		= 0x0120,
	KIWI_SNIC_OP_DEREG_MR		= 0x0121,
	KIWI_SNIC_OP_HOLD_MR		= 0x0122,	/* KIWI_SNIC_CAP_MR_HOLD; also the next */
	KIWI_SNIC_OP_RESUME_MR		= 0x0123,
	KIWI_SNIC_OP_CREATE_CQ		= 0x0130,
	KIWI_SNIC_OP_DESTROY_CQ		= 0x0131,
	KIWI_SNIC_OP_CREATE_QP		= 0x0140,
	KIWI_SNIC_OP_MODIFY_QP		= 0x0141,
	KIWI_SNIC_OP_QUERY_QP		= 0x0142,
	KIWI_SNIC_OP_DESTROY_QP		= 0x0143,
};

/**
 * struct kiwi_snic_caps - reply of QUERY_CAPS
 * @max_pd: protection domains, at most KIWI_SNIC_NUMBER_MAX
 * @max_mr: memory regions, at most KIWI_SNIC_NUMBER_MAX
 * @max_cq: completion queues, at most KIWI_SNIC_NUMBER_MAX
 * @max_qp: queue pairs, at most KIWI_SNIC_NUMBER_MAX
 * @max_mr_size: bytes of one region
 * @max_mr_pages: pages in the page list of one region
 * @max_inline: bytes of inline data in a WQE, 0..476: what a WRITE has room for
 * @page_shift_max: largest page of a page list, 2^n, n 12..63
 * @pbl_table_shift_max: largest page-list table, 2^n, n 12..63
 * @ports: 1..8
 * @gids: entries in the GID table of each port, 1..255
 * @sq_log2_max: units of a send queue, 2^n, at most KIWI_QUEUE_LOG2_MAX
 * @rq_log2_max: entries of a receive queue, 2^n, at most KIWI_QUEUE_LOG2_MAX
 * @cq_log2_max: entries of a completion queue, 2^n, at most KIWI_QUEUE_LOG2_MAX
 * @max_sge: scatter entries of a WQE, 1..30
 * @max_rd_atomic: READs and atomics in flight as requester and as responder
 * @rsvd: 0
 * @max_msg_size: bytes of one message
 * @link_mbps: sum over the ports, as the device reports it
 * @rsvd2: 0
 */
struct kiwi_snic_caps {
	__le32 max_pd;
	__le32 max_mr;
	__le32 max_cq;
	__le32 max_qp;
	__le64 max_mr_size;
	__le32 max_mr_pages;
	__le32 max_inline;
	__u8 page_shift_max;
	__u8 pbl_table_shift_max;
	__u8 ports;
	__u8 gids;
	__u8 sq_log2_max;
	__u8 rq_log2_max;
	__u8 cq_log2_max;
	__u8 max_sge;
	__u8 max_rd_atomic;
	__u8 rsvd[7];
	__le32 max_msg_size;
	__le32 link_mbps;
	__u8 rsvd2[56];
};
KIWI_ABI_SIZE(struct kiwi_snic_caps, 112);

/* Object numbers are 24 bits wide; number 0 is never valid. */
#define KIWI_SNIC_NUMBER_MAX	0x00ffffffU

/* QP numbers: 0 and 1 are the management QPs, the last means multicast [public: IBTA] */
#define KIWI_SNIC_QPN_MIN	2U
#define KIWI_SNIC_QPN_MAX	0x00fffffeU

/* Ports, numbered from 1 [public: IBTA] --------------------------------- */

enum kiwi_port_state {	/* [public: IBTA PortState] */
	KIWI_PORT_DOWN		= 1,
	KIWI_PORT_ACTIVE	= 4,
};

/* MTU codes [public: IBTA] */
enum kiwi_mtu {
	KIWI_MTU_256 = 1, KIWI_MTU_512 = 2, KIWI_MTU_1024 = 3, KIWI_MTU_2048 = 4,
	KIWI_MTU_4096 = 5,
};

/* QUERY_PORT: input struct kiwi_cmd_id (port) */
struct kiwi_snic_port {
	__u8 state;		/* enum kiwi_port_state */
	__u8 enabled;		/* 0 or 1, as SET_PORT left it; 1 after reset */
	__u8 mtu;		/* enum kiwi_mtu: in force */
	__u8 mtu_max;		/* enum kiwi_mtu */
	__le32 mbps;		/* 0 when down */
	__u8 mac[6];
	__u8 rsvd[18];
};
KIWI_ABI_SIZE(struct kiwi_snic_port, 32);

/* SET_PORT: no reply */
struct kiwi_snic_set_port_in {
	__le32 port;
	__u8 enabled;		/* 0 or 1 */
	__u8 mtu;		/* enum kiwi_mtu, at most mtu_max */
	__le16 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_snic_set_port_in, 8);

enum kiwi_gid_type {
	KIWI_GID_NONE		= 0,	/* clears the entry; gid is zero */
	KIWI_GID_ROCE_V2	= 2,	/* IPv6, or IPv4 as ::ffff:a.b.c.d */
};

/* SET_GID: no reply */
struct kiwi_snic_set_gid_in {
	__le32 port;
	__u8 index;		/* below caps.gids */
	__u8 type;		/* enum kiwi_gid_type */
	__le16 rsvd;
	__u8 gid[16];		/* network byte order */
};
KIWI_ABI_SIZE(struct kiwi_snic_set_gid_in, 24);

/* QUERY_PORT_COUNTERS: input struct kiwi_cmd_id (port). Free-running since reset.
 * Names: [borrowed: rxe and mlx5 hardware counters] where they have one.
 */
struct kiwi_snic_port_counters {
	__le64 tx_frames;
	__le64 tx_bytes;
	__le64 rx_frames;
	__le64 rx_bytes;
	__le64 rx_not_roce;		/* frames that are not RoCEv2 to us */
	__le64 rx_icrc_encapsulated;	/* dropped: ICRC wrong */
	__le64 rx_malformed;		/* dropped: length, pad, version or opcode */
	__le64 rx_no_qp;		/* dropped: no such QP, or not its state, P_Key, address */
	__le64 out_of_sequence;		/* responder: PSN ahead of the expected */
	__le64 duplicate_request;	/* responder: PSN behind the expected */
	__le64 packet_seq_err;		/* requester: NAK sequence received */
	__le64 local_ack_timeout_err;	/* requester: ACK timer expired */
	__le64 rnr_nak_sent;
	__le64 rnr_nak_rcvd;
	__le64 rnr_nak_retry_err;	/* requester: RNR retries exhausted */
	__le64 retry_exceeded_err;	/* requester: transport retries exhausted */
	__le64 remote_access_err;	/* responder: requests refused by key, bound, right or PD */
	__le64 retransmitted;		/* requester: frames sent again */
	__le64 rsvd[14];
};
KIWI_ABI_SIZE(struct kiwi_snic_port_counters, 256);

/* Protection domains ---------------------------------------------------- */

/* ALLOC_PD: no input; reply struct kiwi_cmd_id. DEALLOC_PD: input struct kiwi_cmd_id. */

/* Memory regions -------------------------------------------------------- */

#define KIWI_ACCESS_LOCAL_WRITE		0x01	/* [public: IBTA; bits as libibverbs] */
#define KIWI_ACCESS_REMOTE_WRITE	0x02
#define KIWI_ACCESS_REMOTE_READ		0x04
#define KIWI_ACCESS_REMOTE_ATOMIC	0x08
#define KIWI_ACCESS_ALL			0x0f	/* the rights */
#define KIWI_ACCESS_RELAXED		0x10	/* not a right: S-41; KIWI_SNIC_CAP_GPU_QUEUES */

/**
 * struct kiwi_snic_reg_mr_in - reply: struct kiwi_cmd_id, whose id is the key
 * @pdn: protection domain
 * @access: KIWI_ACCESS_*; remote write and atomic need local write
 * @iova: address by which work requests name the first byte
 * @length: bytes, 1..max_mr_size; @iova + @length <= 2^64
 * @pbl: the memory: pbl.offset + @length fills exactly pbl.count pages
 *
 * The key is both lkey and rkey: number << 8 | tag. The tag changes each time a
 * number is used again, so an old key does not name the new region.
 */
struct kiwi_snic_reg_mr_in {
	__le32 pdn;
	__le32 access;
	__le64 iova;
	__le64 length;
	struct kiwi_pbl pbl;
};
KIWI_ABI_SIZE(struct kiwi_snic_reg_mr_in, 72);

/* DEREG_MR: input struct kiwi_cmd_id (key). No access to the memory after the reply. */

/* HOLD_MR: input struct kiwi_cmd_id (key), no reply payload. S-40. */

/**
 * struct kiwi_snic_resume_mr_in - no reply payload
 * @key: of a held region
 * @rsvd: 0
 * @pbl: where its memory is now, of the same length
 */
struct kiwi_snic_resume_mr_in {
	__le32 key;
	__le32 rsvd;
	struct kiwi_pbl pbl;
};
KIWI_ABI_SIZE(struct kiwi_snic_resume_mr_in, 56);

/* Completion queues ----------------------------------------------------- */

/* With KIWI_SNIC_CAP_GPU_QUEUES [borrowed: mlx5 CQ context, cc and oi] */
#define KIWI_CQ_OVERRUN_IGNORE	0x01	/* CQEs overwrite the oldest: Q-24 */
#define KIWI_CQ_COLLAPSED	0x02	/* one entry that holds the latest CQE: Q-25 */

/**
 * struct kiwi_snic_create_cq_in - reply: struct kiwi_snic_queue_out
 * @pbl: memory: 2^@log2 entries of 64 bytes from its first byte, 64-byte aligned
 * @ci_offset: byte offset of struct kiwi_cq_ci in the same memory, behind the
 *	entries, 8-byte aligned; 0 with KIWI_CQ_OVERRUN_IGNORE
 * @length: bytes of the memory, at least @ci_offset + 8; with KIWI_CQ_OVERRUN_IGNORE
 *	at least the entries
 * @eqn: event queue, of kind completion
 * @db_page: doorbell page, open, that arms this CQ
 * @log2: entries 2^n, n 1..caps.cq_log2_max; 0 with KIWI_CQ_COLLAPSED
 * @flags: KIWI_CQ_*
 * @rsvd: 0
 */
struct kiwi_snic_create_cq_in {
	struct kiwi_pbl pbl;
	__le64 ci_offset;
	__le64 length;
	__le32 eqn;
	__le32 db_page;
	__u8 log2;
	__u8 flags;
	__u8 rsvd[6];
};
KIWI_ABI_SIZE(struct kiwi_snic_create_cq_in, 80);

struct kiwi_snic_queue_out {
	__le32 number;		/* 24 bits */
	__le16 epoch;		/* for doorbells; changes each time a number is used again */
	__le16 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_snic_queue_out, 8);

/* DESTROY_CQ: input struct kiwi_cmd_id. BUSY while a QP uses it. No write after the reply. */

/* Queue pairs ----------------------------------------------------------- */

enum kiwi_qp_type {
	KIWI_QP_RC		= 1,
};

#define KIWI_QP_SQ_SIG_ALL	0x01	/* every WQE is signalled */
/* With KIWI_SNIC_CAP_GPU_QUEUES */
#define KIWI_QP_SQ_ONLY		0x02	/* no receive queue: Q-31 */
#define KIWI_QP_DB_RECORD	0x04	/* doorbells take their index from memory: Q-30 */

/**
 * struct kiwi_snic_create_qp_in - reply: struct kiwi_snic_queue_out
 * @pdn: protection domain of the QP
 * @send_cqn: CQ of the send queue
 * @recv_cqn: CQ of the receive queue; 0 with KIWI_QP_SQ_ONLY, as are the other
 *	fields of that queue
 * @db_page: doorbell page, open, of both queues
 * @type: enum kiwi_qp_type
 * @flags: KIWI_QP_*
 * @sq_log2: send queue units 2^n, n 3..caps.sq_log2_max
 * @rq_log2: receive queue entries 2^n, n 0..caps.rq_log2_max
 * @rq_stride: bytes of a receive entry 2^n, KIWI_RQE_MIN_SHIFT..KIWI_RQE_MAX_SHIFT
 * @rsvd: 0
 * @db_record: DMA address of struct kiwi_qp_db_record; 0 without KIWI_QP_DB_RECORD
 * @sq: memory of the send queue: from its first byte, 64-byte aligned
 * @rq: memory of the receive queue: from its first byte, aligned to the stride
 */
struct kiwi_snic_create_qp_in {
	__le32 pdn;
	__le32 send_cqn;
	__le32 recv_cqn;
	__le32 db_page;
	__u8 type;
	__u8 flags;
	__u8 sq_log2;
	__u8 rq_log2;
	__u8 rq_stride;
	__u8 rsvd[3];
	__le64 db_record;
	struct kiwi_pbl sq;
	struct kiwi_pbl rq;
};
KIWI_ABI_SIZE(struct kiwi_snic_create_qp_in, 128);

enum kiwi_qp_state {	/* [public: IBTA; numbered as libibverbs] */
	KIWI_QPS_RESET	= 0,
	KIWI_QPS_INIT	= 1,
	KIWI_QPS_RTR	= 2,
	KIWI_QPS_RTS	= 3,
	KIWI_QPS_SQD	= 4,
	KIWI_QPS_SQE	= 5,
	KIWI_QPS_ERR	= 6,
};

/* kiwi_snic_modify_qp_in.mask [borrowed: ib_verbs attribute mask, own numbers] */
#define KIWI_QP_ATTR_STATE		0x00000001U
#define KIWI_QP_ATTR_CUR_STATE		0x00000002U
#define KIWI_QP_ATTR_ACCESS		0x00000004U
#define KIWI_QP_ATTR_PORT		0x00000008U
#define KIWI_QP_ATTR_AV			0x00000010U	/* dmac .. flow_label */
#define KIWI_QP_ATTR_MTU		0x00000020U
#define KIWI_QP_ATTR_DEST_QPN		0x00000040U
#define KIWI_QP_ATTR_SQ_PSN		0x00000080U
#define KIWI_QP_ATTR_RQ_PSN		0x00000100U
#define KIWI_QP_ATTR_TIMEOUT		0x00000200U
#define KIWI_QP_ATTR_RETRY_CNT		0x00000400U
#define KIWI_QP_ATTR_RNR_RETRY		0x00000800U
#define KIWI_QP_ATTR_MIN_RNR_TIMER	0x00001000U
#define KIWI_QP_ATTR_MAX_RD_ATOMIC	0x00002000U
#define KIWI_QP_ATTR_MAX_DEST_RD_ATOMIC	0x00004000U
#define KIWI_QP_ATTR_ALL		0x00007fffU

/**
 * struct kiwi_qp_attr - attributes of a QP; ranges and meanings as IBTA says
 * @state: enum kiwi_qp_state
 * @cur_state: with CUR_STATE in MODIFY_QP: must be the state; in QUERY_QP: 0
 * @mtu: enum kiwi_mtu, at most the port's
 * @port: 1..caps.ports
 * @dest_qpn: 24 bits
 * @sq_psn: 24 bits; in QUERY_QP the next to be sent
 * @rq_psn: 24 bits; in QUERY_QP the next expected
 * @timeout: local ACK timeout 4.096 us * 2^n, 0 (none)..31
 * @retry_cnt: 0..7
 * @rnr_retry: 0..7, 7 is without end
 * @min_rnr_timer: code 0..31 [public: IBTA RNR NAK timer]
 * @max_rd_atomic: as requester, 0..caps.max_rd_atomic
 * @max_dest_rd_atomic: as responder, 0..caps.max_rd_atomic
 * @hop_limit: hop limit / TTL; 0 is taken as 64
 * @traffic_class: traffic class / TOS
 * @dmac: destination MAC, not multicast
 * @sgid_index: entry of the port's GID table, of a type other than NONE
 * @rsvd0: 0
 * @dgid: destination GID, of the same IP version as the source
 * @access: KIWI_ACCESS_REMOTE_*: what peers may do
 * @flow_label: 20 bits
 * @udp_sport: UDP source port, 0xc000..0xffff; 0: the device chooses [public: RoCEv2 entropy]
 * @rsvd1: 0
 */
struct kiwi_qp_attr {
	__u8 state;
	__u8 cur_state;
	__u8 mtu;
	__u8 port;
	__le32 dest_qpn;
	__le32 sq_psn;
	__le32 rq_psn;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 min_rnr_timer;
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 dmac[6];
	__u8 sgid_index;
	__u8 rsvd0;
	__u8 dgid[16];
	__le32 access;
	__le32 flow_label;
	__le16 udp_sport;
	__u8 rsvd1[6];
};
KIWI_ABI_SIZE(struct kiwi_qp_attr, 64);

struct kiwi_snic_modify_qp_in {	/* no reply */
	__le32 qpn;
	__le32 mask;		/* KIWI_QP_ATTR_*; attributes not named are 0 */
	struct kiwi_qp_attr attr;
};
KIWI_ABI_SIZE(struct kiwi_snic_modify_qp_in, 72);

/* QUERY_QP: input struct kiwi_cmd_id; reply struct kiwi_qp_attr, with state in force.
 * DESTROY_QP: input struct kiwi_cmd_id, in any state. No access to the rings, no
 * CQE and no event of this QP after the reply.
 */

#endif /* KIWI_ABI_SNIC_H */
