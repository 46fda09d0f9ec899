// SPDX-License-Identifier: GPL-2.0
/* Graphs and tables as they are put together. */
#include "paths.h"

static void graph_nodes(struct kunit *test)
{
	struct kg2g_graph *graph = kg2g_graph_alloc(3, 4);

	KUNIT_ASSERT_NOT_NULL(test, graph);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, KIWI_G2G_ACCELS_MAX, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, 0, 5), -ENOSPC);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, KIWI_G2G_ACCELS_MAX - 1, 1), 0);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, KIWI_G2G_ACCELS_MAX - 1, 1), -EEXIST);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, KIWI_G2G_ACCEL_NONE, 2), 1);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, KIWI_G2G_ACCEL_NONE, 2), -ENOSPC);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, KIWI_G2G_ACCEL_NONE, 1), 2);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, 5, 0), -ENOSPC);
	KUNIT_EXPECT_EQ(test, graph->node_of[KIWI_G2G_ACCELS_MAX - 1], 0);
	KUNIT_EXPECT_EQ(test, graph->node_of[5], KG2G_NO_NODE);
	kg2g_graph_free(graph);
	kg2g_graph_free(NULL);
}

static void graph_too_large(struct kunit *test)
{
	KUNIT_EXPECT_NULL(test, kg2g_graph_alloc(KG2G_NODES_MAX + 1, 0));
	KUNIT_EXPECT_NULL(test, kg2g_graph_alloc(0, KG2G_PORTS_MAX + 1));
	KUNIT_EXPECT_NULL(test, kg2g_routes_alloc(KG2G_NODES_MAX + 1, 0));
	KUNIT_EXPECT_NULL(test, kg2g_routes_alloc(0, KIWI_G2G_ACCELS_MAX + 1));
	KUNIT_EXPECT_NULL(test, kg2g_route_builder_alloc(KIWI_G2G_ACCELS_MAX + 1));
}

static void graph_links(struct kunit *test)
{
	struct kg2g_graph *graph = kg2g_graph_alloc(2, 4);

	KUNIT_ASSERT_NOT_NULL(test, graph);
	kg2g_graph_add(graph, 0, 2);
	kg2g_graph_add(graph, 1, 2);
	KUNIT_EXPECT_EQ(test, kg2g_graph_connect(graph, 0, 0, 1, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_graph_connect(graph, 0, 2, 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_graph_connect(graph, 0, 0, 2, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_graph_connect(graph, 0, 0, 0, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_graph_connect(graph, 0, 0, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, kg2g_graph_connect(graph, 0, 0, 1, 0), -EBUSY);
	KUNIT_EXPECT_EQ(test, kg2g_graph_connect(graph, 0, 1, 1, 1), -EBUSY);
	KUNIT_EXPECT_EQ(test, graph->ports[0].peer, 3);
	KUNIT_EXPECT_EQ(test, graph->ports[3].peer, 0);
	KUNIT_EXPECT_EQ(test, graph->ports[0].flags, KG2G_PORT_FLAGS);
	KUNIT_EXPECT_EQ(test, graph->ports[3].flags, KG2G_PORT_FLAGS);
	KUNIT_EXPECT_EQ(test, kg2g_next_node(graph, 0), 1);
	KUNIT_EXPECT_EQ(test, kg2g_graph_set_port(graph, 0, 2, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_graph_set_port(graph, 2, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_graph_set_port(graph, 0, 0, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_graph_set_port(graph, 0, 0, KIWI_G2G_PORT_ENABLED), 0);
	KUNIT_EXPECT_EQ(test, graph->ports[0].flags, KIWI_G2G_PORT_ENABLED);
	kg2g_graph_free(graph);
}

static void builder_refuses(struct kunit *test)
{
	static const struct kg2g_choice choices[] = {
		{ .port = 1 }, { .port = 1, .vc = 1 }, { .port = 2 }, { .port = 2 },
		{ .port = 1, .vc = 3 }, { .port = 5, .reserved = 1 },
	};
	struct kg2g_choice *many;
	struct kg2g_route_builder *builder = kg2g_route_builder_alloc(8);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, builder);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 8, choices, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 0, choices, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 0, choices, 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 0, &choices[3], 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 0, &choices[5], 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 0, choices, 3), 0);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 0, choices, 3), -EEXIST);
	many = kunit_kcalloc(test, KG2G_CHOICES_MAX + 1, sizeof(*many), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, many);
	for (n = 0; n <= KG2G_CHOICES_MAX; n++)
		many[n].port = n;
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 1, many, KG2G_CHOICES_MAX + 1),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 1, many, KG2G_CHOICES_MAX), 0);
	kg2g_route_builder_free(builder);
	kg2g_route_builder_free(NULL);
}

static void builder_commits_once(struct kunit *test)
{
	struct kg2g_route_builder *builder = kg2g_route_builder_alloc(8);
	struct kg2g_routes *routes = kg2g_routes_alloc(2, 8);
	struct kg2g_routes *other = kg2g_routes_alloc(2, 9);
	const struct kg2g_choice choice = { .port = 3 };

	KUNIT_ASSERT_NOT_NULL(test, builder);
	KUNIT_ASSERT_NOT_NULL(test, routes);
	KUNIT_ASSERT_NOT_NULL(test, other);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_set(builder, 7, &choice, 1), 0);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_commit(builder, routes, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_commit(builder, other, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_commit(builder, routes, 0), 0);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_commit(builder, routes, 0), -EEXIST);
	KUNIT_EXPECT_EQ(test, kg2g_route_builder_commit(builder, routes, 1), 0);
	KUNIT_EXPECT_NE(test, kg2g_group(routes, 0, 7), 0);
	KUNIT_EXPECT_EQ(test, kg2g_group(routes, 1, 7), 0);
	KUNIT_EXPECT_EQ(test, kg2g_nr_groups(routes, 1), 1);
	kg2g_route_builder_free(builder);
	kg2g_routes_free(routes);
	kg2g_routes_free(other);
	kg2g_routes_free(NULL);
}

#define SHARED	61

/* As many sets as there can be: each is found again, by the ids that are to share it alone. */
static void builder_shares_groups(struct kunit *test)
{
	struct kg2g_route_builder *builder = kg2g_route_builder_alloc(KIWI_G2G_ACCELS_MAX);
	struct kg2g_routes *routes = kg2g_routes_alloc(1, KIWI_G2G_ACCELS_MAX);
	struct kg2g_choice choices[3] = { };
	unsigned int id;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, builder);
	KUNIT_ASSERT_NOT_NULL(test, routes);
	for (id = 0; id < KIWI_G2G_ACCELS_MAX; id++) {
		choices[0].port = id % SHARED;
		choices[1].port = id % SHARED + 1;
		choices[1].vc = id % SHARED % 3;
		choices[2].port = 100 + id % SHARED / 5;
		ret = kg2g_route_builder_set(builder, id, choices, 1 + id % SHARED % 3);
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
	KUNIT_ASSERT_EQ(test, kg2g_route_builder_commit(builder, routes, 0), 0);
	KUNIT_EXPECT_EQ(test, kg2g_nr_groups(routes, 0), SHARED + 1);
	for (id = 0; id < KIWI_G2G_ACCELS_MAX; id++) {
		u16 group = kg2g_group(routes, 0, id);

		KUNIT_ASSERT_EQ(test, group, 1 + id % SHARED);
		KUNIT_ASSERT_EQ(test, kg2g_nr_choices(routes, 0, group), 1 + id % SHARED % 3);
		KUNIT_ASSERT_EQ(test, kg2g_choices(routes, 0, group)->port, id % SHARED);
	}
	kg2g_route_builder_free(builder);
	kg2g_routes_free(routes);
}

static struct kg2g_choice pair_of(u16 id, u16 stride, u16 n)
{
	return (struct kg2g_choice) { .port = id / 2 * stride + n };
}

/* As many sets as there can be; each has half of another, and is not taken for it. */
static void all_sets_differ(struct kunit *test, u16 stride)
{
	struct kg2g_route_builder *builder = kg2g_route_builder_alloc(KIWI_G2G_ACCELS_MAX);
	struct kg2g_routes *routes = kg2g_routes_alloc(1, KIWI_G2G_ACCELS_MAX);
	struct kg2g_choice choices[2];
	u16 id, group;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, builder);
	KUNIT_ASSERT_NOT_NULL(test, routes);
	for (id = 0; id < KIWI_G2G_ACCELS_MAX; id++) {
		choices[0] = pair_of(id, stride, 0);
		choices[1] = pair_of(id, stride, 1);
		ret = kg2g_route_builder_set(builder, id, choices, 2 - id % 2);
		KUNIT_ASSERT_EQ(test, ret, 0);
	}
	KUNIT_ASSERT_EQ(test, kg2g_route_builder_commit(builder, routes, 0), 0);
	KUNIT_EXPECT_EQ(test, kg2g_nr_groups(routes, 0), KIWI_G2G_ACCELS_MAX + 1);
	for (id = 0; id < KIWI_G2G_ACCELS_MAX; id++) {
		group = kg2g_group(routes, 0, id);
		KUNIT_ASSERT_EQ(test, kg2g_nr_choices(routes, 0, group), 2 - id % 2);
		KUNIT_ASSERT_EQ(test, kg2g_choices(routes, 0, group)->port,
				pair_of(id, stride, 0).port);
	}
	kg2g_route_builder_free(builder);
	kg2g_routes_free(routes);
}

static void builder_has_room_for_all(struct kunit *test)
{
	u16 stride;

	for (stride = 1; stride < 128; stride += 6)
		all_sets_differ(test, stride);
}

static struct kunit_case table_cases[] = {
	KUNIT_CASE(graph_nodes),
	KUNIT_CASE(graph_too_large),
	KUNIT_CASE(graph_links),
	KUNIT_CASE(builder_refuses),
	KUNIT_CASE(builder_commits_once),
	KUNIT_CASE(builder_shares_groups),
	KUNIT_CASE(builder_has_room_for_all),
	{}
};

static struct kunit_suite table_suite = {
	.name = "kiwi_g2g_route_table",
	.test_cases = table_cases,
};

kunit_test_suite(table_suite);
