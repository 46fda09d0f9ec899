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

#endif /* KIWICTL_H */
