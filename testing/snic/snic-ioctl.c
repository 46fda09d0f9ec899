// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the ioctl interface of the SNIC: success, each errno, what the structures'
 * rules say, and that the device holds nothing when a test is over.
 *
 *	snic-ioctl [-d N] [TEST...]	all tests on snicN, or those named
 *	snic-ioctl [-d N] try WHAT	one operation: prints its errno and the error text
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "snic-test.h"
#include "try.h"

#define SECONDS	120

static const struct test *const groups[] = {
	args_tests, object_tests, memory_tests, queue_tests, doorbell_tests, event_tests,
	limit_tests, life_tests, starved_tests, gpu_tests,
};

static const char *const live[] = {
	"diag/live_pd", "diag/live_mr", "diag/live_cq", "diag/live_qp", "diag/live_db_page",
};

#define KINDS	(sizeof(live) / sizeof(live[0]))

static bool nothing_left(void)
{
	bool clean = true;
	size_t i;

	for (i = 0; i < KINDS; i++) {
		long long n = snic_attr(live[i]);

		if (n) {
			printf("  the device still holds: %s %lld\n", live[i], n);
			clean = false;
		}
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

static bool wanted(const char *name, int count, char **names)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return !count;
}

int main(int argc, char **argv)
{
	unsigned int passed = 0, failed = 0;
	const struct test *test;
	size_t group;

	if (argc > 2 && !strcmp(argv[1], "-d")) {
		test_device = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc == 3 && !strcmp(argv[1], "try"))
		return try(argv[2]);

	for (group = 0; group < sizeof(groups) / sizeof(groups[0]); group++) {
		for (test = groups[group]; test->name; test++) {
			if (!wanted(test->name, argc - 1, argv + 1))
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
