// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* SNICs. */
#include "priv.h"

#include <stdlib.h>

#include <kiwi/common.h>

/* What all parts have in common stands in the header of the SNIC once more. */
_Static_assert(sizeof(struct kiwi_snic_last_error) == sizeof(struct kiwi_last_error), "");
_Static_assert(sizeof(struct kiwi_snic_destroy) == sizeof(struct kiwi_destroy), "");
_Static_assert(sizeof(struct kiwi_snic_event) == sizeof(struct kiwi_file_event), "");

static const char *ioctl_name(unsigned int nr)
{
	switch (nr) {
	case _IOC_NR(KIWI_SNIC_QUERY_DEVICE): return "query device";
	case _IOC_NR(KIWI_SNIC_QUERY_PORT): return "query port";
	case _IOC_NR(KIWI_SNIC_SET_PORT): return "set port";
	case _IOC_NR(KIWI_SNIC_QUERY_GID): return "query GID";
	case _IOC_NR(KIWI_SNIC_SET_GID): return "set GID";
	case _IOC_NR(KIWI_SNIC_DESTROY): return "destroy";
	case _IOC_NR(KIWI_SNIC_PD_ALLOC): return "allocate PD";
	case _IOC_NR(KIWI_SNIC_MR_REG): return "register MR";
	case _IOC_NR(KIWI_SNIC_MR_QUERY): return "query MR";
	case _IOC_NR(KIWI_SNIC_DOORBELL_ALLOC): return "allocate doorbell";
	case _IOC_NR(KIWI_SNIC_CQ_CREATE): return "create CQ";
	case _IOC_NR(KIWI_SNIC_QP_CREATE): return "create QP";
	case _IOC_NR(KIWI_SNIC_QP_MODIFY): return "modify QP";
	case _IOC_NR(KIWI_SNIC_QP_QUERY): return "query QP";
	case _IOC_NR(KIWI_SNIC_DOORBELL_EXPORT): return "export doorbell";
	case _IOC_NR(KIWI_SNIC_QUEUE_QUERY): return "query queue";
	case _IOC_NR(KIWI_SNIC_ERROR_PAGE): return "set error page";
	case _IOC_NR(KIWI_SNIC_PREFLIGHT): return "preflight";
	default: return "ioctl";
	}
}

static const struct part snic = {
	.prefix = "snic",
	.query_device = KIWI_SNIC_QUERY_DEVICE,
	.last_error = KIWI_SNIC_LAST_ERROR,
	.destroy = KIWI_SNIC_DESTROY,
	.pd_alloc = KIWI_SNIC_PD_ALLOC,
	.ioctl_name = ioctl_name,
};

int kiwi_list(struct kiwi_name *names, int max)
{
	return handle_list(&snic, names, max);
}

void device_begin(struct kiwi_device *dev)
{
	pthread_mutex_init(&dev->qpn_lock, NULL);
	qp_table_init(dev);
}

void device_end(struct kiwi_device *dev)
{
	handle_close(&dev->handle);
	ring_memory_free(&dev->error_page);
	qp_table_free(dev);
	pthread_mutex_destroy(&dev->qpn_lock);
}

int kiwi_open(const char *name, struct kiwi_device **out)
{
	struct kiwi_device *dev = calloc(1, sizeof(*dev));
	int rc;

	if (!dev)
		return refuse(ENOMEM, "no memory for a device handle");
	dev->info.size = sizeof(dev->info);
	dev->handle.info = &dev->info;
	rc = handle_open(&dev->handle, &snic, name);
	if (rc) {
		free(dev);
		return rc;
	}
	device_begin(dev);
	*out = dev;
	return 0;
}

void kiwi_close(struct kiwi_device *dev)
{
	if (!dev)
		return;
	device_end(dev);
	free(dev);
}

const char *kiwi_device_name(const struct kiwi_device *dev)
{
	return dev->handle.name;
}

int kiwi_device_fd(const struct kiwi_device *dev)
{
	return dev->handle.fd;
}

const struct kiwi_snic_query_device *kiwi_device_info(const struct kiwi_device *dev)
{
	return &dev->info;
}

int kiwi_preflight(struct kiwi_device *dev, int fd, struct kiwi_check *checks, uint32_t *count)
{
	struct kiwi_snic_preflight arg = {
		.size = sizeof(arg),
		.fd = fd,
		.count = *count,
		.checks = (uintptr_t)checks,
	};
	int rc = handle_ioctl(&dev->handle, KIWI_SNIC_PREFLIGHT, &arg);

	if (!rc)
		*count = arg.count;
	return rc;
}

int kiwi_next_event(struct kiwi_device *dev, struct kiwi_snic_event *event, int timeout_ms)
{
	return handle_event(&dev->handle, event, timeout_ms);
}
