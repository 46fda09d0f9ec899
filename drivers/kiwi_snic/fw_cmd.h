/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands of the SNIC, one function each; see kiwi/cmd.h for failures. What is returned lies
 * in the ranges of the ABI.
 */
#ifndef KSNIC_FW_CMD_H
#define KSNIC_FW_CMD_H

#include <linux/if_ether.h>
#include <linux/types.h>

#include <kiwi/cmd.h>
#include <kiwi/error.h>
#include <kiwi_abi/snic.h>

struct kiwi_queue_caps;

/*
 * struct ksnic_port_info - struct kiwi_snic_port in host order
 */
struct ksnic_port_info {
	u32 mbps;
	u8 state;
	u8 enabled;
	u8 mtu;
	u8 mtu_max;
	u8 mac[ETH_ALEN];
};

int ksnic_cmd_query_caps(struct kiwi_fw *fw, struct kiwi_queue_caps *caps, struct kiwi_error *err);

int ksnic_cmd_query_port(struct kiwi_fw *fw, u32 port, struct ksnic_port_info *info,
			 struct kiwi_error *err);
int ksnic_cmd_set_port(struct kiwi_fw *fw, u32 port, u8 enabled, u8 mtu,
		       struct kiwi_error *err);
int ksnic_cmd_set_gid(struct kiwi_fw *fw, u32 port, u8 index, u8 type, const u8 gid[16],
		      struct kiwi_error *err);
int ksnic_cmd_query_port_counters(struct kiwi_fw *fw, u32 port,
				  struct kiwi_snic_port_counters *counters,
				  struct kiwi_error *err);

#endif /* KSNIC_FW_CMD_H */
