// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <linux/string.h>

#include "fake_snic.h"

static struct fake_snic *to_snic(struct kiwi_fw *fw)
{
	return container_of(fw, struct fake_snic, fw);
}

static u16 fake_execute(struct kiwi_fw *fw, u16 opcode, const void *in, void *out)
{
	switch (opcode) {
	case KIWI_OP_QUERY_CAPS:
		memcpy(out, &to_snic(fw)->caps, sizeof(to_snic(fw)->caps));
		return KIWI_ST_OK;
	case KIWI_SNIC_OP_QUERY_PORT:
		memcpy(out, &to_snic(fw)->port, sizeof(to_snic(fw)->port));
		return KIWI_ST_OK;
	case KIWI_SNIC_OP_QUERY_PORT_COUNTERS:
		memset(out, 0x11, sizeof(struct kiwi_snic_port_counters));
		return KIWI_ST_OK;
	case KIWI_SNIC_OP_SET_PORT:
	case KIWI_SNIC_OP_SET_GID:
		return KIWI_ST_OK;
	default:
		return fake_queues_execute(fw, opcode, in, out);
	}
}

u32 kiwi_fw_db_left(struct kiwi_fw *fw)
{
	return fw->identity.db_pages;
}

/* No path leads from a fake: PREFLIGHT is tested where there is a bus. */
bool kiwi_fw_is_translated(const struct kiwi_fw *fw)
{
	return false;
}

int kiwi_fw_route_to(struct kiwi_fw *fw, int fd, struct kiwi_fw_route *route)
{
	return -EBADF;
}

/* Model ---------------------------------------------------------------------------------- */

static const struct fake_model model = {
	.execute = fake_execute,
	.forget = fake_queues_forget,
	.live = fake_queues_live,
	.reaches = fake_queues_reaches,
};

void fake_snic_init(struct fake_snic *snic)
{
	fake_fw_init(&snic->fw, &model);
	fake_queues_init(&snic->fw, &snic->queues);
	snic->caps = fake_queues_caps;
	snic->caps.ports = 2;
	snic->caps.gids = 4;
	snic->caps.link_mbps = cpu_to_le32(800000);
	snic->port = (struct kiwi_snic_port) {
		.state = KIWI_PORT_ACTIVE,
		.enabled = 1,
		.mtu = KIWI_MTU_2048,
		.mtu_max = KIWI_MTU_4096,
		.mbps = cpu_to_le32(400000),
		.mac = { 0x52, 0x54, 0x00, 0x4b, 0x00, 0x01 },
	};
}
