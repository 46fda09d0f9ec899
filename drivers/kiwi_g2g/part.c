// SPDX-License-Identifier: GPL-2.0
/* What there is to a die beside the PCI function. */
#include <linux/sched/signal.h>

#include <kiwi/fw.h>

#include "kg2g.h"

/**
 * kg2g_setup() - prepare a structure
 * @kg: the structure, zero
 * @ops: the driver
 * @parent: the function
 *
 * Return: 0 and put_device() frees the structure, or negative errno
 */
int kg2g_setup(struct kg2g *kg, const struct kiwi_part_ops *ops, struct device *parent)
{
	int ret;

	ret = kiwi_part_setup(&kg->part, ops, parent);
	if (ret)
		return ret;
	kg->part.dev.groups = kg2g_dev_groups;
	kiwi_queues_setup(&kg->queues, &kg->part, KG2G_MAP_DOORBELLS);
	kg2g_aperture_init(&kg->aperture);
	mutex_init(&kg->admin);
	xa_init(&kg->exports);
	xa_init(&kg->windows);
	kg2g_log_init(&kg->log);
	INIT_WORK(&kg->log_work, kg2g_log_work);
	INIT_WORK(&kg->lost_work, kg2g_lost_work);
	INIT_WORK(&kg->reap_work, kg2g_reap_work);
	return 0;
}

/**
 * kg2g_start() - learn what a device can do that takes commands
 * @kg: the device
 * @bar_len: bytes of its aperture's BAR
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kg2g_start(struct kg2g *kg, u64 bar_len, struct kiwi_error *err)
{
	const struct kiwi_fw_identity *id = kiwi_fw_identity(kg->part.fw);
	const struct kg2g_caps_frame frame = {
		.caps = id->caps,
		.bar_len = bar_len,
		.page_shift = id->db_page_shift,
	};
	int ret;

	ret = kg2g_cmd_query_caps(kg->part.fw, &frame, &kg->caps, &kg->queues.caps, err);
	if (ret)
		return ret;
	/* A reset takes the fabric to UNCONFIGURED (F-7). */
	kiwi_queues_port(&kg->part, 1, false);
	kg2g_log_clear(&kg->log);
	/* User space maps whole pages. */
	kg2g_aperture_resize(&kg->aperture, kg->caps.aperture_size & PAGE_MASK,
			     max_t(u64, BIT_ULL(kg->caps.granule_shift), PAGE_SIZE));
	return 0;
}

/**
 * kg2g_stopped() - nothing is done on behalf of a device that was stopped
 * @kg: the device
 */
void kg2g_stopped(struct kg2g *kg)
{
	cancel_work_sync(&kg->log_work);
	cancel_work_sync(&kg->lost_work);
	cancel_work_sync(&kg->reap_work);
}

/**
 * kg2g_may_go_on() - whether a call of many commands should give the next
 * @kg: the device; the gate is held, so that whoever takes the device down waits for the call
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kg2g_may_go_on(const struct kg2g *kg, struct kiwi_error *err)
{
	int ret = fatal_signal_pending(current) ? -EINTR : kiwi_part_check_up(&kg->part);

	return ret ? kiwi_fail_plain(err, ret) : 0;
}

/**
 * kg2g_teardown() - undo kg2g_setup(), but for what put_device() does
 * @kg: the structure
 */
void kg2g_teardown(struct kg2g *kg)
{
	kiwi_queues_teardown(&kg->queues);
	xa_destroy(&kg->exports);
	xa_destroy(&kg->windows);
}
