// SPDX-License-Identifier: GPL-2.0
/*
 * Doorbells: an importer of pages that network devices export, for the execution engine to
 * write to.
 *
 * The mapping lives until the exporter takes it back (move_notify), which may be at any
 * time: the engine is then made to stop writing, and only when it has, is the page
 * unmapped. It is not mapped again: a doorbell that has moved is another one.
 */
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/slab.h>

#include "xpu_drv.h"

#define XPU_DOORBELL_BYTES	8	/* of the one store */

/**
 * struct xpu_doorbell - an imported page
 * @xdev: device
 * @file: owner; NULL when it is being released; under exec.lock
 * @number: in the engine
 * @users: queues that ring it; under exec.lock
 * @dmabuf: referenced
 * @attach: to it
 * @sgt: mapping, under the reservation lock; NULL when the exporter has taken it back
 * @length: bytes that can be reached
 * @usable: the engine has it; under exec.lock
 * @keep: it goes on having it when the exporter has taken the page back
 */
struct xpu_doorbell {
	struct xpu_device *xdev;
	struct xpu_file *file;
	u32 number;
	u32 users;
	struct dma_buf *dmabuf;
	struct dma_buf_attachment *attach;
	struct sg_table *sgt;
	u32 length;
	bool usable;
	bool keep;
};

static void xpu_doorbell_withdraw(struct xpu_doorbell *doorbell)
{
	struct xpu_exec *exec = &doorbell->xdev->exec;

	mutex_lock(&exec->lock);
	if (doorbell->usable && !exec->stopped) {
		writel(0, exec->regs + XPU_REG_EX_DB_LENGTH(doorbell->number));
		xpu_exec_flush(exec);
	}
	doorbell->usable = false;
	mutex_unlock(&exec->lock);
}

static void xpu_doorbell_give_back(struct xpu_doorbell *doorbell)
{
	dma_resv_assert_held(doorbell->dmabuf->resv);
	if (doorbell->sgt)
		dma_buf_unmap_attachment(doorbell->attach, doorbell->sgt, DMA_FROM_DEVICE);
	doorbell->sgt = NULL;
}

/* In the engine first: nothing is written to the page once it is unmapped. */
static void xpu_doorbell_unmap(struct xpu_doorbell *doorbell)
{
	xpu_doorbell_withdraw(doorbell);
	xpu_doorbell_give_back(doorbell);
}

static void xpu_doorbell_invalidate(struct dma_buf_attachment *attach)
{
	struct xpu_doorbell *doorbell = attach->importer_priv;

	if (doorbell->keep)
		xpu_doorbell_give_back(doorbell);
	else
		xpu_doorbell_unmap(doorbell);
}

static const struct dma_buf_attach_ops xpu_doorbell_ops = {
	.allow_peer2peer = true,
	.invalidate_mappings = xpu_doorbell_invalidate,
};

/* Only what a single store reaches counts: the first segment. */
static int xpu_doorbell_map(struct xpu_doorbell *doorbell)
{
	struct xpu_exec *exec = &doorbell->xdev->exec;
	struct sg_table *sgt;
	int ret;

	dma_resv_assert_held(doorbell->dmabuf->resv);
	sgt = dma_buf_map_attachment(doorbell->attach, DMA_FROM_DEVICE);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	doorbell->sgt = sgt;
	doorbell->length = sgt->nents ? sg_dma_len(sgt->sgl) : 0;
	if (doorbell->length < XPU_DOORBELL_BYTES ||
	    !IS_ALIGNED(sg_dma_address(sgt->sgl), XPU_DOORBELL_BYTES)) {
		xpu_doorbell_unmap(doorbell);
		return -EOPNOTSUPP;
	}

	mutex_lock(&exec->lock);
	ret = exec->stopped;
	if (!ret) {
		lo_hi_writeq(sg_dma_address(sgt->sgl),
			     exec->regs + XPU_REG_EX_DB_ADDR(doorbell->number));
		writel(doorbell->length, exec->regs + XPU_REG_EX_DB_LENGTH(doorbell->number));
		doorbell->usable = true;
	}
	mutex_unlock(&exec->lock);
	if (ret)
		xpu_doorbell_unmap(doorbell);
	return ret;
}

static int xpu_doorbell_place(struct xpu_exec *exec, struct xpu_doorbell *doorbell)
{
	unsigned int i;

	lockdep_assert_held(&exec->import_lock);
	for (i = 0; i < XPU_EX_DOORBELLS; i++) {
		if (!exec->doorbells[i]) {
			doorbell->number = i;
			return 0;
		}
	}
	return -ENOSPC;
}

static int xpu_doorbell_attach(struct xpu_doorbell *doorbell)
{
	struct dma_buf *dmabuf = doorbell->dmabuf;
	struct dma_buf_attachment *attach;
	int ret;

	attach = dma_buf_dynamic_attach(dmabuf, &doorbell->xdev->pdev->dev, &xpu_doorbell_ops,
					doorbell);
	if (IS_ERR(attach))
		return PTR_ERR(attach);
	doorbell->attach = attach;
	/* An exporter that cannot be reached would give a page of system memory. */
	ret = attach->peer2peer ? dma_resv_lock_interruptible(dmabuf->resv, NULL) : -EOPNOTSUPP;
	if (!ret) {
		ret = xpu_doorbell_map(doorbell);
		dma_resv_unlock(dmabuf->resv);
	}
	if (ret)
		dma_buf_detach(dmabuf, attach);
	return ret;
}

static int xpu_doorbell_create(struct xpu_file *file, struct xpu_doorbell_import *import)
{
	struct xpu_exec *exec = &file->xdev->exec;
	struct xpu_doorbell *doorbell;
	int ret;

	lockdep_assert_held(&exec->import_lock);
	doorbell = kzalloc(sizeof(*doorbell), GFP_KERNEL_ACCOUNT);
	if (!doorbell)
		return -ENOMEM;
	doorbell->xdev = file->xdev;
	doorbell->file = file;
	doorbell->keep = import->flags & XPU_DOORBELL_KEEP;
	doorbell->dmabuf = dma_buf_get(import->fd);
	if (IS_ERR(doorbell->dmabuf)) {
		ret = PTR_ERR(doorbell->dmabuf);
		goto err_free;
	}
	ret = -EINVAL;
	if (xpu_buf_of(file->xdev, doorbell->dmabuf))
		goto err_put;
	ret = -EACCES;
	if (!(doorbell->dmabuf->file->f_mode & FMODE_WRITE))
		goto err_put;
	ret = xpu_doorbell_place(exec, doorbell);
	if (ret)
		goto err_put;
	ret = xpu_doorbell_attach(doorbell);
	if (ret)
		goto err_put;

	mutex_lock(&exec->lock);
	exec->doorbells[doorbell->number] = doorbell;
	mutex_unlock(&exec->lock);
	import->doorbell = doorbell->number;
	import->length = doorbell->length;
	return 0;

err_put:
	dma_buf_put(doorbell->dmabuf);
err_free:
	kfree(doorbell);
	return ret;
}

int xpu_doorbell_import(struct xpu_file *file, struct xpu_doorbell_import *import)
{
	struct xpu_exec *exec = &file->xdev->exec;
	int ret;

	if (import->flags & ~XPU_DOORBELL_KEEP)
		return -EINVAL;
	mutex_lock(&exec->import_lock);
	ret = xpu_doorbell_create(file, import);
	mutex_unlock(&exec->import_lock);
	return ret;
}

static void xpu_doorbell_destroy(struct xpu_doorbell *doorbell)
{
	struct xpu_exec *exec = &doorbell->xdev->exec;

	lockdep_assert_held(&exec->import_lock);
	dma_resv_lock(doorbell->dmabuf->resv, NULL);
	xpu_doorbell_unmap(doorbell);
	dma_resv_unlock(doorbell->dmabuf->resv);
	dma_buf_detach(doorbell->dmabuf, doorbell->attach);
	dma_buf_put(doorbell->dmabuf);
	mutex_lock(&exec->lock);
	exec->doorbells[doorbell->number] = NULL;
	mutex_unlock(&exec->lock);
	kfree(doorbell);
}

static struct xpu_doorbell *xpu_doorbell_find(struct xpu_file *file, u32 number)
{
	struct xpu_doorbell *doorbell;

	lockdep_assert_held(&file->xdev->exec.lock);
	doorbell = number < XPU_EX_DOORBELLS ? file->xdev->exec.doorbells[number] : NULL;
	return doorbell && doorbell->file == file ? doorbell : NULL;
}

int xpu_doorbell_release(struct xpu_file *file, u32 number)
{
	struct xpu_exec *exec = &file->xdev->exec;
	struct xpu_doorbell *doorbell;
	int ret = 0;

	mutex_lock(&exec->import_lock);
	mutex_lock(&exec->lock);
	doorbell = xpu_doorbell_find(file, number);
	if (!doorbell)
		ret = -ENOENT;
	else if (doorbell->users)
		ret = -EBUSY;
	else
		doorbell->file = NULL;	/* no queue finds it any more */
	mutex_unlock(&exec->lock);
	if (!ret)
		xpu_doorbell_destroy(doorbell);
	mutex_unlock(&exec->import_lock);
	return ret;
}

/**
 * xpu_doorbell_use() - a queue will ring a doorbell
 * @file: owner of both; the caller holds exec.lock
 * @number: doorbell
 *
 * Return: 0, -ENOENT, or -ENODEV when the exporter has taken it back.
 */
int xpu_doorbell_use(struct xpu_file *file, u32 number)
{
	struct xpu_doorbell *doorbell = xpu_doorbell_find(file, number);

	if (!doorbell)
		return -ENOENT;
	if (!doorbell->usable)
		return -ENODEV;
	doorbell->users++;
	return 0;
}

void xpu_doorbell_unuse(struct xpu_exec *exec, u32 number)
{
	lockdep_assert_held(&exec->lock);
	exec->doorbells[number]->users--;
}

/* The engine writes to none any more. */
void xpu_doorbells_stop(struct xpu_exec *exec)
{
	unsigned int i;

	lockdep_assert_held(&exec->lock);
	for (i = 0; i < XPU_EX_DOORBELLS; i++)
		if (exec->doorbells[i])
			writel(0, exec->regs + XPU_REG_EX_DB_LENGTH(i));
}

/**
 * xpu_doorbells_unmap() - the device goes, or is reset: give all pages back
 * @xdev: device; its engine is stopped
 */
void xpu_doorbells_unmap(struct xpu_device *xdev)
{
	struct xpu_exec *exec = &xdev->exec;
	unsigned int i;

	mutex_lock(&exec->import_lock);
	for (i = 0; i < XPU_EX_DOORBELLS; i++) {
		struct xpu_doorbell *doorbell = exec->doorbells[i];

		if (!doorbell)
			continue;
		dma_resv_lock(doorbell->dmabuf->resv, NULL);
		xpu_doorbell_unmap(doorbell);
		dma_resv_unlock(doorbell->dmabuf->resv);
	}
	mutex_unlock(&exec->import_lock);
}

/* The file is closed; it has no queues any more. */
void xpu_doorbells_close(struct xpu_file *file)
{
	struct xpu_exec *exec = &file->xdev->exec;
	unsigned int i;

	mutex_lock(&exec->import_lock);
	for (i = 0; i < XPU_EX_DOORBELLS; i++) {
		struct xpu_doorbell *doorbell = exec->doorbells[i];

		if (doorbell && doorbell->file == file)
			xpu_doorbell_destroy(doorbell);
	}
	mutex_unlock(&exec->import_lock);
}
