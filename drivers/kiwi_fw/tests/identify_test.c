// SPDX-License-Identifier: GPL-2.0
/* What the device says of itself, and what of it is believed. */
#include "fake.h"

static int start_with(struct kunit *test, u32 reg, u32 value)
{
	struct fake *f = test->priv;
	int ret;

	fake_set(f, reg, value);
	ret = kiwi_fw_start(&f->fw);
	KUNIT_EXPECT_EQ(test, kiwi_fw_is_up(&f->fw), !ret);
	KUNIT_EXPECT_EQ(test, fake_is_master(f), !ret);
	kiwi_fw_stop(&f->fw, KIWI_RESET_REMOVE);
	return ret;
}

/* A field from min - 1 to max + 1, in a register that holds others as well. */
static void bounds(struct kunit *test, u32 reg, unsigned int shift, u32 min, u32 max)
{
	struct fake *f = test->priv;
	u32 others = shift ? fake_get(f, reg) & ~(0xffU << shift) :
			     fake_get(f, reg) & ~(max < 0xff ? 0xffU : U32_MAX);

	KUNIT_EXPECT_EQ(test, start_with(test, reg, others | (min - 1) << shift), -EPROTO);
	KUNIT_EXPECT_EQ(test, start_with(test, reg, others | min << shift), 0);
	KUNIT_EXPECT_EQ(test, start_with(test, reg, others | max << shift), 0);
	KUNIT_EXPECT_EQ(test, start_with(test, reg, others | (max + 1) << shift), -EPROTO);
}

static void identify_magic(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_MAGIC, KIWI_MAGIC + 1), -EPROTO);
	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_MAGIC, 0), -EPROTO);
	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_MAGIC, KIWI_MAGIC), 0);
}

static void identify_abi_major(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_ABI, (KIWI_ABI_MAJOR + 1) << 16), -EPROTO);
	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_ABI, 0), -EPROTO);
}

static void identify_abi_minor(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_ABI, KIWI_ABI_MAJOR << 16 | 0xffff), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_identity(&f->fw)->abi, KIWI_ABI_MAJOR << 16 | 0xffff);
}

static void identify_part(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_PART, KIWI_PART_G2G), -EPROTO);
}

static void identify_gone(struct kunit *test)
{
	struct fake *f = test->priv;

	f->gone = true;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), -ENODEV);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_gone(&f->fw));
	f->gone = false;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_FALSE(test, kiwi_fw_gone(&f->fw));
}

static void identify_command_timeout(struct kunit *test)
{
	bounds(test, KIWI_REG_CMD_TIMEOUT_MS, 0, 1, 60000);
}

static void identify_reset_timeout(struct kunit *test)
{
	bounds(test, KIWI_REG_RESET_TIMEOUT_MS, 0, 1, 60000);
}

static void identify_heartbeat(struct kunit *test)
{
	bounds(test, KIWI_REG_HEARTBEAT_MS, 0, 1, 60000);
}

static void identify_admin_queue_size(struct kunit *test)
{
	bounds(test, KIWI_REG_LIMITS, 0, 2, 16);
}

static void identify_event_queue_size(struct kunit *test)
{
	bounds(test, KIWI_REG_LIMITS, 8, KIWI_EQ_LOG2_MIN, 23);
}

static void identify_dma_bits(struct kunit *test)
{
	bounds(test, KIWI_REG_DMA_BITS, 0, 32, 64);
}

static void identify_event_queues(struct kunit *test)
{
	bounds(test, KIWI_REG_EQ_COUNT, 0, 2, 1024);
}

static void identify_doorbell_page_size(struct kunit *test)
{
	struct fake *f = test->priv;

	f->pdev.resource[KIWI_BAR_DOORBELL].end = FAKE_DB_BASE + FAKE_DB_PAGES * SZ_64K - 1;
	bounds(test, KIWI_REG_LIMITS, 16, 12, 16);
}

static void identify_no_doorbell_pages(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_DB_PAGES, 0), -EPROTO);
}

static void identify_doorbell_pages_fill_the_bar(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_DB_PAGES, FAKE_DB_PAGES), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_identity(&f->fw)->db_pages, FAKE_DB_PAGES);
	KUNIT_EXPECT_EQ(test, start_with(test, KIWI_REG_DB_PAGES, FAKE_DB_PAGES + 1), -EPROTO);
}

static void identify_takes_over_all(struct kunit *test)
{
	struct fake *f = test->priv;
	const struct kiwi_fw_identity *id = kiwi_fw_identity(&f->fw);

	fake_set(f, KIWI_REG_SERIAL, 0x55667788);
	fake_set(f, KIWI_REG_SERIAL + 4, 0x11223344);
	fake_set(f, KIWI_REG_FW_VERSION, 7);
	fake_set(f, KIWI_REG_FW_VERSION + 4, 0x00010002);
	fake_set(f, KIWI_REG_REVISION, 9);
	fake_set(f, KIWI_REG_GENERATION, 0xfffffffe);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_EQ(test, id->serial, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, id->fw_version, 0x0001000200000007ULL);
	KUNIT_EXPECT_EQ(test, id->abi, KIWI_ABI_MAJOR << 16 | KIWI_ABI_MINOR);
	KUNIT_EXPECT_EQ(test, id->revision, 9);
	KUNIT_EXPECT_EQ(test, id->generation, 0xfffffffe);
	KUNIT_EXPECT_EQ(test, id->db_pages, FAKE_DB_PAGES);
	KUNIT_EXPECT_EQ(test, id->db_page_shift, 12);
	KUNIT_EXPECT_EQ(test, id->comp_vectors, FAKE_COMP_EQS);
}

/* One event queue of the device's is the asynchronous one. */
static void identify_fewer_queues_than_vectors(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_EQ_COUNT, 2);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_identity(&f->fw)->comp_vectors, 1);
	KUNIT_EXPECT_NULL(test, f->eqs[2].ring);
	KUNIT_EXPECT_EQ(test, kiwi_fw_comp_eqn(&f->fw, 1), 1);
}

static void identify_unknown_capabilities_are_left_off(struct kunit *test)
{
	struct fake *f = test->priv;
	const struct kiwi_fw_identity *id = kiwi_fw_identity(&f->fw);
	const struct kiwi_cmd_set_host_caps_in *in = (const void *)fake_cmd(f, 0)->in;

	fake_set(f, KIWI_REG_CAPS, U32_MAX);
	fake_set(f, KIWI_REG_CAPS + 4, 0x7fffffff);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_TRUE(test, id->caps & KIWI_CAP_DIAG);
	KUNIT_EXPECT_FALSE(test, id->caps & (BIT_ULL(31) | BIT_ULL(62)));
	KUNIT_EXPECT_EQ(test, le16_to_cpu(fake_cmd(f, 0)->entry.opcode), KIWI_OP_SET_HOST_CAPS);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->caps), id->caps);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->abi), KIWI_ABI_MAJOR << 16 | KIWI_ABI_MINOR);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->rsvd), 0);
}

static void identify_absent_capabilities_are_not_asked_for(struct kunit *test)
{
	struct fake *f = test->priv;
	const struct kiwi_cmd_set_host_caps_in *in = (const void *)fake_cmd(f, 0)->in;

	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_identity(&f->fw)->caps, 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->caps), 0);
}

static void identify_dma_mask(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DMA_BITS, 40);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_EQ(test, f->pdev.dma_mask, DMA_BIT_MASK(40));
	KUNIT_EXPECT_EQ(test, f->pdev.dev.coherent_dma_mask, DMA_BIT_MASK(40));
}

static void identify_diag_needs_the_capability(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	f->gone = true;
	KUNIT_EXPECT_EQ(test, kiwi_fw_diag(&f->fw, 0), 0);
	KUNIT_EXPECT_EQ(test, f->gone_accesses, 0);
	f->gone = false;
}

static void identify_diag_concludes_nothing(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_CAPS, KIWI_CAP_DIAG);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_diag(&f->fw, 0), 0);
	f->gone = true;
	KUNIT_EXPECT_EQ(test, kiwi_fw_diag(&f->fw, KIWI_DIAG_COUNT), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_diag(&f->fw, KIWI_DIAG_COUNT - 1), U64_MAX);
	/* It may be in a reset that somebody else began. */
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
	f->gone = false;
}

static struct kunit_case identify_cases[] = {
	KUNIT_CASE(identify_magic),
	KUNIT_CASE(identify_abi_major),
	KUNIT_CASE(identify_abi_minor),
	KUNIT_CASE(identify_part),
	KUNIT_CASE(identify_gone),
	KUNIT_CASE(identify_command_timeout),
	KUNIT_CASE(identify_reset_timeout),
	KUNIT_CASE(identify_heartbeat),
	KUNIT_CASE(identify_admin_queue_size),
	KUNIT_CASE(identify_event_queue_size),
	KUNIT_CASE(identify_dma_bits),
	KUNIT_CASE(identify_event_queues),
	KUNIT_CASE(identify_doorbell_page_size),
	KUNIT_CASE(identify_no_doorbell_pages),
	KUNIT_CASE(identify_doorbell_pages_fill_the_bar),
	KUNIT_CASE(identify_takes_over_all),
	KUNIT_CASE(identify_fewer_queues_than_vectors),
	KUNIT_CASE(identify_unknown_capabilities_are_left_off),
	KUNIT_CASE(identify_absent_capabilities_are_not_asked_for),
	KUNIT_CASE(identify_dma_mask),
	KUNIT_CASE(identify_diag_needs_the_capability),
	KUNIT_CASE(identify_diag_concludes_nothing),
	{}
};

static struct kunit_suite identify_suite = {
	.name = "kiwi_fw_identify",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = identify_cases,
};

kunit_test_suite(identify_suite);
