/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libkiwi for G2G IO dies: the fabric, and memory that is exported to peers and imported from
 * them.
 *
 * Calls that can fail return 0 or a negative errno, with the meanings that kiwi/g2g.h gives;
 * kiwi_error() then says in words what was refused. What a call makes is stored through its last
 * argument, and only on success. Threads: as in kiwi/kiwi.h.
 *
 * Of structures that a call takes or fills in, size, flags and what names the object are the
 * library's to set.
 */
#ifndef KIWI_FABRIC_H
#define KIWI_FABRIC_H

#include <kiwi/g2g.h>
#include <kiwi/kiwi.h>
#include <kiwi_abi/g2g.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kiwi_g2g;

/* Devices ----------------------------------------------------------------- */

/* Fill in at most @max names, in the order of their numbers. Return: how many devices there are. */
int kiwi_g2g_list(struct kiwi_name *names, int max);

/* @name: "g2g0", "0" or "/dev/kiwi/g2g0". */
int kiwi_g2g_open(const char *name, struct kiwi_g2g **g2g);

/*
 * Close @g2g; NULL is allowed. All objects that were made with it end, and their handles and
 * mappings with them.
 */
void kiwi_g2g_close(struct kiwi_g2g *g2g);

const char *kiwi_g2g_name(const struct kiwi_g2g *g2g);

/* The file: for poll(2), or to be handed to another process. */
int kiwi_g2g_fd(const struct kiwi_g2g *g2g);

/*
 * The die as a device with queues, for the calls of kiwi/kiwi.h and kiwi/queue.h that make PDs,
 * MRs, doorbells, CQs and QPs and use them; it ends with @g2g, and is not closed. They fail with
 * EOPNOTSUPP unless the die has KIWI_G2G_CAP_MSGQ. Those that are about ports, GIDs and preflight
 * fail with ENOTTY.
 */
struct kiwi_device *kiwi_g2g_device(struct kiwi_g2g *g2g);

/* Identity and limits, as they were when the device was opened. */
const struct kiwi_g2g_query_device *kiwi_g2g_info(const struct kiwi_g2g *g2g);

/* Fabric ------------------------------------------------------------------ */

/* Needs CAP_NET_ADMIN. @config: pod, epoch, accel and partition */
int kiwi_g2g_set_fabric(struct kiwi_g2g *g2g, const struct kiwi_g2g_fabric_set *config);

/* Needs CAP_NET_ADMIN. @op: enum kiwi_g2g_fabric_change_op */
int kiwi_g2g_change_fabric(struct kiwi_g2g *g2g, uint32_t op);

int kiwi_g2g_query_fabric(struct kiwi_g2g *g2g, struct kiwi_g2g_fabric_query *out);

/*
 * Wait until the fabric is in @state (KIWI_G2G_FABRIC_*). @timeout_ms: -1 for no end. Here and
 * below -ETIMEDOUT when it is not in time, and kiwi_error() tells what keeps it. These calls ask
 * the device; they take no event.
 */
int kiwi_g2g_wait_fabric(struct kiwi_g2g *g2g, unsigned int state, int timeout_ms);

/* Ports and peers --------------------------------------------------------- */

/* Needs CAP_NET_ADMIN. */
int kiwi_g2g_set_port(struct kiwi_g2g *g2g, uint32_t port, const struct kiwi_g2g_port_set *config);
int kiwi_g2g_query_port(struct kiwi_g2g *g2g, uint32_t port, struct kiwi_g2g_port_query *out);

int kiwi_g2g_query_peer(struct kiwi_g2g *g2g, unsigned int accel, struct kiwi_g2g_peer_query *out);

/* Needs CAP_NET_ADMIN. @op: enum kiwi_g2g_peer_change_op */
int kiwi_g2g_change_peer(struct kiwi_g2g *g2g, unsigned int accel, uint32_t op);

/* Wait until a peer is in @state (KIWI_G2G_PEER_*). */
int kiwi_g2g_wait_peer(struct kiwi_g2g *g2g, unsigned int accel, unsigned int state,
		       int timeout_ms);

/* The oldest records of failed accesses behind sequence number @after: @out->count of them. */
int kiwi_g2g_read_log(struct kiwi_g2g *g2g, uint64_t after, struct kiwi_g2g_log_read *out);

/* Routes ------------------------------------------------------------------ */

/*
 * Prove the routes of a fabric, and stage this die's. Needs CAP_NET_ADMIN. @fabric: nodes, links
 * and entries with their numbers, and max_hops; without entries the kernel makes the routes.
 */
int kiwi_g2g_stage_routes(struct kiwi_g2g *g2g, const struct kiwi_g2g_routes_stage *fabric);

/*
 * Put what is staged in force, or what was in force before. Needs CAP_NET_ADMIN. @flags:
 * KIWI_G2G_ROUTES_*. @generation: thought to be in force, and in force then; it is stored on
 * success.
 */
int kiwi_g2g_commit_routes(struct kiwi_g2g *g2g, uint32_t flags, uint32_t *generation);

/* Routes to the accelerators from @first on. @table: KIWI_G2G_TABLE_* */
int kiwi_g2g_query_routes(struct kiwi_g2g *g2g, uint32_t table, uint32_t first,
			  struct kiwi_g2g_routes_query *out);

/* Wait until routes of this generation are in force. */
int kiwi_g2g_wait_routes(struct kiwi_g2g *g2g, uint32_t generation, int timeout_ms);

/* Images ------------------------------------------------------------------ */

/* Load and verify kiwi/g2g/@name of the kernel's firmware folders. Needs CAP_NET_ADMIN. */
int kiwi_g2g_load_image(struct kiwi_g2g *g2g, uint32_t slot, const char *name);

/* Load from memory. Needs CAP_NET_ADMIN. */
int kiwi_g2g_write_image(struct kiwi_g2g *g2g, uint32_t slot, const void *data, size_t length);

/* Needs CAP_NET_ADMIN. @op: enum kiwi_g2g_image_change_op */
int kiwi_g2g_change_image(struct kiwi_g2g *g2g, uint32_t slot, uint32_t op);

int kiwi_g2g_query_image(struct kiwi_g2g *g2g, uint32_t slot, struct kiwi_g2g_image_query *out);

/* Exports ----------------------------------------------------------------- */

/**
 * struct kiwi_export - memory that peers may import
 * @g2g: of the export
 * @length: bytes
 * @id: for ioctls, and in events
 * @handle: what an importer needs to be told
 */
struct kiwi_export {
	struct kiwi_g2g *g2g;
	uint64_t length;
	uint32_t id;
	uint8_t handle[16];
};

/**
 * struct kiwi_export_config - what kiwi_export_create() makes
 * @fd: DMA-buf; the caller may close it then
 * @rights: that may be granted: KIWI_ACCESS_REMOTE_*, at least one
 * @offset: of the first byte in the DMA-buf
 * @length: bytes
 * @user_data: given back in events
 * @grantees: accelerators that may import it
 * @nr_grantees: of them
 */
struct kiwi_export_config {
	int fd;
	uint32_t rights;
	uint64_t offset;
	uint64_t length;
	uint64_t user_data;
	const uint16_t *grantees;
	unsigned int nr_grantees;
};

int kiwi_export_create(struct kiwi_g2g *g2g, const struct kiwi_export_config *config,
		       struct kiwi_export **exp);

/*
 * No peer reaches the memory when this returns; KIWI_G2G_EVENT_EXPORT tells when all importers
 * have acknowledged. The export is then still to be destroyed.
 */
int kiwi_export_revoke(struct kiwi_export *exp);

/* Wait until an export is in @state (KIWI_G2G_EXPORT_*). */
int kiwi_export_wait(struct kiwi_export *exp, unsigned int state, int timeout_ms);

int kiwi_export_query(struct kiwi_export *exp, struct kiwi_g2g_export_query *out);

/* Revokes too, and is -EBUSY until all importers have acknowledged; the handle is good then. */
int kiwi_export_destroy(struct kiwi_export *exp);

/* Imports ----------------------------------------------------------------- */

/**
 * struct kiwi_import - memory of a peer
 * @g2g: of the import
 * @addr: where this process sees it; NULL until kiwi_import_map()
 * @length: bytes of it
 * @id: for ioctls, and in events
 *
 * Loads and stores at @addr travel: a load waits for the peer's answer, at most load_us of
 * kiwi_g2g_info(), and is all-ones if it failed; a load is the proof that earlier stores to that
 * peer are done. When the import dies the kernel puts ordinary memory in its place.
 */
struct kiwi_import {
	struct kiwi_g2g *g2g;
	volatile void *addr;
	uint64_t length;
	uint32_t id;
};

/*
 * Ask accelerator @accel for the memory behind @handle. @rights: KIWI_ACCESS_REMOTE_* wanted. The
 * answer comes later: kiwi_import_wait(), or KIWI_G2G_EVENT_IMPORT.
 */
int kiwi_import_bind(struct kiwi_g2g *g2g, unsigned int accel, const uint8_t handle[16],
		     uint32_t rights, uint64_t user_data, struct kiwi_import **imp);

/* Wait for the answer: 0 when it is BOUND; -ECONNREFUSED when it was refused or died. */
int kiwi_import_wait(struct kiwi_import *imp);

/*
 * Map @length bytes from @export_offset on, a multiple of 4096; once. @flags: KIWI_G2G_IMPORT_WC.
 * If it fails the import can only be destroyed.
 */
int kiwi_import_map(struct kiwi_import *imp, uint32_t flags, uint64_t export_offset,
		    uint64_t length);

/*
 * An atomic on the 8 bytes at @offset of what is mapped, if the rights have REMOTE_ATOMIC.
 * @cell: below KIWI_G2G_CELLS, in use by one call at a time; @op: KIWI_G2G_FETCH_ADD, _SWAP,
 * _CMP_SWAP; @before: the value before. -EREMOTEIO when the peer did not do it.
 */
int kiwi_import_atomic(struct kiwi_import *imp, unsigned int cell, unsigned int op,
		       uint64_t offset, uint64_t operand, uint64_t compare, uint64_t *before);

int kiwi_import_query(struct kiwi_import *imp, struct kiwi_g2g_import_query *out);

/* What is mapped as a DMA-buf, for a GPU's driver: @out->fd, the caller's, closed on exec. */
int kiwi_import_dmabuf(struct kiwi_import *imp, struct kiwi_g2g_import_dmabuf *out);

int kiwi_import_destroy(struct kiwi_import *imp);

/* Events ------------------------------------------------------------------ */

/* As kiwi_next_event(). Return: 1 with @event filled in, 0 when none came in time, or an errno. */
int kiwi_g2g_next_event(struct kiwi_g2g *g2g, struct kiwi_file_event *event, int timeout_ms);

/* Words for values, those of sysfs where it has them; "?" for what is none. - */

const char *kiwi_g2g_fabric_state_text(unsigned int state);
const char *kiwi_g2g_port_state_text(unsigned int state);
const char *kiwi_g2g_peer_state_text(unsigned int state);
const char *kiwi_g2g_slot_state_text(unsigned int state);
const char *kiwi_g2g_export_state_text(unsigned int state);
const char *kiwi_g2g_import_state_text(unsigned int state);
const char *kiwi_g2g_reason_text(unsigned int reason);
const char *kiwi_g2g_image_error_text(unsigned int error);
const char *kiwi_g2g_log_text(unsigned int kind);
const char *kiwi_g2g_status_text(unsigned int status);
const char *kiwi_g2g_event_text(unsigned int event_type);

#ifdef __cplusplus
}
#endif

#endif /* KIWI_FABRIC_H */
