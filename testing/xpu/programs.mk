# SPDX-License-Identifier: GPL-2.0
# Guest programs of this folder, statically linked.
programs += xpu-selftest
xpu-selftest-sources := testing/xpu/xpu-selftest.c testing/xpu/kernel-selftest.c testing/xpu/xpu_user.c
