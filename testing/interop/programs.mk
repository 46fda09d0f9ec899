# SPDX-License-Identifier: GPL-2.0
# The two ends of the interoperation test.
programs += kiwi-peer
kiwi-peer-sources := testing/interop/peer.c testing/interop/kiwi-peer.c $(kiwi-lib)

# libibverbs loads its providers when it runs: not for static programs.
programs: $(B)/bin/verbs-peer
$(B)/bin/verbs-peer: $(B)/obj/testing/interop/peer.o $(B)/obj/testing/interop/verbs-peer.o \
		$(B)/obj/testing/interop/verbs-open.o
	@mkdir -p $(@D)
	$(CC) -pthread -o $@ $^ -libverbs $(USER_LDFLAGS)
-include $(B)/obj/testing/interop/verbs-peer.d $(B)/obj/testing/interop/verbs-open.d
