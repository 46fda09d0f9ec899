// SPDX-License-Identifier: GPL-2.0
/* Memory regions: of the process, and of DMA-bufs. */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <xpu.h>

#include "snic-test.h"

#define MIB	(1024 * 1024UL)

static int fd;
static uint32_t pd;

static void open_with_pd(void)
{
	fd = snic_open();
	CHECK(fd >= 0);
	pd = make_pd(fd);
}

static int reg(struct kiwi_snic_mr_reg r)
{
	return snic_call(fd, KIWI_SNIC_MR_REG, &r);
}

static struct kiwi_snic_mr_query query(uint32_t mr)
{
	struct kiwi_snic_mr_query q = { .size = sizeof(q), .mr = mr };

	EQUAL(snic_call(fd, KIWI_SNIC_MR_QUERY, &q), 0);
	return q;
}

static void user(void)
{
	struct kiwi_snic_mr_query q;
	struct kiwi_snic_mr_reg r;
	char *p = pages(4 * MIB);

	open_with_pd();
	r = make_mr(fd, pd, p, 4 * MIB);
	q = query(r.mr);
	EQUAL(q.key, r.key);
	EQUAL(q.iova, (uintptr_t)p);
	EQUAL(q.length, 4 * MIB);
	EQUAL(q.path, KIWI_PATH_SYSTEM);
	EQUAL(q.reason, KIWI_PATH_USER_MEMORY);
	EQUAL(q.state, KIWI_MR_PINNED);
	EQUAL(q.peer, 0);
	EQUAL(q.bridge, 0);
	CHECK(q.page_shift >= 12 && q.pbl_entries && q.segments);
	CHECK((uint64_t)q.pbl_entries << q.page_shift >= q.length);

	/* one byte, and a few across the end of a page */
	r = make_mr(fd, pd, p + 1, 1);
	EQUAL(query(r.mr).pbl_entries, 1);
	r = make_mr(fd, pd, p + PAGE - 1, 2);
	EQUAL(query(r.mr).length, 2);

	/* the highest address there is */
	r = mr_args(pd, p, PAGE);
	r.iova = -(uint64_t)PAGE;
	EQUAL(reg(r), 0);
	r.iova++;
	EQUAL(reg(r), -EINVAL);
	expect_error(fd, EINVAL, "iova");
	close(fd);
}

/*
 * More than 4 GiB in runs that meet off its multiples. An IOMMU makes one run of them,
 * which has no hole that leads to memory of others.
 */
static void beyond_4g(void)
{
	const size_t huge = 2 * MIB, count = 2050, length = count * huge - MIB;
	struct kiwi_snic_mr_query q;
	struct kiwi_snic_mr_reg r;
	int memory;
	size_t n;
	char *p;

	EQUAL(write_file("/proc/sys/vm/nr_hugepages", "1"), 0);
	memory = memfd_create("huge", MFD_HUGETLB);
	CHECK(memory >= 0 && !ftruncate(memory, huge));
	p = mmap(NULL, (count + 1) * huge, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(p != MAP_FAILED);
	p += -(uintptr_t)p % huge;
	for (n = 0; n < count; n++)
		CHECK(mmap(p + n * huge, huge, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			   memory, 0) != MAP_FAILED);

	open_with_pd();
	r = make_mr(fd, pd, p + MIB, length);
	q = query(r.mr);
	EQUAL(q.length, length);
	CHECK(q.segments == 1 || q.segments == count);
	EQUAL(destroy(fd, r.mr), 0);
	CHECK(!munmap(p, count * huge));
	close(memory);
	EQUAL(write_file("/proc/sys/vm/nr_hugepages", "0"), 0);
	close(fd);
}

static void refused(void)
{
	struct kiwi_snic_query_device caps;
	struct kiwi_snic_mr_reg r, good;
	char *p = pages(2 * PAGE);
	unsigned int bit;

	open_with_pd();
	caps = snic_caps(fd);
	good = mr_args(pd, p, PAGE);

	r = good;
	r.mem.length = 0;
	EQUAL(reg(r), -EINVAL);
	expect_error(fd, EINVAL, "length");
	r.mem.length = caps.max_mr_size + 1;
	EQUAL(reg(r), -EINVAL);
	expect_error(fd, EINVAL, "max_mr_size");
	EQUAL(snic_last_error(fd).value, caps.max_mr_size + 1);
	EQUAL(snic_last_error(fd).limit, caps.max_mr_size);
	r.mem.length = UINT64_MAX;
	EQUAL(reg(r), -EINVAL);
	r = good;
	r.mem.addr = UINT64_MAX;
	r.mem.length = 2;
	EQUAL(reg(r), -EINVAL);
	for (bit = 5; bit < 32; bit++) {
		r = good;
		r.access |= 1U << bit;
		EQUAL(reg(r), -EINVAL);
	}
	r = good;
	r.access = KIWI_ACCESS_REMOTE_WRITE;
	EQUAL(reg(r), -EINVAL);
	expect_error(fd, EINVAL, "local write");
	r.access = KIWI_ACCESS_REMOTE_ATOMIC;
	EQUAL(reg(r), -EINVAL);
	r.access = KIWI_ACCESS_REMOTE_READ;
	EQUAL(reg(r), 0);
	r.access = 0;
	EQUAL(reg(r), 0);

	r = good;
	r.mem.type = 0;
	EQUAL(reg(r), -EINVAL);
	expect_error(fd, EINVAL, "type");
	r.mem.type = 3;
	EQUAL(reg(r), -EINVAL);
	r = good;
	r.mem.fd = 1;
	EQUAL(reg(r), -EINVAL);

	/* memory that is not there, or may not be written */
	EQUAL(munmap(p + PAGE, PAGE), 0);
	r = good;
	r.mem.length = 2 * PAGE;
	EQUAL(reg(r), -EFAULT);
	expect_error(fd, EFAULT, "cannot be accessed");
	r = good;
	r.mem.addr = 0;
	EQUAL(reg(r), -EFAULT);
	EQUAL(mprotect(p, PAGE, PROT_READ), 0);
	EQUAL(reg(good), -EFAULT);
	r = good;
	r.access = KIWI_ACCESS_REMOTE_READ;
	EQUAL(reg(r), 0);
	/* memory of the kernel */
	r = good;
	r.mem.addr = 0xffff888000000000;
	CHECK(reg(r) == -EFAULT || reg(r) == -EINVAL);
	/* a mapping that cannot be pinned */
	r = good;
	r.mem.addr = (uintptr_t)mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
				     make_doorbell(fd, 0).map_offset);
	CHECK((void *)(uintptr_t)r.mem.addr != MAP_FAILED);
	EQUAL(reg(r), -EFAULT);
	close(fd);
}

static long long locked_kib(void)
{
	char line[128];
	long long kib = -1;
	FILE *status = fopen("/proc/self/status", "r");

	CHECK(status);
	while (fgets(line, sizeof(line), status))
		sscanf(line, "VmPin: %lld", &kib);
	fclose(status);
	return kib;
}

static void memlock(void)
{
	struct rlimit limit = { 64 * 1024, 64 * 1024 };
	struct kiwi_snic_last_error e;
	struct kiwi_snic_mr_reg r;
	char *p = pages(MIB);
	long long before;

	open_with_pd();
	before = locked_kib();
	EQUAL(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	EQUAL(reg(mr_args(pd, p, MIB)), 0);	/* CAP_IPC_LOCK */
	EQUAL(locked_kib(), before + 1024);
	close(fd);
	EQUAL(locked_kib(), before);

	open_with_pd();
	drop_privileges();
	EQUAL(reg(mr_args(pd, p, MIB)), -ENOMEM);
	e = snic_last_error(fd);
	EQUAL(e.value, MIB);
	EQUAL(e.limit, limit.rlim_cur);
	expect_error(fd, ENOMEM, "RLIMIT_MEMLOCK");
	EQUAL(locked_kib(), before);
	EQUAL(reg(mr_args(pd, p, 32 * 1024)), 0);
	r = make_mr(fd, pd, p, 32 * 1024);
	EQUAL(reg(mr_args(pd, p, 1)), -ENOMEM);
	EQUAL(destroy(fd, r.mr), 0);
	EQUAL(reg(mr_args(pd, p, 1)), 0);
	/* refused by the device: given back */
	r = mr_args(pd, p, 4096);
	r.pd = 999;
	EQUAL(reg(r), -ENOENT);
	EQUAL(locked_kib(), before + 32 + 4);
	limit.rlim_cur = 0;
	EQUAL(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	EQUAL(reg(mr_args(pd, p, 1)), -ENOMEM);
	expect_error(fd, ENOMEM, "RLIMIT_MEMLOCK");
	close(fd);
}

/* DMA-bufs -------------------------------------------------------------------- */

static struct kiwi_snic_mr_reg dmabuf_args(int buf, uint64_t offset, uint64_t length)
{
	struct kiwi_snic_mr_reg r = mr_args(pd, NULL, length);

	r.mem = (struct kiwi_mem) { KIWI_MEM_DMABUF, buf, offset, length };
	r.iova = offset;
	return r;
}

static void dmabuf(void)
{
	int xpu = xpu_open(0), buf, null = open("/dev/null", O_RDWR), system;
	struct kiwi_snic_mr_query q;
	struct kiwi_snic_mr_reg r;
	struct xpu_query_buf b;

	CHECK(xpu >= 0 && null >= 0);
	buf = xpu_alloc(xpu, 4 * MIB, 0, 0);
	CHECK(buf >= 0);
	open_with_pd();

	r = dmabuf_args(buf, 0, 4 * MIB);
	EQUAL(snic_call(fd, KIWI_SNIC_MR_REG, &r), 0);
	q = query(r.mr);
	EQUAL(q.length, 4 * MIB);
	EQUAL(q.segments, 1);
	CHECK(q.pbl_entries <= 4);
	CHECK(q.path == KIWI_PATH_P2P_SWITCH || q.path == KIWI_PATH_P2P_ROOT);
	CHECK(q.peer);
	CHECK((q.path == KIWI_PATH_P2P_SWITCH) == (q.reason == KIWI_PATH_DIRECT));
	EQUAL(xpu_query_buf(xpu, buf, &b), 0);
	EQUAL(b.attachments, 1);
	EQUAL(destroy(fd, r.mr), 0);
	EQUAL(xpu_query_buf(xpu, buf, &b), 0);
	EQUAL(b.attachments, 0);

	r = dmabuf_args(buf, 4 * MIB - 1, 1);
	EQUAL(reg(r), 0);
	EQUAL(reg(dmabuf_args(buf, 4 * MIB - 1, 2)), -EINVAL);
	EQUAL(snic_last_error(fd).limit, 4 * MIB);
	EQUAL(reg(dmabuf_args(buf, 4 * MIB, 1)), -EINVAL);
	EQUAL(reg(dmabuf_args(buf, UINT64_MAX, 1)), -EINVAL);
	EQUAL(reg(dmabuf_args(buf, UINT64_MAX, 2)), -EINVAL);
	EQUAL(reg(dmabuf_args(buf, 0, 0)), -EINVAL);
	EQUAL(reg(dmabuf_args(-1, 0, 1)), -EBADF);
	EQUAL(reg(dmabuf_args(null, 0, 1)), -EBADF);
	expect_error(fd, EBADF, "DMA-buf");
	EQUAL(reg(dmabuf_args(1000, 0, 1)), -EBADF);

	EQUAL(xpu_fail_next_map(xpu, buf, ENOMEM), 0);
	EQUAL(reg(dmabuf_args(buf, 0, MIB)), -EREMOTEIO);
	expect_error(fd, EREMOTEIO, "exporter");
	EQUAL(xpu_fail_next_map(xpu, buf, 0), 0);
	EQUAL(reg(dmabuf_args(buf, 0, MIB)), -EREMOTEIO);
	EQUAL(reg(dmabuf_args(buf, 0, MIB)), 0);

	/* The exporter gives system memory to those who may not be its peers. */
	system = xpu_alloc(xpu, MIB, 0, XPU_ALLOC_NO_P2P);
	CHECK(system >= 0);
	r = dmabuf_args(system, 0, MIB);
	EQUAL(snic_call(fd, KIWI_SNIC_MR_REG, &r), 0);
	EQUAL(query(r.mr).path, KIWI_PATH_SYSTEM);
	EQUAL(query(r.mr).reason, KIWI_PATH_EXPORTER);
	EQUAL(query(r.mr).peer, 0);
	close(system);
	close(fd);
	EQUAL(xpu_query_buf(xpu, buf, &b), 0);
	EQUAL(b.attachments, 0);
	EQUAL(b.pins, 0);
	close(buf);
	close(xpu);
}

static struct kiwi_snic_event next_event(void)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	struct kiwi_snic_event e;

	EQUAL(poll(&p, 1, 10000), 1);
	EQUAL(read(fd, &e, sizeof(e)), sizeof(e));
	return e;
}

static void revoked(void)
{
	int xpu = xpu_open(0), buf;
	struct kiwi_snic_mr_reg r, alive;
	struct kiwi_snic_mr_query q;
	struct kiwi_snic_event e;
	struct xpu_query_buf b;
	bool pinned;

	CHECK(xpu >= 0);
	buf = xpu_alloc(xpu, MIB, 0, 0);
	CHECK(buf >= 0);
	open_with_pd();
	alive = make_mr(fd, pd, pages(PAGE), PAGE);
	r = dmabuf_args(buf, 0, MIB);
	r.user_data = 0x1234567890abcdef;
	EQUAL(snic_call(fd, KIWI_SNIC_MR_REG, &r), 0);
	EQUAL(snic_attr("diag/live_mr"), 2);
	pinned = query(r.mr).state == KIWI_MR_PINNED;
	EQUAL(xpu_evict(xpu, buf), pinned ? -EBUSY : 0);

	EQUAL(xpu_revoke(xpu, buf), 0);
	/* dead in the device, or held there, when the exporter has been answered */
	CHECK(snic_attr("diag/live_mr") == 1 || !pinned);
	EQUAL(xpu_query_buf(xpu, buf, &b), 0);
	EQUAL(b.mappings, 0);
	e = next_event();
	EQUAL(snic_attr("diag/live_mr"), 1);
	EQUAL(e.type, KIWI_SNIC_EVENT_MR_REVOKED);
	EQUAL(e.id, r.mr);
	EQUAL(e.user_data, 0x1234567890abcdef);
	q = query(r.mr);
	EQUAL(q.state, KIWI_MR_REVOKED);
	EQUAL(q.key, r.key);
	EQUAL(query(alive.mr).state, KIWI_MR_PINNED);
	EQUAL(reg(dmabuf_args(buf, 0, MIB)), -EREMOTEIO);
	EQUAL(destroy(fd, pd), -EBUSY);
	EQUAL(destroy(fd, r.mr), 0);
	EQUAL(destroy(fd, r.mr), -ENOENT);
	close(buf);
	close(xpu);
	close(fd);
}

/* Rings in memory that is taken away: the queues die, what uses them first. */
static void rings_revoked(void)
{
	int xpu = xpu_open(0), ring, sq;
	struct kiwi_snic_doorbell_alloc db;
	struct kiwi_snic_cq_create cq, other;
	struct kiwi_snic_qp_create qp, qp2, third;
	struct kiwi_snic_qp_modify q = { .size = sizeof(q) };
	struct kiwi_snic_event e;

	CHECK(xpu >= 0);
	ring = xpu_alloc(xpu, MIB, 0, 0);
	sq = xpu_alloc(xpu, MIB, 0, 0);
	CHECK(ring >= 0 && sq >= 0);
	open_with_pd();
	db = make_doorbell(fd, 0);
	other = make_cq(fd, db.doorbell, -1, pages(2 * PAGE));
	cq = cq_args(db.doorbell, NULL, 4);
	cq.mem.type = KIWI_MEM_DMABUF;
	cq.mem.fd = ring;
	EQUAL(snic_call(fd, KIWI_SNIC_CQ_CREATE, &cq), 0);
	qp = make_qp(fd, pd, cq.cq, db.doorbell);
	qp2 = qp_args(pd, other.cq, db.doorbell, pages(2 * PAGE));
	qp2.recv_cq = cq.cq;
	EQUAL(snic_call(fd, KIWI_SNIC_QP_CREATE, &qp2), 0);
	/* both rings in one buffer */
	third = qp_args(pd, other.cq, db.doorbell, NULL);
	third.sq.type = KIWI_MEM_DMABUF;
	third.sq.fd = sq;
	third.rq.type = KIWI_MEM_DMABUF;
	third.rq.fd = sq;
	EQUAL(snic_call(fd, KIWI_SNIC_QP_CREATE, &third), 0);

	EQUAL(xpu_revoke(xpu, sq), 0);
	EQUAL(snic_attr("diag/live_qp"), 2);
	e = next_event();
	EQUAL(e.type, KIWI_SNIC_EVENT_QP_ERROR);
	EQUAL(e.id, third.qp);
	EQUAL(modify_state(fd, third.qp, KIWI_QPS_ERR), -EREMOTEIO);
	expect_error(fd, EREMOTEIO, "exporter");

	EQUAL(xpu_revoke(xpu, ring), 0);
	EQUAL(snic_attr("diag/live_qp"), 0);
	EQUAL(snic_attr("diag/live_cq"), 1);
	e = next_event();
	EQUAL(e.type, KIWI_SNIC_EVENT_QP_ERROR);
	EQUAL(e.id, qp.qp);
	e = next_event();
	EQUAL(e.type, KIWI_SNIC_EVENT_QP_ERROR);
	EQUAL(e.id, qp2.qp);
	e = next_event();
	EQUAL(e.type, KIWI_SNIC_EVENT_CQ_ERROR);
	EQUAL(e.id, cq.cq);
	q.qp = qp.qp;
	EQUAL(snic_call(fd, KIWI_SNIC_QP_QUERY, &q), -EREMOTEIO);
	qp = qp_args(pd, cq.cq, db.doorbell, pages(2 * PAGE));
	EQUAL(snic_call(fd, KIWI_SNIC_QP_CREATE, &qp), -EREMOTEIO);
	EQUAL(destroy(fd, cq.cq), -EBUSY);
	EQUAL(destroy(fd, qp2.qp), 0);
	close(ring);
	close(sq);
	close(xpu);
	close(fd);
}

const struct test memory_tests[] = {
	{ "memory.user", user },
	{ "memory.beyond-4g", beyond_4g },
	{ "memory.refused", refused },
	{ "memory.memlock", memlock },
	{ "memory.dmabuf", dmabuf },
	{ "memory.revoked", revoked },
	{ "memory.rings-revoked", rings_revoked },
	{ NULL, NULL }
};
