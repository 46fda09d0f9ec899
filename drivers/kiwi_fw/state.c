// SPDX-License-Identifier: GPL-2.0
/*
 * Whether the device can be used. It stops being so at most once per start, by
 * failure or by vanishing; whoever waits for it is told only after it can no
 * longer reach memory, since they give back what it was using.
 */
#include "core.h"
#include <kiwi/compat.h>

static const char *kiwi_fw_reason_str(enum kiwi_reset_reason reason)
{
	switch (reason) {
	case KIWI_RESET_TIMEOUT:
		return "a command timed out";
	case KIWI_RESET_FATAL:
		return "fatal state";
	case KIWI_RESET_PROTOCOL:
		return "it broke the ABI";
	case KIWI_RESET_REMOVE:
		return "it is gone";
	default:
		return "reset asked for";
	}
}

static bool kiwi_fw_running(enum kiwi_fw_state state)
{
	return state != KIWI_FW_STOPPED && state != KIWI_FW_DOWN;
}

/* What was posted before bus mastering ended is pushed ahead of the answer to a read. */
static void kiwi_fw_silence(struct kiwi_fw *fw)
{
	pci_clear_master(fw->pdev);
	kiwi_fw_rd32(fw, KIWI_REG_MAGIC);
}

static void kiwi_fw_go_down(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	enum kiwi_fw_state was;
	unsigned long flags;

	spin_lock_irqsave(&fw->lock, flags);
	was = fw->state;
	if (kiwi_fw_running(was)) {
		WRITE_ONCE(fw->state, KIWI_FW_DOWN);
		fw->reason = reason;
	}
	if (was == KIWI_FW_UP)
		queue_work(fw->wq, &fw->down_work);
	spin_unlock_irqrestore(&fw->lock, flags);

	if (kiwi_fw_running(was))
		dev_err(&fw->pdev->dev, "device is down: %s\n", kiwi_fw_reason_str(reason));
	kiwi_fw_admin_abort(fw, kiwi_fw_error(fw));
}

static void kiwi_fw_down_work(struct work_struct *work)
{
	struct kiwi_fw *fw = container_of(work, struct kiwi_fw, down_work);

	if (fw->ops->down)
		fw->ops->down(fw->priv, fw->reason);
}

/**
 * kiwi_fw_state_init() - prepare the state of a new device
 * @fw: device
 */
void kiwi_fw_state_init(struct kiwi_fw *fw)
{
	spin_lock_init(&fw->lock);
	fw->state = KIWI_FW_STOPPED;
	INIT_WORK(&fw->down_work, kiwi_fw_down_work);
}

/**
 * kiwi_fw_state_starting() - from here on failures count
 * @fw: device that is stopped
 */
void kiwi_fw_state_starting(struct kiwi_fw *fw)
{
	spin_lock_irq(&fw->lock);
	WRITE_ONCE(fw->state, KIWI_FW_STARTING);
	spin_unlock_irq(&fw->lock);
}

/**
 * kiwi_fw_state_check() - whether it has failed since it was started
 * @fw: device
 *
 * Return: 0 or how.
 */
int kiwi_fw_state_check(struct kiwi_fw *fw)
{
	return kiwi_fw_running(READ_ONCE(fw->state)) ? 0 : kiwi_fw_error(fw);
}

/**
 * kiwi_fw_state_up() - from here on failures are told to the part's driver
 * @fw: device that is starting
 *
 * Return: 0, or why it failed meanwhile.
 */
int kiwi_fw_state_up(struct kiwi_fw *fw)
{
	spin_lock_irq(&fw->lock);
	if (fw->state == KIWI_FW_STARTING)
		WRITE_ONCE(fw->state, KIWI_FW_UP);
	spin_unlock_irq(&fw->lock);
	return kiwi_fw_error(fw);
}

/**
 * kiwi_fw_state_stopping() - from here on failures are told to nobody
 * @fw: device
 *
 * ops->down is not running nor called once this has returned.
 */
void kiwi_fw_state_stopping(struct kiwi_fw *fw)
{
	spin_lock_irq(&fw->lock);
	if (kiwi_fw_running(fw->state))
		WRITE_ONCE(fw->state, KIWI_FW_STOPPING);
	spin_unlock_irq(&fw->lock);
	cancel_work_sync(&fw->down_work);
}

/**
 * kiwi_fw_state_stopped() - nothing is left of this start
 * @fw: device
 */
void kiwi_fw_state_stopped(struct kiwi_fw *fw)
{
	spin_lock_irq(&fw->lock);
	WRITE_ONCE(fw->state, KIWI_FW_STOPPED);
	spin_unlock_irq(&fw->lock);
}

/**
 * kiwi_fw_fail() - declare the device unusable
 * @fw: device
 * @reason: for the reset that will follow
 *
 * When this returns the device no longer reaches memory, commands under way have
 * ended with -EIO, and ops->down is called or about to be. Does nothing if the device is
 * already down or stopped. Any context but hard interrupt.
 */
void kiwi_fw_fail(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	if (!kiwi_fw_running(READ_ONCE(fw->state)))
		return;
	kiwi_fw_silence(fw);
	kiwi_fw_go_down(fw, reason);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_fail, "KIWI_FW");

/**
 * kiwi_fw_vanished() - the device is gone, or its link is down
 * @fw: device
 *
 * Latches until the next kiwi_fw_start(): no register is touched, commands end with
 * -ENODEV, those under way at once. Any context.
 */
void kiwi_fw_vanished(struct kiwi_fw *fw)
{
	WRITE_ONCE(fw->regs, NULL);
	/* Memory decoding may be all that is off: then this still reaches the function. */
	pci_clear_master(fw->pdev);
	kiwi_fw_go_down(fw, KIWI_RESET_REMOVE);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_vanished, "KIWI_FW");

/**
 * kiwi_fw_is_up() - whether commands can succeed
 * @fw: device
 *
 * Return: true if it was started and has not failed since.
 */
bool kiwi_fw_is_up(struct kiwi_fw *fw)
{
	return READ_ONCE(fw->state) == KIWI_FW_UP;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_is_up, "KIWI_FW");

/**
 * kiwi_fw_error() - why the device cannot be used
 * @fw: device
 *
 * Return: 0 when it is up, -EIO when it failed, -ENODEV when it is gone or stopped.
 */
int kiwi_fw_error(struct kiwi_fw *fw)
{
	enum kiwi_fw_state state = READ_ONCE(fw->state);

	if (state == KIWI_FW_UP)
		return 0;
	return state == KIWI_FW_DOWN && !kiwi_fw_gone(fw) ? -EIO : -ENODEV;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_error, "KIWI_FW");
