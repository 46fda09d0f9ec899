// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>

#include "object.h"

/**
 * kg2g_tell() - tell all files of an event
 * @kg: the device
 * @type: enum kiwi_g2g_event_type
 * @id: by type
 * @code: by type
 * @info: by type
 */
void kg2g_tell(struct kg2g *kg, u32 type, u32 id, u32 code, u32 info)
{
	const struct kiwi_file_event event = {
		.type = type,
		.id = id,
		.code = code,
		.info = info,
	};

	kiwi_files_event(&kg->part, &event);
}

static void window_event(struct kg2g *kg, const struct kiwi_eqe *eqe)
{
	struct kiwi_obj *obj;

	if (eqe->code >= KIWI_G2G_WINDOW_STATE_COUNT)
		return;
	spin_lock(&kg->part.event_lock);
	obj = xa_load(&kg->windows, le32_to_cpu(eqe->id));
	if (obj)
		kg2g_window_tell(container_of(obj, struct kg2g_window, obj), eqe->code,
				 le32_to_cpu(eqe->info));
	spin_unlock(&kg->part.event_lock);
}

static void export_event(struct kg2g *kg, const struct kiwi_eqe *eqe)
{
	struct kiwi_obj *obj;

	spin_lock(&kg->part.event_lock);
	obj = xa_load(&kg->exports, le32_to_cpu(eqe->id));
	if (obj)
		kg2g_export_tell(container_of(obj, struct kg2g_export, obj),
				 KIWI_G2G_EXPORT_REVOKED, le32_to_cpu(eqe->info));
	spin_unlock(&kg->part.event_lock);
}

static void pause_event(struct kg2g *kg, const struct kiwi_eqe *eqe)
{
	spin_lock(&kg->part.event_lock);
	kg->paused = eqe->code;
	spin_unlock(&kg->part.event_lock);
	wake_up_all(&kg->part.wait);
	kg2g_tell(kg, KIWI_G2G_EVENT_PAUSE, 0, eqe->code, 0);
}

static void state_event(struct kg2g *kg, u32 type, const struct kiwi_eqe *eqe)
{
	kg2g_tell(kg, type, le32_to_cpu(eqe->id), eqe->code, le32_to_cpu(eqe->info));
}

/**
 * kg2g_event() - take an event of the device
 * @priv: the device
 * @eqe: the event
 * @lost: others were lost before it
 */
void kg2g_event(void *priv, const struct kiwi_eqe *eqe, bool lost)
{
	struct kg2g *kg = to_kg2g(priv);

	if (lost) {
		kg2g_tell(kg, KIWI_EVENT_LOST, 0, 0, 0);
		schedule_work(&kg->lost_work);
		schedule_work(&kg->log_work);
	}

	if (kiwi_queues_event(&kg->part, eqe))
		return;
	switch (eqe->type) {
	case KIWI_G2G_EV_FABRIC:
		kiwi_queues_port(&kg->part, 1, eqe->code == KIWI_G2G_FABRIC_ACTIVE);
		state_event(kg, KIWI_G2G_EVENT_FABRIC, eqe);
		break;
	case KIWI_G2G_EV_PAUSE:
		pause_event(kg, eqe);
		break;
	case KIWI_G2G_EV_PORT:
		state_event(kg, KIWI_G2G_EVENT_PORT, eqe);
		break;
	case KIWI_G2G_EV_PEER:
		state_event(kg, KIWI_G2G_EVENT_PEER, eqe);
		break;
	case KIWI_G2G_EV_WINDOW:
		window_event(kg, eqe);
		break;
	case KIWI_G2G_EV_EXPORT:
		export_event(kg, eqe);
		break;
	case KIWI_G2G_EV_LOG:
		schedule_work(&kg->log_work);
		break;
	}
}

static void look_at_fabric(struct kg2g *kg)
{
	struct kiwi_g2g_fabric fabric;
	struct kiwi_error err;

	kiwi_queues_port_ask(&kg->part, 1);
	if (kg2g_cmd_query_fabric(kg->part.fw, &fabric, &err))
		return;
	if (kiwi_queues_port_found(&kg->part, 1, fabric.state == KIWI_G2G_FABRIC_ACTIVE))
		kg2g_tell(kg, KIWI_G2G_EVENT_FABRIC, 0, fabric.state, fabric.reason);
}

/**
 * kg2g_lost_work() - look at the fabric and all objects, since events were lost
 * @work: of the device
 *
 * Of ports and peers the driver knows no state that could be out of date.
 */
void kg2g_lost_work(struct work_struct *work)
{
	struct kg2g *kg = container_of(work, struct kg2g, lost_work);
	struct kiwi_obj *obj;
	unsigned long n;

	look_at_fabric(kg);
	kiwi_queues_look(&kg->part);
	for (n = 0; (obj = kiwi_route_next(&kg->part, &kg->windows, &n)); n++) {
		kg2g_window_look(container_of(obj, struct kg2g_window, obj));
		kiwi_obj_put(obj);
	}
	for (n = 0; (obj = kiwi_route_next(&kg->part, &kg->exports, &n)); n++) {
		kg2g_export_look(container_of(obj, struct kg2g_export, obj));
		kiwi_obj_put(obj);
	}
}

/**
 * kg2g_reap_work() - destroy what could not be destroyed before
 * @work: of the device
 */
void kg2g_reap_work(struct work_struct *work)
{
	struct kg2g *kg = container_of(work, struct kg2g, reap_work);

	kiwi_zombies_retry(&kg->part);
}
