/* SPDX-License-Identifier: GPL-2.0 */
/* Objects of the die. This layer knows no file and no ioctl. */
#ifndef KG2G_OBJECT_H
#define KG2G_OBJECT_H

#include <linux/workqueue.h>

#include <kiwi/bar.h>

#include "kg2g.h"

struct vm_area_struct;

/* Export ----------------------------------------------------------------------- */

extern const struct kiwi_obj_ops kg2g_export_ops;

/**
 * struct kg2g_export - memory that peers may import
 * @obj: what all objects have
 * @mem: set by the maker, with kg2g_export_mem_ops and the export for its argument
 * @rights: set by the maker: KIWI_ACCESS_REMOTE_*
 * @grantees: likewise
 * @handle: random
 * @number: in the ABI
 * @told: state that the owner was told last; under event_lock
 * @path: of @mem, which ends before the last reference does
 * @pages: entries of the device's page list
 * @page_shift: size of one, 2^n
 */
struct kg2g_export {
	struct kiwi_obj obj;
	struct kiwi_fw_mem *mem;
	u32 rights;
	u8 grantees[KIWI_G2G_ACCELS_MAX / 8];
	u8 handle[16];
	u32 number;
	struct kiwi_fw_path path;
	u32 pages;
	u8 page_shift;
	u8 told;
};

void kg2g_export_tell(struct kg2g_export *export, u32 state, u32 isolated);
void kg2g_export_look(struct kg2g_export *export);
struct kg2g_export *kg2g_export_new(struct kiwi_owner *owner, u64 user_data);
int kg2g_export_check(const struct kg2g *kg, u32 rights, u64 length, const u8 *grantees,
		      struct kiwi_error *err);
int kg2g_export_create(struct kg2g_export *export, struct kiwi_error *err);
int kg2g_export_revoke(struct kg2g_export *export, struct kiwi_error *err);
int kg2g_export_query(struct kg2g_export *export, struct kiwi_g2g_export *out,
		      struct kiwi_error *err);
extern const struct kiwi_fw_dmabuf_ops kg2g_export_mem_ops;

/* Window ----------------------------------------------------------------------- */

extern const struct kiwi_obj_ops kg2g_window_ops;

/**
 * struct kg2g_window - a peer's export, reached through the aperture
 * @obj: what all objects have
 * @number: in the ABI
 * @rights: wanted, and granted when it is bound
 * @accel: exporter
 * @told: state that the owner was told last; under event_lock
 * @place: in the aperture; under the object's lock, as what follows
 * @bar: what is mapped and imported of it, or NULL
 * @atomics: atomic page, or NULL
 * @dead_work: takes both away when the window dies
 */
struct kg2g_window {
	struct kiwi_obj obj;
	u32 number;
	u32 rights;
	u16 accel;
	u8 told;
	struct kg2g_place *place;
	struct kiwi_bar *bar;
	struct kiwi_bar *atomics;
	struct work_struct dead_work;
};

/**
 * struct kg2g_view - how user space maps a window
 * @map_size: bytes
 * @atomic_size: bytes, 0 when it has no atomic page
 */
struct kg2g_view {
	u64 map_size;
	u64 atomic_size;
};

struct kg2g_window *kg2g_window_new(struct kiwi_owner *owner, u64 user_data);
int kg2g_window_bind(struct kg2g_window *window, const u8 *handle, u16 accel, u32 rights,
		     struct kiwi_error *err);
int kg2g_window_map(struct kg2g_window *window, u64 export_offset, u64 length, bool wc,
		    struct kg2g_view *view, struct kiwi_error *err);
void kg2g_window_tell(struct kg2g_window *window, u32 state, u32 reason);
void kg2g_window_look(struct kg2g_window *window);
int kg2g_window_query(struct kg2g_window *window, struct kiwi_g2g_window *out,
		      struct kiwi_error *err);
struct dma_buf *kg2g_window_dmabuf(struct kg2g_window *window, u64 *length,
				   struct kiwi_error *err);
int kg2g_window_mmap(struct kg2g_window *window, bool atomics, struct vm_area_struct *vma);

#endif /* KG2G_OBJECT_H */
