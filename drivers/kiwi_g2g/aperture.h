/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The aperture: which ranges of it are whose. There is no rule of sizes beyond granules, and a
 * range is put into the smallest gap that holds it, so that large gaps stay.
 */
#ifndef KG2G_APERTURE_H
#define KG2G_APERTURE_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>

/**
 * struct kg2g_aperture - what can be given out, and what was
 * @lock: protects all; innermost of all mutexes
 * @size: bytes, multiple of @granule
 * @granule: bytes
 * @ranges: struct kg2g_range, by offset
 */
struct kg2g_aperture {
	struct mutex lock;	/* ranges */
	u64 size;
	u64 granule;
	struct list_head ranges;
};

/**
 * struct kg2g_range - a range that somebody has
 * @node: among the ranges; empty while it has none
 * @offset: in the aperture
 * @size: bytes
 */
struct kg2g_range {
	struct list_head node;
	u64 offset;
	u64 size;
};

void kg2g_aperture_init(struct kg2g_aperture *aperture);
void kg2g_aperture_resize(struct kg2g_aperture *aperture, u64 size, u64 granule);
int kg2g_range_take(struct kg2g_aperture *aperture, struct kg2g_range *range, u64 length);
void kg2g_range_give(struct kg2g_aperture *aperture, struct kg2g_range *range);

#endif /* KG2G_APERTURE_H */
