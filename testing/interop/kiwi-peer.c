// SPDX-License-Identifier: GPL-2.0
/*
 * An end of a connection on a Kiwi SNIC, through libkiwi.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include <kiwi/kiwi.h>

#include "endpoint.h"

#define PORT 1
#define SQ_UNITS (2 * EP_DEPTH)

struct ep {
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_mr *mr;
	struct kiwi_mr *mr_read;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_connect connect;
	struct kiwi_snic_query_port port;
	struct kiwi_snic_gid gid;
	uint8_t *buf;
};

static void must(int rc, const char *what)
{
	if (rc)
		die("%s: %s", what, kiwi_error());
}

struct ep *ep_open(const struct ep_options *opt)
{
	struct kiwi_cq_config cq = { .entries = 2 * EP_DEPTH };
	struct ep *ep;

	ep = calloc(1, sizeof(*ep));
	if (!ep)
		die("no memory");
	ep->buf = opt->buf;
	must(kiwi_open(opt->device, &ep->dev), opt->device);
	must(kiwi_query_port(ep->dev, PORT, &ep->port), "port");
	must(kiwi_query_gid(ep->dev, PORT, opt->gid_index, &ep->gid), "GID");
	if (ep->gid.type == KIWI_GID_NONE)
		die("%s has no GID %u", opt->device, opt->gid_index);
	must(kiwi_connect_init(ep->dev, PORT, &ep->connect), "connection");
	ep->connect.sgid_index = opt->gid_index;
	must(kiwi_pd_alloc(ep->dev, &ep->pd), "protection domain");
	must(kiwi_mr_reg(ep->pd, opt->buf, opt->size, KIWI_ACCESS_ALL, &ep->mr), "region");
	must(kiwi_mr_reg(ep->pd, opt->buf, opt->size, KIWI_ACCESS_REMOTE_READ, &ep->mr_read),
	     "region to read");
	must(kiwi_cq_create(ep->dev, &cq, &ep->cq), "completion queue");
	return ep;
}

void ep_close(struct ep *ep)
{
	must(kiwi_qp_destroy(ep->qp), "end of the queue pair");
	must(kiwi_cq_destroy(ep->cq), "end of the completion queue");
	must(kiwi_mr_dereg(ep->mr_read), "end of the region to read");
	must(kiwi_mr_dereg(ep->mr), "end of the region");
	must(kiwi_pd_free(ep->pd), "end of the protection domain");
	kiwi_close(ep->dev);
	free(ep);
}

void ep_renew(struct ep *ep, struct ep_address *local)
{
	struct kiwi_qp_config config = {
		.send_cq = ep->cq,
		.sq_units = SQ_UNITS,
		.rq_entries = EP_DEPTH,
		.recv_sge = 1,
	};

	if (ep->qp)
		must(kiwi_qp_destroy(ep->qp), "end of the queue pair");
	must(kiwi_qp_create(ep->pd, &config, &ep->qp), "queue pair");

	ep->connect.sq_psn = random() & 0xffffff;
	memset(local, 0, sizeof(*local));
	local->addr = (uintptr_t)ep->buf;
	local->rkey = ep->mr->key;
	local->rkey_read = ep->mr_read->key;
	local->qpn = ep->qp->qpn;
	local->psn = ep->connect.sq_psn;
	local->rd_atomic = kiwi_device_info(ep->dev)->max_rd_atomic;
	memcpy(local->gid, ep->gid.gid, 16);
	memcpy(local->mac, ep->port.mac, 6);
	local->status_too_long = EP_ST_REM_INV_REQ;
}

void ep_connect(struct ep *ep, const struct ep_address *remote, const struct ep_params *p)
{
	struct kiwi_connect *c = &ep->connect;

	c->dest_qpn = remote->qpn;
	c->rq_psn = remote->psn;
	c->mtu = kiwi_mtu_code(p->mtu);
	c->timeout = p->timeout;
	c->retry_cnt = p->retry_cnt;
	c->rnr_retry = p->rnr_retry;
	c->min_rnr_timer = p->min_rnr_timer;
	c->max_rd_atomic = p->rd_atomic;
	c->max_dest_rd_atomic = p->rd_atomic;
	memcpy(c->dmac, remote->mac, 6);
	memcpy(c->dgid, remote->gid, 16);
	must(kiwi_qp_connect(ep->qp, c), "connection");
}

void ep_post(struct ep *ep, const struct ep_work *work)
{
	static const uint8_t opcode[] = {
		[EP_SEND] = KIWI_WQE_SEND,
		[EP_SEND_IMM] = KIWI_WQE_SEND_IMM,
		[EP_WRITE] = KIWI_WQE_WRITE,
		[EP_WRITE_IMM] = KIWI_WQE_WRITE_IMM,
		[EP_READ] = KIWI_WQE_READ,
		[EP_CMP_SWAP] = KIWI_WQE_CMP_SWAP,
		[EP_FETCH_ADD] = KIWI_WQE_FETCH_ADD,
	};
	struct kiwi_sg sg = {
		.addr = (uintptr_t)ep->buf + work->local,
		.lkey = ep->mr->key,
		.len = work->len,
	};
	struct kiwi_send_wr wr = {
		.wr_id = work->wr_id,
		.sg = &sg,
		.num_sg = work->len ? 1 : 0,
		.imm = work->op == EP_SEND_IMM || work->op == EP_WRITE_IMM ? htonl(work->imm) : 0,
		.opcode = opcode[work->op],
		.flags = KIWI_WQE_SIGNALED,
		.rkey = work->rkey,
		.raddr = work->raddr,
		.swap_add = work->swap_add,
		.compare = work->compare,
	};

	if (kiwi_post_send_ring(ep->qp, &wr))
		die("the send queue is full");
}

void ep_post_recv(struct ep *ep, uint64_t wr_id, size_t offset, size_t len)
{
	struct kiwi_sg sg = {
		.addr = (uintptr_t)ep->buf + offset,
		.lkey = ep->mr->key,
		.len = len,
	};
	struct kiwi_recv_wr wr = {
		.wr_id = wr_id,
		.sg = &sg,
		.num_sg = len ? 1 : 0,
	};

	if (kiwi_post_recv_ring(ep->qp, &wr))
		die("the receive queue is full");
}

bool ep_poll(struct ep *ep, struct ep_done *done)
{
	struct kiwi_wc wc;

	if (!kiwi_poll_cq(ep->cq, &wc, 1))
		return false;
	memset(done, 0, sizeof(*done));
	done->wr_id = wc.wr_id;
	done->status = wc.status;
	done->len = wc.byte_len;
	done->recv = wc.opcode & KIWI_CQE_RECV;
	done->has_imm = wc.flags & KIWI_CQE_IMM;
	done->imm = ntohl(wc.imm);
	return true;
}
