/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The classic proxy: a thread of the CPU takes requests that the GPU has written, posts them
 * to a queue of its own, and tells the GPU what is completed.
 */
#ifndef BENCH_GPU_POST_H
#define BENCH_GPU_POST_H

#include <kiwi/kiwi.h>

/**
 * struct poster - a queue of requests, and what they are posted to
 * @qp: in memory of the host
 * @cq: its, likewise
 * @producer: index that the GPU stores
 * @ring: requests
 * @mask: entries of @ring, less one
 * @done: word of the completion that the GPU reads
 * @done_shift: where the index stands in it
 * @taken: requests posted
 * @completed: requests completed
 */
struct poster {
	struct kiwi_qp *qp;
	struct kiwi_cq *cq;
	const uint64_t *producer;
	const unsigned char *ring;
	uint32_t mask;
	volatile uint64_t *done;
	uint32_t done_shift;
	uint64_t taken;
	uint64_t completed;
};

void poster_poll(struct poster *p);

/*
 * What a CPU waits for and icount does not count, in instructions: a load of what a device
 * wrote, and an uncached store.
 */
extern unsigned int stall_load, stall_store;

static inline void stall(unsigned int instructions)
{
	unsigned int turns = instructions / 2;

	if (turns)
		__asm__ __volatile__("1: dec %0; jnz 1b" : "+r"(turns) :: "cc");
}

#endif /* BENCH_GPU_POST_H */
