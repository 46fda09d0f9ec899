/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The nodes and links of a fabric, from a file in YAML, of which JSON is a part:
 * topology.schema.json. What is made of it, routes, is the kernel's: KIWI_G2G_ROUTES_STAGE takes
 * these arrays as they are.
 */
#ifndef KIWICTL_TOPOLOGY_H
#define KIWICTL_TOPOLOGY_H

#include <kiwi/fabric.h>

#define NODES_MAX	4096
#define LINKS_MAX	65536
#define NODE_PORTS_MAX	32
#define HOPS_MAX	255

struct topology {
	struct kiwi_g2g_route_node *nodes;
	char **names;			/* of the nodes */
	struct kiwi_g2g_route_link *links;
	uint32_t nr_nodes;
	uint32_t nr_links;
	uint32_t max_hops;
};

/* Dies with fault. @path: "-" for standard input. */
void topology_read(struct topology *t, const char *path);
void topology_free(struct topology *t);

/* Room for so many; names are "die" or "switch" with a number each. Dies without memory. */
void topology_alloc(struct topology *t, uint32_t nodes, uint32_t links);

/* As a file that topology_read() takes: in JSON with --json, else YAML. */
void topology_print(const struct topology *t);

#endif /* KIWICTL_TOPOLOGY_H */
