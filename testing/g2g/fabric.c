// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "fabric.h"

#define PARTITION	5
#define EPOCH		7
#define MAX_HOPS	4

static const uint8_t pod[16] = "pod of the tests";

/* The file ------------------------------------------------------------------- */

static void add_node(struct fabric *f, const char *kind, unsigned int ports)
{
	bool die = !strcmp(kind, "die");

	if (f->nr_nodes == NODES_MAX || (die && f->nr_dies != f->nr_nodes))
		fail("%s: too many nodes, or a die behind a switch", FABRIC_FILE);
	f->nodes[f->nr_nodes] = (struct kiwi_g2g_route_node) {
		.accel = die ? f->nr_nodes : KIWI_G2G_ACCEL_NONE,
		.ports = ports,
		.flags = KIWI_G2G_NODE_FORWARDS,
	};
	f->nr_dies += die;
	f->nr_nodes++;
}

static void add_link(struct fabric *f, const unsigned int *n)
{
	const uint8_t flags = KIWI_G2G_PORT_ENABLED | KIWI_G2G_PORT_ROUTABLE;

	if (f->nr_links == LINKS_MAX)
		fail("%s: too many links", FABRIC_FILE);
	f->links[f->nr_links++] = (struct kiwi_g2g_route_link) {
		.node = { n[0], n[2] },
		.port = { n[1], n[3] },
		.flags = { flags, flags },
	};
}

static void read_file(struct fabric *f)
{
	FILE *file = fopen(FABRIC_FILE, "re");
	unsigned int n[4];
	char line[80], kind[16];

	if (!file)
		fail("no %s", FABRIC_FILE);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "link %u %u %u %u", &n[0], &n[1], &n[2], &n[3]) == 4)
			add_link(f, n);
		else if (sscanf(line, "%15s %u", kind, &n[0]) == 2)
			add_node(f, kind, n[0]);
		else
			fail("%s: %s", FABRIC_FILE, line);
	}
	fclose(file);
}

void fabric_open(struct fabric *f)
{
	unsigned int n;

	*f = (struct fabric) { };
	read_file(f);
	for (n = 0; n < f->nr_dies; n++)
		die_open(&f->dies[n], n);
}

void fabric_close(struct fabric *f)
{
	unsigned int n;

	for (n = 0; n < f->nr_dies; n++)
		die_close(&f->dies[n]);
}

/* Up and down -------------------------------------------------------------------- */

struct kiwi_g2g_fabric_query fabric_query(const struct die *die)
{
	struct kiwi_g2g_fabric_query q = { };

	MUST(die, FABRIC_QUERY, &q);
	return q;
}

struct kiwi_g2g_peer_query peer_query(const struct die *die, unsigned int peer)
{
	struct kiwi_g2g_peer_query q = { .accel = peer };

	MUST(die, PEER_QUERY, &q);
	return q;
}

static void change(const struct die *die, enum kiwi_g2g_fabric_change_op op)
{
	struct kiwi_g2g_fabric_change c = { .op = op };

	MUST(die, FABRIC_CHANGE, &c);
}

void fabric_down(struct fabric *f)
{
	unsigned int n;

	for (n = 0; n < f->nr_dies; n++) {
		if (fabric_query(&f->dies[n]).state >= KIWI_G2G_FABRIC_ACTIVE)
			change(&f->dies[n], KIWI_G2G_FABRIC_DO_DEACTIVATE);
	}
}

/* A lane for each port of a station. */
static void set_port(const struct die *die, unsigned int port, bool direct)
{
	struct kiwi_g2g_port_set set = {
		.port = port,
		.config = KIWI_G2G_PORT_ENABLED | KIWI_G2G_PORT_ROUTABLE,
		.mode = direct ? KIWI_G2G_PORT_DIRECT : KIWI_G2G_PORT_SWITCHED,
		.lanes = 1 << port % (die->info.ports / die->info.stations),
		.mtu = KIWI_G2G_MTU_MAX,
	};

	MUST(die, PORT_SET, &set);
}

static void set_ports(struct fabric *f)
{
	const struct kiwi_g2g_route_link *l;
	unsigned int end;

	for (l = f->links; l < f->links + f->nr_links; l++) {
		for (end = 0; end < 2; end++) {
			if (l->node[end] < f->nr_dies)
				set_port(&f->dies[l->node[end]], l->port[end],
					 l->node[!end] < f->nr_dies);
		}
	}
}

static bool ports_are_up(void *arg)
{
	struct fabric *f = arg;
	const struct kiwi_g2g_route_link *l;
	unsigned int end;

	for (l = f->links; l < f->links + f->nr_links; l++) {
		for (end = 0; end < 2; end++) {
			struct kiwi_g2g_port_query q = { .port = l->port[end] };

			if (l->node[end] >= f->nr_dies)
				continue;
			MUST(&f->dies[l->node[end]], PORT_QUERY, &q);
			if (q.state != KIWI_G2G_PORT_UP)
				return false;
			if (l->node[!end] < f->nr_dies &&
			    (q.neighbour != l->node[!end] || q.neighbour_port != l->port[!end]))
				fail("g2g%u port %u hears %u port %u, not %u port %u",
				     l->node[end], l->port[end], q.neighbour, q.neighbour_port,
				     l->node[!end], l->port[!end]);
		}
	}
	return true;
}

static void set_routes(const struct fabric *f, const struct die *die)
{
	struct kiwi_g2g_routes_stage stage = {
		.nodes = (uintptr_t)f->nodes,
		.links = (uintptr_t)f->links,
		.nr_nodes = f->nr_nodes,
		.nr_links = f->nr_links,
		.max_hops = MAX_HOPS,
	};
	struct kiwi_g2g_routes_commit commit = { .generation = fabric_query(die).routes };

	MUST(die, ROUTES_STAGE, &stage);
	MUST(die, ROUTES_COMMIT, &commit);
}

void fabric_configure(struct fabric *f, unsigned int die, uint16_t partition)
{
	unsigned int n;

	fabric_down(f);
	for (n = 0; n < f->nr_dies; n++) {
		struct kiwi_g2g_fabric_set set = {
			.epoch = EPOCH,
			.accel = n,
			.partition = n == die ? partition : PARTITION,
		};

		memcpy(set.pod, pod, sizeof(set.pod));
		MUST(&f->dies[n], FABRIC_SET, &set);
	}
	set_ports(f);
	wait_until(ports_are_up, f, "all ports are to be up");
	for (n = 0; n < f->nr_dies; n++) {
		set_routes(f, &f->dies[n]);
		change(&f->dies[n], KIWI_G2G_FABRIC_DO_ACTIVATE);
	}
}

static bool all_established(void *arg)
{
	struct fabric *f = arg;
	unsigned int n, m;

	for (n = 0; n < f->nr_dies; n++) {
		for (m = 0; m < f->nr_dies; m++) {
			if (n != m && peer_query(&f->dies[n], m).state !=
				      KIWI_G2G_PEER_ESTABLISHED)
				return false;
		}
	}
	return true;
}

void fabric_wait(struct fabric *f)
{
	wait_until(all_established, f, "every die is to have a session with every other");
}

void fabric_up(struct fabric *f)
{
	fabric_configure(f, f->nr_dies, PARTITION);
	fabric_wait(f);
}

void fabric_image(struct fabric *f, const char *name)
{
	unsigned int n;

	fabric_down(f);
	for (n = 0; n < f->nr_dies; n++) {
		const struct die *die = &f->dies[n];
		struct kiwi_g2g_image_load load = { .slot = !fabric_query(die).slot };
		struct kiwi_g2g_image_change activate = {
			.slot = load.slot,
			.op = KIWI_G2G_IMAGE_DO_ACTIVATE,
		};

		snprintf(load.name, sizeof(load.name), "%s", name);
		MUST(die, IMAGE_LOAD, &load);
		MUST(die, IMAGE_CHANGE, &activate);
	}
}
