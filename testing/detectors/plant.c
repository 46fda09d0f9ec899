// SPDX-License-Identifier: GPL-2.0
/*
 * Commits one fault of each class that the test kernel is to report. To load it,
 * "insmod plant.ko fault=NAME"; the DMA faults need the device pci-testdev.
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

static char *fault = "";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "which fault to commit");

#define PLANT_BYTES	100

static void use_after_free(void)
{
	u8 *p = kmalloc(PLANT_BYTES, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	kfree(p);
	pr_info("%u\n", READ_ONCE(p[1]));
}

static void out_of_bounds(void)
{
	u8 *p = kmalloc(PLANT_BYTES, GFP_KERNEL);

	if (!p)
		return;
	OPTIMIZER_HIDE_VAR(p);
	WRITE_ONCE(p[PLANT_BYTES], 1);
	kfree(p);
}

static void leak(void)
{
	int i;

	/* Of several, none is kept alive by a stale word on the stack. */
	for (i = 0; i < 16; i++) {
		void *p = kmalloc(PLANT_BYTES, GFP_KERNEL);

		OPTIMIZER_HIDE_VAR(p);
	}
}

static void double_free(void)
{
	u8 *p = kmalloc(PLANT_BYTES, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(p);
	kfree(p);
	kfree(p);
}

static DEFINE_MUTEX(plant_a);
static DEFINE_MUTEX(plant_b);

static void lock_inversion(void)
{
	mutex_lock(&plant_a);
	mutex_lock(&plant_b);
	mutex_unlock(&plant_b);
	mutex_unlock(&plant_a);

	mutex_lock(&plant_b);
	mutex_lock(&plant_a);
	mutex_unlock(&plant_a);
	mutex_unlock(&plant_b);
}

static DEFINE_SPINLOCK(plant_lock);

static void sleep_in_atomic(void)
{
	spin_lock(&plant_lock);
	might_sleep();
	spin_unlock(&plant_lock);
}

static void shift(void)
{
	int bits = 40;

	OPTIMIZER_HIDE_VAR(bits);
	pr_info("%d\n", 1 << bits);
}

static const struct {
	const char *name;
	void (*commit)(void);
} faults[] = {
	{ "use-after-free", use_after_free },
	{ "out-of-bounds", out_of_bounds },
	{ "double-free", double_free },
	{ "leak", leak },
	{ "lock-inversion", lock_inversion },
	{ "sleep-in-atomic", sleep_in_atomic },
	{ "shift", shift },
};

/* What needs a device: a buffer that stays mapped, or is unmapped at another length. */
static int plant_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	void *buffer = devm_kmalloc(&pdev->dev, PAGE_SIZE, GFP_KERNEL);
	dma_addr_t addr;
	int ret;

	if (!buffer)
		return -ENOMEM;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (ret)
		return ret;
	addr = dma_map_single(&pdev->dev, buffer, PAGE_SIZE, DMA_TO_DEVICE);
	if (dma_mapping_error(&pdev->dev, addr))
		return -ENOMEM;
	if (!strcmp(fault, "dma-not-unmapped"))
		return 0;
	if (!strcmp(fault, "dma-not-owned"))
		dma_sync_single_for_cpu(&pdev->dev, addr + 2 * PAGE_SIZE, 64, DMA_TO_DEVICE);
	dma_unmap_single(&pdev->dev, addr, PAGE_SIZE, DMA_TO_DEVICE);
	return 0;
}

static const struct pci_device_id plant_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_REDHAT, 0x0005) },
	{ }
};

static struct pci_driver plant_driver = {
	.name = "plant",
	.id_table = plant_ids,
	.probe = plant_probe,
};

static int __init plant_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!strcmp(faults[i].name, fault))
			faults[i].commit();
	}
	return pci_register_driver(&plant_driver);
}
module_init(plant_init);

static void __exit plant_exit(void)
{
	pci_unregister_driver(&plant_driver);
}
module_exit(plant_exit);

MODULE_DESCRIPTION("Faults that a test kernel has to report");
MODULE_LICENSE("GPL");
