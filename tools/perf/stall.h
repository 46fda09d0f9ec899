/* SPDX-License-Identifier: GPL-2.0 */
/* Loops that poll end when nothing moves, without a system call in them. */
#ifndef STALL_H
#define STALL_H

#include <signal.h>
#include <stdint.h>

extern volatile uint64_t progress;	/* whoever polls stores what it has reached */
extern volatile sig_atomic_t stalled;	/* it has not changed for so long */

void stall_watch(unsigned int seconds);

#endif /* STALL_H */
