// SPDX-License-Identifier: GPL-2.0
/* The operations of /dev/kiwi/snicN. */
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xpu.h>

#include "host.h"
#include "snic-test.h"
#include "sweep.h"

#define HOST_PAGES	64
#define GPU_PAGES	520		/* two tables and a directory of small pages */
#define GPU_CHUNKS	64		/* pages of GPU memory in pieces, each mapped by itself */

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
	NEED_GPU_MR	= 1 << 10 | NEED_GPU | NEED_PD,
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
	w->map = mmap(host_place(), w->doorbell.map_size, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_FIXED, w->fd, w->doorbell.map_offset);
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
	{ "unbind",		sweep_unbind,		NEED_RTS | NEED_MR | ONCE },
	{ "bind",		sweep_bind,		NEED_NO_FILE | ONCE },
};

/* The world ---------------------------------------------------------------------- */

static struct world *world_make(unsigned int needs)
{
	static struct world world;
	struct world *w = &world;

	*w = (struct world) { .fd = -1, .event_fd = -1, .xpu = -1, .gpu = -1 };
	w->memory = pages(HOST_PAGES * PAGE);
	w->rings = pages(2 * PAGE);
	host_place();
	if (needs & NEED_NO_FILE)
		return w;
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
	return w;
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

static void open_and_close(void)
{
	close(snic_open());
}

static const char *const kinds[] = { "pd", "mr", "cq", "qp", "db_page", NULL };

const struct part snic_part = {
	.name = "snic",
	.operations = operations,
	.nr_operations = sizeof(operations) / sizeof(operations[0]),
	.kinds = kinds,
	.usual = NEED_MR,
	.make = world_make,
	.end = world_end,
	.open_and_close = open_and_close,
};
