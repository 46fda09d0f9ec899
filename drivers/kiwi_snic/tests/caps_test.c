// SPDX-License-Identifier: GPL-2.0
/* Capabilities: each field at and beyond what the ABI allows. */
#include <kiwi_abi/queues.h>

#include "fixture.h"

struct caps {
	struct kiwi_snic_caps wire;
	struct kiwi_queue_caps caps;
	struct kiwi_error err;
};

static int caps_init(struct kunit *test)
{
	struct fake_snic *snic = kunit_kzalloc(test, sizeof(*snic), GFP_KERNEL);
	struct caps *c = kunit_kzalloc(test, sizeof(*c), GFP_KERNEL);

	if (!snic || !c)
		return -ENOMEM;
	fake_snic_init(snic);
	c->wire = snic->caps;
	test->priv = c;
	return 0;
}

static void expect_ok(struct kunit *test)
{
	struct caps *c = test->priv;

	KUNIT_EXPECT_EQ(test, kiwi_queue_caps_parse(&c->wire, &c->caps, &c->err), 0);
}

static void expect_bad(struct kunit *test, const char *name, u64 value, u64 limit)
{
	struct caps *c = test->priv;
	char text[64];

	KUNIT_EXPECT_EQ(test, kiwi_queue_caps_parse(&c->wire, &c->caps, &c->err), -EPROTO);
	KUNIT_EXPECT_EQ(test, c->err.value, value);
	KUNIT_EXPECT_EQ(test, c->err.limit, limit);
	snprintf(text, sizeof(text), "device reports %s %llu,", name, value);
	KUNIT_EXPECT_MEMEQ(test, c->err.text, text, strlen(text));
}

/* A field from min - 1 to max + 1 and all-ones, where there are such. */
static void check32(struct kunit *test, const char *name, __le32 *wire, const u64 *caps, u32 min,
		    u32 max)
{
	*wire = cpu_to_le32(min);
	expect_ok(test);
	KUNIT_EXPECT_EQ(test, *caps, min);
	*wire = cpu_to_le32(max);
	expect_ok(test);
	KUNIT_EXPECT_EQ(test, *caps, max);
	if (min) {
		*wire = cpu_to_le32(min - 1);
		expect_bad(test, name, min - 1, min);
	}
	if (max != U32_MAX) {
		*wire = cpu_to_le32(max + 1);
		expect_bad(test, name, max + 1, max);
		*wire = cpu_to_le32(U32_MAX);
		expect_bad(test, name, U32_MAX, max);
	}
}

static void check8(struct kunit *test, const char *name, u8 *wire, const u64 *caps, u8 min, u8 max)
{
	*wire = min;
	expect_ok(test);
	KUNIT_EXPECT_EQ(test, *caps, min);
	*wire = max;
	expect_ok(test);
	KUNIT_EXPECT_EQ(test, *caps, max);
	if (min) {
		*wire = min - 1;
		expect_bad(test, name, min - 1, min);
	}
	if (max != U8_MAX) {
		*wire = max + 1;
		expect_bad(test, name, max + 1, max);
		*wire = U8_MAX;
		expect_bad(test, name, U8_MAX, max);
	}
}

static void caps_objects(struct kunit *test)
{
	struct caps *c = test->priv;

	check32(test, "max_pd", &c->wire.max_pd, &c->caps.max_pd, 1, KIWI_SNIC_NUMBER_MAX);
}

static void caps_regions(struct kunit *test)
{
	struct caps *c = test->priv;

	check32(test, "max_mr", &c->wire.max_mr, &c->caps.max_mr, 1, KIWI_SNIC_NUMBER_MAX);
}

static void caps_completion_queues(struct kunit *test)
{
	struct caps *c = test->priv;

	check32(test, "max_cq", &c->wire.max_cq, &c->caps.max_cq, 1, KIWI_SNIC_NUMBER_MAX);
}

static void caps_queue_pairs(struct kunit *test)
{
	struct caps *c = test->priv;

	check32(test, "max_qp", &c->wire.max_qp, &c->caps.max_qp, 1, KIWI_SNIC_NUMBER_MAX);
}

static void caps_region_size(struct kunit *test)
{
	struct caps *c = test->priv;

	c->wire.max_mr_size = 0;
	expect_bad(test, "max_mr_size", 0, 1);
	c->wire.max_mr_size = cpu_to_le64(1);
	expect_ok(test);
	c->wire.max_mr_size = cpu_to_le64(U64_MAX);
	expect_ok(test);
	KUNIT_EXPECT_EQ(test, c->caps.max_mr_size, U64_MAX);
}

static void caps_region_pages(struct kunit *test)
{
	struct caps *c = test->priv;

	check32(test, "max_mr_pages", &c->wire.max_mr_pages, &c->caps.max_mr_pages, 1, U32_MAX);
}

/* 8 units of 64 bytes, less the segments of a WRITE before its data, and the byte count. */
static void caps_inline(struct kunit *test)
{
	struct caps *c = test->priv;

	check32(test, "max_inline", &c->wire.max_inline, &c->caps.max_inline, 0, 512 - 32 - 4);
}

static void caps_page_size(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "page_shift_max", &c->wire.page_shift_max, &c->caps.page_shift_max, 12, 63);
}

static void caps_table_size(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "pbl_table_shift_max", &c->wire.pbl_table_shift_max,
	       &c->caps.pbl_table_shift_max, 12, 63);
}

static void caps_ports(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "ports", &c->wire.ports, &c->caps.ports, 1, 8);
}

static void caps_gids(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "gids", &c->wire.gids, &c->caps.gids, 1, 255);
}

static void caps_send_queue(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "sq_log2_max", &c->wire.sq_log2_max, &c->caps.sq_log2_max, 3, 15);
}

static void caps_receive_queue(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "rq_log2_max", &c->wire.rq_log2_max, &c->caps.rq_log2_max, 0, 15);
}

static void caps_completion_queue_size(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "cq_log2_max", &c->wire.cq_log2_max, &c->caps.cq_log2_max, 1, 15);
}

static void caps_scatter_entries(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "max_sge", &c->wire.max_sge, &c->caps.max_sge, 1, 30);
}

static void caps_reads(struct kunit *test)
{
	struct caps *c = test->priv;

	check8(test, "max_rd_atomic", &c->wire.max_rd_atomic, &c->caps.max_rd_atomic, 0, 255);
}

static void caps_message_size(struct kunit *test)
{
	struct caps *c = test->priv;

	check32(test, "max_msg_size", &c->wire.max_msg_size, &c->caps.max_msg_size, 1, U32_MAX);
}

static void caps_link(struct kunit *test)
{
	struct caps *c = test->priv;

	check32(test, "link_mbps", &c->wire.link_mbps, &c->caps.link_mbps, 0, U32_MAX);
}

static void caps_first_fault_is_told(struct kunit *test)
{
	struct caps *c = test->priv;

	c->wire.gids = 0;
	c->wire.max_qp = 0;
	c->wire.max_sge = 31;
	expect_bad(test, "max_qp", 0, 1);
}

static void caps_all_ones(struct kunit *test)
{
	struct caps *c = test->priv;

	memset(&c->wire, 0xff, sizeof(c->wire));
	expect_bad(test, "max_pd", U32_MAX, KIWI_SNIC_NUMBER_MAX);
}

static void caps_all_zero(struct kunit *test)
{
	struct caps *c = test->priv;

	memset(&c->wire, 0, sizeof(c->wire));
	expect_bad(test, "max_pd", 0, 1);
}

static struct kunit_case caps_cases[] = {
	KUNIT_CASE(caps_objects),
	KUNIT_CASE(caps_regions),
	KUNIT_CASE(caps_completion_queues),
	KUNIT_CASE(caps_queue_pairs),
	KUNIT_CASE(caps_region_size),
	KUNIT_CASE(caps_region_pages),
	KUNIT_CASE(caps_inline),
	KUNIT_CASE(caps_page_size),
	KUNIT_CASE(caps_table_size),
	KUNIT_CASE(caps_ports),
	KUNIT_CASE(caps_gids),
	KUNIT_CASE(caps_send_queue),
	KUNIT_CASE(caps_receive_queue),
	KUNIT_CASE(caps_completion_queue_size),
	KUNIT_CASE(caps_scatter_entries),
	KUNIT_CASE(caps_reads),
	KUNIT_CASE(caps_message_size),
	KUNIT_CASE(caps_link),
	KUNIT_CASE(caps_first_fault_is_told),
	KUNIT_CASE(caps_all_ones),
	KUNIT_CASE(caps_all_zero),
	{}
};

static struct kunit_suite caps_suite = {
	.name = "kiwi_snic_caps",
	.init = caps_init,
	.test_cases = caps_cases,
};

kunit_test_suite(caps_suite);
