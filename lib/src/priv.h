/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libkiwi: what its files share. Public structures stand at the head of private
 * ones, so that these can grow.
 */
#ifndef KIWI_PRIV_H
#define KIWI_PRIV_H

#include <kiwi/fabric.h>
#include <kiwi/kiwi.h>

#include <pthread.h>
#include <stdbool.h>

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

/* What the ioctls that all parts have are called by one of them. */
struct part {
	const char *prefix;	/* of device names */
	unsigned long query_device;
	unsigned long last_error;
	unsigned long destroy;
	unsigned long pd_alloc;	/* the others of queues are as far from it as the SNIC's are */
	const char *(*ioctl_name)(unsigned int nr);
};

/* An open file of any part, at the head of the part's own structure. */
struct handle {
	const struct part *part;
	int fd;
	char name[KIWI_NAME_MAX];
	void *info;		/* what query_device fills in */
	pthread_mutex_t lock;	/* what follows, and what the part says */
	struct object *objects;
};

/* Anything that ends with the handle. */
struct object {
	struct handle *handle;
	struct object *prev;
	struct object *next;
	void (*release)(struct object *obj);
};

struct ring_memory {
	void *cpu;
	size_t size;	/* of what the library allocated, else 0 */
};

struct kiwi_device {
	struct handle handle;
	struct kiwi_snic_query_device info;
	/* Held while a QP number is given or taken back, so that none changes hands unseen. */
	pthread_mutex_t qpn_lock;
	/* Under the lock of the handle; the QP table is read without it. */
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

/* @dev: its queues; of its info, what a die has of a SNIC's */
struct kiwi_g2g {
	struct kiwi_device dev;
	struct kiwi_g2g_query_device info;
};

struct exp {
	struct kiwi_export pub;
	struct object obj;
};

struct imp {
	struct kiwi_import pub;
	struct object obj;
	size_t map_size;
	volatile char *atomics;		/* NULL: none */
	size_t atomic_size;
};

/* error.c: returns -@err, for "return refuse(...)" */
int refuse(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* handle.c */
int handle_list(const struct part *part, struct kiwi_name *names, int max);
int handle_open(struct handle *h, const struct part *part, const char *name);
void handle_close(struct handle *h);
int handle_ioctl(struct handle *h, unsigned long request, void *arg);
/* An ioctl of queues; all parts that have them number them in one order. @request: the SNIC's */
int queue_ioctl(struct handle *h, unsigned long request, void *arg);
/* End the kernel's object @id. */
int handle_destroy(struct handle *h, uint32_t id);
/* @event: of any part; all are of one size */
int handle_event(struct handle *h, void *event, int timeout_ms);

void *object_alloc(size_t size);
void object_add(struct handle *h, struct object *obj, void (*release)(struct object *obj));
/* End the kernel's object @id, then the handle's; that stays when the kernel refuses. */
int object_destroy(struct object *obj, uint32_t id);

/* patience.c: asking again and again, ever more seldom, until the time is over */
struct patience {
	uint64_t end_ms;	/* UINT64_MAX: no end */
	unsigned int pause_ms;
};

/* @timeout_ms: negative for no end */
void patience_begin(struct patience *p, int timeout_ms);
/* Sleep; false without sleep when the time was over before. */
bool patience_left(struct patience *p);

/* text.c */
const char *text_word(const char *const *words, size_t count, unsigned int value);

#define WORD(words, value) text_word(words, sizeof(words) / sizeof((words)[0]), value)

/* memory.c */
int ring_memory_alloc(struct ring_memory *memory, struct kiwi_mem *mem, size_t size);
void ring_memory_free(struct ring_memory *memory);
uint32_t round_up_pow2(uint32_t n);
unsigned int log2_of(uint32_t pow2);

/* device.c: what queues need, beside the handle */
void device_begin(struct kiwi_device *dev);
void device_end(struct kiwi_device *dev);

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
