# SPDX-License-Identifier: GPL-2.0
# SNICs and G2G dies of one machine: memory of a peer die as a region of a SNIC.
programs += window-test
window-test-sources := testing/window/window-test.c testing/xpu/xpu_user.c $(kiwi-lib)
window-test-cflags := -Itesting/xpu
