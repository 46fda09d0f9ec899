// SPDX-License-Identifier: GPL-2.0
/*
 * An end of a connection on any device of libibverbs; soft-RoCE is meant.
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint.h"
#include "verbs-open.h"

#define PORT 1

struct ep {
	struct ibv_context *ctx;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	struct ibv_mr *mr_read;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	union ibv_gid gid;
	uint8_t mac[6];
	unsigned int gid_index;
	unsigned int rd_atomic;
	uint32_t psn;
	uint8_t *buf;
};

/* The address of the network interface that carries the GID. */
static void read_mac(struct ep *ep, const char *device)
{
	char path[256], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/%d/gid_attrs/ndevs/%u",
		 device, PORT, ep->gid_index);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%63s", name) != 1)
		die("cannot read %s", path);
	fclose(f);

	snprintf(path, sizeof(path), "/sys/class/net/%s/address", name);
	f = fopen(path, "r");
	if (!f || fscanf(f, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx", &ep->mac[0], &ep->mac[1],
			 &ep->mac[2], &ep->mac[3], &ep->mac[4], &ep->mac[5]) != 6)
		die("cannot read %s", path);
	fclose(f);
}

struct ep *ep_open(const struct ep_options *opt)
{
	struct ibv_device_attr attr;
	struct ep *ep;

	ep = calloc(1, sizeof(*ep));
	if (!ep)
		die("no memory");
	ep->buf = opt->buf;
	ep->gid_index = opt->gid_index;
	ep->ctx = verbs_open(opt->device);
	if (!ep->ctx)
		die("cannot open %s: %s", opt->device, strerror(errno));
	if (ibv_query_device(ep->ctx, &attr))
		die("cannot query %s", opt->device);
	ep->rd_atomic = attr.max_qp_rd_atom;
	if (ibv_query_gid(ep->ctx, PORT, opt->gid_index, &ep->gid))
		die("%s has no GID %u", opt->device, opt->gid_index);
	read_mac(ep, opt->device);
	ep->pd = ibv_alloc_pd(ep->ctx);
	if (!ep->pd)
		die("ibv_alloc_pd: %s", strerror(errno));
	ep->mr = ibv_reg_mr(ep->pd, opt->buf, opt->size,
			    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
	ep->mr_read = ibv_reg_mr(ep->pd, opt->buf, opt->size, IBV_ACCESS_REMOTE_READ);
	if (!ep->mr || !ep->mr_read)
		die("ibv_reg_mr: %s", strerror(errno));
	ep->cq = ibv_create_cq(ep->ctx, 2 * EP_DEPTH, NULL, NULL, 0);
	if (!ep->cq)
		die("ibv_create_cq: %s", strerror(errno));
	return ep;
}

void ep_close(struct ep *ep)
{
	if (ibv_destroy_qp(ep->qp) || ibv_destroy_cq(ep->cq) || ibv_dereg_mr(ep->mr_read) ||
	    ibv_dereg_mr(ep->mr) || ibv_dealloc_pd(ep->pd) || ibv_close_device(ep->ctx))
		die("an object could not be destroyed: %s", strerror(errno));
	free(ep);
}

void ep_renew(struct ep *ep, struct ep_address *local)
{
	struct ibv_qp_init_attr init = {
		.send_cq = ep->cq,
		.recv_cq = ep->cq,
		.cap = {
			.max_send_wr = EP_DEPTH,
			.max_recv_wr = EP_DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ep_done done;

	if (ep->qp && ibv_destroy_qp(ep->qp))
		die("ibv_destroy_qp: %s", strerror(errno));
	while (ep_poll(ep, &done))
		;
	ep->qp = ibv_create_qp(ep->pd, &init);
	if (!ep->qp)
		die("ibv_create_qp: %s", strerror(errno));
	if (ibv_modify_qp(ep->qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
					 IBV_QP_ACCESS_FLAGS))
		die("queue pair to INIT: %s", strerror(errno));

	ep->psn = random() & 0xffffff;
	memset(local, 0, sizeof(*local));
	local->addr = (uintptr_t)ep->buf;
	local->rkey = ep->mr->rkey;
	local->rkey_read = ep->mr_read->rkey;
	local->qpn = ep->qp->qp_num;
	local->psn = ep->psn;
	local->rd_atomic = ep->rd_atomic;
	memcpy(local->gid, &ep->gid, 16);
	memcpy(local->mac, ep->mac, 6);
	local->aligned_only = true;
	local->status_too_long = EP_ST_REM_OP;
}

static enum ibv_mtu mtu_code(unsigned int bytes)
{
	enum ibv_mtu code = IBV_MTU_256;

	while (128U << code < bytes)
		code++;
	return code;
}

/* The address of the peer's port is left to the kernel to find, from its GID. */
void ep_connect(struct ep *ep, const struct ep_address *remote, const struct ep_params *p)
{
	struct ibv_qp_attr rtr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu_code(p->mtu),
		.dest_qp_num = remote->qpn,
		.rq_psn = remote->psn,
		.max_dest_rd_atomic = p->rd_atomic,
		.min_rnr_timer = p->min_rnr_timer,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT,
			.grh = {
				.sgid_index = ep->gid_index,
				.hop_limit = 64,
			},
		},
	};
	struct ibv_qp_attr rts = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = ep->psn,
		.max_rd_atomic = p->rd_atomic,
		.timeout = p->timeout,
		.retry_cnt = p->retry_cnt,
		.rnr_retry = p->rnr_retry,
	};

	memcpy(&rtr.ah_attr.grh.dgid, remote->gid, 16);
	if (ibv_modify_qp(ep->qp, &rtr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
					IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
					IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER))
		die("queue pair to RTR: %s", strerror(errno));
	if (ibv_modify_qp(ep->qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
					IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY))
		die("queue pair to RTS: %s", strerror(errno));
}

void ep_post(struct ep *ep, const struct ep_work *work)
{
	static const enum ibv_wr_opcode opcode[] = {
		[EP_SEND] = IBV_WR_SEND,
		[EP_SEND_IMM] = IBV_WR_SEND_WITH_IMM,
		[EP_WRITE] = IBV_WR_RDMA_WRITE,
		[EP_WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
		[EP_READ] = IBV_WR_RDMA_READ,
		[EP_CMP_SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[EP_FETCH_ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
	};
	struct ibv_sge sge = {
		.addr = (uintptr_t)ep->buf + work->local,
		.length = work->len,
		.lkey = ep->mr->lkey,
	};
	struct ibv_send_wr wr = {
		.wr_id = work->wr_id,
		.sg_list = &sge,
		.num_sge = work->len ? 1 : 0,
		.opcode = opcode[work->op],
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl(work->imm),
	}, *bad;
	int err;

	if (work->op == EP_CMP_SWAP || work->op == EP_FETCH_ADD) {
		wr.wr.atomic.remote_addr = work->raddr;
		wr.wr.atomic.rkey = work->rkey;
		wr.wr.atomic.compare_add = work->op == EP_FETCH_ADD ? work->swap_add : work->compare;
		wr.wr.atomic.swap = work->swap_add;
	} else {
		wr.wr.rdma.remote_addr = work->raddr;
		wr.wr.rdma.rkey = work->rkey;
	}
	err = ibv_post_send(ep->qp, &wr, &bad);
	if (err)
		die("ibv_post_send: %s", strerror(err));
}

void ep_post_recv(struct ep *ep, uint64_t wr_id, size_t offset, size_t len)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)ep->buf + offset,
		.length = len,
		.lkey = ep->mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = wr_id,
		.sg_list = &sge,
		.num_sge = len ? 1 : 0,
	}, *bad;
	int err;

	err = ibv_post_recv(ep->qp, &wr, &bad);
	if (err)
		die("ibv_post_recv: %s", strerror(err));
}

/* A failed completion does not tell its kind: the test's numbers of receives do. */
bool ep_poll(struct ep *ep, struct ep_done *done)
{
	struct ibv_wc wc;
	int n = ibv_poll_cq(ep->cq, 1, &wc);

	if (n < 0)
		die("ibv_poll_cq failed");
	if (!n)
		return false;
	memset(done, 0, sizeof(*done));
	done->wr_id = wc.wr_id;
	done->status = wc.status;
	done->len = wc.byte_len;
	done->recv = wc.status == IBV_WC_SUCCESS && (wc.opcode & IBV_WC_RECV);
	done->has_imm = wc.status == IBV_WC_SUCCESS && (wc.wc_flags & IBV_WC_WITH_IMM);
	done->imm = ntohl(wc.imm_data);
	return true;
}
