/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KIWICTL_H
#define KIWICTL_H

#include <stdbool.h>

extern bool as_json;

/* A command gets the words behind its own; it returns the exit status. */
int cmd_list(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_counters(int argc, char **argv);
int cmd_diag(int argc, char **argv);
int cmd_port_set(int argc, char **argv);
int cmd_gid_list(int argc, char **argv);
int cmd_gid_set(int argc, char **argv);
int cmd_gid_clear(int argc, char **argv);
int cmd_preflight(int argc, char **argv);

/* G2G IO dies */
int cmd_g2g_ports(int argc, char **argv);
int cmd_g2g_port_set(int argc, char **argv);
int cmd_g2g_peers(int argc, char **argv);
int cmd_g2g_isolate(int argc, char **argv);
int cmd_g2g_recover(int argc, char **argv);
int cmd_g2g_fabric_show(int argc, char **argv);
int cmd_g2g_configure(int argc, char **argv);
int cmd_g2g_activate(int argc, char **argv);
int cmd_g2g_deactivate(int argc, char **argv);
int cmd_g2g_pause(int argc, char **argv);
int cmd_g2g_resume(int argc, char **argv);
int cmd_g2g_stage(int argc, char **argv);
int cmd_g2g_commit(int argc, char **argv);
int cmd_g2g_rollback(int argc, char **argv);
int cmd_g2g_routes(int argc, char **argv);
int cmd_g2g_topology(int argc, char **argv);
int cmd_g2g_generate(int argc, char **argv);
int cmd_g2g_images(int argc, char **argv);
int cmd_g2g_image_load(int argc, char **argv);
int cmd_g2g_image_activate(int argc, char **argv);
int cmd_g2g_export(int argc, char **argv);
int cmd_g2g_import(int argc, char **argv);
int cmd_g2g_wait(int argc, char **argv);
int cmd_g2g_events(int argc, char **argv);
int cmd_g2g_log(int argc, char **argv);

#endif /* KIWICTL_H */
