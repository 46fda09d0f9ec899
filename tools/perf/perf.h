/* SPDX-License-Identifier: GPL-2.0 */
/* kiwi-perf: what its files share. */
#ifndef PERF_H
#define PERF_H

#include <kiwi/kiwi.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum op {
	OP_WRITE,
	OP_READ,
	OP_SEND,
	OP_FETCH_ADD,
	OP_CMP_SWAP,
	OP_COUNT
};

static inline bool is_atomic(enum op op)
{
	return op == OP_FETCH_ADD || op == OP_CMP_SWAP;
}

extern const char *const op_names[OP_COUNT];

/* How dies move bytes; SNICs know messages alone. */
enum semantics {
	SEMANTICS_MEMORY,	/* loads, stores and atomics through a window */
	SEMANTICS_MESSAGE,	/* queue pairs */
	SEMANTICS_BOTH,		/* each size by the one and the other */
	SEMANTICS_COUNT,
	SEMANTICS_UNSET = SEMANTICS_COUNT
};

/* What one end of the connection stands on. */
struct end_options {
	const char *device;
	const char *mem;
	unsigned int port;
	unsigned int gid;
};

/* What both ends have to agree on. */
struct work {
	enum op op;
	bool verify;
	bool events;
	uint32_t depth;		/* work in flight */
	uint64_t bytes;		/* of the region at each end */
	uint32_t mtu;		/* bytes, 0: as large as both ports have it */
	uint8_t ack_timeout;
};

/* How the region is used for one message size. Iteration i uses slot i % slots. */
struct layout {
	uint64_t size;
	uint64_t stride;
	uint32_t slots;
};

struct layout layout_for(const struct work *work, uint64_t size, uint64_t iterations);

/* Bytes that layout_for() will not exceed; slots are given up before this is passed. */
#define REGION_BYTES	(64ULL << 20)

struct options {
	struct end_options local;
	struct end_options peer;
	struct work work;
	enum semantics semantics;
	const char *listen;
	const char *connect;
	uint64_t min_size;
	uint64_t max_size;
	uint64_t iterations;	/* 0: by size */
	uint32_t post_list;
	uint32_t signal_every;
	unsigned int stall_seconds;
	bool latency;
	bool use_inline;
	bool json;
};

/* Messages of one size. */
uint64_t iterations_for(const struct options *o, uint64_t size);

/* Sizes in turn; 0 behind the last. */
uint64_t next_size(const struct options *o, uint64_t size);

#endif /* PERF_H */
