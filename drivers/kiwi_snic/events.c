// SPDX-License-Identifier: GPL-2.0
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/poll.h>

#include <kiwi/fw.h>

#include "events.h"
#include "ksnic.h"
#include "object.h"

void ksnic_events_init(struct ksnic_event_queue *q)
{
	spin_lock_init(&q->lock);
	init_waitqueue_head(&q->wait);
	q->head = 0;
	q->count = 0;
}

static struct kiwi_snic_event *event_slot(struct ksnic_event_queue *q, unsigned int i)
{
	return &q->ring[(q->head + i) % ARRAY_SIZE(q->ring)];
}

/**
 * ksnic_events_push() - add an event, or count it as lost
 * @q: the queue
 * @type: enum kiwi_snic_event_type
 * @id: of the object, or port
 * @user_data: of the object
 * @code: by type
 */
void ksnic_events_push(struct ksnic_event_queue *q, u32 type, u32 id, u64 user_data, u32 code)
{
	struct kiwi_snic_event *last;

	spin_lock(&q->lock);
	last = q->count ? event_slot(q, q->count - 1) : NULL;
	if (q->count < KSNIC_EVENTS_MAX) {
		*event_slot(q, q->count++) = (struct kiwi_snic_event) {
			.type = type,
			.id = id,
			.user_data = user_data,
			.code = code,
		};
	} else if (last->type == KIWI_SNIC_EVENT_LOST) {
		/* An unknown number stays so, and the highest does not become it. */
		if (last->code && last->code < U32_MAX)
			last->code++;
	} else {
		*event_slot(q, q->count++) = (struct kiwi_snic_event) {
			.type = KIWI_SNIC_EVENT_LOST,
			.code = 1,
		};
	}
	spin_unlock(&q->lock);
	wake_up_interruptible_poll(&q->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * ksnic_events_pop() - take the oldest event
 * @q: the queue
 * @event: to be filled
 *
 * Return: whether there was one
 */
bool ksnic_events_pop(struct ksnic_event_queue *q, struct kiwi_snic_event *event)
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

bool ksnic_events_pending(struct ksnic_event_queue *q)
{
	return READ_ONCE(q->count);
}

/**
 * ksnic_route_add() - direct the events of a number to an object
 * @ks: the device
 * @routes: CQs or QPs
 * @number: of the CQ or QP, fresh from the device
 * @obj: the object
 * @err: filled on failure
 *
 * The number may still lead to an object whose destruction the device has just
 * replied. Events of that one are handled first.
 *
 * Return: 0 or negative errno
 */
int ksnic_route_add(struct ksnic *ks, struct xarray *routes, u32 number, struct ksnic_obj *obj,
		    struct kiwi_error *err)
{
	struct ksnic_obj *old;
	bool ending;
	int ret;

	ret = xa_insert(routes, number, obj, GFP_KERNEL_ACCOUNT);
	if (ret == -EBUSY) {
		spin_lock(&ks->event_lock);
		old = xa_load(routes, number);
		ending = !old || old->ending;
		spin_unlock(&ks->event_lock);
		if (ending) {
			kiwi_fw_sync_events(ks->fw);
			ksnic_route_del(ks, routes, number, old);
			ret = xa_insert(routes, number, obj, GFP_KERNEL_ACCOUNT);
		}
	}
	if (ret == -EBUSY) {
		kiwi_fw_fail(ks->fw, KIWI_RESET_PROTOCOL);
		return kiwi_fail(err, -EPROTO, number, 0,
				 "the firmware gave number %u to two %ss", number,
				 obj->ops->name);
	}
	return ret ? kiwi_fail_plain(err, ret) : 0;
}

/**
 * ksnic_route_del() - direct the events of a number nowhere
 * @ks: the device
 * @routes: CQs or QPs
 * @number: of the CQ or QP
 * @obj: unless the number leads to another by now
 */
void ksnic_route_del(struct ksnic *ks, struct xarray *routes, u32 number, struct ksnic_obj *obj)
{
	spin_lock(&ks->event_lock);
	xa_cmpxchg(routes, number, obj, NULL, GFP_ATOMIC);
	spin_unlock(&ks->event_lock);
}

static void route_event(struct ksnic *ks, struct xarray *routes, const struct kiwi_eqe *eqe,
			u32 type)
{
	struct ksnic_obj *obj;

	spin_lock(&ks->event_lock);
	obj = xa_load(routes, le32_to_cpu(eqe->id));
	if (obj)
		ksnic_obj_notify(obj, type, eqe->code);
	spin_unlock(&ks->event_lock);
}

/**
 * ksnic_event() - take an event of the device
 * @priv: the device
 * @eqe: the event
 * @lost: others were lost before it
 */
void ksnic_event(void *priv, const struct kiwi_eqe *eqe, bool lost)
{
	struct ksnic *ks = priv;
	u32 port;

	if (lost)
		ksnic_files_event(ks, KIWI_SNIC_EVENT_LOST, 0, 0);

	switch (eqe->type) {
	case KIWI_EV_CQ_ERROR:
		route_event(ks, &ks->cqs, eqe, KIWI_SNIC_EVENT_CQ_ERROR);
		break;
	case KIWI_EV_QP_ERROR:
		route_event(ks, &ks->qps, eqe, KIWI_SNIC_EVENT_QP_ERROR);
		break;
	case KIWI_EV_QP_ACCESS:
		route_event(ks, &ks->qps, eqe, KIWI_SNIC_EVENT_QP_ACCESS);
		break;
	case KIWI_EV_QP_ESTABLISHED:
		route_event(ks, &ks->qps, eqe, KIWI_SNIC_EVENT_QP_ESTABLISHED);
		break;
	case KIWI_EV_QP_DRAINED:
		route_event(ks, &ks->qps, eqe, KIWI_SNIC_EVENT_QP_DRAINED);
		break;
	case KIWI_EV_PORT_CHANGE:
		port = le32_to_cpu(eqe->id);
		if (port && port <= ks->caps.ports) {
			ksnic_files_port(ks, port, eqe->code);
			ksnic_files_event(ks, KIWI_SNIC_EVENT_PORT_CHANGE, port, eqe->code);
		}
		break;
	}
}
