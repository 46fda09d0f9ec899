// SPDX-License-Identifier: GPL-2.0
/* Start, stop, reset, failure, and the watch over the device's health. */
#include "fake.h"

#define SERVING	(KIWI_DEV_STS_READY | KIWI_DEV_STS_ENABLED)

static int start(struct kunit *test)
{
	struct fake *f = test->priv;

	return kiwi_fw_start(&f->fw);
}

static void life_start_of_a_pristine_device(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
	KUNIT_EXPECT_EQ(test, kiwi_fw_error(&f->fw), 0);
	KUNIT_EXPECT_TRUE(test, fake_is_master(f));
	KUNIT_EXPECT_TRUE(test, f->irqs[0].requested);
	KUNIT_EXPECT_TRUE(test, f->irqs[2].requested);
}

static void life_start_of_a_device_in_use(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, SERVING);
	KUNIT_ASSERT_EQ(test, start(test), 0);
	KUNIT_EXPECT_EQ(test, f->resets, 1);
	KUNIT_EXPECT_EQ(test, f->reset_reason, KIWI_RESET_PROBE);
}

static void life_start_of_a_device_in_fatal_state(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, KIWI_DEV_STS_READY | KIWI_DEV_STS_FATAL);
	KUNIT_ASSERT_EQ(test, start(test), 0);
	KUNIT_EXPECT_EQ(test, f->resets, 1);
}

/* During a reset FATAL may still be that of before: the end is waited for. */
static void life_start_waits_for_a_reset(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, KIWI_DEV_STS_RESETTING | KIWI_DEV_STS_FATAL);
	KUNIT_EXPECT_EQ(test, start(test), -ETIMEDOUT);
}

static void life_reset_that_does_not_end(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, SERVING);
	f->reset_sticks = true;
	KUNIT_EXPECT_EQ(test, start(test), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, fake_is_master(f));
	f->reset_sticks = false;
	fake_set(f, KIWI_REG_DEV_STS, KIWI_DEV_STS_READY);
	KUNIT_EXPECT_EQ(test, start(test), 0);
}

static void life_reset_into_fatal_state(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, SERVING);
	f->reset_fatal = true;
	KUNIT_EXPECT_EQ(test, start(test), -EIO);
}

static void life_reset_without_a_new_generation(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, SERVING);
	f->same_generation = true;
	KUNIT_EXPECT_EQ(test, start(test), -EPROTO);
}

static void life_never_enabled(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_CMD_TIMEOUT_MS, 50);
	f->stays_disabled = true;
	KUNIT_EXPECT_EQ(test, start(test), -ETIMEDOUT);
	KUNIT_EXPECT_FALSE(test, f->irqs[0].requested);
	KUNIT_EXPECT_NULL(test, f->fw.admin.aq);
	KUNIT_EXPECT_NULL(test, f->fw.admin.acq);
}

static void caps_refused(struct fake *f, const struct fake_cmd *cmd, struct kiwi_acq_entry *reply)
{
	reply->status = cpu_to_le16(KIWI_ST_UNSUPPORTED);
}

static void life_host_caps_refused(struct kunit *test)
{
	struct fake *f = test->priv;

	f->reply = caps_refused;
	KUNIT_EXPECT_EQ(test, start(test), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, f->nr_cmds, 1);
	KUNIT_EXPECT_EQ(test, f->resets, 1);
}

static void life_stop_resets(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	kiwi_fw_stop(&f->fw, KIWI_RESET_SHUTDOWN);
	KUNIT_EXPECT_EQ(test, f->resets, 1);
	KUNIT_EXPECT_EQ(test, f->reset_reason, KIWI_RESET_SHUTDOWN);
	KUNIT_EXPECT_FALSE(test, fake_is_master(f));
	KUNIT_EXPECT_EQ(test, kiwi_fw_error(&f->fw), -ENODEV);
	KUNIT_EXPECT_FALSE(test, f->irqs[0].requested || f->irqs[1].requested);
	KUNIT_EXPECT_EQ(test, f->downs, 0);
}

static void life_stop_twice(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	kiwi_fw_stop(&f->fw, KIWI_RESET_REMOVE);
	kiwi_fw_stop(&f->fw, KIWI_RESET_SHUTDOWN);
	KUNIT_EXPECT_EQ(test, f->resets, 1);
	KUNIT_EXPECT_EQ(test, f->reset_reason, KIWI_RESET_REMOVE);
}

static void life_stop_gives_memory_back(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	KUNIT_EXPECT_NOT_NULL(test, f->fw.admin.aq);
	KUNIT_EXPECT_NOT_NULL(test, f->fw.async.ring);
	kiwi_fw_stop(&f->fw, KIWI_RESET_REMOVE);
	KUNIT_EXPECT_NULL(test, f->fw.admin.aq);
	KUNIT_EXPECT_NULL(test, f->fw.admin.acq);
	KUNIT_EXPECT_NULL(test, f->fw.async.ring);
	for (n = 0; n < FAKE_COMP_EQS; n++)
		KUNIT_EXPECT_NULL(test, f->comp_eqs[n].ring);
	for (n = 0; n < KIWI_FW_SLOTS_MAX; n++)
		KUNIT_EXPECT_NULL(test, f->fw.admin.slots[n].in.cpu);
}

static void life_many_restarts(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n;

	for (n = 0; n < 20; n++) {
		KUNIT_ASSERT_EQ(test, start(test), 0);
		kiwi_fw_enable_events(&f->fw);
		KUNIT_ASSERT_EQ(test, fake_ping(f), 0);
		KUNIT_EXPECT_EQ(test, kiwi_fw_identity(&f->fw)->generation, n);
		kiwi_fw_stop(&f->fw, KIWI_RESET_USER);
	}
	KUNIT_EXPECT_EQ(test, f->resets, 20);
}

static void life_fail_once(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	kiwi_fw_fail(&f->fw, KIWI_RESET_PROTOCOL);
	kiwi_fw_fail(&f->fw, KIWI_RESET_FATAL);
	FAKE_EXPECT_SOON(test, READ_ONCE(f->downs) == 1);
	flush_workqueue(f->fw.wq);
	KUNIT_EXPECT_EQ(test, f->downs, 1);
	KUNIT_EXPECT_EQ(test, f->down_reason, KIWI_RESET_PROTOCOL);
}

static void life_fail_when_stopped(struct kunit *test)
{
	struct fake *f = test->priv;

	kiwi_fw_fail(&f->fw, KIWI_RESET_FATAL);
	flush_workqueue(f->fw.wq);
	KUNIT_EXPECT_EQ(test, f->downs, 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_error(&f->fw), -ENODEV);
	KUNIT_EXPECT_EQ(test, start(test), 0);
}

static void life_restart_after_failure(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	kiwi_fw_fail(&f->fw, KIWI_RESET_FATAL);
	kiwi_fw_stop(&f->fw, KIWI_RESET_FATAL);
	KUNIT_EXPECT_EQ(test, f->reset_reason, KIWI_RESET_FATAL);
	KUNIT_ASSERT_EQ(test, start(test), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_error(&f->fw), 0);
	KUNIT_EXPECT_EQ(test, fake_ping(f), 0);
}

static void life_vanished_is_not_touched(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	f->gone = true;
	kiwi_fw_vanished(&f->fw);
	KUNIT_EXPECT_EQ(test, kiwi_fw_rd32(&f->fw, KIWI_REG_SERIAL), U32_MAX);
	KUNIT_EXPECT_EQ(test, kiwi_fw_rd64(&f->fw, KIWI_REG_SERIAL), U64_MAX);
	kiwi_fw_wr32(&f->fw, KIWI_REG_DEV_CTL, KIWI_DEV_CTL_RESET);
	kiwi_fw_wr64(&f->fw, KIWI_REG_AQ_BASE, 0);
	kiwi_fw_stop(&f->fw, KIWI_RESET_REMOVE);
	KUNIT_EXPECT_EQ(test, f->gone_accesses, 0);
	KUNIT_EXPECT_EQ(test, f->resets, 0);
	f->gone = false;
}

/* A register may hold all-ones: MAGIC tells that from a device that is gone. */
static void life_all_ones_in_a_register(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_SERIAL, U32_MAX);
	fake_set(f, KIWI_REG_SERIAL + 4, U32_MAX);
	KUNIT_ASSERT_EQ(test, start(test), 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_rd32(&f->fw, KIWI_REG_SERIAL), U32_MAX);
	KUNIT_EXPECT_EQ(test, kiwi_fw_rd64(&f->fw, KIWI_REG_SERIAL), U64_MAX);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
}

static void life_64_bits_are_read_and_written(struct kunit *test)
{
	struct fake *f = test->priv;

	kiwi_fw_wr64(&f->fw, KIWI_REG_AQ_BASE, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, fake_get(f, KIWI_REG_AQ_BASE), 0x55667788);
	KUNIT_EXPECT_EQ(test, fake_get(f, KIWI_REG_AQ_BASE + 4), 0x11223344);
	KUNIT_EXPECT_EQ(test, kiwi_fw_rd64(&f->fw, KIWI_REG_AQ_BASE), 0x1122334455667788ULL);
}

static void life_gone_by_64_bits(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	f->gone = true;
	KUNIT_EXPECT_EQ(test, kiwi_fw_rd64(&f->fw, KIWI_REG_SERIAL), U64_MAX);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_gone(&f->fw));
	KUNIT_EXPECT_EQ(test, kiwi_fw_error(&f->fw), -ENODEV);
	FAKE_EXPECT_SOON(test, READ_ONCE(f->downs) == 1);
	KUNIT_EXPECT_EQ(test, f->down_reason, KIWI_RESET_REMOVE);
}

static void life_down_after_gone_is_told_once(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, start(test), 0);
	kiwi_fw_fail(&f->fw, KIWI_RESET_FATAL);
	KUNIT_EXPECT_EQ(test, kiwi_fw_error(&f->fw), -EIO);
	f->gone = true;
	kiwi_fw_vanished(&f->fw);
	KUNIT_EXPECT_EQ(test, kiwi_fw_error(&f->fw), -ENODEV);
	flush_workqueue(f->fw.wq);
	KUNIT_EXPECT_EQ(test, f->downs, 1);
	f->gone = false;
}

static struct kunit_case life_cases[] = {
	KUNIT_CASE(life_start_of_a_pristine_device),
	KUNIT_CASE(life_start_of_a_device_in_use),
	KUNIT_CASE(life_start_of_a_device_in_fatal_state),
	KUNIT_CASE(life_start_waits_for_a_reset),
	KUNIT_CASE(life_reset_that_does_not_end),
	KUNIT_CASE(life_reset_into_fatal_state),
	KUNIT_CASE(life_reset_without_a_new_generation),
	KUNIT_CASE(life_never_enabled),
	KUNIT_CASE(life_host_caps_refused),
	KUNIT_CASE(life_stop_resets),
	KUNIT_CASE(life_stop_twice),
	KUNIT_CASE(life_stop_gives_memory_back),
	KUNIT_CASE(life_many_restarts),
	KUNIT_CASE(life_fail_once),
	KUNIT_CASE(life_fail_when_stopped),
	KUNIT_CASE(life_restart_after_failure),
	KUNIT_CASE(life_vanished_is_not_touched),
	KUNIT_CASE(life_all_ones_in_a_register),
	KUNIT_CASE(life_64_bits_are_read_and_written),
	KUNIT_CASE(life_gone_by_64_bits),
	KUNIT_CASE(life_down_after_gone_is_told_once),
	{}
};

static struct kunit_suite life_suite = {
	.name = "kiwi_fw_lifecycle",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = life_cases,
};

/* Health ------------------------------------------------------------------------------------- */

static void look(struct fake *f)
{
	kiwi_fw_health_look(&f->fw);
	flush_work(&f->fw.health_work.work);
}

static void expect_failed(struct kunit *test, enum kiwi_reset_reason reason)
{
	struct fake *f = test->priv;

	KUNIT_EXPECT_FALSE(test, kiwi_fw_is_up(&f->fw));
	KUNIT_EXPECT_FALSE(test, fake_is_master(f));
	FAKE_EXPECT_SOON(test, READ_ONCE(f->downs) == 1);
	KUNIT_EXPECT_EQ(test, f->down_reason, reason);
}

static void health_of_a_living_device(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n;

	for (n = 0; n < 10; n++)
		look(f);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&f->fw.health_work));
}

static void health_fatal(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, SERVING | KIWI_DEV_STS_FATAL);
	look(f);
	expect_failed(test, KIWI_RESET_FATAL);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&f->fw.health_work));
}

static void health_silent_restart(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_GENERATION, fake_get(f, KIWI_REG_GENERATION) + 1);
	look(f);
	expect_failed(test, KIWI_RESET_FATAL);
}

static void health_no_longer_enabled(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, KIWI_DEV_STS_READY);
	look(f);
	expect_failed(test, KIWI_RESET_FATAL);
}

static void health_heart_stands_still(struct kunit *test)
{
	struct fake *f = test->priv;

	look(f);
	f->heart_stopped = true;
	look(f);
	look(f);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
	look(f);
	expect_failed(test, KIWI_RESET_FATAL);
}

static void health_heart_beats_again(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n;

	for (n = 0; n < 4; n++) {
		f->heart_stopped = true;
		look(f);
		look(f);
		f->heart_stopped = false;
		look(f);
	}
	KUNIT_EXPECT_TRUE(test, kiwi_fw_is_up(&f->fw));
}

static void health_gone(struct kunit *test)
{
	struct fake *f = test->priv;

	f->gone = true;
	look(f);
	expect_failed(test, KIWI_RESET_REMOVE);
	KUNIT_EXPECT_TRUE(test, kiwi_fw_gone(&f->fw));
}

/* The regular look also finds events whose interrupt was lost. */
static void health_finds_lost_interrupts(struct kunit *test)
{
	struct fake *f = test->priv;

	flush_workqueue(f->fw.wq);
	f->no_interrupts = true;
	fake_event(f, 0, KIWI_EV_PORT_CHANGE, 0, 1);
	look(f);
	FAKE_EXPECT_SOON(test, READ_ONCE(f->nr_events) == 1);
}

/* A look that was due already is made, and none after it. */
static void health_is_not_looked_at_when_down(struct kunit *test)
{
	struct fake *f = test->priv;

	kiwi_fw_fail(&f->fw, KIWI_RESET_PROTOCOL);
	look(f);
	flush_delayed_work(&f->fw.health_work);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&f->fw.health_work));
	expect_failed(test, KIWI_RESET_PROTOCOL);
}

static struct kunit_case health_cases[] = {
	KUNIT_CASE(health_of_a_living_device),
	KUNIT_CASE(health_fatal),
	KUNIT_CASE(health_silent_restart),
	KUNIT_CASE(health_no_longer_enabled),
	KUNIT_CASE(health_heart_stands_still),
	KUNIT_CASE(health_heart_beats_again),
	KUNIT_CASE(health_gone),
	KUNIT_CASE(health_finds_lost_interrupts),
	KUNIT_CASE(health_is_not_looked_at_when_down),
	{}
};

static struct kunit_suite health_suite = {
	.name = "kiwi_fw_health",
	.init = fake_init_started,
	.exit = fake_exit,
	.test_cases = health_cases,
};

kunit_test_suites(&life_suite, &health_suite);
