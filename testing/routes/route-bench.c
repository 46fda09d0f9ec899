// SPDX-License-Identifier: GPL-2.0
/*
 * route-bench: how long the check of a table of 256 accelerators takes on this machine's core, and
 * what memory. The units are those of the driver, compiled for a program.
 *
 * Of each fabric a line of tab-separated values: name, nodes, ports, microseconds of processor
 * time for the check (the least of all rounds), for the table, bytes of graph, of table, and at
 * most of the check.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "route_make.h"
#include "tests/topology.h"

#define ROUNDS		7

static size_t shim_bytes, shim_peak;

/* The size stands in front of the memory. */
void *shim_alloc(size_t size)
{
	size_t *p = calloc(1, sizeof(max_align_t) + size);

	if (!p)
		return NULL;
	*p = size;
	shim_bytes += size;
	if (shim_bytes > shim_peak)
		shim_peak = shim_bytes;
	return (char *)p + sizeof(max_align_t);
}

void kvfree(const void *p)
{
	size_t *start;

	if (!p)
		return;
	start = (size_t *)((char *)p - sizeof(max_align_t));
	shim_bytes -= *start;
	free(start);
}

static long processor_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static void fail(const char *name, const char *why)
{
	fprintf(stderr, "%s: %s\n", name, why);
	exit(1);
}

static void measure(const char *name, struct kg2g_graph *graph,
		    const struct kg2g_route_limits *limits)
{
	struct kg2g_route_verdict verdict;
	struct kg2g_routes *routes;
	long start, took, best = -1, made;
	size_t before, scratch = 0;
	int round;

	start = processor_us();
	if (kg2g_routes_make(graph, limits, &routes, &verdict) || !routes)
		fail(name, "no table");
	made = processor_us() - start;
	before = shim_bytes;
	for (round = 0; round < ROUNDS; round++) {
		shim_peak = shim_bytes;
		start = processor_us();
		if (kg2g_routes_check(graph, routes, limits, &verdict))
			fail(name, "no verdict");
		took = processor_us() - start;
		if (verdict.fault)
			fail(name, kg2g_route_fault_text(verdict.fault));
		if (best < 0 || took < best)
			best = took;
		scratch = shim_peak - before;
		if (scratch != verdict.scratch)
			fail(name, "scratch memory is not what the verdict says");
	}
	printf("%s\t%u\t%u\t%ld\t%ld\t%zu\t%zu\t%zu\n", name, graph->nr_nodes, graph->nr_ports,
	       best, made, kg2g_graph_size(graph), routes->size, scratch);
	kg2g_routes_free(routes);
	kg2g_graph_free(graph);
}

int main(void)
{
	static const struct kg2g_route_limits limits = { .max_hops = 17, .nr_vcs = 2 };
	struct kg2g_graph *graph;
	const char *name;
	u32 n;

	for (n = 0; (graph = topology_of_256(n, &name)); n++)
		measure(name, graph, &limits);
	return 0;
}
