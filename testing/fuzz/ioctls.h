/* SPDX-License-Identifier: GPL-2.0 */
/* The ioctls of include/uapi/kiwi/snic.h as data: what each field means. */
#ifndef IOCTLS_H
#define IOCTLS_H

#include "fuzz.h"
#include "world.h"

enum meaning {
	NUMBER,		/* min..max */
	BITS,		/* any of max */
	ANYTHING,	/* has no wrong value */
	ADDRESS,	/* of the device's network, where it is better from the target */
	ID,		/* of an object of kind min */
	EVENT_FD,	/* eventfd or -1 */
	BUFFER_FD,	/* DMA-buf or -1 */
	MEMORY,		/* struct kiwi_mem of a use */
	ROOM,		/* address of max bytes that the kernel fills */
	RESERVED,	/* zero */
	OUT,		/* filled by the kernel */
};

enum use { REGION, CQ_RING, SQ_RING, RQ_RING, RECORD };

struct field {
	const char *name;
	uint16_t offset;
	uint16_t size;
	enum meaning meaning;
	uint64_t min;		/* an enum object for ID, an enum use for MEMORY */
	uint64_t max;
	const void *limit;	/* into target, of limit_size bytes: the device's own maximum */
	uint16_t limit_size;
};

#define FIELDS_MAX	32
#define ERRNOS_MAX	8

/**
 * struct ioctl_rules - one ioctl
 * @name: without KIWI_SNIC_
 * @cmd: number
 * @size: of the structure
 * @flags: known
 * @writes: the structure comes back
 * @weight: how often it is called
 * @errnos: that it may fail with, beside EINVAL, E2BIG and EFAULT
 * @fields: but size and flags; the end has no name
 * @tidy: makes a valid structure of fields that are each valid by itself
 * @made: remembers what a call made
 */
struct ioctl_rules {
	const char *name;
	unsigned int cmd;
	uint16_t size;
	uint32_t flags;
	bool writes;
	unsigned int weight;
	int errnos[ERRNOS_MAX];
	struct field fields[FIELDS_MAX];
	void (*tidy)(struct context *ctx, unsigned int slot, void *argument);
	void (*made)(struct context *ctx, unsigned int slot, const void *argument);
};

#define IOCTLS	19

extern const struct ioctl_rules ioctl_table[IOCTLS];

/*
 * Calls one: fills a structure and judges what comes back. Unless ctx->valid, it spoils the
 * structure, and tries again with another while it is refused.
 */
void ioctl_step(struct context *ctx, const struct ioctl_rules *rules);

#endif /* IOCTLS_H */
