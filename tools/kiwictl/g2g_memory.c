// SPDX-License-Identifier: GPL-2.0
/* Memory exported as long as the command runs, and memory of peers read and written. */
#include "g2g.h"
#include "kiwictl.h"

#include "../common/json.h"
#include "../common/say.h"
#include "../mem/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EXPORT_BYTES	65536

/* Export ------------------------------------------------------------------------------ */

static void print_export(const struct kiwi_export *exp, const struct kiwi_g2g_export_query *q)
{
	char handle[33];
	unsigned int i;

	for (i = 0; i < 16; i++)
		sprintf(handle + 2 * i, "%02x", exp->handle[i]);
	if (as_json) {
		json_open(NULL, '{');
		json_string("handle", handle);
		json_number("id", exp->id);
		json_number("bytes", exp->length);
		json_string("path", kiwi_path_text(q->path));
		json_number("pages", q->pages);
		json_close('}');
	} else {
		printf("%s\n", handle);
	}
	fflush(stdout);
}

static int signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Events are told until a signal comes. */
static int hold(struct kiwi_g2g *g2g, int signal_fd)
{
	struct pollfd fds[] = {
		{ .fd = signal_fd, .events = POLLIN },
		{ .fd = kiwi_g2g_fd(g2g), .events = POLLIN },
	};
	struct kiwi_file_event event;
	int rc;

	for (;;) {
		while ((rc = kiwi_g2g_next_event(g2g, &event, 0)) > 0)
			if (event.type == KIWI_G2G_EVENT_EXPORT)
				g2g_print_event(&event);
		if (rc < 0)
			return rc;
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			die("poll: %s", strerror(errno));
		if (fds[0].revents)
			return 0;
	}
}

static int run_export(struct kiwi_g2g *g2g, const struct kiwi_export_config *config, int signal_fd)
{
	struct kiwi_g2g_export_query query;
	struct kiwi_export *exp;
	int rc;

	rc = kiwi_export_create(g2g, config, &exp);
	if (rc)
		return rc;
	rc = kiwi_export_query(exp, &query);
	if (rc)
		return rc;
	print_export(exp, &query);
	rc = hold(g2g, signal_fd);
	if (rc)
		return rc;
	rc = kiwi_export_query(exp, &query);
	if (!rc && query.state == KIWI_G2G_EXPORT_LIVE)
		rc = kiwi_export_revoke(exp);
	if (!rc)
		rc = kiwi_export_wait(exp, KIWI_G2G_EXPORT_REVOKED,
				      (int)kiwi_g2g_info(g2g)->revoke_ms + WITHIN_MS);
	return rc ? rc : kiwi_export_destroy(exp);
}

int cmd_g2g_export(int argc, char **argv)
{
	static uint16_t grantees[KIWI_G2G_ACCELS_MAX];
	struct kiwi_export_config config = {
		.rights = g2g_rights_arg("rw"),
		.length = EXPORT_BYTES,
		.grantees = grantees,
	};
	const char *memory = "udmabuf", *v;
	int signal_fd = signals(), i, status;
	struct kiwi_g2g *g2g;
	struct mem mem;

	for (i = 1; i < argc; i++) {
		if (g2g_value("to", argc, argv, &i, &v))
			config.nr_grantees = g2g_accels_arg(v, grantees);
		else if (g2g_value("bytes", argc, argv, &i, &v))
			config.length = number_arg("bytes", v, 1, 1ULL << 40);
		else if (g2g_value("rights", argc, argv, &i, &v))
			config.rights = g2g_rights_arg(v);
		else if (g2g_value("memory", argc, argv, &i, &v))
			memory = v;
		else
			die_usage("unexpected '%s'", argv[i]);
	}
	if (!config.nr_grantees)
		die_usage("to whom? 'to ACCEL[,ACCEL...]'");
	g2g = g2g_open(argc, argv);
	if (!mem_alloc(&mem, memory, config.length))
		return EXIT_FAILED;
	if (mem.dmabuf < 0)
		die_usage("memory '%s' is no DMA-buf", memory);
	config.fd = mem.dmabuf;
	status = g2g_done(g2g, run_export(g2g, &config, signal_fd));
	mem_free(&mem);
	return status;
}

/* Import ------------------------------------------------------------------------------ */

static void handle_arg(const char *text, uint8_t handle[16])
{
	if (strlen(text) != 32 || strspn(text, "0123456789abcdefABCDEF") != 32)
		die_usage("a handle has 32 hexadecimal digits, not '%s'", text);
	g2g_hex(text, handle, 16);
}

/* A step is one of these, an offset, and what else it needs. */
#define STEP_WORDS	3

static bool is_step(const char *word)
{
	return !strcmp(word, "read") || !strcmp(word, "write") || !strcmp(word, "add");
}

static uint64_t offset_arg(const struct kiwi_import *imp, const char *text, uint64_t bytes)
{
	uint64_t offset = number_arg("offset", text, 0, 1ULL << 40);

	if (bytes > imp->length || offset > imp->length - bytes)
		die("%" PRIu64 " bytes at %" PRIu64 " are not all in the %" PRIu64 " imported",
		    bytes, offset, imp->length);
	return offset;
}

static void do_read(const struct kiwi_import *imp, const char *where, const char *count)
{
	uint64_t bytes = number_arg("bytes", count, 1, 1ULL << 20), i;
	volatile const uint8_t *at = (volatile const uint8_t *)imp->addr +
				     offset_arg(imp, where, bytes);
	char *hex = malloc(2 * bytes + 1);

	if (!hex)
		die("out of memory");
	for (i = 0; i < bytes; i++)
		sprintf(hex + 2 * i, "%02x", at[i]);
	if (as_json) {
		json_open(NULL, '{');
		json_string("read", hex);
		json_close('}');
	} else {
		printf("%s\n", hex);
	}
	free(hex);
}

static void do_write(const struct kiwi_import *imp, const char *where, const char *text)
{
	size_t len = strlen(text), i;
	volatile uint8_t *at = (volatile uint8_t *)imp->addr + offset_arg(imp, where, len);

	for (i = 0; i < len; i++)
		at[i] = (uint8_t)text[i];
}

static int do_add(struct kiwi_import *imp, const char *where, const char *addend)
{
	uint64_t offset = offset_arg(imp, where, 8), before;
	int rc = kiwi_import_atomic(imp, 0, KIWI_G2G_FETCH_ADD, offset,
				    number_arg("addend", addend, 0, UINT64_MAX), 0, &before);

	if (rc)
		return rc;
	if (as_json) {
		json_open(NULL, '{');
		json_number("before", before);
		json_close('}');
	} else {
		printf("%" PRIu64 "\n", before);
	}
	return 0;
}

static int do_steps(struct kiwi_import *imp, int argc, char **argv)
{
	int rc = 0, i;

	if (as_json)
		json_open(NULL, '[');
	for (i = 0; i < argc && !rc; i += STEP_WORDS) {
		if (!strcmp(argv[i], "read"))
			do_read(imp, argv[i + 1], argv[i + 2]);
		else if (!strcmp(argv[i], "write"))
			do_write(imp, argv[i + 1], argv[i + 2]);
		else
			rc = do_add(imp, argv[i + 1], argv[i + 2]);
	}
	if (as_json)
		json_close(']');
	return rc;
}

/* A load proves that earlier stores are done, or refused: then the log has it. */
static int check_alive(struct kiwi_import *imp, uint32_t rights)
{
	struct kiwi_g2g_import_query q;
	int rc;

	if (rights & KIWI_ACCESS_REMOTE_READ)
		(void)*(volatile uint8_t *)imp->addr;
	rc = kiwi_import_query(imp, &q);
	if (rc || q.state == KIWI_G2G_WINDOW_MAPPED)
		return rc;
	die("%s: import of accelerator %u is %s: %s", kiwi_g2g_name(imp->g2g), q.accel,
	    kiwi_g2g_import_state_text(q.state), kiwi_g2g_reason_text(q.reason));
}

static int run_import(struct kiwi_g2g *g2g, unsigned int accel, const uint8_t handle[16],
		      uint32_t rights, int argc, char **argv)
{
	struct kiwi_g2g_import_query q;
	struct kiwi_import *imp;
	int rc = kiwi_import_bind(g2g, accel, handle, rights, 0, &imp);

	if (!rc)
		rc = kiwi_import_wait(imp);
	if (!rc)
		rc = kiwi_import_query(imp, &q);
	if (!rc)
		rc = kiwi_import_map(imp, 0, 0, q.export_length);
	if (!rc)
		rc = do_steps(imp, argc, argv);
	return rc ? rc : check_alive(imp, rights);
}

int cmd_g2g_import(int argc, char **argv)
{
	uint32_t rights = g2g_rights_arg("rw");
	unsigned int accel;
	struct kiwi_g2g *g2g;
	uint8_t handle[16];
	const char *v;
	int i = 3, k;

	if (argc < 3)
		die_usage("g2g import DEV ACCEL HANDLE ...");
	accel = (unsigned int)number_arg("accelerator", argv[1], 0, KIWI_G2G_ACCELS_MAX - 1);
	handle_arg(argv[2], handle);
	if (i < argc && g2g_value("rights", argc, argv, &i, &v)) {
		rights = g2g_rights_arg(v);
		i++;
	}
	for (k = i; k < argc; k += STEP_WORDS)
		if (!is_step(argv[k]) || k + STEP_WORDS > argc)
			die_usage("unexpected '%s'", argv[k]);
	g2g = g2g_open(argc, argv);
	return g2g_done(g2g, run_import(g2g, accel, handle, rights, argc - i, argv + i));
}
