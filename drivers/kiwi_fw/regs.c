// SPDX-License-Identifier: GPL-2.0
/*
 * Register access. A device that has been removed, or whose link is down, answers
 * all-ones. MAGIC never does: that tells it from a register that holds all-ones.
 * From then on the registers are not touched, as the mapping may mean nothing.
 */
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/limits.h>

#include "core.h"

/**
 * kiwi_fw_gone() - whether the device was seen to be gone
 * @fw: device
 *
 * Return: true from kiwi_fw_vanished() to the next kiwi_fw_start().
 */
bool kiwi_fw_gone(struct kiwi_fw *fw)
{
	return !READ_ONCE(fw->regs);
}

static void kiwi_fw_check_magic(struct kiwi_fw *fw, void __iomem *regs)
{
	if (readl(regs + KIWI_REG_MAGIC) == U32_MAX)
		kiwi_fw_vanished(fw);
}

/**
 * kiwi_fw_rd32() - read a 32-bit register
 * @fw: device
 * @reg: offset
 *
 * Return: the value, all-ones if the device is gone.
 */
u32 kiwi_fw_rd32(struct kiwi_fw *fw, u32 reg)
{
	void __iomem *regs = READ_ONCE(fw->regs);
	u32 value;

	if (!regs)
		return U32_MAX;
	value = readl(regs + reg);
	if (unlikely(value == U32_MAX))
		kiwi_fw_check_magic(fw, regs);
	return value;
}

/**
 * kiwi_fw_rd64() - read a 64-bit register
 * @fw: device
 * @reg: offset
 *
 * Return: the value, all-ones if the device is gone.
 */
u64 kiwi_fw_rd64(struct kiwi_fw *fw, u32 reg)
{
	void __iomem *regs = READ_ONCE(fw->regs);
	u64 value;

	if (!regs)
		return U64_MAX;
	value = readq(regs + reg);
	if (unlikely(value == U64_MAX))
		kiwi_fw_check_magic(fw, regs);
	return value;
}

/**
 * kiwi_fw_peek64() - read a 64-bit register while others may stop, reset or start the device
 * @fw: device
 * @reg: offset
 *
 * A device in a function-level reset answers all-ones, too. Whoever took it for gone then might
 * say so when it has been started again.
 *
 * Return: the value, all-ones if the device does not answer.
 */
u64 kiwi_fw_peek64(struct kiwi_fw *fw, u32 reg)
{
	void __iomem *regs = READ_ONCE(fw->regs);

	return regs ? readq(regs + reg) : U64_MAX;
}

/**
 * kiwi_fw_wr32() - write a 32-bit register
 * @fw: device
 * @reg: offset
 * @value: for it; dropped if the device is gone
 */
void kiwi_fw_wr32(struct kiwi_fw *fw, u32 reg, u32 value)
{
	void __iomem *regs = READ_ONCE(fw->regs);

	if (regs)
		writel(value, regs + reg);
}

/**
 * kiwi_fw_wr64() - write a 64-bit register
 * @fw: device
 * @reg: offset
 * @value: for it; dropped if the device is gone
 */
void kiwi_fw_wr64(struct kiwi_fw *fw, u32 reg, u64 value)
{
	void __iomem *regs = READ_ONCE(fw->regs);

	if (regs)
		writeq(value, regs + reg);
}
