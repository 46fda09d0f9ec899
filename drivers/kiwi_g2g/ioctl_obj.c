// SPDX-License-Identifier: GPL-2.0
/* Exports and imports of a file. */
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/string.h>

#include "ioctl.h"
#include "object.h"

/* Exports ----------------------------------------------------------------------- */

static int mem_failed(struct kiwi_call *call, const struct kiwi_g2g_export_create *c, int ret,
		      const struct kiwi_fw_err *why)
{
	struct kiwi_error *err = &call->err;

	switch (ret) {
	case -EINVAL:
		return kiwi_fail(err, ret, why->value, why->limit,
				 "%llu bytes at %#llx are not all in the DMA-buf", c->length,
				 c->offset);
	case -EBADF:
		return kiwi_fail(err, ret, c->fd, 0, "fd %d is not open or no DMA-buf", c->fd);
	case -EREMOTEIO:
		return kiwi_fail(err, ret, c->fd, 0, "fd %d: the exporter did not map it", c->fd);
	default:
		return kiwi_fail_plain(err, ret);
	}
}

static int take_memory(struct kiwi_call *call, const struct kiwi_g2g_export_create *c,
		       struct kg2g_export *export)
{
	bool writable = c->rights & (KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_ATOMIC);
	struct kiwi_fw_err why = { };
	struct kiwi_fw_mem *mem;

	mem = kiwi_fw_mem_dmabuf(call->part->fw, c->fd, c->offset, c->length, writable,
				 &kg2g_export_mem_ops, export, &why);
	if (IS_ERR(mem))
		return mem_failed(call, c, PTR_ERR(mem), &why);
	export->mem = mem;
	export->path = mem->path;
	return 0;
}

int kg2g_ioctl_export_create(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_export_create *c = data;
	struct kg2g *kg = to_kg2g(call->part);
	struct kg2g_export *export;
	int ret;

	if (c->rsvd)
		return kiwi_call_reserved(call);
	ret = kg2g_export_check(kg, c->rights, c->length, c->grantees, &call->err);
	if (ret)
		return ret;
	export = kg2g_export_new(&call->file->owner, c->user_data);
	if (!export)
		return kiwi_fail_plain(&call->err, -ENOMEM);
	call->made = &export->obj;

	export->rights = c->rights;
	memcpy(export->grantees, c->grantees, sizeof(export->grantees));
	ret = take_memory(call, c, export);
	if (!ret)
		ret = kg2g_export_create(export, &call->err);
	if (ret)
		return ret;
	c->export_id = export->obj.id;
	memcpy(c->handle, export->handle, sizeof(c->handle));
	return 0;
}

static struct kg2g_export *get_export(struct kiwi_call *call, u32 id)
{
	return kiwi_obj_get(&call->file->owner, id, &kg2g_export_ops, &call->err);
}

int kg2g_ioctl_export_revoke(struct kiwi_call *call, void *data)
{
	const struct kiwi_g2g_export_revoke *r = data;
	struct kg2g_export *export;
	int ret;

	if (r->rsvd)
		return kiwi_call_reserved(call);
	export = get_export(call, r->export_id);
	if (!export)
		return -ENOENT;
	ret = kg2g_export_revoke(export, &call->err);
	kiwi_obj_put(&export->obj);
	return ret;
}

int kg2g_ioctl_export_query(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_export_query *q = data;
	struct kg2g_export *export;
	struct kiwi_g2g_export out;
	int ret;

	export = get_export(call, q->export_id);
	if (!export)
		return -ENOENT;
	ret = kg2g_export_query(export, &out, &call->err);
	if (!ret) {
		*q = (struct kiwi_g2g_export_query) {
			.size = q->size,
			.export_id = q->export_id,
			.state = out.state,
			.path = export->path.path,
			.reason = export->path.reason,
			.page_shift = export->page_shift,
			.bindings = le32_to_cpu(out.bindings),
			.pages = export->pages,
		};
		memcpy(q->importers, out.importers, sizeof(q->importers));
	}
	kiwi_obj_put(&export->obj);
	return ret;
}

/* Imports ------------------------------------------------------------------------ */

/*
 * Where in the file an import is mapped, and its atomic page: aligned to the largest page, and
 * no more than a name.
 */
#define MAP_ID_SHIFT	18
#define MAP_ATOMICS	BIT_ULL(17)

static u64 map_offset(const struct kg2g_window *window)
{
	return (u64)window->obj.id << MAP_ID_SHIFT;
}

int kg2g_ioctl_import_bind(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_import_bind *b = data;
	struct kg2g_window *window;
	int ret;

	if (b->rsvd || b->rsvd1)
		return kiwi_call_reserved(call);
	window = kg2g_window_new(&call->file->owner, b->user_data);
	if (!window)
		return kiwi_fail_plain(&call->err, -ENOMEM);
	call->made = &window->obj;
	ret = kg2g_window_bind(window, b->handle, b->accel, b->rights, &call->err);
	b->import_id = window->obj.id;
	return ret;
}

static struct kg2g_window *get_window(struct kiwi_call *call, u32 id)
{
	return kiwi_obj_get(&call->file->owner, id, &kg2g_window_ops, &call->err);
}

int kg2g_ioctl_import_map(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_import_map *m = data;
	struct kg2g_window *window;
	struct kg2g_view view;
	int ret;

	if (m->rsvd)
		return kiwi_call_reserved(call);
	window = get_window(call, m->import_id);
	if (!window)
		return -ENOENT;
	if (map_offset(window) >= KG2G_MAP_DOORBELLS) {
		ret = kiwi_fail(&call->err, -ENOSPC, m->import_id, 0,
				"import %u: a file has no room to map its %uth object",
				m->import_id, m->import_id);
		goto put;
	}
	ret = kg2g_window_map(window, m->export_offset, m->length, m->flags & KIWI_G2G_IMPORT_WC,
			      &view, &call->err);
	if (!ret) {
		m->map_offset = map_offset(window);
		m->map_size = view.map_size;
		m->atomic_offset = view.atomic_size ? map_offset(window) | MAP_ATOMICS : 0;
		m->atomic_size = view.atomic_size;
	}
put:
	kiwi_obj_put(&window->obj);
	return ret;
}

int kg2g_ioctl_import_query(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_import_query *q = data;
	struct kg2g_window *window;
	struct kiwi_g2g_window out;
	int ret;

	window = get_window(call, q->import_id);
	if (!window)
		return -ENOENT;
	ret = kg2g_window_query(window, &out, &call->err);
	if (!ret)
		*q = (struct kiwi_g2g_import_query) {
			.size = q->size,
			.import_id = q->import_id,
			.state = out.state,
			.reason = out.reason,
			.accel = le16_to_cpu(out.accel),
			.rights = le32_to_cpu(out.rights),
			.number = window->number,
			.export_length = le64_to_cpu(out.export_length),
			.export_offset = le64_to_cpu(out.export_offset),
			.length = le64_to_cpu(out.length),
		};
	kiwi_obj_put(&window->obj);
	return ret;
}

int kg2g_ioctl_import_dmabuf(struct kiwi_call *call, void *data)
{
	struct kiwi_g2g_import_dmabuf *d = data;
	struct kg2g_window *window;
	struct dma_buf *dmabuf;
	u64 length;
	int ret;

	window = get_window(call, d->import_id);
	if (!window)
		return -ENOENT;
	dmabuf = kg2g_window_dmabuf(window, &length, &call->err);
	kiwi_obj_put(&window->obj);
	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	ret = kiwi_call_open_dmabuf(call, dmabuf, d->flags);
	d->fd = call->fd;
	d->length = length;
	return ret;
}

/**
 * kg2g_mmap() - map an import, its atomic page, or a doorbell
 * @file: of the object; the gate is held
 * @vma: to be filled
 *
 * Return: 0 or negative errno
 */
int kg2g_mmap(struct kiwi_file *file, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	bool atomics = offset & MAP_ATOMICS;
	struct kg2g_window *window;
	struct kiwi_error err;
	int ret = -EINVAL;

	if (offset >= KG2G_MAP_DOORBELLS)
		return kiwi_queues_mmap(file, vma);
	window = kiwi_obj_get(&file->owner, offset >> MAP_ID_SHIFT, &kg2g_window_ops, &err);
	if (!window)
		return -EINVAL;
	if (offset == (map_offset(window) | (atomics ? MAP_ATOMICS : 0)))
		ret = kg2g_window_mmap(window, atomics, vma);
	kiwi_obj_put(&window->obj);
	return ret;
}
