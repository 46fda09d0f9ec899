/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work queues of network devices, as a GPU works them: entries and doorbell
 * record go to VRAM, one write to the bus rings, completions are read from VRAM.
 *
 * Where all that is, and what the doorbell's value looks like, stands in struct
 * xpu_ex_queue. The format of requests is the ABI's; no part of the device model
 * is known here.
 */
#include "xpu.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "kiwi_abi/queues.h"

#define WQE_MAX     (4 * KIWI_WQE_SEG)  /* ctrl, raddr, atomic, sge */
#define POLL_BURST  16                  /* completions taken by one look */
#define COMPLETION  8                   /* bytes that hold index and status */

typedef struct QueueWqe {
    struct kiwi_wqe_ctrl ctrl;
    struct kiwi_wqe_raddr raddr;
    union {
        struct kiwi_sge sge;
        struct {
            uint32_t len;
            uint8_t data[12];
        } QEMU_PACKED inl;
        struct {
            struct kiwi_wqe_atomic atomic;
            struct kiwi_sge sge;
        } fadd;
    };
} QueueWqe;

QEMU_BUILD_BUG_ON(sizeof(QueueWqe) != WQE_MAX);

static bool queue_range(XpuState *s, uint64_t at, uint64_t entry,
                        uint64_t stride, uint64_t count)
{
    return is_power_of_2(count) && count <= 1 << 16 && entry && stride >= entry &&
           xpu_in_vram(s, at, stride * count);
}

static bool queue_word(XpuState *s, uint64_t at, uint64_t size)
{
    return at == XPU_EX_NONE || (at % size == 0 && xpu_in_vram(s, at, size));
}

static bool queue_good(XpuState *s, const struct xpu_ex_queue *d)
{
    uint32_t count = le32_to_cpu(d->count);
    uint32_t progress = le16_to_cpu(d->cq_progress);

    return queue_range(s, le64_to_cpu(d->ring), le16_to_cpu(d->entry_size),
                       le16_to_cpu(d->stride), count) &&
           queue_range(s, le64_to_cpu(d->cq), le16_to_cpu(d->cq_entry_size),
                       le16_to_cpu(d->cq_stride), le32_to_cpu(d->cq_count)) &&
           (le64_to_cpu(d->cq) | le16_to_cpu(d->cq_stride)) % COMPLETION == 0 &&
           progress % COMPLETION <= COMPLETION - 4 && progress % 2 == 0 &&
           progress + 4 <= le16_to_cpu(d->cq_entry_size) &&
           (d->cq_owner == XPU_OWNER_PHASE || d->cq_owner == XPU_OWNER_COUNTER) &&
           queue_word(s, le64_to_cpu(d->record), 4) &&
           queue_word(s, le64_to_cpu(d->cq_record), 4) &&
           queue_word(s, le64_to_cpu(d->proxy), 8) &&
           queue_word(s, le64_to_cpu(d->error[0]), 4) &&
           queue_word(s, le64_to_cpu(d->error[1]), 4) &&
           d->fence == XPU_FENCE_SYSTEM && d->index_bits == 16 &&
           d->db_index_bits && d->db_index_bits <= 32 &&
           d->db_index_shift + d->db_index_bits <= 64 &&
           le32_to_cpu(d->max_outstanding) &&
           le32_to_cpu(d->max_outstanding) <= count &&
           le32_to_cpu(d->doorbell) < XPU_EX_DOORBELLS &&
           le32_to_cpu(d->db_offset) % 8 == 0;
}

void xpu_queue_enable(XpuState *s, XpuQueue *q)
{
    memcpy(&q->d, q->image, sizeof(q->d));
    q->enabled = queue_good(s, &q->d);
    q->fence = false;
    q->producer = q->rung = q->consumer = le32_to_cpu(q->d.index) & 0xffff;
    q->cqes = q->cqes_due = 0;
}

static XpuQueue *queue_get(XpuState *s, XpuThread *t, uint32_t number)
{
    const struct xpu_ex_kernel *run = &t->kernel->run;
    const XpuDoorbell *doorbell;
    XpuQueue *q;

    q = number < XPU_EX_QUEUES ? &s->exec.queue[number] : NULL;
    if (!q || !q->enabled || q->d.context != run->context) {
        xpu_fault(t, XPU_FAULT_QUEUE, number);
        return NULL;
    }
    doorbell = &s->exec.doorbell[le32_to_cpu(q->d.doorbell)];
    if (le64_to_cpu(q->d.proxy) == XPU_EX_NONE &&
        (uint64_t)le32_to_cpu(q->d.db_offset) + 8 > doorbell->length) {
        xpu_fault(t, XPU_FAULT_DOORBELL, number);
        return NULL;
    }
    return q;
}

/*
 * Completions
 */

static XpuStep queue_completion(XpuThread *t, XpuQueue *q, uint64_t word)
{
    unsigned at = le16_to_cpu(q->d.cq_progress) % COMPLETION * 8;
    uint16_t index = extract64(word, at, 16);
    uint8_t status = extract64(word, at + 24, 8);
    uint16_t ahead = index - (uint16_t)q->consumer;

    if (status) {
        return xpu_fault(t, XPU_FAULT_COMPLETION, status);
    }
    if (ahead > q->rung - q->consumer) {
        return xpu_fault(t, XPU_FAULT_COMPLETION, XPU_COMPLETION_INDEX);
    }
    q->consumer += ahead;
    return XPU_STEP_DONE;
}

static uint64_t queue_load(XpuState *s, const XpuQueue *q, uint64_t entry)
{
    uint64_t at = le16_to_cpu(q->d.cq_progress) / COMPLETION * COMPLETION;

    return le64_to_cpu(qatomic_read__nocheck(
        (uint64_t *)xpu_vram(s, entry + at)));
}

static bool queue_poll_phase(XpuState *s, XpuThread *t, XpuQueue *q)
{
    uint32_t count = le32_to_cpu(q->d.cq_count), ci;
    uint64_t entry;
    uint8_t phase;

    for (int i = 0; i < POLL_BURST; i++) {
        entry = le64_to_cpu(q->d.cq) +
                q->cqes % count * le16_to_cpu(q->d.cq_stride);
        phase = qatomic_read(
            xpu_vram(s, entry + le16_to_cpu(q->d.cq_entry_size) - 1)) & 1;
        if (phase == (q->cqes / count & 1)) {
            break;
        }
        smp_rmb(); /* the phase before what it vouches for */
        if (queue_completion(t, q, queue_load(s, q, entry)) ==
            XPU_STEP_FAULT) {
            return false;
        }
        q->cqes++;
        q->cqes_due -= !!q->cqes_due;
    }
    if (le64_to_cpu(q->d.cq_record) != XPU_EX_NONE) {
        ci = cpu_to_le32(q->cqes);
        xpu_store(s, le64_to_cpu(q->d.cq_record), &ci, sizeof(ci));
    }
    return true;
}

static bool queue_errors(XpuState *s, XpuThread *t, XpuQueue *q)
{
    for (int i = 0; i < 2; i++) {
        uint64_t at = le64_to_cpu(q->d.error[i]);
        uint32_t word = at == XPU_EX_NONE ? 0 : ldl_le_p(xpu_vram(s, at));

        if (word) {
            xpu_fault(t, XPU_FAULT_ERROR_WORD, word);
            return true;
        }
    }
    return false;
}

/* Takes what completions there are; false after a fault. */
static bool queue_poll(XpuState *s, XpuThread *t, XpuQueue *q)
{
    bool good;

    s->counter[XPU_CNT_POLLS]++;
    t->cost += s->exec.mem_ns;
    if (q->d.cq_owner == XPU_OWNER_PHASE) {
        good = queue_poll_phase(s, t, q);
    } else {
        good = queue_completion(t, q, queue_load(s, q, le64_to_cpu(q->d.cq))) ==
               XPU_STEP_DONE;
    }
    /* A completion tells more than an error word. */
    return good && !queue_errors(s, t, q);
}

/* Whether one more completion will find a place. */
static bool queue_cq_room(const XpuQueue *q)
{
    return q->d.cq_owner == XPU_OWNER_COUNTER ||
           q->cqes_due < le32_to_cpu(q->d.cq_count);
}

/*
 * Requests
 */

static uint64_t queue_entry(const XpuQueue *q, uint64_t index)
{
    return le64_to_cpu(q->d.ring) + (index & (le32_to_cpu(q->d.count) - 1)) *
                                    le16_to_cpu(q->d.stride);
}

static void queue_sge(struct kiwi_sge *sge, const XpuWork *work)
{
    sge->addr = cpu_to_le64(work->laddr);
    sge->lkey = cpu_to_le32(work->lkey);
    sge->len = cpu_to_le32(work->length);
}

/* Returns how many bytes there are. */
static unsigned queue_compose(QueueWqe *wqe, const XpuQueue *q,
                              const XpuWork *work)
{
    uint64_t value = cpu_to_le64(work->value);
    unsigned segs = 3;

    memset(wqe, 0, sizeof(*wqe));
    wqe->raddr.addr = cpu_to_le64(work->raddr);
    wqe->raddr.rkey = cpu_to_le32(work->rkey);
    if (work->opcode == KIWI_WQE_FETCH_ADD) {
        wqe->fadd.atomic.swap_add = value;
        queue_sge(&wqe->fadd.sge, work);
        segs = 4;
    } else if (work->immediate) {
        wqe->inl.len = cpu_to_le32(work->length);
        memcpy(wqe->inl.data, &value, work->length);
    } else {
        queue_sge(&wqe->sge, work);
    }
    wqe->ctrl.opcode = work->opcode;
    wqe->ctrl.flags = (work->immediate ? KIWI_WQE_INLINE : 0) |
                      (q->fence ? KIWI_WQE_FENCE : 0);
    wqe->ctrl.segs = segs;
    wqe->ctrl.wr_id = cpu_to_le64(q->producer);
    return segs * KIWI_WQE_SEG;
}

static void queue_put(XpuState *s, XpuThread *t, XpuQueue *q,
                      const XpuWork *work)
{
    unsigned entry = le16_to_cpu(q->d.entry_size);
    QueueWqe wqe;
    unsigned bytes = queue_compose(&wqe, q, work);

    q->last = q->producer;
    q->fence = false;
    for (unsigned at = 0; at < bytes; at += entry) {
        xpu_store(s, queue_entry(q, q->producer++), (uint8_t *)&wqe + at,
                  MIN(entry, bytes - at));
    }
    s->counter[XPU_CNT_WQES]++;
    t->cost += s->exec.wqe_ns;
}

static XpuStep queue_ring(XpuState *s, XpuThread *t, XpuQueue *q)
{
    uint64_t mask = MAKE_64BIT_MASK(0, q->d.db_index_bits);
    uint64_t flags = queue_entry(q, q->last) +
                     offsetof(struct kiwi_wqe_ctrl, flags);
    uint64_t proxy = le64_to_cpu(q->d.proxy), index;
    uint32_t record;

    if (proxy == XPU_EX_NONE && !xpu_exec_can_post(s)) {
        return XPU_STEP_POLL;
    }
    /* One completion for all that the doorbell covers. */
    *xpu_vram(s, flags) |= KIWI_WQE_SIGNALED;
    q->cqes_due++;
    smp_wmb(); /* the ring before the record */
    t->cost += s->exec.fence_ns;
    if (le64_to_cpu(q->d.record) != XPU_EX_NONE) {
        record = cpu_to_le32(q->producer & 0xffff);
        xpu_store(s, le64_to_cpu(q->d.record), &record, sizeof(record));
        smp_wmb(); /* the record before the doorbell */
        t->cost += s->exec.fence_ns;
    }
    q->rung = q->producer;
    if (proxy != XPU_EX_NONE) {
        index = cpu_to_le64(q->producer);
        xpu_store(s, proxy, &index, sizeof(index));
        s->counter[XPU_CNT_PROXY_RINGS]++;
        return XPU_STEP_DONE;
    }
    xpu_exec_post(s, t, q, le64_to_cpu(q->d.db_value) |
                  (q->producer & mask) << q->d.db_index_shift);
    return XPU_STEP_DONE;
}

static unsigned queue_units(const XpuQueue *q, const XpuWork *work, unsigned n)
{
    unsigned entry = le16_to_cpu(q->d.entry_size), units = 0;

    for (unsigned i = 0; i < n; i++) {
        unsigned segs = work[i].opcode == KIWI_WQE_FETCH_ADD ? 4 : 3;

        units += DIV_ROUND_UP(segs * KIWI_WQE_SEG, entry);
    }
    return units;
}

static bool queue_fits(const XpuQueue *q, const XpuWork *work, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        if (work[i].immediate &&
            work[i].length > le32_to_cpu(q->d.max_inline)) {
            return false;
        }
    }
    return queue_units(q, work, n) <= le32_to_cpu(q->d.max_outstanding);
}

static bool queue_room(const XpuQueue *q, unsigned units, bool ring)
{
    return q->producer + units - q->consumer <=
           le32_to_cpu(q->d.max_outstanding) && (!ring || queue_cq_room(q));
}

XpuStep xpu_queue_post(XpuState *s, XpuThread *t, uint32_t queue,
                       const XpuWork *work, unsigned n, bool ring)
{
    XpuQueue *q = queue_get(s, t, queue);

    if (!q) {
        return XPU_STEP_FAULT;
    }
    if (!queue_fits(q, work, n)) {
        return xpu_fault(t, XPU_FAULT_QUEUE, queue);
    }
    if (!queue_room(q, queue_units(q, work, n), ring)) {
        /* What fills the ring must be on its way if it shall ever be done. */
        if (q->producer != q->rung && queue_cq_room(q)) {
            XpuStep rung = queue_ring(s, t, q);

            return rung == XPU_STEP_DONE ? XPU_STEP_MORE : rung;
        }
        if (!queue_poll(s, t, q)) {
            return XPU_STEP_FAULT;
        }
        if (!queue_room(q, queue_units(q, work, n), ring)) {
            return XPU_STEP_POLL;
        }
    }
    if (ring && !xpu_exec_can_post(s)) {
        return XPU_STEP_POLL;
    }
    for (unsigned i = 0; i < n; i++) {
        queue_put(s, t, q, &work[i]);
    }
    return ring ? queue_ring(s, t, q) : XPU_STEP_DONE;
}

XpuStep xpu_queue_fence(XpuState *s, XpuThread *t, uint32_t queue)
{
    XpuQueue *q = queue_get(s, t, queue);

    if (!q) {
        return XPU_STEP_FAULT;
    }
    q->fence = true;
    return XPU_STEP_DONE;
}

XpuStep xpu_queue_ring(XpuState *s, XpuThread *t, uint32_t queue)
{
    XpuQueue *q = queue_get(s, t, queue);

    if (!q) {
        return XPU_STEP_FAULT;
    }
    if (q->producer == q->rung) {
        return XPU_STEP_DONE;
    }
    if (!queue_cq_room(q)) {
        if (!queue_poll(s, t, q)) {
            return XPU_STEP_FAULT;
        }
        if (!queue_cq_room(q)) {
            return XPU_STEP_POLL;
        }
    }
    return queue_ring(s, t, q);
}

XpuStep xpu_queue_quiet(XpuState *s, XpuThread *t, uint32_t queue)
{
    XpuQueue *q = queue_get(s, t, queue);

    if (!q) {
        return XPU_STEP_FAULT;
    }
    if (q->producer != q->rung) {
        XpuStep rung = xpu_queue_ring(s, t, queue);

        return rung == XPU_STEP_DONE ? XPU_STEP_MORE : rung;
    }
    /* Also when all is done already: the queue may be in error since. */
    if (!queue_poll(s, t, q)) {
        return XPU_STEP_FAULT;
    }
    return q->consumer == q->rung ? XPU_STEP_DONE : XPU_STEP_POLL;
}
