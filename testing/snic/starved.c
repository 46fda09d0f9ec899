// SPDX-License-Identifier: GPL-2.0
/*
 * A region of scattered pages, registered in a control group that has a little memory
 * left, and each time a little more: every allocation that is charged to it fails once.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "snic-test.h"

#define ROOT	"/tmp/cgroup"
#define GROUP	ROOT "/starved"
#define REGION	(32UL << 20)
#define STEP	(16UL << 10)
#define STEPS	24

/* Return: whether the kernel can limit the memory of a group. */
static bool group_make(void)
{
	mkdir(ROOT, 0755);
	CHECK(!mount("none", ROOT, "cgroup2", 0, NULL) || errno == EBUSY);
	if (write_file(ROOT "/cgroup.subtree_control", "+memory")) {
		EQUAL(umount(ROOT), 0);
		return false;
	}
	CHECK(!mkdir(GROUP, 0755) || errno == EEXIST);
	return true;
}

static void group_remove(void)
{
	EQUAL(rmdir(GROUP), 0);
	EQUAL(umount(ROOT), 0);
}

static unsigned long group_usage(void)
{
	FILE *f = fopen(GROUP "/memory.current", "r");
	unsigned long usage;

	CHECK(f);
	EQUAL(fscanf(f, "%lu", &usage), 1);
	fclose(f);
	return usage;
}

static char *reserve(void)
{
	char *p = mmap(NULL, REGION, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	CHECK(!madvise(p, REGION, MADV_NOHUGEPAGE));
	return p;
}

static size_t count_neighbours(const char *p)
{
	static uint64_t frames[REGION / PAGE];
	off_t at = (uintptr_t)p / PAGE * sizeof(frames[0]);
	int pagemap = open("/proc/self/pagemap", O_RDONLY);
	size_t n, neighbours = 0;

	EQUAL(pread(pagemap, frames, sizeof(frames), at), sizeof(frames));
	close(pagemap);
	for (n = 1; n < REGION / PAGE; n++)
		neighbours += frames[n] == frames[n - 1] + 1;
	return neighbours;
}

/* Neighbours in the memory of the process are none in the machine. */
static char *scattered(void)
{
	char *p = reserve(), *other = reserve();
	size_t at;

	for (at = 0; at < REGION; at += PAGE) {
		p[at] = 1;
		other[at] = 1;
	}
	CHECK(!munmap(other, REGION));
	CHECK(count_neighbours(p) < REGION / PAGE / 4);
	return p;
}

static _Noreturn void starve(unsigned long left)
{
	struct kiwi_snic_mr_reg r;
	int fd = snic_open();
	char max[32];

	CHECK(fd >= 0);
	EQUAL(write_file(GROUP "/memory.max", "max"), 0);
	EQUAL(write_file(GROUP "/cgroup.procs", "0"), 0);
	r = make_mr(fd, make_pd(fd), scattered(), REGION);
	EQUAL(destroy(fd, r.mr), 0);

	snprintf(max, sizeof(max), "%lu", group_usage() + left);
	EQUAL(write_file(GROUP "/memory.max", max), 0);
	_exit(snic_call(fd, KIWI_SNIC_MR_REG, &r) ? 2 : 0);
}

/* Return: whether the region was registered; if not, nobody but the kernel ended it. */
static bool attempt(unsigned long left)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		starve(left);
	EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(!status || (WIFEXITED(status) && WEXITSTATUS(status) == 2) ||
	      (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
	return !status;
}

static void sweep(void)
{
	unsigned int n, refused = 0;

	if (!group_make()) {
		printf("  skipped: the kernel has no memory controller\n");
		return;
	}
	for (n = 0; n < STEPS; n++)
		refused += !attempt(n * STEP);
	group_remove();
	printf("  %u of %u refused\n", refused, STEPS);
	CHECK(refused > 2 && refused < STEPS);
}

const struct test starved_tests[] = {
	{ "starved.mr-reg", sweep },
	{ NULL, NULL }
};
