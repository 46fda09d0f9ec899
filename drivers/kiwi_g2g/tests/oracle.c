// SPDX-License-Identifier: GPL-2.0
#include <linux/bits.h>
#include <linux/string.h>

#include "oracle.h"

static const struct kg2g_port *port_of(const struct kg2g_graph *graph, u16 node, u16 port)
{
	return &graph->ports[graph->nodes[node].first_port + port];
}

static u16 leads_to(const struct oracle *o, u16 node, u16 port)
{
	return o->graph->ports[port_of(o->graph, node, port)->peer].node;
}

void oracle_learn(struct oracle *o, const struct kg2g_routes *routes)
{
	const struct kg2g_choice *choices;
	u32 node, id, n;
	u16 group;

	memset(o->entry, 0, sizeof(o->entry));
	for (node = 0; node < routes->nr_nodes; node++) {
		for (id = 0; id < routes->nr_ids; id++) {
			group = kg2g_group(routes, node, id);
			o->entry[node][id].nr = kg2g_nr_choices(routes, node, group);
			for (n = 0; n < o->entry[node][id].nr; n++) {
				choices = kg2g_choices(routes, node, group);
				o->entry[node][id].choice[n].port = choices[n].port;
				o->entry[node][id].choice[n].vc = choices[n].vc;
			}
		}
	}
}

static enum kg2g_route_fault choice_is(const struct oracle *o, u16 node, u16 id, u32 n)
{
	const struct kg2g_graph *graph = o->graph;
	const struct oracle_entry *entry = &o->entry[node][id];
	const struct oracle_choice *choice = &entry->choice[n];
	const struct kg2g_port *port;

	if (graph->node_of[id] == KG2G_NO_NODE)
		return KG2G_ROUTE_UNKNOWN_ID;
	if (graph->nodes[node].id == id)
		return KG2G_ROUTE_OWN_ID;
	if (choice->port >= graph->nodes[node].nr_ports)
		return KG2G_ROUTE_NO_PORT;
	port = port_of(graph, node, choice->port);
	if (port->peer == KG2G_NO_PORT)
		return KG2G_ROUTE_NO_LINK;
	if (!(port->flags & KIWI_G2G_PORT_ENABLED) ||
	    !(graph->ports[port->peer].flags & KIWI_G2G_PORT_ENABLED))
		return KG2G_ROUTE_PORT_DISABLED;
	if (!(port->flags & KIWI_G2G_PORT_ROUTABLE))
		return KG2G_ROUTE_NOT_ROUTABLE;
	if (choice->vc >= o->limits.nr_vcs)
		return KG2G_ROUTE_BAD_VC;
	if (kg2g_is_switch(graph, node) && choice->vc != entry->choice[0].vc)
		return KG2G_ROUTE_VC_CHANGED;
	return KG2G_ROUTE_OK;
}

enum kg2g_route_fault oracle_entries(const struct oracle *o, struct kg2g_step *step)
{
	enum kg2g_route_fault fault;
	u32 node, id, n;

	for (node = 0; node < o->graph->nr_nodes; node++) {
		for (id = 0; id < ORACLE_IDS; id++) {
			for (n = 0; n < o->entry[node][id].nr; n++) {
				fault = choice_is(o, node, id, n);
				if (!fault)
					continue;
				step->id = id;
				step->node = node;
				step->port = o->entry[node][id].choice[n].port;
				step->vc = o->entry[node][id].choice[n].vc;
				return fault;
			}
		}
	}
	return KG2G_ROUTE_OK;
}

static bool vc_changes(const struct oracle *o, u16 next, u16 id, u8 vc)
{
	const struct oracle_entry *entry = &o->entry[next][id];

	return kg2g_is_switch(o->graph, next) && entry->nr && entry->choice[0].vc != vc;
}

static bool forwards_to(const struct oracle *o, u16 node, u16 id)
{
	return o->graph->nodes[node].forwards || o->graph->nodes[node].id == id;
}

/* All ways on from a node; no way goes twice through one. */
static u32 walk(const struct oracle *o, u16 id, u16 node, u32 visited, u32 hops)
{
	const struct oracle_entry *entry = &o->entry[node][id];
	u32 n, faults = 0;
	u16 next;

	if (o->graph->nodes[node].id == id)
		return hops > o->limits.max_hops ? BIT(KG2G_ROUTE_TOO_LONG) : 0;
	if (!entry->nr)
		return BIT(KG2G_ROUTE_UNREACHABLE);
	for (n = 0; n < entry->nr; n++) {
		next = leads_to(o, node, entry->choice[n].port);
		if (!forwards_to(o, next, id)) {
			faults |= BIT(KG2G_ROUTE_NO_FORWARDING);
			continue;
		}
		if (vc_changes(o, next, id, entry->choice[n].vc))
			faults |= BIT(KG2G_ROUTE_VC_CHANGED);
		if (visited & BIT(next))
			faults |= BIT(KG2G_ROUTE_LOOP);
		else
			faults |= walk(o, id, next, visited | BIT(next), hops + 1);
	}
	return faults;
}

u32 oracle_walks(const struct oracle *o)
{
	u32 node, id, faults = 0;

	for (id = 0; id < ORACLE_IDS; id++) {
		if (o->graph->node_of[id] == KG2G_NO_NODE)
			continue;
		for (node = 0; node < o->graph->nr_nodes; node++) {
			if (o->entry[node][id].nr || !kg2g_is_switch(o->graph, node))
				faults |= walk(o, id, node, BIT(node), 0);
		}
	}
	return faults;
}

static u32 channel(const struct oracle *o, u16 node, const struct oracle_choice *choice)
{
	return (o->graph->nodes[node].first_port + choice->port) * ORACLE_VCS + choice->vc;
}

static void note_waits(struct oracle *o, u16 node, u16 id, const struct oracle_choice *choice)
{
	u16 next = leads_to(o, node, choice->port);
	u32 n;

	for (n = 0; n < o->entry[next][id].nr; n++)
		o->waits[channel(o, node, choice)] |=
			BIT_ULL(channel(o, next, &o->entry[next][id].choice[n]));
}

bool oracle_credit_cycle(struct oracle *o)
{
	u32 nr = o->graph->nr_ports * ORACLE_VCS, node, id, n, via;

	memset(o->waits, 0, sizeof(o->waits));
	for (node = 0; node < o->graph->nr_nodes; node++) {
		for (id = 0; id < ORACLE_IDS; id++) {
			for (n = 0; n < o->entry[node][id].nr; n++)
				note_waits(o, node, id, &o->entry[node][id].choice[n]);
		}
	}
	/* What waits for one that waits for a third waits for that too. */
	for (via = 0; via < nr; via++) {
		for (n = 0; n < nr && o->waits[via]; n++) {
			if (o->waits[n] & BIT_ULL(via))
				o->waits[n] |= o->waits[via];
		}
	}
	for (n = 0; n < nr; n++) {
		if (o->waits[n] & BIT_ULL(n))
			return true;
	}
	return false;
}

static bool is_choice(const struct oracle *o, u16 id, u16 node, u16 port, u16 vc)
{
	u32 n;

	for (n = 0; n < o->entry[node][id].nr; n++) {
		if (o->entry[node][id].choice[n].port == port &&
		    o->entry[node][id].choice[n].vc == vc)
			return true;
	}
	return false;
}

/* Each step is a choice, and leads to the next; the last to the first, if it is to. */
static bool steps_follow(const struct oracle *o, const struct kg2g_step *steps, u32 nr,
			 bool around, bool one_id)
{
	const struct kg2g_step *next;
	u32 n;

	for (n = 0; n < nr; n++) {
		if (!is_choice(o, steps[n].id, steps[n].node, steps[n].port, steps[n].vc))
			return false;
		if (n + 1 == nr && !around)
			break;
		next = &steps[(n + 1) % nr];
		if (leads_to(o, steps[n].node, steps[n].port) != next->node)
			return false;
		if (one_id ? next->id != steps[n].id :
		    !is_choice(o, steps[n].id, next->node, next->port, next->vc))
			return false;
	}
	return nr;
}

static bool nodes_differ(const struct kg2g_step *steps, u32 nr)
{
	u32 n, seen = 0;

	for (n = 0; n < nr; n++) {
		if (seen & BIT(steps[n].node))
			return false;
		seen |= BIT(steps[n].node);
	}
	return true;
}

bool oracle_path(const struct oracle *o, const struct kg2g_route_verdict *verdict)
{
	const struct kg2g_step *steps = verdict->steps;
	u32 nr = verdict->nr_steps;
	const struct kg2g_step *last = &steps[nr - 1];

	switch (verdict->fault) {
	case KG2G_ROUTE_LOOP:
		return nodes_differ(steps, nr) && steps_follow(o, steps, nr, true, true);
	case KG2G_ROUTE_CREDIT_CYCLE:
		return steps_follow(o, steps, nr, true, false);
	case KG2G_ROUTE_TOO_LONG:
		return nr > o->limits.max_hops && steps_follow(o, steps, nr, false, true) &&
		       leads_to(o, last->node, last->port) == o->graph->node_of[last->id];
	case KG2G_ROUTE_VC_CHANGED:
		return nr == 2 && steps_follow(o, steps, 2, false, true) &&
		       vc_changes(o, last->node, last->id, steps->vc);
	case KG2G_ROUTE_NO_FORWARDING:
		return nr == 2 && steps_follow(o, steps, 1, false, true) &&
		       leads_to(o, steps->node, steps->port) == last->node &&
		       last->port == KG2G_STEP_NO_PORT && !forwards_to(o, last->node, last->id);
	case KG2G_ROUTE_UNREACHABLE:
		if (last->port != KG2G_STEP_NO_PORT || o->entry[last->node][last->id].nr)
			return false;
		return nr == 1 || (steps_follow(o, steps, nr - 1, false, true) &&
				   leads_to(o, last[-1].node, last[-1].port) == last->node);
	default:
		return false;
	}
}

bool oracle_connected(const struct kg2g_graph *graph, u16 node, u16 id)
{
	const u16 both = KIWI_G2G_PORT_ENABLED | KIWI_G2G_PORT_ROUTABLE;
	u32 reached = BIT(node), round, n;
	const struct kg2g_port *port, *peer;

	for (round = 0; round < graph->nr_nodes; round++) {
		for (n = 0; n < graph->nr_ports; n++) {
			port = &graph->ports[n];
			if (port->peer == KG2G_NO_PORT || port->flags != both)
				continue;
			peer = &graph->ports[port->peer];
			if (port->node != node && !graph->nodes[port->node].forwards)
				continue;
			if (peer->flags == both && reached & BIT(port->node))
				reached |= BIT(peer->node);
		}
	}
	return reached & BIT(graph->node_of[id]);
}
