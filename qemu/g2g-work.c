/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a die does by itself: it takes frames, and does what is due. All of it
 * hangs on one timer of the virtual clock.
 */
#include "g2g.h"
#include "block/aio.h"

#include "guest-turn.h"

unsigned g2g_waiters;

static QTAILQ_HEAD(, G2gState) dies = QTAILQ_HEAD_INITIALIZER(dies);

void g2g_wake_at(G2gState *s, int64_t at)
{
    if (at < s->wake_at) {
        s->wake_at = at;
        timer_mod(s->timer, at);
    }
}

void g2g_kick(G2gState *s)
{
    g2g_wake_at(s, g2g_now());
}

static int64_t tick(G2gState *s, int64_t now)
{
    int64_t next = g2g_fabric_tick(s, now);

    for (unsigned i = 0; i < s->ports; i++) {
        next = MIN(next, g2g_fault_tick(&s->port[i], now));
        next = MIN(next, g2g_link_tick(&s->port[i], now));
        next = MIN(next, g2g_hop_tick(&s->port[i], now));
    }
    for (unsigned i = 0; i < s->accels; i++) {
        if (s->peer[i]) {
            next = MIN(next, g2g_peer_tick(s->peer[i], now));
        }
    }
    next = MIN(next, g2g_export_tick(s, now));
    return MIN(next, g2g_window_tick(s, now));
}

void g2g_work(G2gState *s)
{
    bool more = false;
    int64_t next;

    /* A device may reach our BAR 4 in the middle of what we do for a peer. */
    if (s->msgq.busy || !kiwi_running(KIWI(s))) {
        return;
    }
    s->msgq.busy = true;
    for (unsigned i = 0; i < s->ports; i++) {
        more |= g2g_net_run(&s->port[i]);
    }
    next = tick(s, g2g_now());
    s->msgq.busy = false;
    g2g_wake_at(s, more ? g2g_now() : next);
}

static void fired(void *opaque)
{
    G2gState *s = opaque;
    int64_t delay_ns = g2g_waiters ? 0 : guest_turn_ns();

    s->wake_at = G2G_NEVER;
    if (delay_ns) {
        g2g_wake_at(s, g2g_now() + delay_ns);
    } else {
        g2g_work(s);
    }
}

void g2g_work_all(void)
{
    G2gState *s;

    aio_poll(iohandler_get_aio_context(), false);
    QTAILQ_FOREACH(s, &dies, next) {
        g2g_work(s);
    }
}

void g2g_work_init(G2gState *s)
{
    s->wake_at = G2G_NEVER;
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, fired, s);
    QTAILQ_INSERT_TAIL(&dies, s, next);
}

void g2g_work_exit(G2gState *s)
{
    QTAILQ_REMOVE(&dies, s, next);
    timer_free(s->timer);
}
