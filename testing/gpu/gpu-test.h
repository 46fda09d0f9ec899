/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GPU_TEST_H
#define GPU_TEST_H

#include <snic-test.h>

extern const struct test pair_tests[];
extern const struct test collective_tests[];
extern const struct test error_tests[];
extern const struct test proxy_tests[];
extern const struct test late_tests[];

#endif /* GPU_TEST_H */
