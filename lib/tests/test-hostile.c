// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * A device that writes anything into the completion queue. Whatever it is, the library
 * touches no memory but its rings (the sanitizers look), names no QP but the caller's, and
 * admits no more work than the rings hold.
 */
#include "fixture.h"

#define ENTRIES	16
#define UNITS	8
#define RECVS	4
#define ROUNDS	100000

static uint32_t state = 7;

static uint32_t rnd(void)	/* xorshift */
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

static void scribble(void *to, size_t len)
{
	unsigned char *p = to;

	while (len--)
		*p++ = (unsigned char)rnd();
}

/* Mostly of a QP that is, so that the rest is looked at. */
static void write_anything(struct kiwi_cqe *cqe, uint32_t qpn)
{
	scribble(cqe, sizeof(*cqe));
	if (rnd() & 3)
		cqe->qpn = qpn | (rnd() & 7 ? 0 : rnd() << 24);
}

static void post_all(struct kiwi_qp *qp)
{
	struct kiwi_sg sg = { .addr = (uintptr_t)qp, .len = 16 };
	struct kiwi_send_wr wr = { .opcode = KIWI_WQE_SEND, .num_sg = 1, .sg = &sg };
	struct kiwi_recv_wr recv = { .num_sg = 1, .sg = &sg };
	uint32_t n;

	wr.flags = rnd() & KIWI_WQE_INLINE;
	holds(kiwi_qp_room(qp) <= UNITS);
	for (n = 0; n <= UNITS && !kiwi_post_send(qp, &wr); n++)
		;
	holds(n <= UNITS);
	for (n = 0; n <= RECVS && !kiwi_post_recv(qp, &recv); n++)
		;
	holds(n <= RECVS);
}

int main(void)
{
	struct fixture f = fixture_open(ENTRIES, UNITS, RECVS, 1);
	struct kiwi_qp *other = fixture_qp(&f, UNITS, RECVS, 1);
	struct kiwi_wc wc[ENTRIES];
	uint32_t qpn = f.qp->qpn;
	unsigned long taken = 0;
	int got, i, n;

	for (n = 0; n < ROUNDS; n++) {
		int room = (int)(rnd() % (ENTRIES + 1));

		write_anything(&f.cq->ring[rnd() % ENTRIES], rnd() & 1 ? qpn : other->qpn);
		write_anything(f.cq->next, qpn);
		got = kiwi_poll_cq(f.cq, wc, room);
		holds(got >= 0 && got <= room);
		for (i = 0; i < got; i++)
			holds(wc[i].qp == f.qp || wc[i].qp == other);
		taken += (unsigned long)got;
		if (!(rnd() & 15))
			post_all(rnd() & 1 ? f.qp : other);
	}
	say("random completions");
	ok(taken > ROUNDS / 10, "%lu of them were taken", taken);

	need(kiwi_qp_destroy(f.qp));
	for (n = 0; n < ROUNDS / 10; n++) {
		write_anything(f.cq->next, rnd() & 1 ? qpn : other->qpn);
		got = kiwi_poll_cq(f.cq, wc, ENTRIES);
		for (i = 0; i < got; i++)
			holds(wc[i].qp == other);
	}
	say("and those of a QP that was destroyed");
	kiwi_close(f.dev);
	ok(!fake_breaches(), "the ioctl contract was kept");
	return tap_end();
}
