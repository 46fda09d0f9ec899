// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* G2G IO dies: routes and images. */
#include "priv.h"

/* Routes ------------------------------------------------------------------ */

int kiwi_g2g_stage_routes(struct kiwi_g2g *g2g, const struct kiwi_g2g_routes_stage *fabric)
{
	struct kiwi_g2g_routes_stage arg = *fabric;

	arg.size = sizeof(arg);
	arg.flags = 0;
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_ROUTES_STAGE, &arg);
}

int kiwi_g2g_commit_routes(struct kiwi_g2g *g2g, uint32_t flags, uint32_t *generation)
{
	struct kiwi_g2g_routes_commit arg = {
		.size = sizeof(arg),
		.flags = flags,
		.generation = *generation,
	};
	int rc = handle_ioctl(&g2g->dev.handle, KIWI_G2G_ROUTES_COMMIT, &arg);

	if (!rc)
		*generation = arg.generation;
	return rc;
}

int kiwi_g2g_query_routes(struct kiwi_g2g *g2g, uint32_t table, uint32_t first,
			  struct kiwi_g2g_routes_query *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->table = table;
	out->first = first;
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_ROUTES_QUERY, out);
}

int kiwi_g2g_wait_routes(struct kiwi_g2g *g2g, uint32_t generation, int timeout_ms)
{
	struct kiwi_g2g_fabric_query now;
	struct patience patience;
	int rc;

	patience_begin(&patience, timeout_ms);
	do {
		rc = kiwi_g2g_query_fabric(g2g, &now);
		if (rc || now.routes == generation)
			return rc;
	} while (patience_left(&patience));
	return refuse(ETIMEDOUT, "%s: routes are of generation %u, not %u in %d ms",
		      g2g->dev.handle.name, now.routes, generation, timeout_ms);
}

/* Images ------------------------------------------------------------------ */

int kiwi_g2g_load_image(struct kiwi_g2g *g2g, uint32_t slot, const char *name)
{
	struct kiwi_g2g_image_load arg = { .size = sizeof(arg), .slot = slot };

	if (strlen(name) >= sizeof(arg.name))
		return refuse(EINVAL, "%s: image name of %zu bytes, at most %zu", g2g->dev.handle.name,
			      strlen(name), sizeof(arg.name) - 1);
	strcpy(arg.name, name);
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_IMAGE_LOAD, &arg);
}

int kiwi_g2g_write_image(struct kiwi_g2g *g2g, uint32_t slot, const void *data, size_t length)
{
	struct kiwi_g2g_image_write arg = {
		.size = sizeof(arg),
		.slot = slot,
		.length = (uint32_t)length,
	};
	int rc = 0;

	if (!length || length > g2g->info.image_max)
		return refuse(EINVAL, "%s: image of %zu bytes, 1..%u", g2g->dev.handle.name, length,
			      g2g->info.image_max);
	for (; !rc && arg.offset < length; arg.offset += arg.len) {
		arg.len = arg.length - arg.offset;
		if (arg.len > KIWI_G2G_IMAGE_CHUNK)
			arg.len = KIWI_G2G_IMAGE_CHUNK;
		arg.data = (uintptr_t)data + arg.offset;
		rc = handle_ioctl(&g2g->dev.handle, KIWI_G2G_IMAGE_WRITE, &arg);
	}
	return rc;
}

int kiwi_g2g_change_image(struct kiwi_g2g *g2g, uint32_t slot, uint32_t op)
{
	struct kiwi_g2g_image_change arg = { .size = sizeof(arg), .slot = slot, .op = op };

	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_IMAGE_CHANGE, &arg);
}

int kiwi_g2g_query_image(struct kiwi_g2g *g2g, uint32_t slot, struct kiwi_g2g_image_query *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->slot = slot;
	return handle_ioctl(&g2g->dev.handle, KIWI_G2G_IMAGE_QUERY, out);
}
