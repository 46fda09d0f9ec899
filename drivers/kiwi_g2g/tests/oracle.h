/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is right and wrong about a table, found out in the simplest way: all ways are walked, and
 * of buffers all that can be waited for, near and far, is listed. Small fabrics only.
 */
#ifndef KIWI_G2G_TESTS_ORACLE_H
#define KIWI_G2G_TESTS_ORACLE_H

#include "../route_check.h"

#define ORACLE_NODES	8
#define ORACLE_IDS	12
#define ORACLE_PORTS	32
#define ORACLE_VCS	2
#define ORACLE_CHOICES	12

struct oracle_choice {
	u8 port;
	u8 vc;
};

struct oracle_entry {
	u8 nr;
	struct oracle_choice choice[ORACLE_CHOICES];
};

struct oracle {
	const struct kg2g_graph *graph;
	struct kg2g_route_limits limits;
	struct oracle_entry entry[ORACLE_NODES][ORACLE_IDS];
	u64 waits[ORACLE_PORTS * ORACLE_VCS];
};

/* Copies a table. */
void oracle_learn(struct oracle *o, const struct kg2g_routes *routes);

/* The first entry that is wrong by itself: what it is, and the step; or KG2G_ROUTE_OK. */
enum kg2g_route_fault oracle_entries(const struct oracle *o, struct kg2g_step *step);

/* All that is wrong with walks: 1 << enum kg2g_route_fault. */
u32 oracle_walks(const struct oracle *o);

/* Whether buffers can wait for each other. */
bool oracle_credit_cycle(struct oracle *o);

/* Whether the path of a fault, other than one of an entry, is of this table and shows it. */
bool oracle_path(const struct oracle *o, const struct kg2g_route_verdict *verdict);

/* Whether a node gets to an accelerator by links that are usable both ways. */
bool oracle_connected(const struct kg2g_graph *graph, u16 node, u16 id);

#endif /* KIWI_G2G_TESTS_ORACLE_H */
