// SPDX-License-Identifier: GPL-2.0
/*
 * Staging: the routes of a whole fabric, as user space describes it, are proved, and those of
 * this die are handed to the device.
 */
#include <linux/errno.h>
#include <linux/minmax.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "kg2g.h"
#include "route_check.h"
#include "route_make.h"

#define MAX_LINKS	65536
#define MAX_ENTRIES	BIT(22)
#define MAX_PORTS	32	/* of a node: bits of struct kiwi_g2g_route_entry.ports */

/**
 * struct fabric - what user space describes, and what is made of it
 * @in: as it was handed over
 * @nodes: of it
 * @links: of it
 * @entries: of it, or NULL
 * @graph: nodes and links
 * @limits: that the routes keep to
 * @routes: of all nodes
 */
struct fabric {
	const struct kiwi_g2g_routes_stage *in;
	struct kiwi_g2g_route_node *nodes;
	struct kiwi_g2g_route_link *links;
	struct kiwi_g2g_route_entry *entries;
	struct kg2g_graph *graph;
	struct kg2g_route_limits limits;
	struct kg2g_routes *routes;
};

static void fabric_free(struct fabric *f)
{
	kg2g_routes_free(f->routes);
	kg2g_graph_free(f->graph);
	kvfree(f->entries);
	kvfree(f->links);
	kvfree(f->nodes);
}

/* Taking it over -------------------------------------------------------------------- */

static int count_check(const char *name, u32 value, u32 min, u32 max, struct kiwi_error *err)
{
	if (value >= min && value <= max)
		return 0;
	return kiwi_fail(err, -EINVAL, value, max, "%s %u is not in %u..%u", name, value, min,
			 max);
}

static int take_array(void *array, u64 from, u32 nr, size_t size, struct kiwi_error *err)
{
	void **to = array;
	void *copy;

	if (!nr)
		return 0;
	copy = vmemdup_user(u64_to_user_ptr(from), array_size(nr, size));
	if (IS_ERR(copy))
		return kiwi_fail_plain(err, PTR_ERR(copy));
	*to = copy;
	return 0;
}

static int take(struct fabric *f, struct kiwi_error *err)
{
	const struct kiwi_g2g_routes_stage *in = f->in;
	int ret;

	ret = count_check("nr_nodes", in->nr_nodes, 1, KG2G_NODES_MAX, err);
	ret = ret ?: count_check("nr_links", in->nr_links, 0, MAX_LINKS, err);
	ret = ret ?: count_check("nr_entries", in->nr_entries, 0, MAX_ENTRIES, err);
	ret = ret ?: count_check("max_hops", in->max_hops, 1, 255, err);
	ret = ret ?: take_array(&f->nodes, in->nodes, in->nr_nodes, sizeof(*f->nodes), err);
	ret = ret ?: take_array(&f->links, in->links, in->nr_links, sizeof(*f->links), err);
	return ret ?: take_array(&f->entries, in->entries, in->nr_entries, sizeof(*f->entries),
				 err);
}

/* Graph ------------------------------------------------------------------------------- */

static int node_check(const struct kg2g *kg, const struct kiwi_g2g_route_node *n, u32 i,
		      struct kiwi_error *err)
{
	if (n->ports > MAX_PORTS || (n->flags & ~KIWI_G2G_NODE_FORWARDS) || n->rsvd)
		return kiwi_fail(err, -EINVAL, i, MAX_PORTS,
				 "node %u: more than %u ports, unknown flags or reserved bits", i,
				 MAX_PORTS);
	if (n->accel != KIWI_G2G_ACCEL_NONE && n->accel >= kg->caps.accels)
		return kiwi_fail(err, -EINVAL, n->accel, kg->caps.accels - 1,
				 "node %u: accel %u is not in 0..%llu", i, n->accel,
				 kg->caps.accels - 1);
	return 0;
}

static int add_node(const struct kg2g *kg, struct fabric *f, u32 i, struct kiwi_error *err)
{
	const struct kiwi_g2g_route_node *n = &f->nodes[i];
	int ret;

	ret = node_check(kg, n, i, err);
	if (ret)
		return ret;
	ret = kg2g_graph_add(f->graph, n->accel, n->ports);
	if (ret >= 0)
		ret = kg2g_graph_set_forwards(f->graph, i, n->flags & KIWI_G2G_NODE_FORWARDS);
	if (ret < 0)
		return kiwi_fail(err, -EINVAL, i, 0, "node %u: accel %u is another's, too", i,
				 n->accel);
	return 0;
}

static int add_link(struct fabric *f, u32 i, struct kiwi_error *err)
{
	const struct kiwi_g2g_route_link *l = &f->links[i];
	unsigned int end;
	int ret;

	ret = l->rsvd ? -EINVAL : kg2g_graph_connect(f->graph, l->node[0], l->port[0],
						     l->node[1], l->port[1]);
	for (end = 0; !ret && end < 2; end++)
		ret = kg2g_graph_set_port(f->graph, l->node[end], l->port[end], l->flags[end]);
	return ret ? kiwi_fail(err, -EINVAL, i, 0,
			       "link %u, node %u port %u to node %u port %u: no such, or not free",
			       i, l->node[0], l->port[0], l->node[1], l->port[1]) : 0;
}

static int make_graph(const struct kg2g *kg, struct fabric *f, struct kiwi_error *err)
{
	u32 i, ports = 0;
	int ret = 0;

	for (i = 0; i < f->in->nr_nodes; i++)
		ports += min_t(u32, f->nodes[i].ports, MAX_PORTS);
	f->graph = kg2g_graph_alloc(f->in->nr_nodes, ports);
	if (!f->graph)
		return kiwi_fail_plain(err, -ENOMEM);
	for (i = 0; !ret && i < f->in->nr_nodes; i++)
		ret = add_node(kg, f, i, err);
	for (i = 0; !ret && i < f->in->nr_links; i++)
		ret = add_link(f, i, err);
	return ret;
}

/* Tables ------------------------------------------------------------------------------ */

static int add_entry(struct kg2g_route_builder *builder, const struct kiwi_g2g_route_entry *e)
{
	struct kg2g_choice choices[MAX_PORTS];
	u32 nr = 0, port;

	if (e->rsvd[0] || e->rsvd[1] || e->rsvd[2])
		return -EINVAL;
	for (port = 0; port < MAX_PORTS; port++) {
		if (e->ports & BIT(port))
			choices[nr++] = (struct kg2g_choice) { .port = port, .vc = e->layer };
	}
	return kg2g_route_builder_set(builder, e->accel, choices, nr);
}

static int add_entries(struct fabric *f, struct kg2g_route_builder *builder, struct kiwi_error *err)
{
	const struct kiwi_g2g_route_entry *e = f->entries, *end = e + f->in->nr_entries;
	int ret;

	for (; e < end; e++) {
		ret = add_entry(builder, e);
		if (!ret && (e + 1 == end || e[1].node != e->node))
			ret = kg2g_route_builder_commit(builder, f->routes, e->node);
		if (ret == -ENOMEM)
			return kiwi_fail_plain(err, ret);
		if (ret)
			return kiwi_fail(err, -EINVAL, e - f->entries, 0,
					 "entry %zd, node %u to accel %u: none such, or twice",
					 e - f->entries, e->node, e->accel);
		cond_resched();
	}
	return 0;
}

static int take_routes(const struct kg2g *kg, struct fabric *f, struct kiwi_error *err)
{
	struct kg2g_route_builder *builder;
	int ret;

	f->routes = kg2g_routes_alloc(f->in->nr_nodes, kg->caps.accels);
	builder = kg2g_route_builder_alloc(kg->caps.accels);
	if (f->routes && builder)
		ret = add_entries(f, builder, err);
	else
		ret = kiwi_fail_plain(err, -ENOMEM);
	kg2g_route_builder_free(builder);
	return ret;
}

/* The fault, and the path that shows it as far as there is room. */
static int refuse(const struct kg2g_route_verdict *v, struct kiwi_error *err)
{
	const struct kg2g_step *s;
	size_t len;

	kiwi_fail(err, -EINVAL, v->nr_steps ? v->steps[0].id : 0, 0, "%s:",
		  kg2g_route_fault_text(v->fault));
	for (s = v->steps; s < v->steps + v->nr_steps; s++) {
		len = strlen(err->text);
		if (s->port == KG2G_STEP_NO_PORT)
			scnprintf(err->text + len, sizeof(err->text) - len, " %u at node %u", s->id,
				  s->node);
		else
			scnprintf(err->text + len, sizeof(err->text) - len,
				  " %u at node %u port %u vc %u", s->id, s->node, s->port, s->vc);
	}
	return -EINVAL;
}

static int prove(struct fabric *f, struct kiwi_error *err)
{
	struct kg2g_route_verdict verdict = { };
	int ret;

	if (f->in->nr_entries)
		ret = kg2g_routes_check(f->graph, f->routes, &f->limits, &verdict);
	else
		ret = kg2g_routes_make(f->graph, &f->limits, &f->routes, &verdict);
	if (ret)
		kiwi_fail(err, ret, 0, 0, "routes could not be proved (%d)", ret);
	else if (verdict.fault != KG2G_ROUTE_OK)
		ret = refuse(&verdict, err);
	kg2g_route_verdict_release(&verdict);
	return ret;
}

/* The device -------------------------------------------------------------------------- */

/* All ways of a die to an accelerator are in one layer. */
static int own_route(const struct fabric *f, u16 node, u16 id, struct kiwi_g2g_route *route,
		     struct kiwi_error *err)
{
	u16 group = id < f->routes->nr_ids ? kg2g_group(f->routes, node, id) : 0;
	const struct kg2g_choice *c;
	u32 i, ports = 0;

	if (!group)
		return 0;
	c = kg2g_choices(f->routes, node, group);
	for (i = 0; i < kg2g_nr_choices(f->routes, node, group); i++) {
		if (c[i].vc != c[0].vc)
			return kiwi_fail(err, -EINVAL, id, 0,
					 "accel %u: ways in layers %u and %u, one is possible", id,
					 c[0].vc, c[i].vc);
		ports |= BIT(c[i].port);
	}
	route->ports = cpu_to_le32(ports);
	route->layer = c[0].vc;
	return 0;
}

static int stage(struct kg2g *kg, const struct fabric *f, u16 node, struct kiwi_error *err)
{
	struct kiwi_g2g_stage_routes_in in;
	u32 first, i, count;
	int ret = 0;

	for (first = 0; !ret && first < kg->caps.accels; first += count) {
		count = min_t(u32, kg->caps.accels - first, KIWI_G2G_ROUTES);
		in = (struct kiwi_g2g_stage_routes_in) {
			.first = cpu_to_le16(first),
			.count = cpu_to_le16(count),
			.flags = first ? 0 : KIWI_G2G_STAGE_CLEAR,
		};
		for (i = 0; !ret && i < count; i++)
			ret = own_route(f, node, first + i, &in.route[i], err);
		if (!ret)
			ret = kg2g_cmd_stage_routes(kg->part.fw, &in, err);
	}
	return ret;
}

static int stage_own(struct kg2g *kg, const struct fabric *f, struct kiwi_error *err)
{
	struct kiwi_g2g_fabric now;
	u16 accel;
	int ret;

	ret = kg2g_cmd_query_fabric(kg->part.fw, &now, err);
	if (ret)
		return ret;
	accel = le16_to_cpu(now.config.accel);
	if (now.state == KIWI_G2G_FABRIC_UNCONFIGURED ||
	    f->graph->node_of[accel] == KG2G_NO_NODE)
		return kiwi_fail(err, -EINVAL, accel, 0,
				 "the fabric is not configured, or accel %u is not in it", accel);
	return stage(kg, f, f->graph->node_of[accel], err);
}

/**
 * kg2g_routes_stage() - prove the routes of a fabric, and stage this die's
 * @kg: the device
 * @in: the fabric
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kg2g_routes_stage(struct kg2g *kg, const struct kiwi_g2g_routes_stage *in,
		      struct kiwi_error *err)
{
	struct fabric f = {
		.in = in,
		.limits = { .max_hops = in->max_hops, .nr_vcs = kg->caps.layers },
	};
	int ret;

	ret = take(&f, err);
	ret = ret ?: make_graph(kg, &f, err);
	if (!ret && in->nr_entries)
		ret = take_routes(kg, &f, err);
	ret = ret ?: prove(&f, err);
	if (!ret) {
		mutex_lock(&kg->admin);
		ret = stage_own(kg, &f, err);
		mutex_unlock(&kg->admin);
	}
	fabric_free(&f);
	return ret;
}
