/* SPDX-License-Identifier: GPL-2.0 */
/* What the host has given to the device and its users, as the kernel counts it. */
#ifndef HOST_H
#define HOST_H

#include <stdbool.h>

/**
 * struct host_held - what is held now
 * @pins: pages pinned for DMA, of all processes
 * @mappings: DMA mappings and coherent buffers, of all devices
 * @charged: KiB that this process is charged for as pinned
 */
struct host_held {
	long pins;
	long mappings;
	long charged;
};

/* The number that a file is. */
long host_number(const char *path);

/* The kernel needs DMA_API_DEBUG, and it must not have turned itself off. */
struct host_held host_held(void);

/*
 * To be called before a fault of the kernel's own: the debugging of DMA needs a node for a
 * mapping, and without one it turns itself off for good.
 */
void host_keep_debugging(void);

/*
 * Waits a while until no more is held than @before: less there is when a device was bound
 * anew, as it keeps a buffer for its next command. If there is more, says so.
 */
bool host_held_again(const struct host_held *before);

/*
 * Where to map a MiB at most: its page tables are there already. Kernels before 6.15 warn of
 * themselves when remap_pfn_range() finds no memory for one (x86's untrack_pfn()).
 */
void *host_place(void);

#endif /* HOST_H */
