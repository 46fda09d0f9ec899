/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A fabric, as the file says that the harness made from the machine's wires. A line of it is a
 * node, "die" or "switch" and how many ports it has, or a link: "link NODE PORT NODE PORT".
 * Dies come first, so that the number of a node is the N of /dev/kiwi/g2gN and its accelerator id.
 */
#ifndef G2G_FABRIC_H
#define G2G_FABRIC_H

#include "die.h"

#define FABRIC_FILE	"/etc/fabric"
#define NODES_MAX	32
#define LINKS_MAX	128

struct fabric {
	unsigned int nr_dies, nr_nodes, nr_links;
	struct kiwi_g2g_route_node nodes[NODES_MAX];
	struct kiwi_g2g_route_link links[LINKS_MAX];
	struct die dies[NODES_MAX];
};

/* Reads the file and opens all dies. */
void fabric_open(struct fabric *f);
void fabric_close(struct fabric *f);

/* Takes all dies to where every one has a session with every other; from any state. */
void fabric_up(struct fabric *f);
/* The same with one die in another partition, which has sessions with none. */
void fabric_configure(struct fabric *f, unsigned int die, uint16_t partition);
void fabric_down(struct fabric *f);
/* Until every die has a session with every other. */
void fabric_wait(struct fabric *f);
/* Loads a file into the slots that are not active, and activates it: the fabric is down then. */
void fabric_image(struct fabric *f, const char *name);

struct kiwi_g2g_fabric_query fabric_query(const struct die *die);
struct kiwi_g2g_peer_query peer_query(const struct die *die, unsigned int peer);

#endif /* G2G_FABRIC_H */
