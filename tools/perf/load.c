// SPDX-License-Identifier: GPL-2.0
#include "load.h"

#include "../common/say.h"
#include "pattern.h"
#include "stall.h"
#include "ticks.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#define WHO "initiator"
#define BATCH 16

struct run {
	struct end *end;
	struct peer *peer;
	const struct options *o;
	struct layout layout;
	struct kiwi_sg sg;
	struct kiwi_send_wr wr;
	uint64_t *words;	/* verified atomics: what each slot holds before */
	uint64_t *ticks;	/* latency of each iteration */
};

/* Work requests ----------------------------------------------------------- */

static void init_request(struct run *r)
{
	static const uint8_t opcodes[OP_COUNT] = {
		[OP_WRITE] = KIWI_WQE_WRITE,
		[OP_READ] = KIWI_WQE_READ,
		[OP_SEND] = KIWI_WQE_SEND,
		[OP_FETCH_ADD] = KIWI_WQE_FETCH_ADD,
		[OP_CMP_SWAP] = KIWI_WQE_CMP_SWAP,
	};

	r->sg = (struct kiwi_sg){ .lkey = r->end->mr->key, .len = (uint32_t)r->layout.size };
	r->wr = (struct kiwi_send_wr){
		.sg = &r->sg,
		.num_sg = 1,
		.opcode = opcodes[r->o->work.op],
		.rkey = r->peer->address.rkey,
		.swap_add = 1,
	};
	if (r->o->use_inline && r->layout.size <= r->end->qp->max_inline)
		r->wr.flags = KIWI_WQE_INLINE;
}

static bool post(struct run *r, uint64_t iteration, bool signal)
{
	const struct layout *l = &r->layout;
	struct kiwi_send_wr *wr = &r->wr;
	int rc;

	wr->wr_id = iteration;
	wr->flags = (uint8_t)((wr->flags & KIWI_WQE_INLINE) | (signal ? KIWI_WQE_SIGNALED : 0));
	wr->raddr = slot_addr(r->peer->address.iova, l, iteration);
	r->sg.addr = wr->flags & KIWI_WQE_INLINE ?
		     (uintptr_t)slot_cpu(r->end, l, iteration) :
		     slot_addr(r->end->mr->iova, l, iteration);
	if (r->words) {
		struct atomic_step s = atomic_step(r->o->work.op, iteration,
						   r->words[iteration % l->slots]);

		wr->compare = s.compare;
		wr->swap_add = s.swap_add;
	}
	rc = kiwi_post_send(r->end->qp, wr);
	if (rc)
		complain("%s: post of work %" PRIu64 ", %u bytes: %s",
			 kiwi_device_name(r->end->dev), iteration, r->sg.len, strerror(-rc));
	return !rc;
}

/* Waiting ----------------------------------------------------------------- */

/* False when a device of this process is dead, after telling so. */
static bool devices_alive(struct run *r)
{
	bool alive = tell_events(r->end);

	return (!r->peer->target || tell_events(&r->peer->target->end)) && alive;
}

static bool give_up(struct run *r)
{
	complain("%s: nothing has completed for %u s", kiwi_device_name(r->end->dev),
		 r->o->stall_seconds);
	return false;
}

static bool drain(int fd)
{
	uint64_t count;

	return read(fd, &count, sizeof(count)) == sizeof(count) || errno == EINTR;
}

/* Sleep until a CQ of this process has something. False also when it is of no use. */
static bool sleep_for_event(struct run *r)
{
	struct target *t = r->peer->target;
	struct pollfd fds[4] = {
		{ .fd = r->end->send_cq->event_fd, .events = POLLIN },
		{ .fd = t ? t->end.recv_cq->event_fd : -1, .events = POLLIN },
		{ .fd = kiwi_device_fd(r->end->dev), .events = POLLIN },
		{ .fd = t ? kiwi_device_fd(t->end.dev) : -1, .events = POLLIN },
	};
	int i, ready;

	kiwi_cq_arm(r->end->send_cq, 0);
	if (t)
		kiwi_cq_arm(t->end.recv_cq, 0);
	ready = poll(fds, 4, (int)r->o->stall_seconds * 1000);
	if (!ready)
		return give_up(r);
	for (i = 0; ready > 0 && i < 2; i++)
		if (fds[i].revents && !drain(fds[i].fd)) {
			complain("eventfd: %m");
			return false;
		}
	return ready < 0 || !(fds[2].revents | fds[3].revents) || devices_alive(r);
}

/* Take completions; @done becomes the number behind the last that is complete. */
static bool take(struct run *r, uint64_t *done)
{
	struct kiwi_wc wc[BATCH];
	int i, got = kiwi_poll_cq(r->end->send_cq, wc, BATCH);

	if (!peer_progress(r->peer))
		return false;
	for (i = 0; i < got; i++) {
		if (wc[i].status != KIWI_CQE_ST_OK) {
			tell_completion(r->end, &wc[i]);
			devices_alive(r);
			return false;
		}
		*done = wc[i].wr_id + 1;
	}
	if (!got && r->o->work.events)
		return sleep_for_event(r);
	switch (stalled(got)) {
	case STALL_SLOW:
		return devices_alive(r);
	case STALL_YES:
		return give_up(r);
	default:
		return true;
	}
}

/* Throughput and latency -------------------------------------------------- */

/* Post @posted.. @end - 1 with one doorbell. */
static bool post_list(struct run *r, uint64_t posted, uint64_t end, bool signal_last)
{
	uint32_t every = r->o->signal_every;

	for (; posted < end; posted++)
		if (!post(r, posted, posted % every == every - 1 ||
			  (signal_last && posted == end - 1)))
			return false;
	kiwi_qp_ring(r->end->qp);
	return true;
}

static bool pump(struct run *r, uint64_t first, uint64_t n)
{
	uint64_t posted = first, done = first, last = first + n, end;
	uint32_t depth = r->o->work.depth, list = r->o->post_list;

	while (done < last) {
		while (posted < last) {
			end = last - posted < list ? last : posted + list;
			if (end - done > depth)
				break;
			/* Before a pause something has to complete, or it would not end. */
			if (!post_list(r, posted, end, end == last || end + list - done > depth))
				return false;
			posted = end;
		}
		if (!take(r, &done))
			return false;
	}
	return true;
}

static bool one_by_one(struct run *r, uint64_t first, uint64_t n)
{
	uint64_t i, done = first, start;

	for (i = first; i < first + n; i++) {
		start = ticks_now();
		if (!post(r, i, true))
			return false;
		kiwi_qp_ring(r->end->qp);
		while (done <= i)
			if (!take(r, &done))
				return false;
		r->ticks[i] = ticks_now() - start;
	}
	return true;
}

/* Verification ------------------------------------------------------------ */

static void prepare_window(struct run *r, uint64_t first, uint64_t n)
{
	enum op op = r->o->work.op;
	uint64_t i;

	if (op != OP_WRITE && op != OP_SEND)
		return;
	mem_cpu_begin(&r->end->mem);
	for (i = first; i < first + n; i++)
		pattern_fill(slot_cpu(r->end, &r->layout, i), r->layout.size, i);
	mem_cpu_end(&r->end->mem);
}

static bool old_value_is_right(struct run *r, uint64_t iteration)
{
	uint64_t *word = &r->words[iteration % r->layout.slots], got, want = *word;

	*word = atomic_step(r->o->work.op, iteration, want).next;
	memcpy(&got, slot_cpu(r->end, &r->layout, iteration), 8);
	if (got == want)
		return true;
	complain(WHO ": operation %" PRIu64 " returned %016" PRIx64 ", not %016" PRIx64, iteration,
		 got, want);
	return false;
}

static uint64_t check_window(struct run *r, uint64_t first, uint64_t n)
{
	enum op op = r->o->work.op;
	uint64_t i, bad = 0;

	if (op != OP_READ && !is_atomic(op))
		return 0;
	mem_cpu_begin(&r->end->mem);
	for (i = first; i < first + n; i++)
		if (op == OP_READ)
			bad += !pattern_check(slot_cpu(r->end, &r->layout, i), r->layout.size, i,
					      WHO);
		else
			bad += !old_value_is_right(r, i);
	mem_cpu_end(&r->end->mem);
	return bad;
}

static void prepare_size(struct run *r)
{
	uint32_t i;

	mem_cpu_begin(&r->end->mem);
	guards_fill(r->end->mem.cpu, &r->layout);
	mem_cpu_end(&r->end->mem);
	for (i = 0; r->words && i < r->layout.slots; i++)
		r->words[i] = i;
}

static uint64_t check_guards(struct run *r)
{
	uint64_t bad;

	mem_cpu_begin(&r->end->mem);
	bad = guards_check(r->end->mem.cpu, &r->layout, WHO);
	mem_cpu_end(&r->end->mem);
	return bad;
}

/* One size ---------------------------------------------------------------- */

static bool run_windows(struct run *r, struct result *res)
{
	bool verify = r->o->work.verify;
	uint64_t first, n, bad, ticks = 0, start_ticks;
	double start;

	for (first = 0; first < res->iterations; first += n) {
		n = res->iterations - first;
		if (verify && n > r->layout.slots)
			n = r->layout.slots;
		if (verify)
			prepare_window(r, first, n);
		if (!peer_window(r->peer, first, n))
			return false;
		start = seconds_now();
		start_ticks = ticks_now();
		if (!(r->o->latency ? one_by_one : pump)(r, first, n))
			return false;
		ticks += ticks_now() - start_ticks;
		res->seconds += seconds_now() - start;
		if (!peer_check(r->peer, first, n, &bad))
			return false;
		res->bad += bad;
		if (verify)
			res->bad += check_window(r, first, n);
	}
	if (r->o->latency)
		ticks_latencies(res, r->ticks, ticks);
	return true;
}

bool load_run(struct end *end, struct peer *peer, const struct options *o, uint64_t size,
	      uint64_t iterations, struct result *res)
{
	struct run r = {
		.end = end,
		.peer = peer,
		.o = o,
		.layout = layout_for(&o->work, size, iterations),
	};
	const char *device = kiwi_device_name(end->dev);
	bool verify = o->work.verify, good = false;
	struct counts mine, peers;
	uint64_t bad = 0;

	*res = (struct result){ .size = size, .iterations = iterations };
	res->same_device = peer->target && peer->target->end.dev &&
			   !strcmp(device, kiwi_device_name(peer->target->end.dev));
	if (verify && is_atomic(o->work.op))
		r.words = calloc(r.layout.slots, sizeof(*r.words));
	if (o->latency)
		r.ticks = calloc(iterations, sizeof(*r.ticks));
	if ((verify && is_atomic(o->work.op) && !r.words) || (o->latency && !r.ticks)) {
		complain("no memory for %" PRIu64 " iterations", iterations);
		goto out;
	}
	init_request(&r);
	if (verify)
		prepare_size(&r);
	if (!peer_prepare(peer, r.layout) || !peer_counts(peer, &peers))
		goto out;
	mine = counts_read(device);
	if (!run_windows(&r, res))
		goto out;
	res->mine = counts_minus(counts_read(device), mine);
	if (!peer_counts(peer, &res->peers) || !peer_finish(peer, &bad))
		goto out;
	res->peers = counts_minus(res->peers, peers);
	res->bad += bad;
	if (verify)
		res->bad += check_guards(&r);
	good = true;
out:
	free(r.words);
	free(r.ticks);
	return good;
}
