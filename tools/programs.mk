# SPDX-License-Identifier: GPL-2.0
# The tools; included by the top Makefile.
tools-common := $(wildcard tools/common/*.c)
tools-mem := $(wildcard tools/mem/*.c) testing/xpu/xpu_user.c

programs += kiwictl
kiwictl-sources := $(wildcard tools/kiwictl/*.c) $(tools-common) $(tools-mem) $(kiwi-lib)
kiwictl-libs := -lyaml

# These look up host names, for which libc loads code when it runs: not static.
kiwi-perf-sources := $(wildcard tools/perf/*.c) $(tools-common) $(tools-mem)
rc-pingpong-sources := tools/examples/rc-pingpong.c $(tools-common)

define tool_rule
programs: $(B)/bin/$(1)
$(B)/bin/$(1): $(patsubst %.c,$(B)/obj/%.o,$($(1)-sources)) $(kiwi-lib)
	@mkdir -p $$(@D)
	$$(CC) -pthread -o $$@ $$^ $$(USER_LDFLAGS)
-include $(patsubst %.c,$(B)/obj/%.d,$($(1)-sources))
endef
$(foreach p,kiwi-perf rc-pingpong,$(eval $(call tool_rule,$(p))))

install-tools: $(B)/bin/kiwictl $(B)/bin/kiwi-perf
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1
	install $(B)/bin/kiwictl $(B)/bin/kiwi-perf $(DESTDIR)$(BINDIR)/
	install -d $(DESTDIR)$(DATADIR)/kiwi
	install -m 644 tools/kiwictl/topology.schema.json $(DESTDIR)$(DATADIR)/kiwi/
	scripts/install-man.sh $(DESTDIR)$(MANDIR)/man1 Documentation/man/*.1

.PHONY: install-tools

# Host tests.
$(B)/tests/tools/test-pattern: tools/tests/test-pattern.c tools/perf/pattern.c tools/common/say.c \
		lib/tests/tap.c
	@mkdir -p $(@D)
	$(CC) $(user-cflags) -MF $@.d -fsanitize=address,undefined -fno-sanitize-recover=all -o $@ \
		$(filter %.c,$^)

tools-check: $(B)/tests/tools/test-pattern
	@lib/tests/run.sh $^

.PHONY: tools-check
-include $(wildcard $(B)/tests/tools/*.d)
