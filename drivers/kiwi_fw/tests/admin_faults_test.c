// SPDX-License-Identifier: GPL-2.0
/* The admin queue with a device that is late, silent, wrong or gone. */
#include "fake.h"

#define SHORT_MS	100

/* The limit as the driver read it at the start. */
static void set_timeout(struct fake *f, u32 ms)
{
	f->fw.limits[KIWI_FW_CMD_TIMEOUT_MS] = ms;
}

static void expect_down(struct kunit *test, enum kiwi_reset_reason reason, int error)
{
	struct fake *f = test->priv;

	KUNIT_EXPECT_FALSE(test, kiwi_fw_is_up(&f->fw));
	KUNIT_EXPECT_EQ(test, kiwi_fw_error(&f->fw), error);
	KUNIT_EXPECT_FALSE(test, fake_is_master(f));
	FAKE_EXPECT_SOON(test, READ_ONCE(f->downs) == 1);
	KUNIT_EXPECT_EQ(test, f->down_reason, reason);
}

/* All callers sleep: by the time limit that was in force then. */
static bool callers_sleep(struct fake *f)
{
	struct kiwi_fw_admin *admin = &f->fw.admin;
	unsigned long n;

	for_each_set_bit(n, admin->used, KIWI_FW_SLOTS_MAX) {
		if (!swait_active(&admin->slots[n].done.wait))
			return false;
	}
	return true;
}

static struct fake_call *held_call(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int before = f->nr_cmds;
	u64 in = 0x1234;
	struct fake_call *call;

	f->hold = true;
	call = fake_call(f, FAKE_ECHO, &in, sizeof(in), sizeof(in));
	KUNIT_ASSERT_TRUE(test, FAKE_UNTIL(READ_ONCE(f->nr_cmds) == before + 1 &&
					   callers_sleep(f)));
	return call;
}

static void faults_timeout(struct kunit *test)
{
	struct fake *f = test->priv;

	set_timeout(f, SHORT_MS);
	f->hold = true;
	KUNIT_EXPECT_EQ(test, fake_ping(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_TIMEOUTS), 1);
	expect_down(test, KIWI_RESET_TIMEOUT, -EIO);
}

static void faults_timeout_is_not_early(struct kunit *test)
{
	struct fake *f = test->priv;
	ktime_t start = ktime_get();

	set_timeout(f, SHORT_MS);
	f->hold = true;
	KUNIT_EXPECT_EQ(test, fake_ping(f), -ETIMEDOUT);
	KUNIT_EXPECT_GE(test, ktime_ms_delta(ktime_get(), start), (s64)SHORT_MS);
}

/* the id shall not be used again before the reply came, or a reset. */
static void faults_timeout_keeps_the_slot(struct kunit *test)
{
	struct fake *f = test->priv;

	set_timeout(f, SHORT_MS);
	f->hold = true;
	KUNIT_EXPECT_EQ(test, fake_ping(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, bitmap_weight(f->fw.admin.used, KIWI_FW_SLOTS_MAX), 1);
}

static void faults_late_reply(struct kunit *test)
{
	struct fake *f = test->priv;

	set_timeout(f, SHORT_MS);
	f->hold = true;
	KUNIT_EXPECT_EQ(test, fake_ping(f), -ETIMEDOUT);
	fake_complete(f, fake_last_cmd(f));
	FAKE_EXPECT_SOON(test, fake_count(f, KIWI_FW_LATE_REPLIES) == 1);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_UNEXPECTED_REPLIES), 0);
	KUNIT_EXPECT_EQ(test, bitmap_weight(f->fw.admin.used, KIWI_FW_SLOTS_MAX), 1);
}

static void faults_timeout_ends_the_others(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_call *other = held_call(test);

	set_timeout(f, SHORT_MS);
	KUNIT_EXPECT_EQ(test, fake_ping(f), -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, fake_wait(other), -EIO);
}

static void faults_restart_after_timeout(struct kunit *test)
{
	struct fake *f = test->priv;

	set_timeout(f, SHORT_MS);
	f->hold = true;
	KUNIT_EXPECT_EQ(test, fake_ping(f), -ETIMEDOUT);
	f->hold = false;
	kiwi_fw_stop(&f->fw, KIWI_RESET_TIMEOUT);
	KUNIT_EXPECT_EQ(test, f->reset_reason, KIWI_RESET_TIMEOUT);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(f->fw.admin.used, KIWI_FW_SLOTS_MAX));
	KUNIT_EXPECT_EQ(test, fake_ping(f), 0);
}

static void faults_lost_interrupt(struct kunit *test)
{
	struct fake *f = test->priv;
	u64 in = 7, out = 0;

	set_timeout(f, 4 * SHORT_MS);
	f->no_interrupts = true;
	KUNIT_EXPECT_EQ(test, fake_echo(f, &in, sizeof(in), &out, sizeof(out), NULL), 0);
	KUNIT_EXPECT_EQ(test, out, 7);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_RESCUED), 1);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
}

/* The interrupt of one command takes along another's completion: nothing is lost. */
static void faults_interrupt_for_two(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_call *a = held_call(test), *b = held_call(test);

	f->no_interrupts = true;
	fake_complete(f, fake_cmd(f, f->nr_cmds - 2));
	f->no_interrupts = false;
	f->aq_armed = true;
	fake_complete(f, fake_last_cmd(f));
	KUNIT_EXPECT_EQ(test, fake_wait(a), 0);
	KUNIT_EXPECT_EQ(test, fake_wait(b), 0);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_RESCUED), 0);
}

static void faults_spurious_interrupt(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_call *call = held_call(test);
	u32 ci = f->fw.admin.ci;

	FAKE_EXPECT_SOON(test, READ_ONCE(f->aq_armed));
	f->aq_armed = false;
	KUNIT_EXPECT_FALSE(test, kiwi_fw_admin_irq(&f->fw));
	KUNIT_EXPECT_EQ(test, f->fw.admin.ci, ci);
	KUNIT_EXPECT_FALSE(test, f->aq_armed);	/* or it would come without end */
	f->aq_armed = true;
	KUNIT_EXPECT_FALSE(test, READ_ONCE(call->done));
	fake_complete(f, fake_last_cmd(f));
	KUNIT_EXPECT_EQ(test, fake_wait(call), 0);
}

/* An entry of the pass before is not taken for one of this pass. */
static void faults_stale_phase(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n, size = BIT(f->fw.admin.log2);
	struct fake_call *call;

	for (n = f->nr_cmds; n % size; n++)
		KUNIT_ASSERT_EQ(test, fake_ping(f), 0);
	call = held_call(test);
	f->fw.admin.acq[n & (size - 1)].cmd_id = fake_last_cmd(f)->entry.cmd_id;
	kiwi_fw_admin_irq(&f->fw);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(call->done));
	fake_complete(f, fake_last_cmd(f));
	KUNIT_EXPECT_EQ(test, fake_wait(call), 0);
}

static void faults_reply_to_nothing(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_acq_entry reply = { .cmd_id = cpu_to_le16(0xfff0) };

	fake_write_reply(f, &reply);
	FAKE_EXPECT_SOON(test, fake_count(f, KIWI_FW_UNEXPECTED_REPLIES) == 1);
	KUNIT_EXPECT_EQ(test, fake_ping(f), 0);
}

static void faults_reply_twice(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_acq_entry reply;
	struct fake_call *call;

	KUNIT_ASSERT_EQ(test, fake_ping(f), 0);
	reply = f->acq[(f->acq_pi - 1) & (BIT(f->fw.admin.log2) - 1)];
	call = held_call(test);
	/* Same slot, the command before. */
	fake_write_reply(f, &reply);
	FAKE_EXPECT_SOON(test, fake_count(f, KIWI_FW_UNEXPECTED_REPLIES) == 1);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(call->done));
	fake_complete(f, fake_last_cmd(f));
	KUNIT_EXPECT_EQ(test, fake_wait(call), 0);
	KUNIT_EXPECT_EQ(test, *(u64 *)call->out, 0x1234);
}

typedef void (*reply_fn)(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply);

static void bad_reply(struct kunit *test, reply_fn reply)
{
	struct fake *f = test->priv;
	u64 in = 1, out = 99;
	struct kiwi_fw_err err;

	f->reply = reply;
	KUNIT_EXPECT_EQ(test, fake_echo(f, &in, sizeof(in), &out, sizeof(out), &err), -EPROTO);
	KUNIT_EXPECT_EQ(test, out, 99);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_BAD_REPLIES), 1);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_REFUSED), 0);
	expect_down(test, KIWI_RESET_PROTOCOL, -EIO);
}

static void wrong_opcode(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	reply->opcode = cpu_to_le16(FAKE_ECHO + 1);
}

static void faults_reply_with_wrong_opcode(struct kunit *test)
{
	bad_reply(test, wrong_opcode);
}

static void wrong_status(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	reply->status = cpu_to_le16(KIWI_ST_COUNT);
	reply->out_len = 0;
}

static void faults_reply_with_unknown_status(struct kunit *test)
{
	bad_reply(test, wrong_status);
}

static void short_reply(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	reply->out_len = cpu_to_le16(7);
}

static void faults_reply_too_short(struct kunit *test)
{
	bad_reply(test, short_reply);
}

static void long_reply(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	reply->out_len = cpu_to_le16(9);
}

static void faults_reply_too_long(struct kunit *test)
{
	bad_reply(test, long_reply);
}

static void error_with_payload(struct fake *f, const struct fake_cmd *cmd,
			       struct kiwi_acq_entry *reply)
{
	reply->status = cpu_to_le16(KIWI_ST_BUSY);
}

static void faults_error_with_payload(struct kunit *test)
{
	bad_reply(test, error_with_payload);
}

static void error_field(struct kiwi_acq_entry *reply, u16 field)
{
	reply->status = cpu_to_le16(KIWI_ST_BUSY);
	reply->out_len = 0;
	reply->err_field = cpu_to_le16(field);
}

static void field_beyond(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	error_field(reply, 8);
}

static void faults_error_field_beyond_the_input(struct kunit *test)
{
	bad_reply(test, field_beyond);
}

static void field_last(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	error_field(reply, 7);
}

static void faults_error_field_at_the_last_byte(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_err err;
	u64 in = 1;

	f->reply = field_last;
	KUNIT_EXPECT_EQ(test, fake_echo(f, &in, sizeof(in), NULL, 0, &err), -EBUSY);
	KUNIT_EXPECT_EQ(test, err.field, 7);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
}

static void not_ready(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	reply->status = cpu_to_le16(KIWI_ST_NOT_READY);
	reply->out_len = 0;
}

static void faults_not_ready_means_reset(struct kunit *test)
{
	struct fake *f = test->priv;

	f->reply = not_ready;
	KUNIT_EXPECT_EQ(test, fake_ping(f), -EIO);
	expect_down(test, KIWI_RESET_FATAL, -EIO);
}

static void faults_fail_ends_commands(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_call *call = held_call(test);

	kiwi_fw_fail(&f->fw, KIWI_RESET_FATAL);
	KUNIT_EXPECT_EQ(test, fake_wait(call), -EIO);
	KUNIT_EXPECT_EQ(test, fake_ping(f), -EIO);
	expect_down(test, KIWI_RESET_FATAL, -EIO);
}

static void faults_vanished_ends_commands(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_call *call = held_call(test);

	f->gone = true;
	kiwi_fw_vanished(&f->fw);
	KUNIT_EXPECT_EQ(test, fake_wait(call), -ENODEV);
	KUNIT_EXPECT_EQ(test, fake_ping(f), -ENODEV);
	expect_down(test, KIWI_RESET_REMOVE, -ENODEV);
	KUNIT_EXPECT_EQ(test, f->gone_accesses, 0);
}

static void faults_hold_keeps_commands_back(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int before = f->nr_cmds;
	struct fake_call *call;

	kiwi_fw_admin_hold(&f->fw);
	call = fake_call(f, FAKE_ECHO, NULL, 0, 0);
	KUNIT_ASSERT_TRUE(test, FAKE_UNTIL(READ_ONCE(f->fw.admin.users)));
	msleep(20);
	KUNIT_EXPECT_EQ(test, READ_ONCE(f->nr_cmds), before);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(call->done));
	kiwi_fw_admin_abort(&f->fw, -ENODEV);
	KUNIT_EXPECT_EQ(test, fake_wait(call), -ENODEV);
	KUNIT_EXPECT_EQ(test, f->nr_cmds, before);
}

static void faults_stop_ends_commands(struct kunit *test)
{
	struct fake *f = test->priv;
	struct fake_call *call = held_call(test);

	f->hold = false;
	kiwi_fw_stop(&f->fw, KIWI_RESET_REMOVE);
	KUNIT_EXPECT_EQ(test, fake_wait(call), -ENODEV);
	KUNIT_EXPECT_EQ(test, fake_ping(f), -ENODEV);
	KUNIT_EXPECT_EQ(test, f->downs, 0);
}

static struct kunit_case faults_cases[] = {
	KUNIT_CASE(faults_timeout),
	KUNIT_CASE(faults_timeout_is_not_early),
	KUNIT_CASE(faults_timeout_keeps_the_slot),
	KUNIT_CASE(faults_late_reply),
	KUNIT_CASE(faults_timeout_ends_the_others),
	KUNIT_CASE(faults_restart_after_timeout),
	KUNIT_CASE(faults_lost_interrupt),
	KUNIT_CASE(faults_interrupt_for_two),
	KUNIT_CASE(faults_spurious_interrupt),
	KUNIT_CASE(faults_stale_phase),
	KUNIT_CASE(faults_reply_to_nothing),
	KUNIT_CASE(faults_reply_twice),
	KUNIT_CASE(faults_reply_with_wrong_opcode),
	KUNIT_CASE(faults_reply_with_unknown_status),
	KUNIT_CASE(faults_reply_too_short),
	KUNIT_CASE(faults_reply_too_long),
	KUNIT_CASE(faults_error_with_payload),
	KUNIT_CASE(faults_error_field_beyond_the_input),
	KUNIT_CASE(faults_error_field_at_the_last_byte),
	KUNIT_CASE(faults_not_ready_means_reset),
	KUNIT_CASE(faults_fail_ends_commands),
	KUNIT_CASE(faults_vanished_ends_commands),
	KUNIT_CASE(faults_hold_keeps_commands_back),
	KUNIT_CASE(faults_stop_ends_commands),
	{}
};

static struct kunit_suite faults_suite = {
	.name = "kiwi_fw_admin_faults",
	.init = fake_init_started,
	.exit = fake_exit,
	.test_cases = faults_cases,
};

kunit_test_suite(faults_suite);
