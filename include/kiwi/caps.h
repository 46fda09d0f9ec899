/* SPDX-License-Identifier: GPL-2.0 */
/* Taking over capabilities that a device reports. */
#ifndef KIWI_CAPS_H
#define KIWI_CAPS_H

#include <linux/types.h>

struct kiwi_error;
struct kiwi_snic_caps;

/**
 * struct kiwi_caps_check - whether the fields so far are what the ABI allows
 * @err: filled for the first that is not
 * @ret: 0 or -EPROTO
 */
struct kiwi_caps_check {
	struct kiwi_error *err;
	int ret;
};

u64 kiwi_caps_field(struct kiwi_caps_check *check, const char *name, u64 value, u64 min, u64 max);
u64 kiwi_caps_page_shift(struct kiwi_caps_check *check, const struct kiwi_snic_caps *wire);
u64 kiwi_caps_table_shift(struct kiwi_caps_check *check, const struct kiwi_snic_caps *wire);

#endif /* KIWI_CAPS_H */
