// SPDX-License-Identifier: GPL-2.0
/* What sysfs tells: any user may look. */
#include "kiwictl.h"

#include "../common/gid.h"
#include "../common/json.h"
#include "../common/say.h"
#include "../common/sysfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const identity[] = {
	"serial", "fw_version", "abi_version", "revision", "generation",
};

#define IDENTITY_COUNT (sizeof(identity) / sizeof(identity[0]))

/* A value for people, or for programs. */
static const char *known(const char *value)
{
	return *value ? value : "?";
}

static void json_known(const char *key, const char *value,
		       void (*put)(const char *key, const char *value))
{
	if (*value)
		put(key, value);
	else
		json_null(key);
}

/* A device named on the command line; "/dev/kiwi/" before it is allowed. */
static const char *device_arg(int argc, char **argv, int at)
{
	const char *name;

	if (argc <= at)
		die_usage("which device? 'list' names them");
	name = argv[at];
	if (!strncmp(name, "/dev/kiwi/", 10))
		name += 10;
	if (!*name || strchr(name, '/') || name[0] == '.' || !sysfs_exists("%s/serial", name))
		die("no device '%s' below %s", argv[at], sysfs_root());
	return name;
}

static void no_more(int argc, char **argv, int expected)
{
	if (argc > expected)
		die_usage("unexpected '%s'", argv[expected]);
}

int cmd_list(int argc, char **argv)
{
	struct sysfs_list devices, ports;
	char value[SYSFS_VALUE];
	size_t i, k, found = 0;

	no_more(argc, argv, 0);
	if (!sysfs_names(&devices, "%s", "") && errno != ENOENT)
		die("%s: %s", sysfs_root(), strerror(errno));
	if (as_json)
		json_open(NULL, '[');
	for (i = 0; i < devices.count; i++) {
		const char *name = devices.names[i];

		if (!sysfs_exists("%s/serial", name))
			continue;
		sysfs_names(&ports, "%s/ports", name);
		if (as_json) {
			json_open(NULL, '{');
			json_string("name", name);
		} else {
			if (!found)
				printf("%-8s %-18s %-10s %-5s %-5s %s\n", "NAME", "SERIAL",
				       "FIRMWARE", "ABI", "PORTS", "PCI");
			printf("%-8s", name);
		}
		for (k = 0; k < 3; k++) {
			static const int widths[] = { 18, 10, 5 };

			sysfs_read(value, "%s/%s", name, identity[k]);
			if (as_json)
				json_known(identity[k], value, json_string);
			else
				printf(" %-*s", widths[k], known(value));
		}
		sysfs_pci(value, name);
		if (as_json) {
			json_number("ports", ports.count);
			json_string("pci", value);
			json_close('}');
		} else {
			printf(" %-5zu %s\n", ports.count, value);
		}
		sysfs_free(&ports);
		found++;
	}
	sysfs_free(&devices);
	if (as_json)
		json_close(']');
	else if (!found)
		complain("no Kiwi SNIC on this host, or its driver is not loaded");
	return 0;
}

/*
 * All files of a folder, in a JSON object or as lines. False, with errno, when there is no
 * folder or not all of it can be read; what was printed is whole in either case.
 */
static bool show_folder(const char *key, const char *device, const char *folder, int indent)
{
	struct sysfs_list files;
	char value[SYSFS_VALUE];
	int err = 0;
	size_t i;

	if (!sysfs_names(&files, "%s/%s", device, folder))
		return false;
	if (as_json)
		json_open(key, '{');
	for (i = 0; i < files.count; i++) {
		if (!sysfs_read(value, "%s/%s/%s", device, folder, files.names[i]))
			err = errno;
		if (as_json)
			json_known(files.names[i], value, json_text);
		else
			printf("%*s%-30s %s\n", indent, "", files.names[i], known(value));
	}
	if (as_json)
		json_close('}');
	sysfs_free(&files);
	errno = err;
	return !err;
}

/* False, with errno, as show_folder(). */
static bool show_gids(const char *device, const char *port, int indent)
{
	char value[SYSFS_VALUE], text[GID_TEXT];
	struct sysfs_list gids;
	uint8_t gid[16];
	int err = 0;
	size_t i;

	if (!sysfs_names(&gids, "%s/ports/%s/gids", device, port))
		err = errno;
	if (as_json)
		json_open("gids", '[');
	for (i = 0; i < gids.count; i++) {
		if (!sysfs_read(value, "%s/ports/%s/gids/%s", device, port, gids.names[i])) {
			err = errno;
			continue;
		}
		if (!gid_parse(value, gid) || gid_is_zero(gid))
			continue;
		gid_print(gid, text);
		if (as_json) {
			json_open(NULL, '{');
			json_text("index", gids.names[i]);
			json_string("gid", text);
			json_close('}');
		} else {
			printf("%*sgid %-3s %s\n", indent, "", gids.names[i], text);
		}
	}
	if (as_json)
		json_close(']');
	sysfs_free(&gids);
	errno = err;
	return !err;
}

static void show_port(const char *device, const char *port)
{
	static const char *const names[] = { "state", "enabled", "mtu", "mtu_max", "mbps", "mac" };
	char value[6][SYSFS_VALUE];
	size_t i;

	for (i = 0; i < 6; i++)
		sysfs_read(value[i], "%s/ports/%s/%s", device, port, names[i]);
	if (as_json) {
		json_open(NULL, '{');
		json_text("port", port);
		for (i = 0; i < 6; i++)
			json_known(names[i], value[i], json_text);
		show_gids(device, port, 0);
		json_close('}');
		return;
	}
	printf("  port %s: %s, %s, MTU %s of %s, %s Mb/s, MAC %s\n", port, known(value[0]),
	       !strcmp(value[1], "1") ? "enabled" : !strcmp(value[1], "0") ? "disabled" : "?",
	       known(value[2]), known(value[3]), known(value[4]), known(value[5]));
	show_gids(device, port, 4);
}

int cmd_show(int argc, char **argv)
{
	const char *device = device_arg(argc, argv, 0);
	char value[SYSFS_VALUE];
	struct sysfs_list ports;
	bool good;
	size_t i;

	no_more(argc, argv, 1);
	if (!sysfs_read(value, "%s/serial", device))
		die("%s: its serial number: %s", device, strerror(errno));
	sysfs_names(&ports, "%s/ports", device);
	if (as_json) {
		json_open(NULL, '{');
		json_string("name", device);
	} else {
		printf("%s\n", device);
	}
	sysfs_pci(value, device);
	if (as_json)
		json_string("pci", value);
	else
		printf("  %-30s %s\n", "pci", value);
	for (i = 0; i < IDENTITY_COUNT; i++) {
		if (!sysfs_read(value, "%s/%s", device, identity[i]))
			continue;
		if (!as_json)
			printf("  %-30s %s\n", identity[i], value);
		else if (i < 3)
			json_string(identity[i], value);
		else
			json_text(identity[i], value);
	}
	good = show_folder("caps", device, "caps", 2);
	if (!good)
		complain("%s: its limits: %s", device, strerror(errno));
	if (as_json)
		json_open("ports", '[');
	for (i = 0; i < ports.count; i++)
		show_port(device, ports.names[i]);
	sysfs_free(&ports);
	if (as_json) {
		json_close(']');
		json_close('}');
	}
	return good ? 0 : EXIT_FAILED;
}

/* "port N" or nothing: the port's name, or NULL for all. */
static const char *port_words(const char *device, int argc, char **argv, int at)
{
	if (argc == at)
		return NULL;
	if (!strcmp(argv[at], "port") && argc > at)
		at++;
	no_more(argc, argv, at + 1);
	if (argc == at)
		die_usage("which port?");
	if (strspn(argv[at], "0123456789") != strlen(argv[at]) ||
	    !sysfs_exists("%s/ports/%s", device, argv[at]))
		die("%s has no port '%s'", device, argv[at]);
	return argv[at];
}

/* Return: the exit status. */
static int each_port(const char *device, const char *only,
		     bool (*show)(const char *device, const char *port))
{
	struct sysfs_list ports;
	bool good = true;
	size_t i;

	sysfs_names(&ports, "%s/ports", device);
	if (as_json) {
		json_open(NULL, '{');
		json_string("name", device);
		json_open("ports", '[');
	}
	for (i = 0; i < ports.count; i++) {
		if (only && strcmp(only, ports.names[i]))
			continue;
		if (as_json) {
			json_open(NULL, '{');
			json_text("port", ports.names[i]);
		} else {
			printf("%s port %s\n", device, ports.names[i]);
		}
		if (!show(device, ports.names[i]))
			good = false;
		if (as_json)
			json_close('}');
	}
	sysfs_free(&ports);
	if (as_json) {
		json_close(']');
		json_close('}');
	}
	return good ? 0 : EXIT_FAILED;
}

static bool port_counters(const char *device, const char *port)
{
	char folder[SYSFS_VALUE];

	snprintf(folder, sizeof(folder), "ports/%s/counters", port);
	if (show_folder("counters", device, folder, 2))
		return true;
	complain("%s port %s: its counters: %s", device, port, strerror(errno));
	return false;
}

int cmd_counters(int argc, char **argv)
{
	const char *device = device_arg(argc, argv, 0);

	return each_port(device, port_words(device, argc, argv, 1), port_counters);
}

static bool port_gids(const char *device, const char *port)
{
	if (show_gids(device, port, 2))
		return true;
	complain("%s port %s: its GIDs: %s", device, port, strerror(errno));
	return false;
}

int cmd_gid_list(int argc, char **argv)
{
	const char *device = device_arg(argc, argv, 0);

	return each_port(device, port_words(device, argc, argv, 1), port_gids);
}

int cmd_diag(int argc, char **argv)
{
	const char *device = device_arg(argc, argv, 0);
	bool good;

	no_more(argc, argv, 1);
	if (!sysfs_exists("%s/diag", device))
		die("%s has no diagnostic counters", device);
	if (as_json) {
		json_open(NULL, '{');
		json_string("name", device);
	}
	good = show_folder("diag", device, "diag", 0);
	if (!good)
		complain("%s: its diagnostic counters: %s", device, strerror(errno));
	if (as_json)
		json_close('}');
	return good ? 0 : EXIT_FAILED;
}
