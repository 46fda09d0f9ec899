// SPDX-License-Identifier: GPL-2.0
/*
 * Page lists. The layout is held against what the ABI asks of a page list, worked out byte
 * by byte, and against every other page size.
 */
#include <linux/io.h>
#include <linux/math64.h>

#include "../pbl_layout.h"
#include "fake.h"

#define GIB	0x40000000ULL

static const struct kiwi_fw_pbl_limits roomy = {
	.max_pages = U32_MAX,
	.page_shift_max = 40,
	.table_shift_max = 30,
};

static u64 total(const struct kiwi_fw_run *runs, unsigned int nr)
{
	u64 length = 0;

	while (nr--)
		length += runs[nr].len;
	return length;
}

static int lay_out(const struct kiwi_fw_run *runs, unsigned int nr,
		   const struct kiwi_fw_pbl_limits *limits, struct kiwi_fw_pbl_layout *layout)
{
	memset(layout, 0xee, sizeof(*layout));
	return kiwi_fw_pbl_layout(runs, nr, total(runs, nr), limits, layout);
}

/* Whether runs meet at multiples of a page size only, so that it would do. */
static bool fits(const struct kiwi_fw_run *runs, unsigned int nr, u8 shift)
{
	unsigned int n;

	for (n = 1; n < nr; n++) {
		if (!IS_ALIGNED(runs[n].addr, BIT_ULL(shift)) ||
		    !IS_ALIGNED(runs[n - 1].addr + runs[n - 1].len, BIT_ULL(shift)))
			return false;
	}
	return true;
}

static u64 pages_of(const struct kiwi_fw_run *runs, unsigned int nr, u8 shift)
{
	u64 offset = runs[0].addr % BIT_ULL(shift);

	return DIV64_U64_ROUND_UP(offset + total(runs, nr), BIT_ULL(shift));
}

/* The fewest pages, and of the sizes that need as few the smallest. */
static void expect_best(struct kunit *test, const struct kiwi_fw_run *runs, unsigned int nr,
			const struct kiwi_fw_pbl_limits *limits,
			const struct kiwi_fw_pbl_layout *layout)
{
	u64 best = U64_MAX;
	u8 shift, found = 0;

	for (shift = KIWI_PAGE_SHIFT_MIN; shift <= limits->page_shift_max; shift++) {
		if (fits(runs, nr, shift) && pages_of(runs, nr, shift) < best) {
			best = pages_of(runs, nr, shift);
			found = shift;
		}
	}
	KUNIT_EXPECT_EQ(test, layout->page_shift, found);
	KUNIT_EXPECT_EQ(test, layout->count, best);
	KUNIT_EXPECT_EQ(test, layout->offset, runs[0].addr % BIT_ULL(found));
}

/* The address of a byte of the memory, by its runs. */
static u64 address_of(const struct kiwi_fw_run *runs, u64 byte)
{
	for (; byte >= runs->len; runs++)
		byte -= runs->len;
	return runs->addr + byte;
}

static void expect_byte(struct kunit *test, const struct kiwi_fw_run *runs,
			const struct kiwi_fw_pbl_layout *layout, const __le64 *entries, u64 byte)
{
	u64 at = layout->offset + byte;
	u64 page = le64_to_cpu(entries[at >> layout->page_shift]);

	KUNIT_EXPECT_TRUE(test, IS_ALIGNED(page, BIT_ULL(layout->page_shift)));
	KUNIT_EXPECT_EQ(test, page + (at & (BIT_ULL(layout->page_shift) - 1)),
			address_of(runs, byte));
}

/* The first and last byte of each run, and of each 4 KiB, are found through the list. */
static void expect_covers(struct kunit *test, const struct kiwi_fw_run *runs, unsigned int nr,
			  const struct kiwi_fw_pbl_layout *layout, const __le64 *entries)
{
	u64 length = total(runs, nr), at = 0, step = max(4096ULL, length / 512);
	unsigned int n;

	for (n = 0; n < nr; at += runs[n++].len) {
		expect_byte(test, runs, layout, entries, at);
		expect_byte(test, runs, layout, entries, at + runs[n].len - 1);
	}
	for (at = 0; at < length; at += step)
		expect_byte(test, runs, layout, entries, at);
}

static void check(struct kunit *test, const struct kiwi_fw_run *runs, unsigned int nr,
		  const struct kiwi_fw_pbl_limits *limits)
{
	struct kiwi_fw_pbl_cursor cursor;
	struct kiwi_fw_pbl_layout layout;
	__le64 *entries;

	KUNIT_ASSERT_EQ(test, lay_out(runs, nr, limits, &layout), 0);
	expect_best(test, runs, nr, limits, &layout);
	KUNIT_ASSERT_LE(test, layout.count, 100000ULL);
	entries = kvcalloc(layout.count, sizeof(*entries), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, entries);
	kiwi_fw_pbl_first(&cursor, runs, &layout);
	kiwi_fw_pbl_fill(&cursor, &layout, entries, layout.count);
	expect_covers(test, runs, nr, &layout, entries);
	kvfree(entries);
}

static void pbl_one_page(struct kunit *test)
{
	const struct kiwi_fw_run run = { 0x10000, 4096 };
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out(&run, 1, &roomy, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.count, 1);
	KUNIT_EXPECT_EQ(test, layout.page_shift, 12);
	KUNIT_EXPECT_EQ(test, layout.offset, 0);
	KUNIT_EXPECT_EQ(test, layout.levels, 0);
	KUNIT_EXPECT_EQ(test, layout.table_shift, 0);
}

static void pbl_one_byte(struct kunit *test)
{
	const struct kiwi_fw_run run = { 0x12fff, 1 };
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out(&run, 1, &roomy, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.count, 1);
	KUNIT_EXPECT_EQ(test, layout.page_shift, 12);
	KUNIT_EXPECT_EQ(test, layout.offset, 0xfff);
}

/* 2 bytes over a boundary of 8 KiB: one page of 16 KiB is better than two of 4 KiB. */
static void pbl_across_a_boundary(struct kunit *test)
{
	const struct kiwi_fw_run run = { 0x11fff, 2 };
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out(&run, 1, &roomy, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.count, 1);
	KUNIT_EXPECT_EQ(test, layout.page_shift, 14);
	KUNIT_EXPECT_EQ(test, layout.offset, 0x1fff);
}

static void pbl_every_alignment(struct kunit *test)
{
	struct kiwi_fw_run run = { .len = 3 * 4096 + 5 };
	unsigned int shift;

	for (shift = 0; shift <= 41; shift++) {
		run.addr = 5 * BIT_ULL(shift);
		check(test, &run, 1, &roomy);
	}
}

static void pbl_every_size_class(struct kunit *test)
{
	struct kiwi_fw_run run = { .addr = 7 * GIB };
	unsigned int shift;
	int delta;

	for (shift = 1; shift <= 35; shift++) {
		for (delta = -1; delta <= 1; delta++) {
			run.len = BIT_ULL(shift) + delta;
			check(test, &run, 1, &roomy);
		}
	}
}

static void pbl_offset_and_size(struct kunit *test)
{
	static const u64 offsets[] = { 1, 63, 4095, 4096, 4097, 65535, SZ_2M - 1, SZ_2M + 4096 };
	struct kiwi_fw_run run;
	unsigned int n, m;

	for (n = 0; n < ARRAY_SIZE(offsets); n++) {
		for (m = 0; m < ARRAY_SIZE(offsets); m++) {
			run.addr = 4 * GIB + offsets[n];
			run.len = offsets[m];
			check(test, &run, 1, &roomy);
		}
	}
}

static void pbl_runs_of_one_size(struct kunit *test)
{
	struct kiwi_fw_run runs[16];
	unsigned int shift, n;

	for (shift = 12; shift <= 30; shift++) {
		for (n = 0; n < ARRAY_SIZE(runs); n++)
			runs[n] = (struct kiwi_fw_run) {
				.addr = (n * 5 % 16 * 2 + 1) * BIT_ULL(shift),
				.len = BIT_ULL(shift),
			};
		check(test, runs, ARRAY_SIZE(runs), &roomy);
	}
}

/* The first run may begin, and the last end, anywhere. */
static void pbl_ragged_ends(struct kunit *test)
{
	const struct kiwi_fw_run runs[] = {
		{ 0x1200f10, 0x1ff0f0 },
		{ 0x3000000, 0x200000 },
		{ 0x8000000, 0x123 },
	};

	check(test, runs, ARRAY_SIZE(runs), &roomy);
}

static void pbl_mixed_runs(struct kunit *test)
{
	const struct kiwi_fw_run runs[] = {
		{ 0x20000000, 0x200000 }, { 0x40010000, 0x10000 }, { 0x30000000, 0x8000 },
		{ 0x50004000, 0x4000 }, { 0x60000000, 0x100000 },
	};
	struct kiwi_fw_pbl_layout layout;

	check(test, runs, ARRAY_SIZE(runs), &roomy);
	KUNIT_ASSERT_EQ(test, lay_out(runs, ARRAY_SIZE(runs), &roomy, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.page_shift, 14);
}

/* Neither the start of a run nor the end of the one before may be off the page. */
static void pbl_end_decides_the_page(struct kunit *test)
{
	const struct kiwi_fw_run runs[] = { { 0x200000, 0x1000 }, { 0x400000, 0x200000 } };
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out(runs, 2, &roomy, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.page_shift, 12);
}

static void pbl_start_decides_the_page(struct kunit *test)
{
	const struct kiwi_fw_run runs[] = { { 0x200000, 0x200000 }, { 0x601000, 0x1000 } };
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out(runs, 2, &roomy, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.page_shift, 12);
}

static void pbl_page_size_is_limited(struct kunit *test)
{
	struct kiwi_fw_pbl_limits limits = roomy;
	const struct kiwi_fw_run run = { 0x40000000, GIB };
	struct kiwi_fw_pbl_layout layout;
	u8 shift;

	for (shift = 16; shift <= 31; shift++) {
		limits.page_shift_max = shift;
		check(test, &run, 1, &limits);
		KUNIT_ASSERT_EQ(test, lay_out(&run, 1, &limits, &layout), 0);
		KUNIT_EXPECT_EQ(test, layout.page_shift, min(shift, 30));
	}
}

static void pbl_smaller_page_where_as_few_do(struct kunit *test)
{
	const struct kiwi_fw_run run = { 32 * GIB, 4096 };
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out(&run, 1, &roomy, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.page_shift, 12);
}

static void pbl_runs_off_the_page(struct kunit *test)
{
	const struct kiwi_fw_run begins[] = { { 0x10000, 0x1000 }, { 0x20800, 0x800 } };
	const struct kiwi_fw_run ends[] = { { 0x10000, 0x800 }, { 0x20000, 0x1000 } };
	struct kiwi_fw_pbl_layout layout;

	KUNIT_EXPECT_EQ(test, lay_out(begins, 2, &roomy, &layout), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, lay_out(ends, 2, &roomy, &layout), -EOPNOTSUPP);
}

/* A device may allow more than anybody can use. */
static void pbl_limits_beyond_use(struct kunit *test)
{
	const struct kiwi_fw_pbl_limits limits = {
		.max_pages = U32_MAX,
		.page_shift_max = 63,
		.table_shift_max = 63,
	};
	const struct kiwi_fw_run run = { 0x8000000000000000ULL, 0x4000000000000000ULL };
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out(&run, 1, &limits, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.count, 1);
	KUNIT_EXPECT_EQ(test, layout.page_shift, 62);
	KUNIT_EXPECT_EQ(test, kiwi_fw_pbl_max_pages(&limits), U32_MAX);
}

static void pbl_tables_limit_the_pages(struct kunit *test)
{
	struct kiwi_fw_pbl_limits limits = { .max_pages = U32_MAX, .table_shift_max = 12 };

	KUNIT_EXPECT_EQ(test, kiwi_fw_pbl_max_pages(&limits), 512 * 512);
	limits.table_shift_max = 13;
	KUNIT_EXPECT_EQ(test, kiwi_fw_pbl_max_pages(&limits), 1024 * 1024);
	limits.max_pages = 99;
	KUNIT_EXPECT_EQ(test, kiwi_fw_pbl_max_pages(&limits), 99);
}

/* 4 KiB pages alone, so that the count is the length in pages. */
static int lay_out_pages(u64 pages, u32 max_pages, u8 table_shift_max,
			 struct kiwi_fw_pbl_layout *layout)
{
	const struct kiwi_fw_pbl_limits limits = {
		.max_pages = max_pages,
		.page_shift_max = 12,
		.table_shift_max = table_shift_max,
	};
	const struct kiwi_fw_run run = { 0x1000, pages << 12 };

	return lay_out(&run, 1, &limits, layout);
}

static void pbl_as_many_pages_as_allowed(struct kunit *test)
{
	struct kiwi_fw_pbl_layout layout;

	KUNIT_EXPECT_EQ(test, lay_out_pages(1000, 1000, 12, &layout), 0);
	KUNIT_EXPECT_EQ(test, lay_out_pages(1001, 1000, 12, &layout), -ENOSPC);
	KUNIT_EXPECT_EQ(test, layout.count, 1001);
}

static void pbl_inline_entries(struct kunit *test)
{
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out_pages(KIWI_PBL_INLINE, U32_MAX, 12, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.levels, 0);
	KUNIT_ASSERT_EQ(test, lay_out_pages(KIWI_PBL_INLINE + 1, U32_MAX, 12, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.levels, 1);
	KUNIT_EXPECT_EQ(test, layout.table_shift, 12);
}

static void pbl_one_level(struct kunit *test)
{
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out_pages(512, U32_MAX, 12, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.levels, 1);
	KUNIT_ASSERT_EQ(test, lay_out_pages(513, U32_MAX, 12, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.levels, 2);
	KUNIT_EXPECT_EQ(test, layout.table_shift, 12);
}

static void pbl_two_levels(struct kunit *test)
{
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out_pages(512 * 512, U32_MAX, 12, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.levels, 2);
	KUNIT_EXPECT_EQ(test, layout.table_shift, 12);
}

/* Larger tables only where two levels of smaller ones do not suffice. */
static void pbl_larger_tables(struct kunit *test)
{
	struct kiwi_fw_pbl_layout layout;

	KUNIT_ASSERT_EQ(test, lay_out_pages(512 * 512 + 1, U32_MAX, 16, &layout), 0);
	KUNIT_EXPECT_EQ(test, layout.levels, 2);
	KUNIT_EXPECT_EQ(test, layout.table_shift, 13);
	KUNIT_EXPECT_EQ(test, lay_out_pages(512 * 512 + 1, U32_MAX, 12, &layout), -ENOSPC);
}

static void pbl_fill_in_parts(struct kunit *test)
{
	const struct kiwi_fw_run runs[] = { { 0x5000, 0x3000 }, { 0x9000, 0x1000 },
					    { 0x20000, 0x4000 } };
	struct kiwi_fw_pbl_layout layout;
	struct kiwi_fw_pbl_cursor cursor;
	__le64 whole[8], parts[8];
	unsigned int n;

	KUNIT_ASSERT_EQ(test, lay_out(runs, 3, &roomy, &layout), 0);
	KUNIT_ASSERT_EQ(test, layout.count, 8);
	kiwi_fw_pbl_first(&cursor, runs, &layout);
	kiwi_fw_pbl_fill(&cursor, &layout, whole, 8);
	kiwi_fw_pbl_first(&cursor, runs, &layout);
	for (n = 0; n < 8; n++)
		kiwi_fw_pbl_fill(&cursor, &layout, &parts[n], 1);
	KUNIT_EXPECT_MEMEQ(test, parts, whole, sizeof(whole));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(whole[3]), 0x9000);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(whole[7]), 0x23000);
}

static struct kunit_case layout_cases[] = {
	KUNIT_CASE(pbl_one_page),
	KUNIT_CASE(pbl_one_byte),
	KUNIT_CASE(pbl_across_a_boundary),
	KUNIT_CASE(pbl_every_alignment),
	KUNIT_CASE(pbl_every_size_class),
	KUNIT_CASE(pbl_offset_and_size),
	KUNIT_CASE(pbl_runs_of_one_size),
	KUNIT_CASE(pbl_ragged_ends),
	KUNIT_CASE(pbl_mixed_runs),
	KUNIT_CASE(pbl_end_decides_the_page),
	KUNIT_CASE(pbl_start_decides_the_page),
	KUNIT_CASE(pbl_page_size_is_limited),
	KUNIT_CASE(pbl_smaller_page_where_as_few_do),
	KUNIT_CASE(pbl_runs_off_the_page),
	KUNIT_CASE(pbl_limits_beyond_use),
	KUNIT_CASE(pbl_tables_limit_the_pages),
	KUNIT_CASE(pbl_as_many_pages_as_allowed),
	KUNIT_CASE(pbl_inline_entries),
	KUNIT_CASE(pbl_one_level),
	KUNIT_CASE(pbl_two_levels),
	KUNIT_CASE(pbl_larger_tables),
	KUNIT_CASE(pbl_fill_in_parts),
	{}
};

static struct kunit_suite layout_suite = {
	.name = "kiwi_fw_pbl_layout",
	.test_cases = layout_cases,
};

/* Of calls that succeed. */
static struct kiwi_fw_err why;

/* As commands carry them ------------------------------------------------------------------ */

/* Pages that are far apart, so that each is an entry. */
static struct kiwi_fw_mem *scattered(struct kunit *test, unsigned int nr)
{
	struct kiwi_fw_mem *mem = kunit_kzalloc(test, sizeof(*mem), GFP_KERNEL);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, mem);
	mem->runs = kunit_kcalloc(test, nr, sizeof(*mem->runs), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, mem->runs);
	mem->nr_runs = nr;
	for (n = 0; n < nr; n++)
		mem->runs[n] = (struct kiwi_fw_run) { .addr = (2 * n + 1) << 12, .len = 4096 };
	mem->length = total(mem->runs, nr);
	return mem;
}

static void expect_entries(struct kunit *test, const struct kiwi_fw_mem *mem, u64 table,
			   unsigned int first, unsigned int nr)
{
	const __le64 *entries = phys_to_virt(table);
	unsigned int n;

	KUNIT_EXPECT_TRUE(test, IS_ALIGNED(table, SZ_4K));
	for (n = 0; n < nr; n++)
		KUNIT_EXPECT_EQ(test, le64_to_cpu(entries[n]), mem->runs[first + n].addr);
}

static void pbl_wire_inline(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_mem *mem = scattered(test, 3);
	struct kiwi_fw_pbl pbl;
	unsigned int n;

	mem->runs[0].addr += 0x10;
	mem->runs[0].len -= 0x10;
	mem->length -= 0x10;
	memset(&pbl, 0xee, sizeof(pbl));
	KUNIT_ASSERT_EQ(test, kiwi_fw_pbl_build(&f->fw, mem, &roomy, &pbl, &why), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(pbl.wire.count), 3);
	KUNIT_EXPECT_EQ(test, pbl.wire.page_shift, 12);
	KUNIT_EXPECT_EQ(test, pbl.wire.levels, 0);
	KUNIT_EXPECT_EQ(test, pbl.wire.table_shift, 0);
	KUNIT_EXPECT_EQ(test, pbl.wire.rsvd, 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(pbl.wire.offset), 0x10);
	for (n = 0; n < 3; n++)
		KUNIT_EXPECT_EQ(test, le64_to_cpu(pbl.wire.addr[n]), (2 * n + 1) << 12);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(pbl.wire.addr[3]), 0);
	KUNIT_EXPECT_EQ(test, pbl.nr_tables, 0);
	kiwi_fw_pbl_release(&f->fw, &pbl);
}

static void pbl_wire_one_table(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_mem *mem = scattered(test, 512);
	struct kiwi_fw_pbl pbl;

	KUNIT_ASSERT_EQ(test, kiwi_fw_pbl_build(&f->fw, mem, &roomy, &pbl, &why), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(pbl.wire.count), 512);
	KUNIT_EXPECT_EQ(test, pbl.wire.levels, 1);
	KUNIT_EXPECT_EQ(test, pbl.wire.table_shift, 12);
	KUNIT_EXPECT_EQ(test, pbl.nr_tables, 1);
	expect_entries(test, mem, le64_to_cpu(pbl.wire.addr[0]), 0, 512);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(pbl.wire.addr[1]), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(pbl.wire.addr[2]), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(pbl.wire.addr[3]), 0);
	kiwi_fw_pbl_release(&f->fw, &pbl);
}

static void pbl_wire_directory(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_mem *mem = scattered(test, 512 + 512 + 3);
	struct kiwi_fw_pbl pbl;
	const __le64 *directory;

	KUNIT_ASSERT_EQ(test, kiwi_fw_pbl_build(&f->fw, mem, &roomy, &pbl, &why), 0);
	KUNIT_EXPECT_EQ(test, pbl.wire.levels, 2);
	KUNIT_EXPECT_EQ(test, pbl.wire.table_shift, 12);
	KUNIT_EXPECT_EQ(test, pbl.nr_tables, 4);
	KUNIT_EXPECT_TRUE(test, IS_ALIGNED(le64_to_cpu(pbl.wire.addr[0]), SZ_4K));
	directory = phys_to_virt(le64_to_cpu(pbl.wire.addr[0]));
	expect_entries(test, mem, le64_to_cpu(directory[0]), 0, 512);
	expect_entries(test, mem, le64_to_cpu(directory[1]), 512, 512);
	expect_entries(test, mem, le64_to_cpu(directory[2]), 1024, 3);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(directory[3]), 0);
	kiwi_fw_pbl_release(&f->fw, &pbl);
}

static void pbl_wire_exact_tables(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_mem *mem = scattered(test, 1024);
	struct kiwi_fw_pbl pbl;

	KUNIT_ASSERT_EQ(test, kiwi_fw_pbl_build(&f->fw, mem, &roomy, &pbl, &why), 0);
	KUNIT_EXPECT_EQ(test, pbl.nr_tables, 3);
	kiwi_fw_pbl_release(&f->fw, &pbl);
}

static void pbl_wire_too_many_pages(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_pbl_limits limits = roomy;
	struct kiwi_fw_pbl pbl;
	struct kiwi_fw_err err;

	limits.max_pages = 9;
	KUNIT_EXPECT_EQ(test, kiwi_fw_pbl_build(&f->fw, scattered(test, 10), &limits, &pbl, &err),
			-ENOSPC);
	KUNIT_EXPECT_EQ(test, err.value, 10);
	KUNIT_EXPECT_EQ(test, err.limit, 9);
	KUNIT_EXPECT_EQ(test, err.status, KIWI_ST_OK);
}

static void pbl_wire_other_errors_have_no_limit(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_mem *mem = scattered(test, 2);
	struct kiwi_fw_pbl pbl;
	struct kiwi_fw_err err;

	mem->runs[0].len = 100;
	KUNIT_EXPECT_EQ(test, kiwi_fw_pbl_build(&f->fw, mem, &roomy, &pbl, &err), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, err.value, 0);
	KUNIT_EXPECT_EQ(test, err.limit, 0);
	KUNIT_EXPECT_EQ(test, err.field, KIWI_ERR_FIELD_NONE);
}

static void pbl_wire_release_twice(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_pbl pbl;

	KUNIT_ASSERT_EQ(test, kiwi_fw_pbl_build(&f->fw, scattered(test, 600), &roomy, &pbl, &why),
			0);
	kiwi_fw_pbl_release(&f->fw, &pbl);
	KUNIT_EXPECT_NULL(test, pbl.tables);
	KUNIT_EXPECT_EQ(test, pbl.nr_tables, 0);
	kiwi_fw_pbl_release(&f->fw, &pbl);
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(pbl_wire_inline),
	KUNIT_CASE(pbl_wire_one_table),
	KUNIT_CASE(pbl_wire_directory),
	KUNIT_CASE(pbl_wire_exact_tables),
	KUNIT_CASE(pbl_wire_too_many_pages),
	KUNIT_CASE(pbl_wire_other_errors_have_no_limit),
	KUNIT_CASE(pbl_wire_release_twice),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "kiwi_fw_pbl",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = wire_cases,
};

kunit_test_suites(&layout_suite, &wire_suite);
