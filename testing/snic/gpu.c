// SPDX-License-Identifier: GPL-2.0
/* Queues as code on a GPU wants them, and doorbells that others ring. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kiwi_abi/regs.h>
#include <xpu.h>

#include "snic-test.h"

static int fd;
static uint32_t pd;
static struct kiwi_snic_doorbell_alloc db;
static volatile uint64_t *doorbell;

static void open_all(void)
{
	fd = snic_open();
	CHECK(fd >= 0);
	pd = make_pd(fd);
	db = make_doorbell(fd, 0);
	doorbell = map_doorbell(fd, &db);
}

static int create_cq(struct kiwi_snic_cq_create *c)
{
	return snic_call(fd, KIWI_SNIC_CQ_CREATE, c);
}

static int create_qp(struct kiwi_snic_qp_create *q)
{
	return snic_call(fd, KIWI_SNIC_QP_CREATE, q);
}

static struct kiwi_snic_cq_create overrun_args(uint32_t log2)
{
	struct kiwi_snic_cq_create c = cq_args(db.doorbell, pages(2 * PAGE), log2);

	c.flags = KIWI_CQ_OVERRUN_IGNORE;
	c.ci_offset = 0;
	c.mem.length = sizeof(struct kiwi_cqe) << log2;
	return c;
}

static struct kiwi_snic_cq_create collapsed_args(void)
{
	struct kiwi_snic_cq_create c = overrun_args(0);

	c.flags |= KIWI_CQ_COLLAPSED;
	return c;
}

static struct kiwi_snic_qp_create send_only_args(uint32_t cq)
{
	struct kiwi_snic_qp_create q = qp_args(pd, cq, db.doorbell, pages(PAGE));

	q.flags = KIWI_QP_SQ_ONLY;
	q.rq = (struct kiwi_mem) { 0 };
	q.recv_cq = 0;
	q.rq_log2 = 0;
	q.rq_stride = 0;
	return q;
}

static struct kiwi_snic_qp_create record_args(uint32_t cq)
{
	struct kiwi_snic_qp_create q = qp_args(pd, cq, db.doorbell, pages(2 * PAGE));

	q.flags = KIWI_QP_DB_RECORD;
	q.db_record = (struct kiwi_mem) {
		KIWI_MEM_USER, 0, (uintptr_t)pages(PAGE), sizeof(struct kiwi_qp_db_record),
	};
	return q;
}

/* What the firmware offers works; what it does not is refused in words, and all else works. */
static void offer(void)
{
	bool offered = snic_attr("caps/gpu_queues");
	int wanted = offered ? 0 : -EOPNOTSUPP;
	struct kiwi_snic_cq_create c;
	struct kiwi_snic_qp_create q;
	struct kiwi_snic_mr_reg r;
	uint32_t cq;

	open_all();
	EQUAL(!!(snic_caps(fd).caps & KIWI_SNIC_CAP_GPU_QUEUES), offered);
	cq = make_cq(fd, db.doorbell, -1, pages(2 * PAGE)).cq;
	make_qp(fd, pd, cq, db.doorbell);

	c = overrun_args(4);
	EQUAL(create_cq(&c), wanted);
	c = collapsed_args();
	EQUAL(create_cq(&c), wanted);
	q = send_only_args(cq);
	EQUAL(create_qp(&q), wanted);
	q = record_args(cq);
	EQUAL(create_qp(&q), wanted);
	r = mr_args(pd, pages(PAGE), PAGE);
	r.access |= KIWI_ACCESS_RELAXED;
	EQUAL(snic_call(fd, KIWI_SNIC_MR_REG, &r), wanted);
	if (!offered)
		expect_error(fd, EOPNOTSUPP, "KIWI_ACCESS_RELAXED: the firmware does not offer");
	close(fd);
}

static void cq_flags(void)
{
	struct kiwi_snic_cq_create c;

	open_all();
	c = collapsed_args();
	c.flags = KIWI_CQ_COLLAPSED;
	EQUAL(create_cq(&c), -EINVAL);
	expect_error(fd, EINVAL, "KIWI_CQ_OVERRUN_IGNORE");
	c = collapsed_args();
	c.log2 = 1;
	EQUAL(create_cq(&c), -EINVAL);
	expect_error(fd, EINVAL, "log2");
	c = collapsed_args();
	c.mem.length--;
	EQUAL(create_cq(&c), -EINVAL);
	expect_error(fd, EINVAL, "mem.length");
	c = overrun_args(0);
	EQUAL(create_cq(&c), -EINVAL);
	c = overrun_args(snic_caps(fd).cq_log2_max + 1);
	EQUAL(create_cq(&c), -EINVAL);
	c = overrun_args(4);
	c.ci_offset = c.mem.length;
	EQUAL(create_cq(&c), -EINVAL);
	expect_error(fd, EINVAL, "ci_offset");
	c = overrun_args(4);
	c.mem.length--;
	EQUAL(create_cq(&c), -EINVAL);
	close(fd);
}

static void qp_flags(void)
{
	struct kiwi_snic_qp_create q, good;
	uint32_t cq;

	open_all();
	cq = make_cq(fd, db.doorbell, -1, pages(2 * PAGE)).cq;
	good = send_only_args(cq);
	q = good;
	q.recv_cq = cq;
	EQUAL(create_qp(&q), -EINVAL);
	expect_error(fd, EINVAL, "KIWI_QP_SQ_ONLY");
	q = good;
	q.rq_log2 = 1;
	EQUAL(create_qp(&q), -EINVAL);
	q = good;
	q.rq_stride = 6;
	EQUAL(create_qp(&q), -EINVAL);
	q = good;
	q.rq.length = 64;
	EQUAL(create_qp(&q), -EINVAL);

	good = record_args(cq);
	q = good;
	q.flags = 0;
	EQUAL(create_qp(&q), -EINVAL);
	expect_error(fd, EINVAL, "db_record");
	q = good;
	q.db_record.length = 4;
	EQUAL(create_qp(&q), -EINVAL);
	EQUAL(snic_last_error(fd).limit, 8);
	q = good;
	q.db_record.addr += 4;
	EQUAL(create_qp(&q), -EINVAL);
	expect_error(fd, EINVAL, "db_record.addr");
	q = good;
	q.db_record.addr = 0;
	EQUAL(create_qp(&q), -EFAULT);
	q = good;
	q.db_record.type = 3;
	EQUAL(create_qp(&q), -EINVAL);
	q = good;
	q.db_record.type = KIWI_MEM_DMABUF;
	q.db_record.fd = fd;
	q.db_record.addr = 0;
	EQUAL(create_qp(&q), -EBADF);
	close(fd);
}

/* NOPs --------------------------------------------------------------------------- */

static void put_nop(const struct kiwi_snic_qp_create *qp, unsigned int index)
{
	struct kiwi_wqe_ctrl *unit = (struct kiwi_wqe_ctrl *)(uintptr_t)
		(qp->sq.addr + index % (1U << qp->sq_log2) * KIWI_WQEBB);

	*unit = (struct kiwi_wqe_ctrl) {
		.opcode = KIWI_WQE_NOP, .flags = KIWI_WQE_SIGNALED, .segs = 1, .wr_id = index,
	};
}

static void ring(const struct kiwi_snic_qp_create *qp, uint16_t index)
{
	__sync_synchronize();
	*doorbell = KIWI_DB_VALUE(KIWI_DB_SQ, qp->qpn, qp->epoch, index);
}

/* The word changes to what is wanted in time. */
static bool becomes(volatile void *word, size_t bytes, uint32_t wanted)
{
	unsigned int ms;

	for (ms = 0; ms < 10000; ms++) {
		uint32_t value = bytes == 2 ? *(volatile uint16_t *)word :
					      *(volatile uint32_t *)word;

		if (value == wanted)
			return true;
		usleep(1000);
	}
	return false;
}

/* A ring without a consumer index: nothing is ever full, and the phase tells the passes apart. */
static void overrun(void)
{
	struct kiwi_snic_cq_create c;
	struct kiwi_snic_qp_create q;
	volatile struct kiwi_cqe *cqe;
	unsigned int n;

	open_all();
	c = overrun_args(1);
	EQUAL(create_cq(&c), 0);
	q = send_only_args(c.cq);
	EQUAL(create_qp(&q), 0);
	connect_self(fd, &q);
	cqe = (volatile struct kiwi_cqe *)(uintptr_t)c.mem.addr;
	for (n = 0; n < 20; n++) {
		put_nop(&q, n);
		ring(&q, n + 1);
		CHECK(becomes(&cqe[n % 2].sq_index, 2, n + 1));
		EQUAL(cqe[n % 2].wr_id, n);
		EQUAL(cqe[n % 2].status, KIWI_CQE_ST_OK);
		CHECK(becomes(&cqe[n % 2].sq_index, 2, n + 1));
	}
	usleep(10000);
	EQUAL(cqe[1].flags & KIWI_CQE_PHASE, n / 2 % 2);
	close(fd);
}

static void collapsed(void)
{
	struct kiwi_snic_cq_create c;
	struct kiwi_snic_qp_create q;
	volatile struct kiwi_cqe *cqe;
	unsigned int n;

	open_all();
	c = collapsed_args();
	EQUAL(create_cq(&c), 0);
	q = send_only_args(c.cq);
	EQUAL(create_qp(&q), 0);
	connect_self(fd, &q);
	cqe = (volatile struct kiwi_cqe *)(uintptr_t)c.mem.addr;
	for (n = 0; n < 64; n += 8) {
		unsigned int i;

		for (i = n; i < n + 8; i++)
			put_nop(&q, i);
		ring(&q, n + 8);
		CHECK(becomes(&cqe->sq_index, 2, n + 8));
		EQUAL(cqe->status, KIWI_CQE_ST_OK);
	}
	/* An error stays to be read although all behind it is flushed. */
	*(struct kiwi_wqe_ctrl *)(uintptr_t)q.sq.addr = (struct kiwi_wqe_ctrl) {
		.opcode = KIWI_WQE_OPCODE_COUNT, .segs = 1,
	};
	put_nop(&q, n + 1);
	ring(&q, n + 2);
	CHECK(becomes(&cqe->sq_index, 2, n + 1));
	usleep(10000);
	EQUAL(cqe->sq_index, n + 1);
	EQUAL(cqe->status, KIWI_CQE_ST_LOC_QP_OP_ERR);
	close(fd);
}

static struct kiwi_snic_queue_query query(uint32_t id, uint32_t kind)
{
	struct kiwi_snic_queue_query q = { .size = sizeof(q), .id = id, .kind = kind };

	EQUAL(snic_call(fd, KIWI_SNIC_QUEUE_QUERY, &q), 0);
	return q;
}

/* The index stands in a record, and the one in the doorbell is not looked at. */
static void record(void)
{
	struct kiwi_qp_db_record *record;
	struct kiwi_snic_cq_create c;
	struct kiwi_snic_qp_create q;
	volatile struct kiwi_cqe *cqe;

	open_all();
	c = collapsed_args();
	EQUAL(create_cq(&c), 0);
	q = record_args(c.cq);
	EQUAL(create_qp(&q), 0);
	connect_self(fd, &q);
	cqe = (volatile struct kiwi_cqe *)(uintptr_t)c.mem.addr;
	record = (struct kiwi_qp_db_record *)(uintptr_t)q.db_record.addr;
	put_nop(&q, 0);
	put_nop(&q, 1);
	record->sq = 2;
	ring(&q, 0x7777);
	CHECK(becomes(&cqe->sq_index, 2, 2));
	EQUAL(cqe->status, KIWI_CQE_ST_OK);
	close(fd);
}

/* Work posted, rung and reaped by what the descriptors say, and by nothing else. */
static void work_by_descriptor(uint32_t qp, uint32_t cq, const void *entry)
{
	struct kiwi_snic_queue_query sq = query(qp, KIWI_QUEUE_SQ), done = query(cq, KIWI_QUEUE_CQ);
	volatile unsigned char *cqe = (volatile unsigned char *)(uintptr_t)done.ring.addr;
	uint32_t index;

	for (index = 0; index < 3 * sq.count; index++) {
		unsigned char *slot = (unsigned char *)(uintptr_t)sq.ring.addr +
				      index % sq.count * sq.stride;

		memcpy(slot, entry, sq.entry_size);
		__sync_synchronize();
		if (sq.record.type) {
			*(volatile uint32_t *)(uintptr_t)(sq.record.addr + sq.record_offset) =
				index + 1;
			__sync_synchronize();
		}
		EQUAL(sq.db_width, 8);
		*(volatile uint64_t *)((char *)doorbell - db.reg_offset + sq.db_offset) =
			sq.db_value |
			((index + 1) & ((1ULL << sq.db_index_bits) - 1)) << sq.db_index_shift;
		if (done.owner == KIWI_OWNER_PHASE) {
			cqe = (volatile unsigned char *)(uintptr_t)done.ring.addr +
			      index % done.count * done.stride;
		}
		CHECK(becomes(cqe + done.progress_offset, 2, index + 1));
		EQUAL(cqe[done.status_offset], 0);
		if (done.record.type)
			*(volatile uint32_t *)(uintptr_t)(done.record.addr +
							  done.record_offset) = index + 1;
	}
}

static void describe(void)
{
	static const struct kiwi_wqe_ctrl nop[KIWI_WQEBB / sizeof(struct kiwi_wqe_ctrl)] = {
		{ .opcode = KIWI_WQE_NOP, .flags = KIWI_WQE_SIGNALED, .segs = 1 },
	};
	struct kiwi_snic_cq_create classic, c;
	struct kiwi_snic_qp_create q, s;
	struct kiwi_snic_queue_query d;

	open_all();
	classic = make_cq(fd, db.doorbell, -1, pages(2 * PAGE));
	q = make_qp(fd, pd, classic.cq, db.doorbell);
	connect_self(fd, &q);
	work_by_descriptor(q.qp, classic.cq, nop);
	d = query(classic.cq, KIWI_QUEUE_CQ);
	EQUAL(d.owner, KIWI_OWNER_PHASE);
	EQUAL(d.number, classic.cqn);
	EQUAL(d.count, 16);
	EQUAL(d.doorbell, db.doorbell);
	EQUAL(d.arm_value, KIWI_DB_VALUE(KIWI_DB_CQ_ARM, classic.cqn, classic.epoch, 0));
	EQUAL(d.record.addr, classic.mem.addr + classic.ci_offset);
	d = query(q.qp, KIWI_QUEUE_RQ);
	EQUAL(d.entry_size, 64);
	EQUAL(d.count, 8);
	EQUAL(d.max_sge, 3);
	EQUAL(d.ring.addr, q.rq.addr);
	EQUAL(d.db_value, KIWI_DB_VALUE(KIWI_DB_RQ, q.qpn, q.epoch, 0));
	EQUAL(d.record.type, 0);

	c = collapsed_args();
	EQUAL(create_cq(&c), 0);
	s = record_args(c.cq);
	EQUAL(create_qp(&s), 0);
	connect_self(fd, &s);
	work_by_descriptor(s.qp, c.cq, nop);
	EQUAL(query(c.cq, KIWI_QUEUE_CQ).owner, KIWI_OWNER_COUNTER);
	EQUAL(query(s.qp, KIWI_QUEUE_RQ).record_offset, 4);
	EQUAL(query(s.qp, KIWI_QUEUE_SQ).max_inline, snic_caps(fd).max_inline);

	d = (struct kiwi_snic_queue_query) { .size = sizeof(d), .id = c.cq, .kind = KIWI_QUEUE_SQ };
	EQUAL(snic_call(fd, KIWI_SNIC_QUEUE_QUERY, &d), -ENOENT);
	d.id = s.qp;
	d.kind = KIWI_QUEUE_CQ;
	EQUAL(snic_call(fd, KIWI_SNIC_QUEUE_QUERY, &d), -ENOENT);
	d.kind = 0;
	EQUAL(snic_call(fd, KIWI_SNIC_QUEUE_QUERY, &d), -EINVAL);
	expect_error(fd, EINVAL, "kind");
	d.kind = KIWI_QUEUE_CQ + 1;
	EQUAL(snic_call(fd, KIWI_SNIC_QUEUE_QUERY, &d), -EINVAL);
	s = send_only_args(c.cq);
	EQUAL(create_qp(&s), 0);
	d = (struct kiwi_snic_queue_query) { .size = sizeof(d), .id = s.qp, .kind = KIWI_QUEUE_RQ };
	EQUAL(snic_call(fd, KIWI_SNIC_QUEUE_QUERY, &d), -EINVAL);
	expect_error(fd, EINVAL, "no receive queue");
	close(fd);
}

/* Rings and records in memory of a GPU, which then takes one away. */
static void in_vram(void)
{
	const uint64_t at_ring = 0, at_cq = PAGE, at_record = 2 * PAGE;
	struct kiwi_snic_queue_query d;
	struct kiwi_snic_cq_create c;
	struct kiwi_snic_qp_create q;
	volatile struct kiwi_cqe *cqe;
	int xpu = xpu_open(0), buf, other;
	char *vram;

	CHECK(xpu >= 0);
	buf = xpu_alloc(xpu, 1024 * 1024, 0, 0);
	other = xpu_alloc(xpu, 1024 * 1024, 0, 0);
	CHECK(buf >= 0 && other >= 0);
	vram = xpu_map(buf, 1024 * 1024);
	CHECK(vram);
	open_all();
	c = collapsed_args();
	c.mem = (struct kiwi_mem) { KIWI_MEM_DMABUF, buf, at_cq, sizeof(struct kiwi_cqe) };
	EQUAL(create_cq(&c), 0);
	q = send_only_args(c.cq);
	q.flags |= KIWI_QP_DB_RECORD;
	q.sq = (struct kiwi_mem) { KIWI_MEM_DMABUF, buf, at_ring, q.sq.length };
	q.db_record = (struct kiwi_mem) { KIWI_MEM_DMABUF, other, at_record, 8 };
	EQUAL(create_qp(&q), 0);
	connect_self(fd, &q);
	d = query(q.qp, KIWI_QUEUE_SQ);
	EQUAL(d.ring.type, KIWI_MEM_DMABUF);
	EQUAL(d.ring.fd, -1);
	EQUAL(d.ring.addr, at_ring);
	EQUAL(d.record.addr, at_record);

	cqe = (volatile struct kiwi_cqe *)(vram + at_cq);
	*(struct kiwi_wqe_ctrl *)(vram + at_ring) = (struct kiwi_wqe_ctrl) {
		.opcode = KIWI_WQE_NOP, .flags = KIWI_WQE_SIGNALED, .segs = 1,
	};
	EQUAL(xpu_write(xpu, other, at_record, &(uint32_t) { 1 }, 4), 0);
	ring(&q, 0);
	CHECK(becomes(&cqe->sq_index, 2, 1));
	EQUAL(cqe->status, KIWI_CQE_ST_OK);
	if (snic_caps(fd).caps & KIWI_CAP_DIAG)
		CHECK(snic_attr("diag/dma_db_record_peer_transactions"));

	/* The record is taken away: the queue is dead, in words and as an event. */
	EQUAL(xpu_revoke(xpu, other), 0);
	d = (struct kiwi_snic_queue_query) { .size = sizeof(d), .id = q.qp, .kind = KIWI_QUEUE_SQ };
	EQUAL(snic_call(fd, KIWI_SNIC_QUEUE_QUERY, &d), -EREMOTEIO);
	EQUAL(modify_state(fd, q.qp, KIWI_QPS_ERR), -EREMOTEIO);
	EQUAL(destroy(fd, q.qp), 0);
	EQUAL(destroy(fd, c.cq), 0);
	close(fd);
	munmap(vram, 1024 * 1024);
	close(buf);
	close(other);
	close(xpu);
}

/* Doorbells for others -------------------------------------------------------------- */

static int export(uint32_t id, uint32_t flags, struct kiwi_snic_doorbell_export *e)
{
	*e = (struct kiwi_snic_doorbell_export) {
		.size = sizeof(*e), .flags = flags, .doorbell = id,
	};
	return snic_call(fd, KIWI_SNIC_DOORBELL_EXPORT, e);
}

static void exported(void)
{
	struct kiwi_snic_doorbell_export e, again;
	int xpu = xpu_open(0), buf;

	open_all();
	EQUAL(export(pd, 0, &e), -ENOENT);
	EQUAL(export(db.doorbell, 0, &e), 0);
	EQUAL(export(db.doorbell, O_CLOEXEC, &again), 0);
	EQUAL(e.length, db.map_size);
	EQUAL(e.reg_offset, db.reg_offset);
	EQUAL(lseek(e.fd, 0, SEEK_END), db.map_size);
	EQUAL(fcntl(e.fd, F_GETFD), 0);
	EQUAL(fcntl(again.fd, F_GETFD), FD_CLOEXEC);
	CHECK(mmap(NULL, e.length, PROT_READ | PROT_WRITE, MAP_SHARED, e.fd, 0) == MAP_FAILED);

	/* Not for importers that are not told of its end. */
	CHECK(xpu >= 0);
	buf = xpu_alloc(xpu, PAGE, 0, 0);
	CHECK(buf >= 0);
	EQUAL(xpu_copy(xpu, e.fd, e.reg_offset, buf, 0, 8, XPU_COPY_NO_P2P), -EOPNOTSUPP);
	EQUAL(destroy(fd, db.doorbell), 0);
	EQUAL(export(db.doorbell, 0, &again), -ENOENT);
	CHECK(xpu_copy(xpu, e.fd, e.reg_offset, buf, 0, 8, 0) < 0);
	close(buf);
	close(xpu);
	close(fd);
	close(e.fd);
}

/* Another SNIC rings it: an RDMA WRITE into a region that is the doorbell's page. */
struct writer {
	int fd;
	uint64_t *source;
	struct kiwi_snic_mr_reg from, to;
	struct kiwi_snic_cq_create cq;
	struct kiwi_snic_qp_create qp;
	volatile uint64_t *doorbell;
	unsigned int posted;
};

static int reg_doorbell(const struct writer *w, uint32_t own_pd, int dmabuf, size_t length,
			struct kiwi_snic_mr_reg *r)
{
	*r = mr_args(own_pd, NULL, length);
	r->mem = (struct kiwi_mem) { KIWI_MEM_DMABUF, dmabuf, 0, length };
	return snic_call(w->fd, KIWI_SNIC_MR_REG, r);
}

static struct writer make_writer(int dmabuf, size_t length)
{
	struct kiwi_snic_doorbell_alloc own;
	struct writer w = { .source = pages(PAGE) };
	uint32_t own_pd;

	test_device = 1;
	w.fd = snic_open();
	CHECK(w.fd >= 0);
	own_pd = make_pd(w.fd);
	own = make_doorbell(w.fd, 0);
	w.doorbell = map_doorbell(w.fd, &own);
	w.cq = make_cq(w.fd, own.doorbell, -1, pages(2 * PAGE));
	w.qp = make_qp(w.fd, own_pd, w.cq.cq, own.doorbell);
	w.from = make_mr(w.fd, own_pd, w.source, PAGE);
	EQUAL(reg_doorbell(&w, own_pd, dmabuf, length, &w.to), 0);
	connect_self(w.fd, &w.qp);
	test_device = 0;
	return w;
}

/* The status of the WRITE's completion. */
static int write_value(struct writer *w, uint64_t value, uint32_t offset)
{
	volatile struct kiwi_cqe *cqe = (volatile struct kiwi_cqe *)(uintptr_t)w->cq.mem.addr +
					w->posted;
	unsigned char *unit = (unsigned char *)(uintptr_t)w->qp.sq.addr + w->posted * KIWI_WQEBB;

	w->source[w->posted] = value;
	*(struct kiwi_wqe_ctrl *)unit = (struct kiwi_wqe_ctrl) {
		.opcode = KIWI_WQE_WRITE, .flags = KIWI_WQE_SIGNALED, .segs = 3,
	};
	*(struct kiwi_wqe_raddr *)(unit + KIWI_WQE_SEG) = (struct kiwi_wqe_raddr) {
		.addr = w->to.iova + offset, .rkey = w->to.key,
	};
	*(struct kiwi_sge *)(unit + 2 * KIWI_WQE_SEG) = (struct kiwi_sge) {
		.addr = (uintptr_t)&w->source[w->posted], .lkey = w->from.key, .len = 8,
	};
	w->posted++;
	__sync_synchronize();
	*w->doorbell = KIWI_DB_VALUE(KIWI_DB_SQ, w->qp.qpn, w->qp.epoch, w->posted);
	CHECK(becomes(&cqe->sq_index, 2, w->posted));
	return cqe->status;
}

/* Waits until the region of a doorbell that has ended is dead. */
static void region_ends(struct writer *w)
{
	struct kiwi_snic_mr_query m = { .size = sizeof(m), .mr = w->to.mr };
	struct kiwi_snic_event event;

	EQUAL(read(w->fd, &event, sizeof(event)), sizeof(event));
	EQUAL(event.type, KIWI_SNIC_EVENT_MR_REVOKED);
	EQUAL(event.id, w->to.mr);
	EQUAL(snic_call(w->fd, KIWI_SNIC_MR_QUERY, &m), 0);
	EQUAL(m.state, KIWI_MR_REVOKED);
}

static void rung_by_peer(void)
{
	struct kiwi_snic_doorbell_export e;
	struct kiwi_snic_mr_reg late;
	struct kiwi_snic_cq_create c;
	struct kiwi_snic_qp_create q;
	long long accepted;
	struct writer w;

	open_all();
	EQUAL(export(db.doorbell, O_CLOEXEC, &e), 0);
	w = make_writer(e.fd, e.length);
	c = collapsed_args();
	EQUAL(create_cq(&c), 0);
	q = send_only_args(c.cq);
	EQUAL(create_qp(&q), 0);
	connect_self(fd, &q);
	put_nop(&q, 0);
	accepted = snic_attr("diag/db_accepted");
	EQUAL(write_value(&w, KIWI_DB_VALUE(KIWI_DB_SQ, q.qpn, q.epoch, 1), e.reg_offset), 0);
	CHECK(becomes(&((volatile struct kiwi_cqe *)(uintptr_t)c.mem.addr)->sq_index, 2, 1));
	EQUAL(snic_attr("diag/db_accepted"), accepted + 1);

	/* The doorbell ends: the region is dead, and no new one can be made of it. */
	EQUAL(destroy(fd, q.qp), 0);
	EQUAL(destroy(fd, c.cq), 0);
	EQUAL(destroy(fd, db.doorbell), 0);
	region_ends(&w);
	EQUAL(reg_doorbell(&w, w.to.pd, e.fd, e.length, &late), -EREMOTEIO);
	accepted = snic_attr("diag/db_closed_page");
	CHECK(write_value(&w, KIWI_DB_VALUE(KIWI_DB_SQ, q.qpn, q.epoch, 2), e.reg_offset));
	EQUAL(snic_attr("diag/db_closed_page"), accepted);
	close(e.fd);
	close(w.fd);
	close(fd);
}

/* Its file is closed while an importer has it. */
static void closed_under_peer(void)
{
	struct kiwi_snic_doorbell_export e;
	struct writer w;

	open_all();
	EQUAL(export(db.doorbell, O_CLOEXEC, &e), 0);
	w = make_writer(e.fd, e.length);
	EQUAL(munmap((char *)doorbell - db.reg_offset, db.map_size), 0);
	close(fd);
	region_ends(&w);
	EQUAL(snic_attr("diag/live_db_page"), 0);
	close(w.fd);
	close(e.fd);
}

/* Error page ------------------------------------------------------------------------ */

static int set_error_page(struct kiwi_mem mem)
{
	struct kiwi_snic_error_page e = { .size = sizeof(e), .mem = mem };

	return snic_call(fd, KIWI_SNIC_ERROR_PAGE, &e);
}

static struct kiwi_mem page_mem(const volatile struct kiwi_error_page *page)
{
	return (struct kiwi_mem) { KIWI_MEM_USER, 0, (uintptr_t)page, KIWI_ERROR_PAGE_BYTES };
}

static void error_page_refused(void)
{
	struct kiwi_mem good = page_mem(pages(2 * PAGE)), m;
	struct kiwi_snic_doorbell_export e;

	open_all();
	m = good;
	m.length--;
	EQUAL(set_error_page(m), -EINVAL);
	expect_error(fd, EINVAL, "mem.length");
	m = good;
	m.addr += 64;
	EQUAL(set_error_page(m), -EINVAL);
	expect_error(fd, EINVAL, "mem.addr");
	m = good;
	m.type = 0;
	EQUAL(set_error_page(m), -EINVAL);
	m = good;
	m.fd = 1;
	EQUAL(set_error_page(m), -EINVAL);
	m = good;
	m.addr = 0;
	EQUAL(set_error_page(m), -EFAULT);
	m.type = KIWI_MEM_DMABUF;
	m.fd = fd;
	EQUAL(set_error_page(m), -EBADF);
	/* A DMA-buf that the CPU cannot map. */
	EQUAL(export(db.doorbell, O_CLOEXEC, &e), 0);
	m.fd = e.fd;
	EQUAL(set_error_page(m), -EOPNOTSUPP);
	expect_error(fd, EOPNOTSUPP, "vmap");
	EQUAL(set_error_page(good), 0);
	EQUAL(set_error_page(good), -EBUSY);
	expect_error(fd, EBUSY, "error page");
	close(e.fd);
	close(fd);
}

static void error_page_words(void)
{
	volatile struct kiwi_error_page *page = pages(PAGE);
	volatile uint32_t *cq_word, *qp_word;
	struct kiwi_snic_cq_create before, c;
	struct kiwi_snic_qp_create q;
	uint32_t events, offset;
	unsigned int n;

	open_all();
	memset((void *)page, 0x5a, sizeof(*page));
	before = make_cq(fd, db.doorbell, -1, pages(2 * PAGE));
	EQUAL(set_error_page(page_mem(page)), 0);
	EQUAL(page->device, 0);
	EQUAL(page->port_down, 0);
	EQUAL(page->events, 0);
	EQUAL(query(before.cq, KIWI_QUEUE_CQ).error_offset, 0);

	c = cq_args(db.doorbell, pages(2 * PAGE), 1);
	EQUAL(create_cq(&c), 0);
	q = make_qp(fd, pd, c.cq, db.doorbell);
	connect_self(fd, &q);
	offset = query(c.cq, KIWI_QUEUE_CQ).error_offset;
	CHECK(offset >= offsetof(struct kiwi_error_page, queue) && offset % 4 == 0);
	cq_word = (volatile uint32_t *)((volatile char *)page + offset);
	offset = query(q.qp, KIWI_QUEUE_SQ).error_offset;
	EQUAL(query(q.qp, KIWI_QUEUE_RQ).error_offset, offset);
	qp_word = (volatile uint32_t *)((volatile char *)page + offset);
	CHECK(cq_word != qp_word);
	EQUAL(*cq_word, 0);
	EQUAL(*qp_word, 0);

	/* Three completions into two entries: nothing tells of the third but the page. */
	for (n = 0; n < 3; n++)
		put_nop(&q, n);
	ring(&q, 3);
	CHECK(becomes(cq_word, 4, KIWI_SNIC_EVENT_CQ_ERROR << 16 | KIWI_CQ_ERR_OVERRUN));
	CHECK(becomes(qp_word, 4, KIWI_SNIC_EVENT_QP_ERROR << 16 | KIWI_CQE_ST_FATAL_ERR));
	CHECK(becomes(&page->events, 4, 2));
	EQUAL(destroy(fd, q.qp), 0);
	EQUAL(*qp_word, 0);
	CHECK(*cq_word);
	EQUAL(destroy(fd, c.cq), 0);
	EQUAL(*cq_word, 0);

	events = page->events;
	EQUAL(snic_attr_write("ports/1/enabled", "0"), 0);
	CHECK(becomes(&page->port_down, 4, 1));
	EQUAL(snic_attr_write("ports/1/enabled", "1"), 0);
	CHECK(becomes(&page->port_down, 4, 0));
	CHECK(becomes(&page->events, 4, events + 2));
	EQUAL(page->device, 0);
	EQUAL(munmap((char *)doorbell - db.reg_offset, db.map_size), 0);
	close(fd);
	EQUAL(page->device, KIWI_ERROR_GONE);
}

/* The device goes while the file is open, and its page belongs to the process again. */
static void error_page_gone(void)
{
	volatile struct kiwi_error_page *page = pages(PAGE);
	char address[32];

	open_all();
	EQUAL(set_error_page(page_mem(page)), 0);
	make_qp(fd, pd, make_cq(fd, db.doorbell, -1, pages(2 * PAGE)).cq, db.doorbell);
	snic_pci_address(address, sizeof(address));
	EQUAL(write_file("/sys/bus/pci/drivers/kiwi_snic/unbind", address), 0);
	EQUAL(page->device, KIWI_ERROR_GONE);
	page->device = 0;
	EQUAL(write_file("/sys/bus/pci/drivers/kiwi_snic/bind", address), 0);
	EQUAL(set_error_page(page_mem(page)), -ENODEV);
	close(fd);
	EQUAL(page->device, 0);
}

const struct test gpu_tests[] = {
	{ "gpu.offer", offer },
	{ "gpu.cq-flags", cq_flags },
	{ "gpu.qp-flags", qp_flags },
	{ "gpu.overrun", overrun },
	{ "gpu.collapsed", collapsed },
	{ "gpu.record", record },
	{ "gpu.describe", describe },
	{ "gpu.in-vram", in_vram },
	{ "gpu.exported", exported },
	{ "gpu.rung-by-peer", rung_by_peer },
	{ "gpu.closed-under-peer", closed_under_peer },
	{ "gpu.error-page-refused", error_page_refused },
	{ "gpu.error-page-words", error_page_words },
	{ "gpu.error-page-gone", error_page_gone },
	{ NULL, NULL }
};
