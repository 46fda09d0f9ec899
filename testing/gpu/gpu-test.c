// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels of two accelerators post work to two SNICs and ring their doorbells: no CPU in
 * between. Needs snic0, snic1, xpu0 and xpu1, the xpu of a number within reach of that SNIC.
 *
 *	gpu-test [TEST...]	all tests, or those named
 */
#include <runner.h>

#include "gpu-test.h"

static const struct test *const groups[] = { pair_tests, collective_tests };

int main(int argc, char **argv)
{
	return run_tests(groups, sizeof(groups) / sizeof(groups[0]), argc - 1, argv + 1);
}
