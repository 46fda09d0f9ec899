// SPDX-License-Identifier: GPL-2.0
/* Memory: runs of a mapped table, and pages of a process. */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/scatterlist.h>
#include <linux/uaccess.h>

#include <kiwi/compat.h>
#include <uapi/kiwi/snic.h>

#include "../mem.h"
#include "fake.h"

#define PAGES	24

/* A table as dma_map_sgtable() leaves it, of which only the DMA side matters. */
struct table {
	struct sg_table sgt;
	struct scatterlist sg[4];
};

static struct table *table(struct kunit *test, const struct kiwi_fw_run *entries, unsigned int nr)
{
	struct table *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, t);
	sg_init_table(t->sg, nr);
	for (n = 0; n < nr; n++) {
		sg_dma_address(&t->sg[n]) = entries[n].addr;
		sg_dma_len(&t->sg[n]) = entries[n].len;
	}
	t->sgt.sgl = t->sg;
	t->sgt.nents = nr;
	t->sgt.orig_nents = nr;
	return t;
}

static const struct kiwi_fw_run entries[] = {
	{ 0x10000, 0x3000 }, { 0x13000, 0x1000 }, { 0x20000, 0x2000 },
	{ 0x8000, 0x1000 },
};

static void expect_runs(struct kunit *test, u64 offset, u64 length,
			const struct kiwi_fw_run *wanted, unsigned int nr)
{
	struct fake *f = test->priv;
	struct table *t = table(test, entries, ARRAY_SIZE(entries));
	struct kiwi_fw_mem mem = { };
	unsigned int n;

	KUNIT_ASSERT_EQ(test, kiwi_fw_mem_set_runs(&f->fw, &mem, &t->sgt, offset, length), 0);
	KUNIT_EXPECT_EQ(test, mem.length, length);
	KUNIT_ASSERT_EQ(test, mem.nr_runs, nr);
	for (n = 0; n < nr; n++) {
		KUNIT_EXPECT_EQ(test, mem.runs[n].addr, wanted[n].addr);
		KUNIT_EXPECT_EQ(test, mem.runs[n].len, wanted[n].len);
	}
	kiwi_fw_mem_free_runs(&mem);
	KUNIT_EXPECT_NULL(test, mem.runs);
}

static void mem_neighbours_are_merged(struct kunit *test)
{
	const struct kiwi_fw_run wanted[] = { { 0x10000, 0x4000 }, { 0x20000, 0x2000 },
					      { 0x8000, 0x1000 } };

	expect_runs(test, 0, 0x7000, wanted, 3);
}

static void mem_part_in_one_entry(struct kunit *test)
{
	const struct kiwi_fw_run wanted[] = { { 0x10123, 0x456 } };

	expect_runs(test, 0x123, 0x456, wanted, 1);
}

static void mem_part_over_entries(struct kunit *test)
{
	const struct kiwi_fw_run wanted[] = { { 0x12ff0, 0x1010 }, { 0x20000, 0x10 } };

	expect_runs(test, 0x2ff0, 0x1020, wanted, 2);
}

static void mem_part_begins_where_an_entry_does(struct kunit *test)
{
	const struct kiwi_fw_run wanted[] = { { 0x20000, 1 } };

	expect_runs(test, 0x4000, 1, wanted, 1);
}

static void mem_last_byte(struct kunit *test)
{
	const struct kiwi_fw_run wanted[] = { { 0x21fff, 1 } };

	expect_runs(test, 0x5fff, 1, wanted, 1);
}

static void mem_table_too_short(struct kunit *test)
{
	struct fake *f = test->priv;
	struct table *t = table(test, entries, ARRAY_SIZE(entries));
	struct kiwi_fw_mem mem = { };

	KUNIT_EXPECT_EQ(test, kiwi_fw_mem_set_runs(&f->fw, &mem, &t->sgt, 0, 0x7001), -ERANGE);
	KUNIT_EXPECT_EQ(test, kiwi_fw_mem_set_runs(&f->fw, &mem, &t->sgt, 0x7000, 1), -ERANGE);
	KUNIT_EXPECT_NULL(test, mem.runs);
}

static void mem_entries_over_4_gib(struct kunit *test)
{
	const struct kiwi_fw_run large[] = { { 0x100000000ULL, 0xfffff000 },
					     { 0x1fffff000ULL, 0xfffff000 } };
	struct fake *f = test->priv;
	struct table *t = table(test, large, 2);
	struct kiwi_fw_mem mem = { };

	KUNIT_ASSERT_EQ(test, kiwi_fw_mem_set_runs(&f->fw, &mem, &t->sgt, 0, 0x1ffffe000ULL), 0);
	KUNIT_EXPECT_EQ(test, mem.nr_runs, 1);
	KUNIT_EXPECT_EQ(test, mem.runs[0].len, 0x1ffffe000ULL);
	kiwi_fw_mem_free_runs(&mem);
}

/* Pages of a process ---------------------------------------------------------------------- */

/* Of calls whose result says enough. */
static struct kiwi_fw_err why;

static unsigned long user_pages(struct kunit *test, int prot)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, PAGES * PAGE_SIZE, prot,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, addr, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(addr));
	return addr;
}

static u64 pinned(void)
{
	return atomic64_read(&current->mm->pinned_vm);
}

static void user_runs_lead_to_the_pages(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned long addr = user_pages(test, PROT_READ | PROT_WRITE);
	struct kiwi_fw_mem *mem;
	u64 at = 0, length = (PAGES - 1) * PAGE_SIZE;
	unsigned int n, wrong = 0;
	u32 word;

	for (n = 0; n < PAGES; n++)
		KUNIT_ASSERT_EQ(test, put_user(n, (u32 __user *)(addr + n * PAGE_SIZE)), 0);
	mem = kiwi_fw_mem_user(&f->fw, addr + 16, length, true, &why);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mem));
	KUNIT_EXPECT_EQ(test, mem->length, length);
	KUNIT_EXPECT_EQ(test, mem->path.path, KIWI_PATH_SYSTEM);
	KUNIT_EXPECT_EQ(test, mem->path.reason, KIWI_PATH_USER_MEMORY);
	KUNIT_EXPECT_EQ(test, offset_in_page(mem->runs[0].addr), 16);
	for (n = 0; n < mem->nr_runs; at += mem->runs[n++].len) {
		if (n)
			KUNIT_EXPECT_EQ(test, offset_in_page(mem->runs[n].addr), 0);
		/* The page's number stands 16 bytes before the first run, and at each page. */
		word = *(u32 *)phys_to_virt(mem->runs[n].addr - (n ? 0 : 16));
		wrong += word != (at + 16) / PAGE_SIZE;
	}
	KUNIT_EXPECT_EQ(test, at, length);
	KUNIT_EXPECT_EQ(test, wrong, 0);
	kiwi_fw_mem_release(mem);
}

static void user_pages_are_counted(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned long addr = user_pages(test, PROT_READ | PROT_WRITE);
	struct kiwi_fw_mem *mem;
	u64 before = pinned();

	mem = kiwi_fw_mem_user(&f->fw, addr + PAGE_SIZE - 1, 2, true, &why);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mem));
	KUNIT_EXPECT_EQ(test, pinned(), before + 2);
	kiwi_fw_mem_release(mem);
	KUNIT_EXPECT_EQ(test, pinned(), before);
}

static void user_range_is_empty_or_wraps(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_err err;

	user_pages(test, PROT_READ);
	KUNIT_EXPECT_EQ(test, PTR_ERR(kiwi_fw_mem_user(&f->fw, PAGE_SIZE, 0, false, &err)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(kiwi_fw_mem_user(&f->fw, 4096, U64_MAX, false, &err)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, err.value, U64_MAX);
	KUNIT_EXPECT_EQ(test, PTR_ERR(kiwi_fw_mem_user(&f->fw, U64_MAX, 1, false, &err)),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, pinned(), 0);
}

static void user_memory_that_is_not_there(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned long addr = user_pages(test, PROT_READ | PROT_WRITE);
	u64 before = pinned();

	KUNIT_ASSERT_EQ(test, vm_munmap(addr + 8 * PAGE_SIZE, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR(kiwi_fw_mem_user(&f->fw, addr, PAGES * PAGE_SIZE, true,
						       &why)), -EFAULT);
	KUNIT_EXPECT_EQ(test, pinned(), before);
}

static void user_memory_read_only(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned long addr = user_pages(test, PROT_READ);
	struct kiwi_fw_mem *mem;

	KUNIT_EXPECT_EQ(test, PTR_ERR(kiwi_fw_mem_user(&f->fw, addr, 4096, true, &why)), -EFAULT);
	mem = kiwi_fw_mem_user(&f->fw, addr, 4096, false, &why);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mem));
	kiwi_fw_mem_release(mem);
}

static struct kunit_case mem_cases[] = {
	KUNIT_CASE(mem_neighbours_are_merged),
	KUNIT_CASE(mem_part_in_one_entry),
	KUNIT_CASE(mem_part_over_entries),
	KUNIT_CASE(mem_part_begins_where_an_entry_does),
	KUNIT_CASE(mem_last_byte),
	KUNIT_CASE(mem_table_too_short),
	KUNIT_CASE(mem_entries_over_4_gib),
	KUNIT_CASE(user_runs_lead_to_the_pages),
	KUNIT_CASE(user_pages_are_counted),
	KUNIT_CASE(user_range_is_empty_or_wraps),
	KUNIT_CASE(user_memory_that_is_not_there),
	KUNIT_CASE(user_memory_read_only),
	{}
};

static struct kunit_suite mem_suite = {
	.name = "kiwi_fw_mem",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = mem_cases,
};

kunit_test_suite(mem_suite);
