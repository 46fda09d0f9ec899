// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/etherdevice.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include <kiwi/queues.h>

#include "fw_cmd.h"

#define FIELD(_type, _member) KIWI_CMD_FIELD(_type, _member)

static const struct kiwi_cmd_field port_fields[] = {
	{ "port", offsetof(struct kiwi_cmd_id, id) },
	{ }
};

static const struct kiwi_cmd_field set_port_fields[] = {
	FIELD(kiwi_snic_set_port_in, port),
	FIELD(kiwi_snic_set_port_in, enabled),
	FIELD(kiwi_snic_set_port_in, mtu),
	FIELD(kiwi_snic_set_port_in, rsvd),
	{ }
};

static const struct kiwi_cmd_field set_gid_fields[] = {
	FIELD(kiwi_snic_set_gid_in, port),
	FIELD(kiwi_snic_set_gid_in, index),
	FIELD(kiwi_snic_set_gid_in, type),
	FIELD(kiwi_snic_set_gid_in, rsvd),
	FIELD(kiwi_snic_set_gid_in, gid),
	{ }
};

#define EMPTY	0

#define SNIC_CMD(_name, _in_len, _out_len, _fields)		\
	KIWI_CMD(KIWI_SNIC_OP_##_name, #_name, _in_len, _out_len, _fields)

static const struct kiwi_cmd query_caps =
	KIWI_CMD(KIWI_OP_QUERY_CAPS, "QUERY_CAPS", EMPTY, sizeof(struct kiwi_snic_caps), NULL);

static const struct kiwi_cmd query_port =
	SNIC_CMD(QUERY_PORT, sizeof(struct kiwi_cmd_id), sizeof(struct kiwi_snic_port),
		 port_fields);
static const struct kiwi_cmd set_port =
	SNIC_CMD(SET_PORT, sizeof(struct kiwi_snic_set_port_in), EMPTY, set_port_fields);
static const struct kiwi_cmd set_gid =
	SNIC_CMD(SET_GID, sizeof(struct kiwi_snic_set_gid_in), EMPTY, set_gid_fields);
static const struct kiwi_cmd query_port_counters =
	SNIC_CMD(QUERY_PORT_COUNTERS, sizeof(struct kiwi_cmd_id),
		 sizeof(struct kiwi_snic_port_counters), port_fields);

int ksnic_cmd_query_caps(struct kiwi_fw *fw, struct kiwi_queue_caps *caps, struct kiwi_error *err)
{
	struct kiwi_snic_caps out;
	int ret;

	ret = kiwi_cmd_exec(fw, &query_caps, NULL, &out, err);
	return ret ?: kiwi_queue_caps_parse(&out, caps, err);
}

int ksnic_cmd_query_port(struct kiwi_fw *fw, u32 port, struct ksnic_port_info *info,
			 struct kiwi_error *err)
{
	struct kiwi_snic_port out;
	int ret;

	ret = kiwi_cmd_exec_id(fw, &query_port, port, &out, err);
	if (ret)
		return ret;
	if (out.state != KIWI_PORT_DOWN && out.state != KIWI_PORT_ACTIVE)
		return kiwi_cmd_bad_reply(&query_port, "state", out.state, err);
	if (out.enabled > 1)
		return kiwi_cmd_bad_reply(&query_port, "enabled", out.enabled, err);
	if (out.mtu_max < KIWI_MTU_256 || out.mtu_max > KIWI_MTU_4096)
		return kiwi_cmd_bad_reply(&query_port, "mtu_max", out.mtu_max, err);
	if (out.mtu < KIWI_MTU_256 || out.mtu > out.mtu_max)
		return kiwi_cmd_bad_reply(&query_port, "mtu", out.mtu, err);
	if (!is_valid_ether_addr(out.mac))
		return kiwi_cmd_bad_reply(&query_port, "mac", ether_addr_to_u64(out.mac), err);

	info->mbps = le32_to_cpu(out.mbps);
	info->state = out.state;
	info->enabled = out.enabled;
	info->mtu = out.mtu;
	info->mtu_max = out.mtu_max;
	ether_addr_copy(info->mac, out.mac);
	return 0;
}

int ksnic_cmd_set_port(struct kiwi_fw *fw, u32 port, u8 enabled, u8 mtu,
		       struct kiwi_error *err)
{
	struct kiwi_snic_set_port_in in = {
		.port = cpu_to_le32(port),
		.enabled = enabled,
		.mtu = mtu,
	};

	return kiwi_cmd_exec(fw, &set_port, &in, NULL, err);
}

int ksnic_cmd_set_gid(struct kiwi_fw *fw, u32 port, u8 index, u8 type, const u8 gid[16],
		      struct kiwi_error *err)
{
	struct kiwi_snic_set_gid_in in = {
		.port = cpu_to_le32(port),
		.index = index,
		.type = type,
	};

	memcpy(in.gid, gid, sizeof(in.gid));
	return kiwi_cmd_exec(fw, &set_gid, &in, NULL, err);
}

int ksnic_cmd_query_port_counters(struct kiwi_fw *fw, u32 port,
				  struct kiwi_snic_port_counters *counters,
				  struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &query_port_counters, port, counters, err);
}
