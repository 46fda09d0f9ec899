// SPDX-License-Identifier: GPL-2.0
/*
 * The table of ioctls, and what relates their fields to each other: ranges and kinds as
 * include/uapi/kiwi/snic.h words them.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <kiwi_abi/queues.h>
#include <kiwi_abi/snic.h>

#include "ioctls.h"

/* Valid structures ------------------------------------------------------------- */

static void set_port_tidy(struct context *ctx, unsigned int slot, void *argument)
{
	struct kiwi_snic_set_port *s = argument;

	(void)slot;
	s->enabled |= !rng_one_in(&ctx->rng, 8);
}

static void set_gid_tidy(struct context *ctx, unsigned int slot, void *argument)
{
	struct kiwi_snic_gid *g = argument;

	(void)slot;
	memset(g->gid, 0, sizeof(g->gid));
	g->type = rng_one_in(&ctx->rng, 3) ? KIWI_GID_NONE : KIWI_GID_ROCE_V2;
	if (g->type == KIWI_GID_NONE)
		return;
	if (rng_one_in(&ctx->rng, 2)) {		/* an IPv4 address */
		memset(g->gid + 10, 0xff, 2);
		g->gid[12] = 10;
	} else {
		g->gid[0] = 0x20;
	}
	g->gid[15] = rng_range(&ctx->rng, 1, 250);
}

static void mr_tidy(struct context *ctx, unsigned int slot, void *argument)
{
	struct kiwi_snic_mr_reg *r = argument;

	(void)slot;
	if (r->access & (KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_ATOMIC))
		r->access |= KIWI_ACCESS_LOCAL_WRITE;
	if (!rng_one_in(&ctx->rng, 4))
		r->iova = r->mem.addr;
}

static void cq_tidy(struct context *ctx, unsigned int slot, void *argument)
{
	struct kiwi_snic_cq_create *c = argument;

	(void)slot;
	if (!rng_one_in(&ctx->rng, 16))
		c->log2 = (c->log2 - 1) % 6 + 1;
	if (!rng_one_in(&ctx->rng, 3))
		c->flags = 0;
	if (c->flags & KIWI_CQ_COLLAPSED) {
		c->flags |= KIWI_CQ_OVERRUN_IGNORE;
		c->log2 = 0;
	}
	c->ci_offset = 0;
	c->mem.length = (uint64_t)sizeof(struct kiwi_cqe) << c->log2;
	if (!(c->flags & KIWI_CQ_OVERRUN_IGNORE)) {
		c->ci_offset = c->mem.length;
		c->mem.length += sizeof(struct kiwi_cq_ci);
	}
}

static void qp_tidy(struct context *ctx, unsigned int slot, void *argument)
{
	struct kiwi_snic_qp_create *q = argument;

	(void)slot;
	if (!rng_one_in(&ctx->rng, 16)) {
		q->sq_log2 = (q->sq_log2 - 3) % 4 + 3;
		q->rq_log2 %= 6;
	}
	if (rng_one_in(&ctx->rng, 2))
		q->recv_cq = q->send_cq;
	q->sq.length = (uint64_t)KIWI_WQEBB << q->sq_log2;
	q->rq.length = 1ULL << (q->rq_log2 + q->rq_stride);
	q->db_record.length = sizeof(struct kiwi_qp_db_record);
	if (!rng_one_in(&ctx->rng, 3))
		q->flags &= KIWI_QP_SQ_SIG_ALL;
	if (q->flags & KIWI_QP_SQ_ONLY) {
		q->rq = (struct kiwi_mem) { 0 };
		q->recv_cq = 0;
		q->rq_log2 = 0;
		q->rq_stride = 0;
	}
	if (!(q->flags & KIWI_QP_DB_RECORD))
		q->db_record = (struct kiwi_mem) { 0 };
}

/* The next state on the way of a QP, mostly. */
static uint8_t next_state(struct context *ctx, uint8_t state)
{
	static const uint8_t next[] = {
		[KIWI_QPS_RESET] = KIWI_QPS_INIT, [KIWI_QPS_INIT] = KIWI_QPS_RTR,
		[KIWI_QPS_RTR] = KIWI_QPS_RTS, [KIWI_QPS_RTS] = KIWI_QPS_SQD,
		[KIWI_QPS_SQD] = KIWI_QPS_RTS, [KIWI_QPS_SQE] = KIWI_QPS_RTS,
		[KIWI_QPS_ERR] = KIWI_QPS_RESET,
	};

	if (rng_one_in(&ctx->rng, 6))
		return rng_below(&ctx->rng, KIWI_QPS_ERR + 1);
	return next[state < sizeof(next) ? state : 0];
}

static uint32_t attributes(uint8_t from, uint8_t to)
{
	switch (to) {
	case KIWI_QPS_INIT:
		return from == KIWI_QPS_INIT ? 0 : KIWI_QP_ATTR_PORT | KIWI_QP_ATTR_ACCESS;
	case KIWI_QPS_RTR:
		return KIWI_QP_ATTR_AV | KIWI_QP_ATTR_MTU | KIWI_QP_ATTR_DEST_QPN |
		       KIWI_QP_ATTR_RQ_PSN | KIWI_QP_ATTR_MAX_DEST_RD_ATOMIC |
		       KIWI_QP_ATTR_MIN_RNR_TIMER;
	case KIWI_QPS_RTS:
		if (from != KIWI_QPS_RTR)
			return 0;
		return KIWI_QP_ATTR_SQ_PSN | KIWI_QP_ATTR_TIMEOUT | KIWI_QP_ATTR_RETRY_CNT |
		       KIWI_QP_ATTR_RNR_RETRY | KIWI_QP_ATTR_MAX_RD_ATOMIC;
	default:
		return 0;
	}
}

/* Attributes that the mask does not name are zero; those of a peer are a peer's. */
static void modify_tidy(struct context *ctx, unsigned int slot, void *argument)
{
	struct kiwi_snic_qp_modify *m = argument, all = *m;
	struct thing qp = { 0 }, peer;
	unsigned int port = rng_below(&ctx->rng, target.caps.ports);

	world_find(ctx->world, QP, slot, m->qp, &qp);
	memset(m, 0, sizeof(*m));
	m->size = all.size;
	m->qp = all.qp;
	m->state = next_state(ctx, qp.state);
	m->mask = attributes(qp.state, m->state) | KIWI_QP_ATTR_STATE;
	if (m->mask & KIWI_QP_ATTR_PORT)
		m->port = port + 1;
	if (m->mask & KIWI_QP_ATTR_ACCESS)
		m->access = all.access;
	if (m->mask & KIWI_QP_ATTR_AV) {
		memcpy(m->dmac, target.port[port].mac, sizeof(m->dmac));
		memcpy(m->dgid, target.gid[port].gid, sizeof(m->dgid));
		m->flow_label = all.flow_label;
		m->traffic_class = all.traffic_class;
		m->hop_limit = all.hop_limit;
	}
	if (m->mask & KIWI_QP_ATTR_DEST_QPN) {
		m->mtu = all.mtu;
		m->dest_qpn = world_pick(ctx, QP, slot, &peer) ? peer.number : all.dest_qpn;
		m->max_dest_rd_atomic = all.max_dest_rd_atomic;
		m->min_rnr_timer = all.min_rnr_timer;
		m->rq_psn = 100;
	}
	if (m->mask & KIWI_QP_ATTR_SQ_PSN) {
		m->sq_psn = 100;
		m->timeout = rng_range(&ctx->rng, 8, 16);
		m->retry_cnt = all.retry_cnt;
		m->rnr_retry = all.rnr_retry;
		m->max_rd_atomic = all.max_rd_atomic;
	}
}

static void queue_tidy(struct context *ctx, unsigned int slot, void *argument)
{
	struct kiwi_snic_queue_query *q = argument;
	struct thing cq;

	if (q->kind != KIWI_QUEUE_CQ)
		return;
	world_pick(ctx, CQ, slot, &cq);
	q->id = cq.id;
}

static void error_page_tidy(struct context *ctx, unsigned int slot, void *argument)
{
	struct kiwi_snic_error_page *e = argument;

	(void)ctx;
	(void)slot;
	e->mem.addr &= ~(uint64_t)(KIWI_ERROR_PAGE_BYTES - 1);
	e->mem.length = KIWI_ERROR_PAGE_BYTES;
}

/* What calls made ------------------------------------------------------------------ */

static void pd_made(struct context *ctx, unsigned int slot, const void *argument)
{
	const struct kiwi_snic_pd_alloc *a = argument;

	world_add(ctx, (struct thing) { .kind = PD, .slot = slot, .id = a->pd });
}

static void mr_made(struct context *ctx, unsigned int slot, const void *argument)
{
	const struct kiwi_snic_mr_reg *r = argument;

	if (!r->key)
		fault(ctx, "a region has key 0");
	world_add(ctx, (struct thing) {
		.kind = MR, .slot = slot, .id = r->mr, .key = r->key, .addr = r->iova,
		.length = r->mem.length,
	});
}

static void doorbell_made(struct context *ctx, unsigned int slot, const void *argument)
{
	const struct kiwi_snic_doorbell_alloc *a = argument;

	world_add(ctx, (struct thing) {
		.kind = DOORBELL, .slot = slot, .id = a->doorbell, .map_offset = a->map_offset,
		.map_size = a->map_size,
	});
}

static void exported(struct context *ctx, unsigned int slot, const void *argument)
{
	const struct kiwi_snic_doorbell_export *e = argument;

	(void)slot;
	if (rng_one_in(&ctx->rng, 2)) {
		world_set_buffer(ctx, rng_below(&ctx->rng, BUFFERS),
				 (struct buffer) { .fd = e->fd, .length = e->length });
		return;
	}
	if (close(e->fd))
		fault(ctx, "DOORBELL_EXPORT gave fd %d, which is not open", e->fd);
}

static void cq_made(struct context *ctx, unsigned int slot, const void *argument)
{
	const struct kiwi_snic_cq_create *c = argument;

	world_add(ctx, (struct thing) {
		.kind = CQ, .slot = slot, .id = c->cq, .number = c->cqn, .epoch = c->epoch,
		.addr = c->mem.type == KIWI_MEM_USER ? c->mem.addr : 0, .log2 = c->log2,
	});
}

static void qp_made(struct context *ctx, unsigned int slot, const void *argument)
{
	const struct kiwi_snic_qp_create *q = argument;

	world_add(ctx, (struct thing) {
		.kind = QP, .slot = slot, .id = q->qp, .number = q->qpn, .epoch = q->epoch,
		.addr = q->sq.type == KIWI_MEM_USER ? q->sq.addr : 0, .log2 = q->sq_log2,
		.rq_addr = q->rq.type == KIWI_MEM_USER ? q->rq.addr : 0,
		.rq_log2 = q->rq_log2, .rq_stride = q->rq_stride,
		.record = q->db_record.type == KIWI_MEM_USER ? q->db_record.addr : 0,
	});
}

static void destroyed(struct context *ctx, unsigned int slot, const void *argument)
{
	const struct kiwi_snic_destroy *d = argument;

	if (!ctx->racing && !ctx->world->strangers && !world_find_any(ctx->world, slot, d->id))
		fault(ctx, "id %u was destroyed, and named nothing", d->id);
	world_gone(ctx->world, slot, d->id);
}

static void modified(struct context *ctx, unsigned int slot, const void *argument)
{
	const struct kiwi_snic_qp_modify *m = argument;

	world_set_state(ctx->world, slot, m->qp, m->state);
}

/* The table ---------------------------------------------------------------------------- */

#define FIELD(_type, _field, _meaning, ...) {				\
	.name = #_field, .offset = offsetof(struct _type, _field),	\
	.size = sizeof(((struct _type *)0)->_field), .meaning = _meaning, ##__VA_ARGS__ }
#define UP_TO(_member)							\
	.limit = &target.caps._member, .limit_size = sizeof(target.caps._member)
#define IOCTL(_name, _type, ...)					\
	.name = #_name, .cmd = KIWI_SNIC_##_name, .size = sizeof(struct _type), ##__VA_ARGS__

#define PORT_FIELD(_type)	FIELD(_type, port, NUMBER, .min = 1, UP_TO(ports))
#define CHECKS	32	/* room for more than PREFLIGHT has */
#define MODIFY(_field, ...)	FIELD(kiwi_snic_qp_modify, _field, ##__VA_ARGS__)

#define REMOTE	(KIWI_ACCESS_ALL & ~KIWI_ACCESS_LOCAL_WRITE)
#define MODIFY_FIELDS								\
	MODIFY(qp, ID, .min = QP),						\
	MODIFY(mask, BITS, .max = KIWI_QP_ATTR_ALL),				\
	MODIFY(dest_qpn, NUMBER, .min = 2, .max = KIWI_SNIC_QPN_MAX),		\
	MODIFY(sq_psn, NUMBER, .max = 0xffffff),				\
	MODIFY(rq_psn, NUMBER, .max = 0xffffff),				\
	MODIFY(access, BITS, .max = REMOTE),					\
	MODIFY(flow_label, NUMBER, .max = 0xfffff),				\
	MODIFY(udp_sport, NUMBER, .min = 0xc000, .max = 0xffff),		\
	MODIFY(state, NUMBER, .max = KIWI_QPS_ERR),				\
	MODIFY(cur_state, NUMBER, .max = KIWI_QPS_ERR),				\
	MODIFY(mtu, NUMBER, .min = KIWI_MTU_256, .max = KIWI_MTU_4096),		\
	MODIFY(port, NUMBER, .min = 1, UP_TO(ports)),				\
	MODIFY(timeout, NUMBER, .max = 31),					\
	MODIFY(retry_cnt, NUMBER, .max = 7),					\
	MODIFY(rnr_retry, NUMBER, .max = 7),					\
	MODIFY(min_rnr_timer, NUMBER, .max = 31),				\
	MODIFY(max_rd_atomic, NUMBER, UP_TO(max_rd_atomic)),			\
	MODIFY(max_dest_rd_atomic, NUMBER, UP_TO(max_rd_atomic)),		\
	MODIFY(hop_limit, ANYTHING),						\
	MODIFY(traffic_class, ANYTHING),					\
	MODIFY(sgid_index, NUMBER, UP_TO(gids)),				\
	MODIFY(dmac, ADDRESS),							\
	MODIFY(rsvd, RESERVED),							\
	MODIFY(dgid, ADDRESS)

const struct ioctl_rules ioctl_table[IOCTLS] = {
	{
		IOCTL(QUERY_DEVICE, kiwi_snic_query_device, .weight = 1, .writes = true),
	}, {
		IOCTL(QUERY_PORT, kiwi_snic_query_port, .weight = 1, .writes = true),
		.fields = {
			PORT_FIELD(kiwi_snic_query_port),
			FIELD(kiwi_snic_query_port, rsvd, RESERVED),
		},
	}, {
		IOCTL(SET_PORT, kiwi_snic_set_port, .weight = 1, .tidy = set_port_tidy),
		.errnos = { EPERM },
		.fields = {
			PORT_FIELD(kiwi_snic_set_port),
			FIELD(kiwi_snic_set_port, enabled, NUMBER, .max = 1),
			FIELD(kiwi_snic_set_port, mtu, NUMBER, .min = KIWI_MTU_256,
			      .max = KIWI_MTU_4096),
			FIELD(kiwi_snic_set_port, rsvd, RESERVED),
		},
	}, {
		IOCTL(QUERY_GID, kiwi_snic_gid, .weight = 1, .writes = true),
		.fields = {
			PORT_FIELD(kiwi_snic_gid),
			FIELD(kiwi_snic_gid, index, NUMBER, UP_TO(gids)),
			FIELD(kiwi_snic_gid, type, OUT),
			FIELD(kiwi_snic_gid, rsvd, RESERVED),
			FIELD(kiwi_snic_gid, gid, OUT),
		},
	}, {
		IOCTL(SET_GID, kiwi_snic_gid, .weight = 1, .tidy = set_gid_tidy),
		.errnos = { EPERM },
		.fields = {
			PORT_FIELD(kiwi_snic_gid),
			FIELD(kiwi_snic_gid, index, NUMBER, .min = 1, UP_TO(gids)),
			FIELD(kiwi_snic_gid, type, NUMBER, .max = KIWI_GID_ROCE_V2),
			FIELD(kiwi_snic_gid, rsvd, RESERVED),
			FIELD(kiwi_snic_gid, gid, ADDRESS),
		},
	}, {
		IOCTL(LAST_ERROR, kiwi_snic_last_error, .weight = 1, .writes = true),
	}, {
		IOCTL(DESTROY, kiwi_snic_destroy, .weight = 8, .made = destroyed),
		.errnos = { ENOENT, EBUSY },
		.fields = {
			FIELD(kiwi_snic_destroy, id, ID, .min = KINDS),
			FIELD(kiwi_snic_destroy, rsvd, RESERVED),
		},
	}, {
		IOCTL(PD_ALLOC, kiwi_snic_pd_alloc, .weight = 3, .writes = true,
		      .made = pd_made),
		.errnos = { ENOSPC, ENOMEM },
		.fields = {
			FIELD(kiwi_snic_pd_alloc, pd, OUT),
			FIELD(kiwi_snic_pd_alloc, rsvd, RESERVED),
		},
	}, {
		IOCTL(MR_REG, kiwi_snic_mr_reg, .weight = 12, .writes = true, .tidy = mr_tidy,
		      .made = mr_made),
		.errnos = { ENOENT, ENOSPC, ENOMEM, EBADF, EOPNOTSUPP, EREMOTEIO },
		.fields = {
			FIELD(kiwi_snic_mr_reg, mem, MEMORY, .min = REGION),
			FIELD(kiwi_snic_mr_reg, iova, ANYTHING),
			FIELD(kiwi_snic_mr_reg, pd, ID, .min = PD),
			FIELD(kiwi_snic_mr_reg, access, BITS,
			      .max = KIWI_ACCESS_ALL | KIWI_ACCESS_RELAXED),
			FIELD(kiwi_snic_mr_reg, user_data, ANYTHING),
			FIELD(kiwi_snic_mr_reg, mr, OUT),
			FIELD(kiwi_snic_mr_reg, key, OUT),
		},
	}, {
		IOCTL(MR_QUERY, kiwi_snic_mr_query, .weight = 2, .writes = true),
		.errnos = { ENOENT },
		.fields = {
			FIELD(kiwi_snic_mr_query, mr, ID, .min = MR),
			FIELD(kiwi_snic_mr_query, rsvd, RESERVED),
		},
	}, {
		IOCTL(DOORBELL_ALLOC, kiwi_snic_doorbell_alloc, .weight = 4,
		      .flags = KIWI_SNIC_DOORBELL_WC, .writes = true, .made = doorbell_made),
		.errnos = { ENOSPC, ENOMEM },
		.fields = {
			FIELD(kiwi_snic_doorbell_alloc, doorbell, OUT),
			FIELD(kiwi_snic_doorbell_alloc, rsvd, RESERVED),
		},
	}, {
		IOCTL(CQ_CREATE, kiwi_snic_cq_create, .weight = 8,
		      .flags = KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED, .writes = true,
		      .tidy = cq_tidy, .made = cq_made),
		.errnos = { ENOENT, ENOSPC, ENOMEM, EBADF, EOPNOTSUPP, EREMOTEIO },
		.fields = {
			FIELD(kiwi_snic_cq_create, mem, MEMORY, .min = CQ_RING),
			FIELD(kiwi_snic_cq_create, ci_offset, NUMBER, .max = 64 << 15),
			FIELD(kiwi_snic_cq_create, user_data, ANYTHING),
			FIELD(kiwi_snic_cq_create, log2, NUMBER, .min = 1, UP_TO(cq_log2_max)),
			FIELD(kiwi_snic_cq_create, doorbell, ID, .min = DOORBELL),
			FIELD(kiwi_snic_cq_create, event_fd, EVENT_FD),
			FIELD(kiwi_snic_cq_create, vector, ANYTHING),
			FIELD(kiwi_snic_cq_create, cq, OUT),
			FIELD(kiwi_snic_cq_create, cqn, OUT),
			FIELD(kiwi_snic_cq_create, epoch, OUT),
			FIELD(kiwi_snic_cq_create, rsvd, RESERVED),
		},
	}, {
		IOCTL(QP_CREATE, kiwi_snic_qp_create, .weight = 10,
		      .flags = KIWI_QP_SQ_SIG_ALL | KIWI_QP_SQ_ONLY | KIWI_QP_DB_RECORD,
		      .writes = true, .tidy = qp_tidy, .made = qp_made),
		.errnos = { ENOENT, ENOSPC, ENOMEM, EBADF, EOPNOTSUPP, EREMOTEIO },
		.fields = {
			FIELD(kiwi_snic_qp_create, sq, MEMORY, .min = SQ_RING),
			FIELD(kiwi_snic_qp_create, rq, MEMORY, .min = RQ_RING),
			FIELD(kiwi_snic_qp_create, user_data, ANYTHING),
			FIELD(kiwi_snic_qp_create, pd, ID, .min = PD),
			FIELD(kiwi_snic_qp_create, send_cq, ID, .min = CQ),
			FIELD(kiwi_snic_qp_create, recv_cq, ID, .min = CQ),
			FIELD(kiwi_snic_qp_create, doorbell, ID, .min = DOORBELL),
			FIELD(kiwi_snic_qp_create, type, NUMBER, .min = KIWI_QP_RC,
			      .max = KIWI_QP_RC),
			FIELD(kiwi_snic_qp_create, sq_log2, NUMBER, .min = 3, UP_TO(sq_log2_max)),
			FIELD(kiwi_snic_qp_create, rq_log2, NUMBER, UP_TO(rq_log2_max)),
			FIELD(kiwi_snic_qp_create, rq_stride, NUMBER, .min = KIWI_RQE_MIN_SHIFT,
			      .max = KIWI_RQE_MAX_SHIFT),
			FIELD(kiwi_snic_qp_create, qp, OUT),
			FIELD(kiwi_snic_qp_create, qpn, OUT),
			FIELD(kiwi_snic_qp_create, epoch, OUT),
			FIELD(kiwi_snic_qp_create, rsvd, RESERVED),
			FIELD(kiwi_snic_qp_create, db_record, MEMORY, .min = RECORD),
		},
	}, {
		IOCTL(QP_MODIFY, kiwi_snic_qp_modify, .weight = 14, .tidy = modify_tidy,
		      .made = modified),
		.errnos = { ENOENT, EREMOTEIO },
		.fields = { MODIFY_FIELDS },
	}, {
		IOCTL(QP_QUERY, kiwi_snic_qp_modify, .weight = 2, .writes = true),
		.errnos = { ENOENT, EREMOTEIO },
		.fields = {
			MODIFY(qp, ID, .min = QP),
			MODIFY(mask, RESERVED),
			MODIFY(rsvd, RESERVED),
		},
	}, {
		IOCTL(DOORBELL_EXPORT, kiwi_snic_doorbell_export, .weight = 3,
		      .flags = O_CLOEXEC, .writes = true, .made = exported),
		.errnos = { ENOENT, ENOMEM },
		.fields = {
			FIELD(kiwi_snic_doorbell_export, doorbell, ID, .min = DOORBELL),
			FIELD(kiwi_snic_doorbell_export, fd, OUT),
			FIELD(kiwi_snic_doorbell_export, length, OUT),
			FIELD(kiwi_snic_doorbell_export, reg_offset, OUT),
			FIELD(kiwi_snic_doorbell_export, rsvd, RESERVED),
		},
	}, {
		IOCTL(QUEUE_QUERY, kiwi_snic_queue_query, .weight = 2, .writes = true,
		      .tidy = queue_tidy),
		.errnos = { ENOENT, EREMOTEIO },
		.fields = {
			FIELD(kiwi_snic_queue_query, id, ID, .min = QP),
			FIELD(kiwi_snic_queue_query, kind, NUMBER, .min = KIWI_QUEUE_SQ,
			      .max = KIWI_QUEUE_CQ),
			FIELD(kiwi_snic_queue_query, rsvd, RESERVED),
		},
	}, {
		IOCTL(ERROR_PAGE, kiwi_snic_error_page, .weight = 1, .tidy = error_page_tidy),
		.errnos = { EBUSY, ENOMEM, EBADF, EOPNOTSUPP, EREMOTEIO },
		.fields = {
			FIELD(kiwi_snic_error_page, mem, MEMORY, .min = REGION),
		},
	}, {
		IOCTL(PREFLIGHT, kiwi_snic_preflight, .weight = 1, .writes = true),
		.errnos = { EBADF },
		.fields = {
			FIELD(kiwi_snic_preflight, fd, BUFFER_FD),
			FIELD(kiwi_snic_preflight, count, NUMBER, .max = CHECKS),
			FIELD(kiwi_snic_preflight, checks, ROOM,
			      .max = CHECKS * sizeof(struct kiwi_check)),
		},
	},
};
