/* SPDX-License-Identifier: GPL-2.0 */
/* GIDs and MAC addresses as people write them. */
#ifndef TOOLS_GID_H
#define TOOLS_GID_H

#include <stdbool.h>
#include <stdint.h>

#define GID_TEXT	46
#define MAC_TEXT	18

/* An IPv6 address, or an IPv4 one, which stands for ::ffff:a.b.c.d. */
bool gid_parse(const char *text, uint8_t gid[16]);
const char *gid_print(const uint8_t gid[16], char text[GID_TEXT]);
bool gid_is_zero(const uint8_t gid[16]);
bool gid_is_ipv4(const uint8_t gid[16]);

bool mac_parse(const char *text, uint8_t mac[6]);
const char *mac_print(const uint8_t mac[6], char text[MAC_TEXT]);

#endif /* TOOLS_GID_H */
