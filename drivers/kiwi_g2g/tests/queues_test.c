// SPDX-License-Identifier: GPL-2.0
/* Queues of a die: those of all parts, whose own suites are the SNIC's; here what is the die's. */
#include <linux/sizes.h>

#include <kiwi_abi/queues.h>

#include "fixture.h"

#define QUEUE_CAPS	(KIWI_G2G_CAP_MSGQ | KIWI_SNIC_CAP_MR_HOLD)

static int queues_init(struct kunit *test)
{
	struct fixture *x;
	int ret;

	ret = fixture_init(test);
	if (ret)
		return ret;
	x = test->priv;
	x->fw.identity.caps |= QUEUE_CAPS;
	return kg2g_start(x->kg, FAKE_BAR_LEN, &x->err);
}

static struct kiwi_mem memory(u64 length)
{
	return (struct kiwi_mem) { .type = KIWI_MEM_DMABUF, .fd = 5, .length = length };
}

static u32 make_pd(struct fixture *x)
{
	struct kiwi_snic_pd_alloc pd = { };

	KUNIT_ASSERT_EQ(x->test, CALL(x, PD_ALLOC, &pd), 0);
	return pd.pd;
}

static struct kiwi_snic_doorbell_alloc make_doorbell(struct fixture *x)
{
	struct kiwi_snic_doorbell_alloc db = { };

	KUNIT_ASSERT_EQ(x->test, CALL(x, DOORBELL_ALLOC, &db), 0);
	return db;
}

static u32 make_cq(struct fixture *x, u32 doorbell)
{
	struct kiwi_snic_cq_create cq = {
		.mem = memory(SZ_4K + 64),
		.ci_offset = SZ_4K,
		.log2 = 6,
		.doorbell = doorbell,
		.event_fd = -1,
	};

	KUNIT_ASSERT_EQ(x->test, CALL(x, CQ_CREATE, &cq), 0);
	return cq.cq;
}

static struct kiwi_snic_qp_create make_qp(struct fixture *x)
{
	struct kiwi_snic_qp_create qp = {
		.sq = memory(8 * KIWI_WQEBB),
		.rq = memory(SZ_4K),
		.user_data = FIXTURE_USER_DATA,
		.pd = make_pd(x),
		.doorbell = make_doorbell(x).doorbell,
		.type = KIWI_QP_RC,
		.sq_log2 = 3,
		.rq_log2 = 6,
		.rq_stride = 6,
	};

	qp.send_cq = make_cq(x, qp.doorbell);
	qp.recv_cq = qp.send_cq;
	KUNIT_ASSERT_EQ(x->test, CALL(x, QP_CREATE, &qp), 0);
	return qp;
}

static void queues_need_the_capability(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_doorbell_alloc db = { };
	struct kiwi_snic_pd_alloc pd = { };
	struct kiwi_snic_mr_reg mr = { };
	unsigned int n;

	x->fw.identity.caps &= ~KIWI_G2G_CAP_MSGQ;
	KUNIT_EXPECT_EQ(test, CALL(x, PD_ALLOC, &pd), -EOPNOTSUPP);
	fixture_expect_text(x, "PD_ALLOC: the firmware does not offer it (capability bit 40)");
	KUNIT_EXPECT_EQ(test, CALL(x, DOORBELL_ALLOC, &db), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, CALL(x, MR_REG, &mr), -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, fake_fw_live(&x->fw), 0);
	for (n = _IOC_NR(KIWI_G2G_PD_ALLOC); n <= _IOC_NR(KIWI_G2G_ERROR_PAGE); n++)
		KUNIT_EXPECT_EQ(test, kg2g_ioctls[n].cap, KIWI_G2G_CAP_MSGQ);
}

/* A PD is in nobody's way when the fabric is to change, a QP is. */
static void queues_hold_the_fabric(struct kunit *test)
{
	struct kiwi_g2g_port_set s = { };
	struct fixture *x = test->priv;
	char text[128];

	make_pd(x);
	fake_fw_refuse(&x->fw, KIWI_G2G_OP_SET_PORT, KIWI_ST_BUSY);
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_SET, &s), -EBUSY);
	fixture_expect_text(x, "PORT_SET: SET_PORT refused: object is in use");
	make_qp(x);
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_SET, &s), -EBUSY);
	snprintf(text, sizeof(text), "PORT_SET: SET_PORT refused: object is in use; held by %d %s",
		 task_tgid_vnr(current), current->comm);
	fixture_expect_text(x, text);
}

static void queues_limits_are_told(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_query_device q = { };

	KUNIT_ASSERT_EQ(test, CALL(x, QUERY_DEVICE, &q), 0);
	KUNIT_EXPECT_EQ(test, q.max_pd, 16);
	KUNIT_EXPECT_EQ(test, q.max_qp, 19);
	KUNIT_EXPECT_EQ(test, q.max_mr_size, SZ_64M);
	KUNIT_EXPECT_EQ(test, q.max_sge, 9);
	KUNIT_EXPECT_EQ(test, q.max_doorbells, FAKE_DB_PAGES);
	KUNIT_EXPECT_EQ(test, q.doorbell_size, PAGE_SIZE);
}

static void queues_limits_end_with_the_capability(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_query_device q = { };

	x->fw.identity.caps &= ~KIWI_G2G_CAP_MSGQ;
	KUNIT_ASSERT_EQ(test, kg2g_start(x->kg, FAKE_BAR_LEN, &x->err), 0);
	KUNIT_ASSERT_EQ(test, CALL(x, QUERY_DEVICE, &q), 0);
	KUNIT_EXPECT_EQ(test, q.max_pd, 0);
	KUNIT_EXPECT_EQ(test, q.max_doorbells, 0);
	KUNIT_EXPECT_EQ(test, q.doorbell_size, 0);
}

static void queues_have_one_port(struct kunit *test)
{
	struct fixture *x = test->priv;

	x->g2g.caps.queue.ports = 2;
	KUNIT_EXPECT_EQ(test, kg2g_start(x->kg, FAKE_BAR_LEN, &x->err), -EPROTO);
	x->g2g.caps.queue.ports = 0;
	KUNIT_EXPECT_EQ(test, kg2g_start(x->kg, FAKE_BAR_LEN, &x->err), -EPROTO);
	x->g2g.caps.queue.ports = 1;
	x->g2g.caps.queue.gids = 2;
	KUNIT_EXPECT_EQ(test, kg2g_start(x->kg, FAKE_BAR_LEN, &x->err), -EPROTO);
}

static void queues_doorbells_are_mapped_beyond_imports(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_doorbell_alloc a = make_doorbell(x), b = make_doorbell(x);

	KUNIT_EXPECT_GT(test, a.map_offset, KG2G_MAP_DOORBELLS);
	KUNIT_EXPECT_GT(test, b.map_offset, KG2G_MAP_DOORBELLS);
	KUNIT_EXPECT_NE(test, a.map_offset, b.map_offset);
	/* What mmap() of a 32-bit program can name */
	KUNIT_EXPECT_LT(test, b.map_offset, BIT_ULL(44));
}

static void queues_address_is_an_accelerator(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_qp_modify m = {
		.qp = make_qp(x).qp,
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_AV,
		.state = KIWI_QPS_RTR,
		.port = 1,
		.dgid = { [KIWI_G2G_DGID_ACCEL] = 0x01, [KIWI_G2G_DGID_ACCEL + 1] = 0x02 },
	};
	const struct kiwi_snic_modify_qp_in *in;

	KUNIT_ASSERT_EQ(test, CALL(x, QP_MODIFY, &m), 0);
	in = (const void *)fake_fw_last(&x->fw)->in;
	KUNIT_EXPECT_MEMEQ(test, in->attr.dgid, m.dgid, sizeof(m.dgid));
	KUNIT_EXPECT_EQ(test, in->attr.port, 1);
}

static void queues_refusal_tells_of_the_peer(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_qp_modify m = { .qp = make_qp(x).qp, .mask = KIWI_QP_ATTR_STATE };

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_MODIFY_QP, KIWI_ST_BAD_STATE);
	x->fw.refusal.field = offsetof(struct kiwi_snic_modify_qp_in, attr.dgid);
	x->fw.refusal.value = KIWI_G2G_PEER_SEEKING;
	KUNIT_EXPECT_EQ(test, CALL(x, QP_MODIFY, &m), -EINVAL);
	KUNIT_EXPECT_TRUE(test, strstr(x->file->error.text, "attr.dgid"));
	KUNIT_EXPECT_EQ(test, x->file->error.value, KIWI_G2G_PEER_SEEKING);
}

static void queues_end_after_the_peer_is_told(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_qp_create qp = make_qp(x);
	struct kiwi_file_event event;

	fake_fw_event(&x->fw, KIWI_G2G_EV_PEER, 7, KIWI_G2G_PEER_SEEKING, 0);
	fake_fw_event(&x->fw, KIWI_EV_QP_ERROR, qp.qpn, KIWI_CQE_ST_RETRY_EXC_ERR, 0);
	event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.type, KIWI_G2G_EVENT_PEER);
	KUNIT_EXPECT_EQ(test, event.id, 7);
	event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.type, KIWI_EVENT_QP_ERROR);
	KUNIT_EXPECT_EQ(test, event.id, qp.qp);
	KUNIT_EXPECT_EQ(test, event.user_data, FIXTURE_USER_DATA);
	KUNIT_EXPECT_EQ(test, event.code, KIWI_CQE_ST_RETRY_EXC_ERR);
	fixture_no_event(x);
}

static void queues_port_is_the_fabric(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_EQ(test, x->kg->queues.port_down, 1);
	fake_fw_event(&x->fw, KIWI_G2G_EV_FABRIC, 0, KIWI_G2G_FABRIC_ACTIVE, 0);
	KUNIT_EXPECT_EQ(test, x->kg->queues.port_down, 0);
	fake_fw_event(&x->fw, KIWI_G2G_EV_FABRIC, 0, KIWI_G2G_FABRIC_READY, 0);
	KUNIT_EXPECT_EQ(test, x->kg->queues.port_down, 1);
	fake_fw_event(&x->fw, KIWI_G2G_EV_FABRIC, 0, KIWI_G2G_FABRIC_ACTIVE, 0);
	KUNIT_ASSERT_EQ(test, kg2g_start(x->kg, FAKE_BAR_LEN, &x->err), 0);
	KUNIT_EXPECT_EQ(test, x->kg->queues.port_down, 1);
}

static void lose_events(struct fixture *x)
{
	static const struct kiwi_eqe none;

	kg2g_event(&x->kg->part, &none, true);
	flush_work(&x->kg->lost_work);
	KUNIT_EXPECT_EQ(x->test, fixture_event(x).type, KIWI_EVENT_LOST);
}

static void queues_fabric_is_found_when_events_were_lost(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_file_event event;

	fake_fw_event(&x->fw, KIWI_G2G_EV_FABRIC, 0, KIWI_G2G_FABRIC_ACTIVE, 0);
	fixture_event(x);
	x->g2g.fabric.state = KIWI_G2G_FABRIC_READY;
	x->g2g.fabric.reason = KIWI_G2G_WHY_ADMIN;
	lose_events(x);
	KUNIT_EXPECT_EQ(test, x->kg->queues.port_down, 1);
	event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.type, KIWI_G2G_EVENT_FABRIC);
	KUNIT_EXPECT_EQ(test, event.code, KIWI_G2G_FABRIC_READY);
	KUNIT_EXPECT_EQ(test, event.info, KIWI_G2G_WHY_ADMIN);
	lose_events(x);
	fixture_no_event(x);
	x->g2g.fabric.state = KIWI_G2G_FABRIC_ACTIVE;
	x->g2g.fabric.reason = 0;
	lose_events(x);
	KUNIT_EXPECT_EQ(test, x->kg->queues.port_down, 0);
	KUNIT_EXPECT_EQ(test, fixture_event(x).code, KIWI_G2G_FABRIC_ACTIVE);
	fixture_no_event(x);
}

/* One dead peer takes all QPs along, at most max_qp events. */
static void queues_errors_are_found_when_events_were_lost(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 a = make_qp(x).qp, b = make_qp(x).qp;
	struct kiwi_file_event event;

	x->g2g.fabric.state = KIWI_G2G_FABRIC_READY;
	x->g2g.queues.attr.state = KIWI_QPS_ERR;
	lose_events(x);
	event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.type, KIWI_EVENT_QP_ERROR);
	KUNIT_EXPECT_EQ(test, event.id, a);
	KUNIT_EXPECT_EQ(test, event.code, KIWI_CQE_ST_OK);
	event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.type, KIWI_EVENT_QP_ERROR);
	KUNIT_EXPECT_EQ(test, event.id, b);
	fixture_no_event(x);
}

static struct kunit_case queues_cases[] = {
	KUNIT_CASE(queues_need_the_capability),
	KUNIT_CASE(queues_hold_the_fabric),
	KUNIT_CASE(queues_limits_are_told),
	KUNIT_CASE(queues_limits_end_with_the_capability),
	KUNIT_CASE(queues_have_one_port),
	KUNIT_CASE(queues_doorbells_are_mapped_beyond_imports),
	KUNIT_CASE(queues_address_is_an_accelerator),
	KUNIT_CASE(queues_refusal_tells_of_the_peer),
	KUNIT_CASE(queues_end_after_the_peer_is_told),
	KUNIT_CASE(queues_port_is_the_fabric),
	KUNIT_CASE(queues_fabric_is_found_when_events_were_lost),
	KUNIT_CASE(queues_errors_are_found_when_events_were_lost),
	{}
};

static struct kunit_suite queues_suite = {
	.name = "kiwi_g2g_queues",
	.init = queues_init,
	.exit = fixture_exit,
	.test_cases = queues_cases,
};

kunit_test_suite(queues_suite);
