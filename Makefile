# SPDX-License-Identifier: GPL-2.0
# The verbs of the project: "make help" tells them.

MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := all

B    := build
KDIR ?= /lib/modules/$(shell uname -r)/build
# Type information for BPF needs pahole; without it, modules have none.
no-btf := $(if $(shell command -v pahole),,CONFIG_DEBUG_INFO_BTF_MODULES=)
run  := testing/harness/run.py

all: modules ## build the modules for the kernel at KDIR (by default the running one)

modules:
	@[ -d "$(KDIR)" ] || { echo "no kernel headers at $(KDIR): install" \
		"linux-headers-$$(uname -r), or give KDIR=" >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) $(no-btf) modules

models: ## build the device models for the installed QEMU
	@scripts/deps.sh models
	@$(MAKE) -C qemu O=$(CURDIR)/$(B)/qemu

programs: ## build the library, the tools and the guest's test programs
include $(wildcard lib/programs.mk tools/programs.mk testing/*/programs.mk)

# A fragment may give rules of its own, or add to "programs" a name, with
# NAME-sources, NAME-libs and NAME-cflags; archives may be among the sources.
define program_rule
$(B)/bin/$(1): $(patsubst %.c,$(B)/obj/%.o,$($(1)-sources))
	@mkdir -p $$(@D)
	$$(CC) -static -pthread -o $$@ $$^ $($(1)-libs) $$(USER_LDFLAGS)
$(patsubst %.c,$(B)/obj/%.o,$(filter %.c,$($(1)-sources))): USER_CFLAGS += $($(1)-cflags)
-include $(patsubst %.c,$(B)/obj/%.d,$(filter %.c,$($(1)-sources)))
endef
$(foreach p,$(programs),$(eval $(call program_rule,$(p))))
programs: $(programs:%=$(B)/bin/%)

demo: ## move memory from GPU to GPU over RDMA, on an emulated host
	@scripts/demo.sh

demo-g2g: ## loads, stores, atomics and messages between accelerators, through G2G dies on an emulated host
	@scripts/demo-g2g.sh

test: ## all that CI runs; T='PATTERN...' for some of it
	@scripts/deps.sh build models boot check test
	@$(run) $(T)

# The tests that do many times more work with KIWI_SOAK.
soak := fuzz.uapi 'hostile.random*' 'failnth.*' gpu.ends g2g.silence g2g.cut g2g.revoke g2g.kill 'g2g.ends*' \
	'detected.*' 'move.*' '*:kernel=*:*'

soak: ## the fuzzers, for hours rather than minutes
	@scripts/deps.sh build models boot test
	@KIWI_SOAK=1 $(run) $(soak)

kunit: ## the drivers' unit tests, on a kernel built for tests
	@scripts/deps.sh build models boot kernel
	@$(run) 'kunit.*'

check: ## the static gates: compilers, sparse, coccinelle, style, ABI, texts
	@scripts/deps.sh build models check
	@$(run) 'check.*'

bench: ## guest instructions of each operation, beside soft-RoCE's
	@scripts/bench.sh

bench-gpu: ## GPU-initiated communication against a CPU that rings, in virtual time, with plots
	@scripts/deps.sh plots
	@testing/bench-gpu/run.py

shell: ## boot the emulated host to a prompt; VM='iommu=on topology=flat ...'
	@scripts/shell.sh $(VM)

install: install-modules install-libkiwi $(if $(wildcard tools/programs.mk),install-tools) ## install modules, library and tools; DESTDIR, PREFIX

install-modules: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) $(if $(DESTDIR),INSTALL_MOD_PATH=$(DESTDIR)) modules_install

clean: ## remove what was built; the cache (KIWI_CACHE) stays
	@[ ! -d "$(KDIR)" ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	rm -rf $(B)

help: ## this text
	@sed -nE 's/^([a-z-]+):.* ## (.*)/  make \1\t\2/p' Makefile | expand -t 16

.PHONY: all modules models programs demo demo-g2g test soak kunit check bench bench-gpu shell install \
	install-modules clean help
