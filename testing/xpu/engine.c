// SPDX-License-Identifier: GPL-2.0
/*
 * The copy engine: one command at a time, the caller sleeps until it has ended.
 */
#include <linux/bitfield.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/jiffies.h>
#include <linux/sched/signal.h>

#include "xpu_drv.h"

#define XPU_ALL_ONES	(~0U)	/* what a device that is gone reads as */

static u32 xpu_engine_status(struct xpu_engine *engine)
{
	return readl(engine->regs + XPU_REG_CE_STATUS);
}

static bool xpu_engine_busy(u32 status)
{
	return FIELD_GET(XPU_CE_STATUS_STATE, status) == XPU_CE_BUSY;
}

/**
 * xpu_engine_irq() - the interrupt of the copy engine
 * @engine: engine
 *
 * The tag keeps the late interrupt of an earlier command from ending this one.
 */
void xpu_engine_irq(struct xpu_engine *engine)
{
	u32 status = xpu_engine_status(engine);

	if (!xpu_engine_busy(status) &&
	    FIELD_GET(XPU_CE_STATUS_TAG, status) == READ_ONCE(engine->tag))
		complete(&engine->ended);
}

/* Also covers a lost interrupt: what counts is the status, at the latest on time-out. */
static u32 xpu_engine_wait(struct xpu_engine *engine)
{
	unsigned long deadline = jiffies + engine->timeout;
	u32 status;

	do {
		wait_for_completion_timeout(&engine->ended, engine->timeout);
		status = xpu_engine_status(engine);
	} while (xpu_engine_busy(status) && status != XPU_ALL_ONES &&
		 !READ_ONCE(engine->stopped) && time_before(jiffies, deadline));
	return status;
}

/*
 * The memory of a command is its owner's again only when the device cannot touch
 * it any more. A device that will not abort loses bus mastering.
 */
static int xpu_engine_abort(struct xpu_device *xdev, u64 len)
{
	struct xpu_engine *engine = &xdev->engine;

	int stopped = READ_ONCE(engine->stopped);

	if (!stopped)
		dev_err_ratelimited(&xdev->pdev->dev, "copy of %llu bytes exceeds %u ms\n", len,
				    jiffies_to_msecs(engine->timeout));
	writel(XPU_CE_CTRL_ABORT, engine->regs + XPU_REG_CE_CTRL);
	if (xpu_engine_busy(xpu_engine_status(engine))) {
		pci_clear_master(xdev->pdev);
		WRITE_ONCE(engine->stopped, -EIO);
		dev_err(&xdev->pdev->dev, "copy engine does not abort; it is off until a reset\n");
	}
	return stopped ?: -ETIMEDOUT;
}

static int xpu_engine_result(struct xpu_device *xdev, u32 status, u64 len)
{
	struct xpu_engine *engine = &xdev->engine;
	u32 state = FIELD_GET(XPU_CE_STATUS_STATE, status);
	u32 error = FIELD_GET(XPU_CE_STATUS_ERROR, status);

	if (status == XPU_ALL_ONES) {
		WRITE_ONCE(engine->stopped, -ENODEV);
		return -ENODEV;
	}
	if (state == XPU_CE_BUSY)
		return xpu_engine_abort(xdev, len);
	if (FIELD_GET(XPU_CE_STATUS_TAG, status) != engine->tag)
		return -EIO;
	if (state == XPU_CE_DONE)
		return 0;
	if (state == XPU_CE_FAILED && error == XPU_CE_DMA)
		dev_err_ratelimited(&xdev->pdev->dev, "copy failed: bus address %#llx refused\n",
				    lo_hi_readq(engine->regs + XPU_REG_CE_FAULT));
	else
		dev_err_ratelimited(&xdev->pdev->dev, "copy failed: state %u, error %u\n", state,
				    error);
	return -EIO;
}

static int xpu_engine_command(struct xpu_device *xdev, u64 dst, u64 src, u64 len, u32 ctrl)
{
	struct xpu_engine *engine = &xdev->engine;
	u16 tag = engine->tag + 1;
	int stopped;

	lockdep_assert_held(&engine->lock);
	WRITE_ONCE(engine->tag, tag);
	reinit_completion(&engine->ended);
	smp_mb(); /* pairs with xpu_engine_stop(): either sees the other */
	stopped = READ_ONCE(engine->stopped);
	if (stopped)
		return stopped;

	lo_hi_writeq(src, engine->regs + XPU_REG_CE_SRC);
	lo_hi_writeq(dst, engine->regs + XPU_REG_CE_DST);
	lo_hi_writeq(len, engine->regs + XPU_REG_CE_LEN);
	writel(ctrl | XPU_CE_CTRL_START | FIELD_PREP(XPU_CE_CTRL_TAG, tag),
	       engine->regs + XPU_REG_CE_CTRL);
	return xpu_engine_result(xdev, xpu_engine_wait(engine), len);
}

/**
 * xpu_engine_copy() - move bytes
 * @xdev: device
 * @dst: VRAM offset, or bus address with XPU_CE_CTRL_DST_BUS
 * @src: VRAM offset, or bus address with XPU_CE_CTRL_SRC_BUS
 * @len: bytes
 * @ctrl: XPU_CE_CTRL_*_BUS, or XPU_CE_CTRL_CLEAR
 *
 * On return the device no longer accesses the memory, whatever the result.
 *
 * Return: 0, -ENODEV when the device is gone, -EAGAIN when it is in reset, -EIO when the
 * bus refused an access, -ETIMEDOUT, or -EINTR when the caller is being killed.
 */
int xpu_engine_copy(struct xpu_device *xdev, u64 dst, u64 src, u64 len, u32 ctrl)
{
	struct xpu_engine *engine = &xdev->engine;
	int ret = 0;

	mutex_lock(&engine->lock);
	while (len && !ret) {
		u64 n = min(len, engine->max_len);

		ret = xpu_engine_command(xdev, dst, src, n, ctrl);
		dst += n;
		src += n;
		len -= n;
		if (!ret && len && fatal_signal_pending(current))
			ret = -EINTR;
	}
	mutex_unlock(&engine->lock);
	return ret;
}

static u64 xpu_engine_counter(struct xpu_engine *engine, enum xpu_counter n)
{
	return lo_hi_readq(engine->regs + XPU_REG_COUNTER(n));
}

int xpu_engine_query(struct xpu_engine *engine, struct xpu_query *query)
{
	int ret;

	mutex_lock(&engine->lock);
	ret = READ_ONCE(engine->stopped);
	if (!ret) {
		query->dma_reads = xpu_engine_counter(engine, XPU_CNT_DMA_READS);
		query->dma_read_bytes = xpu_engine_counter(engine, XPU_CNT_DMA_READ_BYTES);
		query->dma_writes = xpu_engine_counter(engine, XPU_CNT_DMA_WRITES);
		query->dma_write_bytes = xpu_engine_counter(engine, XPU_CNT_DMA_WRITE_BYTES);
		query->dma_errors = xpu_engine_counter(engine, XPU_CNT_DMA_ERRORS);
		query->commands = xpu_engine_counter(engine, XPU_CNT_COMMANDS);
		query->kernels = xpu_engine_counter(engine, XPU_CNT_KERNELS);
		query->kernel_commands = xpu_engine_counter(engine, XPU_CNT_KERNEL_COMMANDS);
		query->kernel_faults = xpu_engine_counter(engine, XPU_CNT_FAULTS);
		query->wqes = xpu_engine_counter(engine, XPU_CNT_WQES);
		query->doorbells = xpu_engine_counter(engine, XPU_CNT_DOORBELLS);
		query->doorbells_lost = xpu_engine_counter(engine, XPU_CNT_DOORBELLS_LOST);
		query->proxy_rings = xpu_engine_counter(engine, XPU_CNT_PROXY_RINGS);
		query->polls = xpu_engine_counter(engine, XPU_CNT_POLLS);
		query->stale_reads = xpu_engine_counter(engine, XPU_CNT_STALE_READS);
		query->stale_writes = xpu_engine_counter(engine, XPU_CNT_STALE_WRITES);
		query->resets = readl(engine->regs + XPU_REG_RESETS);
		if (query->resets == XPU_ALL_ONES)
			ret = -ENODEV;
	}
	mutex_unlock(&engine->lock);
	return ret;
}

/**
 * xpu_engine_stop() - end the running command, and refuse new ones
 * @engine: engine
 * @error: what the callers get, a negative errno
 *
 * When it returns nobody accesses the registers any more.
 */
void xpu_engine_stop(struct xpu_engine *engine, int error)
{
	smp_store_mb(engine->stopped, error); /* pairs with xpu_engine_command() */
	complete(&engine->ended);
	mutex_lock(&engine->lock);
	mutex_unlock(&engine->lock);
}

/* After a reset. */
void xpu_engine_start(struct xpu_engine *engine)
{
	mutex_lock(&engine->lock);
	WRITE_ONCE(engine->stopped, 0);
	mutex_unlock(&engine->lock);
}

int xpu_engine_init(struct xpu_device *xdev, void __iomem *regs)
{
	struct xpu_engine *engine = &xdev->engine;
	u32 timeout_ms = readl(regs + XPU_REG_CE_TIMEOUT_MS);
	u64 max_len = lo_hi_readq(regs + XPU_REG_CE_MAX_LEN);

	if (max_len < PAGE_SIZE || !timeout_ms || timeout_ms > 10 * 60 * MSEC_PER_SEC) {
		dev_err(&xdev->pdev->dev,
			"copy engine reports at most %llu bytes a command, within %u ms\n",
			max_len, timeout_ms);
		return -EIO;
	}
	engine->regs = regs;
	engine->max_len = max_len;
	engine->timeout = msecs_to_jiffies(timeout_ms);
	mutex_init(&engine->lock);
	init_completion(&engine->ended);
	return 0;
}
