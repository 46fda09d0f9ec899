// SPDX-License-Identifier: GPL-2.0
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of the Kiwi G2G driver");
MODULE_AUTHOR("Kiwi driver maintainers");
MODULE_LICENSE("GPL");
