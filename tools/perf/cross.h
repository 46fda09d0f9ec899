/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Two G2G IO dies: each size by loads and stores, and by messages, what the one and the other
 * cost, and from which size on messages cost less.
 */
#ifndef CROSS_H
#define CROSS_H

#include "perf.h"

/* Return: the exit status. */
int cross_drive(const struct options *o);

#endif /* CROSS_H */
