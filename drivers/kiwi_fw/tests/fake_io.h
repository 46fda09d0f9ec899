/* SPDX-License-Identifier: GPL-2.0 */
/* Has regs.c reach the registers of a fake device. */
#ifndef KIWI_FW_FAKE_IO_H
#define KIWI_FW_FAKE_IO_H

#include <linux/io-64-nonatomic-lo-hi.h>

u32 kiwi_fake_readl(const void __iomem *addr);
u64 kiwi_fake_readq(const void __iomem *addr);
void kiwi_fake_writel(u32 value, void __iomem *addr);
void kiwi_fake_writeq(u64 value, void __iomem *addr);

#undef readl
#undef readq
#undef writel
#undef writeq
#define readl	kiwi_fake_readl
#define readq	kiwi_fake_readq
#define writel	kiwi_fake_writel
#define writeq	kiwi_fake_writeq

#endif /* KIWI_FW_FAKE_IO_H */
