// SPDX-License-Identifier: GPL-2.0
/* What there is to a SNIC beside the PCI function. */
#include "fw_cmd.h"
#include "ksnic.h"
#include "port.h"

/**
 * ksnic_setup() - prepare a structure
 * @ks: the structure, zero
 * @ops: the driver
 * @parent: the function
 *
 * Return: 0 and put_device() frees the structure, or negative errno
 */
int ksnic_setup(struct ksnic *ks, const struct kiwi_part_ops *ops, struct device *parent)
{
	int ret;

	ret = kiwi_part_setup(&ks->part, ops, parent);
	if (ret)
		return ret;
	ks->part.dev.groups = ksnic_dev_groups;
	kiwi_queues_setup(&ks->queues, &ks->part, 0);
	INIT_WORK(&ks->lost_work, ksnic_lost_work);
	return 0;
}

/**
 * ksnic_start() - learn what a device can do that takes commands, and take over its ports
 * @ks: the device
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int ksnic_start(struct ksnic *ks, struct kiwi_error *err)
{
	int ret;

	ret = ksnic_cmd_query_caps(ks->part.fw, &ks->queues.caps, err);
	return ret ?: ksnic_ports_start(ks, err);
}

/**
 * ksnic_stopped() - nothing is done on behalf of a device that was stopped
 * @ks: the device
 */
void ksnic_stopped(struct ksnic *ks)
{
	cancel_work_sync(&ks->lost_work);
}

/**
 * ksnic_teardown() - undo ksnic_setup(), but for what put_device() does
 * @ks: the structure
 */
void ksnic_teardown(struct ksnic *ks)
{
	ksnic_ports_free(ks);
	kiwi_queues_teardown(&ks->queues);
}
