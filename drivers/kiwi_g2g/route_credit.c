// SPDX-License-Identifier: GPL-2.0
/*
 * Credit deadlock: a packet holds a buffer of one channel, a VC of a link in one direction, and
 * waits for a buffer of the next. If no chain of such waits ends where it began, some packet can
 * always move (Dally and Seitz, "Deadlock-free message routing in multiprocessor interconnection
 * networks", 1987).
 *
 * A channel to a node waits, for each destination that a packet in it may have, for the group of
 * choices that the node has for that; and a group waits for the channels that are its choices.
 * So there are as many waits as there are choices, and not as there are pairs of choices. Who is
 * waited for by nobody is taken away, as long as there is such; what is left has a cycle.
 */
#include <linux/bitops.h>
#include <linux/err.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "route_check.h"

#define KG2G_NO_WAITER	U32_MAX

/*
 * Groups are numbered through all nodes, channels through all ports. Waiters have numbers too:
 * first the channels, then the groups.
 */
struct kg2g_waits {
	const struct kg2g_graph *graph;
	const struct kg2g_routes *routes;
	size_t size;		/* of all that is allocated */
	u32 nr_groups;
	u32 nr_members;		/* choices of all groups */
	u32 nr_channels;
	u32 *first_group;	/* of each node */
	u32 *first_channel;	/* of each port */
	u16 *vcs;		/* of each port, those that a choice has */
	u32 *port;		/* of each channel */
	u32 *first_member;	/* of each channel, and of one more, in member */
	u32 *member;		/* groups that the channel is a choice of */
	u32 *first_id;		/* of each group, and of one more, in id */
	u32 *count;		/* of each waiter, who waits for it; see release() */
	u16 *node;		/* of each group */
	u16 *id;		/* destinations that have the group */
};

/* Goes through the groups that a channel waits for, once for each destination. */
struct kg2g_wait_cursor {
	u32 member;
	u32 id;
	u32 base;		/* of the waiters that are the next node's groups */
	const u16 *groups;	/* that the next node has for destinations, if any */
};

static u32 choice_port(const struct kg2g_waits *w, u16 node, const struct kg2g_choice *choice)
{
	return w->graph->nodes[node].first_port + choice->port;
}

static u32 choice_channel(const struct kg2g_waits *w, u16 node, const struct kg2g_choice *choice)
{
	u32 port = choice_port(w, node, choice);

	return w->first_channel[port] + hweight16(w->vcs[port] & (BIT(choice->vc) - 1));
}

static u16 channel_vc(const struct kg2g_waits *w, u32 channel)
{
	u16 vcs = w->vcs[w->port[channel]];
	u32 n;

	for (n = w->first_channel[w->port[channel]]; n < channel; n++)
		vcs &= vcs - 1;
	return __ffs(vcs);
}

/* The choices of a group; group 0 has none. */
static const struct kg2g_choice *group_choices(const struct kg2g_waits *w, u32 number, u32 *nr)
{
	u16 node = w->node[number];
	u16 group = number - w->first_group[node];

	*nr = kg2g_nr_choices(w->routes, node, group);
	return *nr ? kg2g_choices(w->routes, node, group) : NULL;
}

static void first_wait(const struct kg2g_waits *w, u32 channel, struct kg2g_wait_cursor *at)
{
	u16 next = kg2g_next_node(w->graph, w->port[channel]);

	at->member = w->first_member[channel];
	at->id = w->first_id[w->member[at->member]];
	at->base = w->nr_channels + w->first_group[next];
	at->groups = w->routes->nodes[next] ? w->routes->nodes[next]->group : NULL;
}

/* The next wait: the waiter that is waited for, and the destination. */
static bool next_wait(const struct kg2g_waits *w, u32 channel, struct kg2g_wait_cursor *at,
		      u32 *waiter, u16 *id)
{
	u32 end;

	while (at->groups && at->member < w->first_member[channel + 1]) {
		end = w->first_id[w->member[at->member] + 1];
		while (at->id < end) {
			*id = w->id[at->id++];
			if (at->groups[*id]) {
				*waiter = at->base + at->groups[*id];
				return true;
			}
		}
		/* Behind the last member is one more, to be read here. */
		at->id = w->first_id[w->member[++at->member]];
	}
	return false;
}

static void *waits_alloc(struct kg2g_waits *w, size_t size)
{
	void *memory;

	if (size > INT_MAX)
		return ERR_PTR(-E2BIG);
	memory = kvzalloc(size, GFP_KERNEL);
	if (!memory)
		return ERR_PTR(-ENOMEM);
	w->size += size;
	return memory;
}

static int number_channels(struct kg2g_waits *w)
{
	const struct kg2g_graph *graph = w->graph;
	const struct kg2g_node_routes *table;
	u32 node, port, n;
	void *memory;

	memory = waits_alloc(w, graph->nr_nodes * sizeof(*w->first_group) +
			     graph->nr_ports * (sizeof(*w->first_channel) + sizeof(*w->vcs)));
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	w->first_group = memory;
	w->first_channel = w->first_group + graph->nr_nodes;
	w->vcs = (u16 *)(w->first_channel + graph->nr_ports);
	for (node = 0; node < graph->nr_nodes; node++) {
		w->first_group[node] = w->nr_groups;
		w->nr_groups += kg2g_nr_groups(w->routes, node);
		table = w->routes->nodes[node];
		if (!table)
			continue;
		w->nr_members += table->first[table->nr_groups];
		for (n = 0; n < table->first[table->nr_groups]; n++)
			w->vcs[choice_port(w, node, &table->choices[n])] |=
				BIT(table->choices[n].vc);
	}
	for (port = 0; port < graph->nr_ports; port++) {
		w->first_channel[port] = w->nr_channels;
		w->nr_channels += hweight16(w->vcs[port]);
	}
	return 0;
}

/* Adds to the lists of channels a node's groups, or counts them. */
static void list_groups(struct kg2g_waits *w, u16 node, bool fill)
{
	const struct kg2g_choice *choices;
	u32 group, nr, n, number, channel;

	for (group = 0; group < kg2g_nr_groups(w->routes, node); group++) {
		number = w->first_group[node] + group;
		w->node[number] = node;
		choices = group_choices(w, number, &nr);
		for (n = 0; n < nr; n++) {
			channel = choice_channel(w, node, &choices[n]);
			w->port[channel] = choice_port(w, node, &choices[n]);
			if (fill)
				w->member[--w->first_member[channel]] = number;
			else
				w->first_member[channel]++;
		}
	}
}

/* Adds to the lists of a node's groups their destinations, or counts them. */
static void list_ids(struct kg2g_waits *w, u16 node, bool fill)
{
	u32 id, number;
	u16 group;

	for (id = w->routes->nr_ids; id--;) {
		group = kg2g_group(w->routes, node, id);
		if (!group)
			continue;
		number = w->first_group[node] + group;
		if (fill)
			w->id[--w->first_id[number]] = id;
		else
			w->first_id[number]++;
	}
}

/* From the length of each list to where it ends; filled from the end, it then says the first. */
static void lengths_to_ends(u32 *lists, u32 nr)
{
	u32 n, end = 0;

	for (n = 0; n < nr; n++) {
		end += lists[n];
		lists[n] = end;
	}
	lists[nr] = end;
}

static int list_waiters(struct kg2g_waits *w)
{
	size_t u32s = 3 * (size_t)w->nr_channels + w->nr_members + 2 * (size_t)w->nr_groups + 3;
	size_t u16s = w->nr_groups + (size_t)w->routes->nr_nodes * w->routes->nr_ids;
	void *memory = waits_alloc(w, u32s * sizeof(u32) + u16s * sizeof(u16));
	u32 node;

	if (IS_ERR(memory))
		return PTR_ERR(memory);
	w->port = memory;
	w->first_member = w->port + w->nr_channels;
	w->member = w->first_member + w->nr_channels + 1;
	w->first_id = w->member + w->nr_members + 1;
	w->count = w->first_id + w->nr_groups + 1;
	w->node = (u16 *)(w->count + w->nr_channels + w->nr_groups);
	w->id = w->node + w->nr_groups;
	for (node = 0; node < w->graph->nr_nodes; node++) {
		list_groups(w, node, false);
		list_ids(w, node, false);
	}
	lengths_to_ends(w->first_member, w->nr_channels);
	lengths_to_ends(w->first_id, w->nr_groups);
	cond_resched();
	for (node = 0; node < w->graph->nr_nodes; node++) {
		list_groups(w, node, true);
		list_ids(w, node, true);
	}
	return 0;
}

static void count_waits(struct kg2g_waits *w)
{
	struct kg2g_wait_cursor at;
	u32 channel, waiter;
	u16 id;

	for (channel = 0; channel < w->nr_channels; channel++) {
		w->count[channel] = w->first_member[channel + 1] - w->first_member[channel];
		first_wait(w, channel, &at);
		while (next_wait(w, channel, &at, &waiter, &id))
			w->count[waiter]++;
		cond_resched();
	}
}

/*
 * One wait less for a waiter. If it was the last, the waiter goes on a stack, where its count,
 * which nobody needs any more, is the link to the next.
 */
static void release(struct kg2g_waits *w, u32 waiter, u32 *top)
{
	if (--w->count[waiter])
		return;
	w->count[waiter] = *top;
	*top = waiter;
}

static void take_away(struct kg2g_waits *w, u32 waiter, u32 *top)
{
	const struct kg2g_choice *choices;
	struct kg2g_wait_cursor at;
	u32 number, other, nr, n;
	u16 id;

	if (waiter < w->nr_channels) {
		first_wait(w, waiter, &at);
		while (next_wait(w, waiter, &at, &other, &id))
			release(w, other, top);
		return;
	}
	number = waiter - w->nr_channels;
	choices = group_choices(w, number, &nr);
	for (n = 0; n < nr; n++)
		release(w, choice_channel(w, w->node[number], &choices[n]), top);
}

/* Leaves a count with those alone that are on a cycle, or behind one. */
static bool waits_have_cycle(struct kg2g_waits *w)
{
	u32 top = KG2G_NO_WAITER, nr = w->nr_channels + w->nr_groups, left = nr;
	u32 waiter;

	for (waiter = w->nr_channels; waiter < nr; waiter++) {
		if (w->count[waiter])
			continue;
		w->count[waiter] = 1;
		release(w, waiter, &top);
	}
	while (top != KG2G_NO_WAITER) {
		waiter = top;
		top = w->count[waiter];
		w->count[waiter] = 0;
		left--;
		take_away(w, waiter, &top);
		if (left % 1024 == 0)
			cond_resched();
	}
	return left;
}

/* For each waiter that is left, one that is left too and waits for it. */
static void find_before(const struct kg2g_waits *w, u32 *before)
{
	const struct kg2g_choice *choices;
	struct kg2g_wait_cursor at;
	u32 channel, waiter, number, nr, n;
	u16 id;

	for (channel = 0; channel < w->nr_channels; channel++) {
		if (!w->count[channel])
			continue;
		first_wait(w, channel, &at);
		while (next_wait(w, channel, &at, &waiter, &id))
			before[waiter] = channel;
		cond_resched();
	}
	for (number = 0; number < w->nr_groups; number++) {
		waiter = w->nr_channels + number;
		if (!w->count[waiter])
			continue;
		choices = group_choices(w, number, &nr);
		for (n = 0; n < nr; n++)
			before[choice_channel(w, w->node[number], &choices[n])] = waiter;
	}
}

static struct kg2g_step cycle_step(const struct kg2g_waits *w, u32 channel, u32 group)
{
	u32 port = w->port[channel];
	u16 node = w->graph->ports[port].node;
	struct kg2g_wait_cursor at;
	struct kg2g_step step = {
		.node = node,
		.port = port - w->graph->nodes[node].first_port,
		.vc = channel_vc(w, channel),
	};
	u32 waiter;

	first_wait(w, channel, &at);
	while (next_wait(w, channel, &at, &waiter, &step.id) && waiter != group)
		;
	return step;
}

/* The cycle that one comes to by going back, from its channel of the lowest number on. */
static int refuse_cycle(const struct kg2g_waits *w, const u32 *before,
			struct kg2g_route_verdict *verdict)
{
	u32 n, channel, start, nr = 0, at = 0;
	struct kg2g_step *steps;

	while (!w->count[at])
		at++;
	/* After as many steps as there are waiters, one is on the cycle. */
	for (n = 0; n < w->nr_channels + w->nr_groups; n++)
		at = before[at];
	if (at >= w->nr_channels)
		at = before[at];
	start = at;
	channel = at;
	do {
		channel = before[before[channel]];
		start = min(start, channel);
		nr++;
	} while (channel != at);
	steps = kg2g_route_refuse(verdict, KG2G_ROUTE_CREDIT_CYCLE, nr);
	if (!steps)
		return -ENOMEM;
	for (channel = start; nr--; channel = before[before[channel]])
		steps[nr] = cycle_step(w, before[before[channel]], before[channel]);
	return 0;
}

static int check_waits(struct kg2g_waits *w, struct kg2g_route_verdict *verdict)
{
	u32 *before;
	int ret;

	ret = number_channels(w);
	if (!ret)
		ret = list_waiters(w);
	if (ret)
		return ret;
	count_waits(w);
	if (!waits_have_cycle(w))
		return 0;
	before = waits_alloc(w, sizeof(*before) * ((size_t)w->nr_channels + w->nr_groups));
	if (IS_ERR(before))
		return PTR_ERR(before);
	find_before(w, before);
	ret = refuse_cycle(w, before, verdict);
	kvfree(before);
	return ret;
}

/**
 * kg2g_routes_check_credits() - prove that a table has no credit deadlock, or find one
 * @graph: of the fabric
 * @routes: for @graph, whose entries are right by themselves
 * @verdict: KG2G_ROUTE_OK, with no steps; the answer is added
 *
 * Return: 0 with a verdict; -E2BIG, -ENOMEM: none.
 */
int kg2g_routes_check_credits(const struct kg2g_graph *graph, const struct kg2g_routes *routes,
			      struct kg2g_route_verdict *verdict)
{
	struct kg2g_waits w = {
		.graph = graph,
		.routes = routes,
	};
	int ret;

	ret = check_waits(&w, verdict);
	verdict->scratch = max(verdict->scratch, w.size);
	kvfree(w.port);
	kvfree(w.first_group);
	return ret;
}
