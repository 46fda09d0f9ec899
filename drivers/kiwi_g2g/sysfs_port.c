// SPDX-License-Identifier: GPL-2.0
/* ports/<p>/ of a device: state, configuration, counters. */
#include <linux/kobject.h>
#include <linux/slab.h>
#include <linux/sysfs.h>

#include "kg2g.h"

/**
 * struct port_dir - ports/<p>
 * @kobj: the folder
 * @kg: the device, which lives as long as the folder is in sysfs
 * @port: its number
 */
struct port_dir {
	struct kobject kobj;
	struct kg2g *kg;
	u32 port;
};

/**
 * struct kg2g_ports_dir - ports
 * @folder: the folder
 * @count: of @ports
 * @ports: by number
 */
struct kg2g_ports_dir {
	struct kobject *folder;
	unsigned int count;
	struct port_dir *ports[];
};

/**
 * struct port_attr - attribute of a port
 * @attr: the attribute
 * @show: reads it
 * @arg: which of those that share the function
 */
struct port_attr {
	struct attribute attr;
	ssize_t (*show)(const struct port_dir *dir, unsigned int arg, char *buf);
	unsigned int arg;
};

#define PORT_ATTR(_name, _show, _arg)						\
	(&((struct port_attr[]) { {						\
		.attr = { .name = (_name), .mode = 0444 },			\
		.show = (_show),						\
		.arg = (_arg),							\
	} })[0].attr)

/* State and configuration ---------------------------------------------------------- */

enum port_field {
	STATE,
	REASON,
	ENABLED,
	ROUTABLE,
	LLR,
	MODE,
	STATION,
	LANES,
	FEC,
	FLOW,
	MTU,
	MAC,
	MBPS,
	UPS,
	NEIGHBOUR,
	NEIGHBOUR_PORT,
};

static const char *mode_name(u8 mode)
{
	return mode == KIWI_G2G_PORT_SWITCHED ? "SWITCHED" : "DIRECT";
}

/* Both were range-checked. */
static const char *const fec_names[] = { "NONE", "RS544", "RS272" };
static const char *const flow_names[] = { "NONE", "PFC", "CBFC" };

static ssize_t field_show(const struct port_dir *dir, unsigned int which, char *buf)
{
	struct kiwi_g2g_port_query q = { .port = dir->port };
	struct kiwi_error err;
	int ret;

	ret = kg2g_port_query(dir->kg, &q, &err);
	if (ret)
		return ret;
	switch (which) {
	case STATE:
		return sysfs_emit(buf, "%s\n", kg2g_port_state_name(q.state));
	case REASON:
		return sysfs_emit(buf, "%s\n", kg2g_reason_name(q.reason));
	case ENABLED:
		return sysfs_emit(buf, "%u\n", !!(q.config & KIWI_G2G_PORT_ENABLED));
	case ROUTABLE:
		return sysfs_emit(buf, "%u\n", !!(q.config & KIWI_G2G_PORT_ROUTABLE));
	case LLR:
		return sysfs_emit(buf, "%u\n", !!(q.config & KIWI_G2G_PORT_LLR));
	case MODE:
		return sysfs_emit(buf, "%s\n", mode_name(q.mode));
	case STATION:
		return sysfs_emit(buf, "%u\n", q.station);
	case LANES:
		return sysfs_emit(buf, "%#04x\n", q.lanes);
	case FEC:
		return sysfs_emit(buf, "%s\n", fec_names[q.fec]);
	case FLOW:
		return sysfs_emit(buf, "%s\n", flow_names[q.flow]);
	case MTU:
		return sysfs_emit(buf, "%u\n", q.mtu);
	case MAC:
		return sysfs_emit(buf, "%pM\n", q.mac);
	case MBPS:
		return sysfs_emit(buf, "%u\n", q.mbps);
	case UPS:
		return sysfs_emit(buf, "%u\n", q.ups);
	case NEIGHBOUR:
		return q.neighbour == KIWI_G2G_ACCEL_NONE ? sysfs_emit(buf, "none\n") :
							    sysfs_emit(buf, "%u\n", q.neighbour);
	case NEIGHBOUR_PORT:
		return q.neighbour == KIWI_G2G_ACCEL_NONE ?
			sysfs_emit(buf, "none\n") : sysfs_emit(buf, "%u\n", q.neighbour_port);
	}
	return -EINVAL;
}

static struct attribute *port_attrs[] = {
	PORT_ATTR("state", field_show, STATE),
	PORT_ATTR("reason", field_show, REASON),
	PORT_ATTR("enabled", field_show, ENABLED),
	PORT_ATTR("routable", field_show, ROUTABLE),
	PORT_ATTR("llr", field_show, LLR),
	PORT_ATTR("mode", field_show, MODE),
	PORT_ATTR("station", field_show, STATION),
	PORT_ATTR("lanes", field_show, LANES),
	PORT_ATTR("fec", field_show, FEC),
	PORT_ATTR("flow", field_show, FLOW),
	PORT_ATTR("mtu", field_show, MTU),
	PORT_ATTR("mac", field_show, MAC),
	PORT_ATTR("mbps", field_show, MBPS),
	PORT_ATTR("ups", field_show, UPS),
	PORT_ATTR("neighbour", field_show, NEIGHBOUR),
	PORT_ATTR("neighbour_port", field_show, NEIGHBOUR_PORT),
	NULL
};

static const struct attribute_group port_group = {
	.attrs = port_attrs,
};

/* Counters ------------------------------------------------------------------------- */

static ssize_t counter_show(const struct port_dir *dir, unsigned int offset, char *buf)
{
	struct kiwi_g2g_port_counters counters;
	struct kiwi_error err;
	int ret;

	ret = kg2g_cmd_query_port_counters(dir->kg->part.fw, dir->port, &counters, &err);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%llu\n", le64_to_cpup((void *)&counters + offset));
}

#define COUNTER_ATTR(_name)	\
	PORT_ATTR(__stringify(_name), counter_show, offsetof(struct kiwi_g2g_port_counters, _name))

static struct attribute *counter_attrs[] = {
	COUNTER_ATTR(tx_frames),
	COUNTER_ATTR(tx_bytes),
	COUNTER_ATTR(rx_frames),
	COUNTER_ATTR(rx_bytes),
	COUNTER_ATTR(rx_crc),
	COUNTER_ATTR(rx_malformed),
	COUNTER_ATTR(rx_other),
	COUNTER_ATTR(rx_image),
	COUNTER_ATTR(rx_stale),
	COUNTER_ATTR(rx_overrun),
	COUNTER_ATTR(forwarded),
	COUNTER_ATTR(hop_limit),
	COUNTER_ATTR(unroutable),
	COUNTER_ATTR(llr_replayed),
	COUNTER_ATTR(llr_nack),
	COUNTER_ATTR(llr_exhausted),
	COUNTER_ATTR(credit_stall),
	COUNTER_ATTR(pfc_rx),
	COUNTER_ATTR(pfc_tx),
	COUNTER_ATTR(link_down),
	COUNTER_ATTR(fec_corrected),
	COUNTER_ATTR(fec_uncorrected),
	NULL
};

static const struct attribute_group counters_group = {
	.name = "counters",
	.attrs = counter_attrs,
};

/* Folders ---------------------------------------------------------------------------- */

static ssize_t attr_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct port_attr *port_attr = container_of(attr, struct port_attr, attr);
	struct port_dir *dir = container_of(kobj, struct port_dir, kobj);
	struct kiwi_part *part = &dir->kg->part;
	ssize_t ret;
	int idx;

	idx = srcu_read_lock(&part->gate);
	ret = kiwi_part_check_up(part);
	if (!ret)
		ret = port_attr->show(dir, port_attr->arg, buf);
	srcu_read_unlock(&part->gate, idx);
	return ret;
}

static const struct sysfs_ops port_sysfs_ops = {
	.show = attr_show,
};

static const struct attribute_group *port_groups[] = {
	&port_group,
	&counters_group,
	NULL
};

static void port_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct port_dir, kobj));
}

static const struct kobj_type port_ktype = {
	.release = port_release,
	.sysfs_ops = &port_sysfs_ops,
	.default_groups = port_groups,
};

static int port_add(struct kg2g *kg, struct kg2g_ports_dir *ports)
{
	struct port_dir *dir;
	int ret;

	dir = kzalloc(sizeof(*dir), GFP_KERNEL);
	if (!dir)
		return -ENOMEM;
	dir->kg = kg;
	dir->port = ports->count;
	ret = kobject_init_and_add(&dir->kobj, &port_ktype, ports->folder, "%u", dir->port);
	if (ret) {
		kobject_put(&dir->kobj);
		return ret;
	}
	ports->ports[ports->count++] = dir;
	return 0;
}

/**
 * kg2g_sysfs_ports_add() - make the folder of the ports
 * @kg: the device, added and started
 *
 * Return: 0 or negative errno
 */
int kg2g_sysfs_ports_add(struct kg2g *kg)
{
	struct kg2g_ports_dir *ports;
	int ret = 0;

	ports = kzalloc(struct_size(ports, ports, kg->caps.ports), GFP_KERNEL);
	if (!ports)
		return -ENOMEM;
	ports->folder = kobject_create_and_add("ports", &kg->part.dev.kobj);
	if (!ports->folder) {
		kfree(ports);
		return -ENOMEM;
	}
	kg->ports_dir = ports;
	while (!ret && ports->count < kg->caps.ports)
		ret = port_add(kg, ports);
	if (ret)
		kg2g_sysfs_ports_del(kg);
	return ret;
}

/**
 * kg2g_sysfs_ports_del() - remove the folder of the ports, if there is one
 * @kg: the device
 *
 * None of its attributes is in use when this returns.
 */
void kg2g_sysfs_ports_del(struct kg2g *kg)
{
	struct kg2g_ports_dir *ports = kg->ports_dir;
	unsigned int i;

	if (!ports)
		return;
	for (i = 0; i < ports->count; i++) {
		kobject_del(&ports->ports[i]->kobj);
		kobject_put(&ports->ports[i]->kobj);
	}
	kobject_put(ports->folder);
	kfree(ports);
	kg->ports_dir = NULL;
}
