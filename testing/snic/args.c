// SPDX-License-Identifier: GPL-2.0
/* What every ioctl does with the size, flags, reserved fields and address of its argument. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "snic-test.h"

#define ROOM	512

struct rules {
	const char *name;
	unsigned long cmd;
	uint32_t size;
	uint32_t flags;			/* known */
	uint16_t reserved;		/* offset of the first reserved byte */
	uint16_t reserved_size;
	bool reply;
	uint32_t first_size;		/* of version 1, if it has grown since */
};

#define RULES(_name, _type, _flags, _reply) \
	{ #_name, KIWI_SNIC_##_name, sizeof(struct _type), _flags, 0, 0, _reply, 0 }
#define RESERVED(_name, _type, _flags, _reply, _field) \
	{ #_name, KIWI_SNIC_##_name, sizeof(struct _type), _flags, \
	  offsetof(struct _type, _field), sizeof(((struct _type *)0)->_field), _reply, 0 }
#define GROWN(_name, _type, _flags, _reply, _field, _first) \
	{ #_name, KIWI_SNIC_##_name, sizeof(struct _type), _flags, \
	  offsetof(struct _type, _field), sizeof(((struct _type *)0)->_field), _reply, \
	  offsetof(struct _type, _first) }

static const struct rules all[] = {
	{ "QUERY_DEVICE", KIWI_SNIC_QUERY_DEVICE, sizeof(struct kiwi_snic_query_device), 0, 0, 0,
	  true, offsetof(struct kiwi_snic_query_device, caps) },
	RESERVED(QUERY_PORT, kiwi_snic_query_port, 0, true, rsvd),
	RESERVED(SET_PORT, kiwi_snic_set_port, 0, false, rsvd),
	RESERVED(QUERY_GID, kiwi_snic_gid, 0, true, rsvd),
	RESERVED(SET_GID, kiwi_snic_gid, 0, false, rsvd),
	RULES(LAST_ERROR, kiwi_snic_last_error, 0, true),
	RESERVED(DESTROY, kiwi_snic_destroy, 0, false, rsvd),
	RESERVED(PD_ALLOC, kiwi_snic_pd_alloc, 0, true, rsvd),
	RULES(MR_REG, kiwi_snic_mr_reg, 0, true),
	RESERVED(MR_QUERY, kiwi_snic_mr_query, 0, true, rsvd),
	RESERVED(DOORBELL_ALLOC, kiwi_snic_doorbell_alloc, KIWI_SNIC_DOORBELL_WC, true, rsvd),
	RESERVED(CQ_CREATE, kiwi_snic_cq_create, KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED, true,
		 rsvd),
	GROWN(QP_CREATE, kiwi_snic_qp_create,
	      KIWI_QP_SQ_SIG_ALL | KIWI_QP_SQ_ONLY | KIWI_QP_DB_RECORD, true, rsvd, db_record),
	RESERVED(QP_MODIFY, kiwi_snic_qp_modify, 0, false, rsvd),
	RESERVED(QP_QUERY, kiwi_snic_qp_modify, 0, true, rsvd),
	RESERVED(DOORBELL_EXPORT, kiwi_snic_doorbell_export, O_CLOEXEC, true, rsvd),
	RESERVED(QUEUE_QUERY, kiwi_snic_queue_query, 0, true, rsvd),
	RULES(ERROR_PAGE, kiwi_snic_error_page, 0, false),
	RULES(PREFLIGHT, kiwi_snic_preflight, 0, true),
};

#define IOCTLS	(sizeof(all) / sizeof(all[0]))

union argument {
	unsigned char bytes[ROOM];
	struct { uint32_t size, flags; } head;
	struct kiwi_snic_query_port query_port;
	struct kiwi_snic_set_port set_port;
	struct kiwi_snic_gid gid;
	struct kiwi_snic_destroy destroy;
	struct kiwi_snic_mr_reg mr_reg;
	struct kiwi_snic_mr_query mr_query;
	struct kiwi_snic_cq_create cq_create;
	struct kiwi_snic_qp_create qp_create;
	struct kiwi_snic_qp_modify qp_modify;
	struct kiwi_snic_doorbell_export doorbell_export;
	struct kiwi_snic_queue_query queue_query;
	struct kiwi_snic_error_page error_page;
	struct kiwi_snic_preflight preflight;
};

static int fd;

/* An argument with which the ioctl succeeds. */
static union argument good(const struct rules *r)
{
	union argument a = { .head.size = r->size };
	struct kiwi_snic_doorbell_alloc db;

	switch (r->cmd) {
	case KIWI_SNIC_QUERY_PORT:
		a.query_port.port = 1;
		break;
	case KIWI_SNIC_SET_PORT:
		a.set_port = (struct kiwi_snic_set_port) {
			.size = r->size, .port = 1, .enabled = 1, .mtu = KIWI_MTU_4096,
		};
		break;
	case KIWI_SNIC_QUERY_GID:
	case KIWI_SNIC_SET_GID:
		a.gid.port = 1;
		a.gid.index = 2;
		break;
	case KIWI_SNIC_DESTROY:
		a.destroy.id = make_pd(fd);
		break;
	case KIWI_SNIC_MR_REG:
		a.mr_reg = mr_args(make_pd(fd), pages(PAGE), PAGE);
		break;
	case KIWI_SNIC_MR_QUERY:
		a.mr_query.mr = make_mr(fd, make_pd(fd), pages(PAGE), PAGE).mr;
		break;
	case KIWI_SNIC_DOORBELL_EXPORT:
		a.doorbell_export.doorbell = make_doorbell(fd, 0).doorbell;
		break;
	case KIWI_SNIC_ERROR_PAGE:
		/* A file has it once. */
		close(fd);
		fd = snic_open();
		a.error_page.mem = (struct kiwi_mem) {
			KIWI_MEM_USER, 0, (uintptr_t)pages(PAGE), KIWI_ERROR_PAGE_BYTES,
		};
		break;
	case KIWI_SNIC_QUEUE_QUERY:
		a.queue_query.id = make_cq(fd, make_doorbell(fd, 0).doorbell, -1,
					   pages(2 * PAGE)).cq;
		a.queue_query.kind = KIWI_QUEUE_CQ;
		break;
	case KIWI_SNIC_PREFLIGHT:
		a.preflight.fd = -1;
		break;
	case KIWI_SNIC_CQ_CREATE:
		a.cq_create = cq_args(make_doorbell(fd, 0).doorbell, pages(2 * PAGE), 4);
		break;
	case KIWI_SNIC_QP_CREATE:
	case KIWI_SNIC_QP_MODIFY:
	case KIWI_SNIC_QP_QUERY:
		db = make_doorbell(fd, 0);
		a.qp_create = qp_args(make_pd(fd), make_cq(fd, db.doorbell, -1, pages(2 * PAGE)).cq,
				      db.doorbell, pages(2 * PAGE));
		if (r->cmd == KIWI_SNIC_QP_CREATE)
			break;
		EQUAL(snic_call(fd, KIWI_SNIC_QP_CREATE, &a), 0);
		a.qp_modify = (struct kiwi_snic_qp_modify) {
			.size = r->size, .qp = a.qp_create.qp,
			.mask = r->cmd == KIWI_SNIC_QP_MODIFY ? KIWI_QP_ATTR_STATE : 0,
			.state = r->cmd == KIWI_SNIC_QP_MODIFY ? KIWI_QPS_ERR : 0,
		};
		break;
	}
	a.head.size = r->size;
	memset(a.bytes + r->size, 0, ROOM - r->size);
	return a;
}

static int call(const struct rules *r, union argument *a)
{
	return snic_call(fd, r->cmd, a);
}

static void expect(const struct rules *r, union argument a, int ret)
{
	int got = call(r, &a);

	if (got != ret)
		printf("  %s: %d, wanted %d, '%s'\n", r->name, got, ret, snic_last_error(fd).text);
	EQUAL(got, ret);
}

static void each(void (*check)(const struct rules *r))
{
	size_t i;

	for (i = 0; i < IOCTLS; i++) {
		fd = snic_open();
		CHECK(fd >= 0);
		check(&all[i]);
		close(fd);
	}
}

static void check_success(const struct rules *r)
{
	union argument a = good(r), shorter = a;

	expect(r, a, 0);
	/* Nothing is written behind the structure, nor into its head. */
	a = good(r);
	memset(a.bytes + r->size, 0x5a, ROOM - r->size);
	EQUAL(call(r, &a), 0);
	EQUAL(a.head.size, r->size);
	EQUAL(a.head.flags, 0);
	memset(shorter.bytes, 0x5a, ROOM);
	CHECK(!memcmp(a.bytes + r->size, shorter.bytes, ROOM - r->size));
}

/* A program of before the structure grew: nothing is read or written behind what it knew. */
static void check_first_size(const struct rules *r, union argument a)
{
	unsigned char behind[ROOM];

	a.head.size = r->first_size;
	memset(a.bytes + r->first_size, 0x5a, ROOM - r->first_size);
	memcpy(behind, a.bytes, ROOM);
	EQUAL(call(r, &a), 0);
	CHECK(!memcmp(a.bytes + r->first_size, behind + r->first_size, ROOM - r->first_size));
}

static void check_size(const struct rules *r)
{
	static const uint32_t small[] = { 0, 1, 4, 8 };
	union argument a = good(r);
	size_t i;

	for (i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		a.head.size = small[i];
		expect(r, a, -EINVAL);
	}
	a.head.size = (r->first_size ?: r->size) - 1;
	expect(r, a, -EINVAL);
	if (r->first_size)
		check_first_size(r, a);
	a.head.size = ROOM;
	expect(r, a, 0);

	a = good(r);
	a.head.size = r->size + 1;
	a.bytes[r->size] = 1;
	expect(r, a, -E2BIG);
	a.head.size = ROOM;
	a.bytes[r->size] = 0;
	a.bytes[ROOM - 1] = 1;
	expect(r, a, -E2BIG);
	a.head.size = 4097;
	expect(r, a, -E2BIG);
	a.head.size = UINT32_MAX;
	expect(r, a, -E2BIG);
}

static void check_flags(const struct rules *r)
{
	union argument a = good(r);
	unsigned int bit;

	for (bit = 0; bit < 32; bit++) {
		a.head.flags = 1U << bit;
		if (!(r->flags & a.head.flags))
			expect(r, a, -EINVAL);
	}
}

static void check_reserved(const struct rules *r)
{
	unsigned int byte;
	union argument a;

	for (byte = 0; byte < r->reserved_size; byte++) {
		a = good(r);
		a.bytes[r->reserved + byte] = 0x80;
		expect(r, a, -EINVAL);
	}
}

static void check_fault(const struct rules *r)
{
	union argument a = good(r);
	char *two = pages(2 * PAGE), *end = two + PAGE;

	EQUAL(munmap(end, PAGE), 0);
	EQUAL(snic_call(fd, r->cmd, NULL), -EFAULT);
	EQUAL(snic_call(fd, r->cmd, end), -EFAULT);
	memcpy(end - 4, &a, 4);
	EQUAL(snic_call(fd, r->cmd, end - 4), -EFAULT);
	memcpy(end - r->size + 1, &a, r->size - 1);
	EQUAL(snic_call(fd, r->cmd, end - r->size + 1), -EFAULT);
	memcpy(end - r->size, &a, r->size);
	EQUAL(snic_call(fd, r->cmd, end - r->size), 0);
	munmap(two, PAGE);
}

/* The reply cannot be delivered: what was made is undone. */
static void check_undone(const struct rules *r)
{
	static const char *const live[] = {
		"diag/live_pd", "diag/live_mr", "diag/live_cq", "diag/live_qp",
		"diag/live_db_page",
	};
	union argument a = good(r);
	void *page = pages(PAGE);
	long long before[5];
	int i;

	if (!r->reply)
		return;
	memcpy(page, &a, sizeof(a));
	EQUAL(mprotect(page, PAGE, PROT_READ), 0);
	for (i = 0; i < 5; i++)
		before[i] = snic_attr(live[i]);
	EQUAL(snic_call(fd, r->cmd, page), -EFAULT);
	for (i = 0; i < 5; i++)
		EQUAL(snic_attr(live[i]), before[i]);
	munmap(page, PAGE);
}

static void success(void)
{
	each(check_success);
}

static void size(void)
{
	each(check_size);
}

static void flags(void)
{
	each(check_flags);
}

static void reserved(void)
{
	each(check_reserved);
}

static void fault(void)
{
	each(check_fault);
	each(check_undone);
}

static void unknown(void)
{
	struct kiwi_snic_query_device q = { .size = sizeof(q) };
	unsigned int nr, i;

	fd = snic_open();
	for (nr = 0; nr < 256; nr++) {
		bool known = false;

		for (i = 0; i < IOCTLS; i++)
			known |= _IOC_NR(all[i].cmd) == nr;
		if (!known)
			EQUAL(snic_call(fd, _IO(KIWI_SNIC_IOC_TYPE, nr), &q), -ENOTTY);
	}
	EQUAL(snic_call(fd, _IO(KIWI_SNIC_IOC_TYPE + 1, 0), &q), -ENOTTY);
	EQUAL(snic_call(fd, _IOWR(KIWI_SNIC_IOC_TYPE, 0, q), &q), -ENOTTY);
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_DEVICE | 1UL << 32, &q), 0);
	close(fd);
}

static void last_error(void)
{
	struct kiwi_snic_last_error e;
	int other = snic_open();

	fd = snic_open();
	e = snic_last_error(fd);
	EQUAL(e.nr, 0);
	EQUAL(e.error, 0);
	EQUAL(e.text[0], 0);

	EQUAL(destroy(fd, 77), -ENOENT);
	e = snic_last_error(fd);
	EQUAL(e.nr, _IOC_NR(KIWI_SNIC_DESTROY));
	EQUAL(e.value, 77);
	expect_error(fd, ENOENT, "77");
	/* Neither a success nor a failure of its own changes it. */
	make_pd(fd);
	e.size = 1;
	EQUAL(snic_call(fd, KIWI_SNIC_LAST_ERROR, &e), -EINVAL);
	expect_error(fd, ENOENT, "77");
	EQUAL(snic_last_error(other).error, 0);
	close(fd);
	close(other);
}

const struct test args_tests[] = {
	{ "args.success", success },
	{ "args.size", size },
	{ "args.flags", flags },
	{ "args.reserved", reserved },
	{ "args.fault", fault },
	{ "args.unknown", unknown },
	{ "args.last-error", last_error },
	{ NULL, NULL }
};
