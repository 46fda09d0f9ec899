// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/poll.h>

#include <kiwi/compat.h>
#include <kiwi/part.h>

/**
 * kiwi_events_init() - prepare a queue
 * @q: the queue
 */
void kiwi_events_init(struct kiwi_events *q)
{
	spin_lock_init(&q->lock);
	init_waitqueue_head(&q->wait);
	q->head = 0;
	q->count = 0;
}

static struct kiwi_file_event *event_slot(struct kiwi_events *q, unsigned int i)
{
	return &q->ring[(q->head + i) % ARRAY_SIZE(q->ring)];
}

/**
 * kiwi_events_push() - add an event, or count it as lost
 * @q: the queue
 * @event: the event
 */
void kiwi_events_push(struct kiwi_events *q, const struct kiwi_file_event *event)
{
	struct kiwi_file_event *last;

	spin_lock(&q->lock);
	last = q->count ? event_slot(q, q->count - 1) : NULL;
	if (q->count < KIWI_EVENTS_MAX) {
		*event_slot(q, q->count++) = *event;
	} else if (last->type == KIWI_EVENT_LOST) {
		/* An unknown number stays so, and the highest does not become it. */
		if (last->code && last->code < U32_MAX)
			last->code++;
	} else {
		*event_slot(q, q->count++) = (struct kiwi_file_event) {
			.type = KIWI_EVENT_LOST,
			.code = 1,
		};
	}
	spin_unlock(&q->lock);
	wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * kiwi_events_pop() - take the oldest event
 * @q: the queue
 * @event: to be filled
 *
 * Return: whether there was one
 */
bool kiwi_events_pop(struct kiwi_events *q, struct kiwi_file_event *event)
{
	bool any;

	spin_lock(&q->lock);
	any = q->count;
	if (any) {
		*event = *event_slot(q, 0);
		q->head = (q->head + 1) % ARRAY_SIZE(q->ring);
		q->count--;
	}
	spin_unlock(&q->lock);
	return any;
}

/**
 * kiwi_events_pending() - whether there is an event
 * @q: the queue
 *
 * Return: whether there is
 */
bool kiwi_events_pending(struct kiwi_events *q)
{
	return READ_ONCE(q->count);
}

/**
 * kiwi_route_add() - direct the events of a number to an object
 * @obj: the object
 * @routes: objects by number
 * @number: fresh from the device
 * @err: filled on failure
 *
 * The number may still lead to an object whose destruction the device has just
 * replied. Events of that one are handled first.
 *
 * Return: 0 or negative errno
 */
int kiwi_route_add(struct kiwi_obj *obj, struct xarray *routes, u32 number,
		   struct kiwi_error *err)
{
	struct kiwi_part *part = obj->part;
	struct kiwi_obj *old;
	bool ending;
	int ret;

	ret = xa_insert(routes, number, obj, GFP_KERNEL_ACCOUNT);
	if (ret == -EBUSY) {
		spin_lock(&part->event_lock);
		old = xa_load(routes, number);
		ending = !old || old->ending;
		spin_unlock(&part->event_lock);
		if (ending) {
			kiwi_fw_sync_events(part->fw);
			spin_lock(&part->event_lock);
			xa_cmpxchg(routes, number, old, NULL, GFP_ATOMIC);
			spin_unlock(&part->event_lock);
			ret = xa_insert(routes, number, obj, GFP_KERNEL_ACCOUNT);
		}
	}
	if (ret == -EBUSY) {
		kiwi_fw_fail(part->fw, KIWI_RESET_PROTOCOL);
		return kiwi_fail(err, -EPROTO, number, 0,
				 "the firmware gave number %u to two %ss", number,
				 obj->ops->name);
	}
	return ret ? kiwi_fail_plain(err, ret) : 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_route_add, "KIWI_FW");

/**
 * kiwi_route_del() - direct the events of a number nowhere
 * @obj: unless the number leads to another by now
 * @routes: objects by number
 * @number: of @obj
 */
void kiwi_route_del(struct kiwi_obj *obj, struct xarray *routes, u32 number)
{
	spin_lock(&obj->part->event_lock);
	xa_cmpxchg(routes, number, obj, NULL, GFP_ATOMIC);
	spin_unlock(&obj->part->event_lock);
}
EXPORT_SYMBOL_NS_GPL(kiwi_route_del, "KIWI_FW");

/**
 * kiwi_route_next() - the next object that events are directed to
 * @part: the device
 * @routes: objects by number
 * @number: where to begin, the object's afterwards
 *
 * Return: the object with a reference, or NULL
 */
struct kiwi_obj *kiwi_route_next(struct kiwi_part *part, struct xarray *routes,
				 unsigned long *number)
{
	struct kiwi_obj *obj;

	spin_lock(&part->event_lock);
	obj = xa_find(routes, number, ULONG_MAX, XA_PRESENT);
	if (obj)
		kref_get(&obj->ref);
	spin_unlock(&part->event_lock);
	return obj;
}
EXPORT_SYMBOL_NS_GPL(kiwi_route_next, "KIWI_FW");
