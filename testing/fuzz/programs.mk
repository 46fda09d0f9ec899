# SPDX-License-Identifier: GPL-2.0
# Fuzzer of the SNIC's ioctl interface.
programs += snic-fuzz
snic-fuzz-sources := $(wildcard testing/fuzz/*.c) testing/xpu/xpu_user.c
snic-fuzz-cflags := -Itesting/xpu
