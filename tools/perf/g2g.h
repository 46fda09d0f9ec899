/* SPDX-License-Identifier: GPL-2.0 */
/* G2G IO dies, as both semantics need them. */
#ifndef G2G_H
#define G2G_H

#include <kiwi/fabric.h>

#include <stdbool.h>

/* The name of a device without folders. */
const char *g2g_base(const char *device);

/* Whether the device named is a die. */
bool g2g_named(const char *device);

/* These tell what went wrong before they return false. */

/* A die of a fabric that is active. */
bool g2g_open(const char *name, struct kiwi_g2g **g2g, struct kiwi_g2g_fabric_query *fabric);

/* A session with a peer is there, or comes soon. */
bool g2g_meet(struct kiwi_g2g *g2g, unsigned int accel);

#endif /* G2G_H */
