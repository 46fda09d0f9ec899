/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: personality images of the G2G IO die. Text: ../spec/g2g.md, F-40
 */
#ifndef KIWI_ABI_G2G_IMAGE_H
#define KIWI_ABI_G2G_IMAGE_H

#include "types.h"

#define KIWI_G2G_IMAGE_MAGIC	0x3149574bU	/* "KWI1" */

enum kiwi_g2g_personality {	/* kiwi_g2g_image.id [ours] */
	KIWI_G2G_SUE		= 1,
	KIWI_G2G_OISA		= 2,
	KIWI_G2G_ETHX		= 3,
};

#define KIWI_G2G_IMAGE_PROVISIONAL	0x00000001U	/* flags: header not published */

/* semantics */
#define KIWI_G2G_SEM_MEMORY	0x01	/* loads, stores, atomics */
#define KIWI_G2G_SEM_MESSAGE	0x02	/* queue pairs */

enum kiwi_g2g_header {		/* header_kind: what g2g_wire.h calls it */
	KIWI_G2G_HDR_SUE	= 1,
	KIWI_G2G_HDR_OISA	= 2,
	KIWI_G2G_HDR_ETHX	= 3,
};

/* reliability */
#define KIWI_G2G_REL_GBN	0x01	/* go-back-N, end to end */
#define KIWI_G2G_REL_LLR	0x02	/* link-level replay */

enum kiwi_g2g_flow {
	KIWI_G2G_FLOW_NONE	= 0,
	KIWI_G2G_FLOW_PFC	= 1,	/* [public: IEEE 802.1Qbb] */
	KIWI_G2G_FLOW_CBFC	= 2,	/* credits between the two ends of a link */
};

#define KIWI_G2G_FLOW_ALL	0x07	/* 1 << each */

enum kiwi_g2g_atomic {		/* on 8 bytes [public: PCIe AtomicOps] */
	KIWI_G2G_FETCH_ADD	= 1,
	KIWI_G2G_SWAP		= 2,
	KIWI_G2G_CMP_SWAP	= 3,
};

#define KIWI_G2G_ATOMIC_ALL	0x0e	/* 1 << each */

/**
 * struct kiwi_g2g_image - head of a personality image; the engine's program follows
 * @magic: KIWI_G2G_IMAGE_MAGIC
 * @size: of this structure
 * @id: enum kiwi_g2g_personality
 * @version: of the image; both ends of a session must have the same
 * @flags: KIWI_G2G_IMAGE_*
 * @length: bytes of the image, this structure included
 * @semantics: KIWI_G2G_SEM_*
 * @header_kind: enum kiwi_g2g_header
 * @id_bits: accelerator ids are less than 2^@id_bits, 1..10
 * @addr_bits: offsets into an export are less than 2^@addr_bits, 12..63
 * @mtu: bytes of a PDU, KIWI_G2G_MTU_MIN..KIWI_G2G_MTU_MAX
 * @vcs: virtual channels, 4
 * @reliability: KIWI_G2G_REL_*, GBN at least
 * @flow: 1 << KIWI_G2G_FLOW_* for each that a port may use, 1..KIWI_G2G_FLOW_ALL
 * @atomics: 1 << KIWI_G2G_FETCH_ADD.. for each, 0..KIWI_G2G_ATOMIC_ALL
 * @rsvd0: 0
 * @name: for people, printable ASCII, zero-padded, at least one zero
 * @hash: SHA-256 of the image with this field zero [public: FIPS 180-4]
 * @rsvd1: 0
 */
struct kiwi_g2g_image {
	__le32 magic;
	__le16 size;
	__le16 id;
	__le32 version;
	__le32 flags;
	__le32 length;
	__u8 semantics;
	__u8 header_kind;
	__u8 id_bits;
	__u8 addr_bits;
	__le16 mtu;
	__u8 vcs;
	__u8 reliability;
	__u8 flow;
	__u8 atomics;
	__u8 rsvd0[2];
	__u8 name[32];
	__u8 hash[32];
	__u8 rsvd1[32];
};
KIWI_ABI_SIZE(struct kiwi_g2g_image, 128);
KIWI_ABI_OFFSET(struct kiwi_g2g_image, hash, 64);

#define KIWI_G2G_MTU_MIN	1024
#define KIWI_G2G_MTU_MAX	9216

/* Bytes of a PDU that a packet of a QP needs besides its MTU: F-6, W-33 */
#define KIWI_G2G_MESSAGE_ROOM	128

#endif /* KIWI_ABI_G2G_IMAGE_H */
