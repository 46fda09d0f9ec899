// SPDX-License-Identifier: GPL-2.0
/* Topologies drawn, and made of numbers. */
#include "kiwictl.h"
#include "topology.h"

#include "../common/say.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Drawing ----------------------------------------------------------------------------- */

#define MATRIX_MAX	24	/* nodes that a line has room for */

static bool is_switch(const struct topology *t, uint32_t node)
{
	return t->nodes[node].accel == KIWI_G2G_ACCEL_NONE;
}

static void draw_dot(const struct topology *t)
{
	uint32_t i;

	printf("graph fabric {\n\toverlap = false;\n\tsplines = true;\n");
	for (i = 0; i < t->nr_nodes; i++) {
		if (is_switch(t, i))
			printf("\t\"%s\" [shape = box];\n", t->names[i]);
		else
			printf("\t\"%s\" [shape = ellipse, label = \"%s\\n%u\"];\n", t->names[i],
			       t->names[i], t->nodes[i].accel);
	}
	for (i = 0; i < t->nr_links; i++)
		printf("\t\"%s\" -- \"%s\" [taillabel = \"%u\", headlabel = \"%u\"];\n",
		       t->names[t->links[i].node[0]], t->names[t->links[i].node[1]],
		       t->links[i].port[0], t->links[i].port[1]);
	printf("}\n");
}

static uint32_t links_between(const struct topology *t, uint32_t a, uint32_t b)
{
	uint32_t i, n = 0;

	for (i = 0; i < t->nr_links; i++)
		n += (t->links[i].node[0] == a && t->links[i].node[1] == b) ||
		     (t->links[i].node[0] == b && t->links[i].node[1] == a);
	return n;
}

/* How many links there are between any two nodes. */
static void draw_matrix(const struct topology *t)
{
	uint32_t row, column, n;

	for (row = 0; row < t->nr_nodes; row++) {
		printf("%-*s", 18, t->names[row]);
		for (column = 0; column < row; column++) {
			n = links_between(t, row, column);
			if (n)
				printf(" %2u", n);
			else
				printf("  .");
		}
		printf("  %u\n", row);
	}
}

static void draw_ports(const struct topology *t)
{
	uint32_t i, node, end;

	for (node = 0; node < t->nr_nodes; node++) {
		if (is_switch(t, node))
			printf("%s (switch)\n", t->names[node]);
		else
			printf("%s (accelerator %u%s)\n", t->names[node], t->nodes[node].accel,
			       t->nodes[node].flags & KIWI_G2G_NODE_FORWARDS ? ", forwards" : "");
		for (i = 0; i < t->nr_links; i++)
			for (end = 0; end < 2; end++)
				if (t->links[i].node[end] == node)
					printf("  |-%-2u--- %s/%u\n", t->links[i].port[end],
					       t->names[t->links[i].node[!end]],
					       t->links[i].port[!end]);
	}
}

static void draw(const struct topology *t)
{
	uint32_t i, switches = 0;

	for (i = 0; i < t->nr_nodes; i++)
		switches += is_switch(t, i);
	printf("%u dies, %u switches, %u links, at most %u hops\n\n", t->nr_nodes - switches,
	       switches, t->nr_links, t->max_hops);
	if (t->nr_nodes <= MATRIX_MAX) {
		draw_matrix(t);
		putchar('\n');
	}
	draw_ports(t);
}

int cmd_g2g_topology(int argc, char **argv)
{
	struct topology t;

	if (argc < 1 || argc > 2 || (argc == 2 && strcmp(argv[1], "dot")))
		die_usage("g2g topology FILE [dot]");
	topology_read(&t, argv[0]);
	if (argc == 2)
		draw_dot(&t);
	else if (as_json)
		topology_print(&t);
	else
		draw(&t);
	topology_free(&t);
	return 0;
}

/* Making ------------------------------------------------------------------------------ */

static uint32_t add_nodes(struct topology *t, const char *kind, uint32_t count, bool dies)
{
	uint32_t first = t->nr_nodes, i;

	for (i = 0; i < count; i++, t->nr_nodes++) {
		if (asprintf(&t->names[t->nr_nodes], "%s%u", kind, i) < 0)
			die("out of memory");
		t->nodes[t->nr_nodes].accel = (uint16_t)(dies ? i : KIWI_G2G_ACCEL_NONE);
		t->nodes[t->nr_nodes].flags = dies ? 0 : KIWI_G2G_NODE_FORWARDS;
	}
	return first;
}

/* Each end is the next port of its node. */
static void add_link(struct topology *t, uint32_t a, uint32_t b)
{
	struct kiwi_g2g_route_link *link = &t->links[t->nr_links++];
	const uint32_t ends[2] = { a, b };
	unsigned int end;

	for (end = 0; end < 2; end++) {
		struct kiwi_g2g_route_node *node = &t->nodes[ends[end]];

		if (node->ports == NODE_PORTS_MAX)
			die("%s would have more than %u ports", t->names[ends[end]], NODE_PORTS_MAX);
		link->node[end] = (uint16_t)ends[end];
		link->port[end] = node->ports++;
	}
}

/* Port p of a die leads to die p, or p + 1 from its own number on. */
static void make_mesh(struct topology *t, uint32_t dies)
{
	uint32_t a, b;

	topology_alloc(t, dies, dies * (dies - 1) / 2);
	t->max_hops = 1;
	add_nodes(t, "die", dies, true);
	for (b = 1; b < dies; b++)
		for (a = 0; a < b; a++)
			add_link(t, a, b);
}

static void make_spine_leaf(struct topology *t, uint32_t dies, uint32_t leaves, uint32_t spines)
{
	uint32_t lower = leaves ? leaves : dies, first_leaf, first_spine, i, k;

	topology_alloc(t, dies + leaves + spines, (leaves ? dies : 0) + lower * spines);
	t->max_hops = leaves ? 4 : 2;
	add_nodes(t, "die", dies, true);
	first_leaf = add_nodes(t, "leaf", leaves, false);
	first_spine = add_nodes(t, "spine", spines, false);
	for (i = 0; leaves && i < dies; i++)
		add_link(t, i, first_leaf + i * leaves / dies);
	for (i = 0; i < lower; i++)
		for (k = 0; k < spines; k++)
			add_link(t, (leaves ? first_leaf : 0) + i, first_spine + k);
}

int cmd_g2g_generate(int argc, char **argv)
{
	struct topology t;

	if (argc == 2 && !strcmp(argv[0], "mesh"))
		make_mesh(&t, (uint32_t)number_arg("number of dies", argv[1], 2,
						   NODE_PORTS_MAX + 1));
	else if (argc == 4 && !strcmp(argv[0], "spine-leaf"))
		make_spine_leaf(&t, (uint32_t)number_arg("number of dies", argv[1], 2,
							 KIWI_G2G_ACCELS_MAX),
				(uint32_t)number_arg("number of leaves", argv[2], 0, 1024),
				(uint32_t)number_arg("number of spines", argv[3], 1,
						     NODE_PORTS_MAX));
	else
		die_usage("g2g generate mesh DIES | spine-leaf DIES LEAVES SPINES");
	topology_print(&t);
	topology_free(&t);
	return 0;
}
