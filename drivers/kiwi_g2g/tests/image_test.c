// SPDX-License-Identifier: GPL-2.0
/* Personality images: upload in parts, verification, activation. */
#include <linux/uaccess.h>

#include "fixture.h"

static int write_at(struct fixture *x, u32 slot, u32 length, u32 offset, u32 len)
{
	struct kiwi_g2g_image_write w = {
		.slot = slot,
		.length = length,
		.offset = offset,
		.len = len,
		.data = x->user + PAGE_SIZE,
	};

	return CALL(x, IMAGE_WRITE, &w);
}

static int change(struct fixture *x, u32 slot, u32 op)
{
	struct kiwi_g2g_image_change c = { .slot = slot, .op = op };

	return CALL(x, IMAGE_CHANGE, &c);
}

static void image_in_parts(struct kunit *test)
{
	struct fixture *x = test->priv;
	u8 bytes[256];
	unsigned int i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)x->user + PAGE_SIZE, bytes, 256), 0);
	KUNIT_EXPECT_EQ(test, write_at(x, 1, 512, 0, 256), 0);
	KUNIT_EXPECT_EQ(test, write_at(x, 1, 512, 256, 256), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_BEGIN_IMAGE), 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(x->g2g.slot[1].written), 512);
	KUNIT_EXPECT_MEMEQ(test, x->g2g.image, bytes, 256);
	KUNIT_EXPECT_MEMEQ(test, x->g2g.image + 256, bytes, 256);
	KUNIT_EXPECT_EQ(test, change(x, 1, KIWI_G2G_IMAGE_DO_VERIFY), 0);
}

static void image_bad_fields(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_EQ(test, write_at(x, 2, 512, 0, 256), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_at(x, 1, 127, 0, 64), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_at(x, 1, FAKE_IMAGE_MAX + 1, 0, 64), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_at(x, 1, 512, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_at(x, 1, FAKE_IMAGE_MAX, 0, 65537), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_at(x, 1, 512, 512, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_at(x, 1, 512, U32_MAX, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(x, 2, KIWI_G2G_IMAGE_DO_VERIFY), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(x, 1, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_BEGIN_IMAGE), 0);
}

static void image_unreadable(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_image_write w = { .slot = 1, .length = 512, .len = 256, .data = 8 };

	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_WRITE, &w), -EFAULT);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_BEGIN_IMAGE), 0);
}

static void image_activated_and_back(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_image_query q = { .slot = 1 };
	struct kiwi_file_event event;

	KUNIT_EXPECT_EQ(test, change(x, 1, KIWI_G2G_IMAGE_DO_ACTIVATE), 0);
	event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.type, KIWI_G2G_EVENT_IMAGE);
	KUNIT_EXPECT_EQ(test, event.id, 1);
	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.active, 1);
	KUNIT_EXPECT_EQ(test, change(x, 0, KIWI_G2G_IMAGE_DO_ACTIVATE), 0);
	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.active, 0);
}

static void image_held(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_import_bind b = { .accel = 7, .rights = KIWI_ACCESS_REMOTE_READ };
	char text[128];

	KUNIT_ASSERT_EQ(test, CALL(x, IMPORT_BIND, &b), 0);
	KUNIT_EXPECT_EQ(test, change(x, 1, KIWI_G2G_IMAGE_DO_ACTIVATE), -EBUSY);
	snprintf(text, sizeof(text),
		 "IMAGE_CHANGE: ACTIVATE_IMAGE refused: object is in use; held by %d %s",
		 task_tgid_vnr(current), current->comm);
	fixture_expect_text(x, text);
	fixture_no_event(x);
}

/* The slot is active: nobody's objects are to blame. */
static void image_into_the_active_slot(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_EQ(test, write_at(x, 0, 512, 0, 256), -EBUSY);
	fixture_expect_text(x, "IMAGE_WRITE: BEGIN_IMAGE refused: object is in use");
}

static void image_file_names(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_image_load l = { .slot = 1 };

	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_LOAD, &l), -EINVAL);
	strscpy(l.name, "../shadow", sizeof(l.name));
	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_LOAD, &l), -EINVAL);
	strscpy(l.name, "..", sizeof(l.name));
	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_LOAD, &l), -EINVAL);
	memset(l.name, 'a', sizeof(l.name));
	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_LOAD, &l), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_BEGIN_IMAGE), 0);
}

static void image_reply_in_range(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_image_query q = { .slot = 0 };

	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_QUERY, &q), 0);
	memset(x->g2g.slot[0].image.name, 'x', 32);
	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_QUERY, &q), -EPROTO);
	x->g2g.slot[0].image.name[31] = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_QUERY, &q), 0);
	x->g2g.slot[0].state = KIWI_G2G_SLOT_STATE_COUNT;
	KUNIT_EXPECT_EQ(test, CALL(x, IMAGE_QUERY, &q), -EPROTO);
}

static struct kunit_case image_cases[] = {
	KUNIT_CASE(image_in_parts),
	KUNIT_CASE(image_bad_fields),
	KUNIT_CASE(image_unreadable),
	KUNIT_CASE(image_activated_and_back),
	KUNIT_CASE(image_held),
	KUNIT_CASE(image_into_the_active_slot),
	KUNIT_CASE(image_file_names),
	KUNIT_CASE(image_reply_in_range),
	{}
};

static struct kunit_suite image_suite = {
	.name = "kiwi_g2g_image",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = image_cases,
};

kunit_test_suite(image_suite);
