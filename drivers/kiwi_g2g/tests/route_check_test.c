// SPDX-License-Identifier: GPL-2.0
/* Planted faults: each is refused, and the path is the one that was planted. */
#include "paths.h"

static const struct kg2g_route_limits limits = { .max_hops = 17, .nr_vcs = 2 };

static int ring_init(struct kunit *test)
{
	test->priv = topology_ring(4);
	return test->priv ? 0 : -ENOMEM;
}

static void ring_exit(struct kunit *test)
{
	kg2g_graph_free(test->priv);
}

static void refused(struct kunit *test, const struct entry *entries, unsigned int nr,
		    enum kg2g_route_fault fault, const char *path)
{
	const struct kg2g_graph *graph = test->priv;

	expect_refused(test, graph, table_of(graph, entries, nr), &limits, fault, path);
}

/* In a ring of 4, all go on by port 1, or back by port 0 to the node before. */
static void ring_credit_cycle(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 0 }, { 0, 3, 0, 0 },
		{ 1, 2, 1, 0 }, { 1, 3, 1, 0 }, { 1, 0, 0, 0 },
		{ 2, 3, 1, 0 }, { 2, 0, 1, 0 }, { 2, 1, 0, 0 },
		{ 3, 0, 1, 0 }, { 3, 1, 1, 0 }, { 3, 2, 0, 0 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_CREDIT_CYCLE,
		"2:0.1/0 3:1.1/0 0:2.1/0 1:3.1/0");
}

/* The same, but what has two hops to go is in VC 1. */
static void ring_vc_escalates(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 1 }, { 0, 3, 0, 0 },
		{ 1, 2, 1, 0 }, { 1, 3, 1, 1 }, { 1, 0, 0, 0 },
		{ 2, 3, 1, 0 }, { 2, 0, 1, 1 }, { 2, 1, 0, 0 },
		{ 3, 0, 1, 0 }, { 3, 1, 1, 1 }, { 3, 2, 0, 0 },
	};

	expect_accepted(test, test->priv, table_of(test->priv, entries, ARRAY_SIZE(entries)),
			&limits);
}

/* A change of VC at one node alone: the cycle goes through both, and names the VC. */
static void ring_cycle_through_two_vcs(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 1 }, { 0, 2, 1, 1 }, { 0, 3, 0, 1 },
		{ 1, 2, 1, 0 }, { 1, 3, 1, 0 }, { 1, 0, 0, 0 },
		{ 2, 3, 1, 0 }, { 2, 0, 1, 0 }, { 2, 1, 0, 0 },
		{ 3, 0, 1, 0 }, { 3, 1, 1, 0 }, { 3, 2, 0, 0 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_CREDIT_CYCLE,
		"2:0.1/1 3:1.1/0 0:2.1/0 1:3.1/0");
}

/* Where nobody goes on through node 3, nobody can wait in a circle. */
static void ring_broken_is_no_cycle(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 0 }, { 0, 3, 0, 0 },
		{ 1, 2, 1, 0 }, { 1, 3, 1, 0 }, { 1, 0, 0, 0 },
		{ 2, 3, 1, 0 }, { 2, 0, 0, 0 }, { 2, 1, 0, 0 },
		{ 3, 0, 1, 0 }, { 3, 2, 0, 0 }, { 3, 1, 0, 0 },
	};

	expect_accepted(test, test->priv, table_of(test->priv, entries, ARRAY_SIZE(entries)),
			&limits);
}

static void ring_loop(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 0 }, { 0, 3, 0, 0 },
		{ 2, 3, 1, 0 }, { 2, 0, 1, 0 }, { 2, 1, 0, 0 },
		{ 3, 0, 1, 0 }, { 3, 1, 1, 0 }, { 3, 2, 0, 0 },
		{ 1, 0, 0, 0 }, { 1, 2, 0, 0 }, { 1, 2, 1, 0 },
		{ 1, 3, 1, 0 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_LOOP, "2:0.1/0 2:1.0/0");
}

/* A packet comes to the loop from node 0, which is not a part of it. */
static void ring_loop_behind_a_lead(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 0 }, { 0, 3, 1, 0 },
		{ 3, 0, 1, 0 }, { 3, 1, 1, 0 }, { 3, 2, 0, 0 },
		{ 1, 2, 1, 0 }, { 1, 3, 1, 0 }, { 1, 0, 0, 0 },
		{ 2, 3, 0, 1 }, { 2, 0, 1, 0 }, { 2, 1, 0, 0 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_LOOP, "3:1.1/0 3:2.0/1");
}

static void ring_no_route_at_start(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 0 }, { 0, 3, 0, 0 },
		{ 1, 2, 1, 0 }, { 1, 3, 1, 0 }, { 1, 0, 0, 0 },
		{ 3, 0, 1, 0 }, { 3, 1, 1, 0 }, { 3, 2, 0, 0 },
		{ 2, 3, 1, 0 }, { 2, 0, 1, 0 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_UNREACHABLE, "1:2");
}

static void ring_no_route_on_the_way(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 0 }, { 0, 3, 0, 0 },
		{ 2, 3, 1, 0 }, { 2, 0, 1, 0 }, { 2, 1, 0, 0 },
		{ 3, 0, 1, 0 }, { 3, 1, 1, 0 }, { 3, 2, 0, 0 },
		{ 1, 0, 0, 0 }, { 1, 3, 1, 0 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_UNREACHABLE, "2:0.1/0 2:1");
}

static void ring_no_routes_at_all(struct kunit *test)
{
	refused(test, NULL, 0, KG2G_ROUTE_UNREACHABLE, "0:1");
}

/* The table ends before the last accelerator. */
static void ring_table_too_short(struct kunit *test)
{
	const struct kg2g_graph *graph = test->priv;

	expect_refused(test, graph, kg2g_routes_alloc(4, 0), &limits, KG2G_ROUTE_UNREACHABLE,
		       "0:1");
	expect_refused(test, graph, kg2g_routes_alloc(4, 2), &limits, KG2G_ROUTE_UNREACHABLE,
		       "2:0");
}

static void ring_hop_limit(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 0, 0 }, { 0, 2, 0, 0 }, { 0, 3, 0, 0 },
		{ 1, 0, 0, 0 }, { 1, 2, 1, 0 }, { 1, 3, 1, 0 },
		{ 2, 0, 1, 0 }, { 2, 1, 0, 0 }, { 2, 3, 1, 0 },
		{ 3, 0, 1, 0 }, { 3, 1, 0, 0 }, { 3, 2, 0, 0 },
	};
	const struct kg2g_route_limits three = { .max_hops = 3, .nr_vcs = 1 };
	const struct kg2g_route_limits two = { .max_hops = 2, .nr_vcs = 1 };
	const struct kg2g_graph *graph = test->priv;

	expect_accepted(test, graph, table_of(graph, entries, ARRAY_SIZE(entries)), &three);
	expect_refused(test, graph, table_of(graph, entries, ARRAY_SIZE(entries)), &two,
		       KG2G_ROUTE_TOO_LONG, "1:0.0/0 1:3.0/0 1:2.0/0");
}

/* The longest of several ways counts, and is the one that is named. */
static void ring_hop_limit_of_choices(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 0, 0 }, { 0, 1, 1, 0 }, { 0, 2, 0, 0 },
		{ 0, 3, 0, 0 }, { 1, 0, 0, 0 }, { 1, 2, 1, 0 },
		{ 1, 3, 1, 0 }, { 2, 0, 1, 0 }, { 2, 1, 0, 0 },
		{ 2, 3, 1, 0 }, { 3, 0, 1, 0 }, { 3, 1, 0, 0 },
		{ 3, 2, 0, 0 },
	};
	const struct kg2g_route_limits two = { .max_hops = 2, .nr_vcs = 1 };
	const struct kg2g_graph *graph = test->priv;

	expect_refused(test, graph, table_of(graph, entries, ARRAY_SIZE(entries)), &two,
		       KG2G_ROUTE_TOO_LONG, "1:0.0/0 1:3.0/0 1:2.0/0");
}

/*
 * In a ring of 6: the entries for those 1, 2 and 3 places on, in given VCs, by port 1, and for
 * those 1 and 2 back, which is VC 0 and 1.
 */
static void six_entries(struct entry *entries, u16 one_vc, u16 two_vc, u16 three_vc)
{
	u16 node;

	for (node = 0; node < 6; node++) {
		*entries++ = (struct entry) { node, (node + 1) % 6, 1, one_vc };
		*entries++ = (struct entry) { node, (node + 2) % 6, 1, two_vc };
		*entries++ = (struct entry) { node, (node + 3) % 6, 1, three_vc };
		*entries++ = (struct entry) { node, (node + 4) % 6, 0, 1 };
		*entries++ = (struct entry) { node, (node + 5) % 6, 0, 0 };
	}
}

/* Ports that use two VCs: the cycle is in the higher one alone. */
static void six_cycle_in_one_of_two_vcs(struct kunit *test)
{
	struct kg2g_graph *graph = topology_ring(6);
	struct entry entries[30];

	KUNIT_ASSERT_NOT_NULL(test, graph);
	six_entries(entries, 1, 1, 0);
	expect_refused(test, graph, table_of(graph, entries, 30), &limits,
		       KG2G_ROUTE_CREDIT_CYCLE,
		       "2:0.1/1 3:1.1/1 4:2.1/1 5:3.1/1 0:4.1/1 1:5.1/1");
	six_entries(entries, 0, 1, 1);
	expect_refused(test, graph, table_of(graph, entries, 30), &limits,
		       KG2G_ROUTE_CREDIT_CYCLE,
		       "3:0.1/1 4:1.1/1 5:2.1/1 0:3.1/1 1:4.1/1 2:5.1/1");
	kg2g_graph_free(graph);
}

/* The first of two ways is the longer one, and neither was walked before. */
static void six_hop_limit_of_first_choice(struct kunit *test)
{
	const struct kg2g_route_limits three = { .max_hops = 3, .nr_vcs = 2 };
	struct kg2g_graph *graph = topology_ring(6);
	struct entry entries[31];

	KUNIT_ASSERT_NOT_NULL(test, graph);
	entries[0] = (struct entry) { 0, 2, 0, 0 };
	six_entries(entries + 1, 0, 1, 1);
	swap(entries[0], entries[1]);
	/* From node 5 on to 2 it is back, all the way. */
	entries[1 + 5 * 5 + 2].port = 0;
	expect_refused(test, graph, table_of(graph, entries, 31), &three, KG2G_ROUTE_TOO_LONG,
		       "2:0.0/0 2:5.0/1 2:4.0/1 2:3.0/0");
	kg2g_graph_free(graph);
}

static void ring_unknown_id(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 0 }, { 0, 3, 0, 0 },
		{ 1, 2, 1, 0 }, { 1, 3, 1, 0 }, { 1, 0, 0, 0 },
		{ 1, 1023, 1, 0 }, { 2, 3, 1, 0 }, { 2, 0, 1, 0 },
		{ 2, 1, 0, 0 }, { 3, 0, 1, 0 }, { 3, 1, 1, 0 },
		{ 3, 2, 0, 0 },
	};
	static const struct entry next[] = { { 2, 4, 0, 1 } };

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_UNKNOWN_ID, "1023:1.1/0");
	refused(test, next, ARRAY_SIZE(next), KG2G_ROUTE_UNKNOWN_ID, "4:2.0/1");
}

static void ring_own_id(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 1, 0 }, { 0, 2, 1, 0 }, { 0, 3, 0, 0 },
		{ 1, 2, 1, 0 }, { 1, 3, 1, 0 }, { 1, 0, 0, 0 },
		{ 2, 3, 1, 0 }, { 2, 0, 1, 0 }, { 2, 1, 0, 0 },
		{ 2, 2, 1, 0 }, { 3, 0, 1, 0 }, { 3, 1, 1, 0 },
		{ 3, 2, 0, 0 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_OWN_ID, "2:2.1/0");
}

static void ring_no_such_port(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 3, 0, 1, 0 }, { 3, 1, 0, 0 }, { 3, 1, 2, 0 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_NO_PORT, "1:3.2/0");
}

static void ring_no_such_vc(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 1, 0, 0, 1 }, { 1, 0, 1, 2 },
	};

	refused(test, entries, ARRAY_SIZE(entries), KG2G_ROUTE_BAD_VC, "0:1.1/2");
}

static void with_flags(struct kunit *test, u16 node, u16 port, u16 flags,
		       enum kg2g_route_fault fault)
{
	static const struct entry entries[] = { { 1, 2, 1, 0 } };
	struct kg2g_graph *graph = test->priv;

	KUNIT_ASSERT_EQ(test, kg2g_graph_set_port(graph, node, port, flags), 0);
	refused(test, entries, ARRAY_SIZE(entries), fault,
		fault == KG2G_ROUTE_UNREACHABLE ? "0:1" : "2:1.1/0");
	KUNIT_ASSERT_EQ(test, kg2g_graph_set_port(graph, node, port, KG2G_PORT_FLAGS), 0);
}

/* Of node 1's port 1, and of node 2's port 0 at its other end; that may be closed to packets. */
static void ring_dead_ports(struct kunit *test)
{
	with_flags(test, 1, 1, 0, KG2G_ROUTE_PORT_DISABLED);
	with_flags(test, 1, 1, KIWI_G2G_PORT_ROUTABLE, KG2G_ROUTE_PORT_DISABLED);
	with_flags(test, 1, 1, KIWI_G2G_PORT_ENABLED, KG2G_ROUTE_NOT_ROUTABLE);
	with_flags(test, 2, 0, 0, KG2G_ROUTE_PORT_DISABLED);
	with_flags(test, 2, 0, KIWI_G2G_PORT_ROUTABLE, KG2G_ROUTE_PORT_DISABLED);
	with_flags(test, 2, 0, KIWI_G2G_PORT_ENABLED, KG2G_ROUTE_UNREACHABLE);
}

static void unlinked_port(struct kunit *test)
{
	static const struct entry entries[] = { { 0, 7, 0, 0 }, { 1, 5, 0, 0 } };
	struct kg2g_graph *graph = kg2g_graph_alloc(2, 3);

	KUNIT_ASSERT_NOT_NULL(test, graph);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, 5, 2), 0);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, 7, 1), 1);
	KUNIT_EXPECT_EQ(test, kg2g_graph_connect(graph, 0, 1, 1, 0), 0);
	expect_refused(test, graph, table_of(graph, entries, 2), &limits, KG2G_ROUTE_NO_LINK,
		       "7:0.0/0");
	kg2g_graph_free(graph);
}

static void ring_sizes_that_do_not_fit(struct kunit *test)
{
	static const struct kg2g_route_limits none = { .max_hops = 2 };
	static const struct kg2g_route_limits many = {
		.max_hops = 2, .nr_vcs = KG2G_VCS_MAX + 1,
	};
	const struct kg2g_graph *graph = test->priv;
	struct kg2g_routes *routes = kg2g_routes_alloc(3, 4);
	struct kg2g_route_verdict verdict;

	KUNIT_ASSERT_NOT_NULL(test, routes);
	KUNIT_EXPECT_EQ(test, kg2g_routes_check(graph, routes, &limits, &verdict), -EINVAL);
	kg2g_routes_free(routes);
	routes = kg2g_routes_alloc(4, 4);
	KUNIT_ASSERT_NOT_NULL(test, routes);
	KUNIT_EXPECT_EQ(test, kg2g_routes_check(graph, routes, &none, &verdict), -EINVAL);
	KUNIT_EXPECT_EQ(test, kg2g_routes_check(graph, routes, &many, &verdict), -EINVAL);
	kg2g_routes_free(routes);
}

/* Two dies on two spines, nodes 2 and 3: VC 1 by spine 3. */
static void switch_keeps_the_vc(struct kunit *test)
{
	static const struct entry right[] = {
		{ 0, 1, 0, 0 }, { 0, 1, 1, 1 }, { 1, 0, 0, 0 },
		{ 1, 0, 1, 1 }, { 2, 0, 0, 0 }, { 2, 1, 1, 0 },
		{ 3, 0, 0, 1 }, { 3, 1, 1, 1 },
	};
	static const struct entry changed[] = {
		{ 0, 1, 0, 0 }, { 0, 1, 1, 1 }, { 1, 0, 0, 0 },
		{ 1, 0, 1, 1 }, { 2, 0, 0, 0 }, { 2, 1, 1, 0 },
		{ 3, 0, 0, 1 }, { 3, 1, 1, 0 },
	};
	static const struct entry both[] = { { 2, 0, 0, 0 }, { 2, 0, 0, 1 } };
	struct kg2g_graph *graph = topology_spine_leaf(2, 2);

	KUNIT_ASSERT_NOT_NULL(test, graph);
	expect_accepted(test, graph, table_of(graph, right, ARRAY_SIZE(right)), &limits);
	expect_refused(test, graph, table_of(graph, changed, ARRAY_SIZE(changed)), &limits,
		       KG2G_ROUTE_VC_CHANGED, "1:0.1/1 1:3.1/0");
	expect_refused(test, graph, table_of(graph, both, ARRAY_SIZE(both)), &limits,
		       KG2G_ROUTE_VC_CHANGED, "0:2.0/1");
	kg2g_graph_free(graph);
}

/* A switch that nobody sends to may be without routes; if it has some, they count. */
static void switch_aside(struct kunit *test)
{
	static const struct entry entries[] = {
		{ 0, 1, 0, 0 }, { 1, 0, 0, 0 }, { 2, 0, 0, 0 },
		{ 2, 1, 1, 0 }, { 3, 1, 0, 0 },
	};
	static const struct entry no_port[] = { { 3, 1, 2, 0 } };
	const struct kg2g_route_limits two = { .max_hops = 2, .nr_vcs = 1 };
	struct kg2g_graph *graph = topology_spine_leaf(2, 2);

	KUNIT_ASSERT_NOT_NULL(test, graph);
	expect_accepted(test, graph, table_of(graph, entries, 4), &two);
	expect_accepted(test, graph, table_of(graph, entries, 5), &limits);
	expect_refused(test, graph, table_of(graph, entries, 5), &two, KG2G_ROUTE_TOO_LONG,
		       "1:3.0/0 1:0.0/0 1:2.1/0");
	expect_refused(test, graph, table_of(graph, no_port, 1), &two, KG2G_ROUTE_NO_PORT,
		       "1:3.2/0");
	kg2g_graph_free(graph);
}

static void nothing_to_reach(struct kunit *test)
{
	struct kg2g_graph *graph = kg2g_graph_alloc(1, 0);
	struct kg2g_graph *empty = kg2g_graph_alloc(0, 0);

	KUNIT_ASSERT_NOT_NULL(test, graph);
	KUNIT_ASSERT_NOT_NULL(test, empty);
	KUNIT_EXPECT_EQ(test, kg2g_graph_add(graph, 3, 0), 0);
	expect_accepted(test, graph, kg2g_routes_alloc(1, 4), &limits);
	expect_accepted(test, graph, kg2g_routes_alloc(1, 0), &limits);
	expect_accepted(test, empty, kg2g_routes_alloc(0, 0), &limits);
	kg2g_graph_free(graph);
	kg2g_graph_free(empty);
}

static struct kunit_case check_cases[] = {
	KUNIT_CASE(ring_credit_cycle),
	KUNIT_CASE(ring_vc_escalates),
	KUNIT_CASE(ring_cycle_through_two_vcs),
	KUNIT_CASE(ring_broken_is_no_cycle),
	KUNIT_CASE(ring_loop),
	KUNIT_CASE(ring_loop_behind_a_lead),
	KUNIT_CASE(ring_no_route_at_start),
	KUNIT_CASE(ring_no_route_on_the_way),
	KUNIT_CASE(ring_no_routes_at_all),
	KUNIT_CASE(ring_table_too_short),
	KUNIT_CASE(ring_hop_limit),
	KUNIT_CASE(ring_hop_limit_of_choices),
	KUNIT_CASE(six_cycle_in_one_of_two_vcs),
	KUNIT_CASE(six_hop_limit_of_first_choice),
	KUNIT_CASE(ring_unknown_id),
	KUNIT_CASE(ring_own_id),
	KUNIT_CASE(ring_no_such_port),
	KUNIT_CASE(ring_no_such_vc),
	KUNIT_CASE(ring_dead_ports),
	KUNIT_CASE(ring_sizes_that_do_not_fit),
	KUNIT_CASE(unlinked_port),
	KUNIT_CASE(switch_keeps_the_vc),
	KUNIT_CASE(switch_aside),
	KUNIT_CASE(nothing_to_reach),
	{}
};

static struct kunit_suite check_suite = {
	.name = "kiwi_g2g_route_check",
	.init = ring_init,
	.exit = ring_exit,
	.test_cases = check_cases,
};

kunit_test_suite(check_suite);
