/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A device handle with a PD, a CQ and a QP over the played kernel. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "fake.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

struct fixture {
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
};

static inline bool says(const char *word)
{
	bool found = strstr(kiwi_error(), word);

	if (!found)
		printf("# \"%s\" does not say \"%s\"\n", kiwi_error(), word);
	return found;
}

/* One call, each of whose system calls fails in turn, leaves the kernel as it was. */
#define NOTHING_LEFT(call) do {							\
	unsigned int n, before = fake_objects();				\
	for (n = 1; n < 100; n++) {						\
		int rc;								\
		fake_fail_nth(n);						\
		rc = call;							\
		if (!fake_failed())						\
			break;							\
		holds(rc < 0 && fake_objects() == before);			\
	}									\
	fake_fail_nth(0);							\
	holds(n > 1 && n < 100);						\
} while (0)

/* A whole life, each of whose system calls fails in turn, leaves nothing behind. */
static inline void fixture_sweep(bool (*life)(void), unsigned int least)
{
	unsigned int n;

	for (n = 1; n < 1000; n++) {
		bool done;

		fake_fail_nth(n);
		done = life();
		if (!fake_failed())
			break;
		holds(!done);
		holds(fake_objects() == 0);
	}
	fake_fail_nth(0);
	holds(n > least && n < 100);
	holds(life());
	holds(fake_objects() == 0);
	printf("# %u calls\n", n - 1);
	say("each system call fails once: nothing is left behind");
}

static inline void need(int rc)
{
	if (!rc)
		return;
	printf("Bail out! %s\n", kiwi_error());
	exit(1);
}

static inline struct kiwi_qp *fixture_qp(struct fixture *f, uint32_t sq_units,
					 uint32_t rq_entries, uint32_t recv_sge)
{
	struct kiwi_qp_config config = {
		.send_cq = f->cq,
		.sq_units = sq_units,
		.rq_entries = rq_entries,
		.recv_sge = recv_sge,
	};
	struct kiwi_qp *qp;

	need(kiwi_qp_create(f->pd, &config, &qp));
	return qp;
}

static inline struct fixture fixture_open(uint32_t cq_entries, uint32_t sq_units,
					  uint32_t rq_entries, uint32_t recv_sge)
{
	struct kiwi_cq_config config = { .entries = cq_entries };
	struct fixture f;

	need(kiwi_open(FAKE_NAME, &f.dev));
	need(kiwi_pd_alloc(f.dev, &f.pd));
	need(kiwi_cq_create(f.dev, &config, &f.cq));
	f.qp = fixture_qp(&f, sq_units, rq_entries, recv_sge);
	return f;
}

/* The device completes the send queue up to index @to, and it is polled. */
static inline void complete_to(struct fixture *f, struct kiwi_qp *qp, uint32_t to)
{
	struct kiwi_cqe cqe = {
		.qpn = qp->qpn,
		.sq_index = (uint16_t)to,
		.opcode = KIWI_CQE_WRITE,
	};
	struct kiwi_wc wc;

	if (!fake_complete(f->cq, &cqe) || kiwi_poll_cq(f->cq, &wc, 1) != 1) {
		printf("Bail out! no completion\n");
		exit(1);
	}
}

#endif /* FIXTURE_H */
