// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "burn.h"
#include "world.h"

#define RANKS		2
#define THREADS		2	/* each with a queue of its own */
#define ACK_TIMEOUT	14	/* 67 ms: a peer that is gone is known of soon */
#define SIZE		4096
#define SEND		16384UL
#define RECEIVE		524288UL
#define END_MS		300000	/* a slow machine may take its time */
#define WORD_MS		1000	/* until a word is there, as kiwi/queues.h says */

struct kernel {
	const char *name;
	struct rank *rank;
	uint32_t number;
	double launched;
};

static struct world w;

static struct kernel start(const char *name, struct rank *r, int list, uint32_t count,
			   uint32_t threads)
{
	struct kernel k = { .name = name, .rank = r, .launched = uptime() };

	k.number = begin_list(r, list, count, threads);
	return k;
}

/* Puts without end, and a look at nothing but the queue. */
static struct kernel work(struct rank *r)
{
	unsigned int t;

	for (t = 0; t < THREADS; t++) {
		struct xpu_cmd *cmd = r->cmd + 3 * t;

		cmd[0] = (struct xpu_cmd) { .op = XPU_OP_REPEAT, .count = UINT32_MAX };
		cmd[1] = put(link_of(&w, r->number, !r->number, t), r, SEND + t * SIZE,
			     &w.rank[!r->number], RECEIVE + t * SIZE, SIZE);
		cmd[2] = (struct xpu_cmd) { .op = XPU_OP_END };
	}
	return start("work", r, r->list, 3, THREADS);
}

/* Ends when the error page says that the device is of no more use. */
static struct kernel watch(struct rank *r)
{
	int list = xpu_alloc(r->xpu, PAGE, 0, 0);
	struct xpu_cmd *cmd = xpu_map(list, PAGE);

	CHECK(cmd);
	*cmd = wait_for(offsetof(struct kiwi_error_page, device), 1);
	cmd->buffer = 1;
	return start("watch", r, list, 1, 1);
}

/* A device that is being reset tells nothing yet. */
static int wait_for_end(const struct kernel *k, uint32_t ms, struct xpu_wait *wait)
{
	int ret;

	while ((ret = xpu_wait(k->rank->xpu, k->number, ms, wait)) == -EAGAIN)
		usleep(1000);
	return ret;
}

static void tell(const struct kernel *k, uint32_t ms)
{
	struct xpu_wait wait;
	int ret = wait_for_end(k, ms, &wait);

	if (ret == -ETIMEDOUT) {
		xpu_stop(k->rank->xpu, k->number);
		ret = wait_for_end(k, ms, &wait);
	}
	printf("rank %u %s: ", k->rank->number, k->name);
	if (ret == -ENODEV)
		printf("gone\n");
	else if (ret)
		printf("%s\n", strerror(-ret));
	else
		printf("state %u fault %u detail %#x at %.6f\n", wait.state, wait.fault, wait.detail,
		       k->launched + wait.time_ns * 1e-9);
	fflush(stdout);
}

/* The SNICs are the parent's alone then: doorbells are not inherited, and exports hold no file. */
static void leave_snics(void)
{
	unsigned int r;

	for (r = 0; r < RANKS; r++)
		close(kiwi_device_fd(w.rank[r].nic));
}

int burn(bool heir)
{
	struct kernel working[RANKS], watching[RANKS];
	unsigned int r;

	world_make(&w, &(struct world_config) {
		.ranks = RANKS, .links = THREADS, .own_pages = true, .errors = true,
		.ack_timeout = ACK_TIMEOUT,
	});
	for (r = 0; r < RANKS; r++) {
		watching[r] = watch(&w.rank[r]);
		working[r] = work(&w.rank[r]);
	}
	printf("SNICs held by %d\n", getpid());
	fflush(stdout);
	if (heir && fork()) {
		pause();
		return 1;
	}
	if (heir)
		leave_snics();
	printf("ready\n");
	fflush(stdout);
	for (r = 0; r < RANKS; r++)
		tell(&working[r], END_MS);
	for (r = 0; r < RANKS; r++)
		tell(&watching[r], WORD_MS);
	return 0;
}
