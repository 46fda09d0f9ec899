/* SPDX-License-Identifier: GPL-2.0 */
/* Handlers of ioctls; @data is the ioctl's structure, and the reply. */
#ifndef KSNIC_IOCTL_H
#define KSNIC_IOCTL_H

struct kiwi_call;

/* ioctl_obj.c */
int ksnic_ioctl_error_page(struct kiwi_call *call, void *data);
int ksnic_ioctl_pd_alloc(struct kiwi_call *call, void *data);
int ksnic_ioctl_mr_reg(struct kiwi_call *call, void *data);
int ksnic_ioctl_mr_query(struct kiwi_call *call, void *data);
int ksnic_ioctl_doorbell_alloc(struct kiwi_call *call, void *data);
int ksnic_ioctl_doorbell_export(struct kiwi_call *call, void *data);
int ksnic_ioctl_cq_create(struct kiwi_call *call, void *data);
int ksnic_ioctl_qp_create(struct kiwi_call *call, void *data);
int ksnic_ioctl_qp_modify(struct kiwi_call *call, void *data);
int ksnic_ioctl_qp_query(struct kiwi_call *call, void *data);

/* ioctl_queue.c */
int ksnic_ioctl_queue_query(struct kiwi_call *call, void *data);

/* preflight.c */
int ksnic_ioctl_preflight(struct kiwi_call *call, void *data);

#endif /* KSNIC_IOCTL_H */
