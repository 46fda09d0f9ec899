/* SPDX-License-Identifier: GPL-2.0 */
/* How bytes are moved between the two ends. */
#ifndef WAY_H
#define WAY_H

#include "end.h"
#include "load.h"

/* What is told of the ends before the first result. */
struct about {
	const char *device;	/* of this end */
	char local[END_ABOUT];
	char peer[END_ABOUT];
};

/*
 * open() and run(), which does all of one size, tell what went wrong before they return false;
 * close() is called after either.
 */
struct way {
	bool (*open)(const struct options *o, struct about *about);
	bool (*run)(uint64_t size, struct result *result);
	void (*close)(void);
};

extern const struct way message_way;	/* queue pairs: message.c */
extern const struct way window_way;	/* loads and stores: window.c */

#endif /* WAY_H */
