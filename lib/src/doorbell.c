// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Doorbell pages. */
#include "priv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

static void doorbell_release(struct object *obj)
{
	struct kiwi_doorbell *db = container_of(obj, struct kiwi_doorbell, obj);

	munmap(db->map, db->map_size);
	free(db);
}

int kiwi_doorbell_alloc(struct kiwi_device *dev, uint32_t flags, struct kiwi_doorbell **out)
{
	struct kiwi_snic_doorbell_alloc arg = { .size = sizeof(arg), .flags = flags };
	struct kiwi_doorbell *db = object_alloc(sizeof(*db));
	int rc;

	if (!db)
		return refuse(ENOMEM, "no memory for a doorbell");
	rc = queue_ioctl(&dev->handle, KIWI_SNIC_DOORBELL_ALLOC, &arg);
	if (rc)
		goto err_free;
	db->id = arg.doorbell;
	db->flags = flags;
	db->map_size = arg.map_size;
	db->map = mmap(NULL, arg.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, dev->handle.fd,
		       (off_t)arg.map_offset);
	if (db->map == MAP_FAILED) {
		rc = errno;
		handle_destroy(&dev->handle, arg.doorbell);
		rc = refuse(rc, "%s: mmap of a doorbell page: %s", dev->handle.name, strerror(rc));
		goto err_free;
	}
	db->reg = (volatile uint64_t *)((char *)db->map + arg.reg_offset);
	object_add(&dev->handle, &db->obj, doorbell_release);
	*out = db;
	return 0;

err_free:
	free(db);
	return rc;
}

int kiwi_doorbell_free(struct kiwi_doorbell *db)
{
	return object_destroy(&db->obj, db->id);
}

volatile uint64_t *kiwi_doorbell_reg(const struct kiwi_doorbell *db)
{
	return db->reg;
}

int kiwi_doorbell_export(struct kiwi_doorbell *db, struct kiwi_snic_doorbell_export *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->flags = O_CLOEXEC;
	out->doorbell = db->id;
	return queue_ioctl(db->obj.handle, KIWI_SNIC_DOORBELL_EXPORT, out);
}

int doorbell_default(struct kiwi_device *dev, struct kiwi_doorbell **db)
{
	struct kiwi_doorbell *mine;
	int rc;

	pthread_mutex_lock(&dev->handle.lock);
	*db = dev->doorbell;
	pthread_mutex_unlock(&dev->handle.lock);
	if (*db)
		return 0;

	rc = kiwi_doorbell_alloc(dev, 0, &mine);
	if (rc)
		return rc;
	pthread_mutex_lock(&dev->handle.lock);
	if (!dev->doorbell)
		dev->doorbell = mine;
	*db = dev->doorbell;
	pthread_mutex_unlock(&dev->handle.lock);
	/* Another thread was faster. */
	if (*db != mine)
		kiwi_doorbell_free(mine);
	return 0;
}
