/* SPDX-License-Identifier: GPL-2.0 */
/*
 * G2G IO dies: the processor stores to memory of the peer and loads from it, through the window
 * of an import. Both dies are of this host.
 */
#ifndef WINDOW_H
#define WINDOW_H

#include "perf.h"

/* Whether the device named is a die. */
bool window_device(const struct options *o);

/* Sets what the user did not; dies if something is asked for that dies do not have. */
void window_options(struct options *o);

/* Return: the exit status. */
int window_drive(const struct options *o);

#endif /* WINDOW_H */
