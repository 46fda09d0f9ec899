// SPDX-License-Identifier: GPL-2.0
/* Exports: made, revoked in every way, and given up while importers have not acknowledged. */
#include <linux/sizes.h>

#include "fixture.h"

static struct kiwi_g2g_export_create request(void)
{
	return (struct kiwi_g2g_export_create) {
		.fd = 5,
		.rights = KIWI_ACCESS_REMOTE_READ | KIWI_ACCESS_REMOTE_WRITE,
		.offset = SZ_4K,
		.length = SZ_8K,
		.user_data = FIXTURE_USER_DATA,
		.grantees = { [0] = 0x06, [31] = 0x80 },
	};
}

static struct kiwi_g2g_export_create make(struct fixture *x)
{
	struct kiwi_g2g_export_create c = request();

	KUNIT_ASSERT_EQ(x->test, CALL(x, EXPORT_CREATE, &c), 0);
	return c;
}

static int revoke(struct fixture *x, u32 id)
{
	struct kiwi_g2g_export_revoke r = { .export_id = id };

	return CALL(x, EXPORT_REVOKE, &r);
}

static void expect_event(struct fixture *x, u32 id, u32 state, u32 isolated)
{
	struct kiwi_file_event event = fixture_event(x);

	KUNIT_EXPECT_EQ(x->test, event.type, KIWI_G2G_EVENT_EXPORT);
	KUNIT_EXPECT_EQ(x->test, event.id, id);
	KUNIT_EXPECT_EQ(x->test, event.user_data, FIXTURE_USER_DATA);
	KUNIT_EXPECT_EQ(x->test, event.code, state);
	KUNIT_EXPECT_EQ(x->test, event.info, isolated);
}

static void export_tells_the_device_all(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);
	const struct fake_export *e = fake_g2g_export(&x->g2g);

	KUNIT_EXPECT_EQ(test, le64_to_cpu(e->in.length), SZ_8K);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(e->in.rights), c.rights);
	KUNIT_EXPECT_MEMEQ(test, e->in.grantees, c.grantees, sizeof(c.grantees));
	KUNIT_EXPECT_MEMEQ(test, e->in.handle, c.handle, sizeof(c.handle));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(e->in.pbl.addr[0]), x->fw.last_mem->run.addr);
	KUNIT_EXPECT_TRUE(test, x->fw.last_mem->writable);
}

static void export_tells_the_user_how_it_is_reached(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);
	struct kiwi_g2g_export_query q = { .export_id = c.export_id };

	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.state, KIWI_G2G_EXPORT_LIVE);
	KUNIT_EXPECT_EQ(test, q.path, x->fw.last_mem->mem.path.path);
	KUNIT_EXPECT_EQ(test, q.reason, x->fw.last_mem->mem.path.reason);
	KUNIT_EXPECT_EQ(test, q.page_shift, 20);
	KUNIT_EXPECT_EQ(test, q.pages, 1);
}

static void export_read_only_memory(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = request();

	c.rights = KIWI_ACCESS_REMOTE_READ;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), 0);
	KUNIT_EXPECT_FALSE(test, x->fw.last_mem->writable);
	c.rights = KIWI_ACCESS_REMOTE_ATOMIC;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), 0);
	KUNIT_EXPECT_TRUE(test, x->fw.last_mem->writable);
}

static void export_handles_differ(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create a = make(x), b = make(x);
	static const u8 zero[16];

	KUNIT_EXPECT_MEMNEQ(test, a.handle, b.handle, sizeof(a.handle));
	KUNIT_EXPECT_MEMNEQ(test, a.handle, zero, sizeof(zero));
	KUNIT_EXPECT_NE(test, a.export_id, b.export_id);
}

static void export_bad_fields(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = request();

	c.rights = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EINVAL);
	c.rights = KIWI_ACCESS_LOCAL_WRITE;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EINVAL);
	c = request();
	c.length = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EINVAL);
	c.length = SZ_64M + 1;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EINVAL);
	c = request();
	c.grantees[32] = 0x01;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EINVAL);
	fixture_expect_text(x, "EXPORT_CREATE: grantee 256 is not in 0..255");
	c = request();
	c.rsvd = 1;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EINVAL);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void export_of_no_dmabuf(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = request();

	x->fw.mem_error = -EBADF;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EBADF);
	fixture_expect_text(x, "EXPORT_CREATE: fd 5 is not open or no DMA-buf");
}

static void export_refused_gives_all_back(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = request();

	fake_fw_refuse(&x->fw, KIWI_G2G_OP_CREATE_EXPORT, KIWI_ST_BAD_STATE);
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EINVAL);
	fixture_expect_text(x, "EXPORT_CREATE: CREATE_EXPORT refused: not allowed in this state");
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_EQ(test, x->fw.pbls, 0);
}

static void export_number_out_of_range(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = request();

	x->fw.number = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EPROTO);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 1);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void export_number_of_two(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = request();

	x->fw.number = 9;
	make(x);
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_CREATE, &c), -EPROTO);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 1);
}

static void export_revoked_and_acknowledged(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);
	struct fake_export *e = fake_g2g_export(&x->g2g);
	struct kiwi_g2g_export_query q = { .export_id = c.export_id };

	e->bindings = 3;
	KUNIT_EXPECT_EQ(test, revoke(x, c.export_id), 0);
	KUNIT_EXPECT_EQ(test, CALL(x, EXPORT_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.state, KIWI_G2G_EXPORT_REVOKING);
	KUNIT_EXPECT_EQ(test, q.bindings, 3);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, c.export_id), -EBUSY);
	fixture_no_event(x);
	fake_g2g_acknowledge(&x->g2g, e->number, 2);
	expect_event(x, c.export_id, KIWI_G2G_EXPORT_REVOKED, 2);
	fake_fw_event(&x->fw, KIWI_G2G_EV_EXPORT, e->number, 0, 0);
	fixture_no_event(x);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, c.export_id), 0);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, c.export_id), -ENOENT);
}

static void export_revoked_twice(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);

	KUNIT_EXPECT_EQ(test, revoke(x, c.export_id), 0);
	KUNIT_EXPECT_EQ(test, revoke(x, c.export_id), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_REVOKE_EXPORT), 1);
}

/* To destroy is to revoke, if there are importers. */
static void export_destroyed_with_importers(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);
	struct fake_export *e = fake_g2g_export(&x->g2g);

	e->bindings = 1;
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, c.export_id), -EBUSY);
	KUNIT_EXPECT_EQ(test, e->state, KIWI_G2G_EXPORT_REVOKING);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
	fake_g2g_acknowledge(&x->g2g, e->number, 0);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, c.export_id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

/* The file goes; the export ends when the last importer has acknowledged. */
static void export_closed_with_importers(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct fake_export *e = fake_g2g_export(&x->g2g);

	make(x);
	e->bindings = 1;
	x->kg->part.cdev.ops->release(&x->inode, &x->filp);
	x->file = NULL;
	KUNIT_EXPECT_EQ(test, e->state, KIWI_G2G_EXPORT_REVOKING);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 1);
	fake_g2g_acknowledge(&x->g2g, e->number, 0);
	flush_work(&x->kg->reap_work);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void export_taken_away(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);
	struct fake_export *e = fake_g2g_export(&x->g2g);

	e->bindings = 1;
	x->fw.last_mem->ops->revoked(x->fw.last_mem->arg);
	KUNIT_EXPECT_EQ(test, e->state, KIWI_G2G_EXPORT_REVOKING);
	expect_event(x, c.export_id, KIWI_G2G_EXPORT_REVOKING, 0);
	fake_g2g_acknowledge(&x->g2g, e->number, 1);
	expect_event(x, c.export_id, KIWI_G2G_EXPORT_REVOKED, 1);
}

static void take_away(struct kiwi_fw *fw)
{
	fw->last_mem->ops->revoked(fw->last_mem->arg);
	fake_fw_event(fw, KIWI_G2G_EV_EXPORT, fw->last, 0, 0);
}

/* The device is done with it before the driver has noted whose the export's number is. */
static void export_taken_away_at_once(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c;

	x->fw.releasing = take_away;
	c = make(x);
	expect_event(x, c.export_id, KIWI_G2G_EXPORT_REVOKING, 0);
	expect_event(x, c.export_id, KIWI_G2G_EXPORT_REVOKED, 0);
	fixture_no_event(x);
}

/* A device that does not let go of memory that is taken away is stopped. */
static void export_taken_away_and_refused(struct kunit *test)
{
	struct fixture *x = test->priv;

	make(x);
	fake_fw_refuse(&x->fw, KIWI_G2G_OP_REVOKE_EXPORT, KIWI_ST_INTERNAL);
	x->fw.last_mem->ops->revoked(x->fw.last_mem->arg);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 1);
}

/* So is one that did not let go of it before, when the export was given up. */
static void export_taken_away_after_a_refusal(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);

	fake_g2g_export(&x->g2g)->bindings = 1;
	fake_fw_refuse(&x->fw, KIWI_G2G_OP_REVOKE_EXPORT, KIWI_ST_INTERNAL);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, c.export_id), -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 0);
	x->fw.last_mem->ops->revoked(x->fw.last_mem->arg);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 1);
}

static void export_dies_with_the_device(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);

	x->fw.kill = KIWI_G2G_OP_DESTROY_EXPORT;
	x->fw.kill_error = -EIO;
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, c.export_id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void export_events_lost(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_export_create c = make(x);
	const struct kiwi_eqe eqe = { .type = KIWI_G2G_EV_LOG };
	struct fake_export *e = fake_g2g_export(&x->g2g);

	e->bindings = 1;
	KUNIT_EXPECT_EQ(test, revoke(x, c.export_id), 0);
	e->state = KIWI_G2G_EXPORT_REVOKED;
	e->bindings = 0;
	kg2g_event(&x->kg->part, &eqe, true);
	flush_work(&x->kg->lost_work);
	KUNIT_EXPECT_EQ(test, fixture_event(x).type, KIWI_EVENT_LOST);
	expect_event(x, c.export_id, KIWI_G2G_EXPORT_REVOKED, 0);
}

static struct kunit_case export_cases[] = {
	KUNIT_CASE(export_tells_the_device_all),
	KUNIT_CASE(export_tells_the_user_how_it_is_reached),
	KUNIT_CASE(export_read_only_memory),
	KUNIT_CASE(export_handles_differ),
	KUNIT_CASE(export_bad_fields),
	KUNIT_CASE(export_of_no_dmabuf),
	KUNIT_CASE(export_refused_gives_all_back),
	KUNIT_CASE(export_number_out_of_range),
	KUNIT_CASE(export_number_of_two),
	KUNIT_CASE(export_revoked_and_acknowledged),
	KUNIT_CASE(export_revoked_twice),
	KUNIT_CASE(export_destroyed_with_importers),
	KUNIT_CASE(export_closed_with_importers),
	KUNIT_CASE(export_taken_away),
	KUNIT_CASE(export_taken_away_at_once),
	KUNIT_CASE(export_taken_away_and_refused),
	KUNIT_CASE(export_taken_away_after_a_refusal),
	KUNIT_CASE(export_dies_with_the_device),
	KUNIT_CASE(export_events_lost),
	{}
};

static struct kunit_suite export_suite = {
	.name = "kiwi_g2g_export",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = export_cases,
};

kunit_test_suite(export_suite);
