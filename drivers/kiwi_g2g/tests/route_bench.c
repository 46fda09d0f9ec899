// SPDX-License-Identifier: GPL-2.0
/* Says what the check of tables for 256 accelerators takes on this kernel and processor. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/ktime.h>
#include <linux/module.h>

#include "../route_make.h"
#include "topology.h"

#define ROUNDS	3

static const struct kg2g_route_limits limits = { .max_hops = 17, .nr_vcs = 2 };

static int check(const struct kg2g_graph *graph, const struct kg2g_routes *routes, s64 *best,
		 size_t *scratch)
{
	struct kg2g_route_verdict verdict;
	ktime_t start;
	int round, ret;

	for (round = 0; round < ROUNDS; round++) {
		start = ktime_get();
		ret = kg2g_routes_check(graph, routes, &limits, &verdict);
		if (ret)
			return ret;
		*best = min(*best, ktime_us_delta(ktime_get(), start));
		*scratch = verdict.scratch;
		kg2g_route_verdict_release(&verdict);
		if (verdict.fault)
			return -EPROTO;
	}
	return 0;
}

static int bench(const char *name, const struct kg2g_graph *graph)
{
	struct kg2g_route_verdict verdict;
	struct kg2g_routes *routes;
	size_t scratch = 0;
	s64 best = S64_MAX;
	int ret;

	ret = kg2g_routes_make(graph, &limits, &routes, &verdict);
	if (ret)
		return ret;
	kg2g_route_verdict_release(&verdict);
	if (!routes)
		return -EPROTO;
	ret = check(graph, routes, &best, &scratch);
	if (!ret)
		pr_info("%s: %lld us, graph %zu bytes, table %zu, check %zu\n", name, best,
			kg2g_graph_size(graph), routes->size, scratch);
	kg2g_routes_free(routes);
	return ret;
}

static int __init route_bench_init(void)
{
	struct kg2g_graph *graph;
	const char *name;
	int ret = 0;
	u32 n;

	for (n = 0; !ret; n++) {
		graph = topology_of_256(n, &name);
		if (!graph)
			break;
		ret = bench(name, graph);
		kg2g_graph_free(graph);
	}
	return ret;
}
module_init(route_bench_init);

static void __exit route_bench_exit(void)
{
}
module_exit(route_bench_exit);

MODULE_DESCRIPTION("Measurement of the check of Kiwi G2G routes");
MODULE_AUTHOR("Kiwi driver maintainers");
MODULE_LICENSE("GPL");
