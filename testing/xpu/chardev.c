// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/xpuN: checks what user space hands over and calls the objects.
 */
#include <linux/fs.h>
#include <linux/idr.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "xpu_drv.h"

#define XPU_MINORS	256

static dev_t xpu_devt;
static DEFINE_IDA(xpu_minors);
static DEFINE_IDA(xpu_contexts);

static struct class xpu_class = {
	.name = "xpu",
};

/**
 * struct xpu_call - an ioctl on its way
 * @size: common head of all arguments
 * @query: XPU_QUERY
 * @alloc: XPU_ALLOC
 * @query_buf: XPU_QUERY_BUF
 * @op: XPU_EVICT, XPU_RETURN, XPU_REVOKE
 * @copy: XPU_COPY
 * @fail: XPU_FAIL_NEXT_MAP
 * @import: XPU_DOORBELL_IMPORT
 * @object: XPU_DOORBELL_RELEASE, XPU_QUEUE_REMOVE, XPU_STOP
 * @add: XPU_QUEUE_ADD
 * @launch: XPU_LAUNCH
 * @wait: XPU_WAIT
 * @made: XPU_ALLOC: gets the descriptor when the caller has its number
 */
struct xpu_call {
	union {
		__u32 size;
		struct xpu_query query;
		struct xpu_alloc alloc;
		struct xpu_query_buf query_buf;
		struct xpu_buf_op op;
		struct xpu_copy copy;
		struct xpu_fail_next_map fail;
		struct xpu_doorbell_import import;
		struct xpu_object object;
		struct xpu_queue_add add;
		struct xpu_launch launch;
		struct xpu_wait wait;
	};
	struct dma_buf *made;
};

static int xpu_ioctl_query(struct xpu_file *file, struct xpu_call *call)
{
	struct xpu_device *xdev = file->xdev;
	struct xpu_query *query = &call->query;

	if (query->flags)
		return -EINVAL;
	query->vram_size = xdev->vram.size;
	xpu_vram_usage(&xdev->vram, &query->vram_free, &query->vram_largest);
	query->features = 0;
	if (KIWI_DMABUF_MOVE_NOTIFY)
		query->features |= XPU_FEATURE_MOVE_NOTIFY;
	if (IS_ENABLED(CONFIG_PCI_P2PDMA))
		query->features |= XPU_FEATURE_P2P_DISTANCE;
	if (xdev->vram.trap)
		query->features |= XPU_FEATURE_TRAP;
	return xpu_engine_query(&xdev->engine, query);
}

static int xpu_alloc_check(const struct xpu_alloc *alloc)
{
	bool scattered = alloc->flags & XPU_ALLOC_SCATTERED;

	if ((alloc->flags & ~(XPU_ALLOC_SCATTERED | XPU_ALLOC_NO_P2P)) || !alloc->length ||
	    !PAGE_ALIGNED(alloc->length) || !PAGE_ALIGNED(alloc->chunk_size) ||
	    scattered != !!alloc->chunk_size)
		return -EINVAL;
	if (scattered && alloc->length % alloc->chunk_size)
		return -EINVAL;
	return 0;
}

static int xpu_ioctl_alloc(struct xpu_file *file, struct xpu_call *call)
{
	struct xpu_device *xdev = file->xdev;
	struct xpu_alloc *alloc = &call->alloc;
	struct xpu_buf *buf;
	int ret, fd;

	ret = xpu_alloc_check(alloc);
	if (ret)
		return ret;
	if (alloc->length > xdev->vram.size)
		return -ENOSPC;
	fd = get_unused_fd_flags(O_CLOEXEC);
	if (fd < 0)
		return fd;
	buf = xpu_buf_create(xdev, alloc->flags, alloc->length, alloc->chunk_size ?: alloc->length);
	if (IS_ERR(buf)) {
		put_unused_fd(fd);
		return PTR_ERR(buf);
	}
	alloc->fd = fd;
	call->made = buf->dmabuf;
	return 0;
}

/* A buffer of the device, referenced and locked. */
static struct xpu_buf *xpu_lock_buf(struct xpu_device *xdev, int fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	struct xpu_buf *buf;
	int ret = -EINVAL;

	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	buf = xpu_buf_of(xdev, dmabuf);
	if (buf)
		ret = dma_resv_lock_interruptible(dmabuf->resv, NULL);
	if (ret) {
		dma_buf_put(dmabuf);
		return ERR_PTR(ret);
	}
	return buf;
}

static void xpu_unlock_buf(struct xpu_buf *buf)
{
	struct dma_buf *dmabuf = buf->dmabuf;

	dma_resv_unlock(dmabuf->resv);
	dma_buf_put(dmabuf);
}

static int xpu_ioctl_query_buf(struct xpu_file *file, struct xpu_call *call)
{
	struct xpu_buf *buf;

	if (call->query_buf.flags)
		return -EINVAL;
	buf = xpu_lock_buf(file->xdev, call->query_buf.fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	xpu_buf_query(buf, &call->query_buf);
	xpu_unlock_buf(buf);
	return 0;
}

static int xpu_ioctl_move(struct xpu_device *xdev, const struct xpu_buf_op *op, u32 placement)
{
	struct xpu_buf *buf;
	int ret;

	if (op->flags || op->reserved)
		return -EINVAL;
	buf = xpu_lock_buf(xdev, op->fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	ret = xpu_buf_move(buf, placement);
	xpu_unlock_buf(buf);
	return ret;
}

static int xpu_ioctl_evict(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_ioctl_move(file->xdev, &call->op, XPU_PLACE_SYSTEM);
}

static int xpu_ioctl_return(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_ioctl_move(file->xdev, &call->op, XPU_PLACE_VRAM);
}

static int xpu_ioctl_revoke(struct xpu_file *file, struct xpu_call *call)
{
	struct xpu_buf *buf;

	if (call->op.flags || call->op.reserved)
		return -EINVAL;
	buf = xpu_lock_buf(file->xdev, call->op.fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	xpu_buf_revoke(buf);
	xpu_unlock_buf(buf);
	return 0;
}

static int xpu_ioctl_copy(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_copy(file->xdev, &call->copy);
}

static int xpu_ioctl_fail_next_map(struct xpu_file *file, struct xpu_call *call)
{
	struct xpu_buf *buf;

	if (call->fail.flags || call->fail.error > MAX_ERRNO)
		return -EINVAL;
	buf = xpu_lock_buf(file->xdev, call->fail.fd);
	if (IS_ERR(buf))
		return PTR_ERR(buf);
	buf->fail_armed = true;
	buf->fail_error = call->fail.error;
	xpu_unlock_buf(buf);
	return 0;
}

static int xpu_ioctl_doorbell_import(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_doorbell_import(file, &call->import);
}

static int xpu_ioctl_queue_add(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_queue_add(file, &call->add);
}

static int xpu_ioctl_launch(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_kernel_launch(file, &call->launch);
}

static int xpu_ioctl_wait(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_kernel_wait(file, &call->wait);
}

static int xpu_ioctl_object(struct xpu_file *file, const struct xpu_object *object,
			    int (*fn)(struct xpu_file *file, u32 number))
{
	if (object->flags || object->reserved)
		return -EINVAL;
	return fn(file, object->number);
}

static int xpu_ioctl_doorbell_release(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_ioctl_object(file, &call->object, xpu_doorbell_release);
}

static int xpu_ioctl_queue_remove(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_ioctl_object(file, &call->object, xpu_queue_remove);
}

static int xpu_ioctl_stop(struct xpu_file *file, struct xpu_call *call)
{
	return xpu_ioctl_object(file, &call->object, xpu_kernel_stop);
}

/**
 * struct xpu_ioctl - one ioctl
 * @fn: handler, called with unplug_lock held and the device there
 * @size: of the argument, as this kernel knows it
 * @min_size: of the argument in version 1
 */
struct xpu_ioctl {
	int (*fn)(struct xpu_file *file, struct xpu_call *call);
	u32 size;
	u32 min_size;
};

#define XPU_IOCTL(_cmd, _fn, _type, _last)			\
	[_IOC_NR(_cmd)] = {					\
		.fn = _fn,					\
		.size = sizeof(_type),				\
		.min_size = offsetofend(_type, _last),		\
	}

static const struct xpu_ioctl xpu_ioctls[] = {
	XPU_IOCTL(XPU_QUERY, xpu_ioctl_query, struct xpu_query, features),
	XPU_IOCTL(XPU_ALLOC, xpu_ioctl_alloc, struct xpu_alloc, fd),
	XPU_IOCTL(XPU_QUERY_BUF, xpu_ioctl_query_buf, struct xpu_query_buf, moves),
	XPU_IOCTL(XPU_EVICT, xpu_ioctl_evict, struct xpu_buf_op, reserved),
	XPU_IOCTL(XPU_RETURN, xpu_ioctl_return, struct xpu_buf_op, reserved),
	XPU_IOCTL(XPU_REVOKE, xpu_ioctl_revoke, struct xpu_buf_op, reserved),
	XPU_IOCTL(XPU_COPY, xpu_ioctl_copy, struct xpu_copy, length),
	XPU_IOCTL(XPU_FAIL_NEXT_MAP, xpu_ioctl_fail_next_map, struct xpu_fail_next_map, error),
	XPU_IOCTL(XPU_DOORBELL_IMPORT, xpu_ioctl_doorbell_import, struct xpu_doorbell_import,
		  length),
	XPU_IOCTL(XPU_DOORBELL_RELEASE, xpu_ioctl_doorbell_release, struct xpu_object, reserved),
	XPU_IOCTL(XPU_QUEUE_ADD, xpu_ioctl_queue_add, struct xpu_queue_add, reserved),
	XPU_IOCTL(XPU_QUEUE_REMOVE, xpu_ioctl_queue_remove, struct xpu_object, reserved),
	XPU_IOCTL(XPU_LAUNCH, xpu_ioctl_launch, struct xpu_launch, buffer_fd),
	XPU_IOCTL(XPU_WAIT, xpu_ioctl_wait, struct xpu_wait, time_ns),
	XPU_IOCTL(XPU_STOP, xpu_ioctl_stop, struct xpu_object, reserved),
};

static const struct xpu_ioctl *xpu_find_ioctl(unsigned int cmd)
{
	if (_IOC_TYPE(cmd) != XPU_IOC_TYPE || _IOC_NR(cmd) >= ARRAY_SIZE(xpu_ioctls) ||
	    cmd != _IO(XPU_IOC_TYPE, _IOC_NR(cmd)))
		return NULL;
	return &xpu_ioctls[_IOC_NR(cmd)];
}

static int xpu_ioctl_run(struct xpu_file *file, const struct xpu_ioctl *ioctl,
			 struct xpu_call *call)
{
	struct xpu_device *xdev = file->xdev;
	int ret = -ENODEV;

	down_read(&xdev->unplug_lock);
	if (!xdev->unplugged)
		ret = ioctl->fn(file, call);
	up_read(&xdev->unplug_lock);
	return ret;
}

/* The caller learns the descriptor's number before the descriptor works. */
static long xpu_ioctl_reply(struct xpu_call *call, void __user *arg, u32 size)
{
	int ret = copy_to_user(arg, call, size) ? -EFAULT : 0;

	if (!call->made)
		return ret;
	if (ret) {
		put_unused_fd(call->alloc.fd);
		dma_buf_put(call->made);
		return ret;
	}
	fd_install(call->alloc.fd, call->made->file);
	return 0;
}

static long xpu_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	const struct xpu_ioctl *ioctl = xpu_find_ioctl(cmd);
	void __user *user = (void __user *)arg;
	struct xpu_call call = {};
	u32 size;
	int ret;

	if (!ioctl)
		return -ENOTTY;
	if (get_user(size, (__u32 __user *)user))
		return -EFAULT;
	if (size < ioctl->min_size)
		return -EINVAL;
	if (size > PAGE_SIZE)
		return -E2BIG;
	ret = copy_struct_from_user(&call, ioctl->size, user, size);
	if (ret)
		return ret;
	call.size = size;
	ret = xpu_ioctl_run(file->private_data, ioctl, &call);
	if (ret)
		return ret;
	return xpu_ioctl_reply(&call, user, min(size, ioctl->size));
}

static int xpu_open(struct inode *inode, struct file *filp)
{
	struct xpu_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	int context;

	if (!file)
		return -ENOMEM;
	context = ida_alloc(&xpu_contexts, GFP_KERNEL);
	if (context < 0) {
		kfree(file);
		return context;
	}
	file->xdev = container_of(inode->i_cdev, struct xpu_device, cdev);
	file->context = context;
	filp->private_data = file;
	return 0;
}

static int xpu_release(struct inode *inode, struct file *filp)
{
	struct xpu_file *file = filp->private_data;

	xpu_exec_close(file);
	ida_free(&xpu_contexts, file->context);
	kfree(file);
	return 0;
}

static const struct file_operations xpu_fops = {
	.owner = THIS_MODULE,
	.open = xpu_open,
	.release = xpu_release,
	.unlocked_ioctl = xpu_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
	.llseek = noop_llseek,
};

static void xpu_device_release(struct device *dev)
{
	struct xpu_device *xdev = container_of(dev, struct xpu_device, dev);

	ida_free(&xpu_minors, MINOR(dev->devt));
	pci_dev_put(xdev->pdev);
	kfree(xdev);
}

/**
 * xpu_device_alloc() - make the object of a device, not yet visible
 * @pdev: PCI device
 *
 * Return: the object, dropped with put_device(), or an ERR_PTR.
 */
struct xpu_device *xpu_device_alloc(struct pci_dev *pdev)
{
	struct xpu_device *xdev;
	int minor;

	xdev = kzalloc(sizeof(*xdev), GFP_KERNEL);
	if (!xdev)
		return ERR_PTR(-ENOMEM);
	minor = ida_alloc_max(&xpu_minors, XPU_MINORS - 1, GFP_KERNEL);
	if (minor < 0) {
		kfree(xdev);
		return ERR_PTR(minor);
	}
	xdev->pdev = pci_dev_get(pdev);
	init_rwsem(&xdev->unplug_lock);
	mutex_init(&xdev->bufs_lock);
	INIT_LIST_HEAD(&xdev->bufs);
	init_waitqueue_head(&xdev->unmapped);

	device_initialize(&xdev->dev);
	xdev->dev.class = &xpu_class;
	xdev->dev.parent = &pdev->dev;
	xdev->dev.release = xpu_device_release;
	xdev->dev.devt = MKDEV(MAJOR(xpu_devt), minor);
	cdev_init(&xdev->cdev, &xpu_fops);
	xdev->cdev.owner = THIS_MODULE;
	if (dev_set_name(&xdev->dev, "xpu%d", minor)) {
		put_device(&xdev->dev);
		return ERR_PTR(-ENOMEM);
	}
	return xdev;
}

int xpu_chardev_init(void)
{
	int ret;

	ret = alloc_chrdev_region(&xpu_devt, 0, XPU_MINORS, "xpu");
	if (ret)
		return ret;
	ret = class_register(&xpu_class);
	if (ret)
		unregister_chrdev_region(xpu_devt, XPU_MINORS);
	return ret;
}

void xpu_chardev_exit(void)
{
	class_unregister(&xpu_class);
	unregister_chrdev_region(xpu_devt, XPU_MINORS);
	ida_destroy(&xpu_contexts);
	ida_destroy(&xpu_minors);
}
