// SPDX-License-Identifier: GPL-2.0
/* The admin queue with a device that works: entries, order, rings, slots, statuses. */
#include <linux/bitfield.h>

#include "fake.h"

#define SUBMITTERS	8
#define ROUNDS		50

static void fill(u8 *buffer, size_t len, u8 seed)
{
	size_t n;

	for (n = 0; n < len; n++)
		buffer[n] = seed + n * 7;
}

static void echoes(struct kunit *test, size_t in_len, size_t out_len)
{
	u8 *in = kunit_kzalloc(test, KIWI_AQ_PAYLOAD_MAX, GFP_KERNEL);
	u8 *out = kunit_kzalloc(test, KIWI_AQ_PAYLOAD_MAX, GFP_KERNEL);
	size_t both = min(in_len, out_len);

	KUNIT_ASSERT_NOT_NULL(test, in);
	KUNIT_ASSERT_NOT_NULL(test, out);
	fill(in, in_len, 11);
	memset(out, 0xee, KIWI_AQ_PAYLOAD_MAX);
	KUNIT_ASSERT_EQ(test, fake_echo(test->priv, in, in_len, out, out_len, NULL), 0);
	KUNIT_EXPECT_MEMEQ(test, out, in, both);
	KUNIT_EXPECT_NULL(test, memchr_inv(out + both, 0, out_len - both));
	if (out_len < KIWI_AQ_PAYLOAD_MAX)
		KUNIT_EXPECT_EQ(test, out[out_len], 0xee);
	KUNIT_EXPECT_MEMEQ(test, fake_last_cmd(test->priv)->in, in, in_len);
}

static void admin_entry_is_complete(struct kunit *test)
{
	struct fake *f = test->priv;
	u8 in[20], out[24];
	const struct kiwi_aq_entry *entry;

	fill(in, sizeof(in), 3);
	KUNIT_ASSERT_EQ(test, fake_echo(f, in, sizeof(in), out, sizeof(out), NULL), 0);
	entry = &fake_last_cmd(f)->entry;
	KUNIT_EXPECT_EQ(test, le16_to_cpu(entry->opcode), FAKE_ECHO);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(entry->in_len), 20);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(entry->out_len), 24);
	KUNIT_EXPECT_MEMEQ(test, entry->in, in, sizeof(in));
}

static void admin_empty_payloads(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, fake_ping(test->priv), 0);
}

static void admin_input_of_32_is_inline(struct kunit *test)
{
	echoes(test, KIWI_AQ_INLINE, 8);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(fake_last_cmd(test->priv)->entry.in_addr), 0);
}

static void admin_input_of_33_is_indirect(struct kunit *test)
{
	echoes(test, KIWI_AQ_INLINE + 1, 8);
	KUNIT_EXPECT_NE(test, le64_to_cpu(fake_last_cmd(test->priv)->entry.in_addr), 0);
}

static void admin_reply_of_32_is_inline(struct kunit *test)
{
	echoes(test, 8, KIWI_AQ_INLINE);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(fake_last_cmd(test->priv)->entry.out_addr), 0);
}

static void admin_reply_of_33_is_indirect(struct kunit *test)
{
	echoes(test, 8, KIWI_AQ_INLINE + 1);
	KUNIT_EXPECT_NE(test, le64_to_cpu(fake_last_cmd(test->priv)->entry.out_addr), 0);
}

static void admin_largest_payloads(struct kunit *test)
{
	echoes(test, KIWI_AQ_PAYLOAD_MAX, KIWI_AQ_PAYLOAD_MAX);
}

/* What an earlier command left in the buffer does not pass for a part of the reply. */
static void admin_reply_buffer_is_cleared(struct kunit *test)
{
	echoes(test, 200, 200);
	echoes(test, 50, 200);
}

static void admin_error_may_be_null(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_EXPECT_EQ(test, kiwi_fw_exec(&f->fw, 0x7fff, NULL, 0, NULL, 0, NULL), -EOPNOTSUPP);
}

static void admin_order_is_that_of_calls(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int first = f->nr_cmds;
	u32 n;

	for (n = 0; n < 20; n++)
		KUNIT_ASSERT_EQ(test, fake_echo(f, &n, sizeof(n), NULL, 0, NULL), 0);
	for (n = 0; n < 20; n++)
		KUNIT_EXPECT_EQ(test, *(u32 *)fake_cmd(f, first + n)->in, n);
}

static void admin_rings_wrap(struct kunit *test)
{
	struct fake *f = test->priv;
	u32 n, out, rounds = 5 * BIT(f->fw.admin.log2) + 3;

	for (n = 0; n < rounds; n++) {
		out = ~n;
		KUNIT_ASSERT_EQ(test, fake_echo(f, &n, sizeof(n), &out, sizeof(out), NULL), 0);
		KUNIT_ASSERT_EQ(test, out, n);
	}
	KUNIT_EXPECT_EQ(test, f->fw.admin.pi, f->nr_cmds);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_RESCUED), 0);
}

/* indices are free-running modulo 2^32. */
static void admin_indices_wrap(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_admin *admin = &f->fw.admin;
	u32 n, size = BIT(admin->log2);

	/* As 2^32 - 3 entries leave the ring: the last three are of the pass before. */
	for (n = 0; n < size; n++)
		admin->acq[n].flags = n < size - 3 ? 0 : KIWI_ACQ_PHASE;
	admin->pi = -3;
	admin->ci = -3;
	f->aq_ci = -3;
	f->acq_pi = -3;
	f->acq_ci = -3;
	for (n = 0; n < 2 * size; n++)
		KUNIT_ASSERT_EQ(test, fake_ping(f), 0);
	KUNIT_EXPECT_EQ(test, admin->pi, 2 * size - 3);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_RESCUED), 0);
}

static void admin_consumer_index_follows(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, fake_ping(f), 0);
	FAKE_EXPECT_SOON(test, READ_ONCE(f->acq_ci) == f->acq_pi);
	KUNIT_EXPECT_TRUE(test, f->aq_armed);
}

static void admin_replies_out_of_order(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_call *calls[3];
	unsigned int first = f->nr_cmds;
	u32 n;

	f->hold = true;
	for (n = 0; n < 3; n++) {
		calls[n] = fake_call(f, FAKE_ECHO, &n, sizeof(n), sizeof(n));
		KUNIT_ASSERT_TRUE(test, FAKE_UNTIL(READ_ONCE(f->nr_cmds) == first + n + 1));
	}
	for (n = 3; n--;) {
		fake_complete(f, fake_cmd(f, first + n));
		KUNIT_EXPECT_EQ(test, fake_wait(calls[n]), 0);
		KUNIT_EXPECT_EQ(test, *(u32 *)calls[n]->out, n);
		KUNIT_EXPECT_TRUE(test, !n || !READ_ONCE(calls[0]->done));
	}
}

static void admin_ids_in_flight_differ(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n, m, size = BIT(f->fw.admin.log2), first = f->nr_cmds;
	struct fake_call *calls[BIT(3)];

	KUNIT_ASSERT_EQ(test, size, ARRAY_SIZE(calls));
	f->hold = true;
	for (n = 0; n < size; n++)
		calls[n] = fake_call(f, FAKE_ECHO, &n, sizeof(n), 0);
	KUNIT_ASSERT_TRUE(test, FAKE_UNTIL(READ_ONCE(f->nr_cmds) == first + size));
	for (n = 0; n < size; n++) {
		for (m = 0; m < n; m++)
			KUNIT_EXPECT_NE(test, le16_to_cpu(fake_cmd(f, first + n)->entry.cmd_id),
					le16_to_cpu(fake_cmd(f, first + m)->entry.cmd_id));
	}
	for (n = 0; n < size; n++)
		fake_complete(f, fake_cmd(f, first + n));
	for (n = 0; n < size; n++)
		KUNIT_EXPECT_EQ(test, fake_wait(calls[n]), 0);
}

/* A stray completion of the command before must not meet the next one of the slot. */
static void admin_id_changes_with_each_use(struct kunit *test)
{
	struct fake *f = test->priv;
	u16 before;

	KUNIT_ASSERT_EQ(test, fake_ping(f), 0);
	before = le16_to_cpu(fake_last_cmd(f)->entry.cmd_id);
	KUNIT_ASSERT_EQ(test, fake_ping(f), 0);
	KUNIT_EXPECT_NE(test, before, le16_to_cpu(fake_last_cmd(f)->entry.cmd_id));
}

static void admin_waits_for_a_slot(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n, size = BIT(f->fw.admin.log2), first = f->nr_cmds;
	struct fake_call *calls[BIT(3) + 1];

	f->hold = true;
	for (n = 0; n <= size; n++)
		calls[n] = fake_call(f, FAKE_ECHO, &n, sizeof(n), 0);
	KUNIT_ASSERT_TRUE(test, FAKE_UNTIL(READ_ONCE(f->fw.admin.users) == size + 1));
	msleep(20);
	KUNIT_EXPECT_EQ(test, READ_ONCE(f->nr_cmds), first + size);
	fake_complete(f, fake_cmd(f, first));
	FAKE_EXPECT_SOON(test, READ_ONCE(f->nr_cmds) == first + size + 1);
	for (n = 1; n <= size; n++)
		fake_complete(f, fake_cmd(f, first + n));
	for (n = 0; n <= size; n++)
		KUNIT_EXPECT_EQ(test, fake_wait(calls[n]), 0);
}

/* Who waits for memory holds slots, and memory may have to wait for a command. */
static void admin_last_slot_is_for_inline(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n, size = BIT(f->fw.admin.log2), first = f->nr_cmds;
	struct fake_call *calls[BIT(3)], *inline_call;
	u8 in[KIWI_AQ_INLINE + 1] = {};

	f->hold = true;
	for (n = 0; n < size; n++)
		calls[n] = fake_call(f, FAKE_ECHO, in, sizeof(in), 0);
	KUNIT_ASSERT_TRUE(test, FAKE_UNTIL(READ_ONCE(f->fw.admin.users) == size));
	msleep(20);
	KUNIT_EXPECT_EQ(test, READ_ONCE(f->nr_cmds), first + size - 1);
	inline_call = fake_call(f, FAKE_ECHO, in, KIWI_AQ_INLINE, 0);
	FAKE_EXPECT_SOON(test, READ_ONCE(f->nr_cmds) == first + size);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(fake_last_cmd(f)->entry.in_len), KIWI_AQ_INLINE);
	fake_complete(f, fake_last_cmd(f));
	KUNIT_EXPECT_EQ(test, fake_wait(inline_call), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(f->nr_cmds), first + size);
	fake_complete(f, fake_cmd(f, first));
	FAKE_EXPECT_SOON(test, READ_ONCE(f->nr_cmds) == first + size + 1);
	for (n = 1; n < size - 1; n++)
		fake_complete(f, fake_cmd(f, first + n));
	fake_complete(f, fake_last_cmd(f));
	for (n = 0; n < size; n++)
		KUNIT_EXPECT_EQ(test, fake_wait(calls[n]), 0);
}

struct submitter {
	struct work_struct work;
	struct fake *f;
	u32 id;
	unsigned int wrong;
};

static void submit(struct work_struct *work)
{
	struct submitter *s = container_of(work, struct submitter, work);
	unsigned int n;
	u64 in[6], out[6];

	for (n = 0; n < ROUNDS; n++) {
		memset(in, n, sizeof(in));
		in[0] = (u64)s->id << 32 | n;
		/* Inline and indirect in turn. */
		if (fake_echo(s->f, in, n % 2 ? 48 : 16, out, n % 2 ? 48 : 16, NULL) ||
		    memcmp(in, out, n % 2 ? 48 : 16))
			s->wrong++;
	}
}

static void admin_concurrent_submitters(struct kunit *test)
{
	struct fake *f = test->priv;
	struct submitter *s = kunit_kcalloc(test, SUBMITTERS, sizeof(*s), GFP_KERNEL);
	unsigned int n, first = f->nr_cmds;

	KUNIT_ASSERT_NOT_NULL(test, s);
	for (n = 0; n < SUBMITTERS; n++) {
		s[n].f = f;
		s[n].id = n;
		INIT_WORK(&s[n].work, submit);
		queue_work(f->callers, &s[n].work);
	}
	for (n = 0; n < SUBMITTERS; n++) {
		flush_work(&s[n].work);
		KUNIT_EXPECT_EQ(test, s[n].wrong, 0);
	}
	KUNIT_EXPECT_EQ(test, f->nr_cmds, first + SUBMITTERS * ROUNDS);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(f->fw.admin.used, KIWI_FW_SLOTS_MAX));
}

static void admin_counts_commands(struct kunit *test)
{
	struct fake *f = test->priv;
	int before = fake_count(f, KIWI_FW_COMMANDS);

	KUNIT_ASSERT_EQ(test, before, f->nr_cmds);
	KUNIT_ASSERT_EQ(test, fake_ping(f), 0);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_COMMANDS), before + 1);
}

static void refuse(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	reply->status = cpu_to_le16(KIWI_ST_NO_RESOURCE);
	reply->out_len = 0;
	reply->err_field = cpu_to_le16(4);
	reply->err_value = cpu_to_le64(0x123456789aULL);
	reply->err_limit = cpu_to_le64(0x12345678ULL);
}

static void admin_refusal_is_told(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_err err;
	u64 in = 0, out = 42;

	f->reply = refuse;
	KUNIT_EXPECT_EQ(test, fake_echo(f, &in, sizeof(in), &out, sizeof(out), &err), -ENOSPC);
	KUNIT_EXPECT_EQ(test, err.status, KIWI_ST_NO_RESOURCE);
	KUNIT_EXPECT_EQ(test, err.field, 4);
	KUNIT_EXPECT_EQ(test, err.value, 0x123456789aULL);
	KUNIT_EXPECT_EQ(test, err.limit, 0x12345678ULL);
	KUNIT_EXPECT_EQ(test, out, 42);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_REFUSED), 1);
}

static void admin_refusal_leaves_it_up(struct kunit *test)
{
	struct fake *f = test->priv;
	u64 in = 0;

	f->reply = refuse;
	KUNIT_EXPECT_EQ(test, fake_echo(f, &in, sizeof(in), NULL, 0, NULL), -ENOSPC);
	f->reply = NULL;
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
	KUNIT_EXPECT_EQ(test, fake_ping(f), 0);
}

static void admin_success_clears_the_error(struct kunit *test)
{
	struct kiwi_fw_err err = { .status = 1, .field = 2, .value = 3, .limit = 4 };

	KUNIT_EXPECT_EQ(test, fake_echo(test->priv, NULL, 0, NULL, 0, &err), 0);
	KUNIT_EXPECT_EQ(test, err.status, KIWI_ST_OK);
	KUNIT_EXPECT_EQ(test, err.field, KIWI_ERR_FIELD_NONE);
	KUNIT_EXPECT_EQ(test, err.value, 0);
	KUNIT_EXPECT_EQ(test, err.limit, 0);
}

static void admin_status_errnos(struct kunit *test)
{
	static const int errnos[KIWI_ST_COUNT] = {
		[KIWI_ST_BAD_OPCODE] = -EOPNOTSUPP, [KIWI_ST_BAD_LENGTH] = -EINVAL,
		[KIWI_ST_BAD_RESERVED] = -EINVAL, [KIWI_ST_BAD_PARAM] = -EINVAL,
		[KIWI_ST_BAD_HANDLE] = -ENOENT, [KIWI_ST_BAD_STATE] = -EINVAL,
		[KIWI_ST_NO_RESOURCE] = -ENOSPC, [KIWI_ST_BUSY] = -EBUSY,
		[KIWI_ST_UNSUPPORTED] = -EOPNOTSUPP, [KIWI_ST_DMA_ERROR] = -EFAULT,
		[KIWI_ST_NOT_READY] = -EIO, [KIWI_ST_INTERNAL] = -EREMOTEIO,
	};
	u16 status;

	for (status = 0; status < KIWI_ST_COUNT; status++)
		KUNIT_EXPECT_EQ(test, kiwi_fw_status_errno(status), errnos[status]);
}

static void admin_status_beyond_the_last(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, kiwi_fw_status_errno(KIWI_ST_COUNT), -EPROTO);
	KUNIT_EXPECT_EQ(test, kiwi_fw_status_errno(U16_MAX), -EPROTO);
	KUNIT_EXPECT_STREQ(test, kiwi_fw_status_str(KIWI_ST_COUNT), "unknown status");
}

static void admin_statuses_have_words(struct kunit *test)
{
	u16 a, b;

	KUNIT_EXPECT_STREQ(test, kiwi_fw_status_str(KIWI_ST_OK), "ok");
	KUNIT_EXPECT_STREQ(test, kiwi_fw_status_str(KIWI_ST_BUSY), "object is in use");
	for (a = 0; a < KIWI_ST_COUNT; a++) {
		KUNIT_ASSERT_NOT_NULL(test, kiwi_fw_status_str(a));
		for (b = 0; b < a; b++)
			KUNIT_EXPECT_STRNEQ(test, kiwi_fw_status_str(a), kiwi_fw_status_str(b));
	}
}

static void admin_ring_is_as_large_as_allowed(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_EXPECT_EQ(test, fake_get(f, KIWI_REG_AQ_CFG), FIELD_PREP(KIWI_AQ_CFG_LOG2, 3));
}

static struct kunit_case admin_cases[] = {
	KUNIT_CASE(admin_entry_is_complete),
	KUNIT_CASE(admin_empty_payloads),
	KUNIT_CASE(admin_input_of_32_is_inline),
	KUNIT_CASE(admin_input_of_33_is_indirect),
	KUNIT_CASE(admin_reply_of_32_is_inline),
	KUNIT_CASE(admin_reply_of_33_is_indirect),
	KUNIT_CASE(admin_largest_payloads),
	KUNIT_CASE(admin_reply_buffer_is_cleared),
	KUNIT_CASE(admin_error_may_be_null),
	KUNIT_CASE(admin_order_is_that_of_calls),
	KUNIT_CASE(admin_rings_wrap),
	KUNIT_CASE(admin_indices_wrap),
	KUNIT_CASE(admin_consumer_index_follows),
	KUNIT_CASE(admin_replies_out_of_order),
	KUNIT_CASE(admin_ids_in_flight_differ),
	KUNIT_CASE(admin_id_changes_with_each_use),
	KUNIT_CASE(admin_waits_for_a_slot),
	KUNIT_CASE(admin_last_slot_is_for_inline),
	KUNIT_CASE(admin_concurrent_submitters),
	KUNIT_CASE(admin_counts_commands),
	KUNIT_CASE(admin_refusal_is_told),
	KUNIT_CASE(admin_refusal_leaves_it_up),
	KUNIT_CASE(admin_success_clears_the_error),
	KUNIT_CASE(admin_status_errnos),
	KUNIT_CASE(admin_status_beyond_the_last),
	KUNIT_CASE(admin_statuses_have_words),
	KUNIT_CASE(admin_ring_is_as_large_as_allowed),
	{}
};

static struct kunit_suite admin_suite = {
	.name = "kiwi_fw_admin",
	.init = fake_init_started,
	.exit = fake_exit,
	.test_cases = admin_cases,
};

kunit_test_suite(admin_suite);
