/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Loops that poll end when nothing moves. The clock is read only after very many
 * polls in vain, so that a loop that does move makes no system call.
 */
#ifndef STALL_H
#define STALL_H

#include <stdbool.h>

enum stall {
	STALL_NO,
	STALL_SLOW,	/* nothing for a second: time to ask the device */
	STALL_YES,	/* nothing for longer than the limit */
};

#define STALL_POLLS	(1U << 18)

extern unsigned int stall_seconds;	/* the limit */
extern unsigned int stall_polls;	/* in vain */

enum stall stall_look(void);

/* For each turn of a loop. */
static inline enum stall stalled(bool moved)
{
	if (moved) {
		stall_polls = 0;
		return STALL_NO;
	}
	return ++stall_polls % STALL_POLLS ? STALL_NO : stall_look();
}

#endif /* STALL_H */
