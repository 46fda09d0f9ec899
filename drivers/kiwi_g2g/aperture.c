// SPDX-License-Identifier: GPL-2.0
#include <linux/align.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>

#include "aperture.h"

void kg2g_aperture_init(struct kg2g_aperture *aperture)
{
	mutex_init(&aperture->lock);
	INIT_LIST_HEAD(&aperture->ranges);
}

/**
 * kg2g_aperture_resize() - say what can be given out
 * @aperture: the aperture; ranges that are still in use stay, wherever they lie
 * @size: bytes, a multiple of @granule
 * @granule: bytes
 */
void kg2g_aperture_resize(struct kg2g_aperture *aperture, u64 size, u64 granule)
{
	mutex_lock(&aperture->lock);
	aperture->size = size;
	aperture->granule = granule;
	mutex_unlock(&aperture->lock);
}

/**
 * struct gap - where a range could go
 * @prev: range before it
 * @offset: of it
 * @size: of it
 */
struct gap {
	struct list_head *prev;
	u64 offset;
	u64 size;
};

static void consider(struct gap *best, struct list_head *prev, u64 start, u64 end, u64 size)
{
	if (end <= start || end - start < size || end - start >= best->size)
		return;
	*best = (struct gap) { .prev = prev, .offset = start, .size = end - start };
}

static struct gap best_gap(struct kg2g_aperture *aperture, u64 size)
{
	struct gap best = { .size = U64_MAX };
	struct list_head *prev = &aperture->ranges;
	struct kg2g_range *range;
	u64 start = 0;

	lockdep_assert_held(&aperture->lock);
	list_for_each_entry(range, &aperture->ranges, node) {
		consider(&best, prev, start, min(range->offset, aperture->size), size);
		prev = &range->node;
		start = ALIGN(range->offset + range->size, aperture->granule);
	}
	consider(&best, prev, start, aperture->size, size);
	return best;
}

/**
 * kg2g_range_take() - have a range of the aperture
 * @aperture: the aperture
 * @range: to be filled
 * @length: bytes, 1 or more; rounded up to granules
 *
 * Return: 0, or -ENOSPC when no gap holds it
 */
int kg2g_range_take(struct kg2g_aperture *aperture, struct kg2g_range *range, u64 length)
{
	struct gap gap;
	u64 size;

	mutex_lock(&aperture->lock);
	if (length > aperture->size) {
		mutex_unlock(&aperture->lock);
		return -ENOSPC;
	}
	size = ALIGN(length, aperture->granule);
	gap = best_gap(aperture, size);
	if (gap.prev) {
		range->offset = gap.offset;
		range->size = size;
		list_add(&range->node, gap.prev);
	}
	mutex_unlock(&aperture->lock);
	return gap.prev ? 0 : -ENOSPC;
}

/**
 * kg2g_range_give() - give a range back
 * @aperture: that it was taken from
 * @range: which nobody has mapped any more
 */
void kg2g_range_give(struct kg2g_aperture *aperture, struct kg2g_range *range)
{
	mutex_lock(&aperture->lock);
	list_del(&range->node);
	mutex_unlock(&aperture->lock);
}
