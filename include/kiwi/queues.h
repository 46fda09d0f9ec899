/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Queue pairs, and what they need: protection domains, memory regions, doorbells, completion
 * queues. The drivers of parts whose device takes their commands offer these ioctls; what is in
 * an address vector is between the user and the device.
 *
 * Locks, in the order of kiwi/part.h: of objects, that of a CQ (of two the one with the lower id
 * first) is outside of that of a QP. A region's reservation lock is held while it is registered.
 * That of a file's error page is innermost.
 */
#ifndef KIWI_QUEUES_H
#define KIWI_QUEUES_H

#include <linux/fcntl.h>
#include <linux/types.h>
#include <linux/xarray.h>

#include <kiwi/part.h>
#include <kiwi_abi/snic.h>
#include <uapi/kiwi/queues.h>

struct kiwi_eqe;
struct kiwi_errpage;

/*
 * struct kiwi_queue_caps - struct kiwi_snic_caps, in host order and known to be sane
 *
 * All of one type, so that tables can name the fields by their offset.
 */
struct kiwi_queue_caps {
	u64 max_pd;
	u64 max_mr;
	u64 max_cq;
	u64 max_qp;
	u64 max_mr_size;
	u64 max_mr_pages;
	u64 max_inline;
	u64 page_shift_max;
	u64 pbl_table_shift_max;
	u64 ports;
	u64 gids;
	u64 sq_log2_max;
	u64 rq_log2_max;
	u64 cq_log2_max;
	u64 max_sge;
	u64 max_rd_atomic;
	u64 max_msg_size;
	u64 link_mbps;
};

int kiwi_queue_caps_parse(const struct kiwi_snic_caps *wire, struct kiwi_queue_caps *caps,
			  struct kiwi_error *err);
ssize_t kiwi_queue_caps_emit(struct kiwi_part *part, unsigned long offset, char *buf);

/**
 * struct kiwi_queues - queues of a device
 * @caps: of the device as started last; set by the part
 * @map_base: where doorbells begin in what a file maps
 * @port_down: bit n - 1: port n is not active; under files_lock
 * @port_told: bit n - 1: the device told of port n since it was asked; under files_lock
 * @cqs: CQs by number, for events
 * @qps: QPs by number
 * @dbs: doorbells by index of their page, for mappings
 */
struct kiwi_queues {
	struct kiwi_queue_caps caps;
	u64 map_base;
	u32 port_down;
	u32 port_told;
	struct xarray cqs;
	struct xarray qps;
	struct xarray dbs;
};

void kiwi_queues_setup(struct kiwi_queues *queues, struct kiwi_part *part, u64 map_base);
void kiwi_queues_teardown(struct kiwi_queues *queues);
u8 kiwi_db_shift(const struct kiwi_part *part);

/* Their kinds, in the order in which a file's objects are destroyed: users before used. */
enum kiwi_queues_kind {
	KIWI_KIND_QP,
	KIWI_KIND_CQ,
	KIWI_KIND_MR,
	KIWI_KIND_DB,
	KIWI_KIND_PD,
	KIWI_QUEUES_KINDS	/* those of the part begin here */
};

/* Files and events -------------------------------------------------------------- */

/**
 * struct kiwi_queues_file - an open file of a part that has queues
 * @file: what files of all parts have
 * @errpage: where errors are published, NULL without; set once, under files_lock
 */
struct kiwi_queues_file {
	struct kiwi_file file;
	struct kiwi_errpage *errpage;
};

static inline struct kiwi_queues_file *to_queues_file(struct kiwi_file *file)
{
	return container_of(file, struct kiwi_queues_file, file);
}

/* For struct kiwi_part_ops */
void kiwi_queues_told(struct kiwi_owner *owner, const struct kiwi_obj *obj,
		      const struct kiwi_file_event *event);
void kiwi_queues_disowned(struct kiwi_owner *owner, const struct kiwi_obj *obj);
void kiwi_queues_down(struct kiwi_file *file);
void kiwi_queues_clear(struct kiwi_file *file);
void kiwi_queues_end(struct kiwi_file *file);
int kiwi_queues_mmap(struct kiwi_file *file, struct vm_area_struct *vma);

#define KIWI_QUEUES_FILE_OPS						\
	.file_size = sizeof(struct kiwi_queues_file),			\
	.told = kiwi_queues_told,					\
	.disowned = kiwi_queues_disowned,				\
	.file_down = kiwi_queues_down,					\
	.file_clear = kiwi_queues_clear,				\
	.file_end = kiwi_queues_end

bool kiwi_queues_event(struct kiwi_part *part, const struct kiwi_eqe *eqe);
void kiwi_queues_port(struct kiwi_part *part, u32 port, bool active);
void kiwi_queues_port_ask(struct kiwi_part *part, u32 port);
bool kiwi_queues_port_found(struct kiwi_part *part, u32 port, bool active);
void kiwi_queues_look(struct kiwi_part *part);

/* Ioctls: handlers; @data is the ioctl's structure, and the reply ------------------ */

int kiwi_ioctl_error_page(struct kiwi_call *call, void *data);
int kiwi_ioctl_pd_alloc(struct kiwi_call *call, void *data);
int kiwi_ioctl_mr_reg(struct kiwi_call *call, void *data);
int kiwi_ioctl_mr_query(struct kiwi_call *call, void *data);
int kiwi_ioctl_doorbell_alloc(struct kiwi_call *call, void *data);
int kiwi_ioctl_doorbell_export(struct kiwi_call *call, void *data);
int kiwi_ioctl_cq_create(struct kiwi_call *call, void *data);
int kiwi_ioctl_qp_create(struct kiwi_call *call, void *data);
int kiwi_ioctl_qp_modify(struct kiwi_call *call, void *data);
int kiwi_ioctl_qp_query(struct kiwi_call *call, void *data);
int kiwi_ioctl_queue_query(struct kiwi_call *call, void *data);

/*
 * Their entries in a part's table: the part numbers them as PART_PD_ALLOC and so on, and tells
 * by PART_QUEUE_CAP what capability they need, 0 for none.
 */
#define KIWI_QUEUES_IOCTLS(_part)							\
	[_IOC_NR(_part##_PD_ALLOC)] = KIWI_IOCTL(_part##_PD_ALLOC, "PD_ALLOC",		\
		struct kiwi_snic_pd_alloc, 16, 0, KIWI_IOCTL_REPLY,			\
		kiwi_ioctl_pd_alloc, _part##_QUEUE_CAP),				\
	[_IOC_NR(_part##_MR_REG)] = KIWI_IOCTL(_part##_MR_REG, "MR_REG",		\
		struct kiwi_snic_mr_reg, 64, 0, KIWI_IOCTL_REPLY,			\
		kiwi_ioctl_mr_reg, _part##_QUEUE_CAP),					\
	[_IOC_NR(_part##_MR_QUERY)] = KIWI_IOCTL(_part##_MR_QUERY, "MR_QUERY",		\
		struct kiwi_snic_mr_query, 56, 0, KIWI_IOCTL_REPLY,			\
		kiwi_ioctl_mr_query, _part##_QUEUE_CAP),				\
	[_IOC_NR(_part##_DOORBELL_ALLOC)] = KIWI_IOCTL(_part##_DOORBELL_ALLOC,		\
		"DOORBELL_ALLOC", struct kiwi_snic_doorbell_alloc, 32,			\
		KIWI_SNIC_DOORBELL_WC, KIWI_IOCTL_REPLY,				\
		kiwi_ioctl_doorbell_alloc, _part##_QUEUE_CAP),				\
	[_IOC_NR(_part##_DOORBELL_EXPORT)] = KIWI_IOCTL(_part##_DOORBELL_EXPORT,	\
		"DOORBELL_EXPORT", struct kiwi_snic_doorbell_export, 32, O_CLOEXEC,	\
		KIWI_IOCTL_REPLY, kiwi_ioctl_doorbell_export, _part##_QUEUE_CAP),	\
	[_IOC_NR(_part##_CQ_CREATE)] = KIWI_IOCTL(_part##_CQ_CREATE, "CQ_CREATE",	\
		struct kiwi_snic_cq_create, 80,						\
		KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED, KIWI_IOCTL_REPLY,		\
		kiwi_ioctl_cq_create, _part##_QUEUE_CAP),				\
	[_IOC_NR(_part##_QP_CREATE)] = KIWI_IOCTL(_part##_QP_CREATE, "QP_CREATE",	\
		struct kiwi_snic_qp_create, 104,					\
		KIWI_QP_SQ_SIG_ALL | KIWI_QP_SQ_ONLY | KIWI_QP_DB_RECORD,		\
		KIWI_IOCTL_REPLY, kiwi_ioctl_qp_create, _part##_QUEUE_CAP),		\
	[_IOC_NR(_part##_QP_MODIFY)] = KIWI_IOCTL(_part##_QP_MODIFY, "QP_MODIFY",	\
		struct kiwi_snic_qp_modify, 76, 0, 0,					\
		kiwi_ioctl_qp_modify, _part##_QUEUE_CAP),				\
	[_IOC_NR(_part##_QP_QUERY)] = KIWI_IOCTL(_part##_QP_QUERY, "QP_QUERY",		\
		struct kiwi_snic_qp_modify, 76, 0, KIWI_IOCTL_REPLY,			\
		kiwi_ioctl_qp_query, _part##_QUEUE_CAP),				\
	[_IOC_NR(_part##_QUEUE_QUERY)] = KIWI_IOCTL(_part##_QUEUE_QUERY,		\
		"QUEUE_QUERY", struct kiwi_snic_queue_query, 160, 0, KIWI_IOCTL_REPLY,	\
		kiwi_ioctl_queue_query, _part##_QUEUE_CAP),				\
	[_IOC_NR(_part##_ERROR_PAGE)] = KIWI_IOCTL(_part##_ERROR_PAGE, "ERROR_PAGE",	\
		struct kiwi_snic_error_page, 32, 0, 0, kiwi_ioctl_error_page, _part##_QUEUE_CAP)

#endif /* KIWI_QUEUES_H */
