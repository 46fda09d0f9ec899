// SPDX-License-Identifier: GPL-2.0
#include "ksnic.h"
#include "object.h"

/**
 * ksnic_pbl_build() - page list of some memory, within the limits of the device
 * @ks: the device
 * @mem: the memory
 * @pbl: to be filled; kiwi_fw_pbl_release() it after the command
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int ksnic_pbl_build(struct ksnic *ks, const struct kiwi_fw_mem *mem, struct kiwi_fw_pbl *pbl,
		    struct kiwi_error *err)
{
	const struct kiwi_fw_pbl_limits limits = {
		.max_pages = ks->caps.max_mr_pages,
		.page_shift_max = ks->caps.page_shift_max,
		.table_shift_max = ks->caps.pbl_table_shift_max,
	};

	return kiwi_cmd_pbl(ks->part.fw, mem, &limits, pbl, err);
}
