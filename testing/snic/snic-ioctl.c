// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the ioctl interface of the SNIC: success, each errno, what the structures'
 * rules say, and that the device holds nothing when a test is over.
 *
 *	snic-ioctl [-d N] [TEST...]	all tests on snicN, or those named
 *	snic-ioctl [-d N] try WHAT	one operation: prints its errno and the error text
 */
#include <stdlib.h>
#include <string.h>

#include "runner.h"
#include "try.h"

static const struct test *const groups[] = {
	args_tests, object_tests, memory_tests, queue_tests, doorbell_tests, event_tests,
	limit_tests, life_tests, starved_tests, gpu_tests, preflight_tests,
};

int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "-d")) {
		test_device = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	if (argc == 3 && !strcmp(argv[1], "try"))
		return try(argv[2]);

	return run_tests(groups, sizeof(groups) / sizeof(groups[0]), argc - 1, argv + 1);
}
