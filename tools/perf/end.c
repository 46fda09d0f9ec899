// SPDX-License-Identifier: GPL-2.0
#include "end.h"

#include "../common/gid.h"
#include "../common/say.h"

#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

static bool fine(int rc)
{
	if (rc)
		complain("%s", kiwi_error());
	return !rc;
}

static bool make_cq(struct end *end, struct kiwi_cq **cq)
{
	struct kiwi_cq_config config = { .entries = end->work->depth + 1, .event_fd = -1 };

	if (end->work->events) {
		config.event_fd = eventfd(0, EFD_CLOEXEC);
		if (config.event_fd < 0) {
			complain("eventfd: %m");
			return false;
		}
	}
	if (fine(kiwi_cq_create(end->dev, &config, cq)))
		return true;
	if (config.event_fd >= 0)
		close(config.event_fd);
	return false;
}

static bool open_device(struct end *end)
{
	struct kiwi_g2g_fabric_query fabric;
	const char *name = end->options->device;

	if (!g2g_named(name))
		return fine(kiwi_open(name, &end->dev));
	if (!g2g_open(name, &end->g2g, &fabric))
		return false;
	end->dev = kiwi_g2g_device(end->g2g);
	return true;
}

static void close_device(struct end *end)
{
	if (end->g2g)
		kiwi_g2g_close(end->g2g);
	else
		kiwi_close(end->dev);
}

bool end_open(struct end *end, const struct end_options *options, const struct work *work,
	      uint32_t sq_units)
{
	struct kiwi_qp_config config = {
		.sq_units = sq_units,
		.rq_entries = work->op == OP_SEND ? work->depth : 1,
		.recv_sge = 1,
	};

	*end = (struct end){ .options = options, .work = work };
	if (!open_device(end) || !fine(kiwi_pd_alloc(end->dev, &end->pd)) ||
	    !mem_alloc(&end->mem, options->mem, work->bytes) ||
	    !fine(mem_register(&end->mem, end->pd, &end->mr)) ||
	    !make_cq(end, &end->send_cq) || !make_cq(end, &end->recv_cq))
		goto fail;
	config.send_cq = end->send_cq;
	config.recv_cq = end->recv_cq;
	if (!fine(kiwi_qp_create(end->pd, &config, &end->qp)))
		goto fail;
	if (getrandom(&end->psn, sizeof(end->psn), 0) != sizeof(end->psn))
		end->psn = (uint32_t)getpid();
	end->psn &= 0xffffff;
	return true;
fail:
	end_close(end);
	return false;
}

void end_close(struct end *end)
{
	int send_fd = end->send_cq ? end->send_cq->event_fd : -1;
	int recv_fd = end->recv_cq ? end->recv_cq->event_fd : -1;

	close_device(end);
	mem_free(&end->mem);
	if (send_fd >= 0)
		close(send_fd);
	if (recv_fd >= 0)
		close(recv_fd);
	*end = (struct end){ 0 };
}

static bool snic_address(struct end *end, struct address *address)
{
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;

	if (!fine(kiwi_query_port(end->dev, end->options->port, &port)) ||
	    !fine(kiwi_query_gid(end->dev, end->options->port, end->options->gid, &gid)))
		return false;
	if (gid.type == KIWI_GID_NONE) {
		complain("%s port %u has no GID %u", kiwi_device_name(end->dev), end->options->port,
			 end->options->gid);
		return false;
	}
	if (port.state != KIWI_PORT_ACTIVE) {
		complain("%s port %u is %s", kiwi_device_name(end->dev), end->options->port,
			 kiwi_port_state_text(port.state));
		return false;
	}
	address->mtu = port.mtu;
	memcpy(address->gid, gid.gid, sizeof(address->gid));
	memcpy(address->mac, port.mac, sizeof(address->mac));
	return true;
}

static bool g2g_address(struct end *end, struct address *address)
{
	struct kiwi_g2g_fabric_query fabric;

	if (!fine(kiwi_g2g_query_fabric(end->g2g, &fabric)))
		return false;
	address->mtu = fabric.msg_mtu;
	address->gid[KIWI_G2G_DGID_ACCEL] = (uint8_t)(fabric.accel >> 8);
	address->gid[KIWI_G2G_DGID_ACCEL + 1] = (uint8_t)fabric.accel;
	return true;
}

bool end_address(struct end *end, struct address *address)
{
	*address = (struct address){
		.qpn = end->qp->qpn,
		.psn = end->psn,
		.rkey = end->mr->key,
		.rd_atomic = kiwi_device_info(end->dev)->max_rd_atomic,
		.iova = end->mr->iova,
	};
	return end->g2g ? g2g_address(end, address) : snic_address(end, address);
}

static uint8_t smaller(uint32_t a, uint32_t b)
{
	return (uint8_t)(a < b ? a : b);
}

/* A die has no ports to ask, but needs a session with the peer. */
static bool begin_connect(struct end *end, const struct address *peer, struct kiwi_connect *c)
{
	const uint8_t *accel = peer->gid + KIWI_G2G_DGID_ACCEL;

	if (!end->g2g)
		return fine(kiwi_connect_init(end->dev, end->options->port, c));
	*c = (struct kiwi_connect){
		.port = 1,
		.access = KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_READ |
			  KIWI_ACCESS_REMOTE_ATOMIC,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.min_rnr_timer = 12,
	};
	return g2g_meet(end->g2g, (unsigned int)accel[0] << 8 | accel[1]);
}

bool end_connect(struct end *end, const struct address *mine, const struct address *peer)
{
	struct kiwi_connect c;

	if (!begin_connect(end, peer, &c))
		return false;
	c.dest_qpn = peer->qpn;
	c.sq_psn = mine->psn;
	c.rq_psn = peer->psn;
	c.sgid_index = (uint8_t)end->options->gid;
	c.mtu = smaller(mine->mtu, peer->mtu);
	if (end->work->mtu)
		c.mtu = smaller(c.mtu, kiwi_mtu_code(end->work->mtu));
	c.timeout = end->work->ack_timeout;
	c.max_rd_atomic = smaller(mine->rd_atomic, peer->rd_atomic);
	c.max_dest_rd_atomic = c.max_rd_atomic;
	memcpy(c.dmac, peer->mac, sizeof(c.dmac));
	memcpy(c.dgid, peer->gid, sizeof(c.dgid));
	return fine(kiwi_qp_connect(end->qp, &c));
}

static int print_pci(char *to, size_t room, const char *before, uint32_t address)
{
	return address ? snprintf(to, room, "%s%04x:%02x:%02x.%x", before, address >> 16,
				  address >> 8 & 0xff, address >> 3 & 0x1f, address & 7) : 0;
}

void end_about(struct end *end, char about[END_ABOUT])
{
	struct kiwi_snic_mr_query q;
	int at;

	if (kiwi_mr_query(end->mr, &q)) {
		snprintf(about, END_ABOUT, "unknown: %.100s", kiwi_error());
		return;
	}
	at = snprintf(about, END_ABOUT, "%s", kiwi_path_text(q.path));
	at += print_pci(about + at, END_ABOUT - (size_t)at, " with ", q.peer);
	if (q.reason != KIWI_PATH_DIRECT) {
		at += snprintf(about + at, END_ABOUT - (size_t)at, " (%s",
			       kiwi_path_reason_text(q.reason));
		at += print_pci(about + at, END_ABOUT - (size_t)at, ": ", q.bridge);
		at += snprintf(about + at, END_ABOUT - (size_t)at, ")");
	}
	snprintf(about + at, END_ABOUT - (size_t)at, ", %u x %llu KiB pages", q.pbl_entries,
		 (1ULL << q.page_shift) / 1024);
}

void tell_completion(const struct end *end, const struct kiwi_wc *wc)
{
	complain("%s: QP 0x%06x, work %llu: %s (status %u, vendor error %u)",
		 kiwi_device_name(end->dev), wc->qpn, (unsigned long long)wc->wr_id,
		 kiwi_status_text(wc->status), wc->status, wc->vendor_err);
}

bool tell_events(const struct end *end)
{
	struct kiwi_snic_event event;
	bool alive = true;
	int rc;

	while ((rc = kiwi_next_event(end->dev, &event, 0)) > 0) {
		complain("%s: event: %s, object %u, code %u", kiwi_device_name(end->dev),
			 kiwi_event_text(event.type), event.id, event.code);
		if (event.type == KIWI_SNIC_EVENT_DEVICE_FATAL ||
		    event.type == KIWI_SNIC_EVENT_CQ_ERROR ||
		    event.type == KIWI_SNIC_EVENT_QP_ERROR)
			alive = false;
	}
	if (rc < 0)
		complain("%s", kiwi_error());
	return alive && !rc;
}
