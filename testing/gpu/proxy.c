// SPDX-License-Identifier: GPL-2.0
/* A thread of the CPU rings for kernels: the same descriptor, and a count in memory. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "gpu-test.h"
#include "world.h"

#define SEND	16384UL
#define RECEIVE	524288UL
#define ORDERS	4

static struct world w;
static struct rank *const a = &w.rank[0], *const b = &w.rank[1];
static bool over;

static void *proxy(void *arg)
{
	struct rank *r = arg;

	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		kiwi_proxy_poll(r->proxy, __atomic_load_n(&r->proxies, __ATOMIC_ACQUIRE));
		usleep(50);
	}
	return NULL;
}

static void put_once(struct rank *from, struct rank *to, uint32_t size)
{
	struct link *l = link_of(&w, from->number, to->number, 0);
	const struct xpu_cmd list[] = { put(l, from, SEND, to, RECEIVE, size), quiet(l) };

	scramble(from->mem + SEND, size);
	run_list(from, list, 2);
	CHECK(!memcmp(to->mem + RECEIVE, from->mem + SEND, size));
}

static void puts_by_cpu(void)
{
	static const uint32_t sizes[] = { 1, 8, 5000, 300000 };
	struct xpu_query before, after;
	pthread_t thread[2];
	size_t i;

	world_make(&w, &(struct world_config) { .ranks = 2, .proxy = true });
	EQUAL(pthread_create(&thread[0], NULL, proxy, a), 0);
	EQUAL(pthread_create(&thread[1], NULL, proxy, b), 0);
	EQUAL(xpu_query(a->xpu, &before), 0);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		put_once(a, b, sizes[i]);
		put_once(b, a, sizes[i]);
	}
	EQUAL(xpu_query(a->xpu, &after), 0);
	EQUAL(after.doorbells, before.doorbells);
	EQUAL(after.proxy_rings - before.proxy_rings, sizeof(sizes) / sizeof(sizes[0]));
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
}

/* An accelerator that has no room for a page says so, and works with the CPU's help. */
static void no_room_for_page(void)
{
	struct kiwi_snic_doorbell_export e;
	struct kiwi_doorbell *db;
	unsigned int n, k;
	uint64_t length;

	for (n = 0; n < 2; n++) {
		rank_open(&w.rank[n], n);
		EQUAL(kiwi_doorbell_alloc(w.rank[n].nic, 0, &db), 0);
		EQUAL(kiwi_doorbell_export(db, &e), 0);
		for (k = 0; k < XPU_EX_DOORBELLS; k++)
			EQUAL(xpu_doorbell_import(w.rank[n].xpu, e.fd, &length), k);
		EQUAL(xpu_doorbell_import(w.rank[n].xpu, e.fd, &length), -ENOSPC);
	}
	puts_by_cpu();
}

static uint32_t endless(struct rank *r, struct link *l)
{
	r->cmd[0] = (struct xpu_cmd) { .op = XPU_OP_REPEAT, .count = UINT32_MAX };
	r->cmd[1] = put(l, r, SEND, &w.rank[!r->number], RECEIVE, 64);
	r->cmd[2] = (struct xpu_cmd) { .op = XPU_OP_END };
	return begin(r, 3, 1);
}

/* Bit 0: the rank whose queue goes first. Bit 1: of a queue, the SNIC's or the accelerator's. */
static void end_in_order(const struct world_config *config, unsigned int order)
{
	uint32_t kernel[2];
	struct xpu_wait wait;
	unsigned int n;

	for (n = 0; n < 2; n++)
		link_make(&w.rank[n], &w.rank[n].link[order], order, &config[n]);
	for (n = 0; n < 2; n++) {
		link_connect(&w.rank[n], &w.rank[n].link[order], &w.rank[!n],
			     &w.rank[!n].link[order], &config[n]);
		link_adopt(&w.rank[n], &w.rank[n].link[order], &config[n]);
	}
	for (n = 0; n < 2; n++)
		kernel[n] = endless(&w.rank[n], &w.rank[n].link[order]);
	usleep(5000);
	for (n = 0; n < 2; n++) {
		struct rank *r = &w.rank[(n ^ order) & 1];
		struct link *l = &r->link[order];

		if (order & 2)
			link_drop(l, config);
		link_forget(r, l, config);
		if (!(order & 2))
			link_drop(l, config);
	}
	for (n = 0; n < 2; n++) {
		wait = outcome(&w.rank[n], kernel[n]);
		EQUAL(wait.state, XPU_EX_FAILED);
		CHECK(wait.fault == XPU_FAULT_QUEUE || wait.fault == XPU_FAULT_COMPLETION);
	}
}

/* A queue that kernels ring, and one that the CPU does, end while they are used. */
static void ends(void)
{
	struct world_config config[2] = {
		{ .units = 64, .ack_timeout = 14 },
		{ .units = 64, .ack_timeout = 14, .proxy = true },
	};
	pthread_t thread;
	unsigned int n;

	for (n = 0; n < 2; n++) {
		rank_open(&w.rank[n], n);
		rank_make(&w.rank[n], &config[n]);
	}
	EQUAL(pthread_create(&thread, NULL, proxy, b), 0);
	for (n = 0; n < ORDERS; n++)
		end_in_order(config, n);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

const struct test proxy_tests[] = {
	{ "proxy.put", puts_by_cpu },
	{ "proxy.no-room", no_room_for_page },
	{ "proxy.ends", ends },
	{ NULL, NULL }
};
