// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Device handles, and the objects that end with them. */
#include "priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEV_DIR		"/dev/kiwi"
#define NAME_PREFIX	"snic"

/* The number in a device name, -1 when it is none. */
static int name_number(const char *name)
{
	char *end;
	long n;

	if (!strncmp(name, DEV_DIR "/", sizeof(DEV_DIR)))
		name += sizeof(DEV_DIR);
	if (!strncmp(name, NAME_PREFIX, sizeof(NAME_PREFIX) - 1))
		name += sizeof(NAME_PREFIX) - 1;
	if (*name < '0' || *name > '9')
		return -1;
	errno = 0;
	n = strtol(name, &end, 10);
	return errno || *end || n > 99999 ? -1 : (int)n;
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int kiwi_list(struct kiwi_name *names, int max)
{
	DIR *dir = opendir(DEV_DIR);
	int *numbers = NULL;
	struct dirent *entry;
	int i, count = 0;

	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return refuse(errno, "%s: %s", DEV_DIR, strerror(errno));
	while ((entry = readdir(dir))) {
		int *more, n = name_number(entry->d_name);

		if (n < 0)
			continue;
		more = realloc(numbers, (count + 1) * sizeof(*numbers));
		if (!more) {
			free(numbers);
			closedir(dir);
			return refuse(ENOMEM, "no memory for the list of devices");
		}
		numbers = more;
		numbers[count++] = n;
	}
	closedir(dir);
	if (count)
		qsort(numbers, count, sizeof(*numbers), by_number);
	for (i = 0; i < count && i < max; i++)
		snprintf(names[i].name, sizeof(names[i].name), NAME_PREFIX "%d", numbers[i]);
	free(numbers);
	return count;
}

int kiwi_open(const char *name, struct kiwi_device **out)
{
	char path[sizeof(DEV_DIR) + KIWI_NAME_MAX];
	int number = name_number(name);
	struct kiwi_device *dev;
	int rc;

	if (number < 0)
		return refuse(EINVAL, "'%s' is no device name; they are like %s0", name,
			      NAME_PREFIX);
	dev = calloc(1, sizeof(*dev));
	if (!dev)
		return refuse(ENOMEM, "no memory for a device handle");
	snprintf(dev->name, sizeof(dev->name), NAME_PREFIX "%d", number);
	snprintf(path, sizeof(path), DEV_DIR "/%s", dev->name);
	pthread_mutex_init(&dev->lock, NULL);
	pthread_mutex_init(&dev->qpn_lock, NULL);
	qp_table_init(dev);

	dev->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (dev->fd < 0) {
		rc = refuse(errno, "%s: %s", path, strerror(errno));
		goto err_free;
	}
	dev->info.size = sizeof(dev->info);
	rc = dev_ioctl(dev, KIWI_SNIC_QUERY_DEVICE, &dev->info);
	if (rc)
		goto err_close;
	*out = dev;
	return 0;

err_close:
	close(dev->fd);
err_free:
	pthread_mutex_destroy(&dev->qpn_lock);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
	return rc;
}

void kiwi_close(struct kiwi_device *dev)
{
	if (!dev)
		return;
	/* The kernel ends its objects first: then the device lets the memory go. */
	close(dev->fd);
	while (dev->objects) {
		struct object *obj = dev->objects;

		dev->objects = obj->next;
		obj->release(obj);
	}
	ring_memory_free(&dev->error_page);
	qp_table_free(dev);
	pthread_mutex_destroy(&dev->qpn_lock);
	pthread_mutex_destroy(&dev->lock);
	free(dev);
}

const char *kiwi_device_name(const struct kiwi_device *dev)
{
	return dev->name;
}

int kiwi_device_fd(const struct kiwi_device *dev)
{
	return dev->fd;
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
	int rc = dev_ioctl(dev, KIWI_SNIC_PREFLIGHT, &arg);

	if (!rc)
		*count = arg.count;
	return rc;
}

void *object_alloc(size_t size)
{
	/* Alignment of struct kiwi_qp; sizes are multiples of it. */
	void *p = aligned_alloc(64, (size + 63) & ~(size_t)63);

	return p ? memset(p, 0, size) : NULL;
}

void object_add(struct kiwi_device *dev, struct object *obj,
		void (*release)(struct object *obj))
{
	obj->dev = dev;
	obj->release = release;
	pthread_mutex_lock(&dev->lock);
	obj->next = dev->objects;
	if (obj->next)
		obj->next->prev = obj;
	dev->objects = obj;
	pthread_mutex_unlock(&dev->lock);
}

int object_destroy(struct object *obj, uint32_t id)
{
	struct kiwi_snic_destroy arg = { .size = sizeof(arg), .id = id };
	struct kiwi_device *dev = obj->dev;
	int rc = dev_ioctl(dev, KIWI_SNIC_DESTROY, &arg);

	/* A device that was removed has taken its objects with it. */
	if (rc && rc != -ENODEV)
		return rc;
	pthread_mutex_lock(&dev->lock);
	if (obj->prev)
		obj->prev->next = obj->next;
	else
		dev->objects = obj->next;
	if (obj->next)
		obj->next->prev = obj->prev;
	pthread_mutex_unlock(&dev->lock);
	obj->release(obj);
	return 0;
}

int kiwi_next_event(struct kiwi_device *dev, struct kiwi_snic_event *event, int timeout_ms)
{
	struct pollfd pfd = { .fd = dev->fd, .events = POLLIN };
	ssize_t got = read(dev->fd, event, sizeof(*event));

	if (got < 0 && errno == EAGAIN && timeout_ms) {
		if (poll(&pfd, 1, timeout_ms) < 0)
			return refuse(errno, "%s: poll: %s", dev->name, strerror(errno));
		got = read(dev->fd, event, sizeof(*event));
	}
	if (got == (ssize_t)sizeof(*event))
		return 1;
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got < 0)
		return refuse(errno, "%s: read of events: %s", dev->name, strerror(errno));
	return refuse(EPROTO, "%s: read of events: %zd bytes, not %zu", dev->name, got,
		      sizeof(*event));
}
