/* SPDX-License-Identifier: GPL-2.0 */
/* Why a call failed, in words and numbers, for whoever asked for it. */
#ifndef KSNIC_ERROR_H
#define KSNIC_ERROR_H

#include <linux/compiler_attributes.h>
#include <linux/types.h>

/**
 * struct ksnic_error - filled by the function that fails, and only then
 * @value: the value refused, or 0
 * @limit: the limit it broke, or 0
 * @refused: a command failed and had no effect, the device lives
 * @text: one line
 */
struct ksnic_error {
	u64 value;
	u64 limit;
	bool refused;
	char text[128];
};

__printf(5, 6)
int ksnic_fail(struct ksnic_error *err, int ret, u64 value, u64 limit, const char *fmt, ...);
const char *ksnic_errno_text(int ret);

#endif /* KSNIC_ERROR_H */
