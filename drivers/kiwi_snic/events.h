/* SPDX-License-Identifier: GPL-2.0 */
/* Queue of asynchronous events of one open file. */
#ifndef KSNIC_EVENTS_H
#define KSNIC_EVENTS_H

#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include <uapi/kiwi/snic.h>

#define KSNIC_EVENTS_MAX	256

/**
 * struct ksnic_event_queue - events that the file has not read yet
 * @lock: protects all but @wait
 * @head: next to be read
 * @count: unread
 * @ring: one entry more than the limit, for KIWI_SNIC_EVENT_LOST
 * @wait: readers
 */
struct ksnic_event_queue {
	spinlock_t lock;	/* the ring */
	unsigned int head;
	unsigned int count;
	struct kiwi_snic_event ring[KSNIC_EVENTS_MAX + 1];
	wait_queue_head_t wait;
};

void ksnic_events_init(struct ksnic_event_queue *q);
void ksnic_events_push(struct ksnic_event_queue *q, u32 type, u32 id, u64 user_data, u32 code);
bool ksnic_events_pop(struct ksnic_event_queue *q, struct kiwi_snic_event *event);
bool ksnic_events_pending(struct ksnic_event_queue *q);

#endif /* KSNIC_EVENTS_H */
