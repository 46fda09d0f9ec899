// SPDX-License-Identifier: GPL-2.0
/*
 * xpu: PCI driver of the stand-in accelerator.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/module.h>

#include "xpu_drv.h"

static irqreturn_t xpu_irq_copy(int irq, void *data)
{
	struct xpu_device *xdev = data;

	xpu_engine_irq(&xdev->engine);
	return IRQ_HANDLED;
}

static irqreturn_t xpu_irq_exec(int irq, void *data)
{
	struct xpu_device *xdev = data;

	xpu_exec_irq(&xdev->exec);
	return IRQ_HANDLED;
}

static int xpu_check_identity(struct pci_dev *pdev, void __iomem *regs)
{
	u32 magic = readl(regs + XPU_REG_MAGIC), version = readl(regs + XPU_REG_VERSION);
	u32 dma_bits = readl(regs + XPU_REG_DMA_BITS);
	u64 vram = lo_hi_readq(regs + XPU_REG_VRAM_SIZE);
	u64 bar = pci_resource_len(pdev, XPU_BAR_VRAM);

	if (magic != XPU_MAGIC || version >> 16 != XPU_VERSION_MAJOR)
		return dev_err_probe(&pdev->dev, -ENODEV, "no xpu: magic %#x, version %#x\n",
				     magic, version);
	if (!vram || !PAGE_ALIGNED(vram) || vram != bar)
		return dev_err_probe(&pdev->dev, -ENODEV, "VRAM of %#llx bytes in a BAR of %#llx\n",
				     vram, bar);
	if (dma_bits < 32 || dma_bits > 64)
		return dev_err_probe(&pdev->dev, -ENODEV, "bus addresses of %u bits\n", dma_bits);
	return dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(dma_bits));
}

static int xpu_init_irqs(struct xpu_device *xdev)
{
	struct pci_dev *pdev = xdev->pdev;
	int ret;

	ret = pci_alloc_irq_vectors(pdev, XPU_VECTORS, XPU_VECTORS, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	ret = request_irq(pci_irq_vector(pdev, XPU_VECTOR_COPY), xpu_irq_copy, 0, "xpu-copy", xdev);
	if (ret)
		goto err_vectors;
	ret = request_irq(pci_irq_vector(pdev, XPU_VECTOR_EXEC), xpu_irq_exec, 0, "xpu-exec", xdev);
	if (ret)
		goto err_copy;
	return 0;

err_copy:
	free_irq(pci_irq_vector(pdev, XPU_VECTOR_COPY), xdev);
err_vectors:
	pci_free_irq_vectors(pdev);
	return ret;
}

static void xpu_fini_irqs(struct xpu_device *xdev)
{
	free_irq(pci_irq_vector(xdev->pdev, XPU_VECTOR_EXEC), xdev);
	free_irq(pci_irq_vector(xdev->pdev, XPU_VECTOR_COPY), xdev);
	pci_free_irq_vectors(xdev->pdev);
}

static int xpu_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct xpu_device *xdev;
	void __iomem *regs;
	int ret;

	xdev = xpu_device_alloc(pdev);
	if (IS_ERR(xdev))
		return PTR_ERR(xdev);
	ret = pci_enable_device_mem(pdev);
	if (ret)
		goto err_put;
	ret = pci_request_regions(pdev, "xpu");
	if (ret)
		goto err_disable;
	regs = pci_iomap(pdev, XPU_BAR_REGS, XPU_BAR_REGS_SIZE);
	if (!regs) {
		ret = -ENOMEM;
		goto err_regions;
	}
	ret = xpu_check_identity(pdev, regs);
	if (ret)
		goto err_unmap;
	ret = xpu_engine_init(xdev, regs);
	if (ret)
		goto err_unmap;
	xpu_exec_init(xdev, regs);
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	xpu_vram_init(&xdev->vram, pci_resource_start(pdev, XPU_BAR_VRAM),
		      pci_resource_len(pdev, XPU_BAR_VRAM), regs);
	ret = xpu_init_irqs(xdev);
	if (ret)
		goto err_vram;
	pci_set_master(pdev);
	pci_save_state(pdev);	/* for slot_reset */
	pci_set_drvdata(pdev, xdev);
	ret = cdev_device_add(&xdev->cdev, &xdev->dev);
	if (ret)
		goto err_irqs;
	dev_info(&pdev->dev, "%s: %llu MiB of VRAM\n", dev_name(&xdev->dev), xdev->vram.size >> 20);
	return 0;

err_irqs:
	pci_clear_master(pdev);
	xpu_fini_irqs(xdev);
err_vram:
	xpu_vram_fini(&xdev->vram);
err_unmap:
	pci_iounmap(pdev, regs);
err_regions:
	pci_release_regions(pdev);
err_disable:
	pci_disable_device(pdev);
err_put:
	put_device(&xdev->dev);
	return ret;
}

/*
 * Ends what runs and takes doorbells and buffers away. With the engines stopped ioctls end
 * soon; the lock waits for them, so that each buffer they made is among those revoked.
 */
static void xpu_stop(struct xpu_device *xdev, bool unplug)
{
	xpu_engine_stop(&xdev->engine, unplug ? -ENODEV : -EAGAIN);
	xpu_exec_stop(xdev, unplug ? -ENODEV : -EAGAIN);
	down_write(&xdev->unplug_lock);
	xdev->unplugged = unplug;
	up_write(&xdev->unplug_lock);
	xpu_doorbells_unmap(xdev);
	xpu_revoke_all(xdev, !unplug);
}

/*
 * Files and buffers may live on: from here on they find a device that is unplugged,
 * and buffers that are revoked. The VRAM BAR is given up when importers have let go.
 */
static void xpu_remove(struct pci_dev *pdev)
{
	struct xpu_device *xdev = pci_get_drvdata(pdev);

	cdev_device_del(&xdev->cdev, &xdev->dev);
	xpu_stop(xdev, true);
	if (!wait_event_timeout(xdev->unmapped, !atomic_read(&xdev->vram_mappings),
				XPU_IMPORTER_TIMEOUT))
		dev_warn(&pdev->dev, "importers still hold %d mappings of VRAM\n",
			 atomic_read(&xdev->vram_mappings));

	pci_clear_master(pdev);
	xpu_fini_irqs(xdev);
	xpu_vram_fini(&xdev->vram);
	pci_iounmap(pdev, xdev->engine.regs);
	pci_release_regions(pdev);
	pci_disable_device(pdev);
	put_device(&xdev->dev);
}

/* What VRAM holds does not survive a reset, so its buffers are revoked. */
static void xpu_reset_prepare(struct pci_dev *pdev)
{
	xpu_stop(pci_get_drvdata(pdev), false);
}

static void xpu_reset_done(struct pci_dev *pdev)
{
	struct xpu_device *xdev = pci_get_drvdata(pdev);

	xpu_engine_start(&xdev->engine);
	xpu_exec_start(&xdev->exec);
}

static pci_ers_result_t xpu_error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	if (state == pci_channel_io_normal)
		return PCI_ERS_RESULT_CAN_RECOVER;
	xpu_reset_prepare(pdev);
	if (state == pci_channel_io_perm_failure)
		return PCI_ERS_RESULT_DISCONNECT;
	return PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t xpu_slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	pci_save_state(pdev);
	return PCI_ERS_RESULT_RECOVERED;
}

static const struct pci_error_handlers xpu_error_handlers = {
	.error_detected = xpu_error_detected,
	.slot_reset = xpu_slot_reset,
	.resume = xpu_reset_done,
	.reset_prepare = xpu_reset_prepare,
	.reset_done = xpu_reset_done,
};

static const struct pci_device_id xpu_ids[] = {
	{ PCI_DEVICE(XPU_PCI_VENDOR_ID, XPU_PCI_DEVICE_ID) },
	{ }
};
MODULE_DEVICE_TABLE(pci, xpu_ids);

static struct pci_driver xpu_driver = {
	.name = "xpu",
	.id_table = xpu_ids,
	.probe = xpu_probe,
	.remove = xpu_remove,
	.err_handler = &xpu_error_handlers,
};

static int __init xpu_init(void)
{
	int ret;

	ret = xpu_chardev_init();
	if (ret)
		return ret;
	ret = pci_register_driver(&xpu_driver);
	if (ret)
		xpu_chardev_exit();
	return ret;
}
module_init(xpu_init);

static void __exit xpu_exit(void)
{
	pci_unregister_driver(&xpu_driver);
	xpu_chardev_exit();
}
module_exit(xpu_exit);

MODULE_DESCRIPTION("Stand-in accelerator for tests of Kiwi parts");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("DMA_BUF");
