// SPDX-License-Identifier: GPL-2.0
/*
 * One operation on a device that may misbehave, and what came of it:
 *
 *	RESULT errno ERRNO value VALUE limit LIMIT: TEXT
 *	CLOSED
 *
 * What the operation needs is made first. The file is closed at the end.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <xpu.h>

#include "snic-test.h"
#include "try.h"

struct setting {
	int fd;
	uint32_t pd;
	struct kiwi_snic_doorbell_alloc db;
	struct kiwi_snic_cq_create cq;
	struct kiwi_snic_qp_create qp;
	struct kiwi_snic_mr_reg mr;
};

static struct setting s;

static int pd_alloc(void)
{
	struct kiwi_snic_pd_alloc a = { .size = sizeof(a) };

	return snic_call(s.fd, KIWI_SNIC_PD_ALLOC, &a);
}

static int mr_reg(void)
{
	struct kiwi_snic_mr_reg r = mr_args(s.pd, pages(PAGE), PAGE);

	return snic_call(s.fd, KIWI_SNIC_MR_REG, &r);
}

static int doorbell_alloc(void)
{
	struct kiwi_snic_doorbell_alloc a = { .size = sizeof(a) };

	return snic_call(s.fd, KIWI_SNIC_DOORBELL_ALLOC, &a);
}

static int cq_create(void)
{
	struct kiwi_snic_cq_create c = cq_args(s.db.doorbell, pages(2 * PAGE), 4);

	return snic_call(s.fd, KIWI_SNIC_CQ_CREATE, &c);
}

static int qp_create(void)
{
	struct kiwi_snic_qp_create q = qp_args(s.pd, s.cq.cq, s.db.doorbell, pages(2 * PAGE));

	return snic_call(s.fd, KIWI_SNIC_QP_CREATE, &q);
}

static int qp_modify(void)
{
	return modify_state(s.fd, s.qp.qp, KIWI_QPS_ERR);
}

static int qp_query(void)
{
	struct kiwi_snic_qp_modify q = { .size = sizeof(q), .qp = s.qp.qp };

	return snic_call(s.fd, KIWI_SNIC_QP_QUERY, &q);
}

static int port_query(void)
{
	struct kiwi_snic_query_port q = { .size = sizeof(q), .port = 1 };

	return snic_call(s.fd, KIWI_SNIC_QUERY_PORT, &q);
}

static int destroy_qp(void)
{
	return destroy(s.fd, s.qp.qp);
}

static int destroy_mr(void)
{
	return destroy(s.fd, s.mr.mr);
}

/* Refused once, then again what the device says. */
static int destroy_qp_twice(void)
{
	int ret = destroy_qp();

	if (!ret)
		return 0;
	EQUAL(modify_state(s.fd, s.qp.qp, KIWI_QPS_ERR), -ENOENT);
	EQUAL(destroy(s.fd, s.pd), -EBUSY);
	return destroy_qp();
}

/* Rings in memory that its exporter takes away; what comes of the device after that. */
static int rings_revoked(bool of_cq)
{
	struct kiwi_snic_cq_create c = cq_args(s.db.doorbell, NULL, 4);
	struct kiwi_snic_qp_create q = qp_args(s.pd, s.cq.cq, s.db.doorbell, pages(2 * PAGE));
	int xpu = xpu_open(0), buf;

	CHECK(xpu >= 0);
	buf = xpu_alloc(xpu, 1024 * 1024, 0, 0);
	CHECK(buf >= 0);
	if (of_cq) {
		c.mem.type = KIWI_MEM_DMABUF;
		c.mem.fd = buf;
		EQUAL(snic_call(s.fd, KIWI_SNIC_CQ_CREATE, &c), 0);
	} else {
		q.sq = (struct kiwi_mem) { KIWI_MEM_DMABUF, buf, 0, q.sq.length };
		EQUAL(snic_call(s.fd, KIWI_SNIC_QP_CREATE, &q), 0);
	}
	printf("REVOKED number %u\n", of_cq ? c.cqn : q.qpn);
	EQUAL(xpu_revoke(xpu, buf), 0);
	close(buf);
	close(xpu);
	return pd_alloc();
}

static int qp_revoked(void)
{
	return rings_revoked(false);
}

static int cq_revoked(void)
{
	return rings_revoked(true);
}

/* For scenarios in which something happens to the device meanwhile. */
static int wait_event(void)
{
	struct pollfd p = { .fd = s.fd, .events = POLLIN };
	struct kiwi_snic_event e;

	printf("WAITING cqn %u qpn %u\n", s.cq.cqn, s.qp.qpn);
	fflush(stdout);
	do {
		if (poll(&p, 1, 60000) != 1)
			return -ETIMEDOUT;
		if (read(s.fd, &e, sizeof(e)) != sizeof(e))
			return -errno;
		printf("EVENT %u id %u code %u\n", e.type, e.id, e.code);
		fflush(stdout);
	} while (e.type != KIWI_SNIC_EVENT_DEVICE_FATAL);
	usleep(500000);		/* the driver takes the device down */
	return qp_query();
}

static const struct {
	const char *name;
	int (*run)(void);
} operations[] = {
	{ "pd-alloc", pd_alloc },
	{ "mr-reg", mr_reg },
	{ "doorbell-alloc", doorbell_alloc },
	{ "cq-create", cq_create },
	{ "qp-create", qp_create },
	{ "qp-modify", qp_modify },
	{ "qp-query", qp_query },
	{ "port-query", port_query },
	{ "destroy-qp", destroy_qp },
	{ "destroy-qp-twice", destroy_qp_twice },
	{ "destroy-mr", destroy_mr },
	{ "qp-revoked", qp_revoked },
	{ "cq-revoked", cq_revoked },
	{ "wait", wait_event },
};

int try(const char *what)
{
	struct kiwi_snic_last_error e = { .size = sizeof(e) };
	unsigned int i;
	int ret;

	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		if (!strcmp(operations[i].name, what))
			break;
	}
	if (i == sizeof(operations) / sizeof(operations[0])) {
		fprintf(stderr, "no operation %s\n", what);
		return 2;
	}
	s.fd = snic_open();
	CHECK(s.fd >= 0);
	s.pd = make_pd(s.fd);
	s.db = make_doorbell(s.fd, 0);
	s.cq = make_cq(s.fd, s.db.doorbell, -1, pages(2 * PAGE));
	s.mr = make_mr(s.fd, s.pd, pages(PAGE), PAGE);
	s.qp = make_qp(s.fd, s.pd, s.cq.cq, s.db.doorbell);

	ret = operations[i].run();
	if (ret)
		snic_call(s.fd, KIWI_SNIC_LAST_ERROR, &e);
	printf("RESULT errno %d value %llu limit %llu: %s\n", -ret, (unsigned long long)e.value,
	       (unsigned long long)e.limit, e.text);
	fflush(stdout);
	close(s.fd);
	printf("CLOSED\n");
	return 0;
}
