/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The page in which one file's errors are published, for code on a GPU. Words are written
 * with spinlocks held, as events come; all functions but new, map and free take NULL for
 * a file without a page.
 */
#ifndef KSNIC_ERRPAGE_H
#define KSNIC_ERRPAGE_H

#include <linux/bitmap.h>
#include <linux/iosys-map.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include <uapi/kiwi/snic.h>

struct kiwi_fw_dmabuf_ops;
struct kiwi_fw_mem;
struct kiwi_error;

/**
 * struct ksnic_errpage - an error page
 * @mem: its memory, pinned where it is; set by the maker, with ksnic_errpage_mem_ops
 * @lock: protects the rest; innermost
 * @map: the CPU's view of @mem
 * @revoked: @mem is not to be touched any more
 * @device: as published
 * @port_down: as published
 * @events: as published
 * @lost: as published
 * @used: words of queues
 */
struct ksnic_errpage {
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

extern const struct kiwi_fw_dmabuf_ops ksnic_errpage_mem_ops;

struct ksnic_errpage *ksnic_errpage_new(void);
int ksnic_errpage_map(struct ksnic_errpage *ep, struct kiwi_error *err);
void ksnic_errpage_free(struct ksnic_errpage *ep);

void ksnic_errpage_device(struct ksnic_errpage *ep, u32 value);
void ksnic_errpage_ports(struct ksnic_errpage *ep, u32 port_down);
void ksnic_errpage_lost(struct ksnic_errpage *ep);

u32 ksnic_errpage_take(struct ksnic_errpage *ep);
void ksnic_errpage_queue(struct ksnic_errpage *ep, u32 place, u32 value);
void ksnic_errpage_give(struct ksnic_errpage *ep, u32 place);
u32 ksnic_errpage_offset(u32 place);

#endif /* KSNIC_ERRPAGE_H */
