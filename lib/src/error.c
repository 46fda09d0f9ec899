// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Failures in words: the library's own and those that the kernel tells. */
#include "priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>

static _Thread_local char text[256] = "no call has failed";

const char *kiwi_error(void)
{
	return text;
}

int refuse(int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return -err;
}

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

int dev_ioctl(struct kiwi_device *dev, unsigned long request, void *arg)
{
	struct kiwi_snic_last_error last = { .size = sizeof(last) };
	int err;

	if (!ioctl(dev->fd, request, arg))
		return 0;
	err = errno;
	/* Another thread's failure may have taken its place. */
	if (!ioctl(dev->fd, KIWI_SNIC_LAST_ERROR, &last) && last.nr == _IOC_NR(request) &&
	    last.error == (uint32_t)err && last.text[0])
		return refuse(err, "%s: %.*s (%s)", dev->name, (int)sizeof(last.text), last.text,
			      strerror(err));
	return refuse(err, "%s: %s: %s", dev->name, ioctl_name(_IOC_NR(request)), strerror(err));
}
