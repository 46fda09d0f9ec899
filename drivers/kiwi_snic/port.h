/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ports and their GID tables. The device keeps the tables but does not tell them,
 * so they are kept here as well. To be called with the gate held.
 */
#ifndef KSNIC_PORT_H
#define KSNIC_PORT_H

#include <linux/types.h>

#include "fw_cmd.h"

struct ksnic;
struct kiwi_error;

/**
 * struct ksnic_gid - entry of a GID table
 * @type: enum kiwi_gid_type
 * @raw: network byte order, zero with KIWI_GID_NONE
 */
struct ksnic_gid {
	u8 type;
	u8 raw[16];
};

int ksnic_ports_start(struct ksnic *ks, struct kiwi_error *err);
void ksnic_ports_free(struct ksnic *ks);

int ksnic_port_query(struct ksnic *ks, u32 port, struct ksnic_port_info *info,
		     struct kiwi_error *err);
int ksnic_port_set(struct ksnic *ks, u32 port, u8 enabled, u8 mtu, struct kiwi_error *err);
int ksnic_port_set_enabled(struct ksnic *ks, u32 port, u8 enabled, struct kiwi_error *err);
int ksnic_port_set_mtu(struct ksnic *ks, u32 port, u8 mtu, struct kiwi_error *err);
int ksnic_gid_query(struct ksnic *ks, u32 port, u32 index, struct ksnic_gid *gid,
		    struct kiwi_error *err);
int ksnic_gid_set(struct ksnic *ks, u32 port, u32 index, const struct ksnic_gid *gid,
		  struct kiwi_error *err);

#endif /* KSNIC_PORT_H */
