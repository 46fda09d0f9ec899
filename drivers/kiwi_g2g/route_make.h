/* SPDX-License-Identifier: GPL-2.0 */
/* Makes a table of routes for a graph: computation alone. */
#ifndef KIWI_G2G_ROUTE_MAKE_H
#define KIWI_G2G_ROUTE_MAKE_H

#include "route_check.h"

int kg2g_routes_make(const struct kg2g_graph *graph, const struct kg2g_route_limits *limits,
		     struct kg2g_routes **routes, struct kg2g_route_verdict *verdict);

#endif /* KIWI_G2G_ROUTE_MAKE_H */
