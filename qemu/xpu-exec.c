/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Execution engine: the tables of kernels, queues and doorbells, and the clock
 * by which threads run.
 *
 * A thread does one step at a time and is busy for what that costs, in time of
 * the guest's clock. All threads run at the same time, as on a GPU that has a
 * processor for each; what they contend for is not modelled.
 */
#include "xpu.h"
#include "guest-turn.h"
#include "hw/pci/msix.h"

#define EXEC_BURST      64          /* steps in one go */
#define TIMEOUT_MAX_US  (60 * 1000000)

/*
 * Doorbells
 */

bool xpu_exec_can_post(XpuState *s)
{
    return s->exec.posted_count < XPU_POSTED;
}

bool xpu_exec_post(XpuState *s, XpuThread *t, const XpuQueue *q, uint64_t value)
{
    XpuExec *x = &s->exec;
    int64_t due = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + t->cost + x->bus_ns;
    XpuPosted *p;

    if (!xpu_exec_can_post(s)) {
        return false;
    }
    if (x->posted_count) {
        /* Posted writes do not overtake each other. */
        p = &x->posted[(x->posted_head + x->posted_count - 1) % XPU_POSTED];
        due = MAX(due, p->due);
    }
    p = &x->posted[(x->posted_head + x->posted_count++) % XPU_POSTED];
    *p = (XpuPosted) {
        .due = due,
        .value = value,
        .doorbell = le32_to_cpu(q->d.doorbell),
        .offset = le32_to_cpu(q->d.db_offset),
    };
    t->kernel->posted = due;
    return true;
}

/*
 * One write of 8 bytes. Nobody tells the writer what became of it. The window is
 * there: what is on its way goes with it. It names its requester: its way is
 * counted here.
 */
static void exec_deliver(XpuState *s)
{
    const MemTxAttrs attrs = { .requester_id = pci_requester_id(&s->parent_obj) };
    XpuExec *x = &s->exec;
    XpuPosted p = x->posted[x->posted_head];
    XpuDoorbell *d = &x->doorbell[p.doorbell];
    uint64_t value = cpu_to_le64(p.value), addr = d->addr + p.offset;

    x->posted_head = (x->posted_head + 1) % XPU_POSTED;
    x->posted_count--;
    s->counter[XPU_CNT_DOORBELLS]++;
    if (!xpu_dma_answered(s, addr, sizeof(value), DMA_DIRECTION_FROM_DEVICE) ||
        pci_dma_rw(&s->parent_obj, addr, &value, sizeof(value),
                   DMA_DIRECTION_FROM_DEVICE, attrs) != MEMTX_OK) {
        s->counter[XPU_CNT_DOORBELLS_LOST]++;
    }
}

/*
 * Kernels
 */

static void kernel_end(XpuState *s, XpuKernel *k, uint32_t state)
{
    k->state = state;
    k->ended = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    s->exec.ended |= 1U << k->number;
    if (state == XPU_EX_FAILED) {
        s->counter[XPU_CNT_FAULTS]++;
    }
    if (msix_enabled(&s->parent_obj)) {
        msix_notify(&s->parent_obj, XPU_VECTOR_EXEC);
    }
}

/* The state follows in exec_step(), where the kernel is at hand. */
XpuStep xpu_fault(XpuThread *t, enum xpu_ex_fault fault, uint32_t detail)
{
    XpuKernel *k = t->kernel;

    k->fault = fault;
    k->fault_command = t->pc;
    k->fault_thread = t->index;
    k->fault_detail = detail;
    return XPU_STEP_FAULT;
}

static bool kernel_good(XpuState *s, const struct xpu_ex_kernel *run)
{
    uint32_t count = le32_to_cpu(run->count);
    uint32_t threads = le32_to_cpu(run->threads);
    uint32_t timeout = le32_to_cpu(run->timeout_us);

    for (int i = 0; i < XPU_EX_BUFFERS; i++) {
        if (!xpu_in_vram(s, le64_to_cpu(run->buffer[i].start),
                         le64_to_cpu(run->buffer[i].length))) {
            return false;
        }
    }
    return count && count <= XPU_EX_COMMANDS && threads &&
           threads <= XPU_EX_THREADS && timeout && timeout <= TIMEOUT_MAX_US &&
           xpu_in_vram(s, le64_to_cpu(run->list),
                       (uint64_t)count * threads * sizeof(struct xpu_cmd));
}

static void exec_schedule(XpuState *s);

static void kernel_start(XpuState *s, XpuKernel *k, uint32_t tag)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    if (k->state == XPU_EX_RUNNING) {
        return;
    }
    memcpy(&k->run, k->image, sizeof(k->run));
    memset(k->thread, 0, sizeof(k->thread));
    k->state = XPU_EX_RUNNING;
    k->tag = tag;
    k->fault = XPU_FAULT_NONE;
    k->fault_command = k->fault_thread = k->fault_detail = 0;
    k->done = 0;
    k->started = k->posted = now;
    s->exec.ended &= ~(1U << k->number);
    s->counter[XPU_CNT_KERNELS]++;
    if (!kernel_good(s, &k->run)) {
        k->fault = XPU_FAULT_LAUNCH;
        kernel_end(s, k, XPU_EX_FAILED);
        return;
    }
    for (uint32_t i = 0; i < le32_to_cpu(k->run.threads); i++) {
        k->thread[i] = (XpuThread) {
            .kernel = k, .index = i, .live = true, .ready = now,
        };
    }
    exec_schedule(s);
}

static void kernel_ctrl(XpuState *s, XpuKernel *k, uint32_t ctrl)
{
    uint32_t fault = extract32(ctrl, ctz32(XPU_EX_CTRL_FAULT), 8);

    if (ctrl & XPU_EX_CTRL_START) {
        kernel_start(s, k, ctrl & XPU_EX_CTRL_TAG);
    } else if ((ctrl & XPU_EX_CTRL_STOP) && k->state == XPU_EX_RUNNING) {
        k->fault = fault;
        kernel_end(s, k, fault ? XPU_EX_FAILED : XPU_EX_STOPPED);
    }
}

static bool kernel_live(const XpuKernel *k)
{
    for (uint32_t i = 0; i < le32_to_cpu(k->run.threads); i++) {
        if (k->thread[i].live) {
            return true;
        }
    }
    return false;
}

/*
 * Threads
 */

/* The next command is loaded, or the thread has come to its end. */
static XpuStep thread_fetch(XpuState *s, XpuThread *t, int64_t now)
{
    const struct xpu_ex_kernel *run = &t->kernel->run;
    uint32_t count = le32_to_cpu(run->count);
    uint64_t at = le64_to_cpu(run->list) +
                  ((uint64_t)t->index * count + t->pc) * XPU_CMD_BYTES;
    struct xpu_cmd cmd;
    uint32_t timeout;

    if (t->pc < count) {
        memcpy(&cmd, xpu_vram(s, at), sizeof(cmd));
    }
    if (t->pc >= count || cmd.op == XPU_OP_EXIT) {
        t->ended = true;
        t->cost = MAX(t->kernel->posted - now, 0);
        return XPU_STEP_MORE;
    }
    t->begun = true;
    t->at = t->sub = 0;
    t->poll_ns = s->exec.poll_ns;
    t->cost += s->exec.command_ns;
    timeout = le32_to_cpu(cmd.timeout_us) ?: le32_to_cpu(run->timeout_us);
    t->bound = now + (int64_t)timeout * 1000;
    return xpu_cmd_load(s, t, &cmd);
}

static XpuStep thread_step(XpuState *s, XpuThread *t, int64_t now)
{
    XpuStep step;

    if (!t->begun) {
        return thread_fetch(s, t, now);
    }
    step = xpu_cmd_step(s, t);
    switch (step) {
    case XPU_STEP_DONE:
        t->begun = false;
        t->kernel->done++;
        s->counter[XPU_CNT_KERNEL_COMMANDS]++;
        break;
    case XPU_STEP_MORE:
        t->poll_ns = s->exec.poll_ns;
        break;
    case XPU_STEP_POLL:
        t->cost = MAX(t->cost, t->poll_ns);
        t->poll_ns = MIN((uint64_t)t->poll_ns * 2,
                         MAX(s->exec.poll_max_ns, s->exec.poll_ns));
        break;
    case XPU_STEP_FAULT:
        break;
    }
    if ((step == XPU_STEP_POLL || step == XPU_STEP_MORE) && now >= t->bound) {
        return xpu_fault(t, XPU_FAULT_TIMEOUT, 0);
    }
    return step;
}

static void exec_step(XpuState *s, XpuThread *t, int64_t now)
{
    XpuKernel *k = t->kernel;

    if (t->ended) {
        t->live = false;
        if (!kernel_live(k)) {
            kernel_end(s, k, XPU_EX_DONE);
        }
        return;
    }
    t->cost = 0;
    if (thread_step(s, t, now) == XPU_STEP_FAULT) {
        kernel_end(s, k, XPU_EX_FAILED);
        return;
    }
    /* Time moves on, or a list without cost would never end. */
    t->ready = now + MAX(t->cost, 1);
}

/*
 * Clock
 */

/* What is due first: a thread, or else the posted write at the head. */
static int64_t exec_next(XpuState *s, XpuThread **next)
{
    XpuExec *x = &s->exec;
    int64_t due = INT64_MAX;

    *next = NULL;
    if (x->posted_count) {
        due = x->posted[x->posted_head].due;
    }
    for (int i = 0; i < XPU_EX_KERNELS; i++) {
        XpuKernel *k = &x->kernel[i];

        if (k->state != XPU_EX_RUNNING) {
            continue;
        }
        for (uint32_t n = 0; n < le32_to_cpu(k->run.threads); n++) {
            if (k->thread[n].live && k->thread[n].ready < due) {
                due = k->thread[n].ready;
                *next = &k->thread[n];
            }
        }
    }
    return due;
}

static void exec_schedule(XpuState *s)
{
    XpuThread *t;
    int64_t due = exec_next(s, &t);

    if (due == INT64_MAX) {
        timer_del(&s->exec.timer);
    } else {
        timer_mod_ns(&s->exec.timer, due);
    }
}

static void exec_fired(void *opaque)
{
    XpuState *s = opaque;
    int64_t turn = guest_turn_ns(), now;
    XpuThread *t;

    if (turn) {
        timer_mod_ns(&s->exec.timer,
                     qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + turn);
        return;
    }
    for (int i = 0; i < EXEC_BURST; i++) {
        now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        if (exec_next(s, &t) > now) {
            break;
        }
        if (t) {
            exec_step(s, t, now);
        } else {
            exec_deliver(s);
        }
    }
    exec_schedule(s);
}

/*
 * Registers
 */

#define EXEC_DOORBELLS  XPU_REG_EX_DB_ADDR(0)
#define EXEC_KERNELS    XPU_REG_EX_KERNEL(0)
#define EXEC_QUEUES     XPU_REG_EX_QUEUE(0)
#define EXEC_END        XPU_REG_EX_QUEUE(XPU_EX_QUEUES)
#define KERNEL_BYTES    (XPU_REG_EX_KERNEL(1) - XPU_REG_EX_KERNEL(0))
#define QUEUE_BYTES     (XPU_REG_EX_QUEUE(1) - XPU_REG_EX_QUEUE(0))

QEMU_BUILD_BUG_ON(sizeof(struct xpu_cmd) != XPU_CMD_BYTES);
QEMU_BUILD_BUG_ON(sizeof(struct xpu_ex_kernel) > XPU_EX_KERNEL_CTRL);
QEMU_BUILD_BUG_ON(sizeof(struct xpu_ex_queue) != XPU_EX_QUEUE_CTRL);
QEMU_BUILD_BUG_ON(EXEC_KERNELS < XPU_REG_EX_DB_ADDR(XPU_EX_DOORBELLS));
QEMU_BUILD_BUG_ON(EXEC_QUEUES < XPU_REG_EX_KERNEL(XPU_EX_KERNELS));
QEMU_BUILD_BUG_ON(XPU_MSIX_TABLE_OFFSET < EXEC_END);

bool xpu_exec_owns(hwaddr addr)
{
    return (addr & ~7ULL) == XPU_REG_EX_ENDED ||
           (addr >= EXEC_DOORBELLS && addr < EXEC_END);
}

static uint32_t kernel_read(XpuKernel *k, hwaddr reg)
{
    int64_t end = k->state == XPU_EX_RUNNING
                  ? qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) : k->ended;

    if (reg < sizeof(k->image)) {
        return k->image[reg / 4];
    }
    switch (reg) {
    case XPU_EX_KERNEL_STATUS:
        return k->state | k->fault << ctz32(XPU_EX_STATUS_FAULT) | k->tag;
    case XPU_EX_KERNEL_COMMAND:
        return k->fault_command;
    case XPU_EX_KERNEL_THREAD:
        return k->fault_thread;
    case XPU_EX_KERNEL_DETAIL:
        return k->fault_detail;
    case XPU_EX_KERNEL_DONE:
        return k->done;
    case XPU_EX_KERNEL_DONE + 4:
        return k->done >> 32;
    case XPU_EX_KERNEL_TIME:
        return end - k->started;
    case XPU_EX_KERNEL_TIME + 4:
        return (end - k->started) >> 32;
    default:
        return 0;
    }
}

uint32_t xpu_exec_read(XpuState *s, hwaddr addr)
{
    XpuExec *x = &s->exec;
    XpuQueue *q;
    XpuDoorbell *d;

    if (addr >= EXEC_QUEUES) {
        q = &x->queue[(addr - EXEC_QUEUES) / QUEUE_BYTES];
        addr = (addr - EXEC_QUEUES) % QUEUE_BYTES;
        if (addr < sizeof(q->image)) {
            return q->image[addr / 4];
        }
        return addr == XPU_EX_QUEUE_STATUS && q->enabled;
    }
    if (addr >= EXEC_KERNELS) {
        return kernel_read(&x->kernel[(addr - EXEC_KERNELS) / KERNEL_BYTES],
                           (addr - EXEC_KERNELS) % KERNEL_BYTES);
    }
    if (addr >= EXEC_DOORBELLS) {
        d = &x->doorbell[(addr - EXEC_DOORBELLS) / 16];
        switch ((addr - EXEC_DOORBELLS) % 16) {
        case 0:
            return d->addr;
        case 4:
            return d->addr >> 32;
        case 8:
            return d->length;
        default:
            return 0;
        }
    }
    return addr == XPU_REG_EX_ENDED ? x->ended : 0;
}

static void doorbell_write(XpuDoorbell *d, hwaddr reg, uint32_t val)
{
    if (reg < 8) {
        d->addr = deposit64(d->addr, reg * 8, 32, val);
    } else if (reg == 8) {
        d->length = val;
    }
}

/* A write that is on its way to a window must not find the next one there. */
static void doorbell_withdraw(XpuState *s, uint32_t doorbell)
{
    XpuExec *x = &s->exec;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < x->posted_count; i++) {
        XpuPosted *p = &x->posted[(x->posted_head + i) % XPU_POSTED];

        if (p->doorbell != doorbell) {
            x->posted[(x->posted_head + kept++) % XPU_POSTED] = *p;
        }
    }
    x->posted_count = kept;
}

static void kernel_write(XpuState *s, XpuKernel *k, hwaddr reg, uint32_t val)
{
    if (reg < sizeof(k->image)) {
        k->image[reg / 4] = val;
    } else if (reg == XPU_EX_KERNEL_CTRL) {
        kernel_ctrl(s, k, val);
    }
}

static void queue_write(XpuState *s, XpuQueue *q, hwaddr reg, uint32_t val)
{
    if (reg < sizeof(q->image)) {
        if (!q->enabled) {
            q->image[reg / 4] = val;
        }
    } else if (reg == XPU_EX_QUEUE_CTRL) {
        if (val == XPU_EX_QUEUE_ENABLE && !q->enabled) {
            xpu_queue_enable(s, q);
        } else if (val == XPU_EX_QUEUE_DISABLE) {
            q->enabled = false;
        }
    }
}

void xpu_exec_write(XpuState *s, hwaddr addr, uint32_t val)
{
    XpuExec *x = &s->exec;
    uint32_t n;

    if (addr >= EXEC_QUEUES) {
        queue_write(s, &x->queue[(addr - EXEC_QUEUES) / QUEUE_BYTES],
                    (addr - EXEC_QUEUES) % QUEUE_BYTES, val);
    } else if (addr >= EXEC_KERNELS) {
        kernel_write(s, &x->kernel[(addr - EXEC_KERNELS) / KERNEL_BYTES],
                     (addr - EXEC_KERNELS) % KERNEL_BYTES, val);
    } else if (addr >= EXEC_DOORBELLS) {
        n = (addr - EXEC_DOORBELLS) / 16;
        doorbell_write(&x->doorbell[n], (addr - EXEC_DOORBELLS) % 16, val);
        if (!x->doorbell[n].length) {
            doorbell_withdraw(s, n);
        }
    } else if (addr == XPU_REG_EX_ENDED) {
        x->ended &= ~val;
    }
}

/*
 * Life
 */

void xpu_exec_reset(XpuState *s)
{
    XpuExec *x = &s->exec;

    timer_del(&x->timer);
    x->ended = 0;
    x->posted_head = x->posted_count = 0;
    memset(x->doorbell, 0, sizeof(x->doorbell));
    memset(x->kernel, 0, sizeof(x->kernel));
    memset(x->queue, 0, sizeof(x->queue));
    for (uint32_t i = 0; i < XPU_EX_KERNELS; i++) {
        x->kernel[i].number = i;
    }
    for (uint32_t i = 0; i < XPU_EX_QUEUES; i++) {
        x->queue[i].number = i;
    }
}

void xpu_exec_init(XpuState *s)
{
    timer_init_ns(&s->exec.timer, QEMU_CLOCK_VIRTUAL, exec_fired, s);
}

void xpu_exec_exit(XpuState *s)
{
    timer_del(&s->exec.timer);
}
