// SPDX-License-Identifier: GPL-2.0
/* What changes a G2G IO die or its fabric: needs CAP_NET_ADMIN. */
#include "g2g.h"
#include "kiwictl.h"
#include "topology.h"

#include "../common/json.h"
#include "../common/say.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t word_arg(const char *what, const char *text, const char *const *words, unsigned int n)
{
	uint8_t i;

	for (i = 0; i < n; i++)
		if (words[i] && !strcasecmp(text, words[i]))
			return i;
	die_usage("no %s '%s'", what, text);
}

/* Ports ------------------------------------------------------------------------------- */

/* What the user asks of a port; what is not named stays as it is. */
struct port_wish {
	int enabled, routable, llr;	/* -1: not named */
	int mode, lanes, fec, flow, mtu;
};

static struct port_wish port_wish(int argc, char **argv)
{
	static const char *const modes[] = { NULL, "direct", "switched" };
	static const char *const fecs[] = { "none", "rs544", "rs272" };
	static const char *const flows[] = { "none", "pfc", "cbfc" };
	static const char *const switches[] = { "off", "on" };
	struct port_wish w = { -1, -1, -1, -1, -1, -1, -1, -1 };
	const char *v;
	int i;

	for (i = 2; i < argc; i++) {
		if (!strcmp(argv[i], "up") || !strcmp(argv[i], "down"))
			w.enabled = argv[i][0] == 'u';
		else if (!strcmp(argv[i], "routable") || !strcmp(argv[i], "unroutable"))
			w.routable = argv[i][0] == 'r';
		else if (g2g_value("lanes", argc, argv, &i, &v))
			w.lanes = (int)number_arg("mask of lanes", v, 1, 255);
		else if (g2g_value("mtu", argc, argv, &i, &v))
			w.mtu = (int)number_arg("MTU", v, KIWI_G2G_MTU_MIN, KIWI_G2G_MTU_MAX);
		else if (g2g_value("mode", argc, argv, &i, &v))
			w.mode = word_arg("mode", v, modes, 3);
		else if (g2g_value("fec", argc, argv, &i, &v))
			w.fec = word_arg("FEC", v, fecs, 3);
		else if (g2g_value("flow", argc, argv, &i, &v))
			w.flow = word_arg("flow control", v, flows, 3);
		else if (g2g_value("llr", argc, argv, &i, &v))
			w.llr = word_arg("switch", v, switches, 2);
		else
			die_usage("unexpected '%s'", argv[i]);
	}
	return w;
}

/* The port's even share of its station's lanes; 0 when there are too few for all. */
static uint8_t fair_lanes(const struct kiwi_g2g_query_device *info, uint32_t port)
{
	unsigned int ports = info->ports / info->stations, share = info->lanes / ports;

	return (uint8_t)(((1U << share) - 1) << port % ports * share);
}

static void set_flag(struct kiwi_g2g_port_set *set, uint8_t flag, int wish)
{
	if (wish == 1)
		set->config |= flag;
	else if (!wish)
		set->config &= (uint8_t)~flag;
}

static int port_apply(struct kiwi_g2g *g2g, uint32_t port, const struct port_wish *w)
{
	struct kiwi_g2g_port_query now;
	struct kiwi_g2g_port_set set;
	int rc = kiwi_g2g_query_port(g2g, port, &now);

	if (rc)
		return rc;
	set = (struct kiwi_g2g_port_set){
		.config = now.config,
		.mode = w->mode < 0 ? now.mode : (uint8_t)w->mode,
		.lanes = w->lanes < 0 ? now.lanes : (uint8_t)w->lanes,
		.fec = w->fec < 0 ? now.fec : (uint8_t)w->fec,
		.flow = w->flow < 0 ? now.flow : (uint8_t)w->flow,
		.mtu = w->mtu < 0 ? now.mtu : (uint16_t)w->mtu,
	};
	set_flag(&set, KIWI_G2G_PORT_ENABLED, w->enabled);
	/* A port that is made to come up for the first time is there to be used. */
	set_flag(&set, KIWI_G2G_PORT_ROUTABLE,
		 w->routable < 0 && w->enabled == 1 && !now.config ? 1 : w->routable);
	set_flag(&set, KIWI_G2G_PORT_LLR, w->llr);
	if ((set.config & KIWI_G2G_PORT_ENABLED) && !set.lanes)
		set.lanes = fair_lanes(kiwi_g2g_info(g2g), port);
	return kiwi_g2g_set_port(g2g, port, &set);
}

int cmd_g2g_port_set(int argc, char **argv)
{
	struct kiwi_g2g *g2g;
	struct port_wish wish;
	uint32_t port = 0, end;
	int rc = 0;

	if (argc < 3)
		die_usage("g2g port set DEV N|all ...");
	wish = port_wish(argc, argv);
	if (strcmp(argv[1], "all"))
		port = (uint32_t)number_arg("port", argv[1], 0, KIWI_G2G_PORTS_MAX - 1);
	g2g = g2g_open(argc, argv);
	end = strcmp(argv[1], "all") ? port + 1 : kiwi_g2g_info(g2g)->ports;
	for (; port < end && !rc; port++)
		rc = port_apply(g2g, port, &wish);
	return g2g_done(g2g, rc);
}

/* Peers ------------------------------------------------------------------------------- */

static int change_peer(int argc, char **argv, uint32_t op)
{
	unsigned int accel;
	struct kiwi_g2g *g2g;

	if (argc != 2)
		die_usage("g2g peer isolate|recover DEV ACCEL");
	accel = (unsigned int)number_arg("accelerator", argv[1], 0, KIWI_G2G_ACCELS_MAX - 1);
	g2g = g2g_open(argc, argv);
	return g2g_done(g2g, kiwi_g2g_change_peer(g2g, accel, op));
}

int cmd_g2g_isolate(int argc, char **argv)
{
	return change_peer(argc, argv, KIWI_G2G_PEER_DO_ISOLATE);
}

int cmd_g2g_recover(int argc, char **argv)
{
	return change_peer(argc, argv, KIWI_G2G_PEER_DO_RECOVER);
}

/* Fabric ------------------------------------------------------------------------------ */

static void pod_arg(const char *text, uint8_t pod[16])
{
	static const uint8_t dashes[] = { 8, 13, 18, 23 };
	char digits[36];
	unsigned int i, n = 0;

	for (i = 0; i < 36 && text[i]; i++) {
		if (memchr(dashes, (int)i, sizeof(dashes)) ? text[i] != '-' :
		    !isxdigit((unsigned char)text[i]))
			break;
	}
	if (i != 36 || text[i])
		die_usage("a pod is named by a UUID, not '%s'", text);
	for (i = 0; i < 36; i++)
		if (text[i] != '-')
			digits[n++] = text[i];
	g2g_hex(digits, pod, n / 2);
}

int cmd_g2g_configure(int argc, char **argv)
{
	struct kiwi_g2g_fabric_set set = { .epoch = 1 };
	bool pod = false, accel = false;
	struct kiwi_g2g *g2g;
	const char *v;
	int i;

	for (i = 1; i < argc; i++) {
		if (g2g_value("pod", argc, argv, &i, &v)) {
			pod_arg(v, set.pod);
			pod = true;
		} else if (g2g_value("accel", argc, argv, &i, &v)) {
			set.accel = (uint16_t)number_arg("accelerator", v, 0,
							 KIWI_G2G_ACCELS_MAX - 1);
			accel = true;
		} else if (g2g_value("partition", argc, argv, &i, &v)) {
			set.partition = (uint16_t)number_arg("partition", v, 0,
							     KIWI_G2G_PARTITION_MAX);
		} else if (g2g_value("epoch", argc, argv, &i, &v)) {
			set.epoch = (uint32_t)number_arg("epoch", v, 0, UINT32_MAX);
		} else {
			die_usage("unexpected '%s'", argv[i]);
		}
	}
	if (!pod || !accel)
		die_usage("g2g fabric configure DEV pod UUID accel ID [partition P] [epoch E]");
	g2g = g2g_open(argc, argv);
	return g2g_done(g2g, kiwi_g2g_set_fabric(g2g, &set));
}

static int within_arg(int argc, char **argv, int at)
{
	const char *v;

	if (at == argc)
		return WITHIN_MS;
	if (!g2g_value("within", argc, argv, &at, &v))
		die_usage("unexpected '%s'", argv[at]);
	if (at + 1 < argc)
		die_usage("unexpected '%s'", argv[at + 1]);
	return (int)number_arg("milliseconds", v, 0, 1U << 30);
}

/* A die becomes READY by itself, when a port that has just been set up comes up. */
int cmd_g2g_activate(int argc, char **argv)
{
	int within = within_arg(argc, argv, 1), rc;
	struct kiwi_g2g *g2g = g2g_open(argc, argv);

	rc = kiwi_g2g_wait_fabric(g2g, KIWI_G2G_FABRIC_READY, within);
	if (!rc)
		rc = kiwi_g2g_change_fabric(g2g, KIWI_G2G_FABRIC_DO_ACTIVATE);
	return g2g_done(g2g, rc);
}

static int change_fabric(int argc, char **argv, uint32_t op)
{
	struct kiwi_g2g *g2g;

	if (argc > 1)
		die_usage("unexpected '%s'", argv[1]);
	g2g = g2g_open(argc, argv);
	return g2g_done(g2g, kiwi_g2g_change_fabric(g2g, op));
}

int cmd_g2g_deactivate(int argc, char **argv)
{
	return change_fabric(argc, argv, KIWI_G2G_FABRIC_DO_DEACTIVATE);
}

int cmd_g2g_pause(int argc, char **argv)
{
	return change_fabric(argc, argv, KIWI_G2G_FABRIC_DO_PAUSE);
}

int cmd_g2g_resume(int argc, char **argv)
{
	return change_fabric(argc, argv, KIWI_G2G_FABRIC_DO_RESUME);
}

static unsigned int fabric_state_arg(const char *text)
{
	unsigned int state;

	for (state = 0; state < KIWI_G2G_FABRIC_STATE_COUNT; state++)
		if (!strcasecmp(text, kiwi_g2g_fabric_state_text(state)))
			return state;
	die_usage("no state '%s' of a fabric", text);
}

int cmd_g2g_wait(int argc, char **argv)
{
	struct kiwi_g2g *g2g;
	int within, rc;

	if (argc < 3)
		die_usage("g2g wait DEV fabric STATE|peer ACCEL|routes GENERATION [within MS]");
	within = within_arg(argc, argv, 3);
	if (!strcmp(argv[1], "fabric")) {
		unsigned int state = fabric_state_arg(argv[2]);

		g2g = g2g_open(argc, argv);
		rc = kiwi_g2g_wait_fabric(g2g, state, within);
	} else if (!strcmp(argv[1], "peer")) {
		unsigned int accel = (unsigned int)number_arg("accelerator", argv[2], 0,
							      KIWI_G2G_ACCELS_MAX - 1);

		g2g = g2g_open(argc, argv);
		rc = kiwi_g2g_wait_peer(g2g, accel, KIWI_G2G_PEER_ESTABLISHED, within);
	} else if (!strcmp(argv[1], "routes")) {
		uint32_t routes = (uint32_t)number_arg("generation", argv[2], 0, UINT32_MAX);

		g2g = g2g_open(argc, argv);
		rc = kiwi_g2g_wait_routes(g2g, routes, within);
	} else {
		die_usage("unexpected '%s'", argv[1]);
	}
	return g2g_done(g2g, rc);
}

/* Routes ------------------------------------------------------------------------------ */

int cmd_g2g_stage(int argc, char **argv)
{
	struct kiwi_g2g_routes_stage stage = { 0 };
	struct kiwi_g2g *g2g;
	struct topology t;
	int rc;

	if (argc != 2)
		die_usage("g2g routes stage DEV FILE");
	topology_read(&t, argv[1]);
	stage.nodes = (uintptr_t)t.nodes;
	stage.links = (uintptr_t)t.links;
	stage.nr_nodes = t.nr_nodes;
	stage.nr_links = t.nr_links;
	stage.max_hops = t.max_hops;
	g2g = g2g_open(argc, argv);
	rc = kiwi_g2g_stage_routes(g2g, &stage);
	topology_free(&t);
	return g2g_done(g2g, rc);
}

static int commit(int argc, char **argv, uint32_t flags)
{
	struct kiwi_g2g_fabric_query fabric;
	struct kiwi_g2g *g2g;
	int rc;

	if (argc > 2 || (argc == 2 && strcmp(argv[1], "drain")))
		die_usage("unexpected '%s'", argv[argc - 1]);
	if (argc == 2)
		flags |= KIWI_G2G_ROUTES_DRAIN;
	g2g = g2g_open(argc, argv);
	rc = kiwi_g2g_query_fabric(g2g, &fabric);
	if (!rc)
		rc = kiwi_g2g_commit_routes(g2g, flags, &fabric.routes);
	if (!rc && as_json) {
		json_open(NULL, '{');
		json_number("generation", fabric.routes);
		json_close('}');
	} else if (!rc) {
		printf("%s: routes of generation %u are in force\n", kiwi_g2g_name(g2g),
		       fabric.routes);
	}
	return g2g_done(g2g, rc);
}

int cmd_g2g_commit(int argc, char **argv)
{
	return commit(argc, argv, 0);
}

int cmd_g2g_rollback(int argc, char **argv)
{
	return commit(argc, argv, KIWI_G2G_ROUTES_ROLLBACK);
}

/* Images ------------------------------------------------------------------------------ */

static uint32_t slot_arg(const char *text)
{
	return (uint32_t)number_arg("slot", text, 0, 255);
}

/* A file of this process's, written to the slot and verified. */
static int write_file(struct kiwi_g2g *g2g, uint32_t slot, const char *path)
{
	uint32_t max = kiwi_g2g_info(g2g)->image_max;
	char *data = malloc((size_t)max + 1);
	FILE *file = fopen(path, "re");
	size_t len;
	int rc;

	if (!data)
		die("out of memory");
	if (!file)
		die("%s: %s", path, strerror(errno));
	len = fread(data, 1, (size_t)max + 1, file);
	if (ferror(file))
		die("%s: %s", path, strerror(errno));
	fclose(file);
	rc = kiwi_g2g_write_image(g2g, slot, data, len);
	if (!rc)
		rc = kiwi_g2g_change_image(g2g, slot, KIWI_G2G_IMAGE_DO_VERIFY);
	free(data);
	return rc;
}

int cmd_g2g_image_load(int argc, char **argv)
{
	struct kiwi_g2g *g2g;
	uint32_t slot;

	if (argc != 3)
		die_usage("g2g image load DEV SLOT FILE");
	slot = slot_arg(argv[1]);
	g2g = g2g_open(argc, argv);
	return g2g_done(g2g, strchr(argv[2], '/') ? write_file(g2g, slot, argv[2]) :
			kiwi_g2g_load_image(g2g, slot, argv[2]));
}

int cmd_g2g_image_activate(int argc, char **argv)
{
	struct kiwi_g2g *g2g;
	uint32_t slot;

	if (argc != 2)
		die_usage("g2g image activate DEV SLOT");
	slot = slot_arg(argv[1]);
	g2g = g2g_open(argc, argv);
	return g2g_done(g2g, kiwi_g2g_change_image(g2g, slot, KIWI_G2G_IMAGE_DO_ACTIVATE));
}
