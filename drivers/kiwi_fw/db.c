// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbell pages. A page is handed out with all of the CPU page that it lies in, so that a
 * mapping shows nobody else's. Numbers are taken in turn, so that one just freed comes again
 * last; one that the device did not close, or takes for open, is not used again before a reset.
 */
#include <kiwi/compat.h>
#include <kiwi_abi/queues.h>

#include "core.h"

/**
 * kiwi_fw_db_init() - prepare the allocator of a new device
 * @fw: device
 */
void kiwi_fw_db_init(struct kiwi_fw *fw)
{
	xa_init_flags(&fw->db_pages, XA_FLAGS_ALLOC);
}

/**
 * kiwi_fw_db_start() - find out how many pages can be handed out
 * @fw: device whose identity was read
 *
 * Return: 0 or an errno.
 */
int kiwi_fw_db_start(struct kiwi_fw *fw)
{
	resource_size_t start = pci_resource_start(fw->pdev, KIWI_BAR_DOORBELL);
	u8 shift = fw->identity.db_page_shift;

	fw->db_unit = shift < PAGE_SHIFT ? BIT(PAGE_SHIFT - shift) : 1;
	fw->db_units = fw->identity.db_pages / fw->db_unit;
	if (!fw->db_units || !IS_ALIGNED(start, PAGE_SIZE)) {
		dev_err(&fw->pdev->dev, "%u doorbell pages of %lu bytes fill no CPU page of %lu\n",
			fw->identity.db_pages, BIT(shift), PAGE_SIZE);
		return -EOPNOTSUPP;
	}
	return 0;
}

/**
 * kiwi_fw_db_stop() - forget all pages
 * @fw: device that was reset
 */
void kiwi_fw_db_stop(struct kiwi_fw *fw)
{
	xa_destroy(&fw->db_pages);
}

static int kiwi_fw_db_command(struct kiwi_fw *fw, u16 opcode, u32 index, struct kiwi_fw_err *err)
{
	struct kiwi_cmd_id in = { .id = cpu_to_le32(index) };

	return kiwi_fw_exec(fw, opcode, &in, sizeof(in), NULL, 0, err);
}

/**
 * kiwi_fw_db_open() - open a doorbell page
 * @fw: device
 * @db: filled in
 * @err: filled in
 *
 * Return: 0, -ENOSPC when all are in use, -ENOMEM, or as kiwi_fw_exec().
 */
int kiwi_fw_db_open(struct kiwi_fw *fw, struct kiwi_fw_db *db, struct kiwi_fw_err *err)
{
	u32 unit, index;
	int ret;

	*err = (struct kiwi_fw_err) { .field = KIWI_ERR_FIELD_NONE };
	ret = xa_alloc_cyclic(&fw->db_pages, &unit, xa_mk_value(0),
			      XA_LIMIT(0, fw->db_units - 1), &fw->db_next, GFP_KERNEL);
	if (ret == -EBUSY) {
		err->limit = fw->db_units;
		err->value = err->limit + 1;
		return -ENOSPC;
	}
	if (ret < 0)
		return ret;

	index = unit * fw->db_unit;
	ret = kiwi_fw_db_command(fw, KIWI_OP_OPEN_DB_PAGE, index, err);
	if (ret) {
		if (err->status != KIWI_ST_BAD_STATE)
			xa_erase(&fw->db_pages, unit);
		return ret;
	}
	db->index = index;
	db->size = (size_t)fw->db_unit << fw->identity.db_page_shift;
	db->phys = pci_resource_start(fw->pdev, KIWI_BAR_DOORBELL) +
		   ((phys_addr_t)index << fw->identity.db_page_shift);
	db->reg_offset = KIWI_DB_REG;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_db_open, "KIWI_FW");

/**
 * kiwi_fw_db_close() - close a doorbell page
 * @fw: device
 * @db: as opened; no mapping of it is left
 *
 * Return: 0; otherwise the page is not handed out again before a reset, and may be closed again.
 */
int kiwi_fw_db_close(struct kiwi_fw *fw, struct kiwi_fw_db *db)
{
	int ret;

	ret = kiwi_fw_db_command(fw, KIWI_OP_CLOSE_DB_PAGE, db->index, NULL);
	if (!ret)
		xa_erase(&fw->db_pages, db->index / fw->db_unit);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_db_close, "KIWI_FW");

/**
 * kiwi_fw_db_left() - how many doorbell pages can still be opened
 * @fw: device
 *
 * Return: of kiwi_fw_identity.db_pages, those that nobody has, at this moment.
 */
u32 kiwi_fw_db_left(struct kiwi_fw *fw)
{
	unsigned long unit;
	u32 used = 0;
	void *entry;

	xa_for_each(&fw->db_pages, unit, entry)
		used++;
	return fw->db_units - used;
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_db_left, "KIWI_FW");
