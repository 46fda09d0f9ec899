// SPDX-License-Identifier: GPL-2.0
#include <linux/align.h>
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/limits.h>
#include <asm/byteorder.h>

#include <kiwi/caps.h>
#include <kiwi/error.h>
#include <kiwi_abi/regs.h>

#include "caps.h"

static int caps_misfit(struct kiwi_error *err, const char *name, u64 value, u64 limit,
		       const char *why)
{
	return kiwi_fail(err, -EPROTO, value, limit, "device reports %s %llu, which %s %llu", name,
			 value, why, limit);
}

/* Bits of masks that only a capability announces. */
static u64 flow_allowed(u64 caps)
{
	return BIT(KIWI_G2G_FLOW_NONE) |
	       (caps & KIWI_G2G_CAP_PFC ? BIT(KIWI_G2G_FLOW_PFC) : 0) |
	       (caps & KIWI_G2G_CAP_CBFC ? BIT(KIWI_G2G_FLOW_CBFC) : 0);
}

static int check_masks(const struct kg2g_caps *c, u64 caps, struct kiwi_error *err)
{
	u64 atomics = caps & KIWI_G2G_CAP_ATOMICS ? KIWI_G2G_ATOMIC_ALL : 0;

	if (c->flow & ~flow_allowed(caps))
		return caps_misfit(err, "flow", c->flow, flow_allowed(caps), "is not within");
	if (c->atomics & ~atomics)
		return caps_misfit(err, "atomics", c->atomics, atomics, "is not within");
	return 0;
}

static int check_aperture(const struct kg2g_caps *c, const struct kg2g_caps_frame *frame,
			  struct kiwi_error *err)
{
	u64 pages = c->max_window << frame->page_shift;

	if (!c->aperture_size || c->aperture_size > frame->bar_len)
		return caps_misfit(err, "aperture_size", c->aperture_size, frame->bar_len,
				   "is 0 or beyond the BAR of");
	if (!IS_ALIGNED(c->aperture_size, BIT_ULL(c->granule_shift)))
		return caps_misfit(err, "aperture_size", c->aperture_size,
				   BIT_ULL(c->granule_shift), "is no multiple of");
	if (!(frame->caps & KIWI_G2G_CAP_ATOMICS))
		return c->atomic_base ? caps_misfit(err, "atomic_base", c->atomic_base, 0,
						    "without atomics is not") : 0;
	if (c->atomic_base < c->aperture_size)
		return caps_misfit(err, "atomic_base", c->atomic_base, c->aperture_size,
				   "lies in the aperture of");
	if (!IS_ALIGNED(c->atomic_base, BIT_ULL(frame->page_shift)))
		return caps_misfit(err, "atomic_base", c->atomic_base,
				   BIT_ULL(frame->page_shift), "is no multiple of");
	if (c->atomic_base > frame->bar_len || pages > frame->bar_len - c->atomic_base)
		return caps_misfit(err, "atomic_base", c->atomic_base, frame->bar_len,
				   "leaves no room for all windows in the BAR of");
	return 0;
}

/* Fields that depend on others. */
static int check_together(const struct kg2g_caps *c, const struct kg2g_caps_frame *frame,
			  struct kiwi_error *err)
{
	int ret;

	if (c->ports % c->stations)
		return caps_misfit(err, "ports", c->ports, c->stations, "is no multiple of");
	if (c->pause_ms * 1000 >= c->load_us)
		return caps_misfit(err, "pause_ms", c->pause_ms, c->load_us,
				   "is not below load_us");
	ret = check_masks(c, frame->caps, err);
	return ret ?: check_aperture(c, frame, err);
}

/**
 * kg2g_caps_parse() - take over the capabilities that the device reports
 * @wire: reply of QUERY_CAPS
 * @frame: what they must fit
 * @caps: to be filled
 * @err: why, on failure
 *
 * Return: 0, or -EPROTO when a field is outside of what the ABI allows
 */
int kg2g_caps_parse(const struct kiwi_g2g_caps *wire, const struct kg2g_caps_frame *frame,
		    struct kg2g_caps *caps, struct kiwi_error *err)
{
	struct kiwi_caps_check c = { .err = err };

	*caps = (struct kg2g_caps) {
		.page_shift_max = kiwi_caps_page_shift(&c, &wire->queue),
		.pbl_table_shift_max = kiwi_caps_table_shift(&c, &wire->queue),
		.accels = kiwi_caps_field(&c, "accels", le16_to_cpu(wire->accels), 2,
					  KIWI_G2G_ACCELS_MAX),
		.stations = kiwi_caps_field(&c, "stations", wire->stations, 1, 8),
		.ports = kiwi_caps_field(&c, "ports", wire->ports, 1, KIWI_G2G_PORTS_MAX),
		.lanes = kiwi_caps_field(&c, "lanes", wire->lanes, 1, 8),
		.layers = kiwi_caps_field(&c, "layers", wire->layers, 1, 2),
		.granule_shift = kiwi_caps_field(&c, "granule_shift", wire->granule_shift, 12, 30),
		.slots = kiwi_caps_field(&c, "slots", wire->slots, 2, 2),
		.fec = kiwi_caps_field(&c, "fec", wire->fec, 1, KIWI_G2G_FEC_ALL),
		.flow = kiwi_caps_field(&c, "flow", wire->flow, 1, KIWI_G2G_FLOW_ALL),
		.atomics = kiwi_caps_field(&c, "atomics", wire->atomics, 0, KIWI_G2G_ATOMIC_ALL),
		.mail = kiwi_caps_field(&c, "mail", wire->mail,
					frame->caps & KIWI_G2G_CAP_MAIL ? 1 : 0, 255),
		.aperture_size = le64_to_cpu(wire->aperture_size),
		.atomic_base = le64_to_cpu(wire->atomic_base),
		.max_export_size = kiwi_caps_field(&c, "max_export_size",
						   le64_to_cpu(wire->max_export_size), 1, U64_MAX),
		.max_export_pages = kiwi_caps_field(&c, "max_export_pages",
						    le32_to_cpu(wire->max_export_pages), 1,
						    U32_MAX),
		.max_export = kiwi_caps_field(&c, "max_export", le32_to_cpu(wire->max_export), 1,
					      KIWI_SNIC_NUMBER_MAX),
		.max_window = kiwi_caps_field(&c, "max_window", le32_to_cpu(wire->max_window), 1,
					      65535),
		.max_binding = kiwi_caps_field(&c, "max_binding", le32_to_cpu(wire->max_binding), 1,
					       U32_MAX),
		.image_max = kiwi_caps_field(&c, "image_max", le32_to_cpu(wire->image_max),
					     sizeof(struct kiwi_g2g_image), U32_MAX),
		.lane_mbps = le32_to_cpu(wire->lane_mbps),
		.load_us = kiwi_caps_field(&c, "load_us", le32_to_cpu(wire->load_us), 2000,
					   10000000),
		.bind_ms = kiwi_caps_field(&c, "bind_ms", le32_to_cpu(wire->bind_ms), 1, 60000),
		.revoke_ms = kiwi_caps_field(&c, "revoke_ms", le32_to_cpu(wire->revoke_ms), 1,
					     60000),
		.pause_ms = kiwi_caps_field(&c, "pause_ms", le32_to_cpu(wire->pause_ms), 1, 10000),
		.peer_ms = kiwi_caps_field(&c, "peer_ms", le32_to_cpu(wire->peer_ms), 16, 60000),
		.link_ms = kiwi_caps_field(&c, "link_ms", le32_to_cpu(wire->link_ms), 16, 60000),
	};
	return c.ret ?: check_together(caps, frame, err);
}
