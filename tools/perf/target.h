/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The passive side: it owns the memory that WRITE, READ and atomics name, and
 * receives what is sent. It stands in the same process or behind a connection.
 */
#ifndef TARGET_H
#define TARGET_H

#include "counts.h"
#include "end.h"

struct target {
	struct end end;
	struct layout layout;
	uint64_t *words;	/* verified atomics: what each slot must hold */
	uint64_t to_post;	/* receives still to be posted */
	uint64_t posted;
	uint64_t received;
	uint64_t expected;	/* received, when the window is over */
	bool failed;
};

bool target_open(struct target *t, const struct end_options *options, const struct work *work);
void target_close(struct target *t);

/* Messages of a new size begin. */
bool target_prepare(struct target *t, struct layout layout);

/* Iterations @first.. @first + @n - 1 are about to come. */
bool target_window(struct target *t, uint64_t first, uint64_t n);

/* Take what has come, without waiting. False when something went wrong. */
bool target_progress(struct target *t);

/* They have come. Sets @bad to how many are not as they should be. */
bool target_check(struct target *t, uint64_t first, uint64_t n, uint64_t *bad);

/* The size is done. Adds damage outside the messages to @bad. */
bool target_finish(struct target *t, uint64_t *bad);

#endif /* TARGET_H */
