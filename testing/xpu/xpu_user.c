// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "xpu.h"

static int xpu_ioctl(int xpu, unsigned long cmd, void *arg)
{
	return ioctl(xpu, cmd, arg) ? -errno : 0;
}

int xpu_open(unsigned int index)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/xpu%u", index);
	fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int xpu_query(int xpu, struct xpu_query *query)
{
	*query = (struct xpu_query){ .size = sizeof(*query) };
	return xpu_ioctl(xpu, XPU_QUERY, query);
}

int xpu_alloc(int xpu, uint64_t length, uint32_t chunk_size, uint32_t flags)
{
	struct xpu_alloc alloc = {
		.size = sizeof(alloc),
		.flags = flags | (chunk_size ? XPU_ALLOC_SCATTERED : 0),
		.length = length,
		.chunk_size = chunk_size,
	};
	int ret = xpu_ioctl(xpu, XPU_ALLOC, &alloc);

	return ret ? ret : alloc.fd;
}

int xpu_query_buf(int xpu, int buf, struct xpu_query_buf *query)
{
	*query = (struct xpu_query_buf){ .size = sizeof(*query), .fd = buf };
	return xpu_ioctl(xpu, XPU_QUERY_BUF, query);
}

static int xpu_buf_op(int xpu, unsigned long cmd, int buf)
{
	struct xpu_buf_op op = { .size = sizeof(op), .fd = buf };

	return xpu_ioctl(xpu, cmd, &op);
}

int xpu_evict(int xpu, int buf)
{
	return xpu_buf_op(xpu, XPU_EVICT, buf);
}

int xpu_return(int xpu, int buf)
{
	return xpu_buf_op(xpu, XPU_RETURN, buf);
}

int xpu_revoke(int xpu, int buf)
{
	return xpu_buf_op(xpu, XPU_REVOKE, buf);
}

int xpu_fail_next_map(int xpu, int buf, unsigned int error)
{
	struct xpu_fail_next_map fail = { .size = sizeof(fail), .fd = buf, .error = error };

	return xpu_ioctl(xpu, XPU_FAIL_NEXT_MAP, &fail);
}

void *xpu_map(int buf, size_t length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, buf, 0);

	return p == MAP_FAILED ? NULL : p;
}

int xpu_copy(int xpu, int dst, uint64_t dst_offset, int src, uint64_t src_offset,
	     uint64_t length, uint32_t flags)
{
	struct xpu_copy copy = {
		.size = sizeof(copy),
		.flags = flags,
		.src_fd = src,
		.dst_fd = dst,
		.src_offset = src_offset,
		.dst_offset = dst_offset,
		.length = length,
	};

	return xpu_ioctl(xpu, XPU_COPY, &copy);
}

int xpu_write(int xpu, int dst, uint64_t dst_offset, const void *src, uint64_t length)
{
	return xpu_copy(xpu, dst, dst_offset, 0, (uintptr_t)src, length, XPU_COPY_SRC_USER);
}

int xpu_read(int xpu, void *dst, int src, uint64_t src_offset, uint64_t length)
{
	return xpu_copy(xpu, 0, (uintptr_t)dst, src, src_offset, length, XPU_COPY_DST_USER);
}

static int xpu_doorbell(int xpu, int dmabuf, uint32_t flags, uint64_t *length)
{
	struct xpu_doorbell_import import = {
		.size = sizeof(import), .flags = flags, .fd = dmabuf,
	};
	int ret = xpu_ioctl(xpu, XPU_DOORBELL_IMPORT, &import);

	if (ret)
		return ret;
	if (length)
		*length = import.length;
	return import.doorbell;
}

int xpu_doorbell_import(int xpu, int dmabuf, uint64_t *length)
{
	return xpu_doorbell(xpu, dmabuf, 0, length);
}

int xpu_doorbell_keep(int xpu, int dmabuf, uint64_t *length)
{
	return xpu_doorbell(xpu, dmabuf, XPU_DOORBELL_KEEP, length);
}

static int xpu_object(int xpu, unsigned long cmd, uint32_t number)
{
	struct xpu_object object = { .size = sizeof(object), .number = number };

	return xpu_ioctl(xpu, cmd, &object);
}

int xpu_doorbell_release(int xpu, unsigned int doorbell)
{
	return xpu_object(xpu, XPU_DOORBELL_RELEASE, doorbell);
}

int xpu_queue_add(int xpu, struct xpu_queue_add *add)
{
	int ret;

	add->size = sizeof(*add);
	ret = xpu_ioctl(xpu, XPU_QUEUE_ADD, add);
	return ret ? ret : (int)add->queue;
}

int xpu_queue_remove(int xpu, unsigned int queue)
{
	return xpu_object(xpu, XPU_QUEUE_REMOVE, queue);
}

int xpu_launch(int xpu, int list, uint32_t count, uint32_t threads, const int *bufs,
	       unsigned int nbufs, uint32_t timeout_us, uint32_t *kernel)
{
	struct xpu_launch launch = {
		.size = sizeof(launch),
		.list = { .fd = list },
		.count = count,
		.threads = threads,
		.timeout_us = timeout_us,
	};
	int ret;

	if (nbufs > XPU_LAUNCH_BUFFERS)
		return -EINVAL;
	for (unsigned int i = 0; i < XPU_LAUNCH_BUFFERS; i++)
		launch.buffer_fd[i] = i < nbufs ? bufs[i] : -1;
	ret = xpu_ioctl(xpu, XPU_LAUNCH, &launch);
	if (!ret)
		*kernel = launch.kernel;
	return ret;
}

int xpu_wait(int xpu, uint32_t kernel, uint32_t timeout_ms, struct xpu_wait *wait)
{
	*wait = (struct xpu_wait){
		.size = sizeof(*wait),
		.kernel = kernel,
		.timeout_ms = timeout_ms,
	};
	return xpu_ioctl(xpu, XPU_WAIT, wait);
}

int xpu_stop(int xpu, uint32_t kernel)
{
	return xpu_object(xpu, XPU_STOP, kernel);
}
