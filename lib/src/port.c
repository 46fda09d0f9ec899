// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Ports and their addresses. */
#include "priv.h"

int kiwi_query_port(struct kiwi_device *dev, uint32_t port, struct kiwi_snic_query_port *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->port = port;
	return handle_ioctl(&dev->handle, KIWI_SNIC_QUERY_PORT, out);
}

int kiwi_set_port(struct kiwi_device *dev, uint32_t port, int enabled, unsigned int mtu)
{
	struct kiwi_snic_set_port arg = {
		.size = sizeof(arg),
		.port = port,
		.enabled = !!enabled,
		.mtu = (uint8_t)mtu,
	};

	if (mtu > UINT8_MAX)
		return refuse(EINVAL, "%s: MTU code %u, at most %u", dev->handle.name, mtu,
			      KIWI_MTU_4096);
	return handle_ioctl(&dev->handle, KIWI_SNIC_SET_PORT, &arg);
}

static int gid_arg(struct kiwi_device *dev, uint32_t port, unsigned int index,
		   struct kiwi_snic_gid *arg)
{
	if (!dev->info.gids)
		return refuse(ENOTTY, "%s has no GIDs", dev->handle.name);
	if (index >= dev->info.gids)
		return refuse(EINVAL, "%s: GID index %u, below %u", dev->handle.name, index,
			      dev->info.gids);
	memset(arg, 0, sizeof(*arg));
	arg->size = sizeof(*arg);
	arg->port = port;
	arg->index = (uint8_t)index;
	return 0;
}

int kiwi_query_gid(struct kiwi_device *dev, uint32_t port, unsigned int index,
		   struct kiwi_snic_gid *out)
{
	int rc = gid_arg(dev, port, index, out);

	return rc ? rc : handle_ioctl(&dev->handle, KIWI_SNIC_QUERY_GID, out);
}

int kiwi_set_gid(struct kiwi_device *dev, uint32_t port, unsigned int index, const uint8_t *gid)
{
	struct kiwi_snic_gid arg;
	int rc = gid_arg(dev, port, index, &arg);

	if (rc)
		return rc;
	if (gid) {
		arg.type = KIWI_GID_ROCE_V2;
		memcpy(arg.gid, gid, sizeof(arg.gid));
	}
	return handle_ioctl(&dev->handle, KIWI_SNIC_SET_GID, &arg);
}

int kiwi_gid_to_mac(const uint8_t gid[16], uint8_t mac[6])
{
	static const uint8_t prefix[8] = { 0xfe, 0x80 };

	/* RFC 4291, appendix A: ff:fe in the middle, the local bit turned over. */
	if (memcmp(gid, prefix, sizeof(prefix)) || gid[11] != 0xff || gid[12] != 0xfe)
		return refuse(EINVAL, "the GID holds no MAC address");
	memcpy(mac, gid + 8, 3);
	memcpy(mac + 3, gid + 13, 3);
	mac[0] ^= 0x02;
	return 0;
}

unsigned int kiwi_mtu_bytes(unsigned int code)
{
	return code >= KIWI_MTU_256 && code <= KIWI_MTU_4096 ? 128U << code : 0;
}

unsigned int kiwi_mtu_code(unsigned int bytes)
{
	unsigned int code;

	for (code = KIWI_MTU_256; code <= KIWI_MTU_4096; code++)
		if (kiwi_mtu_bytes(code) == bytes)
			return code;
	return 0;
}
