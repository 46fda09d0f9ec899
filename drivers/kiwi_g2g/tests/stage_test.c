// SPDX-License-Identifier: GPL-2.0
/* Staging: what is proved reaches the device, and nothing else. */
#include <linux/uaccess.h>

#include "fixture.h"

#define OWN	3

/* Three dies, each linked to the other two: port 0 to the next, port 1 to the one before. */
struct mesh {
	struct kiwi_g2g_route_node nodes[3];
	struct kiwi_g2g_route_link links[3];
	struct kiwi_g2g_route_entry entries[6];
};

static struct mesh a_mesh(void)
{
	struct mesh m = { };
	u16 i;

	for (i = 0; i < 3; i++) {
		m.nodes[i] = (struct kiwi_g2g_route_node) {
			.accel = OWN + i,
			.ports = 2,
			.flags = KIWI_G2G_NODE_FORWARDS,
		};
		m.links[i] = (struct kiwi_g2g_route_link) {
			.node = { i, (i + 1) % 3 },
			.port = { 0, 1 },
			.flags = { 3, 3 },
		};
		m.entries[2 * i] = (struct kiwi_g2g_route_entry) {
			.node = i, .accel = OWN + (i + 1) % 3, .ports = 1,
		};
		m.entries[2 * i + 1] = (struct kiwi_g2g_route_entry) {
			.node = i, .accel = OWN + (i + 2) % 3, .ports = 2,
		};
	}
	return m;
}

static int stage(struct fixture *x, const struct mesh *m, u32 nr_entries, u32 max_hops)
{
	unsigned long at = x->user + PAGE_SIZE;
	struct kiwi_g2g_routes_stage s = {
		.nodes = at + offsetof(struct mesh, nodes),
		.links = at + offsetof(struct mesh, links),
		.entries = at + offsetof(struct mesh, entries),
		.nr_nodes = 3,
		.nr_links = 3,
		.nr_entries = nr_entries,
		.max_hops = max_hops,
	};

	x->g2g.fabric.config.accel = cpu_to_le16(OWN);
	KUNIT_ASSERT_EQ(x->test, copy_to_user((void __user *)at, m, sizeof(*m)), 0);
	return CALL(x, ROUTES_STAGE, &s);
}

static void expect_own(struct fixture *x)
{
	const struct kiwi_g2g_stage_routes_in *in = (const void *)x->fw.cmds[x->fw.nr_cmds - 4].in;

	KUNIT_EXPECT_EQ(x->test, fake_fw_count(&x->fw, KIWI_G2G_OP_STAGE_ROUTES), 4);
	KUNIT_EXPECT_EQ(x->test, in->flags, KIWI_G2G_STAGE_CLEAR);
	KUNIT_EXPECT_EQ(x->test, le16_to_cpu(in->count), 64);
	KUNIT_EXPECT_EQ(x->test, le32_to_cpu(in->route[OWN].ports), 0);
	KUNIT_EXPECT_EQ(x->test, le32_to_cpu(in->route[OWN + 1].ports), 1);
	KUNIT_EXPECT_EQ(x->test, le32_to_cpu(in->route[OWN + 2].ports), 2);
	KUNIT_EXPECT_EQ(x->test, le32_to_cpu(in->route[OWN + 3].ports), 0);
}

static void stage_given(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct mesh m = a_mesh();

	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), 0);
	expect_own(x);
}

static void stage_made(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct mesh m = a_mesh();

	KUNIT_EXPECT_EQ(test, stage(x, &m, 0, 1), 0);
	expect_own(x);
}

/* Each sends what is for one die on to the next, round and round. */
static void stage_loop(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct mesh m = a_mesh();

	m.entries[0].ports = 2;
	m.entries[5].ports = 1;
	m.entries[5].accel = OWN + 1;
	m.entries[4].ports = 1;
	m.entries[4].accel = OWN;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_STAGE_ROUTES), 0);
}

static void stage_unreachable(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct mesh m = a_mesh();

	KUNIT_EXPECT_EQ(test, stage(x, &m, 5, 1), -EINVAL);
	m.links[0].flags[0] = 0;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_STAGE_ROUTES), 0);
}

static void stage_bad_fields(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct mesh m = a_mesh();

	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, stage(x, &m, (1 << 22) + 1, 1), -EINVAL);
	m.nodes[1].accel = 256;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	fixture_expect_text(x, "ROUTES_STAGE: node 1: accel 256 is not in 0..255");
	m = a_mesh();
	m.nodes[1].ports = 33;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	m = a_mesh();
	m.nodes[1].accel = OWN;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	m = a_mesh();
	m.links[1].node[1] = 3;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	m = a_mesh();
	m.links[1].flags[0] = 4;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	m = a_mesh();
	m.entries[2].node = 9;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	m = a_mesh();
	m.entries[2].ports = 0;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	m = a_mesh();
	m.entries[2].ports = 4;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	m = a_mesh();
	m.entries[2].layer = 2;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 6, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_STAGE_ROUTES), 0);
}

static void stage_for_another(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct mesh m = a_mesh();
	u16 i;

	for (i = 0; i < 3; i++)
		m.nodes[i].accel += 10;
	KUNIT_EXPECT_EQ(test, stage(x, &m, 0, 1), -EINVAL);
	fixture_expect_text(x,
			    "ROUTES_STAGE: the fabric is not configured, or accel 3 is not in it");
}

static struct kunit_case stage_cases[] = {
	KUNIT_CASE(stage_given),
	KUNIT_CASE(stage_made),
	KUNIT_CASE(stage_loop),
	KUNIT_CASE(stage_unreachable),
	KUNIT_CASE(stage_bad_fields),
	KUNIT_CASE(stage_for_another),
	{}
};

static struct kunit_suite stage_suite = {
	.name = "kiwi_g2g_stage",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = stage_cases,
};

kunit_test_suite(stage_suite);
