// SPDX-License-Identifier: GPL-2.0
/*
 * The PCI function's life. Start and stop are the two halves of everything: probe and
 * remove, reset, error recovery and failure are made of them.
 */
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/pci.h>

#include <kiwi/compat.h>
#include <kiwi/part.h>

/**
 * kiwi_part_check_up() - whether the device can be used, on behalf of no file
 * @part: the device; the gate is held
 *
 * Return: 0 or negative errno
 */
int kiwi_part_check_up(const struct kiwi_part *part)
{
	return READ_ONCE(part->up) ? 0 : READ_ONCE(part->down_errno);
}
EXPORT_SYMBOL_NS_GPL(kiwi_part_check_up, "KIWI_FW");

/* Start and stop ---------------------------------------------------------------- */

/* Nobody does anything on behalf of the device any more. */
static void part_stopped(struct kiwi_part *part)
{
	lockdep_assert_held(&part->life);

	if (part->ops->stopped)
		part->ops->stopped(part);
}

static void part_stop_locked(struct kiwi_part *part, enum kiwi_reset_reason reason,
			     int down_errno)
{
	lockdep_assert_held(&part->life);

	kiwi_files_shut(part, down_errno);
	kiwi_files_clear(part);
	kiwi_fw_stop(part->fw, reason);
	/* The device has no access to anything now, so nothing is refused. */
	kiwi_zombies_retry(part);
	part_stopped(part);
}

static void part_stop(struct kiwi_part *part, enum kiwi_reset_reason reason)
{
	mutex_lock(&part->life);
	part->ops->unpublish(part);
	part_stop_locked(part, reason, -ENODEV);
	mutex_unlock(&part->life);
}

static int part_start(struct kiwi_part *part)
{
	struct kiwi_error err;
	int ret;

	mutex_lock(&part->life);
	ret = kiwi_fw_start(part->fw);
	if (ret)
		goto unlock;
	ret = part->ops->start(part, &err);
	if (ret) {
		dev_err(part->dev.parent, "%s\n", err.text);
		goto stop_fw;
	}
	kiwi_fw_enable_events(part->fw);
	kiwi_files_admit(part);
	mutex_unlock(&part->life);
	return 0;

stop_fw:
	kiwi_fw_stop(part->fw, KIWI_RESET_PROBE);
	part_stopped(part);
unlock:
	mutex_unlock(&part->life);
	return ret;
}

static void part_fail_work(struct work_struct *work)
{
	struct kiwi_part *part = container_of(work, struct kiwi_part, fail_work);
	const struct kiwi_file_event event = {
		.type = KIWI_EVENT_DEVICE_FATAL,
		.code = part->fail_reason,
	};
	int down_errno;

	mutex_lock(&part->life);
	if (!kiwi_fw_is_up(part->fw) && part->up) {
		down_errno = kiwi_fw_error(part->fw);
		if (down_errno == -EIO)
			kiwi_files_event(part, &event);
		part_stop_locked(part, part->fail_reason, down_errno);
	}
	mutex_unlock(&part->life);
}

/**
 * kiwi_part_down() - for kiwi_fw_ops.down: the device can no longer be used
 * @priv: the device
 * @reason: why
 */
void kiwi_part_down(void *priv, enum kiwi_reset_reason reason)
{
	struct kiwi_part *part = priv;

	part->fail_reason = reason;
	schedule_work(&part->fail_work);
}
EXPORT_SYMBOL_NS_GPL(kiwi_part_down, "KIWI_FW");

/* Structure ------------------------------------------------------------------------ */

static void part_release(struct device *dev)
{
	struct kiwi_part *part = container_of(dev, struct kiwi_part, dev);

	WARN_ON(!list_empty(&part->zombies));
	cleanup_srcu_struct(&part->gate);
	part->ops->free(part);
}

/**
 * kiwi_part_setup() - prepare a structure
 * @part: the structure, zero
 * @ops: the part's driver
 * @parent: the function
 *
 * Return: 0 and put_device() frees the structure, or negative errno
 */
int kiwi_part_setup(struct kiwi_part *part, const struct kiwi_part_ops *ops,
		    struct device *parent)
{
	int ret;

	ret = init_srcu_struct(&part->gate);
	if (ret)
		return ret;
	part->ops = ops;
	mutex_init(&part->life);
	INIT_WORK(&part->fail_work, part_fail_work);
	spin_lock_init(&part->files_lock);
	INIT_LIST_HEAD(&part->files);
	part->down_errno = -ENODEV;
	init_waitqueue_head(&part->wait);
	spin_lock_init(&part->event_lock);
	mutex_init(&part->zombie_lock);
	INIT_LIST_HEAD(&part->zombies);
	kiwi_cdev_init(part);

	device_initialize(&part->dev);
	part->dev.parent = parent;
	part->dev.class = &kiwi_fw_class;
	part->dev.release = part_release;
	dev_set_drvdata(&part->dev, part);
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_part_setup, "KIWI_FW");

/* PCI ------------------------------------------------------------------------------- */

static int part_name(struct kiwi_part *part)
{
	dev_t first = *part->ops->devt;

	part->dev.devt = MKDEV(MAJOR(first), MINOR(first) + part->index);
	return dev_set_name(&part->dev, "%s%u", part->ops->name, part->index);
}

/* The number is free again when the device goes, even if files of it are still open. */
static int part_publish(struct kiwi_part *part)
{
	int ret;

	ret = ida_alloc_max(part->ops->ida, KIWI_PART_MINORS - 1, GFP_KERNEL);
	if (ret < 0)
		return ret;
	part->index = ret;
	ret = part_name(part);
	if (ret)
		goto free_index;
	/* Programs that wait for the device find it complete. */
	dev_set_uevent_suppress(&part->dev, 1);
	ret = cdev_device_add(&part->cdev, &part->dev);
	if (ret)
		goto free_index;
	ret = part->ops->publish(part);
	if (ret)
		goto del_device;
	dev_set_uevent_suppress(&part->dev, 0);
	kobject_uevent(&part->dev.kobj, KOBJ_ADD);
	return 0;

del_device:
	cdev_device_del(&part->cdev, &part->dev);
free_index:
	ida_free(part->ops->ida, part->index);
	return ret;
}

static void part_unpublish(struct kiwi_part *part)
{
	cdev_device_del(&part->cdev, &part->dev);
	ida_free(part->ops->ida, part->index);
}

/**
 * kiwi_part_probe() - take over a function
 * @part: structure, set up; put_device() it on failure
 * @pdev: the function
 *
 * Return: 0 or negative errno
 */
int kiwi_part_probe(struct kiwi_part *part, struct pci_dev *pdev)
{
	int ret;

	part->fw = kiwi_fw_create(pdev, part->ops->number, &part->ops->fw, part);
	if (IS_ERR(part->fw))
		return PTR_ERR(part->fw);
	ret = part_start(part);
	if (ret)
		goto destroy_fw;
	ret = part_publish(part);
	if (ret)
		goto stop;
	pci_set_drvdata(pdev, part);
	pci_save_state(pdev);
	return 0;

stop:
	part_stop(part, KIWI_RESET_REMOVE);
destroy_fw:
	cancel_work_sync(&part->fail_work);
	kiwi_fw_destroy(part->fw);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_part_probe, "KIWI_FW");

/**
 * kiwi_part_remove() - give a function back, for pci_driver.remove
 * @pdev: the function, of which kiwi_part_probe() made a device
 */
void kiwi_part_remove(struct pci_dev *pdev)
{
	struct kiwi_part *part = pci_get_drvdata(pdev);

	if (!pci_device_is_present(pdev))
		kiwi_fw_vanished(part->fw);
	part_stop(part, KIWI_RESET_REMOVE);
	part_unpublish(part);
	cancel_work_sync(&part->fail_work);
	kiwi_fw_destroy(part->fw);
	put_device(&part->dev);
}
EXPORT_SYMBOL_NS_GPL(kiwi_part_remove, "KIWI_FW");

/**
 * kiwi_part_shutdown() - for pci_driver.shutdown
 * @pdev: the function
 */
void kiwi_part_shutdown(struct pci_dev *pdev)
{
	part_stop(pci_get_drvdata(pdev), KIWI_RESET_SHUTDOWN);
}
EXPORT_SYMBOL_NS_GPL(kiwi_part_shutdown, "KIWI_FW");

/* Another recovery may have started the device meanwhile: it was reset since. */
static void part_restart(struct kiwi_part *part)
{
	int ret;

	part_stop(part, KIWI_RESET_FLR);
	ret = part_start(part);
	if (!ret) {
		ret = part->ops->publish(part);
		if (ret)
			part_stop(part, KIWI_RESET_REMOVE);
	}
	if (ret)
		dev_err(part->dev.parent, "not usable after a reset (%d)\n", ret);
}

static void part_reset_prepare(struct pci_dev *pdev)
{
	part_stop(pci_get_drvdata(pdev), KIWI_RESET_FLR);
}

static void part_reset_done(struct pci_dev *pdev)
{
	part_restart(pci_get_drvdata(pdev));
}

static pci_ers_result_t part_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	struct kiwi_part *part = pci_get_drvdata(pdev);

	if (state != pci_channel_io_normal)
		kiwi_fw_vanished(part->fw);
	part_stop(part, KIWI_RESET_FATAL);
	return state == pci_channel_io_perm_failure ? PCI_ERS_RESULT_DISCONNECT :
						      PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t part_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev);
	return pci_device_is_present(pdev) ? PCI_ERS_RESULT_RECOVERED : PCI_ERS_RESULT_DISCONNECT;
}

static void part_resume(struct pci_dev *pdev)
{
	part_restart(pci_get_drvdata(pdev));
}

/* For pci_driver.err_handler. */
const struct pci_error_handlers kiwi_part_err_handlers = {
	.error_detected = part_error_detected,
	.slot_reset = part_slot_reset,
	.resume = part_resume,
	.reset_prepare = part_reset_prepare,
	.reset_done = part_reset_done,
};
EXPORT_SYMBOL_NS_GPL(kiwi_part_err_handlers, "KIWI_FW");

/**
 * kiwi_part_init() - for module_init: reserve device numbers
 * @ops: the part's driver
 *
 * Return: 0 or negative errno
 */
int kiwi_part_init(const struct kiwi_part_ops *ops)
{
	char name[16];

	scnprintf(name, sizeof(name), "kiwi_%s", ops->name);
	return alloc_chrdev_region(ops->devt, 0, KIWI_PART_MINORS, name);
}
EXPORT_SYMBOL_NS_GPL(kiwi_part_init, "KIWI_FW");

/**
 * kiwi_part_exit() - for module_exit
 * @ops: the part's driver
 */
void kiwi_part_exit(const struct kiwi_part_ops *ops)
{
	unregister_chrdev_region(*ops->devt, KIWI_PART_MINORS);
}
EXPORT_SYMBOL_NS_GPL(kiwi_part_exit, "KIWI_FW");
