// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "route_graph.h"

/**
 * kg2g_graph_alloc() - make a graph without nodes
 * @max_nodes: that will be added, at most KG2G_NODES_MAX
 * @max_ports: of them all, at most KG2G_PORTS_MAX
 *
 * Return: the graph, to be freed by kg2g_graph_free(), or NULL: no memory, or beyond the limits.
 */
struct kg2g_graph *kg2g_graph_alloc(u32 max_nodes, u32 max_ports)
{
	struct kg2g_graph *graph;

	if (max_nodes > KG2G_NODES_MAX || max_ports > KG2G_PORTS_MAX)
		return NULL;
	graph = kvzalloc(struct_size(graph, nodes, max_nodes), GFP_KERNEL_ACCOUNT);
	if (!graph)
		return NULL;
	graph->ports = kvcalloc(max_t(u32, max_ports, 1), sizeof(*graph->ports),
				GFP_KERNEL_ACCOUNT);
	if (!graph->ports) {
		kvfree(graph);
		return NULL;
	}
	graph->max_nodes = max_nodes;
	graph->max_ports = max_ports;
	memset(graph->node_of, 0xff, sizeof(graph->node_of));
	return graph;
}

/**
 * kg2g_graph_free() - free a graph
 * @graph: or NULL
 */
void kg2g_graph_free(struct kg2g_graph *graph)
{
	if (!graph)
		return;
	kvfree(graph->ports);
	kvfree(graph);
}

/**
 * kg2g_graph_size() - the memory of a graph
 * @graph: any
 *
 * Return: bytes.
 */
size_t kg2g_graph_size(const struct kg2g_graph *graph)
{
	return struct_size(graph, nodes, graph->max_nodes) +
	       sizeof(*graph->ports) * graph->max_ports;
}

/**
 * kg2g_graph_add() - add a node, which forwards
 * @graph: to add it to
 * @id: of its accelerator, below KIWI_G2G_ACCELS_MAX, or KIWI_G2G_ACCEL_NONE for a switch
 * @nr_ports: of the node, none of them linked
 *
 * Return: the node's number, -EINVAL for an id beyond 10 bits, -EEXIST if another node has it,
 * -ENOSPC.
 */
int kg2g_graph_add(struct kg2g_graph *graph, u16 id, u16 nr_ports)
{
	u16 node = graph->nr_nodes;
	u16 port;

	if (id != KIWI_G2G_ACCEL_NONE && id >= KIWI_G2G_ACCELS_MAX)
		return -EINVAL;
	if (graph->nr_nodes == graph->max_nodes || nr_ports > graph->max_ports - graph->nr_ports)
		return -ENOSPC;
	if (id != KIWI_G2G_ACCEL_NONE) {
		if (graph->node_of[id] != KG2G_NO_NODE)
			return -EEXIST;
		graph->node_of[id] = node;
	}
	graph->nodes[node] = (struct kg2g_node) {
		.first_port = graph->nr_ports,
		.nr_ports = nr_ports,
		.id = id,
		.forwards = true,
	};
	for (port = 0; port < nr_ports; port++)
		graph->ports[graph->nr_ports + port] = (struct kg2g_port) {
			.peer = KG2G_NO_PORT,
			.node = node,
		};
	graph->nr_ports += nr_ports;
	graph->nr_nodes++;
	return node;
}

/**
 * kg2g_graph_set_forwards() - say whether a node forwards packets for others
 * @graph: that it is of
 * @node: any
 * @forwards: or not
 *
 * Return: 0, or -EINVAL if there is no such node.
 */
int kg2g_graph_set_forwards(struct kg2g_graph *graph, u16 node, bool forwards)
{
	if (node >= graph->nr_nodes)
		return -EINVAL;
	graph->nodes[node].forwards = forwards;
	return 0;
}

static struct kg2g_port *graph_port(struct kg2g_graph *graph, u16 node, u16 port)
{
	if (node >= graph->nr_nodes || port >= graph->nodes[node].nr_ports)
		return NULL;
	return &graph->ports[graph->nodes[node].first_port + port];
}

/**
 * kg2g_graph_connect() - link two ports, and enable them both ways
 * @graph: that they are of
 * @a: a node
 * @a_port: of @a
 * @b: another node
 * @b_port: of @b
 *
 * Return: 0, -EINVAL if there is no such port or @a is @b, -EBUSY if one is linked already.
 */
int kg2g_graph_connect(struct kg2g_graph *graph, u16 a, u16 a_port, u16 b, u16 b_port)
{
	struct kg2g_port *from = graph_port(graph, a, a_port);
	struct kg2g_port *to = graph_port(graph, b, b_port);

	if (!from || !to || a == b)
		return -EINVAL;
	if (from->peer != KG2G_NO_PORT || to->peer != KG2G_NO_PORT)
		return -EBUSY;
	from->peer = to - graph->ports;
	to->peer = from - graph->ports;
	from->flags = KG2G_PORT_FLAGS;
	to->flags = KG2G_PORT_FLAGS;
	return 0;
}

/**
 * kg2g_graph_set_port() - say whether a port is up, and whether packets may leave by it
 * @graph: that it is of
 * @node: whose port it is
 * @port: of @node
 * @flags: KIWI_G2G_PORT_ENABLED, KIWI_G2G_PORT_ROUTABLE
 *
 * Return: 0, or -EINVAL if there is no such port or flag.
 */
int kg2g_graph_set_port(struct kg2g_graph *graph, u16 node, u16 port, u16 flags)
{
	struct kg2g_port *p = graph_port(graph, node, port);

	if (!p || flags & ~KG2G_PORT_FLAGS)
		return -EINVAL;
	p->flags = flags;
	return 0;
}
