// SPDX-License-Identifier: GPL-2.0
/*
 * window-test: memory of xpu1, which g2g1 exports, is imported by g2g0 and registered with snic0
 * as it lies in the window. Then snic1, with memory of xpu1 of its own, reads and writes it: over
 * the network to snic0, from there over the fabric. And the reverse: what the CPU stores through
 * the window into memory that is a region of snic1, too, is read over the network.
 *
 *	exchange	both, of several sizes; the engine of xpu1 checks what is where
 *	revoke		the export is revoked: the region is too, and the peer's WRITE is refused
 *
 * The dies have a session before. The exit status tells whether all went well; if not, the last
 * line printed is what did not.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <kiwi/fabric.h>

#include "common.h"

#define LENGTH		((uint64_t)0x20000)
#define OTHER		LENGTH		/* where the second half of snic1's memory begins */
#define PATIENCE	60000		/* ms */
#define ACCESS		(KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_READ)
#define RIGHTS		(KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_READ)

/* A SNIC, and the one region that its QP works with */
struct snic {
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_mr *mr;
};

static void snic_open(struct snic *s, const char *name, int buf, uint64_t length)
{
	struct kiwi_cq_config cq = { .entries = 16, .event_fd = -1 };
	struct kiwi_qp_config qp = { .sq_units = 16, .rq_entries = 1, .recv_sge = 1 };
	struct kiwi_snic_mr_query q;

	must(kiwi_open(name, &s->dev));
	must(kiwi_pd_alloc(s->dev, &s->pd));
	must(kiwi_mr_reg_dmabuf(s->pd, buf, 0, length, 0, ACCESS, &s->mr));
	must(kiwi_cq_create(s->dev, &cq, &s->cq));
	qp.send_cq = s->cq;
	must(kiwi_qp_create(s->pd, &qp, &s->qp));
	must(kiwi_mr_query(s->mr, &q));
	printf("%s path=%s\n", name, kiwi_path_text(q.path));
}

static void snic_connect(struct snic *s, struct snic *peer)
{
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;
	struct kiwi_connect c;

	must(kiwi_query_port(peer->dev, 1, &port));
	must(kiwi_query_gid(peer->dev, 1, 0, &gid));
	must(kiwi_connect_init(s->dev, 1, &c));
	c.dest_qpn = peer->qp->qpn;
	c.access = RIGHTS;
	memcpy(c.dgid, gid.gid, sizeof(c.dgid));
	memcpy(c.dmac, port.mac, sizeof(c.dmac));
	must(kiwi_qp_connect(s->qp, &c));
}

/* One request of @s, from or to @at of its region, to or from @there of @peer's: its status */
static unsigned int request(struct snic *s, unsigned int opcode, uint64_t at,
			    const struct snic *peer, uint64_t there, uint32_t length)
{
	struct kiwi_sg sg = { .addr = at, .lkey = s->mr->key, .len = length };
	struct kiwi_send_wr wr = { .opcode = (uint8_t)opcode, .flags = KIWI_WQE_SIGNALED,
				   .sg = &sg, .num_sg = 1, .raddr = there,
				   .rkey = peer->mr->key };
	struct kiwi_wc wc;

	must(kiwi_post_send_ring(s->qp, &wr));
	while (!kiwi_poll_cq(s->cq, &wc, 1))
		;
	return wc.status;
}

static void request_ok(struct snic *s, unsigned int opcode, uint64_t at,
		       const struct snic *peer, uint64_t there, uint32_t length)
{
	unsigned int status = request(s, opcode, at, peer, there, length);

	if (status != KIWI_CQE_ST_OK)
		fail("%u bytes at %#llx: %s", length, (unsigned long long)there,
		     kiwi_status_text(status));
}

struct test {
	int xpu;
	int window_buf, own_buf;	/* in xpu1: exported, and snic1's */
	uint8_t window_data[LENGTH], own_data[2 * LENGTH];	/* what they are to hold */
	struct kiwi_g2g *near, *far;
	struct kiwi_export *exp, *own_exp;
	struct kiwi_import *imp, *own_imp;
	struct snic here, there;	/* snic0, with the window, and snic1 */
};

static void export_to(struct test *t, int buf, uint64_t length, struct kiwi_export **exp,
		      struct kiwi_import **imp)
{
	struct kiwi_g2g_fabric_query near, far;
	struct kiwi_export_config config = {
		.fd = buf,
		.rights = RIGHTS,
		.length = length,
		.grantees = &near.accel,
		.nr_grantees = 1,
	};

	must(kiwi_g2g_query_fabric(t->near, &near));
	must(kiwi_g2g_query_fabric(t->far, &far));
	must(kiwi_export_create(t->far, &config, exp));
	must(kiwi_import_bind(t->near, far.accel, (*exp)->handle, RIGHTS, 0, imp));
	must(kiwi_import_wait(*imp));
	must(kiwi_import_map(*imp, 0, 0, length));
}

static void set_up(struct test *t)
{
	struct kiwi_g2g_import_dmabuf dmabuf = { 0 };
	uint64_t n;

	t->xpu = memory_xpu(1);
	t->window_buf = memory_alloc(t->xpu, LENGTH);
	t->own_buf = memory_alloc(t->xpu, 2 * LENGTH);
	for (n = 0; n < LENGTH; n++)
		t->window_data[n] = (uint8_t)(n * 13 + n / 239);
	for (n = 0; n < 2 * LENGTH; n++)
		t->own_data[n] = (uint8_t)(n * 7 + n / 251 + 1);
	memory_set(t->xpu, t->window_buf, t->window_data, LENGTH);
	memory_set(t->xpu, t->own_buf, t->own_data, 2 * LENGTH);

	must(kiwi_g2g_open("g2g0", &t->near));
	must(kiwi_g2g_open("g2g1", &t->far));
	export_to(t, t->window_buf, LENGTH, &t->exp, &t->imp);
	export_to(t, t->own_buf, 2 * LENGTH, &t->own_exp, &t->own_imp);
	must(kiwi_import_dmabuf(t->imp, &dmabuf));

	snic_open(&t->here, "snic0", dmabuf.fd, LENGTH);
	close(dmabuf.fd);
	snic_open(&t->there, "snic1", t->own_buf, 2 * LENGTH);
	snic_connect(&t->here, &t->there);
	snic_connect(&t->there, &t->here);
}

static void tear_down(struct test *t)
{
	kiwi_close(t->there.dev);
	kiwi_close(t->here.dev);
	kiwi_g2g_close(t->near);
	kiwi_g2g_close(t->far);
	close(t->window_buf);
	close(t->own_buf);
	close(t->xpu);
}

static void through_window(struct test *t, uint32_t length)
{
	const uint64_t at = 0x1003, there = 0x235;

	request_ok(&t->there, KIWI_WQE_WRITE, at, &t->here, there, length);
	/* A read shows that what was stored before has arrived. */
	request_ok(&t->there, KIWI_WQE_READ, OTHER + 5, &t->here, there, length);
	memcpy(t->window_data + there, t->own_data + at, length);
	memcpy(t->own_data + OTHER + 5, t->own_data + at, length);
	memory_verify(t->xpu, t->window_buf, t->window_data, LENGTH, "WRITE into the window");
	memory_verify(t->xpu, t->own_buf, t->own_data, 2 * LENGTH, "READ from the window");

	/* And the SNIC that has the window as the requester */
	request_ok(&t->here, KIWI_WQE_READ, there, &t->there, at + 1, length);
	request_ok(&t->here, KIWI_WQE_WRITE, 0, &t->there, OTHER, length);
	memcpy(t->window_data + there, t->own_data + at + 1, length);
	memcpy(t->own_data + OTHER, t->window_data, length);
	memory_verify(t->xpu, t->own_buf, t->own_data, 2 * LENGTH, "WRITE out of the window");
	memory_verify(t->xpu, t->window_buf, t->window_data, LENGTH, "READ into the window");
}

/* The CPU stores over the fabric into what the SNIC then reads over the network. */
static void into_region(struct test *t, uint32_t length)
{
	volatile uint8_t *at = t->own_imp->addr;
	uint32_t n;

	for (n = 0; n < length; n++)
		at[n] = t->own_data[n] = (uint8_t)(length - n);
	if (at[length - 1] != t->own_data[length - 1])	/* the stores have arrived */
		fail("%#x came back through the window", at[length - 1]);
	request_ok(&t->here, KIWI_WQE_READ, 0x40, &t->there, 0, length);
	memcpy(t->window_data + 0x40, t->own_data, length);
	request_ok(&t->here, KIWI_WQE_WRITE, 0x40, &t->there, OTHER, length);
	memcpy(t->own_data + OTHER, t->own_data, length);
	memory_verify(t->xpu, t->window_buf, t->window_data, LENGTH, "READ of what was stored");
	memory_verify(t->xpu, t->own_buf, t->own_data, 2 * LENGTH, "stores into the region");
}

static void exchange(struct test *t)
{
	static const uint32_t sizes[] = { 1, 8, 4096, 10007 };
	size_t n;

	for (n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		through_window(t, sizes[n]);
		into_region(t, sizes[n]);
	}
}

static void revoked(struct test *t)
{
	struct kiwi_snic_event event;
	unsigned int status;
	int rc;

	request_ok(&t->there, KIWI_WQE_WRITE, 0, &t->here, 0, 64);
	memcpy(t->window_data, t->own_data, 64);
	must(kiwi_export_revoke(t->exp));
	do {
		rc = kiwi_next_event(t->here.dev, &event, PATIENCE);
		must(rc);
		if (!rc)
			fail("nothing told of the region");
	} while (event.type != KIWI_SNIC_EVENT_MR_REVOKED);
	status = request(&t->there, KIWI_WQE_WRITE, 64, &t->here, 0, 64);
	if (status != KIWI_CQE_ST_REM_ACCESS_ERR)
		fail("WRITE to what was revoked: %s", kiwi_status_text(status));
	memory_verify(t->xpu, t->window_buf, t->window_data, LENGTH, "a refused WRITE");
}

int main(int argc, char **argv)
{
	static struct test test;

	if (argc != 2)
		fail("window-test exchange|revoke");
	set_up(&test);
	if (!strcmp(argv[1], "exchange"))
		exchange(&test);
	else if (!strcmp(argv[1], "revoke"))
		revoked(&test);
	else
		fail("no verb %s", argv[1]);
	tear_down(&test);
	return 0;
}
