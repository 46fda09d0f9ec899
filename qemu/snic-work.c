/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work of the data path, done in pieces from the main loop on the virtual clock.
 */
#include "snic.h"

#include "guest-turn.h"

static void work_at(SnicWork *w, int64_t delay_ns)
{
    timer_mod(w->timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + delay_ns);
}

/* DMA to the device itself is refused meanwhile, as in a bottom half. */
static void work_fired(void *opaque)
{
    SnicWork *w = opaque;
    MemReentrancyGuard *guard = &DEVICE(w->s)->mem_reentrancy_guard;
    int64_t delay_ns = guest_turn_ns();

    if (!delay_ns) {
        guard->engaged_in_io = true;
        delay_ns = w->run(w->opaque);
        guard->engaged_in_io = false;
    }
    if (delay_ns >= 0) {
        work_at(w, delay_ns);
    }
}

void snic_work_kick(SnicWork *w)
{
    if (!timer_pending(w->timer)) {
        work_at(w, 0);
    }
}

void snic_work_init(SnicWork *w, SnicState *s, SnicWorkFn *run, void *opaque)
{
    w->s = s;
    w->run = run;
    w->opaque = opaque;
    w->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, work_fired, w);
}

void snic_work_exit(SnicWork *w)
{
    timer_free(w->timer);
}
