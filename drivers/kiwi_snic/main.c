// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI function's life. Start and stop are the two halves of everything: probe and
 * remove, reset, error recovery and failure are made of them.
 */
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include <kiwi/compat.h>
#include <kiwi/fw.h>
#include <kiwi_abi/ids.h>
#include <uapi/kiwi/snic.h>

#include "fw_cmd.h"
#include "ksnic.h"
#include "object.h"
#include "port.h"

static DEFINE_IDA(ksnic_ida);

/**
 * ksnic_check_up() - whether the device can be used, on behalf of no file
 * @ks: the device; the gate is held
 *
 * Return: 0 or negative errno
 */
int ksnic_check_up(const struct ksnic *ks)
{
	return READ_ONCE(ks->up) ? 0 : READ_ONCE(ks->down_errno);
}

/* Start and stop ---------------------------------------------------------------- */

static void ksnic_stop_locked(struct ksnic *ks, enum kiwi_reset_reason reason, int down_errno)
{
	lockdep_assert_held(&ks->life);

	ksnic_files_shut(ks, down_errno);
	ksnic_files_clear(ks);
	kiwi_fw_stop(ks->fw, reason);
	/* The device has no access to anything now, so nothing is refused. */
	ksnic_zombies_retry(ks);
}

static void ksnic_stop(struct ksnic *ks, enum kiwi_reset_reason reason)
{
	mutex_lock(&ks->life);
	ksnic_sysfs_ports_del(ks);
	ksnic_stop_locked(ks, reason, -ENODEV);
	mutex_unlock(&ks->life);
}

static int ksnic_configure(struct ksnic *ks)
{
	struct kiwi_error err;
	int ret;

	ret = ksnic_cmd_query_caps(ks->fw, &ks->caps, &err);
	if (!ret)
		ret = ksnic_ports_start(ks, &err);
	if (ret)
		dev_err(ks->dev.parent, "%s\n", err.text);
	return ret;
}

static int ksnic_start(struct ksnic *ks)
{
	int ret;

	mutex_lock(&ks->life);
	ret = kiwi_fw_start(ks->fw);
	if (ret)
		goto unlock;
	ret = ksnic_configure(ks);
	if (ret)
		goto stop_fw;
	kiwi_fw_enable_events(ks->fw);
	ksnic_files_admit(ks);
	mutex_unlock(&ks->life);
	return 0;

stop_fw:
	kiwi_fw_stop(ks->fw, KIWI_RESET_PROBE);
unlock:
	mutex_unlock(&ks->life);
	return ret;
}

static void ksnic_fail_work(struct work_struct *work)
{
	struct ksnic *ks = container_of(work, struct ksnic, fail_work);
	int down_errno;

	mutex_lock(&ks->life);
	if (!kiwi_fw_is_up(ks->fw) && ks->up) {
		down_errno = kiwi_fw_error(ks->fw);
		if (down_errno == -EIO)
			ksnic_files_event(ks, KIWI_SNIC_EVENT_DEVICE_FATAL, 0, ks->fail_reason);
		ksnic_stop_locked(ks, ks->fail_reason, down_errno);
	}
	mutex_unlock(&ks->life);
}

static void ksnic_down(void *priv, enum kiwi_reset_reason reason)
{
	struct ksnic *ks = priv;

	ks->fail_reason = reason;
	schedule_work(&ks->fail_work);
}

static const struct kiwi_fw_ops ksnic_fw_ops = {
	.caps = KIWI_SNIC_CAP_GPU_QUEUES | KIWI_SNIC_CAP_MR_HOLD,
	.event = ksnic_event,
	.down = ksnic_down,
};

/* Structure ------------------------------------------------------------------------ */

static void ksnic_dev_release(struct device *dev)
{
	struct ksnic *ks = container_of(dev, struct ksnic, dev);

	WARN_ON(!list_empty(&ks->zombies));
	ksnic_ports_free(ks);
	xa_destroy(&ks->cqs);
	xa_destroy(&ks->qps);
	xa_destroy(&ks->dbs);
	cleanup_srcu_struct(&ks->gate);
	kfree(ks);
}

static struct ksnic *ksnic_alloc(struct pci_dev *pdev)
{
	struct ksnic *ks;
	int ret;

	ks = kzalloc(sizeof(*ks), GFP_KERNEL);
	if (!ks)
		return ERR_PTR(-ENOMEM);
	ret = init_srcu_struct(&ks->gate);
	if (ret) {
		kfree(ks);
		return ERR_PTR(ret);
	}
	mutex_init(&ks->life);
	INIT_WORK(&ks->fail_work, ksnic_fail_work);
	spin_lock_init(&ks->files_lock);
	INIT_LIST_HEAD(&ks->files);
	ks->down_errno = -ENODEV;
	spin_lock_init(&ks->event_lock);
	xa_init(&ks->cqs);
	xa_init(&ks->qps);
	xa_init(&ks->dbs);
	mutex_init(&ks->zombie_lock);
	INIT_LIST_HEAD(&ks->zombies);

	device_initialize(&ks->dev);
	ks->dev.parent = &pdev->dev;
	ks->dev.release = ksnic_dev_release;
	ks->dev.groups = ksnic_dev_groups;
	dev_set_drvdata(&ks->dev, ks);
	return ks;
}

/* PCI ------------------------------------------------------------------------------- */

/* The number is free again when the device goes, even if files of it are still open. */
static int ksnic_publish(struct ksnic *ks)
{
	int ret;

	ret = ida_alloc_max(&ksnic_ida, KSNIC_MINORS - 1, GFP_KERNEL);
	if (ret < 0)
		return ret;
	ks->index = ret;
	ret = ksnic_chardev_prepare(ks);
	if (ret)
		goto free_index;
	/* Programs that wait for the device find it complete. */
	dev_set_uevent_suppress(&ks->dev, 1);
	ret = cdev_device_add(&ks->cdev, &ks->dev);
	if (ret)
		goto free_index;
	ret = ksnic_sysfs_ports_add(ks);
	if (ret)
		goto del_device;
	dev_set_uevent_suppress(&ks->dev, 0);
	kobject_uevent(&ks->dev.kobj, KOBJ_ADD);
	return 0;

del_device:
	cdev_device_del(&ks->cdev, &ks->dev);
free_index:
	ida_free(&ksnic_ida, ks->index);
	return ret;
}

static void ksnic_unpublish(struct ksnic *ks)
{
	cdev_device_del(&ks->cdev, &ks->dev);
	ida_free(&ksnic_ida, ks->index);
}

static int ksnic_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ksnic *ks;
	int ret;

	ks = ksnic_alloc(pdev);
	if (IS_ERR(ks))
		return PTR_ERR(ks);
	ks->fw = kiwi_fw_create(pdev, KIWI_PART_SNIC, &ksnic_fw_ops, ks);
	if (IS_ERR(ks->fw)) {
		ret = PTR_ERR(ks->fw);
		goto put;
	}
	ret = ksnic_start(ks);
	if (ret)
		goto destroy_fw;
	ret = ksnic_publish(ks);
	if (ret)
		goto stop;
	pci_set_drvdata(pdev, ks);
	pci_save_state(pdev);
	return 0;

stop:
	ksnic_stop(ks, KIWI_RESET_REMOVE);
destroy_fw:
	cancel_work_sync(&ks->fail_work);
	kiwi_fw_destroy(ks->fw);
put:
	put_device(&ks->dev);
	return ret;
}

static void ksnic_remove(struct pci_dev *pdev)
{
	struct ksnic *ks = pci_get_drvdata(pdev);

	if (!pci_device_is_present(pdev))
		kiwi_fw_vanished(ks->fw);
	ksnic_stop(ks, KIWI_RESET_REMOVE);
	ksnic_unpublish(ks);
	cancel_work_sync(&ks->fail_work);
	kiwi_fw_destroy(ks->fw);
	put_device(&ks->dev);
}

static void ksnic_shutdown(struct pci_dev *pdev)
{
	ksnic_stop(pci_get_drvdata(pdev), KIWI_RESET_SHUTDOWN);
}

/* Another recovery may have started the device meanwhile: it was reset since. */
static void ksnic_restart(struct ksnic *ks)
{
	int ret;

	ksnic_stop(ks, KIWI_RESET_FLR);
	ret = ksnic_start(ks);
	if (!ret) {
		ret = ksnic_sysfs_ports_add(ks);
		if (ret)
			ksnic_stop(ks, KIWI_RESET_REMOVE);
	}
	if (ret)
		dev_err(ks->dev.parent, "not usable after a reset (%d)\n", ret);
}

static void ksnic_reset_prepare(struct pci_dev *pdev)
{
	ksnic_stop(pci_get_drvdata(pdev), KIWI_RESET_FLR);
}

static void ksnic_reset_done(struct pci_dev *pdev)
{
	ksnic_restart(pci_get_drvdata(pdev));
}

static pci_ers_result_t ksnic_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct ksnic *ks = pci_get_drvdata(pdev);

	if (state != pci_channel_io_normal)
		kiwi_fw_vanished(ks->fw);
	ksnic_stop(ks, KIWI_RESET_FATAL);
	return state == pci_channel_io_perm_failure ? PCI_ERS_RESULT_DISCONNECT :
						      PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t ksnic_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev);
	return pci_device_is_present(pdev) ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_DISCONNECT;
}

static void ksnic_resume(struct pci_dev *pdev)
{
	ksnic_restart(pci_get_drvdata(pdev));
}

static const struct pci_error_handlers ksnic_err_handlers = {
	.error_detected = ksnic_error_detected,
	.slot_reset = ksnic_slot_reset,
	.resume = ksnic_resume,
	.reset_prepare = ksnic_reset_prepare,
	.reset_done = ksnic_reset_done,
};

static const struct pci_device_id ksnic_ids[] = {
	{ PCI_DEVICE(KIWI_PCI_VENDOR_ID, KIWI_PCI_DEVICE_SNIC) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ksnic_ids);

static struct pci_driver ksnic_driver = {
	.name = "kiwi_snic",
	.id_table = ksnic_ids,
	.probe = ksnic_probe,
	.remove = ksnic_remove,
	.shutdown = ksnic_shutdown,
	.err_handler = &ksnic_err_handlers,
};

static int __init ksnic_init(void)
{
	int ret;

	ret = ksnic_chardev_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&ksnic_driver);
	if (ret)
		ksnic_chardev_exit();
	return ret;
}
module_init(ksnic_init);

static void __exit ksnic_exit(void)
{
	pci_unregister_driver(&ksnic_driver);
	ksnic_chardev_exit();
}
module_exit(ksnic_exit);

MODULE_DESCRIPTION("Kiwi SNIC driver");
MODULE_AUTHOR("Kiwi driver maintainers");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("DMA_BUF");
MODULE_IMPORT_NS("KIWI_FW");
