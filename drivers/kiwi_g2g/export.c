// SPDX-License-Identifier: GPL-2.0
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/random.h>
#include <linux/string.h>

#include "object.h"

static struct lock_class_key export_lock_key;

/*
 * A device that has revoked an export no longer reaches its memory, but keeps its number
 * until the importers have acknowledged.
 */
static int export_destroy(struct kiwi_obj *obj, struct kiwi_error *err)
{
	struct kg2g_export *export = container_of(obj, struct kg2g_export, obj);
	struct kiwi_fw *fw = obj->part->fw;
	int ret;

	ret = kg2g_cmd_destroy_export(fw, export->number, err);
	if (ret != -EBUSY || obj->revoked)
		return ret;
	/* What is refused is not revoked: the device may go on reaching the memory. */
	ret = kg2g_cmd_revoke_export(fw, export->number, err);
	if (ret)
		return ret;
	obj->revoked = true;
	return kg2g_cmd_destroy_export(fw, export->number, err);
}

static void export_forget(struct kiwi_obj *obj)
{
	struct kg2g_export *export = container_of(obj, struct kg2g_export, obj);

	kiwi_fw_sync_events(obj->part->fw);
	kiwi_route_del(obj, &to_kg2g(obj->part)->exports, export->number);
}

static void export_release(struct kiwi_obj *obj)
{
	struct kg2g_export *export = container_of(obj, struct kg2g_export, obj);

	if (export->mem)
		kiwi_fw_mem_release(export->mem);
	memzero_explicit(export->handle, sizeof(export->handle));
}

const struct kiwi_obj_ops kg2g_export_ops = {
	.name = "export",
	.kind = KG2G_EXPORT,
	.holds = true,
	.waits = true,
	.key = &export_lock_key,
	.destroy = export_destroy,
	.forget = export_forget,
	.release = export_release,
};

struct kg2g_export *kg2g_export_new(struct kiwi_owner *owner, u64 user_data)
{
	struct kg2g_export *export;

	export = kiwi_obj_new(owner, &kg2g_export_ops, sizeof(*export), user_data);
	if (export)
		export->told = KIWI_G2G_EXPORT_LIVE;
	return export;
}

static int check_rights(u32 rights, struct kiwi_error *err)
{
	if (rights && !(rights & ~KIWI_G2G_RIGHTS))
		return 0;
	return kiwi_fail(err, -EINVAL, rights, KIWI_G2G_RIGHTS,
			 "rights %#x are none, or not all of %#x", rights, KIWI_G2G_RIGHTS);
}

/**
 * kg2g_export_check() - whether memory could be exported, before it is taken
 * @kg: the device
 * @rights: KIWI_ACCESS_REMOTE_*
 * @length: bytes
 * @grantees: bit (a % 8) of byte (a / 8)
 * @err: filled on failure
 *
 * Return: 0 or -EINVAL
 */
int kg2g_export_check(const struct kg2g *kg, u32 rights, u64 length, const u8 *grantees,
		      struct kiwi_error *err)
{
	u32 accel;
	int ret;

	ret = check_rights(rights, err);
	if (ret)
		return ret;
	if (!length || length > kg->caps.max_export_size)
		return kiwi_fail(err, -EINVAL, length, kg->caps.max_export_size,
				 "length %llu is not in 1..%llu (max_export_size)", length,
				 kg->caps.max_export_size);
	for (accel = kg->caps.accels; accel < KIWI_G2G_ACCELS_MAX; accel++) {
		if (grantees[accel / 8] & BIT(accel % 8))
			return kiwi_fail(err, -EINVAL, accel, kg->caps.accels - 1,
					 "grantee %u is not in 0..%llu", accel,
					 kg->caps.accels - 1);
	}
	return 0;
}

static int build_pbl(struct kg2g_export *export, struct kiwi_fw_pbl *pbl, struct kiwi_error *err)
{
	struct kg2g *kg = to_kg2g(export->obj.part);
	const struct kiwi_fw_pbl_limits limits = {
		.max_pages = kg->caps.max_export_pages,
		.page_shift_max = kg->caps.page_shift_max,
		.table_shift_max = kg->caps.pbl_table_shift_max,
	};

	return kiwi_cmd_pbl(kg->part.fw, export->mem, &limits, pbl, err);
}

static int create_locked(struct kg2g_export *export, const struct kiwi_fw_pbl *pbl,
			 struct kiwi_error *err)
{
	struct kiwi_g2g_create_export_in in = {
		.length = cpu_to_le64(export->mem->length),
		.rights = cpu_to_le32(export->rights),
		.pbl = pbl->wire,
	};
	struct kiwi_obj *obj = &export->obj;
	int ret;

	lockdep_assert_held(&obj->lock);
	if (obj->revoked)
		return kiwi_obj_not_live(obj, err);
	memcpy(in.handle, export->handle, sizeof(in.handle));
	memcpy(in.grantees, export->grantees, sizeof(in.grantees));
	ret = kg2g_cmd_create_export(obj->part->fw, &in, &export->number, err);
	obj->live = !ret;
	memzero_explicit(in.handle, sizeof(in.handle));
	return ret;
}

static bool is_revoked(struct kiwi_obj *obj)
{
	bool revoked;

	mutex_lock(&obj->lock);
	revoked = obj->revoked;
	mutex_unlock(&obj->lock);
	return revoked;
}

/**
 * kg2g_export_create() - let peers import the memory
 * @export: filled in by its maker; gets a handle
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kg2g_export_create(struct kg2g_export *export, struct kiwi_error *err)
{
	struct kiwi_obj *obj = &export->obj;
	struct kiwi_fw_pbl pbl;
	int ret;

	/* Waits for the kernel's generator to be seeded, once after boot. */
	ret = wait_for_random_bytes();
	if (ret)
		return kiwi_fail_plain(err, ret);
	get_random_bytes(export->handle, sizeof(export->handle));
	ret = build_pbl(export, &pbl, err);
	if (ret)
		return ret;
	export->pages = le32_to_cpu(pbl.wire.count);
	export->page_shift = pbl.wire.page_shift;

	mutex_lock(&obj->lock);
	ret = create_locked(export, &pbl, err);
	mutex_unlock(&obj->lock);
	kiwi_fw_pbl_release(obj->part->fw, &pbl);
	if (!ret)
		ret = kiwi_route_add(obj, &to_kg2g(obj->part)->exports, export->number, err);
	/* It may have been taken away, and REVOKED, before events led here. */
	if (!ret && is_revoked(obj))
		kg2g_export_look(export);
	return ret;
}

/**
 * kg2g_export_revoke() - take the memory away from all importers
 * @export: looked up
 * @err: filled on failure
 *
 * No peer reaches the memory when this returns 0.
 *
 * Return: 0 or negative errno
 */
int kg2g_export_revoke(struct kg2g_export *export, struct kiwi_error *err)
{
	struct kiwi_obj *obj = &export->obj;
	int ret;

	ret = kiwi_obj_lock(obj, err);
	if (ret)
		return ret;
	if (!obj->revoked)
		ret = kg2g_cmd_revoke_export(obj->part->fw, export->number, err);
	if (!ret)
		obj->revoked = true;
	mutex_unlock(&obj->lock);
	return ret;
}

int kg2g_export_query(struct kg2g_export *export, struct kiwi_g2g_export *out,
		      struct kiwi_error *err)
{
	int ret;

	ret = kiwi_obj_lock(&export->obj, err);
	if (ret)
		return ret;
	ret = kg2g_cmd_query_export(export->obj.part->fw, export->number, out, err);
	mutex_unlock(&export->obj.lock);
	return ret;
}

/**
 * kg2g_export_tell() - tell the owner of an export's state, unless it was told
 * @export: the export
 * @state: enum kiwi_g2g_export_state
 * @isolated: peers that were isolated for it
 */
void kg2g_export_tell(struct kg2g_export *export, u32 state, u32 isolated)
{
	struct kg2g *kg = to_kg2g(export->obj.part);

	lockdep_assert_held(&kg->part.event_lock);

	if (state <= export->told)
		return;
	export->told = state;
	kiwi_obj_notify(&export->obj, KIWI_G2G_EVENT_EXPORT, state, isolated);
	/* Its owner may have given it up before. */
	if (!export->obj.owner)
		schedule_work(&kg->reap_work);
}

/**
 * kg2g_export_look() - tell the owner of an export's state as it is now
 * @export: looked up
 */
void kg2g_export_look(struct kg2g_export *export)
{
	struct kiwi_obj *obj = &export->obj;
	struct kiwi_g2g_export out;
	struct kiwi_error err;
	int ret = -ENOENT;

	/* Also of one that its owner has given up. */
	mutex_lock(&obj->lock);
	if (obj->live)
		ret = kg2g_cmd_query_export(obj->part->fw, export->number, &out, &err);
	mutex_unlock(&obj->lock);
	if (ret)
		return;
	spin_lock(&obj->part->event_lock);
	kg2g_export_tell(export, out.state, 0);
	spin_unlock(&obj->part->event_lock);
}

/* The device reaches the memory unless it says otherwise: if it refuses, it ends. */
static void take_away(struct kg2g_export *export)
{
	struct kiwi_obj *obj = &export->obj;
	bool revoked = obj->revoked;
	struct kiwi_error err;

	lockdep_assert_held(&obj->lock);
	obj->revoked = true;
	if (!obj->live || revoked)
		return;
	if (kg2g_cmd_revoke_export(obj->part->fw, export->number, &err) && err.refused)
		kiwi_fw_fail(obj->part->fw, KIWI_RESET_PROTOCOL);
	spin_lock(&obj->part->event_lock);
	kg2g_export_tell(export, KIWI_G2G_EXPORT_REVOKING, 0);
	spin_unlock(&obj->part->event_lock);
}

static void export_revoked(void *arg)
{
	struct kg2g_export *export = arg;

	mutex_lock(&export->obj.lock);
	take_away(export);
	mutex_unlock(&export->obj.lock);
}

/* Peers cannot be told to wait: what they reach is pinned. */
const struct kiwi_fw_dmabuf_ops kg2g_export_mem_ops = {
	.revoked = export_revoked,
};
