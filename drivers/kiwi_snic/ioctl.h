/* SPDX-License-Identifier: GPL-2.0 */
/* One ioctl under way. */
#ifndef KSNIC_IOCTL_H
#define KSNIC_IOCTL_H

#include <kiwi/error.h>


struct file;
struct ksnic;
struct ksnic_file;
struct ksnic_obj;

/**
 * struct ksnic_call - one ioctl under way
 * @file: on which
 * @ks: the device
 * @made: object to be published when the reply has reached the user
 * @opened: file to be installed at @fd, likewise, or NULL
 * @fd: descriptor reserved for @opened
 * @err: why it fails; an empty text leaves it to the errno
 */
struct ksnic_call {
	struct ksnic_file *file;
	struct ksnic *ks;
	struct ksnic_obj *made;
	struct file *opened;
	int fd;
	struct kiwi_error err;
};

/* ioctl.c */
int ksnic_reserved_set(struct ksnic_call *call);

/* ioctl_obj.c; @data is the ioctl's structure, and the reply */
int ksnic_ioctl_error_page(struct ksnic_call *call, void *data);
int ksnic_ioctl_pd_alloc(struct ksnic_call *call, void *data);
int ksnic_ioctl_mr_reg(struct ksnic_call *call, void *data);
int ksnic_ioctl_mr_query(struct ksnic_call *call, void *data);
int ksnic_ioctl_doorbell_alloc(struct ksnic_call *call, void *data);
int ksnic_ioctl_doorbell_export(struct ksnic_call *call, void *data);
int ksnic_ioctl_cq_create(struct ksnic_call *call, void *data);
int ksnic_ioctl_qp_create(struct ksnic_call *call, void *data);
int ksnic_ioctl_qp_modify(struct ksnic_call *call, void *data);
int ksnic_ioctl_qp_query(struct ksnic_call *call, void *data);

/* ioctl_queue.c; likewise */
int ksnic_ioctl_queue_query(struct ksnic_call *call, void *data);

/* preflight.c; likewise */
int ksnic_ioctl_preflight(struct ksnic_call *call, void *data);

#endif /* KSNIC_IOCTL_H */
