// SPDX-License-Identifier: GPL-2.0
#include <linux/mman.h>
#include <linux/sizes.h>

#include <kiwi_abi/queues.h>

#include "fixture.h"

static void fixture_event(struct ksnic_owner *owner, const struct ksnic_obj *obj, u32 type,
			  u32 code)
{
	struct fixture *x = container_of(owner, struct fixture, owner);
	unsigned int n = x->nr_events++ % ARRAY_SIZE(x->events);

	lockdep_assert_held(&x->ks.event_lock);
	x->events[n] = (struct fixture_event) { type, code, obj->id, obj->user_data };
}

static void fixture_withdraw(struct ksnic_owner *owner, struct ksnic_obj *obj)
{
	container_of(owner, struct fixture, owner)->withdrawals++;
}

static const struct ksnic_owner_ops fixture_owner_ops = {
	.event = fixture_event,
	.withdraw = fixture_withdraw,
};

static void fixture_release_device(struct device *dev)
{
}

/* As the driver's probe does with a function that is really there. */
static int fixture_snic_init(struct fixture *x)
{
	struct ksnic *ks = &x->ks;
	int ret;

	ret = init_srcu_struct(&ks->gate);
	if (ret)
		return ret;
	ks->fw = &x->fw;
	mutex_init(&ks->life);
	spin_lock_init(&ks->files_lock);
	INIT_LIST_HEAD(&ks->files);
	ks->down_errno = -ENODEV;
	spin_lock_init(&ks->event_lock);
	xa_init(&ks->cqs);
	xa_init(&ks->qps);
	xa_init(&ks->dbs);
	mutex_init(&ks->zombie_lock);
	INIT_LIST_HEAD(&ks->zombies);
	device_initialize(&ks->dev);
	ks->dev.release = fixture_release_device;
	ret = ksnic_chardev_prepare(ks);
	if (!ret)
		ret = ksnic_cmd_query_caps(&x->fw, &ks->caps, &x->err);
	return ret ?: ksnic_ports_start(ks, &x->err);
}

/**
 * fixture_init() - for a suite: a SNIC that is up, and an owner, test->priv
 * @test: the test
 *
 * Return: 0 or negative errno
 */
int fixture_init(struct kunit *test)
{
	struct fixture *x = kunit_kzalloc(test, sizeof(*x), GFP_KERNEL);

	if (!x)
		return -ENOMEM;
	x->test = test;
	test->priv = x;
	fake_fw_init(&x->fw);
	ksnic_owner_init(&x->owner, &x->ks, &fixture_owner_ops);
	return fixture_snic_init(x);
}

/**
 * fixture_exit() - for a suite: nothing is left, with the device or without
 * @test: the test
 */
void fixture_exit(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct ksnic *ks;

	if (!x)
		return;
	ks = &x->ks;
	x->fw.refuse = 0;
	x->fw.kill = 0;
	ksnic_owner_clear(&x->owner);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(x->fw.db_open, FAKE_DB_PAGES));
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_EQ(test, x->fw.pbls, 0);
	KUNIT_EXPECT_EQ(test, x->fw.comps, 0);
	KUNIT_EXPECT_STREQ(test, x->fw.broken ?: "", "");
	KUNIT_EXPECT_TRUE(test, list_empty(&ks->zombies));
	KUNIT_EXPECT_TRUE(test, xa_empty(&x->owner.objs));
	KUNIT_EXPECT_TRUE(test, xa_empty(&ks->cqs));
	KUNIT_EXPECT_TRUE(test, xa_empty(&ks->qps));
	KUNIT_EXPECT_TRUE(test, xa_empty(&ks->dbs));
	KUNIT_EXPECT_TRUE(test, list_empty(&ks->files));
	ksnic_ports_free(ks);
	put_device(&ks->dev);
	cleanup_srcu_struct(&ks->gate);
}

/**
 * fixture_init_file() - for a suite: a SNIC with an open file, and user memory
 * @test: the test
 *
 * Return: 0 or negative errno
 */
int fixture_init_file(struct kunit *test)
{
	struct fixture *x;
	int ret;

	ret = fixture_init(test);
	if (ret)
		return ret;
	x = test->priv;
	x->user = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (!x->user || IS_ERR_VALUE(x->user))
		return -ENOMEM;
	ksnic_files_admit(&x->ks);
	x->inode.i_cdev = &x->ks.cdev;
	ret = x->ks.cdev.ops->open(&x->inode, &x->filp);
	x->file = x->filp.private_data;
	return ret;
}

/**
 * fixture_exit_file() - for a suite: closes the file; nothing is left
 * @test: the test
 */
void fixture_exit_file(struct kunit *test)
{
	struct fixture *x = test->priv;

	if (x && x->file) {
		x->fw.refuse = 0;
		x->fw.kill = 0;
		x->ks.cdev.ops->release(&x->inode, &x->filp);
	}
	fixture_exit(test);
}

/* Objects ------------------------------------------------------------------------ */

int fixture_destroy(struct fixture *x, u32 id)
{
	return ksnic_obj_destroy(&x->owner, id, &x->err);
}

static void *use(struct fixture *x, struct ksnic_obj *obj)
{
	void *used = ksnic_obj_use(&x->owner, obj->id, obj->ops, &x->err);

	KUNIT_ASSERT_PTR_EQ(x->test, used, (void *)obj);
	return used;
}

static void publish(struct fixture *x, struct ksnic_obj *obj, int ret)
{
	if (ret)
		ksnic_obj_abort(obj);
	KUNIT_ASSERT_EQ(x->test, ret, 0);
	ksnic_obj_publish(obj);
}

static struct kiwi_fw_mem *memory(struct fixture *x, u64 length,
				  const struct kiwi_fw_dmabuf_ops *ops, void *arg)
{
	struct kiwi_fw_err why;
	struct kiwi_fw_mem *mem;

	mem = kiwi_fw_mem_dmabuf(&x->fw, 5, 0, length, true, ops, arg, &why);
	KUNIT_ASSERT_FALSE(x->test, IS_ERR(mem));
	return mem;
}

struct ksnic_pd *fixture_pd(struct fixture *x)
{
	struct ksnic_pd *pd = ksnic_pd_new(&x->owner);

	KUNIT_ASSERT_NOT_NULL(x->test, pd);
	publish(x, &pd->obj, ksnic_pd_create(pd, &x->err));
	return pd;
}

struct ksnic_mr *fixture_mr_filled(struct fixture *x, struct ksnic_pd *pd)
{
	struct ksnic_mr *mr = ksnic_mr_new(&x->owner, FIXTURE_USER_DATA);

	KUNIT_ASSERT_NOT_NULL(x->test, mr);
	mr->pd = use(x, &pd->obj);
	mr->mem = memory(x, SZ_8K, ksnic_mr_mem_ops(&x->ks), mr);
	mr->iova = 0x123456789000ULL;
	mr->access = KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_READ;
	return mr;
}

struct ksnic_mr *fixture_mr(struct fixture *x, struct ksnic_pd *pd)
{
	struct ksnic_mr *mr = fixture_mr_filled(x, pd);

	publish(x, &mr->obj, ksnic_mr_create(mr, &x->err));
	return mr;
}

struct ksnic_db *fixture_db(struct fixture *x)
{
	struct ksnic_db *db = ksnic_db_new(&x->owner);

	KUNIT_ASSERT_NOT_NULL(x->test, db);
	publish(x, &db->obj, ksnic_db_create(db, &x->err));
	return db;
}

struct ksnic_cq *fixture_cq_filled(struct fixture *x, struct ksnic_db *db)
{
	struct ksnic_cq *cq = ksnic_cq_new(&x->owner, FIXTURE_USER_DATA);

	KUNIT_ASSERT_NOT_NULL(x->test, cq);
	cq->db = use(x, &db->obj);
	cq->mem = memory(x, SZ_4K + 64, &ksnic_cq_mem_ops, cq);
	cq->ci_offset = SZ_4K;
	cq->vector = 3;
	cq->log2 = 6;
	return cq;
}

struct ksnic_cq *fixture_cq(struct fixture *x, struct ksnic_db *db)
{
	struct ksnic_cq *cq = fixture_cq_filled(x, db);

	publish(x, &cq->obj, ksnic_cq_create(cq, &x->err));
	return cq;
}

struct ksnic_qp *fixture_qp_filled(struct fixture *x, struct ksnic_pd *pd, struct ksnic_cq *send,
				   struct ksnic_cq *recv, struct ksnic_db *db)
{
	struct ksnic_qp *qp = ksnic_qp_new(&x->owner, FIXTURE_USER_DATA);

	KUNIT_ASSERT_NOT_NULL(x->test, qp);
	qp->pd = use(x, &pd->obj);
	qp->send_cq = use(x, &send->obj);
	qp->recv_cq = use(x, &recv->obj);
	qp->db = use(x, &db->obj);
	qp->sq = memory(x, 8 * KIWI_WQEBB, &ksnic_qp_mem_ops, qp);
	qp->rq = memory(x, SZ_4K, &ksnic_qp_mem_ops, qp);
	qp->type = KIWI_QP_RC;
	qp->flags = KIWI_QP_SQ_SIG_ALL;
	qp->sq_log2 = 3;
	qp->rq_log2 = 6;
	qp->rq_stride = 6;
	return qp;
}

struct ksnic_qp *fixture_qp(struct fixture *x, struct ksnic_pd *pd, struct ksnic_cq *send,
			    struct ksnic_cq *recv, struct ksnic_db *db)
{
	struct ksnic_qp *qp = fixture_qp_filled(x, pd, send, recv, db);

	publish(x, &qp->obj, ksnic_qp_create(qp, &x->err));
	return qp;
}
