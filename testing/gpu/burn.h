/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GPU_BURN_H
#define GPU_BURN_H

#include <stdbool.h>

/*
 * Kernels of two ranks put to each other at full rate until something ends them; others watch
 * the error pages, until these are of no more use. Says which process holds the SNICs and
 * "ready" when they run, and then how each ended:
 *
 *	SNICs held by PID
 *	ready
 *	rank N work|watch: state STATE fault FAULT detail DETAIL at SECONDS
 *	rank N work|watch: gone
 *
 * in seconds of /proc/uptime, by the accelerator's clock. With @heir a child that has the
 * accelerators, but not the SNICs, tells this, and goes on when its parent is killed.
 */
int burn(bool heir);

#endif /* GPU_BURN_H */
