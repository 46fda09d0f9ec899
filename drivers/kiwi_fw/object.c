// SPDX-License-Identifier: GPL-2.0
#include <linux/errno.h>
#include <linux/lockdep.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include <kiwi/compat.h>
#include <kiwi/part.h>

/**
 * kiwi_owner_init() - prepare a table
 * @owner: the table
 * @part: the device
 */
void kiwi_owner_init(struct kiwi_owner *owner, struct kiwi_part *part)
{
	owner->part = part;
	kiwi_events_init(&owner->events);
	xa_init_flags(&owner->objs, XA_FLAGS_ALLOC1);
}
EXPORT_SYMBOL_NS_GPL(kiwi_owner_init, "KIWI_FW");

/**
 * kiwi_owner_exit() - end a table
 * @owner: the table, empty
 */
void kiwi_owner_exit(struct kiwi_owner *owner)
{
	WARN_ON(!xa_empty(&owner->objs));
	xa_destroy(&owner->objs);
}
EXPORT_SYMBOL_NS_GPL(kiwi_owner_exit, "KIWI_FW");

/**
 * kiwi_obj_new() - begin an object
 * @owner: table to be in
 * @ops: its kind
 * @size: of the structure that begins with struct kiwi_obj
 * @user_data: the owner's
 *
 * Return: the object, zeroed but for its head, or NULL
 */
void *kiwi_obj_new(struct kiwi_owner *owner, const struct kiwi_obj_ops *ops, size_t size,
		   u64 user_data)
{
	struct kiwi_obj *obj;

	obj = kzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!obj)
		return NULL;
	if (xa_alloc(&owner->objs, &obj->id, NULL, xa_limit_31b, GFP_KERNEL_ACCOUNT)) {
		kfree(obj);
		return NULL;
	}
	kref_init(&obj->ref);
	obj->ops = ops;
	obj->part = owner->part;
	obj->owner = owner;
	obj->user_data = user_data;
	atomic_set(&obj->uses, 0);
	mutex_init(&obj->lock);
	lockdep_set_class(&obj->lock, ops->key);
	INIT_LIST_HEAD(&obj->node);
	return obj;
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_new, "KIWI_FW");

static void obj_free(struct kref *ref)
{
	struct kiwi_obj *obj = container_of(ref, struct kiwi_obj, ref);

	if (obj->ops->free)
		obj->ops->free(obj);
	kfree(obj);
}

/**
 * kiwi_obj_put() - give back a reference
 * @obj: the object
 */
void kiwi_obj_put(struct kiwi_obj *obj)
{
	kref_put(&obj->ref, obj_free);
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_put, "KIWI_FW");

/**
 * kiwi_obj_publish() - make an object known under its id
 * @obj: the object; its id is reserved, so that this needs no memory
 */
void kiwi_obj_publish(struct kiwi_obj *obj)
{
	struct xarray *objs = &obj->owner->objs;

	xa_lock(objs);
	WARN_ON(__xa_store(objs, obj->id, obj, 0));
	if (obj->ops->holds)
		__xa_set_mark(objs, obj->id, KIWI_OBJ_HOLDS);
	xa_unlock(objs);
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_publish, "KIWI_FW");

static struct kiwi_obj *obj_lookup(struct kiwi_owner *owner, u32 id,
				   const struct kiwi_obj_ops *ops)
{
	struct kiwi_obj *obj;

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
 * kiwi_obj_absent() - there is no such object
 * @id: the id looked for
 * @ops: the kind wanted, NULL for any
 * @err: to be filled
 *
 * Return: -ENOENT
 */
int kiwi_obj_absent(u32 id, const struct kiwi_obj_ops *ops, struct kiwi_error *err)
{
	return kiwi_fail(err, -ENOENT, id, 0, "no %s has id %u", ops ? ops->name : "object", id);
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_absent, "KIWI_FW");

/**
 * kiwi_obj_get() - look an object up, to do something with it
 * @owner: table
 * @id: in the table
 * @ops: the kind wanted, NULL for any
 * @err: filled if there is none
 *
 * Return: the object with a reference, or NULL
 */
void *kiwi_obj_get(struct kiwi_owner *owner, u32 id, const struct kiwi_obj_ops *ops,
		   struct kiwi_error *err)
{
	struct kiwi_obj *obj = obj_lookup(owner, id, ops);

	if (!obj)
		kiwi_obj_absent(id, ops, err);
	return obj;
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_get, "KIWI_FW");

/**
 * kiwi_obj_use() - look an object up, for another that uses it from now on
 * @owner: table
 * @id: in the table
 * @ops: the kind wanted
 * @err: filled if there is none
 *
 * Return: the object, which cannot be destroyed before kiwi_obj_unuse(), or NULL
 */
void *kiwi_obj_use(struct kiwi_owner *owner, u32 id, const struct kiwi_obj_ops *ops,
		   struct kiwi_error *err)
{
	struct kiwi_obj *obj = obj_lookup(owner, id, ops);

	if (obj && !atomic_inc_unless_negative(&obj->uses)) {
		kiwi_obj_put(obj);
		obj = NULL;
	}
	if (!obj)
		kiwi_obj_absent(id, ops, err);
	return obj;
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_use, "KIWI_FW");

/**
 * kiwi_obj_unuse() - undo kiwi_obj_use()
 * @obj: the object
 */
void kiwi_obj_unuse(struct kiwi_obj *obj)
{
	atomic_dec(&obj->uses);
	kiwi_obj_put(obj);
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_unuse, "KIWI_FW");

/* Nobody uses the object, and nobody will. Returns the number of users otherwise. */
static int obj_condemn(struct kiwi_obj *obj)
{
	int uses = atomic_cmpxchg(&obj->uses, 0, -1);

	return max(uses, 0);
}

/**
 * kiwi_obj_condemned() - whether somebody has begun to destroy an object
 * @obj: the object
 *
 * Return: true for good, or false
 */
bool kiwi_obj_condemned(const struct kiwi_obj *obj)
{
	return atomic_read(&obj->uses) < 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_condemned, "KIWI_FW");

/**
 * kiwi_obj_not_live() - why an object cannot be used
 * @obj: the object, locked, used or looked up, and not live
 * @err: to be filled
 *
 * Return: negative errno
 */
int kiwi_obj_not_live(const struct kiwi_obj *obj, struct kiwi_error *err)
{
	if (obj->revoked)
		return kiwi_fail(err, -EREMOTEIO, obj->id, 0,
				 "%s %u: the exporter took back its memory", obj->ops->name,
				 obj->id);
	return kiwi_obj_absent(obj->id, obj->ops, err);
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_not_live, "KIWI_FW");

/**
 * kiwi_obj_lock() - lock an object, to name it in a command
 * @obj: looked up
 * @err: filled on failure
 *
 * Return: 0 with the lock held and the object live, or negative errno
 */
int kiwi_obj_lock(struct kiwi_obj *obj, struct kiwi_error *err)
{
	int ret;

	mutex_lock(&obj->lock);
	if (obj->live && !kiwi_obj_condemned(obj))
		return 0;
	ret = kiwi_obj_not_live(obj, err);
	mutex_unlock(&obj->lock);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_lock, "KIWI_FW");

/**
 * kiwi_owner_tell() - put an event where an owner finds it
 * @owner: whose
 * @obj: that it concerns; NULL: the device
 * @event: the event
 *
 * With the lock held by which @owner was found: event_lock or files_lock.
 */
void kiwi_owner_tell(struct kiwi_owner *owner, const struct kiwi_obj *obj,
		     const struct kiwi_file_event *event)
{
	const struct kiwi_part_ops *ops = owner->part->ops;

	kiwi_events_push(&owner->events, event);
	if (ops->told)
		ops->told(owner, obj, event);
}

/**
 * kiwi_obj_notify() - tell the owner of an event
 * @obj: that it concerns
 * @type: of the event
 * @code: by type
 * @info: by type
 */
void kiwi_obj_notify(struct kiwi_obj *obj, u32 type, u32 code, u32 info)
{
	const struct kiwi_file_event event = {
		.type = type,
		.id = obj->id,
		.user_data = obj->user_data,
		.code = code,
		.info = info,
	};

	lockdep_assert_held(&obj->part->event_lock);

	if (obj->owner)
		kiwi_owner_tell(obj->owner, obj, &event);
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_notify, "KIWI_FW");

/* The device does not know the object, or is down. */
static void obj_dead(struct kiwi_obj *obj)
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
static int obj_kill(struct kiwi_obj *obj, struct kiwi_error *err)
{
	int ret;

	lockdep_assert_held(&obj->lock);

	if (!obj->live)
		return 0;
	spin_lock(&obj->part->event_lock);
	obj->ending = true;
	spin_unlock(&obj->part->event_lock);
	ret = obj->ops->destroy(obj, err);
	if (ret && err->refused) {
		spin_lock(&obj->part->event_lock);
		obj->ending = false;
		spin_unlock(&obj->part->event_lock);
		return ret;
	}
	obj_dead(obj);
	return 0;
}

static void obj_disown(struct kiwi_obj *obj)
{
	struct kiwi_owner *owner;

	spin_lock(&obj->part->event_lock);
	owner = obj->owner;
	obj->owner = NULL;
	spin_unlock(&obj->part->event_lock);
	if (owner && obj->part->ops->disowned)
		obj->part->ops->disowned(owner, obj);
}

/* The device does not know the object, and no table does. */
static void obj_end(struct kiwi_obj *obj)
{
	obj_disown(obj);
	obj->ops->release(obj);
	kiwi_obj_put(obj);
}

static void zombie_add(struct kiwi_obj *obj, int ret, const char *why)
{
	struct kiwi_part *part = obj->part;

	if (ret != -EBUSY || !obj->ops->waits)
		dev_warn_ratelimited(&part->dev, "%s kept until it can be destroyed: %s\n",
				     obj->ops->name, why);
	obj_disown(obj);
	mutex_lock(&part->zombie_lock);
	list_add_tail(&obj->node, &part->zombies);
	mutex_unlock(&part->zombie_lock);
}

static int obj_try_end(struct kiwi_obj *obj, struct kiwi_error *err)
{
	int ret, uses = obj_condemn(obj);

	if (uses)
		return kiwi_fail(err, -EBUSY, uses, 0, "%s %u has %d users", obj->ops->name,
				 obj->id, uses);
	if (obj->ops->withdraw)
		obj->ops->withdraw(obj);
	mutex_lock(&obj->lock);
	ret = obj_kill(obj, err);
	mutex_unlock(&obj->lock);
	return ret;
}

/* Destroy an object that is in no table any more. */
static void obj_dispose(struct kiwi_obj *obj)
{
	struct kiwi_error err;
	int ret;

	ret = obj_try_end(obj, &err);
	if (ret)
		zombie_add(obj, ret, err.text);
	else
		obj_end(obj);
}

/**
 * kiwi_obj_abort() - undo an object that was not published
 * @obj: in any state, not locked
 */
void kiwi_obj_abort(struct kiwi_obj *obj)
{
	xa_erase(&obj->owner->objs, obj->id);
	obj_dispose(obj);
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_abort, "KIWI_FW");

/**
 * kiwi_obj_destroy() - destroy an object by its id
 * @owner: table
 * @id: in the table
 * @err: filled on failure
 *
 * If the device refuses, the object stays under its id, of no use but for
 * another attempt.
 *
 * Return: 0 or negative errno
 */
int kiwi_obj_destroy(struct kiwi_owner *owner, u32 id, struct kiwi_error *err)
{
	struct kiwi_obj *obj = kiwi_obj_get(owner, id, NULL, err);
	bool ours = false;
	int ret;

	if (!obj)
		return -ENOENT;
	ret = obj_try_end(obj, err);
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
			ret = kiwi_obj_absent(id, NULL, err);
	}
	kiwi_obj_put(obj);
	return ret;
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_destroy, "KIWI_FW");

/**
 * kiwi_owner_withdraw() - end what was made of all objects of an owner, and keep the objects
 * @owner: with no call under way
 */
void kiwi_owner_withdraw(struct kiwi_owner *owner)
{
	struct kiwi_obj *obj;
	unsigned long id;

	xa_for_each(&owner->objs, id, obj) {
		if (obj->ops->withdraw)
			obj->ops->withdraw(obj);
	}
}

/**
 * kiwi_owner_clear() - destroy all objects of an owner
 * @owner: with no call under way
 */
void kiwi_owner_clear(struct kiwi_owner *owner)
{
	unsigned int kind;
	struct kiwi_obj *obj;
	unsigned long id;

	for (kind = 0; kind < owner->part->ops->kinds; kind++) {
		xa_for_each(&owner->objs, id, obj) {
			if (obj->ops->kind != kind)
				continue;
			xa_erase(&owner->objs, id);
			obj_dispose(obj);
			cond_resched();
		}
	}
	kiwi_zombies_retry(owner->part);
}
EXPORT_SYMBOL_NS_GPL(kiwi_owner_clear, "KIWI_FW");

/**
 * kiwi_zombies_retry() - try once more to destroy what the device refused to
 * @part: the device
 *
 * Users come before what they use in the list, so one pass serves. After
 * kiwi_fw_stop() all go.
 */
void kiwi_zombies_retry(struct kiwi_part *part)
{
	struct kiwi_obj *obj, *next;
	struct kiwi_error err;

	mutex_lock(&part->zombie_lock);
	list_for_each_entry_safe(obj, next, &part->zombies, node) {
		if (obj_try_end(obj, &err))
			continue;
		list_del(&obj->node);
		obj_end(obj);
	}
	mutex_unlock(&part->zombie_lock);
}
EXPORT_SYMBOL_NS_GPL(kiwi_zombies_retry, "KIWI_FW");

/**
 * kiwi_obj_revoke() - memory of an object is taken away
 * @obj: locked; the device has no access to the memory when this returns
 * @type: of the event that tells the owner, unless the device does not know the object
 * @code: by type
 */
void kiwi_obj_revoke(struct kiwi_obj *obj, u32 type, u32 code)
{
	struct kiwi_error err;

	lockdep_assert_held(&obj->lock);

	obj->revoked = true;
	if (!obj->live)
		return;
	if (obj_kill(obj, &err)) {
		kiwi_fw_fail(obj->part->fw, KIWI_RESET_PROTOCOL);
		obj_dead(obj);
	}
	spin_lock(&obj->part->event_lock);
	kiwi_obj_notify(obj, type, code, 0);
	spin_unlock(&obj->part->event_lock);
}
EXPORT_SYMBOL_NS_GPL(kiwi_obj_revoke, "KIWI_FW");
