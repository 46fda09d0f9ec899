// SPDX-License-Identifier: GPL-2.0
/* States and reasons in words. */
#include <linux/kernel.h>

#include <kiwi_abi/g2g_names.h>

#include "kg2g.h"

static const char *name_of(const char *const *names, unsigned int nr, unsigned int value)
{
	return value < nr && names[value] ? names[value] : "UNKNOWN";
}

const char *kg2g_fabric_state_name(unsigned int state)
{
	static const char *const names[] = {
		KIWI_G2G_FABRIC_STATE_NAMES
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *kg2g_port_state_name(unsigned int state)
{
	static const char *const names[] = {
		KIWI_G2G_PORT_STATE_NAMES
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *kg2g_peer_state_name(unsigned int state)
{
	static const char *const names[] = {
		KIWI_G2G_PEER_STATE_NAMES
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *kg2g_slot_state_name(unsigned int state)
{
	static const char *const names[] = {
		KIWI_G2G_SLOT_STATE_NAMES
	};

	return name_of(names, ARRAY_SIZE(names), state);
}

const char *kg2g_reason_name(unsigned int reason)
{
	static const char *const names[] = {
		KIWI_G2G_REASON_NAMES
	};

	return name_of(names, ARRAY_SIZE(names), reason);
}
