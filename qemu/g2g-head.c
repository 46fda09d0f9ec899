/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Personality headers (W-6 to W-9).
 */
#include "g2g.h"
#include "qemu/bswap.h"

#define SUE_NOT_SRC 0x3c        /* of the first byte: version, and what is 0 */
#define SUE_RSVD1   0x3c        /* of the fifth byte */

const uint8_t g2g_head_size[] = {
    [KIWI_G2G_HDR_SUE] = sizeof(struct kiwi_g2g_sue),
    [KIWI_G2G_HDR_OISA] = sizeof(struct kiwi_g2g_oisa),
    [KIWI_G2G_HDR_ETHX] = sizeof(struct kiwi_g2g_ethx),
};

bool g2g_head_may_be(uint8_t kind, uint8_t first)
{
    switch (kind) {
    case KIWI_G2G_HDR_SUE:
        return !(first & SUE_NOT_SRC);
    case KIWI_G2G_HDR_OISA:
        return first == KIWI_G2G_OISA_VERSION;
    default:
        return first == KIWI_G2G_ETHX_VERSION;
    }
}

void g2g_head_put(uint8_t kind, uint8_t *out, const G2gHead *h)
{
    switch (kind) {
    case KIWI_G2G_HDR_SUE:
        stl_be_p(out, (uint32_t)h->op << 30 | (uint32_t)h->src << 16 | h->psn);
        stl_be_p(out + 4, (uint32_t)h->vc << 30 | h->partition << 16 | h->rpsn);
        break;
    case KIWI_G2G_HDR_OISA:
        out[0] = KIWI_G2G_OISA_VERSION;
        out[1] = h->op << 6 | h->vc << 4;
        stw_be_p(out + 2, h->dst);
        stw_be_p(out + 4, h->src);
        stw_be_p(out + 6, h->partition);
        stw_be_p(out + 8, h->psn);
        stw_be_p(out + 10, h->rpsn);
        break;
    case KIWI_G2G_HDR_ETHX:
        out[0] = KIWI_G2G_ETHX_VERSION;
        out[1] = h->op;
        out[2] = h->vc;
        out[3] = 0;
        stl_be_p(out + 4, h->partition);
        stw_be_p(out + 8, h->dst);
        stw_be_p(out + 10, h->src);
        stw_be_p(out + 12, h->psn);
        stw_be_p(out + 14, h->rpsn);
        break;
    }
}

bool g2g_head_get(uint8_t kind, const uint8_t *in, G2gHead *h)
{
    bool good = true;

    switch (kind) {
    case KIWI_G2G_HDR_SUE:
        good = !(in[0] & SUE_NOT_SRC) && !(in[4] & SUE_RSVD1);
        h->op = in[0] >> 6;
        h->vc = in[4] >> 6;
        h->src = lduw_be_p(in) & 0x3ff;
        h->psn = lduw_be_p(in + 2);
        h->partition = lduw_be_p(in + 4) & 0x3ff;
        h->rpsn = lduw_be_p(in + 6);
        break;
    case KIWI_G2G_HDR_OISA:
        good = !(in[1] & 0xf);
        h->op = in[1] >> 6;
        h->vc = in[1] >> 4 & 3;
        h->dst = lduw_be_p(in + 2);
        h->src = lduw_be_p(in + 4);
        h->partition = lduw_be_p(in + 6);
        h->psn = lduw_be_p(in + 8);
        h->rpsn = lduw_be_p(in + 10);
        break;
    case KIWI_G2G_HDR_ETHX:
        good = in[2] < KIWI_G2G_VCS && !in[3];
        h->op = in[1];
        h->vc = in[2];
        h->partition = ldl_be_p(in + 4);
        h->dst = lduw_be_p(in + 8);
        h->src = lduw_be_p(in + 10);
        h->psn = lduw_be_p(in + 12);
        h->rpsn = lduw_be_p(in + 14);
        break;
    }
    return good && h->op <= KIWI_G2G_PDU_NACK;
}
