// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fuzz.h"
#include "report.h"
#include "steps.h"

#define ERRNOS	134
#define KINDS_MAX	64

static struct shared {
	atomic_bool failed;
	atomic_uint result[KINDS_MAX][ERRNOS];	/* 0: success */
	atomic_ulong calls[WORKERS_MAX];
	atomic_ulong sequences;
} *shared;

unsigned int report_worker;

void report_init(void)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED || step_kinds > KINDS_MAX)
		abort();
}

void call_done(struct context *ctx, long ret)
{
	atomic_fetch_add(&shared->calls[report_worker], 1);
	atomic_fetch_add(&shared->result[ctx->kind][ret < 0 && ret > -ERRNOS ? -ret : 0], 1);
}

void report_sequence(void)
{
	atomic_fetch_add(&shared->sequences, 1);
}

void report_fail(void)
{
	shared->failed = true;
}

bool report_failed(void)
{
	return shared->failed;
}

unsigned long report_calls_of(unsigned int worker)
{
	return shared->calls[worker];
}

unsigned long report_calls(void)
{
	unsigned long sum = 0;
	unsigned int i;

	for (i = 0; i < WORKERS_MAX; i++)
		sum += shared->calls[i];
	return sum;
}

static void print_kind(unsigned int kind)
{
	unsigned long calls = 0;
	unsigned int e;

	for (e = 0; e < ERRNOS; e++)
		calls += shared->result[kind][e];
	printf("%-16s %8lu  ok %u", step_name(kind), calls, shared->result[kind][0]);
	for (e = 1; e < ERRNOS; e++) {
		if (shared->result[kind][e])
			printf("  %s %u", strerrorname_np(e), shared->result[kind][e]);
	}
	printf("\n");
}

void report_print(void)
{
	unsigned int kind;

	for (kind = 0; kind < step_kinds; kind++)
		print_kind(kind);
	printf("%lu calls in %lu sequences\n", report_calls(), shared->sequences);
}
