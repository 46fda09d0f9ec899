// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory of peers. */
#include "priv.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Beyond the bound of the device, for the driver and for a busy host. */
#define BIND_SLACK_MS	2000

static struct imp *imp_of(struct kiwi_import *imp)
{
	return container_of(imp, struct imp, pub);
}

static void import_release(struct object *obj)
{
	struct imp *imp = container_of(obj, struct imp, obj);

	if (imp->pub.addr)
		munmap((void *)(uintptr_t)imp->pub.addr, imp->map_size);
	if (imp->atomics)
		munmap((void *)(uintptr_t)imp->atomics, imp->atomic_size);
	free(imp);
}

int kiwi_import_bind(struct kiwi_g2g *g2g, unsigned int accel, const uint8_t handle[16],
		     uint32_t rights, uint64_t user_data, struct kiwi_import **out)
{
	struct kiwi_g2g_import_bind arg = {
		.size = sizeof(arg),
		.accel = (uint16_t)accel,
		.rights = rights,
		.user_data = user_data,
	};
	struct imp *imp;
	int rc;

	if (accel >= g2g->info.accels)
		return refuse(EINVAL, "%s: accelerator %u, below %u", g2g->dev.handle.name, accel,
			      g2g->info.accels);
	memcpy(arg.handle, handle, sizeof(arg.handle));
	imp = object_alloc(sizeof(*imp));
	if (!imp)
		return refuse(ENOMEM, "no memory for an import");
	rc = handle_ioctl(&g2g->dev.handle, KIWI_G2G_IMPORT_BIND, &arg);
	if (rc) {
		free(imp);
		return rc;
	}
	imp->pub.g2g = g2g;
	imp->pub.id = arg.import_id;
	object_add(&g2g->dev.handle, &imp->obj, import_release);
	*out = &imp->pub;
	return 0;
}

int kiwi_import_query(struct kiwi_import *imp, struct kiwi_g2g_import_query *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->import_id = imp->id;
	return handle_ioctl(&imp->g2g->dev.handle, KIWI_G2G_IMPORT_QUERY, out);
}

int kiwi_import_wait(struct kiwi_import *imp)
{
	struct kiwi_g2g *g2g = imp->g2g;
	struct kiwi_g2g_import_query now;
	struct patience patience;
	int rc;

	patience_begin(&patience, (int)g2g->info.bind_ms + BIND_SLACK_MS);
	do {
		rc = kiwi_import_query(imp, &now);
		if (rc || now.state == KIWI_G2G_WINDOW_BOUND || now.state == KIWI_G2G_WINDOW_MAPPED)
			return rc;
		if (now.state == KIWI_G2G_WINDOW_DEAD)
			return refuse(ECONNREFUSED, "%s: import %u of accelerator %u is DEAD: %s",
				      g2g->dev.handle.name, imp->id, now.accel,
				      kiwi_g2g_reason_text(now.reason));
	} while (patience_left(&patience));
	return refuse(ETIMEDOUT, "%s: import %u of accelerator %u is %s, bound of the device %u ms",
		      g2g->dev.handle.name, imp->id, now.accel, kiwi_g2g_import_state_text(now.state),
		      g2g->info.bind_ms);
}

static int map(struct handle *h, uint64_t offset, uint64_t size, const char *what,
	       void **out)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, h->fd, (off_t)offset);

	if (p == MAP_FAILED)
		return refuse(errno, "%s: mmap of %s, %llu bytes: %s", h->name, what,
			      (unsigned long long)size, strerror(errno));
	*out = p;
	return 0;
}

int kiwi_import_map(struct kiwi_import *pub, uint32_t flags, uint64_t export_offset,
		    uint64_t length)
{
	struct kiwi_g2g_import_map arg = {
		.size = sizeof(arg),
		.flags = flags,
		.import_id = pub->id,
		.export_offset = export_offset,
		.length = length,
	};
	struct handle *h = &pub->g2g->dev.handle;
	struct imp *imp = imp_of(pub);
	void *p = NULL;
	int rc = handle_ioctl(h, KIWI_G2G_IMPORT_MAP, &arg);

	if (rc)
		return rc;
	imp->map_size = arg.map_size;
	imp->atomic_size = arg.atomic_size;
	if (arg.atomic_size) {
		rc = map(h, arg.atomic_offset, arg.atomic_size, "an atomic page", &p);
		if (rc)
			return rc;
		imp->atomics = p;
	}
	rc = map(h, arg.map_offset, arg.map_size, "an import", &p);
	if (rc)
		return rc;
	pub->addr = p;
	pub->length = length;
	return 0;
}

static volatile uint64_t *cell_reg(const struct imp *imp, unsigned int cell, unsigned int reg)
{
	return (volatile uint64_t *)(imp->atomics + cell * KIWI_G2G_CELL_SIZE + reg);
}

int kiwi_import_atomic(struct kiwi_import *pub, unsigned int cell, unsigned int op,
		       uint64_t offset, uint64_t operand, uint64_t compare, uint64_t *before)
{
	const struct imp *imp = imp_of(pub);
	const char *name = pub->g2g->dev.handle.name;
	uint64_t value, status;

	if (!imp->atomics)
		return refuse(EOPNOTSUPP, "%s: import %u is not mapped with the right to atomics",
			      name, pub->id);
	if (cell >= KIWI_G2G_CELLS)
		return refuse(EINVAL, "%s: atomic cell %u, below %u", name, cell, KIWI_G2G_CELLS);
	if (offset % 8 || offset > pub->length || pub->length - offset < 8)
		return refuse(EINVAL, "%s: atomic at %llu of %llu bytes, a multiple of 8", name,
			      (unsigned long long)offset, (unsigned long long)pub->length);
	*cell_reg(imp, cell, KIWI_G2G_CELL_OPERAND) = operand;
	*cell_reg(imp, cell, KIWI_G2G_CELL_COMPARE) = compare;
	*cell_reg(imp, cell, KIWI_G2G_CELL_GO) = (uint64_t)op << KIWI_G2G_CELL_OP_SHIFT | offset;
	value = *cell_reg(imp, cell, KIWI_G2G_CELL_RESULT);
	status = *cell_reg(imp, cell, KIWI_G2G_CELL_STATUS);
	if (status != KIWI_G2G_ST_OK)
		return refuse(EREMOTEIO, "%s: import %u: atomic at %llu: %s", name, pub->id,
			      (unsigned long long)offset,
			      kiwi_g2g_status_text(status > UINT8_MAX ? UINT8_MAX :
						   (unsigned int)status));
	*before = value;
	return 0;
}

int kiwi_import_dmabuf(struct kiwi_import *imp, struct kiwi_g2g_import_dmabuf *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->flags = O_CLOEXEC;
	out->import_id = imp->id;
	return handle_ioctl(&imp->g2g->dev.handle, KIWI_G2G_IMPORT_DMABUF, out);
}

int kiwi_import_destroy(struct kiwi_import *imp)
{
	return object_destroy(&imp_of(imp)->obj, imp->id);
}
