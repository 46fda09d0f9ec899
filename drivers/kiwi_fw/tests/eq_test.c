// SPDX-License-Identifier: GPL-2.0
/* Event queues: rings, order, loss, listeners, and the end of delivery. */
#include "fake.h"

#define ASYNC	0	/* numbers that the fake device gives, in the order of creation */
#define COMP(n)	(1 + (n))
#define RING	BIT(KIWI_EQ_LOG2_MIN)
#define CQN	0x123

struct listener {
	struct kiwi_fw_comp comp;
	atomic_t calls;
};

static void listener_called(struct kiwi_fw_comp *comp)
{
	atomic_inc(&container_of(comp, struct listener, comp)->calls);
}

static struct listener *listen(struct kunit *test, u32 cqn)
{
	struct fake *f = test->priv;
	struct listener *l = kunit_kzalloc(test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, l);
	l->comp.fn = listener_called;
	KUNIT_ASSERT_EQ(test, kiwi_fw_comp_add(&f->fw, cqn, &l->comp), 0);
	return l;
}

static void unlisten(struct kunit *test, struct listener *l)
{
	struct fake *f = test->priv;

	kiwi_fw_comp_del(&f->fw, &l->comp);
}

static bool delivered(struct fake *f, unsigned int nr)
{
	/* Pairs with the release of who writes it. */
	return FAKE_UNTIL(smp_load_acquire(&f->nr_events) >= nr);
}

/* Whoever was at work has finished: each queue is empty and armed. */
static bool settled(struct fake *f)
{
	return FAKE_UNTIL(READ_ONCE(f->eqs[ASYNC].armed) && READ_ONCE(f->eqs[COMP(0)].armed) &&
			  READ_ONCE(f->eqs[COMP(1)].armed));
}

static void eq_creation(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_EXPECT_EQ(test, f->eqs[ASYNC].kind, KIWI_EQ_ASYNC);
	KUNIT_EXPECT_EQ(test, f->eqs[ASYNC].vector, 0);
	KUNIT_EXPECT_EQ(test, f->eqs[ASYNC].size, RING);
	KUNIT_EXPECT_EQ(test, f->eqs[COMP(0)].kind, KIWI_EQ_COMPLETION);
	KUNIT_EXPECT_EQ(test, f->eqs[COMP(0)].vector, 1);
	KUNIT_EXPECT_EQ(test, f->eqs[COMP(1)].kind, KIWI_EQ_COMPLETION);
	KUNIT_EXPECT_EQ(test, f->eqs[COMP(1)].vector, 2);
	KUNIT_EXPECT_NULL(test, f->eqs[3].ring);
}

static void eq_async_event(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_event(f, ASYNC, KIWI_EV_QP_ERROR, 5, 0x00abcdef);
	KUNIT_ASSERT_TRUE(test, delivered(f, 1));
	KUNIT_EXPECT_EQ(test, f->events[0].type, KIWI_EV_QP_ERROR);
	KUNIT_EXPECT_EQ(test, f->events[0].code, 5);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(f->events[0].id), 0x00abcdef);
	KUNIT_EXPECT_EQ(test, f->nr_lost, 0);
}

static void eq_async_order_and_wrap(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n;

	for (n = 0; n < 3 * RING + 5; n++) {
		fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, n, n + 1);
		if (n % 7 == 0)
			KUNIT_ASSERT_TRUE(test, delivered(f, n + 1));
	}
	KUNIT_ASSERT_TRUE(test, delivered(f, n));
	KUNIT_EXPECT_EQ(test, f->nr_events, n);
	KUNIT_EXPECT_EQ(test, f->nr_lost, 0);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_EVENTS), n);
	while (n--)
		KUNIT_EXPECT_EQ(test, le32_to_cpu(f->events[n].id), n + 1);
}

/* EQ_DB tells the index modulo 2^24. */
static void eq_index_wraps_in_the_doorbell(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_eq *eq = &f->fw.async;
	const u32 start = KIWI_EQ_DB_CI - 1;
	unsigned int n;

	KUNIT_ASSERT_TRUE(test, settled(f));
	for (n = 0; n < RING; n++)
		eq->ring[n].flags = n < RING - 2 ? 0 : KIWI_EQE_PHASE;
	eq->ci = start;
	eq->told = start;
	f->eqs[ASYNC].pi = start;
	f->eqs[ASYNC].ci = start;
	for (n = 0; n < 4; n++)
		fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, n);
	KUNIT_ASSERT_TRUE(test, delivered(f, 4));
	FAKE_EXPECT_SOON(test, READ_ONCE(f->eqs[ASYNC].ci) == 2);
	KUNIT_EXPECT_EQ(test, f->nr_events, 4);
}

static void eq_async_unknown_types(struct kunit *test)
{
	static const u8 types[] = { 0, KIWI_EV_COMPLETION, KIWI_EV_COUNT, U8_MAX };
	struct fake *f = test->priv;
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(types); n++)
		fake_event(f, ASYNC, types[n], 0, CQN);
	fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, 1);
	KUNIT_ASSERT_TRUE(test, delivered(f, 1));
	KUNIT_EXPECT_EQ(test, f->nr_events, 1);
	KUNIT_EXPECT_EQ(test, f->events[0].type, KIWI_EV_PORT_CHANGE);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_UNKNOWN_EVENTS), ARRAY_SIZE(types));
}

static void eq_async_known_types(struct kunit *test)
{
	struct fake *f = test->priv;
	u8 type, n = 0;

	for (type = KIWI_EV_CQ_ERROR; type < KIWI_EV_DEVICE_FATAL; type++)
		fake_event(f, ASYNC, type, 0, 1);
	KUNIT_ASSERT_TRUE(test, delivered(f, type - KIWI_EV_CQ_ERROR));
	for (type = KIWI_EV_CQ_ERROR; type < KIWI_EV_DEVICE_FATAL; type++)
		KUNIT_EXPECT_EQ(test, f->events[n++].type, type);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_UNKNOWN_EVENTS), 0);
}

static void eq_async_overrun(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n;

	mutex_lock(&f->fw.async.deliver);
	for (n = 0; n < RING + 10; n++)
		fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, n);
	mutex_unlock(&f->fw.async.deliver);
	/* It is told of by itself, whether or not another event will ever follow. */
	KUNIT_ASSERT_TRUE(test, delivered(f, RING + 1));
	KUNIT_EXPECT_EQ(test, f->events[RING].type, 0);
	KUNIT_EXPECT_EQ(test, f->nr_lost, 1);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_LOST_EVENTS), 0);
	KUNIT_ASSERT_TRUE(test, settled(f));

	fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, n);
	KUNIT_ASSERT_TRUE(test, delivered(f, RING + 2));
	KUNIT_EXPECT_EQ(test, f->nr_lost, 2);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_LOST_EVENTS), 1);

	fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, n);
	KUNIT_ASSERT_TRUE(test, delivered(f, RING + 3));
	KUNIT_EXPECT_EQ(test, f->nr_lost, 2);
}

/* One entry is left: nothing can have been lost. */
static void eq_async_nearly_full(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n;

	KUNIT_ASSERT_TRUE(test, settled(f));
	mutex_lock(&f->fw.async.deliver);
	for (n = 0; n < RING - 1; n++)
		fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, n);
	mutex_unlock(&f->fw.async.deliver);
	KUNIT_ASSERT_TRUE(test, delivered(f, RING - 1));
	KUNIT_ASSERT_TRUE(test, settled(f));
	flush_workqueue(f->fw.wq);
	KUNIT_EXPECT_EQ(test, f->nr_events, RING - 1);
	KUNIT_EXPECT_EQ(test, f->nr_lost, 0);
}

/* The loss is not forgotten because the entry that tells of it is of no known type. */
static void eq_async_overrun_on_unknown_type(struct kunit *test)
{
	struct fake *f = test->priv;

	f->eqs[ASYNC].overrun = true;
	fake_event(f, ASYNC, KIWI_EV_COUNT, 0, 0);
	fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, 1);
	KUNIT_ASSERT_TRUE(test, delivered(f, 1));
	KUNIT_EXPECT_EQ(test, f->nr_lost, 1);
}

/* A full ring is one budget: the worker stops, and goes on when it is queued again. */
static void eq_async_budget(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n, arms, updates;

	KUNIT_ASSERT_TRUE(test, settled(f));
	arms = f->eqs[ASYNC].arms;
	updates = f->eqs[ASYNC].updates;
	mutex_lock(&f->fw.async.deliver);
	for (n = 0; n < RING; n++)
		fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, n);
	mutex_unlock(&f->fw.async.deliver);
	KUNIT_ASSERT_TRUE(test, delivered(f, RING));
	KUNIT_ASSERT_TRUE(test, settled(f));
	KUNIT_EXPECT_EQ(test, f->eqs[ASYNC].updates, updates + 1);
	KUNIT_EXPECT_EQ(test, f->eqs[ASYNC].arms, arms + 1);
}

static void eq_sync_delivers_in_place(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_TRUE(test, settled(f));
	f->no_interrupts = true;
	fake_event(f, ASYNC, KIWI_EV_QP_ERROR, 0, 2);
	kiwi_fw_sync_events(&f->fw);
	KUNIT_EXPECT_EQ(test, f->nr_events, 1);
}

/* Who synchronises also waits for an event that another has taken from the ring. */
struct syncer {
	struct work_struct work;
	struct kiwi_fw *fw;
	bool done;
};

static void sync_work(struct work_struct *work)
{
	struct syncer *s = container_of(work, struct syncer, work);

	kiwi_fw_sync_events(s->fw);
	WRITE_ONCE(s->done, true);
}

static void eq_sync_waits_for_the_deliverer(struct kunit *test)
{
	struct fake *f = test->priv;
	struct syncer s = { .fw = &f->fw };

	INIT_WORK_ONSTACK(&s.work, sync_work);
	mutex_lock(&f->fw.async.deliver);
	queue_work(f->callers, &s.work);
	msleep(20);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(s.done));
	mutex_unlock(&f->fw.async.deliver);
	flush_work(&s.work);
	KUNIT_EXPECT_TRUE(test, s.done);
	destroy_work_on_stack(&s.work);
}

static void eq_fatal_event_has_the_device_looked_at(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_DEV_STS, KIWI_DEV_STS_READY | KIWI_DEV_STS_ENABLED |
				      KIWI_DEV_STS_FATAL);
	fake_event(f, ASYNC, KIWI_EV_DEVICE_FATAL, 0, 0);
	FAKE_EXPECT_SOON(test, READ_ONCE(f->downs) == 1);
	KUNIT_EXPECT_EQ(test, f->down_reason, KIWI_RESET_FATAL);
}

static void eq_completion_finds_its_listener(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *mine = listen(test, CQN), *other = listen(test, CQN + 1);

	fake_event(f, COMP(0), KIWI_EV_COMPLETION, 0, CQN);
	FAKE_EXPECT_SOON(test, atomic_read(&mine->calls) == 1);
	fake_event(f, COMP(1), KIWI_EV_COMPLETION, 0, CQN);
	FAKE_EXPECT_SOON(test, atomic_read(&mine->calls) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&other->calls), 0);
	unlisten(test, mine);
	unlisten(test, other);
}

static void eq_completion_of_nobody(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_event(f, COMP(0), KIWI_EV_COMPLETION, 0, CQN);
	FAKE_EXPECT_SOON(test, fake_count(f, KIWI_FW_UNOWNED_COMPLETIONS) == 1);
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_UNKNOWN_EVENTS), 0);
}

static void eq_completion_queue_unknown_type(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *l = listen(test, CQN);

	fake_event(f, COMP(0), KIWI_EV_CQ_ERROR, 0, CQN);
	fake_event(f, COMP(0), 0, 0, CQN);
	FAKE_EXPECT_SOON(test, fake_count(f, KIWI_FW_UNKNOWN_EVENTS) == 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->calls), 0);
	KUNIT_EXPECT_EQ(test, f->nr_events, 0);
	unlisten(test, l);
}

static void eq_completions_wrap(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *l = listen(test, CQN);
	unsigned int n;

	for (n = 1; n <= 2 * RING + 9; n++) {
		fake_event(f, COMP(0), KIWI_EV_COMPLETION, 0, CQN);
		KUNIT_ASSERT_TRUE(test, FAKE_UNTIL(atomic_read(&l->calls) == n));
	}
	unlisten(test, l);
}

/* More than an interrupt handles: the worker goes on. */
static void eq_completion_budget(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *l = listen(test, CQN);
	unsigned int n, updates;

	KUNIT_ASSERT_TRUE(test, settled(f));
	updates = f->eqs[COMP(0)].updates;
	f->no_interrupts = true;
	for (n = 0; n < RING; n++)
		fake_event(f, COMP(0), KIWI_EV_COMPLETION, 0, CQN);
	f->no_interrupts = false;
	kiwi_fw_comp_irq(&f->fw.comp_eqs[0]);
	KUNIT_EXPECT_GE(test, atomic_read(&l->calls), RING);
	KUNIT_EXPECT_EQ(test, f->eqs[COMP(0)].updates, updates + 1);
	KUNIT_EXPECT_TRUE(test, settled(f));
	/* The ring was full: what was lost may have been anybody's. */
	FAKE_EXPECT_SOON(test, atomic_read(&l->calls) == RING + 1);
	unlisten(test, l);
}

/* Nobody knows whose event was lost: each listener is told, however many there are. */
static void eq_completion_overrun_tells_all(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *all[150];
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(all); n++)
		all[n] = listen(test, 1 + 3 * n);
	f->eqs[COMP(0)].overrun = true;
	fake_event(f, COMP(0), KIWI_EV_COMPLETION, 0, 2);
	for (n = 0; n < ARRAY_SIZE(all); n++) {
		FAKE_EXPECT_SOON(test, atomic_read(&all[n]->calls) >= 1);
		unlisten(test, all[n]);
	}
	KUNIT_EXPECT_EQ(test, fake_count(f, KIWI_FW_LOST_EVENTS), 1);
}

static void eq_no_listener_with_number_0(struct kunit *test)
{
	struct fake *f = test->priv;
	struct kiwi_fw_comp comp = { .fn = listener_called };

	KUNIT_EXPECT_EQ(test, kiwi_fw_comp_add(&f->fw, 0, &comp), -EPROTO);
}

static void eq_one_listener_a_number(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *l = listen(test, CQN);
	struct kiwi_fw_comp second = { .fn = listener_called };

	KUNIT_EXPECT_EQ(test, kiwi_fw_comp_add(&f->fw, CQN, &second), -EPROTO);
	unlisten(test, l);
	KUNIT_EXPECT_EQ(test, kiwi_fw_comp_add(&f->fw, CQN, &second), 0);
	kiwi_fw_comp_del(&f->fw, &second);
}

static void eq_removed_listener_is_not_called(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *l = listen(test, CQN);

	unlisten(test, l);
	fake_event(f, COMP(0), KIWI_EV_COMPLETION, 0, CQN);
	FAKE_EXPECT_SOON(test, fake_count(f, KIWI_FW_UNOWNED_COMPLETIONS) == 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->calls), 0);
}

static void eq_vector_is_taken_modulo(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_EXPECT_EQ(test, kiwi_fw_comp_eqn(&f->fw, 0), COMP(0));
	KUNIT_EXPECT_EQ(test, kiwi_fw_comp_eqn(&f->fw, 1), COMP(1));
	KUNIT_EXPECT_EQ(test, kiwi_fw_comp_eqn(&f->fw, 2), COMP(0));
	KUNIT_EXPECT_EQ(test, kiwi_fw_comp_eqn(&f->fw, U32_MAX), COMP(1));
}

/* Empty, armed: the very next event raises an interrupt. */
static void eq_is_armed_when_empty(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int n;
	int raised;

	for (n = 1; n < 5; n++) {
		KUNIT_ASSERT_TRUE(test, settled(f));
		raised = atomic_read(&f->irqs[0].raised);
		fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, 1);
		KUNIT_ASSERT_TRUE(test, delivered(f, n));
		KUNIT_EXPECT_EQ(test, atomic_read(&f->irqs[0].raised), raised + 1);
	}
}

/* An interrupt that finds nothing leaves the device as it is, or it would come without end. */
static void eq_spurious_interrupt(struct kunit *test)
{
	struct fake *f = test->priv;
	unsigned int arms, updates;

	KUNIT_ASSERT_TRUE(test, settled(f));
	flush_workqueue(f->fw.wq);
	arms = f->eqs[ASYNC].arms + f->eqs[COMP(0)].arms;
	updates = f->eqs[ASYNC].updates + f->eqs[COMP(0)].updates;
	KUNIT_EXPECT_FALSE(test, kiwi_fw_async_irq(&f->fw.async));
	KUNIT_EXPECT_FALSE(test, kiwi_fw_comp_irq(&f->fw.comp_eqs[0]));
	flush_workqueue(f->fw.wq);
	KUNIT_EXPECT_EQ(test, f->eqs[ASYNC].arms + f->eqs[COMP(0)].arms, arms);
	KUNIT_EXPECT_EQ(test, f->eqs[ASYNC].updates + f->eqs[COMP(0)].updates, updates);
}

static void eq_kick_finds_what_no_interrupt_told(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *l = listen(test, CQN);

	KUNIT_ASSERT_TRUE(test, settled(f));
	f->no_interrupts = true;
	fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, 1);
	fake_event(f, COMP(1), KIWI_EV_COMPLETION, 0, CQN);
	kiwi_fw_eqs_kick(&f->fw);
	KUNIT_EXPECT_TRUE(test, delivered(f, 1));
	FAKE_EXPECT_SOON(test, atomic_read(&l->calls) == 1);
	unlisten(test, l);
}

static void eq_nothing_after_the_end(struct kunit *test)
{
	struct fake *f = test->priv;
	struct listener *l = listen(test, CQN);

	KUNIT_ASSERT_TRUE(test, settled(f));
	f->no_interrupts = true;
	fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, 1);
	fake_event(f, COMP(0), KIWI_EV_COMPLETION, 0, CQN);
	kiwi_fw_eqs_destroy(&f->fw);
	kiwi_fw_eqs_kick(&f->fw);
	kiwi_fw_sync_events(&f->fw);
	kiwi_fw_comp_irq(&f->fw.comp_eqs[0]);
	flush_workqueue(f->fw.wq);
	KUNIT_EXPECT_EQ(test, f->nr_events, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&l->calls), 0);
	KUNIT_EXPECT_NULL(test, f->eqs[ASYNC].ring);
	KUNIT_EXPECT_NULL(test, f->eqs[COMP(0)].ring);
	KUNIT_EXPECT_NULL(test, f->eqs[COMP(1)].ring);
	unlisten(test, l);
}

static struct kunit_case eq_cases[] = {
	KUNIT_CASE(eq_creation),
	KUNIT_CASE(eq_async_event),
	KUNIT_CASE(eq_async_order_and_wrap),
	KUNIT_CASE(eq_index_wraps_in_the_doorbell),
	KUNIT_CASE(eq_async_unknown_types),
	KUNIT_CASE(eq_async_known_types),
	KUNIT_CASE(eq_async_overrun),
	KUNIT_CASE(eq_async_nearly_full),
	KUNIT_CASE(eq_async_overrun_on_unknown_type),
	KUNIT_CASE(eq_async_budget),
	KUNIT_CASE(eq_sync_delivers_in_place),
	KUNIT_CASE(eq_sync_waits_for_the_deliverer),
	KUNIT_CASE(eq_fatal_event_has_the_device_looked_at),
	KUNIT_CASE(eq_completion_finds_its_listener),
	KUNIT_CASE(eq_completion_of_nobody),
	KUNIT_CASE(eq_completion_queue_unknown_type),
	KUNIT_CASE(eq_completions_wrap),
	KUNIT_CASE(eq_completion_budget),
	KUNIT_CASE(eq_completion_overrun_tells_all),
	KUNIT_CASE(eq_no_listener_with_number_0),
	KUNIT_CASE(eq_one_listener_a_number),
	KUNIT_CASE(eq_removed_listener_is_not_called),
	KUNIT_CASE(eq_vector_is_taken_modulo),
	KUNIT_CASE(eq_is_armed_when_empty),
	KUNIT_CASE(eq_spurious_interrupt),
	KUNIT_CASE(eq_kick_finds_what_no_interrupt_told),
	KUNIT_CASE(eq_nothing_after_the_end),
	{}
};

static struct kunit_suite eq_suite = {
	.name = "kiwi_fw_eq",
	.init = fake_init_started,
	.exit = fake_exit,
	.test_cases = eq_cases,
};

/* Events before anybody wants them, and queues that cannot be created -------------------- */

static void eq_start_holds_events_back(struct kunit *test)
{
	struct fake *f = test->priv;

	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	fake_event(f, ASYNC, KIWI_EV_PORT_CHANGE, 0, 1);
	kiwi_fw_eqs_kick(&f->fw);
	kiwi_fw_sync_events(&f->fw);
	flush_workqueue(f->fw.wq);
	KUNIT_EXPECT_EQ(test, f->nr_events, 0);
	kiwi_fw_enable_events(&f->fw);
	KUNIT_EXPECT_TRUE(test, delivered(f, 1));
}

static void eq_start_ring_is_no_larger_than_wanted(struct kunit *test)
{
	struct fake *f = test->priv;

	fake_set(f, KIWI_REG_LIMITS, 3 | 23 << 8 | 12 << 16);
	KUNIT_ASSERT_EQ(test, kiwi_fw_start(&f->fw), 0);
	KUNIT_EXPECT_EQ(test, f->eqs[ASYNC].size, 256);
	KUNIT_EXPECT_EQ(test, f->eqs[COMP(0)].size, 1024);
}

static void eq_start_number_beyond_the_last(struct kunit *test)
{
	struct fake *f = test->priv;

	f->eqn_force = FAKE_EQS;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), -EPROTO);
	KUNIT_EXPECT_EQ(test, f->nr_cmds, 2);	/* caps, a queue, which cannot be named again */
	KUNIT_EXPECT_FALSE(test, kiwi_fw_is_up(&f->fw));
}

static void eq_start_number_given_twice(struct kunit *test)
{
	struct fake *f = test->priv;

	f->eqn_force = 0;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), -EPROTO);
	KUNIT_EXPECT_EQ(test, f->nr_cmds, 4);	/* caps, two queues, one of them destroyed */
}

static void no_second_queue(struct fake *f, const struct fake_cmd *cmd,
			    struct kiwi_acq_entry *reply)
{
	if (le16_to_cpu(cmd->entry.opcode) != KIWI_OP_CREATE_EQ || f->nr_cmds < 3)
		return;
	reply->status = cpu_to_le16(KIWI_ST_NO_RESOURCE);
	reply->out_len = 0;
}

static void eq_start_refused(struct kunit *test)
{
	struct fake *f = test->priv;

	f->reply = no_second_queue;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), -ENOSPC);
	KUNIT_EXPECT_EQ(test, f->resets, 1);
	f->reply = NULL;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), 0);
}

static void eq_start_without_interrupt(struct kunit *test)
{
	struct fake *f = test->priv;

	f->irq_error = -EBUSY;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), -EBUSY);
	f->irq_error = 0;
	KUNIT_EXPECT_EQ(test, kiwi_fw_start(&f->fw), 0);
}

static struct kunit_case eq_start_cases[] = {
	KUNIT_CASE(eq_start_holds_events_back),
	KUNIT_CASE(eq_start_ring_is_no_larger_than_wanted),
	KUNIT_CASE(eq_start_number_beyond_the_last),
	KUNIT_CASE(eq_start_number_given_twice),
	KUNIT_CASE(eq_start_refused),
	KUNIT_CASE(eq_start_without_interrupt),
	{}
};

static struct kunit_suite eq_start_suite = {
	.name = "kiwi_fw_eq_start",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = eq_start_cases,
};

kunit_test_suites(&eq_suite, &eq_start_suite);
