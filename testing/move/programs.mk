# SPDX-License-Identifier: GPL-2.0
programs += move-test
move-test-sources := testing/move/move-test.c testing/xpu/xpu_user.c $(kiwi-lib)
move-test-cflags := -Itesting/xpu
