// SPDX-License-Identifier: GPL-2.0
/* Attributes of the device itself. */
#include <kiwi/fw.h>
#include <kiwi/sysfs.h>

#include "ksnic.h"

/* Capabilities ------------------------------------------------------------------ */

#define CAPS_ATTR(_name)						\
	KIWI_DEV_ATTR(__stringify(_name), kiwi_queue_caps_emit,		\
		      offsetof(struct kiwi_queue_caps, _name))

static struct attribute *caps_attrs[] = {
	CAPS_ATTR(max_pd),
	CAPS_ATTR(max_mr),
	CAPS_ATTR(max_cq),
	CAPS_ATTR(max_qp),
	CAPS_ATTR(max_mr_size),
	CAPS_ATTR(max_mr_pages),
	CAPS_ATTR(max_inline),
	CAPS_ATTR(page_shift_max),
	CAPS_ATTR(pbl_table_shift_max),
	CAPS_ATTR(ports),
	CAPS_ATTR(gids),
	CAPS_ATTR(sq_log2_max),
	CAPS_ATTR(rq_log2_max),
	CAPS_ATTR(cq_log2_max),
	CAPS_ATTR(max_sge),
	CAPS_ATTR(max_rd_atomic),
	CAPS_ATTR(max_msg_size),
	CAPS_ATTR(link_mbps),
	KIWI_CAP_BIT_ATTR(gpu_queues, KIWI_SNIC_CAP_GPU_QUEUES),
	NULL
};

static const struct attribute_group caps_group = {
	.name = "caps",
	.attrs = caps_attrs,
};

const struct attribute_group *ksnic_dev_groups[] = {
	&kiwi_identity_group,
	&caps_group,
	&kiwi_diag_group,
	NULL
};
