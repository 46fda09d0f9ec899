// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Handles: errors in words, limits, lifetime, and failure of each system call in turn. */
#include "fixture.h"

static void test_names(void)
{
	static const char *const good[] = { "snic7", "7", "/dev/kiwi/snic7" };
	static const char *const bad[] = {
		"", "snic", "snic-1", "snic7x", "7 ", "/dev/kiwi/", "/dev/null", "snic999999",
		"99999999999999999999", "../snic7",
	};
	struct kiwi_device *dev;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		holds(!kiwi_open(good[i], &dev));
		holds(!strcmp(kiwi_device_name(dev), "snic7"));
		holds(kiwi_device_info(dev)->serial == 0x1234);
		kiwi_close(dev);
	}
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		holds(kiwi_open(bad[i], &dev) == -EINVAL);
	say("device names");
	ok(kiwi_open("snic99998", &dev) == -ENOENT && says("snic99998"),
	   "a device that is not there");
	kiwi_close(NULL);
}

static void test_errors(void)
{
	struct fixture f = fixture_open(8, 8, 4, 1);
	struct kiwi_cq_config cq_config = { .entries = (1 << FAKE_CQ_LOG2) + 1 };
	struct kiwi_qp_config qp_config = { .send_cq = f.cq };
	struct kiwi_mr *mr;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct kiwi_snic_gid gid;
	struct kiwi_snic_query_port port;
	struct kiwi_check checks[3] = { 0 };
	uint32_t room = 2;

	fake_fail(_IOC_NR(KIWI_SNIC_MR_REG), 1, ENOMEM, "RLIMIT_MEMLOCK 64 KiB, 1 MiB wanted");
	ok(kiwi_mr_reg(f.pd, &f, 1 << 20, KIWI_ACCESS_LOCAL_WRITE, &mr) == -ENOMEM &&
	   says("RLIMIT_MEMLOCK 64 KiB, 1 MiB wanted") && says("snic7"),
	   "the kernel's words are passed on");
	fake_fail(_IOC_NR(KIWI_SNIC_MR_REG), 1, EFAULT, NULL);
	ok(kiwi_mr_reg(f.pd, &f, 1, 0, &mr) == -EFAULT && says(strerror(EFAULT)) &&
	   says("register MR"),
	   "without words of the kernel the errno speaks");
	ok(!kiwi_preflight(f.dev, -1, checks, &room) && room == FAKE_CHECKS &&
	   checks[1].id == 2 && !checks[2].id,
	   "a preflight in less room than there are checks");
	fake_fail(_IOC_NR(KIWI_SNIC_PREFLIGHT), 1, EBADF, NULL);
	ok(kiwi_preflight(f.dev, 9, checks, &room) == -EBADF && says("preflight"),
	   "a preflight of what is no DMA-buf");
	ok(kiwi_query_port(f.dev, 3, &port) == -EINVAL && says("query port"),
	   "a port that is not there");

	ok(kiwi_cq_create(f.dev, &cq_config, &cq) == -EINVAL && says("4097") && says("4096"),
	   "too many CQ entries: value and limit");
	cq_config.entries = UINT32_MAX;
	ok(kiwi_cq_create(f.dev, &cq_config, &cq) == -EINVAL, "2^32 - 1 CQ entries");
	qp_config.sq_units = (1 << FAKE_SQ_LOG2) + 1;
	ok(kiwi_qp_create(f.pd, &qp_config, &qp) == -EINVAL && says("4097") && says("4096"),
	   "too many units");
	qp_config.sq_units = 8;
	qp_config.rq_entries = UINT32_MAX;
	ok(kiwi_qp_create(f.pd, &qp_config, &qp) == -EINVAL && says("4294967295"),
	   "too many receive entries");
	qp_config.rq_entries = 1;
	qp_config.recv_sge = 32;
	ok(kiwi_qp_create(f.pd, &qp_config, &qp) == -EINVAL && says("32") && says("31"),
	   "too many pieces");
	qp_config.recv_sge = 1;
	qp_config.send_cq = NULL;
	ok(kiwi_qp_create(f.pd, &qp_config, &qp) == -EINVAL && says("CQ"), "no CQ");
	ok(kiwi_query_gid(f.dev, 1, 8, &gid) == -EINVAL && says("index 8"),
	   "a GID index too large");
	ok(kiwi_query_gid(f.dev, 1, 256, &gid) == -EINVAL, "a GID index of more than 8 bits");
	ok(kiwi_set_port(f.dev, 1, 1, 256 + KIWI_MTU_256) == -EINVAL,
	   "an MTU code of more than 8 bits");
	kiwi_close(f.dev);
}

static void test_gids(void)
{
	uint8_t gid[16] = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x50, 0x54, 0x00, 0xff, 0xfe, 1, 2, 3 };
	uint8_t want[6] = { 0x52, 0x54, 0x00, 1, 2, 3 }, mac[6];
	struct fixture f = fixture_open(8, 8, 4, 1);
	struct kiwi_snic_gid out;
	unsigned int i;

	need(kiwi_set_gid(f.dev, 1, 3, gid));
	need(kiwi_query_gid(f.dev, 1, 3, &out));
	ok(out.type == KIWI_GID_ROCE_V2 && !memcmp(out.gid, gid, 16), "a GID is set and read");
	need(kiwi_set_gid(f.dev, 1, 3, NULL));
	need(kiwi_query_gid(f.dev, 1, 3, &out));
	ok(out.type == KIWI_GID_NONE && !out.gid[0], "a GID is cleared");
	ok(!kiwi_gid_to_mac(gid, mac) && !memcmp(mac, want, 6), "the MAC of a link-local GID");
	for (i = 0; i < 16; i++) {
		uint8_t other[16];

		memcpy(other, gid, 16);
		other[i] ^= 0x10;
		holds((kiwi_gid_to_mac(other, mac) == 0) == ((i >= 8 && i <= 10) || i >= 13));
	}
	say("GIDs that hold no MAC");
	for (i = 0; i < 5; i++) {
		holds(kiwi_mtu_bytes(i + 1) == 256U << i);
		holds(kiwi_mtu_code(256U << i) == i + 1);
	}
	holds(!kiwi_mtu_bytes(0) && !kiwi_mtu_bytes(6));
	holds(!kiwi_mtu_code(0) && !kiwi_mtu_code(1500));
	say("MTU codes");
	kiwi_close(f.dev);
}

static void test_connect(void)
{
	struct fixture f = fixture_open(8, 8, 4, 1);
	const struct kiwi_snic_qp_modify *step;
	struct kiwi_connect c;
	unsigned int n = 0;

	while (fake_modify(n))
		n++;
	need(kiwi_connect_init(f.dev, 1, &c));
	c.dest_qpn = 0x123456;
	c.sq_psn = 0xabcdef;
	c.rq_psn = 0x654321;
	c.dgid[15] = 9;
	c.dmac[5] = 8;
	need(kiwi_qp_connect(f.qp, &c));
	step = fake_modify(n);
	ok(step->state == KIWI_QPS_INIT && step->mask == 0x0d && step->port == 1 &&
	   step->access == 0x0e,
	   "RESET to INIT: port and rights");
	step = fake_modify(n + 1);
	ok(step->state == KIWI_QPS_RTR && step->mask == 0x5171 && step->dest_qpn == 0x123456 &&
	   step->rq_psn == 0x654321 && !step->sq_psn && step->mtu == KIWI_MTU_1024 &&
	   step->dgid[15] == 9 && step->dmac[5] == 8 && step->max_dest_rd_atomic == 16 &&
	   step->min_rnr_timer == 12 && !step->port && !step->access,
	   "INIT to RTR: what S-20 requires, the rest 0");
	step = fake_modify(n + 2);
	ok(step->state == KIWI_QPS_RTS && step->mask == 0x2e81 && step->sq_psn == 0xabcdef &&
	   step->timeout == 14 && step->retry_cnt == 7 && step->rnr_retry == 7 &&
	   step->max_rd_atomic == 16 && !step->dest_qpn && !step->mtu,
	   "RTR to RTS: what S-20 requires, the rest 0");
	ok(!fake_modify(n + 3), "three steps");
	kiwi_close(f.dev);
}

static void test_events(void)
{
	struct fixture f = fixture_open(8, 8, 4, 1);
	struct kiwi_snic_event in = {
		.type = KIWI_SNIC_EVENT_QP_ERROR,
		.id = 3,
		.user_data = 77,
		.code = KIWI_CQE_ST_FATAL_ERR,
	}, out;

	ok(kiwi_next_event(f.dev, &out, 0) == 0, "no event");
	fake_event(&in);
	ok(kiwi_next_event(f.dev, &out, 0) == 1 && out.user_data == 77 && out.id == 3, "an event");
	fake_down(ENODEV);
	ok(kiwi_next_event(f.dev, &out, 0) == -ENODEV && says("snic7"), "the end of events");
	kiwi_close(f.dev);
}

/* Everything once, undone in order; false when a call failed. */
static bool everything(void)
{
	struct kiwi_cq_config cq_config = { .entries = 300 };
	struct kiwi_qp_config qp_config = { .sq_units = 100, .rq_entries = 10, .recv_sge = 2 };
	struct kiwi_doorbell *db;
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_mr *mr;
	struct kiwi_cq *cq, *own;
	struct kiwi_qp *qp;
	bool done = false;

	if (kiwi_open(FAKE_NAME, &dev))
		return false;
	if (kiwi_pd_alloc(dev, &pd))
		goto close;
	if (kiwi_mr_reg(pd, &done, sizeof(done), KIWI_ACCESS_ALL, &mr))
		goto close;
	if (kiwi_cq_create(dev, &cq_config, &cq))
		goto close;
	if (kiwi_doorbell_alloc(dev, KIWI_SNIC_DOORBELL_WC, &db))
		goto close;
	cq_config.doorbell = db;
	if (kiwi_cq_create(dev, &cq_config, &own))
		goto close;
	qp_config.send_cq = cq;
	qp_config.recv_cq = own;
	if (kiwi_qp_create(pd, &qp_config, &qp))
		goto close;
	if (kiwi_qp_destroy(qp) || kiwi_cq_destroy(own) || kiwi_cq_destroy(cq) ||
	    kiwi_doorbell_free(db) || kiwi_mr_dereg(mr) || kiwi_pd_free(pd))
		goto close;
	done = true;
close:
	kiwi_close(dev);
	return done;
}

static void test_nothing_left(void)
{
	struct fixture f = fixture_open(8, 8, 4, 1);
	struct kiwi_cq_config cq_config = { .entries = 4 };
	struct kiwi_qp_config qp_config = { .send_cq = f.cq };
	struct kiwi_doorbell *db;
	struct kiwi_pd *pd;
	struct kiwi_mr *mr;
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;

	NOTHING_LEFT(kiwi_pd_alloc(f.dev, &pd));
	NOTHING_LEFT(kiwi_mr_reg(f.pd, &f, sizeof(f), KIWI_ACCESS_ALL, &mr));
	NOTHING_LEFT(kiwi_doorbell_alloc(f.dev, 0, &db));
	NOTHING_LEFT(kiwi_cq_create(f.dev, &cq_config, &cq));
	NOTHING_LEFT(kiwi_qp_create(f.pd, &qp_config, &qp));
	say("a call that fails in the middle undoes what it did");
	kiwi_close(f.dev);
}

static void test_busy(void)
{
	struct fixture f = fixture_open(8, 8, 4, 1);

	ok(kiwi_pd_free(f.pd) == -EBUSY && says("destroy"), "a PD in use");
	ok(kiwi_cq_destroy(f.cq) == -EBUSY, "a CQ in use");
	ok(!kiwi_qp_destroy(f.qp) && !kiwi_cq_destroy(f.cq) && !kiwi_pd_free(f.pd),
	   "children first: all end, and the handles were still good");
	kiwi_close(f.dev);
	ok(fake_objects() == 0, "nothing is left");
}

static void test_bad_number(void)
{
	struct fixture f = fixture_open(8, 8, 4, 1);
	struct kiwi_qp_config config = { .send_cq = f.cq };
	unsigned int before = fake_objects();
	struct kiwi_qp *qp;

	fake_next_qpn(0x1000000);
	ok(kiwi_qp_create(f.pd, &config, &qp) == -EPROTO && says("0x1000000"),
	   "a QP number of more than 24 bits is refused");
	ok(fake_objects() == before, "and its QP destroyed");
	kiwi_close(f.dev);
}

static void test_down(int err, const char *when)
{
	struct fixture f = fixture_open(8, 8, 4, 1);
	struct kiwi_mr *mr;

	need(kiwi_mr_reg(f.pd, &f, sizeof(f), KIWI_ACCESS_ALL, &mr));
	fake_down(err);
	ok(!kiwi_qp_destroy(f.qp) && !kiwi_mr_dereg(mr) && !kiwi_cq_destroy(f.cq) &&
	   !kiwi_pd_free(f.pd), "handles end all the same %s", when);
	kiwi_close(f.dev);
}

static void test_memory(void)
{
	unsigned char *p;
	size_t i, sizes[] = { 1, 4096, 4097, (2 << 20) - 1, 2 << 20, (5 << 20) + 3 };

	for (i = 0; i < 6; i++) {
		p = kiwi_memory_alloc(sizes[i]);
		if (!holds(p))
			break;
		holds((uintptr_t)p % (sizes[i] >= 2 << 20 ? 2 << 20 : 4096) == 0);
		holds(!p[0] && !p[sizes[i] - 1]);
		memset(p, 1, sizes[i]);
		kiwi_memory_free(p, sizes[i]);
	}
	say("memory is zeroed and aligned");
	ok(!kiwi_memory_alloc(0) && errno == EINVAL, "no bytes");
	ok(!kiwi_memory_alloc(SIZE_MAX), "all bytes there are");
	ok(!kiwi_memory_alloc(SIZE_MAX - (3 << 20)), "almost all");
}

int main(void)
{
	test_names();
	test_errors();
	test_gids();
	test_connect();
	fixture_sweep(everything, 15);
	test_nothing_left();
	test_busy();
	test_bad_number();
	test_memory();
	ok(!fake_breaches(), "the ioctl contract was kept");
	test_down(ENODEV, "after removal");
	test_down(EIO, "after a failure");
	test_events();
	return tap_end();
}
