/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GPU_SHOW_H
#define GPU_SHOW_H

/*
 * Puts of several sizes, then all-to-all of several ranks; prints a list in JSON of what each
 * cost, by the counters of all devices from before its launch to after its end.
 */
int show(void);

#endif /* GPU_SHOW_H */
