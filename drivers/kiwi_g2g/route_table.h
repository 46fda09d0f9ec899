/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of routes: at each node, by which ports and VCs a packet may leave for an accelerator.
 * Destinations of a node that have the same choices share them as a group. A table is its
 * owner's alone: nothing here takes a lock.
 */
#ifndef KIWI_G2G_ROUTE_TABLE_H
#define KIWI_G2G_ROUTE_TABLE_H

#include <linux/types.h>

#include "route_graph.h"

#define KG2G_CHOICES_MAX	256		/* of one destination */
#define KG2G_GROUP_HASH_BITS	11		/* twice as many slots as ids */

/**
 * struct kg2g_choice - a way to leave a node
 * @port: of that node
 * @vc: that the packet travels in on the link
 * @reserved: 0
 */
struct kg2g_choice {
	u16 port;
	u8 vc;
	u8 reserved;
};

/**
 * struct kg2g_node_routes - the table of one node
 * @group: of each id; 0 if the node has no route to it
 * @first: the first choice of each group, and of the one behind the last
 * @choices: of all groups, one group's after the other's
 * @nr_groups: with group 0, which has no choices
 * @memory: where all that is
 */
struct kg2g_node_routes {
	const u16 *group;
	const u32 *first;
	const struct kg2g_choice *choices;
	u32 nr_groups;
	u32 memory[];
};

/**
 * struct kg2g_routes - the tables of all nodes of a graph
 * @nr_nodes: as in the graph
 * @nr_ids: ids that have entries are below
 * @size: bytes of memory
 * @nodes: table of each node; NULL: it has no routes
 */
struct kg2g_routes {
	u32 nr_nodes;
	u32 nr_ids;
	size_t size;
	const struct kg2g_node_routes *nodes[];
};

/**
 * struct kg2g_route_builder - a node's table while it is made
 * @nr_ids: of the table
 * @nr_groups: made, with group 0
 * @nr_choices: of all groups
 * @max_choices: there is room for
 * @choices: of all groups
 * @first: as in &struct kg2g_node_routes
 * @group: as in &struct kg2g_node_routes
 * @hash: finds groups by their choices; 0: free
 */
struct kg2g_route_builder {
	u32 nr_ids;
	u32 nr_groups;
	u32 nr_choices;
	u32 max_choices;
	struct kg2g_choice *choices;
	u32 first[KIWI_G2G_ACCELS_MAX + 2];
	u16 group[KIWI_G2G_ACCELS_MAX];
	u16 hash[BIT(KG2G_GROUP_HASH_BITS)];
};

struct kg2g_routes *kg2g_routes_alloc(u32 nr_nodes, u32 nr_ids);
void kg2g_routes_free(struct kg2g_routes *routes);

struct kg2g_route_builder *kg2g_route_builder_alloc(u32 nr_ids);
void kg2g_route_builder_free(struct kg2g_route_builder *builder);
int kg2g_route_builder_set(struct kg2g_route_builder *builder, u16 id,
			   const struct kg2g_choice *choices, u32 nr);
int kg2g_route_builder_commit(struct kg2g_route_builder *builder, struct kg2g_routes *routes,
			      u16 node);

static inline u32 kg2g_nr_groups(const struct kg2g_routes *routes, u16 node)
{
	return routes->nodes[node] ? routes->nodes[node]->nr_groups : 1;
}

static inline u16 kg2g_group(const struct kg2g_routes *routes, u16 node, u16 id)
{
	return routes->nodes[node] ? routes->nodes[node]->group[id] : 0;
}

static inline u32 kg2g_nr_choices(const struct kg2g_routes *routes, u16 node, u16 group)
{
	const struct kg2g_node_routes *table = routes->nodes[node];

	return group ? table->first[group + 1] - table->first[group] : 0;
}

/* Of a group that has any. */
static inline const struct kg2g_choice *kg2g_choices(const struct kg2g_routes *routes, u16 node,
						     u16 group)
{
	return &routes->nodes[node]->choices[routes->nodes[node]->first[group]];
}

#endif /* KIWI_G2G_ROUTE_TABLE_H */
