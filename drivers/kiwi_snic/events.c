// SPDX-License-Identifier: GPL-2.0
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

	if (kiwi_queues_event(&ks->part, eqe) || eqe->type != KIWI_EV_PORT_CHANGE)
		return;
	port = le32_to_cpu(eqe->id);
	if (port && port <= ks->queues.caps.ports) {
		kiwi_queues_port(&ks->part, port, eqe->code == KIWI_PORT_ACTIVE);
		tell_files(ks, KIWI_SNIC_EVENT_PORT_CHANGE, port, eqe->code);
	}
}
