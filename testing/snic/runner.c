// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner.h"

#define SECONDS	120
#define SNICS	2

static const char *const live[] = {
	"diag/live_pd", "diag/live_mr", "diag/live_cq", "diag/live_qp", "diag/live_db_page",
};

#define KINDS	(sizeof(live) / sizeof(live[0]))

static bool nothing_left_on(unsigned int snic)
{
	unsigned int was = test_device;
	bool clean = true;
	size_t i;

	test_device = snic;
	for (i = 0; i < KINDS; i++) {
		long long n = snic_attr(live[i]);

		if (n) {
			printf("  snic%u still holds: %s %lld\n", snic, live[i], n);
			clean = false;
		}
	}
	test_device = was;
	return clean;
}

static bool nothing_left(void)
{
	bool clean = true;
	unsigned int n;

	for (n = 0; n < SNICS; n++) {
		char path[32];

		snprintf(path, sizeof(path), "/sys/class/kiwi/snic%u", n);
		if (!access(path, F_OK) && !nothing_left_on(n))
			clean = false;
	}
	return clean;
}

static bool run(const struct test *test)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		alarm(SECONDS);
		test->run();
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		status = -1;
	if (status)
		printf("  ended with status %#x\n", status);
	if (!nothing_left())
		status = -1;
	printf("%s %s\n", status ? "FAIL" : "ok  ", test->name);
	return !status;
}

int run_tests(const struct test *const *groups, size_t count, int names, char **name)
{
	unsigned int passed = 0, failed = 0;
	const struct test *test;
	size_t group;

	for (group = 0; group < count; group++) {
		for (test = groups[group]; test->name; test++) {
			if (!test_wanted(test->name, names, name))
				continue;
			if (run(test))
				passed++;
			else
				failed++;
		}
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed || !passed;
}
