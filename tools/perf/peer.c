// SPDX-License-Identifier: GPL-2.0
/*
 * The active side's view of the peer, and the passive side's service. The client
 * sends a line and waits for one: "ok ..." or nothing good.
 *
 *	C: kiwi-perf 1 OP VERIFY EVENTS DEPTH BYTES MTU ACK_TIMEOUT
 *	C: address ...			S: address ...	S: about ...
 *	C: prepare SIZE STRIDE SLOTS	S: ok
 *	C: window FIRST N		S: ok
 *	C: check FIRST N		S: ok BAD
 *	C: finish			S: ok BAD
 *	C: counts			S: ok ...
 *	C: bye
 */
#include "peer.h"

#include "../common/gid.h"
#include "../common/say.h"
#include "stall.h"
#include "wire.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define HELLO "kiwi-perf 1"

/* Addresses --------------------------------------------------------------- */

static bool send_address(int fd, const struct address *a)
{
	char gid[GID_TEXT], mac[MAC_TEXT];

	return wire_send(fd, "address %" PRIx32 " %" PRIx32 " %" PRIx32 " %" PRIu32 " %" PRIu32
			 " %" PRIx64 " %s %s", a->qpn, a->psn, a->rkey, a->mtu, a->rd_atomic,
			 a->iova, gid_print(a->gid, gid), mac_print(a->mac, mac));
}

static bool receive_address(int fd, struct address *a)
{
	char line[WIRE_LINE], gid[GID_TEXT + 1], mac[MAC_TEXT + 1];

	if (!wire_receive(fd, line))
		return false;
	if (sscanf(line, "address %" SCNx32 " %" SCNx32 " %" SCNx32 " %" SCNu32 " %" SCNu32
		   " %" SCNx64 " %46s %18s", &a->qpn, &a->psn, &a->rkey, &a->mtu, &a->rd_atomic,
		   &a->iova, gid, mac) == 8 &&
	    gid_parse(gid, a->gid) && mac_parse(mac, a->mac) && a->mtu <= KIWI_MTU_4096)
		return true;
	complain("the peer sent '%s' for an address", line);
	return false;
}

/* The active side --------------------------------------------------------- */

static struct target local_target;

bool peer_open_local(struct peer *p, const struct options *o, struct end *mine,
		     const struct address *my_address)
{
	*p = (struct peer){ .socket = -1 };
	if (!target_open(&local_target, &o->peer, &o->work))
		return false;
	p->target = &local_target;
	if (!end_address(&local_target.end, &p->address) ||
	    !end_connect(&local_target.end, &p->address, my_address) ||
	    !end_connect(mine, my_address, &p->address)) {
		peer_close(p);
		return false;
	}
	end_about(&local_target.end, p->about);
	return true;
}

bool peer_open_remote(struct peer *p, const struct options *o, const struct address *my_address)
{
	const struct work *w = &o->work;
	char line[WIRE_LINE];

	*p = (struct peer){ .socket = wire_connect(o->connect) };
	if (p->socket < 0)
		return false;
	if (wire_send(p->socket, HELLO " %u %u %u %" PRIu32 " %" PRIu64 " %" PRIu32 " %u", w->op,
		      w->verify, w->events, w->depth, w->bytes, w->mtu, w->ack_timeout) &&
	    send_address(p->socket, my_address) &&
	    receive_address(p->socket, &p->address) && wire_receive(p->socket, line)) {
		snprintf(p->about, sizeof(p->about), "%.*s", END_ABOUT - 1, line);
		return true;
	}
	complain("%s: the peer refused", o->connect);
	peer_close(p);
	return false;
}

void peer_close(struct peer *p)
{
	if (p->target)
		target_close(p->target);
	if (p->socket >= 0) {
		wire_send(p->socket, "bye");
		close(p->socket);
	}
	*p = (struct peer){ .socket = -1 };
}

/* Wait for "ok", and what follows it. */
static bool answered(struct peer *p, char line[WIRE_LINE])
{
	if (wire_receive(p->socket, line) && !strncmp(line, "ok", 2))
		return true;
	complain("the peer failed%s%s", line[0] ? ": " : "", line);
	return false;
}

static bool answered_bad(struct peer *p, uint64_t *bad)
{
	char line[WIRE_LINE];

	*bad = 1;
	return answered(p, line) && sscanf(line, "ok %" SCNu64, bad) == 1;
}

bool peer_prepare(struct peer *p, struct layout l)
{
	char line[WIRE_LINE];

	if (p->target)
		return target_prepare(p->target, l);
	return wire_send(p->socket, "prepare %" PRIu64 " %" PRIu64 " %" PRIu32, l.size, l.stride,
			 l.slots) && answered(p, line);
}

bool peer_window(struct peer *p, uint64_t first, uint64_t n)
{
	char line[WIRE_LINE];

	if (p->target)
		return target_window(p->target, first, n);
	return wire_send(p->socket, "window %" PRIu64 " %" PRIu64, first, n) && answered(p, line);
}

bool peer_check(struct peer *p, uint64_t first, uint64_t n, uint64_t *bad)
{
	if (p->target)
		return target_check(p->target, first, n, bad);
	return wire_send(p->socket, "check %" PRIu64 " %" PRIu64, first, n) &&
	       answered_bad(p, bad);
}

bool peer_finish(struct peer *p, uint64_t *bad)
{
	if (p->target)
		return target_finish(p->target, bad);
	return wire_send(p->socket, "finish") && answered_bad(p, bad);
}

bool peer_counts(struct peer *p, struct counts *c)
{
	char line[WIRE_LINE];

	if (p->target) {
		*c = counts_read(kiwi_device_name(p->target->end.dev));
		return true;
	}
	return wire_send(p->socket, "counts") && answered(p, line) &&
	       sscanf(line, "ok %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		      &c->frames, &c->retransmitted, &c->dma_peer, &c->dma_system,
		      &c->doorbells) == COUNTS_FIELDS;
}

/* The passive side -------------------------------------------------------- */

static bool receive_work(int fd, struct work *w)
{
	unsigned int op, verify, events, ack_timeout;
	char line[WIRE_LINE];

	if (!wire_receive(fd, line))
		return false;
	*w = (struct work){ 0 };
	if (sscanf(line, HELLO " %u %u %u %" SCNu32 " %" SCNu64 " %" SCNu32 " %u", &op, &verify,
		   &events, &w->depth, &w->bytes, &w->mtu, &ack_timeout) != 7 ||
	    op >= OP_COUNT || verify > 1 || events > 1 || ack_timeout > 31 || !w->depth ||
	    w->depth > 1U << KIWI_QUEUE_LOG2_MAX || !w->bytes) {
		complain("the client began with '%s'", line);
		wire_send(fd, "this is another version");
		return false;
	}
	w->op = (enum op)op;
	w->verify = verify;
	w->events = events;
	w->ack_timeout = (uint8_t)ack_timeout;
	return true;
}

/* Take what comes while the client says nothing. */
static bool wait_for_client(struct target *t, int fd)
{
	struct pollfd fds[2] = {
		{ .fd = fd, .events = POLLIN },
		{ .fd = t->end.recv_cq->event_fd, .events = POLLIN },
	};
	bool busy;
	uint64_t count;

	do {
		if (!target_progress(t))
			return false;
		busy = t->end.work->op == OP_SEND && t->received < t->expected;
		if (busy && t->end.work->events)
			kiwi_cq_arm(t->end.recv_cq, 0);
		if (poll(fds, 2, busy && !t->end.work->events ? 0 : 1000) < 0 && errno != EINTR)
			return false;
		if (fds[1].revents && read(fds[1].fd, &count, sizeof(count)) < 0)
			return false;
	} while (!fds[0].revents);
	return true;
}

/* The client is not trusted with memory of this side. */
static bool layout_fits(const struct layout *l, const struct work *work)
{
	return l->size && l->size <= UINT32_MAX && l->size < l->stride &&
	       l->stride <= work->bytes && l->slots && l->slots <= work->depth &&
	       l->slots <= work->bytes / l->stride && l->stride % 8 == 0 &&
	       (!is_atomic(work->op) || l->size == 8);
}

/* One command of the client. False at the end. */
static bool serve_line(struct target *t, int fd, bool *good)
{
	uint64_t a, b, bad = 0;
	char line[WIRE_LINE];
	struct layout l;
	struct counts c;

	if (!wait_for_client(t, fd) || !wire_receive(fd, line)) {
		*good = false;
		return false;
	}
	if (sscanf(line, "prepare %" SCNu64 " %" SCNu64 " %" SCNu32, &l.size, &l.stride,
		   &l.slots) == 3) {
		*good = layout_fits(&l, t->end.work) && target_prepare(t, l);
		return *good && wire_send(fd, "ok");
	}
	if (sscanf(line, "window %" SCNu64 " %" SCNu64, &a, &b) == 2) {
		*good = t->layout.slots && target_window(t, a, b);
		return *good && wire_send(fd, "ok");
	}
	if (sscanf(line, "check %" SCNu64 " %" SCNu64, &a, &b) == 2) {
		*good = t->layout.slots && target_check(t, a, b, &bad);
		return *good && wire_send(fd, "ok %" PRIu64, bad);
	}
	if (!strcmp(line, "finish")) {
		*good = t->layout.slots && target_finish(t, &bad);
		return *good && wire_send(fd, "ok %" PRIu64, bad);
	}
	if (!strcmp(line, "counts")) {
		c = counts_read(kiwi_device_name(t->end.dev));
		return wire_send(fd, "ok %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
				 c.frames, c.retransmitted, c.dma_peer, c.dma_system, c.doorbells);
	}
	*good = !strcmp(line, "bye");
	if (!*good)
		complain("the client sent '%s'", line);
	return false;
}

int serve(const struct options *o)
{
	struct address mine, theirs;
	char about[END_ABOUT];
	struct target t;
	struct work work;
	bool good = false;
	int fd;

	fd = wire_accept(o->listen);
	if (fd < 0)
		return EXIT_FAILED;
	if (!receive_work(fd, &work) || !receive_address(fd, &theirs))
		goto close_fd;
	if (!target_open(&t, &o->local, &work)) {
		wire_send(fd, "the target could not be set up");
		goto close_fd;
	}
	if (end_address(&t.end, &mine) && end_connect(&t.end, &mine, &theirs)) {
		end_about(&t.end, about);
		good = send_address(fd, &mine) && wire_send(fd, "%s", about);
		while (good && serve_line(&t, fd, &good))
			;
	}
	target_close(&t);
close_fd:
	close(fd);
	return good ? 0 : EXIT_FAILED;
}
