// SPDX-License-Identifier: GPL-2.0
/* Creation of a device: PCI resources, and what the device says of itself. */
#include <linux/bitfield.h>
#include <linux/dma-mapping.h>
#include <linux/iommu.h>
#include <linux/slab.h>

#include <kiwi/compat.h>

#include "core.h"

#define KIWI_FW_BARS	(BIT(KIWI_BAR_REGS) | BIT(KIWI_BAR_DOORBELL))

/**
 * kiwi_fw_check_presence() - whether what is there is the part wanted
 * @fw: device
 *
 * Return: 0, -ENODEV if it is gone, -EPROTO if it is another thing.
 */
int kiwi_fw_check_presence(struct kiwi_fw *fw)
{
	struct device *dev = &fw->pdev->dev;
	u32 magic = kiwi_fw_rd32(fw, KIWI_REG_MAGIC);
	u32 abi = kiwi_fw_rd32(fw, KIWI_REG_ABI);
	u32 part = kiwi_fw_rd32(fw, KIWI_REG_PART);

	if (kiwi_fw_gone(fw)) {
		dev_err(dev, "device does not answer\n");
		return -ENODEV;
	}
	if (magic != KIWI_MAGIC) {
		dev_err(dev, "MAGIC is %#x, not %#x\n", magic, KIWI_MAGIC);
		return -EPROTO;
	}
	if (abi >> 16 != KIWI_ABI_MAJOR) {
		dev_err(dev, "firmware ABI is %u.%u, this driver knows %u\n", abi >> 16,
			abi & 0xffff, KIWI_ABI_MAJOR);
		return -EPROTO;
	}
	if (part != fw->part) {
		dev_err(dev, "PART is %u, not %u\n", part, fw->part);
		return -EPROTO;
	}
	return 0;
}

static int kiwi_fw_read_limit(struct kiwi_fw *fw, enum kiwi_fw_limit_id id, u32 *value)
{
	const struct kiwi_fw_limit *limit = &kiwi_fw_limit_table[id];

	*value = kiwi_fw_limit_value(id, kiwi_fw_rd32(fw, limit->reg));
	if (kiwi_fw_gone(fw))
		return -ENODEV;
	if (!kiwi_fw_limit_ok(id, *value)) {
		dev_err(&fw->pdev->dev, "%s is %u, not %u..%u\n", limit->name, *value, limit->min,
			limit->max);
		return -EPROTO;
	}
	return 0;
}

static int kiwi_fw_read_limits(struct kiwi_fw *fw)
{
	u64 bar = pci_resource_len(fw->pdev, KIWI_BAR_DOORBELL);
	enum kiwi_fw_limit_id id;
	u32 limits[KIWI_FW_LIMITS];
	int ret;

	for (id = 0; id < KIWI_FW_LIMITS; id++) {
		ret = kiwi_fw_read_limit(fw, id, &limits[id]);
		if (ret)
			return ret;
	}
	if (limits[KIWI_FW_DB_PAGES] > bar >> limits[KIWI_FW_DB_PAGE_SHIFT]) {
		dev_err(&fw->pdev->dev, "DB_PAGES is %u, BAR %u holds %llu\n",
			limits[KIWI_FW_DB_PAGES], KIWI_BAR_DOORBELL,
			bar >> limits[KIWI_FW_DB_PAGE_SHIFT]);
		return -EPROTO;
	}
	memcpy(fw->limits, limits, sizeof(limits));
	return 0;
}

/**
 * kiwi_fw_identify() - read and check what the device says of itself
 * @fw: device that is ready
 *
 * It may change with each reset, so this is done at each start.
 *
 * Return: 0 or an errno.
 */
int kiwi_fw_identify(struct kiwi_fw *fw)
{
	struct kiwi_fw_identity *identity = &fw->identity;
	int ret;

	ret = kiwi_fw_check_presence(fw);
	if (!ret)
		ret = kiwi_fw_read_limits(fw);
	if (!ret)
		ret = dma_set_mask_and_coherent(&fw->pdev->dev,
						DMA_BIT_MASK(fw->limits[KIWI_FW_DMA_BITS]));
	if (ret)
		return ret;

	*identity = (struct kiwi_fw_identity) {
		.serial = kiwi_fw_rd64(fw, KIWI_REG_SERIAL),
		.fw_version = kiwi_fw_rd64(fw, KIWI_REG_FW_VERSION),
		.offered = kiwi_fw_rd64(fw, KIWI_REG_CAPS),
		.abi = kiwi_fw_rd32(fw, KIWI_REG_ABI),
		.revision = kiwi_fw_rd32(fw, KIWI_REG_REVISION),
		.generation = kiwi_fw_rd32(fw, KIWI_REG_GENERATION),
		.db_pages = fw->limits[KIWI_FW_DB_PAGES],
		.db_page_shift = fw->limits[KIWI_FW_DB_PAGE_SHIFT],
		.comp_vectors = min(fw->nr_comp_eqs, fw->limits[KIWI_FW_EQ_COUNT] - 1),
	};
	identity->caps = identity->offered & (KIWI_CAP_DIAG | fw->ops->caps);
	return kiwi_fw_gone(fw) ? -ENODEV : 0;
}

/**
 * kiwi_fw_identity() - what the device said of itself at the last start
 * @fw: device
 *
 * Return: valid from one start to the next.
 */
const struct kiwi_fw_identity *kiwi_fw_identity(struct kiwi_fw *fw)
{
	return &fw->identity;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_identity, "KIWI_FW");

/**
 * kiwi_fw_diag() - read a diagnostic counter
 * @fw: device
 * @index: KIWI_DIAG_*
 *
 * The device may be in any state, and be changing it.
 *
 * Return: 0 where the device has none, all-ones if it does not answer.
 */
u64 kiwi_fw_diag(struct kiwi_fw *fw, unsigned int index)
{
	if (!(fw->identity.caps & KIWI_CAP_DIAG) || index >= KIWI_DIAG_COUNT)
		return 0;
	return kiwi_fw_peek64(fw, KIWI_REG_DIAG(index));
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_diag, "KIWI_FW");

static int kiwi_fw_check_bar(struct pci_dev *pdev, int bar, u64 min)
{
	u64 len = pci_resource_len(pdev, bar);

	if (!(pci_resource_flags(pdev, bar) & IORESOURCE_MEM) || len < min) {
		dev_err(&pdev->dev, "BAR %d is %llu bytes, not %llu of memory or more\n", bar,
			len, min);
		return -ENODEV;
	}
	return 0;
}

/* The part's own BARs are mapped by its driver: here it matters only that they are there. */
static int kiwi_fw_check_bars(struct kiwi_fw *fw)
{
	unsigned long bars = fw->bars & ~BIT(KIWI_BAR_REGS);
	unsigned int bar;
	int ret;

	ret = kiwi_fw_check_bar(fw->pdev, KIWI_BAR_REGS, KIWI_BAR_REGS_SIZE);
	for_each_set_bit(bar, &bars, PCI_STD_NUM_BARS) {
		if (!ret)
			ret = kiwi_fw_check_bar(fw->pdev, bar, 1);
	}
	return ret;
}

static int kiwi_fw_map(struct kiwi_fw *fw)
{
	struct pci_dev *pdev = fw->pdev;
	int ret;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = kiwi_fw_check_bars(fw);
	if (ret)
		goto err_disable;
	ret = pci_request_selected_regions(pdev, fw->bars, dev_driver_string(&pdev->dev));
	if (ret)
		goto err_disable;
	fw->bar = pci_ioremap_bar(pdev, KIWI_BAR_REGS);
	if (!fw->bar) {
		ret = -ENOMEM;
		goto err_release;
	}
	fw->regs = fw->bar;
	return 0;

err_release:
	pci_release_selected_regions(pdev, fw->bars);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void kiwi_fw_unmap(struct kiwi_fw *fw)
{
	iounmap(fw->bar);
	pci_release_selected_regions(fw->pdev, fw->bars);
	pci_disable_device(fw->pdev);
}

/* The limits may be read only when a reset that may be under way is over. */
static int kiwi_fw_meet(struct kiwi_fw *fw)
{
	int ret;

	ret = kiwi_fw_check_presence(fw);
	if (!ret)
		ret = kiwi_fw_read_limit(fw, KIWI_FW_RESET_TIMEOUT_MS,
					 &fw->limits[KIWI_FW_RESET_TIMEOUT_MS]);
	if (!ret)
		ret = kiwi_fw_wait_ready(fw);
	return ret ?: kiwi_fw_identify(fw);
}

static struct iommu_domain *kiwi_fw_translating_domain(struct device *dev)
{
	struct iommu_domain *domain = iommu_get_domain_for_dev(dev);

	return domain && domain->type & __IOMMU_DOMAIN_PAGING ? domain : NULL;
}

/**
 * kiwi_fw_is_translated() - whether an IOMMU translates the device's addresses
 * @fw: device
 *
 * Return: false also where one lets them through as they are.
 */
bool kiwi_fw_is_translated(const struct kiwi_fw *fw)
{
	return fw->iommu;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_is_translated, "KIWI_FW");

/**
 * kiwi_fw_create() - take over a function
 * @pdev: the function, not enabled
 * @part: KIWI_PART_* that it must be
 * @ops: callbacks
 * @priv: for them
 *
 * Return: the device, stopped, or an ERR_PTR: -ENODEV if it does not answer or lacks a BAR,
 * -EPROTO if it is another part, of another ABI, or reports limits that make no sense.
 */
struct kiwi_fw *kiwi_fw_create(struct pci_dev *pdev, u32 part, const struct kiwi_fw_ops *ops,
			       void *priv)
{
	struct kiwi_fw *fw;
	int ret;

	fw = kzalloc(sizeof(*fw), GFP_KERNEL);
	if (!fw)
		return ERR_PTR(-ENOMEM);
	fw->pdev = pdev;
	fw->part = part;
	fw->bars = KIWI_FW_BARS | ops->bars;
	fw->ops = ops;
	fw->priv = priv;
	fw->iommu = kiwi_fw_translating_domain(&pdev->dev);
	xa_init(&fw->comps);
	kiwi_fw_state_init(fw);
	kiwi_fw_health_init(fw);
	kiwi_fw_admin_init(fw);
	kiwi_fw_db_init(fw);
	/* At a boundary an IOMMU's mapping would be stretched over what comes next in memory. */
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	dma_set_seg_boundary(&pdev->dev, ULONG_MAX);

	fw->wq = alloc_workqueue("kiwi_fw@%s", WQ_UNBOUND, 0, pci_name(pdev));
	if (!fw->wq) {
		ret = -ENOMEM;
		goto err_free;
	}
	ret = kiwi_fw_map(fw);
	if (ret)
		goto err_wq;
	ret = kiwi_fw_meet(fw);
	if (ret)
		goto err_unmap;
	ret = kiwi_fw_irq_alloc(fw);
	if (ret)
		goto err_unmap;
	kiwi_fw_counters_show(fw);
	return fw;

err_unmap:
	kiwi_fw_unmap(fw);
err_wq:
	destroy_workqueue(fw->wq);
err_free:
	kfree(fw);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_create, "KIWI_FW");

/**
 * kiwi_fw_destroy() - give the function back
 * @fw: device, stopped; all memory and listeners are released
 */
void kiwi_fw_destroy(struct kiwi_fw *fw)
{
	WARN_ON(fw->state != KIWI_FW_STOPPED);
	kiwi_fw_counters_hide(fw);
	destroy_workqueue(fw->wq);
	kiwi_fw_irq_free(fw);
	kiwi_fw_unmap(fw);
	WARN_ON(!xa_empty(&fw->comps));
	kfree(fw);
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_destroy, "KIWI_FW");
