# SPDX-License-Identifier: GPL-2.0
# The verbs of the project; "make help" tells them.

MAKEFLAGS += --no-print-directory
KDIR ?= /lib/modules/$(shell uname -r)/build

all: modules

models:
	@scripts/deps.sh models
	@$(MAKE) -C qemu

.PHONY: all models
