// SPDX-License-Identifier: GPL-2.0
/*
 * Random fabrics, the same in each run. The table that is made for one is right; and of tables at
 * random, most of them wrong, the check and the oracle think the same.
 */
#include <linux/prandom.h>

#include "oracle.h"
#include "paths.h"

#define SEEDS		10
#define FABRICS		1000		/* of each seed */
#define LINKS		ORACLE_CHOICES
#define SEEN_AT_LEAST	3		/* of each fault, for each seed */

struct random {
	struct rnd_state state;
	struct oracle oracle;
	struct kg2g_route_builder *builder;
	struct kg2g_graph *graph;
	u32 seen[KG2G_ROUTE_CREDIT_CYCLE + 1];
};

static u32 below(struct random *r, u32 limit)
{
	return prandom_u32_state(&r->state) % limit;
}

static bool one_in(struct random *r, u32 n)
{
	return !below(r, n);
}

/* A ring, or a tree with some links more; few ports are of no use, or in one direction. */
static struct kg2g_graph *random_graph(struct random *r)
{
	u32 nodes = 2 + below(r, ORACLE_NODES - 2), links = 0, n, ids = 0;
	struct { u8 a, b; } link[LINKS];
	struct kg2g_graph *graph;
	u8 ports[ORACLE_NODES] = { };
	bool ring = one_in(r, 4), switches = one_in(r, 2);
	u16 id;

	for (n = 1; n < nodes; n++) {
		link[links].a = ring ? n - 1 : below(r, n);
		link[links++].b = n;
	}
	if (ring) {
		link[links].a = 0;
		link[links++].b = nodes - 1;
	}
	for (n = ring ? 0 : below(r, LINKS - links + 1); n--;) {
		link[links].a = below(r, nodes - 1);
		link[links].b = link[links].a + 1 + below(r, nodes - 1 - link[links].a);
		links++;
	}
	for (n = 0; n < links; n++) {
		ports[link[n].a]++;
		ports[link[n].b]++;
	}
	graph = kg2g_graph_alloc(nodes, ORACLE_PORTS);
	if (!graph)
		return NULL;
	for (n = 0; n < nodes; n++) {
		do
			id = below(r, ORACLE_IDS);
		while (ids & BIT(id));
		if (n >= 2 && switches && one_in(r, 3))
			id = KIWI_G2G_ACCEL_NONE;
		else
			ids |= BIT(id);
		kg2g_graph_add(graph, id, ports[n] + one_in(r, 3));
		kg2g_graph_set_forwards(graph, n, id == KIWI_G2G_ACCEL_NONE || !one_in(r, 8));
	}
	for (n = 0; n < links; n++)
		topology_link(graph, link[n].a, link[n].b);
	for (n = 0; n < graph->nr_ports; n++) {
		if (one_in(r, 20))
			graph->ports[n].flags = one_in(r, 2) ? KIWI_G2G_PORT_ENABLED :
						below(r, KG2G_PORT_FLAGS);
	}
	return graph;
}

/* Some port of a node that is linked and not usable; if it has none, one that it does not have. */
static u32 bad_port(const struct random *r, u16 node)
{
	const struct kg2g_node *n = &r->graph->nodes[node];
	const struct kg2g_port *port;
	u32 at;

	for (at = 0; at < n->nr_ports; at++) {
		port = &r->graph->ports[n->first_port + at];
		if (port->peer != KG2G_NO_PORT && port->flags != KG2G_PORT_FLAGS)
			return at;
	}
	return n->nr_ports;
}

static void random_choice(struct random *r, u16 node, struct oracle_choice *choice)
{
	u32 ports = r->graph->nodes[node].nr_ports;

	choice->port = one_in(r, 4) ? bad_port(r, node) : below(r, ports);
	choice->vc = one_in(r, 6) ? r->oracle.limits.nr_vcs : below(r, r->oracle.limits.nr_vcs);
}

static bool before(const struct oracle_choice *a, const struct oracle_choice *b)
{
	return a->port < b->port || (a->port == b->port && a->vc < b->vc);
}

/* One or two choices, in their order. */
static void random_entry(struct random *r, u16 node, u16 id)
{
	struct oracle_entry *entry = &r->oracle.entry[node][id];

	entry->nr = 1 + one_in(r, 3);
	random_choice(r, node, &entry->choice[0]);
	random_choice(r, node, &entry->choice[1]);
	if (!before(&entry->choice[0], &entry->choice[1])) {
		if (before(&entry->choice[1], &entry->choice[0]))
			swap(entry->choice[0], entry->choice[1]);
		else
			entry->nr = 1;
	}
}

/* A choice that is right by itself, where there is one. */
static void random_way(struct random *r, u16 node, u16 id)
{
	const struct kg2g_node *n = &r->graph->nodes[node];
	struct oracle_entry *entry = &r->oracle.entry[node][id];
	const struct kg2g_port *port;
	u32 tries;

	entry->nr = 0;
	for (tries = 0; tries < 8 && !entry->nr; tries++) {
		entry->choice[0].port = below(r, n->nr_ports);
		entry->choice[0].vc = kg2g_is_switch(r->graph, node) ? 0 :
				      below(r, r->oracle.limits.nr_vcs);
		port = &r->graph->ports[n->first_port + entry->choice[0].port];
		if (port->peer != KG2G_NO_PORT && port->flags == KG2G_PORT_FLAGS &&
		    r->graph->ports[port->peer].flags & KIWI_G2G_PORT_ENABLED)
			entry->nr = 1;
	}
}

static void random_change(struct random *r)
{
	u16 node = below(r, r->graph->nr_nodes);
	u16 id = r->graph->nodes[below(r, r->graph->nr_nodes)].id;

	if (id == KIWI_G2G_ACCEL_NONE || one_in(r, 16))
		id = below(r, ORACLE_IDS);
	if (r->graph->nodes[node].id == id && !one_in(r, 4))
		return;
	if (one_in(r, 6))
		r->oracle.entry[node][id].nr = 0;
	else if (one_in(r, 2))
		random_entry(r, node, id);
	else
		random_way(r, node, id);
}

static struct kg2g_routes *table_of_oracle(struct random *r)
{
	const struct oracle *o = &r->oracle;
	static struct entry entries[ORACLE_NODES * ORACLE_IDS * ORACLE_CHOICES];
	u32 node, id, n, nr = 0;

	for (node = 0; node < o->graph->nr_nodes; node++) {
		for (id = 0; id < ORACLE_IDS; id++) {
			for (n = 0; n < o->entry[node][id].nr; n++)
				entries[nr++] = (struct entry) {
					.node = node,
					.id = id,
					.port = o->entry[node][id].choice[n].port,
					.vc = o->entry[node][id].choice[n].vc,
				};
		}
	}
	return build_table(r->builder, o->graph, entries, nr);
}

static bool agree(struct oracle *o, const struct kg2g_route_verdict *verdict)
{
	enum kg2g_route_fault fault;
	struct kg2g_step step = { };
	u32 walks;

	fault = oracle_entries(o, &step);
	if (fault)
		return verdict->fault == fault && verdict->nr_steps == 1 &&
		       !memcmp(verdict->steps, &step, sizeof(step));
	walks = oracle_walks(o);
	if (walks)
		return walks & BIT(verdict->fault) && oracle_path(o, verdict);
	if (oracle_credit_cycle(o))
		return verdict->fault == KG2G_ROUTE_CREDIT_CYCLE && oracle_path(o, verdict);
	return verdict->fault == KG2G_ROUTE_OK && !verdict->nr_steps;
}

static void check_agrees(struct kunit *test, struct random *r, const struct kg2g_routes *routes)
{
	struct kg2g_route_verdict verdict;

	KUNIT_ASSERT_NOT_NULL(test, routes);
	KUNIT_ASSERT_EQ(test, kg2g_routes_check(r->graph, routes, &r->oracle.limits, &verdict), 0);
	KUNIT_EXPECT_TRUE_MSG(test, agree(&r->oracle, &verdict), "%s",
			      kg2g_route_fault_text(verdict.fault));
	r->seen[verdict.fault]++;
	kg2g_route_verdict_release(&verdict);
}

/* A table is made, and right, or two accelerators are not connected. */
static void check_made(struct kunit *test, struct random *r)
{
	struct kg2g_route_verdict verdict;
	struct kg2g_routes *routes;

	r->oracle.limits.max_hops = ORACLE_NODES;
	KUNIT_ASSERT_EQ(test, kg2g_routes_make(r->graph, &r->oracle.limits, &routes, &verdict), 0);
	if (!routes) {
		KUNIT_ASSERT_EQ(test, verdict.fault, KG2G_ROUTE_UNREACHABLE);
		KUNIT_EXPECT_FALSE(test, oracle_connected(r->graph, verdict.steps->node,
							  verdict.steps->id));
		memset(r->oracle.entry, 0, sizeof(r->oracle.entry));
		kg2g_route_verdict_release(&verdict);
		return;
	}
	oracle_learn(&r->oracle, routes);
	KUNIT_EXPECT_EQ(test, oracle_walks(&r->oracle), 0);
	KUNIT_EXPECT_FALSE(test, oracle_credit_cycle(&r->oracle));
	check_agrees(test, r, routes);
	kg2g_routes_free(routes);
}

static void random_ways(struct random *r)
{
	u32 node, id;

	for (node = 0; node < r->graph->nr_nodes; node++) {
		for (id = 0; id < ORACLE_IDS; id++) {
			if (r->graph->node_of[id] != KG2G_NO_NODE &&
			    r->graph->nodes[node].id != id)
				random_way(r, node, id);
		}
	}
}

/* Where a table needs VCs against credit deadlock, it then has one. */
static void forget_vcs(struct random *r)
{
	u32 node, id, n;

	for (node = 0; node < r->graph->nr_nodes; node++) {
		for (id = 0; id < ORACLE_IDS; id++) {
			for (n = 0; n < r->oracle.entry[node][id].nr; n++)
				r->oracle.entry[node][id].choice[n].vc = 0;
		}
	}
}

/* Entries at random that are right by themselves, or changes to what was made. */
static void check_changed(struct kunit *test, struct random *r)
{
	struct kg2g_routes *routes;
	u32 changes = 0;

	r->oracle.limits.max_hops = 2 + below(r, ORACLE_NODES - 2);
	if (one_in(r, 3))
		random_ways(r);
	else if (one_in(r, 2))
		forget_vcs(r);
	else
		changes = 1 + below(r, 4);
	while (changes--)
		random_change(r);
	routes = table_of_oracle(r);
	check_agrees(test, r, routes);
	kg2g_routes_free(routes);
}

static void random_fabrics(struct kunit *test)
{
	struct random *r = test->priv;
	u32 n, fault;

	prandom_seed_state(&r->state, *(const u32 *)test->param_value);
	for (n = 0; n < FABRICS; n++) {
		r->graph = random_graph(r);
		KUNIT_ASSERT_NOT_NULL(test, r->graph);
		r->oracle.graph = r->graph;
		r->oracle.limits.nr_vcs = 1 + below(r, ORACLE_VCS);
		check_made(test, r);
		check_changed(test, r);
		kg2g_graph_free(r->graph);
		r->graph = NULL;
		cond_resched();
	}
	for (fault = 0; fault < ARRAY_SIZE(r->seen); fault++)
		KUNIT_EXPECT_GE_MSG(test, r->seen[fault], SEEN_AT_LEAST, "%s",
				    kg2g_route_fault_text(fault));
}

static int fabrics_init(struct kunit *test)
{
	struct random *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	test->priv = r;
	if (!r)
		return -ENOMEM;
	r->builder = kg2g_route_builder_alloc(ORACLE_IDS);
	return r->builder ? 0 : -ENOMEM;
}

static void fabrics_exit(struct kunit *test)
{
	struct random *r = test->priv;

	if (!r)
		return;
	kg2g_route_builder_free(r->builder);
	kg2g_graph_free(r->graph);
}

static const void *next_seed(const void *prev, char *desc)
{
	static u32 seeds[SEEDS];
	u32 n = prev ? (const u32 *)prev - seeds + 1 : 0;

	if (n == SEEDS)
		return NULL;
	seeds[n] = n + 1;
	snprintf(desc, KUNIT_PARAM_DESC_SIZE, "seed %u", seeds[n]);
	return &seeds[n];
}

static struct kunit_case random_cases[] = {
	KUNIT_CASE_PARAM(random_fabrics, next_seed),
	{}
};

static struct kunit_suite random_suite = {
	.name = "kiwi_g2g_route_random",
	.init = fabrics_init,
	.exit = fabrics_exit,
	.test_cases = random_cases,
};

kunit_test_suite(random_suite);
