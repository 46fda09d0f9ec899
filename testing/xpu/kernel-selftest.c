// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of kernels, queues and doorbells. The network device is played by the test: its
 * doorbell page is a buffer of the other accelerator.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftest.h"

#define SECOND_US	1000000
#define WAIT_MS		10000
#define SOON_MS		20	/* what shall not come to pass is waited for so long */

/* A kernel in the making: the list, and one buffer that all commands use. */
struct made {
	int list, buf;
	struct xpu_cmd *cmd;
	volatile uint64_t *word;
};

static struct made make(size_t length)
{
	struct made m = { .list = alloc(16 * PAGE, 0), .buf = alloc(length, 0) };

	m.cmd = map(m.list, 16 * PAGE);
	m.word = map(m.buf, length);
	return m;
}

static uint32_t launch_on(int fd, const struct made *m, uint32_t count, uint32_t threads,
			  uint32_t timeout_us)
{
	uint32_t kernel;

	EQUAL(xpu_launch(fd, m->list, count, threads, &m->buf, 1, timeout_us, &kernel), 0);
	return kernel;
}

static uint32_t launch(const struct made *m, uint32_t count)
{
	return launch_on(xpu, m, count, 1, 60 * SECOND_US);
}

static struct xpu_wait ended(uint32_t kernel)
{
	struct xpu_wait wait;

	EQUAL(xpu_wait(xpu, kernel, WAIT_MS, &wait), 0);
	return wait;
}

static void done(uint32_t kernel)
{
	struct xpu_wait wait = ended(kernel);

	EQUAL(wait.fault, XPU_FAULT_NONE);
	EQUAL(wait.state, XPU_EX_DONE);
}

static void failed(uint32_t kernel, uint32_t fault, uint32_t command, uint32_t detail)
{
	struct xpu_wait wait = ended(kernel);

	EQUAL(wait.state, XPU_EX_FAILED);
	EQUAL(wait.fault, fault);
	EQUAL(wait.command, command);
	EQUAL(wait.detail, detail);
}

static bool running(uint32_t kernel)
{
	struct xpu_wait wait;
	int ret = xpu_wait(xpu, kernel, SOON_MS, &wait);

	CHECK(!ret || ret == -ETIMEDOUT);
	return ret;
}

uint32_t forever(void)
{
	struct made m = make(PAGE);

	m.cmd[0] = (struct xpu_cmd){ .op = XPU_OP_WAIT, .value = 1 };
	return launch(&m, 1);
}

void test_kernel_arguments(void)
{
	struct made m = make(PAGE);
	int none = open("/dev/null", O_RDWR | O_CLOEXEC), scattered = alloc(2 * PAGE, PAGE);
	const int two[] = { m.buf, 9999 }, wrong[] = { none }, far[] = { scattered };
	struct xpu_launch launch = { .size = sizeof(launch), .list = { .fd = m.list },
				     .count = 1, .threads = 1, .timeout_us = 1 };
	struct xpu_wait wait;
	uint32_t kernel;

	memset(launch.buffer_fd, 0xff, sizeof(launch.buffer_fd));
	EQUAL(xpu_launch(xpu, m.list, 0, 1, NULL, 0, 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, m.list, XPU_EX_COMMANDS + 1, 1, NULL, 0, 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, m.list, 1, 0, NULL, 0, 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, m.list, 1, XPU_EX_THREADS + 1, NULL, 0, 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, m.list, 1, 1, NULL, 0, 0, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, m.list, 1, 1, NULL, 0, XPU_TIMEOUT_MAX_US + 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, m.list, 683, 1, NULL, 0, 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, 9999, 1, 1, NULL, 0, 1, &kernel), -EBADF);
	EQUAL(xpu_launch(xpu, none, 1, 1, NULL, 0, 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, scattered, 1, 1, NULL, 0, 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, m.list, 1, 1, two, 2, 1, &kernel), -EBADF);
	EQUAL(xpu_launch(xpu, m.list, 1, 1, wrong, 1, 1, &kernel), -EINVAL);
	EQUAL(xpu_launch(xpu, m.list, 1, 1, far, 1, 1, &kernel), -EINVAL);
	launch.list.offset = 16 * PAGE - XPU_CMD_BYTES + 1;
	EQUAL(ioctl(xpu, XPU_LAUNCH, &launch) < 0 ? errno : 0, EINVAL);
	launch.list.offset = UINT64_MAX;
	EQUAL(ioctl(xpu, XPU_LAUNCH, &launch) < 0 ? errno : 0, EINVAL);
	launch.list.offset = 0;
	launch.list.reserved = 1;
	EQUAL(ioctl(xpu, XPU_LAUNCH, &launch) < 0 ? errno : 0, EINVAL);
	launch.list.reserved = 0;
	launch.flags = 1;
	EQUAL(ioctl(xpu, XPU_LAUNCH, &launch) < 0 ? errno : 0, EINVAL);
	/* What was refused holds nothing. */
	EQUAL(state(m.list).pins + state(m.buf).pins + state(scattered).pins, 0);

	EQUAL(xpu_wait(xpu, 12345, 0, &wait), -ENOENT);
	EQUAL(xpu_wait(xpu, 12345, 600001, &wait), -EINVAL);
	EQUAL(xpu_stop(xpu, 12345), -ENOENT);
	EQUAL(xpu_queue_remove(xpu, 0), -ENOENT);
	EQUAL(xpu_queue_remove(xpu, ~0U), -ENOENT);
	EQUAL(xpu_doorbell_release(xpu, 0), -ENOENT);
	EQUAL(xpu_doorbell_release(xpu, ~0U), -ENOENT);
	EQUAL(xpu_doorbell_import(xpu, m.buf, NULL), -EINVAL);	/* its own */
	EQUAL(xpu_doorbell_import(xpu, none, NULL), -EINVAL);
	EQUAL(xpu_doorbell_import(xpu, 9999, NULL), -EBADF);
}

void test_kernel_local(void)
{
	enum { THREADS = 8 };
	struct made m = make(PAGE);
	struct xpu_query before = device(xpu), after;
	struct xpu_wait wait;
	uint32_t kernel;

	/* Every thread adds its number 100 times; then waits for the CPU. */
	for (int t = 0; t < THREADS; t++) {
		struct xpu_cmd *cmd = m.cmd + 5 * t;

		cmd[0] = (struct xpu_cmd){ .op = XPU_OP_REPEAT, .count = 100 };
		cmd[1] = (struct xpu_cmd){ .op = XPU_OP_ADD, .value = t + 1, .offset = 8 };
		cmd[2] = (struct xpu_cmd){ .op = XPU_OP_END };
		cmd[3] = (struct xpu_cmd){ .op = XPU_OP_WAIT, .value = 2 };
		cmd[4] = (struct xpu_cmd){ .op = XPU_OP_ADD, .value = 1, .offset = 16 };
	}
	kernel = launch_on(xpu, &m, 5, THREADS, 60 * SECOND_US);
	EQUAL(xpu_wait(xpu, kernel, 0, &wait), -ETIMEDOUT);
	CHECK(running(kernel));
	m.word[0] = 1;
	CHECK(running(kernel));
	EQUAL(m.word[2], 0);
	m.word[0] = 2;
	wait = ended(kernel);
	EQUAL(wait.state, XPU_EX_DONE);
	EQUAL(wait.commands, THREADS * (1 + 100 * 2 + 2));
	CHECK(wait.time_ns >= SOON_MS * 2000000ULL);
	EQUAL(m.word[1], 100 * THREADS * (THREADS + 1) / 2);
	EQUAL(m.word[2], THREADS);
	EQUAL(xpu_wait(xpu, kernel, 0, &wait), -ENOENT);
	after = device(xpu);
	EQUAL(after.kernels - before.kernels, 1);
	EQUAL(after.kernel_commands - before.kernel_commands, THREADS * (1 + 100 * 2 + 2));
	EQUAL(after.kernel_faults - before.kernel_faults, 0);
	EQUAL(after.doorbells, before.doorbells);
}

void test_kernel_faults(void)
{
	struct made m = make(PAGE);
	struct xpu_query before = device(xpu);

	memset(m.cmd, 0xff, PAGE);
	failed(launch(&m, 1), XPU_FAULT_COMMAND, 0, offsetof(struct xpu_cmd, op));
	m.cmd[0] = (struct xpu_cmd){ .op = XPU_OP_STORE, .value = 1 };
	m.cmd[1] = (struct xpu_cmd){ .op = XPU_OP_STORE, .offset = PAGE };
	failed(launch(&m, 2), XPU_FAULT_BUFFER, 1, 0);
	EQUAL(m.word[0], 1);
	m.cmd[1] = (struct xpu_cmd){ .op = XPU_OP_STORE, .buffer = 1 };
	failed(launch(&m, 2), XPU_FAULT_BUFFER, 1, 1);
	m.cmd[0] = (struct xpu_cmd){ .op = XPU_OP_PUT, .queue = 5 };
	failed(launch(&m, 1), XPU_FAULT_QUEUE, 0, 5);
	m.cmd[0] = (struct xpu_cmd){ .op = XPU_OP_WAIT, .value = 2, .timeout_us = 1000 };
	failed(launch(&m, 1), XPU_FAULT_TIMEOUT, 0, 0);
	m.cmd[0].timeout_us = 0;
	failed(launch_on(xpu, &m, 1, 1, 1000), XPU_FAULT_TIMEOUT, 0, 0);
	EQUAL(device(xpu).kernel_faults - before.kernel_faults, 6);
}

void test_kernel_life(void)
{
	struct made m = make(PAGE);
	uint32_t kernel[XPU_EX_KERNELS], one;
	struct xpu_wait wait;
	int other = xpu_open(0), status;
	pid_t pid;

	for (int i = 0; i < XPU_EX_KERNELS; i++)
		kernel[i] = forever();
	EQUAL(xpu_launch(xpu, m.list, 1, 1, NULL, 0, 1, &one), -ENOSPC);
	EQUAL(xpu_wait(other, kernel[0], 0, &wait), -ENOENT);
	EQUAL(xpu_stop(other, kernel[0]), -ENOENT);
	EQUAL(xpu_stop(xpu, kernel[3]), 0);
	EQUAL(xpu_stop(xpu, kernel[3]), 0);
	CHECK(running(kernel[2]));
	EQUAL(ended(kernel[3]).state, XPU_EX_STOPPED);
	done(launch(&m, 1));		/* an empty list, in the place of that one */
	EQUAL(xpu_stop(xpu, kernel[3]), -ENOENT);

	/* A file is closed, and a process killed, with a kernel that runs. */
	m.cmd[0] = (struct xpu_cmd){ .op = XPU_OP_WAIT, .value = 1 };
	launch_on(other, &m, 1, 1, 60 * SECOND_US);
	EQUAL(state(m.buf).pins, 1);
	close(other);
	EQUAL(state(m.buf).pins, 0);
	pid = fork();
	if (!pid) {
		other = xpu_open(0);
		one = launch_on(other, &m, 1, 1, 60 * SECOND_US);
		m.word[1] = 1;
		xpu_wait(other, one, 60000, &wait);
		_exit(1);
	}
	while (!m.word[1])
		usleep(1000);
	EQUAL(state(m.buf).pins, 1);
	kill(pid, SIGKILL);
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(state(m.buf).pins, 0);
	m.word[0] = 1;
	done(launch(&m, 1));
	for (int i = 0; i < XPU_EX_KERNELS; i++) {
		if (i == 3)
			continue;
		EQUAL(xpu_stop(xpu, kernel[i]), 0);
		EQUAL(ended(kernel[i]).state, XPU_EX_STOPPED);
	}
}

void test_kernel_memory(void)
{
	uint64_t free = device(xpu).vram_free;
	struct made m = make(PAGE);
	uint32_t kernel;

	m.cmd[0] = (struct xpu_cmd){ .op = XPU_OP_WAIT, .value = 1 };
	kernel = launch(&m, 1);
	EQUAL(xpu_evict(xpu, m.buf), -EBUSY);
	EQUAL(xpu_evict(xpu, m.list), -EBUSY);
	m.word[0] = 1;
	done(kernel);
	EQUAL(xpu_evict(xpu, m.buf), 0);
	done(launch(&m, 1));			/* which brings it back */
	EQUAL(state(m.buf).placement, XPU_PLACE_VRAM);

	for (int i = 0; i < 2; i++) {
		int victim = i ? m.list : m.buf;

		m.word[0] = 0;
		m.cmd[0] = (struct xpu_cmd){ .op = XPU_OP_WAIT, .value = 1 };
		kernel = launch(&m, 1);
		EQUAL(xpu_revoke(xpu, victim), 0);
		failed(kernel, XPU_FAULT_MEMORY, 0, 0);
		EQUAL(xpu_launch(xpu, m.list, 1, 1, &m.buf, 1, 1, &kernel), -ENODEV);
		munmap(m.cmd, 16 * PAGE);
		munmap((void *)m.word, PAGE);
		close(m.list);
		close(m.buf);
		EQUAL(device(xpu).vram_free, free);
		m = make(PAGE);
	}
}

/* A queue of 8 entries whose far side is the test, and the buffers of it. */
struct line {
	struct made m;
	int mem, page, doorbell, queue;
	uint8_t *ring, *cq;
	volatile uint32_t *words;	/* record, consumer record, error words */
	volatile uint64_t *proxy;
	volatile uint64_t *bell;	/* at the peer */
	unsigned int cqes;
};

enum { RING = 0, CQ = 512, WORDS = 1024, PROXY = 1088, BELL = 64 };
#define DB_VALUE 0xab00000000000000ULL

static struct xpu_queue_add descriptor(int mem, int doorbell)
{
	return (struct xpu_queue_add){
		.ring = { .fd = mem, .offset = RING },
		.record = { .fd = mem, .offset = WORDS },
		.cq = { .fd = mem, .offset = CQ },
		.cq_record = { .fd = mem, .offset = WORDS + 4 },
		.proxy = { .fd = -1 },
		.error = { { .fd = mem, .offset = WORDS + 8 }, { .fd = -1 } },
		.db_value = DB_VALUE, .doorbell = doorbell, .db_offset = BELL, .db_width = 8,
		.db_index_shift = 16, .db_index_bits = 16, .fence = XPU_QUEUE_FENCE_SYSTEM,
		.count = 8, .entry_size = 64, .stride = 64, .index_bits = 16,
		.max_outstanding = 8, .max_inline = 12, .cq_count = 4, .cq_entry_size = 64,
		.cq_stride = 64, .cq_owner = XPU_QUEUE_OWNER_PHASE, .cq_progress = 24,
	};
}

static struct line line(bool proxy)
{
	struct line l = { .m = make(PAGE), .mem = alloc(PAGE, 0), .page = -1 };
	struct xpu_queue_add add;
	uint64_t length;

	l.ring = map(l.mem, PAGE);
	l.cq = l.ring + CQ;
	l.words = (void *)(l.ring + WORDS);
	l.proxy = (void *)(l.ring + PROXY);
	add = descriptor(l.mem, 0);
	if (proxy) {
		add.flags = XPU_QUEUE_PROXY;
		add.db_offset = 0;
		add.proxy = (struct xpu_mem){ .fd = l.mem, .offset = PROXY };
	} else {
		l.page = xpu_alloc(peer, PAGE, 0, 0);
		CHECK(l.page >= 0);
		l.bell = map(l.page, PAGE);
		l.bell += BELL / sizeof(*l.bell);
		l.doorbell = xpu_doorbell_import(xpu, l.page, &length);
		if (l.doorbell == -EOPNOTSUPP && device(xpu).features & XPU_FEATURE_P2P_DISTANCE)
			skip("the kernel knows no path to the peer");
		CHECK(l.doorbell >= 0);
		EQUAL(length, PAGE);
		add.doorbell = l.doorbell;
	}
	l.queue = xpu_queue_add(xpu, &add);
	CHECK(l.queue >= 0);
	l.m.cmd[0] = (struct xpu_cmd){ .op = XPU_OP_PUT, .queue = l.queue, .laddr = 1, .lkey = 2,
				       .length = 3, .raddr = 4, .rkey = 5 };
	l.m.cmd[1] = (struct xpu_cmd){ .op = XPU_OP_QUIET, .queue = l.queue };
	return l;
}

static void complete(struct line *l, unsigned int index, unsigned int status)
{
	volatile uint8_t *cqe = l->cq + 64 * (l->cqes % 4);

	*(volatile uint64_t *)(cqe + 24) = index | (uint64_t)status << 24;
	__sync_synchronize();
	cqe[63] = !(l->cqes++ / 4 & 1);
}

static void rung(struct line *l, unsigned int index)
{
	for (int i = 0; i < WAIT_MS && *l->bell != (DB_VALUE | index << 16); i++)
		usleep(1000);
	EQUAL(*l->bell, DB_VALUE | index << 16);
	EQUAL(l->words[0], index);
}

void test_queue_arguments(void)
{
	struct line l = line(false);
	int scattered = alloc(2 * PAGE, PAGE), other = xpu_open(0);
	struct xpu_queue_add good = descriptor(l.mem, l.doorbell), add;

#define REFUSED(_field, _value, _error) do {		\
	add = good;					\
	add._field = _value;				\
	EQUAL(xpu_queue_add(xpu, &add), -(_error));	\
} while (0)
	REFUSED(flags, 2, EINVAL);
	REFUSED(reserved, 1, EINVAL);
	REFUSED(flags, XPU_QUEUE_PROXY, EINVAL);
	REFUSED(proxy.fd, l.mem, EINVAL);
	REFUSED(doorbell, l.doorbell + 1, ENOENT);
	REFUSED(doorbell, ~0U, ENOENT);
	REFUSED(count, 0, EINVAL);
	REFUSED(count, 6, EINVAL);
	REFUSED(count, 128, EINVAL);
	REFUSED(count, 0x20000, EINVAL);
	REFUSED(entry_size, 65, EINVAL);
	REFUSED(entry_size, 0, EINVAL);
	REFUSED(stride, 0x10000, EINVAL);
	REFUSED(cq_count, 0, EINVAL);
	REFUSED(cq_count, 64, EINVAL);
	REFUSED(cq_stride, 68, EINVAL);
	REFUSED(cq_progress, 62, EINVAL);
	REFUSED(cq_progress, ~0U, EINVAL);
	REFUSED(max_outstanding, 0, EINVAL);
	REFUSED(max_outstanding, 9, EINVAL);
	REFUSED(index, 0x10000, EINVAL);
	REFUSED(ring.offset, 4, EINVAL);
	REFUSED(ring.offset, PAGE - 504, EINVAL);
	REFUSED(ring.offset, ~7ULL, EINVAL);
	REFUSED(ring.reserved, 1, EINVAL);
	REFUSED(ring.fd, -1, EBADF);
	REFUSED(ring.fd, scattered, EINVAL);
	REFUSED(ring.fd, l.page, EINVAL);	/* of the other device */
	REFUSED(cq.offset, PAGE - 248, EINVAL);
	REFUSED(record.offset, 2, EINVAL);
	REFUSED(record.offset, PAGE, EINVAL);
	REFUSED(record.fd, -1, EINVAL);		/* with an offset */
	REFUSED(error[0].offset, PAGE - 2, EINVAL);
	REFUSED(error[1].reserved, 1, EINVAL);
	REFUSED(fence, 0, EOPNOTSUPP);
	REFUSED(fence, 2, EOPNOTSUPP);
	REFUSED(index_bits, 24, EOPNOTSUPP);
	REFUSED(db_width, 4, EOPNOTSUPP);
	REFUSED(db_index_bits, 0, EOPNOTSUPP);
	REFUSED(db_index_bits, 33, EOPNOTSUPP);
	REFUSED(db_index_shift, 49, EOPNOTSUPP);
	REFUSED(db_index_shift, ~0U, EOPNOTSUPP);
	REFUSED(db_offset, 4, EOPNOTSUPP);
	REFUSED(cq_owner, 1, EOPNOTSUPP);
	REFUSED(cq_progress, 29, EOPNOTSUPP);
	EQUAL(state(scattered).pins, 0);

	/* Another file has neither the doorbell nor the queue. */
	add = good;
	EQUAL(xpu_queue_add(other, &add), -ENOENT);
	EQUAL(xpu_queue_remove(other, l.queue), -ENOENT);
	EQUAL(xpu_doorbell_release(other, l.doorbell), -ENOENT);
	{
		struct xpu_wait wait;
		uint32_t kernel = launch_on(other, &l.m, 2, 1, SECOND_US);

		EQUAL(xpu_wait(other, kernel, WAIT_MS, &wait), 0);
		EQUAL(wait.fault, XPU_FAULT_QUEUE);
	}
	EQUAL(*l.bell, 0);
	EQUAL(xpu_doorbell_release(xpu, l.doorbell), -EBUSY);
	EQUAL(xpu_queue_remove(xpu, l.queue), 0);
	EQUAL(state(l.mem).pins, 0);
	EQUAL(xpu_doorbell_release(xpu, l.doorbell), 0);
	EQUAL(xpu_doorbell_release(xpu, l.doorbell), -ENOENT);
}

void test_queue_proxy(void)
{
	struct line l = line(true);
	struct xpu_query before = device(xpu), after;
	uint32_t kernel = launch(&l.m, 2);

	for (int i = 0; i < WAIT_MS && *l.proxy != 1; i++)
		usleep(1000);
	EQUAL(*l.proxy, 1);
	CHECK(running(kernel));
	complete(&l, 1, 0);
	done(kernel);
	after = device(xpu);
	EQUAL(after.proxy_rings - before.proxy_rings, 1);
	EQUAL(after.doorbells - before.doorbells, 0);
	EQUAL(after.wqes - before.wqes, 1);
}

void test_queue_doorbell(void)
{
	struct line l = line(false);
	struct xpu_query before = device(xpu), after;
	uint32_t kernel;

	for (unsigned int i = 1; i <= 20; i++) {
		kernel = launch(&l.m, 2);
		rung(&l, i);
		if (i == 1)
			CHECK(running(kernel));
		EQUAL(l.ring[(i - 1) % 8 * 64], 3);	/* a write */
		complete(&l, i, 0);
		done(kernel);
		EQUAL(l.words[1], i);
	}
	after = device(xpu);
	EQUAL(after.wqes - before.wqes, 20);
	EQUAL(after.doorbells - before.doorbells, 20);
	EQUAL(after.doorbells_lost - before.doorbells_lost, 0);
	CHECK(after.polls > before.polls);

	kernel = launch(&l.m, 2);
	rung(&l, 21);
	l.words[2] = 0x1234;
	failed(kernel, XPU_FAULT_ERROR_WORD, 1, 0x1234);
	l.words[2] = 0;
	complete(&l, 21, 12);
	failed(launch(&l.m, 2), XPU_FAULT_COMPLETION, 1, 12);
}

/* Whatever is taken away ends the kernel, and is not touched any more. */
void test_queue_revoked(void)
{
	struct line l = line(false);
	uint32_t kernel = launch(&l.m, 2);
	uint64_t before;

	rung(&l, 1);
	before = device(xpu).doorbells;
	EQUAL(xpu_revoke(peer, l.page), 0);
	failed(kernel, XPU_FAULT_DOORBELL, 1, l.queue);
	failed(launch(&l.m, 2), XPU_FAULT_DOORBELL, 0, l.queue);
	EQUAL(device(xpu).doorbells, before);
	EQUAL(xpu_doorbell_import(xpu, l.page, NULL), -ENODEV);
	EQUAL(xpu_queue_remove(xpu, l.queue), 0);
	{
		struct xpu_queue_add add = descriptor(l.mem, l.doorbell);

		EQUAL(xpu_queue_add(xpu, &add), -ENODEV);
	}
	EQUAL(xpu_doorbell_release(xpu, l.doorbell), 0);

	l = line(false);
	kernel = launch(&l.m, 2);
	rung(&l, 1);
	EQUAL(xpu_evict(xpu, l.mem), -EBUSY);
	EQUAL(xpu_revoke(xpu, l.mem), 0);
	failed(kernel, XPU_FAULT_QUEUE, 1, l.queue);
	EQUAL(xpu_queue_remove(xpu, l.queue), 0);

	l = line(false);
	kernel = launch(&l.m, 2);
	rung(&l, 1);
	EQUAL(xpu_queue_remove(xpu, l.queue), 0);
	failed(kernel, XPU_FAULT_QUEUE, 1, l.queue);

	/* The file goes with all of it, and the page is the peer's again. */
	l = line(false);
	launch(&l.m, 2);
	rung(&l, 1);
	CHECK(running(launch(&l.m, 2)));
	close(xpu);
	xpu = xpu_open(0);
	{
		struct xpu_query_buf page;

		EQUAL(xpu_query_buf(peer, l.page, &page), 0);
		EQUAL(page.attachments + page.mappings + page.pins, 0);
	}
	EQUAL(state(l.mem).pins, 0);
}
