// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels: launched, waited for, stopped. The lists of commands are not looked at here: the
 * engine checks each command when it comes to it, and can reach nothing but the buffers of
 * the launch and the queues of the same file.
 */
#include <linux/bitfield.h>
#include <linux/bitops.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "xpu_drv.h"

#define XPU_WAIT_MAX_MS		(10 * 60 * MSEC_PER_SEC)

/**
 * struct xpu_kernel - a kernel
 * @file: owner
 * @place: in the engine
 * @number: the caller's name for it; its tag in the engine
 * @lost: a reset has ended it; under exec.lock
 * @count: entries of @bufs
 * @bufs: held: list and buffers
 * @regs: what the engine gets
 */
struct xpu_kernel {
	struct xpu_file *file;
	unsigned int place;
	u32 number;
	bool lost;
	unsigned int count;
	struct xpu_buf *bufs[1 + XPU_LAUNCH_BUFFERS];
	struct xpu_ex_kernel regs;
};

static void __iomem *xpu_kernel_regs(struct xpu_exec *exec, const struct xpu_kernel *kernel)
{
	return exec->regs + XPU_REG_EX_KERNEL(kernel->place);
}

static void xpu_kernel_free(struct xpu_kernel *kernel)
{
	while (kernel->count)
		xpu_buf_drop(kernel->bufs[--kernel->count]);
	kfree(kernel);
}

static int xpu_kernel_hold(struct xpu_kernel *kernel, int fd, struct xpu_ex_range *range)
{
	struct xpu_buf *buf;
	u64 start;

	buf = xpu_buf_hold(kernel->file->xdev, fd, &start);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	kernel->bufs[kernel->count++] = buf;
	range->start = cpu_to_le64(start);
	range->length = cpu_to_le64(buf->dmabuf->size);
	return 0;
}

static int xpu_kernel_places(struct xpu_kernel *kernel, const struct xpu_launch *launch)
{
	u64 size = (u64)launch->count * launch->threads * XPU_CMD_BYTES, length;
	struct xpu_ex_range list;
	unsigned int i;
	int ret;

	BUILD_BUG_ON(sizeof(struct xpu_cmd) != XPU_CMD_BYTES);
	BUILD_BUG_ON(XPU_LAUNCH_BUFFERS != XPU_EX_BUFFERS);
	ret = xpu_kernel_hold(kernel, launch->list.fd, &list);
	if (ret)
		return ret;
	length = le64_to_cpu(list.length);
	if (size > length || launch->list.offset > length - size)
		return -EINVAL;
	kernel->regs.list = cpu_to_le64(le64_to_cpu(list.start) + launch->list.offset);
	for (i = 0; i < XPU_LAUNCH_BUFFERS && !ret; i++)
		if (launch->buffer_fd[i] != -1)
			ret = xpu_kernel_hold(kernel, launch->buffer_fd[i],
					      &kernel->regs.buffer[i]);
	return ret;
}

static int xpu_kernel_check(const struct xpu_launch *launch)
{
	if (launch->flags || launch->list.reserved || !launch->count ||
	    launch->count > XPU_EX_COMMANDS || !launch->threads ||
	    launch->threads > XPU_EX_THREADS || !launch->timeout_us ||
	    launch->timeout_us > XPU_TIMEOUT_MAX_US)
		return -EINVAL;
	return 0;
}

static bool xpu_kernel_revoked(const struct xpu_kernel *kernel)
{
	unsigned int i;

	for (i = 0; i < kernel->count; i++)
		if (!READ_ONCE(kernel->bufs[i]->store))
			return true;
	return false;
}

static int xpu_kernel_start(struct xpu_exec *exec, struct xpu_kernel *kernel)
{
	void __iomem *regs;
	unsigned int i;

	lockdep_assert_held(&exec->lock);
	if (exec->stopped)
		return exec->stopped;
	if (xpu_kernel_revoked(kernel))
		return -ENODEV;
	for (i = 0; i < XPU_EX_KERNELS && exec->kernels[i]; i++)
		;
	if (i == XPU_EX_KERNELS)
		return -ENOSPC;
	kernel->place = i;
	kernel->number = ++exec->tag;
	exec->kernels[i] = kernel;
	clear_bit(i, &exec->ended);

	BUILD_BUG_ON(sizeof(kernel->regs) > XPU_EX_KERNEL_CTRL);
	regs = xpu_kernel_regs(exec, kernel);
	__iowrite32_copy(regs, &kernel->regs, sizeof(kernel->regs) / 4);
	writel(XPU_EX_CTRL_START | FIELD_PREP(XPU_EX_CTRL_TAG, kernel->number & U16_MAX),
	       regs + XPU_EX_KERNEL_CTRL);
	return 0;
}

int xpu_kernel_launch(struct xpu_file *file, struct xpu_launch *launch)
{
	struct xpu_exec *exec = &file->xdev->exec;
	struct xpu_kernel *kernel;
	int ret;

	ret = xpu_kernel_check(launch);
	if (ret)
		return ret;
	kernel = kzalloc(sizeof(*kernel), GFP_KERNEL_ACCOUNT);
	if (!kernel)
		return -ENOMEM;
	kernel->file = file;
	kernel->regs.count = cpu_to_le32(launch->count);
	kernel->regs.threads = cpu_to_le32(launch->threads);
	kernel->regs.context = cpu_to_le32(file->context);
	kernel->regs.timeout_us = cpu_to_le32(launch->timeout_us);
	ret = xpu_kernel_places(kernel, launch);
	if (ret)
		goto err;
	mutex_lock(&exec->lock);
	ret = xpu_kernel_start(exec, kernel);
	launch->kernel = kernel->number;
	mutex_unlock(&exec->lock);
	if (!ret)
		return 0;
err:
	xpu_kernel_free(kernel);
	return ret;
}

static struct xpu_kernel *xpu_kernel_find(struct xpu_file *file, u32 number)
{
	struct xpu_exec *exec = &file->xdev->exec;
	unsigned int i;

	lockdep_assert_held(&exec->lock);
	for (i = 0; i < XPU_EX_KERNELS; i++) {
		struct xpu_kernel *kernel = exec->kernels[i];

		if (kernel && kernel->file == file && kernel->number == number)
			return kernel;
	}
	return NULL;
}

static void xpu_kernel_end(struct xpu_exec *exec, const struct xpu_kernel *kernel, u32 fault)
{
	writel(XPU_EX_CTRL_STOP | FIELD_PREP(XPU_EX_CTRL_FAULT, fault),
	       xpu_kernel_regs(exec, kernel) + XPU_EX_KERNEL_CTRL);
}

/* How the kernel is; -ENODEV when the device is gone. */
static int xpu_kernel_read(struct xpu_exec *exec, const struct xpu_kernel *kernel,
			   struct xpu_wait *wait)
{
	void __iomem *regs = xpu_kernel_regs(exec, kernel);
	u32 status;

	lockdep_assert_held(&exec->lock);
	if (exec->stopped)
		return exec->stopped;
	if (kernel->lost) {
		wait->state = XPU_EX_FAILED;
		wait->fault = XPU_FAULT_RESET;
		return 0;
	}
	status = readl(regs + XPU_EX_KERNEL_STATUS);
	if (status == ~0U)
		return -ENODEV;
	if (FIELD_GET(XPU_EX_STATUS_TAG, status) != (kernel->number & U16_MAX))
		return -EIO;
	wait->state = FIELD_GET(XPU_EX_STATUS_STATE, status);
	wait->fault = FIELD_GET(XPU_EX_STATUS_FAULT, status);
	wait->thread = readl(regs + XPU_EX_KERNEL_THREAD);
	wait->command = readl(regs + XPU_EX_KERNEL_COMMAND);
	wait->detail = readl(regs + XPU_EX_KERNEL_DETAIL);
	wait->commands = lo_hi_readq(regs + XPU_EX_KERNEL_DONE);
	wait->time_ns = lo_hi_readq(regs + XPU_EX_KERNEL_TIME);
	return 0;
}

/* Takes the kernel out of the engine if it has ended; -EINPROGRESS if it has not. */
static int xpu_kernel_reap(struct xpu_file *file, struct xpu_wait *wait, unsigned int *place)
{
	struct xpu_exec *exec = &file->xdev->exec;
	struct xpu_kernel *kernel;
	int ret;

	mutex_lock(&exec->lock);
	kernel = xpu_kernel_find(file, wait->kernel);
	if (!kernel) {
		mutex_unlock(&exec->lock);
		return -ENOENT;
	}
	*place = kernel->place;
	clear_bit(kernel->place, &exec->ended);
	ret = xpu_kernel_read(exec, kernel, wait);
	if (!ret && wait->state == XPU_EX_RUNNING)
		ret = -EINPROGRESS;
	if (!ret)
		exec->kernels[kernel->place] = NULL;
	mutex_unlock(&exec->lock);
	if (ret != -EINPROGRESS)
		xpu_exec_ended(exec, BIT(*place));	/* others who wait for the same */
	if (!ret)
		xpu_kernel_free(kernel);
	return ret;
}

/**
 * xpu_kernel_wait() - XPU_WAIT
 * @file: owner
 * @wait: argument
 *
 * What counts is the status: at the latest on time-out a lost interrupt is made up for.
 *
 * Return: 0 or a negative errno.
 */
int xpu_kernel_wait(struct xpu_file *file, struct xpu_wait *wait)
{
	struct xpu_exec *exec = &file->xdev->exec;
	long left = msecs_to_jiffies(wait->timeout_ms);
	unsigned int place;
	int ret;

	if (wait->flags || wait->reserved || wait->timeout_ms > XPU_WAIT_MAX_MS)
		return -EINVAL;
	do {
		ret = xpu_kernel_reap(file, wait, &place);
		if (ret != -EINPROGRESS)
			return ret;
		if (!left)
			return -ETIMEDOUT;
		left = wait_event_interruptible_timeout(exec->wait, test_bit(place, &exec->ended),
							left);
	} while (left >= 0);
	return left;
}

int xpu_kernel_stop(struct xpu_file *file, u32 number)
{
	struct xpu_exec *exec = &file->xdev->exec;
	struct xpu_kernel *kernel;
	int ret;

	mutex_lock(&exec->lock);
	kernel = xpu_kernel_find(file, number);
	ret = kernel ? exec->stopped : -ENOENT;
	if (!ret && !kernel->lost) {
		xpu_kernel_end(exec, kernel, XPU_FAULT_NONE);
		xpu_exec_flush(exec);
	}
	mutex_unlock(&exec->lock);
	return ret;
}

void xpu_kernels_stop(struct xpu_exec *exec)
{
	unsigned int i;

	lockdep_assert_held(&exec->lock);
	for (i = 0; i < XPU_EX_KERNELS; i++) {
		if (!exec->kernels[i])
			continue;
		xpu_kernel_end(exec, exec->kernels[i], XPU_FAULT_RESET);
		exec->kernels[i]->lost = true;
	}
}

void xpu_kernels_withdraw(struct xpu_exec *exec, struct xpu_buf *buf)
{
	unsigned int i, n;

	lockdep_assert_held(&exec->lock);
	for (i = 0; i < XPU_EX_KERNELS; i++) {
		struct xpu_kernel *kernel = exec->kernels[i];

		for (n = 0; kernel && n < kernel->count; n++)
			if (kernel->bufs[n] == buf)
				xpu_kernel_end(exec, kernel, XPU_FAULT_MEMORY);
	}
}

/* The file is closed. */
void xpu_kernels_close(struct xpu_file *file)
{
	struct xpu_exec *exec = &file->xdev->exec;
	struct xpu_kernel *kernel;
	unsigned int i;

	for (i = 0; i < XPU_EX_KERNELS; i++) {
		mutex_lock(&exec->lock);
		kernel = exec->kernels[i];
		if (kernel && kernel->file != file)
			kernel = NULL;
		if (kernel) {
			if (!exec->stopped) {
				xpu_kernel_end(exec, kernel, XPU_FAULT_NONE);
				xpu_exec_flush(exec);
			}
			exec->kernels[i] = NULL;
		}
		mutex_unlock(&exec->lock);
		if (kernel)
			xpu_kernel_free(kernel);
	}
}
