// SPDX-License-Identifier: GPL-2.0
/* The ioctl interface of an open file: structures, flags, references, replies, errors. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include <kiwi_abi/queues.h>

#include "fixture.h"

struct head {
	__u32 size;
	__u32 flags;
};

/* Each ioctl, and the size of its structure's first version. */
static const struct {
	unsigned int cmd;
	u32 size;
} all[] = {
	{ KIWI_SNIC_QUERY_DEVICE, 88 }, { KIWI_SNIC_QUERY_PORT, 32 }, { KIWI_SNIC_SET_PORT, 16 },
	{ KIWI_SNIC_QUERY_GID, 32 }, { KIWI_SNIC_SET_GID, 32 }, { KIWI_SNIC_LAST_ERROR, 160 },
	{ KIWI_SNIC_DESTROY, 16 }, { KIWI_SNIC_PD_ALLOC, 16 }, { KIWI_SNIC_MR_REG, 64 },
	{ KIWI_SNIC_MR_QUERY, 56 }, { KIWI_SNIC_DOORBELL_ALLOC, 32 },
	{ KIWI_SNIC_CQ_CREATE, 80 }, { KIWI_SNIC_QP_CREATE, 104 }, { KIWI_SNIC_QP_MODIFY, 76 },
	{ KIWI_SNIC_QP_QUERY, 76 }, { KIWI_SNIC_DOORBELL_EXPORT, 32 },
	{ KIWI_SNIC_QUEUE_QUERY, 160 }, { KIWI_SNIC_ERROR_PAGE, 32 },
	{ KIWI_SNIC_PREFLIGHT, 24 },
};

static long call_at(struct fixture *x, unsigned int cmd, void *arg, size_t size)
{
	long ret;

	KUNIT_ASSERT_EQ(x->test, copy_to_user((void __user *)x->user, arg, size), 0);
	ret = x->ks.part.cdev.ops->unlocked_ioctl(&x->filp, cmd, x->user);
	KUNIT_ASSERT_EQ(x->test, copy_from_user(arg, (void __user *)x->user, size), 0);
	return ret;
}

/* With the structure as it is now. */
static long call(struct fixture *x, unsigned int cmd, void *arg)
{
	struct head *head = arg;
	unsigned int n;

	for (n = 0; all[n].cmd != cmd; n++)
		;
	head->size = all[n].size;
	return call_at(x, cmd, arg, all[n].size);
}

#define CALL(x, name, arg) call(x, KIWI_SNIC_##name, arg)

static struct kiwi_snic_last_error last_error(struct fixture *x)
{
	struct kiwi_snic_last_error e = { };

	KUNIT_ASSERT_EQ(x->test, CALL(x, LAST_ERROR, &e), 0);
	return e;
}

static void expect_text(struct fixture *x, const char *wanted)
{
	struct kiwi_snic_last_error e = last_error(x);

	KUNIT_EXPECT_STREQ(x->test, e.text, wanted);
}

/* Objects made by ioctl: the test ends if they cannot be made. */

static u32 a_pd(struct fixture *x)
{
	struct kiwi_snic_pd_alloc a = { };

	KUNIT_ASSERT_EQ(x->test, CALL(x, PD_ALLOC, &a), 0);
	return a.pd;
}

static u32 a_doorbell(struct fixture *x)
{
	struct kiwi_snic_doorbell_alloc a = { };

	KUNIT_ASSERT_EQ(x->test, CALL(x, DOORBELL_ALLOC, &a), 0);
	return a.doorbell;
}

static struct kiwi_snic_mr_reg region(u32 pd)
{
	return (struct kiwi_snic_mr_reg) {
		.mem = { .type = KIWI_MEM_USER, .addr = 0x7000123, .length = 5000 },
		.iova = 0x1000,
		.pd = pd,
		.access = KIWI_ACCESS_LOCAL_WRITE,
		.user_data = FIXTURE_USER_DATA,
	};
}

static struct kiwi_snic_cq_create completion_queue(u32 doorbell)
{
	return (struct kiwi_snic_cq_create) {
		.mem = { .type = KIWI_MEM_DMABUF, .fd = 3, .addr = 64, .length = 8192 },
		.ci_offset = 4096,
		.log2 = 6,
		.doorbell = doorbell,
		.event_fd = -1,
		.vector = 1,
	};
}

static u32 a_cq(struct fixture *x, u32 doorbell)
{
	struct kiwi_snic_cq_create c = completion_queue(doorbell);

	KUNIT_ASSERT_EQ(x->test, CALL(x, CQ_CREATE, &c), 0);
	return c.cq;
}

static struct kiwi_snic_qp_create queue_pair(u32 pd, u32 cq, u32 doorbell)
{
	return (struct kiwi_snic_qp_create) {
		.flags = KIWI_QP_SQ_SIG_ALL,
		.sq = { .type = KIWI_MEM_USER, .addr = 0x10000, .length = 512 },
		.rq = { .type = KIWI_MEM_USER, .addr = 0x20000, .length = 4096 },
		.pd = pd,
		.send_cq = cq,
		.recv_cq = cq,
		.doorbell = doorbell,
		.type = KIWI_QP_RC,
		.sq_log2 = 3,
		.rq_log2 = 6,
		.rq_stride = 6,
	};
}

static u32 a_qp(struct fixture *x)
{
	u32 doorbell = a_doorbell(x);
	struct kiwi_snic_qp_create c = queue_pair(a_pd(x), a_cq(x, doorbell), doorbell);

	KUNIT_ASSERT_EQ(x->test, CALL(x, QP_CREATE, &c), 0);
	return c.qp;
}

/* Structures ---------------------------------------------------------------------- */

static void ioctl_size_below_version_1(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct head *head = kunit_kzalloc(test, 256, GFP_KERNEL);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, head);
	for (n = 0; n < ARRAY_SIZE(all); n++) {
		head->size = all[n].size - 1;
		KUNIT_EXPECT_EQ(test, call_at(x, all[n].cmd, head, 256), -EINVAL);
		if (all[n].cmd == KIWI_SNIC_LAST_ERROR)
			continue;
		KUNIT_EXPECT_EQ(test, last_error(x).value, all[n].size - 1);
		KUNIT_EXPECT_EQ(test, last_error(x).limit, all[n].size);
	}
	head->size = 0;
	KUNIT_EXPECT_EQ(test, call_at(x, KIWI_SNIC_PD_ALLOC, head, 256), -EINVAL);
}

static void ioctl_tail_of_zeros(struct kunit *test)
{
	struct fixture *x = test->priv;
	u8 *arg = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct kiwi_snic_pd_alloc *a = (void *)arg;

	KUNIT_ASSERT_NOT_NULL(test, arg);
	a->size = sizeof(*a) + 1;
	KUNIT_EXPECT_EQ(test, call_at(x, KIWI_SNIC_PD_ALLOC, a, PAGE_SIZE), 0);
	a->size = PAGE_SIZE;
	KUNIT_EXPECT_EQ(test, call_at(x, KIWI_SNIC_PD_ALLOC, a, PAGE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, a->size, PAGE_SIZE);
	KUNIT_EXPECT_EQ(test, a->pd, 2);
}

static void ioctl_tail_with_content(struct kunit *test)
{
	struct fixture *x = test->priv;
	u8 arg[24] = { 24, [23] = 1 };

	KUNIT_EXPECT_EQ(test, call_at(x, KIWI_SNIC_PD_ALLOC, arg, sizeof(arg)), -E2BIG);
	expect_text(x, "PD_ALLOC: size 24: the kernel knows 16 bytes, and the rest is not zero");
	arg[23] = 0;
	arg[16] = 1;
	KUNIT_EXPECT_EQ(test, call_at(x, KIWI_SNIC_PD_ALLOC, arg, sizeof(arg)), -E2BIG);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
}

static void ioctl_beyond_a_page(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_pd_alloc a = { .size = PAGE_SIZE + 1 };

	KUNIT_EXPECT_EQ(test, call_at(x, KIWI_SNIC_PD_ALLOC, &a, sizeof(a)), -E2BIG);
	a.size = U32_MAX;
	KUNIT_EXPECT_EQ(test, call_at(x, KIWI_SNIC_PD_ALLOC, &a, sizeof(a)), -E2BIG);
}

static void ioctl_unknown_flags(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct head *head = kunit_kzalloc(test, 256, GFP_KERNEL);
	unsigned int n;

	KUNIT_ASSERT_NOT_NULL(test, head);
	for (n = 0; n < ARRAY_SIZE(all); n++) {
		memset(head, 0, 256);
		head->size = all[n].size;
		head->flags = 0x80000000;
		KUNIT_EXPECT_EQ(test, call_at(x, all[n].cmd, head, 256), -EINVAL);
		if (all[n].cmd != KIWI_SNIC_LAST_ERROR)
			KUNIT_EXPECT_EQ(test, last_error(x).value, 0x80000000);
	}
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
}

static void ioctl_unknown_numbers(struct kunit *test)
{
	static const unsigned int cmds[] = {
		_IO(KIWI_SNIC_IOC_TYPE, 0x07), _IO(KIWI_SNIC_IOC_TYPE, 0x0f),
		_IO(KIWI_SNIC_IOC_TYPE, 0xff), _IO(KIWI_SNIC_IOC_TYPE + 1, 0x10),
		_IOR(KIWI_SNIC_IOC_TYPE, 0x10, u32), 0, U32_MAX,
	};
	struct fixture *x = test->priv;
	u8 arg[256] = { 16 };
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(cmds); n++)
		KUNIT_EXPECT_EQ(test, call_at(x, cmds[n], arg, sizeof(arg)), -ENOTTY);
	KUNIT_EXPECT_EQ(test, last_error(x).error, 0);
}

static void ioctl_argument_that_is_not_there(struct kunit *test)
{
	struct fixture *x = test->priv;
	const struct file_operations *ops = x->ks.part.cdev.ops;
	struct kiwi_snic_pd_alloc a = { .size = 4096 };

	KUNIT_EXPECT_EQ(test, ops->unlocked_ioctl(&x->filp, KIWI_SNIC_PD_ALLOC, 0), -EFAULT);
	expect_text(x, "PD_ALLOC: memory of the caller cannot be accessed");
	/* The head is there, the rest is not. */
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)(x->user + 2 * PAGE_SIZE - 8), &a, 8), 0);
	KUNIT_EXPECT_EQ(test, ops->unlocked_ioctl(&x->filp, KIWI_SNIC_PD_ALLOC,
						  x->user + 2 * PAGE_SIZE - 8), -EFAULT);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
}

static void ioctl_reserved_fields(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_query_port q = { .port = 1, .rsvd = { [5] = 1 } };
	struct kiwi_snic_set_port s = { .port = 1, .rsvd = { [1] = 1 } };
	struct kiwi_snic_gid g = { .port = 1, .rsvd = { 1 } };
	struct kiwi_snic_destroy d = { .rsvd = 1 };
	struct kiwi_snic_pd_alloc p = { .rsvd = 1 };
	struct kiwi_snic_mr_query m = { .rsvd = 1 };
	struct kiwi_snic_doorbell_alloc a = { .rsvd = 1 };

	KUNIT_EXPECT_EQ(test, CALL(x, QUERY_PORT, &q), -EINVAL);
	expect_text(x, "QUERY_PORT: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, SET_PORT, &s), -EINVAL);
	expect_text(x, "SET_PORT: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, QUERY_GID, &g), -EINVAL);
	expect_text(x, "QUERY_GID: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, SET_GID, &g), -EINVAL);
	expect_text(x, "SET_GID: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, DESTROY, &d), -EINVAL);
	expect_text(x, "DESTROY: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, PD_ALLOC, &p), -EINVAL);
	expect_text(x, "PD_ALLOC: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, MR_QUERY, &m), -EINVAL);
	expect_text(x, "MR_QUERY: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, DOORBELL_ALLOC, &a), -EINVAL);
	expect_text(x, "DOORBELL_ALLOC: a reserved field is not zero");
}

static void ioctl_reserved_fields_of_queues(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_cq_create c = completion_queue(1);
	struct kiwi_snic_qp_create q = queue_pair(1, 1, 1);
	struct kiwi_snic_qp_modify m = { .rsvd = { [2] = 1 } };

	c.rsvd = 1;
	KUNIT_EXPECT_EQ(test, CALL(x, CQ_CREATE, &c), -EINVAL);
	expect_text(x, "CQ_CREATE: a reserved field is not zero");
	q.rsvd[1] = 1;
	KUNIT_EXPECT_EQ(test, CALL(x, QP_CREATE, &q), -EINVAL);
	expect_text(x, "QP_CREATE: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, QP_MODIFY, &m), -EINVAL);
	expect_text(x, "QP_MODIFY: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, CALL(x, QP_QUERY, &m), -EINVAL);
	expect_text(x, "QP_QUERY: a reserved field is not zero");
	m.rsvd[2] = 0;
	m.mask = 1;
	KUNIT_EXPECT_EQ(test, CALL(x, QP_QUERY, &m), -EINVAL);
}

/* Errors ------------------------------------------------------------------------------ */

static void ioctl_last_error_before_any(struct kunit *test)
{
	struct kiwi_snic_last_error e = last_error(test->priv);

	KUNIT_EXPECT_EQ(test, e.size, sizeof(e));
	KUNIT_EXPECT_EQ(test, e.nr, 0);
	KUNIT_EXPECT_EQ(test, e.error, 0);
	KUNIT_EXPECT_STREQ(test, e.text, "");
}

static void ioctl_last_error(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_destroy d = { .id = 1234 };
	struct kiwi_snic_last_error e;

	KUNIT_EXPECT_EQ(test, CALL(x, DESTROY, &d), -ENOENT);
	a_pd(x);
	e = last_error(x);
	KUNIT_EXPECT_EQ(test, e.nr, 6);
	KUNIT_EXPECT_EQ(test, e.error, ENOENT);
	KUNIT_EXPECT_EQ(test, e.value, 1234);
	KUNIT_EXPECT_EQ(test, e.limit, 0);
	KUNIT_EXPECT_STREQ(test, e.text, "DESTROY: no object has id 1234");
}

static void ioctl_last_error_keeps_its_own_to_itself(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct head head = { .size = 8 };

	KUNIT_EXPECT_EQ(test, call_at(x, KIWI_SNIC_LAST_ERROR, &head, sizeof(head)), -EINVAL);
	KUNIT_EXPECT_EQ(test, last_error(x).error, 0);
}

static void ioctl_on_a_dead_device(struct kunit *test)
{
	static const int errors[] = { -EIO, -ENODEV };
	struct fixture *x = test->priv;
	struct kiwi_snic_pd_alloc a = { };
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(errors); n++) {
		kiwi_files_shut(&x->ks.part, errors[n]);
		KUNIT_EXPECT_EQ(test, CALL(x, PD_ALLOC, &a), errors[n]);
		KUNIT_EXPECT_EQ(test, last_error(x).error, -errors[n]);
	}
	KUNIT_EXPECT_TRUE(test, x->ks.part.cdev.ops->poll(&x->filp, NULL) == (EPOLLHUP | EPOLLERR));
	kiwi_files_clear(&x->ks.part);
}

static void ioctl_needs_the_capability(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_set_port s = { .port = 1, .enabled = 1, .mtu = KIWI_MTU_1024 };
	struct kiwi_snic_gid g = { .port = 1, .index = 1 };
	struct cred *cred = prepare_creds();
	const struct cred *old;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_lower(cred->cap_effective, CAP_NET_ADMIN);
	old = override_creds(cred);
	KUNIT_EXPECT_EQ(test, CALL(x, SET_PORT, &s), -EPERM);
	KUNIT_EXPECT_EQ(test, CALL(x, SET_GID, &g), -EPERM);
	KUNIT_EXPECT_EQ(test, CALL(x, QUERY_GID, &g), 0);
	revert_creds(old);
	put_cred(cred);
	expect_text(x, "SET_GID: needs CAP_NET_ADMIN");
	KUNIT_EXPECT_EQ(test, CALL(x, SET_PORT, &s), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_SET_PORT);
}

/* Queries ------------------------------------------------------------------------------- */

static void ioctl_query_device(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_query_device q = { };

	KUNIT_ASSERT_EQ(test, CALL(x, QUERY_DEVICE, &q), 0);
	KUNIT_EXPECT_EQ(test, q.size, offsetof(struct kiwi_snic_query_device, caps));
	KUNIT_EXPECT_EQ(test, q.caps, 0);
	KUNIT_EXPECT_EQ(test, q.serial, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, q.fw_version, 0x0001000200000003ULL);
	KUNIT_EXPECT_EQ(test, q.abi, 0x10001);
	KUNIT_EXPECT_EQ(test, q.generation, 7);
	KUNIT_EXPECT_EQ(test, q.max_mr_size, 64 << 20);
	KUNIT_EXPECT_EQ(test, q.max_mr_pages, 1000);
	KUNIT_EXPECT_EQ(test, q.max_pd, 16);
	KUNIT_EXPECT_EQ(test, q.max_mr, 17);
	KUNIT_EXPECT_EQ(test, q.max_cq, 18);
	KUNIT_EXPECT_EQ(test, q.max_qp, 19);
	KUNIT_EXPECT_EQ(test, q.max_msg_size, 1 << 30);
	KUNIT_EXPECT_EQ(test, q.max_inline, 200);
	KUNIT_EXPECT_EQ(test, q.link_mbps, 800000);
	KUNIT_EXPECT_EQ(test, q.max_doorbells, FAKE_DB_PAGES);
	KUNIT_EXPECT_EQ(test, q.doorbell_size, 4096);
	KUNIT_EXPECT_EQ(test, q.max_sge, 9);
	KUNIT_EXPECT_EQ(test, q.max_rd_atomic, 8);
	KUNIT_EXPECT_EQ(test, q.ports, 2);
	KUNIT_EXPECT_EQ(test, q.gids, 4);
	KUNIT_EXPECT_EQ(test, q.sq_log2_max, 12);
	KUNIT_EXPECT_EQ(test, q.rq_log2_max, 11);
	KUNIT_EXPECT_EQ(test, q.cq_log2_max, 10);
	KUNIT_EXPECT_EQ(test, q.page_shift_max, 30);
}

static void ioctl_query_port(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_query_port q = { .port = 2, .mbps = 1, .state = 9, .mac = { 1 } };

	KUNIT_ASSERT_EQ(test, CALL(x, QUERY_PORT, &q), 0);
	KUNIT_EXPECT_EQ(test, q.port, 2);
	KUNIT_EXPECT_EQ(test, q.mbps, 400000);
	KUNIT_EXPECT_EQ(test, q.state, KIWI_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, q.enabled, 1);
	KUNIT_EXPECT_EQ(test, q.mtu, KIWI_MTU_2048);
	KUNIT_EXPECT_EQ(test, q.mtu_max, KIWI_MTU_4096);
	KUNIT_EXPECT_MEMEQ(test, q.mac, x->snic.port.mac, 6);
}

static void ioctl_gid(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_gid g = { .port = 2, .index = 3, .type = KIWI_GID_ROCE_V2,
				   .gid = { 0x20, 1, [15] = 7 } };
	struct kiwi_snic_gid q = { .port = 2, .index = 3 };

	KUNIT_ASSERT_EQ(test, CALL(x, SET_GID, &g), 0);
	KUNIT_ASSERT_EQ(test, CALL(x, QUERY_GID, &q), 0);
	KUNIT_EXPECT_MEMEQ(test, &q, &g, sizeof(q));
}

/* Memory ---------------------------------------------------------------------------------- */

static void ioctl_region(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r = region(a_pd(x));

	KUNIT_ASSERT_EQ(test, CALL(x, MR_REG, &r), 0);
	KUNIT_EXPECT_EQ(test, r.mr, 2);
	KUNIT_EXPECT_EQ(test, r.key, x->fw.last << 8 | 0x5a);
	KUNIT_EXPECT_EQ(test, x->fw.last_mem->addr, 0x7000123);
	KUNIT_EXPECT_EQ(test, x->fw.last_mem->mem.length, 5000);
	KUNIT_EXPECT_EQ(test, x->fw.last_mem->fd, -1);
	KUNIT_EXPECT_TRUE(test, x->fw.last_mem->writable);
}

static void ioctl_region_for_reading(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r = region(a_pd(x));

	r.access = KIWI_ACCESS_REMOTE_READ;
	r.mem.type = KIWI_MEM_DMABUF;
	r.mem.fd = 8;
	KUNIT_ASSERT_EQ(test, CALL(x, MR_REG, &r), 0);
	KUNIT_EXPECT_FALSE(test, x->fw.last_mem->writable);
	KUNIT_EXPECT_EQ(test, x->fw.last_mem->fd, 8);
}

static void ioctl_region_access(struct kunit *test)
{
	static const u32 bad[] = { KIWI_ACCESS_REMOTE_WRITE, KIWI_ACCESS_REMOTE_ATOMIC,
				   0x80000000 | KIWI_ACCESS_LOCAL_WRITE };
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r;
	u32 pd = a_pd(x);
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(bad); n++) {
		r = region(pd);
		r.access = bad[n];
		KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), -EINVAL);
		KUNIT_EXPECT_EQ(test, last_error(x).value, bad[n]);
	}
	r = region(pd);
	r.access = KIWI_ACCESS_ALL;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
}

static void ioctl_region_length(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r = region(a_pd(x));

	r.mem.length = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), -EINVAL);
	r.mem.length = (64 << 20) + 1;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), -EINVAL);
	KUNIT_EXPECT_EQ(test, last_error(x).limit, 64 << 20);
	r.mem.length = 64 << 20;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), 0);
}

static void ioctl_region_that_wraps(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r = region(a_pd(x));

	r.iova = U64_MAX - r.mem.length + 2;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), -EINVAL);
	r.iova--;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), 0);
	r.iova = 0;
	r.mem.addr = U64_MAX - r.mem.length + 2;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), -EINVAL);
	r.mem.addr--;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), 0);
}

static void ioctl_memory_type(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r = region(a_pd(x));

	r.mem.type = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), -EINVAL);
	r.mem.type = 3;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), -EINVAL);
	expect_text(x, "MR_REG: mem.type 3 is unknown");
	r.mem.type = KIWI_MEM_USER;
	r.mem.fd = -1;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), -EINVAL);
	expect_text(x, "MR_REG: a reserved field is not zero");
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
}

static void ioctl_memory_errors(struct kunit *test)
{
	static const struct {
		int error;
		struct kiwi_fw_err why;
		const char *text;
	} faults[] = {
		{ -ENOMEM, { .value = 9, .limit = 8 },
		  "MR_REG: mem: 9 bytes would be pinned, RLIMIT_MEMLOCK is 8" },
		{ -ENOMEM, { }, "MR_REG: mem: out of kernel memory" },
		{ -EINVAL, { .value = 9, .limit = 8 },
		  "MR_REG: mem: 5000 bytes at 0x7000123 are not all in the memory named" },
		{ -EFAULT, { }, "MR_REG: mem: 5000 bytes at 0x7000123 cannot be accessed" },
		{ -EBADF, { }, "MR_REG: mem.fd 4 is not open or no DMA-buf" },
		{ -EREMOTEIO, { }, "MR_REG: mem.fd 4: the exporter did not map it" },
		{ -EOPNOTSUPP, { },
		  "MR_REG: mem: this device, kernel or DMA-buf exporter cannot do it" },
	};
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r = region(a_pd(x));
	unsigned int n;

	r.mem.type = KIWI_MEM_DMABUF;
	r.mem.fd = 4;
	for (n = 0; n < ARRAY_SIZE(faults); n++) {
		x->fw.mem_error = faults[n].error;
		x->fw.mem_why = faults[n].why;
		KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &r), faults[n].error);
		expect_text(x, faults[n].text);
		KUNIT_EXPECT_EQ(test, last_error(x).limit, faults[n].why.limit);
	}
}

static void ioctl_region_query(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r = region(a_pd(x));
	struct kiwi_snic_mr_query q = { };

	r.mem.type = KIWI_MEM_DMABUF;
	KUNIT_ASSERT_EQ(test, CALL(x, MR_REG, &r), 0);
	q.mr = r.mr;
	KUNIT_ASSERT_EQ(test, CALL(x, MR_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.mr, r.mr);
	KUNIT_EXPECT_EQ(test, q.key, r.key);
	KUNIT_EXPECT_EQ(test, q.iova, 0x1000);
	KUNIT_EXPECT_EQ(test, q.length, 5000);
	KUNIT_EXPECT_EQ(test, q.pbl_entries, 1);
	KUNIT_EXPECT_EQ(test, q.segments, 1);
	KUNIT_EXPECT_EQ(test, q.page_shift, 20);
	KUNIT_EXPECT_EQ(test, q.state, KIWI_MR_PINNED);
	KUNIT_EXPECT_EQ(test, q.path, 1);
	KUNIT_EXPECT_EQ(test, q.reason, 2);
	KUNIT_EXPECT_EQ(test, q.peer, 3);
	KUNIT_EXPECT_EQ(test, q.bridge, 4);

	fixture_revoke(&x->fw.last_mem->mem);
	KUNIT_ASSERT_EQ(test, CALL(x, MR_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.state, KIWI_MR_REVOKED);
	KUNIT_EXPECT_EQ(test, q.key, r.key);
	q.mr = r.pd;
	KUNIT_EXPECT_EQ(test, CALL(x, MR_QUERY, &q), -ENOENT);
}

/* Doorbells and queues ------------------------------------------------------------------------ */

static void ioctl_doorbell(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_doorbell_alloc a = { }, b = { .flags = KIWI_SNIC_DOORBELL_WC };
	struct kiwi_db *db;

	KUNIT_ASSERT_EQ(test, CALL(x, DOORBELL_ALLOC, &a), 0);
	KUNIT_ASSERT_EQ(test, CALL(x, DOORBELL_ALLOC, &b), 0);
	KUNIT_EXPECT_EQ(test, a.map_size, 4096);
	KUNIT_EXPECT_EQ(test, a.reg_offset, 0);
	KUNIT_EXPECT_EQ(test, a.map_offset, 4096);
	KUNIT_EXPECT_EQ(test, b.map_offset, 8192);
	db = xa_load(&x->file->owner.objs, a.doorbell);
	KUNIT_EXPECT_FALSE(test, db->write_combined);
	db = xa_load(&x->file->owner.objs, b.doorbell);
	KUNIT_EXPECT_TRUE(test, db->write_combined);
}

static void ioctl_completion_queue(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_cq_create c = completion_queue(a_doorbell(x));
	struct kiwi_cq *cq;

	KUNIT_ASSERT_EQ(test, CALL(x, CQ_CREATE, &c), 0);
	KUNIT_EXPECT_EQ(test, c.cqn, x->fw.last);
	KUNIT_EXPECT_EQ(test, c.epoch, x->snic.queues.epoch);
	cq = xa_load(&x->file->owner.objs, c.cq);
	KUNIT_ASSERT_NOT_NULL(test, cq);
	KUNIT_EXPECT_EQ(test, cq->ci_offset, 4096);
	KUNIT_EXPECT_EQ(test, cq->vector, 1);
	KUNIT_EXPECT_TRUE(test, x->fw.last_mem->writable);
	KUNIT_EXPECT_EQ(test, x->fw.last_mem->addr, 64);
}

static void ioctl_completion_queue_refused(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 doorbell = a_doorbell(x);
	struct kiwi_snic_cq_create c = completion_queue(doorbell);

	c.mem.addr = 32;
	KUNIT_EXPECT_EQ(test, CALL(x, CQ_CREATE, &c), -EINVAL);
	expect_text(x, "CQ_CREATE: mem.addr 0x20 is not a multiple of 64");
	c = completion_queue(doorbell + 1);
	KUNIT_EXPECT_EQ(test, CALL(x, CQ_CREATE, &c), -ENOENT);
	c = completion_queue(doorbell);
	c.event_fd = 1000;
	KUNIT_EXPECT_EQ(test, CALL(x, CQ_CREATE, &c), -EBADF);
	expect_text(x, "CQ_CREATE: event_fd 1000 is not open or no eventfd");
	c = completion_queue(doorbell);
	c.log2 = 7;
	KUNIT_EXPECT_EQ(test, CALL(x, CQ_CREATE, &c), -EINVAL);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
}

static void ioctl_queue_pair_parents(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 pd = a_pd(x), doorbell = a_doorbell(x), cq = a_cq(x, doorbell);
	struct kiwi_snic_qp_create c;
	unsigned int n;
	u32 *ids[] = { &c.pd, &c.send_cq, &c.recv_cq, &c.doorbell };

	for (n = 0; n < ARRAY_SIZE(ids); n++) {
		c = queue_pair(pd, cq, doorbell);
		*ids[n] = 99;
		KUNIT_EXPECT_EQ(test, CALL(x, QP_CREATE, &c), -ENOENT);
		KUNIT_EXPECT_EQ(test, last_error(x).value, 99);
	}
	c = queue_pair(cq, pd, doorbell);
	KUNIT_EXPECT_EQ(test, CALL(x, QP_CREATE, &c), -ENOENT);
	c = queue_pair(pd, cq, doorbell);
	KUNIT_EXPECT_EQ(test, CALL(x, QP_CREATE, &c), 0);
	KUNIT_EXPECT_EQ(test, c.qpn, x->fw.last);
	KUNIT_EXPECT_EQ(test, c.epoch, x->snic.queues.epoch);
}

static void ioctl_queue_pair_rings(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 pd = a_pd(x), doorbell = a_doorbell(x), cq = a_cq(x, doorbell);
	struct kiwi_snic_qp_create c = queue_pair(pd, cq, doorbell);

	c.sq.addr += 32;
	KUNIT_EXPECT_EQ(test, CALL(x, QP_CREATE, &c), -EINVAL);
	expect_text(x, "QP_CREATE: sq.addr 0x10020 is not a multiple of 64");
	c = queue_pair(pd, cq, doorbell);
	c.rq_stride = 9;
	c.rq_log2 = 3;
	c.rq.addr += 256;
	KUNIT_EXPECT_EQ(test, CALL(x, QP_CREATE, &c), -EINVAL);
	expect_text(x, "QP_CREATE: rq.addr 0x20100 is not a multiple of 512");
	c = queue_pair(pd, cq, doorbell);
	c.sq.length--;
	KUNIT_EXPECT_EQ(test, CALL(x, QP_CREATE, &c), -EINVAL);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
}

static void ioctl_queue_pair_attributes(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_qp_modify m = {
		.qp = a_qp(x), .mask = 0x5a5a, .dest_qpn = 0x111111, .sq_psn = 0x222222,
		.rq_psn = 0x333333, .access = 0xe, .flow_label = 0x54321, .udp_sport = 0xc123,
		.state = 1, .cur_state = 2, .mtu = 3, .port = 4, .timeout = 5, .retry_cnt = 6,
		.rnr_retry = 7, .min_rnr_timer = 8, .max_rd_atomic = 9, .max_dest_rd_atomic = 10,
		.hop_limit = 11, .traffic_class = 12, .sgid_index = 13,
		.dmac = { 1, 2, 3, 4, 5, 6 }, .dgid = { 0xfe, [15] = 0xef },
	};
	const struct kiwi_qp_attr wanted = {
		.state = 1, .cur_state = 2, .mtu = 3, .port = 4,
		.dest_qpn = cpu_to_le32(0x111111), .sq_psn = cpu_to_le32(0x222222),
		.rq_psn = cpu_to_le32(0x333333), .timeout = 5, .retry_cnt = 6, .rnr_retry = 7,
		.min_rnr_timer = 8, .max_rd_atomic = 9, .max_dest_rd_atomic = 10,
		.hop_limit = 11, .traffic_class = 12, .dmac = { 1, 2, 3, 4, 5, 6 },
		.sgid_index = 13, .dgid = { 0xfe, [15] = 0xef }, .access = cpu_to_le32(0xe),
		.flow_label = cpu_to_le32(0x54321), .udp_sport = cpu_to_le16(0xc123),
	};
	const struct kiwi_snic_modify_qp_in *in;

	KUNIT_ASSERT_EQ(test, CALL(x, QP_MODIFY, &m), 0);
	in = (const void *)fake_fw_last(&x->fw)->in;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->qpn), x->fw.last);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->mask), 0x5a5a);
	KUNIT_EXPECT_MEMEQ(test, &in->attr, &wanted, sizeof(wanted));
}

static void ioctl_queue_pair_query(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_qp_modify q = { .qp = a_qp(x) }, m;
	const struct kiwi_snic_modify_qp_in *in;
	u32 id = q.qp;

	x->snic.queues.attr = (struct kiwi_qp_attr) {
		.state = 3, .mtu = 4, .port = 2, .dest_qpn = cpu_to_le32(0x111111),
		.sq_psn = cpu_to_le32(0x222222), .rq_psn = cpu_to_le32(0x333333), .timeout = 5,
		.retry_cnt = 6, .rnr_retry = 7, .min_rnr_timer = 8, .max_rd_atomic = 9,
		.max_dest_rd_atomic = 10, .hop_limit = 11, .traffic_class = 12,
		.dmac = { 1, 2, 3, 4, 5, 6 }, .sgid_index = 13, .dgid = { 0xfe, [15] = 0xef },
		.access = cpu_to_le32(0xe), .flow_label = cpu_to_le32(0x54321),
		.udp_sport = cpu_to_le16(0xc123),
	};
	KUNIT_ASSERT_EQ(test, CALL(x, QP_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.qp, id);
	KUNIT_EXPECT_EQ(test, q.mask, KIWI_QP_ATTR_ALL);
	/* What is read can be written as it is. */
	m = q;
	KUNIT_ASSERT_EQ(test, CALL(x, QP_MODIFY, &m), 0);
	in = (const void *)fake_fw_last(&x->fw)->in;
	KUNIT_EXPECT_MEMEQ(test, &in->attr, &x->snic.queues.attr, sizeof(in->attr));
}

/* Life ---------------------------------------------------------------------------------------- */

static void ioctl_failed_creation_leaves_nothing(struct kunit *test)
{
	static const u16 ops[] = { KIWI_SNIC_OP_REG_MR, KIWI_SNIC_OP_CREATE_CQ,
				   KIWI_SNIC_OP_CREATE_QP };
	struct fixture *x = test->priv;
	u32 pd = a_pd(x), doorbell = a_doorbell(x), cq = a_cq(x, doorbell);
	struct kiwi_snic_mr_reg r = region(pd);
	struct kiwi_snic_cq_create c = completion_queue(doorbell);
	struct kiwi_snic_qp_create q = queue_pair(pd, cq, doorbell);
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(ops); n++) {
		fake_fw_refuse(&x->fw, ops[n], KIWI_ST_NO_RESOURCE);
		KUNIT_EXPECT_EQ(test, n == 0 ? CALL(x, MR_REG, &r) :
				n == 1 ? CALL(x, CQ_CREATE, &c) : CALL(x, QP_CREATE, &q), -ENOSPC);
		KUNIT_EXPECT_EQ(test, x->fw.mems, 1);
		KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 2);
		KUNIT_EXPECT_NULL(test, xa_load(&x->file->owner.objs, cq + 1));
	}
}

static void ioctl_destroy(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_destroy d = { .id = a_pd(x) };

	KUNIT_EXPECT_EQ(test, CALL(x, DESTROY, &d), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_EQ(test, CALL(x, DESTROY, &d), -ENOENT);
}

static void ioctl_close_destroys_all(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 pd = a_pd(x);
	struct kiwi_snic_mr_reg r = region(pd);

	a_qp(x);
	KUNIT_ASSERT_EQ(test, CALL(x, MR_REG, &r), 0);
	x->ks.part.cdev.ops->release(&x->inode, &x->filp);
	x->file = NULL;
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->ks.part.files));
}

static void ioctl_device_goes_below_the_file(struct kunit *test)
{
	struct fixture *x = test->priv;

	a_qp(x);
	kiwi_files_shut(&x->ks.part, -ENODEV);
	kiwi_files_clear(&x->ks.part);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&x->ks.part.files));
}

static void file_opens_on_a_device_that_is_up_only(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct file *second = kunit_kzalloc(test, sizeof(*second), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, second);
	kiwi_files_shut(&x->ks.part, -EIO);
	KUNIT_EXPECT_EQ(test, x->ks.part.cdev.ops->open(&x->inode, second), -EIO);
	KUNIT_EXPECT_NULL(test, second->private_data);
	kiwi_files_admit(&x->ks.part);
	KUNIT_ASSERT_EQ(test, x->ks.part.cdev.ops->open(&x->inode, second), 0);
	/* Who opened the file before the device went learns that for good. */
	KUNIT_EXPECT_EQ(test, kiwi_file_check_up(second->private_data), 0);
	KUNIT_EXPECT_EQ(test, kiwi_file_check_up(x->file), -EIO);
	x->ks.part.cdev.ops->release(&x->inode, second);
	kiwi_files_clear(&x->ks.part);
}

/* Events ------------------------------------------------------------------------------ */

static ssize_t read_events(struct fixture *x, struct kiwi_snic_event *events, size_t bytes)
{
	ssize_t ret;

	ret = x->ks.part.cdev.ops->read(&x->filp, (char __user *)x->user, bytes, NULL);
	if (ret > 0)
		KUNIT_ASSERT_EQ(x->test, copy_from_user(events, (void __user *)x->user, ret), 0);
	return ret;
}

static void tell(struct fixture *x, u32 type, u32 id, u32 code)
{
	const struct kiwi_file_event event = { .type = type, .id = id, .code = code };

	kiwi_files_event(&x->ks.part, &event);
}

static void file_reads_events(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_event events[20];
	unsigned int n;

	x->filp.f_flags = O_NONBLOCK;
	KUNIT_EXPECT_EQ(test, read_events(x, events, sizeof(events)), -EAGAIN);
	KUNIT_EXPECT_EQ(test, read_events(x, events, sizeof(*events) - 1), -EINVAL);
	KUNIT_EXPECT_TRUE(test, !x->ks.part.cdev.ops->poll(&x->filp, NULL));
	for (n = 0; n < 21; n++)
		tell(x, KIWI_SNIC_EVENT_PORT_CHANGE, n, KIWI_PORT_DOWN);
	KUNIT_EXPECT_TRUE(test, x->ks.part.cdev.ops->poll(&x->filp, NULL) ==
			  (EPOLLIN | EPOLLRDNORM));
	KUNIT_EXPECT_EQ(test, read_events(x, events, sizeof(events) + 5), sizeof(events));
	for (n = 0; n < 20; n++)
		KUNIT_EXPECT_EQ(test, events[n].id, n);
	KUNIT_EXPECT_EQ(test, read_events(x, events, sizeof(events)), sizeof(*events));
	KUNIT_EXPECT_EQ(test, events[0].id, 20);
	KUNIT_EXPECT_EQ(test, read_events(x, events, sizeof(events)), -EAGAIN);
}

static void file_reads_events_of_a_dead_device(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_event event;

	tell(x, KIWI_SNIC_EVENT_DEVICE_FATAL, 0, KIWI_RESET_TIMEOUT);
	kiwi_files_shut(&x->ks.part, -EIO);
	KUNIT_EXPECT_EQ(test, read_events(x, &event, sizeof(event)), sizeof(event));
	KUNIT_EXPECT_EQ(test, event.type, KIWI_SNIC_EVENT_DEVICE_FATAL);
	KUNIT_EXPECT_EQ(test, event.code, KIWI_RESET_TIMEOUT);
	KUNIT_EXPECT_EQ(test, read_events(x, &event, sizeof(event)), -EIO);
	kiwi_files_clear(&x->ks.part);
}

static void file_is_told_of_ports_and_losses(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_eqe eqe = { .type = KIWI_EV_PORT_CHANGE, .code = KIWI_PORT_ACTIVE };
	struct kiwi_snic_event events[8];
	u32 port;

	for (port = 0; port < 4; port++) {
		eqe.id = cpu_to_le32(port);
		ksnic_event(&x->ks.part, &eqe, port == 2);
	}
	/* There are ports 1 and 2. */
	KUNIT_ASSERT_EQ(test, read_events(x, events, sizeof(events)), 3 * sizeof(*events));
	KUNIT_EXPECT_EQ(test, events[0].type, KIWI_SNIC_EVENT_PORT_CHANGE);
	KUNIT_EXPECT_EQ(test, events[0].id, 1);
	KUNIT_EXPECT_EQ(test, events[0].code, KIWI_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, events[1].type, KIWI_SNIC_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, events[1].code, 0);
	KUNIT_EXPECT_EQ(test, events[2].id, 2);
}

static void file_is_told_of_its_objects(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_mr_reg r = region(a_pd(x));
	struct kiwi_snic_event event;

	r.mem.type = KIWI_MEM_DMABUF;
	KUNIT_ASSERT_EQ(test, CALL(x, MR_REG, &r), 0);
	fixture_revoke(&x->fw.last_mem->mem);
	KUNIT_ASSERT_EQ(test, read_events(x, &event, sizeof(event)), sizeof(event));
	KUNIT_EXPECT_EQ(test, event.type, KIWI_SNIC_EVENT_MR_REVOKED);
	KUNIT_EXPECT_EQ(test, event.id, r.mr);
	KUNIT_EXPECT_EQ(test, event.user_data, FIXTURE_USER_DATA);
}

static struct kunit_case ioctl_cases[] = {
	KUNIT_CASE(ioctl_size_below_version_1),
	KUNIT_CASE(ioctl_tail_of_zeros),
	KUNIT_CASE(ioctl_tail_with_content),
	KUNIT_CASE(ioctl_beyond_a_page),
	KUNIT_CASE(ioctl_unknown_flags),
	KUNIT_CASE(ioctl_unknown_numbers),
	KUNIT_CASE(ioctl_argument_that_is_not_there),
	KUNIT_CASE(ioctl_reserved_fields),
	KUNIT_CASE(ioctl_reserved_fields_of_queues),
	KUNIT_CASE(ioctl_last_error_before_any),
	KUNIT_CASE(ioctl_last_error),
	KUNIT_CASE(ioctl_last_error_keeps_its_own_to_itself),
	KUNIT_CASE(ioctl_on_a_dead_device),
	KUNIT_CASE(ioctl_needs_the_capability),
	KUNIT_CASE(ioctl_query_device),
	KUNIT_CASE(ioctl_query_port),
	KUNIT_CASE(ioctl_gid),
	KUNIT_CASE(ioctl_region),
	KUNIT_CASE(ioctl_region_for_reading),
	KUNIT_CASE(ioctl_region_access),
	KUNIT_CASE(ioctl_region_length),
	KUNIT_CASE(ioctl_region_that_wraps),
	KUNIT_CASE(ioctl_memory_type),
	KUNIT_CASE(ioctl_memory_errors),
	KUNIT_CASE(ioctl_region_query),
	KUNIT_CASE(ioctl_doorbell),
	KUNIT_CASE(ioctl_completion_queue),
	KUNIT_CASE(ioctl_completion_queue_refused),
	KUNIT_CASE(ioctl_queue_pair_parents),
	KUNIT_CASE(ioctl_queue_pair_rings),
	KUNIT_CASE(ioctl_queue_pair_attributes),
	KUNIT_CASE(ioctl_queue_pair_query),
	KUNIT_CASE(ioctl_failed_creation_leaves_nothing),
	KUNIT_CASE(ioctl_destroy),
	KUNIT_CASE(ioctl_close_destroys_all),
	KUNIT_CASE(ioctl_device_goes_below_the_file),
	KUNIT_CASE(file_opens_on_a_device_that_is_up_only),
	KUNIT_CASE(file_reads_events),
	KUNIT_CASE(file_reads_events_of_a_dead_device),
	KUNIT_CASE(file_is_told_of_ports_and_losses),
	KUNIT_CASE(file_is_told_of_its_objects),
	{}
};

static struct kunit_suite ioctl_suite = {
	.name = "kiwi_snic_ioctl",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = ioctl_cases,
};

kunit_test_suite(ioctl_suite);
