// SPDX-License-Identifier: GPL-2.0
/* Tables that are made, for fabrics whose best routes are known. */
#include "paths.h"

static const struct kg2g_route_limits limits = { .max_hops = 17, .nr_vcs = 2 };

/* The table of a graph has so many choices, which use these VCs. */
static void expect_table(struct kunit *test, struct kg2g_graph *graph,
			 const struct kg2g_route_limits *lim, u32 choices, u16 vcs)
{
	struct kg2g_routes *routes;
	u32 node, n, found = 0;
	u16 id, group, seen = 0;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	routes = make_right(test, graph, lim);
	for (node = 0; node < graph->nr_nodes; node++) {
		for (id = 0; id < routes->nr_ids; id++) {
			group = kg2g_group(routes, node, id);
			for (n = 0; n < kg2g_nr_choices(routes, node, group); n++)
				seen |= BIT(kg2g_choices(routes, node, group)[n].vc);
			found += n;
		}
	}
	KUNIT_EXPECT_EQ(test, found, choices);
	KUNIT_EXPECT_EQ(test, seen, vcs);
	kg2g_routes_free(routes);
	kg2g_graph_free(graph);
}

static void make_full_mesh(struct kunit *test)
{
	expect_table(test, topology_full_mesh(9), &limits, 9 * 8, BIT(0));
}

/* Each die has all spines to choose from; each spine has one way to each die. */
static void make_spine_leaf(struct kunit *test)
{
	expect_table(test, topology_spine_leaf(8, 3), &limits, 8 * 7 * 3 + 3 * 8, BIT(0));
}

/* A die has one way, a leaf one way to its 2 dies and 2 to the other 6, a spine one to each. */
static void make_leaves(struct kunit *test)
{
	expect_table(test, topology_leaves(8, 4, 2), &limits,
		     8 * 7 + 4 * (2 + 6 * 2) + 2 * 8, BIT(0));
}

/* 3 x 3 dies: 4 others are one hop away, and 4 are two, by two ways, which needs two VCs. */
static void make_grid(struct kunit *test)
{
	expect_table(test, topology_grid(3), &limits, 9 * (4 + 4 * 2), BIT(0) | BIT(1));
}

/* The die opposite is two hops away by either way: VC 1, then VC 0. */
static void make_ring_by_hops(struct kunit *test)
{
	expect_table(test, topology_ring(4), &limits, 4 * (1 + 1 + 2), BIT(0) | BIT(1));
}

/* With one VC, or more hops than VCs, a ring is cut at one place. */
static void make_ring_up_down(struct kunit *test)
{
	const struct kg2g_route_limits one = { .max_hops = 17, .nr_vcs = 1 };
	struct kg2g_graph *graph = topology_ring(8);
	struct kg2g_routes *routes;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	routes = make_right(test, graph, &one);
	kg2g_routes_free(routes);
	routes = make_right(test, graph, &limits);
	kg2g_routes_free(routes);
	kg2g_graph_free(graph);
}

/* Dies in a ring over switches: a switch cannot change the VC, so up and down it is. */
static void make_ring_of_switches(struct kunit *test)
{
	const struct kg2g_route_limits many = { .max_hops = 17, .nr_vcs = 16 };
	struct kg2g_graph *graph = kg2g_graph_alloc(12, 24);
	struct kg2g_routes *routes;
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	for (n = 0; n < 6; n++)
		KUNIT_ASSERT_EQ(test, kg2g_graph_add(graph, n, 1), n);
	for (n = 0; n < 6; n++)
		KUNIT_ASSERT_EQ(test, kg2g_graph_add(graph, KIWI_G2G_ACCEL_NONE, 3), 6 + n);
	for (n = 0; n < 6; n++) {
		KUNIT_ASSERT_EQ(test, topology_link(graph, n, 6 + n), 0);
		KUNIT_ASSERT_EQ(test, topology_link(graph, 6 + n, 6 + (n + 1) % 6), 0);
	}
	routes = make_right(test, graph, &many);
	kg2g_routes_free(routes);
	kg2g_graph_free(graph);
}

/* Rings with a chord from each die: with one VC, ways up and down of many shapes. */
static void make_rings_with_chords(struct kunit *test)
{
	const struct kg2g_route_limits one = { .max_hops = 24, .nr_vcs = 1 };
	struct kg2g_routes *routes;
	struct kg2g_graph *graph;
	u32 dies, n;

	for (dies = 6; dies < 24; dies += 3) {
		graph = kg2g_graph_alloc(dies, 8 * dies);
		KUNIT_ASSERT_NOT_NULL(test, graph);
		for (n = 0; n < dies; n++)
			KUNIT_ASSERT_EQ(test, kg2g_graph_add(graph, n, 8), n);
		for (n = 0; n < dies; n++) {
			topology_link(graph, n, (n + 1) % dies);
			topology_link(graph, n, (5 * n + 2) % dies);
		}
		routes = make_right(test, graph, &one);
		kg2g_routes_free(routes);
		kg2g_graph_free(graph);
	}
}

static void make_islands(struct kunit *test)
{
	struct kg2g_graph *graph = topology_islands(4, 4, 2, 4);
	struct kg2g_routes *routes;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	routes = make_right(test, graph, &limits);
	kg2g_routes_free(routes);
	kg2g_graph_free(graph);
}

/* Of a full mesh, each link is lost in turn, and each pair of links in one direction. */
static void make_without_links(struct kunit *test)
{
	struct kg2g_graph *graph = topology_full_mesh(5);
	struct kg2g_routes *routes;
	u32 a, b;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	for (a = 0; a < graph->nr_ports; a++) {
		for (b = a; b < graph->nr_ports; b++) {
			graph->ports[a].flags = 0;
			graph->ports[b].flags &= ~KIWI_G2G_PORT_ROUTABLE;
			routes = make_right(test, graph, &limits);
			kg2g_routes_free(routes);
			graph->ports[a].flags = KG2G_PORT_FLAGS;
			graph->ports[b].flags = KG2G_PORT_FLAGS;
		}
	}
	kg2g_graph_free(graph);
}

static void expect_no_table(struct kunit *test, const struct kg2g_graph *graph,
			    const struct kg2g_route_limits *lim, enum kg2g_route_fault fault,
			    u16 id, u16 node)
{
	struct kg2g_route_verdict verdict;
	struct kg2g_routes *routes;

	KUNIT_ASSERT_EQ(test, kg2g_routes_make(graph, lim, &routes, &verdict), 0);
	KUNIT_EXPECT_NULL(test, routes);
	KUNIT_ASSERT_EQ(test, verdict.nr_steps, 1);
	KUNIT_EXPECT_EQ(test, verdict.fault, fault);
	KUNIT_EXPECT_EQ(test, verdict.steps->id, id);
	KUNIT_EXPECT_EQ(test, verdict.steps->node, node);
	KUNIT_EXPECT_EQ(test, verdict.steps->port, KG2G_STEP_NO_PORT);
	kg2g_route_verdict_release(&verdict);
}

/* A ring of 4 that is cut twice, so that nodes 2 and 3 are alone. */
static void make_for_parts(struct kunit *test)
{
	struct kg2g_graph *graph = topology_ring(4);

	KUNIT_ASSERT_NOT_NULL(test, graph);
	kg2g_graph_set_port(graph, 1, 1, KIWI_G2G_PORT_ROUTABLE);
	kg2g_graph_set_port(graph, 3, 1, KIWI_G2G_PORT_ENABLED);
	expect_no_table(test, graph, &limits, KG2G_ROUTE_UNREACHABLE, 0, 2);
	kg2g_graph_free(graph);
}

static void make_beyond_the_hops(struct kunit *test)
{
	const struct kg2g_route_limits three = { .max_hops = 3, .nr_vcs = 2 };
	const struct kg2g_route_limits four = { .max_hops = 4, .nr_vcs = 4 };
	struct kg2g_graph *graph = topology_ring(8);
	struct kg2g_routes *routes;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	expect_no_table(test, graph, &three, KG2G_ROUTE_TOO_LONG, 0, 4);
	routes = make_right(test, graph, &four);
	kg2g_routes_free(routes);
	kg2g_graph_free(graph);
}

static void make_limits_out_of_range(struct kunit *test)
{
	struct kg2g_route_limits bad = { .max_hops = 3 };
	struct kg2g_graph *graph = topology_ring(3);
	struct kg2g_route_verdict verdict;
	struct kg2g_routes *routes;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	KUNIT_EXPECT_EQ(test, kg2g_routes_make(graph, &bad, &routes, &verdict), -EINVAL);
	KUNIT_EXPECT_NULL(test, routes);
	bad.nr_vcs = KG2G_VCS_MAX + 1;
	KUNIT_EXPECT_EQ(test, kg2g_routes_make(graph, &bad, &routes, &verdict), -EINVAL);
	kg2g_graph_free(graph);
}

/* A switch that hangs on a long chain, where no accelerator's way leads, needs no hops. */
static void make_with_a_tail(struct kunit *test)
{
	const struct kg2g_route_limits one = { .max_hops = 1, .nr_vcs = 1 };
	struct kg2g_graph *graph = kg2g_graph_alloc(6, 12);
	struct kg2g_routes *routes;
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	for (n = 0; n < 6; n++)
		kg2g_graph_add(graph, n < 2 ? n : KIWI_G2G_ACCEL_NONE, 2);
	for (n = 0; n < 5; n++)
		KUNIT_ASSERT_EQ(test, topology_link(graph, n, n + 1), 0);
	routes = make_right(test, graph, &one);
	kg2g_routes_free(routes);
	kg2g_graph_free(graph);
}

static void make_for_nobody(struct kunit *test)
{
	struct kg2g_graph *graph = kg2g_graph_alloc(2, 0);
	struct kg2g_routes *routes;

	KUNIT_ASSERT_NOT_NULL(test, graph);
	routes = make_right(test, graph, &limits);
	kg2g_routes_free(routes);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, 9, 0), 0);
	routes = make_right(test, graph, &limits);
	kg2g_routes_free(routes);
	kg2g_graph_free(graph);
}

static struct kunit_case make_cases[] = {
	KUNIT_CASE(make_full_mesh),
	KUNIT_CASE(make_spine_leaf),
	KUNIT_CASE(make_leaves),
	KUNIT_CASE(make_grid),
	KUNIT_CASE(make_ring_by_hops),
	KUNIT_CASE(make_ring_up_down),
	KUNIT_CASE(make_ring_of_switches),
	KUNIT_CASE(make_rings_with_chords),
	KUNIT_CASE(make_islands),
	KUNIT_CASE(make_without_links),
	KUNIT_CASE(make_for_parts),
	KUNIT_CASE(make_beyond_the_hops),
	KUNIT_CASE(make_limits_out_of_range),
	KUNIT_CASE(make_with_a_tail),
	KUNIT_CASE(make_for_nobody),
	{}
};

static struct kunit_suite make_suite = {
	.name = "kiwi_g2g_route_make",
	.test_cases = make_cases,
};

kunit_test_suite(make_suite);
