// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>

#include "ksnic.h"
#include "object.h"

static struct lock_class_key pd_lock_key;

static int pd_destroy(struct kiwi_obj *obj, struct kiwi_error *err)
{
	struct ksnic_pd *pd = container_of(obj, struct ksnic_pd, obj);

	return ksnic_cmd_dealloc_pd(obj->part->fw, pd->pdn, err);
}

static void pd_release(struct kiwi_obj *obj)
{
}

const struct kiwi_obj_ops ksnic_pd_ops = {
	.name = "PD",
	.kind = KSNIC_PD,
	.key = &pd_lock_key,
	.destroy = pd_destroy,
	.release = pd_release,
};

struct ksnic_pd *ksnic_pd_new(struct kiwi_owner *owner)
{
	return kiwi_obj_new(owner, &ksnic_pd_ops, sizeof(struct ksnic_pd), 0);
}

int ksnic_pd_create(struct ksnic_pd *pd, struct kiwi_error *err)
{
	int ret;

	ret = ksnic_cmd_alloc_pd(pd->obj.part->fw, &pd->pdn, err);
	if (ret)
		return ret;
	pd->obj.live = true;
	return 0;
}
