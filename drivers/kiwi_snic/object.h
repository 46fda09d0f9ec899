/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects of the SNIC. This layer takes memory as struct kiwi_fw_mem and knows no file and no
 * ioctl. How objects live: kiwi/part.h. ksnic_*_new() begins an object, its maker fills in what it
 * uses, ksnic_*_create() tells the device.
 */
#ifndef KSNIC_OBJECT_H
#define KSNIC_OBJECT_H

#include <linux/list.h>
#include <linux/types.h>

#include <kiwi/fw.h>
#include <kiwi/part.h>
#include <kiwi_abi/snic.h>
#include <uapi/kiwi/snic.h>

#include "fw_cmd.h"

struct dma_buf;
struct eventfd_ctx;
struct kiwi_bar;
struct ksnic;

int ksnic_pbl_build(struct ksnic *ks, const struct kiwi_fw_mem *mem, struct kiwi_fw_pbl *pbl,
		    struct kiwi_error *err);

/* Protection domain ------------------------------------------------------- */

extern const struct kiwi_obj_ops ksnic_pd_ops;

struct ksnic_pd {
	struct kiwi_obj obj;
	u32 pdn;
};

struct ksnic_pd *ksnic_pd_new(struct kiwi_owner *owner);
int ksnic_pd_create(struct ksnic_pd *pd, struct kiwi_error *err);

/* Memory region ------------------------------------------------------------ */

extern const struct kiwi_obj_ops ksnic_mr_ops;

/**
 * struct ksnic_mr - memory region
 * @obj: what all objects have
 * @pd: set by the maker
 * @mem: set by the maker, with ksnic_mr_mem_ops() and the region for its argument
 * @iova: set by the maker
 * @access: set by the maker
 * @key: lkey and rkey; the same from registration to deregistration, wherever the memory is
 * @path: to where the memory is now, or was last; under the lock, as what follows
 * @segments: runs of contiguous addresses; likewise
 * @pages: entries of the device's page list; likewise
 * @page_shift: size of one, 2^n; likewise
 * @held: the device holds the region: its memory is on the move
 */
struct ksnic_mr {
	struct kiwi_obj obj;
	struct ksnic_pd *pd;
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

struct ksnic_mr *ksnic_mr_new(struct kiwi_owner *owner, u64 user_data);
int ksnic_mr_check(const struct ksnic *ks, u64 iova, u64 length, u32 access,
		   struct kiwi_error *err);
int ksnic_mr_create(struct ksnic_mr *mr, struct kiwi_error *err);
u8 ksnic_mr_state(const struct ksnic_mr *mr);
const struct kiwi_fw_dmabuf_ops *ksnic_mr_mem_ops(const struct ksnic *ks);

/* Doorbell page ------------------------------------------------------------ */

extern const struct kiwi_obj_ops ksnic_db_ops;

/**
 * struct ksnic_db - doorbell page
 * @obj: what all objects have
 * @page: the page
 * @write_combined: how its owner wants it mapped; set by the maker
 * @bar: what is mapped and imported of it
 */
struct ksnic_db {
	struct kiwi_obj obj;
	struct kiwi_fw_db page;
	bool write_combined;
	struct kiwi_bar *bar;
};

u8 ksnic_db_shift(const struct ksnic *ks);
struct ksnic_db *ksnic_db_new(struct kiwi_owner *owner);
int ksnic_db_create(struct ksnic_db *db, struct kiwi_error *err);
struct dma_buf *ksnic_db_dmabuf(struct ksnic_db *db, struct kiwi_error *err);
u64 ksnic_map_offset(const struct ksnic_db *db);

/* Completion queue --------------------------------------------------------- */

extern const struct kiwi_obj_ops ksnic_cq_ops;

/**
 * struct ksnic_cq - completion queue
 * @obj: what all objects have
 * @place: of its word in the owner's error page, or 0; set by the maker
 * @db: doorbell that arms it; set by the maker
 * @mem: ring and consumer index, likewise; with ksnic_cq_mem_ops
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
struct ksnic_cq {
	struct kiwi_obj obj;
	u32 place;
	struct ksnic_db *db;
	struct kiwi_fw_mem *mem;
	struct kiwi_mem where;
	struct eventfd_ctx *signal;
	u64 ci_offset;
	u32 vector;
	u8 log2;
	u8 flags;
	struct kiwi_fw_comp comp;
	struct ksnic_queue_id hw;
	struct list_head senders;
	struct list_head receivers;
};

extern const struct kiwi_fw_dmabuf_ops ksnic_cq_mem_ops;

struct ksnic_cq *ksnic_cq_new(struct kiwi_owner *owner, u64 user_data);
int ksnic_cq_check(const struct ksnic *ks, u32 flags, u32 log2, u64 length, u64 ci_offset,
		   struct kiwi_error *err);
int ksnic_cq_create(struct ksnic_cq *cq, struct kiwi_error *err);
void ksnic_cq_signal(struct ksnic_cq *cq);

/* Queue pair --------------------------------------------------------------- */

extern const struct kiwi_obj_ops ksnic_qp_ops;

/**
 * struct ksnic_qp - queue pair
 * @obj: what all objects have
 * @place: of its word in the owner's error page, or 0; set by the maker
 * @pd: set by the maker, as all up to @rq_stride
 * @send_cq: CQ of the send queue
 * @recv_cq: CQ of the receive queue, may be the same; NULL without one
 * @db: doorbell of both queues
 * @sq: send queue's ring; with ksnic_qp_mem_ops
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
 */
struct ksnic_qp {
	struct kiwi_obj obj;
	u32 place;
	struct ksnic_pd *pd;
	struct ksnic_cq *send_cq;
	struct ksnic_cq *recv_cq;
	struct ksnic_db *db;
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
	struct ksnic_queue_id hw;
	struct list_head send_node;
	struct list_head recv_node;
};

extern const struct kiwi_fw_dmabuf_ops ksnic_qp_mem_ops;

struct ksnic_qp *ksnic_qp_new(struct kiwi_owner *owner, u64 user_data);
int ksnic_qp_check(const struct ksnic *ks, const struct kiwi_snic_qp_create *c,
		   struct kiwi_error *err);
int ksnic_qp_create(struct ksnic_qp *qp, struct kiwi_error *err);
int ksnic_qp_modify(struct ksnic_qp *qp, u32 mask, const struct kiwi_qp_attr *attr,
		    struct kiwi_error *err);
int ksnic_qp_query(struct ksnic_qp *qp, struct kiwi_qp_attr *attr, struct kiwi_error *err);

#endif /* KSNIC_OBJECT_H */
