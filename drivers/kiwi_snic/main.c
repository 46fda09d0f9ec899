// SPDX-License-Identifier: GPL-2.0
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include <kiwi/compat.h>
#include <kiwi_abi/ids.h>

#include "ksnic.h"

static DEFINE_IDA(ksnic_ida);
static dev_t ksnic_devt;

static int start(struct kiwi_part *part, struct kiwi_error *err)
{
	return ksnic_start(to_ksnic(part), err);
}

static void stopped(struct kiwi_part *part)
{
	ksnic_stopped(to_ksnic(part));
}

static int publish(struct kiwi_part *part)
{
	return ksnic_sysfs_ports_add(to_ksnic(part));
}

static void unpublish(struct kiwi_part *part)
{
	ksnic_sysfs_ports_del(to_ksnic(part));
}

static void free_part(struct kiwi_part *part)
{
	struct ksnic *ks = to_ksnic(part);

	ksnic_teardown(ks);
	kfree(ks);
}

static const struct kiwi_part_ops ops = {
	.name = "snic",
	.owner = THIS_MODULE,
	.number = KIWI_PART_SNIC,
	.kinds = KIWI_QUEUES_KINDS,
	.fw = {
		.caps = KIWI_SNIC_CAP_GPU_QUEUES | KIWI_SNIC_CAP_MR_HOLD,
		.event = ksnic_event,
		.down = kiwi_part_down,
	},
	.ioctls = ksnic_ioctls,
	.nr_ioctls = ARRAY_SIZE(ksnic_ioctls),
	.start = start,
	.stopped = stopped,
	.publish = publish,
	.unpublish = unpublish,
	.mmap = kiwi_queues_mmap,
	KIWI_QUEUES_FILE_OPS,
	.free = free_part,
	.devt = &ksnic_devt,
	.ida = &ksnic_ida,
};

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct ksnic *ks;
	int ret;

	ks = kzalloc(sizeof(*ks), GFP_KERNEL);
	if (!ks)
		return -ENOMEM;
	ret = ksnic_setup(ks, &ops, &pdev->dev);
	if (ret) {
		kfree(ks);
		return ret;
	}
	ret = kiwi_part_probe(&ks->part, pdev);
	if (ret)
		put_device(&ks->part.dev);
	return ret;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(KIWI_PCI_VENDOR_ID, KIWI_PCI_DEVICE_SNIC) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver driver = {
	.name = "kiwi_snic",
	.id_table = ids,
	.probe = probe,
	.remove = kiwi_part_remove,
	.shutdown = kiwi_part_shutdown,
	.err_handler = &kiwi_part_err_handlers,
};

static int __init ksnic_init(void)
{
	int ret;

	ret = kiwi_part_init(&ops);
	if (ret)
		return ret;
	ret = pci_register_driver(&driver);
	if (ret)
		kiwi_part_exit(&ops);
	return ret;
}
module_init(ksnic_init);

static void __exit ksnic_exit(void)
{
	pci_unregister_driver(&driver);
	kiwi_part_exit(&ops);
}
module_exit(ksnic_exit);

MODULE_DESCRIPTION("Kiwi SNIC driver");
MODULE_AUTHOR("Kiwi driver maintainers");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("KIWI_FW");
