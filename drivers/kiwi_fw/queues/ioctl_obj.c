// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/eventfd.h>
#include <linux/string.h>

#include <kiwi/compat.h>
#include <kiwi/fw.h>
#include <kiwi/queues.h>
#include <kiwi_abi/queues.h>

#include "errpage.h"
#include "object.h"

/* Memory ---------------------------------------------------------------------- */

static int mem_failed(struct kiwi_call *call, const char *name, const struct kiwi_mem *m,
		      int ret, const struct kiwi_fw_err *why)
{
	struct kiwi_error *err = &call->err;

	if (ret == -ENOMEM && why->value)
		return kiwi_fail(err, ret, why->value, why->limit,
				 "%s: %llu bytes would be pinned, RLIMIT_MEMLOCK is %llu", name,
				 why->value, why->limit);
	switch (ret) {
	case -EINVAL:
		return kiwi_fail(err, ret, why->value, why->limit,
				 "%s: %llu bytes at %#llx are not all in the memory named", name,
				 m->length, m->addr);
	case -EFAULT:
		return kiwi_fail(err, ret, m->addr, 0,
				 "%s: %llu bytes at %#llx cannot be accessed", name, m->length,
				 m->addr);
	case -EBADF:
		return kiwi_fail(err, ret, m->fd, 0, "%s.fd %d is not open or no DMA-buf", name,
				 m->fd);
	case -EREMOTEIO:
		return kiwi_fail(err, ret, m->fd, 0, "%s.fd %d: the exporter did not map it", name,
				 m->fd);
	default:
		return kiwi_fail(err, ret, 0, 0, "%s: %s", name, kiwi_errno_text(ret));
	}
}

/**
 * struct mem_use - what memory is wanted for
 * @name: of the field
 * @align: of its first byte
 * @writable: by the device
 * @ops: told of what happens to a DMA-buf
 * @arg: for them
 */
struct mem_use {
	const char *name;
	u64 align;
	bool writable;
	const struct kiwi_fw_dmabuf_ops *ops;
	void *arg;
};

static int mem_take(struct kiwi_call *call, const struct kiwi_mem *m, const struct mem_use *use,
		    struct kiwi_fw_mem **mem)
{
	struct kiwi_fw *fw = call->part->fw;
	struct kiwi_fw_mem *got;
	struct kiwi_fw_err why = { };

	if (!m->length || m->addr + m->length - 1 < m->addr)
		return kiwi_fail(&call->err, -EINVAL, m->length, 0,
				 "%s: length %llu at %#llx is 0 or goes beyond 2^64", use->name,
				 m->length, m->addr);
	if (!IS_ALIGNED(m->addr, use->align))
		return kiwi_fail(&call->err, -EINVAL, m->addr, use->align,
				 "%s.addr %#llx is not a multiple of %llu", use->name, m->addr,
				 use->align);

	switch (m->type) {
	case KIWI_MEM_USER:
		if (m->fd)
			return kiwi_call_reserved(call);
		got = kiwi_fw_mem_user(fw, m->addr, m->length, use->writable, &why);
		break;
	case KIWI_MEM_DMABUF:
		got = kiwi_fw_mem_dmabuf(fw, m->fd, m->addr, m->length, use->writable,
					 use->ops, use->arg, &why);
		break;
	default:
		return kiwi_fail(&call->err, -EINVAL, m->type, 0, "%s.type %u is unknown",
				 use->name, m->type);
	}
	if (IS_ERR(got))
		return mem_failed(call, use->name, m, PTR_ERR(got), &why);
	*mem = got;
	return 0;
}

/* Error page ------------------------------------------------------------------ */

/**
 * kiwi_ioctl_error_page() - the ioctl of struct kiwi_snic_error_page
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_error_page(struct kiwi_call *call, void *data)
{
	const struct kiwi_snic_error_page *e = data;
	struct mem_use use = {
		.name = "mem",
		.align = KIWI_ERROR_PAGE_BYTES,
		.writable = true,
		.ops = &kiwi_errpage_mem_ops,
	};
	struct kiwi_errpage *ep;
	int ret;

	if (e->mem.length != KIWI_ERROR_PAGE_BYTES)
		return kiwi_fail(&call->err, -EINVAL, e->mem.length, KIWI_ERROR_PAGE_BYTES,
				 "mem.length %llu is not %u", e->mem.length,
				 KIWI_ERROR_PAGE_BYTES);
	ep = kiwi_errpage_new();
	if (!ep)
		return kiwi_fail_plain(&call->err, -ENOMEM);
	use.arg = ep;
	ret = mem_take(call, &e->mem, &use, &ep->mem);
	if (!ret)
		ret = kiwi_errpage_map(ep, &call->err);
	if (!ret) {
		ret = kiwi_queues_set_errpage(call->file, ep);
		if (ret)
			kiwi_fail(&call->err, ret, 0, 0, "the file has an error page");
	}
	if (ret)
		kiwi_errpage_free(ep);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_error_page, "KIWI_FW");

/* A file that has an error page has a word in it for each queue that it makes. */
static int take_error_word(struct kiwi_call *call, u32 *place)
{
	/* Pairs with the release of the page that was made whole. */
	struct kiwi_errpage *ep = smp_load_acquire(&to_queues_file(call->file)->errpage);

	if (!ep)
		return 0;
	*place = kiwi_errpage_take(ep);
	if (*place)
		return 0;
	return kiwi_fail(&call->err, -ENOSPC, KIWI_ERROR_WORDS + 1, KIWI_ERROR_WORDS,
			 "the error page has words for %u queues", KIWI_ERROR_WORDS);
}

/* Protection domain ----------------------------------------------------------- */

/**
 * kiwi_ioctl_pd_alloc() - the ioctl of struct kiwi_snic_pd_alloc
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_pd_alloc(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_pd_alloc *a = data;
	struct kiwi_pd *pd;

	if (a->rsvd)
		return kiwi_call_reserved(call);
	pd = kiwi_pd_new(&call->file->owner);
	if (!pd)
		return kiwi_fail_plain(&call->err, -ENOMEM);
	call->made = &pd->obj;
	a->pd = pd->obj.id;
	return kiwi_pd_create(pd, &call->err);
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_pd_alloc, "KIWI_FW");

/* Memory region ---------------------------------------------------------------- */

/**
 * kiwi_ioctl_mr_reg() - the ioctl of struct kiwi_snic_mr_reg
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_mr_reg(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_mr_reg *r = data;
	struct kiwi_owner *owner = &call->file->owner;
	struct kiwi_part *part = call->part;
	struct mem_use use = { .name = "mem", .align = 1, .ops = kiwi_mr_mem_ops(part) };
	struct kiwi_mr *mr;
	int ret;

	ret = kiwi_mr_check(part, r->iova, r->mem.length, r->access, &call->err);
	if (ret)
		return ret;
	mr = kiwi_mr_new(owner, r->user_data);
	if (!mr)
		return kiwi_fail_plain(&call->err, -ENOMEM);
	call->made = &mr->obj;

	mr->pd = kiwi_obj_use(owner, r->pd, &kiwi_pd_ops, &call->err);
	if (!mr->pd)
		return -ENOENT;
	use.writable = r->access & KIWI_ACCESS_LOCAL_WRITE;
	use.arg = mr;
	ret = mem_take(call, &r->mem, &use, &mr->mem);
	if (ret)
		return ret;
	mr->iova = r->iova;
	mr->access = r->access;
	ret = kiwi_mr_create(mr, &call->err);
	if (ret)
		return ret;
	r->mr = mr->obj.id;
	r->key = mr->key;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_mr_reg, "KIWI_FW");

/**
 * kiwi_ioctl_mr_query() - the ioctl of struct kiwi_snic_mr_query
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_mr_query(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_mr_query *q = data;
	struct kiwi_mr *mr;
	bool condemned;

	if (q->rsvd)
		return kiwi_call_reserved(call);
	mr = kiwi_obj_get(&call->file->owner, q->mr, &kiwi_mr_ops, &call->err);
	if (!mr)
		return -ENOENT;

	mutex_lock(&mr->obj.lock);
	condemned = kiwi_obj_condemned(&mr->obj);
	if (!condemned)
		*q = (struct kiwi_snic_mr_query) {
			.size = q->size,
			.mr = q->mr,
			.key = mr->key,
			.iova = mr->iova,
			.length = mr->mem->length,
			.pbl_entries = mr->pages,
			.segments = mr->segments,
			.page_shift = mr->page_shift,
			.state = kiwi_mr_state(mr),
			.path = mr->path.path,
			.reason = mr->path.reason,
			.peer = mr->path.peer,
			.bridge = mr->path.bridge,
		};
	mutex_unlock(&mr->obj.lock);
	kiwi_obj_put(&mr->obj);
	return condemned ? kiwi_obj_absent(q->mr, &kiwi_mr_ops, &call->err) : 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_mr_query, "KIWI_FW");

/* Doorbell ----------------------------------------------------------------------- */

/**
 * kiwi_ioctl_doorbell_alloc() - the ioctl of struct kiwi_snic_doorbell_alloc
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_doorbell_alloc(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_doorbell_alloc *a = data;
	struct kiwi_db *db;
	int ret;

	if (a->rsvd)
		return kiwi_call_reserved(call);
	db = kiwi_db_new(&call->file->owner);
	if (!db)
		return kiwi_fail_plain(&call->err, -ENOMEM);
	call->made = &db->obj;
	db->write_combined = a->flags & KIWI_SNIC_DOORBELL_WC;
	ret = kiwi_db_create(db, &call->err);
	if (ret)
		return ret;
	a->doorbell = db->obj.id;
	a->map_size = db->page.size;
	a->map_offset = kiwi_db_map_offset(db);
	a->reg_offset = db->page.reg_offset;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_doorbell_alloc, "KIWI_FW");

/**
 * kiwi_ioctl_doorbell_export() - the ioctl of struct kiwi_snic_doorbell_export
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_doorbell_export(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_doorbell_export *e = data;
	struct dma_buf *dmabuf;
	struct kiwi_db *db;
	int ret;

	if (e->rsvd[0] || e->rsvd[1])
		return kiwi_call_reserved(call);
	db = kiwi_obj_get(&call->file->owner, e->doorbell, &kiwi_db_ops, &call->err);
	if (!db)
		return -ENOENT;
	dmabuf = kiwi_db_dmabuf(db, &call->err);
	if (IS_ERR(dmabuf)) {
		ret = PTR_ERR(dmabuf);
		goto put;
	}
	e->length = db->page.size;
	e->reg_offset = db->page.reg_offset;
	ret = kiwi_call_open_dmabuf(call, dmabuf, e->flags);
	e->fd = call->fd;
put:
	kiwi_obj_put(&db->obj);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_doorbell_export, "KIWI_FW");

/* Completion queue ------------------------------------------------------------------ */

static int take_eventfd(struct kiwi_call *call, int fd, struct eventfd_ctx **ctx)
{
	struct eventfd_ctx *got;

	if (fd == -1)
		return 0;
	got = eventfd_ctx_fdget(fd);
	if (IS_ERR(got))
		return kiwi_fail(&call->err, -EBADF, fd, 0,
				 "event_fd %d is not open or no eventfd", fd);
	*ctx = got;
	return 0;
}

/**
 * kiwi_ioctl_cq_create() - the ioctl of struct kiwi_snic_cq_create
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_cq_create(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_cq_create *c = data;
	struct kiwi_owner *owner = &call->file->owner;
	struct mem_use use = {
		.name = "mem",
		.align = sizeof(struct kiwi_cqe),
		.writable = true,
		.ops = &kiwi_cq_mem_ops,
	};
	struct kiwi_cq *cq;
	int ret;

	if (c->rsvd)
		return kiwi_call_reserved(call);
	ret = kiwi_cq_check(call->part, c->flags, c->log2, c->mem.length,
			    c->ci_offset, &call->err);
	if (ret)
		return ret;
	cq = kiwi_cq_new(owner, c->user_data);
	if (!cq)
		return kiwi_fail_plain(&call->err, -ENOMEM);
	call->made = &cq->obj;

	ret = take_error_word(call, &cq->place);
	if (ret)
		return ret;
	cq->db = kiwi_obj_use(owner, c->doorbell, &kiwi_db_ops, &call->err);
	if (!cq->db)
		return -ENOENT;
	ret = take_eventfd(call, c->event_fd, &cq->signal);
	if (ret)
		return ret;
	use.arg = cq;
	ret = mem_take(call, &c->mem, &use, &cq->mem);
	if (ret)
		return ret;
	cq->where = c->mem;
	cq->ci_offset = c->ci_offset;
	cq->vector = c->vector;
	cq->log2 = c->log2;
	cq->flags = c->flags;
	ret = kiwi_cq_create(cq, &call->err);
	if (ret)
		return ret;
	c->cq = cq->obj.id;
	c->cqn = cq->hw.number;
	c->epoch = cq->hw.epoch;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_cq_create, "KIWI_FW");

/* Queue pair -------------------------------------------------------------------------- */

static int qp_take_parents(struct kiwi_call *call, const struct kiwi_snic_qp_create *c,
			   struct kiwi_qp *qp)
{
	struct kiwi_owner *owner = &call->file->owner;

	qp->pd = kiwi_obj_use(owner, c->pd, &kiwi_pd_ops, &call->err);
	if (!qp->pd)
		return -ENOENT;
	qp->send_cq = kiwi_obj_use(owner, c->send_cq, &kiwi_cq_ops, &call->err);
	if (!qp->send_cq)
		return -ENOENT;
	if (!(c->flags & KIWI_QP_SQ_ONLY)) {
		qp->recv_cq = kiwi_obj_use(owner, c->recv_cq, &kiwi_cq_ops, &call->err);
		if (!qp->recv_cq)
			return -ENOENT;
	}
	qp->db = kiwi_obj_use(owner, c->doorbell, &kiwi_db_ops, &call->err);
	return qp->db ? 0 : -ENOENT;
}

static int qp_take_memory(struct kiwi_call *call, const struct kiwi_snic_qp_create *c,
			  struct kiwi_qp *qp)
{
	struct mem_use use = { .ops = &kiwi_qp_mem_ops, .arg = qp };
	int ret;

	use.name = "sq";
	use.align = KIWI_WQEBB;
	ret = mem_take(call, &c->sq, &use, &qp->sq);
	if (ret)
		return ret;
	if (!(c->flags & KIWI_QP_SQ_ONLY)) {
		use.name = "rq";
		use.align = BIT_ULL(c->rq_stride);
		ret = mem_take(call, &c->rq, &use, &qp->rq);
		if (ret)
			return ret;
	}
	if (!(c->flags & KIWI_QP_DB_RECORD))
		return 0;
	use.name = "db_record";
	use.align = sizeof(struct kiwi_qp_db_record);
	return mem_take(call, &c->db_record, &use, &qp->db_record);
}

/**
 * kiwi_ioctl_qp_create() - the ioctl of struct kiwi_snic_qp_create
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_qp_create(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_qp_create *c = data;
	struct kiwi_qp *qp;
	int ret;

	if (c->rsvd[0] || c->rsvd[1])
		return kiwi_call_reserved(call);
	ret = kiwi_qp_check(call->part, c, &call->err);
	if (ret)
		return ret;
	qp = kiwi_qp_new(&call->file->owner, c->user_data);
	if (!qp)
		return kiwi_fail_plain(&call->err, -ENOMEM);
	call->made = &qp->obj;

	ret = take_error_word(call, &qp->place);
	if (ret)
		return ret;
	ret = qp_take_parents(call, c, qp);
	if (ret)
		return ret;
	ret = qp_take_memory(call, c, qp);
	if (ret)
		return ret;
	qp->sq_where = c->sq;
	qp->rq_where = c->rq;
	qp->record_where = c->db_record;
	qp->type = c->type;
	qp->flags = c->flags;
	qp->sq_log2 = c->sq_log2;
	qp->rq_log2 = c->rq_log2;
	qp->rq_stride = c->rq_stride;
	ret = kiwi_qp_create(qp, &call->err);
	if (ret)
		return ret;
	c->qp = qp->obj.id;
	c->qpn = qp->hw.number;
	c->epoch = qp->hw.epoch;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_qp_create, "KIWI_FW");

/**
 * kiwi_ioctl_qp_modify() - the ioctl that takes struct kiwi_snic_qp_modify
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_qp_modify(struct kiwi_call *call, void *data)
{
	const struct kiwi_snic_qp_modify *m = data;
	struct kiwi_qp_attr attr = {
		.state = m->state,
		.cur_state = m->cur_state,
		.mtu = m->mtu,
		.port = m->port,
		.dest_qpn = cpu_to_le32(m->dest_qpn),
		.sq_psn = cpu_to_le32(m->sq_psn),
		.rq_psn = cpu_to_le32(m->rq_psn),
		.timeout = m->timeout,
		.retry_cnt = m->retry_cnt,
		.rnr_retry = m->rnr_retry,
		.min_rnr_timer = m->min_rnr_timer,
		.max_rd_atomic = m->max_rd_atomic,
		.max_dest_rd_atomic = m->max_dest_rd_atomic,
		.hop_limit = m->hop_limit,
		.traffic_class = m->traffic_class,
		.sgid_index = m->sgid_index,
		.access = cpu_to_le32(m->access),
		.flow_label = cpu_to_le32(m->flow_label),
		.udp_sport = cpu_to_le16(m->udp_sport),
	};
	struct kiwi_qp *qp;
	int ret;

	if (m->rsvd[0] || m->rsvd[1] || m->rsvd[2])
		return kiwi_call_reserved(call);
	memcpy(attr.dmac, m->dmac, sizeof(attr.dmac));
	memcpy(attr.dgid, m->dgid, sizeof(attr.dgid));

	qp = kiwi_obj_get(&call->file->owner, m->qp, &kiwi_qp_ops, &call->err);
	if (!qp)
		return -ENOENT;
	ret = kiwi_qp_modify(qp, m->mask, &attr, &call->err);
	kiwi_obj_put(&qp->obj);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_qp_modify, "KIWI_FW");

/**
 * kiwi_ioctl_qp_query() - the ioctl that fills struct kiwi_snic_qp_modify
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_qp_query(struct kiwi_call *call, void *data)
{
	struct kiwi_snic_qp_modify *q = data;
	struct kiwi_qp_attr attr;
	struct kiwi_qp *qp;
	int ret;

	if (q->mask || q->rsvd[0] || q->rsvd[1] || q->rsvd[2])
		return kiwi_call_reserved(call);
	qp = kiwi_obj_get(&call->file->owner, q->qp, &kiwi_qp_ops, &call->err);
	if (!qp)
		return -ENOENT;
	ret = kiwi_qp_query(qp, &attr, &call->err);
	kiwi_obj_put(&qp->obj);
	if (ret)
		return ret;

	*q = (struct kiwi_snic_qp_modify) {
		.size = q->size,
		.qp = q->qp,
		.mask = KIWI_QP_ATTR_ALL,
		.dest_qpn = le32_to_cpu(attr.dest_qpn),
		.sq_psn = le32_to_cpu(attr.sq_psn),
		.rq_psn = le32_to_cpu(attr.rq_psn),
		.access = le32_to_cpu(attr.access),
		.flow_label = le32_to_cpu(attr.flow_label),
		.udp_sport = le16_to_cpu(attr.udp_sport),
		.state = attr.state,
		.cur_state = attr.cur_state,
		.mtu = attr.mtu,
		.port = attr.port,
		.timeout = attr.timeout,
		.retry_cnt = attr.retry_cnt,
		.rnr_retry = attr.rnr_retry,
		.min_rnr_timer = attr.min_rnr_timer,
		.max_rd_atomic = attr.max_rd_atomic,
		.max_dest_rd_atomic = attr.max_dest_rd_atomic,
		.hop_limit = attr.hop_limit,
		.traffic_class = attr.traffic_class,
		.sgid_index = attr.sgid_index,
	};
	memcpy(q->dmac, attr.dmac, sizeof(q->dmac));
	memcpy(q->dgid, attr.dgid, sizeof(q->dgid));
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_qp_query, "KIWI_FW");

/* A structure may only grow at its end. */
static_assert(sizeof(struct kiwi_snic_pd_alloc) == 16);
static_assert(sizeof(struct kiwi_mem) == 24);
static_assert(sizeof(struct kiwi_snic_mr_reg) == 64);
static_assert(sizeof(struct kiwi_snic_mr_query) == 56);
static_assert(sizeof(struct kiwi_snic_doorbell_alloc) == 32);
static_assert(sizeof(struct kiwi_snic_doorbell_export) == 32);
static_assert(sizeof(struct kiwi_snic_cq_create) == 80);
static_assert(sizeof(struct kiwi_snic_qp_create) == 128);
static_assert(sizeof(struct kiwi_snic_qp_modify) == 76);
static_assert(sizeof(struct kiwi_snic_queue_query) == 160);
static_assert(sizeof(struct kiwi_snic_error_page) == 32);
