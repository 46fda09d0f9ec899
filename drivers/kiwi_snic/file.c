// SPDX-License-Identifier: GPL-2.0
#include <linux/fs.h>
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include <kiwi/fw.h>

#include "file.h"
#include "ksnic.h"

/* Events that one read() takes from the queue at a time. */
#define READ_BATCH	8

static dev_t ksnic_devt;

/* Objects ------------------------------------------------------------------- */

static void file_event(struct ksnic_owner *owner, const struct ksnic_obj *obj, u32 type, u32 code)
{
	struct ksnic_file *file = container_of(owner, struct ksnic_file, owner);

	ksnic_events_push(&file->events, type, obj->id, obj->user_data, code);
	switch (type) {
	case KIWI_SNIC_EVENT_CQ_ERROR:
	case KIWI_SNIC_EVENT_QP_ERROR:
	case KIWI_SNIC_EVENT_QP_ACCESS:
		ksnic_errpage_queue(file->errpage, obj->place, type << 16 | (u16)code);
		break;
	}
}

static void file_withdraw(struct ksnic_owner *owner, struct ksnic_obj *obj)
{
	struct ksnic_file *file = container_of(owner, struct ksnic_file, owner);
	struct ksnic_db *db;

	if (obj->ops != &ksnic_db_ops)
		return;
	db = container_of(obj, struct ksnic_db, obj);
	ksnic_unmap(file, db);
	ksnic_db_revoke(file, db);
}

static void file_end(struct ksnic_owner *owner, struct ksnic_obj *obj)
{
	struct ksnic_file *file = container_of(owner, struct ksnic_file, owner);

	ksnic_errpage_give(file->errpage, obj->place);
}

static const struct ksnic_owner_ops file_owner_ops = {
	.event = file_event,
	.withdraw = file_withdraw,
	.end = file_end,
};

/* Life ------------------------------------------------------------------------ */

static void file_free(struct kref *ref)
{
	struct ksnic_file *file = container_of(ref, struct ksnic_file, ref);

	ksnic_owner_exit(&file->owner);
	if (file->stand_in)
		__free_page(file->stand_in);
	put_device(&file->ks->dev);
	kvfree(file);
}

static int ksnic_open(struct inode *inode, struct file *filp)
{
	struct ksnic *ks = container_of(inode->i_cdev, struct ksnic, cdev);
	struct ksnic_file *file;
	int ret = 0;

	file = kvzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);
	if (!file)
		return -ENOMEM;
	kref_init(&file->ref);
	file->ks = ks;
	get_device(&ks->dev);
	ksnic_owner_init(&file->owner, ks, &file_owner_ops);
	ksnic_events_init(&file->events);
	spin_lock_init(&file->error_lock);
	mutex_init(&file->map_lock);
	INIT_LIST_HEAD(&file->maps);

	spin_lock(&ks->files_lock);
	if (ks->up) {
		kref_get(&file->ref);
		list_add_tail(&file->node, &ks->files);
	} else {
		ret = ks->down_errno;
	}
	spin_unlock(&ks->files_lock);
	if (ret) {
		kref_put(&file->ref, file_free);
		return ret;
	}
	filp->private_data = file;
	return stream_open(inode, filp);
}

/**
 * ksnic_file_check_up() - whether a file may use the device
 * @file: the file; the gate is held if the answer is to stay true
 *
 * Return: 0, -EIO while the device needs a reset, -ENODEV when it was reset or removed
 */
int ksnic_file_check_up(const struct ksnic_file *file)
{
	return likely(!READ_ONCE(file->down)) ? 0 : READ_ONCE(file->ks->down_errno);
}

/**
 * ksnic_file_set_errpage() - publish errors in a page from now on
 * @file: the file; the gate is held
 * @ep: the page, the file's on success
 *
 * Return: 0, or -EBUSY when the file has one
 */
int ksnic_file_set_errpage(struct ksnic_file *file, struct ksnic_errpage *ep)
{
	struct ksnic *ks = file->ks;
	int ret = -EBUSY;

	spin_lock(&ks->files_lock);
	if (!file->errpage) {
		ksnic_errpage_ports(ep, ks->port_down);
		if (file->down)
			ksnic_errpage_device(ep, KIWI_ERROR_GONE);
		/* The page is whole before take_error_word() finds it. */
		smp_store_release(&file->errpage, ep);
		ret = 0;
	}
	spin_unlock(&ks->files_lock);
	return ret;
}

/* The file has no object, and is not listed. */
static void file_clear_errpage(struct ksnic_file *file)
{
	if (!file->errpage)
		return;
	ksnic_errpage_free(file->errpage);
	file->errpage = NULL;
}

static void file_unlist(struct ksnic_file *file)
{
	spin_lock(&file->ks->files_lock);
	list_del(&file->node);
	spin_unlock(&file->ks->files_lock);
	file_clear_errpage(file);
	kref_put(&file->ref, file_free);
}

/* The objects of a file that is down are the business of who took it down. */
static int ksnic_release(struct inode *inode, struct file *filp)
{
	struct ksnic_file *file = filp->private_data;
	struct ksnic *ks = file->ks;
	int idx;

	idx = srcu_read_lock(&ks->gate);
	if (!ksnic_file_check_up(file)) {
		ksnic_errpage_device(file->errpage, KIWI_ERROR_GONE);
		ksnic_owner_clear(&file->owner);
		file_unlist(file);
	}
	srcu_read_unlock(&ks->gate, idx);
	kref_put(&file->ref, file_free);
	return 0;
}

/* Events ---------------------------------------------------------------------- */

static int wait_for_event(struct ksnic_file *file, bool nonblock)
{
	int ret = ksnic_file_check_up(file);

	if (ret)
		return ret;
	if (nonblock)
		return -EAGAIN;
	return wait_event_interruptible(file->events.wait, ksnic_events_pending(&file->events) ||
					READ_ONCE(file->down));
}

static ssize_t ksnic_read(struct file *filp, char __user *buf, size_t count, loff_t *pos)
{
	struct kiwi_snic_event batch[READ_BATCH];
	struct ksnic_file *file = filp->private_data;
	size_t want = count / sizeof(*batch), done = 0, n;
	int ret;

	if (!want)
		return -EINVAL;
	while (done < want) {
		for (n = 0; n < min_t(size_t, want - done, READ_BATCH); n++) {
			if (!ksnic_events_pop(&file->events, &batch[n]))
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

static __poll_t ksnic_poll(struct file *filp, poll_table *wait)
{
	struct ksnic_file *file = filp->private_data;
	__poll_t mask = 0;

	poll_wait(filp, &file->events.wait, wait);
	if (ksnic_events_pending(&file->events))
		mask |= EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(file->down))
		mask |= EPOLLHUP | EPOLLERR;
	return mask;
}

static const struct file_operations ksnic_fops = {
	.owner = THIS_MODULE,
	.open = ksnic_open,
	.release = ksnic_release,
	.read = ksnic_read,
	.poll = ksnic_poll,
	.mmap = ksnic_mmap,
	.unlocked_ioctl = ksnic_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

/* All files of a device ------------------------------------------------------- */

/**
 * ksnic_files_event() - an event that concerns all files
 * @ks: the device
 * @type: enum kiwi_snic_event_type
 * @id: by type
 * @code: by type
 */
void ksnic_files_event(struct ksnic *ks, u32 type, u32 id, u32 code)
{
	struct ksnic_file *file;

	spin_lock(&ks->files_lock);
	list_for_each_entry(file, &ks->files, node) {
		ksnic_events_push(&file->events, type, id, 0, code);
		if (type == KIWI_SNIC_EVENT_DEVICE_FATAL)
			ksnic_errpage_device(file->errpage, type);
		else if (type == KIWI_SNIC_EVENT_LOST)
			ksnic_errpage_lost(file->errpage);
	}
	spin_unlock(&ks->files_lock);
}

/**
 * ksnic_files_port() - publish the state of a port
 * @ks: the device
 * @port: from 1
 * @state: enum kiwi_port_state
 */
void ksnic_files_port(struct ksnic *ks, u32 port, u32 state)
{
	u32 bit = BIT(port - 1);
	struct ksnic_file *file;

	spin_lock(&ks->files_lock);
	if (state == KIWI_PORT_ACTIVE)
		ks->port_down &= ~bit;
	else
		ks->port_down |= bit;
	list_for_each_entry(file, &ks->files, node)
		ksnic_errpage_ports(file->errpage, ks->port_down);
	spin_unlock(&ks->files_lock);
}

/**
 * ksnic_files_admit() - files may be opened from now on
 * @ks: the device
 */
void ksnic_files_admit(struct ksnic *ks)
{
	spin_lock(&ks->files_lock);
	ks->up = true;
	spin_unlock(&ks->files_lock);
}

/**
 * ksnic_files_shut() - end all use of the device
 * @ks: the device
 * @down_errno: what users are told from now on
 *
 * Nobody is inside the gate on behalf of a user when this returns.
 */
void ksnic_files_shut(struct ksnic *ks, int down_errno)
{
	struct ksnic_file *file;

	spin_lock(&ks->files_lock);
	ks->up = false;
	WRITE_ONCE(ks->down_errno, down_errno);
	list_for_each_entry(file, &ks->files, node) {
		WRITE_ONCE(file->down, true);
		ksnic_errpage_device(file->errpage, KIWI_ERROR_GONE);
		wake_up_interruptible_poll(&file->events.wait, EPOLLHUP | EPOLLERR);
	}
	spin_unlock(&ks->files_lock);
	synchronize_srcu(&ks->gate);
}

/* Takes a file off the list, with the reference that the list had. */
static struct ksnic_file *next_file(struct ksnic *ks)
{
	struct ksnic_file *file;

	spin_lock(&ks->files_lock);
	file = list_first_entry_or_null(&ks->files, struct ksnic_file, node);
	if (file)
		list_del(&file->node);
	spin_unlock(&ks->files_lock);
	return file;
}

/* Who waits for a completion that will not come looks at the device then. */
static void wake_completion_waiters(struct ksnic_file *file)
{
	struct ksnic_obj *obj;
	unsigned long id;

	xa_for_each(&file->owner.objs, id, obj) {
		if (obj->ops == &ksnic_cq_ops)
			ksnic_cq_signal(container_of(obj, struct ksnic_cq, obj));
	}
}

/**
 * ksnic_files_clear() - take from all files what they have of the device
 * @ks: the device, after ksnic_files_shut()
 */
void ksnic_files_clear(struct ksnic *ks)
{
	struct ksnic_file *file;

	while ((file = next_file(ks))) {
		ksnic_unmap(file, NULL);
		wake_completion_waiters(file);
		ksnic_owner_clear(&file->owner);
		file_clear_errpage(file);
		kref_put(&file->ref, file_free);
	}
}

/* Device nodes ---------------------------------------------------------------- */

int ksnic_chardev_init(void)
{
	return alloc_chrdev_region(&ksnic_devt, 0, KSNIC_MINORS, "kiwi_snic");
}

void ksnic_chardev_exit(void)
{
	unregister_chrdev_region(ksnic_devt, KSNIC_MINORS);
}

/**
 * ksnic_chardev_prepare() - name a device that is not added yet
 * @ks: the device
 *
 * Return: 0 or negative errno
 */
int ksnic_chardev_prepare(struct ksnic *ks)
{
	cdev_init(&ks->cdev, &ksnic_fops);
	ks->cdev.owner = THIS_MODULE;
	ks->dev.class = &kiwi_fw_class;
	ks->dev.devt = MKDEV(MAJOR(ksnic_devt), MINOR(ksnic_devt) + ks->index);
	return dev_set_name(&ks->dev, "snic%u", ks->index);
}
