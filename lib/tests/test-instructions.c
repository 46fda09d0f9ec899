// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * Instructions that the data path retires, counted by stepping through it. What is
 * counted is a function that holds the inline call with a work request of a known
 * kind, from its first instruction to its return, both included.
 */
#include "fixture.h"

#if defined(__x86_64__) && defined(__OPTIMIZE__) && !defined(KIWI_TEST_SANITIZE)

#include <signal.h>
#include <ucontext.h>

static volatile unsigned long steps;
static volatile uintptr_t first, last;	/* counted while the program counter is between */

static void on_step(int sig, siginfo_t *info, void *context)
{
	uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];

	(void)sig;
	(void)info;
	if (pc >= first && pc < last)
		steps++;
}

/* The functions stand in sections of their own, so that their bounds are known. */
#define COUNTED(name) __attribute__((noinline, section("counted_" #name)))
#define BOUNDS(name) extern char __start_counted_##name[], __stop_counted_##name[]
#define COUNT(name, ...) ({					\
	unsigned long best = -1UL, turn;				\
	for (turn = 0; turn < 3; turn++) {			\
		first = (uintptr_t)__start_counted_##name;	\
		last = (uintptr_t)__stop_counted_##name;	\
		steps = 0;					\
		step_on();					\
		__VA_ARGS__;					\
		step_off();					\
		best = steps < best ? steps : best;		\
	}							\
	best; })

static inline void step_on(void)
{
	__asm__ __volatile__("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
}

static inline void step_off(void)
{
	__asm__ __volatile__("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

COUNTED(post) static int post(struct kiwi_qp *qp, uint64_t addr, uint32_t lkey, uint32_t len,
			      uint64_t raddr, uint32_t rkey)
{
	struct kiwi_sg sg = { .addr = addr, .lkey = lkey, .len = len };
	struct kiwi_send_wr wr = {
		.wr_id = addr,
		.sg = &sg,
		.num_sg = 1,
		.opcode = KIWI_WQE_WRITE,
		.flags = KIWI_WQE_SIGNALED,
		.rkey = rkey,
		.raddr = raddr,
	};

	return kiwi_post_send_ring(qp, &wr);
}

/* Nothing is known of the request. */
COUNTED(any) static int post_any(struct kiwi_qp *qp, const struct kiwi_send_wr *wr)
{
	return kiwi_post_send_ring(qp, wr);
}

COUNTED(poll) static int poll_one(struct kiwi_cq *cq, struct kiwi_wc *wc)
{
	return kiwi_poll_cq(cq, wc, 1);
}

COUNTED(recv) static int recv_one(struct kiwi_qp *qp, uint64_t addr, uint32_t lkey, uint32_t len)
{
	struct kiwi_sg sg = { .addr = addr, .lkey = lkey, .len = len };
	struct kiwi_recv_wr wr = { .wr_id = addr, .sg = &sg, .num_sg = 1 };

	return kiwi_post_recv_ring(qp, &wr);
}

BOUNDS(post);
BOUNDS(any);
BOUNDS(poll);
BOUNDS(recv);

int main(void)
{
	struct fixture f = fixture_open(64, 64, 64, 1);
	struct sigaction step = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };
	struct kiwi_cqe cqe = { .qpn = f.qp->qpn, .sq_index = 1, .opcode = KIWI_CQE_WRITE };
	struct kiwi_sg sg = { .addr = 0x1000, .lkey = 1, .len = 64 };
	struct kiwi_send_wr wr = { .sg = &sg, .num_sg = 1, .opcode = KIWI_WQE_WRITE };
	unsigned long hit, n;
	struct kiwi_wc wc;
	int rc = 0;

	sigaction(SIGTRAP, &step, NULL);
	kiwi_qp_room(f.qp);

	n = COUNT(post, rc |= post(f.qp, 0x1000, 1, 64, 0x2000, 2));
	ok(n && n <= 40, "post_send of one piece and doorbell: %lu, at most 40", n);
	n = COUNT(any, rc |= post_any(f.qp, &wr));
	ok(n && n <= 45, "the same of a request of any kind: %lu, at most 45", n);
	n = COUNT(recv, rc |= recv_one(f.qp, 0x1000, 1, 64));
	ok(n && n <= 40, "post_recv of one piece and doorbell: %lu, at most 40", n);
	n = COUNT(poll, rc |= poll_one(f.cq, &wc));
	ok(n && n <= 15, "poll_cq that finds nothing: %lu, at most 15", n);
	fake_complete(f.cq, &cqe);
	poll_one(f.cq, &wc);
	fake_complete(f.cq, &cqe);
	fake_complete(f.cq, &cqe);
	fake_complete(f.cq, &cqe);
	hit = COUNT(poll, rc |= poll_one(f.cq, &wc) != 1);
	ok(hit && hit <= 40, "poll_cq that finds one, its index published: %lu, at most 40", hit);
	ok(!rc, "all calls succeeded");
	kiwi_close(f.dev);
	return tap_end();
}

#else

int main(void)
{
	printf("1..0 # SKIP instructions are counted on x86-64, optimized, without sanitizers\n");
	return 0;
}

#endif
