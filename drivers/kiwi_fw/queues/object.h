/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queues and what they need, as objects. This layer takes memory as struct kiwi_fw_mem and knows
 * no file and no ioctl. How objects live: kiwi/part.h. kiwi_*_new() begins an object, its maker
 * fills in what it uses, kiwi_*_create() tells the device.
 */
#ifndef KIWI_FW_QUEUES_OBJECT_H
#define KIWI_FW_QUEUES_OBJECT_H

#include <linux/container_of.h>
#include <linux/list.h>
#include <linux/types.h>

#include <kiwi/fw.h>
#include <kiwi/queues.h>

#include "cmd.h"

struct dma_buf;
struct eventfd_ctx;
struct kiwi_bar;

int kiwi_queues_need_gpu(struct kiwi_fw *fw, const char *what, struct kiwi_error *err);
int kiwi_queues_pbl(struct kiwi_part *part, const struct kiwi_fw_mem *mem, struct kiwi_fw_pbl *pbl,
		    struct kiwi_error *err);

/* Protection domain ------------------------------------------------------- */

extern const struct kiwi_obj_ops kiwi_pd_ops;

struct kiwi_pd {
	struct kiwi_obj obj;
	u32 pdn;
};

struct kiwi_pd *kiwi_pd_new(struct kiwi_owner *owner);
int kiwi_pd_create(struct kiwi_pd *pd, struct kiwi_error *err);

/* Memory region ------------------------------------------------------------ */

extern const struct kiwi_obj_ops kiwi_mr_ops;

/**
 * struct kiwi_mr - memory region
 * @obj: what all objects have
 * @pd: set by the maker
 * @mem: set by the maker, with kiwi_mr_mem_ops() and the region for its argument
 * @iova: set by the maker
 * @access: set by the maker
 * @key: lkey and rkey; the same from registration to deregistration, wherever the memory is
 * @path: to where the memory is now, or was last; under the lock, as what follows
 * @segments: runs of contiguous addresses; likewise
 * @pages: entries of the device's page list; likewise
 * @page_shift: size of one, 2^n; likewise
 * @held: the device holds the region: its memory is on the move
 */
struct kiwi_mr {
	struct kiwi_obj obj;
	struct kiwi_pd *pd;
	struct kiwi_fw_mem *mem;
	u64 iova;
	u32 access;
	u32 key;
	struct kiwi_fw_path path;
	u32 segments;
	u32 pages;
	u8 page_shift;
	bool held;
};

struct kiwi_mr *kiwi_mr_new(struct kiwi_owner *owner, u64 user_data);
int kiwi_mr_check(const struct kiwi_part *part, u64 iova, u64 length, u32 access,
		  struct kiwi_error *err);
int kiwi_mr_create(struct kiwi_mr *mr, struct kiwi_error *err);
u8 kiwi_mr_state(const struct kiwi_mr *mr);
const struct kiwi_fw_dmabuf_ops *kiwi_mr_mem_ops(const struct kiwi_part *part);

/* Doorbell page ------------------------------------------------------------ */

extern const struct kiwi_obj_ops kiwi_db_ops;

/**
 * struct kiwi_db - doorbell page
 * @obj: what all objects have
 * @page: the page
 * @write_combined: how its owner wants it mapped; set by the maker
 * @bar: what is mapped and imported of it
 */
struct kiwi_db {
	struct kiwi_obj obj;
	struct kiwi_fw_db page;
	bool write_combined;
	struct kiwi_bar *bar;
};

struct kiwi_db *kiwi_db_new(struct kiwi_owner *owner);
int kiwi_db_create(struct kiwi_db *db, struct kiwi_error *err);
struct dma_buf *kiwi_db_dmabuf(struct kiwi_db *db, struct kiwi_error *err);
u64 kiwi_db_map_offset(const struct kiwi_db *db);

/* Completion queue --------------------------------------------------------- */

extern const struct kiwi_obj_ops kiwi_cq_ops;

/**
 * struct kiwi_cq - completion queue
 * @obj: what all objects have
 * @place: of its word in the owner's error page, or 0; set by the maker
 * @db: doorbell that arms it; set by the maker
 * @mem: ring and consumer index, likewise; with kiwi_cq_mem_ops
 * @where: how the maker named @mem; likewise
 * @signal: counts completion events, or NULL; likewise
 * @ci_offset: of the consumer index in @mem; likewise
 * @vector: modulo the number of completion vectors; likewise
 * @log2: entries; likewise
 * @flags: KIWI_CQ_*; likewise
 * @comp: listener of completion events
 * @hw: number and epoch
 * @senders: QPs whose send queue completes here; under the lock
 * @receivers: QPs whose receive queue alone completes here; under the lock
 */
struct kiwi_cq {
	struct kiwi_obj obj;
	u32 place;
	struct kiwi_db *db;
	struct kiwi_fw_mem *mem;
	struct kiwi_mem where;
	struct eventfd_ctx *signal;
	u64 ci_offset;
	u32 vector;
	u8 log2;
	u8 flags;
	struct kiwi_fw_comp comp;
	struct kiwi_queue_id hw;
	struct list_head senders;
	struct list_head receivers;
};

extern const struct kiwi_fw_dmabuf_ops kiwi_cq_mem_ops;

struct kiwi_cq *kiwi_cq_new(struct kiwi_owner *owner, u64 user_data);
int kiwi_cq_check(const struct kiwi_part *part, u32 flags, u32 log2, u64 length, u64 ci_offset,
		  struct kiwi_error *err);
int kiwi_cq_create(struct kiwi_cq *cq, struct kiwi_error *err);
void kiwi_cq_signal(struct kiwi_cq *cq);

/* Queue pair --------------------------------------------------------------- */

extern const struct kiwi_obj_ops kiwi_qp_ops;

/**
 * struct kiwi_qp - queue pair
 * @obj: what all objects have
 * @place: of its word in the owner's error page, or 0; set by the maker
 * @pd: set by the maker, as all up to @rq_stride
 * @send_cq: CQ of the send queue
 * @recv_cq: CQ of the receive queue, may be the same; NULL without one
 * @db: doorbell of both queues
 * @sq: send queue's ring; with kiwi_qp_mem_ops
 * @rq: receive queue's, likewise, or NULL
 * @db_record: doorbell record, likewise
 * @sq_where: how the maker named @sq
 * @rq_where: likewise @rq
 * @record_where: likewise @db_record
 * @type: enum kiwi_qp_type
 * @flags: KIWI_QP_*
 * @sq_log2: units
 * @rq_log2: entries
 * @rq_stride: bytes of an entry, 2^n
 * @hw: number and epoch
 * @send_node: in send_cq->senders
 * @recv_node: in recv_cq->receivers, if that is another CQ
 * @told: the owner knows that it is in error; under event_lock
 */
struct kiwi_qp {
	struct kiwi_obj obj;
	u32 place;
	struct kiwi_pd *pd;
	struct kiwi_cq *send_cq;
	struct kiwi_cq *recv_cq;
	struct kiwi_db *db;
	struct kiwi_fw_mem *sq;
	struct kiwi_fw_mem *rq;
	struct kiwi_fw_mem *db_record;
	struct kiwi_mem sq_where;
	struct kiwi_mem rq_where;
	struct kiwi_mem record_where;
	u8 type;
	u8 flags;
	u8 sq_log2;
	u8 rq_log2;
	u8 rq_stride;
	struct kiwi_queue_id hw;
	struct list_head send_node;
	struct list_head recv_node;
	bool told;
};

static inline struct kiwi_qp *to_qp(struct kiwi_obj *obj)
{
	return container_of(obj, struct kiwi_qp, obj);
}

extern const struct kiwi_fw_dmabuf_ops kiwi_qp_mem_ops;

struct kiwi_qp *kiwi_qp_new(struct kiwi_owner *owner, u64 user_data);
int kiwi_qp_check(const struct kiwi_part *part, const struct kiwi_snic_qp_create *c,
		  struct kiwi_error *err);
int kiwi_qp_create(struct kiwi_qp *qp, struct kiwi_error *err);
int kiwi_qp_modify(struct kiwi_qp *qp, u32 mask, const struct kiwi_qp_attr *attr,
		   struct kiwi_error *err);
int kiwi_qp_query(struct kiwi_qp *qp, struct kiwi_qp_attr *attr, struct kiwi_error *err);
void kiwi_qp_tell_error(struct kiwi_qp *qp, u32 type, u32 code);
void kiwi_qp_look(struct kiwi_qp *qp);

#endif /* KIWI_FW_QUEUES_OBJECT_H */
