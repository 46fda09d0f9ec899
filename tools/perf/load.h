/* SPDX-License-Identifier: GPL-2.0 */
/* The active side: posts work and takes completions. */
#ifndef LOAD_H
#define LOAD_H

#include "peer.h"

/* What one message size gave. */
struct result {
	uint64_t size;
	uint64_t iterations;
	uint64_t bad;		/* messages that did not verify */
	double seconds;
	double us_min, us_median, us_p99, us_max;	/* latency only */
	struct counts mine, peers;
	bool same_device;	/* @peers is not to be added to @mine */
};

/* False when it ended early, after telling why. */
bool load_run(struct end *end, struct peer *peer, const struct options *o, uint64_t size,
	      uint64_t iterations, struct result *result);

#endif /* LOAD_H */
