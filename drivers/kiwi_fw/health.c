// SPDX-License-Identifier: GPL-2.0
/*
 * Looks at the device regularly: whether it is there, healthy, alive, and the same that was
 * started. A silent restart shows in the generation number.
 */
#include <linux/jiffies.h>

#include "core.h"

#define KIWI_FW_HEALTH_MS	1000	/* at least, between looks */
#define KIWI_FW_HEARTBEATS	3	/* looks at an unchanged heartbeat: dead */

/**
 * kiwi_fw_health_report() - tell what a device in fatal state says of it
 * @fw: device
 */
void kiwi_fw_health_report(struct kiwi_fw *fw)
{
	u32 var[6];
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(var); n++)
		var[n] = kiwi_fw_rd32(fw, KIWI_REG_HEALTH_VAR(n));
	dev_err(&fw->pdev->dev,
		"fatal: severity %u, syndrome %u, register %#x, pc %#x, %#x %#x %#x %#x %#x %#x\n",
		kiwi_fw_rd32(fw, KIWI_REG_HEALTH_SEVERITY),
		kiwi_fw_rd32(fw, KIWI_REG_HEALTH_SYNDROME),
		kiwi_fw_rd32(fw, KIWI_REG_HEALTH_EXT_SYNDROME),
		kiwi_fw_rd32(fw, KIWI_REG_HEALTH_PC),
		var[0], var[1], var[2], var[3], var[4], var[5]);
}

static bool kiwi_fw_heart_beats(struct kiwi_fw *fw)
{
	u32 heartbeat = kiwi_fw_rd32(fw, KIWI_REG_HEARTBEAT);

	if (heartbeat != fw->heartbeat) {
		fw->heartbeat = heartbeat;
		fw->heartbeat_missed = 0;
		return true;
	}
	return ++fw->heartbeat_missed < KIWI_FW_HEARTBEATS;
}

static bool kiwi_fw_healthy(struct kiwi_fw *fw)
{
	const u32 serving = KIWI_DEV_STS_READY | KIWI_DEV_STS_ENABLED;
	u32 sts = kiwi_fw_rd32(fw, KIWI_REG_DEV_STS);
	u32 generation = kiwi_fw_rd32(fw, KIWI_REG_GENERATION);

	if (kiwi_fw_gone(fw))
		return true;	/* that has been dealt with */
	if (sts & KIWI_DEV_STS_FATAL) {
		kiwi_fw_health_report(fw);
		return false;
	}
	if (generation != fw->identity.generation || (sts & serving) != serving) {
		dev_err(&fw->pdev->dev, "restarted by itself: generation %u, was %u; status %#x\n",
			generation, fw->identity.generation, sts);
		return false;
	}
	if (!kiwi_fw_heart_beats(fw)) {
		dev_err(&fw->pdev->dev, "no heartbeat: still %u\n", fw->heartbeat);
		return false;
	}
	return true;
}

static void kiwi_fw_health_schedule(struct kiwi_fw *fw)
{
	u32 period = max_t(u32, fw->limits[KIWI_FW_HEARTBEAT_MS], KIWI_FW_HEALTH_MS);

	queue_delayed_work(fw->wq, &fw->health_work, msecs_to_jiffies(period));
}

static void kiwi_fw_health_work(struct work_struct *work)
{
	struct kiwi_fw *fw = container_of(to_delayed_work(work), struct kiwi_fw, health_work);

	if (!kiwi_fw_is_up(fw))
		return;
	if (!kiwi_fw_healthy(fw)) {
		kiwi_fw_fail(fw, KIWI_RESET_FATAL);
		return;
	}
	kiwi_fw_eqs_kick(fw);
	kiwi_fw_health_schedule(fw);
}

/**
 * kiwi_fw_health_init() - prepare a new device
 * @fw: device
 */
void kiwi_fw_health_init(struct kiwi_fw *fw)
{
	INIT_DELAYED_WORK(&fw->health_work, kiwi_fw_health_work);
}

/**
 * kiwi_fw_health_start() - watch a device that is up
 * @fw: device
 */
void kiwi_fw_health_start(struct kiwi_fw *fw)
{
	fw->heartbeat = kiwi_fw_rd32(fw, KIWI_REG_HEARTBEAT);
	fw->heartbeat_missed = 0;
	kiwi_fw_health_schedule(fw);
}

/**
 * kiwi_fw_health_stop() - watch no longer
 * @fw: device that is not up, and delivers no events
 */
void kiwi_fw_health_stop(struct kiwi_fw *fw)
{
	cancel_delayed_work_sync(&fw->health_work);
}

/**
 * kiwi_fw_health_look() - look now: the device said that something is wrong
 * @fw: device
 */
void kiwi_fw_health_look(struct kiwi_fw *fw)
{
	if (kiwi_fw_is_up(fw))
		mod_delayed_work(fw->wq, &fw->health_work, 0);
}
