// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

#include <kiwi/compat.h>

MODULE_DESCRIPTION("KUnit suites of the Kiwi firmware interface");
MODULE_AUTHOR("Kiwi driver maintainers");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS("DMA_BUF");
