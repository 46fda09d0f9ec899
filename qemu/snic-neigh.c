/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address resolution: answers for the GIDs of a port, which no network
 * interface of the host would do.
 */
#include "snic.h"
#include "qemu/bswap.h"
#include "net/checksum.h"
#include "net/eth.h"

#include "roce.h"

#define ARP_LEN         28
#define ARP_REQUEST     1
#define ARP_REPLY       2
#define ND_LEN          24      /* ICMPv6 header and target */
#define ND_OPTION_LEN   8
#define ICMPV6          58
#define ND_SOLICIT      135
#define ND_ADVERTISE    136
#define ND_SOLICITED    0x60    /* solicited, override */
#define ND_OVERRIDE     0x20
#define ND_TARGET_MAC   2       /* option: target link-layer address */

static bool has_gid(const SnicPort *port, const uint8_t gid[16])
{
    for (unsigned i = 0; i < port->s->msgq.num_gids; i++) {
        if (port->gids[i].type != KIWI_GID_NONE &&
            !memcmp(port->gids[i].gid, gid, 16)) {
            return true;
        }
    }
    return false;
}

static void eth_header(const SnicPort *port, uint8_t *frame, const uint8_t *to,
                       uint16_t type)
{
    memcpy(frame, to, ETH_ALEN);
    memcpy(frame + ETH_ALEN, port->conf.macaddr.a, ETH_ALEN);
    stw_be_p(frame + 12, type);
}

/* [public: RFC 826] */
void snic_neigh_arp(SnicPort *port, const uint8_t *frame, size_t len)
{
    static const uint8_t request[8] = { 0, 1, 8, 0, 6, 4, 0, ARP_REQUEST };
    const uint8_t *arp = frame + ETH_HLEN;
    uint8_t reply[ETH_ZLEN] = { 0 };
    uint8_t *out = reply + ETH_HLEN;
    uint8_t gid[16] = { [10] = 0xff, [11] = 0xff };

    if (len < ETH_HLEN + ARP_LEN ||
        memcmp(arp, request, sizeof(request))) {
        return;
    }
    memcpy(gid + 12, arp + 24, 4);
    if (!has_gid(port, gid)) {
        return;
    }
    eth_header(port, reply, arp + 8, ETH_P_ARP);
    memcpy(out, request, sizeof(request));
    out[7] = ARP_REPLY;
    memcpy(out + 8, port->conf.macaddr.a, ETH_ALEN);
    memcpy(out + 14, gid + 12, 4);
    memcpy(out + 18, arp + 8, 10);
    snic_net_transmit(port, reply, sizeof(reply));
}

static uint16_t icmpv6_checksum(const uint8_t *ip, const uint8_t *icmp,
                                uint16_t len)
{
    uint32_t sum = net_checksum_add(32, (uint8_t *)ip + 8) + ICMPV6 + len;

    return net_checksum_finish(sum + net_checksum_add(len, (uint8_t *)icmp));
}

/* [public: RFC 4861 7.1.1, 7.2.4] */
bool snic_neigh_ipv6(SnicPort *port, const uint8_t *frame, size_t len)
{
    static const uint8_t all_nodes[16] = { 0xff, 2, [15] = 1 };
    static const uint8_t all_nodes_mac[ETH_ALEN] = { 0x33, 0x33, 0, 0, 0, 1 };
    static const uint8_t unspecified[16];
    const uint8_t *ip = frame + ETH_HLEN;
    const uint8_t *icmp = ip + 40;
    const uint8_t *src = ip + 8;
    uint8_t reply[ETH_HLEN + 40 + ND_LEN + ND_OPTION_LEN] = { 0 };
    uint8_t *out = reply + ETH_HLEN;
    uint16_t plen;
    bool probe;

    if (len < ETH_HLEN + 40 + ND_LEN || ip[0] >> 4 != 6 || ip[6] != ICMPV6 ||
        ip[7] != 255 || icmp[0] != ND_SOLICIT || icmp[1]) {
        return false;
    }
    plen = lduw_be_p(ip + 4);
    if (plen < ND_LEN || plen > len - ETH_HLEN - 40 ||
        icmpv6_checksum(ip, icmp, plen) || !has_gid(port, icmp + 8)) {
        return true;
    }
    /* A probe for a duplicate comes from nowhere: all get the answer. */
    probe = !memcmp(src, unspecified, 16);
    eth_header(port, reply, probe ? all_nodes_mac : frame + ETH_ALEN,
               ETH_P_IPV6);
    out[0] = 0x60;
    stw_be_p(out + 4, ND_LEN + ND_OPTION_LEN);
    out[6] = ICMPV6;
    out[7] = 255;
    memcpy(out + 8, icmp + 8, 16);
    memcpy(out + 24, probe ? all_nodes : src, 16);
    out[40] = ND_ADVERTISE;
    out[44] = probe ? ND_OVERRIDE : ND_SOLICITED;
    memcpy(out + 48, icmp + 8, 16);
    out[64] = ND_TARGET_MAC;
    out[65] = 1;
    memcpy(out + 66, port->conf.macaddr.a, ETH_ALEN);
    stw_be_p(out + 42, icmpv6_checksum(out, out + 40, ND_LEN + ND_OPTION_LEN));
    snic_net_transmit(port, reply, sizeof(reply));
    return true;
}
