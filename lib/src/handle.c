// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Open files of any part: their names, their ioctls, and the objects that end with them. */
#include "priv.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <kiwi/common.h>

#define DEV_DIR		"/dev/kiwi"

/* The number in a device name, -1 when it is none. */
static int name_number(const struct part *part, const char *name)
{
	size_t prefix = strlen(part->prefix);
	char *end;
	long n;

	if (!strncmp(name, DEV_DIR "/", sizeof(DEV_DIR)))
		name += sizeof(DEV_DIR);
	if (!strncmp(name, part->prefix, prefix))
		name += prefix;
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

int handle_list(const struct part *part, struct kiwi_name *names, int max)
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
		int *more, n = name_number(part, entry->d_name);

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
		snprintf(names[i].name, sizeof(names[i].name), "%s%d", part->prefix, numbers[i]);
	free(numbers);
	return count;
}

int handle_open(struct handle *h, const struct part *part, const char *name)
{
	int number = name_number(part, name), rc;
	char path[sizeof(DEV_DIR) + KIWI_NAME_MAX];

	if (number < 0)
		return refuse(EINVAL, "'%s' is no device name; they are like %s0", name,
			      part->prefix);
	h->part = part;
	snprintf(h->name, sizeof(h->name), "%s%d", part->prefix, number);
	snprintf(path, sizeof(path), DEV_DIR "/%s", h->name);
	h->fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (h->fd < 0)
		return refuse(errno, "%s: %s", path, strerror(errno));
	pthread_mutex_init(&h->lock, NULL);
	rc = handle_ioctl(h, part->query_device, h->info);
	if (rc)
		handle_close(h);
	return rc;
}

void handle_close(struct handle *h)
{
	/* The kernel ends its objects first: then the device lets the memory go. */
	close(h->fd);
	while (h->objects) {
		struct object *obj = h->objects;

		h->objects = obj->next;
		obj->release(obj);
	}
	pthread_mutex_destroy(&h->lock);
}

int handle_ioctl(struct handle *h, unsigned long request, void *arg)
{
	struct kiwi_last_error last = { .size = sizeof(last) };
	int err;

	if (!ioctl(h->fd, request, arg))
		return 0;
	err = errno;
	if (err == ENOTTY)
		return refuse(err, "%s: this device, or its driver, has no such call", h->name);
	/* Another thread's failure may have taken its place. */
	if (!ioctl(h->fd, h->part->last_error, &last) && last.nr == _IOC_NR(request) &&
	    last.error == (uint32_t)err && last.text[0])
		return refuse(err, "%s: %.*s (%s)", h->name, (int)sizeof(last.text), last.text,
			      strerror(err));
	return refuse(err, "%s: %s: %s", h->name, h->part->ioctl_name(_IOC_NR(request)),
		      strerror(err));
}

int queue_ioctl(struct handle *h, unsigned long request, void *arg)
{
	return handle_ioctl(h, h->part->pd_alloc + (request - KIWI_SNIC_PD_ALLOC), arg);
}

int handle_destroy(struct handle *h, uint32_t id)
{
	struct kiwi_destroy arg = { .size = sizeof(arg), .id = id };

	return handle_ioctl(h, h->part->destroy, &arg);
}

void *object_alloc(size_t size)
{
	/* Alignment of struct kiwi_qp; sizes are multiples of it. */
	void *p = aligned_alloc(64, (size + 63) & ~(size_t)63);

	return p ? memset(p, 0, size) : NULL;
}

void object_add(struct handle *h, struct object *obj, void (*release)(struct object *obj))
{
	obj->handle = h;
	obj->release = release;
	pthread_mutex_lock(&h->lock);
	obj->next = h->objects;
	if (obj->next)
		obj->next->prev = obj;
	h->objects = obj;
	pthread_mutex_unlock(&h->lock);
}

int object_destroy(struct object *obj, uint32_t id)
{
	struct handle *h = obj->handle;
	int rc = handle_destroy(h, id);

	/* A device that was removed or has failed has taken its objects with it. */
	if (rc && rc != -ENODEV && rc != -EIO)
		return rc;
	pthread_mutex_lock(&h->lock);
	if (obj->prev)
		obj->prev->next = obj->next;
	else
		h->objects = obj->next;
	if (obj->next)
		obj->next->prev = obj->prev;
	pthread_mutex_unlock(&h->lock);
	obj->release(obj);
	return 0;
}

int handle_event(struct handle *h, void *event, int timeout_ms)
{
	struct pollfd pfd = { .fd = h->fd, .events = POLLIN };
	size_t size = sizeof(struct kiwi_file_event);
	ssize_t got = read(h->fd, event, size);

	if (got < 0 && errno == EAGAIN && timeout_ms) {
		if (poll(&pfd, 1, timeout_ms) < 0)
			return refuse(errno, "%s: poll: %s", h->name, strerror(errno));
		got = read(h->fd, event, size);
	}
	if (got == (ssize_t)size)
		return 1;
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got < 0)
		return refuse(errno, "%s: read of events: %s", h->name, strerror(errno));
	return refuse(EPROTO, "%s: read of events: %zd bytes, not %zu", h->name, got, size);
}
