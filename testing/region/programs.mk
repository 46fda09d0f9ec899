# SPDX-License-Identifier: GPL-2.0
# Large GPU regions: page lists, and where their bytes really go.
programs += region-test
region-test-sources := testing/region/region-test.c testing/xpu/xpu_user.c $(kiwi-lib)
region-test-cflags := -Itesting/xpu
