// SPDX-License-Identifier: GPL-2.0
/* Doorbell pages: which are handed out, when again, and when not. */
#include "fake.h"

/* Of calls whose result says enough. */
static struct kiwi_fw_err why;

static void set_pages(struct fake *f, u32 pages, u8 shift)
{
	struct resource *bar = &f->pdev.resource[KIWI_BAR_DOORBELL];

	fake_set(f, KIWI_REG_DB_PAGES, pages);
	fake_set(f, KIWI_REG_LIMITS, 3 | KIWI_EQ_LOG2_MIN << 8 | shift << 16);
	bar->end = bar->start + ((u64)pages << shift) - 1;
}

static void open_all(struct kunit *test, struct kiwi_fw_db *dbs)
{
	struct fake *f = test->priv;
	unsigned int n;

	for (n = 0; n < FAKE_DB_PAGES; n++)
		KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &dbs[n], &why), 0);
}

static void db_page_is_described(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db db;
	unsigned int n;

	for (n = 0; n < 3; n++) {
		memset(&db, 0xee, sizeof(db));
		KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
		KUNIT_EXPECT_EQ(test, db.index, n);
		KUNIT_EXPECT_EQ(test, db.size, SZ_4K);
		KUNIT_EXPECT_EQ(test, db.phys, FAKE_DB_BASE + n * SZ_4K);
		KUNIT_EXPECT_EQ(test, db.reg_offset, 0);
		KUNIT_EXPECT_TRUE(test, test_bit(n, f->db_open));
	}
}

static void db_pages_differ(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db dbs[FAKE_DB_PAGES];
	unsigned long seen = 0;
	unsigned int n;

	open_all(test, dbs);
	for (n = 0; n < FAKE_DB_PAGES; n++)
		__set_bit(dbs[n].index, &seen);
	KUNIT_EXPECT_EQ(test, seen, BIT(FAKE_DB_PAGES) - 1);
	KUNIT_EXPECT_TRUE(test, bitmap_full(f->db_open, FAKE_DB_PAGES));
}

static void db_none_left(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db dbs[FAKE_DB_PAGES], more;
	struct kiwi_fw_err err;
	unsigned int commands;

	open_all(test, dbs);
	commands = f->nr_cmds;
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &more, &err), -ENOSPC);
	KUNIT_EXPECT_EQ(test, err.limit, FAKE_DB_PAGES);
	KUNIT_EXPECT_EQ(test, err.value, FAKE_DB_PAGES + 1);
	KUNIT_EXPECT_EQ(test, err.status, KIWI_ST_OK);
	KUNIT_EXPECT_EQ(test, f->nr_cmds, commands);
}

static void db_close_makes_room(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db dbs[FAKE_DB_PAGES], more;

	open_all(test, dbs);
	KUNIT_ASSERT_EQ(test, kiwi_fw_db_close(&f->fw, &dbs[5]), 0);
	KUNIT_EXPECT_FALSE(test, test_bit(5, f->db_open));
	KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &more, &why), 0);
	KUNIT_EXPECT_EQ(test, more.index, 5);
}

static void db_freed_page_comes_again_last(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db db;
	unsigned int n;

	for (n = 0; n < 2 * FAKE_DB_PAGES + 1; n++) {
		KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
		KUNIT_EXPECT_EQ(test, db.index, n % FAKE_DB_PAGES);
		KUNIT_ASSERT_EQ(test, kiwi_fw_db_close(&f->fw, &db), 0);
	}
}

static void db_page_taken_for_open_is_set_aside(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db db;
	struct kiwi_fw_err err;
	unsigned int n;

	__set_bit(0, f->db_open);
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &err), -EINVAL);
	KUNIT_EXPECT_EQ(test, err.status, KIWI_ST_BAD_STATE);
	for (n = 1; n < FAKE_DB_PAGES; n++) {
		KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
		KUNIT_EXPECT_EQ(test, db.index, n);
	}
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), -ENOSPC);
}

static void refuse_open(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	__clear_bit(0, f->db_open);
	reply->status = cpu_to_le16(KIWI_ST_NO_RESOURCE);
}

static void db_refused_page_can_be_had_later(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db dbs[FAKE_DB_PAGES], db;

	f->reply = refuse_open;
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), -ENOSPC);
	f->reply = NULL;
	open_all(test, dbs);
}

static void refuse_close(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	__set_bit(0, f->db_open);
	reply->status = cpu_to_le16(KIWI_ST_BUSY);
}

static void db_page_not_closed_stays_taken(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db first, db;
	unsigned int n;

	KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &first, &why), 0);
	f->reply = refuse_close;
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_close(&f->fw, &first), -EBUSY);
	f->reply = NULL;
	for (n = 1; n < FAKE_DB_PAGES; n++)
		KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), -ENOSPC);

	KUNIT_EXPECT_EQ(test, kiwi_fw_db_close(&f->fw, &first), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
	KUNIT_EXPECT_EQ(test, db.index, 0);
}

static void db_reset_frees_all(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db dbs[FAKE_DB_PAGES];

	open_all(test, dbs);
	kiwi_fw_stop(&f->fw, KIWI_RESET_USER);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	open_all(test, dbs);
}

static void db_larger_pages(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db db;

	kiwi_fw_stop(&f->fw, KIWI_RESET_USER);
	set_pages(f, 4, 16);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
	KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
	KUNIT_EXPECT_EQ(test, db.index, 1);
	KUNIT_EXPECT_EQ(test, db.size, SZ_64K);
	KUNIT_EXPECT_EQ(test, db.phys, FAKE_DB_BASE + SZ_64K);
}

/* Where CPU pages are larger than the device's, a mapping holds more than one of these. */
static void db_units_of_a_cpu_page(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db db;

	f->fw.db_unit = 4;
	f->fw.db_units = FAKE_DB_PAGES / 4;
	KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
	KUNIT_EXPECT_EQ(test, db.index, 0);
	KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
	KUNIT_EXPECT_EQ(test, db.index, 4);
	KUNIT_EXPECT_EQ(test, db.size, 4 * SZ_4K);
	KUNIT_EXPECT_EQ(test, db.phys, FAKE_DB_BASE + 4 * SZ_4K);
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), -ENOSPC);
	db.index = 4;
	KUNIT_ASSERT_EQ(test, kiwi_fw_db_close(&f->fw, &db), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
}

static void db_bar_off_the_cpu_page(struct kunit *test)
{
	struct fake *f = test->priv;
	struct resource *bar = &f->pdev.resource[KIWI_BAR_DOORBELL];

	kiwi_fw_stop(&f->fw, KIWI_RESET_USER);
	bar->start += 0x800;
	bar->end += 0x800;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), -EOPNOTSUPP);
}

static void db_dead_device(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_db db;

	KUNIT_ASSERT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), 0);
	kiwi_fw_fail(&f->fw, KIWI_RESET_FATAL);
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_close(&f->fw, &db), -EIO);
	KUNIT_EXPECT_EQ(test, kiwi_fw_db_open(&f->fw, &db, &why), -EIO);
}

static struct kunit_case db_cases[] = {
	KUNIT_CASE(db_page_is_described),
	KUNIT_CASE(db_pages_differ),
	KUNIT_CASE(db_none_left),
	KUNIT_CASE(db_close_makes_room),
	KUNIT_CASE(db_freed_page_comes_again_last),
	KUNIT_CASE(db_page_taken_for_open_is_set_aside),
	KUNIT_CASE(db_refused_page_can_be_had_later),
	KUNIT_CASE(db_page_not_closed_stays_taken),
	KUNIT_CASE(db_reset_frees_all),
	KUNIT_CASE(db_larger_pages),
	KUNIT_CASE(db_units_of_a_cpu_page),
	KUNIT_CASE(db_bar_off_the_cpu_page),
	KUNIT_CASE(db_dead_device),
	{}
};

static struct kunit_suite db_suite = {
	.name = "kiwi_fw_db",
	.init = fake_init_started,
	.exit = fake_exit,
	.test_cases = db_cases,
};

kunit_test_suite(db_suite);
