/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the drivers of all parts are made of, beside what differs by part: the PCI function's
 * life, the character device with its open files, ioctls, events, and objects.
 *
 * An object is made in steps: kiwi_obj_new() reserves an id that nobody can look
 * up, its maker fills in what it uses, tells the device and sets @live, and
 * kiwi_obj_publish() makes the id known. kiwi_obj_abort() undoes any of them.
 *
 * Locks, outermost first: kiwi_part.life; kiwi_part.zombie_lock; a DMA-buf's reservation lock
 * (held by who revokes or moves memory); locks of objects, of several kinds in the order of kinds
 * that the part states; the spinlocks kiwi_part.event_lock and kiwi_part.files_lock, which do not
 * nest in each other; below them that of a file's events and those that kiwi_part_ops.told
 * and file_down take. With the lock of an object held user memory is not touched, pinned or given
 * back, and no DMA-buf mapped; the kernel's own memory may be allocated, as what frees memory
 * does not wait for reservation locks (dma_resv_lockdep()).
 */
#ifndef KIWI_PART_H
#define KIWI_PART_H

#include <linux/atomic.h>
#include <linux/cdev.h>
#include <linux/device.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/spinlock.h>
#include <linux/srcu.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <kiwi/error.h>
#include <kiwi/fw.h>
#include <uapi/kiwi/common.h>

struct dma_buf;
struct kiwi_call;
struct kiwi_file;
struct kiwi_obj;
struct kiwi_owner;
struct kiwi_part;
struct kiwi_ports;
struct kiwi_queues;

/* Part ---------------------------------------------------------------------- */

#define KIWI_PART_MINORS	256

/**
 * struct kiwi_ioctl - one ioctl
 * @name: for people
 * @handler: what it does, with the structure as @data; NULL where no ioctl has the number
 * @cmd: in full
 * @rules: KIWI_IOCTL_*
 * @flags: that the user may set
 * @cap: capability that the device must have, 0 for none
 * @size: of the structure now
 * @min_size: of its version 1
 */
struct kiwi_ioctl {
	const char *name;
	int (*handler)(struct kiwi_call *call, void *data);
	unsigned int cmd;
	unsigned int rules;
	u32 flags;
	u64 cap;
	u16 size;
	u16 min_size;
};

#define KIWI_IOCTL(_cmd, _name, _type, _min_size, _flags, _rules, _handler, _cap) {	\
	.name = (_name),								\
	.handler = (_handler),								\
	.cmd = (_cmd),									\
	.rules = (_rules),								\
	.flags = (_flags),								\
	.cap = (_cap),									\
	.size = sizeof(_type),								\
	.min_size = (_min_size),							\
}

#define KIWI_IOCTL_REPLY	0x1	/* the structure goes back to the user */
#define KIWI_IOCTL_ADMIN	0x2	/* needs CAP_NET_ADMIN */
#define KIWI_IOCTL_NO_DEVICE	0x4	/* works when the file is down, too */

#define KIWI_IOCTL_DATA_MAX	512	/* size of a structure */

/**
 * struct kiwi_part_ops - a part's driver
 * @name: of its devices, without the number
 * @owner: module
 * @number: KIWI_PART_*
 * @kinds: of objects
 * @fw: what kiwi_fw is told, with the part as private data; @down is kiwi_part_down()
 * @ioctls: by number; a NULL handler where there is none
 * @nr_ioctls: of them
 * @start: commands work: learn what the device can do; may fail
 * @stopped: the device knows nothing any more, and no call is under way; may be NULL
 * @publish: makes the folders in sysfs that depend on @start
 * @unpublish: removes them; may be called without @publish
 * @mmap: for a file; the gate is held
 * @file_size: of the structure that begins with struct kiwi_file; 0 where a file has no more
 * @told: an event was put where @owner's file is read; it is of @obj, or of the device with NULL.
 *	Under event_lock or files_lock. May be NULL, as may what follows up to @file_end
 * @disowned: of @obj comes no event to @owner any more, who may end before the object does
 * @file_down: nothing of the file works any more; under files_lock
 * @file_clear: objects of the file are about to be destroyed because the device can no longer be
 *	used; after @file_down, with no call under way, and withdrawn of all objects
 * @file_end: the file has no object any more, and no event comes
 * @free: gives back the structure
 * @devt: of device 0, of kiwi_part_init()
 * @ida: numbers of devices
 */
struct kiwi_part_ops {
	const char *name;
	struct module *owner;
	u32 number;
	unsigned int kinds;
	struct kiwi_fw_ops fw;
	const struct kiwi_ioctl *ioctls;
	unsigned int nr_ioctls;
	int (*start)(struct kiwi_part *part, struct kiwi_error *err);
	void (*stopped)(struct kiwi_part *part);
	int (*publish)(struct kiwi_part *part);
	void (*unpublish)(struct kiwi_part *part);
	int (*mmap)(struct kiwi_file *file, struct vm_area_struct *vma);
	size_t file_size;
	void (*told)(struct kiwi_owner *owner, const struct kiwi_obj *obj,
		     const struct kiwi_file_event *event);
	void (*disowned)(struct kiwi_owner *owner, const struct kiwi_obj *obj);
	void (*file_down)(struct kiwi_file *file);
	void (*file_clear)(struct kiwi_file *file);
	void (*file_end)(struct kiwi_file *file);
	void (*free)(struct kiwi_part *part);
	dev_t *devt;
	struct ida *ida;
};

/**
 * struct kiwi_part - one device
 * @dev: of class kiwi; its reference count is this structure's
 * @cdev: character device
 * @ops: the part's driver
 * @index: N of its name
 * @fw: firmware interface, from probe to remove
 * @gate: held for reading by whoever uses the device; all of them are waited for
 *	before it goes away
 * @life: excludes start, stop and failure from each other; outermost of all locks, and not
 *	taken with the gate held, which stop and failure wait for
 * @fail_work: takes the device down after a failure
 * @fail_reason: that failure
 * @files_lock: protects @files, @up and @down_errno
 * @files: open files
 * @up: files may be opened
 * @down_errno: what those who may no longer use the device are told
 * @wait: for those who wait inside the gate; woken when @up ends
 * @event_lock: protects the ways from numbers to objects, and kiwi_obj.owner
 * @ports: their folders in sysfs, of kiwi_ports_add(), or NULL
 * @queues: of a part that has them, or NULL
 * @zombie_lock: protects @zombies; outside of objects' locks
 * @zombies: objects that their owners gave up but the device refused to destroy.
 *	It may still reach their memory, which they therefore keep.
 */
struct kiwi_part {
	struct device dev;
	struct cdev cdev;
	const struct kiwi_part_ops *ops;
	unsigned int index;
	struct kiwi_fw *fw;

	struct srcu_struct gate;
	struct mutex life;	/* start, stop, failure */
	struct work_struct fail_work;
	enum kiwi_reset_reason fail_reason;

	spinlock_t files_lock;	/* the next three */
	struct list_head files;
	bool up;
	int down_errno;
	wait_queue_head_t wait;

	spinlock_t event_lock;	/* ways of events to owners */

	struct kiwi_ports *ports;
	struct kiwi_queues *queues;

	struct mutex zombie_lock;	/* the list */
	struct list_head zombies;
};

int kiwi_part_init(const struct kiwi_part_ops *ops);
void kiwi_part_exit(const struct kiwi_part_ops *ops);
int kiwi_part_setup(struct kiwi_part *part, const struct kiwi_part_ops *ops,
		    struct device *parent);
int kiwi_part_probe(struct kiwi_part *part, struct pci_dev *pdev);
void kiwi_part_remove(struct pci_dev *pdev);
void kiwi_part_shutdown(struct pci_dev *pdev);
void kiwi_part_down(void *part, enum kiwi_reset_reason reason);
int kiwi_part_check_up(const struct kiwi_part *part);
extern const struct pci_error_handlers kiwi_part_err_handlers;

/* Events of a file ------------------------------------------------------------ */

#define KIWI_EVENTS_MAX	256

/**
 * struct kiwi_events - events that a file has not read yet
 * @lock: protects all but @wait
 * @head: next to be read
 * @count: unread
 * @ring: one entry more than the limit, for KIWI_EVENT_LOST
 * @wait: readers
 */
struct kiwi_events {
	spinlock_t lock;	/* the ring */
	unsigned int head;
	unsigned int count;
	struct kiwi_file_event ring[KIWI_EVENTS_MAX + 1];
	wait_queue_head_t wait;
};

void kiwi_events_init(struct kiwi_events *q);
void kiwi_events_push(struct kiwi_events *q, const struct kiwi_file_event *event);
bool kiwi_events_pop(struct kiwi_events *q, struct kiwi_file_event *event);
bool kiwi_events_pending(struct kiwi_events *q);

/* Objects ------------------------------------------------------------------------ */

/**
 * struct kiwi_obj_ops - what differs by kind; there is one for each
 * @name: for people
 * @kind: number; an owner's objects are destroyed in the order of kinds, users before used
 * @holds: the device is not configured anew while there is one, see kiwi_files_holders()
 * @waits: the device may refuse @destroy with -EBUSY for a time, which is nothing to be told of
 * @key: of the objects' locks
 * @destroy: takes the object out of the device; under the object's lock, as is @forget
 * @forget: ends what led to the object by its number, after the device has let go of it, or
 *	may no longer do anything; may be NULL
 * @withdraw: ends what was made of an object, mappings say, before the device forgets it; may
 *	be called more than once; may be NULL
 * @release: gives back all that the object holds, but not the object itself
 * @free: gives back what those who have looked the object up may still use; may be NULL
 */
struct kiwi_obj_ops {
	const char *name;
	unsigned int kind;
	bool holds;
	bool waits;
	struct lock_class_key *key;
	int (*destroy)(struct kiwi_obj *obj, struct kiwi_error *err);
	void (*forget)(struct kiwi_obj *obj);
	void (*withdraw)(struct kiwi_obj *obj);
	void (*release)(struct kiwi_obj *obj);
	void (*free)(struct kiwi_obj *obj);
};

/* In a table of objects: one that holds */
#define KIWI_OBJ_HOLDS	XA_MARK_1

/**
 * struct kiwi_owner - table of objects; of an open file
 * @part: the device
 * @events: where the objects' events go
 * @objs: by id; the id of an object not published yet holds nothing
 */
struct kiwi_owner {
	struct kiwi_part *part;
	struct kiwi_events events;
	struct xarray objs;
};

/**
 * struct kiwi_obj - head of every object, its first member
 * @ref: of the structure
 * @ops: by kind
 * @part: the device
 * @owner: table that it is in, NULL once its owner gave it up; under event_lock
 * @user_data: the owner's, for events
 * @id: in the table
 * @uses: objects that use this one; -1 from the first attempt to destroy it
 * @lock: excludes commands that name the object from its end in the device
 * @live: the device knows the object; under @lock
 * @revoked: memory of the object was taken away; under @lock
 * @ending: the device may give its number to another; under event_lock
 * @node: among the zombies
 */
struct kiwi_obj {
	struct kref ref;
	const struct kiwi_obj_ops *ops;
	struct kiwi_part *part;
	struct kiwi_owner *owner;
	u64 user_data;
	u32 id;
	atomic_t uses;
	struct mutex lock;	/* commands that name the object */
	bool live;
	bool revoked;
	bool ending;
	struct list_head node;
};

void kiwi_owner_init(struct kiwi_owner *owner, struct kiwi_part *part);
void kiwi_owner_tell(struct kiwi_owner *owner, const struct kiwi_obj *obj,
		     const struct kiwi_file_event *event);
void kiwi_owner_withdraw(struct kiwi_owner *owner);
void kiwi_owner_clear(struct kiwi_owner *owner);
void kiwi_owner_exit(struct kiwi_owner *owner);

void *kiwi_obj_new(struct kiwi_owner *owner, const struct kiwi_obj_ops *ops, size_t size,
		   u64 user_data);
void kiwi_obj_publish(struct kiwi_obj *obj);
void kiwi_obj_abort(struct kiwi_obj *obj);
int kiwi_obj_destroy(struct kiwi_owner *owner, u32 id, struct kiwi_error *err);

void *kiwi_obj_get(struct kiwi_owner *owner, u32 id, const struct kiwi_obj_ops *ops,
		   struct kiwi_error *err);
void kiwi_obj_put(struct kiwi_obj *obj);
void *kiwi_obj_use(struct kiwi_owner *owner, u32 id, const struct kiwi_obj_ops *ops,
		   struct kiwi_error *err);
void kiwi_obj_unuse(struct kiwi_obj *obj);

int kiwi_obj_absent(u32 id, const struct kiwi_obj_ops *ops, struct kiwi_error *err);
bool kiwi_obj_condemned(const struct kiwi_obj *obj);
int kiwi_obj_lock(struct kiwi_obj *obj, struct kiwi_error *err);
int kiwi_obj_not_live(const struct kiwi_obj *obj, struct kiwi_error *err);
void kiwi_obj_notify(struct kiwi_obj *obj, u32 type, u32 code, u32 info);
void kiwi_obj_revoke(struct kiwi_obj *obj, u32 type, u32 code);
void kiwi_zombies_retry(struct kiwi_part *part);

int kiwi_route_add(struct kiwi_obj *obj, struct xarray *routes, u32 number,
		   struct kiwi_error *err);
void kiwi_route_del(struct kiwi_obj *obj, struct xarray *routes, u32 number);
struct kiwi_obj *kiwi_route_next(struct kiwi_part *part, struct xarray *routes,
				 unsigned long *number);

/* Files ---------------------------------------------------------------------------- */

/**
 * struct kiwi_file - one open file
 * @ref: of the structure
 * @part: the device, with a reference
 * @node: among the device's open files, with a reference, until its objects are destroyed
 * @down: of no more use; set before the gate is waited for
 * @owner: its objects
 * @error_lock: protects @error
 * @error: the latest failure
 * @pid: of the process that opened it, for people
 * @comm: its name, likewise
 */
struct kiwi_file {
	struct kref ref;
	struct kiwi_part *part;
	struct list_head node;
	bool down;
	struct kiwi_owner owner;
	spinlock_t error_lock;	/* the next */
	struct kiwi_last_error error;
	struct pid *pid;
	char comm[TASK_COMM_LEN];
};

/**
 * struct kiwi_call - one ioctl under way
 * @file: on which
 * @part: the device
 * @made: object to be published when the reply has reached the user
 * @opened: file to be installed at @fd, likewise, or NULL
 * @fd: descriptor reserved for @opened
 * @err: why it fails; an empty text leaves it to the errno
 */
struct kiwi_call {
	struct kiwi_file *file;
	struct kiwi_part *part;
	struct kiwi_obj *made;
	struct file *opened;
	int fd;
	struct kiwi_error err;
};

int kiwi_file_check_up(const struct kiwi_file *file);
void kiwi_files_event(struct kiwi_part *part, const struct kiwi_file_event *event);
void kiwi_files_admit(struct kiwi_part *part);
void kiwi_files_shut(struct kiwi_part *part, int down_errno);
void kiwi_files_clear(struct kiwi_part *part);
int kiwi_files_holders(struct kiwi_part *part, char *buf, size_t size);
void kiwi_cdev_init(struct kiwi_part *part);

int kiwi_call_reserved(struct kiwi_call *call);
int kiwi_call_open_dmabuf(struct kiwi_call *call, struct dma_buf *dmabuf, int flags);
int kiwi_ioctl_last_error(struct kiwi_call *call, void *data);
int kiwi_ioctl_destroy(struct kiwi_call *call, void *data);
long kiwi_ioctl(struct file *filp, unsigned int cmd, unsigned long arg);

#endif /* KIWI_PART_H */
