// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/string.h>

#include <kiwi/fw.h>
#include <kiwi/queues.h>

#include "fw_cmd.h"

#define FIELD(_type, _member) KIWI_CMD_FIELD(_type, _member)

static const struct kiwi_cmd_field port_fields[] = {
	{ "port", offsetof(struct kiwi_cmd_id, id) },
	{ }
};

static const struct kiwi_cmd_field number_fields[] = {
	{ "number", offsetof(struct kiwi_cmd_id, id) },
	{ }
};

static const struct kiwi_cmd_field slot_fields[] = {
	{ "slot", offsetof(struct kiwi_cmd_id, id) },
	{ }
};

static const struct kiwi_cmd_field accel_fields[] = {
	{ "accel", offsetof(struct kiwi_cmd_id, id) },
	{ }
};

static const struct kiwi_cmd_field generation_fields[] = {
	{ "generation", offsetof(struct kiwi_cmd_id, id) },
	{ }
};

static const struct kiwi_cmd_field set_fabric_fields[] = {
	FIELD(kiwi_g2g_set_fabric_in, pod),
	FIELD(kiwi_g2g_set_fabric_in, accel),
	FIELD(kiwi_g2g_set_fabric_in, partition),
	FIELD(kiwi_g2g_set_fabric_in, epoch),
	{ }
};

static const struct kiwi_cmd_field set_port_fields[] = {
	FIELD(kiwi_g2g_set_port_in, port),
	FIELD(kiwi_g2g_set_port_in, config.flags),
	FIELD(kiwi_g2g_set_port_in, config.mode),
	FIELD(kiwi_g2g_set_port_in, config.lanes),
	FIELD(kiwi_g2g_set_port_in, config.fec),
	FIELD(kiwi_g2g_set_port_in, config.flow),
	FIELD(kiwi_g2g_set_port_in, config.rsvd),
	FIELD(kiwi_g2g_set_port_in, config.mtu),
	{ }
};

static const struct kiwi_cmd_field stage_routes_fields[] = {
	FIELD(kiwi_g2g_stage_routes_in, first),
	FIELD(kiwi_g2g_stage_routes_in, count),
	FIELD(kiwi_g2g_stage_routes_in, flags),
	{ }
};

static const struct kiwi_cmd_field query_routes_fields[] = {
	FIELD(kiwi_g2g_query_routes_in, first),
	FIELD(kiwi_g2g_query_routes_in, table),
	{ }
};

static const struct kiwi_cmd_field begin_image_fields[] = {
	FIELD(kiwi_g2g_begin_image_in, slot),
	FIELD(kiwi_g2g_begin_image_in, length),
	{ }
};

static const struct kiwi_cmd_field write_image_fields[] = {
	FIELD(kiwi_g2g_write_image_in, slot),
	FIELD(kiwi_g2g_write_image_in, offset),
	FIELD(kiwi_g2g_write_image_in, len),
	FIELD(kiwi_g2g_write_image_in, addr),
	{ }
};

static const struct kiwi_cmd_field create_export_fields[] = {
	FIELD(kiwi_g2g_create_export_in, handle),
	FIELD(kiwi_g2g_create_export_in, length),
	FIELD(kiwi_g2g_create_export_in, rights),
	FIELD(kiwi_g2g_create_export_in, grantees),
	FIELD(kiwi_g2g_create_export_in, pbl.count),
	FIELD(kiwi_g2g_create_export_in, pbl.page_shift),
	FIELD(kiwi_g2g_create_export_in, pbl.levels),
	FIELD(kiwi_g2g_create_export_in, pbl.table_shift),
	FIELD(kiwi_g2g_create_export_in, pbl.offset),
	{ }
};

static const struct kiwi_cmd_field bind_window_fields[] = {
	FIELD(kiwi_g2g_bind_window_in, handle),
	FIELD(kiwi_g2g_bind_window_in, rights),
	FIELD(kiwi_g2g_bind_window_in, accel),
	{ }
};

static const struct kiwi_cmd_field map_window_fields[] = {
	FIELD(kiwi_g2g_map_window_in, window),
	FIELD(kiwi_g2g_map_window_in, offset),
	FIELD(kiwi_g2g_map_window_in, export_offset),
	FIELD(kiwi_g2g_map_window_in, length),
	{ }
};

#define EMPTY	0
#define ID	sizeof(struct kiwi_cmd_id)
#define SIZE(_type)	sizeof(struct kiwi_g2g_##_type)
#define G2G_CMD(_name, _in_len, _out_len, _fields)		\
	KIWI_CMD(KIWI_G2G_OP_##_name, #_name, _in_len, _out_len, _fields)

static const struct kiwi_cmd query_caps =
	KIWI_CMD(KIWI_OP_QUERY_CAPS, "QUERY_CAPS", EMPTY, SIZE(caps), NULL);

static const struct kiwi_cmd set_fabric =
	G2G_CMD(SET_FABRIC, SIZE(set_fabric_in), EMPTY, set_fabric_fields);
static const struct kiwi_cmd query_fabric = G2G_CMD(QUERY_FABRIC, EMPTY, SIZE(fabric), NULL);
static const struct kiwi_cmd activate = G2G_CMD(ACTIVATE, EMPTY, EMPTY, NULL);
static const struct kiwi_cmd deactivate = G2G_CMD(DEACTIVATE, EMPTY, EMPTY, NULL);
static const struct kiwi_cmd pause = G2G_CMD(PAUSE, EMPTY, EMPTY, NULL);
static const struct kiwi_cmd resume = G2G_CMD(RESUME, EMPTY, EMPTY, NULL);

static const struct kiwi_cmd set_port =
	G2G_CMD(SET_PORT, SIZE(set_port_in), EMPTY, set_port_fields);
static const struct kiwi_cmd query_port = G2G_CMD(QUERY_PORT, ID, SIZE(port), port_fields);
static const struct kiwi_cmd query_port_counters =
	G2G_CMD(QUERY_PORT_COUNTERS, ID, SIZE(port_counters), port_fields);
static const struct kiwi_cmd query_counters = G2G_CMD(QUERY_COUNTERS, EMPTY, SIZE(counters), NULL);
static const struct kiwi_cmd read_log = G2G_CMD(READ_LOG, EMPTY, SIZE(log), NULL);

static const struct kiwi_cmd stage_routes =
	G2G_CMD(STAGE_ROUTES, SIZE(stage_routes_in), EMPTY, stage_routes_fields);
static const struct kiwi_cmd commit_routes = G2G_CMD(COMMIT_ROUTES, ID, ID, generation_fields);
static const struct kiwi_cmd rollback_routes = G2G_CMD(ROLLBACK_ROUTES, ID, ID, generation_fields);
static const struct kiwi_cmd query_routes =
	G2G_CMD(QUERY_ROUTES, SIZE(query_routes_in), SIZE(query_routes_out), query_routes_fields);

static const struct kiwi_cmd begin_image =
	G2G_CMD(BEGIN_IMAGE, SIZE(begin_image_in), EMPTY, begin_image_fields);
static const struct kiwi_cmd write_image =
	G2G_CMD(WRITE_IMAGE, SIZE(write_image_in), EMPTY, write_image_fields);
static const struct kiwi_cmd verify_image = G2G_CMD(VERIFY_IMAGE, ID, EMPTY, slot_fields);
static const struct kiwi_cmd activate_image = G2G_CMD(ACTIVATE_IMAGE, ID, EMPTY, slot_fields);
static const struct kiwi_cmd query_image = G2G_CMD(QUERY_IMAGE, ID, SIZE(slot), slot_fields);

static const struct kiwi_cmd create_export =
	G2G_CMD(CREATE_EXPORT, SIZE(create_export_in), ID, create_export_fields);
static const struct kiwi_cmd revoke_export = G2G_CMD(REVOKE_EXPORT, ID, EMPTY, number_fields);
static const struct kiwi_cmd destroy_export = G2G_CMD(DESTROY_EXPORT, ID, EMPTY, number_fields);
static const struct kiwi_cmd query_export = G2G_CMD(QUERY_EXPORT, ID, SIZE(export), number_fields);

static const struct kiwi_cmd bind_window =
	G2G_CMD(BIND_WINDOW, SIZE(bind_window_in), ID, bind_window_fields);
static const struct kiwi_cmd map_window =
	G2G_CMD(MAP_WINDOW, SIZE(map_window_in), EMPTY, map_window_fields);
static const struct kiwi_cmd unbind_window = G2G_CMD(UNBIND_WINDOW, ID, EMPTY, number_fields);
static const struct kiwi_cmd query_window = G2G_CMD(QUERY_WINDOW, ID, SIZE(window), number_fields);

static const struct kiwi_cmd query_peer = G2G_CMD(QUERY_PEER, ID, SIZE(peer), accel_fields);
static const struct kiwi_cmd isolate_peer = G2G_CMD(ISOLATE_PEER, ID, EMPTY, accel_fields);
static const struct kiwi_cmd recover_peer = G2G_CMD(RECOVER_PEER, ID, EMPTY, accel_fields);

/* Replies ---------------------------------------------------------------------- */

/**
 * struct reply_field - a field of a reply and what it may be
 * @name: for people
 * @value: it has
 * @min: it may have
 * @max: likewise
 */
struct reply_field {
	const char *name;
	u64 value;
	u64 min;
	u64 max;
};

static int check_reply(const struct kiwi_cmd *cmd, const struct reply_field *fields,
		       unsigned int nr, struct kiwi_error *err)
{
	const struct reply_field *f;

	for (f = fields; f < fields + nr; f++) {
		if (f->value < f->min || f->value > f->max)
			return kiwi_cmd_bad_reply(cmd, f->name, f->value, err);
	}
	return 0;
}

/* Capabilities ------------------------------------------------------------------- */

int kg2g_cmd_query_caps(struct kiwi_fw *fw, const struct kg2g_caps_frame *frame,
			struct kg2g_caps *caps, struct kiwi_queue_caps *queues,
			struct kiwi_error *err)
{
	struct kiwi_g2g_caps out;
	int ret;

	ret = kiwi_cmd_exec(fw, &query_caps, NULL, &out, err);
	if (!ret)
		ret = kg2g_caps_parse(&out, frame, caps, err);
	if (ret)
		return ret;
	if (!(frame->caps & KIWI_G2G_CAP_MSGQ)) {
		memset(queues, 0, sizeof(*queues));
		return 0;
	}
	ret = kiwi_queue_caps_parse(&out.queue, queues, err);
	if (!ret && queues->ports != 1)
		ret = kiwi_cmd_bad_reply(&query_caps, "queue.ports", queues->ports, err);
	if (!ret && queues->gids != 1)
		ret = kiwi_cmd_bad_reply(&query_caps, "queue.gids", queues->gids, err);
	return ret;
}

/* Fabric ------------------------------------------------------------------------ */

int kg2g_cmd_set_fabric(struct kiwi_fw *fw, const struct kiwi_g2g_set_fabric_in *in,
			struct kiwi_error *err)
{
	return kiwi_cmd_exec(fw, &set_fabric, in, NULL, err);
}

static int check_query_fabric(const struct kiwi_g2g_fabric *fabric, struct kiwi_error *err)
{
	const struct reply_field fields[] = {
		{ "state", fabric->state, 0, KIWI_G2G_FABRIC_STATE_COUNT - 1 },
		{ "reason", fabric->reason, 0, KIWI_G2G_WHY_COUNT - 1 },
		{ "slot", fabric->slot, 0, 1 },
		{ "paused", fabric->paused, 0, 1 },
		{ "accel", le16_to_cpu(fabric->config.accel), 0, KIWI_G2G_ACCELS_MAX - 1 },
		{ "partition", le16_to_cpu(fabric->config.partition), 0, KIWI_G2G_PARTITION_MAX },
		{ "msg_mtu", fabric->msg_mtu, 0, KIWI_MTU_4096 },
	};

	return check_reply(&query_fabric, fields, ARRAY_SIZE(fields), err);
}

int kg2g_cmd_query_fabric(struct kiwi_fw *fw, struct kiwi_g2g_fabric *fabric,
			  struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_exec(fw, &query_fabric, NULL, fabric, err);
	return ret ?: check_query_fabric(fabric, err);
}

int kg2g_cmd_activate(struct kiwi_fw *fw, struct kiwi_error *err)
{
	return kiwi_cmd_exec(fw, &activate, NULL, NULL, err);
}

int kg2g_cmd_deactivate(struct kiwi_fw *fw, struct kiwi_error *err)
{
	return kiwi_cmd_exec(fw, &deactivate, NULL, NULL, err);
}

int kg2g_cmd_pause(struct kiwi_fw *fw, struct kiwi_error *err)
{
	return kiwi_cmd_exec(fw, &pause, NULL, NULL, err);
}

int kg2g_cmd_resume(struct kiwi_fw *fw, struct kiwi_error *err)
{
	return kiwi_cmd_exec(fw, &resume, NULL, NULL, err);
}

/* Ports ------------------------------------------------------------------------- */

int kg2g_cmd_set_port(struct kiwi_fw *fw, u32 port, const struct kiwi_g2g_port_config *config,
		      struct kiwi_error *err)
{
	const struct kiwi_g2g_set_port_in in = {
		.port = cpu_to_le32(port),
		.config = *config,
	};

	return kiwi_cmd_exec(fw, &set_port, &in, NULL, err);
}

static int check_neighbour(const struct kiwi_g2g_port *info, struct kiwi_error *err)
{
	const struct reply_field fields[] = {
		{ "neighbour", le16_to_cpu(info->neighbour), 0, KIWI_G2G_ACCELS_MAX - 1 },
		{ "neighbour_port", info->neighbour_port, 0, KIWI_G2G_PORTS_MAX - 1 },
	};

	if (info->neighbour == cpu_to_le16(KIWI_G2G_ACCEL_NONE))
		return 0;
	return check_reply(&query_port, fields, ARRAY_SIZE(fields), err);
}

static int check_port(const struct kiwi_g2g_port *info, struct kiwi_error *err)
{
	const struct reply_field fields[] = {
		{ "state", info->state, 0, KIWI_G2G_PORT_STATE_COUNT - 1 },
		{ "reason", info->reason, 0, KIWI_G2G_WHY_COUNT - 1 },
		{ "station", info->station, 0, 7 },
		{ "mode", info->config.mode, KIWI_G2G_PORT_DIRECT, KIWI_G2G_PORT_SWITCHED },
		{ "fec", info->config.fec, 0, KIWI_G2G_FEC_RS272 },
		{ "flow", info->config.flow, 0, KIWI_G2G_FLOW_CBFC },
	};

	return check_reply(&query_port, fields, ARRAY_SIZE(fields), err) ?:
	       check_neighbour(info, err);
}

int kg2g_cmd_query_port(struct kiwi_fw *fw, u32 port, struct kiwi_g2g_port *info,
			struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_exec_id(fw, &query_port, port, info, err);
	return ret ?: check_port(info, err);
}

int kg2g_cmd_query_port_counters(struct kiwi_fw *fw, u32 port,
				 struct kiwi_g2g_port_counters *counters, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &query_port_counters, port, counters, err);
}

int kg2g_cmd_query_counters(struct kiwi_fw *fw, struct kiwi_g2g_counters *counters,
			    struct kiwi_error *err)
{
	return kiwi_cmd_exec(fw, &query_counters, NULL, counters, err);
}

/* Records are left only behind a full reply, so that a reader comes to an end. */
static int check_log(const struct kiwi_g2g_log *log, struct kiwi_error *err)
{
	const struct reply_field fields[] = {
		{ "count", le32_to_cpu(log->count), log->left ? KIWI_G2G_LOG_READ : 0,
		  KIWI_G2G_LOG_READ },
	};

	return check_reply(&read_log, fields, ARRAY_SIZE(fields), err);
}

int kg2g_cmd_read_log(struct kiwi_fw *fw, struct kiwi_g2g_log *log, struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_exec(fw, &read_log, NULL, log, err);
	return ret ?: check_log(log, err);
}

/* Routes ------------------------------------------------------------------------- */

int kg2g_cmd_stage_routes(struct kiwi_fw *fw, const struct kiwi_g2g_stage_routes_in *in,
			  struct kiwi_error *err)
{
	return kiwi_cmd_exec(fw, &stage_routes, in, NULL, err);
}

static int switch_routes(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, u32 *generation,
			 struct kiwi_error *err)
{
	struct kiwi_cmd_id out;
	int ret;

	ret = kiwi_cmd_exec_id(fw, cmd, *generation, &out, err);
	if (!ret)
		*generation = le32_to_cpu(out.id);
	return ret;
}

int kg2g_cmd_commit_routes(struct kiwi_fw *fw, u32 *generation, struct kiwi_error *err)
{
	return switch_routes(fw, &commit_routes, generation, err);
}

int kg2g_cmd_rollback_routes(struct kiwi_fw *fw, u32 *generation, struct kiwi_error *err)
{
	return switch_routes(fw, &rollback_routes, generation, err);
}

int kg2g_cmd_query_routes(struct kiwi_fw *fw, u8 table, u16 first,
			  struct kiwi_g2g_query_routes_out *out, struct kiwi_error *err)
{
	const struct kiwi_g2g_query_routes_in in = {
		.first = cpu_to_le16(first),
		.table = table,
	};

	return kiwi_cmd_exec(fw, &query_routes, &in, out, err);
}

/* Images ------------------------------------------------------------------------- */

int kg2g_cmd_begin_image(struct kiwi_fw *fw, u32 slot, u32 length, struct kiwi_error *err)
{
	const struct kiwi_g2g_begin_image_in in = {
		.slot = cpu_to_le32(slot),
		.length = cpu_to_le32(length),
	};

	return kiwi_cmd_exec(fw, &begin_image, &in, NULL, err);
}

int kg2g_cmd_write_image(struct kiwi_fw *fw, u32 slot, u32 offset, u32 len, u64 addr,
			 struct kiwi_error *err)
{
	const struct kiwi_g2g_write_image_in in = {
		.slot = cpu_to_le32(slot),
		.offset = cpu_to_le32(offset),
		.len = cpu_to_le32(len),
		.addr = cpu_to_le64(addr),
	};

	return kiwi_cmd_exec(fw, &write_image, &in, NULL, err);
}

int kg2g_cmd_verify_image(struct kiwi_fw *fw, u32 slot, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &verify_image, slot, NULL, err);
}

int kg2g_cmd_activate_image(struct kiwi_fw *fw, u32 slot, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &activate_image, slot, NULL, err);
}

static int check_query_image(const struct kiwi_g2g_slot *out, struct kiwi_error *err)
{
	const struct reply_field fields[] = {
		{ "state", out->state, 0, KIWI_G2G_SLOT_STATE_COUNT - 1 },
		{ "error", out->error, 0, KIWI_G2G_IMAGE_FOREIGN },
		{ "active", out->active, 0, 1 },
		{ "name", out->image.name[sizeof(out->image.name) - 1], 0, 0 },
		{ "id_bits", out->image.id_bits, 0, 10 },
		{ "addr_bits", out->image.addr_bits, 0, 63 },
	};

	return check_reply(&query_image, fields, ARRAY_SIZE(fields), err);
}

int kg2g_cmd_query_image(struct kiwi_fw *fw, u32 slot, struct kiwi_g2g_slot *out,
			 struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_exec_id(fw, &query_image, slot, out, err);
	return ret ?: check_query_image(out, err);
}

/* Exports ------------------------------------------------------------------------ */

static int make_object(struct kiwi_fw *fw, const struct kiwi_cmd *cmd, const void *in, u32 max,
		       u32 *number, struct kiwi_error *err)
{
	struct kiwi_cmd_id out;
	int ret;

	ret = kiwi_cmd_exec(fw, cmd, in, &out, err);
	if (ret)
		return ret;
	*number = le32_to_cpu(out.id);
	return *number && *number <= max ? 0 :
	       kiwi_cmd_bad_number(fw, cmd, "number", *number, err);
}

int kg2g_cmd_create_export(struct kiwi_fw *fw, const struct kiwi_g2g_create_export_in *in,
			   u32 *number, struct kiwi_error *err)
{
	return make_object(fw, &create_export, in, KIWI_SNIC_NUMBER_MAX, number, err);
}

int kg2g_cmd_revoke_export(struct kiwi_fw *fw, u32 number, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &revoke_export, number, NULL, err);
}

int kg2g_cmd_destroy_export(struct kiwi_fw *fw, u32 number, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &destroy_export, number, NULL, err);
}

static int check_query_export(const struct kiwi_g2g_export *out, struct kiwi_error *err)
{
	const struct reply_field fields[] = {
		{ "state", out->state, KIWI_G2G_EXPORT_LIVE, KIWI_G2G_EXPORT_STATE_COUNT - 1 },
	};

	return check_reply(&query_export, fields, ARRAY_SIZE(fields), err);
}

int kg2g_cmd_query_export(struct kiwi_fw *fw, u32 number, struct kiwi_g2g_export *out,
			  struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_exec_id(fw, &query_export, number, out, err);
	return ret ?: check_query_export(out, err);
}

/* Windows ------------------------------------------------------------------------ */

int kg2g_cmd_bind_window(struct kiwi_fw *fw, const struct kiwi_g2g_bind_window_in *in,
			 u32 max_window, u32 *number, struct kiwi_error *err)
{
	return make_object(fw, &bind_window, in, max_window, number, err);
}

int kg2g_cmd_map_window(struct kiwi_fw *fw, u32 number, u64 offset, u64 export_offset, u64 length,
			struct kiwi_error *err)
{
	const struct kiwi_g2g_map_window_in in = {
		.window = cpu_to_le32(number),
		.offset = cpu_to_le64(offset),
		.export_offset = cpu_to_le64(export_offset),
		.length = cpu_to_le64(length),
	};

	return kiwi_cmd_exec(fw, &map_window, &in, NULL, err);
}

int kg2g_cmd_unbind_window(struct kiwi_fw *fw, u32 number, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &unbind_window, number, NULL, err);
}

static int check_query_window(const struct kiwi_g2g_window *out, struct kiwi_error *err)
{
	const struct reply_field fields[] = {
		{ "state", out->state, KIWI_G2G_WINDOW_BINDING, KIWI_G2G_WINDOW_STATE_COUNT - 1 },
		{ "reason", out->reason, 0, KIWI_G2G_WHY_COUNT - 1 },
		{ "accel", le16_to_cpu(out->accel), 0, KIWI_G2G_ACCELS_MAX - 1 },
		{ "rights", le32_to_cpu(out->rights), 0, KIWI_G2G_RIGHTS },
	};

	return check_reply(&query_window, fields, ARRAY_SIZE(fields), err);
}

int kg2g_cmd_query_window(struct kiwi_fw *fw, u32 number, struct kiwi_g2g_window *out,
			  struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_exec_id(fw, &query_window, number, out, err);
	return ret ?: check_query_window(out, err);
}

/* Peers -------------------------------------------------------------------------- */

static int check_query_peer(const struct kiwi_g2g_peer *out, u16 accel, struct kiwi_error *err)
{
	const struct reply_field fields[] = {
		{ "accel", le16_to_cpu(out->accel), accel, accel },
		{ "state", out->state, 0, KIWI_G2G_PEER_STATE_COUNT - 1 },
		{ "reason", out->reason, 0, KIWI_G2G_WHY_COUNT - 1 },
	};

	return check_reply(&query_peer, fields, ARRAY_SIZE(fields), err);
}

int kg2g_cmd_query_peer(struct kiwi_fw *fw, u16 accel, struct kiwi_g2g_peer *out,
			struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_exec_id(fw, &query_peer, accel, out, err);
	return ret ?: check_query_peer(out, accel, err);
}

int kg2g_cmd_isolate_peer(struct kiwi_fw *fw, u16 accel, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &isolate_peer, accel, NULL, err);
}

int kg2g_cmd_recover_peer(struct kiwi_fw *fw, u16 accel, struct kiwi_error *err)
{
	return kiwi_cmd_exec_id(fw, &recover_peer, accel, NULL, err);
}
