// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <string.h>

#include "verbs-open.h"

struct ibv_context *verbs_open(const char *name)
{
	struct ibv_device **list;
	struct ibv_context *ctx = NULL;
	int i, err, count;

	list = ibv_get_device_list(&count);
	if (!list)
		return NULL;
	errno = ENODEV;
	for (i = 0; i < count && !ctx; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			ctx = ibv_open_device(list[i]);
	err = errno;
	ibv_free_device_list(list);
	errno = err;
	return ctx;
}
