// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Doorbell values, and how many stores they take. No system call on the way. */
#include "fixture.h"

static uint64_t value(uint64_t type, uint64_t number, uint64_t epoch, uint64_t index)
{
	return type << 56 | number << 32 | epoch << 16 | index;
}

static void test_values(uint32_t flags)
{
	struct fixture f = fixture_open(4, 64, 16, 1);
	struct kiwi_doorbell *db;
	struct kiwi_cq_config cq_config = { .entries = 4 };
	struct kiwi_qp_config qp_config = { .sq_units = 64, .rq_entries = 16 };
	struct kiwi_send_wr wr = { .opcode = KIWI_WQE_NOP };
	struct kiwi_recv_wr rwr = { 0 };
	struct kiwi_cqe cqe = { .opcode = KIWI_CQE_NOP };
	const char *how = flags ? "write-combined" : "uncached";
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_wc wc;

	need(kiwi_doorbell_alloc(f.dev, flags, &db));
	cq_config.doorbell = db;
	need(kiwi_cq_create(f.dev, &cq_config, &cq));
	qp_config.doorbell = db;
	qp_config.send_cq = cq;
	need(kiwi_qp_create(f.pd, &qp_config, &qp));
	ok(cq->db_wc == !!flags && qp->db_wc == !!flags, "%s: mapping known", how);

	kiwi_post_send(qp, &wr);
	ok(fake_doorbell() == 0, "%s: posting alone rings nothing", how);
	kiwi_qp_ring(qp);
	ok(fake_doorbell() == value(1, qp->qpn, 0xe0c1, 1), "%s: send queue", how);
	kiwi_post_recv(qp, &rwr);
	kiwi_post_recv_ring(qp, &rwr);
	ok(fake_doorbell() == value(2, qp->qpn, 0xe0c1, 2), "%s: receive queue", how);
	kiwi_cq_arm(cq, 0);
	ok(fake_doorbell() == value(3, cq->cqn, 0x55aa, 0), "%s: arm", how);
	cqe.qpn = qp->qpn;
	fake_complete(cq, &cqe);
	kiwi_poll_cq(cq, &wc, 1);
	kiwi_cq_arm(cq, 1);
	ok(fake_doorbell() == value(4, cq->cqn, 0x55aa, 1), "%s: arm for solicited", how);
	ok(fake_doorbell_page_clean(), "%s: nothing else on the page", how);
	kiwi_close(f.dev);
}

#ifdef __x86_64__
static void test_counts(void)
{
	struct fixture f = fixture_open(256, 256, 16, 1);
	struct kiwi_sg sg = { .addr = 0x1000, .lkey = 7, .len = 64 };
	struct kiwi_send_wr wr[64], one;
	unsigned long calls;
	unsigned int i, stores;
	bool sizes_ok;
	int posted;

	for (i = 0; i < 64; i++)
		wr[i] = (struct kiwi_send_wr){
			.wr_id = i,
			.sg = &sg,
			.num_sg = 1,
			.opcode = KIWI_WQE_WRITE,
			.flags = KIWI_WQE_SIGNALED,
		};
	one = wr[0];

	calls = fake_calls();
	fake_count_begin();
	posted = kiwi_post_send_list(f.qp, wr, 64);
	stores = fake_count_end(&sizes_ok);
	ok(posted == 64 && stores == 1 && sizes_ok,
	   "a list of 64: %d posted with %u doorbell store(s) of 8 bytes", posted, stores);
	ok(fake_doorbell() == value(1, f.qp->qpn, 0xe0c1, 64), "its index stands behind the list");

	fake_count_begin();
	for (i = 0; i < 64; i++)
		posted += !kiwi_post_send(f.qp, &one);
	stores = fake_count_end(&sizes_ok);
	ok(stores == 0, "64 posted: %u stores", stores);
	fake_count_begin();
	kiwi_qp_ring(f.qp);
	stores = fake_count_end(&sizes_ok);
	ok(stores == 1 && sizes_ok, "one flush: %u store(s)", stores);

	fake_count_begin();
	for (i = 0; i < 10; i++)
		posted += !kiwi_post_send_ring(f.qp, &one);
	stores = fake_count_end(&sizes_ok);
	ok(stores == 10 && sizes_ok, "10 posted and rung one by one: %u stores", stores);

	/* 138 units are posted: of 128 more, 118 fit. */
	kiwi_post_send_list(f.qp, wr, 64);
	fake_count_begin();
	posted = kiwi_post_send_list(f.qp, wr, 64);
	stores = fake_count_end(&sizes_ok);
	ok(posted == 54 && stores == 1, "a list that fills the ring: %d posted, %u store(s)",
	   posted, stores);
	fake_count_begin();
	posted = kiwi_post_send_list(f.qp, wr, 64);
	stores = fake_count_end(&sizes_ok);
	ok(posted == -EAGAIN && stores == 0, "a full ring: %d, %u stores", posted, stores);
	ok(fake_calls() == calls, "no system call was made");
	kiwi_close(f.dev);
}
#else
static void test_counts(void)
{
}
#endif

static void test_shared(void)
{
	struct fixture f = fixture_open(4, 8, 4, 1);
	struct kiwi_doorbell *db;
	unsigned int before = fake_objects();

	fixture_qp(&f, 8, 4, 1);
	fixture_qp(&f, 8, 4, 1);
	ok(fake_objects() == before + 2, "QPs without a doorbell of their own share one");
	need(kiwi_doorbell_alloc(f.dev, 0, &db));
	ok(kiwi_doorbell_reg(db) != f.qp->db, "one asked for is another");
	ok(!kiwi_doorbell_free(db), "and ends when asked");
	kiwi_close(f.dev);
}

int main(void)
{
	test_values(0);
	test_values(KIWI_SNIC_DOORBELL_WC);
	test_counts();
	test_shared();
	ok(!fake_breaches(), "the ioctl contract was kept");
	return tap_end();
}
