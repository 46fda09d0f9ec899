// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Phases, the consumer index, QPs that are gone. */
#include "fixture.h"

static struct kiwi_cqe cqe_of(const struct kiwi_qp *qp, uint64_t n)
{
	struct kiwi_cqe cqe = {
		.wr_id = 0xabcdef0000000000 + n,
		.byte_len = (uint32_t)(n * 3),
		.imm = (uint32_t)(n * 5),
		.qpn = qp->qpn,
		.vendor_err = (uint32_t)(n * 7),
		.sq_index = (uint16_t)n,
		.opcode = n & 1 ? KIWI_CQE_RECV_WRITE_IMM : KIWI_CQE_READ,
		.status = n % 3 ? KIWI_CQE_ST_OK : KIWI_CQE_ST_WR_FLUSH_ERR,
		.flags = n & 2 ? KIWI_CQE_IMM | KIWI_CQE_SOLICITED : 0,
	};

	memset(cqe.rsvd, 0x5a, sizeof(cqe.rsvd));
	return cqe;
}

static uint32_t published(const struct kiwi_cq *cq)
{
	const struct kiwi_snic_cq_create *arg = fake_cq(cq->id);

	return ((struct kiwi_cq_ci *)(uintptr_t)(arg->mem.addr + arg->ci_offset))->ci;
}

static void check_wc(const struct kiwi_wc *wc, struct kiwi_qp *qp, uint64_t n)
{
	struct kiwi_cqe want = cqe_of(qp, n);

	holds(wc->wr_id == want.wr_id && wc->byte_len == want.byte_len && wc->imm == want.imm);
	holds(wc->qpn == want.qpn && wc->vendor_err == want.vendor_err);
	holds(wc->opcode == want.opcode && wc->status == want.status);
	holds((wc->flags & ~KIWI_CQE_PHASE) == want.flags && wc->qp == qp);
	holds(n & 1 ? qp->rq_ci == (uint16_t)n : qp->sq_ci == (uint16_t)n);
}

/* @burst completions at a time, polled @batch at a time, many times round. */
static void test_phases(uint32_t entries, uint32_t burst, int batch)
{
	struct fixture f = fixture_open(entries, 8, 4, 1);
	struct kiwi_wc wc[64];
	uint64_t written = 0, seen = 0;
	int got, i;

	while (seen < 20ULL * entries + 7) {
		uint32_t b;

		for (b = 0; b < burst; b++) {
			struct kiwi_cqe cqe = cqe_of(f.qp, written);

			if (!fake_complete(f.cq, &cqe))
				break;
			written++;
		}
		holds(written - seen <= entries);
		while ((got = kiwi_poll_cq(f.cq, wc, batch)) > 0) {
			holds(got <= batch);
			for (i = 0; i < got - 1; i++)
				holds(wc[i].wr_id == 0xabcdef0000000000 + seen + (uint64_t)i);
			seen += (uint64_t)got;
			check_wc(&wc[got - 1], f.qp, seen - 1);
			holds(published(f.cq) == (uint32_t)seen);
		}
		holds(seen == written);
	}
	holds(kiwi_poll_cq(f.cq, wc, 0) == 0);
	holds(kiwi_poll_cq(f.cq, wc, -1) == 0);
	kiwi_close(f.dev);
}

static void test_zero_room(void)
{
	struct fixture f = fixture_open(4, 8, 4, 1);
	struct kiwi_cqe cqe = cqe_of(f.qp, 0);
	struct kiwi_wc wc = { .wr_id = 1 };

	fake_complete(f.cq, &cqe);
	ok(kiwi_poll_cq(f.cq, &wc, 0) == 0 && published(f.cq) == 0 && wc.wr_id == 1,
	   "a poll without room takes nothing");
	ok(kiwi_poll_cq(f.cq, &wc, 1) == 1 && published(f.cq) == 1, "the next one takes it");
	kiwi_close(f.dev);
}

static void test_two_qps(void)
{
	struct fixture f = fixture_open(16, 8, 4, 1);
	struct kiwi_qp *far;
	struct kiwi_wc wc[16];
	uint64_t n;

	fake_next_qpn(0xfff001);
	far = fixture_qp(&f, 8, 4, 1);
	for (n = 0; n < 16; n++) {
		struct kiwi_cqe cqe = cqe_of(n % 3 ? far : f.qp, n);

		fake_complete(f.cq, &cqe);
	}
	holds(kiwi_poll_cq(f.cq, wc, 16) == 16);
	for (n = 0; n < 16; n++)
		holds(wc[n].qp == (n % 3 ? far : f.qp));
	holds(far->sq_ci == 14 && far->rq_ci == 13 && f.qp->sq_ci == 12 && f.qp->rq_ci == 15);
	say("completions find their QP");
	kiwi_close(f.dev);
}

/* A ring half polled, then one of its QPs ends; the number is given again at once. */
static void test_destroyed(bool reset)
{
	struct kiwi_snic_qp_modify to_reset = {
		.mask = KIWI_QP_ATTR_STATE, .state = KIWI_QPS_RESET,
	};
	uint32_t skip;

	for (skip = 0; skip < 24; skip++) {
		struct fixture f = fixture_open(8, 8, 4, 1);
		struct kiwi_qp *other = fixture_qp(&f, 8, 4, 1), *again = f.qp;
		uint32_t qpn = f.qp->qpn, n;
		struct kiwi_wc wc[8];
		struct kiwi_cqe cqe;

		for (n = 0; n < skip; n++) {
			cqe = cqe_of(f.qp, n);
			fake_complete(f.cq, &cqe);
			holds(kiwi_poll_cq(f.cq, wc, 1) == 1);
		}
		for (n = 0; n < 8; n++) {
			cqe = cqe_of(n % 4 == 3 ? other : f.qp, 100 + n);
			fake_complete(f.cq, &cqe);
		}
		holds(kiwi_poll_cq(f.cq, wc, 1) == 1);
		if (reset) {
			need(kiwi_qp_modify(f.qp, &to_reset));
			holds(f.qp->sq_pi == 0 && f.qp->rq_pi == 0);
		} else {
			need(kiwi_qp_destroy(f.qp));
			/* Takes the memory of the handle, so that the next has other. */
			fixture_qp(&f, 8, 4, 1);
			fake_next_qpn(qpn);
			again = fixture_qp(&f, 8, 4, 1);
			holds(again->qpn == qpn);
		}
		holds(kiwi_poll_cq(f.cq, wc, 8) == 2);
		holds(wc[0].qp == other && wc[0].wr_id == 0xabcdef0000000000 + 103);
		holds(wc[1].qp == other && wc[1].wr_id == 0xabcdef0000000000 + 107);
		holds(again->sq_ci == 0 && again->rq_ci == 0);
		holds(published(f.cq) == skip + 8);
		/* The ring is in order for what comes next. */
		for (n = 0; n < 8; n++) {
			cqe = cqe_of(again, n);
			holds(fake_complete(f.cq, &cqe));
		}
		holds(kiwi_poll_cq(f.cq, wc, 8) == 8);
		check_wc(&wc[7], again, 7);
		kiwi_close(f.dev);
	}
}

/* A device that writes what it must not: nothing is touched that is not the ring's. */
static void test_hostile(void)
{
	struct fixture f = fixture_open(8, 8, 4, 1);
	uint32_t numbers[] = { 0, 1, 0xffffff, 0x1000000, 0x80000000, 0xfffffffe, 0xffffffff,
			       0x1000000 + f.qp->qpn };
	struct kiwi_cq_config config = { .entries = 8 };
	struct kiwi_cqe late, stray = cqe_of(f.qp, 2);
	struct kiwi_cq *other;
	struct kiwi_wc wc[8];
	unsigned int i;

	need(kiwi_cq_create(f.dev, &config, &other));
	fake_complete(other, &stray);
	ok(kiwi_poll_cq(other, wc, 8) == 0 && f.qp->sq_ci == 0,
	   "a completion in a CQ that is not the QP's is passed over");
	for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct kiwi_cqe cqe = cqe_of(f.qp, i);

		cqe.qpn = numbers[i];
		fake_complete(f.cq, &cqe);
	}
	ok(kiwi_poll_cq(f.cq, wc, 8) == 0, "numbers of no QP are passed over");
	ok(published(f.cq) == i, "and consumed");
	late = cqe_of(f.qp, 0);
	late.sq_index = 0x4000;
	fake_complete(f.cq, &late);
	ok(kiwi_poll_cq(f.cq, wc, 8) == 1 && kiwi_qp_room(f.qp) <= 8,
	   "an index beyond what was posted makes no room");
	late = cqe_of(f.qp, 0);
	need(kiwi_qp_destroy(f.qp));
	fake_complete(f.cq, &late);
	ok(kiwi_poll_cq(f.cq, wc, 8) == 0, "so is one that was destroyed before");
	kiwi_close(f.dev);
}

static void test_unseen(void)
{
	struct kiwi_ring_mem mem = {
		.mem = { .type = KIWI_MEM_DMABUF, .fd = 5, .length = 1 << 20 },
	};
	struct kiwi_cq_config config = { .entries = 64, .mem = &mem };
	struct fixture f = fixture_open(8, 8, 4, 1);
	struct kiwi_cq *cq;
	struct kiwi_wc wc;

	need(kiwi_cq_create(f.dev, &config, &cq));
	ok(fake_cq(cq->id)->mem.fd == 5 && kiwi_poll_cq(cq, &wc, 1) == 0,
	   "a ring that is not seen is empty");
	kiwi_close(f.dev);
}

static void test_bytes(void)
{
	ok(kiwi_cq_bytes(1) == 3 * 64 && kiwi_cq_bytes(64) == 65 * 64 &&
	   kiwi_cq_bytes(65) == 129 * 64, "bytes of a CQ");
	ok(kiwi_cq_bytes(0x8000) == 0x8001 * 64 && kiwi_cq_bytes(0x8001) == 0,
	   "the largest CQ, and one entry more");
}

int main(void)
{
	uint32_t sizes[] = { 2, 4, 8, 64, 256 }, i, burst;

	for (i = 0; i < 5; i++) {
		for (burst = 1; burst <= sizes[i]; burst += burst < 3 ? 1 : burst / 2) {
			test_phases(sizes[i], burst, 1);
			test_phases(sizes[i], burst, 3);
			test_phases(sizes[i], burst, 64);
		}
		test_phases(sizes[i], sizes[i] + 1, 5);
	}
	say("completions over many passes of rings of all sizes");
	test_zero_room();
	test_two_qps();
	test_destroyed(false);
	say("completions of a destroyed QP do not reach the next with its number");
	test_destroyed(true);
	say("completions of a reset QP are forgotten");
	test_hostile();
	test_unseen();
	test_bytes();
	ok(!fake_breaches(), "the ioctl contract was kept");
	return tap_end();
}
