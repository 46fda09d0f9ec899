/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ROUND_H
#define ROUND_H

#include <stddef.h>

/*
 * Uses snic0 in every way that the library and sysfs offer: each command, completions of both
 * queues, each kind of event that one SNIC alone can raise.
 *
 * @batches: of work requests; @wait_ms: for what does not come. @ring: memory for the
 * completion queue, of ROUND_RING_SIZE bytes, or NULL.
 *
 * Return: 0, or the negative errno of the first thing that failed, told on stdout. Memory
 * that is not the queues' own, the library and the device shall not touch, whatever fails:
 * that ends the program.
 */
int round_run(unsigned int batches, int wait_ms, void *ring);

#define ROUND_RING_SIZE	4096

#endif /* ROUND_H */
