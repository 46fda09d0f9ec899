// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* What code elsewhere, on a GPU, needs of queues that are made here. */
#include "priv.h"

int kiwi_queue_query(struct kiwi_device *dev, uint32_t id, uint32_t kind,
		     struct kiwi_snic_queue_query *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->id = id;
	out->kind = kind;
	return queue_ioctl(&dev->handle, KIWI_SNIC_QUEUE_QUERY, out);
}

int kiwi_error_page(struct kiwi_device *dev, const struct kiwi_ring_mem *given,
		    const volatile struct kiwi_error_page **page)
{
	struct kiwi_snic_error_page arg = { .size = sizeof(arg) };
	struct ring_memory own = { 0 };
	int rc;

	if (given) {
		arg.mem = given->mem;
		own.cpu = given->cpu;
	} else {
		rc = ring_memory_alloc(&own, &arg.mem, KIWI_ERROR_PAGE_BYTES);
		if (rc)
			return rc;
	}
	rc = queue_ioctl(&dev->handle, KIWI_SNIC_ERROR_PAGE, &arg);
	if (rc) {
		ring_memory_free(&own);
		return rc;
	}
	dev->error_page = own;
	*page = own.cpu;
	return 0;
}
