// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * WQEs byte by byte, for each opcode and shape, at every position of the ring. What
 * is expected is built here from the text of firmware-abi, not from the structures.
 */
#include "fixture.h"

#define UNIT 64

struct image {
	unsigned char bytes[8 * UNIT];
	unsigned int len;
};

static void put(struct image *im, uint64_t value, unsigned int size)
{
	while (size--) {
		im->bytes[im->len++] = (unsigned char)value;
		value >>= 8;
	}
}

/* The WQE that queues.h and queues.md describe. */
static struct image expected(const struct kiwi_send_wr *wr)
{
	struct image im = { .len = 0 };
	const unsigned char *imm = (const unsigned char *)&wr->imm;
	uint32_t i, j, sum = 0;

	put(&im, wr->opcode, 1);
	put(&im, wr->flags, 1);
	put(&im, 0, 2);
	for (i = 0; i < 4; i++)
		put(&im, imm[i], 1);
	put(&im, wr->wr_id, 8);
	if (wr->opcode >= 3) {
		put(&im, wr->raddr, 8);
		put(&im, wr->rkey, 4);
		put(&im, 0, 4);
	}
	if (wr->opcode >= 6) {
		put(&im, wr->swap_add, 8);
		put(&im, wr->opcode == 6 ? wr->compare : 0, 8);
	}
	if (wr->flags & 0x08) {
		for (i = 0; i < wr->num_sg; i++)
			sum += wr->sg[i].len;
		put(&im, sum, 4);
		for (i = 0; i < wr->num_sg; i++)
			for (j = 0; j < wr->sg[i].len; j++)
				put(&im, ((unsigned char *)(uintptr_t)wr->sg[i].addr)[j], 1);
		while (im.len % 16)
			put(&im, 0, 1);
	} else {
		for (i = 0; i < wr->num_sg; i++) {
			put(&im, wr->sg[i].addr, 8);
			put(&im, wr->sg[i].lkey, 4);
			put(&im, wr->sg[i].len, 4);
		}
	}
	im.bytes[2] = (unsigned char)(im.len / 16);
	return im;
}

static unsigned char *ring_of(const struct kiwi_qp *qp, uint32_t *bytes)
{
	const struct kiwi_snic_qp_create *arg = fake_qp(qp->id);

	*bytes = UNIT << arg->sq_log2;
	return (unsigned char *)(uintptr_t)arg->sq.addr;
}

/* Post @wr at unit @at of the ring, everything round it poisoned. */
static void check_at(struct fixture *f, uint32_t at, const struct kiwi_send_wr *wr)
{
	struct image want = expected(wr);
	struct kiwi_qp *qp = f->qp;
	uint32_t bytes, i, units = (want.len + UNIT - 1) / UNIT;
	unsigned char *ring = ring_of(qp, &bytes);

	qp->sq_pi = at;
	qp->sq_ci = (uint16_t)at;
	qp->sq_stop = at;
	memset(ring, 0xee, bytes);
	holds(kiwi_post_send(qp, wr) == 0);
	holds(qp->sq_pi == at + units);
	for (i = 0; i < bytes; i++) {
		unsigned char got = ring[(at * UNIT + i) % bytes];

		if (!holds(got == (i < want.len ? want.bytes[i] : 0xee)))
			printf("# opcode %u, %u pieces, unit %u: byte %u is %02x\n", wr->opcode,
			       wr->num_sg, at, i, got);
	}
}

static void test_layout(void)
{
	struct fixture f = fixture_open(16, 16, 4, 1);
	struct kiwi_sg sg[FAKE_SGE];
	static const char *const names[] = {
		"NOP", "SEND", "SEND_IMM", "WRITE", "WRITE_IMM", "READ", "CMP_SWAP", "FETCH_ADD",
	};
	uint32_t op, n, at;

	for (n = 0; n < FAKE_SGE; n++)
		sg[n] = (struct kiwi_sg){
			.addr = UINT64_C(0xf122334455667788) * (n + 1),
			.lkey = 0xa1b2c3d4 + n,
			.len = 0x01020304 * (n + 1),
		};
	for (op = KIWI_WQE_NOP; op < KIWI_WQE_OPCODE_COUNT; op++) {
		for (n = 0; n <= FAKE_SGE; n++) {
			struct kiwi_send_wr wr = {
				.wr_id = 0xfedcba9876543210 + n,
				.sg = sg,
				.num_sg = n,
				.imm = 0x78563412,
				.opcode = (uint8_t)op,
				.flags = KIWI_WQE_SIGNALED | KIWI_WQE_FENCE,
				.rkey = 0xcafe0000 + n,
				.raddr = 0x0f1e2d3c4b5a6978,
				.swap_add = 0x8070605040302010,
				.compare = 0x0807060504030201,
			};
			bool fits = op == KIWI_WQE_NOP ? n == 0 : op < KIWI_WQE_CMP_SWAP || n == 1;

			for (at = 0; fits && at < 16; at++)
				check_at(&f, at, &wr);
			if (!fits)
				holds(kiwi_post_send(f.qp, &wr) == -EINVAL);
		}
		say(names[op]);
	}
	kiwi_close(f.dev);
}

static void test_inline(void)
{
	struct fixture f = fixture_open(16, 16, 4, 1);
	unsigned char data[FAKE_INLINE + 1];
	uint32_t op, len, at, cut;

	for (len = 0; len < sizeof(data); len++)
		data[len] = (unsigned char)(len * 7 + 1);
	for (op = KIWI_WQE_SEND; op <= KIWI_WQE_WRITE_IMM; op++) {
		for (len = 0; len <= FAKE_INLINE; len += op == KIWI_WQE_WRITE ? 1 : 13) {
			struct kiwi_sg sg[3] = {
				{ .addr = (uintptr_t)data, .len = len },
			};
			struct kiwi_send_wr wr = {
				.wr_id = len,
				.sg = sg,
				.num_sg = 1,
				.opcode = (uint8_t)op,
				.flags = KIWI_WQE_INLINE,
				.rkey = 0x77,
				.raddr = 0x1000 + len,
			};

			for (at = 0; at < 16; at += len % 5 ? 15 : 1)
				check_at(&f, at, &wr);
			/* The same in three pieces, one of them empty. */
			cut = len / 3;
			sg[0].len = cut;
			sg[1] = (struct kiwi_sg){ 0 };
			sg[2] = (struct kiwi_sg){ .addr = (uintptr_t)data + cut, .len = len - cut };
			wr.num_sg = 3;
			check_at(&f, 14, &wr);
		}
	}
	say("inline data of every length, round the end of the ring");
	kiwi_close(f.dev);
}

static void test_refused(void)
{
	struct fixture f = fixture_open(16, 8, 4, 1);
	unsigned char data[FAKE_INLINE + 1] = { 0 };
	struct kiwi_sg sg[FAKE_SGE + 1] = { { .addr = (uintptr_t)data, .len = sizeof(data) } };
	struct kiwi_send_wr wr = { .sg = sg, .num_sg = 1, .opcode = KIWI_WQE_WRITE };
	struct kiwi_send_wr bad = wr;

	bad.flags = KIWI_WQE_INLINE;
	ok(kiwi_post_send(f.qp, &bad) == -EINVAL, "inline data one byte over the limit");
	bad.num_sg = 2;
	sg[0].len = UINT32_MAX;
	sg[1] = sg[0];
	ok(kiwi_post_send(f.qp, &bad) == -EINVAL, "inline lengths whose 32-bit sum wraps");
	sg[0].len = 8;
	bad.num_sg = 1;
	bad.opcode = KIWI_WQE_READ;
	ok(kiwi_post_send(f.qp, &bad) == -EINVAL, "inline READ");
	bad.opcode = KIWI_WQE_FETCH_ADD;
	ok(kiwi_post_send(f.qp, &bad) == -EINVAL, "inline atomic");
	bad.opcode = KIWI_WQE_NOP;
	ok(kiwi_post_send(f.qp, &bad) == -EINVAL, "inline NOP");
	bad = wr;
	bad.opcode = KIWI_WQE_OPCODE_COUNT;
	ok(kiwi_post_send(f.qp, &bad) == -EINVAL, "unknown opcode");
	bad.opcode = 0xff;
	ok(kiwi_post_send(f.qp, &bad) == -EINVAL, "opcode 255");
	bad = wr;
	bad.num_sg = FAKE_SGE + 1;
	ok(kiwi_post_send(f.qp, &bad) == -EINVAL, "one piece over the limit");
	ok(f.qp->sq_pi == 0, "nothing of it was posted");
	kiwi_close(f.dev);
}

/* Fill the ring with WQEs of @n pieces from each start, and try one more. */
static void test_full(void)
{
	struct fixture f = fixture_open(64, 32, 4, 1);
	struct kiwi_sg sg[FAKE_SGE] = { { .addr = 1, .len = 1 } };
	unsigned char *ring, before[32 * UNIT];
	uint32_t bytes, n, i, start = 0;

	ring = ring_of(f.qp, &bytes);
	for (n = 0; n <= FAKE_SGE; n++) {
		struct kiwi_send_wr wr = {
			.sg = sg, .num_sg = n, .opcode = KIWI_WQE_WRITE, .flags = KIWI_WQE_SIGNALED,
		};
		struct kiwi_send_wr small = { .opcode = KIWI_WQE_NOP };
		uint32_t units = (2 + n + 3) / 4, fit = 32 / units;

		for (i = 0; i < fit; i++)
			holds(kiwi_post_send(f.qp, &wr) == 0);
		holds(f.qp->sq_pi == start + fit * units);
		holds(kiwi_qp_room(f.qp) == 32 - fit * units);
		memcpy(before, ring, bytes);
		holds(kiwi_post_send(f.qp, &wr) == -EAGAIN);
		for (i = fit * units; i < 32; i++)
			holds(kiwi_post_send(f.qp, &small) == 0);
		if (fit * units == 32)
			holds(!memcmp(before, ring, bytes));
		holds(kiwi_post_send(f.qp, &small) == -EAGAIN);
		/* One WQE completes: its units can be used again, no more. */
		complete_to(&f, f.qp, start + units);
		holds(kiwi_qp_room(f.qp) == units);
		holds(kiwi_post_send(f.qp, &wr) == 0);
		holds(kiwi_post_send(f.qp, &small) == -EAGAIN);
		start = f.qp->sq_pi;
		complete_to(&f, f.qp, start);
		holds(kiwi_qp_room(f.qp) == 32);
		/* Another start next time. */
		holds(kiwi_post_send(f.qp, &small) == 0);
		complete_to(&f, f.qp, ++start);
	}
	say("a full ring refuses, and overwrites nothing");
	kiwi_close(f.dev);
}

/* More units than a 16-bit index counts, in rings of the smallest and largest size. */
static void test_index_wrap(void)
{
	struct kiwi_sg sg = { .addr = 5, .len = 8 };
	struct kiwi_send_wr wr = { .sg = &sg, .num_sg = 1, .opcode = KIWI_WQE_SEND };
	uint32_t sizes[] = { 8, 1U << FAKE_SQ_LOG2 }, i, k;

	for (k = 0; k < 2; k++) {
		struct fixture f = fixture_open(4, sizes[k], 4, 1);
		uint64_t queue = (uint64_t)1 << 56 | (uint64_t)f.qp->qpn << 32 | 0xe0c10000;

		for (i = 0; i < 200000; i++) {
			if (i % sizes[k] == sizes[k] - 1)
				complete_to(&f, f.qp, f.qp->sq_pi);
			wr.wr_id = i;
			holds(kiwi_post_send_ring(f.qp, &wr) == 0);
			holds(fake_doorbell() == (queue | ((i + 1) & 0xffff)));
		}
		holds(f.qp->sq_pi == 200000);
		kiwi_close(f.dev);
	}
	say("indices past 16 bits");
}

/* A ring in memory that this process does not see. */
static void test_unseen(void)
{
	struct fixture f = fixture_open(4, 8, 4, 1);
	struct kiwi_ring_mem sq = {
		.mem = { .type = KIWI_MEM_DMABUF, .fd = 5, .length = 64 * 64 },
	};
	struct kiwi_ring_mem rq = {
		.mem = { .type = KIWI_MEM_DMABUF, .fd = 5, .addr = 64 * 64, .length = 16 * 32 },
	};
	struct kiwi_qp_config config = {
		.send_cq = f.cq, .sq_units = 64, .rq_entries = 16, .sq_mem = &sq, .rq_mem = &rq,
	};
	struct kiwi_send_wr wr = { .opcode = KIWI_WQE_NOP };
	struct kiwi_recv_wr rwr = { 0 };
	struct kiwi_qp *qp;

	need(kiwi_qp_create(f.pd, &config, &qp));
	ok(fake_qp(qp->id)->sq.type == KIWI_MEM_DMABUF && fake_qp(qp->id)->sq.fd == 5 &&
	   fake_qp(qp->id)->rq.addr == 64 * 64,
	   "the caller's memory is handed over");
	ok(kiwi_post_send(qp, &wr) == -EAGAIN, "nothing can be posted to it");
	ok(kiwi_post_recv(qp, &rwr) == -EAGAIN, "nothing can be received into it");
	complete_to(&f, qp, 3);
	ok(kiwi_post_send(qp, &wr) == -EAGAIN, "nor after a completion");
	kiwi_close(f.dev);
}

int main(void)
{
	test_layout();
	test_inline();
	test_refused();
	test_full();
	test_index_wrap();
	test_unseen();
	ok(!fake_breaches(), "the ioctl contract was kept");
	return tap_end();
}
