// SPDX-License-Identifier: GPL-2.0
/* Switching routes, as one transaction. */
#include <linux/errno.h>

#include "kg2g.h"

static int switch_routes(struct kg2g *kg, bool rollback, u32 *generation, struct kiwi_error *err)
{
	u32 now = *generation;
	int ret;

	if (rollback)
		ret = kg2g_cmd_rollback_routes(kg->part.fw, &now, err);
	else
		ret = kg2g_cmd_commit_routes(kg->part.fw, &now, err);
	if (ret)
		return ret;
	*generation = now;
	kg2g_tell(kg, KIWI_G2G_EVENT_ROUTES, now, 0, 0);
	return 0;
}

static int drained_switch(struct kg2g *kg, bool rollback, u32 *generation, struct kiwi_error *err)
{
	struct kiwi_error ignored;
	int ret;

	ret = kg2g_drain(kg, err);
	if (ret)
		return ret;
	ret = switch_routes(kg, rollback, generation, err);
	/* Refused when the pause has ended by itself meanwhile, which is as well. */
	kg2g_cmd_resume(kg->part.fw, &ignored);
	return ret;
}

/* What a refusal means is told apart by what is in force. */
static int check_generation(struct kg2g *kg, u32 generation, struct kiwi_error *err)
{
	struct kiwi_g2g_fabric f;
	u32 now;
	int ret;

	ret = kg2g_cmd_query_fabric(kg->part.fw, &f, err);
	if (ret)
		return ret;
	now = le32_to_cpu(f.routes);
	if (now == generation)
		return 0;
	return kiwi_fail(err, -ESTALE, generation, now,
			 "generation %u is not in force, %u is", generation, now);
}

/**
 * kg2g_routes_commit() - put other routes in force
 * @kg: the device
 * @flags: KIWI_G2G_ROUTES_*
 * @generation: that is thought to be in force; then that which is
 * @err: filled on failure
 *
 * Return: 0, or negative errno and the routes are as before
 */
int kg2g_routes_commit(struct kg2g *kg, u32 flags, u32 *generation, struct kiwi_error *err)
{
	bool rollback = flags & KIWI_G2G_ROUTES_ROLLBACK;
	int ret;

	mutex_lock(&kg->admin);
	ret = check_generation(kg, *generation, err);
	if (ret)
		goto unlock;
	if (flags & KIWI_G2G_ROUTES_DRAIN)
		ret = drained_switch(kg, rollback, generation, err);
	else
		ret = switch_routes(kg, rollback, generation, err);
unlock:
	mutex_unlock(&kg->admin);
	return ret;
}

static int query_check(const struct kg2g *kg, const struct kiwi_g2g_routes_query *q,
		       struct kiwi_error *err)
{
	if (q->table > KIWI_G2G_TABLE_PREVIOUS)
		return kiwi_fail(err, -EINVAL, q->table, KIWI_G2G_TABLE_PREVIOUS,
				 "table %u is unknown", q->table);
	if (q->first >= kg->caps.accels)
		return kiwi_fail(err, -EINVAL, q->first, kg->caps.accels - 1,
				 "first %u is not in 0..%llu", q->first, kg->caps.accels - 1);
	return 0;
}

int kg2g_routes_query(struct kg2g *kg, struct kiwi_g2g_routes_query *q, struct kiwi_error *err)
{
	struct kiwi_g2g_query_routes_out out;
	unsigned int i;
	int ret;

	ret = query_check(kg, q, err);
	if (!ret)
		ret = kg2g_cmd_query_routes(kg->part.fw, q->table, q->first, &out, err);
	if (ret)
		return ret;
	q->generation = le32_to_cpu(out.generation);
	for (i = 0; i < KIWI_G2G_ROUTES_READ; i++)
		q->way[i] = (struct kiwi_g2g_route_way) {
			.ports = le32_to_cpu(out.route[i].ports),
			.layer = out.route[i].layer,
		};
	return 0;
}
