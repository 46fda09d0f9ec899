/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In place of kiwi_fw, for the suites of a part's driver: takes the commands, has the part's model
 * carry them out, and notes when the driver breaks a rule, above all when memory is given back
 * that the device may still reach.
 */
#ifndef KIWI_FAKE_FW_H
#define KIWI_FAKE_FW_H

#include <linux/mutex.h>
#include <linux/types.h>

#include <kiwi/fw.h>

struct fake_queues;

#define FAKE_CMDS	64

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
	u8 in[544];
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
 * struct fake_model - the part behind the commands
 * @execute: carries out a command; returns enum kiwi_status
 * @forget: the device died or was reset: it knows no object any more
 * @live: objects that it knows
 * @reaches: whether it may reach memory at a DMA address
 */
struct fake_model {
	u16 (*execute)(struct kiwi_fw *fw, u16 opcode, const void *in, void *out);
	void (*forget)(struct kiwi_fw *fw);
	unsigned int (*live)(const struct kiwi_fw *fw);
	bool (*reaches)(const struct kiwi_fw *fw, u64 addr);
};

/**
 * struct kiwi_fw - the fake, which a part's begins with
 * @model: the part
 * @queues: its queues, or NULL
 * @lock: protects all that follows
 * @ops: what the driver wants to be told
 * @priv: for @ops
 * @identity: of the device
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
 * @last: number given last
 * @mems: not given back
 * @next_dma: address of the next memory
 * @last_mem: memory made last
 * @mem_error: what the next memory fails with
 * @mem_why: and why
 * @pbls: not released
 * @pbl_error: what page lists fail with
 * @pbl_why: and why
 * @pbl_limits: as given last
 * @releasing: what else happens when a page list is released
 * @syncs: calls of kiwi_fw_sync_events()
 * @syncing: what else happens in it
 * @broken: rule that the driver broke
 */
struct kiwi_fw {
	const struct fake_model *model;
	struct fake_queues *queues;
	struct mutex lock;	/* all that follows */
	const struct kiwi_fw_ops *ops;
	void *priv;
	struct kiwi_fw_identity identity;
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
	u32 last;

	unsigned int mems;
	u64 next_dma;
	struct fake_mem *last_mem;
	int mem_error;
	struct kiwi_fw_err mem_why;
	unsigned int pbls;
	int pbl_error;
	struct kiwi_fw_err pbl_why;
	struct kiwi_fw_pbl_limits pbl_limits;
	void (*releasing)(struct kiwi_fw *fw);

	unsigned int syncs;
	void (*syncing)(struct kiwi_fw *fw);
	const char *broken;
};

/* For models */
void fake_fw_init(struct kiwi_fw *fw, const struct fake_model *model);
void fake_fw_broken(struct kiwi_fw *fw, const char *rule);
u32 fake_fw_number(struct kiwi_fw *fw);

/* For tests */
void fake_fw_reset(struct kiwi_fw *fw);
void fake_fw_refuse(struct kiwi_fw *fw, u16 opcode, u16 status);
void fake_fw_event(struct kiwi_fw *fw, u8 type, u32 id, u8 code, u32 info);
unsigned int fake_fw_live(struct kiwi_fw *fw);
unsigned int fake_fw_count(struct kiwi_fw *fw, u16 opcode);
const struct fake_cmd *fake_fw_last(struct kiwi_fw *fw);

#endif /* KIWI_FAKE_FW_H */
