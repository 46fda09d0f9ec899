/* SPDX-License-Identifier: GPL-2.0 */
/* Handlers of ioctls; @data is the ioctl's structure, and the reply. */
#ifndef KG2G_IOCTL_H
#define KG2G_IOCTL_H

struct kiwi_call;

/* ioctl_obj.c */
int kg2g_ioctl_export_create(struct kiwi_call *call, void *data);
int kg2g_ioctl_export_revoke(struct kiwi_call *call, void *data);
int kg2g_ioctl_export_query(struct kiwi_call *call, void *data);
int kg2g_ioctl_import_bind(struct kiwi_call *call, void *data);
int kg2g_ioctl_import_map(struct kiwi_call *call, void *data);
int kg2g_ioctl_import_query(struct kiwi_call *call, void *data);
int kg2g_ioctl_import_dmabuf(struct kiwi_call *call, void *data);

#endif /* KG2G_IOCTL_H */
