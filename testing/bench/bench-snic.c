// SPDX-License-Identifier: GPL-2.0
/*
 * The operations on the SNIC, through libkiwi. A queue pair of one SNIC talks to
 * one of another.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kiwi/kiwi.h>

#include "../xpu/xpu.h"
#include "bench.h"

#define WHO "snic"
#define PORT 1
#define DEPTH 64

struct side {
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_mr *mr;
	uint8_t *page;
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

	report(WHO, "post_send", LEAST(, n = kiwi_post_send_ring(qp, OPAQUE(&wr)),
				       need(!n && poll_until(cq, &wc), "post_send")));
	report(WHO, "poll_cq_hit", LEAST(need(!kiwi_post_send_ring(qp, &wr), "post_send");
					 usleep(10000),
					 n = kiwi_poll_cq(cq, OPAQUE(&wc), 1),
					 need(n == 1 && wc.status == KIWI_CQE_ST_OK, "poll_cq")));
	report(WHO, "poll_cq_empty", LEAST(, n = kiwi_poll_cq(cq, OPAQUE(&wc), 1),
					   need(!n, "poll_cq")));
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
	close_side(&side);
	close_side(&peer);
}
