// SPDX-License-Identifier: GPL-2.0
#include <linux/idr.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include <kiwi/compat.h>
#include <kiwi/sysfs.h>
#include <kiwi_abi/ids.h>

#include "object.h"

static DEFINE_IDA(kg2g_ida);
static dev_t kg2g_devt;

static int start(struct kiwi_part *part, struct kiwi_error *err)
{
	struct pci_dev *pdev = to_pci_dev(part->dev.parent);

	return kg2g_start(to_kg2g(part), pci_resource_len(pdev, KIWI_BAR_APERTURE), err);
}

static void stopped(struct kiwi_part *part)
{
	kg2g_stopped(to_kg2g(part));
}

static int publish(struct kiwi_part *part)
{
	return kg2g_sysfs_ports_add(to_kg2g(part));
}

static void free_part(struct kiwi_part *part)
{
	struct kg2g *kg = to_kg2g(part);

	kg2g_teardown(kg);
	kfree(kg);
}

static struct kiwi_part_ops ops = {
	.name = "g2g",
	.owner = THIS_MODULE,
	.number = KIWI_PART_G2G,
	.kinds = KG2G_KINDS,
	.fw = {
		.caps = KIWI_G2G_CAP_ATOMICS | KIWI_G2G_CAP_PCIE_ATOMICS |
			KIWI_G2G_CAP_FORWARD | KIWI_G2G_CAP_LLR | KIWI_G2G_CAP_PFC |
			KIWI_G2G_CAP_CBFC | KIWI_G2G_CAP_MSGQ | KIWI_SNIC_CAP_GPU_QUEUES |
			KIWI_SNIC_CAP_MR_HOLD,
		.bars = BIT(KIWI_BAR_APERTURE),
		.events_end = KIWI_G2G_EV_COUNT,
		.event = kg2g_event,
		.down = kiwi_part_down,
	},
	.ioctls = kg2g_ioctls,
	.start = start,
	.stopped = stopped,
	.publish = publish,
	.unpublish = kiwi_ports_del,
	.mmap = kg2g_mmap,
	KIWI_QUEUES_FILE_OPS,
	.free = free_part,
	.devt = &kg2g_devt,
	.ida = &kg2g_ida,
};

static int probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct kg2g *kg;
	int ret;

	kg = kzalloc(sizeof(*kg), GFP_KERNEL);
	if (!kg)
		return -ENOMEM;
	ret = kg2g_setup(kg, &ops, &pdev->dev);
	if (ret) {
		kfree(kg);
		return ret;
	}
	ret = kiwi_part_probe(&kg->part, pdev);
	if (ret)
		put_device(&kg->part.dev);
	return ret;
}

static const struct pci_device_id ids[] = {
	{ PCI_DEVICE(KIWI_PCI_VENDOR_ID, KIWI_PCI_DEVICE_G2G) },
	{ }
};
MODULE_DEVICE_TABLE(pci, ids);

static struct pci_driver driver = {
	.name = "kiwi_g2g",
	.id_table = ids,
	.probe = probe,
	.remove = kiwi_part_remove,
	.shutdown = kiwi_part_shutdown,
	.err_handler = &kiwi_part_err_handlers,
};

static int __init kg2g_init(void)
{
	int ret;

	ops.nr_ioctls = kg2g_nr_ioctls;
	ret = kiwi_part_init(&ops);
	if (ret)
		return ret;
	ret = pci_register_driver(&driver);
	if (ret)
		kiwi_part_exit(&ops);
	return ret;
}
module_init(kg2g_init);

static void __exit kg2g_exit(void)
{
	pci_unregister_driver(&driver);
	kiwi_part_exit(&ops);
}
module_exit(kg2g_exit);

MODULE_DESCRIPTION("Kiwi G2G IO die driver");
MODULE_AUTHOR("Kiwi driver maintainers");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("DMA_BUF");
MODULE_IMPORT_NS("KIWI_FW");
