/* SPDX-License-Identifier: GPL-2.0 */
/* A G2G IO die on the fake firmware interface, and an open file. */
#ifndef KG2G_FIXTURE_H
#define KG2G_FIXTURE_H

#include <kunit/test.h>
#include <linux/fs.h>
#include <linux/pci.h>

#include "../kg2g.h"
#include "../object.h"
#include "fake_g2g.h"

#define FIXTURE_USER_DATA	0xabcdef0123456789ULL
#define FIXTURE_BAR		0x4000000000ULL

/**
 * struct fixture - what a test works with
 * @test: the test
 * @fw: firmware interface of the device
 * @g2g: the device
 * @pdev: its function
 * @kg: the driver's structure of it
 * @inode: of @filp
 * @filp: an open file
 * @file: the driver's structure of it
 * @user: address of two pages of user memory
 * @err: why the last call failed
 */
struct fixture {
	struct kunit *test;
	union {
		struct kiwi_fw fw;
		struct fake_g2g g2g;
	};
	struct pci_dev pdev;
	struct kg2g *kg;
	struct inode inode;
	struct file filp;
	struct kiwi_file *file;
	unsigned long user;
	struct kiwi_error err;
};

int fixture_init(struct kunit *test);
void fixture_exit(struct kunit *test);

/* An ioctl with a structure of the size it has now. */
long fixture_ioctl(struct fixture *x, unsigned int cmd, void *arg);
void fixture_expect_text(struct fixture *x, const char *wanted);

/* The next event of the file; the test ends if there is none. */
struct kiwi_file_event fixture_event(struct fixture *x);
void fixture_no_event(struct fixture *x);

int fixture_destroy(struct fixture *x, u32 id);

#define CALL(x, name, arg) fixture_ioctl(x, KIWI_G2G_##name, arg)

#endif /* KG2G_FIXTURE_H */
