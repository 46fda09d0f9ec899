# SPDX-License-Identifier: GPL-2.0
# Test of the SNIC's ioctl interface, without the library.
programs += snic-ioctl
snic-ioctl-sources := $(wildcard testing/snic/*.c) testing/xpu/xpu_user.c
snic-ioctl-cflags := -Itesting/xpu
