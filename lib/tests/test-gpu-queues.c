// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Send-only queue pairs, doorbell records, collapsed CQs, and what is made for a GPU. */
#include "fixture.h"

#include <kiwi/proxy.h>

static struct kiwi_cq *make_cq(struct fixture *f, uint32_t flags, uint32_t entries)
{
	struct kiwi_cq_config config = { .entries = entries, .flags = flags };
	struct kiwi_cq *cq;

	need(kiwi_cq_create(f->dev, &config, &cq));
	return cq;
}

static struct kiwi_qp *make_qp(struct fixture *f, struct kiwi_cq *cq, uint32_t flags)
{
	struct kiwi_qp_config config = { .send_cq = cq, .sq_units = 8, .flags = flags };
	struct kiwi_qp *qp;

	need(kiwi_qp_create(f->pd, &config, &qp));
	return qp;
}

static const struct kiwi_send_wr nop = { .opcode = KIWI_WQE_NOP };

static void test_send_only(struct fixture *f)
{
	struct kiwi_qp_config bad = { .send_cq = f->cq, .flags = KIWI_QP_SQ_ONLY, .rq_entries = 1 };
	struct kiwi_recv_wr wr = { 0 };
	struct kiwi_qp *qp;

	ok(kiwi_qp_create(f->pd, &bad, &qp) == -EINVAL && strstr(kiwi_error(), "KIWI_QP_SQ_ONLY"),
	   "no receive queue for a QP that has none");
	qp = make_qp(f, f->cq, KIWI_QP_SQ_ONLY);
	holds(!qp->recv_cq && !qp->max_recv_sge);
	holds(kiwi_post_recv(qp, &wr) == -EAGAIN);
	holds(!kiwi_post_send_ring(qp, &nop));
	holds(!kiwi_qp_destroy(qp));
	say("a send-only QP");
}

static void test_record(struct fixture *f)
{
	struct kiwi_qp *qp = make_qp(f, f->cq, KIWI_QP_DB_RECORD);
	const struct kiwi_snic_qp_create *arg = fake_qp(qp->id);
	struct kiwi_qp_db_record *record = (void *)(uintptr_t)arg->db_record.addr;
	struct kiwi_recv_wr wr = { 0 };

	holds(!record->sq && !record->rq);
	holds(!kiwi_post_send(qp, &nop) && !kiwi_post_send(qp, &nop));
	holds(!record->sq);
	kiwi_qp_ring(qp);
	holds(record->sq == 2 && !record->rq);
	holds(!kiwi_post_recv_ring(qp, &wr));
	holds(record->sq == 2 && record->rq == 1);
	holds(!kiwi_qp_destroy(qp));
	say("the record is written before the doorbell rings");
}

static void test_collapsed(struct fixture *f)
{
	struct kiwi_cq *cq = make_cq(f, KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED, 0);
	struct kiwi_cqe *cqe = (void *)(uintptr_t)fake_cq(cq->id)->mem.addr;
	struct kiwi_qp *qp = make_qp(f, cq, KIWI_QP_SQ_ONLY);
	struct kiwi_wc wc;
	unsigned int n;

	holds(kiwi_poll_collapsed(cq, qp) == KIWI_CQE_ST_OK && kiwi_qp_room(qp) == 8);
	for (n = 0; n < 8; n++)
		holds(!kiwi_post_send(qp, &nop));
	holds(kiwi_post_send(qp, &nop) == -EAGAIN);
	cqe->sq_index = 6;
	cqe->flags = KIWI_CQE_PHASE;
	holds(!kiwi_poll_cq(cq, &wc, 1));
	holds(kiwi_poll_collapsed(cq, qp) == KIWI_CQE_ST_OK && kiwi_qp_room(qp) == 6);
	cqe->sq_index = 7;
	cqe->status = KIWI_CQE_ST_REM_ACCESS_ERR;
	holds(kiwi_poll_collapsed(cq, qp) == KIWI_CQE_ST_REM_ACCESS_ERR && kiwi_qp_room(qp) == 7);
	/* The next queue begins at 0. */
	holds(!kiwi_qp_destroy(qp));
	qp = make_qp(f, cq, KIWI_QP_SQ_ONLY);
	holds(kiwi_poll_collapsed(cq, qp) == KIWI_CQE_ST_OK && kiwi_qp_room(qp) == 8);
	holds(kiwi_poll_collapsed(f->cq, qp) == KIWI_CQE_ST_OK);
	holds(!kiwi_qp_destroy(qp) && !kiwi_cq_destroy(cq));
	say("a collapsed CQ");
}

static void test_overrun(struct fixture *f)
{
	struct kiwi_cq *cq = make_cq(f, KIWI_CQ_OVERRUN_IGNORE, 2);
	struct kiwi_cqe *ring = (void *)(uintptr_t)fake_cq(cq->id)->mem.addr;
	struct kiwi_qp *qp = make_qp(f, cq, KIWI_QP_SQ_ONLY);
	struct kiwi_wc wc;
	unsigned int n;

	for (n = 0; n < 9; n++) {
		ring[n % 2].qpn = qp->qpn;
		ring[n % 2].sq_index = (uint16_t)(n + 1);
		ring[n % 2].flags = n / 2 % 2 ? 0 : KIWI_CQE_PHASE;
		holds(kiwi_poll_cq(cq, &wc, 1) == 1 && wc.index == n + 1);
		holds(!kiwi_poll_cq(cq, &wc, 1));
	}
	holds(!kiwi_qp_destroy(qp) && !kiwi_cq_destroy(cq));
	say("a CQ without consumer index");
}

static void test_others(struct fixture *f)
{
	const volatile struct kiwi_error_page *page;
	struct kiwi_snic_doorbell_export export;
	struct kiwi_snic_queue_query q;
	struct kiwi_doorbell *db;

	need(kiwi_doorbell_alloc(f->dev, 0, &db));
	holds(!kiwi_doorbell_export(db, &export) && export.fd == 77 && export.length);
	holds(!kiwi_queue_query(f->dev, f->qp->id, KIWI_QUEUE_SQ, &q) && q.db_width == 8);
	holds(!kiwi_queue_query(f->dev, f->cq->id, KIWI_QUEUE_CQ, &q));
	holds(kiwi_queue_query(f->dev, f->cq->id, KIWI_QUEUE_SQ, &q) == -ENOENT);
	fake_fail(_IOC_NR(KIWI_SNIC_ERROR_PAGE), 1, EBUSY, NULL);
	holds(kiwi_error_page(f->dev, NULL, &page) == -EBUSY);
	holds(!kiwi_error_page(f->dev, NULL, &page) && page->port_down == 2);
	holds(!kiwi_doorbell_free(db));
	say("exported doorbell, descriptor, error page");
}

static void test_proxy(struct fixture *f)
{
	const uint64_t rest = 0x0100000100020000;
	struct kiwi_qp_config config = { .send_cq = f->cq, .sq_units = 8 };
	struct kiwi_snic_queue_query q;
	struct kiwi_proxy proxy[2];
	uint64_t producer[2] = { 0, 0x10000 }, before;
	struct kiwi_doorbell *db;
	struct kiwi_qp *qp;

	need(kiwi_doorbell_alloc(f->dev, 0, &db));
	config.doorbell = db;
	need(kiwi_qp_create(f->pd, &config, &qp));
	need(kiwi_queue_query(f->dev, qp->id, KIWI_QUEUE_SQ, &q));
	q.db_value = rest;
	q.doorbell = fake_qp(qp->id)->doorbell + 1;
	q.db_index_bits = 16;
	holds(kiwi_proxy_init(&proxy[0], &q, db, &producer[0]) == -EINVAL);
	q.doorbell--;
	q.db_width = 4;
	holds(kiwi_proxy_init(&proxy[0], &q, db, &producer[0]) == -EINVAL);
	q.db_width = 8;
	q.db_index_shift = 49;
	holds(kiwi_proxy_init(&proxy[0], &q, db, &producer[0]) == -EINVAL);
	q.db_index_shift = 0;
	holds(!kiwi_proxy_init(&proxy[0], &q, db, &producer[0]));
	q.db_index_shift = 4;
	holds(!kiwi_proxy_init(&proxy[1], &q, db, &producer[1]));

	before = fake_doorbell();
	holds(!kiwi_proxy_poll(proxy, 2) && fake_doorbell() == before);
	producer[0] = 0x12345;
	holds(kiwi_proxy_poll(proxy, 2) == 1 && fake_doorbell() == (rest | 0x2345));
	producer[1] = 0x20001;
	holds(kiwi_proxy_poll(proxy, 2) == 1 && fake_doorbell() == (rest | 0x10));
	/* The same index, one lap later, is another one. */
	producer[1] = 0x30001;
	producer[0]++;
	holds(kiwi_proxy_poll(proxy, 2) == 2 && !kiwi_proxy_poll(proxy, 2));
	holds(!kiwi_qp_destroy(qp) && !kiwi_doorbell_free(db));
	say("the CPU rings for a GPU");
}

int main(void)
{
	struct fixture f = fixture_open(8, 8, 4, 1);

	test_send_only(&f);
	test_record(&f);
	test_collapsed(&f);
	test_overrun(&f);
	test_others(&f);
	test_proxy(&f);
	kiwi_close(f.dev);
	ok(!fake_breaches() && !fake_objects(), "nothing is left, the ioctl contract was kept");
	return tap_end();
}
