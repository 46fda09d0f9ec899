/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: frames between G2G IO dies. Text: ../spec/g2g.md, W-1..
 * A host needs none of this. Big-endian where a field says so (__be), else little-endian.
 *
 * PDU frame:     Ethernet | personality header | kiwi_g2g_fh | transactions | kiwi_g2g_trailer
 * Control frame: Ethernet | kiwi_g2g_fh | kiwi_g2g_hello | kiwi_g2g_trailer
 * Link frame:    Ethernet | one of the kiwi_g2g_link_* structures
 */
#ifndef KIWI_ABI_G2G_WIRE_H
#define KIWI_ABI_G2G_WIRE_H

#include "types.h"
#include "g2g_image.h"

/* [public: IEEE 802, local experimental EtherTypes] */
#define KIWI_G2G_ETH_PDU	0x88b5
#define KIWI_G2G_ETH_CONTROL	0x88b6	/* control frames and link frames */

/* Source and destination of PDU and control frames: W-2 */
#define KIWI_G2G_MAC_OUI	0x024b57	/* locally administered [ours] */
/* Destination of link frames: nearest bridge, never forwarded [public: IEEE 802.1Q] */
#define KIWI_G2G_MAC_LINK	0x0180c200000eULL

/* Virtual channel: layer * 2 + class */
#define KIWI_G2G_VCS		4
#define KIWI_G2G_CLASS_REQ	0	/* requests, messages, control */
#define KIWI_G2G_CLASS_RSP	1	/* whatever a request waits for */

enum kiwi_g2g_pdu {	/* [public: SUE reliability header, as SUE-Sim has it] */
	KIWI_G2G_PDU_DATA	= 0,	/* in sequence: transactions */
	KIWI_G2G_PDU_ACK	= 1,	/* no transactions */
	KIWI_G2G_PDU_NACK	= 2,	/* no transactions */
};

/* Personality headers ----------------------------------------------------- */

/*
 * SUE [public: Broadcom Scale-Ethernet-RM101, reliability header, after
 * kaima2022/SUE-Sim model/sue-header.cc]: two big-endian words. The widths that
 * the simulator leaves open (version, reserved, partition) are [ours].
 */
struct kiwi_g2g_sue {
	__be32 word0;	/* op 31..30, version 29..28 (0), 0 27..26, xpuid 25..16, psn 15..0 */
	__be32 word1;	/* vc 31..30, 0 29..26, partition 25..16, rpsn 15..0 */
};
KIWI_ABI_SIZE(struct kiwi_g2g_sue, 8);

/* OISA: PROVISIONAL, [ours]: no header has been published. */
#define KIWI_G2G_OISA_VERSION	0xa1
struct kiwi_g2g_oisa {
	__u8 version;	/* KIWI_G2G_OISA_VERSION */
	__u8 op_vc;	/* enum kiwi_g2g_pdu 7..6, vc 5..4, 0 */
	__be16 dst;
	__be16 src;
	__be16 tag;	/* partition */
	__be16 psn;
	__be16 rpsn;
};
KIWI_ABI_SIZE(struct kiwi_g2g_oisa, 12);

/* ETH-X: PROVISIONAL, [ours]: no header has been published. */
#define KIWI_G2G_ETHX_VERSION	0xe1
struct kiwi_g2g_ethx {
	__u8 version;	/* KIWI_G2G_ETHX_VERSION */
	__u8 op;	/* enum kiwi_g2g_pdu */
	__u8 vc;
	__u8 rsvd;
	__be32 partition;
	__be16 dst;
	__be16 src;
	__be16 psn;
	__be16 rpsn;
};
KIWI_ABI_SIZE(struct kiwi_g2g_ethx, 16);

/* Fabric header ----------------------------------------------------------- */

#define KIWI_G2G_FH_VERSION	1
#define KIWI_G2G_HOPS		16	/* sent with this many */

struct kiwi_g2g_fh {
	__u8 version;	/* KIWI_G2G_FH_VERSION */
	__u8 hops;	/* times that it may still be forwarded, 0..KIWI_G2G_HOPS */
	__le16 dst;	/* accelerator ids */
	__le16 src;
	__le16 len;	/* bytes of transactions behind this header, a multiple of 8 */
	__le32 session;	/* the receiver's with the sender; in a control frame 0 */
	__le32 epoch;
};
KIWI_ABI_SIZE(struct kiwi_g2g_fh, 16);

#define KIWI_G2G_TRAILER_LLR	0x0001

struct kiwi_g2g_trailer {
	__le16 llr_seq;	/* with KIWI_G2G_TRAILER_LLR, else 0 */
	__le16 flags;
	__le32 crc;	/* CRC-32 of IEEE 802.3 over all between the Ethernet header and here */
};
KIWI_ABI_SIZE(struct kiwi_g2g_trailer, 8);

/* Transactions, of DATA PDUs ------------------------------------------------ */

enum kiwi_g2g_tx_op {	/* bit 7: class RSP. key, addr, tag as used: W-30 */
	KIWI_G2G_TX_READ	= 0x01,	/* no payload; len bytes are asked for */
	KIWI_G2G_TX_WRITE	= 0x02,	/* payload: len bytes */
	KIWI_G2G_TX_ATOMIC	= 0x03,	/* payload: kiwi_g2g_tx_atomic */
	KIWI_G2G_TX_MESSAGE	= 0x10,	/* payload: an IBTA transport packet of len bytes, W-33 */
	KIWI_G2G_TX_MAIL	= 0x20,	/* payload: len bytes of a peer message */
	KIWI_G2G_TX_MAIL_ROOM	= 0x21,	/* no payload; addr: messages taken in the session */
	KIWI_G2G_TX_BIND	= 0x30,	/* payload: kiwi_g2g_tx_bind */
	KIWI_G2G_TX_RELEASE	= 0x31,	/* no payload; the importer gives up key */
	KIWI_G2G_TX_SHOOTDOWN	= 0x32,	/* no payload; the exporter takes back key */
	KIWI_G2G_TX_READ_RSP	= 0x81,	/* payload: len bytes if status is OK, else none */
	KIWI_G2G_TX_WRITE_ERR	= 0x82,	/* no payload; only if status is not OK */
	KIWI_G2G_TX_ATOMIC_RSP	= 0x83,	/* payload: the 8 bytes before; else as READ_RSP */
	KIWI_G2G_TX_BIND_RSP	= 0xb0,	/* payload: kiwi_g2g_tx_bound if status is OK */
	KIWI_G2G_TX_SHOOTDOWN_ACK = 0xb2, /* no payload */
};

#define KIWI_G2G_TX_MAX		256	/* bytes of one READ or WRITE [public: UALink 200G 1.0] */

/**
 * struct kiwi_g2g_tx - head of a transaction; payload follows, padded with zero to 8 bytes
 * @op: enum kiwi_g2g_tx_op
 * @status: enum kiwi_g2g_status in a response; in ATOMIC enum kiwi_g2g_atomic; else 0
 * @tag: chosen by the requester, echoed in the response
 * @len: READ, WRITE, READ_RSP, WRITE_ERR, MESSAGE, MAIL: bytes; ATOMIC, ATOMIC_RSP: 8;
 *	a READ_RSP or ATOMIC_RSP whose @status is not OK, and all others: 0
 * @rsvd0: 0
 * @addr: offset into the export
 * @key: names the binding at the exporter, from kiwi_g2g_tx_bound
 * @rsvd1: 0
 */
struct kiwi_g2g_tx {
	__u8 op;
	__u8 status;
	__le16 tag;
	__le16 len;
	__le16 rsvd0;
	__le64 addr;
	__le32 key;
	__le32 rsvd1;
};
KIWI_ABI_SIZE(struct kiwi_g2g_tx, 24);

/*
 * MESSAGE: a packet of a queue pair, W-33. Sizes of its headers [public: IBTA 9.2 to 9.3]; the
 * largest packet with payload is a WRITE with immediate data.
 */
#define KIWI_G2G_BTH		12
#define KIWI_G2G_RETH		16
#define KIWI_G2G_IMMDT		4

KIWI_ABI_ASSERT(sizeof(struct kiwi_g2g_ethx) + sizeof(struct kiwi_g2g_fh) +
		sizeof(struct kiwi_g2g_tx) + KIWI_G2G_BTH + KIWI_G2G_RETH + KIWI_G2G_IMMDT +
		7 /* padding of the transaction */ + sizeof(struct kiwi_g2g_trailer) <=
		KIWI_G2G_MESSAGE_ROOM, "a packet at the MTU fits its PDU");

struct kiwi_g2g_tx_atomic {
	__le64 operand;		/* addend, or the new value */
	__le64 compare;		/* CMP_SWAP, else 0 */
};
KIWI_ABI_SIZE(struct kiwi_g2g_tx_atomic, 16);

struct kiwi_g2g_tx_bind {
	__u8 handle[16];
	__le32 rights;		/* wanted, KIWI_ACCESS_REMOTE_* */
	__le32 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_g2g_tx_bind, 24);

struct kiwi_g2g_tx_bound {
	__le64 length;		/* of the export */
	__le32 key;
	__le32 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_g2g_tx_bound, 16);

/* Sessions: control frames ---------------------------------------------------- */

enum kiwi_g2g_hello_type {
	KIWI_G2G_HELLO		= 1,
	KIWI_G2G_REFUSE		= 2,	/* answers a HELLO that cannot be agreed to */
	KIWI_G2G_BYE		= 3,	/* ends the session */
};

struct kiwi_g2g_hello {
	__u8 type;		/* enum kiwi_g2g_hello_type */
	__u8 reason;		/* REFUSE, BYE: enum kiwi_g2g_reason */
	__le16 partition;
	__le32 session;		/* the sender's with the receiver, not 0 */
	__le32 heard;		/* the receiver's with the sender, 0: not known */
	__le32 epoch;
	__u8 pod[16];
	__le64 serial;		/* KIWI_REG_SERIAL */
	__le16 image_id;	/* of the active image */
	__le16 mail;		/* peer messages that the sender keeps for the receiver */
	__le32 image_version;
	__u8 image_hash[8];	/* the first bytes of it */
	__le64 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_g2g_hello, 64);

/* Link frames --------------------------------------------------------------- */

enum kiwi_g2g_link_type {
	KIWI_G2G_LINK_TRAIN	= 1,	/* kiwi_g2g_link_train */
	KIWI_G2G_LINK_ACK	= 2,	/* kiwi_g2g_link_ack: LLR */
	KIWI_G2G_LINK_NACK	= 3,	/* kiwi_g2g_link_ack: LLR */
	KIWI_G2G_LINK_CREDIT	= 4,	/* kiwi_g2g_link_credit: CBFC */
};

#define KIWI_G2G_LINK_VERSION	1

struct kiwi_g2g_link_head {
	__u8 version;		/* KIWI_G2G_LINK_VERSION */
	__u8 type;		/* enum kiwi_g2g_link_type */
	__le16 rsvd;
	__le32 crc;		/* CRC-32 over the whole structure with this field 0 */
	__le32 nonce;		/* the sender's, of this training; not 0 */
	__le32 heard;		/* the nonce last heard from the other end, 0: none */
};
KIWI_ABI_SIZE(struct kiwi_g2g_link_head, 16);

struct kiwi_g2g_link_train {
	struct kiwi_g2g_link_head head;
	__u8 pod[16];
	__le16 accel;
	__u8 port;
	__u8 flags;		/* KIWI_G2G_PORT_LLR */
	__u8 lanes;		/* how many */
	__u8 fec;		/* enum kiwi_g2g_fec */
	__u8 flow;		/* enum kiwi_g2g_flow */
	__u8 rsvd0;
	__le16 mtu;
	__le16 image_id;
	__le32 image_version;
	__u8 image_hash[8];
	__le16 llr_window;	/* PDU frames that the sender may have unacknowledged */
	__le16 credits[KIWI_G2G_VCS];	/* PDU frames that the sender can take, 1 or more */
	__le16 rsvd1;
	__le32 rsvd2;
};
KIWI_ABI_SIZE(struct kiwi_g2g_link_train, 72);

struct kiwi_g2g_link_ack {
	struct kiwi_g2g_link_head head;
	__le16 next;		/* llr_seq expected next; all before it have arrived */
	__le16 rsvd[3];
};
KIWI_ABI_SIZE(struct kiwi_g2g_link_ack, 24);

struct kiwi_g2g_link_credit {
	struct kiwi_g2g_link_head head;
	__le32 freed[KIWI_G2G_VCS];	/* PDU frames taken off, since the link came up */
};
KIWI_ABI_SIZE(struct kiwi_g2g_link_credit, 32);

#endif /* KIWI_ABI_G2G_WIRE_H */
