/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Time that things take: a path on which actions are under way, each of which
 * takes effect when it is due on the guest's clock, and none before those that
 * set out earlier. An action that is due already on an empty path takes effect
 * at once, so a path without delay is none.
 */
#ifndef DELAY_H
#define DELAY_H

#include "qemu/osdep.h"
#include "qemu/timer.h"

typedef struct Delay Delay;
typedef void DelayFn(void *opaque, const void *action, size_t len);

Delay *delay_new(DelayFn *fn, void *opaque);
bool delay_idle(const Delay *d);
/* What is under way is lost. */
void delay_free(Delay *d);
void delay_drop(Delay *d);
/* What is under way arrives now, in order. */
void delay_flush(Delay *d);
/* The action is copied. */
void delay_add(Delay *d, int64_t due_ns, const void *action, size_t len);

#endif /* DELAY_H */
