// SPDX-License-Identifier: GPL-2.0
/* PREFLIGHT: its rules, and what it says of DMA-bufs. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <xpu.h>

#include "snic-test.h"

#define ROOM	32

static struct kiwi_check checks[ROOM];

static int preflight(int fd, int buf, uint32_t *count, void *to)
{
	struct kiwi_snic_preflight f = {
		.size = sizeof(f), .fd = buf, .count = *count, .checks = (uintptr_t)to,
	};
	int ret = snic_call(fd, KIWI_SNIC_PREFLIGHT, &f);

	*count = f.count;
	return ret;
}

static uint32_t run(int fd, int buf)
{
	uint32_t count = ROOM;

	memset(checks, 0xff, sizeof(checks));
	EQUAL(preflight(fd, buf, &count, checks), 0);
	CHECK(count >= KIWI_CHECK_BUS_MASTER && count <= ROOM);
	return count;
}

static struct kiwi_check check_of(uint32_t id)
{
	EQUAL(checks[id - 1].id, id);
	return checks[id - 1];
}

static void expect(uint32_t id, uint32_t state, const char *words)
{
	struct kiwi_check c = check_of(id);

	if (c.state != state || !strstr(c.reason, words))
		printf("  check %u: state %u, '%s'\n", id, c.state, c.reason);
	EQUAL(c.state, state);
	CHECK(strstr(c.reason, words));
}

/* Every prerequisite, in order, with words; a fix where there is something to mend. */
static void complete(void)
{
	int fd = snic_open();
	uint32_t count = run(fd, -1), n;

	for (n = 0; n < count; n++) {
		struct kiwi_check *c = &checks[n];

		EQUAL(c->id, n + 1);
		CHECK(c->state >= KIWI_CHECK_OK && c->state <= KIWI_CHECK_SKIP);
		CHECK(memchr(c->reason, 0, sizeof(c->reason)) && c->reason[0]);
		CHECK(memchr(c->fix, 0, sizeof(c->fix)));
		CHECK(c->state != KIWI_CHECK_OK || !c->fix[0]);
		CHECK(c->state == KIWI_CHECK_OK || c->state == KIWI_CHECK_SKIP || c->fix[0]);
		EQUAL(c->rsvd, 0);
	}
	expect(KIWI_CHECK_EXPORTER, KIWI_CHECK_SKIP, "no DMA-buf");
	expect(KIWI_CHECK_DISTANCE, KIWI_CHECK_SKIP, "no DMA-buf");
	expect(KIWI_CHECK_PORT, KIWI_CHECK_OK, "active");
	expect(KIWI_CHECK_BUS_MASTER, KIWI_CHECK_OK, "on");
	CHECK(check_of(KIWI_CHECK_DOORBELLS).value == snic_caps(fd).max_doorbells);
	make_doorbell(fd, 0);
	run(fd, -1);
	CHECK(check_of(KIWI_CHECK_DOORBELLS).value == snic_caps(fd).max_doorbells - 1);
	close(fd);
}

static void rules(void)
{
	struct kiwi_check two[3];
	int fd = snic_open();
	uint32_t all = run(fd, -1), count;

	memset(two, 0xff, sizeof(two));
	count = 2;
	EQUAL(preflight(fd, -1, &count, two), 0);
	EQUAL(count, all);
	EQUAL(two[1].id, 2);
	EQUAL(two[2].id, UINT32_MAX);
	count = 0;
	EQUAL(preflight(fd, -1, &count, NULL), 0);
	EQUAL(count, all);
	count = ROOM;
	EQUAL(preflight(fd, -1, &count, NULL), -EFAULT);
	EQUAL(preflight(fd, -2, &count, checks), -EBADF);
	EQUAL(preflight(fd, 0, &count, checks), -EBADF);
	expect_error(fd, EBADF, "no DMA-buf");
	close(fd);
}

static void gpu(void)
{
	int fd = snic_open(), xpu = xpu_open(test_device), buf;
	struct xpu_query_buf q;

	CHECK(xpu >= 0);
	buf = xpu_alloc(xpu, PAGE, 0, 0);
	CHECK(buf >= 0);
	run(fd, buf);
	expect(KIWI_CHECK_EXPORTER, KIWI_CHECK_OK, "stays");
	CHECK(check_of(KIWI_CHECK_EXPORTER).address);
	CHECK(check_of(KIWI_CHECK_DISTANCE).state != KIWI_CHECK_SKIP);
	/* nothing is left of the look */
	EQUAL(xpu_query_buf(xpu, buf, &q), 0);
	EQUAL(q.attachments, 0);
	EQUAL(q.pins, 0);
	EQUAL(q.moves, 0);

	EQUAL(xpu_evict(xpu, buf), 0);
	run(fd, buf);
	expect(KIWI_CHECK_EXPORTER, KIWI_CHECK_FAIL, "system memory");
	EQUAL(xpu_fail_next_map(xpu, buf, ENOMEM), 0);
	run(fd, buf);
	expect(KIWI_CHECK_EXPORTER, KIWI_CHECK_FAIL, "does not map");
	EQUAL(xpu_revoke(xpu, buf), 0);
	run(fd, buf);
	expect(KIWI_CHECK_EXPORTER, KIWI_CHECK_FAIL, "does not map");
	close(buf);

	/* an exporter that keeps peers out: told without making it move */
	buf = xpu_alloc(xpu, PAGE, 0, XPU_ALLOC_NO_P2P);
	CHECK(buf >= 0);
	run(fd, buf);
	expect(KIWI_CHECK_EXPORTER, KIWI_CHECK_FAIL, "no peer");
	expect(KIWI_CHECK_DISTANCE, KIWI_CHECK_SKIP, "cannot be told");
	EQUAL(xpu_query_buf(xpu, buf, &q), 0);
	EQUAL(q.placement, XPU_PLACE_VRAM);
	EQUAL(q.moves, 0);
	close(buf);
	close(xpu);
	close(fd);
}

/* Whoever has the file may ask. */
static void unprivileged(void)
{
	struct rlimit limit = { .rlim_cur = 65536, .rlim_max = 65536 };
	int fd = snic_open();

	run(fd, -1);
	expect(KIWI_CHECK_MEMLOCK, KIWI_CHECK_OK, "without limit");
	EQUAL(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	drop_privileges();
	run(fd, -1);
	expect(KIWI_CHECK_MEMLOCK, KIWI_CHECK_WARN, "65536");
	EQUAL(check_of(KIWI_CHECK_MEMLOCK).value, 65536);
	make_mr(fd, make_pd(fd), pages(PAGE), PAGE);
	run(fd, -1);
	EQUAL(check_of(KIWI_CHECK_MEMLOCK).value, 65536 - PAGE);
	close(fd);
}

const struct test preflight_tests[] = {
	{ "preflight.complete", complete },
	{ "preflight.rules", rules },
	{ "preflight.gpu", gpu },
	{ "preflight.unprivileged", unprivileged },
	{ NULL, NULL }
};
