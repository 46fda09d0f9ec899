/* SPDX-License-Identifier: GPL-2.0 */
/* The admin queue: state of admin.c. */
#ifndef KIWI_FW_ADMIN_H
#define KIWI_FW_ADMIN_H

#include <linux/bitmap.h>
#include <linux/bits.h>
#include <linux/completion.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <kiwi_abi/admin.h>

#define KIWI_FW_AQ_LOG2_MAX	6
#define KIWI_FW_SLOTS_MAX	BIT(KIWI_FW_AQ_LOG2_MAX)

struct kiwi_fw;
struct kiwi_fw_err;

enum kiwi_fw_slot_state {
	KIWI_FW_SLOT_IDLE,	/* not sent yet, or answered */
	KIWI_FW_SLOT_SENT,
	KIWI_FW_SLOT_GIVEN_UP,	/* the reply may still come: not used again before a reset */
};

/**
 * struct kiwi_fw_payload - buffer of KIWI_AQ_PAYLOAD_MAX bytes for an indirect payload
 * @cpu: NULL before the first one
 * @dma: of @cpu
 */
struct kiwi_fw_payload {
	void *cpu;
	dma_addr_t dma;
};

/**
 * struct kiwi_fw_slot - a command under way
 * @done: completed when @state leaves SENT
 * @state: see there
 * @use: counts commands of the slot, so that a stray reply does not meet the next one
 * @cmd_id: of the current command
 * @result: why there is no reply, 0 if there is one
 * @reply: as the device wrote it, copied once
 * @in: indirect input
 * @out: indirect reply
 */
struct kiwi_fw_slot {
	struct completion done;
	enum kiwi_fw_slot_state state;
	u16 use;
	u16 cmd_id;
	int result;
	struct kiwi_acq_entry reply;
	struct kiwi_fw_payload in;
	struct kiwi_fw_payload out;
};

/**
 * struct kiwi_fw_admin - the command queue
 * @lock: protects all but the payloads, which belong to the slot's user
 * @users: callers between entry and exit of kiwi_fw_exec()
 * @error: why no command is taken, 0 when they are
 * @held: commands wait until @error says how it ended
 * @log2: entries of each ring 2^n, which is also the number of slots
 * @pi: producer index, free-running
 * @ci: consumer index, free-running
 * @used: slots in use
 * @slots: indexed by the low bits of the command id
 * @wait: for a slot, for the end of @held, or for the last user to leave
 * @aq: commands, host to device
 * @acq: completions, device to host
 * @aq_dma: of @aq
 * @acq_dma: of @acq
 */
struct kiwi_fw_admin {
	spinlock_t lock;	/* rings and slots */
	unsigned int users;
	int error;
	bool held;
	u8 log2;
	u32 pi;
	u32 ci;
	DECLARE_BITMAP(used, KIWI_FW_SLOTS_MAX);
	struct kiwi_fw_slot slots[KIWI_FW_SLOTS_MAX];
	wait_queue_head_t wait;
	struct kiwi_aq_entry *aq;
	struct kiwi_acq_entry *acq;
	dma_addr_t aq_dma;
	dma_addr_t acq_dma;
};

void kiwi_fw_admin_init(struct kiwi_fw *fw);
int kiwi_fw_admin_start(struct kiwi_fw *fw);
void kiwi_fw_admin_hold(struct kiwi_fw *fw);
void kiwi_fw_admin_abort(struct kiwi_fw *fw, int error);
void kiwi_fw_admin_stop(struct kiwi_fw *fw);
bool kiwi_fw_admin_irq(struct kiwi_fw *fw);
int kiwi_fw_status_errno(u16 status);

#endif /* KIWI_FW_ADMIN_H */
