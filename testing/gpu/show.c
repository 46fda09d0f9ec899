// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <string.h>

#include "exchange.h"
#include "show.h"

#define RANKS	8
#define SEND	16384UL
#define RECEIVE	524288UL
#define SNICS	2

static struct world w;

/* Sums over the devices. */
struct costs {
	long long rung;		/* doorbells that the SNICs took */
	long long dropped;	/* and did not */
	long long gpu;		/* doorbells that accelerators wrote to the bus */
	long long interrupts;	/* of the SNICs */
	long long peer;		/* payload to and from memory of accelerators, in bytes */
	long long system;	/* and to and from memory of the host */
};

static struct costs read_costs(void)
{
	static const char *const drops[] = {
		"closed_page", "malformed", "no_queue", "other_page", "old_epoch", "bad_index",
	};
	struct costs c = { 0 };
	struct xpu_query q;
	char name[40];
	size_t i;

	for (test_device = 0; test_device < SNICS; test_device++) {
		c.rung += snic_attr("diag/db_accepted");
		for (i = 0; i < sizeof(drops) / sizeof(drops[0]); i++) {
			snprintf(name, sizeof(name), "diag/db_%s", drops[i]);
			c.dropped += snic_attr(name);
		}
		c.interrupts += snic_attr("diag/msix_sent");
		c.peer += snic_attr("diag/dma_payload_read_peer_bytes") +
			  snic_attr("diag/dma_payload_write_peer_bytes");
		c.system += snic_attr("diag/dma_payload_read_system_bytes") +
			    snic_attr("diag/dma_payload_write_system_bytes");
		EQUAL(xpu_query(w.rank[test_device].xpu, &q), 0);
		c.gpu += q.doorbells;
	}
	test_device = 0;
	return c;
}

/* What was not verified ended the program before. */
static void print_row(const char *what, uint32_t bytes, unsigned int messages,
		      const struct costs *a, const struct costs *b)
{
	const long long gpu = b->gpu - a->gpu;
	static const char *lead = "[";

	printf("%s{\"what\": \"%s\", \"bytes\": %u, \"messages\": %u, ", lead, what, bytes, messages);
	printf("\"gpu_doorbells\": %lld, \"cpu_doorbells\": %lld, \"interrupts\": %lld, ", gpu,
	       b->rung + b->dropped - a->rung - a->dropped - gpu, b->interrupts - a->interrupts);
	printf("\"peer_bytes\": %lld, \"system_bytes\": %lld}", b->peer - a->peer,
	       b->system - a->system);
	lead = ",\n";
}

static void show_put(uint32_t size)
{
	struct rank *r = &w.rank[0], *peer = &w.rank[1];
	struct costs before, after;

	scramble(r->mem + SEND, size);
	memset(peer->mem + RECEIVE, 0, size);
	r->cmd[0] = put(link_of(&w, 0, 1, 0), r, SEND, peer, RECEIVE, size);
	r->cmd[1] = quiet(link_of(&w, 0, 1, 0));
	before = read_costs();
	done(r, begin(r, 2, 1));
	after = read_costs();
	CHECK(!memcmp(peer->mem + RECEIVE, r->mem + SEND, size));
	print_row("put", size, 1, &before, &after);
}

static void show_alltoall(uint32_t size)
{
	struct costs before, after;

	exchange_prepare(&w, size, 0);
	before = read_costs();
	exchange_run(&w);
	after = read_costs();
	exchange_check(&w, size);
	print_row("all-to-all", size, RANKS * (RANKS - 1), &before, &after);
}

int show(void)
{
	static const uint32_t puts[] = { 8, 4096, 262144 }, exchanges[] = { 8, 1024, 32768 };
	size_t i;

	world_make(&w, &(struct world_config) { .ranks = RANKS });
	for (i = 0; i < sizeof(puts) / sizeof(puts[0]); i++)
		show_put(puts[i]);
	for (i = 0; i < sizeof(exchanges) / sizeof(exchanges[0]); i++)
		show_alltoall(exchanges[i]);
	printf("]\n");
	return 0;
}
