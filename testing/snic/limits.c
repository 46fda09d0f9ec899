// SPDX-License-Identifier: GPL-2.0
/* Who may do what, and how much of it there is. */
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "snic-test.h"

static void privilege(void)
{
	int fd = snic_open();
	struct kiwi_snic_set_port set = { .size = sizeof(set), .port = 1, .enabled = 1,
					  .mtu = KIWI_MTU_4096 };
	struct kiwi_snic_gid gid = { .size = sizeof(gid), .port = 1, .index = 5 };
	struct kiwi_snic_query_port port = { .size = sizeof(port), .port = 1 };
	struct kiwi_snic_doorbell_alloc db;
	struct kiwi_snic_cq_create cq;
	uint32_t pd;

	drop_privileges();
	EQUAL(snic_open(), -1);
	EQUAL(errno, EACCES);
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), -EPERM);
	expect_error(fd, EPERM, "CAP_NET_ADMIN");
	EQUAL(snic_call(fd, KIWI_SNIC_SET_GID, &gid), -EPERM);
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_PORT, &port), 0);
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), 0);
	/* The data path needs no more than the descriptor. */
	db = make_doorbell(fd, 0);
	pd = make_pd(fd);
	cq = make_cq(fd, db.doorbell, -1, pages(2 * PAGE));
	make_mr(fd, pd, pages(PAGE), PAGE);
	make_qp(fd, pd, cq.cq, db.doorbell);
	EQUAL(touch(map_doorbell(fd, &db), true), 0);
	close(fd);
}

/* Root by its number alone, as in a container. */
static void capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];
	struct kiwi_snic_set_port set = { .size = sizeof(set), .port = 1, .enabled = 1,
					  .mtu = KIWI_MTU_4096 };
	int fd = snic_open();

	EQUAL(snic_attr_write("ports/1/enabled", "1"), 0);
	EQUAL(syscall(SYS_capget, &header, data), 0);
	data[0].effective &= ~(1U << CAP_NET_ADMIN);
	EQUAL(syscall(SYS_capset, &header, data), 0);
	EQUAL(snic_attr_write("ports/1/enabled", "1"), -EPERM);
	EQUAL(snic_attr_write("ports/1/mtu", "4096"), -EPERM);
	EQUAL(snic_attr_write("ports/1/gids/5", "::"), -EPERM);
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), -EPERM);
	close(fd);
}

/* As many as the device says, and one more is refused; those of other files count. */
static void exhaust(const char *live, uint32_t limit, uint32_t (*make)(int fd, int *ret))
{
	int fd = snic_open(), other = snic_open(), ret = 0;
	uint32_t id = 0, n;

	EQUAL(snic_attr(live), 0);
	CHECK(make(other, &ret));
	for (n = 1; n < limit; n++) {
		id = make(fd, &ret);
		EQUAL(ret, 0);
	}
	EQUAL(snic_attr(live), limit);
	make(fd, &ret);
	EQUAL(ret, -ENOSPC);
	EQUAL(snic_last_error(fd).error, ENOSPC);
	EQUAL(destroy(fd, id), 0);
	CHECK(make(fd, &ret));
	make(other, &ret);
	EQUAL(ret, -ENOSPC);
	close(fd);
	EQUAL(snic_attr(live), 1);
	CHECK(make(other, &ret));
	close(other);
}

static uint32_t pd_of(int fd, int *ret)
{
	struct kiwi_snic_pd_alloc a = { .size = sizeof(a) };

	*ret = snic_call(fd, KIWI_SNIC_PD_ALLOC, &a);
	return a.pd;
}

static uint32_t doorbell_of(int fd, int *ret)
{
	struct kiwi_snic_doorbell_alloc a = { .size = sizeof(a) };

	*ret = snic_call(fd, KIWI_SNIC_DOORBELL_ALLOC, &a);
	return a.doorbell;
}

/*
 * The first object of the other file is what these use there. Each has memory of its own: the
 * DMA API's checks, where a kernel has them, stop at 7 mappings of the same.
 */
static uint32_t mr_of(int fd, int *ret)
{
	struct kiwi_snic_mr_reg r = mr_args(1, pages(PAGE), PAGE);

	*ret = snic_call(fd, KIWI_SNIC_MR_REG, &r);
	if (*ret == -ENOENT) {
		make_pd(fd);
		return mr_of(fd, ret);
	}
	return r.mr;
}

static uint32_t cq_of(int fd, int *ret)
{
	struct kiwi_snic_cq_create c = cq_args(1, pages(2 * PAGE), 4);

	*ret = snic_call(fd, KIWI_SNIC_CQ_CREATE, &c);
	if (*ret == -ENOENT) {
		make_doorbell(fd, 0);
		return cq_of(fd, ret);
	}
	return c.cq;
}

static uint32_t qp_of(int fd, int *ret)
{
	struct kiwi_snic_qp_create q = qp_args(1, 3, 2, pages(2 * PAGE));

	*ret = snic_call(fd, KIWI_SNIC_QP_CREATE, &q);
	if (*ret == -ENOENT) {
		EQUAL(make_pd(fd), 1);
		EQUAL(make_doorbell(fd, 0).doorbell, 2);
		EQUAL(make_cq(fd, 2, -1, pages(2 * PAGE)).cq, 3);
		return qp_of(fd, ret);
	}
	return q.qp;
}

static struct kiwi_snic_query_device caps(void)
{
	int fd = snic_open();
	struct kiwi_snic_query_device q = snic_caps(fd);

	close(fd);
	return q;
}

static void exhaust_pd(void)
{
	exhaust("diag/live_pd", caps().max_pd, pd_of);
}

static void exhaust_doorbell(void)
{
	exhaust("diag/live_db_page", caps().max_doorbells, doorbell_of);
}

static void exhaust_mr(void)
{
	exhaust("diag/live_mr", caps().max_mr, mr_of);
}

static void exhaust_cq(void)
{
	exhaust("diag/live_cq", caps().max_cq, cq_of);
}

static void exhaust_qp(void)
{
	exhaust("diag/live_qp", caps().max_qp, qp_of);
}

const struct test limit_tests[] = {
	{ "limits.privilege", privilege },
	{ "limits.capability", capability },
	{ "limits.pd", exhaust_pd },
	{ "limits.doorbell", exhaust_doorbell },
	{ "limits.mr", exhaust_mr },
	{ "limits.cq", exhaust_cq },
	{ "limits.qp", exhaust_qp },
	{ NULL, NULL }
};
