// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>

#include "topology.h"

static int free_port(const struct kg2g_graph *graph, u16 node)
{
	u32 port;

	for (port = 0; port < graph->nodes[node].nr_ports; port++) {
		if (graph->ports[graph->nodes[node].first_port + port].peer == KG2G_NO_PORT)
			return port;
	}
	return -ENOSPC;
}

int topology_link(struct kg2g_graph *graph, u16 a, u16 b)
{
	int from = free_port(graph, a), to = free_port(graph, b);

	if (from < 0 || to < 0)
		return -ENOSPC;
	return kg2g_graph_connect(graph, a, from, b, to);
}

static void add_dies(struct kg2g_graph *graph, u32 dies, u16 ports)
{
	u32 n;

	for (n = 0; n < dies; n++)
		kg2g_graph_add(graph, n, ports);
}

static void add_switches(struct kg2g_graph *graph, u32 switches, u16 ports)
{
	while (switches--)
		kg2g_graph_add(graph, KIWI_G2G_ACCEL_NONE, ports);
}

/* Links nodes each to each, with as many others between two of them. */
static void link_all(struct kg2g_graph *graph, u32 first, u32 count, u32 step)
{
	u32 a, b;

	for (a = 0; a < count; a++) {
		for (b = a + 1; b < count; b++)
			topology_link(graph, first + a * step, first + b * step);
	}
}

struct kg2g_graph *topology_full_mesh(u32 dies)
{
	struct kg2g_graph *graph = kg2g_graph_alloc(dies, dies * (dies - 1));

	if (graph) {
		add_dies(graph, dies, dies - 1);
		link_all(graph, 0, dies, 1);
	}
	return graph;
}

struct kg2g_graph *topology_ring(u32 dies)
{
	struct kg2g_graph *graph = kg2g_graph_alloc(dies, 2 * dies);
	u32 n;

	if (!graph)
		return NULL;
	add_dies(graph, dies, 2);
	for (n = 0; n < dies; n++)
		kg2g_graph_connect(graph, n, 1, (n + 1) % dies, 0);
	return graph;
}

struct kg2g_graph *topology_spine_leaf(u32 dies, u32 spines)
{
	struct kg2g_graph *graph = kg2g_graph_alloc(dies + spines, 2 * dies * spines);
	u32 die, spine;

	if (!graph)
		return NULL;
	add_dies(graph, dies, spines);
	add_switches(graph, spines, dies);
	for (die = 0; die < dies; die++) {
		for (spine = 0; spine < spines; spine++)
			kg2g_graph_connect(graph, die, spine, dies + spine, die);
	}
	return graph;
}

struct kg2g_graph *topology_leaves(u32 dies, u32 leaves, u32 spines)
{
	u32 leaf_ports = dies / leaves + spines;
	struct kg2g_graph *graph = kg2g_graph_alloc(dies + leaves + spines, dies +
						    leaves * leaf_ports + spines * leaves);
	u32 n, leaf, spine;

	if (!graph)
		return NULL;
	add_dies(graph, dies, 1);
	add_switches(graph, leaves, leaf_ports);
	add_switches(graph, spines, leaves);
	for (n = 0; n < dies; n++)
		topology_link(graph, n, dies + n % leaves);
	for (leaf = 0; leaf < leaves; leaf++) {
		for (spine = 0; spine < spines; spine++)
			topology_link(graph, dies + leaf, dies + leaves + spine);
	}
	return graph;
}

struct kg2g_graph *topology_grid(u32 side)
{
	u32 dies = side * side, n;
	struct kg2g_graph *graph = kg2g_graph_alloc(dies, dies * 2 * (side - 1));

	if (!graph)
		return NULL;
	add_dies(graph, dies, 2 * (side - 1));
	for (n = 0; n < side; n++) {
		link_all(graph, n * side, side, 1);
		link_all(graph, n, side, side);
	}
	return graph;
}

struct kg2g_graph *topology_islands(u32 islands, u32 dies, u32 uplinks, u32 spines)
{
	u32 all = islands * dies, n, up, spine_ports = all * uplinks / spines;
	struct kg2g_graph *graph = kg2g_graph_alloc(all + spines, all * (dies - 1 + uplinks) +
						    spines * spine_ports);

	if (!graph)
		return NULL;
	add_dies(graph, all, dies - 1 + uplinks);
	add_switches(graph, spines, spine_ports);
	for (n = 0; n < islands; n++)
		link_all(graph, n * dies, dies, 1);
	for (n = 0; n < all; n++) {
		for (up = 0; up < uplinks; up++)
			topology_link(graph, n, all + (n * uplinks + up) % spines);
	}
	return graph;
}

/* A die has at most KIWI_G2G_PORTS_MAX ports; the mesh of more is there to see what one takes. */
struct kg2g_graph *topology_of_256(u32 n, const char **name)
{
	switch (n) {
	case 0:
		*name = "16 x 16, rows and columns meshed";
		return topology_grid(16);
	case 1:
		*name = "mesh of all";
		return topology_full_mesh(256);
	case 2:
		*name = "16 spines";
		return topology_spine_leaf(256, 16);
	case 3:
		*name = "32 spines";
		return topology_spine_leaf(256, 32);
	case 4:
		*name = "16 leaves, 16 spines";
		return topology_leaves(256, 16, 16);
	case 5:
		*name = "16 meshes of 16, 16 spines";
		return topology_islands(16, 16, 4, 16);
	default:
		return NULL;
	}
}
