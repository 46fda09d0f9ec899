// SPDX-License-Identifier: GPL-2.0
/* Start, stop and reset: what there is to a device while it serves. */
#include <linux/bitfield.h>
#include <linux/iopoll.h>

#include <kiwi/compat.h>

#include "core.h"

#define KIWI_FW_POLL_US	1000

/* During a reset FATAL may still be that of before. */
static bool kiwi_fw_fatal(u32 sts)
{
	return (sts & (KIWI_DEV_STS_FATAL | KIWI_DEV_STS_RESETTING)) == KIWI_DEV_STS_FATAL;
}

static int kiwi_fw_poll_status(struct kiwi_fw *fw, u32 mask, u32 wanted, u32 timeout_ms)
{
	u32 sts;
	int ret;

	ret = read_poll_timeout(kiwi_fw_rd32, sts,
				(sts & mask) == wanted || kiwi_fw_fatal(sts) || kiwi_fw_gone(fw),
				KIWI_FW_POLL_US, timeout_ms * USEC_PER_MSEC, false,
				fw, KIWI_REG_DEV_STS);
	if (kiwi_fw_gone(fw))
		return -ENODEV;
	if (ret)
		dev_err(&fw->pdev->dev, "status %#x after %u ms, waited for %#x\n", sts, timeout_ms,
			wanted);
	return ret;
}

/**
 * kiwi_fw_wait_ready() - wait for the end of a reset
 * @fw: device whose reset timeout is known
 *
 * Return: 0 if it is over, be the device ready or in fatal state; -ETIMEDOUT or -ENODEV.
 */
int kiwi_fw_wait_ready(struct kiwi_fw *fw)
{
	return kiwi_fw_poll_status(fw, KIWI_DEV_STS_READY | KIWI_DEV_STS_RESETTING,
				   KIWI_DEV_STS_READY, fw->limits[KIWI_FW_RESET_TIMEOUT_MS]);
}

static int kiwi_fw_check_fatal(struct kiwi_fw *fw)
{
	u32 sts = kiwi_fw_rd32(fw, KIWI_REG_DEV_STS);

	if (kiwi_fw_gone(fw))
		return -ENODEV;
	if (!kiwi_fw_fatal(sts))
		return 0;
	kiwi_fw_health_report(fw);
	return -EIO;
}

/**
 * kiwi_fw_wait_enabled() - wait until the device serves its admin queue
 * @fw: device that was told to
 *
 * Return: 0, -EIO, -ETIMEDOUT or -ENODEV.
 */
int kiwi_fw_wait_enabled(struct kiwi_fw *fw)
{
	int ret = kiwi_fw_poll_status(fw, KIWI_DEV_STS_ENABLED, KIWI_DEV_STS_ENABLED,
				      fw->limits[KIWI_FW_CMD_TIMEOUT_MS]);

	return ret ?: kiwi_fw_check_fatal(fw);
}

static int kiwi_fw_reset(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	u32 generation = kiwi_fw_rd32(fw, KIWI_REG_GENERATION);
	int ret;

	kiwi_fw_wr32(fw, KIWI_REG_DEV_CTL,
		     KIWI_DEV_CTL_RESET | FIELD_PREP(KIWI_DEV_CTL_REASON, reason));
	ret = kiwi_fw_wait_ready(fw);
	if (!ret)
		ret = kiwi_fw_check_fatal(fw);
	if (!ret && kiwi_fw_rd32(fw, KIWI_REG_GENERATION) == generation)
		ret = kiwi_fw_gone(fw) ? -ENODEV : -EPROTO;
	if (ret)
		dev_err(&fw->pdev->dev, "reset failed (%d)\n", ret);
	return ret;
}

/* As a reset leaves it: another driver, or a crashed kernel, may have left it otherwise. */
static int kiwi_fw_make_pristine(struct kiwi_fw *fw)
{
	int ret;

	ret = kiwi_fw_wait_ready(fw);
	if (ret)
		return ret;
	if (kiwi_fw_rd32(fw, KIWI_REG_DEV_STS) == KIWI_DEV_STS_READY)
		return 0;
	return kiwi_fw_reset(fw, KIWI_RESET_PROBE);
}

static int kiwi_fw_set_host_caps(struct kiwi_fw *fw)
{
	const struct kiwi_cmd_set_host_caps_in in = {
		.caps = cpu_to_le64(fw->identity.caps),
		.abi = cpu_to_le32(KIWI_ABI_MAJOR << 16 | KIWI_ABI_MINOR),
	};

	return kiwi_fw_exec(fw, KIWI_OP_SET_HOST_CAPS, &in, sizeof(in), NULL, 0, NULL);
}

static int kiwi_fw_start_steps(struct kiwi_fw *fw)
{
	int ret;

	ret = kiwi_fw_check_presence(fw);
	if (ret)
		return ret;
	ret = kiwi_fw_make_pristine(fw);
	if (ret)
		return ret;
	ret = kiwi_fw_identify(fw);
	if (ret)
		return ret;
	ret = kiwi_fw_db_start(fw);
	if (ret)
		return ret;
	pci_set_master(fw->pdev);
	ret = kiwi_fw_admin_start(fw);
	if (ret)
		return ret;
	ret = kiwi_fw_set_host_caps(fw);
	if (ret)
		return ret;
	ret = kiwi_fw_eqs_create(fw);
	if (ret)
		return ret;
	return kiwi_fw_state_up(fw);
}

/**
 * kiwi_fw_start() - bring the device up
 * @fw: device that is stopped, by creation or by kiwi_fw_stop()
 *
 * Resets it unless it is as a reset leaves it. Commands work from here on; events wait for
 * kiwi_fw_enable_events(). A device that had vanished may be back.
 *
 * Return: 0 or an errno, and the device is stopped then.
 */
int kiwi_fw_start(struct kiwi_fw *fw)
{
	int ret;

	WRITE_ONCE(fw->regs, fw->bar);
	kiwi_fw_state_starting(fw);
	ret = kiwi_fw_start_steps(fw);
	if (ret) {
		kiwi_fw_stop(fw, KIWI_RESET_PROBE);
		return ret;
	}
	kiwi_fw_health_start(fw);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_start, "KIWI_FW");

/**
 * kiwi_fw_stop() - take the device out of service, and reset it if it is there
 * @fw: device; nothing is done if it is stopped
 * @reason: for the reset
 *
 * When this returns the device reaches no memory, callbacks are neither running nor called,
 * and commands fail with -ENODEV. Those under way end with that at the latest when the
 * reset is over. The listeners and doorbell pages that are left are forgotten by the device.
 */
void kiwi_fw_stop(struct kiwi_fw *fw, enum kiwi_reset_reason reason)
{
	if (fw->state == KIWI_FW_STOPPED)
		return;
	kiwi_fw_state_stopping(fw);
	kiwi_fw_eqs_destroy(fw);
	kiwi_fw_health_stop(fw);
	kiwi_fw_admin_hold(fw);
	kiwi_fw_irq_release_admin(fw);
	if (!kiwi_fw_gone(fw))
		kiwi_fw_reset(fw, reason);
	/* Should the reset have failed, this ends all access to memory. */
	pci_clear_master(fw->pdev);
	kiwi_fw_admin_stop(fw);
	kiwi_fw_eqs_free(fw);
	kiwi_fw_db_stop(fw);
	kiwi_fw_state_stopped(fw);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_stop, "KIWI_FW");
