/* SPDX-License-Identifier: GPL-2.0 */
/* A SNIC behind the fake firmware interface. */
#ifndef KSNIC_FAKE_SNIC_H
#define KSNIC_FAKE_SNIC_H

#include <kiwi_abi/snic.h>

#include "../../kiwi_fw/tests/fake_queues.h"

/**
 * struct fake_snic - the SNIC
 * @fw: takes the commands
 * @queues: its queues
 * @caps: reply of QUERY_CAPS
 * @port: reply of QUERY_PORT
 */
struct fake_snic {
	struct kiwi_fw fw;
	struct fake_queues queues;
	struct kiwi_snic_caps caps;
	struct kiwi_snic_port port;
};

void fake_snic_init(struct fake_snic *snic);

#endif /* KSNIC_FAKE_SNIC_H */
