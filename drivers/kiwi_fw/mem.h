/* SPDX-License-Identifier: GPL-2.0 */
/* Memory that the device may reach: what its two kinds share. */
#ifndef KIWI_FW_MEM_H
#define KIWI_FW_MEM_H

#include <kiwi/fw.h>

struct sg_table;

/**
 * struct kiwi_fw_mem_ops - a kind of memory
 * @vmap: maps the memory for the CPU
 * @lock: keeps it where it is, and has it in reach; NULL where it cannot move
 * @unlock: undoes that; likewise
 * @release: gives all back
 */
struct kiwi_fw_mem_ops {
	int (*vmap)(struct kiwi_fw_mem *mem, struct iosys_map *map);
	int (*lock)(struct kiwi_fw_mem *mem);
	void (*unlock)(struct kiwi_fw_mem *mem);
	void (*release)(struct kiwi_fw_mem *mem);
};

/* mem.c */
int kiwi_fw_mem_set_runs(struct kiwi_fw *fw, struct kiwi_fw_mem *mem, struct sg_table *sgt,
			 u64 offset, u64 length);
void kiwi_fw_mem_free_runs(struct kiwi_fw_mem *mem);

/* path.c */
void kiwi_fw_path_find(struct kiwi_fw *fw, const struct kiwi_fw_run *runs, unsigned int nr_runs,
		       struct kiwi_fw_path *path);
void kiwi_fw_route_find(struct kiwi_fw *fw, struct pci_dev *peer, struct kiwi_fw_route *route);

#endif /* KIWI_FW_MEM_H */
