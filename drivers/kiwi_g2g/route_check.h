/* SPDX-License-Identifier: GPL-2.0 */
/* Proof that a table of routes is safe to commit, or what is wrong with it. */
#ifndef KIWI_G2G_ROUTE_CHECK_H
#define KIWI_G2G_ROUTE_CHECK_H

#include "route_table.h"

#define KG2G_STEP_NO_PORT	U16_MAX

/**
 * enum kg2g_route_fault - what is wrong with a table
 * @KG2G_ROUTE_OK: nothing
 * @KG2G_ROUTE_UNKNOWN_ID: a route to an accelerator that is not in the graph
 * @KG2G_ROUTE_OWN_ID: a route of a node to itself
 * @KG2G_ROUTE_NO_PORT: a port that the node does not have
 * @KG2G_ROUTE_NO_LINK: a port without a link
 * @KG2G_ROUTE_PORT_DISABLED: a link one of whose ports is not enabled
 * @KG2G_ROUTE_NOT_ROUTABLE: a port that no packet may leave by
 * @KG2G_ROUTE_BAD_VC: a VC that links do not have
 * @KG2G_ROUTE_VC_CHANGED: packets would have to leave a switch in another VC than they come in
 * @KG2G_ROUTE_UNREACHABLE: a node that a packet comes to, or starts at, has no route for it
 * @KG2G_ROUTE_NO_FORWARDING: a node that packets come to does not forward them
 * @KG2G_ROUTE_LOOP: a packet can come back to where it was
 * @KG2G_ROUTE_TOO_LONG: a packet can take more hops than allowed
 * @KG2G_ROUTE_CREDIT_CYCLE: packets can wait for each other's buffers for ever
 */
enum kg2g_route_fault {
	KG2G_ROUTE_OK,
	KG2G_ROUTE_UNKNOWN_ID,
	KG2G_ROUTE_OWN_ID,
	KG2G_ROUTE_NO_PORT,
	KG2G_ROUTE_NO_LINK,
	KG2G_ROUTE_PORT_DISABLED,
	KG2G_ROUTE_NOT_ROUTABLE,
	KG2G_ROUTE_BAD_VC,
	KG2G_ROUTE_VC_CHANGED,
	KG2G_ROUTE_UNREACHABLE,
	KG2G_ROUTE_NO_FORWARDING,
	KG2G_ROUTE_LOOP,
	KG2G_ROUTE_TOO_LONG,
	KG2G_ROUTE_CREDIT_CYCLE,
};

/**
 * struct kg2g_route_limits - what routes may use
 * @max_hops: links that a packet may cross
 * @nr_vcs: of each link, 1 to KG2G_VCS_MAX, for one class of traffic
 */
struct kg2g_route_limits {
	u16 max_hops;
	u16 nr_vcs;
};

/**
 * struct kg2g_step - a hop of a packet
 * @id: of the accelerator that the packet is for
 * @node: that it leaves
 * @port: of @node, or KG2G_STEP_NO_PORT: it cannot leave
 * @vc: of the link
 */
struct kg2g_step {
	u16 id;
	u16 node;
	u16 port;
	u16 vc;
};

/**
 * struct kg2g_route_verdict - what a table was found to be
 * @fault: KG2G_ROUTE_OK: it may be committed
 * @nr_steps: of the offending path
 * @steps: that path. Of an entry: its node and its choice. VC_CHANGED: the hop before too,
 *	unless the choices at the switch differ among themselves. NO_FORWARDING: the hop to the
 *	node, and that. UNREACHABLE: to the node that has no route, which is the last step. LOOP:
 *	from the node that comes back, once round. TOO_LONG: all hops. CREDIT_CYCLE: once round;
 *	the packet that holds a step's buffer, on its way to the step's id, waits for the next
 *	step's buffer, and the last for the first's
 * @scratch: the most bytes of memory that the check took, beside graph, table and @steps
 */
struct kg2g_route_verdict {
	enum kg2g_route_fault fault;
	u32 nr_steps;
	struct kg2g_step *steps;
	size_t scratch;
};

int kg2g_routes_check(const struct kg2g_graph *graph, const struct kg2g_routes *routes,
		      const struct kg2g_route_limits *limits,
		      struct kg2g_route_verdict *verdict);
int kg2g_routes_check_credits(const struct kg2g_graph *graph, const struct kg2g_routes *routes,
			      struct kg2g_route_verdict *verdict);
struct kg2g_step *kg2g_route_refuse(struct kg2g_route_verdict *verdict,
				    enum kg2g_route_fault fault, u32 nr_steps);
void kg2g_route_verdict_release(struct kg2g_route_verdict *verdict);
const char *kg2g_route_fault_text(enum kg2g_route_fault fault);

#endif /* KIWI_G2G_ROUTE_CHECK_H */
