// SPDX-License-Identifier: GPL-2.0
#include <linux/build_bug.h>
#include <linux/lockdep.h>
#include <linux/slab.h>

#include <kiwi/error.h>
#include <kiwi/fw.h>

#include "errpage.h"

static_assert(sizeof(struct kiwi_error_page) == KIWI_ERROR_PAGE_BYTES);

/**
 * kiwi_errpage_new() - begin an error page
 *
 * Return: a page without memory, or NULL
 */
struct kiwi_errpage *kiwi_errpage_new(void)
{
	struct kiwi_errpage *ep = kzalloc(sizeof(*ep), GFP_KERNEL_ACCOUNT);

	if (ep)
		spin_lock_init(&ep->lock);
	return ep;
}

/**
 * kiwi_errpage_map() - make the memory readable as an error page: all is good
 * @ep: the page with its memory
 * @err: filled on failure
 *
 * Return: 0, -EOPNOTSUPP or -ENOMEM
 */
int kiwi_errpage_map(struct kiwi_errpage *ep, struct kiwi_error *err)
{
	int ret;

	ret = kiwi_fw_mem_vmap(ep->mem, &ep->map);
	if (ret)
		return kiwi_fail(err, ret, 0, 0, "mem: %s", ret == -EOPNOTSUPP ?
				 "the exporter does not let the CPU map it (vmap)" :
				 kiwi_errno_text(ret));
	spin_lock(&ep->lock);
	if (!ep->revoked)
		iosys_map_memset(&ep->map, 0, 0, KIWI_ERROR_PAGE_BYTES);
	spin_unlock(&ep->lock);
	return 0;
}

/**
 * kiwi_errpage_free() - give the page and its memory back
 * @ep: the page, which nobody else can find
 */
void kiwi_errpage_free(struct kiwi_errpage *ep)
{
	if (ep->mem)
		kiwi_fw_mem_release(ep->mem);
	kfree(ep);
}

static void errpage_revoked(void *arg)
{
	struct kiwi_errpage *ep = arg;

	spin_lock(&ep->lock);
	ep->revoked = true;
	spin_unlock(&ep->lock);
}

/* The CPU writes where it was mapped. */
const struct kiwi_fw_dmabuf_ops kiwi_errpage_mem_ops = {
	.revoked = errpage_revoked,
};

static void put_word(struct kiwi_errpage *ep, size_t offset, u32 value)
{
	lockdep_assert_held(&ep->lock);

	if (!ep->revoked)
		iosys_map_wr(&ep->map, offset, u32, value);
}

/* The count moves on when the word that it counts can be seen. */
static void publish(struct kiwi_errpage *ep, size_t offset, u32 value)
{
	put_word(ep, offset, value);
	wmb(); /* the page may be mapped write-combined */
	put_word(ep, offsetof(struct kiwi_error_page, events), ++ep->events);
	wmb(); /* and does not stay in the CPU */
}

/**
 * kiwi_errpage_device() - nothing of the file works any more; what is said first stays
 * @ep: the page
 * @value: why
 */
void kiwi_errpage_device(struct kiwi_errpage *ep, u32 value)
{
	if (!ep)
		return;
	spin_lock(&ep->lock);
	if (!ep->device) {
		ep->device = value;
		publish(ep, offsetof(struct kiwi_error_page, device), value);
	}
	spin_unlock(&ep->lock);
}

/**
 * kiwi_errpage_ports() - which ports are not active
 * @ep: the page
 * @port_down: bit n - 1 for port n
 */
void kiwi_errpage_ports(struct kiwi_errpage *ep, u32 port_down)
{
	if (!ep)
		return;
	spin_lock(&ep->lock);
	if (ep->port_down != port_down) {
		ep->port_down = port_down;
		publish(ep, offsetof(struct kiwi_error_page, port_down), port_down);
	}
	spin_unlock(&ep->lock);
}

/**
 * kiwi_errpage_lost() - events of the device were lost
 * @ep: the page
 */
void kiwi_errpage_lost(struct kiwi_errpage *ep)
{
	if (!ep)
		return;
	spin_lock(&ep->lock);
	publish(ep, offsetof(struct kiwi_error_page, lost), ++ep->lost);
	spin_unlock(&ep->lock);
}

/**
 * kiwi_errpage_offset() - where a queue's word stands
 * @place: as kiwi_errpage_take() gave it
 *
 * Return: byte offset, 0 for no word
 */
u32 kiwi_errpage_offset(u32 place)
{
	return place ? offsetof(struct kiwi_error_page, queue) + (place - 1) * sizeof(__u32) : 0;
}

/**
 * kiwi_errpage_take() - a word for a queue
 * @ep: the page
 *
 * Return: its place, from 1, or 0 when all are taken
 */
u32 kiwi_errpage_take(struct kiwi_errpage *ep)
{
	u32 n;

	spin_lock(&ep->lock);
	n = find_first_zero_bit(ep->used, KIWI_ERROR_WORDS);
	if (n < KIWI_ERROR_WORDS)
		__set_bit(n, ep->used);
	spin_unlock(&ep->lock);
	return n < KIWI_ERROR_WORDS ? n + 1 : 0;
}

/**
 * kiwi_errpage_queue() - a queue is in error
 * @ep: the page
 * @place: of the queue's word, or 0
 * @value: why
 */
void kiwi_errpage_queue(struct kiwi_errpage *ep, u32 place, u32 value)
{
	if (!ep || !place)
		return;
	spin_lock(&ep->lock);
	publish(ep, kiwi_errpage_offset(place), value);
	spin_unlock(&ep->lock);
}

/**
 * kiwi_errpage_give() - the queue is no more
 * @ep: the page
 * @place: of its word, or 0
 */
void kiwi_errpage_give(struct kiwi_errpage *ep, u32 place)
{
	if (!ep || !place)
		return;
	spin_lock(&ep->lock);
	put_word(ep, kiwi_errpage_offset(place), 0);
	__clear_bit(place - 1, ep->used);
	spin_unlock(&ep->lock);
}
