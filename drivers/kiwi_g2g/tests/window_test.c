// SPDX-License-Identifier: GPL-2.0
/* Imports: bound, mapped, dead and destroyed, in whatever order events come. */
#include <linux/dma-buf.h>
#include <linux/file.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

#include "../../kiwi_fw/bar.h"
#include "fixture.h"

static u32 bind(struct fixture *x)
{
	struct kiwi_g2g_import_bind b = {
		.handle = { 1, 2, 3, [15] = 16 },
		.accel = 7,
		.rights = KIWI_ACCESS_REMOTE_READ | KIWI_ACCESS_REMOTE_ATOMIC,
		.user_data = FIXTURE_USER_DATA,
	};

	KUNIT_ASSERT_EQ(x->test, CALL(x, IMPORT_BIND, &b), 0);
	return b.import_id;
}

static void expect_event(struct fixture *x, u32 id, u32 state, u32 reason)
{
	struct kiwi_file_event event = fixture_event(x);

	KUNIT_EXPECT_EQ(x->test, event.type, KIWI_G2G_EVENT_IMPORT);
	KUNIT_EXPECT_EQ(x->test, event.id, id);
	KUNIT_EXPECT_EQ(x->test, event.user_data, FIXTURE_USER_DATA);
	KUNIT_EXPECT_EQ(x->test, event.code, state);
	KUNIT_EXPECT_EQ(x->test, event.info, reason);
}

static u32 bound(struct fixture *x)
{
	u32 id;

	x->g2g.bind_state = KIWI_G2G_WINDOW_BOUND;
	id = bind(x);
	expect_event(x, id, KIWI_G2G_WINDOW_BOUND, 0);
	return id;
}

static int map(struct fixture *x, u32 id, u64 length)
{
	struct kiwi_g2g_import_map m = {
		.import_id = id,
		.export_offset = SZ_4K,
		.length = length,
	};

	return CALL(x, IMPORT_MAP, &m);
}

static struct dma_buf *dmabuf_of(struct fixture *x, u32 id)
{
	struct kiwi_error err;
	struct kg2g_window *window;
	struct dma_buf *dmabuf;
	u64 length;

	window = kiwi_obj_get(&x->file->owner, id, &kg2g_window_ops, &err);
	KUNIT_ASSERT_NOT_NULL(x->test, window);
	dmabuf = kg2g_window_dmabuf(window, &length, &x->err);
	kiwi_obj_put(&window->obj);
	return dmabuf;
}

static void window_asks(struct kunit *test)
{
	struct fixture *x = test->priv;
	const struct kiwi_g2g_bind_window_in *in;

	bind(x);
	/* The answer is looked for once, in case it came first. */
	in = (const void *)x->fw.cmds[x->fw.nr_cmds - 2].in;
	KUNIT_EXPECT_EQ(test, in->handle[0], 1);
	KUNIT_EXPECT_EQ(test, in->handle[15], 16);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(in->accel), 7);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->rights),
			KIWI_ACCESS_REMOTE_READ | KIWI_ACCESS_REMOTE_ATOMIC);
	fixture_no_event(x);
}

static void window_answer_comes_later(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 id = bind(x);
	u32 number = fake_g2g_window(&x->g2g)->number;

	fake_g2g_window_state(&x->g2g, number, KIWI_G2G_WINDOW_BOUND, 0);
	expect_event(x, id, KIWI_G2G_WINDOW_BOUND, 0);
	fake_g2g_window_state(&x->g2g, number, KIWI_G2G_WINDOW_DEAD, KIWI_G2G_WHY_REVOKED);
	expect_event(x, id, KIWI_G2G_WINDOW_DEAD, KIWI_G2G_WHY_REVOKED);
}

static void window_answer_came_first(struct kunit *test)
{
	struct fixture *x = test->priv;

	bound(x);
	/* The event itself comes after that, and says nothing new. */
	fake_fw_event(&x->fw, KIWI_G2G_EV_WINDOW, fake_g2g_window(&x->g2g)->number,
		      KIWI_G2G_WINDOW_BOUND, 0);
	fixture_no_event(x);
}

static void window_refused_by_the_exporter(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 id = bind(x);

	fake_g2g_window_state(&x->g2g, fake_g2g_window(&x->g2g)->number, KIWI_G2G_WINDOW_DEAD,
			      KIWI_G2G_WHY_NO_ACCESS);
	expect_event(x, id, KIWI_G2G_WINDOW_DEAD, KIWI_G2G_WHY_NO_ACCESS);
	KUNIT_EXPECT_EQ(test, map(x, id, SZ_4K), -EINVAL);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->kg->aperture.ranges));
}

static void window_mapped(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_import_map m = { .export_offset = SZ_8K, .length = SZ_64K + 1 };
	const struct kiwi_g2g_window *state = &fake_g2g_window(&x->g2g)->state;

	m.import_id = bound(x);
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_MAP, &m), 0);
	KUNIT_EXPECT_EQ(test, m.map_size, SZ_128K);
	KUNIT_EXPECT_EQ(test, m.atomic_size, SZ_4K);
	KUNIT_EXPECT_NE(test, m.map_offset, m.atomic_offset);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(state->length), SZ_64K + 1);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(state->export_offset), SZ_8K);
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_MAP, &m), -EINVAL);
	fixture_no_event(x);
}

static void window_without_atomics(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_import_bind b = { .accel = 7, .rights = KIWI_ACCESS_REMOTE_READ };
	struct kiwi_g2g_import_map m = { .length = 1 };

	x->g2g.bind_state = KIWI_G2G_WINDOW_BOUND;
	KUNIT_ASSERT_EQ(test, CALL(x, IMPORT_BIND, &b), 0);
	m.import_id = b.import_id;
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_MAP, &m), 0);
	KUNIT_EXPECT_EQ(test, m.atomic_size, 0);
	KUNIT_EXPECT_EQ(test, m.atomic_offset, 0);
}

static void window_bad_fields(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_import_bind b = { .accel = 7 };
	struct kiwi_g2g_import_map m = { .export_offset = 1, .length = 1 };

	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_BIND, &b), -EINVAL);
	b.rights = KIWI_ACCESS_LOCAL_WRITE;
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_BIND, &b), -EINVAL);
	b.rights = KIWI_ACCESS_REMOTE_READ;
	b.rsvd = 1;
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_BIND, &b), -EINVAL);
	m.import_id = bound(x);
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_MAP, &m), -EINVAL);
	m.export_offset = 0;
	m.length = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_MAP, &m), -EINVAL);
	m.length = U64_MAX;
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_MAP, &m), -EINVAL);
	m.length = 1;
	m.rsvd = 1;
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_MAP, &m), -EINVAL);
	m.import_id = 77;
	m.rsvd = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_MAP, &m), -ENOENT);
}

static void window_number_beyond(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_import_bind b = { .accel = 7, .rights = KIWI_ACCESS_REMOTE_READ };

	x->fw.number = 4097;
	KUNIT_EXPECT_EQ(test, CALL(x, IMPORT_BIND, &b), -EPROTO);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 1);
}

static void window_no_room_in_the_aperture(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 a = bound(x), b = bound(x);

	KUNIT_EXPECT_EQ(test, map(x, a, FAKE_BAR_LEN / 2), 0);
	KUNIT_EXPECT_EQ(test, map(x, b, 1), -ENOSPC);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, a), 0);
	KUNIT_EXPECT_EQ(test, map(x, b, FAKE_BAR_LEN / 2), 0);
}

static void window_map_refused_leaves_no_hole(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 id = bound(x);

	fake_fw_refuse(&x->fw, KIWI_G2G_OP_MAP_WINDOW, KIWI_ST_BAD_PARAM);
	KUNIT_EXPECT_EQ(test, map(x, id, SZ_4K), -EINVAL);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->kg->aperture.ranges));
	x->fw.refuse = 0;
	KUNIT_EXPECT_EQ(test, map(x, id, SZ_4K), 0);
}

static void window_dmabuf(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct dma_buf *dmabuf, *again;
	u32 id = bound(x);

	KUNIT_EXPECT_PTR_EQ(test, dmabuf_of(x, id), (struct dma_buf *)ERR_PTR(-EINVAL));
	KUNIT_ASSERT_EQ(test, map(x, id, SZ_4K), 0);
	dmabuf = dmabuf_of(x, id);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dmabuf));
	KUNIT_EXPECT_EQ(test, dmabuf->size, SZ_64K);
	again = dmabuf_of(x, id);
	KUNIT_EXPECT_PTR_EQ(test, dmabuf, again);
	dma_buf_put(again);
	dma_buf_put(dmabuf);
}

/* Importers find all of a window, whatever 32 bits hold. */
static void window_dmabuf_table(struct kunit *test)
{
	static const u64 sizes[] = { SZ_4K, SZ_2G, SZ_4G, SZ_4G + SZ_64K, 9ULL * SZ_1G };
	struct scatterlist *sg;
	struct sg_table sgt;
	unsigned int i, n;
	u64 at;

	for (n = 0; n < ARRAY_SIZE(sizes); n++) {
		KUNIT_ASSERT_EQ(test, kiwi_bar_buf_table(&sgt, FIXTURE_BAR, sizes[n]), 0);
		at = FIXTURE_BAR;
		for_each_sgtable_dma_sg(&sgt, sg, i) {
			KUNIT_EXPECT_EQ(test, sg_dma_address(sg), at);
			KUNIT_EXPECT_NE(test, sg_dma_len(sg), 0);
			KUNIT_EXPECT_TRUE(test, PAGE_ALIGNED(sg_dma_len(sg)));
			at += sg_dma_len(sg);
		}
		KUNIT_EXPECT_EQ(test, at - FIXTURE_BAR, sizes[n]);
		sg_free_table(&sgt);
	}
}

/* Who has the DMA-buf of a window that died finds it of no use, and a new one is not made. */
static void window_dmabuf_of_the_dead(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 id = bound(x);
	struct dma_buf *dmabuf;
	struct kg2g_window *window;

	KUNIT_ASSERT_EQ(test, map(x, id, SZ_4K), 0);
	dmabuf = dmabuf_of(x, id);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dmabuf));
	window = kiwi_obj_get(&x->file->owner, id, &kg2g_window_ops, &x->err);
	fake_g2g_window_state(&x->g2g, window->number, KIWI_G2G_WINDOW_DEAD,
			      KIWI_G2G_WHY_TIMEOUT);
	flush_work(&window->dead_work);
	kiwi_obj_put(&window->obj);
	expect_event(x, id, KIWI_G2G_WINDOW_DEAD, KIWI_G2G_WHY_TIMEOUT);
	KUNIT_EXPECT_PTR_EQ(test, dmabuf_of(x, id), (struct dma_buf *)ERR_PTR(-EREMOTEIO));
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), 0);
	/* The buffer itself holds no place in the aperture. */
	KUNIT_EXPECT_TRUE(test, list_empty(&x->kg->aperture.ranges));
	dma_buf_put(dmabuf);
}

/* Who has looked a window up may come to map or export it when it is no more. */
static void window_dmabuf_of_the_destroyed(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kg2g_window *window;
	u32 id = bound(x);
	u64 length;

	KUNIT_ASSERT_EQ(test, map(x, id, SZ_4K), 0);
	window = kiwi_obj_get(&x->file->owner, id, &kg2g_window_ops, &x->err);
	KUNIT_ASSERT_NOT_NULL(test, window);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), 0);
	KUNIT_EXPECT_PTR_EQ(test, kg2g_window_dmabuf(window, &length, &x->err),
			    (struct dma_buf *)ERR_PTR(-EREMOTEIO));
	kiwi_obj_put(&window->obj);
}

/* Who looks at all windows since events were lost may be late with what it saw. */
static void window_dead_when_it_has_ended(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kg2g_window *window;
	u32 id = bound(x);
	bool pending;

	window = kiwi_obj_get(&x->file->owner, id, &kg2g_window_ops, &x->err);
	KUNIT_ASSERT_NOT_NULL(test, window);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), 0);
	spin_lock(&x->kg->part.event_lock);
	kg2g_window_tell(window, KIWI_G2G_WINDOW_DEAD, KIWI_G2G_WHY_TIMEOUT);
	pending = work_pending(&window->dead_work);
	spin_unlock(&x->kg->part.event_lock);
	cancel_work_sync(&window->dead_work);
	KUNIT_EXPECT_FALSE(test, pending);
	fixture_no_event(x);
	kiwi_obj_put(&window->obj);
}

static void window_unbind_refused(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 id = bound(x);

	KUNIT_ASSERT_EQ(test, map(x, id, SZ_4K), 0);
	fake_fw_refuse(&x->fw, KIWI_G2G_OP_UNBIND_WINDOW, KIWI_ST_INTERNAL);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), -EREMOTEIO);
	/* The device may still have it there. */
	KUNIT_EXPECT_FALSE(test, list_empty(&x->kg->aperture.ranges));
	x->fw.refuse = 0;
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->kg->aperture.ranges));
}

static void window_device_dies(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 id = bound(x);

	KUNIT_ASSERT_EQ(test, map(x, id, SZ_4K), 0);
	x->fw.kill = KIWI_G2G_OP_UNBIND_WINDOW;
	x->fw.kill_error = -ENODEV;
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), 0);
}

static void window_events_lost(struct kunit *test)
{
	struct fixture *x = test->priv;
	const struct kiwi_eqe eqe = { .type = KIWI_G2G_EV_LOG };
	u32 id = bind(x);

	fake_g2g_window(&x->g2g)->state.state = KIWI_G2G_WINDOW_DEAD;
	fake_g2g_window(&x->g2g)->state.reason = KIWI_G2G_WHY_TIMEOUT;
	kg2g_event(&x->kg->part, &eqe, true);
	flush_work(&x->kg->lost_work);
	KUNIT_EXPECT_EQ(test, fixture_event(x).type, KIWI_EVENT_LOST);
	expect_event(x, id, KIWI_G2G_WINDOW_DEAD, KIWI_G2G_WHY_TIMEOUT);
}

static void window_events_of_nobody(struct kunit *test)
{
	struct fixture *x = test->priv;

	bind(x);
	fake_fw_event(&x->fw, KIWI_G2G_EV_WINDOW, 0, KIWI_G2G_WINDOW_DEAD, 0);
	fake_fw_event(&x->fw, KIWI_G2G_EV_WINDOW, U32_MAX, KIWI_G2G_WINDOW_DEAD, 0);
	fake_fw_event(&x->fw, KIWI_G2G_EV_WINDOW, fake_g2g_window(&x->g2g)->number, 200, 0);
	fixture_no_event(x);
}

static struct kunit_case window_cases[] = {
	KUNIT_CASE(window_asks),
	KUNIT_CASE(window_answer_comes_later),
	KUNIT_CASE(window_answer_came_first),
	KUNIT_CASE(window_refused_by_the_exporter),
	KUNIT_CASE(window_mapped),
	KUNIT_CASE(window_without_atomics),
	KUNIT_CASE(window_bad_fields),
	KUNIT_CASE(window_number_beyond),
	KUNIT_CASE(window_no_room_in_the_aperture),
	KUNIT_CASE(window_map_refused_leaves_no_hole),
	KUNIT_CASE(window_dmabuf),
	KUNIT_CASE(window_dmabuf_table),
	KUNIT_CASE(window_dmabuf_of_the_dead),
	KUNIT_CASE(window_dmabuf_of_the_destroyed),
	KUNIT_CASE(window_dead_when_it_has_ended),
	KUNIT_CASE(window_unbind_refused),
	KUNIT_CASE(window_device_dies),
	KUNIT_CASE(window_events_lost),
	KUNIT_CASE(window_events_of_nobody),
	{}
};

static struct kunit_suite window_suite = {
	.name = "kiwi_g2g_window",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = window_cases,
};

kunit_test_suite(window_suite);
