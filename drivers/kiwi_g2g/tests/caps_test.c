// SPDX-License-Identifier: GPL-2.0
/* Capabilities: each field at and beyond what the ABI allows. */
#include <linux/sizes.h>

#include "fixture.h"

struct caps {
	struct fake_g2g g2g;
	struct kiwi_g2g_caps *wire;
	struct kg2g_caps_frame frame;
	struct kg2g_caps caps;
	struct kiwi_error err;
};

static int caps_init(struct kunit *test)
{
	struct caps *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	if (!c)
		return -ENOMEM;
	fake_g2g_init(&c->g2g, NULL);
	c->wire = &c->g2g.caps;
	c->frame = (struct kg2g_caps_frame) {
		.caps = KIWI_G2G_CAP_ATOMICS | KIWI_G2G_CAP_PFC,
		.bar_len = FAKE_BAR_LEN,
		.page_shift = 12,
	};
	test->priv = c;
	return 0;
}

static void expect_ok(struct kunit *test)
{
	struct caps *c = test->priv;

	KUNIT_EXPECT_EQ(test, kg2g_caps_parse(c->wire, &c->frame, &c->caps, &c->err), 0);
}

static void expect_bad(struct kunit *test, const char *name, u64 value)
{
	struct caps *c = test->priv;
	char text[64];

	KUNIT_EXPECT_EQ(test, kg2g_caps_parse(c->wire, &c->frame, &c->caps, &c->err), -EPROTO);
	KUNIT_EXPECT_EQ(test, c->err.value, value);
	snprintf(text, sizeof(text), "device reports %s %llu,", name, value);
	KUNIT_EXPECT_MEMEQ(test, c->err.text, text, strlen(text));
}

static void put(void *wire, unsigned int size, u64 value)
{
	switch (size) {
	case 1:
		*(u8 *)wire = value;
		break;
	case 2:
		*(__le16 *)wire = cpu_to_le16(value);
		break;
	case 4:
		*(__le32 *)wire = cpu_to_le32(value);
		break;
	case 8:
		*(__le64 *)wire = cpu_to_le64(value);
		break;
	}
}

/* A field below, at and above its limits; what depends on it may be wrong in between. */
static void check(struct kunit *test, const char *name, void *wire, unsigned int size, u64 min,
		  u64 max, const u64 *parsed)
{
	u64 top = size == 8 ? U64_MAX : BIT_ULL(8 * size) - 1;
	u8 before[8];

	memcpy(before, wire, size);
	put(wire, size, min);
	expect_ok(test);
	KUNIT_EXPECT_EQ(test, *parsed, min);
	put(wire, size, max);
	expect_ok(test);
	KUNIT_EXPECT_EQ(test, *parsed, max);
	if (min) {
		put(wire, size, min - 1);
		expect_bad(test, name, min - 1);
	}
	if (max < top) {
		put(wire, size, max + 1);
		expect_bad(test, name, max + 1);
		put(wire, size, top);
		expect_bad(test, name, top);
	}
	memcpy(wire, before, size);
}

static void caps_numbers(struct kunit *test)
{
	struct caps *c = test->priv;

	check(test, "accels", &c->wire->accels, sizeof(c->wire->accels), 2, 1024,
	      &c->caps.accels);
	check(test, "lanes", &c->wire->lanes, sizeof(c->wire->lanes), 1, 8,
	      &c->caps.lanes);
	check(test, "layers", &c->wire->layers, sizeof(c->wire->layers), 1, 2,
	      &c->caps.layers);
	check(test, "slots", &c->wire->slots, sizeof(c->wire->slots), 2, 2,
	      &c->caps.slots);
	check(test, "fec", &c->wire->fec, sizeof(c->wire->fec), 1, 7,
	      &c->caps.fec);
	check(test, "max_export_size", &c->wire->max_export_size,
	      sizeof(c->wire->max_export_size), 1, U64_MAX,
	      &c->caps.max_export_size);
	check(test, "max_export_pages", &c->wire->max_export_pages,
	      sizeof(c->wire->max_export_pages), 1, U32_MAX,
	      &c->caps.max_export_pages);
	check(test, "max_export", &c->wire->max_export,
	      sizeof(c->wire->max_export), 1, KIWI_SNIC_NUMBER_MAX,
	      &c->caps.max_export);
	check(test, "max_window", &c->wire->max_window, sizeof(c->wire->max_window), 1, 65535,
	      &c->caps.max_window);
	check(test, "max_binding", &c->wire->max_binding, sizeof(c->wire->max_binding), 1, U32_MAX,
	      &c->caps.max_binding);
	check(test, "image_max", &c->wire->image_max, sizeof(c->wire->image_max), 128, U32_MAX,
	      &c->caps.image_max);
	check(test, "lane_mbps", &c->wire->lane_mbps, sizeof(c->wire->lane_mbps), 0, U32_MAX,
	      &c->caps.lane_mbps);
}

static void caps_bounds(struct kunit *test)
{
	struct caps *c = test->priv;

	check(test, "bind_ms", &c->wire->bind_ms, sizeof(c->wire->bind_ms), 1, 60000,
	      &c->caps.bind_ms);
	check(test, "revoke_ms", &c->wire->revoke_ms, sizeof(c->wire->revoke_ms), 1, 60000,
	      &c->caps.revoke_ms);
	check(test, "peer_ms", &c->wire->peer_ms, sizeof(c->wire->peer_ms), 16, 60000,
	      &c->caps.peer_ms);
	check(test, "link_ms", &c->wire->link_ms, sizeof(c->wire->link_ms), 16, 60000,
	      &c->caps.link_ms);
	c->wire->load_us = cpu_to_le32(10000000);
	check(test, "pause_ms", &c->wire->pause_ms, sizeof(c->wire->pause_ms), 1, 9999,
	      &c->caps.pause_ms);
	c->wire->pause_ms = cpu_to_le32(1);
	check(test, "load_us", &c->wire->load_us, sizeof(c->wire->load_us), 2000, 10000000,
	      &c->caps.load_us);
}

static void caps_pause_below_load(struct kunit *test)
{
	struct caps *c = test->priv;

	c->wire->pause_ms = cpu_to_le32(100);
	c->wire->load_us = cpu_to_le32(100001);
	expect_ok(test);
	c->wire->load_us = cpu_to_le32(100000);
	expect_bad(test, "pause_ms", 100);
	c->wire->load_us = cpu_to_le32(10000000);
	c->wire->pause_ms = cpu_to_le32(10000);
	expect_bad(test, "pause_ms", 10000);
}

static void caps_page_lists(struct kunit *test)
{
	struct caps *c = test->priv;

	check(test, "page_shift_max", &c->wire->queue.page_shift_max, 1, 12, 63,
	      &c->caps.page_shift_max);
	check(test, "pbl_table_shift_max", &c->wire->queue.pbl_table_shift_max, 1, 12, 63,
	      &c->caps.pbl_table_shift_max);
}

static void caps_ports_of_stations(struct kunit *test)
{
	struct caps *c = test->priv;

	c->wire->stations = 1;
	check(test, "ports", &c->wire->ports, sizeof(c->wire->ports), 1, 32,
	      &c->caps.ports);
	c->wire->ports = 8;
	check(test, "stations", &c->wire->stations, sizeof(c->wire->stations), 1, 8,
	      &c->caps.stations);
	c->wire->stations = 3;
	expect_bad(test, "ports", 8);
}

static void caps_mail(struct kunit *test)
{
	struct caps *c = test->priv;

	check(test, "mail", &c->wire->mail, sizeof(c->wire->mail), 0, 255,
	      &c->caps.mail);
	c->frame.caps |= KIWI_G2G_CAP_MAIL;
	check(test, "mail", &c->wire->mail, sizeof(c->wire->mail), 1, 255,
	      &c->caps.mail);
}

/* What no capability in force announces is not there. */
static void caps_flow(struct kunit *test)
{
	struct caps *c = test->priv;

	check(test, "flow", &c->wire->flow, sizeof(c->wire->flow), 1, 3,
	      &c->caps.flow);
	c->frame.caps |= KIWI_G2G_CAP_CBFC;
	check(test, "flow", &c->wire->flow, sizeof(c->wire->flow), 1, 7,
	      &c->caps.flow);
	c->frame.caps = KIWI_G2G_CAP_ATOMICS;
	check(test, "flow", &c->wire->flow, sizeof(c->wire->flow), 1, 1,
	      &c->caps.flow);
}

static void caps_atomics(struct kunit *test)
{
	struct caps *c = test->priv;

	check(test, "atomics", &c->wire->atomics, sizeof(c->wire->atomics), 0, 14,
	      &c->caps.atomics);
	c->frame.caps = KIWI_G2G_CAP_PFC;
	c->wire->atomic_base = 0;
	check(test, "atomics", &c->wire->atomics, sizeof(c->wire->atomics), 0, 0,
	      &c->caps.atomics);
}

static void caps_aperture(struct kunit *test)
{
	struct caps *c = test->priv;

	c->wire->aperture_size = 0;
	expect_bad(test, "aperture_size", 0);
	c->wire->aperture_size = cpu_to_le64(SZ_64K);
	expect_ok(test);
	c->wire->aperture_size = cpu_to_le64(SZ_64K + 4096);
	expect_bad(test, "aperture_size", SZ_64K + 4096);
	c->wire->granule_shift = 12;
	expect_ok(test);
	c->wire->granule_shift = 11;
	expect_bad(test, "granule_shift", 11);
	c->wire->granule_shift = 31;
	expect_bad(test, "granule_shift", 31);
	c->wire->granule_shift = 30;
	c->wire->aperture_size = cpu_to_le64(2 * FAKE_BAR_LEN);
	expect_bad(test, "aperture_size", 2 * FAKE_BAR_LEN);
	c->wire->aperture_size = cpu_to_le64(U64_MAX);
	expect_bad(test, "aperture_size", U64_MAX);
}

static void caps_atomic_pages(struct kunit *test)
{
	struct caps *c = test->priv;
	u64 last = FAKE_BAR_LEN - (4096ULL << 12);

	c->wire->atomic_base = cpu_to_le64(last);
	expect_ok(test);
	c->wire->atomic_base = cpu_to_le64(last + 4096);
	expect_bad(test, "atomic_base", last + 4096);
	c->wire->atomic_base = cpu_to_le64(U64_MAX - 4095);
	expect_bad(test, "atomic_base", U64_MAX - 4095);
	c->wire->atomic_base = cpu_to_le64(last - 1);
	expect_bad(test, "atomic_base", last - 1);
	c->wire->atomic_base = cpu_to_le64(FAKE_BAR_LEN / 2 - 4096);
	expect_bad(test, "atomic_base", FAKE_BAR_LEN / 2 - 4096);
	c->frame.caps = KIWI_G2G_CAP_PFC;
	c->wire->atomics = 0;
	c->wire->atomic_base = cpu_to_le64(last);
	expect_bad(test, "atomic_base", last);
}

static void caps_all_ones(struct kunit *test)
{
	struct caps *c = test->priv;

	memset(c->wire, 0xff, sizeof(*c->wire));
	expect_bad(test, "page_shift_max", 255);
}

static void caps_all_zero(struct kunit *test)
{
	struct caps *c = test->priv;

	memset(c->wire, 0, sizeof(*c->wire));
	expect_bad(test, "page_shift_max", 0);
}

static struct kunit_case caps_cases[] = {
	KUNIT_CASE(caps_numbers),
	KUNIT_CASE(caps_bounds),
	KUNIT_CASE(caps_pause_below_load),
	KUNIT_CASE(caps_page_lists),
	KUNIT_CASE(caps_ports_of_stations),
	KUNIT_CASE(caps_mail),
	KUNIT_CASE(caps_flow),
	KUNIT_CASE(caps_atomics),
	KUNIT_CASE(caps_aperture),
	KUNIT_CASE(caps_atomic_pages),
	KUNIT_CASE(caps_all_ones),
	KUNIT_CASE(caps_all_zero),
	{}
};

static struct kunit_suite caps_suite = {
	.name = "kiwi_g2g_caps",
	.init = caps_init,
	.test_cases = caps_cases,
};

kunit_test_suite(caps_suite);
