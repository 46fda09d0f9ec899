// SPDX-License-Identifier: GPL-2.0
/*
 * Three ways to choose routes, of which the first that has no credit deadlock is taken:
 *
 * - all shortest paths, in VC 0. A full mesh and spine and leaf need no more.
 * - all shortest paths, the VC being the hops that are left: each packet waits for a lower VC than
 *   it holds. It takes as many VCs as hops, and no switches, which cannot change the VC.
 * - up and down, in VC 0: nodes are ordered by their distance from a root, and a packet goes
 *   towards the root as long as it must, then away from it, and never up after down (Schroeder et
 *   al., "Autonet", 1991). A node from which a packet can go down all the way always sends it
 *   down, so the choice needs no knowledge of where a packet comes from. Not all paths are
 *   shortest, but any connected graph will do.
 *
 * Only links that are usable both ways are used.
 */
#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "route_make.h"

#define KG2G_FAR	U16_MAX		/* no way there */
#define KG2G_UP		BIT(15)		/* of a distance: the way begins upwards */

struct kg2g_maker {
	const struct kg2g_graph *graph;
	const struct kg2g_route_limits *limits;
	struct kg2g_route_verdict *verdict;
	u32 nr_ids;
	u16 *queue;		/* of nodes */
	u16 *by_place;		/* nodes from the root on */
	u16 *place;		/* of each node; all 0 without up and down */
	u16 *hops;		/* to each id, of each node; with KG2G_UP */
	u16 farthest;		/* an accelerator is from another */
	bool vc_by_hops;
};

static bool both_ways(const struct kg2g_graph *graph, u32 port)
{
	const struct kg2g_port *p = &graph->ports[port];

	return p->peer != KG2G_NO_PORT &&
	       (p->flags & graph->ports[p->peer].flags & KG2G_PORT_FLAGS) == KG2G_PORT_FLAGS;
}

/* Goes to the next port of a node that is usable both ways, and says where that leads. */
static bool next_link(const struct kg2g_graph *graph, u16 node, u32 *at, u16 *next)
{
	u32 port;

	while (*at < graph->nodes[node].nr_ports) {
		port = graph->nodes[node].first_port + (*at)++;
		if (both_ways(graph, port)) {
			*next = kg2g_next_node(graph, port);
			return true;
		}
	}
	return false;
}

static u16 *hops_to(const struct kg2g_maker *m, u16 id)
{
	return &m->hops[(size_t)id * m->graph->nr_nodes];
}

/*
 * Sets the hops of all nodes from which one gets to a node by ways that only go down; all ways do
 * where nodes have no places.
 */
static void spread(struct kg2g_maker *m, u16 to, u16 *hops)
{
	u32 head = 0, tail = 0, at;
	u16 node, next;

	memset(hops, 0xff, m->graph->nr_nodes * sizeof(*hops));
	hops[to] = 0;
	m->queue[tail++] = to;
	while (head < tail) {
		node = m->queue[head++];
		if (node != to && !m->graph->nodes[node].forwards)
			continue;
		for (at = 0; next_link(m->graph, node, &at, &next);) {
			if (hops[next] != KG2G_FAR || m->place[next] > m->place[node])
				continue;
			hops[next] = hops[node] + 1;
			m->queue[tail++] = next;
		}
	}
}

/* Whether a packet that comes to a node gets on, or is there. */
static bool goes_on(const struct kg2g_maker *m, const u16 *hops, u16 node)
{
	return hops[node] != KG2G_FAR && (!hops[node] || m->graph->nodes[node].forwards);
}

/* The others go up, to the node that is nearest. */
static void go_up(const struct kg2g_maker *m, u16 *hops)
{
	u16 node, next, best;
	u32 n, at;

	for (n = 0; n < m->graph->nr_nodes; n++) {
		node = m->by_place[n];
		if (hops[node] != KG2G_FAR)
			continue;
		best = KG2G_FAR;
		for (at = 0; next_link(m->graph, node, &at, &next);) {
			if (goes_on(m, hops, next) && m->place[next] < m->place[node])
				best = min_t(u16, best, (hops[next] & ~KG2G_UP) + 1);
		}
		if (best != KG2G_FAR)
			hops[node] = best | KG2G_UP;
	}
}

/* The node with the most links, of those that forward and have no place, or KG2G_NO_NODE. */
static u16 next_root(const struct kg2g_maker *m, const u16 *links)
{
	u16 best = KG2G_NO_NODE;
	u32 node;

	for (node = 0; node < m->graph->nr_nodes; node++) {
		if (m->graph->nodes[node].forwards && m->place[node] == KG2G_FAR &&
		    (best == KG2G_NO_NODE || links[node] > links[best]))
			best = node;
	}
	return best;
}

static void give_place(struct kg2g_maker *m, u16 node, u32 *nr)
{
	m->place[node] = *nr;
	m->by_place[(*nr)++] = node;
}

static void count_links(const struct kg2g_maker *m, u16 *links)
{
	u32 node, at;
	u16 next;

	for (node = 0; node < m->graph->nr_nodes; node++) {
		links[node] = 0;
		for (at = 0; next_link(m->graph, node, &at, &next);)
			links[node]++;
	}
}

/*
 * Gives nodes their places: those that forward by distance from a root, then the others, below
 * which no way leads on.
 */
static void give_places(struct kg2g_maker *m)
{
	u32 head = 0, nr = 0, node, at;
	u16 root, next;

	memset(m->place, 0xff, m->graph->nr_nodes * sizeof(*m->place));
	count_links(m, m->queue);
	for (root = next_root(m, m->queue); root != KG2G_NO_NODE; root = next_root(m, m->queue)) {
		give_place(m, root, &nr);
		while (head < nr) {
			node = m->by_place[head++];
			for (at = 0; next_link(m->graph, node, &at, &next);) {
				if (m->graph->nodes[next].forwards && m->place[next] == KG2G_FAR)
					give_place(m, next, &nr);
			}
		}
	}
	for (node = 0; node < m->graph->nr_nodes; node++) {
		if (m->place[node] == KG2G_FAR)
			give_place(m, node, &nr);
	}
}

static int refuse_pair(struct kg2g_maker *m, enum kg2g_route_fault fault, u16 node, u16 id)
{
	struct kg2g_step *step = kg2g_route_refuse(m->verdict, fault, 1);

	if (!step)
		return -ENOMEM;
	*step = (struct kg2g_step) {
		.id = id,
		.node = node,
		.port = KG2G_STEP_NO_PORT,
	};
	return 0;
}

/* Checks that every accelerator gets to one, and notes how far the farthest is. */
static int note_farthest(struct kg2g_maker *m, u16 id)
{
	const u16 *hops = hops_to(m, id);
	u32 node;
	u16 far;

	for (node = 0; node < m->graph->nr_nodes; node++) {
		if (kg2g_is_switch(m->graph, node))
			continue;
		if (hops[node] == KG2G_FAR)
			return refuse_pair(m, KG2G_ROUTE_UNREACHABLE, node, id);
		far = hops[node] & ~KG2G_UP;
		if (far > m->limits->max_hops)
			return refuse_pair(m, KG2G_ROUTE_TOO_LONG, node, id);
		m->farthest = max(m->farthest, far);
	}
	return 0;
}

static int measure(struct kg2g_maker *m)
{
	int ret = 0;
	u32 id;

	m->farthest = 0;
	for (id = 0; id < m->nr_ids && !ret && !m->verdict->fault; id++) {
		if (m->graph->node_of[id] == KG2G_NO_NODE)
			continue;
		spread(m, m->graph->node_of[id], hops_to(m, id));
		go_up(m, hops_to(m, id));
		ret = note_farthest(m, id);
		cond_resched();
	}
	return ret;
}

/* Whether a link is on a way of the kind that a node's hops are of. */
static bool leads_there(const struct kg2g_maker *m, const u16 *hops, u16 node, u16 next)
{
	if (!goes_on(m, hops, next) || (hops[next] & ~KG2G_UP) + 1 != (hops[node] & ~KG2G_UP))
		return false;
	if (hops[node] & KG2G_UP)
		return m->place[next] < m->place[node];
	return !(hops[next] & KG2G_UP) && m->place[next] >= m->place[node];
}

/* A node that is farther away than any accelerator is on no accelerator's way. */
static int choose(const struct kg2g_maker *m, struct kg2g_route_builder *builder, u16 node, u16 id)
{
	struct kg2g_choice choices[KG2G_CHOICES_MAX];
	const u16 *hops = hops_to(m, id);
	u16 left = hops[node] & ~KG2G_UP;
	u32 nr = 0, at;
	u16 next;

	if (hops[node] == KG2G_FAR || !left || left > m->farthest)
		return 0;
	for (at = 0; nr < ARRAY_SIZE(choices) && next_link(m->graph, node, &at, &next);) {
		if (leads_there(m, hops, node, next))
			choices[nr++] = (struct kg2g_choice) {
				.port = at - 1,
				.vc = m->vc_by_hops ? left - 1 : 0,
			};
	}
	return kg2g_route_builder_set(builder, id, choices, nr);
}

static int make_node(const struct kg2g_maker *m, struct kg2g_route_builder *builder, u16 node,
		     struct kg2g_routes *routes)
{
	int ret;
	u32 id;

	for (id = 0; id < m->nr_ids; id++) {
		if (m->graph->node_of[id] == KG2G_NO_NODE)
			continue;
		ret = choose(m, builder, node, id);
		if (ret)
			return ret;
	}
	return kg2g_route_builder_commit(builder, routes, node);
}

static int make_table(const struct kg2g_maker *m, struct kg2g_routes **made)
{
	struct kg2g_routes *routes = kg2g_routes_alloc(m->graph->nr_nodes, m->nr_ids);
	struct kg2g_route_builder *builder = kg2g_route_builder_alloc(m->nr_ids);
	int ret = routes && builder ? 0 : -ENOMEM;
	u32 node;

	for (node = 0; node < m->graph->nr_nodes && !ret; node++) {
		ret = make_node(m, builder, node, routes);
		cond_resched();
	}
	kg2g_route_builder_free(builder);
	if (ret)
		kg2g_routes_free(routes);
	else
		*made = routes;
	return ret;
}

static bool has_switch(const struct kg2g_graph *graph)
{
	u32 node;

	for (node = 0; node < graph->nr_nodes; node++) {
		if (kg2g_is_switch(graph, node))
			return true;
	}
	return false;
}

/* Makes a table of all shortest paths in VC 0, unless it has a credit deadlock. */
static int make_shortest(struct kg2g_maker *m, struct kg2g_routes **made)
{
	struct kg2g_route_verdict verdict = { };
	struct kg2g_routes *routes;
	int ret;

	ret = make_table(m, &routes);
	if (ret)
		return ret;
	ret = kg2g_routes_check_credits(m->graph, routes, &verdict);
	if (!ret && !verdict.fault)
		*made = routes;
	else
		kg2g_routes_free(routes);
	kg2g_route_verdict_release(&verdict);
	return ret;
}

static int make_up_down(struct kg2g_maker *m, struct kg2g_routes **made)
{
	int ret;

	give_places(m);
	ret = measure(m);
	if (ret || m->verdict->fault)
		return ret;
	return make_table(m, made);
}

static int make_routes(struct kg2g_maker *m, struct kg2g_routes **made)
{
	int ret;

	ret = measure(m);
	if (ret || m->verdict->fault)
		return ret;
	ret = make_shortest(m, made);
	if (ret || *made)
		return ret;
	if (m->farthest > m->limits->nr_vcs || has_switch(m->graph))
		return make_up_down(m, made);
	m->vc_by_hops = true;
	return make_table(m, made);
}

static u32 ids_of(const struct kg2g_graph *graph)
{
	u32 nr = KIWI_G2G_ACCELS_MAX;

	while (nr && graph->node_of[nr - 1] == KG2G_NO_NODE)
		nr--;
	return nr;
}

/**
 * kg2g_routes_make() - make a table for a graph
 * @graph: of the fabric
 * @limits: of the fabric
 * @routes: the table, to be freed by kg2g_routes_free(), or NULL if the verdict has a fault
 * @verdict: why there is none, to be released by kg2g_route_verdict_release()
 *
 * kg2g_routes_check() finds no fault with the table. There is one for any graph whose accelerators
 * are connected by links that are usable both ways, unless the hops do not suffice. The verdict is
 * KG2G_ROUTE_UNREACHABLE or KG2G_ROUTE_TOO_LONG; its one step says from which node to which
 * accelerator. The same graph always has the same table. May sleep.
 *
 * Return: 0 with a table or a fault; -EINVAL for limits out of range, -E2BIG, -ENOMEM.
 */
int kg2g_routes_make(const struct kg2g_graph *graph, const struct kg2g_route_limits *limits,
		     struct kg2g_routes **routes, struct kg2g_route_verdict *verdict)
{
	struct kg2g_maker m = {
		.graph = graph,
		.limits = limits,
		.verdict = verdict,
		.nr_ids = ids_of(graph),
	};
	int ret;

	*verdict = (struct kg2g_route_verdict) { };
	*routes = NULL;
	if (!limits->nr_vcs || limits->nr_vcs > KG2G_VCS_MAX)
		return -EINVAL;
	m.queue = kvcalloc(graph->nr_nodes, (m.nr_ids + 3) * sizeof(*m.queue), GFP_KERNEL);
	if (!m.queue)
		return -ENOMEM;
	m.by_place = m.queue + graph->nr_nodes;
	m.place = m.by_place + graph->nr_nodes;
	m.hops = m.place + graph->nr_nodes;
	ret = make_routes(&m, routes);
	kvfree(m.queue);
	return ret;
}
