/* SPDX-License-Identifier: GPL-2.0 */
/* What each rank has for each other one, sent by kernels of all at a time. */
#ifndef GPU_EXCHANGE_H
#define GPU_EXCHANGE_H

#include "world.h"

/*
 * Fills a table of peers in the rank's memory: what each gets goes to the same places of its
 * memory.
 */
void fill_table(struct world *w, struct rank *r, uint64_t table, uint64_t to, uint64_t signal);

/* Appends to the rank's list a wait for each of its queues; gives the new length. */
uint32_t add_quiet(struct world *w, struct rank *r, uint32_t count);

/* A kernel for each rank, of one thread and its count of commands, to its end. */
void run_all(struct world *w, const uint32_t *count);

/*
 * All to all: bytes and lists; kernels; and whether all bytes are where they belong.
 * @size: bytes for each peer, so that those of all ranks fit EXCHANGE_BYTES. @flags: XPU_CMD_*
 */
#define EXCHANGE_BYTES	(384 * 1024UL)

void exchange_prepare(struct world *w, uint32_t size, uint8_t flags);
void exchange_run(struct world *w);
void exchange_check(struct world *w, uint32_t size);

#endif /* GPU_EXCHANGE_H */
