// SPDX-License-Identifier: GPL-2.0
#include "counts.h"

#include "../common/sysfs.h"

static uint64_t of_ports(const char *device, const char *name)
{
	struct sysfs_list ports;
	uint64_t sum = 0;
	size_t i;

	sysfs_names(&ports, "%s/ports", device);
	for (i = 0; i < ports.count; i++)
		sum += sysfs_number("%s/ports/%s/counters/%s", device, ports.names[i], name);
	sysfs_free(&ports);
	return sum;
}

static uint64_t payload(const char *device, const char *target)
{
	return sysfs_number("%s/diag/dma_payload_read_%s_bytes", device, target) +
	       sysfs_number("%s/diag/dma_payload_write_%s_bytes", device, target);
}

struct counts counts_read(const char *device)
{
	return (struct counts){
		.frames = of_ports(device, "tx_frames"),
		/* A SNIC counts by port, a G2G IO die for all. */
		.retransmitted = of_ports(device, "retransmitted") +
				 sysfs_number("%s/counters/retransmitted", device),
		.dma_peer = payload(device, "peer"),
		.dma_system = payload(device, "system"),
		.doorbells = sysfs_number("%s/diag/db_accepted", device),
	};
}

struct counts counts_minus(struct counts a, struct counts b)
{
	return (struct counts){
		.frames = a.frames - b.frames,
		.retransmitted = a.retransmitted - b.retransmitted,
		.dma_peer = a.dma_peer - b.dma_peer,
		.dma_system = a.dma_system - b.dma_system,
		.doorbells = a.doorbells - b.doorbells,
	};
}

struct counts counts_plus(struct counts a, struct counts b)
{
	return (struct counts){
		.frames = a.frames + b.frames,
		.retransmitted = a.retransmitted + b.retransmitted,
		.dma_peer = a.dma_peer + b.dma_peer,
		.dma_system = a.dma_system + b.dma_system,
		.doorbells = a.doorbells + b.doorbells,
	};
}
