/* SPDX-License-Identifier: GPL-2.0 */
/* Why a call failed, in words and numbers, for whoever asked for it. */
#ifndef KIWI_ERROR_H
#define KIWI_ERROR_H

#include <linux/compiler_attributes.h>
#include <linux/types.h>

/**
 * struct kiwi_error - filled by the function that fails, and only then
 * @value: the value refused, or 0
 * @limit: the limit it broke, or 0
 * @refused: a command failed and had no effect, the device lives
 * @text: one line
 */
struct kiwi_error {
	u64 value;
	u64 limit;
	bool refused;
	char text[128];
};

__printf(5, 6)
int kiwi_fail(struct kiwi_error *err, int ret, u64 value, u64 limit, const char *fmt, ...);
int kiwi_fail_plain(struct kiwi_error *err, int ret);
const char *kiwi_errno_text(int ret);

#endif /* KIWI_ERROR_H */
