// SPDX-License-Identifier: GPL-2.0
/*
 * region-test MIB CHUNK_KIB [close|ends|no-p2p]: registers MIB of VRAM of xpu0, scattered in chunks
 * if CHUNK_KIB is not 0, and writes all of it over RDMA into a buffer of xpu1 in one
 * range, then checks a word of each page. With "close" nothing but the registrations
 * holds the buffers during the transfer, with "no-p2p" their exporter keeps peers out of VRAM,
 * with "ends" only the first and the last two messages are written, and the rest stays as it is.
 * Prints the page list and the path as KEY=VALUE.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kiwi/kiwi.h>

#include "xpu.h"

#define PAGE		((uint64_t)4096)
#define MESSAGE		((uint64_t)64 << 20)

struct side {
	struct kiwi_device *dev;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_mr *mr;
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;
	int xpu;
	int buf;
	uint64_t *cpu;
};

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	fprintf(stderr, "region-test: %s: %s (%s)\n", what, strerror(-rc), kiwi_error());
	exit(1);
}

static void open_side(struct side *s, const char *name, unsigned int xpu, uint64_t size,
		      uint32_t chunk, uint32_t flags)
{
	struct kiwi_cq_config cq_config = { .entries = 64, .event_fd = -1 };
	struct kiwi_qp_config qp_config = { .sq_units = 64, .rq_entries = 1, .recv_sge = 1 };
	struct kiwi_pd *pd;

	s->xpu = xpu_open(xpu);
	must(s->xpu, "xpu_open");
	s->buf = xpu_alloc(s->xpu, size, chunk, flags | (chunk ? XPU_ALLOC_SCATTERED : 0));
	must(s->buf, "xpu_alloc");
	s->cpu = xpu_map(s->buf, size);
	must(s->cpu ? 0 : -1, "xpu_map");

	must(kiwi_open(name, &s->dev), "open");
	must(kiwi_pd_alloc(s->dev, &pd), "PD");
	must(kiwi_mr_reg_dmabuf(pd, s->buf, 0, size, 0,
				KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_WRITE, &s->mr),
	     "MR");
	must(kiwi_cq_create(s->dev, &cq_config, &s->cq), "CQ");
	qp_config.send_cq = s->cq;
	must(kiwi_qp_create(pd, &qp_config, &s->qp), "QP");
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

static void report(const char *side, struct kiwi_mr *mr)
{
	struct kiwi_snic_mr_query q;

	must(kiwi_mr_query(mr, &q), "MR_QUERY");
	printf("%s entries=%u segments=%u page_shift=%u path=%s\n", side, q.pbl_entries,
	       q.segments, q.page_shift, kiwi_path_text(q.path));
}

static bool is_moved(uint64_t message, uint64_t messages, bool ends)
{
	return !ends || !message || message + 2 >= messages;
}

/* Where a page has a word that no other has: at a place that changes from page to page. */
static uint64_t *word_of(struct side *s, uint64_t page)
{
	return &s->cpu[(page * PAGE + page * 8 % PAGE) / 8];
}

static uint64_t word(uint64_t page)
{
	return ~page * 0x9e3779b97f4a7c15ULL;
}

static void transfer(struct side *from, struct side *to, uint64_t size, bool ends)
{
	uint64_t posted = 0, done = 0, messages = (size + MESSAGE - 1) / MESSAGE;
	struct kiwi_send_wr wr = { .opcode = KIWI_WQE_WRITE, .flags = KIWI_WQE_SIGNALED,
				   .num_sg = 1 };
	struct kiwi_sg sg = { .lkey = from->mr->key };
	struct kiwi_wc wc;

	wr.sg = &sg;
	wr.rkey = to->mr->key;
	while (done < messages) {
		if (done == posted && !is_moved(done, messages, ends)) {
			posted = ++done;
			continue;
		}
		if (posted < messages && posted - done < 8 && is_moved(posted, messages, ends)) {
			sg.addr = wr.raddr = posted * MESSAGE;
			sg.len = (uint32_t)(size - sg.addr < MESSAGE ? size - sg.addr : MESSAGE);
			must(kiwi_post_send_ring(from->qp, &wr), "post");
			posted++;
		}
		if (!kiwi_poll_cq(from->cq, &wc, 1))
			continue;
		if (wc.status != KIWI_CQE_ST_OK) {
			fprintf(stderr, "region-test: message %" PRIu64 ": %s\n", done,
				kiwi_status_text(wc.status));
			exit(1);
		}
		done++;
	}
}

int main(int argc, char **argv)
{
	uint64_t size = argc > 1 ? strtoull(argv[1], NULL, 0) << 20 : 0, page, bad = 0;
	uint32_t chunk = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) << 10 : 0;
	uint64_t messages = (size + MESSAGE - 1) / MESSAGE;
	const char *how = argc > 3 ? argv[3] : "";
	bool ends = !strcmp(how, "ends");
	uint32_t flags = strcmp(how, "no-p2p") ? 0 : XPU_ALLOC_NO_P2P;
	struct side from = { 0 }, to = { 0 };

	if (!size) {
		fprintf(stderr, "Usage: region-test MIB CHUNK_KIB [close|ends|no-p2p]\n");
		return 2;
	}
	open_side(&from, "snic0", 0, size, chunk, flags);
	open_side(&to, "snic1", 1, size, 0, flags);
	connect_to(&from, &to);
	connect_to(&to, &from);
	report("from", from.mr);
	report("to", to.mr);

	for (page = 0; page < size / PAGE; page++)
		if (is_moved(page * PAGE / MESSAGE, messages, ends))
			*word_of(&from, page) = word(page);
	if (!strcmp(how, "close")) {
		munmap(from.cpu, size);
		close(from.buf);
		close(from.xpu);
	}
	transfer(&from, &to, size, ends);
	for (page = 0; page < size / PAGE; page++)
		bad += *word_of(&to, page) !=
		       (is_moved(page * PAGE / MESSAGE, messages, ends) ? word(page) : 0);
	printf("pages=%" PRIu64 " bad=%" PRIu64 "\n", size / PAGE, bad);
	kiwi_close(from.dev);
	kiwi_close(to.dev);
	return bad != 0;
}
