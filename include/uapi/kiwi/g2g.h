/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi G2G IO die: the ioctl interface of /dev/kiwi/g2gN.
 *
 * Rules of every ioctl, KIWI_G2G_LAST_ERROR, KIWI_G2G_DESTROY and how events are read: see
 * kiwi/common.h. Enumerations and bits of ports, peers, images, exports and windows are those of
 * kiwi_abi/g2g.h and kiwi_abi/g2g_image.h; rights are KIWI_ACCESS_REMOTE_* of kiwi_abi/snic.h.
 * An import is a window of the ABI.
 *
 * Queue pairs: those of the SNIC, but that port is 1, sgid_index, dmac, flow_label and udp_sport
 * are 0, and dgid names an accelerator: its last two bytes, from KIWI_G2G_DGID_ACCEL on, are its
 * id, big-endian, the others 0. A QP is of one session: when that ends, the QP is in error, which
 * is told after KIWI_G2G_EVENT_PEER. In an error page, port 1 is down unless the fabric is ACTIVE.
 *
 * errno, the same for every ioctl:
 *   EINVAL		a field is out of range, a reserved one is not zero, or the state of what is
 *			named does not allow it; routes: not proved, LAST_ERROR has the path
 *   E2BIG		the structure is longer than known and the excess is not zero
 *   EFAULT		the argument, or memory that it points to, cannot be accessed; or the device
 *			could not read what the driver gave it
 *   ENOTTY		no such ioctl
 *   ENOENT		an id names no object of the kind wanted; or no image file has the name
 *   EBUSY		objects live that forbid it: where fabric, port or image was to change,
 *			LAST_ERROR names who has any (as does sysfs "holders"); others still use the
 *			object; an export whose importers have not yet acknowledged; or the file
 *			has an error page already
 *   ESTALE		routes were committed by somebody else since the generation given
 *   ENOSPC		a limit of the device is reached, or the aperture has no room
 *   ENOMEM		kernel memory does not suffice
 *   EPERM		the operation needs CAP_NET_ADMIN
 *   EBADF		a file descriptor handed over is not open, or no DMA-buf
 *   EMFILE, ENFILE	no file descriptor or open file is left
 *   EOPNOTSUPP		this device, personality, kernel or DMA-buf exporter cannot do it
 *   EREMOTEIO		the DMA-buf exporter failed to map the buffer, or took it back; the import
 *			is dead; or the firmware failed inside
 *   EPROTO		the firmware gave a reply that the ABI does not allow
 *   ETIME		the fabric did not drain in the time that the device allows
 *   ETIMEDOUT		the firmware did not answer in its own time limit
 *   EIO		the device is in a fatal state; it needs a reset
 *   ENODEV		the device was removed or reset since the file was opened
 *   EINTR		a signal arrived before anything was done
 */
#ifndef _UAPI_KIWI_G2G_H
#define _UAPI_KIWI_G2G_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "common.h"
#include "queues.h"

#define KIWI_G2G_IOC_TYPE	0xE7

#define KIWI_G2G_QUERY_DEVICE	_IO(KIWI_G2G_IOC_TYPE, 0x00)
#define KIWI_G2G_FABRIC_SET	_IO(KIWI_G2G_IOC_TYPE, 0x01)
#define KIWI_G2G_FABRIC_CHANGE	_IO(KIWI_G2G_IOC_TYPE, 0x02)
#define KIWI_G2G_FABRIC_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x03)
#define KIWI_G2G_LAST_ERROR	_IO(KIWI_G2G_IOC_TYPE, 0x05)	/* struct kiwi_last_error */
#define KIWI_G2G_DESTROY	_IO(KIWI_G2G_IOC_TYPE, 0x06)	/* struct kiwi_destroy */
#define KIWI_G2G_READ_LOG	_IO(KIWI_G2G_IOC_TYPE, 0x07)
#define KIWI_G2G_PORT_SET	_IO(KIWI_G2G_IOC_TYPE, 0x08)
#define KIWI_G2G_PORT_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x09)
#define KIWI_G2G_PEER_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x0a)
#define KIWI_G2G_PEER_CHANGE	_IO(KIWI_G2G_IOC_TYPE, 0x0b)
#define KIWI_G2G_ROUTES_STAGE	_IO(KIWI_G2G_IOC_TYPE, 0x10)
#define KIWI_G2G_ROUTES_COMMIT	_IO(KIWI_G2G_IOC_TYPE, 0x11)
#define KIWI_G2G_ROUTES_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x12)
#define KIWI_G2G_IMAGE_LOAD	_IO(KIWI_G2G_IOC_TYPE, 0x18)
#define KIWI_G2G_IMAGE_WRITE	_IO(KIWI_G2G_IOC_TYPE, 0x19)
#define KIWI_G2G_IMAGE_CHANGE	_IO(KIWI_G2G_IOC_TYPE, 0x1a)
#define KIWI_G2G_IMAGE_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x1b)
#define KIWI_G2G_EXPORT_CREATE	_IO(KIWI_G2G_IOC_TYPE, 0x20)
#define KIWI_G2G_EXPORT_REVOKE	_IO(KIWI_G2G_IOC_TYPE, 0x21)
#define KIWI_G2G_EXPORT_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x22)
#define KIWI_G2G_IMPORT_BIND	_IO(KIWI_G2G_IOC_TYPE, 0x28)
#define KIWI_G2G_IMPORT_MAP	_IO(KIWI_G2G_IOC_TYPE, 0x29)
#define KIWI_G2G_IMPORT_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x2a)
#define KIWI_G2G_IMPORT_DMABUF	_IO(KIWI_G2G_IOC_TYPE, 0x2b)

/* Queues: structures of kiwi/queues.h. EOPNOTSUPP without KIWI_G2G_CAP_MSGQ. */
#define KIWI_G2G_PD_ALLOC	_IO(KIWI_G2G_IOC_TYPE, 0x30)
#define KIWI_G2G_MR_REG		_IO(KIWI_G2G_IOC_TYPE, 0x31)
#define KIWI_G2G_MR_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x32)
#define KIWI_G2G_DOORBELL_ALLOC	_IO(KIWI_G2G_IOC_TYPE, 0x33)
#define KIWI_G2G_CQ_CREATE	_IO(KIWI_G2G_IOC_TYPE, 0x34)
#define KIWI_G2G_QP_CREATE	_IO(KIWI_G2G_IOC_TYPE, 0x35)
#define KIWI_G2G_QP_MODIFY	_IO(KIWI_G2G_IOC_TYPE, 0x36)
#define KIWI_G2G_QP_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x37)
#define KIWI_G2G_DOORBELL_EXPORT	_IO(KIWI_G2G_IOC_TYPE, 0x38)
#define KIWI_G2G_QUEUE_QUERY	_IO(KIWI_G2G_IOC_TYPE, 0x39)
#define KIWI_G2G_ERROR_PAGE	_IO(KIWI_G2G_IOC_TYPE, 0x3a)

/**
 * struct kiwi_g2g_query_device - KIWI_G2G_QUERY_DEVICE
 * @size: sizeof(struct kiwi_g2g_query_device)
 * @flags: 0
 * @serial: out: serial number of the part
 * @fw_version: out: major << 48 | minor << 32 | patch
 * @caps: out: capabilities in force, KIWI_CAP_* and KIWI_G2G_CAP_* of kiwi_abi/regs.h
 * @abi: out: firmware ABI, major << 16 | minor
 * @generation: out: firmware starts counted by the device
 * @aperture_size: out: bytes that the imports of all files can have mapped
 * @max_export_size: out: bytes of one export
 * @max_export_pages: out: page-list entries of one export
 * @max_export: out: objects of the device, shared by all files; likewise the next two
 * @max_import: out
 * @max_binding: out: bindings of all peers to all exports
 * @image_max: out: bytes of an image
 * @lane_mbps: out: of one lane, as the device reports it
 * @load_us: out: bound on a load or atomic: after it, all-ones
 * @bind_ms: out: bound on an import's being KIWI_G2G_WINDOW_BINDING
 * @revoke_ms: out: bound from EXPORT_REVOKE to its event
 * @pause_ms: out: bound on a pause
 * @peer_ms: out: silence after which a peer is lost
 * @link_ms: out: bound on training of a link once both ends are there
 * @accels: out: accelerator ids are below this
 * @mail: out: peer messages that are kept from each peer
 * @stations: out
 * @ports: out: numbered from 0
 * @lanes: out: of each station
 * @layers: out: virtual channel layers of a link
 * @granule_shift: out: imports are mapped in whole granules of 2^n bytes
 * @slots: out: for images
 * @fec: out: mask of KIWI_G2G_FEC_*, 1 << value
 * @flow: out: mask of KIWI_G2G_FLOW_*, 1 << value
 * @atomics: out: mask of KIWI_G2G_FETCH_ADD.., 1 << value
 * @rsvd: 0
 * @max_mr_size: out: bytes of one region; this and what follows is 0 without KIWI_G2G_CAP_MSGQ
 * @max_mr_pages: out: page-list entries of one region
 * @max_pd: out: objects of the device, shared by all files; likewise the next three
 * @max_mr: out
 * @max_cq: out
 * @max_qp: out
 * @max_msg_size: out: bytes of one message
 * @max_inline: out: bytes of inline data in a work request
 * @max_doorbells: out: doorbell pages of the device
 * @doorbell_size: out: bytes of a doorbell mapping
 * @max_sge: out: scatter entries of a work request
 * @max_rd_atomic: out: READs and atomics in flight, each direction
 * @sq_log2_max: out: send queue units of 64 bytes, 2^n
 * @rq_log2_max: out: receive queue entries, 2^n
 * @cq_log2_max: out: completion queue entries, 2^n
 * @page_shift_max: out: largest page of a page list, 2^n bytes
 * @rsvd1: 0
 */
struct kiwi_g2g_query_device {
	__u32 size;
	__u32 flags;
	__aligned_u64 serial;
	__aligned_u64 fw_version;
	__aligned_u64 caps;
	__u32 abi;
	__u32 generation;
	__aligned_u64 aperture_size;
	__aligned_u64 max_export_size;
	__u32 max_export_pages;
	__u32 max_export;
	__u32 max_import;
	__u32 max_binding;
	__u32 image_max;
	__u32 lane_mbps;
	__u32 load_us;
	__u32 bind_ms;
	__u32 revoke_ms;
	__u32 pause_ms;
	__u32 peer_ms;
	__u32 link_ms;
	__u16 accels;
	__u8 mail;
	__u8 stations;
	__u8 ports;
	__u8 lanes;
	__u8 layers;
	__u8 granule_shift;
	__u8 slots;
	__u8 fec;
	__u8 flow;
	__u8 atomics;
	__u32 rsvd;
	__aligned_u64 max_mr_size;
	__u32 max_mr_pages;
	__u32 max_pd;
	__u32 max_mr;
	__u32 max_cq;
	__u32 max_qp;
	__u32 max_msg_size;
	__u32 max_inline;
	__u32 max_doorbells;
	__u32 doorbell_size;
	__u8 max_sge;
	__u8 max_rd_atomic;
	__u8 sq_log2_max;
	__u8 rq_log2_max;
	__u8 cq_log2_max;
	__u8 page_shift_max;
	__u8 rsvd1[6];
};

/* Fabric -------------------------------------------------------------------- */

/**
 * struct kiwi_g2g_fabric_set - KIWI_G2G_FABRIC_SET, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_fabric_set)
 * @flags: 0
 * @pod: UUID of the pod, not all zero
 * @epoch: of the membership; peers with another are refused
 * @accel: accelerator id of this die, below accels and what the personality can name
 * @partition: 0..KIWI_G2G_PARTITION_MAX
 *
 * Not while the fabric is ACTIVE or in ERROR (EINVAL), nor while exports, imports or QPs live
 * (EBUSY). Routes are forgotten, and ports train anew.
 */
struct kiwi_g2g_fabric_set {
	__u32 size;
	__u32 flags;
	__u8 pod[16];
	__u32 epoch;
	__u16 accel;
	__u16 partition;
};

enum kiwi_g2g_fabric_change_op {
	KIWI_G2G_FABRIC_DO_ACTIVATE	= 1,	/* READY -> ACTIVE */
	KIWI_G2G_FABRIC_DO_DEACTIVATE	= 2,	/* ACTIVE or ERROR -> READY or CONFIGURED; EBUSY */
	KIWI_G2G_FABRIC_DO_PAUSE	= 3,	/* returns when drained, ETIME after pause_ms */
	KIWI_G2G_FABRIC_DO_RESUME	= 4,
};

/**
 * struct kiwi_g2g_fabric_change - KIWI_G2G_FABRIC_CHANGE, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_fabric_change)
 * @flags: 0
 * @op: enum kiwi_g2g_fabric_change_op
 * @rsvd: 0
 */
struct kiwi_g2g_fabric_change {
	__u32 size;
	__u32 flags;
	__u32 op;
	__u32 rsvd;
};

/**
 * struct kiwi_g2g_fabric_query - KIWI_G2G_FABRIC_QUERY
 * @size: sizeof(struct kiwi_g2g_fabric_query)
 * @flags: 0
 * @pod: out: as set, zero while UNCONFIGURED; likewise the next three
 * @epoch: out
 * @accel: out
 * @partition: out
 * @state: out: KIWI_G2G_FABRIC_*
 * @reason: out: KIWI_G2G_WHY_*: what keeps it from the next state
 * @slot: out: of the active image
 * @paused: out: 0 or 1
 * @routes: out: generation of the routes in force, 0 for none
 * @ports_up: out: 1 << port
 * @ports_routable: out: 1 << port: up, and routable
 * @peers: out: established
 * @msg_mtu: out: KIWI_MTU_*: the largest that a QP may have with ports and image as they are; 0
 *	for none
 */
struct kiwi_g2g_fabric_query {
	__u32 size;
	__u32 flags;
	__u8 pod[16];
	__u32 epoch;
	__u16 accel;
	__u16 partition;
	__u8 state;
	__u8 reason;
	__u8 slot;
	__u8 paused;
	__u32 routes;
	__u32 ports_up;
	__u32 ports_routable;
	__u32 peers;
	__u32 msg_mtu;
};

/* Ports ---------------------------------------------------------------------- */

/**
 * struct kiwi_g2g_port_set - KIWI_G2G_PORT_SET, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_port_set)
 * @flags: 0
 * @port: below ports
 * @config: KIWI_G2G_PORT_ENABLED, _ROUTABLE, _LLR
 * @mode: KIWI_G2G_PORT_DIRECT or _SWITCHED
 * @lanes: 1 << lane of the station; 0 only when not enabled
 * @fec: KIWI_G2G_FEC_*
 * @flow: KIWI_G2G_FLOW_*
 * @rsvd: 0
 * @mtu: bytes of a PDU, KIWI_G2G_MTU_MIN..KIWI_G2G_MTU_MAX
 * @rsvd1: 0
 *
 * A port that is changed in anything but KIWI_G2G_PORT_ROUTABLE trains anew. EBUSY: packets of a
 * QP, with its MTU, would not fit any more; LAST_ERROR tells the least limit that will do.
 */
struct kiwi_g2g_port_set {
	__u32 size;
	__u32 flags;
	__u32 port;
	__u8 config;
	__u8 mode;
	__u8 lanes;
	__u8 fec;
	__u8 flow;
	__u8 rsvd;
	__u16 mtu;
	__u32 rsvd1;
};

/**
 * struct kiwi_g2g_port_query - KIWI_G2G_PORT_QUERY
 * @size: sizeof(struct kiwi_g2g_port_query)
 * @flags: 0
 * @port: in: below ports
 * @config: out: as set, likewise the next four and @mtu
 * @mode: out
 * @lanes: out
 * @fec: out
 * @flow: out
 * @state: out: KIWI_G2G_PORT_DOWN, _TRAINING, _UP, _FAULT
 * @mtu: out
 * @reason: out: KIWI_G2G_WHY_*
 * @station: out
 * @mac: out: zero while the fabric is UNCONFIGURED
 * @mbps: out: 0 unless UP
 * @ups: out: times that it came up since the device was reset
 * @neighbour: out: accelerator id, KIWI_G2G_ACCEL_NONE when none was heard
 * @neighbour_port: out: meaningful with @neighbour
 * @rsvd: 0
 * @neighbour_image_version: out: as last heard, 0: never
 * @neighbour_image_id: out: likewise
 * @rsvd1: 0
 */
struct kiwi_g2g_port_query {
	__u32 size;
	__u32 flags;
	__u32 port;
	__u8 config;
	__u8 mode;
	__u8 lanes;
	__u8 fec;
	__u8 flow;
	__u8 state;
	__u16 mtu;
	__u8 reason;
	__u8 station;
	__u8 mac[6];
	__u32 mbps;
	__u32 ups;
	__u16 neighbour;
	__u8 neighbour_port;
	__u8 rsvd;
	__u32 neighbour_image_version;
	__u16 neighbour_image_id;
	__u8 rsvd1[6];
};

/* Peers ---------------------------------------------------------------------- */

/**
 * struct kiwi_g2g_peer_query - KIWI_G2G_PEER_QUERY
 * @size: sizeof(struct kiwi_g2g_peer_query)
 * @flags: 0
 * @accel: in: below accels, not this die's
 * @state: out: KIWI_G2G_PEER_*
 * @reason: out: KIWI_G2G_WHY_*, of the last change
 * @generation: out: sessions established with it since the device was reset
 * @serial: out: as last heard, here and below; 0: never
 * @epoch: out
 * @image_version: out
 * @image_id: out
 * @partition: out
 * @bindings: out: that it holds on our exports
 * @imports: out: ours of its exports
 * @mail_room: out: messages that may be sent to it now
 */
struct kiwi_g2g_peer_query {
	__u32 size;
	__u32 flags;
	__u16 accel;
	__u8 state;
	__u8 reason;
	__u32 generation;
	__aligned_u64 serial;
	__u32 epoch;
	__u32 image_version;
	__u16 image_id;
	__u16 partition;
	__u32 bindings;
	__u32 imports;
	__u32 mail_room;
};

enum kiwi_g2g_peer_change_op {
	KIWI_G2G_PEER_DO_ISOLATE	= 1,	/* it reaches nothing of ours when this returns */
	KIWI_G2G_PEER_DO_RECOVER	= 2,
};

/**
 * struct kiwi_g2g_peer_change - KIWI_G2G_PEER_CHANGE, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_peer_change)
 * @flags: 0
 * @accel: below accels, not this die's
 * @rsvd: 0
 * @op: enum kiwi_g2g_peer_change_op
 */
struct kiwi_g2g_peer_change {
	__u32 size;
	__u32 flags;
	__u16 accel;
	__u16 rsvd;
	__u32 op;
};

/* Error log -------------------------------------------------------------------- */

/**
 * struct kiwi_g2g_log_record - accesses that failed: struct kiwi_g2g_log_entry
 * @sequence: of the record, from 1
 * @time_us: since the device was enabled
 * @addr: by @kind
 * @id: by @kind: in the numbers of the ABI, not ids of objects
 * @count: events in this record
 * @len: bytes of the first access
 * @accel: the other side, or KIWI_G2G_ACCEL_NONE
 * @kind: KIWI_G2G_LOG_*
 * @status: KIWI_G2G_ST_*
 */
struct kiwi_g2g_log_record {
	__aligned_u64 sequence;
	__aligned_u64 time_us;
	__aligned_u64 addr;
	__u32 id;
	__u32 count;
	__u32 len;
	__u16 accel;
	__u8 kind;
	__u8 status;
};

#define KIWI_G2G_LOG_RECORDS	8	/* in one call */

/**
 * struct kiwi_g2g_log_read - KIWI_G2G_READ_LOG
 * @size: sizeof(struct kiwi_g2g_log_read)
 * @flags: 0
 * @after: in: records with a higher sequence are wanted
 * @lost: out: events that found no room in the device, since it was reset
 * @count: out: of @record
 * @rsvd: 0
 * @record: out: the oldest that are kept
 *
 * The driver keeps the latest 256 records; to read takes none away. KIWI_G2G_EVENT_LOG
 * tells that there are new ones.
 */
struct kiwi_g2g_log_read {
	__u32 size;
	__u32 flags;
	__aligned_u64 after;
	__aligned_u64 lost;
	__u32 count;
	__u32 rsvd;
	struct kiwi_g2g_log_record record[KIWI_G2G_LOG_RECORDS];
};

/* Routes ------------------------------------------------------------------------ */

/**
 * struct kiwi_g2g_route_node - a die, or a switch, of the fabric
 * @accel: its id, KIWI_G2G_ACCEL_NONE for a switch
 * @ports: how many it has, at most 32
 * @flags: KIWI_G2G_NODE_FORWARDS: takes packets for others; without, none is sent through it
 * @rsvd: 0
 */
struct kiwi_g2g_route_node {
	__u16 accel;
	__u16 ports;
	__u16 flags;
	__u16 rsvd;
};

#define KIWI_G2G_NODE_FORWARDS	0x1

/**
 * struct kiwi_g2g_route_link - a link between two ports, whose nodes are indices
 * @node: of both ends
 * @port: likewise
 * @flags: of both ends: KIWI_G2G_PORT_ENABLED, KIWI_G2G_PORT_ROUTABLE
 * @rsvd: 0
 */
struct kiwi_g2g_route_link {
	__u16 node[2];
	__u16 port[2];
	__u8 flags[2];
	__u16 rsvd;
};

/**
 * struct kiwi_g2g_route_entry - a way to leave a node for an accelerator
 * @node: index of the node
 * @accel: destination
 * @ports: 1 << port: any of them leads there; for a switch too
 * @layer: virtual channel layer on that link, below layers
 * @rsvd: 0
 */
struct kiwi_g2g_route_entry {
	__u16 node;
	__u16 accel;
	__u32 ports;
	__u8 layer;
	__u8 rsvd[3];
};

/**
 * struct kiwi_g2g_routes_stage - KIWI_G2G_ROUTES_STAGE, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_routes_stage)
 * @flags: 0
 * @nodes: address of @nr_nodes struct kiwi_g2g_route_node
 * @links: address of @nr_links struct kiwi_g2g_route_link
 * @entries: address of @nr_entries struct kiwi_g2g_route_entry
 * @nr_nodes: 1..4096
 * @nr_links: 0..65536
 * @nr_entries: 0..4194304; 0: the driver makes the routes
 * @max_hops: links that a packet may cross, 1..255; dies send it on 16 times at most
 *
 * The routes of the whole fabric, of which this die's own are staged when all are
 * proved: every accelerator reaches every other, there is no loop, and buffers cannot wait for
 * each other in a circle. If not, EINVAL, and LAST_ERROR names the path; what was staged before
 * stays. Entries of a node follow each other; it has one at most for each accelerator.
 */
struct kiwi_g2g_routes_stage {
	__u32 size;
	__u32 flags;
	__aligned_u64 nodes;
	__aligned_u64 links;
	__aligned_u64 entries;
	__u32 nr_nodes;
	__u32 nr_links;
	__u32 nr_entries;
	__u32 max_hops;
};

#define KIWI_G2G_ROUTES_DRAIN	0x1	/* pause the die, drain it, switch, resume */
#define KIWI_G2G_ROUTES_ROLLBACK 0x2	/* to the routes before, not to those staged */

/**
 * struct kiwi_g2g_routes_commit - KIWI_G2G_ROUTES_COMMIT, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_routes_commit)
 * @flags: KIWI_G2G_ROUTES_*
 * @generation: in: that is thought to be in force (ESTALE); out: in force now
 * @rsvd: 0
 *
 * On failure the routes in force stay, but for EFAULT: if @generation could be read and not be
 * written back, the new ones are in force. Success is told by KIWI_G2G_EVENT_ROUTES.
 */
struct kiwi_g2g_routes_commit {
	__u32 size;
	__u32 flags;
	__u32 generation;
	__u32 rsvd;
};

/**
 * struct kiwi_g2g_route_way - this die's route to an accelerator
 * @ports: 1 << port; 0: none
 * @layer: virtual channel layer
 * @rsvd: 0
 */
struct kiwi_g2g_route_way {
	__u32 ports;
	__u8 layer;
	__u8 rsvd[3];
};

#define KIWI_G2G_ROUTES_READ	32	/* in one call */

/**
 * struct kiwi_g2g_routes_query - KIWI_G2G_ROUTES_QUERY: routes as the device has them
 * @size: sizeof(struct kiwi_g2g_routes_query)
 * @flags: 0
 * @table: in: KIWI_G2G_TABLE_*
 * @first: in: accelerator of way[0], below accels
 * @generation: out: of the table
 * @rsvd: 0
 * @way: out: beyond accels zero
 */
struct kiwi_g2g_routes_query {
	__u32 size;
	__u32 flags;
	__u32 table;
	__u32 first;
	__u32 generation;
	__u32 rsvd;
	struct kiwi_g2g_route_way way[KIWI_G2G_ROUTES_READ];
};

/* Images ------------------------------------------------------------------------- */

/**
 * struct kiwi_g2g_image_load - KIWI_G2G_IMAGE_LOAD, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_image_load)
 * @flags: 0
 * @slot: below slots, not the active one (EBUSY)
 * @rsvd: 0
 * @name: file below the kernel's firmware folders, in kiwi/g2g/; no slash, no dot in front;
 *	NUL-terminated
 *
 * Loads and verifies; to use it is KIWI_G2G_IMAGE_DO_ACTIVATE.
 */
struct kiwi_g2g_image_load {
	__u32 size;
	__u32 flags;
	__u32 slot;
	__u32 rsvd;
	char name[64];
};

/**
 * struct kiwi_g2g_image_write - KIWI_G2G_IMAGE_WRITE, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_image_write)
 * @flags: 0
 * @slot: below slots, not the active one (EBUSY)
 * @length: of the whole image
 * @offset: bytes written so far; 0 begins anew
 * @len: of this chunk, 1..65536
 * @data: address of it
 */
struct kiwi_g2g_image_write {
	__u32 size;
	__u32 flags;
	__u32 slot;
	__u32 length;
	__u32 offset;
	__u32 len;
	__aligned_u64 data;
};

enum kiwi_g2g_image_change_op {
	KIWI_G2G_IMAGE_DO_VERIFY	= 1,	/* EOPNOTSUPP: IMAGE_QUERY says why */
	KIWI_G2G_IMAGE_DO_ACTIVATE	= 2,	/* EBUSY: objects live */
};

/**
 * struct kiwi_g2g_image_change - KIWI_G2G_IMAGE_CHANGE, needs CAP_NET_ADMIN
 * @size: sizeof(struct kiwi_g2g_image_change)
 * @flags: 0
 * @slot: below slots
 * @op: enum kiwi_g2g_image_change_op
 *
 * The image that was active stays verified in its slot: to roll back is to activate that.
 * EINVAL: to verify what is not wholly written; to activate what is not verified, or while the
 * fabric is ACTIVE or in ERROR.
 */
struct kiwi_g2g_image_change {
	__u32 size;
	__u32 flags;
	__u32 slot;
	__u32 op;
};

/**
 * struct kiwi_g2g_image_query - KIWI_G2G_IMAGE_QUERY
 * @size: sizeof(struct kiwi_g2g_image_query)
 * @flags: 0
 * @slot: in: below slots
 * @written: out: bytes
 * @state: out: KIWI_G2G_SLOT_*
 * @error: out: KIWI_G2G_IMAGE_*: why it is BAD
 * @active: out: 0 or 1
 * @semantics: out: KIWI_G2G_SEM_*, of a verified image; likewise what follows
 * @header_kind: out: KIWI_G2G_HDR_*
 * @id_bits: out: accelerator ids are less than 2^n
 * @addr_bits: out: offsets into an export are less than 2^n
 * @reliability: out: KIWI_G2G_REL_*
 * @flow: out: mask, 1 << KIWI_G2G_FLOW_*
 * @atomics: out: mask, 1 << KIWI_G2G_FETCH_ADD..
 * @vcs: out: virtual channels
 * @rsvd: 0
 * @mtu: out: bytes of a PDU
 * @id: out: KIWI_G2G_SUE, _OISA, _ETHX
 * @version: out
 * @image_flags: out: KIWI_G2G_IMAGE_PROVISIONAL
 * @name: out: NUL-terminated
 * @hash: out: SHA-256
 */
struct kiwi_g2g_image_query {
	__u32 size;
	__u32 flags;
	__u32 slot;
	__u32 written;
	__u8 state;
	__u8 error;
	__u8 active;
	__u8 semantics;
	__u8 header_kind;
	__u8 id_bits;
	__u8 addr_bits;
	__u8 reliability;
	__u8 flow;
	__u8 atomics;
	__u8 vcs;
	__u8 rsvd;
	__u16 mtu;
	__u16 id;
	__u32 version;
	__u32 image_flags;
	char name[32];
	__u8 hash[32];
};

/* Exports ------------------------------------------------------------------------- */

/**
 * struct kiwi_g2g_export_create - KIWI_G2G_EXPORT_CREATE
 * @size: sizeof(struct kiwi_g2g_export_create)
 * @flags: 0
 * @fd: DMA-buf
 * @rights: that may be granted: KIWI_ACCESS_REMOTE_*, at least one
 * @offset: of the first byte in the DMA-buf
 * @length: bytes, 1..max_export_size
 * @user_data: not used by the kernel, given back in events
 * @grantees: bit (a % 8) of byte (a / 8): accelerator a may import it
 * @handle: out: what an importer needs: random, known to nobody who was not told
 * @export_id: out: id
 * @rsvd: 0
 *
 * When the DMA-buf's exporter takes the memory back the export is revoked.
 */
struct kiwi_g2g_export_create {
	__u32 size;
	__u32 flags;
	__s32 fd;
	__u32 rights;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 user_data;
	__u8 grantees[128];
	__u8 handle[16];
	__u32 export_id;
	__u32 rsvd;
};

/**
 * struct kiwi_g2g_export_revoke - KIWI_G2G_EXPORT_REVOKE
 * @size: sizeof(struct kiwi_g2g_export_revoke)
 * @flags: 0
 * @export_id: id
 * @rsvd: 0
 *
 * No peer reaches the memory when this returns. KIWI_G2G_EVENT_EXPORT with
 * KIWI_G2G_EXPORT_REVOKED comes when all importers have acknowledged or were isolated, within
 * revoke_ms. KIWI_G2G_DESTROY revokes too, and is EBUSY until then.
 */
struct kiwi_g2g_export_revoke {
	__u32 size;
	__u32 flags;
	__u32 export_id;
	__u32 rsvd;
};

/**
 * struct kiwi_g2g_export_query - KIWI_G2G_EXPORT_QUERY
 * @size: sizeof(struct kiwi_g2g_export_query)
 * @flags: 0
 * @export_id: in: id
 * @state: out: KIWI_G2G_EXPORT_*
 * @path: out: enum kiwi_path of kiwi/queues.h: how the bytes travel
 * @reason: out: enum kiwi_path_reason
 * @page_shift: out: page size of the page list, 2^n bytes
 * @bindings: out: live
 * @pages: out: entries of the page list
 * @importers: out: as grantees: who holds a binding
 */
struct kiwi_g2g_export_query {
	__u32 size;
	__u32 flags;
	__u32 export_id;
	__u8 state;
	__u8 path;
	__u8 reason;
	__u8 page_shift;
	__u32 bindings;
	__u32 pages;
	__u8 importers[128];
};

/* Imports ------------------------------------------------------------------------- */

/**
 * struct kiwi_g2g_import_bind - KIWI_G2G_IMPORT_BIND
 * @size: sizeof(struct kiwi_g2g_import_bind)
 * @flags: 0
 * @handle: of the export
 * @accel: exporter
 * @rsvd: 0
 * @rights: wanted: KIWI_ACCESS_REMOTE_*, at least one
 * @user_data: not used by the kernel, given back in events
 * @import_id: out: id
 * @rsvd1: 0
 *
 * Asks the exporter. KIWI_G2G_EVENT_IMPORT tells the answer within bind_ms: BOUND, or DEAD
 * and why. EINVAL: the fabric is not active, or the peer not established.
 */
struct kiwi_g2g_import_bind {
	__u32 size;
	__u32 flags;
	__u8 handle[16];
	__u16 accel;
	__u16 rsvd;
	__u32 rights;
	__aligned_u64 user_data;
	__u32 import_id;
	__u32 rsvd1;
};

#define KIWI_G2G_IMPORT_WC	0x1	/* map write-combined, not uncached */

/**
 * struct kiwi_g2g_import_map - KIWI_G2G_IMPORT_MAP, once for an import that is BOUND
 * @size: sizeof(struct kiwi_g2g_import_map)
 * @flags: KIWI_G2G_IMPORT_WC
 * @import_id: id
 * @rsvd: 0
 * @export_offset: of the first byte wanted, a multiple of 4096
 * @length: bytes wanted
 * @map_offset: out: for mmap of the same file, shared
 * @map_size: out: bytes to map, whole granules and pages; bytes behind @length are refused
 * @atomic_offset: out: for mmap of the atomic page, if the rights have REMOTE_ATOMIC; 0: none
 * @atomic_size: out: bytes to map there
 *
 * On failure it is not mapped, but for EFAULT: if only the reply could not be written, it is, and
 * to destroy it is what is left.
 *
 * Mappings are not inherited by fork, and can be neither moved nor unmapped in part. When
 * the import dies or is destroyed they are taken away, and lead to a page of memory that is
 * all-ones until the program writes to it.
 */
struct kiwi_g2g_import_map {
	__u32 size;
	__u32 flags;
	__u32 import_id;
	__u32 rsvd;
	__aligned_u64 export_offset;
	__aligned_u64 length;
	__aligned_u64 map_offset;
	__aligned_u64 map_size;
	__aligned_u64 atomic_offset;
	__aligned_u64 atomic_size;
};

/**
 * struct kiwi_g2g_import_query - KIWI_G2G_IMPORT_QUERY
 * @size: sizeof(struct kiwi_g2g_import_query)
 * @flags: 0
 * @import_id: in: id
 * @state: out: KIWI_G2G_WINDOW_*
 * @reason: out: KIWI_G2G_WHY_*
 * @accel: out: exporter
 * @rights: out: granted
 * @number: out: window, as error log records name it
 * @export_length: out: bytes of the export; 0 while BINDING, or if it was refused
 * @export_offset: out: as mapped; 0 while it never was
 * @length: out: likewise
 */
struct kiwi_g2g_import_query {
	__u32 size;
	__u32 flags;
	__u32 import_id;
	__u8 state;
	__u8 reason;
	__u16 accel;
	__u32 rights;
	__u32 number;
	__aligned_u64 export_length;
	__aligned_u64 export_offset;
	__aligned_u64 length;
};

/**
 * struct kiwi_g2g_import_dmabuf - KIWI_G2G_IMPORT_DMABUF: a mapped import as a DMA-buf
 * @size: sizeof(struct kiwi_g2g_import_dmabuf)
 * @flags: O_CLOEXEC or 0
 * @import_id: id
 * @fd: out: DMA-buf, for importers that can do peer-to-peer: a GPU's driver
 * @length: out: bytes of the DMA-buf, whole granules and pages
 *
 * EINVAL: it is not mapped; EREMOTEIO: it is dead.
 * Each call gives a descriptor of the same DMA-buf. When the import dies or is destroyed,
 * importers are told to unmap (move_notify), and to map it fails with ENODEV. The place in
 * the aperture becomes nobody else's before they have.
 */
struct kiwi_g2g_import_dmabuf {
	__u32 size;
	__u32 flags;
	__u32 import_id;
	__s32 fd;
	__aligned_u64 length;
};

/* Events ------------------------------------------------------------------------------ */

enum kiwi_g2g_event_type {	/* beside those of kiwi/common.h */
	KIWI_G2G_EVENT_FABRIC	= 16,	/* code: state; info: reason */
	KIWI_G2G_EVENT_PAUSE	= 17,	/* code: KIWI_G2G_PAUSE_* */
	KIWI_G2G_EVENT_PORT	= 18,	/* id: port; code: state; info: reason */
	KIWI_G2G_EVENT_PEER	= 19,	/* id: accelerator; likewise */
	KIWI_G2G_EVENT_IMPORT	= 20,	/* id: import; likewise */
	KIWI_G2G_EVENT_EXPORT	= 21,	/* id: export; code: state; info: peers isolated for it */
	KIWI_G2G_EVENT_LOG	= 22,	/* the error log has new records */
	KIWI_G2G_EVENT_ROUTES	= 23,	/* id: generation in force now */
	KIWI_G2G_EVENT_IMAGE	= 24,	/* id: slot that is active now */
};

#endif /* _UAPI_KIWI_G2G_H */
