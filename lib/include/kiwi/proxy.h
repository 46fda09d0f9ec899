/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libkiwi: a thread of the CPU rings doorbells for a GPU that cannot reach them, or is not
 * to. Code on the GPU works the queue as its descriptor tells, but in place of the doorbell it
 * stores its producer index, which never wraps to a lower one, to a 64-bit word in memory.
 *
 * The words may be in memory of the host, which is the faster place for the CPU, or of the
 * GPU. A thread of the caller calls kiwi_proxy_poll() over and over; no call enters the
 * kernel.
 */
#ifndef KIWI_PROXY_H
#define KIWI_PROXY_H

#include <kiwi/kiwi.h>

/**
 * struct kiwi_proxy - a queue, of one thread
 * @producer: word that the GPU stores to
 * @rung: what it held when the doorbell was rung last
 * @db: doorbell register
 * @db_value: the rest of the doorbell's value
 * @db_mask: the index in it, not shifted
 * @db_shift: where the index stands
 * @db_wc: the doorbell is mapped write-combined
 */
struct kiwi_proxy {
	const uint64_t *producer;
	uint64_t rung;
	volatile uint64_t *db;
	uint64_t db_value;
	uint64_t db_mask;
	uint32_t db_shift;
	uint32_t db_wc;
};

/**
 * kiwi_proxy_poll() - ring for all queues that have moved since
 * @proxy: array of queues
 * @count: of them
 *
 * Return: how many were rung.
 */
static inline unsigned int kiwi_proxy_poll(struct kiwi_proxy *proxy, unsigned int count)
{
	unsigned int i, rung = 0;

	for (i = 0; i < count; i++) {
		struct kiwi_proxy *p = &proxy[i];
		/* The GPU's stores to the ring stand before that of the index, and so before ours. */
		uint64_t index = __atomic_load_n(p->producer, __ATOMIC_ACQUIRE);

		if (kiwi_likely_(index == p->rung))
			continue;
		p->rung = index;
		kiwi_db_write_(p->db, p->db_value | (index & p->db_mask) << p->db_shift,
			       (int)p->db_wc);
		rung++;
	}
	return rung;
}

#endif /* KIWI_PROXY_H */
