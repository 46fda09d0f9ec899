// SPDX-License-Identifier: GPL-2.0
/* Open files of a part's character device. */
#include <linux/ctype.h>
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <kiwi/compat.h>
#include <kiwi/part.h>

/* Events that one read() takes from the queue at a time. */
#define READ_BATCH	8

/* Life ------------------------------------------------------------------------ */

static void file_free(struct kref *ref)
{
	struct kiwi_file *file = container_of(ref, struct kiwi_file, ref);

	kiwi_owner_exit(&file->owner);
	put_pid(file->pid);
	put_device(&file->part->dev);
	kvfree(file);
}

static int file_open(struct inode *inode, struct file *filp)
{
	struct kiwi_part *part = container_of(inode->i_cdev, struct kiwi_part, cdev);
	struct kiwi_file *file;
	int ret = 0;
	char *c;

	file = kvzalloc(part->ops->file_size ?: sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	kref_init(&file->ref);
	file->part = part;
	get_device(&part->dev);
	kiwi_owner_init(&file->owner, part);
	spin_lock_init(&file->error_lock);
	file->pid = get_pid(task_tgid(current));
	get_task_comm(file->comm, current);
	/* A process names itself; what is told of holders shall be a line for each. */
	for (c = file->comm; *c; c++) {
		if (!isascii(*c) || !isprint(*c) || *c == ',')
			*c = '?';
	}

	spin_lock(&part->files_lock);
	if (part->up) {
		kref_get(&file->ref);
		list_add_tail(&file->node, &part->files);
	} else {
		ret = part->down_errno;
	}
	spin_unlock(&part->files_lock);
	if (ret) {
		kref_put(&file->ref, file_free);
		return ret;
	}
	filp->private_data = file;
	return stream_open(inode, filp);
}

/**
 * kiwi_file_check_up() - whether a file may use the device
 * @file: the file; the gate is held if the answer is to stay true
 *
 * Return: 0, -EIO while the device needs a reset, -ENODEV when it was reset or removed
 */
int kiwi_file_check_up(const struct kiwi_file *file)
{
	return likely(!READ_ONCE(file->down)) ? 0 : READ_ONCE(file->part->down_errno);
}
EXPORT_SYMBOL_NS_GPL(kiwi_file_check_up, "KIWI_FW");

/* Nothing of the file works any more: who looks elsewhere than at events is told, too. */
static void file_down(struct kiwi_file *file)
{
	lockdep_assert_held(&file->part->files_lock);

	if (file->part->ops->file_down)
		file->part->ops->file_down(file);
}

static void file_unlist(struct kiwi_file *file)
{
	spin_lock(&file->part->files_lock);
	list_del(&file->node);
	spin_unlock(&file->part->files_lock);
}

/* The file has no object and is not listed any more: for that it had a reference. */
static void file_end(struct kiwi_file *file)
{
	if (file->part->ops->file_end)
		file->part->ops->file_end(file);
	kref_put(&file->ref, file_free);
}

/* The objects of a file that is down are the business of who took it down. */
static int file_release(struct inode *inode, struct file *filp)
{
	struct kiwi_file *file = filp->private_data;
	struct kiwi_part *part = file->part;
	int idx;

	idx = srcu_read_lock(&part->gate);
	if (!kiwi_file_check_up(file)) {
		spin_lock(&part->files_lock);
		file_down(file);
		spin_unlock(&part->files_lock);
		/* What the device refuses to destroy stays, what was made of it does not. */
		kiwi_owner_withdraw(&file->owner);
		kiwi_owner_clear(&file->owner);
		file_unlist(file);
		file_end(file);
	}
	srcu_read_unlock(&part->gate, idx);
	kref_put(&file->ref, file_free);
	return 0;
}

/* Events ---------------------------------------------------------------------- */

static int wait_for_event(struct kiwi_file *file, bool nonblock)
{
	struct kiwi_events *events = &file->owner.events;
	int ret = kiwi_file_check_up(file);

	if (ret)
		return ret;
	if (nonblock)
		return -EAGAIN;
	return wait_event_interruptible(events->wait, kiwi_events_pending(events) ||
					READ_ONCE(file->down));
}

static ssize_t file_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	struct kiwi_file_event batch[READ_BATCH];
	struct kiwi_file *file = filp->private_data;
	size_t want = count / sizeof(*batch), done = 0, n;
	int ret;

	if (!want)
		return -EINVAL;
	while (done < want) {
		for (n = 0; n < min_t(size_t, want - done, READ_BATCH); n++) {
			if (!kiwi_events_pop(&file->owner.events, &batch[n]))
				break;
		}
		if (copy_to_user(buf + done * sizeof(*batch), batch, n * sizeof(*batch)))
			return done ? done * sizeof(*batch) : -EFAULT;
		done += n;
		if (n == READ_BATCH)
			continue;
		if (done)
			break;
		ret = wait_for_event(file, filp->f_flags & O_NONBLOCK);
		if (ret)
			return ret;
	}
	return done * sizeof(*batch);
}

static __poll_t file_poll(struct file *filp, poll_table *wait)
{
	struct kiwi_file *file = filp->private_data;
	__poll_t mask = 0;

	poll_wait(filp, &file->owner.events.wait, wait);
	if (kiwi_events_pending(&file->owner.events))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(file->down))
		mask |= EPOLLHUP | EPOLLERR;
	return mask;
}

static int file_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct kiwi_file *file = filp->private_data;
	struct kiwi_part *part = file->part;
	int ret, idx;

	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	idx = srcu_read_lock(&part->gate);
	ret = kiwi_file_check_up(file);
	if (!ret)
		ret = part->ops->mmap(file, vma);
	srcu_read_unlock(&part->gate, idx);
	return ret;
}

/* The part's driver is the owner of the device node, and uses this module. */
static const struct file_operations file_ops = {
	.owner = THIS_MODULE,
	.open = file_open,
	.release = file_release,
	.read = file_read,
	.poll = file_poll,
	.mmap = file_mmap,
	.unlocked_ioctl = kiwi_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/**
 * kiwi_cdev_init() - prepare the device node
 * @part: the device
 */
void kiwi_cdev_init(struct kiwi_part *part)
{
	cdev_init(&part->cdev, &file_ops);
	part->cdev.owner = part->ops->owner;
}

/* All files of a device ------------------------------------------------------- */

/**
 * kiwi_files_event() - an event that concerns all files
 * @part: the device
 * @event: the event
 */
void kiwi_files_event(struct kiwi_part *part, const struct kiwi_file_event *event)
{
	struct kiwi_file *file;

	spin_lock(&part->files_lock);
	list_for_each_entry(file, &part->files, node)
		kiwi_owner_tell(&file->owner, NULL, event);
	spin_unlock(&part->files_lock);
}
EXPORT_SYMBOL_NS_GPL(kiwi_files_event, "KIWI_FW");

/**
 * kiwi_files_holders() - who has objects for the sake of which the device stays as it is
 * @part: the device
 * @buf: to be filled with "pid comm" of each file that has any, one a line
 * @size: of @buf; what does not fit is left out
 *
 * Return: bytes written, without the terminating zero
 */
int kiwi_files_holders(struct kiwi_part *part, char *buf, size_t size)
{
	struct kiwi_file *file;
	int len = 0;

	*buf = '\0';
	spin_lock(&part->files_lock);
	list_for_each_entry(file, &part->files, node) {
		if (xa_marked(&file->owner.objs, KIWI_OBJ_HOLDS))
			len += scnprintf(buf + len, size - len, "%d %s\n", pid_vnr(file->pid),
					 file->comm);
	}
	spin_unlock(&part->files_lock);
	return len;
}
EXPORT_SYMBOL_NS_GPL(kiwi_files_holders, "KIWI_FW");

/**
 * kiwi_files_admit() - files may be opened from now on
 * @part: the device
 */
void kiwi_files_admit(struct kiwi_part *part)
{
	spin_lock(&part->files_lock);
	part->up = true;
	spin_unlock(&part->files_lock);
}

/**
 * kiwi_files_shut() - end all use of the device
 * @part: the device
 * @down_errno: what users are told from now on
 *
 * Nobody is inside the gate on behalf of a user when this returns.
 */
void kiwi_files_shut(struct kiwi_part *part, int down_errno)
{
	struct kiwi_file *file;

	spin_lock(&part->files_lock);
	WRITE_ONCE(part->down_errno, down_errno);
	WRITE_ONCE(part->up, false);
	list_for_each_entry(file, &part->files, node) {
		WRITE_ONCE(file->down, true);
		file_down(file);
		wake_up_interruptible_poll(&file->owner.events.wait, EPOLLHUP | EPOLLERR);
	}
	spin_unlock(&part->files_lock);
	wake_up_all(&part->wait);
	synchronize_srcu(&part->gate);
}

/* Takes a file off the list, with the reference that the list had. */
static struct kiwi_file *next_file(struct kiwi_part *part)
{
	struct kiwi_file *file;

	spin_lock(&part->files_lock);
	file = list_first_entry_or_null(&part->files, struct kiwi_file, node);
	if (file)
		list_del(&file->node);
	spin_unlock(&part->files_lock);
	return file;
}

/**
 * kiwi_files_clear() - take from all files what they have of the device
 * @part: the device, after kiwi_files_shut()
 */
void kiwi_files_clear(struct kiwi_part *part)
{
	struct kiwi_file *file;

	while ((file = next_file(part))) {
		kiwi_owner_withdraw(&file->owner);
		if (part->ops->file_clear)
			part->ops->file_clear(file);
		kiwi_owner_clear(&file->owner);
		file_end(file);
	}
}
