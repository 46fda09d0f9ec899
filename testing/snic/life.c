// SPDX-License-Identifier: GPL-2.0
/* The device goes away below open files: by unbind, and by reset. */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "snic-test.h"

static char address[32];
static char path[128];

struct held {
	int fd;
	int event;
	struct kiwi_snic_doorbell_alloc db;
	volatile uint64_t *doorbell;
	uint32_t pd;
	struct kiwi_snic_qp_create qp;
	bool woken;		/* a read() that waited when the device went */
};

static struct held hold_everything(void)
{
	struct held h = { .fd = snic_open(), .event = eventfd(0, EFD_NONBLOCK) };
	struct kiwi_snic_cq_create cq;

	CHECK(h.fd >= 0 && h.event >= 0);
	h.db = make_doorbell(h.fd, 0);
	h.doorbell = map_doorbell(h.fd, &h.db);
	h.pd = make_pd(h.fd);
	cq = make_cq(h.fd, h.db.doorbell, h.event, pages(2 * PAGE));
	make_mr(h.fd, h.pd, pages(16 * PAGE), 16 * PAGE);
	h.qp = make_qp(h.fd, h.pd, cq.cq, h.db.doorbell);
	connect_self(h.fd, &h.qp);
	snic_pci_address(address, sizeof(address));
	return h;
}

static void *reader(void *arg)
{
	struct held *h = arg;
	struct kiwi_snic_event e;

	h->woken = read(h->fd, &e, sizeof(e)) < 0 && errno == ENODEV;
	return NULL;
}

/* What is left of a file whose device is gone. */
static void check_down(struct held *h)
{
	struct kiwi_snic_query_device q = { .size = sizeof(q) };
	struct kiwi_snic_pd_alloc pd = { .size = sizeof(pd) };
	struct pollfd p = { .fd = h->fd, .events = POLLIN };
	struct kiwi_snic_event e;
	uint64_t n;

	EQUAL(touch(h->doorbell, false), 0);
	EQUAL(touch(h->doorbell, true), 0);
	EQUAL(snic_call(h->fd, KIWI_SNIC_QUERY_DEVICE, &q), -ENODEV);
	EQUAL(snic_call(h->fd, KIWI_SNIC_PD_ALLOC, &pd), -ENODEV);
	EQUAL(destroy(h->fd, h->pd), -ENODEV);
	EQUAL(modify_state(h->fd, h->qp.qp, KIWI_QPS_ERR), -ENODEV);
	expect_error(h->fd, ENODEV, "removed or reset");
	CHECK(mmap(NULL, h->db.map_size, PROT_WRITE, MAP_SHARED, h->fd, h->db.map_offset) ==
	      MAP_FAILED);
	EQUAL(errno, ENODEV);
	EQUAL(poll(&p, 1, 10000), 1);
	EQUAL(p.revents, POLLHUP | POLLERR);
	EQUAL(read(h->fd, &e, sizeof(e)), -1);
	EQUAL(errno, ENODEV);
	EQUAL(read(h->event, &n, sizeof(n)), sizeof(n));
	EQUAL(n, 1);
	EQUAL(munmap((char *)h->doorbell - h->db.reg_offset, h->db.map_size), 0);
}

static void take_away(const char *file, const char *text, struct held *h)
{
	pthread_t thread;

	EQUAL(pthread_create(&thread, NULL, reader, h), 0);
	usleep(100000);
	EQUAL(write_file(file, text), 0);
	EQUAL(pthread_join(thread, NULL), 0);
	CHECK(h->woken);
	check_down(h);
}

static void unbind(void)
{
	struct held h = hold_everything();
	int fd;

	take_away("/sys/bus/pci/drivers/kiwi_snic/unbind", address, &h);
	EQUAL(snic_open(), -1);
	CHECK(errno == ENOENT || errno == ENXIO || errno == ENODEV);
	EQUAL(write_file("/sys/bus/pci/drivers/kiwi_snic/bind", address), 0);
	/* The old file stays dead; its number may have been taken meanwhile. */
	EQUAL(destroy(h.fd, h.pd), -ENODEV);
	close(h.fd);
	fd = snic_open();
	CHECK(fd >= 0);
	make_pd(fd);
	close(fd);
}

static void reset(void)
{
	struct held h = hold_everything();
	uint32_t generation = snic_caps(h.fd).generation;
	long long lost = snic_attr("diag/lost_at_reset");
	struct kiwi_snic_gid gid = { .size = sizeof(gid), .port = 1 };
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", address);
	take_away(path, "1", &h);
	fd = snic_open();
	CHECK(fd >= 0);
	CHECK(snic_caps(fd).generation != generation);
	EQUAL(snic_attr("diag/lost_at_reset"), lost);
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), 0);
	EQUAL(gid.type, KIWI_GID_ROCE_V2);
	EQUAL(gid.gid[0], 0xfe);
	EQUAL(make_pd(fd), 1);
	EQUAL(destroy(h.fd, 1), -ENODEV);
	EQUAL(snic_attr("diag/live_pd"), 1);
	close(h.fd);
	EQUAL(snic_attr("diag/live_pd"), 1);
	close(fd);
}

/* Calls that are under way while the device goes, again and again. */
static volatile bool over;

static void *caller(void *arg)
{
	int fd;

	(void)arg;
	while (!over) {
		struct kiwi_snic_pd_alloc pd = { .size = sizeof(pd) };
		struct kiwi_snic_doorbell_alloc db = { .size = sizeof(db) };
		struct kiwi_snic_mr_reg mr;

		fd = snic_open();
		if (fd < 0)
			continue;
		snic_call(fd, KIWI_SNIC_PD_ALLOC, &pd);
		mr = mr_args(pd.pd, arg, 16 * PAGE);
		snic_call(fd, KIWI_SNIC_MR_REG, &mr);
		if (!snic_call(fd, KIWI_SNIC_DOORBELL_ALLOC, &db)) {
			void *p = mmap(NULL, db.map_size, PROT_WRITE, MAP_SHARED, fd, db.map_offset);

			if (p != MAP_FAILED)
				munmap(p, db.map_size);
		}
		close(fd);
	}
	return NULL;
}

static void busy(void)
{
	pthread_t threads[2];
	int i, round, fd;

	snic_pci_address(address, sizeof(address));
	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", address);
	for (i = 0; i < 2; i++)
		EQUAL(pthread_create(&threads[i], NULL, caller, pages(16 * PAGE)), 0);
	for (round = 0; round < 10; round++) {
		usleep(50000);
		if (round % 2) {
			EQUAL(write_file(path, "1"), 0);
		} else {
			EQUAL(write_file("/sys/bus/pci/drivers/kiwi_snic/unbind", address), 0);
			EQUAL(write_file("/sys/bus/pci/drivers/kiwi_snic/bind", address), 0);
		}
	}
	over = true;
	for (i = 0; i < 2; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	fd = snic_open();
	CHECK(fd >= 0);
	make_pd(fd);
	close(fd);
}

const struct test life_tests[] = {
	{ "life.unbind", unbind },
	{ "life.reset", reset },
	{ "life.busy", busy },
	{ NULL, NULL }
};
