/* SPDX-License-Identifier: GPL-2.0 */
/* Runs tests, each in a process of its own. */
#ifndef SNIC_RUNNER_H
#define SNIC_RUNNER_H

#include "snic-test.h"

/*
 * Runs the tests of some groups, or of these those that are named; after each no SNIC holds an
 * object. Returns the exit status.
 */
int run_tests(const struct test *const *groups, size_t count, int names, char **name);

#endif /* SNIC_RUNNER_H */
