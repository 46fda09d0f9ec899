/* SPDX-License-Identifier: GPL-2.0 */
/* Fabrics to test routes with. Each function returns NULL if there is no memory. */
#ifndef KIWI_G2G_TESTS_TOPOLOGY_H
#define KIWI_G2G_TESTS_TOPOLOGY_H

#include "../route_graph.h"

/* Links a port of each that is free; -ENOSPC if one has none. */
int topology_link(struct kg2g_graph *graph, u16 a, u16 b);

/* Dies of ids 0, 1, 2... that are linked each to each. */
struct kg2g_graph *topology_full_mesh(u32 dies);

/* Each to the next, and the last to the first. Port 0 leads back, port 1 on. */
struct kg2g_graph *topology_ring(u32 dies);

/* Dies, then spines; port n of a die leads to spine n. */
struct kg2g_graph *topology_spine_leaf(u32 dies, u32 spines);

/* Dies, then leaves, then spines; each die is on one leaf, each leaf on each spine. */
struct kg2g_graph *topology_leaves(u32 dies, u32 leaves, u32 spines);

/* Rows and columns of dies, each row and each column a full mesh. */
struct kg2g_graph *topology_grid(u32 side);

/*
 * Islands of dies, each a full mesh, whose dies have links to some of the spines too: the n-th of
 * an island to as many as given, in turn.
 */
struct kg2g_graph *topology_islands(u32 islands, u32 dies, u32 uplinks, u32 spines);

/* The n-th of the fabrics of 256 dies that time and memory are measured with, or NULL. */
struct kg2g_graph *topology_of_256(u32 n, const char **name);

#endif /* KIWI_G2G_TESTS_TOPOLOGY_H */
