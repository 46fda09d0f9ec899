/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi SNIC: the ioctl interface of /dev/kiwi/snicN.
 *
 * Rules of every ioctl:
 * - The argument starts with @size, the size of the structure the caller was built with, and
 *   @flags. A longer structure than the kernel knows is accepted when the excess
 *   is zero (E2BIG otherwise); a shorter one is extended with zero, down to the size
 *   of version 1 (EINVAL below). Beyond 4096 bytes it is refused (E2BIG). Unknown flags
 *   and non-zero reserved fields: EINVAL. Fields marked out may hold anything.
 * - Objects are named by ids that belong to the open file. Closing the last
 *   reference to the file destroys all of them.
 * - On failure KIWI_SNIC_LAST_ERROR says which object, value and limit. It works on a file
 *   whose device is gone, too, and its own failures are not remembered.
 * - Enumerations and bits (KIWI_ACCESS_*, KIWI_QPS_*, KIWI_QP_ATTR_*, KIWI_MTU_*,
 *   KIWI_PORT_*, KIWI_GID_*) are those of kiwi_abi/snic.h; ring formats and doorbell
 *   values are in kiwi_abi/queues.h.
 *
 * errno, the same for every ioctl:
 *   EINVAL		a field is out of range, a reserved one is not zero, or the state of what is
 *			named does not allow it
 *   E2BIG		the structure is longer than known and the excess is not zero
 *   EFAULT		the argument, or user memory handed over, cannot be accessed; or the device
 *			could not read what the driver gave it
 *   ENOTTY		no such ioctl
 *   ENOENT		an id names no object of the kind wanted
 *   EBUSY		other objects still use the object; or the file has an error page already
 *   ENOSPC		a limit of the device is reached
 *   ENOMEM		kernel memory, or RLIMIT_MEMLOCK, does not suffice
 *   EPERM		the operation needs CAP_NET_ADMIN
 *   EBADF		a file descriptor handed over is not open, or not of the kind wanted
 *   EMFILE, ENFILE	no file descriptor or open file is left
 *   EOPNOTSUPP		this device, kernel or DMA-buf exporter cannot do it
 *   EREMOTEIO		the DMA-buf exporter failed to map the buffer, or took back what the
 *			object lives in; or the firmware failed inside
 *   EPROTO		the firmware gave a reply that the ABI does not allow
 *   ETIMEDOUT		the firmware did not answer in its own time limit
 *   EIO		the device is in a fatal state; it needs a reset
 *   ENODEV		the device was removed or reset since the file was opened
 *   EINTR		a signal arrived before anything was done
 */
#ifndef _UAPI_KIWI_SNIC_H
#define _UAPI_KIWI_SNIC_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define KIWI_SNIC_IOC_TYPE	0xE6

#define KIWI_SNIC_QUERY_DEVICE	_IO(KIWI_SNIC_IOC_TYPE, 0x00)
#define KIWI_SNIC_QUERY_PORT	_IO(KIWI_SNIC_IOC_TYPE, 0x01)
#define KIWI_SNIC_SET_PORT	_IO(KIWI_SNIC_IOC_TYPE, 0x02)
#define KIWI_SNIC_QUERY_GID	_IO(KIWI_SNIC_IOC_TYPE, 0x03)
#define KIWI_SNIC_SET_GID	_IO(KIWI_SNIC_IOC_TYPE, 0x04)
#define KIWI_SNIC_LAST_ERROR	_IO(KIWI_SNIC_IOC_TYPE, 0x05)
#define KIWI_SNIC_DESTROY	_IO(KIWI_SNIC_IOC_TYPE, 0x06)
#define KIWI_SNIC_PD_ALLOC	_IO(KIWI_SNIC_IOC_TYPE, 0x10)
#define KIWI_SNIC_MR_REG	_IO(KIWI_SNIC_IOC_TYPE, 0x11)
#define KIWI_SNIC_MR_QUERY	_IO(KIWI_SNIC_IOC_TYPE, 0x12)
#define KIWI_SNIC_DOORBELL_ALLOC _IO(KIWI_SNIC_IOC_TYPE, 0x13)
#define KIWI_SNIC_CQ_CREATE	_IO(KIWI_SNIC_IOC_TYPE, 0x14)
#define KIWI_SNIC_QP_CREATE	_IO(KIWI_SNIC_IOC_TYPE, 0x15)
#define KIWI_SNIC_QP_MODIFY	_IO(KIWI_SNIC_IOC_TYPE, 0x16)
#define KIWI_SNIC_QP_QUERY	_IO(KIWI_SNIC_IOC_TYPE, 0x17)
#define KIWI_SNIC_DOORBELL_EXPORT _IO(KIWI_SNIC_IOC_TYPE, 0x18)
#define KIWI_SNIC_QUEUE_QUERY	_IO(KIWI_SNIC_IOC_TYPE, 0x19)
#define KIWI_SNIC_ERROR_PAGE	_IO(KIWI_SNIC_IOC_TYPE, 0x1a)
#define KIWI_SNIC_PREFLIGHT	_IO(KIWI_SNIC_IOC_TYPE, 0x1b)

/**
 * struct kiwi_snic_query_device - KIWI_SNIC_QUERY_DEVICE
 * @size: sizeof(struct kiwi_snic_query_device)
 * @flags: 0
 * @serial: out: serial number of the part
 * @fw_version: out: major << 48 | minor << 32 | patch
 * @abi: out: firmware ABI, major << 16 | minor
 * @generation: out: firmware starts counted by the device
 * @max_mr_size: out: bytes of one region
 * @max_mr_pages: out: page-list entries of one region
 * @max_pd: out: objects of the device, shared by all files; likewise the next three
 * @max_mr: out
 * @max_cq: out
 * @max_qp: out
 * @max_msg_size: out: bytes of one message
 * @max_inline: out: bytes of inline data in a work request
 * @link_mbps: out: sum over the ports, as the device reports it
 * @max_doorbells: out: doorbell pages of the device
 * @doorbell_size: out: bytes of a doorbell mapping
 * @max_sge: out: scatter entries of a work request
 * @max_rd_atomic: out: READs and atomics in flight, each direction
 * @ports: out: numbered from 1
 * @gids: out: GID table entries of each port
 * @sq_log2_max: out: send queue units of 64 bytes, 2^n
 * @rq_log2_max: out: receive queue entries, 2^n
 * @cq_log2_max: out: completion queue entries, 2^n
 * @page_shift_max: out: largest page of a page list, 2^n bytes
 * @caps: out: capabilities in force, KIWI_CAP_* and KIWI_SNIC_CAP_* of kiwi_abi/regs.h:
 *	the device announced them and the driver knows them
 */
struct kiwi_snic_query_device {
	__u32 size;
	__u32 flags;
	__aligned_u64 serial;
	__aligned_u64 fw_version;
	__u32 abi;
	__u32 generation;
	__aligned_u64 max_mr_size;
	__u32 max_mr_pages;
	__u32 max_pd;
	__u32 max_mr;
	__u32 max_cq;
	__u32 max_qp;
	__u32 max_msg_size;
	__u32 max_inline;
	__u32 link_mbps;
	__u32 max_doorbells;
	__u32 doorbell_size;
	__u8 max_sge;
	__u8 max_rd_atomic;
	__u8 ports;
	__u8 gids;
	__u8 sq_log2_max;
	__u8 rq_log2_max;
	__u8 cq_log2_max;
	__u8 page_shift_max;
	__aligned_u64 caps;
};

/**
 * struct kiwi_snic_query_port - KIWI_SNIC_QUERY_PORT
 * @size: sizeof(struct kiwi_snic_query_port)
 * @flags: 0
 * @port: in: 1..ports
 * @mbps: out: speed, 0 when down
 * @state: out: KIWI_PORT_*
 * @enabled: out: 0 or 1
 * @mtu: out: KIWI_MTU_* in force
 * @mtu_max: out: KIWI_MTU_*
 * @mac: out: MAC address of the port
 * @rsvd: 0
 */
struct kiwi_snic_query_port {
	__u32 size;
	__u32 flags;
	__u32 port;
	__u32 mbps;
	__u8 state;
	__u8 enabled;
	__u8 mtu;
	__u8 mtu_max;
	__u8 mac[6];
	__u8 rsvd[6];
};

/**
 * struct kiwi_snic_set_port - KIWI_SNIC_SET_PORT, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_snic_set_port)
 * @flags: 0
 * @port: 1..ports
 * @enabled: 0 or 1
 * @mtu: KIWI_MTU_*, at most mtu_max
 * @rsvd: 0
 */
struct kiwi_snic_set_port {
	__u32 size;
	__u32 flags;
	__u32 port;
	__u8 enabled;
	__u8 mtu;
	__u8 rsvd[2];
};

/**
 * struct kiwi_snic_gid - KIWI_SNIC_QUERY_GID; KIWI_SNIC_SET_GID, which needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_snic_gid)
 * @flags: 0
 * @port: in: 1..ports
 * @index: in: below gids
 * @type: SET in, QUERY out: KIWI_GID_*
 * @rsvd: 0
 * @gid: SET in, QUERY out: unicast IPv6, or IPv4 as ::ffff:a.b.c.d, in network byte order;
 *	zero with KIWI_GID_NONE
 *
 * When the driver binds, and after each reset, entry 0 of each port is fe80:: with the EUI-64
 * of the port's MAC, and the others are empty. SET of an entry already in another index: EINVAL.
 */
struct kiwi_snic_gid {
	__u32 size;
	__u32 flags;
	__u32 port;
	__u8 index;
	__u8 type;
	__u8 rsvd[2];
	__u8 gid[16];
};

/**
 * struct kiwi_snic_last_error - KIWI_SNIC_LAST_ERROR: the latest failed ioctl of this file
 * @size: sizeof(struct kiwi_snic_last_error)
 * @flags: 0
 * @nr: out: number of the ioctl (_IOC_NR), 0 with @error 0 when none failed yet
 * @error: out: its errno, positive
 * @value: out: the value refused, 0 if none applies
 * @limit: out: the limit it broke, 0 if none applies
 * @text: out: one line in English that names them, NUL-terminated
 */
struct kiwi_snic_last_error {
	__u32 size;
	__u32 flags;
	__u32 nr;
	__u32 error;
	__aligned_u64 value;
	__aligned_u64 limit;
	char text[128];
};

/**
 * struct kiwi_snic_destroy - KIWI_SNIC_DESTROY: any object, by id
 * @size: sizeof(struct kiwi_snic_destroy)
 * @flags: 0
 * @id: of the object
 * @rsvd: 0
 *
 * EBUSY while another object uses it: PD by MR and QP, CQ by QP, doorbell by CQ and QP.
 * If the device refuses to destroy it, the object is of no use any more, but the id
 * stays, for another try.
 */
struct kiwi_snic_destroy {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 rsvd;
};

/**
 * struct kiwi_snic_pd_alloc - KIWI_SNIC_PD_ALLOC
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
 * struct kiwi_snic_mr_reg - KIWI_SNIC_MR_REG
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
 * a peer; @key stays, and is not given to another region before this one is destroyed.
 * If it cannot be mapped again within 5 seconds, or its exporter takes it back, the region is
 * revoked (KIWI_SNIC_EVENT_MR_REVOKED).
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
	KIWI_MR_REVOKED		= 3,	/* dead for good; the key stays reserved */
};

/**
 * struct kiwi_snic_mr_query - KIWI_SNIC_MR_QUERY
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
 * struct kiwi_snic_doorbell_alloc - KIWI_SNIC_DOORBELL_ALLOC: a page of one's own
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
 * struct kiwi_snic_doorbell_export - KIWI_SNIC_DOORBELL_EXPORT: the page as a DMA-buf
 * @size: sizeof(struct kiwi_snic_doorbell_export)
 * @flags: O_CLOEXEC or 0
 * @doorbell: id
 * @fd: out: DMA-buf of the page, for importers that write: a GPU's driver
 * @length: out: bytes of the DMA-buf
 * @reg_offset: out: of the doorbell register in it
 * @rsvd: 0
 *
 * Each call gives a descriptor of the same DMA-buf. Only a dynamic importer that can do
 * peer-to-peer, and reaches the SNIC as far as the kernel can tell, may attach; others get
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
 * struct kiwi_snic_cq_create - KIWI_SNIC_CQ_CREATE
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
 * struct kiwi_snic_qp_create - KIWI_SNIC_QP_CREATE
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
 * struct kiwi_snic_qp_modify - KIWI_SNIC_QP_MODIFY and KIWI_SNIC_QP_QUERY
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
 * struct kiwi_snic_queue_query - KIWI_SNIC_QUEUE_QUERY: all that is needed to work a ring
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
 *	KIWI_SNIC_EVENT_DEVICE_FATAL; the first stays
 * @port_down: bit n - 1: port n is not active
 * @events: counts changes of the other words to the worse or of a port; moves on after them
 * @lost: counts times that events of the device were lost: words may be missing since
 * @rsvd: 0
 * @queue: not 0: the queue is in error: enum kiwi_snic_event_type << 16 | code of the event
 *
 * Words are in the byte order of the CPU, each written with one store. That of a queue stays
 * until the queue is destroyed, and is 0 then. They tell what no completion does: an error
 * that a completion reports is in no word.
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
 * struct kiwi_snic_error_page - KIWI_SNIC_ERROR_PAGE: where the driver publishes errors
 * @size: sizeof(struct kiwi_snic_error_page)
 * @flags: 0
 * @mem: KIWI_ERROR_PAGE_BYTES on a boundary of as many; a DMA-buf must be one that the CPU can
 *	map (vmap), EOPNOTSUPP otherwise
 *
 * Once in the life of a file (EBUSY). The page is zeroed, then holds the state of the ports.
 * Queues made from then on have a word, and are refused when there is none left (ENOSPC);
 * KIWI_SNIC_QUEUE_QUERY tells where. The memory is pinned where it is until the file is closed or
 * the device goes; both are written to it before queues and doorbells end. If its
 * exporter takes it away all the same, nothing is written any more.
 */
struct kiwi_snic_error_page {
	__u32 size;
	__u32 flags;
	struct kiwi_mem mem;
};

/* Preflight -------------------------------------------------------------- */

enum kiwi_check_state {
	KIWI_CHECK_OK		= 1,
	KIWI_CHECK_WARN		= 2,	/* works, slower or with less */
	KIWI_CHECK_FAIL		= 3,	/* GPU-initiated communication will not work */
	KIWI_CHECK_SKIP		= 4,	/* cannot be told, or does not apply */
};

enum kiwi_check_id {
	KIWI_CHECK_FIRMWARE	= 1,	/* firmware offers queues for GPU code */
	KIWI_CHECK_MR_HOLD	= 2,	/* firmware can hold regions */
	KIWI_CHECK_P2PDMA	= 3,	/* CONFIG_PCI_P2PDMA */
	KIWI_CHECK_MOVE_NOTIFY	= 4,	/* CONFIG_DMABUF_MOVE_NOTIFY */
	KIWI_CHECK_IOMMU	= 5,	/* mode of the IOMMU for the SNIC */
	KIWI_CHECK_ACS		= 6,	/* ACS redirect on the path; @address: the bridge */
	KIWI_CHECK_DISTANCE	= 7,	/* common switch of SNIC and exporter */
	KIWI_CHECK_EXPORTER	= 8,	/* the DMA-buf stays in device memory for a peer */
	KIWI_CHECK_VECTORS	= 9,	/* MSI-X vectors for completions: value of limit */
	KIWI_CHECK_DOORBELLS	= 10,	/* doorbell pages left */
	KIWI_CHECK_MEMLOCK	= 11,	/* RLIMIT_MEMLOCK of the caller */
	KIWI_CHECK_BAR		= 12,	/* doorbell BAR large enough, and prefetchable */
	KIWI_CHECK_LINK		= 13,	/* PCIe link at full width and speed */
	KIWI_CHECK_PORT		= 14,	/* a port is active, with a GID */
	KIWI_CHECK_BUS_MASTER	= 15,	/* bus mastering and memory space are on */
};

/**
 * struct kiwi_check - one prerequisite
 * @id: enum kiwi_check_id
 * @state: enum kiwi_check_state
 * @value: what was found, 0 if none applies
 * @limit: what is needed, 0 if none applies
 * @address: PCI address that it is about, domain << 16 | bus << 8 | devfn, or 0
 * @rsvd: 0
 * @reason: what was found, in English
 * @fix: what to do about it; empty when @state is OK
 */
struct kiwi_check {
	__u32 id;
	__u32 state;
	__aligned_u64 value;
	__aligned_u64 limit;
	__u32 address;
	__u32 rsvd;
	char reason[96];
	char fix[128];
};

/**
 * struct kiwi_snic_preflight - KIWI_SNIC_PREFLIGHT: is all there for GPU-initiated work?
 * @size: sizeof(struct kiwi_snic_preflight)
 * @flags: 0
 * @fd: DMA-buf of the GPU whose path is to be judged, or -1: those checks are SKIP
 * @count: in: room at @checks; out: how many there are, also when the room is too small
 * @checks: address of an array of struct kiwi_check
 *
 * Every prerequisite is listed, good or bad. Nothing is changed, and no right is needed.
 */
struct kiwi_snic_preflight {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 count;
	__aligned_u64 checks;
};

/* Events ----------------------------------------------------------------- */

enum kiwi_snic_event_type {
	KIWI_SNIC_EVENT_CQ_ERROR	= 1,	/* code: enum kiwi_cq_error */
	KIWI_SNIC_EVENT_QP_ERROR	= 2,	/* code: enum kiwi_cqe_status */
	KIWI_SNIC_EVENT_QP_ACCESS	= 3,	/* code: enum kiwi_cqe_status */
	KIWI_SNIC_EVENT_QP_ESTABLISHED	= 4,
	KIWI_SNIC_EVENT_QP_DRAINED	= 5,
	KIWI_SNIC_EVENT_PORT_CHANGE	= 6,	/* id: port; code: enum kiwi_port_state */
	KIWI_SNIC_EVENT_MR_REVOKED	= 7,	/* the exporter took the memory away */
	KIWI_SNIC_EVENT_DEVICE_FATAL	= 8,	/* code: enum kiwi_reset_reason */
	KIWI_SNIC_EVENT_LOST		= 9,	/* code: how many, 0 unknown */
};

/**
 * struct kiwi_snic_event - read(2) gives whole events, as many as fit; poll(2) tells when
 * @type: enum kiwi_snic_event_type
 * @id: of the object, or port number
 * @user_data: of the object
 * @code: by type
 * @rsvd: 0
 *
 * A file holds at most 256 unread events; more are counted in EVENT_LOST. Those of an object
 * that is destroyed stay, while its id may become another's: @user_data tells them apart.
 * read: EAGAIN with O_NONBLOCK when none; EINVAL when the buffer is smaller than
 * one event; EINTR when a signal came first; EFAULT when it cannot be written, and up to 8
 * events are lost then; EIO or
 * ENODEV, as ioctls, once all are read. poll: POLLHUP and POLLERR as soon as the device
 * is of no more use to the file.
 */
struct kiwi_snic_event {
	__u32 type;
	__u32 id;
	__aligned_u64 user_data;
	__u32 code;
	__u32 rsvd;
};

#endif /* _UAPI_KIWI_SNIC_H */
