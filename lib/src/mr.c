// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Protection domains and memory regions. */
#include "priv.h"

#include <stdlib.h>

static void pd_release(struct object *obj)
{
	free(container_of(obj, struct pd, obj));
}

int kiwi_pd_alloc(struct kiwi_device *dev, struct kiwi_pd **out)
{
	struct kiwi_snic_pd_alloc arg = { .size = sizeof(arg) };
	struct pd *pd = object_alloc(sizeof(*pd));
	int rc;

	if (!pd)
		return refuse(ENOMEM, "no memory for a PD");
	rc = queue_ioctl(&dev->handle, KIWI_SNIC_PD_ALLOC, &arg);
	if (rc) {
		free(pd);
		return rc;
	}
	pd->pub.dev = dev;
	pd->pub.id = arg.pd;
	object_add(&dev->handle, &pd->obj, pd_release);
	*out = &pd->pub;
	return 0;
}

int kiwi_pd_free(struct kiwi_pd *pd)
{
	return object_destroy(&container_of(pd, struct pd, pub)->obj, pd->id);
}

static void mr_release(struct object *obj)
{
	free(container_of(obj, struct mr, obj));
}

int kiwi_mr_reg_mem(struct kiwi_pd *pd, const struct kiwi_mem *mem, uint64_t iova,
		    unsigned int access, uint64_t user_data, struct kiwi_mr **out)
{
	struct kiwi_snic_mr_reg arg = {
		.size = sizeof(arg),
		.mem = *mem,
		.iova = iova,
		.pd = pd->id,
		.access = access,
		.user_data = user_data,
	};
	struct mr *mr = object_alloc(sizeof(*mr));
	int rc;

	if (!mr)
		return refuse(ENOMEM, "no memory for an MR");
	rc = queue_ioctl(&pd->dev->handle, KIWI_SNIC_MR_REG, &arg);
	if (rc) {
		free(mr);
		return rc;
	}
	mr->pub.pd = pd;
	mr->pub.iova = iova;
	mr->pub.length = mem->length;
	mr->pub.key = arg.key;
	mr->pub.id = arg.mr;
	object_add(&pd->dev->handle, &mr->obj, mr_release);
	*out = &mr->pub;
	return 0;
}

int kiwi_mr_reg(struct kiwi_pd *pd, void *addr, uint64_t length, unsigned int access,
		struct kiwi_mr **mr)
{
	struct kiwi_mem mem = {
		.type = KIWI_MEM_USER,
		.addr = (uintptr_t)addr,
		.length = length,
	};

	return kiwi_mr_reg_mem(pd, &mem, mem.addr, access, 0, mr);
}

int kiwi_mr_reg_dmabuf(struct kiwi_pd *pd, int fd, uint64_t offset, uint64_t length,
		       uint64_t iova, unsigned int access, struct kiwi_mr **mr)
{
	struct kiwi_mem mem = {
		.type = KIWI_MEM_DMABUF,
		.fd = fd,
		.addr = offset,
		.length = length,
	};

	return kiwi_mr_reg_mem(pd, &mem, iova, access, 0, mr);
}

int kiwi_mr_query(struct kiwi_mr *mr, struct kiwi_snic_mr_query *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->mr = mr->id;
	return queue_ioctl(&mr->pd->dev->handle, KIWI_SNIC_MR_QUERY, out);
}

int kiwi_mr_dereg(struct kiwi_mr *mr)
{
	return object_destroy(&container_of(mr, struct mr, pub)->obj, mr->id);
}
