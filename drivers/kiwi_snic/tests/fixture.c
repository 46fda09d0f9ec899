// SPDX-License-Identifier: GPL-2.0
#include <linux/idr.h>
#include <linux/mman.h>
#include <linux/sizes.h>

#include <kiwi_abi/queues.h>

#include "fixture.h"

static DEFINE_IDA(fixture_ida);
static dev_t fixture_devt;

/* The structure is the test's. */
static void fixture_free(struct kiwi_part *part)
{
	ksnic_teardown(to_ksnic(part));
}

static const struct kiwi_part_ops fixture_ops = {
	.name = "snic",
	.owner = THIS_MODULE,
	.number = KIWI_PART_SNIC,
	.kinds = KIWI_QUEUES_KINDS,
	.fw = {
		.event = ksnic_event,
		.down = kiwi_part_down,
	},
	.ioctls = ksnic_ioctls,
	.nr_ioctls = ARRAY_SIZE(ksnic_ioctls),
	.mmap = kiwi_queues_mmap,
	KIWI_QUEUES_FILE_OPS,
	.free = fixture_free,
	.devt = &fixture_devt,
	.ida = &fixture_ida,
};

/* Attributes are not among the units. */
const struct attribute_group *ksnic_dev_groups[] = { NULL };

static int open_file(struct fixture *x)
{
	struct kiwi_part *part = &x->ks.part;
	int ret;

	kiwi_files_admit(part);
	x->inode.i_cdev = &part->cdev;
	ret = part->cdev.ops->open(&x->inode, &x->filp);
	if (ret)
		return ret;
	x->file = x->filp.private_data;
	x->owner = &x->file->owner;
	return 0;
}

/**
 * fixture_init() - for a suite: a SNIC that is up, an open file, and user memory, test->priv
 * @test: the test
 *
 * Return: 0 or negative errno
 */
int fixture_init(struct kunit *test)
{
	struct fixture *x = kunit_kzalloc(test, sizeof(*x), GFP_KERNEL);
	int ret;

	if (!x)
		return -ENOMEM;
	x->test = test;
	fake_snic_init(&x->snic);
	ret = ksnic_setup(&x->ks, &fixture_ops, &x->pdev.dev);
	if (ret)
		return ret;
	test->priv = x;
	x->ks.part.fw = &x->fw;
	dev_set_name(&x->ks.part.dev, "snic0");
	ret = ksnic_start(&x->ks, &x->err);
	if (ret)
		return ret;
	x->user = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (!x->user || IS_ERR_VALUE(x->user))
		return -ENOMEM;
	return open_file(x);
}

/**
 * fixture_exit() - for a suite: closes the file; nothing is left, with the device or without
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
	if (x->file)
		ks->part.cdev.ops->release(&x->inode, &x->filp);
	ksnic_stopped(ks);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_TRUE(test, bitmap_empty(x->snic.queues.db_open, FAKE_DB_PAGES));
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_EQ(test, x->fw.pbls, 0);
	KUNIT_EXPECT_EQ(test, x->snic.queues.comps, 0);
	KUNIT_EXPECT_STREQ(test, x->fw.broken ?: "", "");
	KUNIT_EXPECT_TRUE(test, list_empty(&ks->part.zombies));
	KUNIT_EXPECT_TRUE(test, list_empty(&ks->part.files));
	KUNIT_EXPECT_TRUE(test, xa_empty(&ks->queues.cqs));
	KUNIT_EXPECT_TRUE(test, xa_empty(&ks->queues.qps));
	KUNIT_EXPECT_TRUE(test, xa_empty(&ks->queues.dbs));
	put_device(&ks->part.dev);
}

/* Events ------------------------------------------------------------------------- */

unsigned int fixture_events(struct fixture *x)
{
	return x->owner->events.count;
}

struct kiwi_file_event fixture_event(struct fixture *x, unsigned int n)
{
	const struct kiwi_events *q = &x->owner->events;

	KUNIT_ASSERT_LT(x->test, n, q->count);
	return q->ring[(q->head + n) % ARRAY_SIZE(q->ring)];
}

void fixture_lose_events(struct fixture *x)
{
	static const struct kiwi_eqe none;

	ksnic_event(&x->ks.part, &none, true);
	flush_work(&x->ks.lost_work);
}

/* Objects ------------------------------------------------------------------------ */

int fixture_destroy(struct fixture *x, u32 id)
{
	return kiwi_obj_destroy(x->owner, id, &x->err);
}

static void *use(struct fixture *x, struct kiwi_obj *obj)
{
	void *used = kiwi_obj_use(x->owner, obj->id, obj->ops, &x->err);

	KUNIT_ASSERT_PTR_EQ(x->test, used, (void *)obj);
	return used;
}

static void publish(struct fixture *x, struct kiwi_obj *obj, int ret)
{
	if (ret)
		kiwi_obj_abort(obj);
	KUNIT_ASSERT_EQ(x->test, ret, 0);
	kiwi_obj_publish(obj);
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

struct kiwi_pd *fixture_pd(struct fixture *x)
{
	struct kiwi_pd *pd = kiwi_pd_new(x->owner);

	KUNIT_ASSERT_NOT_NULL(x->test, pd);
	publish(x, &pd->obj, kiwi_pd_create(pd, &x->err));
	return pd;
}

struct kiwi_mr *fixture_mr_filled(struct fixture *x, struct kiwi_pd *pd)
{
	struct kiwi_mr *mr = kiwi_mr_new(x->owner, FIXTURE_USER_DATA);

	KUNIT_ASSERT_NOT_NULL(x->test, mr);
	mr->pd = use(x, &pd->obj);
	mr->mem = memory(x, SZ_8K, kiwi_mr_mem_ops(&x->ks.part), mr);
	mr->iova = 0x123456789000ULL;
	mr->access = KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_READ;
	return mr;
}

struct kiwi_mr *fixture_mr(struct fixture *x, struct kiwi_pd *pd)
{
	struct kiwi_mr *mr = fixture_mr_filled(x, pd);

	publish(x, &mr->obj, kiwi_mr_create(mr, &x->err));
	return mr;
}

struct kiwi_db *fixture_db(struct fixture *x)
{
	struct kiwi_db *db = kiwi_db_new(x->owner);

	KUNIT_ASSERT_NOT_NULL(x->test, db);
	publish(x, &db->obj, kiwi_db_create(db, &x->err));
	return db;
}

struct kiwi_cq *fixture_cq_filled(struct fixture *x, struct kiwi_db *db)
{
	struct kiwi_cq *cq = kiwi_cq_new(x->owner, FIXTURE_USER_DATA);

	KUNIT_ASSERT_NOT_NULL(x->test, cq);
	cq->db = use(x, &db->obj);
	cq->mem = memory(x, SZ_4K + 64, &kiwi_cq_mem_ops, cq);
	cq->ci_offset = SZ_4K;
	cq->vector = 3;
	cq->log2 = 6;
	return cq;
}

struct kiwi_cq *fixture_cq(struct fixture *x, struct kiwi_db *db)
{
	struct kiwi_cq *cq = fixture_cq_filled(x, db);

	publish(x, &cq->obj, kiwi_cq_create(cq, &x->err));
	return cq;
}

struct kiwi_qp *fixture_qp_filled(struct fixture *x, struct kiwi_pd *pd, struct kiwi_cq *send,
				  struct kiwi_cq *recv, struct kiwi_db *db)
{
	struct kiwi_qp *qp = kiwi_qp_new(x->owner, FIXTURE_USER_DATA);

	KUNIT_ASSERT_NOT_NULL(x->test, qp);
	qp->pd = use(x, &pd->obj);
	qp->send_cq = use(x, &send->obj);
	qp->recv_cq = use(x, &recv->obj);
	qp->db = use(x, &db->obj);
	qp->sq = memory(x, 8 * KIWI_WQEBB, &kiwi_qp_mem_ops, qp);
	qp->rq = memory(x, SZ_4K, &kiwi_qp_mem_ops, qp);
	qp->type = KIWI_QP_RC;
	qp->flags = KIWI_QP_SQ_SIG_ALL;
	qp->sq_log2 = 3;
	qp->rq_log2 = 6;
	qp->rq_stride = 6;
	return qp;
}

struct kiwi_qp *fixture_qp(struct fixture *x, struct kiwi_pd *pd, struct kiwi_cq *send,
			   struct kiwi_cq *recv, struct kiwi_db *db)
{
	struct kiwi_qp *qp = fixture_qp_filled(x, pd, send, recv, db);

	publish(x, &qp->obj, kiwi_qp_create(qp, &x->err));
	return qp;
}
