# SPDX-License-Identifier: GPL-2.0
# The guest's side of the tests with a hostile device.
programs += snic-hostile
snic-hostile-sources := $(wildcard testing/hostile/*.c) $(kiwi-lib)
