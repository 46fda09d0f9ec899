// SPDX-License-Identifier: GPL-2.0
#include "topology.h"

#include "kiwictl.h"
#include "../common/json.h"
#include "../common/say.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define NAME_MAX_LEN	32

/* What a name is made of. */
#define NAME_CHARS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-"

struct reader {
	struct topology *t;
	const char *path;
	yaml_document_t doc;
	uint32_t *by_name;		/* nodes, sorted by their names */
	uint32_t *port_link;		/* of each node and port: link + 1 */
};

static void __attribute__((format(printf, 3, 4), noreturn))
fault(const struct reader *r, const yaml_node_t *at, const char *format, ...)
{
	char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	die("%s:%zu:%zu: %s", r->path, at->start_mark.line + 1, at->start_mark.column + 1, text);
}

static void *array(size_t count, size_t size)
{
	void *p = calloc(count ? count : 1, size);

	if (!p)
		die("out of memory");
	return p;
}

void topology_alloc(struct topology *t, uint32_t nodes, uint32_t links)
{
	*t = (struct topology){
		.nodes = array(nodes, sizeof(*t->nodes)),
		.names = array(nodes, sizeof(*t->names)),
		.links = array(links, sizeof(*t->links)),
		.max_hops = HOPS_MAX,
	};
}

void topology_free(struct topology *t)
{
	while (t->nr_nodes)
		free(t->names[--t->nr_nodes]);
	free(t->nodes);
	free(t->names);
	free(t->links);
}

/* What YAML holds ------------------------------------------------------------------- */

static const yaml_node_t *node_of(struct reader *r, int index)
{
	return yaml_document_get_node(&r->doc, index);
}

static const char *scalar(const struct reader *r, const yaml_node_t *n, const char *what)
{
	const char *text = (const char *)n->data.scalar.value;

	if (n->type != YAML_SCALAR_NODE || strlen(text) != n->data.scalar.length)
		fault(r, n, "%s is no word or number", what);
	return text;
}

static bool plain(const yaml_node_t *n)
{
	return n->type == YAML_SCALAR_NODE && n->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static uint32_t number(const struct reader *r, const yaml_node_t *n, const char *what,
		       uint32_t min, uint32_t max)
{
	const char *text = scalar(r, n, what);
	size_t len = strlen(text);
	unsigned long value = strtoul(text, NULL, 10);

	if (!plain(n) || !len || len > 9 || strspn(text, "0123456789") != len ||
	    (text[0] == '0' && len > 1) || value < min || value > max)
		fault(r, n, "%s '%s' is not in %u..%u", what, text, min, max);
	return (uint32_t)value;
}

static bool truth(const struct reader *r, const yaml_node_t *n, const char *what)
{
	const char *text = scalar(r, n, what);

	if (!plain(n) || (strcmp(text, "true") && strcmp(text, "false")))
		fault(r, n, "%s '%s' is neither true nor false", what, text);
	return text[0] == 't';
}

/* Values of the keys, NULL for those that are not there; another key or a second one is a fault. */
static void members(struct reader *r, const yaml_node_t *n, const char *what,
		    const char *const *keys, const yaml_node_t **values, size_t count)
{
	const yaml_node_pair_t *pair;
	size_t i;

	if (n->type != YAML_MAPPING_NODE)
		fault(r, n, "%s is no mapping", what);
	memset(values, 0, count * sizeof(*values));
	for (pair = n->data.mapping.pairs.start; pair < n->data.mapping.pairs.top; pair++) {
		const yaml_node_t *key = node_of(r, pair->key);
		const char *text = scalar(r, key, "a key");

		for (i = 0; i < count && strcmp(text, keys[i]); i++)
			;
		if (i == count)
			fault(r, key, "%s has no '%s'", what, text);
		if (values[i])
			fault(r, key, "'%s' stands here twice", text);
		values[i] = node_of(r, pair->value);
	}
}

static uint32_t items(const struct reader *r, const yaml_node_t *n, const char *what, uint32_t min,
		      uint32_t max)
{
	ptrdiff_t count;

	if (n->type != YAML_SEQUENCE_NODE)
		fault(r, n, "%s are no list", what);
	count = n->data.sequence.items.top - n->data.sequence.items.start;
	if (count < min || count > max)
		fault(r, n, "%td %s, not in %u..%u", count, what, min, max);
	return (uint32_t)count;
}

static const yaml_node_t *item(struct reader *r, const yaml_node_t *n, uint32_t i)
{
	return node_of(r, n->data.sequence.items.start[i]);
}

/* Nodes ------------------------------------------------------------------------------- */

enum { NODE_NAME, NODE_ACCEL, NODE_PORTS, NODE_FORWARDS, NODE_KEYS };

static void read_node(struct reader *r, const yaml_node_t *n)
{
	static const char *const keys[NODE_KEYS] = { "name", "accel", "ports", "forwards" };
	struct kiwi_g2g_route_node *node = &r->t->nodes[r->t->nr_nodes];
	const yaml_node_t *v[NODE_KEYS];
	const char *name;
	bool forwards;
	size_t len;

	members(r, n, "a node", keys, v, NODE_KEYS);
	if (!v[NODE_NAME] || !v[NODE_PORTS])
		fault(r, n, "a node needs a name and ports");
	name = scalar(r, v[NODE_NAME], "a name");
	len = strlen(name);
	if (!len || len > NAME_MAX_LEN || strspn(name, NAME_CHARS) != len)
		fault(r, v[NODE_NAME], "a name has 1..%u letters, digits and '_.-'", NAME_MAX_LEN);
	node->ports = (uint16_t)number(r, v[NODE_PORTS], "number of ports", 0, NODE_PORTS_MAX);
	node->accel = v[NODE_ACCEL] ? (uint16_t)number(r, v[NODE_ACCEL], "accelerator", 0,
						       KIWI_G2G_ACCELS_MAX - 1) :
		      KIWI_G2G_ACCEL_NONE;
	forwards = node->accel == KIWI_G2G_ACCEL_NONE;
	if (v[NODE_FORWARDS])
		forwards = truth(r, v[NODE_FORWARDS], "forwards");
	node->flags = forwards ? KIWI_G2G_NODE_FORWARDS : 0;
	r->t->names[r->t->nr_nodes] = strdup(name);
	if (!r->t->names[r->t->nr_nodes])
		die("out of memory");
	r->t->nr_nodes++;
}

static int by_name(const void *a, const void *b, void *names)
{
	char *const *n = names;

	return strcmp(n[*(const uint32_t *)a], n[*(const uint32_t *)b]);
}

static void sort_names(struct reader *r, const yaml_node_t *nodes)
{
	uint32_t i;

	r->by_name = array(r->t->nr_nodes, sizeof(*r->by_name));
	for (i = 0; i < r->t->nr_nodes; i++)
		r->by_name[i] = i;
	qsort_r(r->by_name, r->t->nr_nodes, sizeof(*r->by_name), by_name, r->t->names);
	for (i = 1; i < r->t->nr_nodes; i++)
		if (!by_name(&r->by_name[i - 1], &r->by_name[i], r->t->names))
			fault(r, item(r, nodes, r->by_name[i]), "two nodes are named '%s'",
			      r->t->names[r->by_name[i]]);
}

static void check_accels(struct reader *r, const yaml_node_t *nodes)
{
	static bool seen[KIWI_G2G_ACCELS_MAX];
	uint32_t i;

	for (i = 0; i < r->t->nr_nodes; i++) {
		uint16_t accel = r->t->nodes[i].accel;

		if (accel == KIWI_G2G_ACCEL_NONE)
			continue;
		if (seen[accel])
			fault(r, item(r, nodes, i), "two nodes have accelerator %u",
			      accel);
		seen[accel] = true;
	}
}

static void read_nodes(struct reader *r, const yaml_node_t *nodes, uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		read_node(r, item(r, nodes, i));
	sort_names(r, nodes);
	check_accels(r, nodes);
}

/* Links ------------------------------------------------------------------------------- */

static uint32_t find_node(const struct reader *r, const char *name, size_t len)
{
	uint32_t low = 0, high = r->t->nr_nodes;

	while (low < high) {
		uint32_t mid = (low + high) / 2;
		const char *other = r->t->names[r->by_name[mid]];
		int order = strncmp(name, other, len);

		if (!order && other[len])
			order = -1;
		if (!order)
			return r->by_name[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return UINT32_MAX;
}

static void read_end(struct reader *r, const yaml_node_t *n, unsigned int end)
{
	struct kiwi_g2g_route_link *link = &r->t->links[r->t->nr_links];
	const char *text = scalar(r, n, "an end of a link"), *slash = strchr(text, '/');
	uint32_t node = slash ? find_node(r, text, (size_t)(slash - text)) : UINT32_MAX;
	uint32_t *taken;
	unsigned long port;
	char *rest;

	if (!slash || slash[1] < '0' || slash[1] > '9' || (slash[1] == '0' && slash[2]))
		fault(r, n, "an end of a link is NODE/PORT, not '%s'", text);
	if (node == UINT32_MAX)
		fault(r, n, "no node '%.*s'", (int)(slash - text), text);
	port = strtoul(slash + 1, &rest, 10);
	if (*rest || port >= r->t->nodes[node].ports)
		fault(r, n, "port '%s' of %s is not below %u", slash + 1, r->t->names[node],
		      r->t->nodes[node].ports);
	taken = &r->port_link[node * NODE_PORTS_MAX + port];
	if (*taken)
		fault(r, n, "port %lu of %s is of link %u too", port, r->t->names[node], *taken - 1);
	*taken = r->t->nr_links + 1;
	link->node[end] = (uint16_t)node;
	link->port[end] = (uint16_t)port;
	link->flags[end] = KIWI_G2G_PORT_ENABLED | KIWI_G2G_PORT_ROUTABLE;
}

static void read_links(struct reader *r, const yaml_node_t *links, uint32_t count)
{
	r->port_link = array((size_t)r->t->nr_nodes * NODE_PORTS_MAX, sizeof(*r->port_link));
	for (; r->t->nr_links < count; r->t->nr_links++) {
		const yaml_node_t *n = item(r, links, r->t->nr_links);

		items(r, n, "ends of a link", 2, 2);
		read_end(r, item(r, n, 0), 0);
		read_end(r, item(r, n, 1), 1);
		if (r->t->links[r->t->nr_links].node[0] == r->t->links[r->t->nr_links].node[1])
			fault(r, n, "both ends of the link are of one node");
	}
}

/* The file ------------------------------------------------------------------------------ */

static void load(struct reader *r)
{
	FILE *file = strcmp(r->path, "-") ? fopen(r->path, "re") : stdin;
	yaml_parser_t parser;

	if (!file)
		die("%s: %s", r->path, strerror(errno));
	if (!yaml_parser_initialize(&parser))
		die("out of memory");
	yaml_parser_set_input_file(&parser, file);
	if (!yaml_parser_load(&parser, &r->doc))
		die("%s:%zu:%zu: %s", r->path, parser.problem_mark.line + 1,
		    parser.problem_mark.column + 1, parser.problem ? parser.problem : "cannot be read");
	yaml_parser_delete(&parser);
	if (file != stdin)
		fclose(file);
}

void topology_read(struct topology *t, const char *path)
{
	enum { NODES, LINKS, MAX_HOPS, KEYS };
	static const char *const keys[KEYS] = { "nodes", "links", "max_hops" };
	struct reader r = { .t = t, .path = path };
	const yaml_node_t *root, *v[KEYS];
	uint32_t nodes, links;

	load(&r);
	root = yaml_document_get_root_node(&r.doc);
	if (!root)
		die("%s: nothing is in it", path);
	members(&r, root, "a topology", keys, v, KEYS);
	if (!v[NODES] || !v[LINKS])
		fault(&r, root, "a topology needs nodes and links");
	nodes = items(&r, v[NODES], "nodes", 1, NODES_MAX);
	links = items(&r, v[LINKS], "links", 0, LINKS_MAX);
	topology_alloc(t, nodes, links);
	if (v[MAX_HOPS])
		t->max_hops = number(&r, v[MAX_HOPS], "max_hops", 1, HOPS_MAX);
	read_nodes(&r, v[NODES], nodes);
	read_links(&r, v[LINKS], links);
	free(r.by_name);
	free(r.port_link);
	yaml_document_delete(&r.doc);
}

/* Printing ------------------------------------------------------------------------------ */

static void print_json(const struct topology *t)
{
	char end[NAME_MAX_LEN + 16];
	uint32_t i, e;

	json_open(NULL, '{');
	json_number("max_hops", t->max_hops);
	json_open("nodes", '[');
	for (i = 0; i < t->nr_nodes; i++) {
		json_open(NULL, '{');
		json_string("name", t->names[i]);
		if (t->nodes[i].accel != KIWI_G2G_ACCEL_NONE)
			json_number("accel", t->nodes[i].accel);
		json_number("ports", t->nodes[i].ports);
		json_bool("forwards", t->nodes[i].flags & KIWI_G2G_NODE_FORWARDS);
		json_close('}');
	}
	json_close(']');
	json_open("links", '[');
	for (i = 0; i < t->nr_links; i++) {
		json_open(NULL, '[');
		for (e = 0; e < 2; e++) {
			snprintf(end, sizeof(end), "%s/%u", t->names[t->links[i].node[e]],
				 t->links[i].port[e]);
			json_string(NULL, end);
		}
		json_close(']');
	}
	json_close(']');
	json_close('}');
}

void topology_print(const struct topology *t)
{
	uint32_t i;

	if (as_json) {
		print_json(t);
		return;
	}
	printf("max_hops: %u\nnodes:\n", t->max_hops);
	for (i = 0; i < t->nr_nodes; i++) {
		const struct kiwi_g2g_route_node *n = &t->nodes[i];

		printf("  - {name: %s, ", t->names[i]);
		if (n->accel != KIWI_G2G_ACCEL_NONE)
			printf("accel: %u, ", n->accel);
		printf("ports: %u, forwards: %s}\n", n->ports,
		       n->flags & KIWI_G2G_NODE_FORWARDS ? "true" : "false");
	}
	printf("links:%s\n", t->nr_links ? "" : " []");
	for (i = 0; i < t->nr_links; i++)
		printf("  - [%s/%u, %s/%u]\n", t->names[t->links[i].node[0]], t->links[i].port[0],
		       t->names[t->links[i].node[1]], t->links[i].port[1]);
}
