/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR BSD-2-Clause */
/*
 * What the character devices of all Kiwi parts have in common: how the last error of a file is
 * told, how objects are destroyed, how events are read.
 *
 * Rules of every ioctl:
 * - The argument starts with @size, the size of the structure the caller was built with, and
 *   @flags. A longer structure than the kernel knows is accepted when the excess
 *   is zero (E2BIG otherwise); a shorter one is extended with zero, down to the size
 *   of version 1 (EINVAL below). Beyond 4096 bytes it is refused (E2BIG). Unknown flags
 *   and non-zero reserved fields: EINVAL. Fields marked out may hold anything.
 * - Objects are named by ids that belong to the open file. Closing the last
 *   reference to the file destroys all of them.
 */
#ifndef _UAPI_KIWI_COMMON_H
#define _UAPI_KIWI_COMMON_H

#include <linux/types.h>

/**
 * struct kiwi_last_error - the latest failed ioctl of this file
 * @size: sizeof(struct kiwi_last_error)
 * @flags: 0
 * @nr: out: number of the ioctl (_IOC_NR), 0 with @error 0 when none failed yet
 * @error: out: its errno, positive
 * @value: out: the value refused, 0 if none applies
 * @limit: out: the limit it broke, 0 if none applies
 * @text: out: one line in English that names them, NUL-terminated
 */
struct kiwi_last_error {
	__u32 size;
	__u32 flags;
	__u32 nr;
	__u32 error;
	__aligned_u64 value;
	__aligned_u64 limit;
	char text[128];
};

/**
 * struct kiwi_destroy - destroys any object, by id
 * @size: sizeof(struct kiwi_destroy)
 * @flags: 0
 * @id: of the object
 * @rsvd: 0
 *
 * If the device refuses to destroy it, the object is of no use any more, but the id
 * stays, for another try.
 */
struct kiwi_destroy {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 rsvd;
};

/* Events of all parts; each part has more. */
enum kiwi_common_event {
	KIWI_EVENT_DEVICE_FATAL	= 8,	/* code: enum kiwi_reset_reason */
	KIWI_EVENT_LOST		= 9,	/* code: how many, 0 unknown */
};

/**
 * struct kiwi_file_event - read(2) gives whole events, as many as fit; poll(2) tells when
 * @type: by part
 * @id: of the object, or by type
 * @user_data: of the object
 * @code: by type
 * @info: by type
 *
 * A file holds at most 256 unread events; more are counted in KIWI_EVENT_LOST. Those of an object
 * that is destroyed stay, while its id may become another's: @user_data tells them apart.
 * read: EAGAIN with O_NONBLOCK when none; EINVAL when the buffer is smaller than
 * one event; EINTR when a signal came first; EFAULT when it cannot be written, and up to 8
 * events are lost then; EIO or
 * ENODEV, as ioctls, once all are read. poll: POLLHUP and POLLERR as soon as the device
 * is of no more use to the file.
 */
struct kiwi_file_event {
	__u32 type;
	__u32 id;
	__aligned_u64 user_data;
	__u32 code;
	__u32 info;
};

#endif /* _UAPI_KIWI_COMMON_H */
