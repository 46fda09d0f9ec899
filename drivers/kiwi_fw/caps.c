// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>

#include <kiwi/caps.h>
#include <kiwi/compat.h>
#include <kiwi/error.h>
#include <kiwi_abi/snic.h>

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

/**
 * kiwi_caps_page_shift() - the largest page of a page list, range-checked
 * @check: of all fields
 * @wire: as reported
 *
 * Return: n of 2^n bytes
 */
u64 kiwi_caps_page_shift(struct kiwi_caps_check *check, const struct kiwi_snic_caps *wire)
{
	return kiwi_caps_field(check, "page_shift_max", wire->page_shift_max, KIWI_PAGE_SHIFT_MIN,
			       63);
}
EXPORT_SYMBOL_NS_GPL(kiwi_caps_page_shift, "KIWI_FW");

/**
 * kiwi_caps_table_shift() - the largest table of a page list, range-checked
 * @check: of all fields
 * @wire: as reported
 *
 * Return: n of 2^n bytes
 */
u64 kiwi_caps_table_shift(struct kiwi_caps_check *check, const struct kiwi_snic_caps *wire)
{
	return kiwi_caps_field(check, "pbl_table_shift_max", wire->pbl_table_shift_max,
			       KIWI_PAGE_SHIFT_MIN, 63);
}
EXPORT_SYMBOL_NS_GPL(kiwi_caps_table_shift, "KIWI_FW");
