// SPDX-License-Identifier: GPL-2.0
/*
 * The execution engine: when it runs, and what it is told when memory goes away.
 */
#include <linux/bitops.h>
#include <linux/io.h>

#include "xpu_drv.h"

/* What was written before has taken effect when this returns. */
void xpu_exec_flush(struct xpu_exec *exec)
{
	lockdep_assert_held(&exec->lock);
	readl(exec->regs + XPU_REG_EX_ENDED);
}

/**
 * xpu_exec_ended() - whoever waits for a kernel shall look at it
 * @exec: engine
 * @kernels: bits of exec->kernels
 */
void xpu_exec_ended(struct xpu_exec *exec, u32 kernels)
{
	unsigned int i;

	for (i = 0; i < XPU_EX_KERNELS; i++)
		if (kernels & BIT(i))
			set_bit(i, &exec->ended);
	wake_up_all(&exec->wait);
}

/**
 * xpu_exec_irq() - the interrupt of the execution engine
 * @exec: engine
 */
void xpu_exec_irq(struct xpu_exec *exec)
{
	u32 ended = readl(exec->regs + XPU_REG_EX_ENDED);

	if (ended == ~0U)	/* the device is gone */
		return;
	writel(ended, exec->regs + XPU_REG_EX_ENDED);
	xpu_exec_ended(exec, ended);
}

/**
 * xpu_exec_withdraw() - a buffer is revoked: the engine does not access it any more
 * @xdev: device
 * @buf: buffer; the caller holds its reservation lock
 */
void xpu_exec_withdraw(struct xpu_device *xdev, struct xpu_buf *buf)
{
	struct xpu_exec *exec = &xdev->exec;

	dma_resv_assert_held(buf->dmabuf->resv);
	mutex_lock(&exec->lock);
	if (!exec->stopped) {
		xpu_kernels_withdraw(exec, buf);
		xpu_queues_withdraw(exec, buf);
		xpu_exec_flush(exec);
	}
	mutex_unlock(&exec->lock);
}

/* The file is closed: queues use doorbells, and kernels use queues. */
void xpu_exec_close(struct xpu_file *file)
{
	struct xpu_device *xdev = file->xdev;

	down_read(&xdev->unplug_lock);
	xpu_kernels_close(file);
	xpu_queues_close(file);
	xpu_doorbells_close(file);
	up_read(&xdev->unplug_lock);
}

/**
 * xpu_exec_stop() - end all kernels, and refuse new ones
 * @xdev: device
 * @error: what the callers get, a negative errno
 *
 * When it returns nobody accesses the registers any more, but for the interrupt. Doorbells
 * are still mapped: xpu_doorbells_unmap().
 */
void xpu_exec_stop(struct xpu_device *xdev, int error)
{
	struct xpu_exec *exec = &xdev->exec;

	mutex_lock(&exec->lock);
	exec->stopped = error;
	xpu_kernels_stop(exec);
	xpu_queues_stop(exec);
	xpu_doorbells_stop(exec);
	xpu_exec_flush(exec);
	mutex_unlock(&exec->lock);
	xpu_exec_ended(exec, ~0U);
}

/* After a reset: the engine's tables are empty. */
void xpu_exec_start(struct xpu_exec *exec)
{
	mutex_lock(&exec->lock);
	exec->stopped = 0;
	mutex_unlock(&exec->lock);
}

void xpu_exec_init(struct xpu_device *xdev, void __iomem *regs)
{
	struct xpu_exec *exec = &xdev->exec;

	exec->regs = regs;
	mutex_init(&exec->import_lock);
	mutex_init(&exec->lock);
	init_waitqueue_head(&exec->wait);
}
