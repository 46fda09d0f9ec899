// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/*
 * From a QP number in a completion to the QP: a table in two levels. Whoever polls
 * reads it without a lock, so leaves stay until the device is closed.
 */
#include "priv.h"

#include <stdlib.h>

static struct kiwi_qp *empty_leaf[KIWI_QP_TABLE_SIZE];

static unsigned int leaf_of(uint32_t qpn)
{
	return (qpn >> KIWI_QP_TABLE_SHIFT) & (KIWI_QP_TABLE_SIZE - 1);
}

static unsigned int entry_of(uint32_t qpn)
{
	return qpn & (KIWI_QP_TABLE_SIZE - 1);
}

void qp_table_init(struct kiwi_device *dev)
{
	unsigned int i;

	for (i = 0; i < KIWI_QP_TABLE_SIZE; i++)
		dev->qps[i] = empty_leaf;
}

void qp_table_free(struct kiwi_device *dev)
{
	unsigned int i;

	for (i = 0; i < KIWI_QP_TABLE_SIZE; i++)
		if (dev->qps[i] != empty_leaf)
			free(dev->qps[i]);
}

int qp_table_set(struct kiwi_device *dev, struct kiwi_qp *qp)
{
	struct kiwi_qp **leaf;

	if (!qp->qpn || qp->qpn > KIWI_SNIC_NUMBER_MAX)
		return refuse(EPROTO, "%s: QP number 0x%x is none", dev->handle.name, qp->qpn);
	pthread_mutex_lock(&dev->handle.lock);
	leaf = dev->qps[leaf_of(qp->qpn)];
	if (leaf == empty_leaf) {
		leaf = calloc(KIWI_QP_TABLE_SIZE, sizeof(struct kiwi_qp *));
		if (!leaf) {
			pthread_mutex_unlock(&dev->handle.lock);
			return refuse(ENOMEM, "no memory for the table of QPs");
		}
		__atomic_store_n(&dev->qps[leaf_of(qp->qpn)], leaf, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&leaf[entry_of(qp->qpn)], qp, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&dev->handle.lock);
	return 0;
}

void qp_table_clear(struct kiwi_device *dev, uint32_t qpn)
{
	__atomic_store_n(&dev->qps[leaf_of(qpn)][entry_of(qpn)], NULL, __ATOMIC_RELEASE);
}
