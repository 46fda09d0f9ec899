/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loops that poll end when nothing moves. The clock is read only after very many
 * polls in vain, so that a loop that does move makes no system call.
 */
#ifndef STALL_H
#define STALL_H

#include <stdbool.h>

#define STALL_POLLS	(1U << 18)

extern unsigned int stall_seconds;	/* the limit */
extern unsigned int stall_polls;	/* in vain */

/* Whether nothing has moved for longer than the limit; for a loop that has slept, too. */
bool stall_look(void);

/* For each turn of a loop: whether it has moved, and whether it has to be given up. */
static inline bool stalled(bool moved)
{
	if (moved) {
		stall_polls = 0;
		return false;
	}
	return ++stall_polls % STALL_POLLS == 0 && stall_look();
}

#endif /* STALL_H */
