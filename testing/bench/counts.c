// SPDX-License-Identifier: GPL-2.0
/*
 * What messages cost the bus, the wire and the interrupts of the host, by the
 * counters of the device.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counts.h"
#include "bench.h"

static void add(struct counters *c, const char *folder, const char *name)
{
	char path[512];
	FILE *f;

	need(c->n < COUNTERS_MAX, "more counters than expected");
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	need(f && fscanf(f, "%llu", &c->count[c->n].value) == 1, path);
	fclose(f);
	snprintf(c->count[c->n].name, sizeof(c->count[c->n].name), "%s", name);
	c->n++;
}

static void read_folder(struct counters *c, const char *folder)
{
	struct dirent **entry;
	int i, n;

	c->n = 0;
	n = scandir(folder, &entry, NULL, alphasort);
	need(n >= 0, folder);
	for (i = 0; i < n; i++) {
		if (entry[i]->d_name[0] != '.')
			add(c, folder, entry[i]->d_name);
		free(entry[i]);
	}
	free(entry);
}

static void read_device(struct counts *c, const char *device)
{
	char folder[256];

	snprintf(folder, sizeof(folder), "/sys/class/kiwi/%s/diag", device);
	read_folder(&c->device, folder);
}

static void read_port(struct counts *c, const char *device, unsigned int port)
{
	char folder[256];

	snprintf(folder, sizeof(folder), "/sys/class/kiwi/%s/ports/%u/counters", device, port);
	read_folder(&c->port, folder);
}

void counts_begin(struct counts *c, const char *device, unsigned int port)
{
	read_port(c, device, port);
	read_device(c, device);
}

void counts_end(struct counts *c, const char *device, unsigned int port)
{
	read_device(c, device);
	read_port(c, device, port);
}

static void report_moved(const char *what, const struct counters *before,
			 const struct counters *after, unsigned long messages)
{
	unsigned int i;

	for (i = 0; i < after->n; i++)
		if (after->count[i].value != before->count[i].value)
			printf("counts %s %s %.4f\n", what, after->count[i].name,
			       (double)(after->count[i].value - before->count[i].value) /
			       messages);
	fflush(stdout);
}

void counts_report(const char *what, const struct counts *before, const struct counts *after,
		   unsigned long messages)
{
	report_moved(what, &before->device, &after->device, messages);
	report_moved(what, &before->port, &after->port, messages);
}
