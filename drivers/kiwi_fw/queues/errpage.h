/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page in which one file's errors are published, for code on a GPU. Words are written
 * with spinlocks held, as events come; all functions but new, map and free take NULL for
 * a file without a page.
 */
#ifndef KIWI_FW_QUEUES_ERRPAGE_H
#define KIWI_FW_QUEUES_ERRPAGE_H

#include <linux/bitmap.h>
#include <linux/iosys-map.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <uapi/kiwi/queues.h>

struct kiwi_file;
struct kiwi_fw_dmabuf_ops;
struct kiwi_fw_mem;
struct kiwi_error;

/**
 * struct kiwi_errpage - an error page
 * @mem: its memory, pinned where it is; set by the maker, with kiwi_errpage_mem_ops
 * @lock: protects the rest; innermost
 * @map: the CPU's view of @mem
 * @revoked: @mem is not to be touched any more
 * @device: as published
 * @port_down: as published
 * @events: as published
 * @lost: as published
 * @used: words of queues
 */
struct kiwi_errpage {
	struct kiwi_fw_mem *mem;
	spinlock_t lock;	/* the words */
	struct iosys_map map;
	bool revoked;
	u32 device;
	u32 port_down;
	u32 events;
	u32 lost;
	DECLARE_BITMAP(used, KIWI_ERROR_WORDS);
};

extern const struct kiwi_fw_dmabuf_ops kiwi_errpage_mem_ops;

struct kiwi_errpage *kiwi_errpage_new(void);
int kiwi_errpage_map(struct kiwi_errpage *ep, struct kiwi_error *err);
void kiwi_errpage_free(struct kiwi_errpage *ep);

void kiwi_errpage_device(struct kiwi_errpage *ep, u32 value);
void kiwi_errpage_ports(struct kiwi_errpage *ep, u32 port_down);
void kiwi_errpage_lost(struct kiwi_errpage *ep);

u32 kiwi_errpage_take(struct kiwi_errpage *ep);
void kiwi_errpage_queue(struct kiwi_errpage *ep, u32 place, u32 value);
void kiwi_errpage_give(struct kiwi_errpage *ep, u32 place);
u32 kiwi_errpage_offset(u32 place);

/* file.c */
int kiwi_queues_set_errpage(struct kiwi_file *file, struct kiwi_errpage *ep);

#endif /* KIWI_FW_QUEUES_ERRPAGE_H */
