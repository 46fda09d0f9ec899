// SPDX-License-Identifier: GPL-2.0
#include <linux/kernel.h>
#include <linux/slab.h>

#include "paths.h"

#define CHOICES		16

static int set_entries(struct kg2g_route_builder *builder, u16 node, const struct entry *entries,
		       unsigned int nr)
{
	struct kg2g_choice choices[CHOICES];
	unsigned int n, found = 0;
	int ret = 0;

	for (n = 0; n < nr && !ret; n++) {
		if (entries[n].node != node)
			continue;
		if (found == CHOICES)
			return -E2BIG;
		choices[found++] = (struct kg2g_choice) {
			.port = entries[n].port,
			.vc = entries[n].vc,
		};
		if (n + 1 < nr && entries[n + 1].node == node && entries[n + 1].id == entries[n].id)
			continue;
		ret = kg2g_route_builder_set(builder, entries[n].id, choices, found);
		found = 0;
	}
	return ret;
}

struct kg2g_routes *build_table(struct kg2g_route_builder *builder,
				const struct kg2g_graph *graph, const struct entry *entries,
				unsigned int nr)
{
	struct kg2g_routes *routes = kg2g_routes_alloc(graph->nr_nodes, builder->nr_ids);
	int ret = routes ? 0 : -ENOMEM;
	unsigned int node;

	for (node = 0; node < graph->nr_nodes && !ret; node++) {
		ret = set_entries(builder, node, entries, nr);
		if (!ret)
			ret = kg2g_route_builder_commit(builder, routes, node);
	}
	if (!ret)
		return routes;
	kg2g_routes_free(routes);
	return NULL;
}

struct kg2g_routes *table_of(const struct kg2g_graph *graph, const struct entry *entries,
			     unsigned int nr)
{
	struct kg2g_route_builder *builder;
	struct kg2g_routes *routes = NULL;
	unsigned int n, nr_ids = 0;

	for (n = 0; n < KIWI_G2G_ACCELS_MAX; n++) {
		if (graph->node_of[n] != KG2G_NO_NODE)
			nr_ids = n + 1;
	}
	for (n = 0; n < nr; n++)
		nr_ids = max(nr_ids, entries[n].id + 1U);
	builder = kg2g_route_builder_alloc(nr_ids);
	if (builder)
		routes = build_table(builder, graph, entries, nr);
	kg2g_route_builder_free(builder);
	return routes;
}

static void path_text(const struct kg2g_route_verdict *verdict, char *text, size_t size)
{
	const struct kg2g_step *step;
	size_t len = 0;
	u32 n;

	text[0] = 0;
	for (n = 0; n < verdict->nr_steps; n++) {
		step = &verdict->steps[n];
		len += scnprintf(text + len, size - len, "%s%u:%u", n ? " " : "", step->id,
				 step->node);
		if (step->port != KG2G_STEP_NO_PORT)
			len += scnprintf(text + len, size - len, ".%u/%u", step->port, step->vc);
	}
}

void expect_refused(struct kunit *test, const struct kg2g_graph *graph,
		    struct kg2g_routes *routes, const struct kg2g_route_limits *limits,
		    enum kg2g_route_fault fault, const char *path)
{
	struct kg2g_route_verdict verdict;
	char text[256];

	KUNIT_ASSERT_NOT_NULL(test, routes);
	KUNIT_ASSERT_EQ(test, kg2g_routes_check(graph, routes, limits, &verdict), 0);
	path_text(&verdict, text, sizeof(text));
	KUNIT_EXPECT_STREQ(test, kg2g_route_fault_text(verdict.fault),
			   kg2g_route_fault_text(fault));
	KUNIT_EXPECT_STREQ(test, text, path);
	kg2g_route_verdict_release(&verdict);
	kg2g_routes_free(routes);
}

void expect_accepted(struct kunit *test, const struct kg2g_graph *graph,
		     struct kg2g_routes *routes, const struct kg2g_route_limits *limits)
{
	expect_refused(test, graph, routes, limits, KG2G_ROUTE_OK, "");
}

struct kg2g_routes *make_right(struct kunit *test, const struct kg2g_graph *graph,
			       const struct kg2g_route_limits *limits)
{
	struct kg2g_route_verdict verdict;
	struct kg2g_routes *routes;

	KUNIT_ASSERT_EQ(test, kg2g_routes_make(graph, limits, &routes, &verdict), 0);
	KUNIT_ASSERT_NOT_NULL(test, routes);
	KUNIT_ASSERT_EQ(test, kg2g_routes_check(graph, routes, limits, &verdict), 0);
	KUNIT_EXPECT_STREQ(test, kg2g_route_fault_text(verdict.fault), "no fault");
	kg2g_route_verdict_release(&verdict);
	return routes;
}
