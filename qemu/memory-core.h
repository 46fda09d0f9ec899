/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Of QEMU's memory core, which declares these for target code alone.
 */
#ifndef MEMORY_CORE_H
#define MEMORY_CORE_H

#include "exec/memory.h"

extern const MemoryRegionOps unassigned_mem_ops;

/* The map in use, referenced */
FlatView *address_space_get_flatview(AddressSpace *as);
void flatview_unref(FlatView *view);

#endif /* MEMORY_CORE_H */
