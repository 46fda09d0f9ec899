/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libkiwi: what its files share. Public structures stand at the head of private
 * ones, so that these can grow.
 */
#ifndef KIWI_PRIV_H
#define KIWI_PRIV_H

#include <kiwi/kiwi.h>

#include <pthread.h>
#include <stdbool.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/* Anything that ends with the device handle. */
struct object {
	struct kiwi_device *dev;
	struct object *prev;
	struct object *next;
	void (*release)(struct object *obj);
};

struct ring_memory {
	void *cpu;
	size_t size;	/* of what the library allocated, else 0 */
};

struct kiwi_device {
	int fd;
	char name[KIWI_NAME_MAX];
	struct kiwi_snic_query_device info;
	/* Held while a QP number is given or taken back, so that none changes hands unseen. */
	pthread_mutex_t qpn_lock;
	pthread_mutex_t lock;	/* what follows; the QP table is read without it */
	struct object *objects;
	struct kiwi_doorbell *doorbell;
	struct ring_memory error_page;
	struct kiwi_qp **qps[KIWI_QP_TABLE_SIZE];
};

struct kiwi_doorbell {
	struct object obj;
	uint32_t id;
	uint32_t flags;
	void *map;
	size_t map_size;
	volatile uint64_t *reg;
};

struct pd {
	struct kiwi_pd pub;
	struct object obj;
};

struct mr {
	struct kiwi_mr pub;
	struct object obj;
};

struct cq {
	struct kiwi_cq pub;
	struct object obj;
	struct ring_memory memory;
	/* Stand for rings that this process does not see. */
	struct kiwi_cqe no_entry[2];
	struct kiwi_cq_ci no_ci;
};

struct qp {
	struct kiwi_qp pub;
	struct object obj;
	struct ring_memory memory;
};

/* error.c: all return -@err, for "return refuse(...)" */
int refuse(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));
int dev_ioctl(struct kiwi_device *dev, unsigned long request, void *arg);

/* device.c */
void *object_alloc(size_t size);
void object_add(struct kiwi_device *dev, struct object *obj,
		void (*release)(struct object *obj));
/* End the kernel's object @id, then the handle; the handle stays when the kernel refuses. */
int object_destroy(struct object *obj, uint32_t id);

/* memory.c */
int ring_memory_alloc(struct ring_memory *memory, struct kiwi_mem *mem, size_t size);
void ring_memory_free(struct ring_memory *memory);
uint32_t round_up_pow2(uint32_t n);
unsigned int log2_of(uint32_t pow2);

/* doorbell.c */
int doorbell_default(struct kiwi_device *dev, struct kiwi_doorbell **db);

/* cq.c */
void cq_forget_qp(struct kiwi_cq *cq, uint32_t qpn);

/* qp_table.c */
void qp_table_init(struct kiwi_device *dev);
void qp_table_free(struct kiwi_device *dev);
int qp_table_set(struct kiwi_device *dev, struct kiwi_qp *qp);
void qp_table_clear(struct kiwi_device *dev, uint32_t qpn);

#endif /* KIWI_PRIV_H */
