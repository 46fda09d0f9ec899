// SPDX-License-Identifier: GPL-2.0
/*
 * The admin queue. Each command has a slot; its user sleeps until the interrupt, or a look at
 * the ring on timeout, has copied the completion into the slot.
 *
 * Users wait uninterruptibly, in the bound that the device gives: a command whose user
 * left could create an object that nobody knows of, and those that take down the objects
 * of a killed process must run while a fatal signal is pending.
 */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>

#include <kiwi/compat.h>

#include "core.h"

/* Looks at the ring while a command waits: a lost interrupt costs a part of the timeout. */
#define KIWI_FW_CMD_LOOKS	4

static size_t kiwi_fw_aq_size(const struct kiwi_fw_admin *admin)
{
	return sizeof(struct kiwi_aq_entry) << admin->log2;
}

static size_t kiwi_fw_acq_size(const struct kiwi_fw_admin *admin)
{
	return sizeof(struct kiwi_acq_entry) << admin->log2;
}

/* Completions ----------------------------------------------------------- */

static void kiwi_fw_slot_end(struct kiwi_fw_admin *admin, struct kiwi_fw_slot *slot, int result)
{
	lockdep_assert_held(&admin->lock);
	slot->state = KIWI_FW_SLOT_IDLE;
	slot->result = result;
	complete(&slot->done);
}

static void kiwi_fw_handle_completion(struct kiwi_fw *fw, const struct kiwi_acq_entry *entry)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	u16 cmd_id = le16_to_cpu(READ_ONCE(entry->cmd_id));
	struct kiwi_fw_slot *slot = &admin->slots[cmd_id & (BIT(admin->log2) - 1)];

	if (slot->state == KIWI_FW_SLOT_IDLE || slot->cmd_id != cmd_id) {
		kiwi_fw_count(fw, KIWI_FW_UNEXPECTED_REPLIES);
	} else if (slot->state == KIWI_FW_SLOT_GIVEN_UP) {
		kiwi_fw_count(fw, KIWI_FW_LATE_REPLIES);
	} else {
		slot->reply = *entry;
		kiwi_fw_slot_end(admin, slot, 0);
	}
}

/*
 * At most one pass: a device that goes on writing must not keep the CPU. One that says it
 * has written what is not there is not armed again, or it would interrupt without end.
 *
 * Return: whether there was anything.
 */
static bool kiwi_fw_reap(struct kiwi_fw *fw)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	u32 size = BIT(admin->log2), n;

	lockdep_assert_held(&admin->lock);
	for (n = 0; n < size; n++) {
		const struct kiwi_acq_entry *entry = &admin->acq[admin->ci & (size - 1)];
		u8 phase = admin->ci & size ? 0 : KIWI_ACQ_PHASE;

		if ((READ_ONCE(entry->flags) & KIWI_ACQ_PHASE) != phase)
			break;
		dma_rmb();	/* the entry and the reply payload are older than its phase */
		kiwi_fw_handle_completion(fw, entry);
		admin->ci++;
	}
	if (n)
		kiwi_fw_wr32(fw, KIWI_REG_ACQ_CI, admin->ci);
	return n;
}

/**
 * kiwi_fw_admin_irq() - the device says that there are completions
 * @fw: device
 *
 * Return: whether there were.
 */
bool kiwi_fw_admin_irq(struct kiwi_fw *fw)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	unsigned long flags;
	bool any;

	spin_lock_irqsave(&admin->lock, flags);
	any = kiwi_fw_reap(fw);
	spin_unlock_irqrestore(&admin->lock, flags);
	return any;
}

/* Slots and their payloads ----------------------------------------------- */

static bool kiwi_fw_is_indirect(size_t len)
{
	return len > KIWI_AQ_INLINE;
}

/*
 * Who takes memory for a payload may wait for an exporter that moves a DMA-buf to make room, which
 * takes commands: those are inline, and the last slot is for them.
 */
static int kiwi_fw_slot_try_get(struct kiwi_fw_admin *admin, bool indirect,
				struct kiwi_fw_slot **slot)
{
	unsigned int n, last, count = BIT(admin->log2);
	int ret = -EAGAIN;

	spin_lock_irq(&admin->lock);
	n = find_first_zero_bit(admin->used, count);
	last = indirect ? find_next_zero_bit(admin->used, count, n + 1) : n;
	if (admin->error) {
		ret = admin->error;
	} else if (!admin->held && last < count) {
		__set_bit(n, admin->used);
		*slot = &admin->slots[n];
		ret = 0;
	}
	spin_unlock_irq(&admin->lock);
	return ret;
}

static void kiwi_fw_slot_put(struct kiwi_fw_admin *admin, struct kiwi_fw_slot *slot)
{
	spin_lock_irq(&admin->lock);
	__clear_bit(slot - admin->slots, admin->used);
	spin_unlock_irq(&admin->lock);
	wake_up(&admin->wait);
}

/* A buffer that a slot once needed stays with it: low slots are used first, so few have one. */
static int kiwi_fw_payload_get(struct kiwi_fw *fw, struct kiwi_fw_payload *payload, size_t len)
{
	if (!kiwi_fw_is_indirect(len) || payload->cpu)
		return 0;
	payload->cpu = dma_alloc_coherent(&fw->pdev->dev, KIWI_AQ_PAYLOAD_MAX, &payload->dma,
					  GFP_KERNEL);
	return payload->cpu ? 0 : -ENOMEM;
}

static void kiwi_fw_payload_free(struct kiwi_fw *fw, struct kiwi_fw_payload *payload)
{
	if (payload->cpu)
		dma_free_coherent(&fw->pdev->dev, KIWI_AQ_PAYLOAD_MAX, payload->cpu, payload->dma);
	payload->cpu = NULL;
}

/* One command -------------------------------------------------------------- */

/**
 * struct kiwi_fw_cmd - a command, as its caller gave it
 * @opcode: in the ABI
 * @in_len: bytes of @in
 * @out_len: bytes of @out
 * @in: input
 * @out: room for the reply
 */
struct kiwi_fw_cmd {
	u16 opcode;
	u16 in_len;
	u16 out_len;
	const void *in;
	void *out;
};

static int kiwi_fw_submit(struct kiwi_fw *fw, const struct kiwi_fw_cmd *cmd,
			  struct kiwi_fw_slot *slot)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	struct kiwi_aq_entry entry = {
		.opcode = cpu_to_le16(cmd->opcode),
		.in_len = cpu_to_le16(cmd->in_len),
		.out_len = cpu_to_le16(cmd->out_len),
	};
	int ret;

	if (kiwi_fw_is_indirect(cmd->in_len)) {
		memcpy(slot->in.cpu, cmd->in, cmd->in_len);
		entry.in_addr = cpu_to_le64(slot->in.dma);
	} else {
		memcpy(entry.in, cmd->in, cmd->in_len);
	}
	if (kiwi_fw_is_indirect(cmd->out_len)) {
		/* Nothing of an earlier command may pass for the reply. */
		memset(slot->out.cpu, 0, cmd->out_len);
		entry.out_addr = cpu_to_le64(slot->out.dma);
	}
	reinit_completion(&slot->done);

	spin_lock_irq(&admin->lock);
	ret = admin->error;
	if (!ret) {
		slot->cmd_id = slot->use++ << admin->log2 | (slot - admin->slots);
		slot->state = KIWI_FW_SLOT_SENT;
		entry.cmd_id = cpu_to_le16(slot->cmd_id);
		admin->aq[admin->pi++ & (BIT(admin->log2) - 1)] = entry;
		/* Held: the device is about to be reset, and the reset ends the command. */
		if (!admin->held)
			kiwi_fw_wr32(fw, KIWI_REG_AQ_PI, admin->pi);
	}
	spin_unlock_irq(&admin->lock);
	if (!ret)
		kiwi_fw_count(fw, KIWI_FW_COMMANDS);
	return ret;
}

/* Return: whether the command has ended. The ring may know what no interrupt told. */
static bool kiwi_fw_rescue(struct kiwi_fw *fw, struct kiwi_fw_slot *slot)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	bool ended;

	spin_lock_irq(&admin->lock);
	if (slot->state == KIWI_FW_SLOT_SENT && !admin->held) {
		kiwi_fw_reap(fw);
		if (slot->state == KIWI_FW_SLOT_IDLE)
			kiwi_fw_count(fw, KIWI_FW_RESCUED);
	}
	ended = slot->state == KIWI_FW_SLOT_IDLE;
	spin_unlock_irq(&admin->lock);
	return ended;
}

/* Return: whether the slot stays with the device. */
static bool kiwi_fw_give_up(struct kiwi_fw_admin *admin, struct kiwi_fw_slot *slot)
{
	bool given_up = false;

	spin_lock_irq(&admin->lock);
	if (slot->state == KIWI_FW_SLOT_SENT) {
		slot->state = KIWI_FW_SLOT_GIVEN_UP;
		given_up = true;
	}
	spin_unlock_irq(&admin->lock);
	return given_up;
}

/* Return: 0 or the slot's result when the command has ended, -ETIMEDOUT if it has not. */
static int kiwi_fw_wait(struct kiwi_fw *fw, struct kiwi_fw_slot *slot)
{
	unsigned long slice = msecs_to_jiffies(fw->limits[KIWI_FW_CMD_TIMEOUT_MS]) /
			      KIWI_FW_CMD_LOOKS + 1;
	unsigned int looks;

	for (looks = 0; looks < KIWI_FW_CMD_LOOKS; looks++) {
		if (wait_for_completion_timeout(&slot->done, slice) || kiwi_fw_rescue(fw, slot))
			return slot->result;
	}
	return kiwi_fw_give_up(&fw->admin, slot) ? -ETIMEDOUT : slot->result;
}

static bool kiwi_fw_reply_ok(const struct kiwi_fw_cmd *cmd, const struct kiwi_acq_entry *reply)
{
	u16 status = le16_to_cpu(reply->status);
	u16 field = le16_to_cpu(reply->err_field);

	if (le16_to_cpu(reply->opcode) != cmd->opcode || status >= KIWI_ST_COUNT)
		return false;
	if (status == KIWI_ST_OK)
		return le16_to_cpu(reply->out_len) == cmd->out_len;
	return !reply->out_len && (field < cmd->in_len || field == KIWI_ERR_FIELD_NONE);
}

static int kiwi_fw_finish(struct kiwi_fw *fw, const struct kiwi_fw_cmd *cmd,
			  const struct kiwi_fw_slot *slot, struct kiwi_fw_err *err)
{
	const struct kiwi_acq_entry *reply = &slot->reply;

	if (!kiwi_fw_reply_ok(cmd, reply)) {
		kiwi_fw_count(fw, KIWI_FW_BAD_REPLIES);
		dev_err_ratelimited(&fw->pdev->dev,
				    "command %#x: reply with opcode %#x, status %u, length %u (wants %u), field %u\n",
				    cmd->opcode, le16_to_cpu(reply->opcode),
				    le16_to_cpu(reply->status), le16_to_cpu(reply->out_len),
				    cmd->out_len, le16_to_cpu(reply->err_field));
		return -EPROTO;
	}
	err->status = le16_to_cpu(reply->status);
	if (err->status == KIWI_ST_OK) {
		memcpy(cmd->out, kiwi_fw_is_indirect(cmd->out_len) ? slot->out.cpu : reply->out,
		       cmd->out_len);
		return 0;
	}
	kiwi_fw_count(fw, KIWI_FW_REFUSED);
	err->field = le16_to_cpu(reply->err_field);
	err->value = le64_to_cpu(reply->err_value);
	err->limit = le64_to_cpu(reply->err_limit);
	return kiwi_fw_status_errno(err->status);
}

static int kiwi_fw_run_in_slot(struct kiwi_fw *fw, const struct kiwi_fw_cmd *cmd,
			       struct kiwi_fw_slot *slot, struct kiwi_fw_err *err)
{
	int ret;

	ret = kiwi_fw_payload_get(fw, &slot->in, cmd->in_len);
	if (!ret)
		ret = kiwi_fw_payload_get(fw, &slot->out, cmd->out_len);
	if (!ret)
		ret = kiwi_fw_submit(fw, cmd, slot);
	if (!ret)
		ret = kiwi_fw_wait(fw, slot);
	if (!ret)
		ret = kiwi_fw_finish(fw, cmd, slot, err);
	if (ret == -ETIMEDOUT) {
		kiwi_fw_count(fw, KIWI_FW_TIMEOUTS);
		dev_err(&fw->pdev->dev, "command %#x: no reply in %u ms\n", cmd->opcode,
			fw->limits[KIWI_FW_CMD_TIMEOUT_MS]);
		kiwi_fw_fail(fw, KIWI_RESET_TIMEOUT);
		return ret;	/* the slot and its payloads stay with the device */
	}
	kiwi_fw_slot_put(&fw->admin, slot);
	if (ret == -EPROTO)
		kiwi_fw_fail(fw, KIWI_RESET_PROTOCOL);
	else if (err->status == KIWI_ST_NOT_READY)
		kiwi_fw_fail(fw, KIWI_RESET_FATAL);
	return ret;
}

static int kiwi_fw_user_enter(struct kiwi_fw_admin *admin)
{
	int ret;

	spin_lock_irq(&admin->lock);
	ret = admin->error;
	if (!ret)
		admin->users++;
	spin_unlock_irq(&admin->lock);
	return ret;
}

/* Whoever waits for the last user may free the device, so nothing follows the lock. */
static void kiwi_fw_user_leave(struct kiwi_fw_admin *admin)
{
	spin_lock_irq(&admin->lock);
	if (!--admin->users)
		wake_up_all(&admin->wait);
	spin_unlock_irq(&admin->lock);
}

/**
 * kiwi_fw_exec() - run one command
 * @fw: device
 * @opcode: in the ABI
 * @in: input
 * @in_len: its length, exactly what the command defines
 * @out: for the reply, untouched on error
 * @out_len: its length, likewise
 * @err: filled in, may be NULL
 *
 * Sleeps, uninterruptibly, up to the time limit of the device and the wait for a free slot.
 *
 * Return: 0; the errno of the status if the device refuses, and the command then had
 * no effect; -ENOMEM before it was sent. -EPROTO, -ETIMEDOUT, -EIO, -ENODEV: what it did is
 * unknown, and the device no longer reaches memory.
 */
int kiwi_fw_exec(struct kiwi_fw *fw, u16 opcode, const void *in, size_t in_len, void *out,
		 size_t out_len, struct kiwi_fw_err *err)
{
	const struct kiwi_fw_cmd cmd = {
		.opcode = opcode, .in = in, .in_len = in_len, .out = out, .out_len = out_len,
	};
	bool indirect = kiwi_fw_is_indirect(in_len) || kiwi_fw_is_indirect(out_len);
	struct kiwi_fw_slot *slot = NULL;
	struct kiwi_fw_err unwanted;
	int ret;

	might_sleep();
	if (!err)
		err = &unwanted;
	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	if (WARN_ON_ONCE(in_len > KIWI_AQ_PAYLOAD_MAX || out_len > KIWI_AQ_PAYLOAD_MAX))
		return -EINVAL;

	ret = kiwi_fw_user_enter(&fw->admin);
	if (ret)
		return ret;
	wait_event(fw->admin.wait,
		   (ret = kiwi_fw_slot_try_get(&fw->admin, indirect, &slot)) != -EAGAIN);
	if (!ret)
		ret = kiwi_fw_run_in_slot(fw, &cmd, slot, err);
	kiwi_fw_user_leave(&fw->admin);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_exec, "KIWI_FW");

/* Life ------------------------------------------------------------------------ */

/**
 * kiwi_fw_admin_init() - prepare the queue of a new device
 * @fw: device
 */
void kiwi_fw_admin_init(struct kiwi_fw *fw)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	unsigned int n;

	spin_lock_init(&admin->lock);
	init_waitqueue_head(&admin->wait);
	for (n = 0; n < KIWI_FW_SLOTS_MAX; n++)
		init_completion(&admin->slots[n].done);
	admin->error = -ENODEV;
}

static int kiwi_fw_admin_alloc(struct kiwi_fw *fw)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	struct device *dev = &fw->pdev->dev;

	admin->log2 = min_t(u32, fw->limits[KIWI_FW_AQ_LOG2], KIWI_FW_AQ_LOG2_MAX);
	admin->pi = 0;
	admin->ci = 0;
	admin->aq = dma_alloc_coherent(dev, kiwi_fw_aq_size(admin), &admin->aq_dma, GFP_KERNEL);
	admin->acq = dma_alloc_coherent(dev, kiwi_fw_acq_size(admin), &admin->acq_dma, GFP_KERNEL);
	return admin->aq && admin->acq ? 0 : -ENOMEM;
}

/**
 * kiwi_fw_admin_start() - give the device its rings and have it serve them
 * @fw: device, ready and not enabled, whose interrupt is not requested yet
 *
 * Return: 0 or an errno; kiwi_fw_admin_stop() undoes it in either case.
 */
int kiwi_fw_admin_start(struct kiwi_fw *fw)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	int ret;

	ret = kiwi_fw_admin_alloc(fw);
	if (ret)
		return ret;
	kiwi_fw_wr64(fw, KIWI_REG_AQ_BASE, admin->aq_dma);
	kiwi_fw_wr64(fw, KIWI_REG_ACQ_BASE, admin->acq_dma);
	kiwi_fw_wr32(fw, KIWI_REG_AQ_CFG, FIELD_PREP(KIWI_AQ_CFG_LOG2, admin->log2));
	ret = kiwi_fw_irq_request_admin(fw);
	if (ret)
		return ret;
	kiwi_fw_wr32(fw, KIWI_REG_DEV_CTL, KIWI_DEV_CTL_ENABLE);
	ret = kiwi_fw_wait_enabled(fw);
	if (ret)
		return ret;

	spin_lock_irq(&admin->lock);
	admin->error = 0;
	admin->held = false;
	spin_unlock_irq(&admin->lock);
	/* A failure before that found nothing to abort. */
	ret = kiwi_fw_state_check(fw);
	if (ret)
		kiwi_fw_admin_abort(fw, ret);
	return ret;
}

/**
 * kiwi_fw_admin_hold() - have commands wait until kiwi_fw_admin_stop()
 * @fw: device that is about to be reset
 */
void kiwi_fw_admin_hold(struct kiwi_fw *fw)
{
	spin_lock_irq(&fw->admin.lock);
	fw->admin.held = true;
	spin_unlock_irq(&fw->admin.lock);
}

/**
 * kiwi_fw_admin_abort() - end all commands, refuse new ones
 * @fw: device that no longer reaches memory
 * @error: for all of them
 */
void kiwi_fw_admin_abort(struct kiwi_fw *fw, int error)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	unsigned long flags;
	unsigned int n;

	spin_lock_irqsave(&admin->lock, flags);
	admin->error = error;
	for_each_set_bit(n, admin->used, KIWI_FW_SLOTS_MAX) {
		if (admin->slots[n].state == KIWI_FW_SLOT_SENT)
			kiwi_fw_slot_end(admin, &admin->slots[n], error);
	}
	spin_unlock_irqrestore(&admin->lock, flags);
	wake_up_all(&admin->wait);
}

/**
 * kiwi_fw_admin_stop() - end all commands and take back all memory
 * @fw: device that no longer reaches memory, and whose interrupt is released
 */
void kiwi_fw_admin_stop(struct kiwi_fw *fw)
{
	struct kiwi_fw_admin *admin = &fw->admin;
	struct device *dev = &fw->pdev->dev;
	unsigned int n;

	kiwi_fw_admin_abort(fw, -ENODEV);
	spin_lock_irq(&admin->lock);
	wait_event_lock_irq(admin->wait, !admin->users, admin->lock);
	spin_unlock_irq(&admin->lock);

	/* Nobody is left but the slots that were given up. */
	bitmap_zero(admin->used, KIWI_FW_SLOTS_MAX);
	for (n = 0; n < KIWI_FW_SLOTS_MAX; n++) {
		admin->slots[n].state = KIWI_FW_SLOT_IDLE;
		kiwi_fw_payload_free(fw, &admin->slots[n].in);
		kiwi_fw_payload_free(fw, &admin->slots[n].out);
	}
	if (admin->aq)
		dma_free_coherent(dev, kiwi_fw_aq_size(admin), admin->aq, admin->aq_dma);
	if (admin->acq)
		dma_free_coherent(dev, kiwi_fw_acq_size(admin), admin->acq, admin->acq_dma);
	admin->aq = NULL;
	admin->acq = NULL;
}
