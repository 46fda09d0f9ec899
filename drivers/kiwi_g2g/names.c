// SPDX-License-Identifier: GPL-2.0
/* States and reasons in words. */
#include <linux/kernel.h>

#include "kg2g.h"

static const char *name_of(const char *const *names, unsigned int nr, unsigned int value)
{
	return value < nr && names[value] ? names[value] : "UNKNOWN";
}

const char *kg2g_fabric_state_name(unsigned int state)
{
	static const char *const names[] = {
		[KIWI_G2G_FABRIC_UNCONFIGURED] = "UNCONFIGURED",
		[KIWI_G2G_FABRIC_CONFIGURED] = "CONFIGURED",
		[KIWI_G2G_FABRIC_READY] = "READY",
		[KIWI_G2G_FABRIC_ACTIVE] = "ACTIVE",
		[KIWI_G2G_FABRIC_ERROR] = "ERROR",
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *kg2g_port_state_name(unsigned int state)
{
	static const char *const names[] = {
		[KIWI_G2G_PORT_DOWN] = "DOWN",
		[KIWI_G2G_PORT_TRAINING] = "TRAINING",
		[KIWI_G2G_PORT_UP] = "UP",
		[KIWI_G2G_PORT_FAULT] = "FAULT",
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *kg2g_peer_state_name(unsigned int state)
{
	static const char *const names[] = {
		[KIWI_G2G_PEER_NONE] = "NONE",
		[KIWI_G2G_PEER_SEEKING] = "SEEKING",
		[KIWI_G2G_PEER_ESTABLISHED] = "ESTABLISHED",
		[KIWI_G2G_PEER_MISMATCH] = "MISMATCH",
		[KIWI_G2G_PEER_ISOLATED] = "ISOLATED",
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *kg2g_slot_state_name(unsigned int state)
{
	static const char *const names[] = {
		[KIWI_G2G_SLOT_EMPTY] = "EMPTY",
		[KIWI_G2G_SLOT_LOADING] = "LOADING",
		[KIWI_G2G_SLOT_LOADED] = "LOADED",
		[KIWI_G2G_SLOT_VERIFIED] = "VERIFIED",
		[KIWI_G2G_SLOT_BAD] = "BAD",
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *kg2g_reason_name(unsigned int reason)
{
	static const char *const names[] = {
		[KIWI_G2G_WHY_NONE] = "NONE",
		[KIWI_G2G_WHY_ADMIN] = "ADMIN",
		[KIWI_G2G_WHY_NOT_CONFIGURED] = "NOT_CONFIGURED",
		[KIWI_G2G_WHY_NO_ROUTES] = "NO_ROUTES",
		[KIWI_G2G_WHY_NO_PORT] = "NO_PORT",
		[KIWI_G2G_WHY_ID_CONFLICT] = "ID_CONFLICT",
		[KIWI_G2G_WHY_NO_CARRIER] = "NO_CARRIER",
		[KIWI_G2G_WHY_NO_NEIGHBOUR] = "NO_NEIGHBOUR",
		[KIWI_G2G_WHY_NEIGHBOURS] = "NEIGHBOURS",
		[KIWI_G2G_WHY_POD] = "POD",
		[KIWI_G2G_WHY_IMAGE] = "IMAGE",
		[KIWI_G2G_WHY_EPOCH] = "EPOCH",
		[KIWI_G2G_WHY_PARTITION] = "PARTITION",
		[KIWI_G2G_WHY_MTU] = "MTU",
		[KIWI_G2G_WHY_LANES] = "LANES",
		[KIWI_G2G_WHY_FEC] = "FEC",
		[KIWI_G2G_WHY_LLR] = "LLR",
		[KIWI_G2G_WHY_FLOW] = "FLOW",
		[KIWI_G2G_WHY_LLR_EXHAUSTED] = "LLR_EXHAUSTED",
		[KIWI_G2G_WHY_TIMEOUT] = "TIMEOUT",
		[KIWI_G2G_WHY_RESTARTED] = "RESTARTED",
		[KIWI_G2G_WHY_ISOLATED] = "ISOLATED",
		[KIWI_G2G_WHY_REVOKE] = "REVOKE",
		[KIWI_G2G_WHY_REVOKED] = "REVOKED",
		[KIWI_G2G_WHY_NO_ACCESS] = "NO_ACCESS",
		[KIWI_G2G_WHY_NO_RESOURCE] = "NO_RESOURCE",
		[KIWI_G2G_WHY_PROTOCOL] = "PROTOCOL",
		[KIWI_G2G_WHY_FABRIC] = "FABRIC",
	};

	return name_of(names, ARRAY_SIZE(names), reason);
}
