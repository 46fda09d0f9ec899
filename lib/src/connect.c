// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* From RESET to RTS. */
#include "priv.h"

int kiwi_connect_init(struct kiwi_device *dev, unsigned int port, struct kiwi_connect *c)
{
	struct kiwi_snic_query_port p;
	int rc = kiwi_query_port(dev, port, &p);

	if (rc)
		return rc;
	memset(c, 0, sizeof(*c));
	c->port = (uint8_t)port;
	c->mtu = p.mtu;
	c->access = KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_READ |
		    KIWI_ACCESS_REMOTE_ATOMIC;
	c->timeout = 14;
	c->retry_cnt = 7;
	c->rnr_retry = 7;
	c->min_rnr_timer = 12;
	c->max_rd_atomic = dev->info.max_rd_atomic;
	c->max_dest_rd_atomic = dev->info.max_rd_atomic;
	return 0;
}

int kiwi_qp_init(struct kiwi_qp *qp, unsigned int port, unsigned int access)
{
	struct kiwi_snic_qp_modify attr = {
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_PORT | KIWI_QP_ATTR_ACCESS,
		.state = KIWI_QPS_INIT,
		.port = (uint8_t)port,
		.access = access,
	};

	return kiwi_qp_modify(qp, &attr);
}

static int to_rtr(struct kiwi_qp *qp, const struct kiwi_connect *c)
{
	struct kiwi_snic_qp_modify attr = {
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_AV | KIWI_QP_ATTR_MTU |
			KIWI_QP_ATTR_DEST_QPN | KIWI_QP_ATTR_RQ_PSN |
			KIWI_QP_ATTR_MAX_DEST_RD_ATOMIC | KIWI_QP_ATTR_MIN_RNR_TIMER,
		.state = KIWI_QPS_RTR,
		.dest_qpn = c->dest_qpn,
		.rq_psn = c->rq_psn,
		.flow_label = c->flow_label,
		.udp_sport = c->udp_sport,
		.mtu = c->mtu,
		.min_rnr_timer = c->min_rnr_timer,
		.max_dest_rd_atomic = c->max_dest_rd_atomic,
		.hop_limit = c->hop_limit,
		.traffic_class = c->traffic_class,
		.sgid_index = c->sgid_index,
	};

	memcpy(attr.dmac, c->dmac, sizeof(attr.dmac));
	memcpy(attr.dgid, c->dgid, sizeof(attr.dgid));
	return kiwi_qp_modify(qp, &attr);
}

static int to_rts(struct kiwi_qp *qp, const struct kiwi_connect *c)
{
	struct kiwi_snic_qp_modify attr = {
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_SQ_PSN | KIWI_QP_ATTR_TIMEOUT |
			KIWI_QP_ATTR_RETRY_CNT | KIWI_QP_ATTR_RNR_RETRY |
			KIWI_QP_ATTR_MAX_RD_ATOMIC,
		.state = KIWI_QPS_RTS,
		.sq_psn = c->sq_psn,
		.timeout = c->timeout,
		.retry_cnt = c->retry_cnt,
		.rnr_retry = c->rnr_retry,
		.max_rd_atomic = c->max_rd_atomic,
	};

	return kiwi_qp_modify(qp, &attr);
}

int kiwi_qp_connect(struct kiwi_qp *qp, const struct kiwi_connect *c)
{
	int rc = kiwi_qp_init(qp, c->port, c->access);

	if (!rc)
		rc = to_rtr(qp, c);
	return rc ? rc : to_rts(qp, c);
}
