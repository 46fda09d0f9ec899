// SPDX-License-Identifier: GPL-2.0
/*
 * Every pair of dies with accelerators: one exports memory of its accelerator, the other stores,
 * loads and adds there, and the accelerator's own engine says what is in its memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "g2g-test.h"
#include "xpu.h"

#define LENGTH	0x21000		/* some granules, and a part of one */
#define SKIPPED	0x1000		/* bytes of the export that are not mapped */
#define WIDE	24		/* of 16 bytes, each way */
#define ROUND	8		/* atomics of each kind */

typedef uint64_t wide __attribute__((vector_size(16)));

struct pair {
	const struct die *from, *to;
	struct export export;
	struct import import;
	uint8_t *expected;	/* what the exporter's memory is to hold */
	uint64_t seed;
	unsigned int loads, stores, atomics;
};

static uint64_t draw(struct pair *p)
{
	p->seed ^= p->seed << 13;
	p->seed ^= p->seed >> 7;
	p->seed ^= p->seed << 17;
	return p->seed;
}

/* In the window, aligned to the size of an access. */
static uint64_t place(struct pair *p, unsigned int n, unsigned int size)
{
	const uint64_t length = LENGTH - SKIPPED;

	if (!n)
		return 0;
	return n == 1 ? length - size : draw(p) % (length / size) * size;
}

static void check(struct pair *p, bool right, const char *what, uint64_t offset)
{
	if (!right)
		fail("from %u to %u: %s at %#llx is wrong", p->from->index, p->to->index, what,
		     (unsigned long long)offset);
}

static void store(struct pair *p, uint64_t offset, unsigned int size)
{
	volatile uint8_t *at = p->import.at + offset;
	uint8_t *expected = p->expected + SKIPPED + offset;
	wide w = { draw(p), draw(p) };

	switch (size) {
	case 1:
		*at = w[0];
		break;
	case 2:
		*(volatile uint16_t *)at = w[0];
		break;
	case 4:
		*(volatile uint32_t *)at = w[0];
		break;
	case 8:
		*(volatile uint64_t *)at = w[0];
		break;
	default:
		*(volatile wide *)at = w;
	}
	memcpy(expected, &w, size);
	p->stores++;
}

static void load(struct pair *p, uint64_t offset, unsigned int size)
{
	const volatile uint8_t *at = p->import.at + offset;
	wide w = { };

	switch (size) {
	case 1:
		w[0] = *at;
		break;
	case 2:
		w[0] = *(const volatile uint16_t *)at;
		break;
	case 4:
		w[0] = *(const volatile uint32_t *)at;
		break;
	case 8:
		w[0] = *(const volatile uint64_t *)at;
		break;
	default:
		w = *(const volatile wide *)at;
	}
	check(p, !memcmp(p->expected + SKIPPED + offset, &w, size),
	      w[0] == ONES ? "a load, all-ones," : "a load", offset);
	p->loads++;
}

static void atomic(struct pair *p, unsigned int n, enum kiwi_g2g_atomic op, uint64_t compare)
{
	uint64_t offset = place(p, n, 8), operand = draw(p), before, held, status;
	uint8_t *expected = p->expected + SKIPPED + offset;

	memcpy(&held, expected, 8);
	if (op == KIWI_G2G_CMP_SWAP && compare)
		compare = held;
	status = atomic_run(&p->import, n % KIWI_G2G_CELLS, op, offset, operand, compare, &before);
	if (status != KIWI_G2G_ST_OK)
		fail("from %u to %u: status %llu of an atomic at %#llx", p->from->index,
		     p->to->index, (unsigned long long)status, (unsigned long long)offset);
	check(p, before == held, "what an atomic found", offset);
	if (op == KIWI_G2G_FETCH_ADD)
		operand += held;
	if (op != KIWI_G2G_CMP_SWAP || compare == held)
		memcpy(expected, &operand, 8);
	p->atomics++;
}

/* What the engine of the accelerator finds in its memory. */
static void verify(struct pair *p, const char *what)
{
	static uint8_t found[LENGTH];
	uint64_t n;
	int ret;

	ret = xpu_read(p->from->xpu, found, p->export.buf, 0, LENGTH);
	if (ret)
		fail("xpu%u: its memory cannot be read: %s", p->from->index, strerror(-ret));
	for (n = 0; n < LENGTH; n++)
		check(p, found[n] == p->expected[n], what, n);
}

static void make(struct pair *p)
{
	unsigned int n;
	int ret;

	export_make(&p->export, p->from, LENGTH, ALL, 1ULL << p->to->index);
	for (n = 0; n < LENGTH / 8; n++)
		((uint64_t *)p->expected)[n] = draw(p);
	ret = xpu_write(p->from->xpu, p->export.buf, 0, p->expected, LENGTH);
	if (ret)
		fail("xpu%u: its memory cannot be written: %s", p->from->index, strerror(-ret));
	import_make(&p->import, p->to, &p->export, ALL);
	import_map(&p->import, SKIPPED, LENGTH - SKIPPED,
		   p->from->index & 1 ? KIWI_G2G_IMPORT_WC : 0);
	if (!p->import.cells)
		fail("g2g%u: no atomic page", p->to->index);
}

static uint8_t path_of(const struct export *e)
{
	struct kiwi_g2g_export_query q = { .export_id = e->id };

	MUST(e->die, EXPORT_QUERY, &q);
	if (q.bindings != 1)
		fail("g2g%u: %u bindings", e->die->index, q.bindings);
	return q.path;
}

static void work(struct pair *p)
{
	static const unsigned int sizes[] = { 1, 2, 4, 8, 16, 16 };
	const unsigned int nr_sizes = sizeof(sizes) / sizeof(sizes[0]);
	unsigned int n;

	for (n = 0; n < WIDE; n++)
		load(p, place(p, n, sizes[n % nr_sizes]), sizes[n % nr_sizes]);
	for (n = 0; n < WIDE; n++) {
		unsigned int size = sizes[n % nr_sizes];
		uint64_t offset = place(p, n, size);

		store(p, offset, size);
		load(p, offset, size);
	}
	verify(p, "a store");
	for (n = 0; n < ROUND; n++) {
		atomic(p, n, KIWI_G2G_FETCH_ADD, 0);
		atomic(p, n, KIWI_G2G_SWAP, 0);
		atomic(p, n, KIWI_G2G_CMP_SWAP, n & 1);
	}
	verify(p, "what an atomic left");
}

static void run(const struct die *from, const struct die *to, bool last)
{
	struct pair p = {
		.from = from,
		.to = to,
		.expected = malloc(LENGTH),
		.seed = 0x4b57 + (from->index << 8 | to->index),
	};
	uint8_t path;

	if (!p.expected)
		fail("no memory");
	make(&p);
	path = path_of(&p.export);
	work(&p);
	import_destroy(&p.import);
	export_destroy(&p.export);
	printf("  { \"from\": %u, \"to\": %u, \"path\": %u, \"loads\": %u, \"stores\": %u, \"atomics\": %u }%s\n",
	       from->index, to->index, path, p.loads, p.stores, p.atomics, last ? "" : ",");
	free(p.expected);
}

void pairs(struct fabric *f, char **argv)
{
	unsigned int from, to, count = 0;

	(void)argv;
	while (count < f->nr_dies && f->dies[count].xpu >= 0)
		count++;
	printf("[\n");
	for (from = 0; from < count; from++) {
		for (to = 0; to < count; to++) {
			if (from != to)
				run(&f->dies[from], &f->dies[to],
				    from == count - 1 && to == count - 2);
		}
	}
	printf("]\n");
}
