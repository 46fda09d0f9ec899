// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "ksnic.h"
#include "object.h"

static struct lock_class_key obj_lock_keys[KSNIC_KINDS];

void ksnic_owner_init(struct ksnic_owner *owner, struct ksnic *ks,
		      const struct ksnic_owner_ops *ops)
{
	owner->ks = ks;
	owner->ops = ops;
	xa_init_flags(&owner->objs, XA_FLAGS_ALLOC1);
}

void ksnic_owner_exit(struct ksnic_owner *owner)
{
	WARN_ON(!xa_empty(&owner->objs));
	xa_destroy(&owner->objs);
}

/**
 * ksnic_obj_new() - begin an object
 * @owner: table to be in
 * @ops: its kind
 * @size: of the structure that begins with struct ksnic_obj
 * @user_data: the owner's
 *
 * Return: the object, zeroed but for its head, or NULL
 */
void *ksnic_obj_new(struct ksnic_owner *owner, const struct ksnic_obj_ops *ops, size_t size,
		    u64 user_data)
{
	struct ksnic_obj *obj;

	obj = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!obj)
		return NULL;
	if (xa_alloc(&owner->objs, &obj->id, NULL, xa_limit_31b, GFP_KERNEL_ACCOUNT)) {
		kfree(obj);
		return NULL;
	}
	kref_init(&obj->ref);
	obj->ops = ops;
	obj->ks = owner->ks;
	obj->owner = owner;
	obj->user_data = user_data;
	mutex_init(&obj->lock);
	lockdep_set_class(&obj->lock, &obj_lock_keys[ops->kind]);
	INIT_LIST_HEAD(&obj->node);
	return obj;
}

static void obj_free(struct kref *ref)
{
	kfree(container_of(ref, struct ksnic_obj, ref));
}

void ksnic_obj_put(struct ksnic_obj *obj)
{
	kref_put(&obj->ref, obj_free);
}

/* The id is reserved, so that storing the object needs no memory. */
void ksnic_obj_publish(struct ksnic_obj *obj)
{
	WARN_ON(xa_store(&obj->owner->objs, obj->id, obj, GFP_KERNEL));
}

static struct ksnic_obj *obj_lookup(struct ksnic_owner *owner, u32 id,
				    const struct ksnic_obj_ops *ops)
{
	struct ksnic_obj *obj;

	xa_lock(&owner->objs);
	obj = xa_load(&owner->objs, id);
	if (obj && ops && obj->ops != ops)
		obj = NULL;
	if (obj)
		kref_get(&obj->ref);
	xa_unlock(&owner->objs);
	return obj;
}

/**
 * ksnic_obj_absent() - there is no such object
 * @id: the id looked for
 * @ops: the kind wanted, NULL for any
 * @err: to be filled
 *
 * Return: -ENOENT
 */
int ksnic_obj_absent(u32 id, const struct ksnic_obj_ops *ops, struct kiwi_error *err)
{
	return kiwi_fail(err, -ENOENT, id, 0, "no %s has id %u", ops ? ops->name : "object", id);
}

/**
 * ksnic_obj_get() - look an object up, to do something with it
 * @owner: table
 * @id: in the table
 * @ops: the kind wanted, NULL for any
 * @err: filled if there is none
 *
 * Return: the object with a reference, or NULL
 */
void *ksnic_obj_get(struct ksnic_owner *owner, u32 id, const struct ksnic_obj_ops *ops,
		    struct kiwi_error *err)
{
	struct ksnic_obj *obj = obj_lookup(owner, id, ops);

	if (!obj)
		ksnic_obj_absent(id, ops, err);
	return obj;
}

/**
 * ksnic_obj_use() - look an object up, for another that uses it from now on
 * @owner: table
 * @id: in the table
 * @ops: the kind wanted
 * @err: filled if there is none
 *
 * Return: the object, which cannot be destroyed before ksnic_obj_unuse(), or NULL
 */
void *ksnic_obj_use(struct ksnic_owner *owner, u32 id, const struct ksnic_obj_ops *ops,
		    struct kiwi_error *err)
{
	struct ksnic_obj *obj = obj_lookup(owner, id, ops);

	if (obj && !atomic_inc_unless_negative(&obj->uses)) {
		ksnic_obj_put(obj);
		obj = NULL;
	}
	if (!obj)
		ksnic_obj_absent(id, ops, err);
	return obj;
}

void ksnic_obj_unuse(struct ksnic_obj *obj)
{
	atomic_dec(&obj->uses);
	ksnic_obj_put(obj);
}

/* Nobody uses the object, and nobody will. Returns the number of users otherwise. */
static int obj_condemn(struct ksnic_obj *obj)
{
	int uses = atomic_cmpxchg(&obj->uses, 0, -1);

	return max(uses, 0);
}

/**
 * ksnic_obj_condemned() - whether somebody has begun to destroy an object
 * @obj: the object
 *
 * Return: true for good, or false
 */
bool ksnic_obj_condemned(const struct ksnic_obj *obj)
{
	return atomic_read(&obj->uses) < 0;
}

/**
 * ksnic_obj_not_live() - why an object cannot be used
 * @obj: the object, locked, used or looked up, and not live
 * @err: to be filled
 *
 * Return: negative errno
 */
int ksnic_obj_not_live(const struct ksnic_obj *obj, struct kiwi_error *err)
{
	if (obj->revoked)
		return kiwi_fail(err, -EREMOTEIO, obj->id, 0,
				 "%s %u: the exporter took back its memory", obj->ops->name,
				 obj->id);
	return ksnic_obj_absent(obj->id, obj->ops, err);
}

/**
 * ksnic_obj_lock() - lock an object, to name it in a command
 * @obj: looked up
 * @err: filled on failure
 *
 * Return: 0 with the lock held and the object live, or negative errno
 */
int ksnic_obj_lock(struct ksnic_obj *obj, struct kiwi_error *err)
{
	int ret;

	mutex_lock(&obj->lock);
	if (obj->live && !ksnic_obj_condemned(obj))
		return 0;
	ret = ksnic_obj_not_live(obj, err);
	mutex_unlock(&obj->lock);
	return ret;
}

/**
 * ksnic_obj_notify() - tell the owner of an event
 * @obj: that it concerns
 * @type: enum kiwi_snic_event_type
 * @code: by type
 */
void ksnic_obj_notify(struct ksnic_obj *obj, u32 type, u32 code)
{
	lockdep_assert_held(&obj->ks->event_lock);

	if (obj->owner)
		obj->owner->ops->event(obj->owner, obj, type, code);
}

/* The device does not know the object, or is down. */
static void obj_dead(struct ksnic_obj *obj)
{
	lockdep_assert_held(&obj->lock);

	if (obj->ops->forget)
		obj->ops->forget(obj);
	obj->live = false;
}

/*
 * Take the object out of the device. Only a refusal is a failure: when the device
 * is down, it knows no object any more.
 */
static int obj_kill(struct ksnic_obj *obj, struct kiwi_error *err)
{
	int ret;

	lockdep_assert_held(&obj->lock);

	if (!obj->live)
		return 0;
	spin_lock(&obj->ks->event_lock);
	obj->ending = true;
	spin_unlock(&obj->ks->event_lock);
	ret = obj->ops->destroy(obj, err);
	if (ret && err->refused)
		return ret;
	obj_dead(obj);
	return 0;
}

static void obj_disown(struct ksnic_obj *obj)
{
	struct ksnic_owner *owner;

	spin_lock(&obj->ks->event_lock);
	owner = obj->owner;
	obj->owner = NULL;
	spin_unlock(&obj->ks->event_lock);
	if (owner && owner->ops->end)
		owner->ops->end(owner, obj);
}

/* The device does not know the object, and no table does. */
static void obj_end(struct ksnic_obj *obj)
{
	obj_disown(obj);
	obj->ops->release(obj);
	ksnic_obj_put(obj);
}

static void zombie_add(struct ksnic_obj *obj, const char *why)
{
	struct ksnic *ks = obj->ks;

	dev_warn_ratelimited(&ks->dev, "%s kept until it can be destroyed: %s\n",
			     obj->ops->name, why);
	obj_disown(obj);
	mutex_lock(&ks->zombie_lock);
	list_add_tail(&obj->node, &ks->zombies);
	mutex_unlock(&ks->zombie_lock);
}

static int obj_try_end(struct ksnic_obj *obj, struct ksnic_owner *owner,
		       struct kiwi_error *err)
{
	int ret, uses = obj_condemn(obj);

	if (uses)
		return kiwi_fail(err, -EBUSY, uses, 0, "%s %u has %d users", obj->ops->name,
				 obj->id, uses);
	if (owner)
		owner->ops->withdraw(owner, obj);
	mutex_lock(&obj->lock);
	ret = obj_kill(obj, err);
	mutex_unlock(&obj->lock);
	return ret;
}

/* Destroy an object that is in no table any more. */
static void obj_dispose(struct ksnic_obj *obj)
{
	struct kiwi_error err;

	if (obj_try_end(obj, obj->owner, &err))
		zombie_add(obj, err.text);
	else
		obj_end(obj);
}

/**
 * ksnic_obj_abort() - undo an object that was not published
 * @obj: in any state, not locked
 */
void ksnic_obj_abort(struct ksnic_obj *obj)
{
	xa_erase(&obj->owner->objs, obj->id);
	obj_dispose(obj);
}

/**
 * ksnic_obj_destroy() - destroy an object by its id
 * @owner: table
 * @id: in the table
 * @err: filled on failure
 *
 * If the device refuses, the object stays under its id, of no use but for
 * another attempt.
 *
 * Return: 0 or negative errno
 */
int ksnic_obj_destroy(struct ksnic_owner *owner, u32 id, struct kiwi_error *err)
{
	struct ksnic_obj *obj = ksnic_obj_get(owner, id, NULL, err);
	bool ours = false;
	int ret;

	if (!obj)
		return -ENOENT;
	ret = obj_try_end(obj, owner, err);
	if (!ret) {
		xa_lock(&owner->objs);
		if (xa_load(&owner->objs, id) == obj) {
			__xa_erase(&owner->objs, id);
			ours = true;
		}
		xa_unlock(&owner->objs);
		if (ours)
			obj_end(obj);
		else
			ret = ksnic_obj_absent(id, NULL, err);
	}
	ksnic_obj_put(obj);
	return ret;
}

/**
 * ksnic_owner_clear() - destroy all objects of an owner
 * @owner: with no call under way
 */
void ksnic_owner_clear(struct ksnic_owner *owner)
{
	enum ksnic_kind kind;
	struct ksnic_obj *obj;
	unsigned long id;

	for (kind = 0; kind < KSNIC_KINDS; kind++) {
		xa_for_each(&owner->objs, id, obj) {
			if (obj->ops->kind != kind)
				continue;
			xa_erase(&owner->objs, id);
			obj_dispose(obj);
			cond_resched();
		}
	}
	ksnic_zombies_retry(owner->ks);
}

/**
 * ksnic_zombies_retry() - try once more to destroy what the device refused to
 * @ks: the device
 *
 * Users come before what they use in the list, so one pass serves. After
 * kiwi_fw_stop() all go.
 */
void ksnic_zombies_retry(struct ksnic *ks)
{
	struct ksnic_obj *obj, *next;
	struct kiwi_error err;

	mutex_lock(&ks->zombie_lock);
	list_for_each_entry_safe(obj, next, &ks->zombies, node) {
		if (obj_try_end(obj, NULL, &err))
			continue;
		list_del(&obj->node);
		obj_end(obj);
	}
	mutex_unlock(&ks->zombie_lock);
}

/**
 * ksnic_obj_revoke() - memory of an object is taken away
 * @obj: locked; the device has no access to the memory when this returns
 * @type: enum kiwi_snic_event_type to tell the owner
 * @code: by type
 */
void ksnic_obj_revoke(struct ksnic_obj *obj, u32 type, u32 code)
{
	struct kiwi_error err;

	lockdep_assert_held(&obj->lock);

	obj->revoked = true;
	if (!obj->live)
		return;
	if (obj_kill(obj, &err)) {
		kiwi_fw_fail(obj->ks->fw, KIWI_RESET_PROTOCOL);
		obj_dead(obj);
	}
	spin_lock(&obj->ks->event_lock);
	ksnic_obj_notify(obj, type, code);
	spin_unlock(&obj->ks->event_lock);
}
