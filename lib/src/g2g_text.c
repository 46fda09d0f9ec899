// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Words for values of G2G IO dies, which are those of sysfs. */
#include <kiwi_abi/g2g_names.h>

#include "priv.h"

const char *kiwi_g2g_fabric_state_text(unsigned int state)
{
	static const char *const words[] = {
		KIWI_G2G_FABRIC_STATE_NAMES
	};

	return WORD(words, state);
}

const char *kiwi_g2g_port_state_text(unsigned int state)
{
	static const char *const words[] = {
		KIWI_G2G_PORT_STATE_NAMES
	};

	return WORD(words, state);
}

const char *kiwi_g2g_peer_state_text(unsigned int state)
{
	static const char *const words[] = {
		KIWI_G2G_PEER_STATE_NAMES
	};

	return WORD(words, state);
}

const char *kiwi_g2g_slot_state_text(unsigned int state)
{
	static const char *const words[] = {
		KIWI_G2G_SLOT_STATE_NAMES
	};

	return WORD(words, state);
}

const char *kiwi_g2g_export_state_text(unsigned int state)
{
	static const char *const words[] = {
		[KIWI_G2G_EXPORT_LIVE] = "LIVE",
		[KIWI_G2G_EXPORT_REVOKING] = "REVOKING",
		[KIWI_G2G_EXPORT_REVOKED] = "REVOKED",
	};

	return WORD(words, state);
}

const char *kiwi_g2g_import_state_text(unsigned int state)
{
	static const char *const words[] = {
		[KIWI_G2G_WINDOW_BINDING] = "BINDING",
		[KIWI_G2G_WINDOW_BOUND] = "BOUND",
		[KIWI_G2G_WINDOW_MAPPED] = "MAPPED",
		[KIWI_G2G_WINDOW_DEAD] = "DEAD",
	};

	return WORD(words, state);
}

const char *kiwi_g2g_reason_text(unsigned int reason)
{
	static const char *const words[] = {
		KIWI_G2G_REASON_NAMES
	};

	return WORD(words, reason);
}

const char *kiwi_g2g_image_error_text(unsigned int error)
{
	static const char *const words[] = {
		[KIWI_G2G_IMAGE_OK] = "OK",
		[KIWI_G2G_IMAGE_MALFORMED] = "MALFORMED",
		[KIWI_G2G_IMAGE_HASH] = "HASH",
		[KIWI_G2G_IMAGE_FOREIGN] = "FOREIGN",
	};

	return WORD(words, error);
}

const char *kiwi_g2g_log_text(unsigned int kind)
{
	static const char *const words[] = {
		[KIWI_G2G_LOG_LOAD] = "LOAD",
		[KIWI_G2G_LOG_STORE] = "STORE",
		[KIWI_G2G_LOG_ATOMIC] = "ATOMIC",
		[KIWI_G2G_LOG_TARGET] = "TARGET",
		[KIWI_G2G_LOG_PROTOCOL] = "PROTOCOL",
		[KIWI_G2G_LOG_ID_CONFLICT] = "ID_CONFLICT",
	};

	return WORD(words, kind);
}

const char *kiwi_g2g_status_text(unsigned int status)
{
	static const char *const words[] = {
		[KIWI_G2G_ST_OK] = "OK",
		[KIWI_G2G_ST_TARGET_ABORT] = "TARGET_ABORT",
		[KIWI_G2G_ST_DECODE_ERROR] = "DECODE_ERROR",
		[KIWI_G2G_ST_PROTECTION] = "PROTECTION",
		[KIWI_G2G_ST_TIMEOUT] = "TIMEOUT",
		[KIWI_G2G_ST_ISOLATED] = "ISOLATED",
		[KIWI_G2G_ST_REVOKED] = "REVOKED",
		[KIWI_G2G_ST_NO_RESOURCE] = "NO_RESOURCE",
	};

	return WORD(words, status);
}

const char *kiwi_g2g_event_text(unsigned int event_type)
{
	static const char *const words[] = {
		[KIWI_G2G_EVENT_FABRIC] = "fabric",
		[KIWI_G2G_EVENT_PAUSE] = "pause",
		[KIWI_G2G_EVENT_PORT] = "port",
		[KIWI_G2G_EVENT_PEER] = "peer",
		[KIWI_G2G_EVENT_IMPORT] = "import",
		[KIWI_G2G_EVENT_EXPORT] = "export",
		[KIWI_G2G_EVENT_LOG] = "log",
		[KIWI_G2G_EVENT_ROUTES] = "routes",
		[KIWI_G2G_EVENT_IMAGE] = "image",
	};

	if (event_type < sizeof(words) / sizeof(words[0]) && words[event_type])
		return words[event_type];
	return kiwi_event_text(event_type);
}
