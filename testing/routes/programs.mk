# SPDX-License-Identifier: GPL-2.0
# The routes of the G2G driver as a program, to be measured on this machine's core.

programs += route-bench
route-bench-sources := testing/routes/route-bench.c drivers/kiwi_g2g/tests/topology.c \
	$(patsubst %,drivers/kiwi_g2g/route_%.c,graph table check credit make)
route-bench-cflags := -Itesting/routes/kernel -Idrivers/kiwi_g2g -Wno-sign-compare
