/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The fuzzer of the ioctl interface. A sequence is a list of steps, each a kind and a
 * seed; all that a step does follows from its seed and from what earlier steps of the
 * sequence made. A sequence begins with a world in which there are files but no objects.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kiwi/snic.h>

#include "random.h"

struct cover;
struct world;

/**
 * struct context - one thread in the middle of a sequence
 * @world: what it works on
 * @rng: of the step
 * @kind: of the step, for the statistics
 * @valid: the step tries to succeed
 * @racing: another thread works on the same world, so that little is certain
 * @argument: ARGUMENT_ROOM bytes that can be written, then a page that is not there
 * @cover: of the thread, NULL without KCOV
 */
struct context {
	struct world *world;
	struct rng rng;
	unsigned int kind;
	bool valid;
	bool racing;
	unsigned char *argument;
	struct cover *cover;
};

#define PAGE		4096UL
#define ARGUMENT_ROOM	(2 * PAGE)

/* What the devices are, found out at the start. */
#define PORTS_MAX	8

struct target {
	struct kiwi_snic_query_device caps;
	struct kiwi_snic_query_port port[PORTS_MAX];
	struct kiwi_snic_gid gid[PORTS_MAX];
};

extern struct target target;

/* Counts a system call and its result, 0 or more, or a negative errno. */
void call_done(struct context *ctx, long ret);

/* The driver did what it must not do: the run ends. */
__attribute__((format(printf, 2, 3)))
void fault(struct context *ctx, const char *format, ...);

#endif /* FUZZ_H */
