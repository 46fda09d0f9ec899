/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Commands of kernels (xpu_cmd.h): checked, and done step by step.
 */
#include "xpu.h"
#include "qemu/bswap.h"
#include "kiwi_abi/queues.h"

#define LENGTH_MAX      (1U << 30)
#define DELAY_MAX_NS    1000000000ULL
#define WAIT_BURST      64      /* words looked at in one step */

static XpuStep cmd_bad(XpuThread *t, unsigned offset)
{
    return xpu_fault(t, XPU_FAULT_COMMAND, offset);
}

void *xpu_cmd_buffer(XpuState *s, XpuThread *t, uint64_t offset, uint64_t len)
{
    const struct xpu_ex_range *range;
    uint64_t length;

    if (t->cmd.buffer < XPU_EX_BUFFERS) {
        range = &t->kernel->run.buffer[t->cmd.buffer];
        length = le64_to_cpu(range->length);
        if (len <= length && offset <= length - len) {
            return xpu_vram(s, le64_to_cpu(range->start) + offset);
        }
    }
    xpu_fault(t, XPU_FAULT_BUFFER, t->cmd.buffer);
    return NULL;
}

/* The word at @n words behind the command's offset, or NULL after a fault. */
static uint64_t *cmd_word(XpuState *s, XpuThread *t, uint64_t n)
{
    void *p = xpu_cmd_buffer(s, t, t->cmd.offset + n * 8, 8);

    if (p && (uintptr_t)p % 8) {
        cmd_bad(t, offsetof(struct xpu_cmd, offset));
        return NULL;
    }
    return p;
}

/*
 * Loops
 */

static XpuStep cmd_repeat(XpuThread *t)
{
    if (!t->cmd.count) {
        return cmd_bad(t, offsetof(struct xpu_cmd, count));
    }
    if (t->depth == XPU_CMD_LOOPS) {
        return cmd_bad(t, offsetof(struct xpu_cmd, op));
    }
    t->loop[t->depth++] = (XpuLoop) {
        .start = t->pc + 1, .count = t->cmd.count,
    };
    t->pc++;
    return XPU_STEP_DONE;
}

static XpuStep cmd_end(XpuThread *t)
{
    XpuLoop *loop;

    if (!t->depth) {
        return cmd_bad(t, offsetof(struct xpu_cmd, op));
    }
    loop = &t->loop[t->depth - 1];
    if (++loop->passes < loop->count) {
        t->pc = loop->start;
    } else {
        t->depth--;
        t->pc++;
    }
    return XPU_STEP_DONE;
}

/*
 * VRAM
 */

static XpuStep cmd_delay(XpuThread *t)
{
    if (t->at++) {
        return XPU_STEP_DONE;
    }
    t->cost = t->cmd.value;
    t->bound += t->cmd.value;
    return XPU_STEP_MORE;
}

static XpuStep cmd_store(XpuState *s, XpuThread *t, bool add)
{
    uint64_t *word = cmd_word(s, t, 0);

    if (!word) {
        return XPU_STEP_FAULT;
    }
    t->cost += s->exec.mem_ns;
    stq_le_p(word, (add ? ldq_le_p(word) : 0) + t->cmd.value);
    memory_region_set_dirty(&s->vram, (uint8_t *)word - xpu_vram(s, 0), 8);
    return XPU_STEP_DONE;
}

static XpuStep cmd_wait(XpuState *s, XpuThread *t)
{
    uint64_t count = t->cmd.count ?: 1;

    s->counter[XPU_CNT_POLLS]++;
    t->cost += s->exec.mem_ns;
    for (int i = 0; i < WAIT_BURST; i++) {
        uint64_t *word = cmd_word(s, t, t->at);

        if (!word) {
            return XPU_STEP_FAULT;
        }
        if (ldq_le_p(word) < t->cmd.value) {
            return XPU_STEP_POLL;
        }
        if (++t->at == count) {
            return XPU_STEP_DONE;
        }
    }
    return XPU_STEP_MORE;
}

/*
 * Work
 */

static XpuWork cmd_put(const XpuCmd *c)
{
    return (XpuWork) {
        .opcode = KIWI_WQE_WRITE,
        .immediate = c->flags & XPU_CMD_INLINE,
        .laddr = c->laddr, .lkey = c->lkey, .length = c->length,
        .raddr = c->raddr, .rkey = c->rkey, .value = c->value,
    };
}

static XpuWork cmd_signal(const XpuCmd *c)
{
    bool add = c->flags & XPU_CMD_ADD;

    return (XpuWork) {
        .opcode = add ? KIWI_WQE_FETCH_ADD : KIWI_WQE_WRITE,
        .immediate = !add,
        .laddr = c->sig_laddr, .lkey = c->lkey, .length = 8,
        .raddr = c->sig_raddr, .rkey = c->sig_rkey, .value = c->value,
    };
}

static XpuStep cmd_post(XpuState *s, XpuThread *t)
{
    const XpuCmd *c = &t->cmd;
    XpuWork work[2] = { cmd_put(c), cmd_signal(c) };

    if (c->op == XPU_OP_GET) {
        work[0].opcode = KIWI_WQE_READ;
    } else if (c->op == XPU_OP_FETCH_ADD) {
        work[0].opcode = KIWI_WQE_FETCH_ADD;
        work[0].length = 8;
    }
    return xpu_queue_post(s, t, c->queue, work,
                          c->op == XPU_OP_PUT_SIGNAL ? 2 : 1,
                          !(c->flags & XPU_CMD_MORE));
}

static XpuStep cmd_alltoall(XpuState *s, XpuThread *t)
{
    XpuCmd c = t->cmd;
    struct xpu_peer peer;
    XpuWork work[2];
    XpuStep step = XPU_STEP_DONE;

    if (t->at == c.count) {
        return xpu_peers_ring(s, t, c.offset, c.count);
    }
    if (!xpu_peer_load(s, t, c.offset, t->at, &peer)) {
        return XPU_STEP_FAULT;
    }
    if (le32_to_cpu(peer.queue) != XPU_PEER_NONE) {
        c.laddr += t->at * c.length;
        c.raddr = le64_to_cpu(peer.raddr);
        c.rkey = le32_to_cpu(peer.rkey);
        c.sig_raddr = le64_to_cpu(peer.sig_raddr);
        c.sig_rkey = le32_to_cpu(peer.sig_rkey);
        work[0] = cmd_put(&c);
        work[1] = cmd_signal(&c);
        step = xpu_queue_post(s, t, le32_to_cpu(peer.queue), work, 2,
                              !(c.flags & XPU_CMD_MERGE));
    }
    if (step == XPU_STEP_DONE) {
        t->at++;
        step = XPU_STEP_MORE;
    }
    return step;
}

XpuStep xpu_cmd_step(XpuState *s, XpuThread *t)
{
    XpuStep step;

    switch (t->cmd.op) {
    case XPU_OP_REPEAT:
        return cmd_repeat(t);
    case XPU_OP_END:
        return cmd_end(t);
    case XPU_OP_DELAY:
        step = cmd_delay(t);
        break;
    case XPU_OP_STORE:
    case XPU_OP_ADD:
        step = cmd_store(s, t, t->cmd.op == XPU_OP_ADD);
        break;
    case XPU_OP_WAIT:
        step = cmd_wait(s, t);
        break;
    case XPU_OP_FENCE:
        step = xpu_queue_fence(s, t, t->cmd.queue);
        break;
    case XPU_OP_QUIET:
        step = xpu_queue_quiet(s, t, t->cmd.queue);
        break;
    case XPU_OP_ALLTOALL:
        step = cmd_alltoall(s, t);
        break;
    case XPU_OP_DISPATCH:
        step = xpu_moe_dispatch(s, t);
        break;
    case XPU_OP_COMBINE:
        step = xpu_moe_combine(s, t);
        break;
    default:
        step = cmd_post(s, t);
        break;
    }
    if (step == XPU_STEP_DONE) {
        t->pc++;
    }
    return step;
}

/*
 * Checks
 */

/* The flags that an operation knows; -1: there is no such operation. */
static int cmd_flags(uint8_t op)
{
    switch (op) {
    case XPU_OP_REPEAT:
    case XPU_OP_END:
    case XPU_OP_DELAY:
    case XPU_OP_STORE:
    case XPU_OP_ADD:
    case XPU_OP_WAIT:
    case XPU_OP_FENCE:
    case XPU_OP_QUIET:
        return 0;
    case XPU_OP_PUT:
        return XPU_CMD_MORE | XPU_CMD_INLINE;
    case XPU_OP_PUT_SIGNAL:
        return XPU_CMD_MORE | XPU_CMD_ADD;
    case XPU_OP_GET:
    case XPU_OP_FETCH_ADD:
        return XPU_CMD_MORE;
    case XPU_OP_ALLTOALL:
        return XPU_CMD_MERGE | XPU_CMD_ADD;
    case XPU_OP_DISPATCH:
    case XPU_OP_COMBINE:
        return XPU_CMD_MERGE;
    default:
        return -1;
    }
}

static XpuStep cmd_check(XpuThread *t, const struct xpu_cmd *cmd)
{
    const XpuCmd *c = &t->cmd;
    int flags = cmd_flags(c->op);

    if (flags < 0) {
        return cmd_bad(t, offsetof(struct xpu_cmd, op));
    }
    if (c->flags & ~flags) {
        return cmd_bad(t, offsetof(struct xpu_cmd, flags));
    }
    if (cmd->rsvd) {
        return cmd_bad(t, offsetof(struct xpu_cmd, rsvd));
    }
    if (c->length > (c->flags & XPU_CMD_INLINE ? 8 : LENGTH_MAX)) {
        return cmd_bad(t, offsetof(struct xpu_cmd, length));
    }
    if (c->op == XPU_OP_DELAY && c->value > DELAY_MAX_NS) {
        return cmd_bad(t, offsetof(struct xpu_cmd, value));
    }
    if (c->op == XPU_OP_DISPATCH || c->op == XPU_OP_COMBINE) {
        return XPU_STEP_MORE;
    }
    return XPU_STEP_DONE;
}

XpuStep xpu_cmd_load(XpuState *s, XpuThread *t, const struct xpu_cmd *cmd)
{
    const XpuLoop *loop = t->depth ? &t->loop[t->depth - 1] : NULL;
    XpuStep step;

    t->cmd = (XpuCmd) {
        .op = cmd->op,
        .flags = cmd->flags,
        .buffer = le16_to_cpu(cmd->buffer),
        .queue = le32_to_cpu(cmd->queue),
        .laddr = le64_to_cpu(cmd->laddr),
        .lkey = le32_to_cpu(cmd->lkey),
        .length = le32_to_cpu(cmd->length),
        .raddr = le64_to_cpu(cmd->raddr),
        .rkey = le32_to_cpu(cmd->rkey),
        .sig_rkey = le32_to_cpu(cmd->sig_rkey),
        .sig_raddr = le64_to_cpu(cmd->sig_raddr),
        .sig_laddr = le64_to_cpu(cmd->sig_laddr),
        .value = le64_to_cpu(cmd->value) +
                 (loop ? loop->passes * le64_to_cpu(cmd->step) : 0),
        .offset = le64_to_cpu(cmd->offset),
        .count = le32_to_cpu(cmd->count),
    };
    step = cmd_check(t, cmd);
    return step == XPU_STEP_MORE ? xpu_moe_load(s, t) : step;
}
