// SPDX-License-Identifier: GPL-2.0
#include <linux/capability.h>
#include <linux/dma-buf.h>
#include <linux/errno.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/log2.h>
#include <linux/nospec.h>
#include <linux/uaccess.h>

#include <kiwi/compat.h>
#include <kiwi/part.h>

/* What is read of a structure that is longer than known, to see that the rest is zero. */
#define SIZE_LIMIT	4096U

/* Every structure begins like this. */
struct ioctl_head {
	__u32 size;
	__u32 flags;
};

union ioctl_data {
	struct ioctl_head head;
	u8 room[KIWI_IOCTL_DATA_MAX];
	u64 align;
};

static_assert(sizeof(struct kiwi_last_error) == 160);
static_assert(sizeof(struct kiwi_destroy) == 16);
static_assert(sizeof(struct kiwi_file_event) == 24);

/**
 * kiwi_call_reserved() - the user has set a reserved field
 * @call: the ioctl
 *
 * Return: -EINVAL
 */
int kiwi_call_reserved(struct kiwi_call *call)
{
	return kiwi_fail(&call->err, -EINVAL, 0, 0, "a reserved field is not zero");
}
EXPORT_SYMBOL_NS_GPL(kiwi_call_reserved, "KIWI_FW");

/**
 * kiwi_call_open_dmabuf() - open a DMA-buf for the user, when the reply has reached it
 * @call: the ioctl; @fd is the descriptor to be replied
 * @dmabuf: the DMA-buf, whose reference is consumed
 * @flags: O_CLOEXEC or 0
 *
 * Return: 0, -EMFILE or -ENOMEM
 */
int kiwi_call_open_dmabuf(struct kiwi_call *call, struct dma_buf *dmabuf, int flags)
{
	call->fd = get_unused_fd_flags(flags);
	if (call->fd < 0) {
		dma_buf_put(dmabuf);
		return kiwi_fail(&call->err, call->fd, 0, 0, "no file descriptor is free");
	}
	call->opened = dmabuf->file;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_call_open_dmabuf, "KIWI_FW");

/**
 * kiwi_ioctl_last_error() - the ioctl of struct kiwi_last_error
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0
 */
int kiwi_ioctl_last_error(struct kiwi_call *call, void *data)
{
	struct kiwi_last_error *reply = data;
	struct kiwi_file *file = call->file;
	u32 size = reply->size;

	spin_lock(&file->error_lock);
	*reply = file->error;
	spin_unlock(&file->error_lock);
	reply->size = size;
	return 0;
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_last_error, "KIWI_FW");

/**
 * kiwi_ioctl_destroy() - the ioctl of struct kiwi_destroy
 * @call: the ioctl
 * @data: its structure
 *
 * Return: 0 or negative errno
 */
int kiwi_ioctl_destroy(struct kiwi_call *call, void *data)
{
	const struct kiwi_destroy *d = data;

	if (d->rsvd)
		return kiwi_call_reserved(call);
	return kiwi_obj_destroy(&call->file->owner, d->id, &call->err);
}
EXPORT_SYMBOL_NS_GPL(kiwi_ioctl_destroy, "KIWI_FW");

static int get_data(struct kiwi_call *call, const struct kiwi_ioctl *ioctl,
		    struct ioctl_head __user *user, u32 *size, union ioctl_data *data)
{
	int ret;

	if (get_user(*size, &user->size))
		return -EFAULT;
	if (*size < ioctl->min_size)
		return kiwi_fail(&call->err, -EINVAL, *size, ioctl->min_size,
				 "size %u is below %u", *size, ioctl->min_size);
	if (*size > SIZE_LIMIT)
		return kiwi_fail(&call->err, -E2BIG, *size, SIZE_LIMIT, "size %u is above %u",
				 *size, SIZE_LIMIT);
	ret = copy_struct_from_user(data, ioctl->size, user, *size);
	if (ret == -E2BIG)
		return kiwi_fail(&call->err, ret, *size, ioctl->size,
				 "size %u: the kernel knows %u bytes, and the rest is not zero",
				 *size, ioctl->size);
	if (ret)
		return ret;
	if (data->head.flags & ~ioctl->flags)
		return kiwi_fail(&call->err, -EINVAL, data->head.flags, ioctl->flags,
				 "flags %#x, known are %#x", data->head.flags, ioctl->flags);
	return 0;
}

static void undo(struct kiwi_call *call)
{
	if (call->made)
		kiwi_obj_abort(call->made);
	if (call->opened) {
		put_unused_fd(call->fd);
		fput(call->opened);
	}
}

/* The reply has reached the user: what it names is there from now on. */
static void finish(struct kiwi_call *call)
{
	if (call->made)
		kiwi_obj_publish(call->made);
	if (call->opened)
		fd_install(call->fd, call->opened);
}

static int run_inside(struct kiwi_call *call, const struct kiwi_ioctl *ioctl,
		      struct ioctl_head __user *user, u32 size, union ioctl_data *data)
{
	int ret;

	ret = ioctl->handler(call, data);
	if (!ret && (ioctl->rules & KIWI_IOCTL_REPLY) &&
	    copy_to_user(user, data, min_t(u32, size, ioctl->size)))
		ret = -EFAULT;
	if (ret)
		undo(call);
	else
		finish(call);
	return ret;
}

static int check_cap(struct kiwi_call *call, const struct kiwi_ioctl *ioctl)
{
	if (!ioctl->cap || kiwi_fw_identity(call->part->fw)->caps & ioctl->cap)
		return 0;
	return kiwi_fail(&call->err, -EOPNOTSUPP, 0, 0,
			 "the firmware does not offer it (capability bit %u)",
			 ilog2(ioctl->cap));
}

static int run(struct kiwi_call *call, const struct kiwi_ioctl *ioctl,
	       struct ioctl_head __user *user)
{
	union ioctl_data data;
	int ret, idx;
	u32 size;

	ret = get_data(call, ioctl, user, &size, &data);
	if (ret)
		return ret;
	if ((ioctl->rules & KIWI_IOCTL_ADMIN) && !capable(CAP_NET_ADMIN))
		return kiwi_fail(&call->err, -EPERM, 0, 0, "needs CAP_NET_ADMIN");
	if (ioctl->rules & KIWI_IOCTL_NO_DEVICE)
		return run_inside(call, ioctl, user, size, &data);

	idx = srcu_read_lock(&call->part->gate);
	ret = kiwi_file_check_up(call->file);
	if (!ret)
		ret = check_cap(call, ioctl);
	if (!ret)
		ret = run_inside(call, ioctl, user, size, &data);
	srcu_read_unlock(&call->part->gate, idx);
	return ret;
}

static void remember_error(struct kiwi_call *call, const struct kiwi_ioctl *ioctl, int ret)
{
	struct kiwi_file *file = call->file;
	struct kiwi_last_error last = {
		.nr = _IOC_NR(ioctl->cmd),
		.error = -ret,
	};

	if (!call->err.text[0])
		kiwi_fail_plain(&call->err, ret);
	last.value = call->err.value;
	last.limit = call->err.limit;
	scnprintf(last.text, sizeof(last.text), "%s: %s", ioctl->name, call->err.text);

	spin_lock(&file->error_lock);
	file->error = last;
	spin_unlock(&file->error_lock);
}

/**
 * kiwi_ioctl() - an ioctl of a file
 * @filp: the file
 * @cmd: which
 * @arg: address of the structure
 *
 * Return: 0 or negative errno
 */
long kiwi_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct kiwi_file *file = filp->private_data;
	const struct kiwi_part_ops *ops = file->part->ops;
	const struct kiwi_ioctl *ioctl;
	struct kiwi_call call;
	unsigned int nr = _IOC_NR(cmd);
	int ret;

	if (nr >= ops->nr_ioctls)
		return -ENOTTY;
	ioctl = &ops->ioctls[array_index_nospec(nr, ops->nr_ioctls)];
	if (!ioctl->handler || ioctl->cmd != cmd)
		return -ENOTTY;

	call.file = file;
	call.part = file->part;
	call.made = NULL;
	call.opened = NULL;
	call.err.text[0] = '\0';
	ret = run(&call, ioctl, (struct ioctl_head __user *)arg);
	if (ret && ioctl->handler != kiwi_ioctl_last_error)
		remember_error(&call, ioctl, ret);
	return ret;
}
