/* SPDX-License-Identifier: GPL-2.0 */
/*
 * In place of kiwi_fw: takes the commands of a G2G IO die, keeps its exports and windows as the
 * ABI says, and notes when the driver breaks a rule, above all when memory is given back that the
 * device may still reach, or granules are mapped twice.
 */
#ifndef KG2G_FAKE_FW_H
#define KG2G_FAKE_FW_H

#include <kunit/test.h>
#include <linux/mutex.h>

#include <kiwi/fw.h>
#include <kiwi_abi/g2g.h>

#define FAKE_BAR_LEN	((u64)SZ_1G)
#define FAKE_CMDS	64
#define FAKE_OBJECTS	16
#define FAKE_IMAGE_MAX	(3 * KIWI_G2G_IMAGE_CHUNK)

/**
 * struct fake_cmd - a command that was given
 * @opcode: in the ABI
 * @in_len: bytes of @in
 * @in: input
 */
struct fake_cmd {
	u16 opcode;
	size_t in_len;
	u8 in[544];
};

/**
 * struct fake_export - an export of the device
 * @number: 0 for none
 * @state: enum kiwi_g2g_export_state
 * @bindings: live
 * @in: as created
 */
struct fake_export {
	u32 number;
	u8 state;
	u32 bindings;
	struct kiwi_g2g_create_export_in in;
};

/**
 * struct fake_window - a window of the device
 * @number: 0 for none
 * @state: reply of QUERY_WINDOW
 */
struct fake_window {
	u32 number;
	struct kiwi_g2g_window state;
};

/**
 * struct fake_mem - memory
 * @mem: what the driver sees
 * @run: all of it
 * @fw: that made it
 * @fd: of the DMA-buf
 * @writable: as asked for
 * @ops: likewise
 * @arg: of @ops
 */
struct fake_mem {
	struct kiwi_fw_mem mem;
	struct kiwi_fw_run run;
	struct kiwi_fw *fw;
	int fd;
	bool writable;
	const struct kiwi_fw_dmabuf_ops *ops;
	void *arg;
};

/**
 * struct kiwi_fw - the fake
 * @lock: protects all
 * @ops: what the driver wants to be told
 * @priv: for @ops
 * @identity: of the device
 * @caps: reply of QUERY_CAPS
 * @fabric: reply of QUERY_FABRIC
 * @port: reply of QUERY_PORT
 * @peer: reply of QUERY_PEER
 * @slot: replies of QUERY_IMAGE
 * @image: bytes written
 * @log: reply of READ_LOG
 * @generation: of the routes in force
 * @paused: PAUSE was accepted and not ended
 * @drains: PAUSE ends with an event DRAINED at once
 * @error: what commands fail with, 0 while the device is up
 * @fails: calls of kiwi_fw_fail()
 * @cmds: commands given, the last FAKE_CMDS of them
 * @nr_cmds: how many ever
 * @refuse: opcode that is refused
 * @refusal: how
 * @kill: opcode during which the device dies
 * @kill_error: with this
 * @number: that the next object gets, -1: the next free
 * @last: number given last
 * @bind_state: that a window has when BIND_WINDOW is replied
 * @exports: alive
 * @windows: alive
 * @mems: not given back
 * @next_dma: address of the next memory
 * @last_mem: memory made last
 * @mem_error: what the next memory fails with
 * @pbls: not released
 * @broken: rule that the driver broke
 */
struct kiwi_fw {
	struct mutex lock;	/* all that follows */
	const struct kiwi_fw_ops *ops;
	void *priv;
	struct kiwi_fw_identity identity;
	struct kiwi_g2g_caps caps;
	struct kiwi_g2g_fabric fabric;
	struct kiwi_g2g_port port;
	struct kiwi_g2g_peer peer;
	struct kiwi_g2g_slot slot[2];
	u8 image[FAKE_IMAGE_MAX];
	struct kiwi_g2g_log log;
	u32 generation;
	bool paused;
	bool drains;
	int error;
	unsigned int fails;

	struct fake_cmd cmds[FAKE_CMDS];
	unsigned int nr_cmds;
	u16 refuse;
	struct kiwi_fw_err refusal;
	u16 kill;
	int kill_error;

	s64 number;
	u32 last;
	u8 bind_state;
	struct fake_export exports[FAKE_OBJECTS];
	struct fake_window windows[FAKE_OBJECTS];

	unsigned int mems;
	u64 next_dma;
	struct fake_mem *last_mem;
	int mem_error;
	unsigned int pbls;
	const char *broken;
};

void fake_fw_init(struct kiwi_fw *fw);
unsigned int fake_fw_live(struct kiwi_fw *fw);
unsigned int fake_fw_count(struct kiwi_fw *fw, u16 opcode);
const struct fake_cmd *fake_fw_last(struct kiwi_fw *fw);
void fake_fw_refuse(struct kiwi_fw *fw, u16 opcode, u16 status);
void fake_fw_event(struct kiwi_fw *fw, u8 type, u32 id, u8 code, u32 info);
struct fake_export *fake_fw_export(struct kiwi_fw *fw);
struct fake_window *fake_fw_window(struct kiwi_fw *fw);
void fake_fw_window_state(struct kiwi_fw *fw, u32 number, u8 state, u8 reason);
void fake_fw_acknowledge(struct kiwi_fw *fw, u32 number, u32 isolated);

#endif /* KG2G_FAKE_FW_H */
