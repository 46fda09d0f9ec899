/* SPDX-License-Identifier: GPL-2.0 */
/* A SNIC on the fake firmware interface, and an open file. */
#ifndef KSNIC_FIXTURE_H
#define KSNIC_FIXTURE_H

#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/pci.h>

#include "../../kiwi_fw/queues/object.h"
#include "../ksnic.h"
#include "../port.h"
#include "fake_snic.h"

#define FIXTURE_USER_DATA	0xabcdef0123456789ULL

/**
 * struct fixture - what a test works with
 * @test: the test
 * @fw: firmware interface of the device
 * @snic: the device
 * @pdev: its function
 * @ks: the driver's structure of it
 * @inode: of @filp
 * @filp: an open file
 * @file: what files of all parts have of it
 * @owner: its table of objects
 * @user: address of two pages of user memory
 * @err: why the last call failed
 */
struct fixture {
	struct kunit *test;
	union {
		struct kiwi_fw fw;
		struct fake_snic snic;
	};
	struct pci_dev pdev;
	struct ksnic ks;
	struct inode inode;
	struct file filp;
	struct kiwi_file *file;
	struct kiwi_owner *owner;
	unsigned long user;
	struct kiwi_error err;
};

int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);

/* Events that the file has not read: how many, and one of them. */
unsigned int fixture_events(struct fixture *x);
struct kiwi_file_event fixture_event(struct fixture *x, unsigned int n);

/* Events are lost, and what the driver does about it is done. */
void fixture_lose_events(struct fixture *x);

/* An object in the table of @owner, published; the test ends if it cannot be made. */
struct kiwi_pd *fixture_pd(struct fixture *x);
struct kiwi_mr *fixture_mr(struct fixture *x, struct kiwi_pd *pd);
struct kiwi_db *fixture_db(struct fixture *x);
struct kiwi_cq *fixture_cq(struct fixture *x, struct kiwi_db *db);
struct kiwi_qp *fixture_qp(struct fixture *x, struct kiwi_pd *pd, struct kiwi_cq *send,
			   struct kiwi_cq *recv, struct kiwi_db *db);

/* The same up to where its maker has filled it in, and neither created nor published. */
struct kiwi_mr *fixture_mr_filled(struct fixture *x, struct kiwi_pd *pd);
struct kiwi_cq *fixture_cq_filled(struct fixture *x, struct kiwi_db *db);
struct kiwi_qp *fixture_qp_filled(struct fixture *x, struct kiwi_pd *pd, struct kiwi_cq *send,
				  struct kiwi_cq *recv, struct kiwi_db *db);

/* The memory of an object, with what it was asked for. */
static inline struct fake_mem *fixture_mem(struct kiwi_fw_mem *mem)
{
	return container_of(mem, struct fake_mem, mem);
}

/* The exporter takes memory away. */
static inline void fixture_revoke(struct kiwi_fw_mem *mem)
{
	struct fake_mem *m = fixture_mem(mem);

	m->ops->revoked(m->arg);
}

int fixture_destroy(struct fixture *x, u32 id);

#endif /* KSNIC_FIXTURE_H */
