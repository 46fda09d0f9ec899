// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "snic-test.h"

#define LOOKS		100
#define LOOK_US		10000
#define PAGE_TABLE	(2UL << 20)	/* bytes that one maps */
#define DMA_API		"/sys/kernel/debug/dma-api/"

/* The number behind a name in a file of such lines. */
static long named(const char *path, const char *name)
{
	FILE *file = fopen(path, "r");
	char line[256], word[64];
	long value, found = -1;

	CHECK(file);
	while (found < 0 && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %ld", word, &value) == 2 && !strcmp(word, name))
			found = value;
	}
	fclose(file);
	CHECK(found >= 0);
	return found;
}

long host_number(const char *path)
{
	FILE *file = fopen(path, "r");
	long value;

	CHECK(file);
	CHECK(fscanf(file, "%ld", &value) == 1);
	fclose(file);
	return value;
}

void *host_place(void)
{
	static char *page;

	if (!page) {
		page = mmap(NULL, 2 * PAGE_TABLE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		CHECK(page != MAP_FAILED);
		page += PAGE_TABLE - (uintptr_t)page % PAGE_TABLE;
		*page = 1;
	}
	return page + PAGE;
}

static bool dma_debugging(void)
{
	int fd = open(DMA_API "disabled", O_RDONLY);
	char off = 0;

	CHECK(fd >= 0 && read(fd, &off, 1) == 1);
	close(fd);
	return off == 'N';
}

/* A new process has this processor put nodes aside, which serve where an allocation fails. */
void host_keep_debugging(void)
{
	cpu_set_t here;
	pid_t pid;

	CPU_ZERO(&here);
	CPU_SET(sched_getcpu(), &here);
	CHECK(!sched_setaffinity(0, sizeof(here), &here));
	pid = fork();
	if (!pid)
		_exit(0);
	CHECK(pid > 0 && waitpid(pid, NULL, 0) == pid);
}

struct host_held host_held(void)
{
	CHECK(dma_debugging());
	/* Has each processor hand in what it has counted. */
	CHECK(!write_file("/proc/sys/vm/stat_refresh", "1"));
	return (struct host_held) {
		.pins = named("/proc/vmstat", "nr_foll_pin_acquired") -
			named("/proc/vmstat", "nr_foll_pin_released"),
		.mappings = host_number(DMA_API "nr_total_entries") -
			    host_number(DMA_API "num_free_entries"),
		.charged = named("/proc/self/status", "VmPin:"),
	};
}

static bool more(const char *what, long now, long before)
{
	if (now > before)
		printf("  %s: %ld, not %ld\n", what, now, before);
	return now > before;
}

bool host_held_again(const struct host_held *before)
{
	struct host_held now;
	unsigned int looks = 0;
	bool any;

	do {
		now = host_held();
		if (now.pins <= before->pins && now.mappings <= before->mappings &&
		    now.charged <= before->charged)
			return true;
		usleep(LOOK_US);
	} while (++looks < LOOKS);
	any = more("pages pinned", now.pins, before->pins);
	any |= more("DMA mappings", now.mappings, before->mappings);
	any |= more("KiB charged", now.charged, before->charged);
	return !any;
}
