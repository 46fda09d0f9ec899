// SPDX-License-Identifier: GPL-2.0
#include "gid.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static const uint8_t ipv4_prefix[12] = { [10] = 0xff, [11] = 0xff };

bool gid_parse(const char *text, uint8_t gid[16])
{
	memcpy(gid, ipv4_prefix, sizeof(ipv4_prefix));
	return inet_pton(AF_INET, text, gid + 12) == 1 || inet_pton(AF_INET6, text, gid) == 1;
}

const char *gid_print(const uint8_t gid[16], char text[GID_TEXT])
{
	return inet_ntop(AF_INET6, gid, text, GID_TEXT);
}

bool gid_is_zero(const uint8_t gid[16])
{
	static const uint8_t zero[16];

	return !memcmp(gid, zero, sizeof(zero));
}

bool gid_is_ipv4(const uint8_t gid[16])
{
	return !memcmp(gid, ipv4_prefix, sizeof(ipv4_prefix));
}

bool mac_parse(const char *text, uint8_t mac[6])
{
	int end = 0;

	return sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		      &mac[3], &mac[4], &mac[5], &end) == 6 && !text[end];
}

const char *mac_print(const uint8_t mac[6], char text[MAC_TEXT])
{
	snprintf(text, MAC_TEXT, "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3],
		 mac[4], mac[5]);
	return text;
}
