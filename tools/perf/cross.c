// SPDX-License-Identifier: GPL-2.0
#include "cross.h"

#include "../common/json.h"
#include "../common/say.h"
#include "../common/sysfs.h"
#include "report.h"
#include "way.h"

#include <inttypes.h>
#include <stdio.h>

#define SIZES_MAX 64

enum measure {
	TIME,		/* microseconds of one message; the others are sums of both dies */
	FRAMES,		/* with PDUs of either semantics */
	ACCESSES,	/* of the processor: loads, stores, doorbells */
	DMA,		/* transactions: payload, work requests, completions */
	MEASURES
};

static const char *const names[MEASURES] = { "us", "frames", "accesses", "dma" };

struct cost {
	double of[MEASURES];
};

struct row {
	uint64_t size, iterations, bad;
	struct cost memory, message;
};

/* Counting ---------------------------------------------------------------------------- */

static uint64_t dma(const char *die, const char *kind)
{
	return sysfs_number("%s/diag/dma_%s_system_transactions", die, kind) +
	       sysfs_number("%s/diag/dma_%s_peer_transactions", die, kind);
}

static void add_counts(struct cost *c, const char *die, double sign)
{
	const uint64_t counts[MEASURES] = {
		[FRAMES] = sysfs_number("%s/counters/memory_pdus", die) +
			   sysfs_number("%s/counters/message_pdus", die),
		[ACCESSES] = sysfs_number("%s/counters/loads", die) +
			     sysfs_number("%s/counters/stores", die) +
			     sysfs_number("%s/diag/db_accepted", die),
		[DMA] = dma(die, "payload_read") + dma(die, "payload_write") + dma(die, "wqe") +
			dma(die, "cqe") + dma(die, "cq_ci"),
	};
	unsigned int m;

	for (m = 0; m < MEASURES; m++)
		c->of[m] += sign * (double)counts[m];
}

/* One size by one way. Setting up and verifying move nothing that is counted here. */
static bool run(const struct way *way, const struct options *o, const char *const dies[2],
		struct row *row, struct cost *cost)
{
	struct result res;

	*cost = (struct cost){ 0 };
	add_counts(cost, dies[0], -1);
	add_counts(cost, dies[1], -1);
	if (!way->run(row->size, &res))
		return false;
	add_counts(cost, dies[0], 1);
	add_counts(cost, dies[1], 1);
	cost->of[TIME] = report_us(o, &res);
	row->iterations = res.iterations;
	row->bad += res.bad;
	return true;
}

/* The least size from which on messages cost less, in all that was measured; 0: none. */
static uint64_t crossover(const struct row *rows, unsigned int count, enum measure m)
{
	uint64_t size = 0;

	while (count-- && rows[count].message.of[m] < rows[count].memory.of[m])
		size = rows[count].size;
	return size;
}

/* JSON -------------------------------------------------------------------------------- */

static void json_cost(const char *key, const struct cost *c)
{
	unsigned int m;

	json_open(key, '{');
	json_real(names[TIME], c->of[TIME]);
	for (m = FRAMES; m < MEASURES; m++)
		json_number(names[m], (uint64_t)c->of[m]);
	json_close('}');
}

static void json_row(const struct options *o, const struct row *r)
{
	json_open(NULL, '{');
	report_json_work(o, r->size, r->iterations, r->bad);
	json_cost("memory", &r->memory);
	json_cost("message", &r->message);
	json_close('}');
}

static void json_begin(const struct options *o)
{
	json_open(NULL, '{');
	json_string("op", op_names[o->work.op]);
	json_string("test", o->latency ? "lat" : "bw");
	json_string("device", o->local.device);
	json_string("peer", o->peer.device);
	json_open("results", '[');
}

static void json_end(const struct row *rows, unsigned int count, bool complete)
{
	unsigned int m;

	json_close(']');
	json_open("crossover", '{');
	for (m = 0; m < MEASURES; m++) {
		uint64_t size = crossover(rows, count, m);

		if (size)
			json_number(names[m], size);
		else
			json_null(names[m]);
	}
	json_close('}');
	json_bool("complete", complete);
	json_close('}');
}

/* Text: what one message costs -------------------------------------------------------- */

static void text_begin(const struct options *o, const struct about *memory,
		       const struct about *message)
{
	const char *path = memory->peer;

	printf("%s, %s, what a message costs\n", op_names[o->work.op],
	       o->latency ? "latency" : "bandwidth");
	printf("  local     %s: %s; %s\n", o->local.device, memory->local, message->local);
	printf("  peer      %s %s: %s\n", o->peer.device, o->peer.mem, path);
	printf("%27s %45s %41s\n", "", o->work.op == OP_WRITE ?
	       "by stores, and a load behind" : "by loads", "by a message");
	printf("%8s %9s %8s", "bytes", "number", "verified");
	printf(" %12s %10s %10s %10s", "us", "frames", "accesses", "DMA");
	printf(" %10s %9s %10s %9s\n", "us", "frames", "doorbells", "DMA");
}

static void text_row(const struct options *o, const struct row *r)
{
	const double n = (double)r->iterations;

	printf("%8" PRIu64 " %9" PRIu64 " %8s", r->size, r->iterations,
	       !o->work.verify ? "-" : r->bad ? "NO" : "yes");
	printf(" %12.2f %10.2f %10.2f %10.2f", r->memory.of[TIME], r->memory.of[FRAMES] / n,
	       r->memory.of[ACCESSES] / n, r->memory.of[DMA] / n);
	printf(" %10.2f %9.2f %10.2f %9.2f\n", r->message.of[TIME], r->message.of[FRAMES] / n,
	       r->message.of[ACCESSES] / n, r->message.of[DMA] / n);
	fflush(stdout);
}

static void text_end(const struct row *rows, unsigned int count)
{
	static const char *const words[MEASURES] = {
		"time", "frames", "accesses by the processor", "DMA transactions"
	};
	unsigned int m;

	printf("Messages cost less from so many bytes on:\n");
	for (m = 0; m < MEASURES; m++) {
		uint64_t size = crossover(rows, count, m);

		if (size)
			printf("  %-26s %" PRIu64 "\n", words[m], size);
		else
			printf("  %-26s none of these sizes\n", words[m]);
	}
	printf("Time is that of this host's clock: with emulated dies, the emulator's, which says\n"
	       "nothing of silicon. The others are counted by the dies.\n");
}

/* All sizes --------------------------------------------------------------------------- */

static bool run_sizes(const struct options *o, struct row *rows, unsigned int *count)
{
	const char *const dies[] = { g2g_base(o->local.device), g2g_base(o->peer.device) };
	struct row *row = rows;
	uint64_t size;

	for (size = o->min_size; size; size = next_size(o, size), row++) {
		*row = (struct row){ .size = size };
		if (!run(&window_way, o, dies, row, &row->memory) ||
		    !run(&message_way, o, dies, row, &row->message))
			return false;
		(o->json ? json_row : text_row)(o, row);
		*count += 1;
	}
	return true;
}

static uint64_t drive(const struct options *o, struct row *rows, bool *good)
{
	unsigned int count = 0, n;
	uint64_t bad = 0;

	*good = run_sizes(o, rows, &count);
	if (o->json)
		json_end(rows, count, *good);
	else if (*good)
		text_end(rows, count);
	for (n = 0; n < count; n++)
		bad += rows[n].bad;
	return bad;
}

/* What cannot be counted would look like what costs nothing. */
static bool countable(const char *die)
{
	if (sysfs_exists("%s/diag", g2g_base(die)))
		return true;
	complain("%s has no diagnostic counters", die);
	return false;
}

int cross_drive(const struct options *o)
{
	static struct row rows[SIZES_MAX];
	struct about memory, message;
	uint64_t bad = 0;
	bool good;

	good = window_way.open(o, &memory);
	if (good) {
		good = message_way.open(o, &message) && countable(o->local.device) &&
		       countable(o->peer.device);
		if (good) {
			if (o->json)
				json_begin(o);
			else
				text_begin(o, &memory, &message);
			bad = drive(o, rows, &good);
		}
		message_way.close();
	}
	window_way.close();
	if (bad)
		complain("%" PRIu64 " messages did not verify", bad);
	return good && !bad ? 0 : EXIT_FAILED;
}
