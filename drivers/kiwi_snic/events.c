// SPDX-License-Identifier: GPL-2.0
#include "file.h"
#include "ksnic.h"

static void tell_files(struct ksnic *ks, u32 type, u32 id, u32 code)
{
	const struct kiwi_file_event event = {
		.type = type,
		.id = id,
		.code = code,
	};

	kiwi_files_event(&ks->part, &event);
}

static void route_event(struct ksnic *ks, struct xarray *routes, const struct kiwi_eqe *eqe,
			u32 type)
{
	struct kiwi_obj *obj;

	spin_lock(&ks->part.event_lock);
	obj = xa_load(routes, le32_to_cpu(eqe->id));
	if (obj)
		kiwi_obj_notify(obj, type, eqe->code, 0);
	spin_unlock(&ks->part.event_lock);
}

/**
 * ksnic_event() - take an event of the device
 * @priv: the device
 * @eqe: the event
 * @lost: others were lost before it
 */
void ksnic_event(void *priv, const struct kiwi_eqe *eqe, bool lost)
{
	struct ksnic *ks = to_ksnic(priv);
	u32 port;

	if (lost)
		tell_files(ks, KIWI_EVENT_LOST, 0, 0);

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
			tell_files(ks, KIWI_SNIC_EVENT_PORT_CHANGE, port, eqe->code);
		}
		break;
	}
}
