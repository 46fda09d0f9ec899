# SPDX-License-Identifier: GPL-2.0
# Each allocation and copy that an operation makes fails in turn.
programs += fail-nth
fail-nth-sources := testing/failnth/fail-nth.c testing/failnth/host.c testing/snic/snic-test.c testing/xpu/xpu_user.c
fail-nth-cflags := -Itesting/xpu -Itesting/snic
