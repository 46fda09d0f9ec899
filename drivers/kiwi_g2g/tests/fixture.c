// SPDX-License-Identifier: GPL-2.0
#include <linux/dma-mapping.h>
#include <linux/idr.h>
#include <linux/mman.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "fixture.h"

static DEFINE_IDA(fixture_ida);
static dev_t fixture_devt;

static int no_sysfs(struct kiwi_part *part)
{
	return 0;
}

static void nothing(struct kiwi_part *part)
{
}

static void fixture_free(struct kiwi_part *part)
{
	struct kg2g *kg = to_kg2g(part);

	kg2g_teardown(kg);
	kfree(kg);
}

static struct kiwi_part_ops fixture_ops = {
	.name = "g2g",
	.owner = THIS_MODULE,
	.number = KIWI_PART_G2G,
	.kinds = KG2G_KINDS,
	.fw = {
		.events_end = KIWI_G2G_EV_COUNT,
		.event = kg2g_event,
		.down = kiwi_part_down,
	},
	.ioctls = kg2g_ioctls,
	.stopped = nothing,
	.publish = no_sysfs,
	.unpublish = nothing,
	.mmap = kg2g_mmap,
	KIWI_QUEUES_FILE_OPS,
	.free = fixture_free,
	.devt = &fixture_devt,
	.ida = &fixture_ida,
};

/* Attributes are not among the units. */
const struct attribute_group *kg2g_dev_groups[] = { NULL };

static void init_function(struct pci_dev *pdev)
{
	device_initialize(&pdev->dev);
	pdev->dev.init_name = "g2g-test";	/* nobody would free another */
	pdev->dma_mask = DMA_BIT_MASK(64);
	pdev->dev.dma_mask = &pdev->dma_mask;
	pdev->dev.coherent_dma_mask = DMA_BIT_MASK(64);
	pdev->resource[KIWI_BAR_APERTURE].start = FIXTURE_BAR;
	pdev->resource[KIWI_BAR_APERTURE].end = FIXTURE_BAR + FAKE_BAR_LEN - 1;
}

static int open_file(struct fixture *x)
{
	int ret;

	kiwi_files_admit(&x->kg->part);
	x->inode.i_cdev = &x->kg->part.cdev;
	ret = x->kg->part.cdev.ops->open(&x->inode, &x->filp);
	x->file = x->filp.private_data;
	return ret;
}

/**
 * fixture_init() - for a suite: a die that is up, and an open file, test->priv
 * @test: the test
 *
 * Return: 0 or negative errno
 */
int fixture_init(struct kunit *test)
{
	struct fixture *x = kunit_kzalloc(test, sizeof(*x), GFP_KERNEL);
	int ret;

	if (!x)
		return -ENOMEM;
	x->kg = kzalloc(sizeof(*x->kg), GFP_KERNEL);
	if (!x->kg)
		return -ENOMEM;
	x->test = test;
	init_function(&x->pdev);
	fake_g2g_init(&x->g2g, &x->pdev);
	fixture_ops.nr_ioctls = kg2g_nr_ioctls;
	x->fw.ops = &fixture_ops.fw;
	x->fw.priv = &x->kg->part;
	ret = kg2g_setup(x->kg, &fixture_ops, &x->pdev.dev);
	if (ret) {
		kfree(x->kg);
		return ret;
	}
	test->priv = x;
	x->kg->part.fw = &x->fw;
	dev_set_name(&x->kg->part.dev, "g2g0");
	ret = kg2g_start(x->kg, FAKE_BAR_LEN, &x->err);
	if (ret)
		return ret;
	/* As if EV_FABRIC had told what the fake replies. */
	kiwi_queues_port(&x->kg->part, 1, true);
	x->user = kunit_vm_mmap(test, NULL, 0, 2 * PAGE_SIZE, PROT_READ | PROT_WRITE,
				MAP_ANONYMOUS | MAP_PRIVATE, 0);
	if (!x->user || IS_ERR_VALUE(x->user))
		return -ENOMEM;
	return open_file(x);
}

/**
 * fixture_exit() - for a suite: closes the file; nothing is left
 * @test: the test
 */
void fixture_exit(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kg2g *kg;

	if (!x)
		return;
	kg = x->kg;
	x->fw.refuse = 0;
	x->fw.kill = 0;
	if (x->file)
		kg->part.cdev.ops->release(&x->inode, &x->filp);
	kg2g_stopped(kg);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	KUNIT_EXPECT_EQ(test, x->fw.mems, 0);
	KUNIT_EXPECT_EQ(test, x->fw.pbls, 0);
	KUNIT_EXPECT_STREQ(test, x->fw.broken ?: "", "");
	KUNIT_EXPECT_TRUE(test, list_empty(&kg->part.zombies));
	KUNIT_EXPECT_TRUE(test, list_empty(&kg->part.files));
	KUNIT_EXPECT_TRUE(test, list_empty(&kg->aperture.ranges));
	KUNIT_EXPECT_EQ(test, x->g2g.queues.comps, 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&kg->queues.cqs));
	KUNIT_EXPECT_TRUE(test, xa_empty(&kg->queues.qps));
	KUNIT_EXPECT_TRUE(test, xa_empty(&kg->queues.dbs));
	KUNIT_EXPECT_TRUE(test, xa_empty(&kg->exports));
	KUNIT_EXPECT_TRUE(test, xa_empty(&kg->windows));
	put_device(&kg->part.dev);
}

long fixture_ioctl(struct fixture *x, unsigned int cmd, void *arg)
{
	size_t size = kg2g_ioctls[_IOC_NR(cmd)].size;
	long ret;

	*(u32 *)arg = size;
	KUNIT_ASSERT_EQ(x->test, copy_to_user((void __user *)x->user, arg, size), 0);
	ret = x->kg->part.cdev.ops->unlocked_ioctl(&x->filp, cmd, x->user);
	KUNIT_ASSERT_EQ(x->test, copy_from_user(arg, (void __user *)x->user, size), 0);
	return ret;
}

void fixture_expect_text(struct fixture *x, const char *wanted)
{
	struct kiwi_last_error e = { };

	KUNIT_ASSERT_EQ(x->test, CALL(x, LAST_ERROR, &e), 0);
	KUNIT_EXPECT_STREQ(x->test, e.text, wanted);
}

struct kiwi_file_event fixture_event(struct fixture *x)
{
	struct kiwi_file_event event = { };

	KUNIT_ASSERT_TRUE(x->test, kiwi_events_pop(&x->file->owner.events, &event));
	return event;
}

void fixture_no_event(struct fixture *x)
{
	KUNIT_EXPECT_FALSE(x->test, kiwi_events_pending(&x->file->owner.events));
}

int fixture_destroy(struct fixture *x, u32 id)
{
	struct kiwi_destroy d = { .id = id };

	return CALL(x, DESTROY, &d);
}
