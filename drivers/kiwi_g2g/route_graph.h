/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fabric as routes see it: nodes, which are dies with an accelerator or switches, their ports,
 * and what each port leads to. A graph is its owner's alone: nothing here takes a lock.
 */
#ifndef KIWI_G2G_ROUTE_GRAPH_H
#define KIWI_G2G_ROUTE_GRAPH_H

#include <linux/bits.h>
#include <linux/limits.h>
#include <linux/types.h>

#include <kiwi_abi/g2g.h>

#define KG2G_NODES_MAX		4096
#define KG2G_PORTS_MAX		BIT(21)		/* of all nodes */
#define KG2G_VCS_MAX		16

#define KG2G_NO_NODE		U16_MAX
#define KG2G_NO_PORT		U32_MAX

#define KG2G_PORT_FLAGS		(KIWI_G2G_PORT_ENABLED | KIWI_G2G_PORT_ROUTABLE)

/**
 * struct kg2g_port - one end of a link, and the direction out of it
 * @peer: the other end, a number in &kg2g_graph.ports, or KG2G_NO_PORT
 * @node: whose port it is
 * @flags: KIWI_G2G_PORT_ENABLED: the port is up; KIWI_G2G_PORT_ROUTABLE: packets may leave by it
 */
struct kg2g_port {
	u32 peer;
	u16 node;
	u16 flags;
};

/**
 * struct kg2g_node - a die or a switch
 * @first_port: its port 0, a number in &kg2g_graph.ports
 * @nr_ports: of it
 * @id: of its accelerator; KIWI_G2G_ACCEL_NONE: it is a switch, which leaves a packet's VC as it is
 * @forwards: packets for others
 */
struct kg2g_node {
	u32 first_port;
	u16 nr_ports;
	u16 id;
	bool forwards;
};

/**
 * struct kg2g_graph - nodes and the links between them
 * @nr_nodes: there are
 * @nr_ports: of all nodes
 * @max_nodes: there is room for
 * @max_ports: there is room for
 * @node_of: the node of an accelerator, or KG2G_NO_NODE
 * @ports: of all nodes, one node's after the other's
 * @nodes: in the order in which they were added
 */
struct kg2g_graph {
	u32 nr_nodes;
	u32 nr_ports;
	u32 max_nodes;
	u32 max_ports;
	u16 node_of[KIWI_G2G_ACCELS_MAX];
	struct kg2g_port *ports;
	struct kg2g_node nodes[];
};

struct kg2g_graph *kg2g_graph_alloc(u32 max_nodes, u32 max_ports);
void kg2g_graph_free(struct kg2g_graph *graph);
size_t kg2g_graph_size(const struct kg2g_graph *graph);
int kg2g_graph_add(struct kg2g_graph *graph, u16 id, u16 nr_ports);
int kg2g_graph_set_forwards(struct kg2g_graph *graph, u16 node, bool forwards);
int kg2g_graph_connect(struct kg2g_graph *graph, u16 a, u16 a_port, u16 b, u16 b_port);
int kg2g_graph_set_port(struct kg2g_graph *graph, u16 node, u16 port, u16 flags);

static inline bool kg2g_is_switch(const struct kg2g_graph *graph, u16 node)
{
	return graph->nodes[node].id == KIWI_G2G_ACCEL_NONE;
}

/* The node that a linked port leads to. */
static inline u16 kg2g_next_node(const struct kg2g_graph *graph, u32 port)
{
	return graph->ports[graph->ports[port].peer].node;
}

#endif /* KIWI_G2G_ROUTE_GRAPH_H */
