// SPDX-License-Identifier: GPL-2.0
/* The operations of /dev/kiwi/g2gN: die 0 is under test, die 1 is its peer. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kiwi/fabric.h>
#include <kiwi/kiwi.h>
#include <xpu.h>

#include "fabric.h"
#include "host.h"
#include "sweep.h"

#define BYTES		(64UL * 4096)
#define CHUNK_BYTES	(16UL * 4096)	/* of memory in pieces, each mapped by itself */
#define IMAGE		"SUE"
#define IMAGE_FILE	"/lib/firmware/kiwi/g2g/" IMAGE
#define IMAGE_PART	4096
#define ACCESS		(KIWI_ACCESS_LOCAL_WRITE | KIWI_ACCESS_REMOTE_WRITE)

struct world {
	struct fabric fabric;
	struct die *die;
	struct die *peer;
	uint32_t routes;	/* generation in force */
	uint32_t idle_slot;
	uint8_t mtu;		/* of a QP */
	int buf;
	uint64_t bytes;		/* of it */
	struct export own;
	struct export theirs;
	struct import import;
	struct kiwi_g2g_import_map map;
	bool map_unknown;
	uint8_t image[IMAGE_PART];
	uint32_t image_length;
	struct kiwi_g2g *lib;
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_mr *mr;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
};

enum need {
	NEED_NO_FILE	= 1 << 0,
	NEED_UP		= 1 << 1,	/* the fabric is active, and a session with the peer */
	NEED_DOWN	= 1 << 2,	/* it is ready, and not active */
	NEED_BUF	= 1 << 3,
	NEED_CHUNKS	= 1 << 4 | NEED_BUF,	/* in pieces */
	NEED_EXPORT	= 1 << 5 | NEED_UP,
	NEED_THEIRS	= 1 << 6 | NEED_UP,
	NEED_IMPORT	= 1 << 7 | NEED_THEIRS,
	NEED_MAPPED	= 1 << 8 | NEED_IMPORT,
	NEED_STAGED	= 1 << 9 | NEED_UP,
	NEED_IMAGE	= 1 << 10,	/* in the slot that is not active */
	NEED_PD		= 1 << 11 | NEED_UP,
	NEED_MR		= 1 << 12 | NEED_PD | NEED_BUF,
	NEED_CQ		= 1 << 13 | NEED_PD,
	NEED_QP		= 1 << 14 | NEED_CQ,
};

/* Device and fabric ---------------------------------------------------------------- */

static int run_open(struct world *w)
{
	int fd = open("/dev/kiwi/g2g0", O_RDWR | O_CLOEXEC);

	(void)w;
	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

static int run_query_device(struct world *w)
{
	struct kiwi_g2g_query_device a = { };

	return TRY(w->die, QUERY_DEVICE, &a);
}

static int run_last_error(struct world *w)
{
	struct kiwi_last_error a = { };

	return TRY(w->die, LAST_ERROR, &a);
}

static int run_read_log(struct world *w)
{
	struct kiwi_g2g_log_read a = { };

	return TRY(w->die, READ_LOG, &a);
}

static int run_fabric_query(struct world *w)
{
	struct kiwi_g2g_fabric_query a = { };

	return TRY(w->die, FABRIC_QUERY, &a);
}

static int run_fabric_set(struct world *w)
{
	struct kiwi_g2g_fabric_set a = { .pod = "another", .partition = 1 };

	return TRY(w->die, FABRIC_SET, &a);
}

static int change_fabric(struct world *w, enum kiwi_g2g_fabric_change_op op)
{
	struct kiwi_g2g_fabric_change a = { .op = op };

	return TRY(w->die, FABRIC_CHANGE, &a);
}

static int run_activate(struct world *w)
{
	return change_fabric(w, KIWI_G2G_FABRIC_DO_ACTIVATE);
}

static int run_deactivate(struct world *w)
{
	return change_fabric(w, KIWI_G2G_FABRIC_DO_DEACTIVATE);
}

static int run_pause(struct world *w)
{
	return change_fabric(w, KIWI_G2G_FABRIC_DO_PAUSE);
}

static int run_port_query(struct world *w)
{
	struct kiwi_g2g_port_query a = { };

	return TRY(w->die, PORT_QUERY, &a);
}

/* A port that no wire is at. */
static int run_port_set(struct world *w)
{
	struct kiwi_g2g_port_set a = {
		.port = w->die->info.ports - 1U, .lanes = 1U << (w->die->info.lanes - 1),
		.config = KIWI_G2G_PORT_ENABLED, .mode = KIWI_G2G_PORT_DIRECT,
		.mtu = KIWI_G2G_MTU_MAX,
	};

	return TRY(w->die, PORT_SET, &a);
}

static int run_peer_query(struct world *w)
{
	struct kiwi_g2g_peer_query a = { .accel = 1 };

	return TRY(w->die, PEER_QUERY, &a);
}

static int run_peer_isolate(struct world *w)
{
	struct kiwi_g2g_peer_change a = { .accel = 1, .op = KIWI_G2G_PEER_DO_ISOLATE };

	return TRY(w->die, PEER_CHANGE, &a);
}

static int run_routes_query(struct world *w)
{
	struct kiwi_g2g_routes_query a = { .table = KIWI_G2G_TABLE_ACTIVE };

	return TRY(w->die, ROUTES_QUERY, &a);
}

static int run_routes_stage(struct world *w)
{
	struct kiwi_g2g_routes_stage a = {
		.nodes = (uintptr_t)w->fabric.nodes, .links = (uintptr_t)w->fabric.links,
		.nr_nodes = w->fabric.nr_nodes, .nr_links = w->fabric.nr_links, .max_hops = 4,
	};

	return TRY(w->die, ROUTES_STAGE, &a);
}

static int run_routes_commit(struct world *w)
{
	struct kiwi_g2g_routes_commit a = { .generation = w->routes };
	int ret = TRY(w->die, ROUTES_COMMIT, &a);

	/* If it was the reply that could not be copied, they are in force. */
	if (ret)
		w->routes = fabric_query(w->die).routes;
	return ret;
}

/* Images ------------------------------------------------------------------------------ */

static int run_image_query(struct world *w)
{
	struct kiwi_g2g_image_query a = { .slot = 1 };

	return TRY(w->die, IMAGE_QUERY, &a);
}

static int run_image_load(struct world *w)
{
	struct kiwi_g2g_image_load a = { .slot = w->idle_slot, .name = IMAGE };

	return TRY(w->die, IMAGE_LOAD, &a);
}

static int run_image_write(struct world *w)
{
	struct kiwi_g2g_image_write a = {
		.slot = w->idle_slot, .length = w->image_length, .len = IMAGE_PART,
		.data = (uintptr_t)w->image,
	};

	return TRY(w->die, IMAGE_WRITE, &a);
}

static int change_image(struct world *w, enum kiwi_g2g_image_change_op op)
{
	struct kiwi_g2g_image_change a = { .slot = w->idle_slot, .op = op };

	return TRY(w->die, IMAGE_CHANGE, &a);
}

static int run_image_verify(struct world *w)
{
	return change_image(w, KIWI_G2G_IMAGE_DO_VERIFY);
}

static int run_image_activate(struct world *w)
{
	return change_image(w, KIWI_G2G_IMAGE_DO_ACTIVATE);
}

/* Exports ------------------------------------------------------------------------------- */

static int run_export_create(struct world *w)
{
	struct kiwi_g2g_export_create a = {
		.fd = w->buf, .rights = ALL, .length = w->bytes, .grantees = { 1 << 1 },
	};

	return TRY(w->die, EXPORT_CREATE, &a);
}

static int run_export_query(struct world *w)
{
	struct kiwi_g2g_export_query a = { .export_id = w->own.id };

	return TRY(w->die, EXPORT_QUERY, &a);
}

static int run_export_revoke(struct world *w)
{
	struct kiwi_g2g_export_revoke a = { .export_id = w->own.id };

	return TRY(w->die, EXPORT_REVOKE, &a);
}

static int run_export_taken(struct world *w)
{
	return xpu_revoke(w->die->xpu, w->own.buf);
}

static int destroy(struct world *w, uint32_t id)
{
	struct kiwi_destroy a = { .id = id };

	return TRY(w->die, DESTROY, &a);
}

static int run_destroy_export(struct world *w)
{
	return destroy(w, w->own.id);
}

/* Imports ------------------------------------------------------------------------------- */

static int run_import_bind(struct world *w)
{
	struct kiwi_g2g_import_bind a = { .accel = 1, .rights = ALL };

	memcpy(a.handle, w->theirs.handle, sizeof(a.handle));
	return TRY(w->die, IMPORT_BIND, &a);
}

static int run_import_query(struct world *w)
{
	struct kiwi_g2g_import_query a = { .import_id = w->import.id };

	return TRY(w->die, IMPORT_QUERY, &a);
}

static int run_import_map(struct world *w)
{
	int ret;

	w->map = (struct kiwi_g2g_import_map) { .import_id = w->import.id, .length = BYTES };
	ret = TRY(w->die, IMPORT_MAP, &w->map);
	/* If it was the reply that could not be copied, it is mapped, and that is done once. */
	if (ret == -EINVAL && w->map_unknown)
		return 0;
	w->map_unknown = ret == -EFAULT;
	return ret;
}

static int run_import_dmabuf(struct world *w)
{
	struct kiwi_g2g_import_dmabuf a = { .import_id = w->import.id };
	int ret = TRY(w->die, IMPORT_DMABUF, &a);

	if (!ret)
		close(a.fd);
	return ret;
}

static int map_once(struct world *w, uint64_t offset, size_t size)
{
	void *at = mmap(host_place(), size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			w->die->fd, (off_t)offset);

	if (at == MAP_FAILED)
		return -errno;
	munmap(at, size);
	return 0;
}

static int run_import_mmap(struct world *w)
{
	return map_once(w, w->map.map_offset, w->map.map_size);
}

static int run_import_mmap_atomic(struct world *w)
{
	return map_once(w, w->map.atomic_offset, w->map.atomic_size);
}

static int run_destroy_import(struct world *w)
{
	return destroy(w, w->import.id);
}

/* Queues, by the library ------------------------------------------------------------------ */

static int run_pd_alloc(struct world *w)
{
	return kiwi_pd_alloc(w->dev, &w->pd);
}

static int run_mr_reg(struct world *w)
{
	return kiwi_mr_reg_dmabuf(w->pd, w->buf, 0, w->bytes, 0, ACCESS, &w->mr);
}

static int run_mr_query(struct world *w)
{
	struct kiwi_snic_mr_query a;

	return kiwi_mr_query(w->mr, &a);
}

static int run_cq_create(struct world *w)
{
	struct kiwi_cq_config config = { .entries = 16, .event_fd = -1 };

	return kiwi_cq_create(w->dev, &config, &w->cq);
}

static int run_qp_create(struct world *w)
{
	struct kiwi_qp_config config = {
		.sq_units = 64, .rq_entries = 4, .recv_sge = 1, .send_cq = w->cq,
	};

	return kiwi_qp_create(w->pd, &config, &w->qp);
}

static int run_qp_connect(struct world *w)
{
	struct kiwi_connect c = {
		.dest_qpn = 2, .port = 1, .mtu = w->mtu,
		.timeout = 20, .retry_cnt = 7, .rnr_retry = 7, .min_rnr_timer = 12,
		.max_rd_atomic = 1, .max_dest_rd_atomic = 1,
		.dgid = { [KIWI_G2G_DGID_ACCEL + 1] = 1 },
	};

	const struct kiwi_snic_qp_modify reset = {
		.mask = KIWI_QP_ATTR_STATE, .state = KIWI_QPS_RESET,
	};
	int ret = kiwi_qp_connect(w->qp, &c);

	/* It may have come half of the way. */
	if (ret)
		kiwi_qp_modify(w->qp, &reset);
	return ret;
}

static int run_error_page(struct world *w)
{
	const volatile struct kiwi_error_page *page;

	return kiwi_error_page(w->dev, NULL, &page);
}

static int run_destroy_mr(struct world *w)
{
	return kiwi_mr_dereg(w->mr);
}

static int run_destroy_qp(struct world *w)
{
	return kiwi_qp_destroy(w->qp);
}

/* The file ---------------------------------------------------------------------------------- */

/* There may be an event, or none. */
static int run_read(struct world *w)
{
	struct kiwi_file_event event;

	return read(w->die->fd, &event, sizeof(event)) < 0 && errno != EAGAIN ? -errno : 0;
}

static int run_poll(struct world *w)
{
	struct pollfd p = { .fd = w->die->fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : 0;
}

static int run_close(struct world *w)
{
	int fd = w->die->fd;

	w->die->fd = -1;
	return close(fd) ? -errno : 0;
}

static const struct operation operations[] = {
	{ "open",		run_open,		0 },
	{ "query-device",	run_query_device,	0 },
	{ "last-error",		run_last_error,		0 },
	{ "read-log",		run_read_log,		0 },
	{ "fabric-query",	run_fabric_query,	0 },
	{ "fabric-set",		run_fabric_set,		NEED_DOWN },
	{ "activate",		run_activate,		NEED_DOWN | ONCE },
	{ "pause",		run_pause,		NEED_UP | ONCE },
	{ "deactivate",		run_deactivate,		NEED_UP | ONCE },
	{ "port-query",		run_port_query,		0 },
	{ "port-set",		run_port_set,		NEED_UP },
	{ "peer-query",		run_peer_query,		NEED_UP },
	{ "peer-isolate",	run_peer_isolate,	NEED_UP | ONCE },
	{ "routes-query",	run_routes_query,	NEED_UP },
	{ "routes-stage",	run_routes_stage,	NEED_UP },
	{ "routes-commit",	run_routes_commit,	NEED_STAGED | ONCE },
	{ "image-query",	run_image_query,	0 },
	{ "image-load",		run_image_load,		0 },
	{ "image-write",	run_image_write,	0 },
	{ "image-verify",	run_image_verify,	NEED_IMAGE },
	{ "image-activate",	run_image_activate,	NEED_DOWN | NEED_IMAGE | ONCE },
	{ "export-create",	run_export_create,	NEED_UP | NEED_BUF },
	{ "export-chunks",	run_export_create,	NEED_UP | NEED_CHUNKS },
	{ "export-query",	run_export_query,	NEED_EXPORT },
	{ "export-revoke",	run_export_revoke,	NEED_EXPORT | ONCE },
	{ "export-taken",	run_export_taken,	NEED_EXPORT | ONCE },
	{ "import-bind",	run_import_bind,	NEED_THEIRS },
	{ "import-query",	run_import_query,	NEED_IMPORT },
	{ "import-map",		run_import_map,		NEED_IMPORT | ONCE },
	{ "import-dmabuf",	run_import_dmabuf,	NEED_MAPPED },
	{ "mmap",		run_import_mmap,	NEED_MAPPED },
	{ "mmap-atomic",	run_import_mmap_atomic,	NEED_MAPPED },
	{ "pd-alloc",		run_pd_alloc,		NEED_UP },
	{ "mr-reg",		run_mr_reg,		NEED_PD | NEED_BUF },
	{ "mr-query",		run_mr_query,		NEED_MR },
	{ "cq-create",		run_cq_create,		NEED_PD },
	{ "qp-create",		run_qp_create,		NEED_CQ },
	{ "qp-connect",		run_qp_connect,		NEED_QP | ONCE },
	{ "error-page",		run_error_page,		NEED_UP | ONCE },
	{ "destroy-mr",		run_destroy_mr,		NEED_MR | ONCE },
	{ "destroy-qp",		run_destroy_qp,		NEED_QP | ONCE },
	{ "destroy-export",	run_destroy_export,	NEED_EXPORT | ONCE },
	{ "destroy-import",	run_destroy_import,	NEED_MAPPED | ONCE },
	{ "read",		run_read,		NEED_IMPORT },
	{ "poll",		run_poll,		0 },
	{ "close",		run_close,		NEED_EXPORT | NEED_MAPPED | ONCE },
	{ "unbind",		sweep_unbind,		NEED_EXPORT | NEED_MAPPED | ONCE },
	{ "bind",		sweep_bind,		NEED_NO_FILE | ONCE },
};

/* The world --------------------------------------------------------------------------------- */

static bool is_up(const struct world *w)
{
	struct kiwi_g2g_fabric_query q = fabric_query(w->die);

	return q.state == KIWI_G2G_FABRIC_ACTIVE && !q.paused && !q.slot &&
	       peer_query(w->die, 1).state == KIWI_G2G_PEER_ESTABLISHED;
}

/* From wherever the last operation left it, with the image that the device began with. */
static void bring_up(struct world *w)
{
	struct kiwi_g2g_peer_change recover = { .accel = 1, .op = KIWI_G2G_PEER_DO_RECOVER };
	struct kiwi_g2g_fabric_query q = fabric_query(w->die);

	if (is_up(w))
		return;
	if (q.paused)
		MUST(w->die, FABRIC_CHANGE, (&(struct kiwi_g2g_fabric_change) {
			.op = KIWI_G2G_FABRIC_DO_RESUME }));
	if (q.state == KIWI_G2G_FABRIC_ACTIVE &&
	    peer_query(w->die, 1).state == KIWI_G2G_PEER_ISOLATED)
		MUST(w->die, PEER_CHANGE, &recover);
	fabric_down(&w->fabric);
	w->idle_slot = 0;
	if (q.slot && run_image_activate(w))
		fail("the first image is not activated: %s", die_error(w->die));
	fabric_up(&w->fabric);
}

static void read_image(struct world *w)
{
	int fd = open(IMAGE_FILE, O_RDONLY);

	if (fd < 0 || read(fd, w->image, IMAGE_PART) != IMAGE_PART)
		fail(IMAGE_FILE " cannot be read");
	w->image_length = (uint32_t)lseek(fd, 0, SEEK_END);
	close(fd);
}

static void must(int ret, const char *what)
{
	if (ret)
		fail("%s: %s (%s)", what, strerror(-ret), kiwi_error());
}

static void make_queues(struct world *w, unsigned int needs)
{
	must(kiwi_g2g_open("0", &w->lib), "open");
	w->dev = kiwi_g2g_device(w->lib);
	if ((needs & NEED_PD) == NEED_PD)
		must(run_pd_alloc(w), "PD");
	if ((needs & NEED_MR) == NEED_MR)
		must(run_mr_reg(w), "MR");
	if ((needs & NEED_CQ) == NEED_CQ)
		must(run_cq_create(w), "CQ");
	if ((needs & NEED_QP) == NEED_QP)
		must(run_qp_create(w), "QP");
}

static struct world *world_make(unsigned int needs)
{
	static struct world world;
	struct world *w = &world;
	bool chunks = (needs & NEED_CHUNKS) == NEED_CHUNKS;
	struct kiwi_g2g_fabric_query q;

	*w = (struct world) { .buf = -1, .own.buf = -1, .theirs.buf = -1 };
	if (needs & NEED_NO_FILE)
		return w;
	fabric_open(&w->fabric);
	w->die = &w->fabric.dies[0];
	w->peer = &w->fabric.dies[1];
	fcntl(w->die->fd, F_SETFL, O_NONBLOCK);
	read_image(w);
	if (needs & (NEED_UP | NEED_DOWN))
		bring_up(w);
	if (needs & NEED_DOWN)
		must(run_deactivate(w), "DEACTIVATE");
	q = fabric_query(w->die);
	w->routes = q.routes;
	w->idle_slot = !q.slot;
	w->mtu = (uint8_t)q.msg_mtu;
	if (needs & NEED_IMAGE)
		must(run_image_load(w), "IMAGE_LOAD");
	if (needs & NEED_BUF) {
		w->bytes = chunks ? CHUNK_BYTES : BYTES;
		w->buf = xpu_alloc(w->die->xpu, w->bytes, chunks ? 4096 : 0,
				   chunks ? XPU_ALLOC_SCATTERED : 0);
		if (w->buf < 0)
			fail("no buffer");
	}
	if ((needs & NEED_EXPORT) == NEED_EXPORT)
		export_make(&w->own, w->die, BYTES, ALL, 1 << 1);
	if ((needs & NEED_THEIRS) == NEED_THEIRS)
		export_make(&w->theirs, w->peer, BYTES, ALL, 1 << 0);
	if ((needs & NEED_IMPORT) == NEED_IMPORT)
		import_make(&w->import, w->die, &w->theirs, ALL);
	if ((needs & NEED_MAPPED) == NEED_MAPPED)
		must(run_import_map(w), "IMPORT_MAP");
	host_place();
	if ((needs & NEED_STAGED) == NEED_STAGED)
		must(run_routes_stage(w), "ROUTES_STAGE");
	make_queues(w, needs);
	return w;
}

static void world_end(struct world *w)
{
	if (!w->die)
		return;
	kiwi_g2g_close(w->lib);
	fabric_close(&w->fabric);
	if (w->buf >= 0)
		close(w->buf);
	if (w->own.buf >= 0)
		close(w->own.buf);
	if (w->theirs.buf >= 0)
		close(w->theirs.buf);
}

static void open_and_close(void)
{
	run_open(NULL);
}

static const char *const kinds[] = {
	"pd", "mr", "cq", "qp", "db_page", "export", "window", "binding", NULL
};

const struct part g2g_part = {
	.name = "g2g",
	.operations = operations,
	.nr_operations = sizeof(operations) / sizeof(operations[0]),
	.kinds = kinds,
	.usual = NEED_EXPORT | NEED_MAPPED | NEED_MR,
	.make = world_make,
	.end = world_end,
	.open_and_close = open_and_close,
};
