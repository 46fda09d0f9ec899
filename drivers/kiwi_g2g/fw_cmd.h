/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Commands of the G2G IO die, one function each; see kiwi/cmd.h for failures. What is
 * returned lies in the ranges of the ABI.
 */
#ifndef KG2G_FW_CMD_H
#define KG2G_FW_CMD_H

#include <linux/types.h>

#include <kiwi/cmd.h>
#include <kiwi/error.h>
#include <kiwi_abi/g2g.h>

#include "caps.h"

struct kiwi_queue_caps;

int kg2g_cmd_query_caps(struct kiwi_fw *fw, const struct kg2g_caps_frame *frame,
			struct kg2g_caps *caps, struct kiwi_queue_caps *queues,
			struct kiwi_error *err);

int kg2g_cmd_set_fabric(struct kiwi_fw *fw, const struct kiwi_g2g_set_fabric_in *in,
			struct kiwi_error *err);
int kg2g_cmd_query_fabric(struct kiwi_fw *fw, struct kiwi_g2g_fabric *fabric,
			  struct kiwi_error *err);
int kg2g_cmd_activate(struct kiwi_fw *fw, struct kiwi_error *err);
int kg2g_cmd_deactivate(struct kiwi_fw *fw, struct kiwi_error *err);
int kg2g_cmd_pause(struct kiwi_fw *fw, struct kiwi_error *err);
int kg2g_cmd_resume(struct kiwi_fw *fw, struct kiwi_error *err);

int kg2g_cmd_set_port(struct kiwi_fw *fw, u32 port, const struct kiwi_g2g_port_config *config,
		      struct kiwi_error *err);
int kg2g_cmd_query_port(struct kiwi_fw *fw, u32 port, struct kiwi_g2g_port *info,
			struct kiwi_error *err);
int kg2g_cmd_query_port_counters(struct kiwi_fw *fw, u32 port,
				 struct kiwi_g2g_port_counters *counters, struct kiwi_error *err);
int kg2g_cmd_query_counters(struct kiwi_fw *fw, struct kiwi_g2g_counters *counters,
			    struct kiwi_error *err);
int kg2g_cmd_read_log(struct kiwi_fw *fw, struct kiwi_g2g_log *log, struct kiwi_error *err);

int kg2g_cmd_stage_routes(struct kiwi_fw *fw, const struct kiwi_g2g_stage_routes_in *in,
			  struct kiwi_error *err);
int kg2g_cmd_commit_routes(struct kiwi_fw *fw, u32 *generation, struct kiwi_error *err);
int kg2g_cmd_rollback_routes(struct kiwi_fw *fw, u32 *generation, struct kiwi_error *err);
int kg2g_cmd_query_routes(struct kiwi_fw *fw, u8 table, u16 first,
			  struct kiwi_g2g_query_routes_out *out, struct kiwi_error *err);

int kg2g_cmd_begin_image(struct kiwi_fw *fw, u32 slot, u32 length, struct kiwi_error *err);
int kg2g_cmd_write_image(struct kiwi_fw *fw, u32 slot, u32 offset, u32 len, u64 addr,
			 struct kiwi_error *err);
int kg2g_cmd_verify_image(struct kiwi_fw *fw, u32 slot, struct kiwi_error *err);
int kg2g_cmd_activate_image(struct kiwi_fw *fw, u32 slot, struct kiwi_error *err);
int kg2g_cmd_query_image(struct kiwi_fw *fw, u32 slot, struct kiwi_g2g_slot *out,
			 struct kiwi_error *err);

int kg2g_cmd_create_export(struct kiwi_fw *fw, const struct kiwi_g2g_create_export_in *in,
			   u32 *number, struct kiwi_error *err);
int kg2g_cmd_revoke_export(struct kiwi_fw *fw, u32 number, struct kiwi_error *err);
int kg2g_cmd_destroy_export(struct kiwi_fw *fw, u32 number, struct kiwi_error *err);
int kg2g_cmd_query_export(struct kiwi_fw *fw, u32 number, struct kiwi_g2g_export *out,
			  struct kiwi_error *err);

int kg2g_cmd_bind_window(struct kiwi_fw *fw, const struct kiwi_g2g_bind_window_in *in,
			 u32 max_window, u32 *number, struct kiwi_error *err);
int kg2g_cmd_map_window(struct kiwi_fw *fw, u32 number, u64 offset, u64 export_offset, u64 length,
			struct kiwi_error *err);
int kg2g_cmd_unbind_window(struct kiwi_fw *fw, u32 number, struct kiwi_error *err);
int kg2g_cmd_query_window(struct kiwi_fw *fw, u32 number, struct kiwi_g2g_window *out,
			  struct kiwi_error *err);

int kg2g_cmd_query_peer(struct kiwi_fw *fw, u16 accel, struct kiwi_g2g_peer *out,
			struct kiwi_error *err);
int kg2g_cmd_isolate_peer(struct kiwi_fw *fw, u16 accel, struct kiwi_error *err);
int kg2g_cmd_recover_peer(struct kiwi_fw *fw, u16 accel, struct kiwi_error *err);

#endif /* KG2G_FW_CMD_H */
