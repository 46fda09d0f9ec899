// SPDX-License-Identifier: GPL-2.0
/* The error page in an accelerator's memory: kernels see what no completion tells. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpu-test.h"
#include "world.h"

#define WORD_SECONDS	1.0	/* as kiwi/queues.h says */

static struct world w;
static struct rank *const a = &w.rank[0], *const b = &w.rank[1];

static void make(void)
{
	world_make(&w, &(struct world_config) { .ranks = 2, .errors = true });
	EQUAL(a->error->device, 0);
	EQUAL(a->error->port_down, 0);
}

/* When the kernel ended, by the accelerator's clock. */
static double end_of(double launched, const struct xpu_wait *wait)
{
	return launched + wait->time_ns * 1e-9;
}

/* Posts nothing: only the word can tell it that its queue is in error. */
static void idle(struct rank *r)
{
	r->cmd[0] = (struct xpu_cmd) { .op = XPU_OP_REPEAT, .count = 1000000 };
	r->cmd[1] = quiet(link_of(&w, r->number, !r->number, 0));
	r->cmd[2] = (struct xpu_cmd) { .op = XPU_OP_DELAY, .value = 20000 };
	r->cmd[3] = (struct xpu_cmd) { .op = XPU_OP_END };
}

/* The peer breaks a rule: it gets a completion, and the queue that it meant a word. */
static void queue_word(void)
{
	const uint32_t expected = KIWI_SNIC_EVENT_QP_ACCESS << 16 | KIWI_CQE_ST_REM_ACCESS_ERR;
	uint32_t far, near;
	struct xpu_wait wait;
	double launched;

	make();
	idle(b);
	launched = uptime();
	far = begin(b, 4, 1);
	a->cmd[0] = put(link_of(&w, 0, 1, 0), a, 0, b, 0, 64);
	a->cmd[0].rkey ^= 1;
	a->cmd[1] = quiet(link_of(&w, 0, 1, 0));
	near = begin(a, 2, 1);
	wait = outcome(b, far);
	EQUAL(wait.state, XPU_EX_FAILED);
	EQUAL(wait.fault, XPU_FAULT_ERROR_WORD);
	EQUAL(wait.detail, expected);
	CHECK(end_of(launched, &wait) - launched < WORD_SECONDS);
	wait = outcome(a, near);
	EQUAL(wait.fault, XPU_FAULT_COMPLETION);
	EQUAL(wait.detail, KIWI_CQE_ST_REM_ACCESS_ERR);
	EQUAL(a->error->device, 0);
	CHECK(b->error->events);
}

/* The two words at the start as one: the second is not 0. */
static void port_word(void)
{
	struct xpu_wait wait;
	double launched, told;
	uint32_t kernel;
	int ms;

	make();
	a->cmd[0] = wait_for(0, 1ULL << 32);
	a->cmd[0].buffer = 1;
	launched = uptime();
	kernel = begin(a, 1, 1);
	usleep(20000);
	EQUAL(xpu_wait(a->xpu, kernel, 0, &wait), -ETIMEDOUT);
	told = uptime();
	EQUAL(snic_attr_write("ports/1/enabled", "0"), 0);
	wait = outcome(a, kernel);
	EQUAL(wait.state, XPU_EX_DONE);
	printf("  port: %.0f us\n", (end_of(launched, &wait) - told) * 1e6);
	CHECK(end_of(launched, &wait) - told < WORD_SECONDS);
	EQUAL(a->error->device, 0);
	EQUAL(a->error->port_down, 1);
	EQUAL(snic_attr_write("ports/1/enabled", "1"), 0);
	for (ms = 0; ms < 5000 && a->error->port_down; ms++)
		usleep(1000);
	EQUAL(a->error->port_down, 0);
}

/* Before the driver takes queues and doorbells away. */
static void gone_word(void)
{
	uint32_t kernel;
	struct xpu_wait wait;
	char address[32];
	double launched, returned;

	make();
	snic_pci_address(address, sizeof(address));
	a->cmd[0] = wait_for(0, 1);
	a->cmd[0].buffer = 1;
	launched = uptime();
	kernel = begin(a, 1, 1);
	EQUAL(write_file("/sys/bus/pci/drivers/kiwi_snic/unbind", address), 0);
	returned = uptime();
	wait = outcome(a, kernel);
	EQUAL(wait.state, XPU_EX_DONE);
	CHECK(end_of(launched, &wait) < returned);
	EQUAL(a->error->device, KIWI_ERROR_GONE);
	EQUAL(write_file("/sys/bus/pci/drivers/kiwi_snic/bind", address), 0);
}

/* The memory is taken away: nothing is written there any more, and the file works on. */
static void revoked(void)
{
	struct xpu_query_buf q;
	struct xpu_wait wait;
	uint32_t kernel;

	make();
	EQUAL(xpu_query_buf(a->xpu, a->errors, &q), 0);
	EQUAL(q.placement, XPU_PLACE_VRAM);
	CHECK(q.pins);
	EQUAL(xpu_evict(a->xpu, a->errors), -EBUSY);
	EQUAL(xpu_revoke(a->xpu, a->errors), 0);
	EQUAL(snic_attr_write("ports/1/enabled", "0"), 0);
	EQUAL(snic_attr_write("ports/1/enabled", "1"), 0);
	/* Kernels cannot use a queue whose word is no more. */
	a->cmd[0] = quiet(link_of(&w, 0, 1, 0));
	EQUAL(xpu_launch(a->xpu, a->list, 1, 1, NULL, 0, KERNEL_US, &kernel), 0);
	wait = outcome(a, kernel);
	EQUAL(wait.fault, XPU_FAULT_QUEUE);
}

const struct test error_tests[] = {
	{ "errors.queue", queue_word },
	{ "errors.port", port_word },
	{ "errors.gone", gone_word },
	{ "errors.revoked", revoked },
	{ NULL, NULL }
};
