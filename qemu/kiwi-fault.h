/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device that misbehaves on request. Properties, all settable at run time:
 *
 * fault    rules separated by ';', each a list of KEY=VALUE separated by ','.
 *          For commands: opcode=N (absent: any), skip=N matching commands, then
 *          for count=N of them (absent: one, 0: for ever) do what is named:
 *            status=N         refuse without executing
 *            reply=OFF:HEX    overwrite bytes of the reply
 *            entry=OFF:HEX    overwrite bytes of the completion
 *            delay-ms=N       complete late; later commands overtake
 *            drop=1           never complete
 *            twice=1          complete twice
 *            silent=1         send no interrupt for it
 *          For registers: reg=OFF,value=N: what a read of this offset gives; a
 *          value of more than 32 bits is that of 8 bytes.
 * freeze   the heartbeat stands still
 * fatal    writing a syndrome makes the device FATAL
 * restart  writing true is a firmware restart that nobody asked for
 * event    type=N,code=N,id=N,info=N,eq=N: write this event (eq absent: the
 *          asynchronous one)
 */
#ifndef KIWI_FAULT_H
#define KIWI_FAULT_H

#include "kiwi.h"

void kiwi_fault_class_init(ObjectClass *oc);
void kiwi_fault_init(KiwiState *k);
void kiwi_fault_exit(KiwiState *k);

/* Forgets completions held back; rules stay. */
void kiwi_fault_reset(KiwiState *k);

uint64_t kiwi_fault_reg(KiwiState *k, hwaddr addr, unsigned size, uint64_t val);

/* The command that follows, through the stations of its execution. */
void kiwi_fault_begin(KiwiState *k, uint16_t opcode);
enum kiwi_status kiwi_fault_status(KiwiState *k, KiwiCall *c);
void kiwi_fault_reply(KiwiState *k, KiwiCall *c);
/* True: it was taken, the caller does not complete. */
bool kiwi_fault_completion(KiwiState *k, struct kiwi_acq_entry *done);

#endif /* KIWI_FAULT_H */
