# SPDX-License-Identifier: GPL-2.0
# Not static: libibverbs loads its providers when it runs.
bench-obj := $(patsubst %.c,$(B)/obj/%.o,$(wildcard testing/bench/*.c) testing/xpu/xpu_user.c \
	testing/interop/verbs-open.c)
programs: $(B)/bin/bench
$(B)/bin/bench: $(bench-obj) $(kiwi-lib)
	@mkdir -p $(@D)
	$(CC) -pthread -o $@ $^ -libverbs $(USER_LDFLAGS)
-include $(bench-obj:.o=.d)
