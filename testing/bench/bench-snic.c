// SPDX-License-Identifier: GPL-2.0
/*
 * The operations on the SNIC, through libkiwi. A queue pair of one SNIC talks to
 * one of another.
 */
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <kiwi/kiwi.h>

#include "../xpu/xpu.h"
#include "bench.h"
#include "counts.h"
#include "snic-path.h"

#define WHO "snic"
#define PORT 1
#define DEPTH 64

#define MESSAGES 1024	/* of each pattern */
#define DATA 65536

struct side {
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_mr *mr;	/* one page */
	struct kiwi_mr *data;
	uint8_t *page;
	int event_fd;
};

struct pattern {
	const char *name;
	uint8_t opcode;
	uint32_t len;
	int list;
	int events;
};

static void must(int rc, const char *what)
{
	if (rc)
		die("%s: %s", what, kiwi_error());
}

static void open_side(struct side *s, const char *name)
{
	must(kiwi_open(name, &s->dev), name);
	must(kiwi_pd_alloc(s->dev, &s->pd), "pd_alloc");
	s->page = pages(1, PAGES_SMALL);
	must(kiwi_mr_reg(s->pd, s->page, 4096, KIWI_ACCESS_ALL, &s->mr), "mr_reg");
}

static void register_data(struct side *s)
{
	must(kiwi_mr_reg(s->pd, pages(DATA / 4096, PAGES_SMALL), DATA, KIWI_ACCESS_ALL, &s->data),
	     "mr_reg");
}

static void close_side(struct side *s)
{
	must(kiwi_qp_destroy(s->qp), "qp_destroy");
	must(kiwi_cq_destroy(s->cq), "cq_destroy");
	must(kiwi_mr_dereg(s->mr), "mr_dereg");
	must(kiwi_pd_free(s->pd), "pd_free");
	kiwi_close(s->dev);
}

static void reg_mr(struct kiwi_pd *pd, unsigned long count, enum pages_kind kind,
		   const char *what)
{
	const unsigned int access = KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_WRITE |
				    KIWI_ACCESS_REMOTE_READ;
	void *p = pages(count, kind);
	struct kiwi_mr *mr;
	int rc;

	report(WHO, what, LEAST(, rc = kiwi_mr_reg(pd, p, count * 4096, access, &mr),
				must(rc, what); must(kiwi_mr_dereg(mr), what)));
}

static void reg_dmabuf(struct kiwi_pd *pd)
{
	const uint64_t len = 1ULL << 30;
	struct kiwi_snic_mr_query query;
	struct kiwi_mr *mr;
	int xpu, buf, rc;

	xpu = xpu_open(0);
	need(xpu >= 0, "xpu_open");
	buf = xpu_alloc(xpu, len, 0, 0);
	need(buf >= 0, "xpu_alloc");
	report(WHO, "mr_reg_dmabuf_1g",
	       LEAST(, rc = kiwi_mr_reg_dmabuf(pd, buf, 0, len, 0, KIWI_ACCESS_ALL, &mr),
		     must(rc, "mr_reg_dmabuf");
		     must(kiwi_mr_query(mr, &query), "mr_query");
		     must(kiwi_mr_dereg(mr), "mr_dereg")));
	printf("%s pbl_entries_dmabuf_1g %u\n", WHO, query.pbl_entries);
	close(buf);
	close(xpu);
}

static void create_queues(struct side *s)
{
	struct kiwi_cq_config cq = { .entries = DEPTH };
	struct kiwi_qp_config qp = {
		.sq_units = DEPTH,
		.rq_entries = DEPTH,
		.recv_sge = 1,
	};
	int rc;

	report(WHO, "cq_create", LEAST(, rc = kiwi_cq_create(s->dev, &cq, &s->cq),
				       must(rc, "cq_create"); must(kiwi_cq_destroy(s->cq), "cq")));
	s->event_fd = eventfd(0, 0);
	need(s->event_fd >= 0, "eventfd");
	cq.event_fd = s->event_fd;
	must(kiwi_cq_create(s->dev, &cq, &s->cq), "cq_create");
	qp.send_cq = s->cq;
	report(WHO, "qp_create", LEAST(, rc = kiwi_qp_create(s->pd, &qp, &s->qp),
				       must(rc, "qp_create"); must(kiwi_qp_destroy(s->qp), "qp")));
	must(kiwi_qp_create(s->pd, &qp, &s->qp), "qp_create");
}

static void connect_side(struct side *s, struct side *peer)
{
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;
	struct kiwi_connect c;

	must(kiwi_connect_init(s->dev, PORT, &c), "connect_init");
	must(kiwi_query_port(peer->dev, PORT, &port), "query_port");
	must(kiwi_query_gid(peer->dev, PORT, c.sgid_index, &gid), "query_gid");
	c.dest_qpn = peer->qp->qpn;
	memcpy(c.dmac, port.mac, sizeof(c.dmac));
	memcpy(c.dgid, gid.gid, sizeof(c.dgid));
	must(kiwi_qp_connect(s->qp, &c), "qp_connect");
}

static int poll_until(struct kiwi_cq *cq, struct kiwi_wc *wc)
{
	int i;

	for (i = 0; i < 10000; i++) {
		if (kiwi_poll_cq(cq, wc, 1))
			return wc->status == KIWI_CQE_ST_OK;
		usleep(100);
	}
	return 0;
}

static void data_path(struct side *s, struct side *peer)
{
	struct kiwi_sg sg = {
		.addr = (uintptr_t)s->page,
		.lkey = s->mr->key,
		.len = 8,
	};
	struct kiwi_send_wr wr = {
		.sg = &sg,
		.num_sg = 1,
		.opcode = KIWI_WQE_WRITE,
		.flags = KIWI_WQE_SIGNALED,
		.rkey = peer->mr->key,
		.raddr = (uintptr_t)peer->page,
	};
	struct kiwi_qp *qp = s->qp;
	struct kiwi_cq *cq = s->cq;
	struct kiwi_wc wc;
	int n;

	report(WHO, "post_send", LEAST_OF(, count_post_write(qp, sg.addr, sg.lkey, sg.len, wr.raddr,
							     wr.rkey, &n),
					  need(!n && poll_until(cq, &wc), "post_send")));
	report(WHO, "post_send_any", LEAST_OF(, count_post_any(qp, &wr, &n),
					      need(!n && poll_until(cq, &wc), "post_send")));
	report(WHO, "poll_cq_hit", LEAST_OF(need(!kiwi_post_send_ring(qp, &wr), "post_send");
					    usleep(10000),
					    count_poll(cq, &wc, &n),
					    need(n == 1 && wc.status == KIWI_CQE_ST_OK, "poll_cq")));
	report(WHO, "poll_cq_empty", LEAST_OF(, count_poll(cq, &wc, &n), need(!n, "poll_cq")));
}

/* Signalled work in lists of one doorbell, polled for; or one by one, each with an event. */
static void messages(struct side *s, struct side *peer, struct pattern *p)
{
	struct kiwi_sg sg = {
		.addr = s->data->iova,
		.lkey = s->data->key,
		.len = p->len,
	};
	struct kiwi_send_wr wr[DEPTH];
	struct counts before, after;
	struct kiwi_wc wc[DEPTH];
	eventfd_t events;
	int i, n, done;

	for (i = 0; i < p->list; i++)
		wr[i] = (struct kiwi_send_wr){
			.sg = &sg,
			.num_sg = 1,
			.opcode = p->opcode,
			.flags = KIWI_WQE_SIGNALED,
			.rkey = peer->data->key,
			.raddr = peer->data->iova,
		};
	counts_begin(&before, kiwi_device_name(s->dev), PORT);
	for (n = 0; n < MESSAGES; n += p->list) {
		if (p->events)
			kiwi_cq_arm(s->cq, 0);
		if (kiwi_post_send_list(s->qp, wr, p->list) != p->list)
			die("%s: the send queue is full", p->name);
		if (p->events)
			need(!eventfd_read(s->event_fd, &events), "eventfd_read");
		for (done = 0; done < p->list;) {
			i = kiwi_poll_cq(s->cq, wc, DEPTH);
			if (i && wc[0].status != KIWI_CQE_ST_OK)
				die("%s: %s", p->name, kiwi_status_text(wc[0].status));
			done += i;
		}
	}
	counts_end(&after, kiwi_device_name(s->dev), PORT);
	counts_report(p->name, &before, &after, MESSAGES);
}

static void count_messages(struct side *s, struct side *peer)
{
	static struct pattern pattern[] = {
		{ "write_8_single", KIWI_WQE_WRITE, 8, 1, 0 },
		{ "write_8_event", KIWI_WQE_WRITE, 8, 1, 1 },
		{ "write_8_list64", KIWI_WQE_WRITE, 8, 64, 0 },
		{ "write_64k_list64", KIWI_WQE_WRITE, 65536, 64, 0 },
		{ "read_64k_list64", KIWI_WQE_READ, 65536, 64, 0 },
	};
	unsigned int i;

	register_data(s);
	register_data(peer);
	for (i = 0; i < sizeof(pattern) / sizeof(*pattern); i++)
		messages(s, peer, &pattern[i]);
	must(kiwi_mr_dereg(s->data), "mr_dereg");
	must(kiwi_mr_dereg(peer->data), "mr_dereg");
}

void bench_snic(const char *device, const char *peer_device)
{
	struct side side, peer;

	open_side(&side, device);
	open_side(&peer, peer_device);
	reg_mr(side.pd, 1, PAGES_SMALL, "mr_reg_1");
	reg_mr(side.pd, 256, PAGES_SMALL, "mr_reg_256");
	reg_mr(side.pd, 4096, PAGES_AS_GIVEN, "mr_reg_4096");
	reg_mr(side.pd, 4096, PAGES_SMALL, "mr_reg_4096_small");
	reg_dmabuf(side.pd);
	create_queues(&side);
	create_queues(&peer);
	connect_side(&side, &peer);
	connect_side(&peer, &side);
	data_path(&side, &peer);
	count_messages(&side, &peer);
	close_side(&side);
	close_side(&peer);
}
