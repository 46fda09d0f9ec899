# SPDX-License-Identifier: GPL-2.0
# Kernels of accelerators that talk to each other through SNICs.
programs += gpu-test
gpu-test-sources := $(wildcard testing/gpu/*.c) testing/snic/runner.c testing/snic/snic-test.c \
	testing/xpu/xpu_user.c $(kiwi-lib)
gpu-test-cflags := -Itesting/snic -Itesting/xpu
