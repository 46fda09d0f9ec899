// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* G2G IO dies: the device, its fabric, ports and peers. */
#include "priv.h"

#include <stdlib.h>

/* What queue_ioctl() relies on. */
#define SAME_PLACE(name) _Static_assert(KIWI_G2G_##name - KIWI_G2G_PD_ALLOC == \
					KIWI_SNIC_##name - KIWI_SNIC_PD_ALLOC, "")
SAME_PLACE(MR_REG);
SAME_PLACE(MR_QUERY);
SAME_PLACE(DOORBELL_ALLOC);
SAME_PLACE(CQ_CREATE);
SAME_PLACE(QP_CREATE);
SAME_PLACE(QP_MODIFY);
SAME_PLACE(QP_QUERY);
SAME_PLACE(DOORBELL_EXPORT);
SAME_PLACE(QUEUE_QUERY);
SAME_PLACE(ERROR_PAGE);

static const char *ioctl_name(unsigned int nr)
{
	switch (nr) {
	case _IOC_NR(KIWI_G2G_QUERY_DEVICE): return "query device";
	case _IOC_NR(KIWI_G2G_FABRIC_SET): return "set fabric";
	case _IOC_NR(KIWI_G2G_FABRIC_CHANGE): return "change fabric";
	case _IOC_NR(KIWI_G2G_FABRIC_QUERY): return "query fabric";
	case _IOC_NR(KIWI_G2G_DESTROY): return "destroy";
	case _IOC_NR(KIWI_G2G_READ_LOG): return "read log";
	case _IOC_NR(KIWI_G2G_PORT_SET): return "set port";
	case _IOC_NR(KIWI_G2G_PORT_QUERY): return "query port";
	case _IOC_NR(KIWI_G2G_PEER_QUERY): return "query peer";
	case _IOC_NR(KIWI_G2G_PEER_CHANGE): return "change peer";
	case _IOC_NR(KIWI_G2G_ROUTES_STAGE): return "stage routes";
	case _IOC_NR(KIWI_G2G_ROUTES_COMMIT): return "commit routes";
	case _IOC_NR(KIWI_G2G_ROUTES_QUERY): return "query routes";
	case _IOC_NR(KIWI_G2G_IMAGE_LOAD): return "load image";
	case _IOC_NR(KIWI_G2G_IMAGE_WRITE): return "write image";
	case _IOC_NR(KIWI_G2G_IMAGE_CHANGE): return "change image";
	case _IOC_NR(KIWI_G2G_IMAGE_QUERY): return "query image";
	case _IOC_NR(KIWI_G2G_EXPORT_CREATE): return "create export";
	case _IOC_NR(KIWI_G2G_EXPORT_REVOKE): return "revoke export";
	case _IOC_NR(KIWI_G2G_EXPORT_QUERY): return "query export";
	case _IOC_NR(KIWI_G2G_IMPORT_BIND): return "bind import";
	case _IOC_NR(KIWI_G2G_IMPORT_MAP): return "map import";
	case _IOC_NR(KIWI_G2G_IMPORT_QUERY): return "query import";
	case _IOC_NR(KIWI_G2G_IMPORT_DMABUF): return "DMA-buf of import";
	case _IOC_NR(KIWI_G2G_PD_ALLOC): return "allocate PD";
	case _IOC_NR(KIWI_G2G_MR_REG): return "register MR";
	case _IOC_NR(KIWI_G2G_MR_QUERY): return "query MR";
	case _IOC_NR(KIWI_G2G_DOORBELL_ALLOC): return "allocate doorbell";
	case _IOC_NR(KIWI_G2G_CQ_CREATE): return "create CQ";
	case _IOC_NR(KIWI_G2G_QP_CREATE): return "create QP";
	case _IOC_NR(KIWI_G2G_QP_MODIFY): return "modify QP";
	case _IOC_NR(KIWI_G2G_QP_QUERY): return "query QP";
	case _IOC_NR(KIWI_G2G_DOORBELL_EXPORT): return "export doorbell";
	case _IOC_NR(KIWI_G2G_QUEUE_QUERY): return "query queue";
	case _IOC_NR(KIWI_G2G_ERROR_PAGE): return "set error page";
	default: return "ioctl";
	}
}

static const struct part part = {
	.prefix = "g2g",
	.query_device = KIWI_G2G_QUERY_DEVICE,
	.last_error = KIWI_G2G_LAST_ERROR,
	.destroy = KIWI_G2G_DESTROY,
	.pd_alloc = KIWI_G2G_PD_ALLOC,
	.ioctl_name = ioctl_name,
};

/* Devices ----------------------------------------------------------------- */

int kiwi_g2g_list(struct kiwi_name *names, int max)
{
	return handle_list(&part, names, max);
}

/* Port 1 of queue pairs is the fabric. */
static void queue_limits(const struct kiwi_g2g_query_device *from,
			 struct kiwi_snic_query_device *to)
{
	*to = (struct kiwi_snic_query_device) {
		.size = sizeof(*to),
		.serial = from->serial,
		.fw_version = from->fw_version,
		.abi = from->abi,
		.generation = from->generation,
		.max_mr_size = from->max_mr_size,
		.max_mr_pages = from->max_mr_pages,
		.max_pd = from->max_pd,
		.max_mr = from->max_mr,
		.max_cq = from->max_cq,
		.max_qp = from->max_qp,
		.max_msg_size = from->max_msg_size,
		.max_inline = from->max_inline,
		.max_doorbells = from->max_doorbells,
		.doorbell_size = from->doorbell_size,
		.max_sge = from->max_sge,
		.max_rd_atomic = from->max_rd_atomic,
		.ports = 1,
		.sq_log2_max = from->sq_log2_max,
		.rq_log2_max = from->rq_log2_max,
		.cq_log2_max = from->cq_log2_max,
		.page_shift_max = from->page_shift_max,
		.caps = from->caps,
	};
}

int kiwi_g2g_open(const char *name, struct kiwi_g2g **out)
{
	struct kiwi_g2g *g2g = calloc(1, sizeof(*g2g));
	int rc;

	if (!g2g)
		return refuse(ENOMEM, "no memory for a device handle");
	g2g->info.size = sizeof(g2g->info);
	g2g->dev.handle.info = &g2g->info;
	rc = handle_open(&g2g->dev.handle, &part, name);
	if (rc) {
		free(g2g);
		return rc;
	}
	queue_limits(&g2g->info, &g2g->dev.info);
	device_begin(&g2g->dev);
	*out = g2g;
	return 0;
}

void kiwi_g2g_close(struct kiwi_g2g *g2g)
{
	if (!g2g)
		return;
	device_end(&g2g->dev);
	free(g2g);
}

const char *kiwi_g2g_name(const struct kiwi_g2g *g2g)
{
	return g2g->dev.handle.name;
}

int kiwi_g2g_fd(const struct kiwi_g2g *g2g)
{
	return g2g->dev.handle.fd;
}

const struct kiwi_g2g_query_device *kiwi_g2g_info(const struct kiwi_g2g *g2g)
{
	return &g2g->info;
}

int kiwi_g2g_next_event(struct kiwi_g2g *g2g, struct kiwi_file_event *event, int timeout_ms)
{
	return handle_event(&g2g->dev.handle, event, timeout_ms);
}

struct kiwi_device *kiwi_g2g_device(struct kiwi_g2g *g2g)
{
	return &g2g->dev;
}

/* Fabric ------------------------------------------------------------------ */

int kiwi_g2g_set_fabric(struct kiwi_g2g *g2g, const struct kiwi_g2g_fabric_set *config)
{
	struct kiwi_g2g_fabric_set arg = *config;

	arg.size = sizeof(arg);
	arg.flags = 0;
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_FABRIC_SET, &arg);
}

int kiwi_g2g_change_fabric(struct kiwi_g2g *g2g, uint32_t op)
{
	struct kiwi_g2g_fabric_change arg = { .size = sizeof(arg), .op = op };

	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_FABRIC_CHANGE, &arg);
}

int kiwi_g2g_query_fabric(struct kiwi_g2g *g2g, struct kiwi_g2g_fabric_query *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_FABRIC_QUERY, out);
}

int kiwi_g2g_wait_fabric(struct kiwi_g2g *g2g, unsigned int state, int timeout_ms)
{
	struct kiwi_g2g_fabric_query now;
	struct patience patience;
	int rc;

	patience_begin(&patience, timeout_ms);
	do {
		rc = kiwi_g2g_query_fabric(g2g, &now);
		if (rc || now.state == state)
			return rc;
	} while (patience_left(&patience));
	return refuse(ETIMEDOUT, "%s: fabric is %s (%s), not %s in %d ms", g2g->dev.handle.name,
		      kiwi_g2g_fabric_state_text(now.state), kiwi_g2g_reason_text(now.reason),
		      kiwi_g2g_fabric_state_text(state), timeout_ms);
}

/* Ports and peers --------------------------------------------------------- */

int kiwi_g2g_set_port(struct kiwi_g2g *g2g, uint32_t port, const struct kiwi_g2g_port_set *config)
{
	struct kiwi_g2g_port_set arg = *config;

	arg.size = sizeof(arg);
	arg.flags = 0;
	arg.port = port;
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_PORT_SET, &arg);
}

int kiwi_g2g_query_port(struct kiwi_g2g *g2g, uint32_t port, struct kiwi_g2g_port_query *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->port = port;
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_PORT_QUERY, out);
}

/* The kernel knows which are there, but sees 16 bits. */
static int accel_check(struct kiwi_g2g *g2g, unsigned int accel)
{
	if (accel < g2g->info.accels)
		return 0;
	return refuse(EINVAL, "%s: accelerator %u, below %u", g2g->dev.handle.name, accel,
		      g2g->info.accels);
}

int kiwi_g2g_query_peer(struct kiwi_g2g *g2g, unsigned int accel, struct kiwi_g2g_peer_query *out)
{
	int rc = accel_check(g2g, accel);

	if (rc)
		return rc;
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->accel = (uint16_t)accel;
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_PEER_QUERY, out);
}

int kiwi_g2g_change_peer(struct kiwi_g2g *g2g, unsigned int accel, uint32_t op)
{
	struct kiwi_g2g_peer_change arg = {
		.size = sizeof(arg),
		.accel = (uint16_t)accel,
		.op = op,
	};
	int rc = accel_check(g2g, accel);

	return rc ? rc : handle_ioctl(&g2g->dev.handle, KIWI_G2G_PEER_CHANGE, &arg);
}

int kiwi_g2g_wait_peer(struct kiwi_g2g *g2g, unsigned int accel, unsigned int state,
		       int timeout_ms)
{
	struct kiwi_g2g_peer_query now;
	struct patience patience;
	int rc;

	patience_begin(&patience, timeout_ms);
	do {
		rc = kiwi_g2g_query_peer(g2g, accel, &now);
		if (rc || now.state == state)
			return rc;
	} while (patience_left(&patience));
	return refuse(ETIMEDOUT, "%s: peer %u is %s (%s), not %s in %d ms", g2g->dev.handle.name, accel,
		      kiwi_g2g_peer_state_text(now.state), kiwi_g2g_reason_text(now.reason),
		      kiwi_g2g_peer_state_text(state), timeout_ms);
}

int kiwi_g2g_read_log(struct kiwi_g2g *g2g, uint64_t after, struct kiwi_g2g_log_read *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->after = after;
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_READ_LOG, out);
}
