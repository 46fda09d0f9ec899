/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A device that misbehaves on request. Properties, all settable at run time:
 *
 * fault    rules separated by ';', each a list of KEY=VALUE separated by ','.
 *          A rule names what it meets; N may be "any":
 *            opcode=N         admin commands (those of a rule that names none)
 *            event=N          events, by type
 *            cqe=N            completions of work, by opcode
 *            vector=N         MSI-X messages
 *            reg=OFF          reads of a register
 *          It lets skip=N of them pass, then acts on count=N (absent: one, of
 *          registers all; 0: all), or with chance=N on one in N of these. The
 *          first rule that acts is the only one. What it may do:
 *            status=N         refuse a command without executing it
 *            reply=OFF:HEX    overwrite bytes of the reply
 *            entry=OFF:HEX    overwrite bytes of the entry in ACQ, EQ or CQ
 *            delay-ms=N       write or send it late; later ones overtake
 *            drop=1           never
 *            repeat=N         N more times
 *            stray-ms=N       write the entry a second time, to the same
 *                             address, whatever has become of it meanwhile
 *            silent=1         send no interrupt for a completion in the ACQ
 *            value=N, add=N   what the register reads as; what is added to it. A
 *                             value of more than 32 bits is that of 8 bytes.
 *          A byte of HEX that is "??" is drawn at random.
 * fault-seed    begins the draws anew
 * fault-counts  what came of the rules since fault was set, a JSON object:
 *          KIND_WHAT of KIND command, event, cqe, vector or reg, and WHAT
 *            met              a rule acted
 *            changed          an entry, or its reply, was written with bytes
 *                             that the device would not have written
 *            taken            such entries that the host says it has consumed
 *            landed, caught   stray writes that reached memory, that did not
 * freeze   the heartbeat stands still
 * fatal    writing a syndrome makes the device FATAL
 * restart  writing true is a firmware restart that nobody asked for
 * event    type=N,code=N,id=N,info=N,eq=N: write this event (eq absent: the
 *          asynchronous one)
 */
#ifndef KIWI_FAULT_H
#define KIWI_FAULT_H

#include "kiwi.h"

typedef enum KiwiFaultKind {
    KIWI_FAULT_COMMAND,
    KIWI_FAULT_EVENT,
    KIWI_FAULT_CQE,
    KIWI_FAULT_VECTOR,
    KIWI_FAULT_REG,
    KIWI_FAULT_KINDS
} KiwiFaultKind;

void kiwi_fault_class_init(ObjectClass *oc);
void kiwi_fault_init(KiwiState *k);
void kiwi_fault_exit(KiwiState *k);

/* Forgets what was held back, but for stray writes; rules stay. */
void kiwi_fault_reset(KiwiState *k);

uint64_t kiwi_fault_reg(KiwiState *k, hwaddr addr, unsigned size, uint64_t val);

/*
 * A command, event, completion or message, through the stations of its life.
 * Chooses the rule that it meets, up to kiwi_fault_write().
 */
void kiwi_fault_begin(KiwiState *k, KiwiFaultKind kind, uint32_t what);
enum kiwi_status kiwi_fault_status(KiwiState *k);
void kiwi_fault_reply(KiwiState *k, void *reply, size_t size);

/* Writes @entry into @queue, or sends the message of vector @queue. */
typedef void KiwiFaultWrite(KiwiState *k, uint32_t queue, void *entry);

/* Calls @write, now or later, as often as it is to happen; with a copy. */
void kiwi_fault_write(KiwiState *k, KiwiFaultKind kind, uint32_t queue,
                      const void *entry, size_t size, KiwiFaultWrite *write);

/* What KiwiFaultWrite calls with the entry as it will stand at @addr. */
void kiwi_fault_entry(KiwiState *k, KiwiFaultKind kind, uint32_t queue,
                      uint32_t index, uint64_t addr, void *entry, size_t size);

/* The host has consumed the entries of @queue before @index. */
void kiwi_fault_taken(KiwiState *k, KiwiFaultKind kind, uint32_t queue,
                      uint32_t index);

/* @queue is no more. */
void kiwi_fault_forget(KiwiState *k, KiwiFaultKind kind, uint32_t queue);

#endif /* KIWI_FAULT_H */
