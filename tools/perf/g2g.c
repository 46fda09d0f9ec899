// SPDX-License-Identifier: GPL-2.0
#include "g2g.h"

#include "../common/say.h"

#include <string.h>

#define PEER_WAIT_MS 10000

const char *g2g_base(const char *device)
{
	const char *slash = strrchr(device, '/');

	return slash ? slash + 1 : device;
}

bool g2g_named(const char *device)
{
	return !strncmp(g2g_base(device), "g2g", 3);
}

bool g2g_open(const char *name, struct kiwi_g2g **g2g, struct kiwi_g2g_fabric_query *fabric)
{
	if (!kiwi_g2g_open(name, g2g) &&
	    !kiwi_g2g_wait_fabric(*g2g, KIWI_G2G_FABRIC_ACTIVE, 0) &&
	    !kiwi_g2g_query_fabric(*g2g, fabric))
		return true;
	complain("%s", kiwi_error());
	return false;
}

bool g2g_meet(struct kiwi_g2g *g2g, unsigned int accel)
{
	if (!kiwi_g2g_wait_peer(g2g, accel, KIWI_G2G_PEER_ESTABLISHED, PEER_WAIT_MS))
		return true;
	complain("%s", kiwi_error());
	return false;
}
