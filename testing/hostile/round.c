// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <kiwi/kiwi.h>

#include "round.h"

#define DEVICE		"snic0"
#define MEMORY		(64 << 10)
#define BATCH		8
#define RECVS		4
#define CQ_ENTRIES	32
#define EMPTY_MAX	8	/* looks that find nothing */
#define CANARY		0x5a

struct round {
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_mr *mr;
	int event_fd;
	int wait_ms;
	void *ring;
	unsigned char *memory;
	uint64_t next_id;
	int error;
};

static bool good(struct round *r, int ret, const char *what)
{
	if (ret >= 0)
		return true;
	printf("%s: %s: %s\n", what, strerror(-ret), kiwi_error());
	if (!r->error)
		r->error = ret;
	return false;
}

#define DO(r, call)	good(r, call, #call)

/* Completions ----------------------------------------------------------------- */

/* Whatever the device writes, the library names a QP of this process, and no room but ours. */
static int take(struct round *r, struct kiwi_wc *wc, int room)
{
	struct kiwi_wc guarded[BATCH + 1];
	int got;

	memset(guarded, CANARY, sizeof(guarded));
	got = kiwi_poll_cq(r->cq, guarded, room);
	if (got < 0 || got > room || ((unsigned char *)&guarded[room])[0] != CANARY)
		abort();
	for (int i = 0; i < got; i++) {
		if (guarded[i].qp != r->qp)
			abort();
	}
	memcpy(wc, guarded, sizeof(*wc) * (size_t)got);
	return got;
}

static bool wait_for_event(struct round *r)
{
	struct pollfd p = { .fd = r->event_fd, .events = POLLIN };
	uint64_t count;

	return poll(&p, 1, r->wait_ms) == 1 && read(r->event_fd, &count, sizeof(count)) == 8;
}

/* Takes @count completions. Each has to be what was asked for. */
static int complete(struct round *r, unsigned int count, unsigned int opcode, unsigned int status)
{
	struct kiwi_wc wc[BATCH];
	unsigned int empty = 0;
	int ret = 0, got;

	while (count) {
		got = take(r, wc, count < BATCH ? (int)count : BATCH);
		for (int i = 0; i < got; i++) {
			if (wc[i].wr_id != r->next_id++ || wc[i].status != status ||
			    (!status && wc[i].opcode != opcode) ||
			    (wc[i].opcode & KIWI_CQE_RECV) != (opcode & KIWI_CQE_RECV))
				ret = -EBADMSG;
		}
		count -= (unsigned int)got;
		kiwi_cq_arm(r->cq, 0);
		/* The device may tell of completions that it has not written, time and again. */
		if (!got && (!wait_for_event(r) || empty++ == EMPTY_MAX))
			return ret ? ret : -ETIMEDOUT;
	}
	return ret;
}

static int send_batch(struct round *r)
{
	struct kiwi_send_wr wr = { .opcode = KIWI_WQE_NOP, .flags = KIWI_WQE_SIGNALED };
	int ret = 0;

	for (unsigned int i = 0; i < BATCH && !ret; i++) {
		wr.wr_id = r->next_id + i;
		ret = kiwi_post_send(r->qp, &wr);
	}
	kiwi_qp_ring(r->qp);
	return ret ? ret : complete(r, BATCH, KIWI_CQE_NOP, KIWI_CQE_ST_OK);
}

static int flush_receives(struct round *r)
{
	struct kiwi_snic_qp_modify to_error = {
		.mask = KIWI_QP_ATTR_STATE, .state = KIWI_QPS_ERR,
	};
	struct kiwi_sg sg = { .addr = r->mr->iova, .len = 64, .lkey = r->mr->key };
	struct kiwi_recv_wr wr = { .num_sg = 1, .sg = &sg };
	int ret;

	for (unsigned int i = 0; i < RECVS; i++) {
		wr.wr_id = r->next_id + i;
		ret = kiwi_post_recv(r->qp, &wr);
		if (ret)
			return ret;
	}
	kiwi_qp_ring_recv(r->qp);
	ret = kiwi_qp_modify(r->qp, &to_error);
	return ret ? ret : complete(r, RECVS, KIWI_CQE_RECV, KIWI_CQE_ST_WR_FLUSH_ERR);
}

/* Events ------------------------------------------------------------------------ */

static int expect_event(struct round *r, uint32_t type)
{
	struct kiwi_snic_event event;
	int ret;

	do {
		ret = kiwi_next_event(r->dev, &event, r->wait_ms);
	} while (ret == 1 && event.type != type);
	return ret == 1 ? 0 : ret ? ret : -ETIMEDOUT;
}

static int drain(struct round *r)
{
	struct kiwi_snic_qp_modify modify = {
		.mask = KIWI_QP_ATTR_STATE, .state = KIWI_QPS_SQD,
	};
	int ret;

	ret = kiwi_qp_modify(r->qp, &modify);
	if (ret)
		return ret;
	ret = expect_event(r, KIWI_SNIC_EVENT_QP_DRAINED);
	if (ret)
		return ret;
	modify.state = KIWI_QPS_RTS;
	return kiwi_qp_modify(r->qp, &modify);
}

/* The second port: nothing is connected over it. */
static int toggle_port(struct round *r)
{
	struct kiwi_snic_query_port port;
	int ret, on;

	ret = kiwi_query_port(r->dev, 2, &port);
	for (on = 0; !ret && on < 2; on++) {
		ret = kiwi_set_port(r->dev, 2, on, port.mtu);
		if (!ret)
			ret = expect_event(r, KIWI_SNIC_EVENT_PORT_CHANGE);
	}
	return ret;
}

/* Set-up ------------------------------------------------------------------------ */

static int set_gids(struct round *r)
{
	static const uint8_t gid[16] = { 0x20, 0x01, 0x0d, 0xb8, [15] = 1 };
	int ret;

	ret = kiwi_set_gid(r->dev, 2, 1, gid);
	return ret ? ret : kiwi_set_gid(r->dev, 2, 1, NULL);
}

/* Its peer is itself, which never hears of it: only work without a peer is posted. */
static int connect_qp(struct round *r)
{
	struct kiwi_connect c;
	struct kiwi_snic_gid gid;
	int ret;

	ret = kiwi_connect_init(r->dev, 1, &c);
	if (!ret)
		ret = kiwi_query_gid(r->dev, 1, 0, &gid);
	if (ret)
		return ret;
	memcpy(c.dgid, gid.gid, sizeof(c.dgid));
	ret = kiwi_gid_to_mac(c.dgid, c.dmac);
	c.dest_qpn = r->qp->qpn;
	return ret ? ret : kiwi_qp_connect(r->qp, &c);
}

static int read_counter(void)
{
	char text[32];
	int fd = open("/sys/class/kiwi/" DEVICE "/ports/1/counters/rx_frames", O_RDONLY);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof(text));
	if (got < 0)
		got = -errno;
	close(fd);
	return (int)got;
}

static bool set_up(struct round *r)
{
	struct kiwi_ring_mem ring = {
		.cpu = r->ring,
		.mem = { .type = KIWI_MEM_USER, .addr = (uintptr_t)r->ring,
			 .length = ROUND_RING_SIZE },
	};
	struct kiwi_cq_config cq = {
		.entries = CQ_ENTRIES, .event_fd = r->event_fd, .mem = r->ring ? &ring : NULL,
	};
	struct kiwi_qp_config qp = { .sq_units = BATCH, .rq_entries = RECVS, .recv_sge = 1 };

	if (!DO(r, kiwi_pd_alloc(r->dev, &r->pd)) ||
	    !DO(r, kiwi_mr_reg(r->pd, r->memory, MEMORY, KIWI_ACCESS_LOCAL_WRITE, &r->mr)) ||
	    !DO(r, kiwi_cq_create(r->dev, &cq, &r->cq)))
		return false;
	qp.send_cq = r->cq;
	qp.recv_cq = r->cq;
	return DO(r, kiwi_qp_create(r->pd, &qp, &r->qp)) && DO(r, connect_qp(r));
}

static void tear_down(struct round *r)
{
	if (r->qp)
		DO(r, kiwi_qp_destroy(r->qp));
	if (r->cq)
		DO(r, kiwi_cq_destroy(r->cq));
	if (r->mr)
		DO(r, kiwi_mr_dereg(r->mr));
	if (r->pd)
		DO(r, kiwi_pd_free(r->pd));
}

static void send_batches(struct round *r, unsigned int batches)
{
	int ret = 0;

	/* A completion that says something else is no reason to stop. */
	while (batches-- && (!ret || ret == -EBADMSG)) {
		ret = send_batch(r);
		good(r, ret, "send_batch(r)");
	}
}

static void use(struct round *r, unsigned int batches)
{
	struct kiwi_snic_qp_modify attr;

	DO(r, read_counter());
	DO(r, set_gids(r));
	DO(r, toggle_port(r));
	if (!set_up(r))
		return;
	send_batches(r, batches);
	DO(r, drain(r));
	DO(r, kiwi_qp_query(r->qp, &attr));
	DO(r, flush_receives(r));
}

int round_run(unsigned int batches, int wait_ms, void *ring)
{
	struct round r = {
		.event_fd = eventfd(0, EFD_CLOEXEC), .wait_ms = wait_ms, .ring = ring,
	};
	size_t i;

	r.memory = kiwi_memory_alloc(MEMORY);
	if (r.event_fd < 0 || !r.memory)
		abort();
	memset(r.memory, CANARY, MEMORY);
	if (DO(&r, kiwi_open(DEVICE, &r.dev))) {
		use(&r, batches);
		tear_down(&r);
		kiwi_close(r.dev);
	}
	for (i = 0; i < MEMORY; i++) {
		if (r.memory[i] != CANARY)
			abort();
	}
	kiwi_memory_free(r.memory, MEMORY);
	close(r.event_fd);
	return r.error;
}
