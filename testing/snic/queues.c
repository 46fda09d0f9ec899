// SPDX-License-Identifier: GPL-2.0
/* Completion queues and queue pairs: limits, states, and a work request's way through. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "snic-test.h"

static int fd;
static struct kiwi_snic_query_device caps;
static struct kiwi_snic_doorbell_alloc db;
static uint32_t pd;

static void open_with_parents(void)
{
	fd = snic_open();
	CHECK(fd >= 0);
	caps = snic_caps(fd);
	db = make_doorbell(fd, 0);
	pd = make_pd(fd);
}

static int create_cq(struct kiwi_snic_cq_create c)
{
	return snic_call(fd, KIWI_SNIC_CQ_CREATE, &c);
}

static int create_qp(struct kiwi_snic_qp_create q)
{
	return snic_call(fd, KIWI_SNIC_QP_CREATE, &q);
}

static void cq(void)
{
	size_t deepest;
	struct kiwi_snic_cq_create c, good;
	char *mem;
	int null = open("/dev/null", O_RDWR), event;

	open_with_parents();
	deepest = sizeof(struct kiwi_cqe) << caps.cq_log2_max;
	mem = pages(deepest + PAGE);
	event = eventfd(0, EFD_CLOEXEC);
	good = cq_args(db.doorbell, mem, 4);
	CHECK(null >= 0 && event >= 0);

	c = cq_args(db.doorbell, mem, caps.cq_log2_max);
	EQUAL(create_cq(c), 0);
	c = cq_args(db.doorbell, mem, 1);
	EQUAL(create_cq(c), 0);
	c.log2 = 0;
	EQUAL(create_cq(c), -EINVAL);
	c = cq_args(db.doorbell, mem, caps.cq_log2_max);
	c.log2++;
	EQUAL(create_cq(c), -EINVAL);
	expect_error(fd, EINVAL, "cq_log2_max");
	EQUAL(snic_last_error(fd).value, caps.cq_log2_max + 1);
	EQUAL(snic_last_error(fd).limit, caps.cq_log2_max);
	c.log2 = UINT32_MAX;
	EQUAL(create_cq(c), -EINVAL);
	c.log2 = 64;
	EQUAL(create_cq(c), -EINVAL);

	c = good;
	c.mem.length--;
	EQUAL(create_cq(c), -EINVAL);
	expect_error(fd, EINVAL, "length");
	c = good;
	c.ci_offset -= 8;
	c.mem.length += 8;
	EQUAL(create_cq(c), -EINVAL);
	expect_error(fd, EINVAL, "ci_offset");
	c = good;
	c.ci_offset += 8;
	EQUAL(create_cq(c), -EINVAL);
	c.mem.length += 8;
	EQUAL(create_cq(c), 0);
	c.mem.length += 100;
	c.ci_offset += 4;
	EQUAL(create_cq(c), -EINVAL);
	c.ci_offset = UINT64_MAX - 7;
	EQUAL(create_cq(c), -EINVAL);
	c = good;
	c.mem.addr += 32;
	EQUAL(create_cq(c), -EINVAL);
	expect_error(fd, EINVAL, "addr");
	c.mem.addr += 32;
	EQUAL(create_cq(c), 0);

	c = good;
	c.event_fd = event;
	c.vector = UINT32_MAX;
	EQUAL(create_cq(c), 0);
	c.event_fd = -2;
	EQUAL(create_cq(c), -EBADF);
	c.event_fd = null;
	EQUAL(create_cq(c), -EBADF);
	expect_error(fd, EBADF, "eventfd");
	c.event_fd = fd;
	EQUAL(create_cq(c), -EBADF);
	c = good;
	c.doorbell = pd;
	EQUAL(create_cq(c), -ENOENT);
	close(event);
	close(null);
	close(fd);
}

static void qp_limits(void)
{
	size_t sq_deepest, rq_deepest;
	struct kiwi_snic_qp_create q, good;
	uint32_t cq;
	char *mem;

	open_with_parents();
	cq = make_cq(fd, db.doorbell, -1, pages(2 * PAGE)).cq;
	sq_deepest = (size_t)KIWI_WQEBB << caps.sq_log2_max;
	rq_deepest = (size_t)1 << (KIWI_RQE_MAX_SHIFT + caps.rq_log2_max);
	mem = pages(sq_deepest + rq_deepest + 2 * PAGE);
	good = qp_args(pd, cq, db.doorbell, mem);

	q = good;
	q.sq_log2 = caps.sq_log2_max;
	q.sq.length = sq_deepest;
	q.rq_log2 = caps.rq_log2_max;
	q.rq_stride = KIWI_RQE_MAX_SHIFT;
	q.rq.addr = (uintptr_t)mem + sq_deepest;
	q.rq.length = rq_deepest;
	EQUAL(create_qp(q), 0);
	q = good;
	q.rq_log2 = 0;
	q.rq_stride = KIWI_RQE_MIN_SHIFT;
	q.rq.length = 1 << KIWI_RQE_MIN_SHIFT;
	EQUAL(create_qp(q), 0);

	q = good;
	q.sq_log2 = 2;
	q.sq.length = KIWI_WQEBB << 2;
	EQUAL(create_qp(q), -EINVAL);
	expect_error(fd, EINVAL, "sq_log2");
	q.sq_log2 = caps.sq_log2_max + 1;
	q.sq.length = (uint64_t)KIWI_WQEBB << q.sq_log2;
	EQUAL(create_qp(q), -EINVAL);
	EQUAL(snic_last_error(fd).limit, caps.sq_log2_max);
	q.sq_log2 = 255;
	EQUAL(create_qp(q), -EINVAL);
	q = good;
	q.rq_log2 = caps.rq_log2_max + 1;
	q.rq.length = (uint64_t)64 << q.rq_log2;
	EQUAL(create_qp(q), -EINVAL);
	expect_error(fd, EINVAL, "rq_log2");
	q = good;
	q.rq_stride = KIWI_RQE_MIN_SHIFT - 1;
	q.rq.length = 8 << q.rq_stride;
	EQUAL(create_qp(q), -EINVAL);
	expect_error(fd, EINVAL, "rq_stride");
	q.rq_stride = KIWI_RQE_MAX_SHIFT + 1;
	q.rq.length = 8 << q.rq_stride;
	EQUAL(create_qp(q), -EINVAL);
	q.rq_stride = 255;
	EQUAL(create_qp(q), -EINVAL);

	q = good;
	q.sq.length++;
	EQUAL(create_qp(q), -EINVAL);
	expect_error(fd, EINVAL, "sq.length");
	q = good;
	q.rq.length -= 64;
	EQUAL(create_qp(q), -EINVAL);
	q = good;
	q.sq.addr += 32;
	EQUAL(create_qp(q), -EINVAL);
	q = good;
	q.rq.addr += 32;
	EQUAL(create_qp(q), -EINVAL);
	expect_error(fd, EINVAL, "rq.addr");
	q = good;
	q.rq.addr = 0;
	EQUAL(create_qp(q), -EFAULT);
	expect_error(fd, EFAULT, "rq");
	q = good;
	q.type = 0;
	EQUAL(create_qp(q), -EINVAL);
	expect_error(fd, EINVAL, "type");
	q.type = 2;
	EQUAL(create_qp(q), -EINVAL);

	q = good;
	q.pd = cq;
	EQUAL(create_qp(q), -ENOENT);
	expect_error(fd, ENOENT, "PD");
	q = good;
	q.send_cq = pd;
	EQUAL(create_qp(q), -ENOENT);
	expect_error(fd, ENOENT, "CQ");
	q = good;
	q.recv_cq = 0;
	EQUAL(create_qp(q), -ENOENT);
	q = good;
	q.doorbell = cq;
	EQUAL(create_qp(q), -ENOENT);
	expect_error(fd, ENOENT, "doorbell");
	close(fd);
}

static int modify(struct kiwi_snic_qp_modify m)
{
	m.size = sizeof(m);
	return snic_call(fd, KIWI_SNIC_QP_MODIFY, &m);
}

static struct kiwi_snic_qp_modify query(uint32_t qp)
{
	struct kiwi_snic_qp_modify q = { .size = sizeof(q), .qp = qp };

	EQUAL(snic_call(fd, KIWI_SNIC_QP_QUERY, &q), 0);
	EQUAL(q.mask, KIWI_QP_ATTR_ALL);
	return q;
}

static void qp_states(void)
{
	struct kiwi_snic_qp_modify m, init, q;
	struct kiwi_snic_qp_create qp;
	unsigned int bit;
	int state;

	open_with_parents();
	qp = make_qp(fd, pd, make_cq(fd, db.doorbell, -1, pages(2 * PAGE)).cq, db.doorbell);
	init = (struct kiwi_snic_qp_modify) {
		.qp = qp.qp, .state = KIWI_QPS_INIT, .port = 1, .access = KIWI_ACCESS_REMOTE_READ,
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_PORT | KIWI_QP_ATTR_ACCESS,
	};
	EQUAL(query(qp.qp).state, KIWI_QPS_RESET);

	/* From RESET only to INIT, with all that it needs. */
	for (state = 2; state < 256; state++) {
		if (state == KIWI_QPS_ERR)
			continue;
		EQUAL(modify_state(fd, qp.qp, state), -EINVAL);
	}
	expect_error(fd, EINVAL, "state");
	m = init;
	m.mask &= ~KIWI_QP_ATTR_PORT;
	m.port = 0;
	EQUAL(modify(m), -EINVAL);
	expect_error(fd, EINVAL, "mask");
	m = init;
	m.mask |= KIWI_QP_ATTR_TIMEOUT;
	EQUAL(modify(m), -EINVAL);
	for (bit = 15; bit < 32; bit++) {
		m = init;
		m.mask |= 1U << bit;
		EQUAL(modify(m), -EINVAL);
	}
	m = init;
	m.mask = 0;
	EQUAL(modify(m), -EINVAL);
	m = init;
	m.timeout = 1;		/* not named by the mask */
	EQUAL(modify(m), -EINVAL);
	m = init;
	m.port = caps.ports + 1;
	EQUAL(modify(m), -EINVAL);
	expect_error(fd, EINVAL, "port");
	EQUAL(snic_last_error(fd).value, caps.ports + 1);
	m = init;
	m.access = KIWI_ACCESS_LOCAL_WRITE;
	EQUAL(modify(m), -EINVAL);
	EQUAL(query(qp.qp).state, KIWI_QPS_RESET);
	EQUAL(modify(init), 0);
	q = query(qp.qp);
	EQUAL(q.state, KIWI_QPS_INIT);
	EQUAL(q.port, 1);
	EQUAL(q.access, KIWI_ACCESS_REMOTE_READ);
	EQUAL(modify_state(fd, qp.qp, KIWI_QPS_RESET), 0);

	connect_self(fd, &qp);
	q = query(qp.qp);
	EQUAL(q.state, KIWI_QPS_RTS);
	EQUAL(q.mtu, KIWI_MTU_1024);
	EQUAL(q.dest_qpn, qp.qpn);
	EQUAL(q.sq_psn, 100);
	EQUAL(q.rq_psn, 100);
	EQUAL(q.timeout, 14);
	EQUAL(q.retry_cnt, 7);
	EQUAL(q.rnr_retry, 7);
	EQUAL(q.min_rnr_timer, 12);
	EQUAL(q.max_rd_atomic, 1);
	EQUAL(q.max_dest_rd_atomic, 1);
	EQUAL(q.dgid[0], 0xfe);

	m = (struct kiwi_snic_qp_modify) {
		.qp = qp.qp, .state = KIWI_QPS_RTS, .cur_state = KIWI_QPS_SQD,
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_CUR_STATE,
	};
	EQUAL(modify(m), -EINVAL);
	m.cur_state = KIWI_QPS_RTS;
	EQUAL(modify(m), 0);
	EQUAL(modify_state(fd, qp.qp, KIWI_QPS_SQD), 0);
	EQUAL(modify_state(fd, qp.qp, KIWI_QPS_RTS), 0);
	EQUAL(modify_state(fd, qp.qp, KIWI_QPS_INIT), -EINVAL);
	EQUAL(modify_state(fd, qp.qp, KIWI_QPS_ERR), 0);
	EQUAL(query(qp.qp).state, KIWI_QPS_ERR);
	EQUAL(modify_state(fd, qp.qp, KIWI_QPS_RESET), 0);
	close(fd);
}

static void ring(volatile uint64_t *doorbell, enum kiwi_db_type type, uint32_t number,
		 uint32_t epoch, uint16_t index)
{
	__sync_synchronize();
	*doorbell = KIWI_DB_VALUE(type, number, epoch, index);
}

static uint64_t count(int event, int timeout_ms)
{
	struct pollfd p = { .fd = event, .events = POLLIN };
	uint64_t n;

	if (poll(&p, 1, timeout_ms) != 1)
		return 0;
	EQUAL(read(event, &n, sizeof(n)), sizeof(n));
	return n;
}

/* A NOP, with no help of the kernel: WQE, doorbell, CQE, completion event. */
static void nop(uint32_t flags)
{
	struct kiwi_snic_cq_create cq;
	struct kiwi_snic_qp_create qp;
	volatile struct kiwi_cqe *cqe;
	struct kiwi_wqe_ctrl *wqe;
	volatile uint64_t *doorbell;
	int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	long long armed;

	open_with_parents();
	db = make_doorbell(fd, flags);
	cq = make_cq(fd, db.doorbell, event, pages(2 * PAGE));
	qp = make_qp(fd, pd, cq.cq, db.doorbell);
	connect_self(fd, &qp);
	doorbell = map_doorbell(fd, &db);
	cqe = (volatile struct kiwi_cqe *)(uintptr_t)cq.mem.addr;
	wqe = (struct kiwi_wqe_ctrl *)(uintptr_t)qp.sq.addr;

	armed = snic_attr("diag/db_accepted");
	ring(doorbell, KIWI_DB_CQ_ARM, cq.cqn, cq.epoch, 0);
	EQUAL(count(event, 100), 0);
	*wqe = (struct kiwi_wqe_ctrl) {
		.opcode = KIWI_WQE_NOP, .flags = KIWI_WQE_SIGNALED, .segs = 1, .wr_id = 0x4e4f50,
	};
	ring(doorbell, KIWI_DB_SQ, qp.qpn, qp.epoch, 1);
	EQUAL(count(event, 10000), 1);
	EQUAL(snic_attr("diag/db_accepted"), armed + 2);
	CHECK(cqe->flags & KIWI_CQE_PHASE);
	EQUAL(cqe->wr_id, 0x4e4f50);
	EQUAL(cqe->status, KIWI_CQE_ST_OK);
	EQUAL(cqe->qpn, qp.qpn);
	EQUAL(cqe->sq_index, 1);
	/* not armed: no event */
	wqe[KIWI_WQEBB / sizeof(*wqe)] = *wqe;
	ring(doorbell, KIWI_DB_SQ, qp.qpn, qp.epoch, 2);
	EQUAL(count(event, 200), 0);
	CHECK(cqe[1].flags & KIWI_CQE_PHASE);
	/* armed for one that is there already */
	ring(doorbell, KIWI_DB_CQ_ARM, cq.cqn, cq.epoch, 1);
	EQUAL(count(event, 10000), 1);

	/* The number's next owner is not reached with the old epoch. */
	armed = snic_attr("diag/db_no_queue");
	EQUAL(destroy(fd, qp.qp), 0);
	ring(doorbell, KIWI_DB_SQ, qp.qpn, qp.epoch, 3);
	EQUAL(snic_attr("diag/db_no_queue"), armed + 1);
	close(fd);
	close(event);
}

static void nop_uncached(void)
{
	nop(0);
}

static void nop_combined(void)
{
	nop(KIWI_SNIC_DOORBELL_WC);
}

const struct test queue_tests[] = {
	{ "queues.cq", cq },
	{ "queues.qp-limits", qp_limits },
	{ "queues.qp-states", qp_states },
	{ "queues.nop", nop_uncached },
	{ "queues.nop-combined", nop_combined },
	{ NULL, NULL }
};
