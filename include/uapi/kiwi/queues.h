/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Queue pairs, and what they need, of the Kiwi parts that have them: the structures of their
 * ioctls. Each part numbers the ioctls itself: PD_ALLOC is KIWI_SNIC_PD_ALLOC of kiwi/snic.h.
 * Rules and errno are those of the part's header. Enumerations and bits (KIWI_ACCESS_*,
 * KIWI_QPS_*, KIWI_QP_ATTR_*, KIWI_MTU_*) are those of kiwi_abi/snic.h; ring formats and doorbell
 * values are in kiwi_abi/queues.h.
 */
#ifndef _UAPI_KIWI_QUEUES_H
#define _UAPI_KIWI_QUEUES_H

#include <linux/types.h>

#include "common.h"

/**
 * struct kiwi_snic_pd_alloc - PD_ALLOC
 * @size: sizeof(struct kiwi_snic_pd_alloc)
 * @flags: 0
 * @pd: out: id
 * @rsvd: 0
 */
struct kiwi_snic_pd_alloc {
	__u32 size;
	__u32 flags;
	__u32 pd;
	__u32 rsvd;
};

/* Memory descriptor ------------------------------------------------------ */

enum kiwi_mem_type {
	KIWI_MEM_USER		= 1,	/* memory of the calling process */
	KIWI_MEM_DMABUF		= 2,	/* part of a DMA-buf */
};

/**
 * struct kiwi_mem - memory handed to the device: regions and rings alike
 * @type: enum kiwi_mem_type
 * @fd: DMABUF: file descriptor; USER: 0
 * @addr: USER: virtual address; DMABUF: offset of the first byte in the buffer
 * @length: bytes, at least 1
 *
 * User memory is pinned for long and counted against RLIMIT_MEMLOCK (ENOMEM);
 * a DMA-buf is attached with peer-to-peer allowed and counted nowhere.
 */
struct kiwi_mem {
	__u32 type;
	__s32 fd;
	__aligned_u64 addr;
	__aligned_u64 length;
};

/**
 * struct kiwi_snic_mr_reg - MR_REG
 * @size: sizeof(struct kiwi_snic_mr_reg)
 * @flags: 0
 * @mem: the memory; with KIWI_MEM_USER local write needs a writable mapping
 * @iova: address of the first byte in work requests
 * @pd: id
 * @access: KIWI_ACCESS_*; remote write and atomic need local write; KIWI_ACCESS_RELAXED, with
 *	KIWI_SNIC_CAP_GPU_QUEUES, lets the device write in any order until it reports completion
 * @user_data: not used by the kernel, given back in events
 * @mr: out: id
 * @key: out: lkey and rkey, never 0
 *
 * A DMA-buf is not pinned where kernel, exporter and device can do without (KIWI_MR_DYNAMIC).
 * While it moves work that meets the region waits, at most as long as rnr_retry allows at
 * a peer; @key stays. If it cannot be mapped again within 5 seconds, or its exporter takes it
 * back, the region is revoked (KIWI_EVENT_MR_REVOKED).
 *
 * The key of a region that was revoked or destroyed is dead. The device may give its number out
 * again, with another tag; there are 256, so that in the end the key may name another region.
 */
struct kiwi_snic_mr_reg {
	__u32 size;
	__u32 flags;
	struct kiwi_mem mem;
	__aligned_u64 iova;
	__u32 pd;
	__u32 access;
	__aligned_u64 user_data;
	__u32 mr;
	__u32 key;
};

enum kiwi_path {	/* how the bytes of a region travel */
	KIWI_PATH_SYSTEM	= 1,	/* to and from system memory */
	KIWI_PATH_P2P_SWITCH	= 2,	/* peer to peer, below a common switch */
	KIWI_PATH_P2P_ROOT	= 3,	/* peer to peer, up to the root complex and back */
	KIWI_PATH_MIXED		= 4,	/* parts of the region travel differently */
};

enum kiwi_path_reason {	/* why the path is not KIWI_PATH_P2P_SWITCH */
	KIWI_PATH_DIRECT	= 0,	/* it is */
	KIWI_PATH_USER_MEMORY	= 1,	/* the memory is the process's own */
	KIWI_PATH_EXPORTER	= 2,	/* the exporter placed the buffer in system memory */
	KIWI_PATH_NO_SWITCH	= 3,	/* no switch above both functions */
	KIWI_PATH_ACS		= 4,	/* ACS redirect at @bridge sends requests up */
	KIWI_PATH_IOMMU		= 5,	/* the IOMMU translates: requests must reach it */
};

enum kiwi_mr_state {
	KIWI_MR_PINNED		= 1,	/* the memory cannot move */
	KIWI_MR_DYNAMIC		= 2,	/* the exporter may move it */
	KIWI_MR_REVOKED		= 3,	/* dead for good, as is the key */
};

/**
 * struct kiwi_snic_mr_query - MR_QUERY
 * @size: sizeof(struct kiwi_snic_mr_query)
 * @flags: 0
 * @mr: in: id
 * @key: out
 * @iova: out
 * @length: out: bytes
 * @pbl_entries: out: pages in the device's page list
 * @segments: out: runs of contiguous DMA addresses
 * @page_shift: out: page size of the page list, 2^n bytes
 * @state: out: enum kiwi_mr_state
 * @path: out: enum kiwi_path
 * @reason: out: enum kiwi_path_reason
 * @peer: out: PCI address of the function that holds the memory,
 *	domain << 16 | bus << 8 | devfn; 0 when system memory
 * @bridge: out: PCI address of the bridge that @reason is about, or 0
 * @rsvd: 0
 */
struct kiwi_snic_mr_query {
	__u32 size;
	__u32 flags;
	__u32 mr;
	__u32 key;
	__aligned_u64 iova;
	__aligned_u64 length;
	__u32 pbl_entries;
	__u32 segments;
	__u8 page_shift;
	__u8 state;
	__u8 path;
	__u8 reason;
	__u32 peer;
	__u32 bridge;
	__u32 rsvd;
};

#define KIWI_SNIC_DOORBELL_WC	0x1	/* map write-combined, not uncached */

/**
 * struct kiwi_snic_doorbell_alloc - DOORBELL_ALLOC: a page of one's own
 * @size: sizeof(struct kiwi_snic_doorbell_alloc)
 * @flags: KIWI_SNIC_DOORBELL_*
 * @doorbell: out: id
 * @map_size: out: bytes to map, shared and writable
 * @map_offset: out: for mmap of the same file
 * @reg_offset: out: of the doorbell register in the mapping
 * @rsvd: 0
 *
 * The mapping is not inherited by fork, and can be neither moved nor unmapped in part.
 * After destruction or removal it leads to a page of memory of the file's own: stores
 * do nothing. A mapping may be made more than once.
 */
struct kiwi_snic_doorbell_alloc {
	__u32 size;
	__u32 flags;
	__u32 doorbell;
	__u32 map_size;
	__aligned_u64 map_offset;
	__u32 reg_offset;
	__u32 rsvd;
};

/**
 * struct kiwi_snic_doorbell_export - DOORBELL_EXPORT: the page as a DMA-buf
 * @size: sizeof(struct kiwi_snic_doorbell_export)
 * @flags: O_CLOEXEC or 0
 * @doorbell: id
 * @fd: out: DMA-buf of the page, for importers that write: a GPU's driver
 * @length: out: bytes of the DMA-buf
 * @reg_offset: out: of the doorbell register in it
 * @rsvd: 0
 *
 * Each call gives a descriptor of the same DMA-buf. Only a dynamic importer that can do
 * peer-to-peer, and reaches the device as far as the kernel can tell, may attach; others get
 * EOPNOTSUPP. It is given the bus address of the page. The DMA-buf cannot be mapped by a CPU:
 * for that is mmap of the file.
 *
 * When the doorbell is destroyed, its file is closed, or the device is reset or goes,
 * importers are told to unmap (move_notify) before the device closes the page; to map or
 * pin it fails with ENODEV from then on. The device drops and counts what is written to it
 * all the same.
 */
struct kiwi_snic_doorbell_export {
	__u32 size;
	__u32 flags;
	__u32 doorbell;
	__s32 fd;
	__u32 length;
	__u32 reg_offset;
	__u32 rsvd[2];
};

/**
 * struct kiwi_snic_cq_create - CQ_CREATE
 * @size: sizeof(struct kiwi_snic_cq_create)
 * @flags: KIWI_CQ_*, which need KIWI_SNIC_CAP_GPU_QUEUES (EOPNOTSUPP)
 * @mem: 2^@log2 entries of 64 bytes, 64-byte aligned, zeroed by the caller; room for
 *	struct kiwi_cq_ci behind them, and more if the caller likes
 * @ci_offset: of struct kiwi_cq_ci in @mem, 8-byte aligned, not inside the entries;
 *	0 with KIWI_CQ_OVERRUN_IGNORE, which has none
 * @user_data: given back in events
 * @log2: entries 2^n, 1..cq_log2_max; 0 with KIWI_CQ_COLLAPSED
 * @doorbell: id
 * @event_fd: eventfd that counts completion events, or -1; it counts one more when the
 *	device is removed, reset or dead
 * @vector: completion vector, taken modulo the number the driver has
 * @cq: out: id
 * @cqn: out: number, for doorbells
 * @epoch: out: for doorbells
 * @rsvd: 0
 */
struct kiwi_snic_cq_create {
	__u32 size;
	__u32 flags;
	struct kiwi_mem mem;
	__aligned_u64 ci_offset;
	__aligned_u64 user_data;
	__u32 log2;
	__u32 doorbell;
	__s32 event_fd;
	__u32 vector;
	__u32 cq;
	__u32 cqn;
	__u32 epoch;
	__u32 rsvd;
};

/**
 * struct kiwi_snic_qp_create - QP_CREATE
 * @size: sizeof(struct kiwi_snic_qp_create)
 * @flags: KIWI_QP_*; all but KIWI_QP_SQ_SIG_ALL need KIWI_SNIC_CAP_GPU_QUEUES (EOPNOTSUPP)
 * @sq: 2^@sq_log2 units of 64 bytes, neither more nor less, 64-byte aligned
 * @rq: 2^@rq_log2 entries of 2^@rq_stride bytes, likewise, aligned to the stride;
 *	all zero with KIWI_QP_SQ_ONLY, as are @recv_cq, @rq_log2 and @rq_stride
 * @user_data: given back in events
 * @pd: id
 * @send_cq: id
 * @recv_cq: id; may be @send_cq
 * @doorbell: id
 * @type: KIWI_QP_RC
 * @sq_log2: 3..sq_log2_max
 * @rq_log2: 0..rq_log2_max
 * @rq_stride: KIWI_RQE_MIN_SHIFT..KIWI_RQE_MAX_SHIFT
 * @qp: out: id
 * @qpn: out: number, for doorbells and the peer
 * @epoch: out: for doorbells
 * @rsvd: 0
 * @db_record: with KIWI_QP_DB_RECORD: struct kiwi_qp_db_record, 8 bytes, 8-byte aligned;
 *	else all zero
 */
struct kiwi_snic_qp_create {
	__u32 size;
	__u32 flags;
	struct kiwi_mem sq;
	struct kiwi_mem rq;
	__aligned_u64 user_data;
	__u32 pd;
	__u32 send_cq;
	__u32 recv_cq;
	__u32 doorbell;
	__u8 type;
	__u8 sq_log2;
	__u8 rq_log2;
	__u8 rq_stride;
	__u32 qp;
	__u32 qpn;
	__u32 epoch;
	__u32 rsvd[2];
	struct kiwi_mem db_record;
};

/**
 * struct kiwi_snic_qp_modify - QP_MODIFY and QP_QUERY
 * @size: sizeof(struct kiwi_snic_qp_modify)
 * @flags: 0
 * @qp: in: id
 * @mask: MODIFY: KIWI_QP_ATTR_*, attributes not named are 0; QUERY: in 0, out KIWI_QP_ATTR_ALL
 * @dest_qpn: 24 bits
 * @sq_psn: 24 bits
 * @rq_psn: 24 bits
 * @access: KIWI_ACCESS_REMOTE_*
 * @flow_label: 20 bits
 * @udp_sport: 0 (the device chooses) or 0xc000..0xffff
 * @state: KIWI_QPS_*
 * @cur_state: KIWI_QPS_*
 * @mtu: KIWI_MTU_*
 * @port: 1..ports
 * @timeout: 4.096 us * 2^n, 0 for none, at most 31
 * @retry_cnt: 0..7
 * @rnr_retry: 0..7, 7 for no end
 * @min_rnr_timer: IBTA code 0..31
 * @max_rd_atomic: 0..max_rd_atomic of the device
 * @max_dest_rd_atomic: likewise
 * @hop_limit: 0 is taken as 64
 * @traffic_class: DSCP in the upper 6 bits; ECN is the device's to set
 * @sgid_index: below gids
 * @dmac: destination MAC
 * @rsvd: 0
 * @dgid: destination GID
 *
 * Which transitions and attributes are allowed: firmware-abi/spec/snic.md, S-20.
 */
struct kiwi_snic_qp_modify {
	__u32 size;
	__u32 flags;
	__u32 qp;
	__u32 mask;
	__u32 dest_qpn;
	__u32 sq_psn;
	__u32 rq_psn;
	__u32 access;
	__u32 flow_label;
	__u16 udp_sport;
	__u8 state;
	__u8 cur_state;
	__u8 mtu;
	__u8 port;
	__u8 timeout;
	__u8 retry_cnt;
	__u8 rnr_retry;
	__u8 min_rnr_timer;
	__u8 max_rd_atomic;
	__u8 max_dest_rd_atomic;
	__u8 hop_limit;
	__u8 traffic_class;
	__u8 sgid_index;
	__u8 dmac[6];
	__u8 rsvd[3];
	__u8 dgid[16];
};

/* Queues for code that shares no header with this driver: a GPU's ------- */

enum kiwi_queue_kind {
	KIWI_QUEUE_SQ		= 1,
	KIWI_QUEUE_RQ		= 2,
	KIWI_QUEUE_CQ		= 3,
};

enum kiwi_queue_owner {	/* how a reader knows that an entry is its own */
	KIWI_OWNER_INDEX	= 1,	/* SQ, RQ: by producer and consumer index */
	KIWI_OWNER_PHASE	= 2,	/* CQ: bit 0 of an entry's last byte is 1 on the first
					 * pass through the ring, 0 on the second, and so on
					 */
	KIWI_OWNER_COUNTER	= 3,	/* collapsed CQ: the 16 bits at progress_offset move on */
};

enum kiwi_queue_fence {	/* what a producer does between entries and doorbell */
	KIWI_FENCE_SYSTEM	= 1,	/* a release fence that PCI devices observe; with a record,
					 * then the record, and the fence once more
					 */
};

/**
 * struct kiwi_snic_queue_query - QUEUE_QUERY: all that is needed to work a ring
 * @size: sizeof(struct kiwi_snic_queue_query)
 * @flags: 0
 * @id: in: of a QP or CQ
 * @kind: in: enum kiwi_queue_kind; with a QP, SQ or RQ (EINVAL when it has none)
 * @ring: out: the memory that holds the ring, as it was handed over, from its first entry; of
 *	a DMA-buf @fd is -1
 * @record: out: likewise of the doorbell record (SQ, RQ) or consumer record (CQ); type 0
 *	when there is none
 * @entry_size: out: bytes of an entry
 * @stride: out: bytes from one entry to the next
 * @count: out: entries, a power of two
 * @index_bits: out: indices run modulo 2^n; the entry is the index modulo @count
 * @owner: out: enum kiwi_queue_owner
 * @fence: out: enum kiwi_queue_fence
 * @progress_offset: out: CQ: byte offset in an entry of the 16-bit index behind the entries of
 *	the SQ or RQ that are free again
 * @status_offset: out: CQ: byte offset in an entry of the 8-bit status, 0 is good
 * @record_offset: out: byte offset in @record of the 32-bit index of this ring
 * @doorbell: out: id of the doorbell page
 * @db_offset: out: byte offset of the register in that page and in its DMA-buf
 * @db_width: out: bytes of the one store
 * @db_index_shift: out: where the index stands in the value
 * @db_index_bits: out: its width
 * @db_value: out: SQ, RQ: the rest of the value: value = @db_value | index << @db_index_shift
 * @arm_value: out: CQ: likewise of the value that asks for an event
 * @number: out: QP or CQ number
 * @max_inline: out: SQ: bytes of inline data in a work request
 * @max_sge: out: SQ, RQ: scatter entries of a work request
 * @max_outstanding: out: SQ, RQ: entries that may be handed over and not completed
 * @error_offset: out: byte offset of the queue's word in the error page, 0 when it has none
 * @rsvd: 0
 *
 * All in memory and in the value is little-endian. What the entries hold is in
 * kiwi_abi/queues.h.
 */
struct kiwi_snic_queue_query {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 kind;
	struct kiwi_mem ring;
	struct kiwi_mem record;
	__u32 entry_size;
	__u32 stride;
	__u32 count;
	__u32 index_bits;
	__u32 owner;
	__u32 fence;
	__u32 progress_offset;
	__u32 status_offset;
	__u32 record_offset;
	__u32 doorbell;
	__u32 db_offset;
	__u32 db_width;
	__u32 db_index_shift;
	__u32 db_index_bits;
	__aligned_u64 db_value;
	__aligned_u64 arm_value;
	__u32 number;
	__u32 max_inline;
	__u32 max_sge;
	__u32 max_outstanding;
	__u32 error_offset;
	__u32 rsvd;
};

/* Errors, for code that can make no system call --------------------------- */

#define KIWI_ERROR_PAGE_BYTES	4096
#define KIWI_ERROR_WORDS	1008	/* queues that can have a word */
#define KIWI_ERROR_GONE		0xffffffffU	/* device removed or reset, or file closed */

/**
 * struct kiwi_error_page - words that the driver writes and a GPU polls; 0 is good
 * @device: not 0: nothing of this file works any more: KIWI_ERROR_GONE, or
 *	KIWI_EVENT_DEVICE_FATAL; the first stays
 * @port_down: bit n - 1: port n is not active
 * @events: counts changes of the other words to the worse or of a port; moves on after them
 * @lost: counts times that events of the device were lost: QPs and ports are looked at then, and
 *	the words of those in error come with code 0
 * @rsvd: 0
 * @queue: not 0: the queue is in error: type << 16 | code of the event
 *
 * Words are in the byte order of the CPU, each written with one store. That of a queue stays
 * until the queue is destroyed, and is 0 then. They tell what no completion does: an error
 * that a completion reports is in no word, unless events were lost.
 *
 * How soon: when a device is removed or reset in order, or the file is closed, before its
 * queues and doorbells end. Otherwise as soon as the device tells, and even if that is lost within
 * a second, or a heartbeat of the device where that takes longer; a device that
 * hangs is found out within four times as long.
 */
struct kiwi_error_page {
	__u32 device;
	__u32 port_down;
	__u32 events;
	__u32 lost;
	__u32 rsvd[12];
	__u32 queue[KIWI_ERROR_WORDS];
};

/**
 * struct kiwi_snic_error_page - ERROR_PAGE: where the driver publishes errors
 * @size: sizeof(struct kiwi_snic_error_page)
 * @flags: 0
 * @mem: KIWI_ERROR_PAGE_BYTES on a boundary of as many; a DMA-buf must be one that the CPU can
 *	map (vmap), EOPNOTSUPP otherwise
 *
 * Once in the life of a file (EBUSY). The page is zeroed, then holds the state of the ports.
 * Queues made from then on have a word, and are refused when there is none left (ENOSPC);
 * QUEUE_QUERY tells where. The memory is pinned where it is until the file is closed or
 * the device goes; both are written to it before queues and doorbells end. If its
 * exporter takes it away all the same, nothing is written any more.
 */
struct kiwi_snic_error_page {
	__u32 size;
	__u32 flags;
	struct kiwi_mem mem;
};

/* Events of queues, beside those of kiwi/common.h --------------------------- */

enum kiwi_queues_event {
	KIWI_EVENT_CQ_ERROR	= 1,	/* code: enum kiwi_cq_error */
	KIWI_EVENT_QP_ERROR	= 2,	/* code: enum kiwi_cqe_status; OK: events were lost, and
					 * the QP was found in error since, whatever the cause
					 */
	KIWI_EVENT_QP_ACCESS	= 3,	/* code: enum kiwi_cqe_status */
	KIWI_EVENT_QP_ESTABLISHED = 4,
	KIWI_EVENT_QP_DRAINED	= 5,
	KIWI_EVENT_MR_REVOKED	= 7,	/* the exporter took the memory away */
};

#endif /* _UAPI_KIWI_QUEUES_H */
