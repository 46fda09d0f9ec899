// SPDX-License-Identifier: GPL-2.0
/* kiwictl: look at Kiwi devices, and set what an administrator may. */
#include "kiwictl.h"

#include "../common/say.h"

#include <stdio.h>
#include <string.h>

bool as_json;

static const struct command {
	const char *name;	/* words with a blank between */
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *help;
} commands[] = {
	{ "list", cmd_list, "", "the devices of this host" },
	{ "show", cmd_show, "DEV", "identity, limits, ports and GIDs" },
	{ "counters", cmd_counters, "DEV [port N]", "counters of the ports" },
	{ "diag", cmd_diag, "DEV", "diagnostic counters of the device" },
	{ "port set", cmd_port_set, "DEV N [up|down] [mtu BYTES]",
	  "enable a port, set its MTU" },
	{ "gid list", cmd_gid_list, "DEV [N]", "GID tables of the ports" },
	{ "gid set", cmd_gid_set, "DEV N INDEX ADDRESS|none", "set an entry of a GID table" },
	{ "gid clear", cmd_gid_clear, "DEV N INDEX", "clear an entry" },
	{ "preflight", cmd_preflight, "[DEV] [--gpu xpuN|--dmabuf FD]",
	  "what GPU-initiated work lacks" },
	{ "g2g ports", cmd_g2g_ports, "DEV", "ports of a G2G IO die, and their neighbours" },
	{ "g2g port set", cmd_g2g_port_set, "DEV N|all SETTING...", "set a port, or all" },
	{ "g2g peers", cmd_g2g_peers, "DEV", "peers with a route, or heard" },
	{ "g2g peer isolate", cmd_g2g_isolate, "DEV ACCEL", "keep a peer off, at once" },
	{ "g2g peer recover", cmd_g2g_recover, "DEV ACCEL", "take it back" },
	{ "g2g fabric show", cmd_g2g_fabric_show, "DEV", "identity, state, and who holds objects" },
	{ "g2g fabric configure", cmd_g2g_configure,
	  "DEV pod UUID accel ID [partition P] [epoch E]", "give a die its place in a pod" },
	{ "g2g fabric activate", cmd_g2g_activate, "DEV [within MS]", "seek the peers" },
	{ "g2g fabric deactivate", cmd_g2g_deactivate, "DEV", "leave them" },
	{ "g2g fabric pause", cmd_g2g_pause, "DEV", "drain, and send nothing new" },
	{ "g2g fabric resume", cmd_g2g_resume, "DEV", "end a pause" },
	{ "g2g routes stage", cmd_g2g_stage, "DEV FILE", "have routes for a topology made and proved" },
	{ "g2g routes commit", cmd_g2g_commit, "DEV [drain]", "put them in force" },
	{ "g2g routes rollback", cmd_g2g_rollback, "DEV [drain]", "put those before in force" },
	{ "g2g routes show", cmd_g2g_routes, "DEV [active|staged|previous]", "ways to each peer" },
	{ "g2g topology", cmd_g2g_topology, "FILE [dot]", "draw a topology" },
	{ "g2g generate", cmd_g2g_generate, "mesh DIES | spine-leaf DIES LEAVES SPINES",
	  "a topology file; without leaves dies link to spines" },
	{ "g2g image show", cmd_g2g_images, "DEV", "images in the slots, and who holds objects" },
	{ "g2g image load", cmd_g2g_image_load, "DEV SLOT FILE", "load and verify an image" },
	{ "g2g image activate", cmd_g2g_image_activate, "DEV SLOT", "use it from now on" },
	{ "g2g export", cmd_g2g_export, "DEV to ACCEL[,ACCEL...] [bytes N] [memory M] [rights rwa]",
	  "export memory, until it is interrupted" },
	{ "g2g import", cmd_g2g_import, "DEV ACCEL HANDLE [rights rwa] STEP...",
	  "read memory of a peer, write it, add to it" },
	{ "g2g wait", cmd_g2g_wait, "DEV fabric STATE|peer ACCEL|routes GENERATION [within MS]",
	  "wait for a state" },
	{ "g2g events", cmd_g2g_events, "DEV [count N] [within MS]", "events as they come" },
	{ "g2g log", cmd_g2g_log, "DEV", "accesses that failed" },
};

#define COUNT (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *to)
{
	const struct command *c;

	fprintf(to, "Usage: kiwictl [--json] COMMAND\n\nCommands:\n");
	for (c = commands; c < commands + COUNT; c++) {
		int width = fprintf(to, "  %s %s", c->name, c->arguments);

		if (width > 40)
			width = fprintf(to, "\n") - 1;
		fprintf(to, "%*s%s\n", 42 - width, "", c->help);
	}
	fprintf(to, "\nOptions:\n"
		"  --json    output for programs\n"
		"  --help    this text\n"
		"\nDEV is a name as 'list' gives it, N a port's number: of a SNIC from 1 on, of a\n"
		"G2G IO die from 0 on.\n");
}

/* How many words the name is, 0 when they are not those given. */
static int match(const char *name, int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++) {
		size_t len = strcspn(name, " ");

		if (strlen(argv[i]) != len || strncmp(argv[i], name, len))
			return 0;
		if (!name[len])
			return i + 1;
		name += len + 1;
	}
	return 0;
}

static const struct command *find(int argc, char **argv, int *words)
{
	const struct command *c;

	for (c = commands; c < commands + COUNT; c++) {
		*words = match(c->name, argc, argv);
		if (*words)
			return c;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	const struct command *c;
	int words, rc;

	for (argv++, argc--; argc && argv[0][0] == '-'; argv++, argc--) {
		if (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")) {
			usage(stdout);
			return 0;
		}
		if (strcmp(argv[0], "--json"))
			die_usage("no option '%s'", argv[0]);
		as_json = true;
	}
	if (!argc) {
		usage(stderr);
		return EXIT_USAGE;
	}
	c = find(argc, argv, &words);
	if (!c)
		die_usage("no command '%s%s%s'", argv[0], argc > 1 ? " " : "",
			  argc > 1 ? argv[1] : "");
	rc = c->run(argc - words, argv + words);
	if (fflush(stdout) || ferror(stdout))
		die("cannot write the output");
	return rc;
}
