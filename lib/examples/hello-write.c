// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * The smallest complete program: one SNIC writes a line into memory of another.
 * Both are in this host; with two hosts, what struct side holds goes over a socket.
 */
#include <kiwi/kiwi.h>

#include <stdio.h>
#include <stdlib.h>

#define SIZE 4096

struct side {
	struct kiwi_device *dev;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_mr *mr;
	char *memory;
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;
};

static void must(int rc)
{
	if (!rc)
		return;
	fprintf(stderr, "hello-write: %s\n", kiwi_error());
	exit(1);
}

static void open_side(struct side *s, const char *name)
{
	struct kiwi_cq_config cq_config = { .entries = 16, .event_fd = -1 };
	struct kiwi_qp_config qp_config = { .sq_units = 16, .rq_entries = 1, .recv_sge = 1 };
	struct kiwi_pd *pd;

	must(kiwi_open(name, &s->dev));
	must(kiwi_pd_alloc(s->dev, &pd));
	s->memory = kiwi_memory_alloc(SIZE);
	if (!s->memory)
		exit(1);
	must(kiwi_mr_reg(pd, s->memory, SIZE, KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_WRITE,
			 &s->mr));
	must(kiwi_cq_create(s->dev, &cq_config, &s->cq));
	qp_config.send_cq = s->cq;
	must(kiwi_qp_create(pd, &qp_config, &s->qp));
	must(kiwi_query_port(s->dev, 1, &s->port));
	must(kiwi_query_gid(s->dev, 1, 0, &s->gid));
}

static void connect_to(struct side *s, const struct side *peer)
{
	struct kiwi_connect c;

	must(kiwi_connect_init(s->dev, 1, &c));
	c.dest_qpn = peer->qp->qpn;
	memcpy(c.dgid, peer->gid.gid, sizeof(c.dgid));
	memcpy(c.dmac, peer->port.mac, sizeof(c.dmac));
	must(kiwi_qp_connect(s->qp, &c));
}

int main(int argc, char **argv)
{
	struct side here = { 0 }, there = { 0 };
	struct kiwi_send_wr wr = {
		.opcode = KIWI_WQE_WRITE,
		.flags = KIWI_WQE_SIGNALED,
		.num_sg = 1,
	};
	struct kiwi_sg sg;
	struct kiwi_wc wc;

	open_side(&here, argc > 1 ? argv[1] : "snic0");
	open_side(&there, argc > 2 ? argv[2] : "snic1");
	connect_to(&here, &there);
	connect_to(&there, &here);

	sg.len = (uint32_t)snprintf(here.memory, SIZE, "Hello over RDMA!") + 1;
	sg.addr = here.mr->iova;
	sg.lkey = here.mr->key;
	wr.sg = &sg;
	wr.raddr = there.mr->iova;
	wr.rkey = there.mr->key;
	must(kiwi_post_send_ring(here.qp, &wr));
	while (!kiwi_poll_cq(here.cq, &wc, 1))
		;
	if (wc.status != KIWI_CQE_ST_OK) {
		fprintf(stderr, "hello-write: %s\n", kiwi_status_text(wc.status));
		return 1;
	}
	printf("%s has: %s\n", kiwi_device_name(there.dev), there.memory);

	kiwi_close(here.dev);
	kiwi_close(there.dev);
	kiwi_memory_free(here.memory, SIZE);
	kiwi_memory_free(there.memory, SIZE);
	return 0;
}
