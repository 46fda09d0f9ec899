# SPDX-License-Identifier: GPL-2.0
# By libkiwi: queue pairs between G2G dies, and windows of dies as regions of SNICs.
programs += g2g-messages window-test
messages-common := testing/messages/common.c testing/xpu/xpu_user.c $(kiwi-lib)
g2g-messages-sources := testing/messages/g2g-messages.c $(messages-common)
g2g-messages-cflags := -Itesting/xpu
window-test-sources := testing/messages/window-test.c $(messages-common)
window-test-cflags := -Itesting/xpu
