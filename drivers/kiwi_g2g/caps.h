/* SPDX-License-Identifier: GPL-2.0 */
/* Capabilities of the device, range-checked. */
#ifndef KG2G_CAPS_H
#define KG2G_CAPS_H

#include <linux/types.h>

#include <kiwi_abi/g2g.h>

struct kiwi_error;

/*
 * struct kg2g_caps - struct kiwi_g2g_caps, in host order and known to be sane
 *
 * All of one type, so that tables can name the fields by their offset.
 */
struct kg2g_caps {
	u64 page_shift_max;
	u64 pbl_table_shift_max;
	u64 accels;
	u64 stations;
	u64 ports;
	u64 lanes;
	u64 layers;
	u64 granule_shift;
	u64 slots;
	u64 fec;
	u64 flow;
	u64 atomics;
	u64 mail;
	u64 aperture_size;
	u64 atomic_base;
	u64 max_export_size;
	u64 max_export_pages;
	u64 max_export;
	u64 max_window;
	u64 max_binding;
	u64 image_max;
	u64 lane_mbps;
	u64 load_us;
	u64 bind_ms;
	u64 revoke_ms;
	u64 pause_ms;
	u64 peer_ms;
	u64 link_ms;
};

/**
 * struct kg2g_caps_frame - what capabilities must fit
 * @caps: capability bits in force
 * @bar_len: bytes of the aperture's BAR
 * @page_shift: an atomic page is 2^n bytes
 */
struct kg2g_caps_frame {
	u64 caps;
	u64 bar_len;
	u8 page_shift;
};

int kg2g_caps_parse(const struct kiwi_g2g_caps *wire, const struct kg2g_caps_frame *frame,
		    struct kg2g_caps *caps, struct kiwi_error *err);

#endif /* KG2G_CAPS_H */
