// SPDX-License-Identifier: GPL-2.0
/*
 * g2g-messages VERB: queue pairs between dies of the machine, in memory of their accelerators.
 * All have sessions before.
 *
 *	exchange A B	every operation, both ways; engines of the accelerators check what is where
 *	until-dead A B	WRITEs from A to B until B is lost; says "ready" first
 *	all-dead A B	likewise, and it is many QPs of A, idle, that end with B: each has its word
 *	pairs COUNT	each of the first dies puts to, gets from and sends to each other, checked
 *			likewise; the results as JSON
 *
 * The exit status tells whether all went well; if not, the last line printed is what did not.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <kiwi/fabric.h>

#include "common.h"

#define LENGTH		0x40000
#define IOVA		0x7000000000
#define PATIENCE	60000	/* ms */
#define ENDS_MAX	16
#define MANY		80	/* QPs, more than the smallest event queue has entries */
#define PAIR_BYTES	100003	/* of each message of "pairs" */
#define ACCESS		(KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_WRITE | \
			 KIWI_ACCESS_REMOTE_READ | KIWI_ACCESS_REMOTE_ATOMIC)

struct end {
	struct kiwi_g2g *g2g;
	struct kiwi_device *dev;
	struct kiwi_g2g_fabric_query fabric;
	struct kiwi_pd *pd;
	struct kiwi_mr *mr;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	const volatile struct kiwi_error_page *errors;
	int xpu, buf, event_fd;
	uint8_t memory[LENGTH];	/* what the accelerator's is to hold */
	unsigned int puts, gets, sends;	/* in the last pair: verified */
};

static void open_end(struct end *e, const char *number)
{
	struct kiwi_cq_config cq = { .entries = 64 };
	size_t n;

	must(kiwi_g2g_open(number, &e->g2g));
	e->dev = kiwi_g2g_device(e->g2g);
	must(kiwi_g2g_query_fabric(e->g2g, &e->fabric));
	e->xpu = memory_xpu((unsigned int)atoi(number));
	e->buf = memory_alloc(e->xpu, LENGTH);
	for (n = 0; n < LENGTH; n++)
		e->memory[n] = (uint8_t)(n * 7 + n / 251 + e->fabric.accel);
	memory_set(e->xpu, e->buf, e->memory, LENGTH);

	must(kiwi_error_page(e->dev, NULL, &e->errors));	/* what is made later has a word */
	must(kiwi_pd_alloc(e->dev, &e->pd));
	must(kiwi_mr_reg_dmabuf(e->pd, e->buf, 0, LENGTH, IOVA, ACCESS, &e->mr));
	e->event_fd = eventfd(0, EFD_CLOEXEC);
	if (e->event_fd < 0)
		fail("eventfd: %s", strerror(errno));
	cq.event_fd = e->event_fd;
	must(kiwi_cq_create(e->dev, &cq, &e->cq));
}

static void close_end(struct end *e)
{
	kiwi_g2g_close(e->g2g);
	close(e->event_fd);
	close(e->buf);
	close(e->xpu);
}

static void make_qp(struct end *e)
{
	struct kiwi_qp_config qp = { .sq_units = 64, .rq_entries = 16, .recv_sge = 1 };

	qp.send_cq = e->cq;
	must(kiwi_qp_create(e->pd, &qp, &e->qp));
}

static void connect_to(struct end *e, const struct end *peer, uint32_t sq_psn, uint32_t rq_psn)
{
	const struct kiwi_g2g_query_device *info = kiwi_g2g_info(e->g2g);
	struct kiwi_connect c = {
		.dest_qpn = peer->qp->qpn,
		.sq_psn = sq_psn,
		.rq_psn = rq_psn,
		.access = ACCESS & ~(uint32_t)KIWI_ACCESS_LOCAL_WRITE,
		.port = 1,
		.mtu = (uint8_t)e->fabric.msg_mtu,
		.timeout = 20,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
		.max_rd_atomic = info->max_rd_atomic,
		.max_dest_rd_atomic = info->max_rd_atomic,
	};

	c.dgid[KIWI_G2G_DGID_ACCEL] = (uint8_t)(peer->fabric.accel >> 8);
	c.dgid[KIWI_G2G_DGID_ACCEL + 1] = (uint8_t)peer->fabric.accel;
	must(kiwi_qp_connect(e->qp, &c));
}

static void connect_both(struct end *a, struct end *b)
{
	make_qp(a);
	make_qp(b);
	connect_to(a, b, 100, 200);
	connect_to(b, a, 200, 100);
}

/* The next completion; who waits is woken by the device. */
static void completion(struct end *e, struct kiwi_wc *wc)
{
	struct pollfd p = { .fd = e->event_fd, .events = POLLIN };
	uint64_t count;

	while (!kiwi_poll_cq(e->cq, wc, 1)) {
		kiwi_cq_arm(e->cq, 0);
		if (kiwi_poll_cq(e->cq, wc, 1))
			return;
		if (poll(&p, 1, PATIENCE) != 1 || read(e->event_fd, &count, 8) != 8)
			fail("%s: no completion", kiwi_g2g_name(e->g2g));
	}
}

static void done(struct end *e, unsigned int opcode, uint32_t bytes)
{
	struct kiwi_wc wc;

	completion(e, &wc);
	if (wc.status != KIWI_CQE_ST_OK || wc.opcode != opcode || wc.byte_len != bytes)
		fail("%s: %s of %u bytes: %s, not %s of %u", kiwi_g2g_name(e->g2g),
		     kiwi_opcode_text(wc.opcode), wc.byte_len, kiwi_status_text(wc.status),
		     kiwi_opcode_text(opcode), bytes);
}

static struct kiwi_sg piece(const struct end *e, uint32_t at, uint32_t length)
{
	return (struct kiwi_sg) { .addr = IOVA + at, .lkey = e->mr->key, .len = length };
}

static void post(struct end *e, const struct end *to, struct kiwi_send_wr wr, struct kiwi_sg sg,
		 uint32_t at)
{
	wr.flags |= KIWI_WQE_SIGNALED;
	wr.sg = &sg;
	wr.num_sg = 1;
	if (wr.opcode >= KIWI_WQE_WRITE) {
		wr.raddr = IOVA + at;
		wr.rkey = to->mr->key;
	}
	if (kiwi_post_send_ring(e->qp, &wr))
		fail("%s: no room", kiwi_g2g_name(e->g2g));
}

static void verify(const struct end *e, const char *what)
{
	memory_verify(e->xpu, e->buf, e->memory, LENGTH, what);
}

static void verify_both(const struct end *a, const struct end *b, const char *what)
{
	verify(a, what);
	verify(b, what);
}

static void send_to(struct end *a, struct end *b, uint32_t from, uint32_t to, uint32_t length)
{
	const struct kiwi_sg into = piece(b, to, length + 1);
	const struct kiwi_recv_wr recv = { .sg = &into, .num_sg = 1 };

	if (kiwi_post_recv_ring(b->qp, &recv))
		fail("%s: no room for a receive", kiwi_g2g_name(b->g2g));
	post(a, b, (struct kiwi_send_wr) { .opcode = KIWI_WQE_SEND }, piece(a, from, length), 0);
	done(a, KIWI_CQE_SEND, 0);
	done(b, KIWI_CQE_RECV, length);
	memcpy(b->memory + to, a->memory + from, length);
}

static void move(struct end *a, struct end *b, uint32_t length)
{
	const uint32_t here = 0x101, there = 0x20003;

	post(a, b, (struct kiwi_send_wr) { .opcode = KIWI_WQE_WRITE }, piece(a, here, length), there);
	done(a, KIWI_CQE_WRITE, 0);
	memcpy(b->memory + there, a->memory + here, length);
	verify_both(a, b, "WRITE");
	a->puts++;

	post(a, b, (struct kiwi_send_wr) { .opcode = KIWI_WQE_READ }, piece(a, there, length), here);
	done(a, KIWI_CQE_READ, length);
	memcpy(a->memory + there, b->memory + here, length);
	verify_both(a, b, "READ");
	a->gets++;

	send_to(a, b, here + 1, there + 5, length);
	verify_both(a, b, "SEND");
	a->sends++;
}

static void atomic(struct end *a, struct end *b, struct kiwi_send_wr wr)
{
	const uint32_t here = 0x40, there = 0x1f8;
	uint64_t held;

	memcpy(&held, b->memory + there, 8);
	memcpy(a->memory + here, &held, 8);
	post(a, b, wr, piece(a, here, 8), there);
	done(a, wr.opcode == KIWI_WQE_FETCH_ADD ? KIWI_CQE_FETCH_ADD : KIWI_CQE_CMP_SWAP, 8);
	if (wr.opcode == KIWI_WQE_FETCH_ADD)
		held += wr.swap_add;
	else if (held == wr.compare)
		held = wr.swap_add;
	memcpy(b->memory + there, &held, 8);
	verify_both(a, b, "an atomic");
}

static void atomics(struct end *a, struct end *b)
{
	struct kiwi_send_wr wr = { .opcode = KIWI_WQE_CMP_SWAP, .swap_add = 0x1122334455667788 };

	memcpy(&wr.compare, b->memory + 0x1f8, 8);
	atomic(a, b, wr);
	wr.swap_add = 1;	/* no longer what is there */
	atomic(a, b, wr);
	atomic(a, b, (struct kiwi_send_wr) { .opcode = KIWI_WQE_FETCH_ADD, .swap_add = 3 });
}

static void exchange(struct end *a, struct end *b)
{
	static const uint32_t sizes[] = { 1, 1024, 100003 };
	size_t n;

	for (n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		move(a, b, sizes[n]);
		move(b, a, sizes[n]);
	}
	atomics(a, b);
	atomics(b, a);
}

/* An event of the QP comes after that of the peer. */
static void expect_events(struct end *e)
{
	struct kiwi_file_event event;
	bool peer = false;

	do {
		int rc = kiwi_g2g_next_event(e->g2g, &event, PATIENCE);

		must(rc);
		if (!rc)
			fail("no event of the QP");
		if (event.type == KIWI_G2G_EVENT_PEER)
			peer = true;
	} while (event.type != KIWI_EVENT_QP_ERROR);
	if (!peer || event.id != e->qp->id || event.code != KIWI_CQE_ST_RETRY_EXC_ERR)
		fail("event of QP %u with code %u, %s that of the peer", event.id, event.code,
		     peer ? "after" : "without");
}

/* That of the end's newest QP in the error page. */
static const volatile uint32_t *error_word(struct end *e)
{
	struct kiwi_snic_queue_query q;

	must(kiwi_queue_query(e->dev, e->qp->id, KIWI_QUEUE_SQ, &q));
	return (const volatile uint32_t *)((const volatile char *)e->errors + q.error_offset);
}

static void all_dead(struct end *a, struct end *b)
{
	unsigned int n, told, unknown, waited;
	const volatile uint32_t *words[MANY];

	for (n = 0; n < MANY; n++) {
		make_qp(a);
		connect_to(a, b, 100, 200);
		words[n] = error_word(a);
	}
	printf("ready\n");
	fflush(stdout);
	for (waited = 0, told = 0; told < MANY; waited += 20) {
		if (waited > PATIENCE)
			fail("%u of %u QPs have a word", told, MANY);
		usleep(20000);
		for (n = 0, told = 0, unknown = 0; n < MANY; n++) {
			told += !!*words[n];
			unknown += *words[n] == KIWI_EVENT_QP_ERROR << 16;
		}
	}
	printf("%u words, %u without a cause, %u times events were lost\n", told, unknown,
	       a->errors->lost);
}

static void until_dead(struct end *a, struct end *b)
{
	const volatile uint32_t *word = error_word(a);
	unsigned int writes = 0;
	struct kiwi_wc wc;

	printf("ready\n");
	fflush(stdout);
	for (;; writes++) {
		post(a, b, (struct kiwi_send_wr) { .opcode = KIWI_WQE_WRITE }, piece(a, 0, 8192), 0);
		completion(a, &wc);
		if (wc.status != KIWI_CQE_ST_OK)
			break;
	}
	if (wc.status != KIWI_CQE_ST_RETRY_EXC_ERR)
		fail("the last WRITE: %s", kiwi_status_text(wc.status));
	expect_events(a);
	if (*word != (KIWI_EVENT_QP_ERROR << 16 | KIWI_CQE_ST_RETRY_EXC_ERR))
		fail("the word of the QP is %#x", *word);
	printf("%u writes\n", writes);
}

/* Work of a die in memory of another */
static void print_row(const struct end *user, const struct end *owner, bool last)
{
	struct kiwi_snic_mr_query q;

	must(kiwi_mr_query(owner->mr, &q));
	printf("  { \"from\": %u, \"to\": %u, ", owner->fabric.accel, user->fabric.accel);
	printf("\"path\": %u, \"bytes\": %u, ", q.path, PAIR_BYTES);
	printf("\"puts\": %u, \"gets\": %u, \"sends\": %u }%s\n", user->puts, user->gets,
	       user->sends, last ? "" : ",");
}

static void pair(struct end *a, struct end *b, bool last)
{
	a->puts = a->gets = a->sends = 0;
	b->puts = b->gets = b->sends = 0;
	connect_both(a, b);
	move(a, b, PAIR_BYTES);
	move(b, a, PAIR_BYTES);
	print_row(a, b, false);
	print_row(b, a, last);
	must(kiwi_qp_destroy(a->qp));
	must(kiwi_qp_destroy(b->qp));
}

static void pairs(const char *text)
{
	static struct end ends[ENDS_MAX];
	unsigned int count = (unsigned int)atoi(text), a, b;
	char number[12];

	if (count < 2 || count > ENDS_MAX)
		fail("pairs of %u dies", count);
	for (a = 0; a < count; a++) {
		snprintf(number, sizeof(number), "%u", a);
		open_end(&ends[a], number);
	}
	printf("[\n");
	for (a = 0; a < count; a++)
		for (b = a + 1; b < count; b++)
			pair(&ends[a], &ends[b], a == count - 2);
	printf("]\n");
	for (a = 0; a < count; a++)
		close_end(&ends[a]);
}

static void between(void (*work)(struct end *a, struct end *b), char **numbers)
{
	static struct end a, b;

	open_end(&a, numbers[0]);
	open_end(&b, numbers[1]);
	connect_both(&a, &b);
	work(&a, &b);
	close_end(&a);
	close_end(&b);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "exchange"))
		between(exchange, argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "until-dead"))
		between(until_dead, argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "all-dead"))
		between(all_dead, argv + 2);
	else if (argc == 3 && !strcmp(argv[1], "pairs"))
		pairs(argv[2]);
	else
		fail("g2g-messages exchange|until-dead|all-dead A B, or pairs COUNT");
	return 0;
}
