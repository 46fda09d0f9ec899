// SPDX-License-Identifier: GPL-2.0
/* Tables of objects and the life of objects, to the last reference. */
#include <linux/dma-buf.h>

#include <kiwi_abi/queues.h>

#include "fixture.h"

static void obj_ids(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *a = fixture_pd(x), *b = fixture_pd(x);

	KUNIT_EXPECT_EQ(test, a->obj.id, 1);
	KUNIT_EXPECT_EQ(test, b->obj.id, 2);
}

static void obj_unpublished_is_not_found(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = kiwi_pd_new(x->owner);

	KUNIT_ASSERT_NOT_NULL(test, pd);
	KUNIT_EXPECT_NULL(test, kiwi_obj_get(x->owner, pd->obj.id, NULL, &x->err));
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, pd->obj.id), -ENOENT);
	kiwi_obj_abort(&pd->obj);
}

static void obj_found_by_kind(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	u32 id = pd->obj.id;

	KUNIT_EXPECT_PTR_EQ(test, kiwi_obj_get(x->owner, id, &kiwi_pd_ops, &x->err), (void *)pd);
	kiwi_obj_put(&pd->obj);
	KUNIT_EXPECT_PTR_EQ(test, kiwi_obj_get(x->owner, id, NULL, &x->err), (void *)pd);
	kiwi_obj_put(&pd->obj);
	KUNIT_EXPECT_NULL(test, kiwi_obj_get(x->owner, id, &kiwi_mr_ops, &x->err));
	KUNIT_EXPECT_NULL(test, kiwi_obj_use(x->owner, id, &kiwi_cq_ops, &x->err));
}

static void obj_absent_is_told(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_NULL(test, kiwi_obj_get(x->owner, 77, &kiwi_mr_ops, &x->err));
	KUNIT_EXPECT_STREQ(test, x->err.text, "no MR has id 77");
	KUNIT_EXPECT_EQ(test, x->err.value, 77);
	KUNIT_EXPECT_NULL(test, kiwi_obj_get(x->owner, 0, NULL, &x->err));
	KUNIT_EXPECT_STREQ(test, x->err.text, "no object has id 0");
}

static void obj_tables_are_apart(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_owner *other = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	struct kiwi_pd *pd = fixture_pd(x);

	KUNIT_ASSERT_NOT_NULL(test, other);
	kiwi_owner_init(other, &x->ks.part);
	KUNIT_EXPECT_NULL(test, kiwi_obj_get(other, pd->obj.id, NULL, &x->err));
	KUNIT_EXPECT_EQ(test, kiwi_obj_destroy(other, pd->obj.id, &x->err), -ENOENT);
	kiwi_owner_exit(other);
}

static void obj_destroy(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	u32 id = pd->obj.id, pdn = pd->pdn;

	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_DEALLOC_PD);
	KUNIT_EXPECT_EQ(test, le32_to_cpup((__le32 *)fake_fw_last(&x->fw)->in), pdn);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), -ENOENT);
}

static void obj_destroy_gives_memory_back(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_mr *mr = fixture_mr(x, pd);

	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, mr->obj.id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->obj.uses), 0);
}

static void obj_destroy_in_use(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_mr *a = fixture_mr(x, pd), *b = fixture_mr(x, pd);
	unsigned int commands = x->fw.nr_cmds;

	KUNIT_EXPECT_EQ(test, fixture_destroy(x, pd->obj.id), -EBUSY);
	KUNIT_EXPECT_EQ(test, x->err.value, 2);
	KUNIT_EXPECT_STREQ(test, x->err.text, "PD 1 has 2 users");
	KUNIT_EXPECT_EQ(test, x->fw.nr_cmds, commands);
	KUNIT_EXPECT_FALSE(test, kiwi_obj_condemned(&pd->obj));

	KUNIT_EXPECT_EQ(test, fixture_destroy(x, a->obj.id), 0);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, pd->obj.id), -EBUSY);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, b->obj.id), 0);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, pd->obj.id), 0);
}

static void obj_each_use_counts(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_cq *cq = fixture_cq(x, db);
	struct kiwi_qp *qp = fixture_qp(x, pd, cq, cq, db);

	KUNIT_EXPECT_EQ(test, atomic_read(&pd->obj.uses), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&cq->obj.uses), 2);
	KUNIT_EXPECT_EQ(test, atomic_read(&db->obj.uses), 2);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, cq->obj.id), -EBUSY);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, db->obj.id), -EBUSY);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, qp->obj.id), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&cq->obj.uses), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&db->obj.uses), 1);
}

/* What is in use stays as it is: mapped, and imported. */
static void obj_withdrawn_when_nobody_uses_it(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_cq *cq = fixture_cq(x, db);
	struct dma_buf *dmabuf;

	KUNIT_EXPECT_EQ(test, fixture_destroy(x, db->obj.id), -EBUSY);
	dmabuf = kiwi_db_dmabuf(db, &x->err);
	KUNIT_ASSERT_FALSE(test, IS_ERR(dmabuf));
	dma_buf_put(dmabuf);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, cq->obj.id), 0);
	fake_fw_refuse(&x->fw, KIWI_OP_CLOSE_DB_PAGE, KIWI_ST_BUSY);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, db->obj.id), -EBUSY);
	dmabuf = kiwi_db_dmabuf(db, &x->err);
	KUNIT_EXPECT_PTR_EQ(test, dmabuf, (struct dma_buf *)ERR_PTR(-ENOENT));
	KUNIT_EXPECT_STREQ(test, x->err.text, "no doorbell has id 1");
}

static void obj_refused_destroy_keeps_the_id(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr(x, fixture_pd(x));
	u32 id = mr->obj.id;

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_DEREG_MR, KIWI_ST_INTERNAL);
	KUNIT_EXPECT_NE(test, fixture_destroy(x, id), 0);
	KUNIT_EXPECT_TRUE(test, x->err.refused);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
	KUNIT_EXPECT_TRUE(test, kiwi_obj_condemned(&mr->obj));

	/* Of no use but for another attempt. */
	KUNIT_EXPECT_NULL(test, kiwi_obj_use(x->owner, id, &kiwi_mr_ops, &x->err));
	KUNIT_EXPECT_EQ(test, kiwi_obj_lock(&mr->obj, &x->err), -ENOENT);
	x->fw.refuse = 0;
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void obj_destroy_on_a_dying_device(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr(x, fixture_pd(x));

	x->fw.kill = KIWI_SNIC_OP_DEREG_MR;
	x->fw.kill_error = -ETIMEDOUT;
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, mr->obj.id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void obj_abort_before_creation(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_mr *mr = fixture_mr_filled(x, pd);
	unsigned int commands = x->fw.nr_cmds;

	kiwi_obj_abort(&mr->obj);
	KUNIT_EXPECT_EQ(test, x->fw.nr_cmds, commands);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->obj.uses), 0);
}

static void obj_abort_after_creation(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr_filled(x, fixture_pd(x));

	KUNIT_ASSERT_EQ(test, kiwi_mr_create(mr, &x->err), 0);
	kiwi_obj_abort(&mr->obj);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_DEREG_MR);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void obj_abort_frees_the_id(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = kiwi_pd_new(x->owner);
	u32 id;

	KUNIT_ASSERT_NOT_NULL(test, pd);
	id = pd->obj.id;
	kiwi_obj_abort(&pd->obj);
	KUNIT_EXPECT_EQ(test, fixture_pd(x)->obj.id, id);
}

static void obj_create_refused(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr_filled(x, fixture_pd(x));

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_REG_MR, KIWI_ST_NO_RESOURCE);
	KUNIT_EXPECT_EQ(test, kiwi_mr_create(mr, &x->err), -ENOSPC);
	KUNIT_EXPECT_FALSE(test, mr->obj.live);
	KUNIT_EXPECT_EQ(test, x->fw.pbls, 0);
	kiwi_obj_abort(&mr->obj);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_REG_MR);
}

/* Nobody can name it any more, yet the device may still reach its memory. */
static void obj_refused_abort_makes_a_zombie(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_mr *mr = fixture_mr_filled(x, pd);
	u32 id = mr->obj.id;

	KUNIT_ASSERT_EQ(test, kiwi_mr_create(mr, &x->err), 0);
	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_DEREG_MR, KIWI_ST_INTERNAL);
	kiwi_obj_abort(&mr->obj);
	KUNIT_EXPECT_FALSE(test, list_empty(&x->ks.part.zombies));
	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->obj.uses), 1);
	KUNIT_EXPECT_NULL(test, kiwi_obj_get(x->owner, id, NULL, &x->err));

	kiwi_zombies_retry(&x->ks.part);
	KUNIT_EXPECT_FALSE(test, list_empty(&x->ks.part.zombies));
	x->fw.refuse = 0;
	kiwi_zombies_retry(&x->ks.part);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->ks.part.zombies));
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&pd->obj.uses), 0);
}

static void obj_zombies_go_after_a_reset(struct kunit *test)
{
	struct fixture *x = test->priv;

	fixture_mr(x, fixture_pd(x));
	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_DEREG_MR, KIWI_ST_INTERNAL);
	kiwi_owner_clear(x->owner);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
	fake_fw_reset(&x->fw);
	kiwi_zombies_retry(&x->ks.part);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->ks.part.zombies));
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

/* A PD whose region stayed is busy; both go in one pass, the region first. */
static void obj_zombies_users_first(struct kunit *test)
{
	struct fixture *x = test->priv;

	fixture_mr(x, fixture_pd(x));
	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_DEREG_MR, KIWI_ST_INTERNAL);
	kiwi_owner_clear(x->owner);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 2);
	x->fw.refuse = 0;
	kiwi_zombies_retry(&x->ks.part);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->ks.part.zombies));
}

static void obj_clear_destroys_users_first(struct kunit *test)
{
	static const u16 order[] = {
		KIWI_SNIC_OP_DESTROY_QP, KIWI_SNIC_OP_DESTROY_CQ, KIWI_SNIC_OP_DEREG_MR,
		KIWI_SNIC_OP_DEALLOC_PD,
	};
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_cq *cq = fixture_cq(x, db);
	unsigned int n, first;

	fixture_mr(x, pd);
	fixture_qp(x, pd, cq, cq, db);
	first = x->fw.nr_cmds;
	kiwi_owner_clear(x->owner);
	KUNIT_ASSERT_EQ(test, x->fw.nr_cmds, first + ARRAY_SIZE(order));
	for (n = 0; n < ARRAY_SIZE(order); n++)
		KUNIT_EXPECT_EQ(test, x->fw.cmds[(first + n) % FAKE_CMDS].opcode, order[n]);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->ks.part.zombies));
}

static void obj_reference_outlives_the_object(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_pd *got = kiwi_obj_get(x->owner, pd->obj.id, &kiwi_pd_ops, &x->err);

	KUNIT_ASSERT_NOT_NULL(test, got);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, pd->obj.id), 0);
	KUNIT_EXPECT_EQ(test, kiwi_obj_lock(&got->obj, &x->err), -ENOENT);
	KUNIT_EXPECT_FALSE(test, got->obj.live);
	kiwi_obj_put(&got->obj);
}

/* Who has looked a doorbell up may come to map or export it when it is no more. */
static void obj_reference_outlives_the_mapping(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_db *got = kiwi_obj_get(x->owner, db->obj.id, &kiwi_db_ops, &x->err);

	KUNIT_ASSERT_NOT_NULL(test, got);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, db->obj.id), 0);
	KUNIT_EXPECT_PTR_EQ(test, kiwi_db_dmabuf(got, &x->err),
			    (struct dma_buf *)ERR_PTR(-ENOENT));
	kiwi_obj_put(&got->obj);
}

static void obj_lock_of_a_live_object(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);

	KUNIT_ASSERT_EQ(test, kiwi_obj_lock(&pd->obj, &x->err), 0);
	KUNIT_EXPECT_FALSE(test, mutex_trylock(&pd->obj.lock));
	mutex_unlock(&pd->obj.lock);
}

struct racer {
	struct work_struct work;
	struct fixture *x;
	u32 id;
	int ret;
};

static void race(struct work_struct *work)
{
	struct racer *r = container_of(work, struct racer, work);
	struct kiwi_error err;

	r->ret = kiwi_obj_destroy(r->x->owner, r->id, &err);
}

/* Of two that destroy the same object one succeeds, and the other finds nothing. */
static void obj_destroyed_by_two(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct racer r[2];
	unsigned int round, n;

	for (round = 0; round < 50; round++) {
		u32 id = fixture_pd(x)->obj.id;

		for (n = 0; n < 2; n++) {
			r[n].x = x;
			r[n].id = id;
			INIT_WORK_ONSTACK(&r[n].work, race);
			queue_work(system_unbound_wq, &r[n].work);
		}
		for (n = 0; n < 2; n++) {
			flush_work(&r[n].work);
			destroy_work_on_stack(&r[n].work);
		}
		KUNIT_ASSERT_EQ(test, min(r[0].ret, r[1].ret), -ENOENT);
		KUNIT_ASSERT_EQ(test, max(r[0].ret, r[1].ret), 0);
	}
}

/* Moves ----------------------------------------------------------------------------- */

static struct kiwi_mr *movable(struct fixture *x)
{
	x->fw.identity.caps |= KIWI_SNIC_CAP_MR_HOLD;
	return fixture_mr(x, fixture_pd(x));
}

static void hold(struct kiwi_mr *mr)
{
	struct fake_mem *m = fixture_mem(mr->mem);

	m->ops->hold(m->arg);
}

static int resume_at(struct kiwi_mr *mr, dma_addr_t at)
{
	struct fake_mem *m = fixture_mem(mr->mem);

	m->run.addr = at;
	m->mem.path.path = KIWI_PATH_P2P_SWITCH;
	return m->ops->resume(m->arg);
}

static void move_region(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = movable(x);
	u32 key = mr->key;
	unsigned int n;

	for (n = 1; n < 4; n++) {
		hold(mr);
		KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_HOLD_MR);
		KUNIT_EXPECT_TRUE(test, mr->obj.live && mr->held);
		KUNIT_EXPECT_EQ(test, resume_at(mr, n * SZ_1G), 0);
		KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_RESUME_MR);
		KUNIT_EXPECT_FALSE(test, mr->held);
		KUNIT_EXPECT_EQ(test, mr->path.path, KIWI_PATH_P2P_SWITCH);
		KUNIT_EXPECT_EQ(test, mr->key, key);
	}
	KUNIT_EXPECT_EQ(test, fixture_events(x), 0);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, mr->obj.id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void move_before_creation(struct kunit *test)
{
	struct fixture *x = test->priv;
	unsigned int commands;
	struct kiwi_mr *mr;

	x->fw.identity.caps |= KIWI_SNIC_CAP_MR_HOLD;
	mr = fixture_mr_filled(x, fixture_pd(x));
	commands = x->fw.nr_cmds;
	hold(mr);
	KUNIT_EXPECT_EQ(test, resume_at(mr, SZ_1G), 0);
	KUNIT_EXPECT_EQ(test, x->fw.nr_cmds, commands);
	KUNIT_EXPECT_EQ(test, kiwi_mr_create(mr, &x->err), 0);
	kiwi_obj_abort(&mr->obj);
}

static void move_hold_refused(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = movable(x);

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_HOLD_MR, KIWI_ST_INTERNAL);
	hold(mr);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_DEREG_MR);
	KUNIT_EXPECT_TRUE(test, mr->obj.revoked);
	KUNIT_ASSERT_EQ(test, fixture_events(x), 1);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).type, KIWI_SNIC_EVENT_MR_REVOKED);
	KUNIT_EXPECT_EQ(test, resume_at(mr, SZ_1G), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_DEREG_MR);
}

static void move_resume_refused(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = movable(x);

	hold(mr);
	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_RESUME_MR, KIWI_ST_INTERNAL);
	KUNIT_EXPECT_NE(test, resume_at(mr, SZ_1G), 0);
	KUNIT_EXPECT_TRUE(test, mr->obj.live && mr->held);
	x->fw.refuse = 0;
	KUNIT_EXPECT_EQ(test, resume_at(mr, SZ_2G), 0);
	KUNIT_EXPECT_FALSE(test, mr->held);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 0);
}

/* A device that is down reaches no memory: moves go on without it. */
static void move_while_dead(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = movable(x);

	fake_fw_reset(&x->fw);
	hold(mr);
	KUNIT_EXPECT_FALSE(test, mr->held || mr->obj.revoked);
	KUNIT_EXPECT_EQ(test, resume_at(mr, SZ_1G), 0);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, mr->obj.id), 0);
}

/* What is held can be destroyed, or taken away for good. */
static void move_ends(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = movable(x);

	hold(mr);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, mr->obj.id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	mr = movable(x);
	hold(mr);
	fixture_revoke(mr->mem);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_DEREG_MR);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 1);
}

static void pinned_without_hold(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr;

	x->fw.identity.caps = 0;
	mr = fixture_mr(x, fixture_pd(x));
	KUNIT_EXPECT_NULL(test, fixture_mem(mr->mem)->ops->hold);
}

/* Revocation ------------------------------------------------------------------------ */

static void revoke_region(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr(x, fixture_pd(x));
	u32 key = mr->key;

	fixture_revoke(mr->mem);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_DEREG_MR);
	KUNIT_EXPECT_EQ(test, le32_to_cpup((__le32 *)fake_fw_last(&x->fw)->in), key);
	KUNIT_EXPECT_FALSE(test, mr->obj.live);
	KUNIT_EXPECT_TRUE(test, mr->obj.revoked);
	KUNIT_ASSERT_EQ(test, fixture_events(x), 1);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).type, KIWI_SNIC_EVENT_MR_REVOKED);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).id, mr->obj.id);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).user_data, FIXTURE_USER_DATA);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
}

static void revoke_then_destroy(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr(x, fixture_pd(x));
	unsigned int commands;

	fixture_revoke(mr->mem);
	commands = x->fw.nr_cmds;
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, mr->obj.id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.nr_cmds, commands);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void revoke_before_creation(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr_filled(x, fixture_pd(x));
	unsigned int commands = x->fw.nr_cmds;

	fixture_revoke(mr->mem);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 0);
	KUNIT_EXPECT_EQ(test, kiwi_mr_create(mr, &x->err), -EREMOTEIO);
	KUNIT_EXPECT_EQ(test, x->fw.nr_cmds, commands);
	KUNIT_EXPECT_EQ(test, x->fw.pbls, 0);
	kiwi_obj_abort(&mr->obj);
}

/* The memory goes in any case, so the device must not reach it: only a reset helps. */
static void revoke_refused(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr(x, fixture_pd(x));

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_DEREG_MR, KIWI_ST_INTERNAL);
	fixture_revoke(mr->mem);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 1);
	KUNIT_EXPECT_EQ(test, x->fw.fail_reason, KIWI_RESET_PROTOCOL);
	KUNIT_EXPECT_FALSE(test, mr->obj.live);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 1);
}

static void revoke_queue_pair(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_cq *cq = fixture_cq(x, db);
	struct kiwi_qp *qp = fixture_qp(x, fixture_pd(x), cq, cq, db);
	struct kiwi_qp_attr attr;

	fixture_revoke(qp->rq);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_DESTROY_QP);
	KUNIT_ASSERT_EQ(test, fixture_events(x), 1);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).type, KIWI_SNIC_EVENT_QP_ERROR);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).code, KIWI_CQE_ST_FATAL_ERR);
	KUNIT_EXPECT_EQ(test, kiwi_qp_query(qp, &attr, &x->err), -EREMOTEIO);
	fixture_revoke(qp->sq);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 1);
}

/* The device destroys no CQ that a QP uses, so the QPs go first, of either queue. */
static void revoke_completion_queue(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_cq *cq = fixture_cq(x, db), *other = fixture_cq(x, db);
	struct kiwi_qp *sender = fixture_qp(x, pd, cq, other, db);
	struct kiwi_qp *receiver = fixture_qp(x, pd, other, cq, db);
	struct kiwi_qp *stranger = fixture_qp(x, pd, other, other, db);

	fixture_revoke(cq->mem);
	KUNIT_EXPECT_FALSE(test, cq->obj.live);
	KUNIT_EXPECT_FALSE(test, sender->obj.live);
	KUNIT_EXPECT_FALSE(test, receiver->obj.live);
	KUNIT_EXPECT_TRUE(test, stranger->obj.live);
	KUNIT_EXPECT_TRUE(test, other->obj.live);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 0);
	KUNIT_ASSERT_EQ(test, fixture_events(x), 3);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 2).type, KIWI_SNIC_EVENT_CQ_ERROR);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 2).code, KIWI_CQ_ERR_DMA);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 2).id, cq->obj.id);
}

static void revoke_leaves_no_new_queue_pair(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_cq *dead = fixture_cq(x, db), *cq = fixture_cq(x, db);
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_qp *qp;

	fixture_revoke(dead->mem);
	qp = fixture_qp_filled(x, pd, dead, cq, db);
	KUNIT_EXPECT_EQ(test, kiwi_qp_create(qp, &x->err), -EREMOTEIO);
	kiwi_obj_abort(&qp->obj);
	qp = fixture_qp_filled(x, pd, cq, dead, db);
	KUNIT_EXPECT_EQ(test, kiwi_qp_create(qp, &x->err), -EREMOTEIO);
	kiwi_obj_abort(&qp->obj);
}

/* What the device is told ------------------------------------------------------------- */

static void region_on_the_wire(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	struct kiwi_mr *mr = fixture_mr(x, pd);
	const struct kiwi_snic_reg_mr_in *in = (const void *)fake_fw_last(&x->fw)->in;

	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->pdn), pd->pdn);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->access), mr->access);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->iova), 0x123456789000ULL);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->length), 8192);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->pbl.addr[0]), mr->mem->runs[0].addr);
	KUNIT_EXPECT_EQ(test, mr->key, x->fw.last << 8 | 0x5a);
	KUNIT_EXPECT_EQ(test, mr->pages, 1);
	KUNIT_EXPECT_EQ(test, mr->page_shift, 20);
}

static void page_list_limits_are_the_devices(struct kunit *test)
{
	struct fixture *x = test->priv;

	fixture_mr(x, fixture_pd(x));
	KUNIT_EXPECT_EQ(test, x->fw.pbl_limits.max_pages, 1000);
	KUNIT_EXPECT_EQ(test, x->fw.pbl_limits.page_shift_max, 30);
	KUNIT_EXPECT_EQ(test, x->fw.pbl_limits.table_shift_max, 20);
	KUNIT_EXPECT_EQ(test, x->fw.pbls, 0);
}

static void page_list_too_long(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_mr *mr = fixture_mr_filled(x, fixture_pd(x));

	x->fw.pbl_error = -ENOSPC;
	x->fw.pbl_why = (struct kiwi_fw_err) { .value = 1001, .limit = 1000 };
	KUNIT_EXPECT_EQ(test, kiwi_mr_create(mr, &x->err), -ENOSPC);
	KUNIT_EXPECT_EQ(test, x->err.value, 1001);
	KUNIT_EXPECT_EQ(test, x->err.limit, 1000);
	KUNIT_EXPECT_STREQ(test, x->err.text,
			   "page list of 8192 bytes in 1 runs: 1001 entries, limit 1000");
	kiwi_obj_abort(&mr->obj);
}

static void doorbells_all_in_use(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_db *db;
	unsigned int n;

	for (n = 0; n < FAKE_DB_PAGES; n++)
		KUNIT_EXPECT_EQ(test, fixture_db(x)->page.index, n);
	db = kiwi_db_new(x->owner);
	KUNIT_ASSERT_NOT_NULL(test, db);
	KUNIT_EXPECT_EQ(test, kiwi_db_create(db, &x->err), -ENOSPC);
	KUNIT_EXPECT_EQ(test, x->err.limit, FAKE_DB_PAGES);
	KUNIT_EXPECT_STREQ(test, x->err.text, "OPEN_DB_PAGE: all doorbell pages are in use");
	kiwi_obj_abort(&db->obj);
}

static void doorbell_not_closed(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_db *db = fixture_db(x);
	u32 id = db->obj.id;

	fake_fw_refuse(&x->fw, KIWI_OP_CLOSE_DB_PAGE, KIWI_ST_BUSY);
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), -EBUSY);
	KUNIT_EXPECT_STREQ(test, x->err.text, "doorbell page 0 could not be closed");
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&x->ks.queues.dbs, 0), (void *)&db->obj);
	x->fw.refuse = 0;
	KUNIT_EXPECT_EQ(test, fixture_destroy(x, id), 0);
	KUNIT_EXPECT_NULL(test, xa_load(&x->ks.queues.dbs, 0));
}

static struct kunit_case object_cases[] = {
	KUNIT_CASE(obj_ids),
	KUNIT_CASE(obj_unpublished_is_not_found),
	KUNIT_CASE(obj_found_by_kind),
	KUNIT_CASE(obj_absent_is_told),
	KUNIT_CASE(obj_tables_are_apart),
	KUNIT_CASE(obj_destroy),
	KUNIT_CASE(obj_destroy_gives_memory_back),
	KUNIT_CASE(obj_destroy_in_use),
	KUNIT_CASE(obj_each_use_counts),
	KUNIT_CASE(obj_withdrawn_when_nobody_uses_it),
	KUNIT_CASE(obj_refused_destroy_keeps_the_id),
	KUNIT_CASE(obj_destroy_on_a_dying_device),
	KUNIT_CASE(obj_abort_before_creation),
	KUNIT_CASE(obj_abort_after_creation),
	KUNIT_CASE(obj_abort_frees_the_id),
	KUNIT_CASE(obj_create_refused),
	KUNIT_CASE(obj_refused_abort_makes_a_zombie),
	KUNIT_CASE(obj_zombies_go_after_a_reset),
	KUNIT_CASE(obj_zombies_users_first),
	KUNIT_CASE(obj_clear_destroys_users_first),
	KUNIT_CASE(obj_reference_outlives_the_object),
	KUNIT_CASE(obj_reference_outlives_the_mapping),
	KUNIT_CASE(obj_lock_of_a_live_object),
	KUNIT_CASE(obj_destroyed_by_two),
	KUNIT_CASE(move_region),
	KUNIT_CASE(move_before_creation),
	KUNIT_CASE(move_hold_refused),
	KUNIT_CASE(move_resume_refused),
	KUNIT_CASE(move_while_dead),
	KUNIT_CASE(move_ends),
	KUNIT_CASE(pinned_without_hold),
	KUNIT_CASE(revoke_region),
	KUNIT_CASE(revoke_then_destroy),
	KUNIT_CASE(revoke_before_creation),
	KUNIT_CASE(revoke_refused),
	KUNIT_CASE(revoke_queue_pair),
	KUNIT_CASE(revoke_completion_queue),
	KUNIT_CASE(revoke_leaves_no_new_queue_pair),
	KUNIT_CASE(region_on_the_wire),
	KUNIT_CASE(page_list_limits_are_the_devices),
	KUNIT_CASE(page_list_too_long),
	KUNIT_CASE(doorbells_all_in_use),
	KUNIT_CASE(doorbell_not_closed),
	{}
};

static struct kunit_suite object_suite = {
	.name = "kiwi_snic_object",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = object_cases,
};

kunit_test_suite(object_suite);
