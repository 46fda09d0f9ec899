// SPDX-License-Identifier: GPL-2.0
/* What a device's queues have in common, and which of them an event is of. */
#include <linux/sched.h>

#include <kiwi/compat.h>
#include <kiwi/queues.h>

#include "object.h"

/**
 * kiwi_queues_setup() - prepare a part's queues
 * @queues: zero
 * @part: gets them
 * @map_base: where doorbells begin in what a file maps: the part maps nothing from there on
 */
void kiwi_queues_setup(struct kiwi_queues *queues, struct kiwi_part *part, u64 map_base)
{
	queues->map_base = map_base;
	xa_init(&queues->cqs);
	xa_init(&queues->qps);
	xa_init(&queues->dbs);
	part->queues = queues;
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_setup, "KIWI_FW");

/**
 * kiwi_queues_teardown() - undo kiwi_queues_setup()
 * @queues: the queues; there is no object any more
 */
void kiwi_queues_teardown(struct kiwi_queues *queues)
{
	xa_destroy(&queues->cqs);
	xa_destroy(&queues->qps);
	xa_destroy(&queues->dbs);
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_teardown, "KIWI_FW");

/**
 * kiwi_queues_pbl() - page list of some memory, within the limits of the device
 * @part: the device
 * @mem: the memory
 * @pbl: to be filled; kiwi_fw_pbl_release() it after the command
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kiwi_queues_pbl(struct kiwi_part *part, const struct kiwi_fw_mem *mem, struct kiwi_fw_pbl *pbl,
		    struct kiwi_error *err)
{
	const struct kiwi_fw_pbl_limits limits = {
		.max_pages = part->queues->caps.max_mr_pages,
		.page_shift_max = part->queues->caps.page_shift_max,
		.table_shift_max = part->queues->caps.pbl_table_shift_max,
	};

	return kiwi_cmd_pbl(part->fw, mem, &limits, pbl, err);
}

static void route_event(struct kiwi_part *part, struct xarray *routes, const struct kiwi_eqe *eqe,
			u32 type)
{
	struct kiwi_obj *obj;

	spin_lock(&part->event_lock);
	obj = xa_load(routes, le32_to_cpu(eqe->id));
	if (obj && (type == KIWI_EVENT_QP_ERROR || type == KIWI_EVENT_QP_ACCESS))
		kiwi_qp_tell_error(to_qp(obj), type, eqe->code);
	else if (obj)
		kiwi_obj_notify(obj, type, eqe->code, 0);
	spin_unlock(&part->event_lock);
}

/**
 * kiwi_queues_event() - take an event of the device, if it is of a queue
 * @part: the device
 * @eqe: the event
 *
 * Return: whether it is
 */
bool kiwi_queues_event(struct kiwi_part *part, const struct kiwi_eqe *eqe)
{
	struct kiwi_queues *queues = part->queues;

	switch (eqe->type) {
	case KIWI_EV_CQ_ERROR:
		route_event(part, &queues->cqs, eqe, KIWI_EVENT_CQ_ERROR);
		return true;
	case KIWI_EV_QP_ERROR:
		route_event(part, &queues->qps, eqe, KIWI_EVENT_QP_ERROR);
		return true;
	case KIWI_EV_QP_ACCESS:
		route_event(part, &queues->qps, eqe, KIWI_EVENT_QP_ACCESS);
		return true;
	case KIWI_EV_QP_ESTABLISHED:
		route_event(part, &queues->qps, eqe, KIWI_EVENT_QP_ESTABLISHED);
		return true;
	case KIWI_EV_QP_DRAINED:
		route_event(part, &queues->qps, eqe, KIWI_EVENT_QP_DRAINED);
		return true;
	}
	return false;
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_event, "KIWI_FW");

/**
 * kiwi_queues_look() - tell what QPs are in error, since events were lost
 * @part: the device; may sleep
 *
 * Who was told is not told again. A CQ in error takes its QPs along.
 */
void kiwi_queues_look(struct kiwi_part *part)
{
	struct kiwi_obj *obj;
	unsigned long n;

	for (n = 0; (obj = kiwi_route_next(part, &part->queues->qps, &n)); n++) {
		kiwi_qp_look(to_qp(obj));
		kiwi_obj_put(obj);
		cond_resched();
	}
}
EXPORT_SYMBOL_NS_GPL(kiwi_queues_look, "KIWI_FW");
