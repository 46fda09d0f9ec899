/* SPDX-License-Identifier: GPL-2.0 */
/* The limits that a device reports in registers, and which ones make sense. */
#ifndef KIWI_FW_LIMITS_H
#define KIWI_FW_LIMITS_H

#include <linux/types.h>

enum kiwi_fw_limit_id {
	KIWI_FW_CMD_TIMEOUT_MS,
	KIWI_FW_RESET_TIMEOUT_MS,
	KIWI_FW_HEARTBEAT_MS,
	KIWI_FW_AQ_LOG2,
	KIWI_FW_EQ_LOG2,
	KIWI_FW_DB_PAGE_SHIFT,
	KIWI_FW_DMA_BITS,
	KIWI_FW_EQ_COUNT,
	KIWI_FW_DB_PAGES,
	KIWI_FW_LIMITS
};

/**
 * struct kiwi_fw_limit - a limit of the device
 * @name: as the ABI calls it
 * @reg: register
 * @mask: field in it
 * @min: smallest value that makes sense
 * @max: largest
 */
struct kiwi_fw_limit {
	const char *name;
	u32 reg;
	u32 mask;
	u32 min;
	u32 max;
};

extern const struct kiwi_fw_limit kiwi_fw_limit_table[KIWI_FW_LIMITS];

u32 kiwi_fw_limit_value(enum kiwi_fw_limit_id id, u32 reg_value);
bool kiwi_fw_limit_ok(enum kiwi_fw_limit_id id, u32 value);

#endif /* KIWI_FW_LIMITS_H */
