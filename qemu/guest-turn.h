/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * While the main loop has something to do it gives the BQL up only for moments,
 * and a vCPU that waits for it may wait for as long as devices have work. So the
 * end of each period belongs to the guest, in all devices at the same time.
 * Where the clock counts instructions the guest stands still meanwhile anyway.
 */
#ifndef GUEST_TURN_H
#define GUEST_TURN_H

#include "qemu/timer.h"

/* QEMU's own; icount_enabled() is constant in code that is not of one target. */
extern int use_icount;

#define GUEST_PERIOD_NS (5 * SCALE_MS)
#define GUEST_TURN_NS   (1 * SCALE_MS)

/* For how long a device leaves the machine to the guest; 0 if it need not. */
static inline int64_t guest_turn_ns(void)
{
    int64_t at = qemu_clock_get_ns(QEMU_CLOCK_REALTIME) % GUEST_PERIOD_NS;

    return use_icount || at < GUEST_PERIOD_NS - GUEST_TURN_NS
           ? 0 : GUEST_PERIOD_NS - at;
}

#endif /* GUEST_TURN_H */
