// SPDX-License-Identifier: GPL-2.0
/*
 * Exchanges over a reliable connection between two programs that stand on
 * different software: each plays the active side in turn, both verify the data.
 * Linked with one make of endpoint.h. Used by the interoperation scenarios:
 *
 *	verbs-peer -d rxe0 -g 1 -l 7000 &
 *	kiwi-peer -d snic0 -g 1 -c 7000
 *
 * Exit status 0: every exchange went as the standard says.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "endpoint.h"

#define MIB		(1UL << 20)
#define GUARD		64
#define SOURCE		0UL		/* the buffer's halves */
#define TARGET		(2 * MIB)
#define BUF_SIZE	(4 * MIB)
#define RECV_ID		(1ULL << 63)	/* tells receives from other work */
#define PATIENCE	120		/* seconds for one completion */

struct test {
	struct ep *ep;
	struct ep_address local;
	struct ep_address remote;
	struct ep_params params;
	uint8_t *buf;
	uint64_t seed;		/* same on both sides: content of the exchange at hand */
	uint32_t step;
	int ctl;
	bool active;
	const char *name;	/* of the exchange at hand */
	size_t len;
	unsigned long exchanges;
};

static const char *self;

void die(const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", self);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

#define fail(t, format, ...)							\
	die("%s, %zu bytes, mtu %u, %s side: " format, (t)->name, (t)->len,	\
	    (t)->params.mtu, (t)->active ? "active" : "passive", ##__VA_ARGS__)

/* Control connection ------------------------------------------------------ */

static int control(uint16_t port, bool connecting)
{
	struct sockaddr_in sin = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	struct timeval limit = { .tv_sec = 2 * PATIENCE };
	int s, fd, one = 1, tries = 100;

	s = socket(AF_INET, SOCK_STREAM, 0);
	if (s < 0)
		die("socket: %s", strerror(errno));
	if (connecting) {
		while (connect(s, (struct sockaddr *)&sin, sizeof(sin))) {
			if (errno != ECONNREFUSED || !tries--)
				die("connect to port %u: %s", port, strerror(errno));
			usleep(100000);
		}
		fd = s;
	} else {
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(s, (struct sockaddr *)&sin, sizeof(sin)) || listen(s, 1))
			die("port %u: %s", port, strerror(errno));
		fd = accept(s, NULL, NULL);
		if (fd < 0)
			die("accept: %s", strerror(errno));
		close(s);
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return fd;
}

static void exchange(struct test *t, const void *mine, void *theirs, size_t len)
{
	if (send(t->ctl, mine, len, MSG_NOSIGNAL) != (ssize_t)len ||
	    recv(t->ctl, theirs, len, MSG_WAITALL) != (ssize_t)len)
		fail(t, "the peer is gone");
}

/* Both sides are at the same step. */
static void meet(struct test *t)
{
	uint32_t theirs;

	t->step++;
	exchange(t, &t->step, &theirs, sizeof(theirs));
	if (theirs != t->step)
		fail(t, "at step %u when the peer is at %u", t->step, theirs);
}

static void reconnect(struct test *t)
{
	ep_renew(t->ep, &t->local);
	exchange(t, &t->local, &t->remote, sizeof(t->local));
	t->params.rd_atomic = t->local.rd_atomic < t->remote.rd_atomic ?
			      t->local.rd_atomic : t->remote.rd_atomic;
	ep_connect(t->ep, &t->remote, &t->params);
	meet(t);
}

static void begin(struct test *t, const char *name, size_t len)
{
	t->name = name;
	t->len = len;
	t->seed = t->seed * 6364136223846793005ULL + 1442695040888963407ULL;
	t->exchanges++;
}

/* Data -------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	return x;
}

static uint8_t content(const struct test *t, unsigned int slot, size_t i)
{
	return mix(t->seed + slot + (i >> 3) * 0x9e3779b97f4a7c15ULL) >> (i & 7) * 8;
}

static void fill(struct test *t, unsigned int slot, size_t offset, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		t->buf[offset + i] = content(t, slot, i);
}

static void verify(struct test *t, unsigned int slot, size_t offset, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (t->buf[offset + i] != content(t, slot, i))
			fail(t, "byte %zu is %#x, not %#x", i, t->buf[offset + i],
			     content(t, slot, i));
}

/* The guard's bytes differ from exchange to exchange, as the data does. */
static uint8_t guard_byte(const struct test *t)
{
	return 0xa5 ^ (t->seed >> 40);
}

static void guard(struct test *t, size_t offset, size_t len)
{
	memset(t->buf + offset - GUARD, guard_byte(t), len + 2 * GUARD);
}

static void untouched(struct test *t, size_t offset, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (t->buf[offset + i] != guard_byte(t))
			fail(t, "byte at offset %zu was written", offset + i - TARGET);
}

static void verify_guarded(struct test *t, unsigned int slot, size_t offset, size_t len)
{
	verify(t, slot, offset, len);
	untouched(t, offset - GUARD, GUARD);
	untouched(t, offset + len, GUARD);
}

/* Completions ------------------------------------------------------------- */

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static struct ep_done next_done(struct test *t)
{
	time_t end = now() + PATIENCE;
	struct ep_done done;

	while (!ep_poll(t->ep, &done)) {
		if (now() > end)
			fail(t, "no completion for %u s", PATIENCE);
		sched_yield();
	}
	return done;
}

static struct ep_done expect(struct test *t, uint64_t wr_id, int status)
{
	struct ep_done done = next_done(t);

	if (done.wr_id != wr_id)
		fail(t, "completion of %#llx (status %d) instead of %#llx",
		     (unsigned long long)done.wr_id, done.status, (unsigned long long)wr_id);
	if (done.status != status)
		fail(t, "status %d instead of %d", done.status, status);
	if (!status && done.recv != !!(wr_id & RECV_ID))
		fail(t, "completion is of the wrong kind");
	return done;
}

static void none_left(struct test *t)
{
	struct ep_done done;

	if (ep_poll(t->ep, &done))
		fail(t, "completion of %#llx, status %d, is one too many",
		     (unsigned long long)done.wr_id, done.status);
}

static uint32_t imm_of(const struct test *t, unsigned int slot)
{
	return mix(t->seed ^ slot) >> 16;
}

static bool takes_recv(enum ep_op op)
{
	return op == EP_SEND || op == EP_SEND_IMM || op == EP_WRITE_IMM;
}

static bool has_imm(enum ep_op op)
{
	return op == EP_SEND_IMM || op == EP_WRITE_IMM;
}

static void expect_recv(struct test *t, enum ep_op op, unsigned int slot, size_t len)
{
	struct ep_done done = expect(t, RECV_ID | slot, EP_ST_OK);

	if (done.len != len)
		fail(t, "%u bytes received", done.len);
	if (done.has_imm != has_imm(op))
		fail(t, "immediate data is %sthere", done.has_imm ? "" : "not ");
	if (done.has_imm && done.imm != imm_of(t, slot))
		fail(t, "immediate data is %#x, not %#x", done.imm, imm_of(t, slot));
}

/* Exchanges --------------------------------------------------------------- */

static const char * const op_name[] = {
	[EP_SEND] = "SEND",
	[EP_SEND_IMM] = "SEND with immediate",
	[EP_WRITE] = "WRITE",
	[EP_WRITE_IMM] = "WRITE with immediate",
	[EP_READ] = "READ",
	[EP_CMP_SWAP] = "compare-and-swap",
	[EP_FETCH_ADD] = "fetch-and-add",
};

/* What both sides know about slot n of an exchange of data. */
struct transfer {
	enum ep_op op;
	unsigned int slot;
	size_t source;
	size_t target;
	size_t len;
};

static void prepare_memory(struct test *t, const struct transfer *x)
{
	bool sends = (x->op == EP_READ) != t->active;

	if (sends)
		fill(t, x->slot, x->source, x->len);
	else
		guard(t, x->target, x->len);
}

static void prepare_recv(struct test *t, const struct transfer *x)
{
	if (!t->active && takes_recv(x->op))
		ep_post_recv(t->ep, RECV_ID | x->slot, x->target,
			     x->op == EP_WRITE_IMM ? 0 : x->len);
}

static void start(struct test *t, const struct transfer *x)
{
	struct ep_work work = {
		.op = x->op,
		.wr_id = x->slot,
		.local = x->op == EP_READ ? x->target : x->source,
		.len = x->len,
		.raddr = t->remote.addr + (x->op == EP_READ ? x->source : x->target),
		.rkey = t->remote.rkey,
		.imm = imm_of(t, x->slot),
	};

	ep_post(t->ep, &work);
}

static void check(struct test *t, const struct transfer *x)
{
	bool sends = (x->op == EP_READ) != t->active;

	if (sends)
		verify(t, x->slot, x->source, x->len);
	else
		verify_guarded(t, x->slot, x->target, x->len);
}

static void transfer(struct test *t, enum ep_op op, size_t len, size_t skew)
{
	struct transfer x = {
		.op = op,
		.source = SOURCE + GUARD + skew,
		.target = TARGET + GUARD + skew * 3,
		.len = len,
	};

	begin(t, op_name[op], len);
	prepare_memory(t, &x);
	prepare_recv(t, &x);
	meet(t);
	if (t->active) {
		start(t, &x);
		expect(t, x.slot, EP_ST_OK);
	} else if (takes_recv(op)) {
		expect_recv(t, op, x.slot, len);
	}
	meet(t);
	check(t, &x);
	none_left(t);
}

static void sizes(struct test *t, size_t max)
{
	size_t mtu = t->params.mtu, i;
	const size_t size[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 63, 64, 65, mtu - 1, mtu, mtu + 1, 2 * mtu - 1, 2 * mtu,
		2 * mtu + 1, 4095, 4096, 4097, 65535, 65536, 65537, MIB - 1, MIB,
	};
	static const enum ep_op op[] = { EP_WRITE, EP_READ, EP_SEND, EP_SEND_IMM, EP_WRITE_IMM };
	unsigned int o;

	for (o = 0; o < sizeof(op) / sizeof(*op); o++)
		for (i = 0; i < sizeof(size) / sizeof(*size); i++)
			if (size[i] <= max)
				transfer(t, op[o], size[i], i % 5);
}

static uint64_t *word(struct test *t, size_t offset)
{
	return (uint64_t *)(t->buf + offset);
}

/* One atomic on the first word of the target; the answer lands in that of the source. */
static void atomic(struct test *t, enum ep_op op, uint64_t swap_add, uint64_t compare,
		   uint64_t before, uint64_t after)
{
	struct ep_work work = {
		.op = op,
		.wr_id = t->step,
		.local = SOURCE,
		.len = 8,
		.raddr = t->remote.addr + TARGET,
		.rkey = t->remote.rkey,
		.swap_add = swap_add,
		.compare = compare,
	};

	begin(t, op_name[op], 8);
	if (t->active) {
		*word(t, SOURCE) = ~before;
		*word(t, SOURCE + 8) = ~after;
	} else {
		if (*word(t, TARGET) != before)
			fail(t, "value is %#llx before", (unsigned long long)*word(t, TARGET));
	}
	meet(t);
	if (t->active) {
		ep_post(t->ep, &work);
		expect(t, work.wr_id, EP_ST_OK);
		if (*word(t, SOURCE) != before)
			fail(t, "answer is %#llx, not %#llx",
			     (unsigned long long)*word(t, SOURCE), (unsigned long long)before);
		if (*word(t, SOURCE + 8) != ~after)
			fail(t, "more than the answer was written");
	}
	meet(t);
	if (!t->active && *word(t, TARGET) != after)
		fail(t, "value is %#llx, not %#llx", (unsigned long long)*word(t, TARGET),
		     (unsigned long long)after);
	none_left(t);
}

static void atomics(struct test *t)
{
	static const uint64_t value = 0x0123456789abcdefULL, other = 0xf00dfacecafe1234ULL;

	*word(t, TARGET) = value;
	meet(t);
	atomic(t, EP_FETCH_ADD, 0, 0, value, value);
	atomic(t, EP_FETCH_ADD, 0x11, 0, value, value + 0x11);
	atomic(t, EP_FETCH_ADD, -value - 0x12, 0, value + 0x11, -1);
	atomic(t, EP_FETCH_ADD, 1, 0, -1, 0);
	atomic(t, EP_CMP_SWAP, value, 1, 0, 0);
	atomic(t, EP_CMP_SWAP, value, 0, 0, value);
	atomic(t, EP_CMP_SWAP, other, value, value, other);
	atomic(t, EP_CMP_SWAP, 1, value, other, other);
}

/* Work of all kinds in flight together: done in order, each in its own place. */
static void batch(struct test *t)
{
	static const enum ep_op op[] = { EP_WRITE, EP_READ, EP_SEND, EP_WRITE_IMM, EP_SEND_IMM };
	enum { COUNT = EP_DEPTH / 2, SLOT = 32768 };
	struct transfer x[COUNT];
	unsigned int i;

	begin(t, "batch", 0);
	for (i = 0; i < COUNT; i++) {
		x[i] = (struct transfer){
			.op = op[i % 5],
			.slot = i,
			.source = SOURCE + GUARD + i * SLOT,
			.target = TARGET + GUARD + i * SLOT,
			.len = mix(t->seed + i) % (i % 8 ? 3 * t->params.mtu : SLOT - 2 * GUARD),
		};
		prepare_memory(t, &x[i]);
		prepare_recv(t, &x[i]);
	}
	meet(t);
	if (t->active) {
		for (i = 0; i < COUNT; i++)
			start(t, &x[i]);
		for (i = 0; i < COUNT; i++)
			expect(t, i, EP_ST_OK);
	} else {
		for (i = 0; i < COUNT; i++)
			if (takes_recv(x[i].op))
				expect_recv(t, x[i].op, i, x[i].len);
	}
	meet(t);
	for (i = 0; i < COUNT; i++)
		check(t, &x[i]);
	none_left(t);
}

/* Errors ------------------------------------------------------------------ */

/* A request that the peer refuses; what stands behind it is flushed. */
static void refused(struct test *t, const char *name, struct ep_work work, int status)
{
	struct ep_work behind = {
		.op = EP_WRITE,
		.wr_id = 2,
		.local = SOURCE,
		.len = 8,
		.raddr = t->remote.addr + TARGET + 4096,
		.rkey = t->remote.rkey,
	};

	begin(t, name, work.len);
	work.wr_id = 1;
	fill(t, 0, SOURCE, 8192);
	guard(t, TARGET + GUARD, 8192);
	if (!t->active && takes_recv(work.op))
		ep_post_recv(t->ep, RECV_ID, TARGET + GUARD, 0);
	meet(t);
	if (t->active) {
		ep_post(t->ep, &work);
		expect(t, 1, status);
		ep_post(t->ep, &behind);
		expect(t, 2, EP_ST_FLUSHED);
	}
	meet(t);
	untouched(t, TARGET, 8192 + 2 * GUARD);
	reconnect(t);
}

static void access_errors(struct test *t)
{
	const uint64_t target = t->remote.addr + TARGET;
	const uint64_t end = t->remote.addr + BUF_SIZE;
	const uint32_t key = t->remote.rkey, bad = key ^ 0x1ff00;

#define WORK(_op, _len, _raddr, _rkey) (struct ep_work){ .op = _op, .local = SOURCE, \
	.len = _len, .raddr = _raddr, .rkey = _rkey }
	refused(t, "WRITE, bad key", WORK(EP_WRITE, 64, target, bad), EP_ST_REM_ACCESS);
	refused(t, "long WRITE, bad key", WORK(EP_WRITE, 8192, target, bad), EP_ST_REM_ACCESS);
	refused(t, "WRITE_IMM, bad key", WORK(EP_WRITE_IMM, 64, target, bad), EP_ST_REM_ACCESS);
	refused(t, "READ, bad key", WORK(EP_READ, 64, target, bad), EP_ST_REM_ACCESS);
	refused(t, "FETCH_ADD, bad key", WORK(EP_FETCH_ADD, 8, target, bad), EP_ST_REM_ACCESS);
	refused(t, "CMP_SWAP, bad key", WORK(EP_CMP_SWAP, 8, target, bad), EP_ST_REM_ACCESS);
	refused(t, "WRITE, behind the end", WORK(EP_WRITE, 64, end - 32, key), EP_ST_REM_ACCESS);
	refused(t, "READ, behind the end", WORK(EP_READ, 64, end - 32, key), EP_ST_REM_ACCESS);
	refused(t, "WRITE, before the start", WORK(EP_WRITE, 64, t->remote.addr - 1, key),
		EP_ST_REM_ACCESS);
	refused(t, "WRITE, no right", WORK(EP_WRITE, 64, target, t->remote.rkey_read),
		EP_ST_REM_ACCESS);
	refused(t, "FETCH_ADD, no right", WORK(EP_FETCH_ADD, 8, target, t->remote.rkey_read),
		EP_ST_REM_ACCESS);
	if (!(t->active ? t->local : t->remote).aligned_only)
		refused(t, "FETCH_ADD, not aligned", WORK(EP_FETCH_ADD, 8, target + 4, key),
			EP_ST_REM_INV_REQ);
#undef WORK
}

/* A message that is longer than what was posted for it. */
static void too_long(struct test *t)
{
	struct transfer x = {
		.op = EP_SEND,
		.source = SOURCE + GUARD,
		.target = TARGET + GUARD,
		.len = 3 * t->params.mtu,
	};
	const size_t room = t->params.mtu + 16;
	struct ep_done done;

	begin(t, "SEND longer than the receive", x.len);
	fill(t, 0, x.source, x.len);
	guard(t, x.target, x.len);
	if (!t->active)
		ep_post_recv(t->ep, RECV_ID, x.target, room);
	meet(t);
	if (t->active) {
		start(t, &x);
		expect(t, 0, t->remote.status_too_long);
	} else {
		done = next_done(t);
		if (done.wr_id != RECV_ID || !done.status)
			fail(t, "the receive ended with status %d", done.status);
		untouched(t, x.target + room, x.len - room + GUARD);
	}
	meet(t);
	reconnect(t);
}

/* The receive is posted when the sender has met its absence. */
static void receiver_late(struct test *t, enum ep_op op)
{
	struct transfer x = {
		.op = op,
		.source = SOURCE + GUARD,
		.target = TARGET + GUARD,
		.len = 2 * t->params.mtu + 1,
	};

	begin(t, "receiver not ready", x.len);
	prepare_memory(t, &x);
	meet(t);
	if (t->active) {
		start(t, &x);
		meet(t);
		expect(t, x.slot, EP_ST_OK);
	} else {
		meet(t);
		usleep(100000);
		prepare_recv(t, &x);
		expect_recv(t, op, x.slot, x.len);
	}
	meet(t);
	check(t, &x);
	none_left(t);
}

static void receiver_never(struct test *t)
{
	struct transfer x = {
		.op = EP_SEND,
		.source = SOURCE + GUARD,
		.target = TARGET + GUARD,
		.len = 100,
	};

	t->params.rnr_retry = 2;
	reconnect(t);
	begin(t, "receiver never ready", x.len);
	meet(t);
	if (t->active) {
		start(t, &x);
		expect(t, x.slot, EP_ST_RNR_RETRY_EXC);
	}
	meet(t);
	t->params.rnr_retry = 7;
	reconnect(t);
}

/* ------------------------------------------------------------------------- */

static void one_direction(struct test *t, const char *what, size_t max)
{
	unsigned int i;

	sizes(t, max);
	atomics(t);
	for (i = 0; i < 4; i++)
		batch(t);
	receiver_late(t, EP_SEND);
	receiver_late(t, EP_WRITE_IMM);
	if (!strcmp(what, "all")) {
		access_errors(t);
		too_long(t);
		receiver_never(t);
	}
}

static void usage(void)
{
	die("-d device -g GID_index -l|-c control_port [-m mtu] [-s max_size] [-t all|data]");
}

int main(int argc, char **argv)
{
	struct test t = {
		.params = {
			.mtu = 1024,
			.timeout = 17,	/* 0.5 s: emulated CPUs are slow */
			.retry_cnt = 7,
			.rnr_retry = 7,
			.min_rnr_timer = 12,
		},
		.name = "start",
	};
	struct ep_options opt = { .size = BUF_SIZE };
	const char *what = "all";
	size_t max = MIB;
	uint16_t port = 0;
	bool connecting = false;
	int c;

	self = argv[0];
	while ((c = getopt(argc, argv, "d:g:l:c:m:s:t:")) != -1) {
		switch (c) {
		case 'd':
			opt.device = optarg;
			break;
		case 'g':
			opt.gid_index = atoi(optarg);
			break;
		case 'l':
		case 'c':
			port = atoi(optarg);
			connecting = c == 'c';
			break;
		case 'm':
			t.params.mtu = atoi(optarg);
			break;
		case 's':
			max = strtoul(optarg, NULL, 0);
			break;
		case 't':
			what = optarg;
			break;
		default:
			usage();
		}
	}
	if (!opt.device || !port || max > MIB || (strcmp(what, "all") && strcmp(what, "data")))
		usage();

	t.buf = mmap(NULL, BUF_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (t.buf == MAP_FAILED)
		die("no memory for the buffer");
	srandom(getpid());
	opt.buf = t.buf;
	t.ep = ep_open(&opt);
	t.ctl = control(port, connecting);
	reconnect(&t);

	t.active = connecting;
	one_direction(&t, what, max);
	t.active = !connecting;
	one_direction(&t, what, max);

	meet(&t);
	ep_close(t.ep);
	printf("%s: %lu exchanges, mtu %u: verified\n", self, t.exchanges, t.params.mtu);
	return 0;
}
