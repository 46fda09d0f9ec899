/* SPDX-License-Identifier: GPL-2.0 */
/* Queues of a device behind the fake firmware interface: kept as the ABI says. */
#ifndef KIWI_FAKE_QUEUES_H
#define KIWI_FAKE_QUEUES_H

#include <linux/bitmap.h>

#include <kiwi_abi/snic.h>

#include "fake_fw.h"

#define FAKE_DB_PAGES	8
#define FAKE_DB_BASE	0x4000000000ULL
#define FAKE_QUEUE_OBJECTS	32

enum fake_kind {
	FAKE_PD = 1,
	FAKE_MR,
	FAKE_CQ,
	FAKE_QP,
	FAKE_KINDS
};

/**
 * struct fake_object - an object of the device
 * @kind: which, 0 for none
 * @number: in the ABI
 * @pd: number of its PD, 0 for none
 * @cqs: numbers of its CQs
 * @db_page: its doorbell page, -1 for none
 * @memory: DMA addresses of what it lives in, 0 while a region is held
 */
struct fake_object {
	enum fake_kind kind;
	u32 number;
	u32 pd;
	u32 cqs[2];
	int db_page;
	u64 memory[2];
};

/**
 * struct fake_queues - what a device with queues has of them
 * @attr: reply of QUERY_QP
 * @epoch: of the last queue
 * @objects: alive
 * @db_open: pages
 * @comp: listener added last
 * @comps: listeners
 * @comp_error: what adding one fails with
 */
struct fake_queues {
	struct kiwi_qp_attr attr;
	u16 epoch;
	struct fake_object objects[FAKE_QUEUE_OBJECTS];
	DECLARE_BITMAP(db_open, FAKE_DB_PAGES);
	struct kiwi_fw_comp *comp;
	unsigned int comps;
	int comp_error;
};

extern const struct kiwi_snic_caps fake_queues_caps;

void fake_queues_init(struct kiwi_fw *fw, struct fake_queues *queues);
u16 fake_queues_execute(struct kiwi_fw *fw, u16 opcode, const void *in, void *out);
void fake_queues_forget(struct kiwi_fw *fw);
unsigned int fake_queues_live(const struct kiwi_fw *fw);
bool fake_queues_reaches(const struct kiwi_fw *fw, u64 addr);

#endif /* KIWI_FAKE_QUEUES_H */
