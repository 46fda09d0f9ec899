// SPDX-License-Identifier: GPL-2.0
/* DMA-bufs that move, fail to come back, or are taken away; their exporter is the test. */
#include <linux/dma-buf.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/fdtable.h>
#include <linux/file.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <kiwi/compat.h>
#include <uapi/kiwi/snic.h>

#include "../mem.h"
#include "fake.h"

#define SIZE	SZ_64K
#define IMPORTS	500

/**
 * struct buffer - a DMA-buf, and who uses it
 * @fake: device
 * @dmabuf: the buffer
 * @fd: likewise
 * @mem: as the user has it
 * @at: where it is
 * @fails: mappings that are still to fail
 * @error: with what
 * @tries: to map it
 * @mapped: mappings now
 * @pins: pins now
 * @released: the last reference is gone
 * @held: calls of hold
 * @resumed: calls of resume that went well
 * @refusals: calls of resume that are still to fail
 * @revoked: calls of revoked
 * @seen: where it was at the last resume
 * @mover: moves it all the time
 * @still: it shall not any more
 */
struct buffer {
	struct fake *fake;
	struct dma_buf *dmabuf;
	int fd;
	struct kiwi_fw_mem *mem;
	dma_addr_t at;
	unsigned int fails;
	int error;
	unsigned int tries;
	int mapped;
	int pins;
	bool released;
	unsigned int held;
	unsigned int resumed;
	unsigned int refusals;
	unsigned int revoked;
	dma_addr_t seen;
	struct work_struct mover;
	bool still;
};

/* What the paths of addresses are is not asked here. */
void kiwi_fw_path_find(struct kiwi_fw *fw, const struct kiwi_fw_run *runs, unsigned int nr_runs,
		       struct kiwi_fw_path *path)
{
	*path = (struct kiwi_fw_path) { .path = KIWI_PATH_SYSTEM };
}

/* The exporter ----------------------------------------------------------------------- */

static int buffer_pin(struct dma_buf_attachment *attach)
{
	struct buffer *b = attach->dmabuf->priv;

	b->pins++;
	return 0;
}

static void buffer_unpin(struct dma_buf_attachment *attach)
{
	struct buffer *b = attach->dmabuf->priv;

	b->pins--;
}

static struct sg_table *buffer_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	struct buffer *b = attach->dmabuf->priv;
	struct sg_table *sgt;

	WRITE_ONCE(b->tries, b->tries + 1);
	if (b->fails) {
		b->fails--;
		return ERR_PTR(b->error);
	}
	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt || sg_alloc_table(sgt, 1, GFP_KERNEL)) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	sg_dma_address(sgt->sgl) = b->at;
	sg_dma_len(sgt->sgl) = SIZE;
	b->mapped++;
	return sgt;
}

static void buffer_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			 enum dma_data_direction dir)
{
	struct buffer *b = attach->dmabuf->priv;

	b->mapped--;
	sg_free_table(sgt);
	kfree(sgt);
}

static void buffer_release(struct dma_buf *dmabuf)
{
	struct buffer *b = dmabuf->priv;

	b->released = true;
}

static const struct dma_buf_ops buffer_ops = {
	.pin = buffer_pin,
	.unpin = buffer_unpin,
	.map_dma_buf = buffer_map,
	.unmap_dma_buf = buffer_unmap,
	.release = buffer_release,
};

/* The user ------------------------------------------------------------------------------ */

static void user_hold(void *arg)
{
	struct buffer *b = arg;

	KUNIT_EXPECT_EQ(b->fake->test, b->mapped, 1);
	b->held++;
}

static int user_resume(void *arg)
{
	struct buffer *b = arg;

	if (b->refusals) {
		b->refusals--;
		return -EIO;
	}
	/* Before the import is over, its user does not know the memory. */
	if (READ_ONCE(b->mem))
		b->seen = b->mem->runs[0].addr;
	WRITE_ONCE(b->resumed, b->resumed + 1);
	return 0;
}

static void user_revoked(void *arg)
{
	struct buffer *b = arg;

	WRITE_ONCE(b->revoked, b->revoked + 1);
}

static const struct kiwi_fw_dmabuf_ops movable = {
	.hold = user_hold,
	.resume = user_resume,
	.revoked = user_revoked,
};

static const struct kiwi_fw_dmabuf_ops immovable = {
	.revoked = user_revoked,
};

/* Cases --------------------------------------------------------------------------------- */

static void import(struct buffer *b, const struct kiwi_fw_dmabuf_ops *ops)
{
	struct kunit *test = b->fake->test;
	struct kiwi_fw_mem *mem;
	struct kiwi_fw_err err;

	mem = kiwi_fw_mem_dmabuf(&b->fake->fw, b->fd, 0, SIZE, true, ops, b, &err);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mem));
	WRITE_ONCE(b->mem, mem);
	KUNIT_EXPECT_EQ(test, b->mem->dynamic, ops == &movable);
	KUNIT_EXPECT_EQ(test, b->pins, ops == &movable ? 0 : 1);
}

static struct buffer *buffer(struct kunit *test, const struct kiwi_fw_dmabuf_ops *ops)
{
	struct buffer *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);
	DEFINE_DMA_BUF_EXPORT_INFO(info);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->fake = test->priv;
	b->at = SZ_1M;
	info.ops = &buffer_ops;
	info.size = SIZE;
	info.flags = O_RDWR;
	info.priv = b;
	b->dmabuf = dma_buf_export(&info);
	KUNIT_ASSERT_FALSE(test, IS_ERR(b->dmabuf));
	b->fd = dma_buf_fd(b->dmabuf, O_CLOEXEC);
	KUNIT_ASSERT_GE(test, b->fd, 0);
	import(b, ops);
	return b;
}

static void move(struct buffer *b, dma_addr_t to)
{
	dma_resv_lock(b->dmabuf->resv, NULL);
	b->at = to;
	dma_buf_invalidate_mappings(b->dmabuf);
	KUNIT_EXPECT_EQ(b->fake->test, b->mapped, 0);
	dma_resv_unlock(b->dmabuf->resv);
}

static void release(struct buffer *b)
{
	struct kunit *test = b->fake->test;

	kiwi_fw_mem_release(b->mem);
	b->mem = NULL;
	KUNIT_EXPECT_EQ(test, b->mapped, 0);
	KUNIT_EXPECT_EQ(test, b->pins, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&b->dmabuf->attachments));
}

static void end(struct buffer *b)
{
	struct kunit *test = b->fake->test;

	release(b);
	close_fd(b->fd);
	flush_delayed_fput();
	KUNIT_EXPECT_TRUE(test, b->released);
}

static void dmabuf_moves(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);
	unsigned int n;

	for (n = 1; n < 4; n++) {
		move(b, n * SZ_16M);
		FAKE_EXPECT_SOON(test, READ_ONCE(b->resumed) == n);
		KUNIT_EXPECT_EQ(test, b->held, n);
		KUNIT_EXPECT_EQ(test, b->seen, n * SZ_16M);
	}
	KUNIT_EXPECT_EQ(test, b->revoked, 0);
	end(b);
}

static void dmabuf_is_told_of_twice(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);

	dma_resv_lock(b->dmabuf->resv, NULL);
	dma_buf_invalidate_mappings(b->dmabuf);
	dma_buf_invalidate_mappings(b->dmabuf);
	dma_resv_unlock(b->dmabuf->resv);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->resumed));
	KUNIT_EXPECT_EQ(test, b->held, 1);
	end(b);
}

static void dmabuf_comes_back_at_the_third_try(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);

	b->error = -ENOMEM;
	b->fails = 2;
	move(b, SZ_16M);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->resumed));
	KUNIT_EXPECT_EQ(test, b->tries, 1 + 3);
	KUNIT_EXPECT_EQ(test, b->revoked, 0);
	end(b);
}

static void dmabuf_cannot_be_resumed_at_once(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);

	b->refusals = 2;
	move(b, SZ_16M);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->resumed));
	KUNIT_EXPECT_EQ(test, b->tries, 1 + 3);
	KUNIT_EXPECT_EQ(test, b->mapped, 1);
	end(b);
}

/* What the exporter says is for good is not tried again. */
static void dmabuf_is_gone(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);

	b->error = -ENODEV;
	b->fails = 1;
	move(b, SZ_16M);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->revoked));
	KUNIT_EXPECT_EQ(test, b->tries, 1 + 1);
	KUNIT_EXPECT_EQ(test, b->resumed, 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_mem_lock(b->mem), -EREMOTEIO);
	end(b);
}

static void dmabuf_does_not_come_back(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);
	unsigned int tries;

	b->error = -ENOMEM;
	b->fails = UINT_MAX;
	move(b, SZ_16M);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->revoked));
	tries = b->tries;
	KUNIT_EXPECT_EQ(test, b->resumed, 0);
	msleep(100);
	KUNIT_EXPECT_EQ(test, READ_ONCE(b->tries), tries);
	end(b);
}

static const char *copy_name(struct dma_fence *fence)
{
	return "copy";
}

static const struct dma_fence_ops copy_ops = {
	.get_driver_name = copy_name,
	.get_timeline_name = copy_name,
};

/* What is copied to the new place for ever has not come back, as the uapi says: within 5 s. */
static void dmabuf_content_does_not_arrive(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);
	struct dma_fence *copy = kzalloc(sizeof(*copy), GFP_KERNEL);
	unsigned long begin = jiffies;
	static DEFINE_SPINLOCK(lock);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	dma_fence_init(copy, &copy_ops, &lock, dma_fence_context_alloc(1), 1);
	dma_resv_lock(b->dmabuf->resv, NULL);
	KUNIT_EXPECT_EQ(test, dma_resv_reserve_fences(b->dmabuf->resv, 1), 0);
	dma_resv_add_fence(b->dmabuf->resv, copy, DMA_RESV_USAGE_KERNEL);
	dma_resv_unlock(b->dmabuf->resv);
	move(b, SZ_16M);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->revoked));
	KUNIT_EXPECT_LE(test, jiffies_to_msecs(jiffies - begin), 6000);
	KUNIT_EXPECT_GE(test, jiffies_to_msecs(jiffies - begin), 4000);
	KUNIT_EXPECT_EQ(test, b->resumed, 0);
	dma_fence_signal(copy);
	dma_fence_put(copy);
	end(b);
}

/* Each move begins the tries anew. */
static void dmabuf_moves_on_before_it_came_back(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);

	b->error = -ENOMEM;
	b->fails = UINT_MAX;
	move(b, SZ_16M);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->tries) >= 4);
	dma_resv_lock(b->dmabuf->resv, NULL);
	b->fails = 8;
	b->tries = 0;
	dma_resv_unlock(b->dmabuf->resv);
	move(b, SZ_32M);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->resumed));
	KUNIT_EXPECT_EQ(test, b->seen, SZ_32M);
	KUNIT_EXPECT_EQ(test, b->held, 1);
	KUNIT_EXPECT_EQ(test, b->revoked, 0);
	end(b);
}

static void dmabuf_ends_on_the_move(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);
	unsigned int tries;

	b->error = -ENOMEM;
	b->fails = UINT_MAX;
	move(b, SZ_16M);
	end(b);
	tries = b->tries;
	msleep(100);
	KUNIT_EXPECT_EQ(test, b->tries, tries);
	KUNIT_EXPECT_EQ(test, b->revoked, 0);
}

/* Whoever hands it to the device does not wait for the worker. */
static void dmabuf_locked_is_mapped(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);

	b->error = -ENOMEM;
	b->fails = 1;
	move(b, SZ_16M);
	FAKE_EXPECT_SOON(test, READ_ONCE(b->tries) >= 2);
	KUNIT_ASSERT_EQ(test, kiwi_fw_mem_lock(b->mem), 0);
	KUNIT_EXPECT_EQ(test, b->mapped, 1);
	KUNIT_EXPECT_EQ(test, b->mem->runs[0].addr, SZ_16M);
	kiwi_fw_mem_unlock(b->mem);
	end(b);
}

static void move_on(struct work_struct *work)
{
	struct buffer *b = container_of(work, struct buffer, mover);

	while (!READ_ONCE(b->still)) {
		dma_resv_lock(b->dmabuf->resv, NULL);
		dma_buf_invalidate_mappings(b->dmabuf);
		dma_resv_unlock(b->dmabuf->resv);
		cond_resched();
	}
}

/* Also between attachment and mapping. */
static void dmabuf_moves_while_it_is_imported(struct kunit *test)
{
	struct buffer *b = buffer(test, &movable);
	unsigned int n;

	release(b);
	INIT_WORK(&b->mover, move_on);
	queue_work(system_unbound_wq, &b->mover);
	for (n = 0; n < IMPORTS; n++) {
		import(b, &movable);
		release(b);
	}
	WRITE_ONCE(b->still, true);
	flush_work(&b->mover);
	import(b, &movable);
	end(b);
}

static void dmabuf_pinned_is_taken_away(struct kunit *test)
{
	struct buffer *b = buffer(test, &immovable);

	move(b, SZ_16M);
	KUNIT_EXPECT_EQ(test, b->revoked, 1);
	KUNIT_EXPECT_EQ(test, b->pins, 0);
	KUNIT_EXPECT_EQ(test, kiwi_fw_mem_lock(b->mem), -EREMOTEIO);
	end(b);
}

static struct kunit_case dmabuf_cases[] = {
	KUNIT_CASE(dmabuf_moves),
	KUNIT_CASE(dmabuf_is_told_of_twice),
	KUNIT_CASE(dmabuf_comes_back_at_the_third_try),
	KUNIT_CASE(dmabuf_cannot_be_resumed_at_once),
	KUNIT_CASE(dmabuf_is_gone),
	KUNIT_CASE(dmabuf_does_not_come_back),
	KUNIT_CASE_SLOW(dmabuf_content_does_not_arrive),
	KUNIT_CASE(dmabuf_moves_on_before_it_came_back),
	KUNIT_CASE(dmabuf_ends_on_the_move),
	KUNIT_CASE(dmabuf_locked_is_mapped),
	KUNIT_CASE(dmabuf_moves_while_it_is_imported),
	KUNIT_CASE(dmabuf_pinned_is_taken_away),
	{}
};

static struct kunit_suite dmabuf_suite = {
	.name = "kiwi_fw_dmabuf",
	.init = fake_init,
	.exit = fake_exit,
	.test_cases = dmabuf_cases,
};

kunit_test_suite(dmabuf_suite);
