// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "adopt.h"
#include "world.h"

#define UNITS		64
#define CQ_ENTRIES	16
#define LIST_BYTES	(XPU_CMD_BYTES * 8192UL)
#define PROXY		(RANK_BYTES - LINKS_MAX * 8)	/* words for the proxy */
#define ACK_TIMEOUT	18	/* the machine may stand still for a while */

static void must(int rc, const char *what)
{
	if (rc < 0)
		printf("  %s: %s, %s\n", what, strerror(-rc), kiwi_error());
	EQUAL(rc < 0, 0);
}

/* Memory ----------------------------------------------------------------------- */

static uint64_t link_bytes(const struct world_config *config)
{
	return (config->units * (uint64_t)KIWI_WQEBB + PAGE - 1) / PAGE * PAGE + PAGE;
}

static struct kiwi_ring_mem part(const struct rank *r, uint64_t offset, uint64_t length)
{
	return (struct kiwi_ring_mem) {
		.mem = { KIWI_MEM_DMABUF, r->rings, offset, length },
	};
}

static int make_buffer(struct rank *r, uint64_t length)
{
	int buf = xpu_alloc(r->xpu, length, 0, 0);

	must(buf, "VRAM");
	return buf;
}

static void *map_buffer(int buf, uint64_t length)
{
	void *at = xpu_map(buf, length);

	CHECK(at);
	return at;
}

/* Before any queue, so that each has a word. */
static void make_errors(struct rank *r)
{
	struct kiwi_ring_mem mem;

	r->errors = make_buffer(r, KIWI_ERROR_PAGE_BYTES);
	mem = (struct kiwi_ring_mem) {
		.mem = { KIWI_MEM_DMABUF, r->errors, 0, KIWI_ERROR_PAGE_BYTES },
		.cpu = map_buffer(r->errors, KIWI_ERROR_PAGE_BYTES),
	};
	must(kiwi_error_page(r->nic, &mem, &r->error), "error page");
}

static void make_memory(struct rank *r, const struct world_config *config)
{
	r->data = make_buffer(r, RANK_BYTES);
	r->list = make_buffer(r, LIST_BYTES);
	r->rings = make_buffer(r, LINKS_MAX * link_bytes(config));
	r->mem = map_buffer(r->data, RANK_BYTES);
	r->cmd = map_buffer(r->list, LIST_BYTES);
	must(kiwi_mr_reg_dmabuf(r->pd, r->data, 0, RANK_BYTES, ((uint64_t)r->number + 1) << 32,
				KIWI_ACCESS_ALL, &r->mr), "region");
}

/* Queues ----------------------------------------------------------------------- */

/* Where the CPU rings, the accelerator needs no page. */
static void make_page(struct rank *r, struct page *page, const struct world_config *config)
{
	struct kiwi_snic_doorbell_export e;
	uint64_t length;
	int number;

	must(kiwi_doorbell_alloc(r->nic, 0, &page->db), "doorbell");
	if (config->proxy)
		return;
	must(kiwi_doorbell_export(page->db, &e), "export");
	page->fd = e.fd;
	number = config->keep_pages ? xpu_doorbell_keep(r->xpu, e.fd, &length) :
				      xpu_doorbell_import(r->xpu, e.fd, &length);
	must(number, "import of a doorbell");
	EQUAL(length, e.length);
	page->number = number;
}

static void link_cq(struct rank *r, struct link *l, const struct world_config *config)
{
	uint32_t entries = config->phase ? CQ_ENTRIES : 1;
	struct kiwi_ring_mem mem = part(r, l->at + link_bytes(config) - PAGE,
					config->phase ? kiwi_cq_bytes(entries) :
							sizeof(struct kiwi_cqe));
	struct kiwi_cq_config c = {
		.entries = entries,
		.flags = config->phase ? 0 : KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED,
		.doorbell = l->page.db,
		.mem = &mem,
	};

	must(kiwi_cq_create(r->nic, &c, &l->cq), "CQ");
}

static void link_qp(struct rank *r, struct link *l, const struct world_config *config)
{
	struct kiwi_ring_mem sq = part(r, l->at, config->units * (uint64_t)KIWI_WQEBB);
	struct kiwi_ring_mem record = part(r, l->at + link_bytes(config) - 64,
					   sizeof(struct kiwi_qp_db_record));
	struct kiwi_qp_config c = {
		.send_cq = l->cq,
		.doorbell = l->page.db,
		.sq_units = config->units,
		.flags = KIWI_QP_SQ_ONLY | (config->no_record ? 0 : KIWI_QP_DB_RECORD),
		.sq_mem = &sq,
		.record_mem = config->no_record ? NULL : &record,
	};

	must(kiwi_qp_create(r->pd, &c, &l->qp), "QP");
}

void link_make(struct rank *r, struct link *l, unsigned int place,
	       const struct world_config *config)
{
	l->at = place * link_bytes(config);
	if (config->own_pages)
		make_page(r, &l->page, config);
	else
		l->page = r->page;
	link_cq(r, l, config);
	link_qp(r, l, config);
}

/* By the descriptors alone. */
void link_adopt(struct rank *r, struct link *l, const struct world_config *config)
{
	struct kiwi_snic_queue_query sq, cq;
	const uint64_t word = PROXY + 8 * (l - r->link);
	struct gpu_queue queue = {
		.sq = &sq, .cq = &cq,
		.sq_buf = r->rings, .record_buf = r->rings, .cq_buf = r->rings,
		.error.fd = r->errors, .proxy.fd = -1,
		.doorbell = l->page.number,
	};
	int number;

	if (config->proxy)
		queue.proxy = (struct xpu_mem) { .fd = r->data, .offset = word };
	must(kiwi_queue_query(r->nic, l->qp->id, KIWI_QUEUE_SQ, &sq), "descriptor");
	must(kiwi_queue_query(r->nic, l->cq->id, KIWI_QUEUE_CQ, &cq), "descriptor");
	number = gpu_adopt(r->xpu, &queue);
	must(number, "queue");
	l->queue = number;
	if (config->proxy) {
		must(kiwi_proxy_init(&r->proxy[r->proxies], &sq, l->page.db, word_at(r, word)),
		     "proxy");
		__atomic_store_n(&r->proxies, r->proxies + 1, __ATOMIC_RELEASE);
	}
}

void link_connect(struct rank *r, struct link *l, const struct rank *peer,
		  const struct link *other, const struct world_config *config)
{
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;
	struct kiwi_connect c;

	must(kiwi_query_port(peer->nic, 1, &port), "port");
	must(kiwi_query_gid(peer->nic, 1, 0, &gid), "GID");
	must(kiwi_connect_init(r->nic, 1, &c), "connect");
	c.dest_qpn = other->qp->qpn;
	c.timeout = config->ack_timeout ? config->ack_timeout : ACK_TIMEOUT;
	memcpy(c.dgid, gid.gid, sizeof(c.dgid));
	memcpy(c.dmac, port.mac, sizeof(c.dmac));
	must(kiwi_qp_connect(l->qp, &c), "connect");
}

void link_drop(struct link *l, const struct world_config *config)
{
	must(kiwi_qp_destroy(l->qp), "destroy a QP");
	must(kiwi_cq_destroy(l->cq), "destroy a CQ");
	if (config->own_pages)
		must(kiwi_doorbell_free(l->page.db), "destroy a doorbell");
}

void link_forget(struct rank *r, struct link *l, const struct world_config *config)
{
	must(xpu_queue_remove(r->xpu, l->queue), "remove a queue");
	if (!config->own_pages)
		return;
	must(xpu_doorbell_release(r->xpu, l->page.number), "release a doorbell");
	close(l->page.fd);
}

/* World ------------------------------------------------------------------------ */

void rank_open(struct rank *r, unsigned int number)
{
	const char *const nic[] = { "snic0", "snic1" };

	r->number = number;
	must(kiwi_open(nic[number % 2], &r->nic), "open");
	r->xpu = xpu_open(number % 2);
	must(r->xpu, "open of an xpu");
}

void rank_make(struct rank *r, const struct world_config *config)
{
	must(kiwi_pd_alloc(r->nic, &r->pd), "PD");
	r->errors = -1;
	if (config->errors)
		make_errors(r);
	make_memory(r, config);
	if (!config->own_pages)
		make_page(r, &r->page, config);
}

struct link *link_of(struct world *w, unsigned int from, unsigned int to, unsigned int n)
{
	unsigned int place = (to - (to > from)) * w->config.links + n;

	CHECK(from != to && place < LINKS_MAX);
	return &w->rank[from].link[place];
}

void world_make(struct world *w, const struct world_config *config)
{
	unsigned int a, b, n, links;

	memset(w, 0, sizeof(*w));
	w->config = *config;
	if (!config->links)
		w->config.links = 1;
	if (!config->units)
		w->config.units = UNITS;
	links = (config->ranks - 1) * w->config.links;
	for (a = 0; a < config->ranks; a++)
		rank_open(&w->rank[a], a);
	if (config->unprivileged)
		drop_privileges();
	for (a = 0; a < config->ranks; a++) {
		rank_make(&w->rank[a], &w->config);
		for (n = 0; n < links; n++)
			link_make(&w->rank[a], &w->rank[a].link[n], n, &w->config);
	}
	for (a = 0; a < config->ranks; a++) {
		for (b = 0; b < config->ranks; b++) {
			for (n = 0; a != b && n < w->config.links; n++)
				link_connect(&w->rank[a], link_of(w, a, b, n), &w->rank[b],
					     link_of(w, b, a, n), &w->config);
		}
		for (n = 0; n < links; n++)
			link_adopt(&w->rank[a], &w->rank[a].link[n], &w->config);
	}
}

/* Commands --------------------------------------------------------------------- */

uint64_t iova(const struct rank *r, uint64_t offset)
{
	return r->mr->iova + offset;
}

uint64_t *word_at(struct rank *r, uint64_t offset)
{
	return (uint64_t *)(r->mem + offset);
}

struct xpu_cmd put(const struct link *l, const struct rank *r, uint64_t from,
		   const struct rank *peer, uint64_t to, uint32_t length)
{
	return (struct xpu_cmd) {
		.op = XPU_OP_PUT, .queue = l->queue, .length = length,
		.laddr = iova(r, from), .lkey = r->mr->key,
		.raddr = iova(peer, to), .rkey = peer->mr->key,
	};
}

struct xpu_cmd get(const struct link *l, const struct rank *r, uint64_t to,
		   const struct rank *peer, uint64_t from, uint32_t length)
{
	struct xpu_cmd cmd = put(l, r, to, peer, from, length);

	cmd.op = XPU_OP_GET;
	return cmd;
}

struct xpu_cmd fetch_add(const struct link *l, const struct rank *r, uint64_t old,
			 const struct rank *peer, uint64_t word, uint64_t addend)
{
	struct xpu_cmd cmd = put(l, r, old, peer, word, 0);

	cmd.op = XPU_OP_FETCH_ADD;
	cmd.value = addend;
	return cmd;
}

struct xpu_cmd quiet(const struct link *l)
{
	return (struct xpu_cmd){ .op = XPU_OP_QUIET, .queue = l->queue };
}

struct xpu_cmd wait_for(uint64_t offset, uint64_t value)
{
	return (struct xpu_cmd){ .op = XPU_OP_WAIT, .offset = offset, .value = value };
}

struct xpu_cmd store(uint64_t offset, uint64_t value)
{
	return (struct xpu_cmd){ .op = XPU_OP_STORE, .offset = offset, .value = value };
}

/* Kernels ---------------------------------------------------------------------- */

uint32_t begin_list(struct rank *r, int list, uint32_t count, uint32_t threads)
{
	const int bufs[] = { r->data, r->errors };
	uint32_t kernel;

	must(xpu_launch(r->xpu, list, count, threads, bufs, 2, KERNEL_US, &kernel), "launch");
	return kernel;
}

uint32_t begin(struct rank *r, uint32_t count, uint32_t threads)
{
	return begin_list(r, r->list, count, threads);
}

struct xpu_wait outcome(struct rank *r, uint32_t kernel)
{
	struct xpu_wait wait;

	must(xpu_wait(r->xpu, kernel, KERNEL_MS, &wait), "wait");
	return wait;
}

void done(struct rank *r, uint32_t kernel)
{
	struct xpu_wait wait = outcome(r, kernel);

	if (wait.state != XPU_EX_DONE)
		printf("  rank %u: state %u fault %u thread %u command %u detail %u\n", r->number,
		       wait.state, wait.fault, wait.thread, wait.command, wait.detail);
	EQUAL(wait.state, XPU_EX_DONE);
}

void run_list(struct rank *r, const struct xpu_cmd *cmd, uint32_t count)
{
	memcpy(r->cmd, cmd, count * sizeof(*cmd));
	done(r, begin(r, count, 1));
}

double uptime(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec + now.tv_nsec * 1e-9;
}

void scramble(void *at, size_t length)
{
	static uint64_t state = 0x9e3779b97f4a7c15;
	uint8_t *byte = at;

	while (length--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		*byte++ = state >> 32;
	}
}
