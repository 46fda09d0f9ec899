// SPDX-License-Identifier: GPL-2.0
/*
 * The operations on soft-RoCE, through libibverbs. Two queue pairs of one device
 * talk to each other.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../interop/verbs-open.h"
#include "bench.h"

#define WHO "soft-roce"
#define PORT 1
#define DEPTH 64

static void reg_mr(struct ibv_pd *pd, unsigned long count, enum pages_kind kind,
		   const char *what)
{
	void *p = pages(count, kind);
	struct ibv_mr *mr;

	report(WHO, what, LEAST(, mr = ibv_reg_mr(pd, p, count * 4096, IBV_ACCESS_LOCAL_WRITE |
						  IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ),
				need(mr && !ibv_dereg_mr(mr), what)));
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = {
			.max_send_wr = DEPTH,
			.max_recv_wr = DEPTH,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
		.qp_type = IBV_QPT_RC,
	};

	return ibv_create_qp(pd, &init);
}

static void connect_qp(struct ibv_qp *qp, struct ibv_qp *peer, unsigned int gid_index)
{
	struct ibv_qp_attr attr = {
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = peer->qp_num,
		.max_dest_rd_atomic = 1,
		.max_rd_atomic = 1,
		.min_rnr_timer = 12,
		.timeout = 18,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.ah_attr = {
			.is_global = 1,
			.port_num = PORT,
			.grh = {
				.sgid_index = gid_index,
				.hop_limit = 64,
			},
		},
	};

	need(!ibv_query_gid(qp->context, PORT, gid_index, &attr.ah_attr.grh.dgid), "GID");
	attr.qp_state = IBV_QPS_INIT;
	need(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
				       IBV_QP_ACCESS_FLAGS), "INIT");
	attr.qp_state = IBV_QPS_RTR;
	need(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
				       IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
				       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
	attr.qp_state = IBV_QPS_RTS;
	need(!ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |
				       IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY), "RTS");
}

static int poll_until(struct ibv_cq *cq, struct ibv_wc *wc)
{
	int i;

	for (i = 0; i < 10000; i++) {
		if (ibv_poll_cq(cq, 1, wc))
			return wc->status == IBV_WC_SUCCESS;
		usleep(100);
	}
	return 0;
}

static void data_path(struct ibv_pd *pd, struct ibv_cq *cq, struct ibv_qp *qp)
{
	struct ibv_sge sge = { .length = 8 };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_wc wc;
	struct ibv_mr *mr;
	void *p = pages(1, PAGES_SMALL);
	int n;

	mr = ibv_reg_mr(pd, p, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	need(!!mr, "reg_mr");
	sge.addr = (uintptr_t)p;
	sge.lkey = mr->lkey;
	wr.wr.rdma.remote_addr = (uintptr_t)p + 2048;
	wr.wr.rdma.rkey = mr->rkey;

	report(WHO, "post_send", LEAST(, n = ibv_post_send(qp, &wr, &bad),
				       need(!n && poll_until(cq, &wc), "post_send")));
	report(WHO, "poll_cq_hit", LEAST(need(!ibv_post_send(qp, &wr, &bad), "post_send");
					 usleep(10000),
					 n = ibv_poll_cq(cq, 1, &wc),
					 need(n == 1 && wc.status == IBV_WC_SUCCESS, "poll_cq")));
	report(WHO, "poll_cq_empty", LEAST(, n = ibv_poll_cq(cq, 1, &wc),
					   need(!n, "poll_cq")));
	need(!ibv_dereg_mr(mr), "dereg_mr");
}

void bench_rxe(const char *device, unsigned int gid_index)
{
	struct ibv_context *ctx = verbs_open(device);
	struct ibv_qp *qp, *peer;
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	need(!!ctx, device);
	pd = ibv_alloc_pd(ctx);
	need(!!pd, "alloc_pd");
	reg_mr(pd, 1, PAGES_SMALL, "mr_reg_1");
	reg_mr(pd, 256, PAGES_SMALL, "mr_reg_256");
	reg_mr(pd, 4096, PAGES_AS_GIVEN, "mr_reg_4096");
	reg_mr(pd, 4096, PAGES_SMALL, "mr_reg_4096_small");
	report(WHO, "cq_create", LEAST(, cq = ibv_create_cq(ctx, DEPTH, NULL, NULL, 0),
				       need(cq && !ibv_destroy_cq(cq), "create_cq")));
	cq = ibv_create_cq(ctx, DEPTH, NULL, NULL, 0);
	need(!!cq, "create_cq");
	report(WHO, "qp_create", LEAST(, qp = create_qp(pd, cq),
				       need(qp && !ibv_destroy_qp(qp), "create_qp")));
	qp = create_qp(pd, cq);
	peer = create_qp(pd, cq);
	need(qp && peer, "create_qp");
	connect_qp(qp, peer, gid_index);
	connect_qp(peer, qp, gid_index);
	data_path(pd, cq, qp);
	need(!ibv_destroy_qp(qp) && !ibv_destroy_qp(peer) && !ibv_destroy_cq(cq) &&
	     !ibv_dealloc_pd(pd) && !ibv_close_device(ctx), "destroy");
}
