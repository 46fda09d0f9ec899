// SPDX-License-Identifier: GPL-2.0
/* kiwictl: look at Kiwi SNICs, set their ports and GIDs, and see what they lack. */
#include "kiwictl.h"

#include "../common/say.h"

#include <stdio.h>
#include <string.h>

bool as_json;

static const struct command {
	const char *object;	/* NULL: the verb stands alone */
	const char *verb;
	int (*run)(int argc, char **argv);
	const char *arguments;
	const char *help;
} commands[] = {
	{ NULL, "list", cmd_list, "", "the SNICs of this host" },
	{ NULL, "show", cmd_show, "DEV", "identity, limits, ports and GIDs" },
	{ NULL, "counters", cmd_counters, "DEV [port N]", "counters of the ports" },
	{ NULL, "diag", cmd_diag, "DEV", "diagnostic counters of the device" },
	{ "port", "set", cmd_port_set, "DEV N [up|down] [mtu BYTES]",
	  "enable a port, set its MTU" },
	{ "gid", "list", cmd_gid_list, "DEV [N]", "GID tables of the ports" },
	{ "gid", "set", cmd_gid_set, "DEV N INDEX ADDRESS|none", "set an entry of a GID table" },
	{ "gid", "clear", cmd_gid_clear, "DEV N INDEX", "clear an entry" },
	{ NULL, "preflight", cmd_preflight, "[DEV] [--gpu xpuN|--dmabuf FD]",
	  "what GPU-initiated work lacks" },
};

#define COUNT (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *to)
{
	const struct command *c;

	fprintf(to, "Usage: kiwictl [--json] COMMAND\n\nCommands:\n");
	for (c = commands; c < commands + COUNT; c++) {
		int width = fprintf(to, "  %s%s%s %s", c->object ? c->object : "",
				    c->object ? " " : "", c->verb, c->arguments);

		fprintf(to, "%*s%s\n", width < 42 ? 42 - width : 2, "", c->help);
	}
	fprintf(to, "\nOptions:\n"
		"  --json    output for programs\n"
		"  --help    this text\n"
		"\nDEV is a name as 'list' gives it, N a port's number from 1 on.\n");
}

static const struct command *find(int argc, char **argv, int *words)
{
	const struct command *c;

	for (c = commands; c < commands + COUNT; c++) {
		*words = c->object ? 2 : 1;
		if (argc >= *words && (!c->object || !strcmp(argv[0], c->object)) &&
		    !strcmp(argv[*words - 1], c->verb))
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
