// SPDX-License-Identifier: GPL-2.0
#include "g2g.h"

#include "../common/json.h"
#include "../common/say.h"
#include "../common/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiwictl.h"

struct kiwi_g2g *g2g_open(int argc, char **argv)
{
	struct kiwi_g2g *g2g;

	if (argc < 1)
		die_usage("which device? 'list' names them");
	if (kiwi_g2g_open(argv[0], &g2g))
		die("%s", kiwi_error());
	return g2g;
}

int g2g_done(struct kiwi_g2g *g2g, int rc)
{
	if (rc == -EPERM)
		complain("%s: this needs CAP_NET_ADMIN", kiwi_error());
	else if (rc < 0)
		complain("%s", kiwi_error());
	kiwi_g2g_close(g2g);
	return rc < 0 ? EXIT_FAILED : 0;
}

bool g2g_value(const char *key, int argc, char **argv, int *at, const char **value)
{
	if (strcmp(argv[*at], key))
		return false;
	if (++*at == argc)
		die_usage("nothing stands behind '%s'", key);
	*value = argv[*at];
	return true;
}

void g2g_hex(const char *digits, uint8_t *bytes, unsigned int count)
{
	char two[3] = "";

	for (; count; count--, digits += 2) {
		memcpy(two, digits, 2);
		*bytes++ = (uint8_t)strtoul(two, NULL, 16);
	}
}

unsigned int g2g_accels_arg(const char *text, uint16_t *accels)
{
	char word[16];
	unsigned int n = 0;
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (n == KIWI_G2G_ACCELS_MAX)
			die_usage("more than %u accelerators", KIWI_G2G_ACCELS_MAX);
		snprintf(word, sizeof(word), "%.*s", (int)len, text);
		accels[n++] = (uint16_t)number_arg("accelerator", word, 0, KIWI_G2G_ACCELS_MAX - 1);
		if (!text[len])
			return n;
	}
}

uint32_t g2g_rights_arg(const char *text)
{
	uint32_t rights = 0;
	const char *p;

	for (p = text; *p; p++) {
		switch (*p) {
		case 'r':
			rights |= KIWI_ACCESS_REMOTE_READ;
			break;
		case 'w':
			rights |= KIWI_ACCESS_REMOTE_WRITE;
			break;
		case 'a':
			rights |= KIWI_ACCESS_REMOTE_ATOMIC;
			break;
		default:
			die_usage("rights are letters of 'rwa', not '%s'", text);
		}
	}
	if (!rights)
		die_usage("no rights");
	return rights;
}

void g2g_print_holders(struct kiwi_g2g *g2g)
{
	char value[SYSFS_VALUE], *line, *end;

	sysfs_read(value, "%s/holders", kiwi_g2g_name(g2g));
	if (as_json)
		json_open("holders", '[');
	for (line = strtok_r(value, "\n", &end); line; line = strtok_r(NULL, "\n", &end)) {
		if (as_json)
			json_string(NULL, line);
		else
			printf("  %-14s %s\n", "holder", line);
	}
	if (as_json)
		json_close(']');
}

/* The state that an event tells, in words; NULL when its code is none. */
static const char *event_state(const struct kiwi_file_event *e)
{
	switch (e->type) {
	case KIWI_G2G_EVENT_FABRIC:
		return kiwi_g2g_fabric_state_text(e->code);
	case KIWI_G2G_EVENT_PAUSE:
		return e->code == KIWI_G2G_PAUSE_DRAINED ? "DRAINED" :
		       e->code == KIWI_G2G_PAUSE_EXPIRED ? "EXPIRED" : "?";
	case KIWI_G2G_EVENT_PORT:
		return kiwi_g2g_port_state_text(e->code);
	case KIWI_G2G_EVENT_PEER:
		return kiwi_g2g_peer_state_text(e->code);
	case KIWI_G2G_EVENT_IMPORT:
		return kiwi_g2g_import_state_text(e->code);
	case KIWI_G2G_EVENT_EXPORT:
		return kiwi_g2g_export_state_text(e->code);
	default:
		return NULL;
	}
}

static bool has_reason(const struct kiwi_file_event *e)
{
	return e->type == KIWI_G2G_EVENT_FABRIC || e->type == KIWI_G2G_EVENT_PORT ||
	       e->type == KIWI_G2G_EVENT_PEER || e->type == KIWI_G2G_EVENT_IMPORT;
}

void g2g_print_event(const struct kiwi_file_event *e)
{
	const char *state = event_state(e);

	if (as_json) {
		json_open(NULL, '{');
		json_string("event", kiwi_g2g_event_text(e->type));
		json_number("id", e->id);
		if (state)
			json_string("state", state);
		else
			json_number("code", e->code);
		if (has_reason(e))
			json_string("reason", kiwi_g2g_reason_text(e->info));
		else
			json_number("info", e->info);
		json_close('}');
	} else {
		printf("%s %u", kiwi_g2g_event_text(e->type), e->id);
		if (state)
			printf(" %s", state);
		else if (e->code)
			printf(" code %u", e->code);
		if (has_reason(e))
			printf(" (%s)", kiwi_g2g_reason_text(e->info));
		else if (e->info)
			printf(" info %u", e->info);
		putchar('\n');
	}
	fflush(stdout);
}
