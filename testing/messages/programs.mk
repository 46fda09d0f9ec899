# SPDX-License-Identifier: GPL-2.0
# Queue pairs between G2G dies, by libkiwi.
programs += g2g-messages
g2g-messages-sources := $(wildcard testing/messages/*.c) testing/xpu/xpu_user.c $(kiwi-lib)
g2g-messages-cflags := -Itesting/xpu
