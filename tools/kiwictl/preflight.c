// SPDX-License-Identifier: GPL-2.0
/* What GPU-initiated work needs of host, SNIC and GPU: all of it, with what to do about it. */
#include "kiwictl.h"

#include "../common/json.h"
#include "../common/say.h"
#include "../../testing/xpu/xpu.h"

#include <kiwi/kiwi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_MISSING	3

/* As many as a kernel that is newer than this program may have. */
#define CHECKS_MAX	64

#define PCI_TEXT	16

/* A buffer of the GPU, to be looked at. */
static int gpu_buffer(const char *name)
{
	unsigned int index;
	int end = 0, gpu, buf;

	if (sscanf(name, "xpu%u%n", &index, &end) != 1 || name[end])
		die_usage("a GPU is named like xpu0, not '%s'", name);
	gpu = xpu_open(index);
	if (gpu < 0)
		die("/dev/%s: %s", name, strerror(-gpu));
	buf = xpu_alloc(gpu, (uint64_t)sysconf(_SC_PAGESIZE), 0, 0);
	if (buf < 0)
		die("a page of %s: %s", name, strerror(-buf));
	close(gpu);
	return buf;
}

static void pci_text(char text[PCI_TEXT], uint32_t at)
{
	snprintf(text, PCI_TEXT, "%04x:%02x:%02x.%x", at >> 16, at >> 8 & 0xff, at >> 3 & 0x1f,
		 at & 7);
}

static void print_check(const struct kiwi_check *c)
{
	char at[PCI_TEXT];

	pci_text(at, c->address);
	if (!as_json) {
		printf("  %-4s  %-12s %s\n", kiwi_check_state_text(c->state),
		       kiwi_check_text(c->id), c->reason);
		if (*c->fix)
			printf("%21sfix: %s\n", "", c->fix);
		return;
	}
	json_open(NULL, '{');
	json_string("check", kiwi_check_text(c->id));
	json_string("state", kiwi_check_state_text(c->state));
	json_number("value", c->value);
	json_number("limit", c->limit);
	if (c->address)
		json_string("address", at);
	else
		json_null("address");
	json_string("reason", c->reason);
	json_string("fix", c->fix);
	json_close('}');
}

/* Return: the exit status. */
static int check_device(const char *name, int fd)
{
	struct kiwi_check checks[CHECKS_MAX];
	uint32_t count = CHECKS_MAX, i;
	struct kiwi_device *dev;
	int status = 0, rc;

	rc = kiwi_open(name, &dev);
	if (!rc) {
		name = kiwi_device_name(dev);
		rc = kiwi_preflight(dev, fd, checks, &count);
	}
	if (rc)
		die("%s", kiwi_error());
	if (count > CHECKS_MAX)
		count = CHECKS_MAX;
	if (as_json) {
		json_open(NULL, '{');
		json_string("name", name);
		json_open("checks", '[');
	} else {
		printf("%s\n", name);
	}
	for (i = 0; i < count; i++) {
		print_check(&checks[i]);
		if (checks[i].state == KIWI_CHECK_FAIL)
			status = EXIT_MISSING;
	}
	if (as_json) {
		json_close(']');
		json_close('}');
	}
	kiwi_close(dev);
	return status;
}

static int check_all(int fd)
{
	struct kiwi_name *names;
	int count, i, status = 0;

	count = kiwi_list(NULL, 0);
	if (count < 0)
		die("%s", kiwi_error());
	if (!count)
		die("no Kiwi SNIC on this host, or its driver is not loaded");
	names = calloc((size_t)count, sizeof(*names));
	if (!names)
		die("out of memory");
	i = kiwi_list(names, count);
	if (i < count)
		count = i;
	for (i = 0; i < count; i++) {
		if (check_device(names[i].name, fd))
			status = EXIT_MISSING;
	}
	free(names);
	return status;
}

int cmd_preflight(int argc, char **argv)
{
	const char *device = NULL;
	int i, fd = -1, status;

	for (i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "--json"))
			as_json = true;
		else if (!strcmp(argv[i], "--gpu") && fd < 0 && i + 1 < argc)
			fd = gpu_buffer(argv[++i]);
		else if (!strcmp(argv[i], "--dmabuf") && fd < 0 && i + 1 < argc)
			fd = (int)number_arg("descriptor", argv[++i], 0, 1 << 20);
		else if (argv[i][0] != '-' && !device)
			device = argv[i];
		else
			die_usage("unexpected '%s'", argv[i]);
	}
	if (as_json)
		json_open(NULL, '[');
	status = device ? check_device(device, fd) : check_all(fd);
	if (as_json)
		json_close(']');
	if (fd >= 0)
		close(fd);
	return status;
}
