// SPDX-License-Identifier: GPL-2.0
/* Fabric, ports and peers: configuration and state. */
#include <linux/errno.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>
#include <linux/string.h>

#include "kg2g.h"

/* What the device may be late with its promise to drain, or end a pause. */
#define DRAIN_SLACK_MS	1000

/**
 * kg2g_name_holders() - to a refusal because of live objects, add who has them
 * @kg: the device
 * @ret: negative errno, or 0
 * @err: of @ret
 *
 * Return: @ret
 */
int kg2g_name_holders(struct kg2g *kg, int ret, struct kiwi_error *err)
{
	size_t len = strlen(err->text);
	char names[sizeof(err->text)];

	if (ret != -EBUSY || !kiwi_files_holders(&kg->part, names, sizeof(names)))
		return ret;
	strreplace(names, '\n', ',');
	names[strlen(names) - 1] = '\0';
	scnprintf(err->text + len, sizeof(err->text) - len, "; held by %s", names);
	return ret;
}

/* Fabric ------------------------------------------------------------------------ */

int kg2g_fabric_set(struct kg2g *kg, const struct kiwi_g2g_fabric_set *set,
		    struct kiwi_error *err)
{
	struct kiwi_g2g_set_fabric_in in = {
		.accel = cpu_to_le16(set->accel),
		.partition = cpu_to_le16(set->partition),
		.epoch = cpu_to_le32(set->epoch),
	};
	int ret;

	memcpy(in.pod, set->pod, sizeof(in.pod));
	mutex_lock(&kg->admin);
	ret = kg2g_cmd_set_fabric(kg->part.fw, &in, err);
	mutex_unlock(&kg->admin);
	return kg2g_name_holders(kg, ret, err);
}

/* The end of the pause before, which nobody may have waited for, is not the end of this one. */
static void begin_pause(struct kg2g *kg)
{
	kiwi_fw_sync_events(kg->part.fw);
	spin_lock(&kg->part.event_lock);
	kg->paused = 0;
	spin_unlock(&kg->part.event_lock);
}

/* A pause that ends any other way than drained has ended by itself, or with the device. */
static int wait_drained(struct kg2g *kg, struct kiwi_error *err)
{
	unsigned long limit = msecs_to_jiffies(kg->caps.pause_ms + DRAIN_SLACK_MS);
	long left;

	left = wait_event_killable_timeout(kg->part.wait, READ_ONCE(kg->paused) ||
					   !READ_ONCE(kg->part.up), limit);
	if (left < 0)
		return kiwi_fail_plain(err, left);
	if (!READ_ONCE(kg->part.up))
		return kiwi_fail_plain(err, READ_ONCE(kg->part.down_errno));
	if (READ_ONCE(kg->paused) == KIWI_G2G_PAUSE_DRAINED)
		return 0;
	return kiwi_fail(err, -ETIME, kg->caps.pause_ms, kg->caps.pause_ms,
			 "the fabric did not drain in %llu ms (pause_ms)", kg->caps.pause_ms);
}

/**
 * kg2g_drain() - pause the die until nothing of it is in flight
 * @kg: the device
 * @err: filled on failure
 *
 * Return: 0 and the die is paused; negative errno and it is not
 */
int kg2g_drain(struct kg2g *kg, struct kiwi_error *err)
{
	struct kiwi_error ignored;
	int ret;

	lockdep_assert_held(&kg->admin);

	begin_pause(kg);
	ret = kg2g_cmd_pause(kg->part.fw, err);
	if (ret)
		return ret;
	ret = wait_drained(kg, err);
	if (ret)
		kg2g_cmd_resume(kg->part.fw, &ignored);
	return ret;
}

int kg2g_fabric_change(struct kg2g *kg, u32 op, struct kiwi_error *err)
{
	int ret;

	mutex_lock(&kg->admin);
	switch (op) {
	case KIWI_G2G_FABRIC_DO_ACTIVATE:
		ret = kg2g_cmd_activate(kg->part.fw, err);
		break;
	case KIWI_G2G_FABRIC_DO_DEACTIVATE:
		ret = kg2g_cmd_deactivate(kg->part.fw, err);
		break;
	case KIWI_G2G_FABRIC_DO_PAUSE:
		ret = kg2g_drain(kg, err);
		break;
	case KIWI_G2G_FABRIC_DO_RESUME:
		ret = kg2g_cmd_resume(kg->part.fw, err);
		break;
	default:
		ret = kiwi_fail(err, -EINVAL, op, KIWI_G2G_FABRIC_DO_RESUME, "op %u is unknown",
				op);
	}
	mutex_unlock(&kg->admin);
	return kg2g_name_holders(kg, ret, err);
}

int kg2g_fabric_query(struct kg2g *kg, struct kiwi_g2g_fabric_query *q, struct kiwi_error *err)
{
	struct kiwi_g2g_fabric f;
	int ret;

	ret = kg2g_cmd_query_fabric(kg->part.fw, &f, err);
	if (ret)
		return ret;
	*q = (struct kiwi_g2g_fabric_query) {
		.size = q->size,
		.epoch = le32_to_cpu(f.config.epoch),
		.accel = le16_to_cpu(f.config.accel),
		.partition = le16_to_cpu(f.config.partition),
		.state = f.state,
		.reason = f.reason,
		.slot = f.slot,
		.paused = f.paused,
		.routes = le32_to_cpu(f.routes),
		.ports_up = le32_to_cpu(f.ports_up),
		.ports_routable = le32_to_cpu(f.ports_routable),
		.peers = le32_to_cpu(f.peers),
		.msg_mtu = f.msg_mtu,
	};
	memcpy(q->pod, f.config.pod, sizeof(q->pod));
	return 0;
}

/* Ports ------------------------------------------------------------------------- */

int kg2g_port_check(const struct kg2g *kg, u32 port, struct kiwi_error *err)
{
	if (port < kg->caps.ports)
		return 0;
	return kiwi_fail(err, -EINVAL, port, kg->caps.ports - 1, "port %u is not in 0..%llu", port,
			 kg->caps.ports - 1);
}

int kg2g_port_set(struct kg2g *kg, const struct kiwi_g2g_port_set *set, struct kiwi_error *err)
{
	const struct kiwi_g2g_port_config config = {
		.flags = set->config,
		.mode = set->mode,
		.lanes = set->lanes,
		.fec = set->fec,
		.flow = set->flow,
		.mtu = cpu_to_le16(set->mtu),
	};
	int ret;

	ret = kg2g_port_check(kg, set->port, err);
	if (ret)
		return ret;
	mutex_lock(&kg->admin);
	ret = kg2g_cmd_set_port(kg->part.fw, set->port, &config, err);
	mutex_unlock(&kg->admin);
	return kg2g_name_holders(kg, ret, err);
}

int kg2g_port_query(struct kg2g *kg, struct kiwi_g2g_port_query *q, struct kiwi_error *err)
{
	struct kiwi_g2g_port p;
	int ret;

	ret = kg2g_port_check(kg, q->port, err);
	if (!ret)
		ret = kg2g_cmd_query_port(kg->part.fw, q->port, &p, err);
	if (ret)
		return ret;
	*q = (struct kiwi_g2g_port_query) {
		.size = q->size,
		.port = q->port,
		.config = p.config.flags,
		.mode = p.config.mode,
		.lanes = p.config.lanes,
		.fec = p.config.fec,
		.flow = p.config.flow,
		.state = p.state,
		.mtu = le16_to_cpu(p.config.mtu),
		.reason = p.reason,
		.station = p.station,
		.mbps = le32_to_cpu(p.mbps),
		.ups = le32_to_cpu(p.ups),
		.neighbour = le16_to_cpu(p.neighbour),
		.neighbour_port = p.neighbour_port,
		.neighbour_image_version = le32_to_cpu(p.neighbour_image_version),
		.neighbour_image_id = le16_to_cpu(p.neighbour_image_id),
	};
	memcpy(q->mac, p.mac, sizeof(q->mac));
	return 0;
}

/* Peers ------------------------------------------------------------------------- */

static int accel_check(const struct kg2g *kg, u16 accel, struct kiwi_error *err)
{
	if (accel < kg->caps.accels)
		return 0;
	return kiwi_fail(err, -EINVAL, accel, kg->caps.accels - 1, "accel %u is not in 0..%llu",
			 accel, kg->caps.accels - 1);
}

int kg2g_peer_query(struct kg2g *kg, struct kiwi_g2g_peer_query *q, struct kiwi_error *err)
{
	struct kiwi_g2g_peer p;
	int ret;

	ret = accel_check(kg, q->accel, err);
	if (!ret)
		ret = kg2g_cmd_query_peer(kg->part.fw, q->accel, &p, err);
	if (ret)
		return ret;
	*q = (struct kiwi_g2g_peer_query) {
		.size = q->size,
		.accel = q->accel,
		.state = p.state,
		.reason = p.reason,
		.generation = le32_to_cpu(p.generation),
		.serial = le64_to_cpu(p.serial),
		.epoch = le32_to_cpu(p.epoch),
		.image_version = le32_to_cpu(p.image_version),
		.image_id = le16_to_cpu(p.image_id),
		.partition = le16_to_cpu(p.partition),
		.bindings = le32_to_cpu(p.bindings),
		.imports = le32_to_cpu(p.windows),
		.mail_room = le16_to_cpu(p.mail_room),
	};
	return 0;
}

int kg2g_peer_change(struct kg2g *kg, u16 accel, u32 op, struct kiwi_error *err)
{
	int ret;

	ret = accel_check(kg, accel, err);
	if (ret)
		return ret;
	switch (op) {
	case KIWI_G2G_PEER_DO_ISOLATE:
		return kg2g_cmd_isolate_peer(kg->part.fw, accel, err);
	case KIWI_G2G_PEER_DO_RECOVER:
		return kg2g_cmd_recover_peer(kg->part.fw, accel, err);
	default:
		return kiwi_fail(err, -EINVAL, op, KIWI_G2G_PEER_DO_RECOVER, "op %u is unknown",
				 op);
	}
}
