// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory that peers may import. */
#include "priv.h"

#include <stdlib.h>

static void export_release(struct object *obj)
{
	free(container_of(obj, struct exp, obj));
}

static int grant(struct kiwi_g2g *g2g, const struct kiwi_export_config *config, uint8_t *grantees)
{
	unsigned int i;

	for (i = 0; i < config->nr_grantees; i++) {
		unsigned int accel = config->grantees[i];

		if (accel >= g2g->info.accels)
			return refuse(EINVAL, "%s: grantee %u, below %u", g2g->dev.handle.name, accel,
				      g2g->info.accels);
		grantees[accel / 8] |= (uint8_t)(1U << accel % 8);
	}
	return 0;
}

int kiwi_export_create(struct kiwi_g2g *g2g, const struct kiwi_export_config *config,
		       struct kiwi_export **out)
{
	struct kiwi_g2g_export_create arg = {
		.size = sizeof(arg),
		.fd = config->fd,
		.rights = config->rights,
		.offset = config->offset,
		.length = config->length,
		.user_data = config->user_data,
	};
	struct exp *exp;
	int rc;

	rc = grant(g2g, config, arg.grantees);
	if (rc)
		return rc;
	exp = object_alloc(sizeof(*exp));
	if (!exp)
		return refuse(ENOMEM, "no memory for an export");
	rc = handle_ioctl(&g2g->dev.handle, KIWI_G2G_EXPORT_CREATE, &arg);
	if (rc) {
		free(exp);
		return rc;
	}
	exp->pub.g2g = g2g;
	exp->pub.length = config->length;
	exp->pub.id = arg.export_id;
	memcpy(exp->pub.handle, arg.handle, sizeof(exp->pub.handle));
	object_add(&g2g->dev.handle, &exp->obj, export_release);
	*out = &exp->pub;
	return 0;
}

int kiwi_export_revoke(struct kiwi_export *exp)
{
	struct kiwi_g2g_export_revoke arg = { .size = sizeof(arg), .export_id = exp->id };

	return handle_ioctl(&exp->g2g->dev.handle, KIWI_G2G_EXPORT_REVOKE, &arg);
}

int kiwi_export_query(struct kiwi_export *exp, struct kiwi_g2g_export_query *out)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	out->export_id = exp->id;
	return handle_ioctl(&exp->g2g->dev.handle, KIWI_G2G_EXPORT_QUERY, out);
}

int kiwi_export_wait(struct kiwi_export *exp, unsigned int state, int timeout_ms)
{
	struct kiwi_g2g_export_query now;
	struct patience patience;
	int rc;

	patience_begin(&patience, timeout_ms);
	do {
		rc = kiwi_export_query(exp, &now);
		if (rc || now.state == state)
			return rc;
	} while (patience_left(&patience));
	return refuse(ETIMEDOUT, "%s: export %u is %s with %u bindings, not %s in %d ms",
		      exp->g2g->dev.handle.name, exp->id, kiwi_g2g_export_state_text(now.state),
		      now.bindings, kiwi_g2g_export_state_text(state), timeout_ms);
}

int kiwi_export_destroy(struct kiwi_export *exp)
{
	return object_destroy(&container_of(exp, struct exp, pub)->obj, exp->id);
}
