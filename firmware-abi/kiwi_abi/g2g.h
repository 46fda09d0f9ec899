/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * Kiwi firmware ABI: commands and events of the G2G IO die. Text: ../spec/g2g.md
 *
 * The queue commands (ALLOC_PD to DESTROY_QP) are those of snic.h, with the same
 * numbers and structures; work queues are those of queues.h.
 */
#ifndef KIWI_ABI_G2G_H
#define KIWI_ABI_G2G_H

#include "types.h"
#include "admin.h"
#include "snic.h"
#include "g2g_image.h"

enum kiwi_g2g_opcode {
	KIWI_G2G_OP_SET_FABRIC		= 0x0200,
	KIWI_G2G_OP_QUERY_FABRIC	= 0x0201,
	KIWI_G2G_OP_ACTIVATE		= 0x0202,
	KIWI_G2G_OP_DEACTIVATE		= 0x0203,
	KIWI_G2G_OP_PAUSE		= 0x0204,
	KIWI_G2G_OP_RESUME		= 0x0205,
	KIWI_G2G_OP_SET_PORT		= 0x0210,
	KIWI_G2G_OP_QUERY_PORT		= 0x0211,
	KIWI_G2G_OP_QUERY_PORT_COUNTERS	= 0x0212,
	KIWI_G2G_OP_QUERY_COUNTERS	= 0x0213,
	KIWI_G2G_OP_READ_LOG		= 0x0214,
	KIWI_G2G_OP_STAGE_ROUTES	= 0x0220,
	KIWI_G2G_OP_COMMIT_ROUTES	= 0x0221,
	KIWI_G2G_OP_ROLLBACK_ROUTES	= 0x0222,
	KIWI_G2G_OP_QUERY_ROUTES	= 0x0223,
	KIWI_G2G_OP_BEGIN_IMAGE		= 0x0230,
	KIWI_G2G_OP_WRITE_IMAGE		= 0x0231,
	KIWI_G2G_OP_VERIFY_IMAGE	= 0x0232,
	KIWI_G2G_OP_ACTIVATE_IMAGE	= 0x0233,
	KIWI_G2G_OP_QUERY_IMAGE		= 0x0234,
	KIWI_G2G_OP_CREATE_EXPORT	= 0x0240,
	KIWI_G2G_OP_REVOKE_EXPORT	= 0x0241,
	KIWI_G2G_OP_DESTROY_EXPORT	= 0x0242,
	KIWI_G2G_OP_QUERY_EXPORT	= 0x0243,
	KIWI_G2G_OP_BIND_WINDOW		= 0x0250,
	KIWI_G2G_OP_MAP_WINDOW		= 0x0251,
	KIWI_G2G_OP_UNBIND_WINDOW	= 0x0252,
	KIWI_G2G_OP_QUERY_WINDOW	= 0x0253,
	KIWI_G2G_OP_QUERY_PEER		= 0x0260,
	KIWI_G2G_OP_ISOLATE_PEER	= 0x0261,
	KIWI_G2G_OP_RECOVER_PEER	= 0x0262,
	KIWI_G2G_OP_SEND_MAIL		= 0x0263,
	KIWI_G2G_OP_READ_MAIL		= 0x0264,
};

/* Events on the asynchronous EQ, besides those of admin.h but PORT_CHANGE */
enum kiwi_g2g_event {
	KIWI_G2G_EV_FABRIC	= 0x40,	/* code: the new state; info: reason */
	KIWI_G2G_EV_PAUSE	= 0x41,	/* code: enum kiwi_g2g_pause */
	KIWI_G2G_EV_PORT	= 0x42,	/* id: port; likewise */
	KIWI_G2G_EV_PEER	= 0x43,	/* id: accelerator; likewise */
	KIWI_G2G_EV_WINDOW	= 0x44,	/* id: window; likewise */
	KIWI_G2G_EV_EXPORT	= 0x45,	/* id: export, revoked; info: peers isolated for it */
	KIWI_G2G_EV_LOG		= 0x46,	/* the error log has something to read: F-61 */
	KIWI_G2G_EV_MAIL	= 0x47,	/* the mailbox has something to read: F-55 */
	KIWI_G2G_EV_MAIL_ROOM	= 0x48,	/* id: accelerator that can be sent to again: F-55 */
	KIWI_G2G_EV_COUNT
};

/* Why an object is in its state. For all objects, so that people see one list. */
enum kiwi_g2g_reason {
	KIWI_G2G_WHY_NONE		= 0,
	KIWI_G2G_WHY_ADMIN		= 1,	/* a command asked for it */
	KIWI_G2G_WHY_NOT_CONFIGURED	= 2,	/* fabric: SET_FABRIC is missing */
	KIWI_G2G_WHY_NO_ROUTES		= 3,	/* fabric: no table committed */
	KIWI_G2G_WHY_NO_PORT		= 4,	/* fabric: no routable port is up */
	KIWI_G2G_WHY_ID_CONFLICT	= 5,	/* another die has the same accelerator id */
	KIWI_G2G_WHY_NO_CARRIER		= 6,
	KIWI_G2G_WHY_NO_NEIGHBOUR	= 7,	/* port: no training frame is heard */
	KIWI_G2G_WHY_NEIGHBOURS		= 8,	/* port, direct: more than one is heard */
	KIWI_G2G_WHY_POD		= 9,	/* the other side's differs, here and below */
	KIWI_G2G_WHY_IMAGE		= 10,	/* id, version or hash */
	KIWI_G2G_WHY_EPOCH		= 11,
	KIWI_G2G_WHY_PARTITION		= 12,
	KIWI_G2G_WHY_MTU		= 13,
	KIWI_G2G_WHY_LANES		= 14,
	KIWI_G2G_WHY_FEC		= 15,
	KIWI_G2G_WHY_LLR		= 16,
	KIWI_G2G_WHY_FLOW		= 17,
	KIWI_G2G_WHY_LLR_EXHAUSTED	= 18,	/* port: replays did not help */
	KIWI_G2G_WHY_TIMEOUT		= 19,	/* nothing heard, or no progress, for too long */
	KIWI_G2G_WHY_RESTARTED		= 20,	/* peer: has begun a new session */
	KIWI_G2G_WHY_ISOLATED		= 21,	/* peer: it did; window: we did */
	KIWI_G2G_WHY_REVOKE		= 22,	/* peer: did not acknowledge a shoot-down */
	KIWI_G2G_WHY_REVOKED		= 23,	/* window: the exporter took it back */
	KIWI_G2G_WHY_NO_ACCESS		= 24,	/* window: no such handle, not granted, or rights */
	KIWI_G2G_WHY_NO_RESOURCE	= 25,	/* window: the exporter has no room for it */
	KIWI_G2G_WHY_PROTOCOL		= 26,	/* peer: broke this text */
	KIWI_G2G_WHY_FABRIC		= 27,	/* peer: the fabric is not active, or goes down */
	KIWI_G2G_WHY_COUNT
};

/* How an access ended: on the wire, in atomic cells, in the log */
enum kiwi_g2g_status {	/* 0..15 [borrowed: UALink 200G 1.0 response status], 16.. [ours] */
	KIWI_G2G_ST_OK			= 0,
	KIWI_G2G_ST_TARGET_ABORT	= 2,	/* the export's memory failed (DMA fault) */
	KIWI_G2G_ST_DECODE_ERROR	= 3,	/* malformed, out of bounds, misaligned */
	KIWI_G2G_ST_PROTECTION		= 6,	/* handle, key, grant or right */
	KIWI_G2G_ST_TIMEOUT		= 8,
	KIWI_G2G_ST_ISOLATED		= 15,	/* peer isolated, lost or not established */
	KIWI_G2G_ST_REVOKED		= 16,
	KIWI_G2G_ST_NO_RESOURCE		= 17,
};

/* Capabilities in KIWI_REG_CAPS: regs.h. ---------------------------------- */

/**
 * struct kiwi_g2g_caps - reply of QUERY_CAPS
 * @queue: limits of the queue commands; ports 1, gids 1. Without KIWI_G2G_CAP_MSGQ only
 *	page_shift_max, pbl_table_shift_max, ports, gids and link_mbps are not 0.
 * @accels: accelerator ids of this part are less than this, 2..KIWI_G2G_ACCELS_MAX
 * @stations: 1..8
 * @ports: 1..KIWI_G2G_PORTS_MAX, a multiple of @stations; numbered from 0, the first
 *	@ports / @stations belong to station 0, and so on
 * @lanes: of each station, 1..8
 * @layers: virtual channel layers, 1..2
 * @granule_shift: windows are aligned and spaced to 2^n bytes, 12..30
 * @slots: for images: two, 2..2
 * @fec: mask of KIWI_G2G_FEC_*, 1 << value, 1..KIWI_G2G_FEC_ALL
 * @flow: mask of KIWI_G2G_FLOW_*, 1 << value, 1..KIWI_G2G_FLOW_ALL
 * @atomics: mask of KIWI_G2G_FETCH_ADD.., 1 << value, 0..KIWI_G2G_ATOMIC_ALL
 * @mail: peer messages kept for the host from each peer, 1..255
 * @rsvd0: 0
 * @lane_mbps: of one lane, as the device reports it
 * @aperture_size: bytes of BAR 4 that windows may take, from offset 0; a multiple of the
 *	granule
 * @atomic_base: offset in BAR 4 of the atomic pages (M-40), a multiple of their size, at
 *	least @aperture_size; 0 without KIWI_G2G_CAP_ATOMICS
 * @max_export_size: bytes
 * @max_export_pages: pages in the page list of one export
 * @max_export: exports, at most KIWI_SNIC_NUMBER_MAX
 * @max_window: windows, at most 65535; numbered from 1
 * @max_binding: bindings of all peers to all exports
 * @image_max: bytes of an image
 * @load_us: bound on a load or atomic of the aperture, 2000..10000000
 * @bind_ms: bound on the state BINDING of a window, 1..60000
 * @revoke_ms: bound from the reply of REVOKE_EXPORT to its event, 1..60000
 * @pause_ms: bound on a pause, 1..10000; @pause_ms * 1000 is less than @load_us
 * @peer_ms: silence after which a peer is lost, 16..60000
 * @link_ms: bound on training once both ends are there, 16..60000
 * @rsvd1: 0
 */
struct kiwi_g2g_caps {
	struct kiwi_snic_caps queue;
	__le16 accels;
	__u8 stations;
	__u8 ports;
	__u8 lanes;
	__u8 layers;
	__u8 granule_shift;
	__u8 slots;
	__u8 fec;
	__u8 flow;
	__u8 atomics;
	__u8 mail;
	__u8 rsvd0[4];
	__le64 aperture_size;
	__le64 atomic_base;
	__le64 max_export_size;
	__le32 max_export_pages;
	__le32 max_export;
	__le32 max_window;
	__le32 max_binding;
	__le32 image_max;
	__le32 lane_mbps;
	__le32 load_us;
	__le32 bind_ms;
	__le32 revoke_ms;
	__le32 pause_ms;
	__le32 peer_ms;
	__le32 link_ms;
	__u8 rsvd1[56];
};
KIWI_ABI_SIZE(struct kiwi_g2g_caps, 256);
KIWI_ABI_OFFSET(struct kiwi_g2g_caps, aperture_size, 128);

#define KIWI_G2G_ACCELS_MAX	1024	/* [public: SUE, 10-bit ids] */
#define KIWI_G2G_PORTS_MAX	32
#define KIWI_G2G_ACCEL_NONE	0xffff

/* Fabric -------------------------------------------------------------------- */

enum kiwi_g2g_fabric_state {	/* [borrowed: amdgpu UALink accelerator states] */
	KIWI_G2G_FABRIC_UNCONFIGURED	= 0,
	KIWI_G2G_FABRIC_CONFIGURED	= 1,
	KIWI_G2G_FABRIC_READY		= 2,	/* has routes and a port to use them */
	KIWI_G2G_FABRIC_ACTIVE		= 3,
	KIWI_G2G_FABRIC_ERROR		= 4,
	KIWI_G2G_FABRIC_STATE_COUNT
};

/* SET_FABRIC: no reply */
struct kiwi_g2g_set_fabric_in {
	__u8 pod[16];		/* UUID, not all zero */
	__le16 accel;		/* below caps.accels and 2^id_bits of the active image */
	__le16 partition;	/* 0..KIWI_G2G_PARTITION_MAX */
	__le32 epoch;		/* of the membership; peers with another are refused */
};
KIWI_ABI_SIZE(struct kiwi_g2g_set_fabric_in, 24);

#define KIWI_G2G_PARTITION_MAX	1023

/* QUERY_FABRIC: no input */
struct kiwi_g2g_fabric {
	struct kiwi_g2g_set_fabric_in config;	/* zero while UNCONFIGURED */
	__u8 state;		/* enum kiwi_g2g_fabric_state */
	__u8 reason;		/* enum kiwi_g2g_reason: why not further */
	__u8 slot;		/* of the active image: 0 or 1 */
	__u8 msg_mtu;		/* enum kiwi_mtu: largest for a QP, F-6; 0 without MSGQ */
	__u8 paused;		/* 0 or 1 */
	__u8 rsvd0[3];
	__le32 routes;		/* generation of the table in force; 0: none committed */
	__le32 ports_up;	/* 1 << port */
	__le32 ports_routable;	/* 1 << port: up, and routable */
	__le32 peers;		/* established */
	__u8 rsvd1[16];
};
KIWI_ABI_SIZE(struct kiwi_g2g_fabric, 64);

/* ACTIVATE, DEACTIVATE, PAUSE, RESUME: no input, no reply payload. */

enum kiwi_g2g_pause {
	KIWI_G2G_PAUSE_DRAINED	= 1,	/* nothing of this die is in flight */
	KIWI_G2G_PAUSE_EXPIRED	= 2,	/* caps.pause_ms are over: resumed by itself */
};

/* Ports --------------------------------------------------------------------- */

enum kiwi_g2g_port_state {
	KIWI_G2G_PORT_DOWN	= 0,	/* not enabled, or the fabric is not configured */
	KIWI_G2G_PORT_TRAINING	= 1,
	KIWI_G2G_PORT_UP	= 2,
	KIWI_G2G_PORT_FAULT	= 3,	/* the two ends do not agree, or replay failed */
	KIWI_G2G_PORT_STATE_COUNT
};

enum kiwi_g2g_fec {
	KIWI_G2G_FEC_NONE	= 0,
	KIWI_G2G_FEC_RS544	= 1,	/* RS(544,514) [public: IEEE 802.3] */
	KIWI_G2G_FEC_RS272	= 2,	/* RS(272,257) [public: Ethernet Technology Consortium] */
};

#define KIWI_G2G_FEC_ALL	0x07

enum kiwi_g2g_port_mode {
	KIWI_G2G_PORT_DIRECT	= 1,	/* a die at the other end */
	KIWI_G2G_PORT_SWITCHED	= 2,	/* an Ethernet switch: no training, LLR or CBFC */
};

#define KIWI_G2G_PORT_ENABLED	0x01
#define KIWI_G2G_PORT_ROUTABLE	0x02	/* routes may use it */
#define KIWI_G2G_PORT_LLR	0x04	/* KIWI_G2G_CAP_LLR */

struct kiwi_g2g_port_config {
	__u8 flags;		/* KIWI_G2G_PORT_* */
	__u8 mode;		/* enum kiwi_g2g_port_mode */
	__u8 lanes;		/* 1 << lane of the station; 0 only when not enabled */
	__u8 fec;		/* enum kiwi_g2g_fec */
	__u8 flow;		/* enum kiwi_g2g_flow */
	__u8 rsvd;
	__le16 mtu;		/* of a PDU, KIWI_G2G_MTU_MIN..KIWI_G2G_MTU_MAX */
};
KIWI_ABI_SIZE(struct kiwi_g2g_port_config, 8);

/* SET_PORT: no reply */
struct kiwi_g2g_set_port_in {
	__le32 port;
	__le32 rsvd;
	struct kiwi_g2g_port_config config;
};
KIWI_ABI_SIZE(struct kiwi_g2g_set_port_in, 16);

/* QUERY_PORT: input struct kiwi_cmd_id (port) */
struct kiwi_g2g_port {
	struct kiwi_g2g_port_config config;
	__u8 state;		/* enum kiwi_g2g_port_state */
	__u8 reason;		/* enum kiwi_g2g_reason */
	__u8 station;		/* 0..7 */
	__u8 neighbour_port;	/* meaningful with neighbour, 0..31 */
	__le16 neighbour;	/* accelerator, as last heard; KIWI_G2G_ACCEL_NONE: none */
	__u8 mac[6];		/* W-2; zero while UNCONFIGURED */
	__le32 mbps;		/* 0 unless UP */
	__le32 ups;		/* times that it came up, since reset */
	__le32 neighbour_image_version;	/* as last heard, here and below; 0: never */
	__le16 neighbour_image_id;
	__u8 rsvd[30];
};
KIWI_ABI_SIZE(struct kiwi_g2g_port, 64);

/* QUERY_PORT_COUNTERS: input struct kiwi_cmd_id (port). Free-running since reset. */
struct kiwi_g2g_port_counters {
	__le64 tx_frames;	/* all kinds */
	__le64 tx_bytes;
	__le64 rx_frames;
	__le64 rx_bytes;
	__le64 rx_crc;		/* dropped: CRC wrong */
	__le64 rx_malformed;	/* dropped: length, version or reserved field */
	__le64 rx_other;	/* dropped: EtherType or destination is not ours */
	__le64 rx_image;	/* dropped: header of another personality */
	__le64 rx_stale;	/* dropped: epoch, session, or peer not established */
	__le64 rx_overrun;	/* dropped: more than the credits given */
	__le64 forwarded;
	__le64 hop_limit;	/* dropped: hops used up, or the way back */
	__le64 unroutable;	/* dropped: no route or no port up, own PDUs too */
	__le64 llr_replayed;	/* frames sent again */
	__le64 llr_nack;	/* received */
	__le64 llr_exhausted;
	__le64 credit_stall;	/* times that a frame waited for a credit */
	__le64 pfc_rx;
	__le64 pfc_tx;
	__le64 link_down;
	__le64 fec_corrected;
	__le64 fec_uncorrected;
	__le64 rsvd[10];
};
KIWI_ABI_SIZE(struct kiwi_g2g_port_counters, 256);

/* QUERY_COUNTERS: no input. Free-running since reset. "pdus": DATA sent the first time,
 * counted once for each of the kinds of transaction in it.
 */
struct kiwi_g2g_counters {
	__le64 memory_pdus;	/* READ, WRITE, ATOMIC and their responses */
	__le64 message_pdus;	/* MESSAGE */
	__le64 control_pdus;	/* other kinds of DATA, and control frames */
	__le64 acks;		/* ACK and NACK sent */
	__le64 retransmitted;	/* DATA sent again, end to end */
	__le64 out_of_sequence;	/* DATA received ahead of the expected */
	__le64 duplicate;	/* DATA received behind the expected */
	__le64 loads;		/* aperture accesses by the host and its devices */
	__le64 load_bytes;
	__le64 stores;
	__le64 store_bytes;
	__le64 atomics;
	__le64 poisoned;	/* loads and atomics answered with all-ones */
	__le64 stores_dropped;
	__le64 unmapped;	/* accesses that met no window, of any kind */
	__le64 timeouts;	/* of loads and atomics */
	__le64 served_reads;	/* requests of peers carried out on our exports */
	__le64 served_read_bytes;
	__le64 served_writes;
	__le64 served_write_bytes;
	__le64 served_atomics;
	__le64 refused_key;	/* requests of peers: no such binding of that peer */
	__le64 refused_bounds;
	__le64 refused_right;
	__le64 refused_revoked;
	__le64 refused_bind;	/* handle, grant or rights */
	__le64 shootdowns;	/* sent */
	__le64 isolations;	/* for whatever reason */
	__le64 peers_lost;	/* sessions that ended, if as asked for, too */
	__le64 mail_sent;
	__le64 mail_received;
	__le64 protocol;	/* PDUs in sequence that broke this text */
	__le64 messages_dropped; /* MESSAGE without a QP that takes it, or malformed */
	/* Of queue pairs, as in struct kiwi_snic_port_counters; 0 without KIWI_G2G_CAP_MSGQ */
	__le64 qp_out_of_sequence;
	__le64 qp_duplicate_request;
	__le64 qp_packet_seq_err;
	__le64 qp_local_ack_timeout_err;
	__le64 qp_rnr_nak_sent;
	__le64 qp_rnr_nak_rcvd;
	__le64 qp_rnr_nak_retry_err;
	__le64 qp_retry_exceeded_err;
	__le64 qp_remote_access_err;
	__le64 qp_retransmitted;
	__le64 rsvd[21];
};
KIWI_ABI_SIZE(struct kiwi_g2g_counters, 512);

/* Error log ------------------------------------------------------------------ */

enum kiwi_g2g_log_kind {
	KIWI_G2G_LOG_LOAD	= 1,	/* id: window; addr: offset in its range of BAR 4 */
	KIWI_G2G_LOG_STORE	= 2,	/* likewise */
	KIWI_G2G_LOG_ATOMIC	= 3,	/* likewise */
	KIWI_G2G_LOG_TARGET	= 4,	/* id: export or 0; addr: offset in it; accel: who asked */
	KIWI_G2G_LOG_PROTOCOL	= 5,	/* accel: who broke this text; id: enum kiwi_g2g_tx_op */
	KIWI_G2G_LOG_ID_CONFLICT = 6,	/* accel: the id; addr: serial of the other die */
};

struct kiwi_g2g_log_entry {
	__le64 sequence;	/* of the record, from 1 */
	__le64 time_us;		/* of the first event in it, since the device was enabled */
	__le64 addr;		/* of the first */
	__le32 id;
	__le32 count;		/* events in this record */
	__le32 len;		/* bytes of the first access */
	__le16 accel;		/* the other side, or KIWI_G2G_ACCEL_NONE */
	__u8 kind;		/* enum kiwi_g2g_log_kind */
	__u8 status;		/* enum kiwi_g2g_status */
	__u8 rsvd[24];
};
KIWI_ABI_SIZE(struct kiwi_g2g_log_entry, 64);

#define KIWI_G2G_LOG_READ	8

/* READ_LOG: no input; takes the records off the log */
struct kiwi_g2g_log {
	__le32 count;		/* records in this reply: KIWI_G2G_LOG_READ, or all there are */
	__le32 left;		/* records still in the log */
	__le64 lost;		/* events that found no room, since reset */
	struct kiwi_g2g_log_entry entry[KIWI_G2G_LOG_READ];
};
KIWI_ABI_SIZE(struct kiwi_g2g_log, 528);

/* Routes ---------------------------------------------------------------------- */

#define KIWI_G2G_ROUTES		64	/* in one command */

/* All zero: this accelerator is not to be reached. */
struct kiwi_g2g_route {
	__le32 ports;		/* 1 << port: any of them leads there */
	__u8 layer;		/* virtual channel layer on that link, below caps.layers */
	__u8 rsvd[3];
};
KIWI_ABI_SIZE(struct kiwi_g2g_route, 8);

#define KIWI_G2G_STAGE_CLEAR	0x01	/* forget all staged before */

/* STAGE_ROUTES: no reply */
struct kiwi_g2g_stage_routes_in {
	__le16 first;		/* accelerator of route[0] */
	__le16 count;		/* 0..KIWI_G2G_ROUTES, 0 only with CLEAR; the rest is zero */
	__u8 flags;		/* KIWI_G2G_STAGE_* */
	__u8 rsvd[3];
	struct kiwi_g2g_route route[KIWI_G2G_ROUTES];
};
KIWI_ABI_SIZE(struct kiwi_g2g_stage_routes_in, 520);

/* COMMIT_ROUTES, ROLLBACK_ROUTES: input struct kiwi_cmd_id, the generation thought to be in
 * force (32 bits); reply struct kiwi_cmd_id, the one in force now.
 */

enum kiwi_g2g_table {
	KIWI_G2G_TABLE_ACTIVE	= 0,
	KIWI_G2G_TABLE_STAGED	= 1,
	KIWI_G2G_TABLE_PREVIOUS	= 2,
};

struct kiwi_g2g_query_routes_in {
	__le16 first;		/* below caps.accels */
	__u8 table;		/* enum kiwi_g2g_table */
	__u8 rsvd[5];
};
KIWI_ABI_SIZE(struct kiwi_g2g_query_routes_in, 8);

struct kiwi_g2g_query_routes_out {
	__le32 generation;	/* of that table; STAGED: 0 */
	__le32 rsvd;
	struct kiwi_g2g_route route[KIWI_G2G_ROUTES];	/* beyond caps.accels: zero */
};
KIWI_ABI_SIZE(struct kiwi_g2g_query_routes_out, 520);

/* Images ------------------------------------------------------------------------ */

enum kiwi_g2g_slot_state {
	KIWI_G2G_SLOT_EMPTY	= 0,
	KIWI_G2G_SLOT_LOADING	= 1,	/* begun, not all written */
	KIWI_G2G_SLOT_LOADED	= 2,	/* all written, not verified */
	KIWI_G2G_SLOT_VERIFIED	= 3,
	KIWI_G2G_SLOT_BAD	= 4,
	KIWI_G2G_SLOT_STATE_COUNT
};

enum kiwi_g2g_image_error {	/* why VERIFY_IMAGE found it BAD */
	KIWI_G2G_IMAGE_OK	= 0,
	KIWI_G2G_IMAGE_MALFORMED = 1,	/* magic, size, length, reserved or a field out of range */
	KIWI_G2G_IMAGE_HASH	= 2,
	KIWI_G2G_IMAGE_FOREIGN	= 3,	/* well formed, but no engine here runs it */
};

/* BEGIN_IMAGE: no reply */
struct kiwi_g2g_begin_image_in {
	__le32 slot;
	__le32 length;		/* sizeof(struct kiwi_g2g_image)..caps.image_max */
};
KIWI_ABI_SIZE(struct kiwi_g2g_begin_image_in, 8);

/* WRITE_IMAGE: no reply */
struct kiwi_g2g_write_image_in {
	__le32 slot;
	__le32 offset;		/* the bytes written so far: no gaps, no repeats */
	__le32 len;		/* 1..KIWI_G2G_IMAGE_CHUNK, not beyond the length begun */
	__le32 rsvd;
	__le64 addr;		/* DMA address, contiguous */
};
KIWI_ABI_SIZE(struct kiwi_g2g_write_image_in, 24);

#define KIWI_G2G_IMAGE_CHUNK	65536

/* VERIFY_IMAGE, ACTIVATE_IMAGE: input struct kiwi_cmd_id (slot), no reply payload.
 * QUERY_IMAGE: input struct kiwi_cmd_id (slot).
 */
struct kiwi_g2g_slot {
	__u8 state;		/* enum kiwi_g2g_slot_state */
	__u8 error;		/* enum kiwi_g2g_image_error */
	__u8 active;		/* 0 or 1 */
	__u8 rsvd0;
	__le32 written;		/* bytes */
	__le64 rsvd1;
	struct kiwi_g2g_image image;	/* zero unless VERIFIED */
};
KIWI_ABI_SIZE(struct kiwi_g2g_slot, 144);

/* Exports ------------------------------------------------------------------------ */

#define KIWI_G2G_RIGHTS	(KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_READ | \
			 KIWI_ACCESS_REMOTE_ATOMIC)

/**
 * struct kiwi_g2g_create_export_in - reply: struct kiwi_cmd_id (export)
 * @handle: random, chosen by the host, not all zero, unlike that of any other export
 * @length: bytes, 1..max_export_size, at most 2^addr_bits of the active image
 * @rights: of KIWI_G2G_RIGHTS, at least one
 * @rsvd: 0
 * @grantees: bit (a % 8) of byte (a / 8): accelerator a may bind
 * @pbl: the memory: pbl.offset + @length fills exactly pbl.count pages
 */
struct kiwi_g2g_create_export_in {
	__u8 handle[16];
	__le64 length;
	__le32 rights;
	__le32 rsvd;
	__u8 grantees[KIWI_G2G_ACCELS_MAX / 8];
	struct kiwi_pbl pbl;
};
KIWI_ABI_SIZE(struct kiwi_g2g_create_export_in, 208);

/* REVOKE_EXPORT, DESTROY_EXPORT: input struct kiwi_cmd_id (export), no reply payload. */

enum kiwi_g2g_export_state {
	KIWI_G2G_EXPORT_LIVE	= 1,
	KIWI_G2G_EXPORT_REVOKING = 2,	/* no access any more; importers have yet to acknowledge */
	KIWI_G2G_EXPORT_REVOKED	= 3,
	KIWI_G2G_EXPORT_STATE_COUNT
};

/* QUERY_EXPORT: input struct kiwi_cmd_id (export) */
struct kiwi_g2g_export {
	__u8 state;		/* enum kiwi_g2g_export_state */
	__u8 rsvd[3];
	__le32 bindings;	/* live */
	__u8 importers[KIWI_G2G_ACCELS_MAX / 8];	/* as grantees: who holds a binding */
};
KIWI_ABI_SIZE(struct kiwi_g2g_export, 136);

/* Windows ------------------------------------------------------------------------ */

enum kiwi_g2g_window_state {
	KIWI_G2G_WINDOW_BINDING	= 1,	/* the exporter was asked */
	KIWI_G2G_WINDOW_BOUND	= 2,	/* it agreed; sizes are known */
	KIWI_G2G_WINDOW_MAPPED	= 3,	/* accesses reach the peer */
	KIWI_G2G_WINDOW_DEAD	= 4,	/* accesses are poisoned; for good */
	KIWI_G2G_WINDOW_STATE_COUNT
};

/* BIND_WINDOW: reply struct kiwi_cmd_id (window) */
struct kiwi_g2g_bind_window_in {
	__u8 handle[16];
	__le32 rights;		/* wanted: of KIWI_G2G_RIGHTS, at least one */
	__le16 accel;		/* exporter */
	__le16 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_g2g_bind_window_in, 24);

/* MAP_WINDOW: no reply */
struct kiwi_g2g_map_window_in {
	__le32 window;		/* BOUND */
	__le32 rsvd;
	__le64 offset;		/* in BAR 4, a multiple of the granule */
	__le64 export_offset;	/* of the byte seen there, a multiple of 4096 */
	__le64 length;		/* bytes, 1..; @export_offset + @length is within the export */
};
KIWI_ABI_SIZE(struct kiwi_g2g_map_window_in, 32);

/* UNBIND_WINDOW: input struct kiwi_cmd_id (window), no reply payload.
 * QUERY_WINDOW: input struct kiwi_cmd_id (window).
 */
struct kiwi_g2g_window {
	__u8 state;		/* enum kiwi_g2g_window_state */
	__u8 reason;		/* enum kiwi_g2g_reason */
	__le16 accel;
	__le32 rights;		/* granted: those wanted */
	__le64 export_length;	/* 0 while BINDING, or if it was refused */
	__le64 offset;		/* as mapped, here and below; 0 while it never was */
	__le64 export_offset;
	__le64 length;
	__le64 rsvd;
};
KIWI_ABI_SIZE(struct kiwi_g2g_window, 48);

/* Atomic page of window w, at caps.atomic_base + (w - 1 << KIWI_LIMITS_DB_PAGE_SHIFT): cells */
#define KIWI_G2G_CELL_SIZE	64
#define KIWI_G2G_CELLS		64		/* in the first 4 KiB of the page */
#define KIWI_G2G_CELL_OPERAND	0x00		/* u64, read and write: addend, or new value */
#define KIWI_G2G_CELL_COMPARE	0x08		/* u64, read and write: for CMP_SWAP */
#define KIWI_G2G_CELL_GO	0x10		/* u64, write: op << 56 | offset in the window */
#define   KIWI_G2G_CELL_OP_SHIFT	56	/* enum kiwi_g2g_atomic */
#define KIWI_G2G_CELL_RESULT	0x18		/* u64, read: waits; the value before */
#define KIWI_G2G_CELL_STATUS	0x20		/* u64, read: waits; enum kiwi_g2g_status */

/* Peers -------------------------------------------------------------------------- */

enum kiwi_g2g_peer_state {
	KIWI_G2G_PEER_NONE		= 0,	/* no route, or the fabric is not active */
	KIWI_G2G_PEER_SEEKING		= 1,
	KIWI_G2G_PEER_ESTABLISHED	= 2,
	KIWI_G2G_PEER_MISMATCH		= 3,	/* it answers, but there is no agreement */
	KIWI_G2G_PEER_ISOLATED		= 4,
	KIWI_G2G_PEER_STATE_COUNT
};

/* QUERY_PEER: input struct kiwi_cmd_id (accelerator) */
struct kiwi_g2g_peer {
	__le16 accel;
	__u8 state;		/* enum kiwi_g2g_peer_state */
	__u8 reason;		/* enum kiwi_g2g_reason of the last change */
	__le32 generation;	/* sessions established with it, since reset */
	__le64 serial;		/* as last heard, here and below; 0: never */
	__le16 image_id;
	__le16 mail_room;	/* messages that may be sent to it now */
	__le32 image_version;
	__le32 epoch;
	__le32 bindings;	/* that it holds on our exports */
	__le32 windows;		/* ours on its exports */
	__le16 partition;
	__u8 rsvd[26];
};
KIWI_ABI_SIZE(struct kiwi_g2g_peer, 64);

/* ISOLATE_PEER, RECOVER_PEER: input struct kiwi_cmd_id (accelerator), no reply payload. */

#define KIWI_G2G_MAIL_MAX	64

/* SEND_MAIL: no reply. READ_MAIL: no input, this reply. */
struct kiwi_g2g_mail {
	__le16 accel;		/* the other side */
	__le16 len;		/* 1..KIWI_G2G_MAIL_MAX; the rest of data is zero */
	__le32 generation;	/* of the peer: the session it belongs to */
	__u8 data[KIWI_G2G_MAIL_MAX];
};
KIWI_ABI_SIZE(struct kiwi_g2g_mail, 72);

/* Queue pairs ---------------------------------------------------------------------- */

/* In kiwi_qp_attr: port 1, sgid_index 0, dmac 0, flow_label 0, udp_sport 0, and dgid is zero
 * but for its last two bytes, which hold the accelerator id, big-endian: M-50.
 */
#define KIWI_G2G_DGID_ACCEL	14

#endif /* KIWI_ABI_G2G_H */
