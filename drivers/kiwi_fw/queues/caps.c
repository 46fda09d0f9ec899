// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/log2.h>
#include <linux/limits.h>
#include <linux/sysfs.h>
#include <asm/byteorder.h>

#include <kiwi/caps.h>
#include <kiwi/compat.h>
#include <kiwi/error.h>
#include <kiwi/fw.h>
#include <kiwi/queues.h>
#include <kiwi_abi/queues.h>

#include "object.h"

/* Inline data of a WRITE shares the largest WQE with two segments and its byte count. */
#define INLINE_MAX	(KIWI_WQE_MAX_BB * KIWI_WQEBB - 2 * KIWI_WQE_SEG - sizeof(__le32))

/**
 * kiwi_queue_caps_parse() - take over the capabilities that the device reports
 * @wire: reply of QUERY_CAPS
 * @caps: to be filled
 * @err: why, on failure
 *
 * Return: 0, or -EPROTO when a field is outside of what the ABI allows
 */
int kiwi_queue_caps_parse(const struct kiwi_snic_caps *wire, struct kiwi_queue_caps *caps,
			  struct kiwi_error *err)
{
	struct kiwi_caps_check c = { .err = err };

	*caps = (struct kiwi_queue_caps) {
		.max_pd = kiwi_caps_field(&c, "max_pd", le32_to_cpu(wire->max_pd), 1,
					  KIWI_SNIC_NUMBER_MAX),
		.max_mr = kiwi_caps_field(&c, "max_mr", le32_to_cpu(wire->max_mr), 1,
					  KIWI_SNIC_NUMBER_MAX),
		.max_cq = kiwi_caps_field(&c, "max_cq", le32_to_cpu(wire->max_cq), 1,
					  KIWI_SNIC_NUMBER_MAX),
		.max_qp = kiwi_caps_field(&c, "max_qp", le32_to_cpu(wire->max_qp), 1,
					  KIWI_SNIC_NUMBER_MAX),
		.max_mr_size = kiwi_caps_field(&c, "max_mr_size", le64_to_cpu(wire->max_mr_size), 1,
					       U64_MAX),
		.max_mr_pages = kiwi_caps_field(&c, "max_mr_pages", le32_to_cpu(wire->max_mr_pages),
						1,
						U32_MAX),
		.max_inline = kiwi_caps_field(&c, "max_inline", le32_to_cpu(wire->max_inline), 0,
					      INLINE_MAX),
		.page_shift_max = kiwi_caps_page_shift(&c, wire),
		.pbl_table_shift_max = kiwi_caps_table_shift(&c, wire),
		.ports = kiwi_caps_field(&c, "ports", wire->ports, 1, 8),
		.gids = kiwi_caps_field(&c, "gids", wire->gids, 1, 255),
		.sq_log2_max = kiwi_caps_field(&c, "sq_log2_max", wire->sq_log2_max,
					       ilog2(KIWI_WQE_MAX_BB), KIWI_QUEUE_LOG2_MAX),
		.rq_log2_max = kiwi_caps_field(&c, "rq_log2_max", wire->rq_log2_max, 0,
					       KIWI_QUEUE_LOG2_MAX),
		.cq_log2_max = kiwi_caps_field(&c, "cq_log2_max", wire->cq_log2_max, 1,
					       KIWI_QUEUE_LOG2_MAX),
		.max_sge = kiwi_caps_field(&c, "max_sge", wire->max_sge, 1, 30),
		.max_rd_atomic = wire->max_rd_atomic,
		.max_msg_size = kiwi_caps_field(&c, "max_msg_size", le32_to_cpu(wire->max_msg_size),
						1,
						U32_MAX),
		.link_mbps = le32_to_cpu(wire->link_mbps),
	};
	return c.ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_queue_caps_parse, "KIWI_FW");

/**
 * kiwi_queue_caps_emit() - print a limit, for KIWI_DEV_ATTR()
 * @part: the device
 * @offset: of the limit in struct kiwi_queue_caps
 * @buf: to be filled
 *
 * Return: bytes
 */
ssize_t kiwi_queue_caps_emit(struct kiwi_part *part, unsigned long offset, char *buf)
{
	return sysfs_emit(buf, "%llu\n", *(u64 *)((u8 *)&part->queues->caps + offset));
}
EXPORT_SYMBOL_NS_GPL(kiwi_queue_caps_emit, "KIWI_FW");

/**
 * kiwi_queues_need_gpu() - whether the device has what queues for GPU code need
 * @fw: the device
 * @what: is asked for
 * @err: filled on failure
 *
 * Return: 0 or -EOPNOTSUPP
 */
int kiwi_queues_need_gpu(struct kiwi_fw *fw, const char *what, struct kiwi_error *err)
{
	if (kiwi_fw_identity(fw)->caps & KIWI_SNIC_CAP_GPU_QUEUES)
		return 0;
	return kiwi_fail(err, -EOPNOTSUPP, 0, 0,
			 "%s: the firmware does not offer queues for GPU code (caps/gpu_queues is 0)",
			 what);
}
