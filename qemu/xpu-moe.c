/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mixture of experts: the two exchanges around the experts' work, as struct
 * xpu_moe tells. Each step posts one message.
 */
#include "xpu.h"
#include "qemu/bswap.h"
#include "kiwi_abi/queues.h"

#define LENGTH_MAX  (1U << 30)
#define COUNT_MAX   (1U << 20)      /* tokens, capacity */

static uint32_t moe_experts_each(const XpuMoe *m)
{
    return m->experts / m->peers;
}

static bool moe_good(const XpuMoe *m)
{
    return m->tokens && m->tokens <= COUNT_MAX && m->topk &&
           m->topk <= XPU_MOE_EXPERTS && m->row >= 4 && m->row <= LENGTH_MAX &&
           m->experts && m->experts <= XPU_MOE_EXPERTS && m->peers &&
           m->experts % m->peers == 0 && m->rank < m->peers &&
           m->capacity && m->capacity <= COUNT_MAX;
}

XpuStep xpu_moe_load(XpuState *s, XpuThread *t)
{
    const void *p = xpu_cmd_buffer(s, t, t->cmd.offset, sizeof(struct xpu_moe));
    struct xpu_moe in;
    void *counts;

    if (!p) {
        return XPU_STEP_FAULT;
    }
    memcpy(&in, p, sizeof(in));
    t->moe = (XpuMoe) {
        .tokens = le32_to_cpu(in.tokens), .topk = le32_to_cpu(in.topk),
        .row = le32_to_cpu(in.row), .experts = le32_to_cpu(in.experts),
        .peers = le32_to_cpu(in.peers), .capacity = le32_to_cpu(in.capacity),
        .rank = le32_to_cpu(in.rank), .lkey = le32_to_cpu(in.lkey),
        .laddr = le64_to_cpu(in.laddr), .table = le64_to_cpu(in.table),
        .routing = le64_to_cpu(in.routing), .counts = le64_to_cpu(in.counts),
        .rows = le64_to_cpu(in.rows),
    };
    if (!moe_good(&t->moe)) {
        return xpu_fault(t, XPU_FAULT_COMMAND, offsetof(struct xpu_cmd, offset));
    }
    if (t->cmd.op == XPU_OP_DISPATCH) {
        counts = xpu_cmd_buffer(s, t, t->moe.counts, 4 * t->moe.experts);
        if (!counts) {
            return XPU_STEP_FAULT;
        }
        memset(counts, 0, 4 * t->moe.experts);
    }
    return XPU_STEP_DONE;
}

/* One row, or with @row NULL the signal, to a peer. */
static XpuStep moe_send(XpuState *s, XpuThread *t, uint32_t rank,
                        const uint64_t *row, uint64_t to, uint64_t value)
{
    struct xpu_peer peer;
    XpuWork work;

    if (!xpu_peer_load(s, t, t->moe.table, rank, &peer)) {
        return XPU_STEP_FAULT;
    }
    if (le32_to_cpu(peer.queue) == XPU_PEER_NONE) {
        return XPU_STEP_DONE;
    }
    if (row) {
        work = (XpuWork) {
            .opcode = KIWI_WQE_WRITE,
            .laddr = t->moe.laddr + *row * t->moe.row,
            .lkey = t->moe.lkey,
            .length = t->moe.row,
            .raddr = le64_to_cpu(peer.raddr) + to * t->moe.row,
            .rkey = le32_to_cpu(peer.rkey),
        };
    } else {
        work = (XpuWork) {
            .opcode = KIWI_WQE_WRITE,
            .immediate = true,
            .length = 8,
            .raddr = le64_to_cpu(peer.sig_raddr) + to * 8,
            .rkey = le32_to_cpu(peer.sig_rkey),
            .value = value,
        };
    }
    return xpu_queue_post(s, t, le32_to_cpu(peer.queue), &work, 1,
                          !(t->cmd.flags & XPU_CMD_MERGE));
}

/* The n-th pair of token and expert. */
static XpuStep moe_dispatch_row(XpuState *s, XpuThread *t, uint64_t n)
{
    const XpuMoe *m = &t->moe;
    uint32_t each = moe_experts_each(m), expert, count;
    uint64_t token = n / m->topk;
    const void *route = xpu_cmd_buffer(s, t, m->routing + n * 4, 4);
    void *counter;
    XpuStep step;

    if (!route) {
        return XPU_STEP_FAULT;
    }
    expert = ldl_le_p(route);
    if (expert == XPU_EXPERT_NONE) {
        return XPU_STEP_DONE;
    }
    if (expert >= m->experts) {
        return xpu_fault(t, XPU_FAULT_ROUTING, expert);
    }
    counter = xpu_cmd_buffer(s, t, m->counts + 4 * expert, 4);
    if (!counter) {
        return XPU_STEP_FAULT;
    }
    count = ldl_le_p(counter);
    if (count >= m->capacity) {
        return xpu_fault(t, XPU_FAULT_ROUTING, expert);
    }
    step = moe_send(s, t, expert / each, &token,
                    (uint64_t)(expert % each) * m->capacity + count, 0);
    if (step == XPU_STEP_DONE) {
        stl_le_p(counter, count + 1);
    }
    return step;
}

static XpuStep moe_dispatch_signal(XpuState *s, XpuThread *t, uint32_t expert)
{
    const XpuMoe *m = &t->moe;
    uint32_t each = moe_experts_each(m);
    const void *counter = xpu_cmd_buffer(s, t, m->counts + 4 * expert, 4);

    if (!counter) {
        return XPU_STEP_FAULT;
    }
    return moe_send(s, t, expert / each, NULL, expert % each,
                    1 + (uint64_t)ldl_le_p(counter));
}

XpuStep xpu_moe_dispatch(XpuState *s, XpuThread *t)
{
    const XpuMoe *m = &t->moe;
    uint64_t rows = (uint64_t)m->tokens * m->topk;
    XpuStep step;

    if (t->at == rows + m->experts) {
        return xpu_peers_ring(s, t, m->table, m->peers);
    }
    step = t->at < rows ? moe_dispatch_row(s, t, t->at)
                        : moe_dispatch_signal(s, t, t->at - rows);
    if (step != XPU_STEP_DONE) {
        return step;
    }
    t->at++;
    return XPU_STEP_MORE;
}

/* Row @sub of a pair of source and own expert, and behind the last the signal. */
static XpuStep moe_combine_row(XpuState *s, XpuThread *t, uint64_t pair)
{
    const XpuMoe *m = &t->moe;
    uint32_t each = moe_experts_each(m), source = pair / each, token;
    uint64_t expert = m->rank * each + pair % each, row, signal;
    const void *word = xpu_cmd_buffer(s, t, m->counts + 8 * pair, 8);
    const void *head;
    XpuStep step;

    if (!word) {
        return XPU_STEP_FAULT;
    }
    signal = ldq_le_p(word);
    if (!signal || signal - 1 > m->capacity) {
        return xpu_fault(t, XPU_FAULT_ROUTING, signal);
    }
    if (t->sub == signal - 1) {
        step = moe_send(s, t, source, NULL, expert, 1);
        if (step != XPU_STEP_DONE) {
            return step;
        }
        t->at++;
        t->sub = 0;
        return XPU_STEP_DONE;
    }
    row = pair * m->capacity + t->sub;
    head = xpu_cmd_buffer(s, t, m->rows + row * m->row, m->row);
    if (!head) {
        return XPU_STEP_FAULT;
    }
    token = ldl_le_p(head);
    if (token >= m->tokens) {
        return xpu_fault(t, XPU_FAULT_ROUTING, token);
    }
    step = moe_send(s, t, source, &row, expert * m->tokens + token, 0);
    t->sub += step == XPU_STEP_DONE;
    return step;
}

XpuStep xpu_moe_combine(XpuState *s, XpuThread *t)
{
    const XpuMoe *m = &t->moe;
    XpuStep step;

    if (t->at == m->experts) {
        return xpu_peers_ring(s, t, m->table, m->peers);
    }
    step = moe_combine_row(s, t, t->at);
    return step == XPU_STEP_DONE ? XPU_STEP_MORE : step;
}
