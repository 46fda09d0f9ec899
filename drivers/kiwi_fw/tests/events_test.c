// SPDX-License-Identifier: GPL-2.0
/* The queue of events that a file has not read. */
#include <kunit/test.h>

#include <kiwi/part.h>

#define AN_EVENT	2
#define ANOTHER		3

static int events_init(struct kunit *test)
{
	struct kiwi_events *q = kunit_kzalloc(test, sizeof(*q), GFP_KERNEL);

	if (!q)
		return -ENOMEM;
	kiwi_events_init(q);
	test->priv = q;
	return 0;
}

static void push_one(struct kiwi_events *q, u32 type, u32 id, u64 user_data, u32 code)
{
	const struct kiwi_file_event event = {
		.type = type,
		.id = id,
		.user_data = user_data,
		.code = code,
	};

	kiwi_events_push(q, &event);
}

static void push(struct kiwi_events *q, unsigned int nr)
{
	unsigned int n;

	for (n = 0; n < nr; n++)
		push_one(q, AN_EVENT, n, 1000 + n, n % 7);
}

static void events_empty(struct kunit *test)
{
	struct kiwi_file_event event = { .type = 99 };

	KUNIT_EXPECT_FALSE(test, kiwi_events_pending(test->priv));
	KUNIT_EXPECT_FALSE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_EXPECT_EQ(test, event.type, 99);
}

static void events_carry_all(struct kunit *test)
{
	struct kiwi_file_event event;

	push_one(test->priv, ANOTHER, 5, 1ULL << 63, 8);
	KUNIT_EXPECT_TRUE(test, kiwi_events_pending(test->priv));
	memset(&event, 0xee, sizeof(event));
	KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_EXPECT_EQ(test, event.type, ANOTHER);
	KUNIT_EXPECT_EQ(test, event.id, 5);
	KUNIT_EXPECT_EQ(test, event.user_data, 1ULL << 63);
	KUNIT_EXPECT_EQ(test, event.code, 8);
	KUNIT_EXPECT_EQ(test, event.info, 0);
	KUNIT_EXPECT_FALSE(test, kiwi_events_pending(test->priv));
}

static void events_in_order(struct kunit *test)
{
	struct kiwi_file_event event;
	unsigned int n;

	push(test->priv, 50);
	for (n = 0; n < 50; n++) {
		KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
		KUNIT_EXPECT_EQ(test, event.id, n);
		KUNIT_EXPECT_EQ(test, event.user_data, 1000 + n);
	}
}

static void events_wrap(struct kunit *test)
{
	struct kiwi_file_event event;
	unsigned int n;

	for (n = 0; n < 3 * KIWI_EVENTS_MAX; n++) {
		push_one(test->priv, AN_EVENT, n, 0, 0);
		KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
		KUNIT_EXPECT_EQ(test, event.id, n);
	}
}

static void events_as_many_as_promised(struct kunit *test)
{
	struct kiwi_file_event event;
	unsigned int n;

	push(test->priv, 256);
	for (n = 0; n < 256; n++) {
		KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
		KUNIT_EXPECT_EQ(test, event.type, AN_EVENT);
	}
	KUNIT_EXPECT_FALSE(test, kiwi_events_pending(test->priv));
}

static void events_lost_are_counted(struct kunit *test)
{
	struct kiwi_file_event event;
	unsigned int n;

	push(test->priv, 256 + 10);
	for (n = 0; n < 256; n++)
		KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_EXPECT_EQ(test, event.id, 255);
	KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_EXPECT_EQ(test, event.type, KIWI_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, event.code, 10);
	KUNIT_EXPECT_EQ(test, event.id, 0);
	KUNIT_EXPECT_FALSE(test, kiwi_events_pop(test->priv, &event));
}

/* After a loss, and some room, events are kept again, in the order of things. */
static void events_after_a_loss(struct kunit *test)
{
	struct kiwi_file_event event;
	unsigned int n;

	push(test->priv, 256 + 1);
	KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	push_one(test->priv, ANOTHER, 1, 0, 4);
	push_one(test->priv, ANOTHER, 2, 0, 4);
	for (n = 0; n < 254; n++)
		KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_EXPECT_EQ(test, event.type, KIWI_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, event.code, 1);
	KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_EXPECT_EQ(test, event.type, ANOTHER);
	KUNIT_EXPECT_EQ(test, event.id, 1);
	KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_EXPECT_EQ(test, event.type, KIWI_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, event.code, 1);
	KUNIT_EXPECT_FALSE(test, kiwi_events_pending(test->priv));
}

/* The device lost nobody knows how many: no count is made up. */
static void events_unknown_loss_stays_unknown(struct kunit *test)
{
	struct kiwi_file_event event;
	unsigned int n;

	push(test->priv, 255);
	push_one(test->priv, KIWI_EVENT_LOST, 0, 0, 0);
	push(test->priv, 3);
	for (n = 0; n < 256; n++)
		KUNIT_ASSERT_TRUE(test, kiwi_events_pop(test->priv, &event));
	KUNIT_EXPECT_EQ(test, event.type, KIWI_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, event.code, 0);
	KUNIT_EXPECT_FALSE(test, kiwi_events_pending(test->priv));
}

static struct kunit_case events_cases[] = {
	KUNIT_CASE(events_empty),
	KUNIT_CASE(events_carry_all),
	KUNIT_CASE(events_in_order),
	KUNIT_CASE(events_wrap),
	KUNIT_CASE(events_as_many_as_promised),
	KUNIT_CASE(events_lost_are_counted),
	KUNIT_CASE(events_after_a_loss),
	KUNIT_CASE(events_unknown_loss_stays_unknown),
	{}
};

static struct kunit_suite events_suite = {
	.name = "kiwi_fw_events",
	.init = events_init,
	.test_cases = events_cases,
};

kunit_test_suite(events_suite);
