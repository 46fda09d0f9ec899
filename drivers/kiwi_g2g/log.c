// SPDX-License-Identifier: GPL-2.0
/* The error log: records are taken off the device as they come, and the latest are kept. */
#include <linux/container_of.h>

#include "kg2g.h"

void kg2g_log_init(struct kg2g_log *log)
{
	mutex_init(&log->lock);
}

/**
 * kg2g_log_clear() - forget all records: the device numbers anew
 * @log: the log
 */
void kg2g_log_clear(struct kg2g_log *log)
{
	mutex_lock(&log->lock);
	log->total = 0;
	log->lost = 0;
	mutex_unlock(&log->lock);
}

static void keep(struct kg2g_log *log, const struct kiwi_g2g_log_entry *entry)
{
	lockdep_assert_held(&log->lock);
	log->records[log->total++ % KG2G_LOG_KEPT] = (struct kiwi_g2g_log_record) {
		.sequence = le64_to_cpu(entry->sequence),
		.time_us = le64_to_cpu(entry->time_us),
		.addr = le64_to_cpu(entry->addr),
		.id = le32_to_cpu(entry->id),
		.count = le32_to_cpu(entry->count),
		.len = le32_to_cpu(entry->len),
		.accel = le16_to_cpu(entry->accel),
		.kind = entry->kind,
		.status = entry->status,
	};
}

/* Return: whether the device has more; an error of the device ends it. */
static bool take(struct kg2g *kg)
{
	struct kiwi_g2g_log reply;
	struct kiwi_error err;
	u32 i, count;

	if (kg2g_cmd_read_log(kg->part.fw, &reply, &err))
		return false;
	count = le32_to_cpu(reply.count);
	mutex_lock(&kg->log.lock);
	kg->log.lost = le64_to_cpu(reply.lost);
	for (i = 0; i < count; i++)
		keep(&kg->log, &reply.entry[i]);
	mutex_unlock(&kg->log.lock);
	if (count)
		kg2g_tell(kg, KIWI_G2G_EVENT_LOG, 0, 0, 0);
	return reply.left;
}

/**
 * kg2g_log_work() - take records off the device
 * @work: of the device
 *
 * So many at a time that a device which never ends takes no worker for itself.
 */
void kg2g_log_work(struct work_struct *work)
{
	struct kg2g *kg = container_of(work, struct kg2g, log_work);
	unsigned int n;

	for (n = 0; n < KG2G_LOG_KEPT / KIWI_G2G_LOG_READ; n++) {
		if (!take(kg))
			return;
	}
	schedule_work(work);
}

/**
 * kg2g_log_read() - give the oldest records that are kept
 * @kg: the device
 * @read: what is wanted, and the reply
 */
void kg2g_log_read(struct kg2g *kg, struct kiwi_g2g_log_read *read)
{
	const struct kiwi_g2g_log_record *record;
	struct kg2g_log *log = &kg->log;
	u64 n;

	read->count = 0;
	mutex_lock(&log->lock);
	read->lost = log->lost;
	n = log->total > KG2G_LOG_KEPT ? log->total - KG2G_LOG_KEPT : 0;
	for (; n < log->total && read->count < KIWI_G2G_LOG_RECORDS; n++) {
		record = &log->records[n % KG2G_LOG_KEPT];
		if (record->sequence > read->after)
			read->record[read->count++] = *record;
	}
	mutex_unlock(&log->lock);
}
