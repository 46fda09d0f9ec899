/* SPDX-License-Identifier: GPL-2.0 */
/* What the commands for G2G IO dies share. */
#ifndef KIWICTL_G2G_H
#define KIWICTL_G2G_H

#include <kiwi/fabric.h>

#include <stdbool.h>

/* Bound on what a command waits for, if the user gives none. */
#define WITHIN_MS	10000

/* Opens the device that the first word names, or dies. */
struct kiwi_g2g *g2g_open(int argc, char **argv);

/* Closes it; a negative @rc is told. Return: the exit status. */
int g2g_done(struct kiwi_g2g *g2g, int rc);

/* Whether @key is the word at *@at; if so the word behind it is stored, and *@at moves on to it. */
bool g2g_value(const char *key, int argc, char **argv, int *at, const char **value);

/* Two hexadecimal digits a byte, in lower case or upper. */
void g2g_hex(const char *digits, uint8_t *bytes, unsigned int count);

/* A list of accelerators as "0,3,5" into @accels, room for KIWI_G2G_ACCELS_MAX. Return: how many. */
unsigned int g2g_accels_arg(const char *text, uint16_t *accels);

/* Letters r, w and a as KIWI_ACCESS_REMOTE_*. */
uint32_t g2g_rights_arg(const char *text);

/* "sysfs holders" of a device: one process a line, in JSON an array. */
void g2g_print_holders(struct kiwi_g2g *g2g);

/* One line, in JSON one object. */
void g2g_print_event(const struct kiwi_file_event *event);

#endif /* KIWICTL_G2G_H */
