// SPDX-License-Identifier: GPL-2.0
/*
 * A table is checked in three parts: each entry by itself; for each destination all walks to it;
 * and what buffers wait for (route_credit.c). Every entry counts, whether or not an accelerator's
 * packets come to it.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "route_check.h"

/* Of kg2g_walk.hops, where a number of hops is not yet known. */
#define KG2G_HOPS_UNKNOWN	U16_MAX
#define KG2G_HOPS_ON_PATH	(U16_MAX - 1)

/* A node on the path that is being walked. */
struct kg2g_walk_node {
	u16 node;
	u16 choice;	/* how many of its choices were walked */
	u16 hops;	/* the most that these take */
};

/* All walks to one destination. */
struct kg2g_walk {
	const struct kg2g_graph *graph;
	const struct kg2g_routes *routes;
	const struct kg2g_route_limits *limits;
	struct kg2g_route_verdict *verdict;
	u16 id;
	u32 depth;
	struct kg2g_walk_node *path;	/* room for all nodes */
	u16 *hops;			/* of each node, the most */
};

/**
 * kg2g_route_fault_text() - a fault in words
 * @fault: any
 *
 * Return: a text that does not end in a full stop.
 */
const char *kg2g_route_fault_text(enum kg2g_route_fault fault)
{
	static const char *const texts[] = {
		[KG2G_ROUTE_OK] = "no fault",
		[KG2G_ROUTE_UNKNOWN_ID] = "route to an accelerator that is not there",
		[KG2G_ROUTE_OWN_ID] = "route of an accelerator to itself",
		[KG2G_ROUTE_NO_PORT] = "no such port",
		[KG2G_ROUTE_NO_LINK] = "port without a link",
		[KG2G_ROUTE_PORT_DISABLED] = "link not enabled at both ends",
		[KG2G_ROUTE_NOT_ROUTABLE] = "port not routable",
		[KG2G_ROUTE_BAD_VC] = "no such virtual channel",
		[KG2G_ROUTE_VC_CHANGED] = "virtual channel changed by a switch",
		[KG2G_ROUTE_UNREACHABLE] = "no route",
		[KG2G_ROUTE_NO_FORWARDING] = "node does not forward",
		[KG2G_ROUTE_LOOP] = "loop",
		[KG2G_ROUTE_TOO_LONG] = "too many hops",
		[KG2G_ROUTE_CREDIT_CYCLE] = "credit deadlock",
	};

	return texts[fault];
}

/**
 * kg2g_route_refuse() - set a verdict
 * @verdict: of a table
 * @fault: of it
 * @nr_steps: of the offending path, at least 1
 *
 * Return: the steps, for the caller to fill in, or NULL: no memory, and no verdict.
 */
struct kg2g_step *kg2g_route_refuse(struct kg2g_route_verdict *verdict,
				    enum kg2g_route_fault fault, u32 nr_steps)
{
	verdict->steps = kvcalloc(nr_steps, sizeof(*verdict->steps), GFP_KERNEL);
	if (!verdict->steps)
		return NULL;
	verdict->fault = fault;
	verdict->nr_steps = nr_steps;
	return verdict->steps;
}

/**
 * kg2g_route_verdict_release() - free the path of a verdict
 * @verdict: of a check that returned 0
 */
void kg2g_route_verdict_release(struct kg2g_route_verdict *verdict)
{
	kvfree(verdict->steps);
	verdict->steps = NULL;
	verdict->nr_steps = 0;
}

static struct kg2g_step step_of(u16 id, u16 node, const struct kg2g_choice *choice)
{
	return (struct kg2g_step) {
		.id = id,
		.node = node,
		.port = choice->port,
		.vc = choice->vc,
	};
}

/* A node that a packet cannot leave. */
static struct kg2g_step no_step(u16 id, u16 node)
{
	return (struct kg2g_step) {
		.id = id,
		.node = node,
		.port = KG2G_STEP_NO_PORT,
	};
}

static enum kg2g_route_fault choice_fault(const struct kg2g_graph *graph, u16 node,
					  const struct kg2g_choice *choice, u16 nr_vcs)
{
	const struct kg2g_port *port;

	if (choice->port >= graph->nodes[node].nr_ports)
		return KG2G_ROUTE_NO_PORT;
	port = &graph->ports[graph->nodes[node].first_port + choice->port];
	if (port->peer == KG2G_NO_PORT)
		return KG2G_ROUTE_NO_LINK;
	if (!(port->flags & graph->ports[port->peer].flags & KIWI_G2G_PORT_ENABLED))
		return KG2G_ROUTE_PORT_DISABLED;
	if (!(port->flags & KIWI_G2G_PORT_ROUTABLE))
		return KG2G_ROUTE_NOT_ROUTABLE;
	if (choice->vc >= nr_vcs)
		return KG2G_ROUTE_BAD_VC;
	return KG2G_ROUTE_OK;
}

/* An entry's fault, and which of its choices has it. */
static enum kg2g_route_fault entry_fault(const struct kg2g_graph *graph,
					 const struct kg2g_routes *routes, u16 nr_vcs, u16 node,
					 u16 id, const struct kg2g_choice **choice)
{
	u16 group = kg2g_group(routes, node, id);
	u32 n, nr = kg2g_nr_choices(routes, node, group);
	enum kg2g_route_fault fault;
	u8 vc;

	if (!nr)
		return KG2G_ROUTE_OK;
	*choice = kg2g_choices(routes, node, group);
	if (graph->node_of[id] == KG2G_NO_NODE)
		return KG2G_ROUTE_UNKNOWN_ID;
	if (graph->node_of[id] == node)
		return KG2G_ROUTE_OWN_ID;
	vc = (*choice)->vc;
	for (n = 0; n < nr; n++, (*choice)++) {
		fault = choice_fault(graph, node, *choice, nr_vcs);
		if (fault)
			return fault;
		if (kg2g_is_switch(graph, node) && (*choice)->vc != vc)
			return KG2G_ROUTE_VC_CHANGED;
	}
	return KG2G_ROUTE_OK;
}

static int check_entries(const struct kg2g_graph *graph, const struct kg2g_routes *routes,
			 u16 nr_vcs, struct kg2g_route_verdict *verdict)
{
	const struct kg2g_choice *choice;
	enum kg2g_route_fault fault;
	struct kg2g_step *step;
	u32 node, id;

	for (node = 0; node < graph->nr_nodes; node++) {
		for (id = 0; id < routes->nr_ids; id++) {
			fault = entry_fault(graph, routes, nr_vcs, node, id, &choice);
			if (!fault)
				continue;
			step = kg2g_route_refuse(verdict, fault, 1);
			if (!step)
				return -ENOMEM;
			*step = step_of(id, node, choice);
			return 0;
		}
		cond_resched();
	}
	return 0;
}

/* The choice that a node on the path is walked by; before the first, none. */
static struct kg2g_step walk_step(const struct kg2g_walk *walk, u32 depth)
{
	const struct kg2g_walk_node *at = &walk->path[depth];
	u16 group = kg2g_group(walk->routes, at->node, walk->id);

	if (!at->choice)
		return no_step(walk->id, at->node);
	return step_of(walk->id, at->node,
		       &kg2g_choices(walk->routes, at->node, group)[at->choice - 1]);
}

/* The path is at fault, from a depth on. */
static int walk_refuse(const struct kg2g_walk *walk, enum kg2g_route_fault fault, u32 from)
{
	struct kg2g_step *steps = kg2g_route_refuse(walk->verdict, fault, walk->depth - from);
	u32 depth;

	if (!steps)
		return -ENOMEM;
	for (depth = from; depth < walk->depth; depth++)
		steps[depth - from] = walk_step(walk, depth);
	return 0;
}

static int walk_refuse_loop(const struct kg2g_walk *walk, u16 node)
{
	u32 depth = walk->depth - 1;

	while (walk->path[depth].node != node)
		depth--;
	return walk_refuse(walk, KG2G_ROUTE_LOOP, depth);
}

/* Where a choice of a node leads to. */
static u16 walk_next(const struct kg2g_walk *walk, u16 node, const struct kg2g_choice *choice)
{
	return kg2g_next_node(walk->graph, walk->graph->nodes[node].first_port + choice->port);
}

/* The last node of the path is one hop too far away: by the first choices that are. */
static int walk_refuse_long(const struct kg2g_walk *walk)
{
	u16 node = walk->path[walk->depth - 1].node;
	u16 hops = walk->path[walk->depth - 1].hops;
	const struct kg2g_choice *choice;
	struct kg2g_step *step;

	step = kg2g_route_refuse(walk->verdict, KG2G_ROUTE_TOO_LONG, hops);
	if (!step)
		return -ENOMEM;
	while (hops--) {
		choice = kg2g_choices(walk->routes, node,
				      kg2g_group(walk->routes, node, walk->id));
		while (walk->hops[walk_next(walk, node, choice)] != hops)
			choice++;
		*step++ = step_of(walk->id, node, choice);
		node = walk_next(walk, node, choice);
	}
	return 0;
}

static void walk_enter(struct kg2g_walk *walk, u16 node)
{
	walk->path[walk->depth++] = (struct kg2g_walk_node) { .node = node };
	walk->hops[node] = KG2G_HOPS_ON_PATH;
}

/* Ends all walks of the last node of the path, and goes back by one. */
static int walk_leave(struct kg2g_walk *walk)
{
	struct kg2g_walk_node *at = &walk->path[walk->depth - 1];

	if (at->hops > walk->limits->max_hops)
		return walk_refuse_long(walk);
	walk->hops[at->node] = at->hops;
	walk->depth--;
	if (walk->depth)
		at[-1].hops = max_t(u16, at[-1].hops, at->hops + 1);
	return 0;
}

/* A switch takes a packet as it comes: all of an entry's choices there have one VC. */
static bool walk_keeps_vc(const struct kg2g_walk *walk, u16 next, u8 vc)
{
	u16 group = kg2g_group(walk->routes, next, walk->id);

	return !kg2g_is_switch(walk->graph, next) || !group ||
	       kg2g_choices(walk->routes, next, group)->vc == vc;
}

/* The last node of the path may not send to the next, because of what that does. */
static int walk_refuse_hop(const struct kg2g_walk *walk, enum kg2g_route_fault fault,
			   struct kg2g_step next)
{
	struct kg2g_step *steps = kg2g_route_refuse(walk->verdict, fault, 2);

	if (!steps)
		return -ENOMEM;
	steps[0] = walk_step(walk, walk->depth - 1);
	steps[1] = next;
	return 0;
}

static int walk_refuse_forward(const struct kg2g_walk *walk, u16 next)
{
	return walk_refuse_hop(walk, KG2G_ROUTE_NO_FORWARDING, no_step(walk->id, next));
}

static int walk_refuse_vc(const struct kg2g_walk *walk, u16 next)
{
	u16 group = kg2g_group(walk->routes, next, walk->id);

	return walk_refuse_hop(walk, KG2G_ROUTE_VC_CHANGED,
			       step_of(walk->id, next, kg2g_choices(walk->routes, next, group)));
}

/* Takes the next choice of the last node of the path. */
static int walk_on(struct kg2g_walk *walk, u16 group)
{
	struct kg2g_walk_node *at = &walk->path[walk->depth - 1];
	const struct kg2g_choice *choice;
	u16 next;

	choice = &kg2g_choices(walk->routes, at->node, group)[at->choice++];
	next = walk_next(walk, at->node, choice);
	if (!walk->graph->nodes[next].forwards && walk->graph->nodes[next].id != walk->id)
		return walk_refuse_forward(walk, next);
	if (!walk_keeps_vc(walk, next, choice->vc))
		return walk_refuse_vc(walk, next);
	if (walk->hops[next] == KG2G_HOPS_ON_PATH)
		return walk_refuse_loop(walk, next);
	if (walk->hops[next] == KG2G_HOPS_UNKNOWN)
		walk_enter(walk, next);
	else
		at->hops = max_t(u16, at->hops, walk->hops[next] + 1);
	return 0;
}

/*
 * Goes all ways from a node to the destination, those that are known already but once. No path
 * is longer than there are nodes, and each choice of a node is taken once.
 */
static int walk_from(struct kg2g_walk *walk, u16 node)
{
	struct kg2g_walk_node *at;
	int ret = 0;
	u16 group;

	walk->depth = 0;
	walk_enter(walk, node);
	while (walk->depth && !ret && !walk->verdict->fault) {
		at = &walk->path[walk->depth - 1];
		group = kg2g_group(walk->routes, at->node, walk->id);
		if (!group)
			ret = walk_refuse(walk, KG2G_ROUTE_UNREACHABLE, 0);
		else if (at->choice == kg2g_nr_choices(walk->routes, at->node, group))
			ret = walk_leave(walk);
		else
			ret = walk_on(walk, group);
	}
	return ret;
}

/* All walks to a destination: from each accelerator, and from whoever else has a route. */
static int check_walks_to(struct kg2g_walk *walk)
{
	const struct kg2g_graph *graph = walk->graph;
	u32 node;
	int ret;

	memset(walk->hops, 0xff, graph->nr_nodes * sizeof(*walk->hops));
	walk->hops[graph->node_of[walk->id]] = 0;
	for (node = 0; node < graph->nr_nodes; node++) {
		if (walk->hops[node] != KG2G_HOPS_UNKNOWN)
			continue;
		if (kg2g_is_switch(graph, node) && !kg2g_group(walk->routes, node, walk->id))
			continue;
		ret = walk_from(walk, node);
		if (ret || walk->verdict->fault)
			return ret;
	}
	return 0;
}

/* An id beyond the table is one without routes. */
static int check_ids(const struct kg2g_graph *graph, const struct kg2g_routes *routes,
		     struct kg2g_route_verdict *verdict)
{
	struct kg2g_step *step;
	u32 id, node;

	for (id = routes->nr_ids; id < KIWI_G2G_ACCELS_MAX; id++) {
		if (graph->node_of[id] == KG2G_NO_NODE)
			continue;
		for (node = 0; node < graph->nr_nodes; node++) {
			if (kg2g_is_switch(graph, node) || graph->nodes[node].id == id)
				continue;
			step = kg2g_route_refuse(verdict, KG2G_ROUTE_UNREACHABLE, 1);
			if (!step)
				return -ENOMEM;
			*step = no_step(id, node);
			return 0;
		}
	}
	return 0;
}

static int check_walks(const struct kg2g_graph *graph, const struct kg2g_routes *routes,
		       const struct kg2g_route_limits *limits,
		       struct kg2g_route_verdict *verdict)
{
	struct kg2g_walk walk = {
		.graph = graph,
		.routes = routes,
		.limits = limits,
		.verdict = verdict,
	};
	size_t size = graph->nr_nodes * (sizeof(*walk.path) + sizeof(*walk.hops));
	int ret = 0;
	u32 id;

	walk.path = kvmalloc(size, GFP_KERNEL);
	if (!walk.path)
		return -ENOMEM;
	walk.hops = (u16 *)(walk.path + graph->nr_nodes);
	verdict->scratch = max(verdict->scratch, size);
	for (id = 0; id < routes->nr_ids && !ret && !verdict->fault; id++) {
		if (graph->node_of[id] == KG2G_NO_NODE)
			continue;
		walk.id = id;
		ret = check_walks_to(&walk);
		cond_resched();
	}
	kvfree(walk.path);
	return ret;
}

/**
 * kg2g_routes_check() - prove a table, or find what is wrong with it
 * @graph: of the fabric
 * @routes: for @graph
 * @limits: of the fabric
 * @verdict: the answer, to be released by kg2g_route_verdict_release()
 *
 * A table without a fault takes a packet of any accelerator to any other, whatever choices are
 * taken on the way, in no more than the allowed hops; and however full buffers are, some packet
 * can move, provided that an accelerator takes what is for it. Requests and responses, where one
 * waits for the other, are classes of traffic with VCs of their own.
 *
 * Of several faults the first is told: of an entry by itself, by node, id and choice; then of a
 * walk, by id and node; then of credits. May sleep; takes time in proportion to the number of
 * choices.
 *
 * Return: 0 with a verdict; -EINVAL if the table or the limits do not fit the graph, -E2BIG,
 * -ENOMEM: none.
 */
int kg2g_routes_check(const struct kg2g_graph *graph, const struct kg2g_routes *routes,
		      const struct kg2g_route_limits *limits,
		      struct kg2g_route_verdict *verdict)
{
	int ret;

	*verdict = (struct kg2g_route_verdict) { };
	if (routes->nr_nodes != graph->nr_nodes || !limits->nr_vcs ||
	    limits->nr_vcs > KG2G_VCS_MAX)
		return -EINVAL;
	ret = check_entries(graph, routes, limits->nr_vcs, verdict);
	if (!ret && !verdict->fault)
		ret = check_ids(graph, routes, verdict);
	if (!ret && !verdict->fault)
		ret = check_walks(graph, routes, limits, verdict);
	if (!ret && !verdict->fault)
		ret = kg2g_routes_check_credits(graph, routes, verdict);
	return ret;
}
