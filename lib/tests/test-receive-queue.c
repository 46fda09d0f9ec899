// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Receive entries byte by byte, at every position, for every stride. */
#include "fixture.h"

static uint64_t le(const unsigned char *p, unsigned int size)
{
	uint64_t v = 0;

	while (size--)
		v = v << 8 | p[size];
	return v;
}

static void complete_recv(struct fixture *f, uint32_t to)
{
	struct kiwi_cqe cqe = {
		.qpn = f->qp->qpn,
		.sq_index = (uint16_t)to,
		.opcode = KIWI_CQE_RECV,
	};
	struct kiwi_wc wc;

	holds(fake_complete(f->cq, &cqe));
	holds(kiwi_poll_cq(f->cq, &wc, 1) == 1);
	holds(wc.opcode == KIWI_CQE_RECV);
}

static void test_stride(uint32_t wanted, unsigned int shift)
{
	struct fixture f = fixture_open(4, 8, 8, wanted);
	const struct kiwi_snic_qp_create *arg = fake_qp(f.qp->id);
	unsigned char *ring = (unsigned char *)(uintptr_t)arg->rq.addr;
	uint32_t stride = 1U << shift, max = (stride - 16) / 16, n, i, turn;
	struct kiwi_sg sg[32];

	holds(arg->rq_stride == shift);
	holds(arg->rq_log2 == 3);
	holds(f.qp->max_recv_sge == max);
	for (i = 0; i < 32; i++)
		sg[i] = (struct kiwi_sg){ 0x0102030405060708 * (i + 1), 0xaabb0000 + i, 1000 + i };
	for (turn = 0; turn < 3 * 8; turn++) {
		struct kiwi_recv_wr wr = { .wr_id = 0x99 + turn, .sg = sg };
		unsigned char *e = ring + turn % 8 * stride;

		n = turn % (max + 1);
		wr.num_sg = n;
		memset(ring, 0xee, 8 * stride);
		holds(kiwi_post_recv(f.qp, &wr) == 0);
		holds(le(e, 8) == wr.wr_id);
		holds(le(e + 8, 4) == n);
		holds(le(e + 12, 4) == 0);
		for (i = 0; i < n; i++) {
			holds(le(e + 16 + 16 * i, 8) == sg[i].addr);
			holds(le(e + 24 + 16 * i, 4) == sg[i].lkey);
			holds(le(e + 28 + 16 * i, 4) == sg[i].len);
		}
		for (i = 0; i < 8 * stride; i++)
			if (ring + i < e || ring + i >= e + 16 + 16 * n)
				holds(ring[i] == 0xee);
		complete_recv(&f, turn + 1);
	}
	for (i = 0; i < 8; i++) {
		struct kiwi_recv_wr wr = { .wr_id = i };

		holds(kiwi_post_recv(f.qp, &wr) == 0);
	}
	{
		struct kiwi_recv_wr wr = { .sg = sg, .num_sg = max + 1 };

		holds(kiwi_post_recv(f.qp, &wr) == -EINVAL);
		wr.num_sg = 0;
		holds(kiwi_post_recv(f.qp, &wr) == -EAGAIN);
		complete_recv(&f, turn + 1);
		holds(kiwi_post_recv(f.qp, &wr) == 0);
		holds(kiwi_post_recv(f.qp, &wr) == -EAGAIN);
	}
	kiwi_close(f.dev);
}

static void test_index_wrap(void)
{
	struct fixture f = fixture_open(4, 8, 2, 1);
	struct kiwi_sg sg = { .addr = 5, .len = 8 };
	struct kiwi_recv_wr wr = { .sg = &sg, .num_sg = 1 };
	uint64_t queue = (uint64_t)2 << 56 | (uint64_t)f.qp->qpn << 32 | 0xe0c10000;
	uint32_t i;

	for (i = 0; i < 140000; i++) {
		holds(kiwi_post_recv_ring(f.qp, &wr) == 0);
		holds(fake_doorbell() == (queue | ((i + 1) & 0xffff)));
		complete_recv(&f, i + 1);
	}
	kiwi_close(f.dev);
}

int main(void)
{
	test_stride(0, 5);
	test_stride(1, 5);
	test_stride(2, 6);
	test_stride(3, 6);
	test_stride(4, 7);
	test_stride(7, 7);
	test_stride(15, 8);
	test_stride(31, 9);
	say("receive entries of every stride, at every position");
	test_index_wrap();
	say("indices past 16 bits");
	ok(!fake_breaches(), "the ioctl contract was kept");
	return tap_end();
}
