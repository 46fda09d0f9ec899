// SPDX-License-Identifier: GPL-2.0
/* Asynchronous events: read(), poll(), and what a slow reader misses. */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "snic-test.h"

#define QUEUE	256

static int fd;

static void enable(int on)
{
	struct kiwi_snic_set_port set = {
		.size = sizeof(set), .port = 1, .enabled = on, .mtu = KIWI_MTU_4096,
	};

	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), 0);
}

static void set_nonblock(int file, bool on)
{
	int flags = fcntl(file, F_GETFL);

	EQUAL(fcntl(file, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK), 0);
}

static short polled(int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN | POLLOUT };

	return poll(&p, 1, timeout_ms) == 1 ? p.revents : 0;
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void read_rules(void)
{
	struct kiwi_snic_event e[4];
	struct sigaction action = { .sa_handler = on_alarm }, before;
	void *nowhere = pages(PAGE);
	int other = snic_open();

	EQUAL(munmap(nowhere, PAGE), 0);
	fd = snic_open();
	set_nonblock(fd, true);
	EQUAL(polled(0), 0);
	EQUAL(read(fd, e, sizeof(e)), -1);
	EQUAL(errno, EAGAIN);
	EQUAL(read(fd, e, sizeof(e[0]) - 1), -1);
	EQUAL(errno, EINVAL);
	EQUAL(read(fd, e, 0), -1);
	EQUAL(errno, EINVAL);
	EQUAL(write(fd, e, sizeof(e)), -1);

	enable(0);
	enable(1);
	EQUAL(polled(10000), POLLIN);
	EQUAL(read(fd, e, sizeof(e[0]) - 1), -1);
	EQUAL(errno, EINVAL);
	set_nonblock(fd, false);
	EQUAL(read(fd, e, sizeof(e[0]) + 1), sizeof(e[0]));
	EQUAL(e[0].type, KIWI_SNIC_EVENT_PORT_CHANGE);
	EQUAL(e[0].id, 1);
	EQUAL(e[0].code, KIWI_PORT_DOWN);
	EQUAL(e[0].user_data, 0);
	EQUAL(e[0].rsvd, 0);
	EQUAL(read(fd, e, sizeof(e)), sizeof(e[0]));
	EQUAL(e[0].code, KIWI_PORT_ACTIVE);
	/* every file has its own */
	usleep(200000);
	EQUAL(read(other, e, sizeof(e)), 2 * sizeof(e[0]));
	close(other);

	/* a read that waits ends with a signal */
	sigaction(SIGALRM, &action, &before);
	alarm(1);
	EQUAL(read(fd, e, sizeof(e)), -1);
	EQUAL(errno, EINTR);
	sigaction(SIGALRM, &before, NULL);
	alarm(60);

	enable(0);
	EQUAL(read(fd, nowhere, sizeof(e)), -1);
	EQUAL(errno, EFAULT);
	enable(1);
	close(fd);
}

static void *enable_later(void *arg)
{
	(void)arg;
	usleep(300000);
	enable(0);
	enable(1);
	return NULL;
}

static void wakes(void)
{
	struct kiwi_snic_event e;
	pthread_t thread;

	fd = snic_open();
	EQUAL(pthread_create(&thread, NULL, enable_later, NULL), 0);
	EQUAL(read(fd, &e, sizeof(e)), sizeof(e));
	EQUAL(e.type, KIWI_SNIC_EVENT_PORT_CHANGE);
	EQUAL(pthread_join(thread, NULL), 0);
	close(fd);
}

static void lost(void)
{
	static struct kiwi_snic_event e[2 * QUEUE];
	int i;

	fd = snic_open();
	for (i = 0; i < QUEUE / 2 + 20; i++) {
		enable(0);
		enable(1);
	}
	usleep(500000);
	EQUAL(read(fd, e, 10 * sizeof(e[0])), 10 * sizeof(e[0]));
	/* There is room again: what comes now stands behind what was lost. */
	enable(0);
	enable(1);
	usleep(500000);
	EQUAL(read(fd, e, sizeof(e)), (QUEUE - 10 + 1 + 2) * sizeof(e[0]));
	for (i = 0; i < QUEUE - 10; i++)
		EQUAL(e[i].type, KIWI_SNIC_EVENT_PORT_CHANGE);
	EQUAL(e[i].type, KIWI_SNIC_EVENT_LOST);
	EQUAL(e[i].code, 40);
	EQUAL(e[i + 1].code, KIWI_PORT_DOWN);
	EQUAL(e[i + 2].code, KIWI_PORT_ACTIVE);
	close(fd);
}

/* A CQ too small for what completes: CQ and QP end in error, and both say so. */
static void overrun(void)
{
	struct kiwi_snic_doorbell_alloc db;
	struct kiwi_snic_cq_create cq;
	struct kiwi_snic_qp_create qp, again;
	struct kiwi_snic_event e;
	struct kiwi_wqe_ctrl *wqe;
	volatile uint64_t *doorbell;
	int i, seen = 0;

	fd = snic_open();
	db = make_doorbell(fd, 0);
	cq = cq_args(db.doorbell, pages(PAGE), 1);
	EQUAL(snic_call(fd, KIWI_SNIC_CQ_CREATE, &cq), 0);
	qp = make_qp(fd, make_pd(fd), cq.cq, db.doorbell);
	connect_self(fd, &qp);
	doorbell = map_doorbell(fd, &db);
	for (i = 0; i < 3; i++) {
		wqe = (struct kiwi_wqe_ctrl *)(uintptr_t)(qp.sq.addr + i * KIWI_WQEBB);
		*wqe = (struct kiwi_wqe_ctrl) {
			.opcode = KIWI_WQE_NOP, .flags = KIWI_WQE_SIGNALED, .segs = 1,
		};
	}
	__sync_synchronize();
	*doorbell = KIWI_DB_VALUE(KIWI_DB_SQ, qp.qpn, qp.epoch, 3);
	while (seen != 3) {
		EQUAL(polled(10000), POLLIN);
		EQUAL(read(fd, &e, sizeof(e)), sizeof(e));
		if (e.type == KIWI_SNIC_EVENT_CQ_ERROR) {
			EQUAL(e.id, cq.cq);
			EQUAL(e.user_data, cq.user_data);
			EQUAL(e.code, KIWI_CQ_ERR_OVERRUN);
			seen |= 1;
		} else {
			EQUAL(e.type, KIWI_SNIC_EVENT_QP_ERROR);
			EQUAL(e.id, qp.qp);
			EQUAL(e.user_data, qp.user_data);
			EQUAL(e.code, KIWI_CQE_ST_FATAL_ERR);
			seen |= 2;
		}
	}
	again = qp_args(qp.pd, cq.cq, db.doorbell, pages(2 * PAGE));
	EQUAL(snic_call(fd, KIWI_SNIC_QP_CREATE, &again), -EINVAL);
	close(fd);
}

const struct test event_tests[] = {
	{ "events.read", read_rules },
	{ "events.wakes", wakes },
	{ "events.lost", lost },
	{ "events.overrun", overrun },
	{ NULL, NULL }
};
