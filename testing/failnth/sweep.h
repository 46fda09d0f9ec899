/* SPDX-License-Identifier: GPL-2.0 */
/* Operations in which all that can fail does so once, by part. */
#ifndef SWEEP_H
#define SWEEP_H

#include <stddef.h>

/* What an operation finds; what it needs is made before faults begin. Each part has its own. */
struct world;

#define ONCE	(1U << 31)	/* what succeeded cannot be done again */

/**
 * struct operation - what is repeated
 * @name: of it
 * @run: does it: 0 or a negative errno
 * @needs: what it needs, as the part numbers it, and ONCE
 */
struct operation {
	const char *name;
	int (*run)(struct world *w);
	unsigned int needs;
};

/**
 * struct part - a device with its operations
 * @name: of its first device, but for the 0
 * @operations: all of them
 * @nr_operations: how many
 * @kinds: of objects that the device counts, ends with NULL
 * @usual: needs after which driver and host have all that they keep
 * @make: the world; one at a time
 * @end: gives back all of it
 * @open_and_close: opens the device once
 */
struct part {
	const char *name;
	const struct operation *operations;
	size_t nr_operations;
	const char *const *kinds;
	unsigned int usual;
	struct world *(*make)(unsigned int needs);
	void (*end)(struct world *w);
	void (*open_and_close)(void);
};

extern const struct part snic_part;
extern const struct part g2g_part;

/* Unbinds the driver of the part from the device, and binds it. */
int sweep_unbind(struct world *w);
int sweep_bind(struct world *w);

#endif /* SWEEP_H */
