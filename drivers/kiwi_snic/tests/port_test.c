// SPDX-License-Identifier: GPL-2.0
/* Ports, their GID tables, and port events. */
#include "fixture.h"

static const struct ksnic_gid a_gid = {
	.type = KIWI_GID_ROCE_V2,
	.raw = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 },
};

static void port_numbers(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct ksnic_port_info info;

	KUNIT_EXPECT_EQ(test, ksnic_port_query(&x->ks, 0, &info, &x->err), -EINVAL);
	KUNIT_EXPECT_EQ(test, ksnic_port_query(&x->ks, 1, &info, &x->err), 0);
	KUNIT_EXPECT_EQ(test, ksnic_port_query(&x->ks, 2, &info, &x->err), 0);
	KUNIT_EXPECT_EQ(test, ksnic_port_query(&x->ks, 3, &info, &x->err), -EINVAL);
	KUNIT_EXPECT_EQ(test, x->err.value, 3);
	KUNIT_EXPECT_EQ(test, x->err.limit, 2);
	KUNIT_EXPECT_EQ(test, ksnic_port_set(&x->ks, 3, 1, 5, &x->err), -EINVAL);
	KUNIT_EXPECT_EQ(test, ksnic_port_set(&x->ks, U32_MAX, 1, 5, &x->err), -EINVAL);
}

static void expect_set(struct kunit *test, u32 port, u8 enabled, u8 mtu)
{
	struct fixture *x = test->priv;
	const struct kiwi_snic_set_port_in *in = (const void *)fake_fw_last(&x->fw)->in;

	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_SET_PORT);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->port), port);
	KUNIT_EXPECT_EQ(test, in->enabled, enabled);
	KUNIT_EXPECT_EQ(test, in->mtu, mtu);
}

static void port_set(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_ASSERT_EQ(test, ksnic_port_set(&x->ks, 2, 0, KIWI_MTU_512, &x->err), 0);
	expect_set(test, 2, 0, KIWI_MTU_512);
}

static void port_set_one_keeps_the_other(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_ASSERT_EQ(test, ksnic_port_set_enabled(&x->ks, 1, 0, &x->err), 0);
	expect_set(test, 1, 0, KIWI_MTU_2048);
	KUNIT_ASSERT_EQ(test, ksnic_port_set_mtu(&x->ks, 2, KIWI_MTU_256, &x->err), 0);
	expect_set(test, 2, 1, KIWI_MTU_256);
}

/* fe80:: with the EUI-64 of the MAC, for each port. */
static void gid_default(struct kunit *test)
{
	static const u8 wanted[16] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0,
				       0x50, 0x54, 0x00, 0xff, 0xfe, 0x4b, 0x00, 0x01 };
	struct fixture *x = test->priv;
	struct ksnic_gid gid;
	u32 port, index;

	for (port = 1; port <= 2; port++) {
		KUNIT_ASSERT_EQ(test, ksnic_gid_query(&x->ks, port, 0, &gid, &x->err), 0);
		KUNIT_EXPECT_EQ(test, gid.type, KIWI_GID_ROCE_V2);
		KUNIT_EXPECT_MEMEQ(test, gid.raw, wanted, sizeof(wanted));
		for (index = 1; index < 4; index++) {
			KUNIT_ASSERT_EQ(test, ksnic_gid_query(&x->ks, port, index, &gid, &x->err),
					0);
			KUNIT_EXPECT_EQ(test, gid.type, KIWI_GID_NONE);
		}
	}
}

static void gid_bounds(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct ksnic_gid gid;

	KUNIT_EXPECT_EQ(test, ksnic_gid_query(&x->ks, 0, 0, &gid, &x->err), -EINVAL);
	KUNIT_EXPECT_EQ(test, ksnic_gid_query(&x->ks, 3, 0, &gid, &x->err), -EINVAL);
	KUNIT_EXPECT_EQ(test, ksnic_gid_query(&x->ks, 2, 3, &gid, &x->err), 0);
	KUNIT_EXPECT_EQ(test, ksnic_gid_query(&x->ks, 2, 4, &gid, &x->err), -EINVAL);
	KUNIT_EXPECT_EQ(test, x->err.value, 4);
	KUNIT_EXPECT_EQ(test, x->err.limit, 3);
	KUNIT_EXPECT_EQ(test, ksnic_gid_set(&x->ks, 1, 4, &a_gid, &x->err), -EINVAL);
	KUNIT_EXPECT_EQ(test, ksnic_gid_set(&x->ks, 1, U32_MAX, &a_gid, &x->err), -EINVAL);
}

static void gid_set_is_remembered(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct ksnic_gid gid;

	KUNIT_ASSERT_EQ(test, ksnic_gid_set(&x->ks, 1, 3, &a_gid, &x->err), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_SET_GID);
	KUNIT_ASSERT_EQ(test, ksnic_gid_query(&x->ks, 1, 3, &gid, &x->err), 0);
	KUNIT_EXPECT_MEMEQ(test, &gid, &a_gid, sizeof(gid));
	/* The neighbour in memory is the next port's first. */
	KUNIT_ASSERT_EQ(test, ksnic_gid_query(&x->ks, 2, 0, &gid, &x->err), 0);
	KUNIT_EXPECT_EQ(test, gid.raw[0], 0xfe);
	KUNIT_ASSERT_EQ(test, ksnic_gid_query(&x->ks, 2, 3, &gid, &x->err), 0);
	KUNIT_EXPECT_EQ(test, gid.type, KIWI_GID_NONE);
}

static void gid_refused_is_not_remembered(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct ksnic_gid gid;

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_SET_GID, KIWI_ST_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, ksnic_gid_set(&x->ks, 1, 1, &a_gid, &x->err), -EINVAL);
	KUNIT_ASSERT_EQ(test, ksnic_gid_query(&x->ks, 1, 1, &gid, &x->err), 0);
	KUNIT_EXPECT_EQ(test, gid.type, KIWI_GID_NONE);
}

static void gid_tables_are_new_after_a_start(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct ksnic_gid gid;

	KUNIT_ASSERT_EQ(test, ksnic_gid_set(&x->ks, 1, 2, &a_gid, &x->err), 0);
	KUNIT_ASSERT_EQ(test, ksnic_ports_start(&x->ks, &x->err), 0);
	KUNIT_ASSERT_EQ(test, ksnic_gid_query(&x->ks, 1, 2, &gid, &x->err), 0);
	KUNIT_EXPECT_EQ(test, gid.type, KIWI_GID_NONE);
}

static void ports_start_fails_with_a_port(struct kunit *test)
{
	struct fixture *x = test->priv;

	x->snic.port.mtu = 0;
	KUNIT_EXPECT_EQ(test, ksnic_ports_start(&x->ks, &x->err), -EPROTO);
	KUNIT_EXPECT_STREQ(test, x->err.text, "QUERY_PORT: the firmware replied with mtu 0");
}

static void port_changes_are_found_when_events_were_lost(struct kunit *test)
{
	struct fixture *x = test->priv;
	unsigned int n;

	KUNIT_EXPECT_EQ(test, x->ks.queues.port_down, 0);
	x->snic.port.state = KIWI_PORT_DOWN;
	fixture_lose_events(x);
	KUNIT_EXPECT_EQ(test, x->ks.queues.port_down, 3);
	KUNIT_ASSERT_EQ(test, fixture_events(x), 3);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).type, KIWI_EVENT_LOST);
	for (n = 1; n <= 2; n++) {
		KUNIT_EXPECT_EQ(test, fixture_event(x, n).type, KIWI_SNIC_EVENT_PORT_CHANGE);
		KUNIT_EXPECT_EQ(test, fixture_event(x, n).id, n);
		KUNIT_EXPECT_EQ(test, fixture_event(x, n).code, KIWI_PORT_DOWN);
	}
	fixture_lose_events(x);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 4);
	x->snic.port.state = KIWI_PORT_ACTIVE;
	fixture_lose_events(x);
	KUNIT_EXPECT_EQ(test, x->ks.queues.port_down, 0);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 7);
}

/* An event that comes while a port is asked is of that port alone, and no older than the reply. */
static void port_event_overtakes_a_reply(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_part *part = &x->ks.part;

	kiwi_queues_port_ask(part, 1);
	kiwi_queues_port(part, 1, true);
	KUNIT_EXPECT_FALSE(test, kiwi_queues_port_found(part, 1, false));
	KUNIT_EXPECT_EQ(test, x->ks.queues.port_down, 0);
	kiwi_queues_port_ask(part, 1);
	kiwi_queues_port(part, 2, true);
	KUNIT_EXPECT_TRUE(test, kiwi_queues_port_found(part, 1, false));
	KUNIT_EXPECT_EQ(test, x->ks.queues.port_down, 1);
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(port_numbers),
	KUNIT_CASE(port_set),
	KUNIT_CASE(port_set_one_keeps_the_other),
	KUNIT_CASE(gid_default),
	KUNIT_CASE(gid_bounds),
	KUNIT_CASE(gid_set_is_remembered),
	KUNIT_CASE(gid_refused_is_not_remembered),
	KUNIT_CASE(gid_tables_are_new_after_a_start),
	KUNIT_CASE(ports_start_fails_with_a_port),
	KUNIT_CASE(port_changes_are_found_when_events_were_lost),
	KUNIT_CASE(port_event_overtakes_a_reply),
	{}
};

static struct kunit_suite port_suite = {
	.name = "kiwi_snic_port",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = port_cases,
};

kunit_test_suite(port_suite);
