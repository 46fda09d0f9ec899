// SPDX-License-Identifier: GPL-2.0
#include <linux/bitops.h>
#include <linux/limits.h>

#include <kiwi_abi/admin.h>
#include <kiwi_abi/regs.h>

#include "limits.h"

const struct kiwi_fw_limit kiwi_fw_limit_table[KIWI_FW_LIMITS] = {
	[KIWI_FW_CMD_TIMEOUT_MS]   = { "CMD_TIMEOUT_MS", KIWI_REG_CMD_TIMEOUT_MS,
				       U32_MAX, 1, 60000 },
	[KIWI_FW_RESET_TIMEOUT_MS] = { "RESET_TIMEOUT_MS", KIWI_REG_RESET_TIMEOUT_MS,
				       U32_MAX, 1, 60000 },
	[KIWI_FW_HEARTBEAT_MS]     = { "HEARTBEAT_MS", KIWI_REG_HEARTBEAT_MS,
				       U32_MAX, 1, 60000 },
	[KIWI_FW_AQ_LOG2]          = { "AQ_LOG2_MAX", KIWI_REG_LIMITS,
				       KIWI_LIMITS_AQ_LOG2_MAX, 2, 16 },
	[KIWI_FW_EQ_LOG2]          = { "EQ_LOG2_MAX", KIWI_REG_LIMITS,
				       KIWI_LIMITS_EQ_LOG2_MAX, KIWI_EQ_LOG2_MIN, 23 },
	[KIWI_FW_DB_PAGE_SHIFT]    = { "DB_PAGE_SHIFT", KIWI_REG_LIMITS,
				       KIWI_LIMITS_DB_PAGE_SHIFT, 12, 16 },
	[KIWI_FW_DMA_BITS]         = { "DMA_BITS", KIWI_REG_DMA_BITS, U32_MAX, 32, 64 },
	[KIWI_FW_EQ_COUNT]         = { "EQ_COUNT", KIWI_REG_EQ_COUNT, U32_MAX, 2, 1024 },
	[KIWI_FW_DB_PAGES]         = { "DB_PAGES", KIWI_REG_DB_PAGES, U32_MAX, 1, U32_MAX - 1 },
};

/**
 * kiwi_fw_limit_value() - a limit from the register that holds it
 * @id: which
 * @reg_value: as read
 *
 * Return: the value.
 */
u32 kiwi_fw_limit_value(enum kiwi_fw_limit_id id, u32 reg_value)
{
	u32 mask = kiwi_fw_limit_table[id].mask;

	return (reg_value & mask) >> __ffs(mask);
}

/**
 * kiwi_fw_limit_ok() - whether a limit makes sense
 * @id: which
 * @value: as the device reports it
 *
 * Return: true if it does.
 */
bool kiwi_fw_limit_ok(enum kiwi_fw_limit_id id, u32 value)
{
	return value >= kiwi_fw_limit_table[id].min && value <= kiwi_fw_limit_table[id].max;
}
