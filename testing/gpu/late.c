// SPDX-License-Identifier: GPL-2.0
/*
 * Late writes: kernels go on ringing for a queue that is no more, while queues and doorbell
 * pages with the same numbers are made and destroyed. None of them may act, and the
 * device counts them all.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu-test.h"
#include "world.h"

#define WRITES		1024	/* of a kernel: as many as the ring has entries */
#define ROUNDS		12
#define AMID		6	/* in one of so many rounds the queue goes while it is rung for */
#define PAUSE_NS	50000	/* between writes: so that much is made and destroyed meanwhile */
#define SOME_MS		5
#define NOPS		64
#define RINGS		((WRITES * KIWI_WQEBB + PAGE) * 2)	/* as the rank lays them out */

enum { ACCEPTED, CLOSED_PAGE, NO_QUEUE, OTHER_PAGE, OLD_EPOCH, BAD_INDEX, OUTCOMES };

static const char *const outcomes[OUTCOMES] = {
	"accepted", "closed_page", "no_queue", "other_page", "old_epoch", "bad_index",
};

static struct rank r;
static struct link stale, victim;
static uint8_t *rings;

static void count(long long *n)
{
	char name[32];
	int i;

	for (i = 0; i < OUTCOMES; i++) {
		snprintf(name, sizeof(name), "diag/db_%s", outcomes[i]);
		n[i] = snic_attr(name);
	}
}

static void make(struct link *l, unsigned int place, const struct world_config *config)
{
	memset(rings + place * RINGS / 2, 0, RINGS / 2);
	link_make(&r, l, place, config);
	link_connect(&r, l, &r, l, config);
}

/* A queue that has work in its ring, and that nobody rings for. */
static void make_and_destroy(const struct world_config *config)
{
	static const struct kiwi_cqe none;
	struct kiwi_snic_qp_modify attr;
	struct kiwi_wqe_ctrl *unit;
	unsigned int n;

	make(&victim, 1, config);
	unit = (struct kiwi_wqe_ctrl *)(rings + victim.at);
	for (n = 0; n < NOPS; n++, unit += KIWI_WQEBB / sizeof(*unit))
		*unit = (struct kiwi_wqe_ctrl) {
			.opcode = KIWI_WQE_NOP, .flags = KIWI_WQE_SIGNALED, .segs = 1,
		};
	usleep(1000);
	EQUAL(kiwi_qp_query(victim.qp, &attr), 0);
	EQUAL(attr.state, KIWI_QPS_RTS);
	CHECK(!memcmp(rings + victim.at + WRITES * KIWI_WQEBB, &none, sizeof(none)));
	link_drop(&victim, config);
	if (config->own_pages) {
		EQUAL(xpu_doorbell_release(r.xpu, victim.page.number), 0);
		close(victim.page.fd);
	}
}

static void ring_on(void)
{
	r.cmd[0] = (struct xpu_cmd) { .op = XPU_OP_REPEAT, .count = WRITES };
	r.cmd[1] = put(&stale, &r, 0, &r, 64, 8);
	r.cmd[1].laddr = 0;
	r.cmd[1].lkey = 0;
	r.cmd[1].flags = XPU_CMD_INLINE;
	r.cmd[2] = (struct xpu_cmd) { .op = XPU_OP_DELAY, .value = PAUSE_NS };
	r.cmd[3] = (struct xpu_cmd) { .op = XPU_OP_END };
}

/* @amid: the queue goes while the kernel rings for it, else before. */
static unsigned int one_round(const struct world_config *config, bool amid)
{
	unsigned int made = 0;
	struct xpu_wait wait;
	uint32_t kernel;

	make(&stale, 0, config);
	link_adopt(&r, &stale, config);
	ring_on();
	if (!amid)
		link_drop(&stale, config);
	kernel = begin(&r, 4, 1);
	if (amid) {
		usleep(SOME_MS * 1000);
		link_drop(&stale, config);
	}
	while (xpu_wait(r.xpu, kernel, 0, &wait) == -ETIMEDOUT) {
		make_and_destroy(config);
		made++;
	}
	EQUAL(wait.state, XPU_EX_DONE);
	link_forget(&r, &stale, config);
	return made;
}

static void rounds(struct world_config config)
{
	long long before[OUTCOMES], after[OUTCOMES], all = 0, acted = 0;
	struct xpu_query first, last;
	unsigned int n, made = 0;

	config.ranks = 1;
	config.units = WRITES;
	rank_open(&r, 0);
	rank_make(&r, &config);
	rings = xpu_map(r.rings, RINGS);
	CHECK(rings);
	EQUAL(xpu_query(r.xpu, &first), 0);
	count(before);
	for (n = 0; n < ROUNDS; n++) {
		long long was = snic_attr("diag/db_accepted");

		bool amid = n % AMID == AMID - 1;

		made += one_round(&config, amid);
		if (amid)
			acted += snic_attr("diag/db_accepted") - was;
		else
			EQUAL(snic_attr("diag/db_accepted"), was);
	}
	count(after);
	EQUAL(xpu_query(r.xpu, &last), 0);
	printf("  %u queues made and destroyed;", made);
	for (n = 0; n < OUTCOMES; n++) {
		printf(" %s %lld", outcomes[n], after[n] - before[n]);
		all += after[n] - before[n];
	}
	printf("\n");
	CHECK(made >= ROUNDS);
	EQUAL(after[ACCEPTED] - before[ACCEPTED], acted);
	EQUAL(all, ROUNDS * WRITES);
	CHECK(all - acted >= 10000);
	EQUAL(last.doorbells - first.doorbells, ROUNDS * WRITES);
	EQUAL(last.doorbells_lost, first.doorbells_lost);
}

/* The page stays open, and is that of the queues that come after. */
static void late_queue(void)
{
	rounds((struct world_config) { .no_record = true });
}

static void late_record(void)
{
	rounds((struct world_config) { 0 });
}

/* The page goes too, and comes again; the accelerator takes no notice. */
static void late_page(void)
{
	rounds((struct world_config) { .no_record = true, .own_pages = true, .keep_pages = true });
}

const struct test late_tests[] = {
	{ "late.queue", late_queue },
	{ "late.record", late_record },
	{ "late.page", late_page },
	{ NULL, NULL }
};
