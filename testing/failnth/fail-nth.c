// SPDX-License-Identifier: GPL-2.0
/*
 * Repeats each operation with its first allocation or copy failing, then with its
 * second, and so on, until it makes no more. After each step the operation has to
 * work again, and when its file is closed device and host hold what they held before.
 * The kernel needs fault injection; testing/scenarios/failnth.py sets it up.
 *
 *	fail-nth [-s STRIDE] [OPERATION...]	prints a line for each, and a sum
 *	fail-nth -r [OPERATION...]		has the device refuse commands in their place
 *
 * STRIDE: of the very many steps of "bind" only one in so many is taken, after the first
 * hundred; 1 by default, that is, all.
 *
 * With -r it is the other end of stdin and stdout that makes the device refuse the Nth command
 * after "ready N", and with a line lets the operation begin. It ends that after "done", and
 * says "met", or something else if there were no N commands.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <xpu.h>

#include "host.h"
#include "snic-test.h"

#define STEPS_MAX	20000
#define SECONDS		3000		/* of one operation, all its steps */
#define STEPS_ALL	100		/* steps that no stride leaves out */
#define HOST_PAGES	64
#define GPU_PAGES	520		/* two tables and a directory of small pages */
#define GPU_CHUNKS	64		/* pages of GPU memory in pieces, each mapped by itself */
#define DRIVER		"/sys/bus/pci/drivers/kiwi_snic/"

/* What an operation finds; what it needs is made before faults begin. */
struct world {
	int fd;
	int event_fd;
	int xpu;
	int gpu;
	size_t gpu_bytes;
	uint32_t pd;
	struct kiwi_snic_doorbell_alloc doorbell;
	struct kiwi_snic_cq_create cq;
	struct kiwi_snic_qp_create qp;
	struct kiwi_snic_mr_reg mr;
	void *memory;
	void *rings;
	void *map;
	char address[32];
};

enum need {
	NEED_PD		= 1 << 0,
	NEED_DB		= 1 << 1,
	NEED_CQ		= 1 << 2 | NEED_DB,
	NEED_QP		= 1 << 3 | NEED_CQ | NEED_PD,
	NEED_MR		= 1 << 4 | NEED_PD,
	NEED_GPU	= 1 << 5,
	NEED_CHUNKS	= 1 << 6 | NEED_GPU,	/* GPU memory in pieces */
	NEED_EVENT	= 1 << 7,
	NEED_NO_FILE	= 1 << 8,
	NEED_RTS	= 1 << 9 | NEED_QP,
	ONCE		= 1 << 10,	/* what succeeded cannot be done again */
	NEED_GPU_MR	= 1 << 11 | NEED_GPU | NEED_PD,
};

struct operation {
	const char *name;
	int (*run)(struct world *w);
	unsigned int needs;
};

/* The operations ----------------------------------------------------------------- */

static int run_open(struct world *w)
{
	int fd = snic_open();

	if (fd < 0)
		return -errno;
	if (w->fd >= 0)
		close(w->fd);
	w->fd = fd;
	return 0;
}

static int run_close(struct world *w)
{
	int fd = w->fd;

	w->fd = -1;
	return close(fd) ? -errno : 0;
}

static int run_query_device(struct world *w)
{
	struct kiwi_snic_query_device a = { .size = sizeof(a) };

	return snic_call(w->fd, KIWI_SNIC_QUERY_DEVICE, &a);
}

static int run_query_port(struct world *w)
{
	struct kiwi_snic_query_port a = { .size = sizeof(a), .port = 1 };

	return snic_call(w->fd, KIWI_SNIC_QUERY_PORT, &a);
}

static int run_set_port(struct world *w)
{
	struct kiwi_snic_set_port a = {
		.size = sizeof(a), .port = 1, .enabled = 1, .mtu = KIWI_MTU_4096,
	};

	return snic_call(w->fd, KIWI_SNIC_SET_PORT, &a);
}

static int run_query_gid(struct world *w)
{
	struct kiwi_snic_gid a = { .size = sizeof(a), .port = 1 };

	return snic_call(w->fd, KIWI_SNIC_QUERY_GID, &a);
}

static int run_set_gid(struct world *w)
{
	struct kiwi_snic_gid a = {
		.size = sizeof(a), .port = 1, .index = 3, .type = KIWI_GID_ROCE_V2,
		.gid = { 0xfe, 0x80, [15] = 9 },
	};

	return snic_call(w->fd, KIWI_SNIC_SET_GID, &a);
}

static int run_last_error(struct world *w)
{
	struct kiwi_snic_last_error a = { .size = sizeof(a) };

	return snic_call(w->fd, KIWI_SNIC_LAST_ERROR, &a);
}

static int run_pd_alloc(struct world *w)
{
	struct kiwi_snic_pd_alloc a = { .size = sizeof(a) };

	return snic_call(w->fd, KIWI_SNIC_PD_ALLOC, &a);
}

static int run_mr_reg(struct world *w)
{
	struct kiwi_snic_mr_reg a = mr_args(w->pd, w->memory, HOST_PAGES * PAGE);

	return snic_call(w->fd, KIWI_SNIC_MR_REG, &a);
}

static struct kiwi_snic_mr_reg gpu_mr_args(const struct world *w)
{
	struct kiwi_snic_mr_reg a = mr_args(w->pd, NULL, w->gpu_bytes);

	a.mem.type = KIWI_MEM_DMABUF;
	a.mem.fd = w->gpu;
	return a;
}

static int run_mr_reg_dmabuf(struct world *w)
{
	struct kiwi_snic_mr_reg a = gpu_mr_args(w);

	return snic_call(w->fd, KIWI_SNIC_MR_REG, &a);
}

static int run_evict(struct world *w)
{
	return xpu_evict(w->xpu, w->gpu);
}

static int run_mr_query(struct world *w)
{
	struct kiwi_snic_mr_query a = { .size = sizeof(a), .mr = w->mr.mr };

	return snic_call(w->fd, KIWI_SNIC_MR_QUERY, &a);
}

static int run_doorbell_alloc(struct world *w)
{
	struct kiwi_snic_doorbell_alloc a = { .size = sizeof(a) };

	return snic_call(w->fd, KIWI_SNIC_DOORBELL_ALLOC, &a);
}

static int run_doorbell_export(struct world *w)
{
	struct kiwi_snic_doorbell_export a = { .size = sizeof(a), .doorbell = w->doorbell.doorbell };
	int ret = snic_call(w->fd, KIWI_SNIC_DOORBELL_EXPORT, &a);

	if (!ret)
		close(a.fd);
	return ret;
}

static int run_error_page(struct world *w)
{
	struct kiwi_snic_error_page a = {
		.size = sizeof(a),
		.mem = {
			.type = KIWI_MEM_USER, .addr = (uintptr_t)w->memory,
			.length = KIWI_ERROR_PAGE_BYTES,
		},
	};

	return snic_call(w->fd, KIWI_SNIC_ERROR_PAGE, &a);
}

static int run_queue_query(struct world *w)
{
	struct kiwi_snic_queue_query a = {
		.size = sizeof(a), .id = w->qp.qp, .kind = KIWI_QUEUE_SQ,
	};

	return snic_call(w->fd, KIWI_SNIC_QUEUE_QUERY, &a);
}

static int run_preflight(struct world *w)
{
	struct kiwi_check checks[32];
	struct kiwi_snic_preflight a = {
		.size = sizeof(a), .fd = w->gpu, .count = 32, .checks = (uintptr_t)checks,
	};

	return snic_call(w->fd, KIWI_SNIC_PREFLIGHT, &a);
}

static int run_cq_create(struct world *w)
{
	struct kiwi_snic_cq_create a = cq_args(w->doorbell.doorbell, w->memory, 4);

	a.event_fd = w->event_fd;
	return snic_call(w->fd, KIWI_SNIC_CQ_CREATE, &a);
}

static int run_cq_create_gpu(struct world *w)
{
	struct kiwi_snic_cq_create a = cq_args(w->doorbell.doorbell, NULL, 4);

	a.mem.type = KIWI_MEM_DMABUF;
	a.mem.fd = w->gpu;
	return snic_call(w->fd, KIWI_SNIC_CQ_CREATE, &a);
}

static int run_qp_create(struct world *w)
{
	struct kiwi_snic_qp_create a = qp_args(w->pd, w->cq.cq, w->doorbell.doorbell, w->rings);

	return snic_call(w->fd, KIWI_SNIC_QP_CREATE, &a);
}

static int run_qp_modify(struct world *w)
{
	struct kiwi_snic_qp_modify a = {
		.size = sizeof(a), .qp = w->qp.qp, .state = KIWI_QPS_INIT, .port = 1,
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_PORT | KIWI_QP_ATTR_ACCESS,
	};

	return snic_call(w->fd, KIWI_SNIC_QP_MODIFY, &a);
}

static int run_qp_query(struct world *w)
{
	struct kiwi_snic_qp_modify a = { .size = sizeof(a), .qp = w->qp.qp };

	return snic_call(w->fd, KIWI_SNIC_QP_QUERY, &a);
}

static int run_destroy_pd(struct world *w)
{
	return destroy(w->fd, w->pd);
}

static int run_destroy_mr(struct world *w)
{
	return destroy(w->fd, w->mr.mr);
}

static int run_destroy_doorbell(struct world *w)
{
	return destroy(w->fd, w->doorbell.doorbell);
}

static int run_destroy_cq(struct world *w)
{
	return destroy(w->fd, w->cq.cq);
}

static int run_destroy_qp(struct world *w)
{
	return destroy(w->fd, w->qp.qp);
}

static int run_mmap(struct world *w)
{
	w->map = mmap(NULL, w->doorbell.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd,
		      w->doorbell.map_offset);
	if (w->map == MAP_FAILED)
		return -errno;
	munmap(w->map, w->doorbell.map_size);
	return 0;
}

/* The QP goes to ERR, which the file has no event for, so there is nothing to read. */
static int run_read(struct world *w)
{
	struct kiwi_snic_event event;

	return read(w->fd, &event, sizeof(event)) < 0 && errno != EAGAIN ? -errno : 0;
}

static int run_poll(struct world *w)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : 0;
}

static int run_unbind(struct world *w)
{
	return write_file(DRIVER "unbind", w->address);
}

static int run_bind(struct world *w)
{
	return write_file(DRIVER "bind", w->address);
}

static const struct operation operations[] = {
	{ "open",		run_open,		NEED_NO_FILE },
	{ "query-device",	run_query_device, 0 },
	{ "query-port",		run_query_port, 0 },
	{ "set-port",		run_set_port, 0 },
	{ "query-gid",		run_query_gid, 0 },
	{ "set-gid",		run_set_gid, 0 },
	{ "last-error",		run_last_error, 0 },
	{ "pd-alloc",		run_pd_alloc, 0 },
	{ "mr-reg",		run_mr_reg,		NEED_PD },
	{ "mr-reg-dmabuf",	run_mr_reg_dmabuf,	NEED_PD | NEED_GPU },
	{ "mr-reg-chunks",	run_mr_reg_dmabuf,	NEED_PD | NEED_CHUNKS },
	{ "mr-move",		run_evict,		NEED_GPU_MR },
	{ "mr-query",		run_mr_query,		NEED_MR },
	{ "doorbell-alloc",	run_doorbell_alloc, 0 },
	{ "doorbell-export",	run_doorbell_export,	NEED_DB },
	{ "error-page",		run_error_page,		ONCE },
	{ "cq-create",		run_cq_create,		NEED_DB | NEED_EVENT },
	{ "cq-create-gpu",	run_cq_create_gpu,	NEED_DB | NEED_GPU },
	{ "qp-create",		run_qp_create,		NEED_CQ | NEED_PD },
	{ "qp-modify",		run_qp_modify,		NEED_QP },
	{ "qp-query",		run_qp_query,		NEED_RTS },
	{ "queue-query",	run_queue_query,	NEED_QP },
	{ "preflight",		run_preflight,		NEED_GPU },
	{ "destroy-pd",		run_destroy_pd,		NEED_PD | ONCE },
	{ "destroy-mr",		run_destroy_mr,		NEED_MR | ONCE },
	{ "destroy-mr-dmabuf",	run_destroy_mr,		NEED_GPU_MR | ONCE },
	{ "destroy-doorbell",	run_destroy_doorbell,	NEED_DB | ONCE },
	{ "destroy-cq",		run_destroy_cq,		NEED_CQ | ONCE },
	{ "destroy-qp",		run_destroy_qp,		NEED_RTS | ONCE },
	{ "mmap",		run_mmap,		NEED_DB },
	{ "read",		run_read,		NEED_QP },
	{ "poll",		run_poll,		NEED_QP },
	{ "close",		run_close,		NEED_RTS | NEED_MR | ONCE },
	{ "unbind",		run_unbind,		NEED_RTS | NEED_MR | ONCE },
	{ "bind",		run_bind,		NEED_NO_FILE | ONCE },
};

/* Steps -------------------------------------------------------------------------- */

static void world_make(struct world *w, unsigned int needs)
{
	*w = (struct world) { .fd = -1, .event_fd = -1, .xpu = -1, .gpu = -1 };
	snic_pci_address(w->address, sizeof(w->address));
	w->memory = pages(HOST_PAGES * PAGE);
	w->rings = pages(2 * PAGE);
	if (needs & NEED_NO_FILE)
		return;
	w->fd = snic_open();
	CHECK(w->fd >= 0);
	CHECK(fcntl(w->fd, F_SETFL, O_NONBLOCK) == 0);
	if (needs & NEED_EVENT) {
		w->event_fd = eventfd(0, EFD_CLOEXEC);
		CHECK(w->event_fd >= 0);
	}
	if (needs & NEED_GPU) {
		bool chunks = (needs & NEED_CHUNKS) == NEED_CHUNKS;

		w->xpu = xpu_open(0);
		w->gpu_bytes = (chunks ? GPU_CHUNKS : GPU_PAGES) * PAGE;
		w->gpu = xpu_alloc(w->xpu, w->gpu_bytes, chunks ? PAGE : 0,
				   chunks ? XPU_ALLOC_SCATTERED : 0);
		CHECK(w->gpu >= 0);
	}
	if (needs & NEED_PD)
		w->pd = make_pd(w->fd);
	if (needs & NEED_DB)
		w->doorbell = make_doorbell(w->fd, 0);
	if ((needs & NEED_MR) == NEED_MR)
		w->mr = make_mr(w->fd, w->pd, w->memory, HOST_PAGES * PAGE);
	if ((needs & NEED_GPU_MR) == NEED_GPU_MR) {
		w->mr = gpu_mr_args(w);
		EQUAL(snic_call(w->fd, KIWI_SNIC_MR_REG, &w->mr), 0);
	}
	if ((needs & NEED_CQ) == NEED_CQ)
		w->cq = make_cq(w->fd, w->doorbell.doorbell, -1, pages(2 * PAGE));
	if ((needs & NEED_QP) == NEED_QP)
		w->qp = make_qp(w->fd, w->pd, w->cq.cq, w->doorbell.doorbell);
	if ((needs & NEED_RTS) == NEED_RTS)
		connect_self(w->fd, &w->qp);
}

/* munmap of what make_cq() and make_qp() mapped is left to the end of the process. */
static void world_end(struct world *w)
{
	if (w->fd >= 0)
		close(w->fd);
	if (w->gpu >= 0)
		close(w->gpu);
	if (w->xpu >= 0)
		close(w->xpu);
	if (w->event_fd >= 0)
		close(w->event_fd);
	munmap(w->memory, HOST_PAGES * PAGE);
	munmap(w->rings, 2 * PAGE);
}

static int fail_nth_fd;

static void fail_nth_set(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	/* An operation that made too few may leave the fault to the write that ends it. */
	if (pwrite(fail_nth_fd, text, length, 0) != length)
		CHECK(pwrite(fail_nth_fd, text, length, 0) == length);
}

/* Whether the fault was met. Reading may meet it itself: then nothing before did. */
static bool fail_nth_fired(void)
{
	char text[16] = "";
	bool fired = pread(fail_nth_fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	fail_nth_set(0);
	return fired;
}

static bool refusing;

static bool answer_is(const char *word)
{
	char line[16];

	CHECK(fgets(line, sizeof(line), stdin));
	line[strcspn(line, "\n")] = 0;
	return !strcmp(line, word);
}

static void failing_begin(unsigned int n)
{
	if (!refusing) {
		host_keep_debugging();
		fail_nth_set(n);
		return;
	}
	printf("ready %u\n", n);
	CHECK(answer_is("go"));
}

/* Whether the fault was met. */
static bool failing_end(void)
{
	if (!refusing)
		return fail_nth_fired();
	printf("done\n");
	return answer_is("met");
}

/*
 * What a failing allocation or copy may turn into: EREMOTEIO where it was the exporter's, and in
 * probe what PCI core says when it has no memory to note a BAR or an interrupt.
 */
static bool excused(const struct operation *op, int ret)
{
	if (refusing)
		return ret == -EREMOTEIO;
	return ret == -ENOMEM || ret == -EFAULT || ret == -EREMOTEIO ||
	       (op->run == run_bind && (ret == -EBUSY || ret == -ENODEV || ret == -ENOSPC));
}

static bool bound(const struct world *w)
{
	char path[128];

	snprintf(path, sizeof(path), DRIVER "%s", w->address);
	return !access(path, F_OK);
}

static const char *const live[] = {
	"diag/live_pd", "diag/live_mr", "diag/live_cq", "diag/live_qp", "diag/live_db_page",
};

static void nothing_left(const char *name, unsigned int n, const struct host_held *before)
{
	size_t i;

	/* What the device did not destroy, the next file that is closed destroys. */
	if (refusing)
		close(snic_open());
	for (i = 0; i < sizeof(live) / sizeof(live[0]); i++) {
		if (!snic_attr(live[i]))
			continue;
		printf("  %s, step %u: the device still holds %s %lld\n", name, n, live[i],
		       snic_attr(live[i]));
		CHECK(false);
	}
	if (!host_held_again(before)) {
		printf("  %s, step %u: the host has given more than before\n", name, n);
		CHECK(false);
	}
}

/* Return: whether a fault was met in step @n. In step 0 there is none. */
static bool step(const struct operation *op, unsigned int n, unsigned int *errors,
		 const struct host_held *before)
{
	struct world w;
	bool fired = false;
	int ret;

	world_make(&w, op->needs);
	if (op->run == run_bind)
		EQUAL(run_unbind(&w), 0);
	if (n)
		failing_begin(n);
	ret = op->run(&w);
	if (n)
		fired = failing_end();

	if (ret && !(fired && excused(op, ret))) {
		printf("  %s, step %u: %d (%s)\n", op->name, n, ret, strerror(-ret));
		CHECK(false);
	}
	*errors += !!ret;
	/* Binding reports no error of probe; what is not bound is bound now. */
	if (op->run == run_bind || op->run == run_unbind) {
		if (!bound(&w))
			EQUAL(run_bind(&w), 0);
		CHECK(bound(&w));
	} else if (ret || !(op->needs & ONCE)) {
		EQUAL(op->run(&w), 0);
	}
	world_end(&w);
	if (n)
		nothing_left(op->name, n, before);
	return fired;
}

/* The driver keeps the buffer that its first long command needed, until the device is unbound. */
static struct host_held held_before(void)
{
	struct world w;

	world_make(&w, NEED_MR);
	world_end(&w);
	return host_held();
}

static bool wanted(const char *name, int count, char **names)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return !count;
}

int main(int argc, char **argv)
{
	unsigned int total = 0, stride = 1;
	char path[64];
	size_t i;

	if (argc > 1 && !strcmp(argv[1], "-r")) {
		refusing = true;
		argc--;
		argv++;
	} else if (argc > 2 && !strcmp(argv[1], "-s")) {
		stride = atoi(argv[2]);
		CHECK(stride);
		argc -= 2;
		argv += 2;
	}

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(path, sizeof(path), "/proc/self/task/%ld/fail-nth", (long)syscall(SYS_gettid));
	fail_nth_fd = open(path, O_RDWR);
	CHECK(fail_nth_fd >= 0);
	for (i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		const struct operation *op = &operations[i];
		unsigned int n = 1, errors = 0, steps = 0;
		struct host_held before;

		if (!wanted(op->name, argc - 1, argv + 1))
			continue;
		alarm(SECONDS);
		step(op, 0, &errors, NULL);
		before = held_before();
		while (step(op, n, &errors, &before)) {
			n += op->run == run_bind && n >= STEPS_ALL ? stride : 1;
			steps++;
			CHECK(n < STEPS_MAX);
		}
		printf("%-18s faults %5u  errors %5u  of %u\n", op->name, steps, errors, n - 1);
		total += steps;
	}
	printf("%u faults injected\n", total);
	return 0;
}
