// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "cover.h"

#define ENTRIES		(1UL << 15)
#define SET_SIZE	(1UL << 16)

struct cover {
	int fd;
	unsigned long *area;	/* how many entries, then the entries */
};

struct module {
	const char *name;
	uint64_t base;
	uint64_t size;
};

static struct module modules[] = {
	{ .name = "kiwi_fw" }, { .name = "kiwi_snic" },
};

#define MODULES	(sizeof(modules) / sizeof(modules[0]))

/* Shared by all processes: a hash table of places. */
struct reached {
	atomic_uint count;
	atomic_ulong place[SET_SIZE];
};

static struct reached *reached;

static const struct module *module_of(uint64_t place)
{
	unsigned int i;

	for (i = 0; i < MODULES; i++) {
		if (place - modules[i].base < modules[i].size)
			return &modules[i];
	}
	return NULL;
}

static void find_modules(void)
{
	char line[512], name[64];
	uint64_t base, size;
	unsigned int i;
	FILE *list = fopen("/proc/modules", "r");

	while (list && fgets(line, sizeof(line), list)) {
		if (sscanf(line, "%63s %lu %*s %*s %*s %lx", name, &size, &base) != 3)
			continue;
		for (i = 0; i < MODULES; i++) {
			if (!strcmp(name, modules[i].name)) {
				modules[i].base = base;
				modules[i].size = size;
			}
		}
	}
	if (list)
		fclose(list);
}

bool cover_init(void)
{
	if (access("/sys/kernel/debug/kcov", R_OK | W_OK))
		return false;
	find_modules();
	reached = mmap(NULL, sizeof(*reached), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (reached == MAP_FAILED)
		abort();
	return true;
}

bool cover_present(void)
{
	return reached;
}

struct cover *cover_new(void)
{
	struct cover *c;

	if (!reached)
		return NULL;
	c = malloc(sizeof(*c));
	if (!c)
		abort();
	c->fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (c->fd < 0 || ioctl(c->fd, KCOV_INIT_TRACE, ENTRIES))
		abort();
	c->area = mmap(NULL, ENTRIES * sizeof(*c->area), PROT_READ | PROT_WRITE, MAP_SHARED,
		       c->fd, 0);
	if (c->area == MAP_FAILED)
		abort();
	return c;
}

void cover_enable(struct cover *c)
{
	if (c && ioctl(c->fd, KCOV_ENABLE, KCOV_TRACE_PC))
		abort();
}

void cover_clear(struct cover *c)
{
	if (c)
		__atomic_store_n(&c->area[0], 0, __ATOMIC_RELAXED);
}

/* True if the set had it not. */
static bool add(uint64_t place)
{
	uint64_t at = place * 0x9e3779b97f4a7c15ULL >> 48;
	unsigned long old;

	for (;; at = (at + 1) % SET_SIZE) {
		old = 0;
		if (atomic_compare_exchange_strong(&reached->place[at], &old, place))
			return true;
		if (old == place)
			return false;
	}
}

unsigned int cover_collect(struct cover *c)
{
	unsigned long i, n;
	unsigned int fresh = 0;

	if (!c)
		return 0;
	n = __atomic_load_n(&c->area[0], __ATOMIC_RELAXED);
	for (i = 1; i <= n; i++) {
		if (module_of(c->area[i]) && add(c->area[i]))
			fresh++;
	}
	atomic_fetch_add(&reached->count, fresh);
	return fresh;
}

unsigned int cover_count(void)
{
	return reached ? reached->count : 0;
}

bool cover_write(const char *path)
{
	FILE *file = fopen(path, "w");
	const struct module *m;
	unsigned int i;

	if (!file)
		return false;
	for (i = 0; i < SET_SIZE; i++) {
		m = module_of(reached->place[i]);
		if (m)
			fprintf(file, "%s %#lx\n", m->name, reached->place[i] - m->base);
	}
	return !fclose(file);
}
