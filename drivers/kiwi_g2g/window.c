// SPDX-License-Identifier: GPL-2.0
#include <linux/align.h>
#include <linux/container_of.h>
#include <linux/dma-buf.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "object.h"

static struct lock_class_key window_lock_key;

/* Place in the aperture ------------------------------------------------------- */

/**
 * struct kg2g_place - a range of the aperture, and who may still reach it
 * @ref: of the window until the device has let go of it, and of its mappings
 * @kg: the device, with a reference
 * @range: the range
 *
 * A range becomes nobody else's before the device has unbound the window and importers
 * have unmapped it.
 */
struct kg2g_place {
	struct kref ref;
	struct kg2g *kg;
	struct kg2g_range range;
};

static struct kg2g_place *place_new(struct kg2g *kg, u64 length, struct kiwi_error *err)
{
	struct kg2g_place *place;
	int ret;

	place = kzalloc(sizeof(*place), GFP_KERNEL_ACCOUNT);
	if (!place) {
		kiwi_fail_plain(err, -ENOMEM);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&place->ref);
	place->kg = kg;
	ret = kg2g_range_take(&kg->aperture, &place->range, length);
	if (ret) {
		kfree(place);
		kiwi_fail(err, ret, length, kg->caps.aperture_size,
			  "no gap of %llu bytes is left in the aperture of %llu", length,
			  kg->caps.aperture_size);
		return ERR_PTR(ret);
	}
	get_device(&kg->part.dev);
	return place;
}

static void place_free(struct kref *ref)
{
	struct kg2g_place *place = container_of(ref, struct kg2g_place, ref);
	struct kg2g *kg = place->kg;

	kg2g_range_give(&kg->aperture, &place->range);
	kfree(place);
	put_device(&kg->part.dev);
}

static void place_put(void *arg)
{
	struct kg2g_place *place = arg;

	kref_put(&place->ref, place_free);
}

/* Life ------------------------------------------------------------------------- */

/* The ranges stay until the window is released; mmap_lock is not to be taken below the lock. */
static void window_withdraw(struct kiwi_obj *obj)
{
	struct kg2g_window *window = container_of(obj, struct kg2g_window, obj);
	struct kiwi_bar *bar, *atomics;

	mutex_lock(&obj->lock);
	bar = window->bar;
	atomics = window->atomics;
	mutex_unlock(&obj->lock);
	if (bar)
		kiwi_bar_revoke(bar);
	if (atomics)
		kiwi_bar_revoke(atomics);
}

static void dead_work(struct work_struct *work)
{
	window_withdraw(&container_of(work, struct kg2g_window, dead_work)->obj);
}

static int window_destroy(struct kiwi_obj *obj, struct kiwi_error *err)
{
	struct kg2g_window *window = container_of(obj, struct kg2g_window, obj);

	return kg2g_cmd_unbind_window(obj->part->fw, window->number, err);
}

static void window_forget(struct kiwi_obj *obj)
{
	struct kg2g_window *window = container_of(obj, struct kg2g_window, obj);

	kiwi_fw_sync_events(obj->part->fw);
	kiwi_route_del(obj, &to_kg2g(obj->part)->windows, window->number);
}

/* No event finds the window any more. */
static void window_release(struct kiwi_obj *obj)
{
	struct kg2g_window *window = container_of(obj, struct kg2g_window, obj);

	cancel_work_sync(&window->dead_work);
	if (window->place)
		place_put(window->place);
}

static void put_bars(struct kg2g_window *window)
{
	if (window->bar)
		kiwi_bar_put(window->bar);
	if (window->atomics)
		kiwi_bar_put(window->atomics);
	window->bar = NULL;
	window->atomics = NULL;
}

/* Revoked long since, but who maps or exports the window may only now find that out. */
static void window_free(struct kiwi_obj *obj)
{
	put_bars(container_of(obj, struct kg2g_window, obj));
}

const struct kiwi_obj_ops kg2g_window_ops = {
	.name = "import",
	.kind = KG2G_WINDOW,
	.holds = true,
	.key = &window_lock_key,
	.destroy = window_destroy,
	.forget = window_forget,
	.withdraw = window_withdraw,
	.release = window_release,
	.free = window_free,
};

struct kg2g_window *kg2g_window_new(struct kiwi_owner *owner, u64 user_data)
{
	struct kg2g_window *window;

	window = kiwi_obj_new(owner, &kg2g_window_ops, sizeof(*window), user_data);
	if (!window)
		return NULL;
	window->told = KIWI_G2G_WINDOW_BINDING;
	INIT_WORK(&window->dead_work, dead_work);
	return window;
}

int kg2g_window_query(struct kg2g_window *window, struct kiwi_g2g_window *out,
		      struct kiwi_error *err)
{
	int ret;

	ret = kiwi_obj_lock(&window->obj, err);
	if (ret)
		return ret;
	ret = kg2g_cmd_query_window(window->obj.part->fw, window->number, out, err);
	mutex_unlock(&window->obj.lock);
	return ret;
}

/**
 * kg2g_window_tell() - tell the owner of a window's state, unless it was told
 * @window: the window
 * @state: enum kiwi_g2g_window_state
 * @reason: enum kiwi_g2g_reason
 */
void kg2g_window_tell(struct kg2g_window *window, u32 state, u32 reason)
{
	lockdep_assert_held(&window->obj.part->event_lock);

	/* That it is mapped its owner knows. */
	if (state == KIWI_G2G_WINDOW_MAPPED)
		state = KIWI_G2G_WINDOW_BOUND;
	if (state <= window->told)
		return;
	window->told = state;
	kiwi_obj_notify(&window->obj, KIWI_G2G_EVENT_IMPORT, state, reason);
	/* Of one that ends all was taken away, and nobody waits for the work. */
	if (state == KIWI_G2G_WINDOW_DEAD && !window->obj.ending)
		schedule_work(&window->dead_work);
}

/**
 * kg2g_window_look() - tell the owner of a window's state as it is now
 * @window: looked up
 */
void kg2g_window_look(struct kg2g_window *window)
{
	struct kiwi_g2g_window out;
	struct kiwi_error err;

	if (kg2g_window_query(window, &out, &err))
		return;
	spin_lock(&window->obj.part->event_lock);
	kg2g_window_tell(window, out.state, out.reason);
	spin_unlock(&window->obj.part->event_lock);
}

/**
 * kg2g_window_bind() - ask a peer for its export
 * @window: new
 * @handle: of the export
 * @accel: the peer
 * @rights: wanted
 * @err: filled on failure
 *
 * The answer comes as an event.
 *
 * Return: 0 or negative errno
 */
int kg2g_window_bind(struct kg2g_window *window, const u8 *handle, u16 accel, u32 rights,
		     struct kiwi_error *err)
{
	struct kiwi_g2g_bind_window_in in = {
		.rights = cpu_to_le32(rights),
		.accel = cpu_to_le16(accel),
	};
	struct kiwi_obj *obj = &window->obj;
	struct kg2g *kg = to_kg2g(obj->part);
	int ret;

	if (!rights || (rights & ~KIWI_G2G_RIGHTS))
		return kiwi_fail(err, -EINVAL, rights, KIWI_G2G_RIGHTS,
				 "rights %#x are none, or not all of %#x", rights,
				 KIWI_G2G_RIGHTS);
	memcpy(in.handle, handle, sizeof(in.handle));
	window->rights = rights;
	window->accel = accel;

	mutex_lock(&obj->lock);
	ret = kg2g_cmd_bind_window(obj->part->fw, &in, kg->caps.max_window, &window->number, err);
	obj->live = !ret;
	mutex_unlock(&obj->lock);
	memzero_explicit(in.handle, sizeof(in.handle));
	if (!ret)
		ret = kiwi_route_add(obj, &kg->windows, window->number, err);
	/* The answer may have come before events led here. */
	if (!ret)
		kg2g_window_look(window);
	return ret;
}

/* Mapping ------------------------------------------------------------------------ */

static struct kiwi_bar *aperture_bar(struct kg2g *kg, u64 offset, u64 size, bool wc,
				     void (*idle)(void *arg), void *arg)
{
	struct pci_dev *pdev = to_pci_dev(kg->part.dev.parent);
	const struct kiwi_bar_range range = {
		.owner = THIS_MODULE,
		.pdev = pdev,
		.phys = pci_resource_start(pdev, KIWI_BAR_APERTURE) + offset,
		.size = size,
		.write_combined = wc,
		.fill = 0xff,
		.idle = idle,
		.arg = arg,
	};

	return kiwi_bar_new(&range);
}

static u64 atomic_page_size(const struct kg2g *kg)
{
	return BIT_ULL(kiwi_fw_identity(kg->part.fw)->db_page_shift);
}

/* A page of the CPU that shows nobody else's. */
static bool has_atomics(const struct kg2g_window *window)
{
	const struct kg2g *kg = to_kg2g(window->obj.part);

	return (window->rights & KIWI_ACCESS_REMOTE_ATOMIC) && kg->caps.atomic_base &&
	       PAGE_ALIGNED(atomic_page_size(kg));
}

static int make_bars(struct kg2g_window *window, struct kg2g_place *place, bool wc)
{
	struct kg2g *kg = to_kg2g(window->obj.part);
	u64 size = atomic_page_size(kg);

	lockdep_assert_held(&window->obj.lock);
	window->bar = aperture_bar(kg, place->range.offset, place->range.size, wc, place_put,
				   place);
	if (!window->bar)
		return -ENOMEM;
	if (!has_atomics(window))
		return 0;
	window->atomics = aperture_bar(kg, kg->caps.atomic_base + (window->number - 1) * size,
				       size, false, NULL, NULL);
	return window->atomics ? 0 : -ENOMEM;
}

/* What may lack memory comes first: if the device has mapped it, so has the driver. */
static int map_locked(struct kg2g_window *window, u64 export_offset, u64 length, bool wc,
		      struct kiwi_error *err)
{
	struct kg2g *kg = to_kg2g(window->obj.part);
	struct kg2g_place *place;
	int ret;

	lockdep_assert_held(&window->obj.lock);
	if (window->place)
		return kiwi_fail(err, -EINVAL, window->obj.id, 0, "import %u was mapped before",
				 window->obj.id);
	/* What user space maps are pages of the CPU. */
	place = place_new(kg, max_t(u64, length, PAGE_SIZE), err);
	if (IS_ERR(place))
		return PTR_ERR(place);
	ret = make_bars(window, place, wc);
	if (ret)
		kiwi_fail_plain(err, ret);
	else
		ret = kg2g_cmd_map_window(kg->part.fw, window->number, place->range.offset,
					  export_offset, length, err);
	if (ret) {
		put_bars(window);	/* below the lock, so nobody knows of them yet */
		place_put(place);
		return ret;
	}
	kref_get(&place->ref);	/* for the bar, until nobody has it */
	window->place = place;
	return 0;
}

static int check_range(const struct kg2g *kg, u64 export_offset, u64 length,
		       struct kiwi_error *err)
{
	if (!length || length > kg->caps.aperture_size)
		return kiwi_fail(err, -EINVAL, length, kg->caps.aperture_size,
				 "length %llu is not in 1..%llu (aperture_size)", length,
				 kg->caps.aperture_size);
	if (!IS_ALIGNED(export_offset, 4096))
		return kiwi_fail(err, -EINVAL, export_offset, 4096,
				 "export_offset %llu is not a multiple of 4096", export_offset);
	return 0;
}

/**
 * kg2g_window_map() - put a window into the aperture
 * @window: looked up, bound
 * @export_offset: of the first byte wanted
 * @length: bytes wanted
 * @wc: user space maps it write-combined
 * @view: to be filled
 * @err: filled on failure
 *
 * Return: 0 or negative errno
 */
int kg2g_window_map(struct kg2g_window *window, u64 export_offset, u64 length, bool wc,
		    struct kg2g_view *view, struct kiwi_error *err)
{
	struct kg2g *kg = to_kg2g(window->obj.part);
	int ret;

	ret = check_range(kg, export_offset, length, err);
	if (ret)
		return ret;
	ret = kiwi_obj_lock(&window->obj, err);
	if (ret)
		return ret;
	ret = map_locked(window, export_offset, length, wc, err);
	if (!ret)
		*view = (struct kg2g_view) {
			.map_size = window->place->range.size,
			.atomic_size = window->atomics ? atomic_page_size(kg) : 0,
		};
	mutex_unlock(&window->obj.lock);
	return ret;
}

static struct kiwi_bar *window_bar(struct kg2g_window *window, bool atomics)
{
	struct kiwi_bar *bar;

	mutex_lock(&window->obj.lock);
	bar = atomics ? window->atomics : window->bar;
	mutex_unlock(&window->obj.lock);
	return bar;
}

/**
 * kg2g_window_dmabuf() - a mapped window as a DMA-buf
 * @window: looked up
 * @length: bytes of it, to be filled
 * @err: filled on failure
 *
 * Return: the DMA-buf with a reference, or an ERR_PTR
 */
struct dma_buf *kg2g_window_dmabuf(struct kg2g_window *window, u64 *length,
				   struct kiwi_error *err)
{
	struct kiwi_bar *bar = window_bar(window, false);
	struct dma_buf *dmabuf;

	if (!bar) {
		kiwi_fail(err, -EINVAL, window->obj.id, 0, "import %u is not mapped",
			  window->obj.id);
		return ERR_PTR(-EINVAL);
	}
	dmabuf = kiwi_bar_dmabuf(bar);
	if (dmabuf == ERR_PTR(-ENODEV)) {
		kiwi_fail(err, -EREMOTEIO, window->obj.id, 0, "import %u is dead",
			  window->obj.id);
		return ERR_PTR(-EREMOTEIO);
	}
	if (IS_ERR(dmabuf))
		kiwi_fail_plain(err, PTR_ERR(dmabuf));
	else
		*length = dmabuf->size;
	return dmabuf;
}

int kg2g_window_mmap(struct kg2g_window *window, bool atomics, struct vm_area_struct *vma)
{
	struct kiwi_bar *bar = window_bar(window, atomics);

	return bar ? kiwi_bar_mmap(bar, vma) : -EINVAL;
}
