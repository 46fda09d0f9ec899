// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* The CPU rings for a GPU. */
#include "priv.h"

#include <kiwi/proxy.h>

int kiwi_proxy_init(struct kiwi_proxy *proxy, const struct kiwi_snic_queue_query *queue,
		    const struct kiwi_doorbell *db, const uint64_t *producer)
{
	if (queue->doorbell != db->id)
		return refuse(EINVAL, "the queue rings doorbell page %u, not %u", queue->doorbell,
			      db->id);
	if (queue->db_width != sizeof(uint64_t) || !queue->db_index_bits ||
	    queue->db_index_bits > 63 || queue->db_index_shift > 64 - queue->db_index_bits)
		return refuse(EINVAL, "no doorbell of 8 bytes: width %u, index of %u bits at %u",
			      queue->db_width, queue->db_index_bits, queue->db_index_shift);
	*proxy = (struct kiwi_proxy){
		.producer = producer,
		.rung = __atomic_load_n(producer, __ATOMIC_ACQUIRE),
		.db = db->reg,
		.db_value = queue->db_value,
		.db_mask = (1ULL << queue->db_index_bits) - 1,
		.db_shift = queue->db_index_shift,
		.db_wc = db->flags & KIWI_SNIC_DOORBELL_WC ? 1 : 0,
	};
	return 0;
}
