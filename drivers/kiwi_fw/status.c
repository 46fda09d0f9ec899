// SPDX-License-Identifier: GPL-2.0
/* What the statuses of commands mean as errno (include/uapi/kiwi/snic.h) and in words. */
#include <linux/errno.h>
#include <linux/kernel.h>

#include <kiwi/compat.h>
#include <kiwi/fw.h>

#include "admin.h"

static const struct {
	int error;
	const char *text;
} kiwi_fw_statuses[KIWI_ST_COUNT] = {
	[KIWI_ST_OK]		= { 0, "ok" },
	[KIWI_ST_BAD_OPCODE]	= { -EOPNOTSUPP, "unknown command" },
	[KIWI_ST_BAD_LENGTH]	= { -EINVAL, "wrong payload length" },
	[KIWI_ST_BAD_RESERVED]	= { -EINVAL, "reserved field is set" },
	[KIWI_ST_BAD_PARAM]	= { -EINVAL, "field out of range" },
	[KIWI_ST_BAD_HANDLE]	= { -ENOENT, "no such object" },
	[KIWI_ST_BAD_STATE]	= { -EINVAL, "not allowed in this state" },
	[KIWI_ST_NO_RESOURCE]	= { -ENOSPC, "limit of the device reached" },
	[KIWI_ST_BUSY]		= { -EBUSY, "object is in use" },
	[KIWI_ST_UNSUPPORTED]	= { -EOPNOTSUPP, "not supported by the device" },
	[KIWI_ST_DMA_ERROR]	= { -EFAULT, "device could not read the payload or page list" },
	[KIWI_ST_NOT_READY]	= { -EIO, "device was reset" },
	[KIWI_ST_INTERNAL]	= { -EREMOTEIO, "internal firmware error" },
};

/**
 * kiwi_fw_status_errno() - the errno of a status
 * @status: enum kiwi_status
 *
 * Return: -EPROTO for a status that the ABI does not know.
 */
int kiwi_fw_status_errno(u16 status)
{
	return status < ARRAY_SIZE(kiwi_fw_statuses) ? kiwi_fw_statuses[status].error : -EPROTO;
}

/**
 * kiwi_fw_status_str() - a status in words
 * @status: enum kiwi_status
 *
 * Return: English text.
 */
const char *kiwi_fw_status_str(u16 status)
{
	return status < ARRAY_SIZE(kiwi_fw_statuses) ? kiwi_fw_statuses[status].text :
						       "unknown status";
}
EXPORT_SYMBOL_NS_GPL(kiwi_fw_status_str, "KIWI_FW");
