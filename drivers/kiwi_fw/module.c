// SPDX-License-Identifier: GPL-2.0
/* The module, and the device class of all parts. */
#include <linux/device.h>
#include <linux/module.h>

#include <kiwi/compat.h>

#include "core.h"

static char *kiwi_fw_devnode(KIWI_DEVNODE_CONST struct device *dev, umode_t *mode)
{
	return kasprintf(GFP_KERNEL, "kiwi/%s", dev_name(dev));
}

struct class kiwi_fw_class = {
	.name = "kiwi",
	.devnode = kiwi_fw_devnode,
};
EXPORT_SYMBOL_NS_GPL(kiwi_fw_class, "KIWI_FW");

static int __init kiwi_fw_init(void)
{
	int ret;

	ret = class_register(&kiwi_fw_class);
	if (ret)
		return ret;
	kiwi_fw_debugfs_init();
	return 0;
}
module_init(kiwi_fw_init);

static void __exit kiwi_fw_exit(void)
{
	kiwi_fw_debugfs_exit();
	class_unregister(&kiwi_fw_class);
}
module_exit(kiwi_fw_exit);

MODULE_DESCRIPTION("Kiwi firmware interface");
MODULE_AUTHOR("Kiwi driver maintainers");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("DMA_BUF");
