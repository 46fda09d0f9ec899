/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One accelerator, whose kernels send through one SNIC to its own memory by way of the other. As in
 * an exchange among equals all do the same at the same time, what it sends itself
 * stands for what its peers send to it.
 */
#ifndef BENCH_GPU_WORLD_H
#define BENCH_GPU_WORLD_H

#include <kiwi/kiwi.h>
#include <kiwi/proxy.h>
#include <xpu.h>

#include "post.h"

#define PEERS		16
#define SIZE_MAX_BYTES	65536UL
#define TOKENS		16
#define THREADS		16

/* Places in the data buffer. */
#define SOURCE		0UL		/* what is sent: a part for each peer or token */
#define TARGET		(16UL << 20)	/* where it arrives: a part for each peer */
#define RETURN		(32UL << 20)	/* where COMBINE brings it */
#define SIGNAL		(48UL << 20)	/* words, one for each peer */
#define SIGNAL2		(SIGNAL + 4096)	/* those of COMBINE */
#define TABLE		(SIGNAL + 8192)
#define TABLE2		(SIGNAL + 12288)
#define MOE		(SIGNAL + 16384)
#define MOE2		(SIGNAL + 16640)
#define ROUTING		(SIGNAL + 20480)
#define COUNTS		(SIGNAL + 24576)
#define DATA_BYTES	(64UL << 20)

/* Who rings, and who posts. */
enum way {
	BY_GPU,
	BY_RING,	/* the GPU posts, the CPU rings */
	BY_POST,	/* the CPU posts what the GPU asks for */
	WAYS,
};

struct world {
	struct kiwi_device *near, *far;
	struct kiwi_mr *local, *remote;		/* the data, as either SNIC knows it */
	int xpu;
	int data, list;
	uint8_t *mem;
	struct xpu_cmd *cmd;
	uint32_t queue[WAYS][PEERS];		/* numbers, for commands */
	struct kiwi_proxy proxy[PEERS];		/* of BY_RING */
	struct poster poster[PEERS];		/* of BY_POST */
};

void world_make(struct world *w);

/**
 * struct program - what a kernel does, its commands in the list
 * @threads: of it
 * @count: commands of a thread
 * @queues: the first so many are used
 * @entries: that each of them gets
 */
struct program {
	uint32_t threads;
	uint32_t count;
	uint32_t queues;
	uint32_t entries;
};

/*
 * Doorbells ring as @how says. The kernel begins with a delay of so many ns; gives the time
 * after that.
 */
uint64_t world_run(struct world *w, const struct program *p, enum way how, uint64_t delay_ns);

/* Instructions of the CPU from a moved index to the doorbell, and those to post one request too. */
uint32_t world_ring_cost(struct world *w);
uint32_t world_post_cost(struct world *w);

#endif /* BENCH_GPU_WORLD_H */
