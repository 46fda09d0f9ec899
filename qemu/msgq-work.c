/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work of the data path, done in pieces from the main loop on the virtual clock.
 */
#include "msgq.h"

#include "guest-turn.h"

static void work_at(MsgqWork *w, int64_t delay_ns)
{
    timer_mod(w->timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + delay_ns);
}

/* DMA to the device itself is refused meanwhile, as in a bottom half. */
static void work_fired(void *opaque)
{
    MsgqWork *w = opaque;
    MemReentrancyGuard *guard = &DEVICE(w->s->k)->mem_reentrancy_guard;
    int64_t delay_ns = guest_turn_ns();

    if (!delay_ns) {
        guard->engaged_in_io = true;
        w->s->busy = true;
        delay_ns = w->run(w->opaque);
        w->s->busy = false;
        guard->engaged_in_io = false;
    }
    if (delay_ns >= 0) {
        work_at(w, delay_ns);
    }
}

void msgq_work_kick(MsgqWork *w)
{
    if (!timer_pending(w->timer)) {
        work_at(w, 0);
    }
}

void msgq_work_init(MsgqWork *w, Msgq *s, MsgqWorkFn *run, void *opaque)
{
    w->s = s;
    w->run = run;
    w->opaque = opaque;
    w->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, work_fired, w);
}

void msgq_work_exit(MsgqWork *w)
{
    timer_free(w->timer);
}
