/* SPDX-License-Identifier: GPL-2.0 */
/* What devices count of their own work, from sysfs. */
#ifndef COUNTS_H
#define COUNTS_H

#include <stdbool.h>
#include <stdint.h>

struct counts {
	uint64_t frames;	/* sent, all ports */
	uint64_t retransmitted;
	uint64_t dma_peer;	/* payload bytes to and from BARs of others */
	uint64_t dma_system;	/* payload bytes to and from system memory */
	uint64_t doorbells;
};

#define COUNTS_FIELDS 5

struct counts counts_read(const char *device);
struct counts counts_minus(struct counts a, struct counts b);
struct counts counts_plus(struct counts a, struct counts b);

#endif /* COUNTS_H */
