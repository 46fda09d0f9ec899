// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "adopt.h"
#include "bench.h"
#include "world.h"

#define PORT		1
#define UNITS		256
#define PAGE		4096UL
#define LINK_BYTES	(UNITS * KIWI_WQEBB + PAGE)	/* ring and completion of a queue */
#define LIST_BYTES	(THREADS * 512UL * XPU_CMD_BYTES)
#define KERNEL_US	1000000
#define KERNEL_MS	10000
#define TICK_NS		4000000		/* at 250 Hz */
#define MARGIN_NS	50000
#define LOOKS		64	/* at the queues, before it looks whether it is done */

/* An end of connections: where rings are made, and how far. */
struct side {
	struct kiwi_device *nic;
	struct kiwi_pd *pd;
	struct kiwi_doorbell *db;
	int rings;
	unsigned char *view;	/* the CPU's, of @rings */
	uint64_t used;
};

struct link {
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
};

/* A page of the host's memory that the accelerator can store to, as to a doorbell. */
struct host_page {
	uint64_t *word;
	unsigned int number;
};

static void must(int rc, const char *what)
{
	if (rc < 0)
		die("%s: %s; %s", what, strerror(-rc), kiwi_error());
}

static void side_make(struct side *s, struct kiwi_device *nic, int xpu)
{
	s->nic = nic;
	must(kiwi_pd_alloc(nic, &s->pd), "PD");
	must(kiwi_doorbell_alloc(nic, 0, &s->db), "doorbell");
	s->rings = xpu_alloc(xpu, WAYS * PEERS * LINK_BYTES, 0, 0);
	must(s->rings, "VRAM");
	s->view = xpu_map(s->rings, WAYS * PEERS * LINK_BYTES);
	need(s->view != NULL, "mmap of VRAM");
	s->used = 0;
}

static struct kiwi_ring_mem take(struct side *s, uint64_t length)
{
	struct kiwi_ring_mem mem = { .mem = { KIWI_MEM_DMABUF, s->rings, s->used, length } };

	s->used += (length + PAGE - 1) / PAGE * PAGE;
	return mem;
}

static struct link link_make(struct side *s)
{
	struct kiwi_ring_mem sq = take(s, UNITS * KIWI_WQEBB);
	struct kiwi_ring_mem cqe = take(s, sizeof(struct kiwi_cqe));
	struct kiwi_cq_config cq = {
		.flags = KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED,
		.doorbell = s->db,
		.mem = &cqe,
	};
	struct kiwi_qp_config qp = {
		.doorbell = s->db,
		.sq_units = UNITS,
		.flags = KIWI_QP_SQ_ONLY,
		.sq_mem = &sq,
	};
	struct link l;

	must(kiwi_cq_create(s->nic, &cq, &l.cq), "CQ");
	qp.send_cq = l.cq;
	must(kiwi_qp_create(s->pd, &qp, &l.qp), "QP");
	return l;
}

static void link_connect(struct side *s, struct link *l, struct side *peer, struct link *other)
{
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;
	struct kiwi_connect c;

	must(kiwi_connect_init(s->nic, PORT, &c), "connect");
	must(kiwi_query_port(peer->nic, PORT, &port), "port");
	must(kiwi_query_gid(peer->nic, PORT, c.sgid_index, &gid), "GID");
	c.dest_qpn = other->qp->qpn;
	memcpy(c.dgid, gid.gid, sizeof(c.dgid));
	memcpy(c.dmac, port.mac, sizeof(c.dmac));
	must(kiwi_qp_connect(l->qp, &c), "connect");
}

static int import_page(int xpu, int fd)
{
	uint64_t length;
	int number = xpu_doorbell_import(xpu, fd, &length);

	must(number, "import of a doorbell");
	return number;
}

static void host_page_make(struct host_page *p, int xpu)
{
	struct udmabuf_create create = { .flags = UDMABUF_FLAGS_CLOEXEC, .size = PAGE };
	int maker = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), buf;

	need(maker >= 0, "/dev/udmabuf");
	create.memfd = memfd_create("proxy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	need((int)create.memfd >= 0 && !ftruncate(create.memfd, PAGE) &&
	     !fcntl(create.memfd, F_ADD_SEALS, F_SEAL_SHRINK), "memfd");
	p->word = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, create.memfd, 0);
	need(p->word != MAP_FAILED, "mmap");
	buf = ioctl(maker, UDMABUF_CREATE, &create);
	need(buf >= 0, "UDMABUF_CREATE");
	p->number = import_page(xpu, buf);
	close(maker);
}

static void describe(struct side *s, const struct link *l, struct kiwi_snic_queue_query *sq,
		     struct kiwi_snic_queue_query *cq)
{
	must(kiwi_queue_query(s->nic, l->qp->id, KIWI_QUEUE_SQ, sq), "descriptor");
	must(kiwi_queue_query(s->nic, l->cq->id, KIWI_QUEUE_CQ, cq), "descriptor");
}

static uint32_t adopt(struct world *w, struct side *s, const struct kiwi_snic_queue_query *sq,
		      const struct kiwi_snic_queue_query *cq, unsigned int doorbell)
{
	const struct gpu_queue queue = {
		.sq = sq, .cq = cq,
		.sq_buf = s->rings, .record_buf = -1, .cq_buf = s->rings,
		.error.fd = -1, .proxy.fd = -1,
		.doorbell = doorbell,
	};
	int number = gpu_adopt(w->xpu, &queue);

	must(number, "queue");
	return number;
}

/* A doorbell in the host's memory, whose value is the index alone. */
static void ring_in_memory(struct kiwi_snic_queue_query *sq, unsigned int word)
{
	sq->db_value = 0;
	sq->db_index_shift = 0;
	sq->db_index_bits = 32;
	sq->db_offset = word * sizeof(uint64_t);
}

/*
 * A queue whose other end is the CPU: of the same shape, but the SNIC does not know it. It stands
 * in VRAM as the accelerator has it so, yet the CPU is not charged for reading from there.
 */
static void make_poster(struct world *w, struct side *s, struct host_page *host, unsigned int n,
			const struct kiwi_snic_queue_query *sq_like,
			const struct kiwi_snic_queue_query *cq_like, struct link *l)
{
	struct kiwi_ring_mem ring = take(s, UNITS * KIWI_WQEBB);
	struct kiwi_ring_mem cqe = take(s, sizeof(struct kiwi_cqe));
	struct kiwi_snic_queue_query sq = *sq_like, cq = *cq_like;
	struct kiwi_cq_config cq_config = { .entries = UNITS, .doorbell = s->db };
	struct kiwi_qp_config qp_config = {
		.doorbell = s->db,
		.sq_units = UNITS,
		.flags = KIWI_QP_SQ_ONLY,
	};
	uint32_t progress = cq.progress_offset;

	must(kiwi_cq_create(s->nic, &cq_config, &l->cq), "CQ");
	qp_config.send_cq = l->cq;
	must(kiwi_qp_create(s->pd, &qp_config, &l->qp), "QP");
	sq.ring.addr = ring.mem.addr;
	cq.ring.addr = cqe.mem.addr;
	ring_in_memory(&sq, PEERS + n);
	w->queue[BY_POST][n] = adopt(w, s, &sq, &cq, host->number);
	w->poster[n] = (struct poster) {
		.qp = l->qp,
		.cq = l->cq,
		.producer = &host->word[PEERS + n],
		.ring = s->view + ring.mem.addr,
		.mask = UNITS - 1,
		.done = (uint64_t *)(s->view + cqe.mem.addr + progress / 8 * 8),
		.done_shift = progress % 8 * 8,
	};
}

static void make_peer(struct world *w, struct side *near, struct side *far, unsigned int page,
		      struct host_page *host, unsigned int n)
{
	struct kiwi_snic_queue_query sq, cq;
	struct link a[WAYS];
	enum way way;

	a[BY_GPU] = link_make(near);
	describe(near, &a[BY_GPU], &sq, &cq);
	w->queue[BY_GPU][n] = adopt(w, near, &sq, &cq, page);
	make_poster(w, near, host, n, &sq, &cq, &a[BY_POST]);
	a[BY_RING] = link_make(near);
	describe(near, &a[BY_RING], &sq, &cq);
	must(kiwi_proxy_init(&w->proxy[n], &sq, near->db, &host->word[n]), "proxy");
	ring_in_memory(&sq, n);
	w->queue[BY_RING][n] = adopt(w, near, &sq, &cq, host->number);
	for (way = BY_GPU; way < WAYS; way++) {
		struct link b = link_make(far);

		link_connect(near, &a[way], far, &b);
		link_connect(far, &b, near, &a[way]);
	}
}

static void make_queues(struct world *w, struct side *near, struct side *far)
{
	struct kiwi_snic_doorbell_export e;
	struct host_page host;
	unsigned int page, n;

	must(kiwi_doorbell_export(near->db, &e), "export");
	page = import_page(w->xpu, e.fd);
	host_page_make(&host, w->xpu);
	for (n = 0; n < PEERS; n++)
		make_peer(w, near, far, page, &host, n);
}

static void *map(int buf, uint64_t length)
{
	void *at = xpu_map(buf, length);

	need(at != NULL, "mmap of VRAM");
	return at;
}

void world_make(struct world *w)
{
	struct side near, far;

	must(kiwi_open("snic0", &w->near), "snic0");
	must(kiwi_open("snic1", &w->far), "snic1");
	w->xpu = xpu_open(0);
	must(w->xpu, "xpu0");
	w->data = xpu_alloc(w->xpu, DATA_BYTES, 0, 0);
	w->list = xpu_alloc(w->xpu, LIST_BYTES, 0, 0);
	must(w->data, "VRAM");
	must(w->list, "VRAM");
	w->mem = map(w->data, DATA_BYTES);
	w->cmd = map(w->list, LIST_BYTES);
	side_make(&near, w->near, w->xpu);
	side_make(&far, w->far, w->xpu);
	must(kiwi_mr_reg_dmabuf(near.pd, w->data, 0, DATA_BYTES, 1UL << 32, KIWI_ACCESS_ALL,
				&w->local), "region");
	must(kiwi_mr_reg_dmabuf(far.pd, w->data, 0, DATA_BYTES, 2UL << 32, KIWI_ACCESS_ALL,
				&w->remote), "region");
	make_queues(w, &near, &far);
}

/* The commands of each thread, behind a delay. */
static uint32_t launch(struct world *w, const struct program *p, uint64_t delay_ns)
{
	const uint32_t count = p->count + 1;
	const int bufs[] = { w->data };
	uint32_t t, kernel;

	need(p->threads * count * sizeof(*w->cmd) <= LIST_BYTES, "the list is too short");
	for (t = p->threads; t--;) {
		struct xpu_cmd *cmd = &w->cmd[t * count];

		memmove(cmd + 1, &w->cmd[t * p->count], p->count * sizeof(*cmd));
		cmd[0] = (struct xpu_cmd){ .op = XPU_OP_DELAY, .value = delay_ns };
	}
	must(xpu_launch(w->xpu, w->list, count, p->threads, bufs, 1, KERNEL_US, &kernel),
	     "launch");
	return kernel;
}

static void ring(struct world *w, uint32_t queues)
{
	uint32_t n;

	for (n = 0; n < queues; n++)
		if (kiwi_proxy_poll(&w->proxy[n], 1))
			stall(stall_load + stall_store);
}

static void post(struct world *w, uint32_t queues)
{
	uint32_t n;

	for (n = 0; n < queues; n++)
		poster_poll(&w->poster[n]);
}

static void serve_rings(struct world *w, const struct program *p)
{
	uint64_t end[PEERS];
	uint32_t n;
	int i;

	for (n = 0; n < p->queues; n++)
		end[n] = w->proxy[n].rung + p->entries;
	for (n = 0; n < p->queues; n++)
		while (w->proxy[n].rung != end[n])
			for (i = 0; i < LOOKS; i++)
				ring(w, p->queues);
}

static void serve_posts(struct world *w, const struct program *p)
{
	uint64_t end[PEERS];
	uint32_t n;
	int i;

	for (n = 0; n < p->queues; n++)
		end[n] = w->poster[n].completed + p->entries;
	for (n = 0; n < p->queues; n++)
		while (w->poster[n].completed != end[n])
			for (i = 0; i < LOOKS; i++)
				post(w, p->queues);
}

/*
 * The CPU's clock interrupts it every few milliseconds, which are more than any run takes: just
 * behind such an interrupt, all runs are alike.
 */
static void after_tick(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	t.tv_nsec += TICK_NS + MARGIN_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

uint64_t world_run(struct world *w, const struct program *p, enum way how, uint64_t delay_ns)
{
	struct xpu_wait wait;
	uint32_t kernel;

	after_tick();
	kernel = launch(w, p, delay_ns);
	if (how == BY_RING)
		serve_rings(w, p);
	else if (how == BY_POST)
		serve_posts(w, p);
	must(xpu_wait(w->xpu, kernel, KERNEL_MS, &wait), "wait");
	if (wait.state != XPU_EX_DONE)
		die("kernel: state %u fault %u thread %u command %u detail %u", wait.state,
		    wait.fault, wait.thread, wait.command, wait.detail);
	return wait.time_ns - delay_ns;
}

/* The device ignores a doorbell that tells nothing new. */
uint32_t world_ring_cost(struct world *w)
{
	uint64_t rung = w->proxy[0].rung;
	uint32_t idle = LEAST(, kiwi_proxy_poll(w->proxy, 1), (void)0);
	uint32_t one = LEAST(w->proxy[0].rung = ~rung, kiwi_proxy_poll(w->proxy, 1), (void)0);

	return one - idle;
}

/* The last request once more, and its completion. */
uint32_t world_post_cost(struct world *w)
{
	struct poster *p = &w->poster[0];
	uint32_t load = stall_load, store = stall_store, idle, one, done;

	stall_load = stall_store = 0;
	idle = LEAST(, poster_poll(p), (void)0);
	one = LEAST(p->taken--, poster_poll(p), usleep(1000); poster_poll(p));
	done = LEAST(p->taken--; poster_poll(p); usleep(1000), poster_poll(p), (void)0);
	stall_load = load;
	stall_store = store;
	return one + done - 2 * idle;
}
