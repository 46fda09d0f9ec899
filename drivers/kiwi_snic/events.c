// SPDX-License-Identifier: GPL-2.0
#include "ksnic.h"
#include "port.h"

static void tell_files(struct ksnic *ks, u32 type, u32 id, u32 code)
{
	const struct kiwi_file_event event = {
		.type = type,
		.id = id,
		.code = code,
	};

	kiwi_files_event(&ks->part, &event);
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

	if (lost) {
		tell_files(ks, KIWI_EVENT_LOST, 0, 0);
		schedule_work(&ks->lost_work);
	}

	if (kiwi_queues_event(&ks->part, eqe) || eqe->type != KIWI_EV_PORT_CHANGE)
		return;
	port = le32_to_cpu(eqe->id);
	if (port && port <= ks->queues.caps.ports) {
		kiwi_queues_port(&ks->part, port, eqe->code == KIWI_PORT_ACTIVE);
		tell_files(ks, KIWI_SNIC_EVENT_PORT_CHANGE, port, eqe->code);
	}
}

static void look_at_port(struct ksnic *ks, u32 port)
{
	struct ksnic_port_info info;
	struct kiwi_error err;

	kiwi_queues_port_ask(&ks->part, port);
	if (ksnic_port_query(ks, port, &info, &err))
		return;
	if (kiwi_queues_port_found(&ks->part, port, info.state == KIWI_PORT_ACTIVE))
		tell_files(ks, KIWI_SNIC_EVENT_PORT_CHANGE, port, info.state);
}

/**
 * ksnic_lost_work() - look at ports and queues, since events were lost
 * @work: of the device
 */
void ksnic_lost_work(struct work_struct *work)
{
	struct ksnic *ks = container_of(work, struct ksnic, lost_work);
	u32 port;

	for (port = 1; port <= ks->queues.caps.ports; port++)
		look_at_port(ks, port);
	kiwi_queues_look(&ks->part);
}
