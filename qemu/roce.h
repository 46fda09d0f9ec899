/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCEv2 frames [IBTA Annex A17]: Ethernet, IPv4 or IPv6, UDP, BTH, extended
 * headers of the reliable connection service, payload, pad, ICRC.
 *
 * Pure functions, no QEMU device behind them: they are tested on the host.
 */
#ifndef KIWI_QEMU_ROCE_H
#define KIWI_QEMU_ROCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ROCE_UDP_PORT       4791
#define ROCE_PKEY_DEFAULT   0xffff
#define ROCE_PSN_MASK       0xffffffu
#define ROCE_QPN_MASK       0xffffffu

#define ROCE_MTU_MAX        4096

/* Ethernet 14, IPv6 40, UDP 8, BTH 12, AtomicETH 28 (RETH, ImmDt: 20) */
#define ROCE_HEADERS_MAX    102
#define ROCE_ICRC_SIZE      4
#define ROCE_FRAME_MAX \
    (ROCE_HEADERS_MAX + ROCE_MTU_MAX + 3 + ROCE_ICRC_SIZE)

enum RoceOpcode {
    ROCE_SEND_FIRST         = 0x00,
    ROCE_SEND_MIDDLE        = 0x01,
    ROCE_SEND_LAST          = 0x02,
    ROCE_SEND_LAST_IMM      = 0x03,
    ROCE_SEND_ONLY          = 0x04,
    ROCE_SEND_ONLY_IMM      = 0x05,
    ROCE_WRITE_FIRST        = 0x06,
    ROCE_WRITE_MIDDLE       = 0x07,
    ROCE_WRITE_LAST         = 0x08,
    ROCE_WRITE_LAST_IMM     = 0x09,
    ROCE_WRITE_ONLY         = 0x0a,
    ROCE_WRITE_ONLY_IMM     = 0x0b,
    ROCE_READ_REQUEST       = 0x0c,
    ROCE_READ_RESP_FIRST    = 0x0d,
    ROCE_READ_RESP_MIDDLE   = 0x0e,
    ROCE_READ_RESP_LAST     = 0x0f,
    ROCE_READ_RESP_ONLY     = 0x10,
    ROCE_ACK                = 0x11,
    ROCE_ATOMIC_ACK         = 0x12,
    ROCE_CMP_SWAP           = 0x13,
    ROCE_FETCH_ADD          = 0x14,
    ROCE_OPCODE_COUNT
};

/* What a packet of an opcode is and carries. */
#define ROCE_F_RETH         0x0001
#define ROCE_F_AETH         0x0002
#define ROCE_F_ATOMIC_ETH   0x0004
#define ROCE_F_ATOMIC_ACK   0x0008
#define ROCE_F_IMM          0x0010
#define ROCE_F_PAYLOAD      0x0020
#define ROCE_F_FIRST        0x0040  /* begins a message or response */
#define ROCE_F_LAST         0x0080  /* ends it; ONLY has both */
#define ROCE_F_RESPONSE     0x0100
#define ROCE_F_SEND         0x0200
#define ROCE_F_WRITE        0x0400
#define ROCE_F_ATOMIC       0x0800  /* atomic request */

/* Flags of a known opcode, else 0. */
unsigned roce_opcode_flags(uint8_t opcode);

/* Acknowledge syndrome: type in bits 5..6 [IBTA 9.7.5.2.1] */
#define ROCE_AETH_TYPE      0xe0
#define ROCE_AETH_ACK       0x00
#define ROCE_AETH_RNR       0x20
#define ROCE_AETH_NAK       0x60
#define ROCE_AETH_VALUE     0x1f
#define ROCE_AETH_NO_CREDITS 0x1f   /* with ACK: end to end credits not used */
#define ROCE_NAK_SEQUENCE   0
#define ROCE_NAK_INVALID    1
#define ROCE_NAK_ACCESS     2
#define ROCE_NAK_OPERATION  3

/*
 * How frames of a connection are addressed. Addresses are GIDs: IPv4 stands as
 * ::ffff:a.b.c.d, and the two are of one version.
 */
typedef struct RocePath {
    uint8_t smac[6];
    uint8_t dmac[6];
    uint8_t sgid[16];
    uint8_t dgid[16];
    uint32_t flow_label;
    uint16_t udp_sport;
    uint8_t traffic_class;
    uint8_t hop_limit;
} RocePath;

/* One packet, in host byte order. What the opcode does not carry is 0. */
typedef struct RocePacket {
    uint8_t opcode;
    bool solicited;
    bool ack_req;
    uint16_t pkey;
    uint32_t dest_qpn;
    uint32_t psn;
    uint64_t va;            /* RETH, AtomicETH */
    uint32_t rkey;          /* RETH, AtomicETH */
    uint32_t dma_len;       /* RETH */
    uint64_t swap_add;      /* AtomicETH */
    uint64_t compare;       /* AtomicETH */
    uint8_t syndrome;       /* AETH */
    uint32_t msn;           /* AETH */
    uint64_t orig;          /* AtomicAckETH */
    uint8_t imm[4];         /* ImmDt, as on the wire */
    size_t payload_len;     /* without pad */

    /* Set by roce_parse only. */
    unsigned flags;         /* ROCE_F_* of opcode */
    const uint8_t *payload;
    uint8_t sgid[16];
    uint8_t dgid[16];
} RocePacket;

typedef enum RoceVerdict {
    ROCE_OK,
    ROCE_NOT_ROCE,          /* no untagged, whole UDP datagram to the port */
    ROCE_MALFORMED,         /* it is; length, version, pad or opcode is wrong */
    ROCE_BAD_ICRC,
} RoceVerdict;

/* On ROCE_OK the packet refers to @frame. @len may include trailing padding. */
RoceVerdict roce_parse(const uint8_t *frame, size_t len, RocePacket *pkt);

/*
 * The same without Ethernet, IP, UDP and ICRC: a packet of @len bytes from BTH
 * to pad. False: malformed.
 */
bool roce_parse_packet(const uint8_t *bth, size_t len, RocePacket *pkt);

/*
 * Builds all that stands before the payload into @frame, which has room for
 * ROCE_FRAME_MAX bytes, and returns where pkt->payload_len bytes shall be put.
 * roce_finish() then adds pad and ICRC, and returns the length of the frame.
 */
uint8_t *roce_build(uint8_t *frame, const RocePath *path,
                    const RocePacket *pkt);
size_t roce_finish(uint8_t *frame, const uint8_t *payload, size_t payload_len);
/* Likewise, of a packet from BTH to pad. */
uint8_t *roce_build_packet(uint8_t *bth, const RocePacket *pkt);
size_t roce_finish_packet(uint8_t *bth, const uint8_t *payload,
                          size_t payload_len);

/* ICRC of the packet that begins with the IP header at @ip, of @len bytes. */
uint32_t roce_icrc(const uint8_t *ip, size_t len);

bool roce_gid_is_ipv4(const uint8_t gid[16]);

/* a - b in PSN space, -2^23 .. 2^23 - 1 */
static inline int32_t roce_psn_diff(uint32_t a, uint32_t b)
{
    return (int32_t)((a - b) << 8) >> 8;
}

static inline uint32_t roce_psn_add(uint32_t psn, uint32_t n)
{
    return (psn + n) & ROCE_PSN_MASK;
}

#endif /* KIWI_QEMU_ROCE_H */
