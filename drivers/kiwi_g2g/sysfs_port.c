// SPDX-License-Identifier: GPL-2.0
/* ports/<p>/ of a device: state, configuration, counters. */
#include <kiwi/sysfs.h>

#include "kg2g.h"

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

static ssize_t field_show(const struct kiwi_port *port, unsigned int which, char *buf,
			  struct kiwi_error *err)
{
	struct kiwi_g2g_port_query q = { .port = port->number };
	int ret;

	ret = kg2g_port_query(to_kg2g(port->part), &q, err);
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
	KIWI_PORT_ATTR("state", field_show, STATE),
	KIWI_PORT_ATTR("reason", field_show, REASON),
	KIWI_PORT_ATTR("enabled", field_show, ENABLED),
	KIWI_PORT_ATTR("routable", field_show, ROUTABLE),
	KIWI_PORT_ATTR("llr", field_show, LLR),
	KIWI_PORT_ATTR("mode", field_show, MODE),
	KIWI_PORT_ATTR("station", field_show, STATION),
	KIWI_PORT_ATTR("lanes", field_show, LANES),
	KIWI_PORT_ATTR("fec", field_show, FEC),
	KIWI_PORT_ATTR("flow", field_show, FLOW),
	KIWI_PORT_ATTR("mtu", field_show, MTU),
	KIWI_PORT_ATTR("mac", field_show, MAC),
	KIWI_PORT_ATTR("mbps", field_show, MBPS),
	KIWI_PORT_ATTR("ups", field_show, UPS),
	KIWI_PORT_ATTR("neighbour", field_show, NEIGHBOUR),
	KIWI_PORT_ATTR("neighbour_port", field_show, NEIGHBOUR_PORT),
	NULL
};

static const struct attribute_group port_group = {
	.attrs = port_attrs,
};

/* Counters ------------------------------------------------------------------------- */

static ssize_t counter_show(const struct kiwi_port *port, unsigned int offset, char *buf,
			    struct kiwi_error *err)
{
	struct kiwi_g2g_port_counters counters;
	int ret;

	ret = kg2g_cmd_query_port_counters(port->part->fw, port->number, &counters, err);
	if (ret)
		return ret;
	return sysfs_emit(buf, "%llu\n", le64_to_cpup((void *)&counters + offset));
}

#define COUNTER_ATTR(_name)						\
	KIWI_PORT_ATTR(__stringify(_name), counter_show,		\
		       offsetof(struct kiwi_g2g_port_counters, _name))

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

static const struct attribute_group *port_groups[] = {
	&port_group,
	&counters_group,
	NULL
};

int kg2g_sysfs_ports_add(struct kg2g *kg)
{
	return kiwi_ports_add(&kg->part, 0, kg->caps.ports, port_groups);
}
