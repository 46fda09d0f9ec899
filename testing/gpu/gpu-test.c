// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels of two accelerators post work to two SNICs and ring their doorbells: no CPU in
 * between. Needs snic0, snic1, xpu0 and xpu1, the xpu of a number within reach of that SNIC.
 *
 *	gpu-test [TEST...]	all tests, or those named
 *	gpu-test late		those of late doorbells, best on a SNIC of few queues and pages
 *	gpu-test burn [heir]	kernels at full rate, until something ends them
 *	gpu-test show		what a put and an all-to-all cost, in JSON
 */
#include <string.h>

#include <runner.h>

#include "burn.h"
#include "gpu-test.h"
#include "show.h"

static const struct test *const groups[] = {
	pair_tests, collective_tests, proxy_tests, error_tests,
};

static const struct test *const late_group[] = { late_tests };

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "burn"))
		return burn(argc > 2 && !strcmp(argv[2], "heir"));
	if (argc == 2 && !strcmp(argv[1], "late"))
		return run_tests(late_group, 1, 0, NULL);
	if (argc == 2 && !strcmp(argv[1], "show"))
		return show();
	return run_tests(groups, sizeof(groups) / sizeof(groups[0]), argc - 1, argv + 1);
}
