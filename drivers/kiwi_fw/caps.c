// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>

#include <kiwi/caps.h>
#include <kiwi/compat.h>
#include <kiwi/error.h>

/**
 * kiwi_caps_field() - a field of the capabilities, range-checked
 * @check: of all fields
 * @name: for people
 * @value: as reported
 * @min: it may have
 * @max: likewise
 *
 * Return: @value
 */
u64 kiwi_caps_field(struct kiwi_caps_check *check, const char *name, u64 value, u64 min, u64 max)
{
	if (!check->ret && (value < min || value > max))
		check->ret = kiwi_fail(check->err, -EPROTO, value, value < min ? min : max,
				       "device reports %s %llu, allowed are %llu to %llu", name,
				       value, min, max);
	return value;
}
EXPORT_SYMBOL_NS_GPL(kiwi_caps_field, "KIWI_FW");
