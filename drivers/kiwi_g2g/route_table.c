// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "route_table.h"

#define KG2G_CHOICES_FIRST	64U	/* room to begin with */

/**
 * kg2g_routes_alloc() - make a table without routes
 * @nr_nodes: of the graph that it is for, at most KG2G_NODES_MAX
 * @nr_ids: of accelerators, from 0 on, at most KIWI_G2G_ACCELS_MAX
 *
 * Return: the table, to be freed by kg2g_routes_free(), or NULL: no memory, or beyond the limits.
 */
struct kg2g_routes *kg2g_routes_alloc(u32 nr_nodes, u32 nr_ids)
{
	struct kg2g_routes *routes;

	if (nr_nodes > KG2G_NODES_MAX || nr_ids > KIWI_G2G_ACCELS_MAX)
		return NULL;
	routes = kvzalloc(struct_size(routes, nodes, nr_nodes), GFP_KERNEL_ACCOUNT);
	if (!routes)
		return NULL;
	routes->nr_nodes = nr_nodes;
	routes->nr_ids = nr_ids;
	routes->size = struct_size(routes, nodes, nr_nodes);
	return routes;
}

/**
 * kg2g_routes_free() - free a table
 * @routes: or NULL
 */
void kg2g_routes_free(struct kg2g_routes *routes)
{
	u32 node;

	if (!routes)
		return;
	for (node = 0; node < routes->nr_nodes; node++)
		kvfree(routes->nodes[node]);
	kvfree(routes);
}

/* Begins the next node. Group 0 has no choices. */
static void builder_begin(struct kg2g_route_builder *builder)
{
	builder->nr_groups = 1;
	builder->nr_choices = 0;
	builder->first[1] = 0;
	memset(builder->group, 0, sizeof(builder->group));
	memset(builder->hash, 0, sizeof(builder->hash));
}

/**
 * kg2g_route_builder_alloc() - begin to make the tables of nodes, one after the other
 * @nr_ids: of the table that they are for, at most KIWI_G2G_ACCELS_MAX
 *
 * Return: a builder, to be freed by kg2g_route_builder_free(), or NULL.
 */
struct kg2g_route_builder *kg2g_route_builder_alloc(u32 nr_ids)
{
	struct kg2g_route_builder *builder;

	if (nr_ids > KIWI_G2G_ACCELS_MAX)
		return NULL;
	builder = kvzalloc(sizeof(*builder), GFP_KERNEL);
	if (!builder)
		return NULL;
	builder->nr_ids = nr_ids;
	builder_begin(builder);
	return builder;
}

/**
 * kg2g_route_builder_free() - free a builder, with what was set and not committed
 * @builder: or NULL
 */
void kg2g_route_builder_free(struct kg2g_route_builder *builder)
{
	if (!builder)
		return;
	kvfree(builder->choices);
	kvfree(builder);
}

static int builder_grow(struct kg2g_route_builder *builder, u32 nr)
{
	struct kg2g_choice *choices;
	u32 max;

	if (nr <= builder->max_choices)
		return 0;
	max = max3(nr, 2 * builder->max_choices, KG2G_CHOICES_FIRST);
	choices = kvmalloc_array(max, sizeof(*choices), GFP_KERNEL);
	if (!choices)
		return -ENOMEM;
	if (builder->nr_choices)
		memcpy(choices, builder->choices, builder->nr_choices * sizeof(*choices));
	kvfree(builder->choices);
	builder->choices = choices;
	builder->max_choices = max;
	return 0;
}

static u32 choices_hash(const struct kg2g_choice *choices, u32 nr)
{
	u32 hash = nr;
	u32 n;

	for (n = 0; n < nr; n++)
		hash = hash_32(hash ^ (choices[n].port << 8 | choices[n].vc), 32);
	return hash_32(hash, KG2G_GROUP_HASH_BITS);
}

static bool builder_has(const struct kg2g_route_builder *builder, u16 group,
			const struct kg2g_choice *choices, u32 nr)
{
	u32 first = builder->first[group];

	return builder->first[group + 1] - first == nr &&
	       !memcmp(&builder->choices[first], choices, nr * sizeof(*choices));
}

/* Each choice once, in one order: then sets that are equal look equal. */
static bool choices_canonical(const struct kg2g_choice *choices, u32 nr)
{
	u32 n;

	for (n = 0; n < nr; n++) {
		if (choices[n].reserved)
			return false;
		if (n && (choices[n - 1].port << 8 | choices[n - 1].vc) >=
			 (choices[n].port << 8 | choices[n].vc))
			return false;
	}
	return true;
}

/**
 * kg2g_route_builder_set() - set a node's choices for a destination
 * @builder: of the node
 * @id: of the destination
 * @choices: ascending by port, then by VC
 * @nr: of them, 1 to KG2G_CHOICES_MAX
 *
 * Return: 0, -EINVAL for an id beyond the table, no choices, too many, or not ascending ones,
 * -EEXIST if the destination has choices already, -ENOMEM.
 */
int kg2g_route_builder_set(struct kg2g_route_builder *builder, u16 id,
			   const struct kg2g_choice *choices, u32 nr)
{
	u16 *slot;
	u32 hash;
	int ret;

	if (id >= builder->nr_ids || !nr || nr > KG2G_CHOICES_MAX ||
	    !choices_canonical(choices, nr))
		return -EINVAL;
	if (builder->group[id])
		return -EEXIST;
	/* There are twice as many slots as ids, so one is free. */
	hash = choices_hash(choices, nr);
	slot = &builder->hash[hash];
	while (*slot && !builder_has(builder, *slot, choices, nr)) {
		hash = (hash + 1) % ARRAY_SIZE(builder->hash);
		slot = &builder->hash[hash];
	}
	if (!*slot) {
		ret = builder_grow(builder, builder->nr_choices + nr);
		if (ret)
			return ret;
		memcpy(&builder->choices[builder->nr_choices], choices, nr * sizeof(*choices));
		builder->nr_choices += nr;
		*slot = builder->nr_groups++;
		builder->first[builder->nr_groups] = builder->nr_choices;
	}
	builder->group[id] = *slot;
	return 0;
}

/**
 * kg2g_route_builder_commit() - make what was set a node's table, and begin anew
 * @builder: of the node, for as many ids as @routes
 * @routes: to take the table
 * @node: that has no table yet
 *
 * Return: 0, -EINVAL, -EEXIST if the node has a table, or -ENOMEM; then nothing has changed.
 */
int kg2g_route_builder_commit(struct kg2g_route_builder *builder, struct kg2g_routes *routes,
			      u16 node)
{
	struct kg2g_node_routes *table;
	struct kg2g_choice *choices;
	size_t size;
	u16 *group;

	if (node >= routes->nr_nodes || builder->nr_ids != routes->nr_ids)
		return -EINVAL;
	if (routes->nodes[node])
		return -EEXIST;
	size = struct_size(table, memory, builder->nr_groups + 1) +
	       builder->nr_choices * sizeof(*choices) + builder->nr_ids * sizeof(*group);
	table = kvmalloc(size, GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	choices = (struct kg2g_choice *)&table->memory[builder->nr_groups + 1];
	group = (u16 *)(choices + builder->nr_choices);
	memcpy(table->memory, builder->first, (builder->nr_groups + 1) * sizeof(*table->memory));
	if (builder->nr_choices)
		memcpy(choices, builder->choices, builder->nr_choices * sizeof(*choices));
	memcpy(group, builder->group, builder->nr_ids * sizeof(*group));
	table->group = group;
	table->first = table->memory;
	table->choices = choices;
	table->nr_groups = builder->nr_groups;
	routes->nodes[node] = table;
	routes->size += size;
	builder_begin(builder);
	return 0;
}
