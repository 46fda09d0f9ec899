// SPDX-License-Identifier: GPL-2.0
/* The ioctl interface as such: sizes, flags, privilege, a device that is gone, reading events. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "fixture.h"

static long call_nr(struct fixture *x, unsigned int cmd, u32 size, u32 flags)
{
	u32 head[2] = { size, flags };

	KUNIT_ASSERT_EQ(x->test, clear_user((void __user *)x->user, 2 * PAGE_SIZE), 0);
	KUNIT_ASSERT_EQ(x->test, copy_to_user((void __user *)x->user, head, sizeof(head)), 0);
	return x->kg->part.cdev.ops->unlocked_ioctl(&x->filp, cmd, x->user);
}

static void ioctl_sizes(struct kunit *test)
{
	struct fixture *x = test->priv;
	const struct kiwi_ioctl *i;

	for (i = kg2g_ioctls; i < kg2g_ioctls + kg2g_nr_ioctls; i++) {
		if (!i->handler)
			continue;
		KUNIT_EXPECT_LE(test, i->size, KIWI_IOCTL_DATA_MAX);
		KUNIT_EXPECT_EQ(test, call_nr(x, i->cmd, i->min_size - 1, 0), -EINVAL);
		KUNIT_EXPECT_EQ(test, call_nr(x, i->cmd, 4097, 0), -E2BIG);
		KUNIT_EXPECT_EQ(test, call_nr(x, i->cmd, i->size, 0x80000000U), -EINVAL);
	}
}

static void ioctl_longer_tail(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 one = 1;

	KUNIT_EXPECT_EQ(test, call_nr(x, KIWI_G2G_FABRIC_QUERY, 4096, 0), 0);
	KUNIT_ASSERT_EQ(test, copy_to_user((void __user *)x->user + 4092, &one, 4), 0);
	KUNIT_EXPECT_EQ(test, x->kg->part.cdev.ops->unlocked_ioctl(&x->filp,
								   KIWI_G2G_FABRIC_QUERY,
								   x->user), -E2BIG);
}

static void ioctl_unknown(struct kunit *test)
{
	struct fixture *x = test->priv;
	unsigned int nr;

	for (nr = 0; nr < 256; nr++) {
		if (nr < kg2g_nr_ioctls && kg2g_ioctls[nr].handler)
			continue;
		KUNIT_EXPECT_EQ(test, call_nr(x, _IO(KIWI_G2G_IOC_TYPE, nr), 16, 0), -ENOTTY);
	}
	KUNIT_EXPECT_EQ(test, call_nr(x, _IO(0xE6, 0), 120, 0), -ENOTTY);
}

/* All that changes what is not the file's own, and nothing else. */
static void ioctl_privilege(struct kunit *test)
{
	static const unsigned int admin[] = {
		KIWI_G2G_FABRIC_SET, KIWI_G2G_FABRIC_CHANGE, KIWI_G2G_PORT_SET,
		KIWI_G2G_PEER_CHANGE, KIWI_G2G_ROUTES_STAGE, KIWI_G2G_ROUTES_COMMIT,
		KIWI_G2G_IMAGE_LOAD, KIWI_G2G_IMAGE_WRITE, KIWI_G2G_IMAGE_CHANGE,
	};
	struct fixture *x = test->priv;
	const struct cred *old;
	const struct kiwi_ioctl *i;
	struct cred *cred;
	unsigned int n;
	bool wanted;

	cred = prepare_creds();
	KUNIT_ASSERT_NOT_NULL(test, cred);
	cap_lower(cred->cap_effective, CAP_NET_ADMIN);
	old = override_creds(cred);
	for (i = kg2g_ioctls; i < kg2g_ioctls + kg2g_nr_ioctls; i++) {
		if (!i->handler)
			continue;
		for (wanted = false, n = 0; n < ARRAY_SIZE(admin); n++)
			wanted |= i->cmd == admin[n];
		KUNIT_EXPECT_EQ_MSG(test, call_nr(x, i->cmd, i->size, 0) == -EPERM, wanted, "%s",
				    i->name);
	}
	revert_creds(old);
	put_cred(cred);
}

static void ioctl_device(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_query_device q = { };

	KUNIT_EXPECT_EQ(test, CALL(x, QUERY_DEVICE, &q), 0);
	KUNIT_EXPECT_EQ(test, q.serial, 0x1122334455667788ULL);
	KUNIT_EXPECT_EQ(test, q.generation, 7);
	KUNIT_EXPECT_EQ(test, q.aperture_size, FAKE_BAR_LEN / 2);
	KUNIT_EXPECT_EQ(test, q.accels, 256);
	KUNIT_EXPECT_EQ(test, q.max_import, 4096);
	KUNIT_EXPECT_EQ(test, q.granule_shift, 16);
	KUNIT_EXPECT_EQ(test, q.link_ms, 80);
}

static void ioctl_device_gone(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_fabric_query q = { };
	struct kiwi_g2g_import_bind b = { .accel = 7, .rights = KIWI_ACCESS_REMOTE_READ };
	poll_table wait = { };

	KUNIT_ASSERT_EQ(test, CALL(x, IMPORT_BIND, &b), 0);
	KUNIT_EXPECT_EQ(test, kg2g_may_go_on(x->kg, &x->err), 0);
	kiwi_files_shut(&x->kg->part, -EIO);
	KUNIT_EXPECT_EQ(test, kg2g_may_go_on(x->kg, &x->err), -EIO);
	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_QUERY, &q), -EIO);
	fixture_expect_text(x, "FABRIC_QUERY: the device is in a fatal state and needs a reset");
	KUNIT_EXPECT_TRUE(test, x->kg->part.cdev.ops->poll(&x->filp, &wait) ==
			  (EPOLLHUP | EPOLLERR));
	kiwi_files_clear(&x->kg->part);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
}

static void ioctl_events_read(struct kunit *test)
{
	struct fixture *x = test->priv;
	const struct file_operations *ops = x->kg->part.cdev.ops;
	struct kiwi_file_event events[12];
	char __user *buf = (char __user *)x->user;
	unsigned int n;

	x->filp.f_flags = O_NONBLOCK;
	KUNIT_EXPECT_EQ(test, ops->read(&x->filp, buf, 4096, NULL), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ops->read(&x->filp, buf, 23, NULL), -EINVAL);
	for (n = 0; n < 12; n++)
		fake_fw_event(&x->fw, KIWI_G2G_EV_PORT, n, 1, 2);
	KUNIT_EXPECT_EQ(test, ops->read(&x->filp, buf, 4096, NULL), sizeof(events));
	KUNIT_ASSERT_EQ(test, copy_from_user(events, (void __user *)x->user, sizeof(events)), 0);
	for (n = 0; n < 12; n++)
		KUNIT_EXPECT_EQ(test, events[n].id, n);
}

static void ioctl_events_lost(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_file_event event = { };
	unsigned int n;

	for (n = 0; n < KIWI_EVENTS_MAX + 5; n++)
		fake_fw_event(&x->fw, KIWI_G2G_EV_PORT, n, 1, 2);
	for (n = 0; n < KIWI_EVENTS_MAX; n++)
		event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.id, KIWI_EVENTS_MAX - 1);
	event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.type, KIWI_EVENT_LOST);
	KUNIT_EXPECT_EQ(test, event.code, 5);
	fixture_no_event(x);
}

#define RESERVED(_name, _type, _field)	\
	{ KIWI_G2G_##_name, offsetof(struct _type, _field) }

static void ioctl_reserved(struct kunit *test)
{
	static const struct {
		unsigned int cmd;
		unsigned int offset;
	} fields[] = {
		RESERVED(QUERY_DEVICE, kiwi_g2g_query_device, rsvd),
		RESERVED(FABRIC_CHANGE, kiwi_g2g_fabric_change, rsvd),
		RESERVED(DESTROY, kiwi_destroy, rsvd),
		RESERVED(READ_LOG, kiwi_g2g_log_read, rsvd),
		RESERVED(PORT_SET, kiwi_g2g_port_set, rsvd),
		RESERVED(PORT_SET, kiwi_g2g_port_set, rsvd1),
		RESERVED(PORT_QUERY, kiwi_g2g_port_query, rsvd),
		RESERVED(PORT_QUERY, kiwi_g2g_port_query, rsvd1[5]),
		RESERVED(PEER_CHANGE, kiwi_g2g_peer_change, rsvd),
		RESERVED(ROUTES_COMMIT, kiwi_g2g_routes_commit, rsvd),
		RESERVED(ROUTES_QUERY, kiwi_g2g_routes_query, rsvd),
		RESERVED(IMAGE_LOAD, kiwi_g2g_image_load, rsvd),
		RESERVED(IMAGE_QUERY, kiwi_g2g_image_query, rsvd),
		RESERVED(EXPORT_CREATE, kiwi_g2g_export_create, rsvd),
		RESERVED(EXPORT_REVOKE, kiwi_g2g_export_revoke, rsvd),
		RESERVED(IMPORT_BIND, kiwi_g2g_import_bind, rsvd),
		RESERVED(IMPORT_BIND, kiwi_g2g_import_bind, rsvd1),
		RESERVED(IMPORT_MAP, kiwi_g2g_import_map, rsvd),
	};
	u8 data[KIWI_IOCTL_DATA_MAX] __aligned(8);
	struct fixture *x = test->priv;
	const struct kiwi_ioctl *ioctl;
	char text[64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(fields); i++) {
		ioctl = &kg2g_ioctls[_IOC_NR(fields[i].cmd)];
		memset(data, 0, sizeof(data));
		data[fields[i].offset] = 1;
		KUNIT_EXPECT_EQ(test, fixture_ioctl(x, fields[i].cmd, data), -EINVAL);
		snprintf(text, sizeof(text), "%s: a reserved field is not zero", ioctl->name);
		fixture_expect_text(x, text);
	}
}

static void ioctl_destroy(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_destroy d = { .id = 1, .rsvd = 1 };

	KUNIT_EXPECT_EQ(test, CALL(x, DESTROY, &d), -EINVAL);
	d.rsvd = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, DESTROY, &d), -ENOENT);
	fixture_expect_text(x, "DESTROY: no object has id 1");
}

static struct kunit_case ioctl_cases[] = {
	KUNIT_CASE(ioctl_sizes),
	KUNIT_CASE(ioctl_longer_tail),
	KUNIT_CASE(ioctl_unknown),
	KUNIT_CASE(ioctl_privilege),
	KUNIT_CASE(ioctl_device),
	KUNIT_CASE(ioctl_device_gone),
	KUNIT_CASE(ioctl_events_read),
	KUNIT_CASE(ioctl_events_lost),
	KUNIT_CASE(ioctl_reserved),
	KUNIT_CASE(ioctl_destroy),
	{}
};

static struct kunit_suite ioctl_suite = {
	.name = "kiwi_g2g_ioctl",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = ioctl_cases,
};

kunit_test_suite(ioctl_suite);
