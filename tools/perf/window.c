// SPDX-License-Identifier: GPL-2.0
/*
 * G2G IO dies: the processor stores to memory of the peer and loads from it, through the window
 * of an import. Both dies are of this host.
 */
#include "../common/say.h"
#include "../mem/mem.h"
#include "g2g.h"
#include "pattern.h"
#include "ticks.h"
#include "way.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct window {
	const struct options *o;
	struct kiwi_g2g *local, *peer;
	struct mem mem;			/* of the peer */
	struct kiwi_export *exp;
	struct kiwi_import *imp;
	char *buffer;			/* of this process, laid out like the peer's memory */
	struct layout layout;
	uint64_t *words;		/* verified atomics: what each slot holds */
	uint64_t *before;		/* and what the atomics of a round returned */
	uint64_t *ticks;		/* latency of each iteration */
};

/* Setting up -------------------------------------------------------------------------- */

static bool failed(void)
{
	complain("%s", kiwi_error());
	return false;
}

static uint32_t rights_for(enum op op)
{
	/* To write is to load, too: that proves that all stores are done. */
	return is_atomic(op) ? KIWI_ACCESS_REMOTE_READ | KIWI_ACCESS_REMOTE_ATOMIC :
	       op == OP_WRITE ? KIWI_ACCESS_REMOTE_READ | KIWI_ACCESS_REMOTE_WRITE :
	       KIWI_ACCESS_REMOTE_READ;
}

static bool open_memory(struct window *w, uint16_t mine)
{
	struct kiwi_export_config config = {
		.rights = rights_for(w->o->work.op),
		.length = w->o->work.bytes,
		.grantees = &mine,
		.nr_grantees = 1,
	};

	if (!mem_alloc(&w->mem, w->o->peer.mem, w->o->work.bytes))
		return false;
	if (w->mem.dmabuf < 0) {
		complain("memory '%s' is no DMA-buf, which an export needs", w->o->peer.mem);
		return false;
	}
	config.fd = w->mem.dmabuf;
	if (kiwi_export_create(w->peer, &config, &w->exp))
		return failed();
	w->buffer = kiwi_memory_alloc(w->o->work.bytes);
	if (!w->buffer)
		complain("no memory for %" PRIu64 " bytes", w->o->work.bytes);
	return w->buffer;
}

static bool set_up(struct window *w)
{
	struct kiwi_g2g_fabric_query mine, other;

	if (!g2g_open(w->o->local.device, &w->local, &mine) ||
	    !g2g_open(w->o->peer.device, &w->peer, &other) ||
	    !g2g_meet(w->local, other.accel) || !open_memory(w, mine.accel))
		return false;
	if (kiwi_import_bind(w->local, other.accel, w->exp->handle, rights_for(w->o->work.op), 0,
			     &w->imp) ||
	    kiwi_import_wait(w->imp) || kiwi_import_map(w->imp, 0, 0, w->o->work.bytes))
		return failed();
	return true;
}

/* Messages ---------------------------------------------------------------------------- */

static uint64_t offset_of(const struct window *w, uint64_t iteration)
{
	return iteration % w->layout.slots * w->layout.stride;
}

static void store(const struct window *w, uint64_t iteration)
{
	const char *from = w->buffer + offset_of(w, iteration);
	volatile char *to = (volatile char *)w->imp->addr + offset_of(w, iteration);
	uint64_t i;

	for (i = 0; i + 8 <= w->layout.size; i += 8)
		*(volatile uint64_t *)(to + i) = *(const uint64_t *)(from + i);
	for (; i < w->layout.size; i++)
		to[i] = from[i];
}

static void load(const struct window *w, uint64_t iteration)
{
	volatile const char *from = (volatile const char *)w->imp->addr + offset_of(w, iteration);
	char *to = w->buffer + offset_of(w, iteration);
	uint64_t i;

	for (i = 0; i + 8 <= w->layout.size; i += 8)
		*(uint64_t *)(to + i) = *(volatile const uint64_t *)(from + i);
	for (; i < w->layout.size; i++)
		to[i] = from[i];
}

/* Waits until all stores before are done. */
static void settle(const struct window *w)
{
	(void)*(volatile const uint8_t *)w->imp->addr;
}

static bool atomic(const struct window *w, uint64_t iteration)
{
	uint64_t slot = iteration % w->layout.slots, before;
	struct atomic_step s = atomic_step(w->o->work.op, iteration, w->words ? w->words[slot] : 0);

	if (kiwi_import_atomic(w->imp, 0, w->o->work.op == OP_CMP_SWAP ? KIWI_G2G_CMP_SWAP :
			       KIWI_G2G_FETCH_ADD, offset_of(w, iteration), s.swap_add, s.compare,
			       &before))
		return failed();
	if (w->before)
		w->before[slot] = before;
	return true;
}

static bool message(const struct window *w, uint64_t iteration)
{
	switch (w->o->work.op) {
	case OP_WRITE:
		store(w, iteration);
		return true;
	case OP_READ:
		load(w, iteration);
		return true;
	default:
		return atomic(w, iteration);
	}
}

static bool many(const struct window *w, uint64_t first, uint64_t n)
{
	uint64_t i;

	for (i = first; i < first + n; i++)
		if (!message(w, i))
			return false;
	if (w->o->work.op == OP_WRITE)
		settle(w);
	return true;
}

static bool one_by_one(const struct window *w, uint64_t first, uint64_t n)
{
	uint64_t i, start;

	for (i = first; i < first + n; i++) {
		start = ticks_now();
		if (!many(w, i, 1))
			return false;
		w->ticks[i] = ticks_now() - start;
	}
	return true;
}

/* Verification ------------------------------------------------------------------------ */

/* Where the messages of the operation come from, and where they end up. */
static char *source(const struct window *w)
{
	return w->o->work.op == OP_READ ? w->mem.cpu : w->buffer;
}

static char *target(const struct window *w)
{
	return w->o->work.op == OP_READ ? w->buffer : w->mem.cpu;
}

static void prepare_size(const struct window *w)
{
	uint32_t i;

	mem_cpu_begin(&w->mem);
	guards_fill(target(w), &w->layout);
	for (i = 0; w->words && i < w->layout.slots; i++) {
		w->words[i] = i;
		memcpy(target(w) + i * w->layout.stride, &w->words[i], 8);
	}
	mem_cpu_end(&w->mem);
}

static void prepare_round(const struct window *w, uint64_t first, uint64_t n)
{
	uint64_t i;

	if (is_atomic(w->o->work.op))
		return;
	mem_cpu_begin(&w->mem);
	for (i = first; i < first + n; i++)
		pattern_fill(source(w) + offset_of(w, i), w->layout.size, i);
	mem_cpu_end(&w->mem);
}

static bool word_is(const char *what, uint64_t iteration, uint64_t got, uint64_t want)
{
	if (got == want)
		return true;
	complain("operation %" PRIu64 " %s %016" PRIx64 ", not %016" PRIx64, iteration, what, got,
		 want);
	return false;
}

static bool atomic_is_right(const struct window *w, uint64_t iteration)
{
	uint64_t slot = iteration % w->layout.slots, left;
	struct atomic_step s = atomic_step(w->o->work.op, iteration, w->words[slot]);
	bool good = word_is("returned", iteration, w->before[slot], w->words[slot]);

	memcpy(&left, target(w) + offset_of(w, iteration), 8);
	w->words[slot] = s.next;
	return word_is("left", iteration, left, s.next) && good;
}

static uint64_t check_round(const struct window *w, uint64_t first, uint64_t n)
{
	uint64_t i, bad = 0;

	mem_cpu_begin(&w->mem);
	for (i = first; i < first + n; i++)
		bad += is_atomic(w->o->work.op) ? !atomic_is_right(w, i) :
		       !pattern_check(target(w) + offset_of(w, i), w->layout.size, i, "target");
	mem_cpu_end(&w->mem);
	return bad;
}

static uint64_t check_guards(const struct window *w)
{
	uint64_t bad;

	mem_cpu_begin(&w->mem);
	bad = guards_check(target(w), &w->layout, "target");
	mem_cpu_end(&w->mem);
	return bad;
}

/* One size ---------------------------------------------------------------------------- */

static bool run_rounds(const struct window *w, struct result *res)
{
	bool verify = w->o->work.verify;
	uint64_t first, n, ticks = 0, start_ticks;
	double start;

	for (first = 0; first < res->iterations; first += n) {
		n = res->iterations - first;
		if (verify && n > w->layout.slots)
			n = w->layout.slots;
		if (verify)
			prepare_round(w, first, n);
		start = seconds_now();
		start_ticks = ticks_now();
		if (!(w->o->latency ? one_by_one : many)(w, first, n))
			return false;
		ticks += ticks_now() - start_ticks;
		res->seconds += seconds_now() - start;
		if (verify)
			res->bad += check_round(w, first, n);
	}
	if (w->o->latency)
		ticks_latencies(res, w->ticks, ticks);
	return true;
}

/* Loads of an import that has died are all-ones, and fast. */
static bool still_mapped(const struct window *w)
{
	struct kiwi_g2g_import_query q;

	if (kiwi_import_query(w->imp, &q))
		return failed();
	if (q.state == KIWI_G2G_WINDOW_MAPPED)
		return true;
	complain("%s: the import is %s: %s", kiwi_g2g_name(w->local),
		 kiwi_g2g_import_state_text(q.state), kiwi_g2g_reason_text(q.reason));
	return false;
}

static bool alloc_for(struct window *w, uint64_t iterations)
{
	bool words = w->o->work.verify && is_atomic(w->o->work.op);

	if (words) {
		w->words = calloc(w->layout.slots, sizeof(*w->words));
		w->before = calloc(w->layout.slots, sizeof(*w->before));
	}
	if (w->o->latency)
		w->ticks = calloc(iterations, sizeof(*w->ticks));
	if ((!words || (w->words && w->before)) && (!w->o->latency || w->ticks))
		return true;
	complain("no memory for %" PRIu64 " iterations", iterations);
	return false;
}

static void free_for(struct window *w)
{
	free(w->words);
	free(w->before);
	free(w->ticks);
	w->words = NULL;
	w->before = NULL;
	w->ticks = NULL;
}

static bool run_size(struct window *w, uint64_t size, struct result *res)
{
	const char *mine = kiwi_g2g_name(w->local), *peer = kiwi_g2g_name(w->peer);
	bool verify = w->o->work.verify, good;

	*res = (struct result){ .size = size, .iterations = iterations_for(w->o, size) };
	w->layout = layout_for(&w->o->work, size, res->iterations);
	good = alloc_for(w, res->iterations);
	if (good) {
		if (verify)
			prepare_size(w);
		res->mine = counts_read(mine);
		res->peers = counts_read(peer);
		good = run_rounds(w, res) && still_mapped(w);
		res->mine = counts_minus(counts_read(mine), res->mine);
		res->peers = counts_minus(counts_read(peer), res->peers);
	}
	if (good && verify)
		res->bad += check_guards(w);
	free_for(w);
	return good;
}

/* As a way ---------------------------------------------------------------------------- */

static struct window window;

static bool window_open(const struct options *o, struct about *about)
{
	struct kiwi_g2g_export_query q;

	window = (struct window){ .o = o };
	if (!set_up(&window))
		return false;
	if (kiwi_export_query(window.exp, &q))
		return failed();
	about->device = kiwi_g2g_name(window.local);
	snprintf(about->local, sizeof(about->local), "processor, through a window");
	snprintf(about->peer, sizeof(about->peer), "%s (%s), %u x %u KiB pages",
		 kiwi_path_text(q.path), kiwi_path_reason_text(q.reason), q.pages,
		 1U << q.page_shift >> 10);
	return true;
}

static bool window_run(uint64_t size, struct result *res)
{
	return run_size(&window, size, res);
}

static void window_close(void)
{
	kiwi_g2g_close(window.local);
	kiwi_g2g_close(window.peer);
	mem_free(&window.mem);
	kiwi_memory_free(window.buffer, window.o->work.bytes);
}

const struct way window_way = {
	.open = window_open,
	.run = window_run,
	.close = window_close,
};
