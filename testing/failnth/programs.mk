# SPDX-License-Identifier: GPL-2.0
# Each allocation and copy that an operation makes fails in turn.
programs += fail-nth
fail-nth-sources := $(wildcard testing/failnth/*.c) testing/snic/snic-test.c testing/g2g/die.c testing/g2g/fabric.c \
	testing/xpu/xpu_user.c $(kiwi-lib)
fail-nth-cflags := -Itesting/xpu -Itesting/snic -Itesting/g2g
