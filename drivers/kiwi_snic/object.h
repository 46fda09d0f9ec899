/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Objects of the device and their life. This layer takes memory as struct
 * kiwi_fw_mem and knows no file and no ioctl: whoever holds a table of objects
 * is their owner.
 *
 * An object is made in steps: ksnic_*_new() reserves an id that nobody can look
 * up, its maker fills in what it uses, ksnic_*_create() tells the device, and
 * ksnic_obj_publish() makes the id known. ksnic_obj_abort() undoes any of them.
 *
 * Locks, outermost first: a DMA-buf's reservation lock (held by who revokes or moves memory, and
 * while a region of it is registered), lock of a CQ (of two the one with the lower id first), lock
 * of another object, struct ksnic.event_lock. Memory is neither taken nor given back, and user
 * memory not touched, with any of the latter held.
 */
#ifndef KSNIC_OBJECT_H
#define KSNIC_OBJECT_H

#include <linux/atomic.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include <kiwi/fw.h>
#include <kiwi_abi/snic.h>
#include <uapi/kiwi/snic.h>

#include "fw_cmd.h"

struct dma_buf;
struct eventfd_ctx;
struct ksnic;
struct kiwi_error;
struct ksnic_obj;
struct ksnic_owner;

/* In the order in which an owner's objects are destroyed: users before used. */
enum ksnic_kind {
	KSNIC_QP,
	KSNIC_CQ,
	KSNIC_MR,
	KSNIC_DB,
	KSNIC_PD,
	KSNIC_KINDS
};

/**
 * struct ksnic_obj_ops - what differs by kind; there is one for each
 * @name: for people
 * @kind: which
 * @destroy: takes the object out of the device; under the object's lock, as is @forget
 * @forget: ends what led to the object by its number, after the device has let go of it, or
 *	may no longer do anything; may be NULL
 * @release: gives back all that the object holds, but not the object itself
 */
struct ksnic_obj_ops {
	const char *name;
	enum ksnic_kind kind;
	int (*destroy)(struct ksnic_obj *obj, struct kiwi_error *err);
	void (*forget)(struct ksnic_obj *obj);
	void (*release)(struct ksnic_obj *obj);
};

/**
 * struct ksnic_owner_ops - what a front end does for its objects
 * @event: takes an asynchronous event, enum kiwi_snic_event_type; under event_lock
 * @withdraw: ends what was made of an object, mappings say, before the device forgets it
 * @end: no event of the object comes any more; may be NULL
 */
struct ksnic_owner_ops {
	void (*event)(struct ksnic_owner *owner, const struct ksnic_obj *obj, u32 type, u32 code);
	void (*withdraw)(struct ksnic_owner *owner, struct ksnic_obj *obj);
	void (*end)(struct ksnic_owner *owner, struct ksnic_obj *obj);
};

/**
 * struct ksnic_owner - table of objects
 * @ops: the front end's
 * @ks: the device
 * @objs: by id; the id of an object not published yet holds nothing
 */
struct ksnic_owner {
	const struct ksnic_owner_ops *ops;
	struct ksnic *ks;
	struct xarray objs;
};

/**
 * struct ksnic_obj - head of every object, its first member
 * @ref: of the structure
 * @ops: by kind
 * @ks: the device
 * @owner: table that it is in, NULL once its owner gave it up; under event_lock
 * @user_data: the owner's, for events
 * @place: the owner's: where it tells of the object's errors, or 0
 * @id: in the table
 * @uses: objects that use this one; -1 from the first attempt to destroy it
 * @lock: excludes commands that name the object from its end in the device
 * @live: the device knows the object; under @lock
 * @revoked: memory of the object was taken away; under @lock
 * @ending: the device may give its number to another; under event_lock
 * @node: among the zombies
 */
struct ksnic_obj {
	struct kref ref;
	const struct ksnic_obj_ops *ops;
	struct ksnic *ks;
	struct ksnic_owner *owner;
	u64 user_data;
	u32 place;
	u32 id;
	atomic_t uses;
	struct mutex lock;	/* commands that name the object */
	bool live;
	bool revoked;
	bool ending;
	struct list_head node;
};

void ksnic_owner_init(struct ksnic_owner *owner, struct ksnic *ks,
		      const struct ksnic_owner_ops *ops);
void ksnic_owner_clear(struct ksnic_owner *owner);
void ksnic_owner_exit(struct ksnic_owner *owner);

void *ksnic_obj_new(struct ksnic_owner *owner, const struct ksnic_obj_ops *ops, size_t size,
		    u64 user_data);
void ksnic_obj_publish(struct ksnic_obj *obj);
void ksnic_obj_abort(struct ksnic_obj *obj);
int ksnic_obj_destroy(struct ksnic_owner *owner, u32 id, struct kiwi_error *err);

void *ksnic_obj_get(struct ksnic_owner *owner, u32 id, const struct ksnic_obj_ops *ops,
		    struct kiwi_error *err);
void ksnic_obj_put(struct ksnic_obj *obj);
void *ksnic_obj_use(struct ksnic_owner *owner, u32 id, const struct ksnic_obj_ops *ops,
		    struct kiwi_error *err);
void ksnic_obj_unuse(struct ksnic_obj *obj);

int ksnic_obj_absent(u32 id, const struct ksnic_obj_ops *ops, struct kiwi_error *err);
bool ksnic_obj_condemned(const struct ksnic_obj *obj);
int ksnic_obj_lock(struct ksnic_obj *obj, struct kiwi_error *err);
int ksnic_obj_not_live(const struct ksnic_obj *obj, struct kiwi_error *err);
void ksnic_obj_notify(struct ksnic_obj *obj, u32 type, u32 code);
void ksnic_obj_revoke(struct ksnic_obj *obj, u32 type, u32 code);
void ksnic_zombies_retry(struct ksnic *ks);

int ksnic_pbl_build(struct ksnic *ks, const struct kiwi_fw_mem *mem, struct kiwi_fw_pbl *pbl,
		    struct kiwi_error *err);

/* Protection domain ------------------------------------------------------- */

extern const struct ksnic_obj_ops ksnic_pd_ops;

struct ksnic_pd {
	struct ksnic_obj obj;
	u32 pdn;
};

struct ksnic_pd *ksnic_pd_new(struct ksnic_owner *owner);
int ksnic_pd_create(struct ksnic_pd *pd, struct kiwi_error *err);

/* Memory region ------------------------------------------------------------ */

extern const struct ksnic_obj_ops ksnic_mr_ops;

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
	struct ksnic_obj obj;
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

struct ksnic_mr *ksnic_mr_new(struct ksnic_owner *owner, u64 user_data);
int ksnic_mr_check(const struct ksnic *ks, u64 iova, u64 length, u32 access,
		   struct kiwi_error *err);
int ksnic_mr_create(struct ksnic_mr *mr, struct kiwi_error *err);
u8 ksnic_mr_state(const struct ksnic_mr *mr);
const struct kiwi_fw_dmabuf_ops *ksnic_mr_mem_ops(const struct ksnic *ks);

/* Doorbell page ------------------------------------------------------------ */

extern const struct ksnic_obj_ops ksnic_db_ops;

/**
 * struct ksnic_db - doorbell page
 * @obj: what all objects have
 * @page: the page
 * @write_combined: how its owner wants it mapped
 * @dmabuf: of the page, from when its owner first asks for it until it is withdrawn; the
 *	owner protects it
 */
struct ksnic_db {
	struct ksnic_obj obj;
	struct kiwi_fw_db page;
	bool write_combined;
	struct dma_buf *dmabuf;
};

u8 ksnic_db_shift(const struct ksnic *ks);
struct ksnic_db *ksnic_db_new(struct ksnic_owner *owner);
int ksnic_db_create(struct ksnic_db *db, struct kiwi_error *err);

/* Completion queue --------------------------------------------------------- */

extern const struct ksnic_obj_ops ksnic_cq_ops;

/**
 * struct ksnic_cq - completion queue
 * @obj: what all objects have
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
	struct ksnic_obj obj;
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

struct ksnic_cq *ksnic_cq_new(struct ksnic_owner *owner, u64 user_data);
int ksnic_cq_check(const struct ksnic *ks, u32 flags, u32 log2, u64 length, u64 ci_offset,
		   struct kiwi_error *err);
int ksnic_cq_create(struct ksnic_cq *cq, struct kiwi_error *err);
void ksnic_cq_signal(struct ksnic_cq *cq);

/* Queue pair --------------------------------------------------------------- */

extern const struct ksnic_obj_ops ksnic_qp_ops;

/**
 * struct ksnic_qp - queue pair
 * @obj: what all objects have
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
	struct ksnic_obj obj;
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

struct ksnic_qp *ksnic_qp_new(struct ksnic_owner *owner, u64 user_data);
int ksnic_qp_check(const struct ksnic *ks, const struct kiwi_snic_qp_create *c,
		   struct kiwi_error *err);
int ksnic_qp_create(struct ksnic_qp *qp, struct kiwi_error *err);
int ksnic_qp_modify(struct ksnic_qp *qp, u32 mask, const struct kiwi_qp_attr *attr,
		    struct kiwi_error *err);
int ksnic_qp_query(struct ksnic_qp *qp, struct kiwi_qp_attr *attr, struct kiwi_error *err);

#endif /* KSNIC_OBJECT_H */
