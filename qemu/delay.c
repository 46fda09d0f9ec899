/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths in virtual time.
 */
#include "delay.h"
#include "qemu/queue.h"

typedef struct DelayItem {
    QSIMPLEQ_ENTRY(DelayItem) next;
    int64_t due_ns;
    size_t len;
    uint8_t action[];
} DelayItem;

struct Delay {
    DelayFn *fn;
    void *opaque;
    QEMUTimer *timer;
    int64_t last_ns;            /* when the last is due */
    QSIMPLEQ_HEAD(, DelayItem) items;
};

/* Those due at @now take effect; their function may add others. */
static void run(Delay *d, int64_t now)
{
    DelayItem *item;

    while ((item = QSIMPLEQ_FIRST(&d->items)) && item->due_ns <= now) {
        QSIMPLEQ_REMOVE_HEAD(&d->items, next);
        d->fn(d->opaque, item->action, item->len);
        g_free(item);
    }
    if (item) {
        timer_mod_ns(d->timer, item->due_ns);
    }
}

static void fired(void *opaque)
{
    run(opaque, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
}

void delay_add(Delay *d, int64_t due_ns, const void *action, size_t len)
{
    bool empty = QSIMPLEQ_EMPTY(&d->items);
    DelayItem *item;

    if (empty && due_ns <= qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL)) {
        d->fn(d->opaque, action, len);
        return;
    }
    item = g_malloc(sizeof(*item) + len);
    item->due_ns = empty ? due_ns : MAX(due_ns, d->last_ns);
    item->len = len;
    memcpy(item->action, action, len);
    d->last_ns = item->due_ns;
    QSIMPLEQ_INSERT_TAIL(&d->items, item, next);
    if (empty) {
        timer_mod_ns(d->timer, item->due_ns);
    }
}

void delay_flush(Delay *d)
{
    timer_del(d->timer);
    run(d, INT64_MAX);
}

bool delay_idle(const Delay *d)
{
    return QSIMPLEQ_EMPTY(&d->items);
}

void delay_drop(Delay *d)
{
    DelayItem *item;

    timer_del(d->timer);
    while ((item = QSIMPLEQ_FIRST(&d->items))) {
        QSIMPLEQ_REMOVE_HEAD(&d->items, next);
        g_free(item);
    }
}

Delay *delay_new(DelayFn *fn, void *opaque)
{
    Delay *d = g_new0(Delay, 1);

    d->fn = fn;
    d->opaque = opaque;
    d->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, fired, d);
    QSIMPLEQ_INIT(&d->items);
    return d;
}

void delay_free(Delay *d)
{
    delay_drop(d);
    timer_free(d->timer);
    g_free(d);
}
