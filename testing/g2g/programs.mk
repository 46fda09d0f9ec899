# SPDX-License-Identifier: GPL-2.0
# Fabrics of G2G dies, by the ioctl interface alone.
programs += g2g-test
g2g-test-sources := $(wildcard testing/g2g/*.c) testing/xpu/xpu_user.c
g2g-test-cflags := -Itesting/xpu
