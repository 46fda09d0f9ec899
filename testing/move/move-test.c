// SPDX-License-Identifier: GPL-2.0
/*
 * GPU memory that moves below RDMA traffic: a buffer of xpu0 with snic0, one of xpu1 with snic1.
 *
 *	move-test state		what MR_QUERY says, and whether a registered buffer can be evicted
 *	move-test storm N	N rounds of evict and return of both buffers, while data goes
 *				there and back and every byte is checked; N = 0: without end
 *	move-test dereg N	N registrations that end while the buffer is on the move
 *	move-test dead N	N regions that end while the buffer moves below traffic
 *	move-test fail		mappings after a move that fail, once and for good
 *
 * Prints KEY=VALUE; the exit status is 0 when all went as it should.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <kiwi/kiwi.h>

#include "xpu.h"

#define SLOT	((uint64_t)16 << 10)
#define SLOTS	4
#define HALF	(SLOT * SLOTS)
#define SIZE	(2 * HALF)
#define RIGHTS	(KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_READ)

struct side {
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_mr *mr;
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;
	int xpu;
	int buf;
	uint64_t *cpu;
};

static struct side ends[2];
static atomic_ulong completions;
static atomic_bool storm_over;
static atomic_bool revoking;

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "move-test: %s: %s (%s)\n", what, strerror(-rc), kiwi_error());
	exit(1);
}

static void expect(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "move-test: not so: %s\n", what);
	exit(1);
}

/* Ends, with data ------------------------------------------------------------------ */

static void make_buffer(struct side *s)
{
	s->buf = xpu_alloc(s->xpu, SIZE, 0, 0);
	must(s->buf, "xpu_alloc");
	s->cpu = xpu_map(s->buf, SIZE);
	must(s->cpu ? 0 : -errno, "xpu_map");
}

static void open_gpu(struct side *s, unsigned int n)
{
	s->xpu = xpu_open(n);
	must(s->xpu, "xpu_open");
	make_buffer(s);
}

static void make_region(struct side *s)
{
	must(kiwi_mr_reg_dmabuf(s->pd, s->buf, 0, SIZE, 0, RIGHTS, &s->mr), "MR");
}

static void make_qp(struct side *s)
{
	struct kiwi_qp_config config = { .sq_units = 64, .rq_entries = 1, .recv_sge = 1 };

	config.send_cq = s->cq;
	must(kiwi_qp_create(s->pd, &config, &s->qp), "QP");
}

static void open_side(struct side *s, unsigned int n)
{
	struct kiwi_cq_config config = { .entries = 64, .event_fd = -1 };
	char name[KIWI_NAME_MAX];

	open_gpu(s, n);
	snprintf(name, sizeof(name), "snic%u", n);
	must(kiwi_open(name, &s->dev), "open");
	must(kiwi_pd_alloc(s->dev, &s->pd), "PD");
	make_region(s);
	must(kiwi_cq_create(s->dev, &config, &s->cq), "CQ");
	make_qp(s);
	must(kiwi_query_port(s->dev, 1, &s->port), "port");
	must(kiwi_query_gid(s->dev, 1, 0, &s->gid), "GID");
}

static void connect_to(struct side *s, const struct side *peer)
{
	struct kiwi_connect c;

	must(kiwi_connect_init(s->dev, 1, &c), "connect");
	c.dest_qpn = peer->qp->qpn;
	memcpy(c.dgid, peer->gid.gid, sizeof(c.dgid));
	memcpy(c.dmac, peer->port.mac, sizeof(c.dmac));
	must(kiwi_qp_connect(s->qp, &c), "connect");
}

static void connect_ends(void)
{
	connect_to(&ends[0], &ends[1]);
	connect_to(&ends[1], &ends[0]);
}

static void open_ends(void)
{
	open_side(&ends[0], 0);
	open_side(&ends[1], 1);
	connect_ends();
}

static struct kiwi_snic_mr_query query(const struct side *s)
{
	struct kiwi_snic_mr_query q;

	must(kiwi_mr_query(s->mr, &q), "MR_QUERY");
	return q;
}

/* Accesses to VRAM that was free, by whomever; that there are none means nothing without a trap. */
static uint64_t stale(const struct side *s)
{
	struct xpu_query q;

	must(xpu_query(s->xpu, &q), "query");
	expect(q.features & XPU_FEATURE_TRAP, "freed VRAM is trapped");
	return q.stale_reads + q.stale_writes;
}

static uint64_t word_of(uint64_t round, uint64_t at)
{
	return (round << 32 | at) * UINT64_C(0x9e3779b97f4a7c15);
}

static void fill(uint64_t *cpu, uint64_t round)
{
	uint64_t n;

	for (n = 0; n < HALF / sizeof(*cpu); n++)
		((volatile uint64_t *)cpu)[n] = word_of(round, n);
}

static void check(const uint64_t *cpu, uint64_t round, const char *where)
{
	uint64_t n, got;

	for (n = 0; n < HALF / sizeof(*cpu); n++) {
		got = ((const volatile uint64_t *)cpu)[n];
		if (got == word_of(round, n))
			continue;
		fprintf(stderr, "move-test: round %" PRIu64 ", %s, word %" PRIu64 ": %#" PRIx64
			", not %#" PRIx64 "\n", round, where, n, got, word_of(round, n));
		exit(1);
	}
}

/* All slots from @local of the first end to @remote of the second, or back. */
static void transfer(uint8_t opcode, uint64_t local, uint64_t remote)
{
	struct kiwi_send_wr wr = { .opcode = opcode, .flags = KIWI_WQE_SIGNALED, .num_sg = 1,
				   .rkey = ends[1].mr->key };
	struct kiwi_sg sg = { .lkey = ends[0].mr->key, .len = SLOT };
	unsigned int n, done = 0;
	struct kiwi_wc wc;

	wr.sg = &sg;
	for (n = 0; n < SLOTS; n++) {
		sg.addr = local + n * SLOT;
		wr.raddr = remote + n * SLOT;
		must(kiwi_post_send_ring(ends[0].qp, &wr), "post");
	}
	while (done < SLOTS) {
		if (!kiwi_poll_cq(ends[0].cq, &wc, 1))
			continue;
		if (wc.status != KIWI_CQE_ST_OK) {
			fprintf(stderr, "move-test: completion: %s\n",
				kiwi_status_text(wc.status));
			exit(1);
		}
		done++;
		atomic_fetch_add(&completions, 1);
	}
}

static void there_and_back(uint64_t round)
{
	fill(ends[0].cpu, round);
	transfer(KIWI_WQE_WRITE, 0, HALF);
	check(ends[1].cpu + HALF / 8, round, "written");
	transfer(KIWI_WQE_READ, HALF, HALF);
	check(ends[0].cpu + HALF / 8, round, "read back");
}

/* Moves ------------------------------------------------------------------------------ */

/* Of two moves in a row, one half meets work under way, the other perhaps the remapping. */
static void let_work_pass(unsigned int *seed)
{
	unsigned long before = atomic_load(&completions);
	struct timespec pause = { .tv_nsec = 200000 };
	unsigned int n;

	if (rand_r(seed) & 1) {
		pause.tv_nsec = rand_r(seed) % 500000;
		nanosleep(&pause, NULL);
		return;
	}
	for (n = 0; n < 50000 && atomic_load(&completions) == before; n++)
		nanosleep(&pause, NULL);
	expect(n < 50000, "work goes on after a move");
}

static void *storm(void *arg)
{
	unsigned long rounds = *(unsigned long *)arg, n;
	unsigned int seed = 1, k;

	for (n = 0; !rounds || n < rounds; n++) {
		for (k = 0; k < 2; k++) {
			must(xpu_evict(ends[k].xpu, ends[k].buf), "evict");
			let_work_pass(&seed);
			must(xpu_return(ends[k].xpu, ends[k].buf), "return");
			let_work_pass(&seed);
		}
	}
	atomic_store(&storm_over, true);
	return NULL;
}

static void expect_quiet(const struct side *s, uint32_t key)
{
	struct kiwi_snic_mr_query q = query(s);
	struct kiwi_snic_event event;

	expect(q.state == KIWI_MR_DYNAMIC && q.key == key, "the region is dynamic, of the same key");
	expect(kiwi_next_event(s->dev, &event, 0) == 0, "there is no event");
}

static void run_storm(unsigned long rounds)
{
	uint32_t keys[2];
	struct xpu_query_buf q[2];
	pthread_t thread;
	uint64_t round = 0;
	unsigned int n;

	open_ends();
	for (n = 0; n < 2; n++)
		keys[n] = ends[n].mr->key;
	expect(!pthread_create(&thread, NULL, storm, &rounds), "a thread");
	while (!atomic_load(&storm_over))
		there_and_back(++round);
	pthread_join(thread, NULL);
	there_and_back(++round);
	for (n = 0; n < 2; n++) {
		must(xpu_query_buf(ends[n].xpu, ends[n].buf, &q[n]), "query");
		expect_quiet(&ends[n], keys[n]);
		expect(!stale(&ends[n]), "nobody touches freed VRAM");
	}
	printf("moves=%u moves1=%u rounds=%" PRIu64 " messages=%lu\n", q[0].moves, q[1].moves,
	       round, atomic_load(&completions));
}

static bool moved(int rc, const char *what)
{
	if (rc == -ENODEV && atomic_load(&revoking))
		return false;
	must(rc, what);
	return true;
}

static void *mover(void *arg)
{
	struct side *s = arg;

	while (!atomic_load(&storm_over) && moved(xpu_evict(s->xpu, s->buf), "evict") &&
	       moved(xpu_return(s->xpu, s->buf), "return"))
		;
	return NULL;
}

/* Registration and deregistration meet moves in every phase. */
static void run_dereg(unsigned long rounds)
{
	struct side *s = &ends[0];
	struct kiwi_snic_mr_query q;
	struct xpu_query_buf b;
	pthread_t thread;
	unsigned long n;

	open_gpu(s, 0);
	must(kiwi_open("snic0", &s->dev), "open");
	must(kiwi_pd_alloc(s->dev, &s->pd), "PD");
	expect(!pthread_create(&thread, NULL, mover, s), "a thread");
	for (n = 0; n < rounds; n++) {
		make_region(s);
		q = query(s);
		expect(q.state == KIWI_MR_DYNAMIC, "the region is dynamic");
		must(kiwi_mr_dereg(s->mr), "deregistration");
	}
	atomic_store(&storm_over, true);
	pthread_join(thread, NULL);
	must(xpu_query_buf(s->xpu, s->buf, &b), "query");
	expect(!b.attachments && !b.mappings && !b.pins, "nothing is left of a region");
	expect(!stale(s), "nobody touches freed VRAM");
	printf("moves=%u regions=%lu\n", b.moves, rounds);
}

static void await_revoked(const struct side *s)
{
	struct kiwi_snic_event event;

	do {
		expect(kiwi_next_event(s->dev, &event, 20000) == 1, "an event comes");
	} while (event.type == KIWI_SNIC_EVENT_QP_ERROR || event.type == KIWI_SNIC_EVENT_QP_ACCESS);
	expect(event.type == KIWI_SNIC_EVENT_MR_REVOKED && event.id == s->mr->id,
	       "it tells of the revocation");
	expect(query(s).state == KIWI_MR_REVOKED, "the region is revoked");
}

/* Traffic with a region of the first end, until the region is no more. */
struct stream {
	struct side *poster;
	uint8_t opcode;
	uint32_t lkey, rkey;
	uint8_t status;
};

static void *stream(void *arg)
{
	struct stream *t = arg;
	struct kiwi_sg sg = { .addr = t->opcode == KIWI_WQE_READ ? HALF : 0, .lkey = t->lkey,
			      .len = HALF };
	struct kiwi_send_wr wr = { .opcode = t->opcode, .flags = KIWI_WQE_SIGNALED, .num_sg = 1,
				   .sg = &sg, .rkey = t->rkey, .raddr = HALF - sg.addr };
	struct kiwi_wc wc;

	for (;;) {
		must(kiwi_post_send_ring(t->poster->qp, &wr), "post");
		while (!kiwi_poll_cq(t->poster->cq, &wc, 1))
			;
		t->status = wc.status;
		if (wc.status != KIWI_CQE_ST_OK)
			return NULL;
		atomic_fetch_add(&completions, 1);
	}
}

/* The bytes that no work may touch any more are other ones than those that travel. */
static void end_by_dereg(struct side *s, uint64_t round, const struct stream *t, pthread_t traffic)
{
	must(kiwi_mr_dereg(s->mr), "deregistration");
	fill(s->cpu + HALF / 8, ~round);
	pthread_join(traffic, NULL);
	check(s->cpu + HALF / 8, ~round, "after the end");
	expect(t->status == (t->opcode == KIWI_WQE_READ ? KIWI_CQE_ST_LOC_PROT_ERR :
							  KIWI_CQE_ST_REM_ACCESS_ERR),
	       "work with a dead key fails for that");
}

static void end_by_revoke(struct side *s, const struct stream *t, pthread_t traffic)
{
	struct xpu_query_buf b;

	atomic_store(&revoking, true);
	must(xpu_revoke(s->xpu, s->buf), "revoke");
	must(xpu_query_buf(s->xpu, s->buf, &b), "query");
	expect(!b.mappings, "nobody maps what is revoked");
	pthread_join(traffic, NULL);
	expect(t->status == KIWI_CQE_ST_REM_ACCESS_ERR, "work with a dead key fails for that");
	await_revoked(s);
	must(kiwi_mr_dereg(s->mr), "deregistration");
}

static void renew(struct side *s)
{
	expect(!munmap(s->cpu, SIZE) && !close(s->buf), "the buffer goes");
	make_buffer(s);
	atomic_store(&revoking, false);
}

/* The region ends by its owner, in a peer's WRITEs or its own READs, or by the exporter. */
static void run_dead_round(uint64_t round)
{
	enum { WRITTEN, READ, REVOKED } how = round % 3;
	struct side *s = &ends[0], *peer = &ends[1];
	struct stream t = {
		.poster = how == READ ? s : peer,
		.opcode = how == READ ? KIWI_WQE_READ : KIWI_WQE_WRITE,
		.lkey = how == READ ? s->mr->key : peer->mr->key,
		.rkey = how == READ ? peer->mr->key : s->mr->key,
	};
	struct timespec pause = { .tv_nsec = 1000000 + rand() % 50000000 };
	pthread_t moves, traffic;
	unsigned int n;

	atomic_store(&storm_over, false);
	fill(peer->cpu, round);
	expect(!pthread_create(&moves, NULL, mover, s), "a thread");
	expect(!pthread_create(&traffic, NULL, stream, &t), "a thread");
	nanosleep(&pause, NULL);
	if (how == REVOKED)
		end_by_revoke(s, &t, traffic);
	else
		end_by_dereg(s, round, &t, traffic);
	atomic_store(&storm_over, true);
	pthread_join(moves, NULL);
	expect(!stale(s) && !stale(peer), "nobody touches freed VRAM");
	if (how == REVOKED)
		renew(s);
	make_region(s);
	for (n = 0; n < 2; n++) {
		must(kiwi_qp_destroy(ends[n].qp), "destroy");
		make_qp(&ends[n]);
	}
	connect_ends();
}

static void run_dead(unsigned long rounds)
{
	uint64_t n;

	open_ends();
	for (n = 0; n < rounds; n++)
		run_dead_round(n);
	printf("regions=%lu messages=%lu\n", rounds, atomic_load(&completions));
}

static void run_fail(void)
{
	struct side *s = &ends[0];
	uint32_t key;

	open_ends();
	key = s->mr->key;
	there_and_back(1);
	must(xpu_fail_next_map(s->xpu, s->buf, ENOMEM), "fail");
	must(xpu_evict(s->xpu, s->buf), "evict");
	there_and_back(2);
	must(xpu_fail_next_map(s->xpu, s->buf, 0), "fail");
	must(xpu_return(s->xpu, s->buf), "return");
	there_and_back(3);
	expect_quiet(s, key);

	must(xpu_fail_next_map(s->xpu, s->buf, ENODEV), "fail");
	must(xpu_evict(s->xpu, s->buf), "evict");
	await_revoked(s);
	must(kiwi_mr_dereg(s->mr), "deregistration");

	make_region(s);
	expect(s->mr->key != key, "another key");
	must(xpu_revoke(s->xpu, s->buf), "revoke");
	await_revoked(s);
	must(kiwi_mr_dereg(s->mr), "deregistration");
	expect(!stale(s), "nobody touches freed VRAM");
	printf("failures=4\n");
}

static void run_state(void)
{
	struct side *s = &ends[0];
	struct kiwi_snic_mr_query q;
	struct xpu_query_buf b;
	int rc;

	open_ends();
	q = query(s);
	must(xpu_query_buf(s->xpu, s->buf, &b), "query");
	rc = xpu_evict(s->xpu, s->buf);
	printf("state=%s pins=%u evict=%d path=%s", kiwi_mr_state_text(q.state), b.pins, -rc,
	       kiwi_path_text(q.path));
	there_and_back(1);
	q = query(s);
	printf(" then=%s\n", kiwi_path_text(q.path));
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "state"))
		run_state();
	else if (!strcmp(what, "storm"))
		run_storm(n);
	else if (!strcmp(what, "dereg"))
		run_dereg(n);
	else if (!strcmp(what, "dead"))
		run_dead(n);
	else if (!strcmp(what, "fail"))
		run_fail();
	else
		expect(false, "move-test state|storm N|dereg N|dead N|fail");
	return 0;
}
