// SPDX-License-Identifier: GPL-2.0
/* Who may reach what: grants, rights, edges of windows, partitions. It takes four dies. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "g2g-test.h"
#include "xpu.h"

#define LENGTH	0x2347ULL	/* what is aligned and goes beyond does so by a byte */
#define VRAM	0x3000ULL	/* of the accelerator that are looked at */
#define READ	KIWI_ACCESS_REMOTE_READ
#define WRITE	KIWI_ACCESS_REMOTE_WRITE
#define ATOMIC	KIWI_ACCESS_REMOTE_ATOMIC
#define TO(die)	(1ULL << (die)->index)

static uint8_t image[VRAM];	/* what the exporter's memory is to hold */

static void fill(const struct export *e)
{
	unsigned int n;

	for (n = 0; n < VRAM; n++)
		image[n] = n % 251;
	if (xpu_write(e->die->xpu, e->buf, 0, image, VRAM))
		fail("xpu%u: its memory cannot be written", e->die->index);
}

static bool as_expected(void *arg)
{
	const struct export *e = arg;
	static uint8_t found[VRAM];

	if (xpu_read(e->die->xpu, found, e->buf, 0, VRAM))
		fail("xpu%u: its memory cannot be read", e->die->index);
	return !memcmp(found, image, VRAM);
}

static void expect_memory(struct export *e, const char *what)
{
	if (!as_expected(e))
		fail("%s: memory of the exporter is not as expected", what);
}

/* Comes by way of the driver, a moment after the access. */
static void expect_log(const struct import *i, uint64_t after, enum kiwi_g2g_log_kind kind,
		       enum kiwi_g2g_status status, uint64_t offset)
{
	struct kiwi_g2g_log_record r = { };
	uint64_t end = now_us() + 10000000;

	while (!die_log(i->die, after, i->number, &r, 1)) {
		if (now_us() > end)
			fail("no report of an access to %#llx", (unsigned long long)offset);
		usleep(1000);
	}
	if (r.kind != kind || r.status != status || r.addr != offset)
		fail("report of kind %u, status %u, %#llx, not %u, %u, %#llx", r.kind, r.status,
		     (unsigned long long)r.addr, kind, status, (unsigned long long)offset);
}

static void expect_refused(const struct die *die, const struct export *e, uint32_t rights,
			   const char *what)
{
	struct import i;
	uint32_t reason;

	if (import_try(&i, die, e, rights, &reason) != KIWI_G2G_WINDOW_DEAD ||
	    reason != KIWI_G2G_WHY_NO_ACCESS)
		fail("%s: the import was not refused for want of access", what);
	import_destroy(&i);
}

static void wrong_grants(struct fabric *f)
{
	const struct die *owner = &f->dies[0], *friend = &f->dies[1], *stranger = &f->dies[2];
	long long before = die_counter(owner, "refused_bind");
	struct export e, bad;

	if (export_try(&e, owner, LENGTH, ALL, TO(owner)) != -EINVAL)
		fail("an export to the own die");
	if (export_try(&e, owner, LENGTH, 0, TO(friend)) != -EINVAL)
		fail("an export without rights");
	export_make(&e, owner, LENGTH, READ, TO(friend));
	expect_refused(stranger, &e, READ, "no grant");
	expect_refused(friend, &e, WRITE, "no right to write");
	expect_refused(friend, &e, READ | ATOMIC, "no right to atomics");
	bad = e;
	bad.handle[7] ^= 1;
	expect_refused(friend, &bad, READ, "a wrong handle");
	if (die_counter(owner, "refused_bind") != before + 4)
		fail("the exporter has not counted four refusals");
	export_destroy(&e);
}

/* Each right allows one kind of access, and the others leave no trace but in the log. */
static void one_right(struct fabric *f, uint32_t right)
{
	const struct die *owner = &f->dies[0], *user = &f->dies[1];
	uint64_t log, value, before;
	struct export e;
	struct import i;

	export_make(&e, owner, LENGTH, ALL, TO(user));
	fill(&e);
	import_make(&i, user, &e, right);
	import_map(&i, 0, LENGTH, 0);
	if (!i.cells != (right != ATOMIC))
		fail("right %#x: an atomic page, or none", right);

	log = die_log_end(user);
	value = *(volatile uint64_t *)(i.at + 8);
	if (right == READ && memcmp(&value, image + 8, 8))
		fail("a load that is allowed");
	if (right != READ) {
		if (value != ONES)
			fail("right %#x: a load has got %#llx", right, (unsigned long long)value);
		expect_log(&i, log, KIWI_G2G_LOG_LOAD, KIWI_G2G_ST_PROTECTION, 8);
	}

	log = die_log_end(user);
	value = 0x1122334455667788;
	*(volatile uint64_t *)(i.at + 16) = value;
	if (right == WRITE) {
		memcpy(image + 16, &value, 8);
		/* No load may prove that it has arrived. */
		wait_until(as_expected, &e, "a store is to arrive");
	} else {
		expect_log(&i, log, KIWI_G2G_LOG_STORE, KIWI_G2G_ST_PROTECTION, 16);
	}

	if (i.cells) {
		memcpy(&value, image + 24, 8);
		if (atomic_run(&i, 63, KIWI_G2G_SWAP, 24, 42, 0, &before) || before != value)
			fail("an atomic that is allowed");
		value = 42;
		memcpy(image + 24, &value, 8);
	}
	expect_memory(&e, "rights");
	import_destroy(&i);
	export_destroy(&e);
}

void grants(struct fabric *f, char **argv)
{
	(void)argv;
	wrong_grants(f);
	one_right(f, READ);
	one_right(f, WRITE);
	one_right(f, ATOMIC);
}

/* Edges ----------------------------------------------------------------------------- */

static uint64_t load(const struct import *i, uint64_t offset, unsigned int size)
{
	const volatile uint8_t *at = i->at + offset;

	switch (size) {
	case 1:
		return *at;
	case 2:
		return *(const volatile uint16_t *)at;
	case 4:
		return *(const volatile uint32_t *)at;
	default:
		return *(const volatile uint64_t *)at;
	}
}

static void store(const struct import *i, uint64_t offset, unsigned int size, uint64_t value)
{
	volatile uint8_t *at = i->at + offset;

	switch (size) {
	case 1:
		*at = value;
		break;
	case 2:
		*(volatile uint16_t *)at = value;
		break;
	case 4:
		*(volatile uint32_t *)at = value;
		break;
	default:
		*(volatile uint64_t *)at = value;
	}
}

/*
 * The last access of each size within the window, and the first that reaches beyond. Both are
 * aligned: an emulated processor makes others of what is not.
 */
static void at_end(struct export *e, const struct import *i, uint64_t first, uint64_t length)
{
	uint64_t mask, expected, offset, beyond, log;
	unsigned int size;

	for (size = 1; size <= 8; size *= 2) {
		mask = ONES >> (64 - 8 * size);
		offset = length / size * size - size;
		beyond = offset + size;
		expected = 0;
		memcpy(&expected, image + first + offset, size);
		if (load(i, offset, size) != expected)
			fail("%u bytes at the end are wrong", size);
		expected = 0x0123456789abcdef * size & mask;
		store(i, offset, size, expected);
		memcpy(image + first + offset, &expected, size);
		if (load(i, offset, size) != expected)
			fail("%u bytes at the end are not stored", size);

		log = die_log_end(i->die);
		if (load(i, beyond, size) != mask)
			fail("%u bytes, not all within the window, can be loaded", size);
		expect_log(i, log, KIWI_G2G_LOG_LOAD, KIWI_G2G_ST_DECODE_ERROR, beyond);
		log = die_log_end(i->die);
		store(i, beyond, size, ~expected);
		expect_log(i, log, KIWI_G2G_LOG_STORE, KIWI_G2G_ST_DECODE_ERROR, beyond);
		expect_memory(e, "a store beyond the end");
	}
}

static void expect_atomic(const struct import *i, uint64_t offset, enum kiwi_g2g_status status)
{
	uint64_t before, found;

	found = atomic_run(i, 0, KIWI_G2G_FETCH_ADD, offset, 0, 0, &before);
	if (found != status || (status && before != ONES))
		fail("an atomic at %#llx: status %llu", (unsigned long long)offset,
		     (unsigned long long)found);
}

static void window_edges(struct fabric *f, uint64_t first, uint64_t length)
{
	const struct die *owner = &f->dies[0], *user = &f->dies[1];
	struct export e;
	struct import i;

	export_make(&e, owner, LENGTH, ALL, TO(user));
	fill(&e);
	import_make(&i, user, &e, ALL);
	import_map(&i, first, length, 0);
	at_end(&e, &i, first, length);
	expect_atomic(&i, length / 8 * 8 - 8, KIWI_G2G_ST_OK);
	expect_atomic(&i, (length + 7) / 8 * 8, KIWI_G2G_ST_DECODE_ERROR);
	expect_atomic(&i, 4, KIWI_G2G_ST_DECODE_ERROR);
	if (length % 8)
		expect_atomic(&i, length / 8 * 8, KIWI_G2G_ST_DECODE_ERROR);
	expect_memory(&e, "atomics beyond the end");
	import_destroy(&i);
	export_destroy(&e);
}

static void bad_maps(struct fabric *f)
{
	static const struct { uint64_t offset, length; } bad[] = {
		{ 0, 0 }, { 0, LENGTH + 1 }, { 0x1000, LENGTH - 0xfff }, { 0x3000, 1 },
		{ 1, 16 }, { 0x800, 16 }, { 0, ONES }, { ONES & ~0xfffULL, 0x2000 },
	};
	const struct die *owner = &f->dies[0], *user = &f->dies[1];
	struct kiwi_g2g_import_map m;
	struct die thief;
	struct export e;
	struct import i;
	unsigned int n;

	export_make(&e, owner, LENGTH, ALL, TO(user));
	import_make(&i, user, &e, ALL);
	for (n = 0; n < sizeof(bad) / sizeof(bad[0]); n++) {
		m = (struct kiwi_g2g_import_map) {
			.import_id = i.id,
			.export_offset = bad[n].offset,
			.length = bad[n].length,
		};
		if (TRY(user, IMPORT_MAP, &m) != -EINVAL)
			fail("%#llx bytes at %#llx can be mapped",
			     (unsigned long long)bad[n].length,
			     (unsigned long long)bad[n].offset);
	}
	m = (struct kiwi_g2g_import_map) { .import_id = i.id, .length = LENGTH };
	MUST(user, IMPORT_MAP, &m);
	n = m.map_size;
	die_open(&thief, user->index);
	if (mmap(NULL, n, PROT_READ, MAP_SHARED, thief.fd, m.map_offset) != MAP_FAILED)
		fail("an import can be mapped by another file");
	if (mmap(NULL, n, PROT_READ, MAP_PRIVATE, user->fd, m.map_offset) != MAP_FAILED)
		fail("an import can be mapped private");
	die_close(&thief);
	if (TRY(user, IMPORT_MAP, &m) != -EINVAL)
		fail("an import can be mapped twice");
	import_destroy(&i);
	export_destroy(&e);
}

void edges(struct fabric *f, char **argv)
{
	(void)argv;
	window_edges(f, 0, LENGTH);
	window_edges(f, 0x1000, LENGTH - 0x1000);
	window_edges(f, 0x1000, 0x1000);	/* the export goes on */
	window_edges(f, 0x1000, 0x1007);
	bad_maps(f);
}

/* Partitions ------------------------------------------------------------------------- */

static bool mismatch(void *arg)
{
	struct fabric *f = arg;
	const unsigned int odd = f->nr_dies - 1;
	unsigned int n, m;

	for (n = 0; n < f->nr_dies; n++) {
		for (m = 0; m < f->nr_dies; m++) {
			struct kiwi_g2g_peer_query q;

			if (n == m)
				continue;
			q = peer_query(&f->dies[n], m);
			if (n != odd && m != odd && q.state != KIWI_G2G_PEER_ESTABLISHED)
				return false;
			if ((n == odd || m == odd) && (q.state != KIWI_G2G_PEER_MISMATCH ||
						       q.reason != KIWI_G2G_WHY_PARTITION))
				return false;
		}
	}
	return true;
}

/* A die of another partition reaches nothing, and is reached by nobody. */
void partition(struct fabric *f, char **argv)
{
	const struct die *odd = &f->dies[f->nr_dies - 1], *other = &f->dies[0];
	struct export e, of_odd;
	struct import i;
	uint32_t reason;

	(void)argv;
	fabric_configure(f, odd->index, 6);
	wait_until(mismatch, f, "a die of another partition is to be refused");
	export_make(&e, other, LENGTH, ALL, TO(odd));
	export_make(&of_odd, odd, LENGTH, ALL, TO(other));
	if (import_try(&i, odd, &e, READ, &reason) != -EINVAL ||
	    import_try(&i, other, &of_odd, READ, &reason) != -EINVAL)
		fail("an import from another partition was not refused");
	export_destroy(&e);
	export_destroy(&of_odd);
	fabric_up(f);
}
