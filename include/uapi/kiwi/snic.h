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
 * - The structures of ioctls 0x10 to 0x1a are in kiwi/queues.h.
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

#include "queues.h"

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
	KIWI_SNIC_EVENT_CQ_ERROR	= KIWI_EVENT_CQ_ERROR,
	KIWI_SNIC_EVENT_QP_ERROR	= KIWI_EVENT_QP_ERROR,
	KIWI_SNIC_EVENT_QP_ACCESS	= KIWI_EVENT_QP_ACCESS,
	KIWI_SNIC_EVENT_QP_ESTABLISHED	= KIWI_EVENT_QP_ESTABLISHED,
	KIWI_SNIC_EVENT_QP_DRAINED	= KIWI_EVENT_QP_DRAINED,
	KIWI_SNIC_EVENT_PORT_CHANGE	= 6,	/* id: port; code: enum kiwi_port_state */
	KIWI_SNIC_EVENT_MR_REVOKED	= KIWI_EVENT_MR_REVOKED,
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
