/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In place of kiwi_fw: takes the commands of a SNIC, keeps its objects as the ABI says, and
 * notes when the driver breaks a rule, above all when memory is given back that the device
 * may still reach.
 */
#ifndef KSNIC_FAKE_FW_H
#define KSNIC_FAKE_FW_H

#include <kunit/test.h>
#include <linux/mutex.h>

#include <kiwi/fw.h>
#include <kiwi_abi/snic.h>

#define FAKE_DB_PAGES	8
#define FAKE_DB_BASE	0x4000000000ULL
#define FAKE_CMDS	64
#define FAKE_OBJECTS	32

enum fake_kind {
	FAKE_PD = 1,
	FAKE_MR,
	FAKE_CQ,
	FAKE_QP,
	FAKE_KINDS
};

/**
 * struct fake_cmd - a command that was given
 * @opcode: in the ABI
 * @in_len: bytes of @in
 * @out_len: bytes of the reply
 * @in: input
 */
struct fake_cmd {
	u16 opcode;
	size_t in_len;
	size_t out_len;
	u8 in[256];
};

/**
 * struct fake_object - an object of the device
 * @kind: which, 0 for none
 * @number: in the ABI
 * @pd: number of its PD, 0 for none
 * @cqs: numbers of its CQs
 * @db_page: its doorbell page, -1 for none
 * @memory: DMA addresses of what it lives in, 0 while a region is held
 */
struct fake_object {
	enum fake_kind kind;
	u32 number;
	u32 pd;
	u32 cqs[2];
	int db_page;
	u64 memory[2];
};

/**
 * struct fake_mem - memory
 * @mem: what the driver sees
 * @run: all of it
 * @fw: that made it
 * @fd: of the DMA-buf, -1 for user memory
 * @addr: user address, or offset
 * @writable: as asked for
 * @ops: likewise
 * @arg: of @ops
 */
struct fake_mem {
	struct kiwi_fw_mem mem;
	struct kiwi_fw_run run;
	struct kiwi_fw *fw;
	int fd;
	u64 addr;
	bool writable;
	const struct kiwi_fw_dmabuf_ops *ops;
	void *arg;
};

/**
 * struct kiwi_fw - the fake
 * @lock: protects all
 * @identity: of the device
 * @caps: reply of QUERY_CAPS
 * @port: reply of QUERY_PORT
 * @attr: reply of QUERY_QP
 * @error: what commands fail with, 0 while the device is up
 * @fails: calls of kiwi_fw_fail()
 * @fail_reason: of the last
 * @cmds: commands given, the last FAKE_CMDS of them
 * @nr_cmds: how many ever
 * @refuse: opcode that is refused
 * @refusal: how
 * @kill: opcode during which the device dies
 * @kill_error: with this
 * @number: that the next object gets, -1: the next free
 * @epoch: of the last queue
 * @last: number given last
 * @objects: alive
 * @db_open: pages
 * @mems: not given back
 * @next_dma: address of the next memory
 * @last_mem: memory made last
 * @mem_error: what the next memory fails with
 * @mem_why: and why
 * @pbl_error: what page lists fail with
 * @pbl_why: and why
 * @pbl_limits: as given last
 * @pbls: not released
 * @syncs: calls of kiwi_fw_sync_events()
 * @syncing: what else happens in it
 * @comp: listener added last
 * @comps: listeners
 * @comp_error: what adding one fails with
 * @broken: rule that the driver broke
 */
struct kiwi_fw {
	struct mutex lock;	/* all that follows */
	struct kiwi_fw_identity identity;
	struct kiwi_snic_caps caps;
	struct kiwi_snic_port port;
	struct kiwi_qp_attr attr;
	int error;
	unsigned int fails;
	enum kiwi_reset_reason fail_reason;

	struct fake_cmd cmds[FAKE_CMDS];
	unsigned int nr_cmds;
	u16 refuse;
	struct kiwi_fw_err refusal;
	u16 kill;
	int kill_error;

	s64 number;
	u16 epoch;
	u32 last;
	struct fake_object objects[FAKE_OBJECTS];
	DECLARE_BITMAP(db_open, FAKE_DB_PAGES);

	unsigned int mems;
	u64 next_dma;
	struct fake_mem *last_mem;
	int mem_error;
	struct kiwi_fw_err mem_why;
	int pbl_error;
	struct kiwi_fw_err pbl_why;
	struct kiwi_fw_pbl_limits pbl_limits;
	unsigned int pbls;

	unsigned int syncs;
	void (*syncing)(struct kiwi_fw *fw);
	struct kiwi_fw_comp *comp;
	unsigned int comps;
	int comp_error;
	const char *broken;
};

void fake_fw_init(struct kiwi_fw *fw);
void fake_fw_reset(struct kiwi_fw *fw);
unsigned int fake_fw_live(struct kiwi_fw *fw);
const struct fake_cmd *fake_fw_last(struct kiwi_fw *fw);
void fake_fw_refuse(struct kiwi_fw *fw, u16 opcode, u16 status);

#endif /* KSNIC_FAKE_FW_H */
