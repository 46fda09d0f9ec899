/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the steps of a sequence work on: open files and their objects, memory, mappings,
 * DMA-bufs. Its threads share it; what is looked up is copied out and may be stale.
 */
#ifndef WORLD_H
#define WORLD_H

#include <pthread.h>
#include <sys/types.h>

#include "fuzz.h"

#define FILES		3	/* the last of them of the second device */
#define THINGS		64
#define BUFFERS		4
#define MAPS		6
#define EVENT_FDS	2

enum object { PD, MR, CQ, QP, DOORBELL, KINDS };

/**
 * struct thing - an object that the kernel made, or had made
 * @kind: of object
 * @slot: of the file
 * @id: in the file
 * @live: not destroyed
 * @number: of a CQ or QP, for doorbells and peers
 * @epoch: likewise
 * @key: of an MR
 * @addr: MR: iova; CQ: ring; QP: send queue's ring
 * @length: MR: bytes
 * @rq_addr: QP: receive queue's ring
 * @record: QP: its doorbell record, if it has one
 * @log2: of the ring at @addr
 * @rq_log2: of the ring at @rq_addr
 * @rq_stride: of its entries
 * @state: QP: as far as known
 * @map_offset: of a doorbell
 * @map_size: of a doorbell
 */
struct thing {
	enum object kind;
	unsigned int slot;
	uint32_t id;
	bool live;
	uint32_t number;
	uint32_t epoch;
	uint32_t key;
	uint64_t addr;
	uint64_t length;
	uint64_t rq_addr;
	uint64_t record;
	uint8_t log2;
	uint8_t rq_log2;
	uint8_t rq_stride;
	uint8_t state;
	uint64_t map_offset;
	uint32_t map_size;
};

struct buffer {
	int fd;
	uint64_t length;
};

struct world {
	pthread_mutex_t lock;
	int file[FILES];
	struct thing things[THINGS];
	unsigned int nr_things;		/* made in all; the array holds the latest */
	struct buffer buffer[BUFFERS];
	uint64_t windows;		/* of the GPU to doorbells, by number */
	int event_fd[EVENT_FDS];
	size_t map_size[MAPS];		/* 0: not mapped */
	bool arena_dirty;
	bool had_buffers;
	bool strangers;			/* a child may have made and destroyed objects */
	int xpu;
	int null;
};

/* Memory has fixed addresses, far from where the kernel places anything by itself. */
#define ARENA		0x100000000000UL
#define ARENA_SIZE	(4UL << 20)
#define MAP_ROOM	(1UL << 20)
#define MAP_AT(i)	(ARENA + (256UL << 20) + (i) * MAP_ROOM)
#define VIEW_ROOM	(16UL << 20)	/* more than the largest buffer */
#define VIEW_AT(i)	(ARENA + (512UL << 20) + (i) * VIEW_ROOM)

void world_init(struct world *w);	/* once in a process */
void world_begin(struct world *w);
void world_end(struct world *w);

int world_open(unsigned int slot);

/* A file, mostly the first: its descriptor, which may be -1. */
int world_file(struct context *ctx, unsigned int *slot);
/* Takes a file away; its objects are gone. The caller closes the descriptor. */
int world_take_file(struct world *w, unsigned int slot);
/* Puts a descriptor where there is none, or returns false. */
bool world_put_file(struct world *w, unsigned int slot, int fd);

void world_add(struct context *ctx, struct thing thing);
/* A live object; or, unless ctx->valid, now and then another file's or a dead one. */
bool world_pick(struct context *ctx, enum object kind, unsigned int slot, struct thing *thing);
bool world_find(struct world *w, enum object kind, unsigned int slot, uint32_t id,
		struct thing *thing);
/* Whether there is a live object of the kind, or with KINDS of any. */
bool world_has(struct world *w, enum object kind, unsigned int slot);
bool world_has_map(struct world *w, unsigned int slot, uint64_t offset, size_t size);
bool world_find_any(struct world *w, unsigned int slot, uint32_t id);
void world_gone(struct world *w, unsigned int slot, uint32_t id);
void world_set_state(struct world *w, unsigned int slot, uint32_t id, uint8_t state);

/* A range of the arena. */
uint64_t world_memory(struct context *ctx, uint64_t length, uint64_t align);
/* Puts a DMA-buf in the place of another. */
void world_set_buffer(struct context *ctx, unsigned int i, struct buffer buffer);
/* A DMA-buf or -1. */
struct buffer world_buffer(struct context *ctx);
/* A window or -1, and it is no longer known. */
int world_take_window(struct world *w);
int world_event_fd(struct context *ctx);
/* A descriptor that is of any kind, or of none. */
int world_odd_fd(struct context *ctx);

/* Copies to an address that may not be there, in units of width; false if it is not. */
bool world_store(uint64_t addr, const void *data, size_t length, unsigned int width);
bool world_load(uint64_t addr);

/* Closes a descriptor that nobody else has; -1 is none. */
void world_close(struct context *ctx, int fd);

#endif /* WORLD_H */
