/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * RoCEv2 frames: parse, build, ICRC.
 */
#include <string.h>
#include <zlib.h>

#include "roce.h"

#define ETH_SIZE        14
#define ETH_MIN         60      /* without FCS */
#define ETHERTYPE_IPV4  0x0800
#define ETHERTYPE_IPV6  0x86dd
#define IPV4_SIZE       20
#define IPV6_SIZE       40
#define IPPROTO_UDP_NUM 17
#define IPV4_DF         0x4000
#define IPV4_FRAGMENT   0x3fff  /* more fragments, or an offset */
#define UDP_SIZE        8
#define BTH_SIZE        12
#define RETH_SIZE       16
#define AETH_SIZE       4
#define ATOMIC_ETH_SIZE 28
#define ATOMIC_ACK_SIZE 8
#define IMM_SIZE        4

#define BTH_SOLICITED   0x80
#define BTH_MIGRATED    0x40
#define BTH_PAD_SHIFT   4
#define BTH_PAD         0x30
#define BTH_VERSION     0x0f
#define BTH_ACK_REQ     0x80

#define ECN_ECT0        0x02
#define ECN_MASK        0x03

static const uint8_t ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };

#define SEND    (ROCE_F_SEND | ROCE_F_PAYLOAD)
#define WRITE   (ROCE_F_WRITE | ROCE_F_PAYLOAD)
#define READ_RESP (ROCE_F_RESPONSE | ROCE_F_PAYLOAD)
#define FIRST   ROCE_F_FIRST
#define LAST    ROCE_F_LAST
#define ONLY    (ROCE_F_FIRST | ROCE_F_LAST)

static const uint16_t opcode_flags[ROCE_OPCODE_COUNT] = {
    [ROCE_SEND_FIRST]       = SEND | FIRST,
    [ROCE_SEND_MIDDLE]      = SEND,
    [ROCE_SEND_LAST]        = SEND | LAST,
    [ROCE_SEND_LAST_IMM]    = SEND | LAST | ROCE_F_IMM,
    [ROCE_SEND_ONLY]        = SEND | ONLY,
    [ROCE_SEND_ONLY_IMM]    = SEND | ONLY | ROCE_F_IMM,
    [ROCE_WRITE_FIRST]      = WRITE | FIRST | ROCE_F_RETH,
    [ROCE_WRITE_MIDDLE]     = WRITE,
    [ROCE_WRITE_LAST]       = WRITE | LAST,
    [ROCE_WRITE_LAST_IMM]   = WRITE | LAST | ROCE_F_IMM,
    [ROCE_WRITE_ONLY]       = WRITE | ONLY | ROCE_F_RETH,
    [ROCE_WRITE_ONLY_IMM]   = WRITE | ONLY | ROCE_F_RETH | ROCE_F_IMM,
    [ROCE_READ_REQUEST]     = ONLY | ROCE_F_RETH,
    [ROCE_READ_RESP_FIRST]  = READ_RESP | FIRST | ROCE_F_AETH,
    [ROCE_READ_RESP_MIDDLE] = READ_RESP,
    [ROCE_READ_RESP_LAST]   = READ_RESP | LAST | ROCE_F_AETH,
    [ROCE_READ_RESP_ONLY]   = READ_RESP | ONLY | ROCE_F_AETH,
    [ROCE_ACK]              = ROCE_F_RESPONSE | ONLY | ROCE_F_AETH,
    [ROCE_ATOMIC_ACK]       = ROCE_F_RESPONSE | ONLY | ROCE_F_AETH |
                              ROCE_F_ATOMIC_ACK,
    [ROCE_CMP_SWAP]         = ROCE_F_ATOMIC | ONLY | ROCE_F_ATOMIC_ETH,
    [ROCE_FETCH_ADD]        = ROCE_F_ATOMIC | ONLY | ROCE_F_ATOMIC_ETH,
};

static uint16_t get16(const uint8_t *p)
{
    return p[0] << 8 | p[1];
}

static uint32_t get24(const uint8_t *p)
{
    return p[0] << 16 | p[1] << 8 | p[2];
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static uint64_t get64(const uint8_t *p)
{
    return (uint64_t)get32(p) << 32 | get32(p + 4);
}

static void put16(uint8_t *p, uint16_t v)
{
    p[0] = v >> 8;
    p[1] = v;
}

static void put24(uint8_t *p, uint32_t v)
{
    p[0] = v >> 16;
    put16(p + 1, v);
}

static void put32(uint8_t *p, uint32_t v)
{
    put16(p, v >> 16);
    put16(p + 2, v);
}

static void put64(uint8_t *p, uint64_t v)
{
    put32(p, v >> 32);
    put32(p + 4, v);
}

unsigned roce_opcode_flags(uint8_t opcode)
{
    return opcode < ROCE_OPCODE_COUNT ? opcode_flags[opcode] : 0;
}

bool roce_gid_is_ipv4(const uint8_t gid[16])
{
    return !memcmp(gid, ipv4_prefix, sizeof(ipv4_prefix));
}

static size_t extended_size(unsigned flags)
{
    return (flags & ROCE_F_RETH ? RETH_SIZE : 0) +
           (flags & ROCE_F_AETH ? AETH_SIZE : 0) +
           (flags & ROCE_F_ATOMIC_ETH ? ATOMIC_ETH_SIZE : 0) +
           (flags & ROCE_F_ATOMIC_ACK ? ATOMIC_ACK_SIZE : 0) +
           (flags & ROCE_F_IMM ? IMM_SIZE : 0);
}

static uint16_t ipv4_checksum(const uint8_t *ip)
{
    uint32_t sum = 0;

    for (int i = 0; i < IPV4_SIZE; i += 2) {
        sum += get16(ip + i);
    }
    sum = (sum & 0xffff) + (sum >> 16);
    sum = (sum & 0xffff) + (sum >> 16);
    return ~sum;
}

/*
 * CRC-32 over 8 bytes of ones (where InfiniBand has its local route header) and
 * the packet from the IP header on, with all that a router may change read as
 * ones: IPv4 type of service, time to live and checksum; IPv6 traffic class,
 * flow label and hop limit; UDP checksum; the BTH's byte with FECN and BECN.
 */
uint32_t roce_icrc(const uint8_t *ip, size_t len)
{
    uint8_t head[8 + IPV6_SIZE + UDP_SIZE + BTH_SIZE];
    uint8_t *h = head + 8, *udp;
    size_t ip_size, head_size;

    ip_size = ip[0] >> 4 == 4 ? IPV4_SIZE : IPV6_SIZE;
    head_size = ip_size + UDP_SIZE + BTH_SIZE;
    memset(head, 0xff, 8);
    memcpy(h, ip, head_size);
    if (ip_size == IPV4_SIZE) {
        h[1] = 0xff;
        h[8] = 0xff;
        put16(h + 10, 0xffff);
    } else {
        put32(h, 0x6fffffff);
        h[7] = 0xff;
    }
    udp = h + ip_size;
    put16(udp + 6, 0xffff);
    udp[UDP_SIZE + 4] = 0xff;
    return crc32(crc32(0, head, 8 + head_size), ip + head_size,
                 len - head_size);
}

/* Little-endian, unlike all else in the frame. */
static void put_icrc(uint8_t *p, uint32_t icrc)
{
    for (int i = 0; i < ROCE_ICRC_SIZE; i++) {
        p[i] = icrc >> (8 * i);
    }
}

/*
 * Returns the size of the IP header of a whole UDP datagram, or 0. @total is
 * what the IP header says to be the size of header and datagram; *valid is
 * false when fields that RoCEv2 or IP itself fixes have other values.
 */
static size_t parse_ip(const uint8_t *ip, size_t len, uint16_t ethertype,
                       size_t *total, bool *valid, RocePacket *pkt)
{
    size_t size;

    if (ethertype == ETHERTYPE_IPV4) {
        if (len < IPV4_SIZE || ip[0] >> 4 != 4 || ip[9] != IPPROTO_UDP_NUM ||
            (get16(ip + 6) & IPV4_FRAGMENT)) {
            return 0;
        }
        size = (ip[0] & 15) * 4;
        *valid = size == IPV4_SIZE && ipv4_checksum(ip) == 0;
        *total = get16(ip + 2);
        memcpy(pkt->sgid, ipv4_prefix, sizeof(ipv4_prefix));
        memcpy(pkt->sgid + sizeof(ipv4_prefix), ip + 12, 4);
        memcpy(pkt->dgid, ipv4_prefix, sizeof(ipv4_prefix));
        memcpy(pkt->dgid + sizeof(ipv4_prefix), ip + 16, 4);
        return size;
    }
    if (ethertype == ETHERTYPE_IPV6) {
        /* A fragment or an option would have another next header. */
        if (len < IPV6_SIZE || ip[0] >> 4 != 6 || ip[6] != IPPROTO_UDP_NUM) {
            return 0;
        }
        *valid = true;
        *total = IPV6_SIZE + get16(ip + 4);
        memcpy(pkt->sgid, ip + 8, 16);
        memcpy(pkt->dgid, ip + 24, 16);
        return IPV6_SIZE;
    }
    return 0;
}

static const uint8_t *parse_extended(const uint8_t *p, RocePacket *pkt)
{
    if (pkt->flags & ROCE_F_RETH) {
        pkt->va = get64(p);
        pkt->rkey = get32(p + 8);
        pkt->dma_len = get32(p + 12);
        p += RETH_SIZE;
    }
    if (pkt->flags & ROCE_F_AETH) {
        pkt->syndrome = p[0];
        pkt->msn = get24(p + 1);
        p += AETH_SIZE;
    }
    if (pkt->flags & ROCE_F_ATOMIC_ETH) {
        pkt->va = get64(p);
        pkt->rkey = get32(p + 8);
        pkt->swap_add = get64(p + 12);
        pkt->compare = get64(p + 20);
        p += ATOMIC_ETH_SIZE;
    }
    if (pkt->flags & ROCE_F_ATOMIC_ACK) {
        pkt->orig = get64(p);
        p += ATOMIC_ACK_SIZE;
    }
    if (pkt->flags & ROCE_F_IMM) {
        memcpy(pkt->imm, p, IMM_SIZE);
        p += IMM_SIZE;
    }
    return p;
}

static bool parse_packet(const uint8_t *bth, size_t len, RocePacket *pkt)
{
    size_t fixed, pad;

    if (len < BTH_SIZE) {
        return false;
    }
    pkt->opcode = bth[0];
    pkt->flags = roce_opcode_flags(pkt->opcode);
    if (!pkt->flags || (bth[1] & BTH_VERSION)) {
        return false;
    }
    pkt->solicited = bth[1] & BTH_SOLICITED;
    pkt->pkey = get16(bth + 2);
    pkt->dest_qpn = get24(bth + 5);
    pkt->ack_req = bth[8] & BTH_ACK_REQ;
    pkt->psn = get24(bth + 9);

    fixed = BTH_SIZE + extended_size(pkt->flags);
    pad = (bth[1] & BTH_PAD) >> BTH_PAD_SHIFT;
    if (len < fixed + pad || (len - fixed) % 4) {
        return false;
    }
    pkt->payload_len = len - fixed - pad;
    if (!(pkt->flags & ROCE_F_PAYLOAD) && len != fixed) {
        return false;
    }
    pkt->payload = parse_extended(bth + BTH_SIZE, pkt);
    return true;
}

bool roce_parse_packet(const uint8_t *bth, size_t len, RocePacket *pkt)
{
    memset(pkt, 0, sizeof(*pkt));
    return parse_packet(bth, len, pkt);
}

RoceVerdict roce_parse(const uint8_t *frame, size_t len, RocePacket *pkt)
{
    const uint8_t *ip, *udp, *bth, *icrc;
    size_t ip_size, total, udp_len;
    bool valid;

    memset(pkt, 0, sizeof(*pkt));
    if (len < ETH_SIZE) {
        return ROCE_NOT_ROCE;
    }
    ip = frame + ETH_SIZE;
    len -= ETH_SIZE;
    ip_size = parse_ip(ip, len, get16(frame + 12), &total, &valid, pkt);
    if (!ip_size || len < ip_size + UDP_SIZE) {
        return ROCE_NOT_ROCE;
    }
    udp = ip + ip_size;
    if (get16(udp + 2) != ROCE_UDP_PORT) {
        return ROCE_NOT_ROCE;
    }
    udp_len = get16(udp + 4);
    if (!valid || total > len || total != ip_size + udp_len ||
        udp_len < UDP_SIZE + BTH_SIZE + ROCE_ICRC_SIZE) {
        return ROCE_MALFORMED;
    }

    bth = udp + UDP_SIZE;
    icrc = ip + total - ROCE_ICRC_SIZE;
    if (!parse_packet(bth, icrc - bth, pkt)) {
        return ROCE_MALFORMED;
    }
    if (get32(icrc) != __builtin_bswap32(roce_icrc(ip, icrc - ip))) {
        return ROCE_BAD_ICRC;
    }
    return ROCE_OK;
}

static uint8_t *build_ip(uint8_t *ip, const RocePath *path, size_t udp_len)
{
    uint8_t traffic_class = (path->traffic_class & ~ECN_MASK) | ECN_ECT0;

    if (roce_gid_is_ipv4(path->sgid)) {
        memset(ip, 0, IPV4_SIZE);
        ip[0] = 0x45;
        ip[1] = traffic_class;
        put16(ip + 2, IPV4_SIZE + udp_len);
        put16(ip + 6, IPV4_DF);
        ip[8] = path->hop_limit;
        ip[9] = IPPROTO_UDP_NUM;
        memcpy(ip + 12, path->sgid + sizeof(ipv4_prefix), 4);
        memcpy(ip + 16, path->dgid + sizeof(ipv4_prefix), 4);
        put16(ip + 10, ipv4_checksum(ip));
        return ip + IPV4_SIZE;
    }
    put32(ip, 6u << 28 | (uint32_t)traffic_class << 20 |
          (path->flow_label & 0xfffff));
    put16(ip + 4, udp_len);
    ip[6] = IPPROTO_UDP_NUM;
    ip[7] = path->hop_limit;
    memcpy(ip + 8, path->sgid, 16);
    memcpy(ip + 24, path->dgid, 16);
    return ip + IPV6_SIZE;
}

static uint8_t *build_extended(uint8_t *p, unsigned flags,
                               const RocePacket *pkt)
{
    if (flags & ROCE_F_RETH) {
        put64(p, pkt->va);
        put32(p + 8, pkt->rkey);
        put32(p + 12, pkt->dma_len);
        p += RETH_SIZE;
    }
    if (flags & ROCE_F_AETH) {
        p[0] = pkt->syndrome;
        put24(p + 1, pkt->msn);
        p += AETH_SIZE;
    }
    if (flags & ROCE_F_ATOMIC_ETH) {
        put64(p, pkt->va);
        put32(p + 8, pkt->rkey);
        put64(p + 12, pkt->swap_add);
        put64(p + 20, pkt->compare);
        p += ATOMIC_ETH_SIZE;
    }
    if (flags & ROCE_F_ATOMIC_ACK) {
        put64(p, pkt->orig);
        p += ATOMIC_ACK_SIZE;
    }
    if (flags & ROCE_F_IMM) {
        memcpy(p, pkt->imm, IMM_SIZE);
        p += IMM_SIZE;
    }
    return p;
}

uint8_t *roce_build_packet(uint8_t *bth, const RocePacket *pkt)
{
    size_t pad = -pkt->payload_len & 3;

    bth[0] = pkt->opcode;
    bth[1] = (pkt->solicited ? BTH_SOLICITED : 0) | BTH_MIGRATED |
             pad << BTH_PAD_SHIFT;
    put16(bth + 2, pkt->pkey);
    put32(bth + 4, pkt->dest_qpn & ROCE_QPN_MASK);
    put32(bth + 8, pkt->psn & ROCE_PSN_MASK);
    if (pkt->ack_req) {
        bth[8] |= BTH_ACK_REQ;
    }
    return build_extended(bth + BTH_SIZE, roce_opcode_flags(pkt->opcode), pkt);
}

size_t roce_finish_packet(uint8_t *bth, const uint8_t *payload,
                          size_t payload_len)
{
    uint8_t *end = bth + (payload - bth) + payload_len;
    size_t pad = -payload_len & 3;

    memset(end, 0, pad);
    return end + pad - bth;
}

uint8_t *roce_build(uint8_t *frame, const RocePath *path, const RocePacket *pkt)
{
    unsigned flags = roce_opcode_flags(pkt->opcode);
    size_t pad = -pkt->payload_len & 3;
    size_t udp_len = UDP_SIZE + BTH_SIZE + extended_size(flags) +
                     pkt->payload_len + pad + ROCE_ICRC_SIZE;
    uint8_t *udp;

    memcpy(frame, path->dmac, 6);
    memcpy(frame + 6, path->smac, 6);
    put16(frame + 12, roce_gid_is_ipv4(path->sgid) ? ETHERTYPE_IPV4 :
                                                     ETHERTYPE_IPV6);
    udp = build_ip(frame + ETH_SIZE, path, udp_len);
    put16(udp, path->udp_sport);
    put16(udp + 2, ROCE_UDP_PORT);
    put16(udp + 4, udp_len);
    put16(udp + 6, 0);

    return roce_build_packet(udp + UDP_SIZE, pkt);
}

size_t roce_finish(uint8_t *frame, const uint8_t *payload, size_t payload_len)
{
    uint8_t *end = frame + roce_finish_packet(frame, payload, payload_len);
    uint8_t *ip = frame + ETH_SIZE;
    size_t len;

    put_icrc(end, roce_icrc(ip, end - ip));
    len = end + ROCE_ICRC_SIZE - frame;
    if (len < ETH_MIN) {
        memset(frame + len, 0, ETH_MIN - len);
        len = ETH_MIN;
    }
    return len;
}
