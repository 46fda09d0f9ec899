// SPDX-License-Identifier: GPL-2.0
/* Identity, ids, who uses whom, and the end of objects. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "snic-test.h"

static void query(void)
{
	int fd = snic_open();
	struct kiwi_snic_query_device q = snic_caps(fd);
	struct kiwi_snic_query_port port = { .size = sizeof(port) };
	struct kiwi_snic_gid gid = { .size = sizeof(gid) };

	EQUAL(q.generation, snic_attr("generation"));
	EQUAL(q.max_mr_size, snic_attr("caps/max_mr_size"));
	EQUAL(q.max_mr_pages, snic_attr("caps/max_mr_pages"));
	EQUAL(q.max_pd, snic_attr("caps/max_pd"));
	EQUAL(q.max_mr, snic_attr("caps/max_mr"));
	EQUAL(q.max_cq, snic_attr("caps/max_cq"));
	EQUAL(q.max_qp, snic_attr("caps/max_qp"));
	EQUAL(q.max_msg_size, snic_attr("caps/max_msg_size"));
	EQUAL(q.max_inline, snic_attr("caps/max_inline"));
	EQUAL(q.link_mbps, snic_attr("caps/link_mbps"));
	EQUAL(q.max_sge, snic_attr("caps/max_sge"));
	EQUAL(q.max_rd_atomic, snic_attr("caps/max_rd_atomic"));
	EQUAL(q.ports, snic_attr("caps/ports"));
	EQUAL(q.gids, snic_attr("caps/gids"));
	EQUAL(q.sq_log2_max, snic_attr("caps/sq_log2_max"));
	EQUAL(q.rq_log2_max, snic_attr("caps/rq_log2_max"));
	EQUAL(q.cq_log2_max, snic_attr("caps/cq_log2_max"));
	EQUAL(q.page_shift_max, snic_attr("caps/page_shift_max"));
	EQUAL(q.doorbell_size, make_doorbell(fd, 0).map_size);
	CHECK(q.max_doorbells);

	for (port.port = 1; port.port <= q.ports; port.port++) {
		EQUAL(snic_call(fd, KIWI_SNIC_QUERY_PORT, &port), 0);
		EQUAL(port.enabled, 1);
		CHECK(port.state == KIWI_PORT_ACTIVE || port.state == KIWI_PORT_DOWN);
		CHECK(port.mtu >= KIWI_MTU_256 && port.mtu <= port.mtu_max);
		gid.port = port.port;
		gid.index = 0;
		EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), 0);
		EQUAL(gid.type, KIWI_GID_ROCE_V2);
		/* fe80:: with the EUI-64 of the MAC */
		EQUAL(gid.gid[0], 0xfe);
		EQUAL(gid.gid[1], 0x80);
		EQUAL(gid.gid[8], port.mac[0] ^ 2);
		CHECK(!memcmp(&gid.gid[9], &port.mac[1], 2));
		EQUAL(gid.gid[11], 0xff);
		EQUAL(gid.gid[12], 0xfe);
		CHECK(!memcmp(&gid.gid[13], &port.mac[3], 3));
		gid.index = q.gids - 1;
		EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), 0);
		EQUAL(gid.type, KIWI_GID_NONE);
	}
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_PORT, &port), -EINVAL);
	expect_error(fd, EINVAL, "port");
	EQUAL(snic_last_error(fd).value, q.ports + 1);
	EQUAL(snic_last_error(fd).limit, q.ports);
	port.port = 0;
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_PORT, &port), -EINVAL);
	gid.port = 1;
	gid.index = q.gids;
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), -EINVAL);
	EQUAL(snic_last_error(fd).limit, q.gids - 1);
	gid.port = UINT32_MAX;
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), -EINVAL);
	close(fd);
}

static int set_gid(int fd, uint32_t port, uint8_t index, uint8_t type, uint8_t last)
{
	struct kiwi_snic_gid gid = { .size = sizeof(gid), .port = port, .index = index,
				     .type = type };

	if (last) {
		memset(&gid.gid[10], 0xff, 2);
		gid.gid[12] = 10;
		gid.gid[15] = last;
	}
	return snic_call(fd, KIWI_SNIC_SET_GID, &gid);
}

static void ports(void)
{
	int fd = snic_open();
	struct kiwi_snic_query_device q = snic_caps(fd);
	struct kiwi_snic_query_port port = { .size = sizeof(port), .port = 1 };
	struct kiwi_snic_set_port set = { .size = sizeof(set), .port = 1, .enabled = 1 };
	struct kiwi_snic_gid gid = { .size = sizeof(gid), .port = 1, .index = 3 };

	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_PORT, &port), 0);
	set.mtu = KIWI_MTU_512;
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), 0);
	EQUAL(snic_attr("ports/1/mtu"), 512);
	set.mtu = port.mtu_max + 1;
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), -EINVAL);
	expect_error(fd, EINVAL, "mtu");
	set.mtu = 0;
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), -EINVAL);
	set.mtu = port.mtu;
	set.enabled = 2;
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), -EINVAL);
	expect_error(fd, EINVAL, "enabled");
	set.enabled = 0;
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), 0);
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_PORT, &port), 0);
	EQUAL(port.state, KIWI_PORT_DOWN);
	EQUAL(port.enabled, 0);
	set.enabled = 1;
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), 0);
	set.port = q.ports + 1;
	EQUAL(snic_call(fd, KIWI_SNIC_SET_PORT, &set), -EINVAL);

	EQUAL(set_gid(fd, 1, 3, KIWI_GID_ROCE_V2, 1), 0);
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), 0);
	EQUAL(gid.type, KIWI_GID_ROCE_V2);
	EQUAL(gid.gid[15], 1);
	EQUAL(set_gid(fd, 1, 4, KIWI_GID_ROCE_V2, 1), -EINVAL);
	EQUAL(set_gid(fd, q.ports, 4, KIWI_GID_ROCE_V2, 2), 0);
	EQUAL(set_gid(fd, 1, 4, 1, 3), -EINVAL);
	EQUAL(set_gid(fd, 1, 4, KIWI_GID_NONE, 3), -EINVAL);
	EQUAL(set_gid(fd, 1, 4, KIWI_GID_ROCE_V2, 0), -EINVAL);
	EQUAL(set_gid(fd, 1, q.gids, KIWI_GID_NONE, 0), -EINVAL);
	EQUAL(set_gid(fd, 0, 4, KIWI_GID_NONE, 0), -EINVAL);
	/* What was refused has changed nothing. */
	gid.index = 4;
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), 0);
	EQUAL(gid.type, KIWI_GID_NONE);
	EQUAL(set_gid(fd, 1, 3, KIWI_GID_NONE, 0), 0);
	EQUAL(set_gid(fd, q.ports, 4, KIWI_GID_NONE, 0), 0);
	close(fd);
}

static void ids(void)
{
	int fd = snic_open(), other = snic_open();
	struct kiwi_snic_doorbell_alloc db = make_doorbell(fd, 0);
	uint32_t pd = make_pd(fd), pd2 = make_pd(fd);
	struct kiwi_snic_mr_reg mr = make_mr(fd, pd, pages(PAGE), PAGE);
	struct kiwi_snic_mr_query q = { .size = sizeof(q), .mr = pd };
	struct kiwi_snic_mr_reg r = mr_args(db.doorbell, pages(PAGE), PAGE);
	struct kiwi_snic_cq_create c = cq_args(pd, pages(2 * PAGE), 4);

	CHECK(pd != pd2 && pd != db.doorbell && pd != mr.mr);
	/* of another kind */
	EQUAL(snic_call(fd, KIWI_SNIC_MR_REG, &r), -ENOENT);
	expect_error(fd, ENOENT, "PD");
	EQUAL(snic_call(fd, KIWI_SNIC_CQ_CREATE, &c), -ENOENT);
	expect_error(fd, ENOENT, "doorbell");
	EQUAL(snic_call(fd, KIWI_SNIC_MR_QUERY, &q), -ENOENT);
	EQUAL(modify_state(fd, pd, KIWI_QPS_ERR), -ENOENT);
	/* of no object */
	EQUAL(destroy(fd, 0), -ENOENT);
	EQUAL(destroy(fd, UINT32_MAX), -ENOENT);
	EQUAL(destroy(fd, 0x7fffffff), -ENOENT);
	q.mr = 0;
	EQUAL(snic_call(fd, KIWI_SNIC_MR_QUERY, &q), -ENOENT);
	/* of another file */
	EQUAL(destroy(other, pd), -ENOENT);
	r = mr_args(pd, pages(PAGE), PAGE);
	EQUAL(snic_call(other, KIWI_SNIC_MR_REG, &r), -ENOENT);
	EQUAL(make_pd(other), 1);
	EQUAL(destroy(other, 1), 0);
	/* destroyed */
	EQUAL(destroy(fd, pd2), 0);
	EQUAL(destroy(fd, pd2), -ENOENT);
	close(other);
	close(fd);
}

static void order(void)
{
	int fd = snic_open();
	struct kiwi_snic_doorbell_alloc db = make_doorbell(fd, 0), db2 = make_doorbell(fd, 0);
	uint32_t pd = make_pd(fd), pd2 = make_pd(fd);
	struct kiwi_snic_cq_create cq = make_cq(fd, db.doorbell, -1, pages(2 * PAGE));
	struct kiwi_snic_cq_create cq2 = make_cq(fd, db2.doorbell, -1, pages(2 * PAGE));
	struct kiwi_snic_mr_reg mr = make_mr(fd, pd2, pages(PAGE), PAGE);
	struct kiwi_snic_qp_create qp = qp_args(pd, cq.cq, db.doorbell, pages(2 * PAGE));
	struct kiwi_snic_qp_create qp2 = make_qp(fd, pd, cq.cq, db2.doorbell);

	qp.recv_cq = cq2.cq;
	EQUAL(snic_call(fd, KIWI_SNIC_QP_CREATE, &qp), 0);
	EQUAL(destroy(fd, pd), -EBUSY);
	EQUAL(snic_last_error(fd).value, 2);
	expect_error(fd, EBUSY, "PD");
	EQUAL(destroy(fd, pd2), -EBUSY);
	EQUAL(destroy(fd, cq.cq), -EBUSY);
	EQUAL(destroy(fd, cq2.cq), -EBUSY);
	EQUAL(destroy(fd, db.doorbell), -EBUSY);
	EQUAL(destroy(fd, db2.doorbell), -EBUSY);
	EQUAL(destroy(fd, qp2.qp), 0);
	EQUAL(destroy(fd, pd), -EBUSY);
	EQUAL(destroy(fd, db2.doorbell), -EBUSY);
	EQUAL(destroy(fd, qp.qp), 0);
	EQUAL(destroy(fd, pd), 0);
	EQUAL(destroy(fd, db.doorbell), -EBUSY);
	EQUAL(destroy(fd, cq2.cq), 0);
	EQUAL(destroy(fd, db2.doorbell), 0);
	EQUAL(destroy(fd, cq.cq), 0);
	EQUAL(destroy(fd, db.doorbell), 0);
	EQUAL(destroy(fd, pd2), -EBUSY);
	EQUAL(destroy(fd, mr.mr), 0);
	EQUAL(destroy(fd, pd2), 0);
	/* Nothing is in use by creations that failed. */
	pd = make_pd(fd);
	qp = qp_args(pd, 12345, 12345, pages(2 * PAGE));
	EQUAL(snic_call(fd, KIWI_SNIC_QP_CREATE, &qp), -ENOENT);
	EQUAL(destroy(fd, pd), 0);
	close(fd);
}

/* close() alone; the program checks that nothing is left. */
static void cascade(void)
{
	int round, i, fd;

	for (round = 0; round < 3; round++) {
		fd = snic_open();
		for (i = 0; i < 10; i++) {
			struct kiwi_snic_doorbell_alloc db = make_doorbell(fd, 0);
			uint32_t pd = make_pd(fd);
			struct kiwi_snic_cq_create cq = make_cq(fd, db.doorbell, -1,
								pages(2 * PAGE));

			make_mr(fd, pd, pages(PAGE), PAGE);
			make_qp(fd, pd, cq.cq, db.doorbell);
			make_qp(fd, pd, cq.cq, db.doorbell);
		}
		if (round < 2)
			close(fd);
	}
}

/* A descriptor that was sent keeps the objects; so does one of a child. */
static void passed(void)
{
	int pair[2], fd = snic_open();
	uint32_t pd = make_pd(fd);
	char control[CMSG_SPACE(sizeof(int))] = { 0 }, byte = 0;
	struct iovec io = { &byte, 1 };
	struct msghdr msg = {
		.msg_iov = &io, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *cmsg = CMSG_FIRSTHDR(&msg);
	int status;
	pid_t pid;

	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	cmsg->cmsg_level = SOL_SOCKET;
	cmsg->cmsg_type = SCM_RIGHTS;
	cmsg->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(cmsg), &fd, sizeof(fd));
	EQUAL(sendmsg(pair[0], &msg, 0), 1);
	close(fd);
	EQUAL(snic_attr("diag/live_pd"), 1);

	pid = fork();
	if (!pid) {
		EQUAL(recvmsg(pair[1], &msg, 0), 1);
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(fd));
		EQUAL(destroy(fd, pd), 0);
		make_mr(fd, make_pd(fd), pages(PAGE), PAGE);
		_exit(0);
	}
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	close(pair[0]);
	close(pair[1]);
}

/* Threads that do everything at once to the same few ids. */
#define RACE_SECONDS	4

struct race {
	int fd;
	unsigned int seed;
	time_t end;
	void *memory;
};

static void *racer(void *arg)
{
	struct race *race = arg;
	unsigned int r;
	uint32_t id;

	while (time(NULL) < race->end) {
		struct kiwi_snic_mr_query mq = { .size = sizeof(mq) };
		struct kiwi_snic_qp_modify qq = { .size = sizeof(qq) };
		struct kiwi_snic_pd_alloc pd = { .size = sizeof(pd) };
		struct kiwi_snic_doorbell_alloc db = { .size = sizeof(db) };
		struct kiwi_snic_mr_reg mr;
		struct kiwi_snic_cq_create cq;
		struct kiwi_snic_qp_create qp;

		r = rand_r(&race->seed);
		id = 1 + (r >> 8) % 12;
		switch (r % 10) {
		case 0:
			snic_call(race->fd, KIWI_SNIC_PD_ALLOC, &pd);
			break;
		case 1:
			snic_call(race->fd, KIWI_SNIC_DOORBELL_ALLOC, &db);
			break;
		case 2:
			mr = mr_args(id, race->memory, PAGE);
			snic_call(race->fd, KIWI_SNIC_MR_REG, &mr);
			break;
		case 3:
			cq = cq_args(id, race->memory, 4);
			snic_call(race->fd, KIWI_SNIC_CQ_CREATE, &cq);
			break;
		case 4:
			qp = qp_args(id, 1 + (r >> 12) % 12, 1 + (r >> 16) % 12, race->memory);
			qp.recv_cq = 1 + (r >> 20) % 12;
			snic_call(race->fd, KIWI_SNIC_QP_CREATE, &qp);
			break;
		case 5:
			mq.mr = id;
			snic_call(race->fd, KIWI_SNIC_MR_QUERY, &mq);
			break;
		case 6:
			qq.qp = id;
			snic_call(race->fd, KIWI_SNIC_QP_QUERY, &qq);
			modify_state(race->fd, id, KIWI_QPS_ERR);
			break;
		default:
			destroy(race->fd, id);
			break;
		}
	}
	return NULL;
}

static void race(void)
{
	struct race races[4];
	pthread_t threads[4];
	int fd = snic_open(), i;

	for (i = 0; i < 4; i++) {
		races[i] = (struct race) { fd, i + 1, time(NULL) + RACE_SECONDS, pages(2 * PAGE) };
		EQUAL(pthread_create(&threads[i], NULL, racer, &races[i]), 0);
	}
	for (i = 0; i < 4; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	close(fd);
}

const struct test object_tests[] = {
	{ "objects.query", query },
	{ "objects.ports", ports },
	{ "objects.ids", ids },
	{ "objects.order", order },
	{ "objects.cascade", cascade },
	{ "objects.passed", passed },
	{ "objects.race", race },
	{ NULL, NULL }
};
