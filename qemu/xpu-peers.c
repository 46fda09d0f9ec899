/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables of peers, which collective commands walk.
 */
#include "xpu.h"
#include "qemu/bswap.h"

bool xpu_peer_load(XpuState *s, XpuThread *t, uint64_t table, uint64_t index,
                   struct xpu_peer *peer)
{
    const void *entry = xpu_cmd_buffer(s, t, table + index * sizeof(*peer),
                                       sizeof(*peer));

    if (!entry) {
        return false;
    }
    memcpy(peer, entry, sizeof(*peer));
    return true;
}

/* With XPU_CMD_MERGE, when all is posted; @sub walks the table. */
XpuStep xpu_peers_ring(XpuState *s, XpuThread *t, uint64_t table, uint64_t count)
{
    struct xpu_peer peer;
    XpuStep step;

    if (!(t->cmd.flags & XPU_CMD_MERGE) || t->sub == count) {
        return XPU_STEP_DONE;
    }
    if (!xpu_peer_load(s, t, table, t->sub, &peer)) {
        return XPU_STEP_FAULT;
    }
    if (le32_to_cpu(peer.queue) != XPU_PEER_NONE) {
        step = xpu_queue_ring(s, t, le32_to_cpu(peer.queue));
        if (step != XPU_STEP_DONE) {
            return step;
        }
    }
    t->sub++;
    return XPU_STEP_MORE;
}
