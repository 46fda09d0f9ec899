// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>

#include <kiwi/queues.h>

#include "object.h"

static struct lock_class_key pd_lock_key;

static int pd_destroy(struct kiwi_obj *obj, struct kiwi_error *err)
{
	struct kiwi_pd *pd = container_of(obj, struct kiwi_pd, obj);

	return kiwi_cmd_dealloc_pd(obj->part->fw, pd->pdn, err);
}

static void pd_release(struct kiwi_obj *obj)
{
}

const struct kiwi_obj_ops kiwi_pd_ops = {
	.name = "PD",
	.kind = KIWI_KIND_PD,
	.key = &pd_lock_key,
	.destroy = pd_destroy,
	.release = pd_release,
};

struct kiwi_pd *kiwi_pd_new(struct kiwi_owner *owner)
{
	return kiwi_obj_new(owner, &kiwi_pd_ops, sizeof(struct kiwi_pd), 0);
}

int kiwi_pd_create(struct kiwi_pd *pd, struct kiwi_error *err)
{
	int ret;

	ret = kiwi_cmd_alloc_pd(pd->obj.part->fw, &pd->pdn, err);
	if (ret)
		return ret;
	pd->obj.live = true;
	return 0;
}
