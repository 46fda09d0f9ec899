/* SPDX-License-Identifier: GPL-2.0 */
/* Tables and paths in words: shared by the suites. */
#ifndef KIWI_G2G_TESTS_PATHS_H
#define KIWI_G2G_TESTS_PATHS_H

#include <kunit/test.h>

#include "../route_make.h"
#include "topology.h"

/* An entry with one choice. */
struct entry {
	u16 node;
	u16 id;
	u16 port;
	u16 vc;
};

/* The table of entries; those of the same node and id are choices, and stand in their order. */
struct kg2g_routes *table_of(const struct kg2g_graph *graph, const struct entry *entries,
			     unsigned int nr);

/* The same, with a builder for as many ids as the table is to have. */
struct kg2g_routes *build_table(struct kg2g_route_builder *builder,
				const struct kg2g_graph *graph, const struct entry *entries,
				unsigned int nr);

/*
 * A check of a table, which it frees, finds a fault and this path: "id:node.port/vc ...", or
 * "id:node" where a node has no route.
 */
void expect_refused(struct kunit *test, const struct kg2g_graph *graph,
		    struct kg2g_routes *routes, const struct kg2g_route_limits *limits,
		    enum kg2g_route_fault fault, const char *path);

/* A check of a table, which it frees, finds no fault. */
void expect_accepted(struct kunit *test, const struct kg2g_graph *graph,
		     struct kg2g_routes *routes, const struct kg2g_route_limits *limits);

/* Makes a table that is found to be right, and that the caller frees. */
struct kg2g_routes *make_right(struct kunit *test, const struct kg2g_graph *graph,
			       const struct kg2g_route_limits *limits);

#endif /* KIWI_G2G_TESTS_PATHS_H */
