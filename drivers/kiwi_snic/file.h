/* SPDX-License-Identifier: GPL-2.0 */
/* One open file of /dev/kiwi/snicN. */
#ifndef KSNIC_FILE_H
#define KSNIC_FILE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <uapi/kiwi/snic.h>

#include "errpage.h"
#include "events.h"
#include "object.h"

struct dma_buf;
struct file;
struct page;
struct vm_area_struct;

/**
 * struct ksnic_file - one open file
 * @ref: of the structure
 * @ks: the device, with a reference
 * @node: among the device's open files, with a reference, until its objects are destroyed
 * @down: of no more use; set before the gate is waited for
 * @owner: its objects
 * @events: what read() gives
 * @errpage: where errors are published, NULL without; set once, under files_lock
 * @error_lock: protects @error
 * @error: what KIWI_SNIC_LAST_ERROR gives
 * @map_lock: protects what follows, and ksnic_db.dmabuf; inside of mmap_lock
 * @maps: doorbell mappings, struct ksnic_map
 * @stand_in: page that is mapped where a doorbell was taken away, or NULL
 */
struct ksnic_file {
	struct kref ref;
	struct ksnic *ks;
	struct list_head node;
	bool down;
	struct ksnic_owner owner;
	struct ksnic_event_queue events;
	struct ksnic_errpage *errpage;
	spinlock_t error_lock;	/* the next */
	struct kiwi_snic_last_error error;
	struct mutex map_lock;	/* mappings */
	struct list_head maps;
	struct page *stand_in;
};

/* chardev.c */
int ksnic_file_check_up(const struct ksnic_file *file);
int ksnic_file_set_errpage(struct ksnic_file *file, struct ksnic_errpage *ep);

/* ioctl.c */
long ksnic_ioctl(struct file *filp, unsigned int nr, unsigned long arg);

/* db_dmabuf.c */
struct dma_buf *ksnic_db_export(struct ksnic_file *file, struct ksnic_db *db,
				struct kiwi_error *err);
void ksnic_db_revoke(struct ksnic_file *file, struct ksnic_db *db);

/* mmap.c */
u64 ksnic_map_offset(const struct ksnic_db *db);
int ksnic_mmap(struct file *filp, struct vm_area_struct *vma);
void ksnic_unmap(struct ksnic_file *file, const struct ksnic_db *db);

#endif /* KSNIC_FILE_H */
