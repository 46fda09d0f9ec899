# SPDX-License-Identifier: GPL-2.0
# Needs the adoption of queues of testing/gpu, and the counters of testing/bench.
programs += bench-gpu
bench-gpu-sources := $(wildcard testing/bench-gpu/*.c) testing/bench/counts.c testing/gpu/adopt.c \
	testing/xpu/xpu_user.c $(kiwi-lib)
bench-gpu-cflags := -Itesting/xpu -Itesting/gpu -Itesting/bench
