// SPDX-License-Identifier: GPL-2.0
/* Fabric, ports, peers, routes and the error log. */
#include "fixture.h"

static int change(struct fixture *x, u32 op)
{
	struct kiwi_g2g_fabric_change c = { .op = op };

	return CALL(x, FABRIC_CHANGE, &c);
}

static void an_import(struct fixture *x)
{
	struct kiwi_g2g_import_bind b = { .accel = 7, .rights = KIWI_ACCESS_REMOTE_READ };

	KUNIT_ASSERT_EQ(x->test, CALL(x, IMPORT_BIND, &b), 0);
}

static void fabric_set(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_fabric_set s = {
		.pod = { 1, [15] = 2 },
		.epoch = 0x12345678,
		.accel = 3,
		.partition = 4,
	};
	const struct kiwi_g2g_set_fabric_in *in;

	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_SET, &s), 0);
	in = (const void *)fake_fw_last(&x->fw)->in;
	KUNIT_EXPECT_EQ(test, in->pod[0], 1);
	KUNIT_EXPECT_EQ(test, in->pod[15], 2);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->epoch), 0x12345678);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(in->accel), 3);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(in->partition), 4);
}

/* Who forbids it is named. */
static void fabric_names_holders(struct kunit *test)
{
	struct kiwi_g2g_port_set s = { };
	struct fixture *x = test->priv;
	char text[128];

	an_import(x);
	KUNIT_EXPECT_EQ(test, change(x, KIWI_G2G_FABRIC_DO_DEACTIVATE), -EBUSY);
	snprintf(text, sizeof(text),
		 "FABRIC_CHANGE: DEACTIVATE refused: object is in use; held by %d %s",
		 task_tgid_vnr(current), current->comm);
	fixture_expect_text(x, text);

	fake_fw_refuse(&x->fw, KIWI_G2G_OP_SET_PORT, KIWI_ST_BUSY);
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_SET, &s), -EBUSY);
	snprintf(text, sizeof(text), "PORT_SET: SET_PORT refused: object is in use; held by %d %s",
		 task_tgid_vnr(current), current->comm);
	fixture_expect_text(x, text);
}

/* It names itself: each byte that is no plain character of a line is hidden. */
static void fabric_holders_are_ascii(struct kunit *test)
{
	struct fixture *x = test->priv;
	const struct file_operations *ops = x->kg->part.cdev.ops;
	struct file *filp = kunit_kzalloc(test, sizeof(*filp), GFP_KERNEL);
	char comm[TASK_COMM_LEN];
	struct kiwi_file *file;
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, filp);
	memcpy(comm, current->comm, sizeof(comm));
	strscpy(current->comm, "k\xc3\xa4,\n~", sizeof(comm));
	ret = ops->open(&x->inode, filp);
	memcpy(current->comm, comm, sizeof(comm));
	KUNIT_ASSERT_EQ(test, ret, 0);
	file = filp->private_data;
	KUNIT_EXPECT_STREQ(test, file->comm, "k????~");
	ops->release(&x->inode, filp);
}

static void fabric_unknown_change(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_EQ(test, change(x, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, change(x, 5), -EINVAL);
	fixture_expect_text(x, "FABRIC_CHANGE: op 5 is unknown");
}

static void fabric_drains(struct kunit *test)
{
	struct fixture *x = test->priv;

	x->g2g.drains = true;
	KUNIT_EXPECT_EQ(test, change(x, KIWI_G2G_FABRIC_DO_PAUSE), 0);
	KUNIT_EXPECT_TRUE(test, x->g2g.paused);
	KUNIT_EXPECT_EQ(test, fixture_event(x).type, KIWI_G2G_EVENT_PAUSE);
	KUNIT_EXPECT_EQ(test, change(x, KIWI_G2G_FABRIC_DO_RESUME), 0);
	KUNIT_EXPECT_FALSE(test, x->g2g.paused);
}

/* The device promises an end, and breaks its word: the driver does not wait for ever. */
static void fabric_never_drains(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_EQ(test, change(x, KIWI_G2G_FABRIC_DO_PAUSE), -ETIME);
	KUNIT_EXPECT_FALSE(test, x->g2g.paused);
}

/* A pause that was given up had drained all the same, and the event comes now. */
static void fabric_drained_before(struct kunit *test)
{
	struct fixture *x = test->priv;

	x->g2g.undelivered = KIWI_G2G_PAUSE_DRAINED;
	KUNIT_EXPECT_EQ(test, change(x, KIWI_G2G_FABRIC_DO_PAUSE), -ETIME);
	KUNIT_EXPECT_EQ(test, fixture_event(x).type, KIWI_G2G_EVENT_PAUSE);
	KUNIT_EXPECT_FALSE(test, x->g2g.paused);
}

static void fabric_states_in_range(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_fabric_query q = { };

	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.state, KIWI_G2G_FABRIC_ACTIVE);
	x->g2g.fabric.state = KIWI_G2G_FABRIC_STATE_COUNT;
	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_QUERY, &q), -EPROTO);
	x->g2g.fabric.state = 0;
	x->g2g.fabric.reason = KIWI_G2G_WHY_COUNT;
	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_QUERY, &q), -EPROTO);
	x->g2g.fabric.reason = 0;
	x->g2g.fabric.slot = 2;
	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_QUERY, &q), -EPROTO);
	x->g2g.fabric.slot = 1;
	x->g2g.fabric.msg_mtu = KIWI_MTU_4096;
	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.msg_mtu, KIWI_MTU_4096);
	x->g2g.fabric.msg_mtu = KIWI_MTU_4096 + 1;
	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_QUERY, &q), -EPROTO);
	x->g2g.fabric.msg_mtu = 0;
	x->g2g.fabric.paused = 2;
	KUNIT_EXPECT_EQ(test, CALL(x, FABRIC_QUERY, &q), -EPROTO);
	fixture_expect_text(x, "FABRIC_QUERY: QUERY_FABRIC: the firmware replied with paused 2");
}

static void port_query(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_port_query q = { .port = 7 };

	KUNIT_EXPECT_EQ(test, CALL(x, PORT_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.state, KIWI_G2G_PORT_TRAINING);
	KUNIT_EXPECT_EQ(test, q.reason, KIWI_G2G_WHY_NO_NEIGHBOUR);
	KUNIT_EXPECT_EQ(test, q.neighbour, KIWI_G2G_ACCEL_NONE);
	q.port = 8;
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_QUERY, &q), -EINVAL);
	fixture_expect_text(x, "PORT_QUERY: port 8 is not in 0..7");
	q.port = 0;
	x->g2g.port.config.fec = 3;
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_QUERY, &q), -EPROTO);
	x->g2g.port.config.fec = 0;
	x->g2g.port.config.flow = 3;
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_QUERY, &q), -EPROTO);
	x->g2g.port.config.flow = 0;
	x->g2g.port.config.mode = 0;
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_QUERY, &q), -EPROTO);
	x->g2g.port.config.mode = 1;
	x->g2g.port.neighbour = cpu_to_le16(1024);
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_QUERY, &q), -EPROTO);
}

static void port_set(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_port_set s = {
		.port = 2,
		.config = KIWI_G2G_PORT_ENABLED,
		.mode = KIWI_G2G_PORT_SWITCHED,
		.lanes = 0x3,
		.fec = 1,
		.flow = 1,
		.mtu = 4096,
	};
	const struct kiwi_g2g_set_port_in *in;

	KUNIT_EXPECT_EQ(test, CALL(x, PORT_SET, &s), 0);
	in = (const void *)fake_fw_last(&x->fw)->in;
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->port), 2);
	KUNIT_EXPECT_EQ(test, in->config.flags, KIWI_G2G_PORT_ENABLED);
	KUNIT_EXPECT_EQ(test, in->config.mode, KIWI_G2G_PORT_SWITCHED);
	KUNIT_EXPECT_EQ(test, in->config.lanes, 3);
	KUNIT_EXPECT_EQ(test, in->config.fec, 1);
	KUNIT_EXPECT_EQ(test, in->config.flow, 1);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(in->config.mtu), 4096);
	s.rsvd1 = 1;
	KUNIT_EXPECT_EQ(test, CALL(x, PORT_SET, &s), -EINVAL);
}

static void peer_query_and_change(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_peer_query q = { .accel = 255 };
	struct kiwi_g2g_peer_change c = { .accel = 9, .op = KIWI_G2G_PEER_DO_ISOLATE };

	KUNIT_EXPECT_EQ(test, CALL(x, PEER_QUERY, &q), 0);
	KUNIT_EXPECT_EQ(test, q.state, KIWI_G2G_PEER_ESTABLISHED);
	q.accel = 256;
	KUNIT_EXPECT_EQ(test, CALL(x, PEER_QUERY, &q), -EINVAL);
	x->g2g.peer.state = KIWI_G2G_PEER_STATE_COUNT;
	q.accel = 1;
	KUNIT_EXPECT_EQ(test, CALL(x, PEER_QUERY, &q), -EPROTO);
	KUNIT_EXPECT_EQ(test, CALL(x, PEER_CHANGE, &c), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_G2G_OP_ISOLATE_PEER);
	c.op = KIWI_G2G_PEER_DO_RECOVER;
	KUNIT_EXPECT_EQ(test, CALL(x, PEER_CHANGE, &c), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_G2G_OP_RECOVER_PEER);
	c.op = 3;
	KUNIT_EXPECT_EQ(test, CALL(x, PEER_CHANGE, &c), -EINVAL);
}

static void routes_committed(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_routes_commit c = { };
	struct kiwi_file_event event;

	KUNIT_EXPECT_EQ(test, CALL(x, ROUTES_COMMIT, &c), 0);
	KUNIT_EXPECT_EQ(test, c.generation, 1);
	event = fixture_event(x);
	KUNIT_EXPECT_EQ(test, event.type, KIWI_G2G_EVENT_ROUTES);
	KUNIT_EXPECT_EQ(test, event.id, 1);
	c.flags = KIWI_G2G_ROUTES_ROLLBACK;
	KUNIT_EXPECT_EQ(test, CALL(x, ROUTES_COMMIT, &c), 0);
	KUNIT_EXPECT_EQ(test, c.generation, 2);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_G2G_OP_ROLLBACK_ROUTES);
}

static void routes_stale(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_routes_commit c = { .generation = 5 };

	KUNIT_EXPECT_EQ(test, CALL(x, ROUTES_COMMIT, &c), -ESTALE);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_COMMIT_ROUTES), 0);
	fixture_no_event(x);
}

static void routes_drained(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_routes_commit c = { .flags = KIWI_G2G_ROUTES_DRAIN };

	x->g2g.drains = true;
	KUNIT_EXPECT_EQ(test, CALL(x, ROUTES_COMMIT, &c), 0);
	KUNIT_EXPECT_EQ(test, c.generation, 1);
	KUNIT_EXPECT_FALSE(test, x->g2g.paused);
	KUNIT_EXPECT_EQ(test, fake_fw_count(&x->fw, KIWI_G2G_OP_PAUSE), 1);
}

/* What could not be drained is not switched, and goes on. */
static void routes_not_drained(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_routes_commit c = { .flags = KIWI_G2G_ROUTES_DRAIN };

	KUNIT_EXPECT_EQ(test, CALL(x, ROUTES_COMMIT, &c), -ETIME);
	KUNIT_EXPECT_EQ(test, x->g2g.generation, 0);
	KUNIT_EXPECT_FALSE(test, x->g2g.paused);
}

static void routes_refused_after_drain(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_routes_commit c = { .flags = KIWI_G2G_ROUTES_DRAIN };

	x->g2g.drains = true;
	fake_fw_refuse(&x->fw, KIWI_G2G_OP_COMMIT_ROUTES, KIWI_ST_BAD_STATE);
	KUNIT_EXPECT_EQ(test, CALL(x, ROUTES_COMMIT, &c), -EINVAL);
	KUNIT_EXPECT_FALSE(test, x->g2g.paused);
}

static void log_kept_for_all(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_log_read r = { };
	unsigned int i;

	for (i = 0; i < 3; i++)
		x->g2g.log.entry[i] = (struct kiwi_g2g_log_entry) {
			.sequence = cpu_to_le64(i + 1),
			.addr = cpu_to_le64(0x1000 * i),
			.accel = cpu_to_le16(5),
			.kind = KIWI_G2G_LOG_LOAD,
			.status = KIWI_G2G_ST_TIMEOUT,
		};
	x->g2g.log.count = cpu_to_le32(3);
	x->g2g.log.lost = cpu_to_le64(4);
	fake_fw_event(&x->fw, KIWI_G2G_EV_LOG, 0, 0, 0);
	flush_work(&x->kg->log_work);
	KUNIT_EXPECT_EQ(test, fixture_event(x).type, KIWI_G2G_EVENT_LOG);
	KUNIT_EXPECT_EQ(test, CALL(x, READ_LOG, &r), 0);
	KUNIT_EXPECT_EQ(test, r.count, 3);
	KUNIT_EXPECT_EQ(test, r.lost, 4);
	KUNIT_EXPECT_EQ(test, r.record[2].sequence, 3);
	KUNIT_EXPECT_EQ(test, r.record[2].addr, 0x2000);
	KUNIT_EXPECT_EQ(test, r.record[2].status, KIWI_G2G_ST_TIMEOUT);
	r.after = 2;
	KUNIT_EXPECT_EQ(test, CALL(x, READ_LOG, &r), 0);
	KUNIT_EXPECT_EQ(test, r.count, 1);
	KUNIT_EXPECT_EQ(test, r.record[0].sequence, 3);
}

static void log_count_out_of_range(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_g2g_log_read r = { };

	x->g2g.log.count = cpu_to_le32(9);
	fake_fw_event(&x->fw, KIWI_G2G_EV_LOG, 0, 0, 0);
	flush_work(&x->kg->log_work);
	KUNIT_EXPECT_EQ(test, CALL(x, READ_LOG, &r), 0);
	KUNIT_EXPECT_EQ(test, r.count, 0);
}

static void events_of_states(struct kunit *test)
{
	static const struct {
		u8 type;
		u32 told;
	} types[] = {
		{ KIWI_G2G_EV_FABRIC, KIWI_G2G_EVENT_FABRIC },
		{ KIWI_G2G_EV_PORT, KIWI_G2G_EVENT_PORT },
		{ KIWI_G2G_EV_PEER, KIWI_G2G_EVENT_PEER },
	};
	struct fixture *x = test->priv;
	struct kiwi_file_event event;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		fake_fw_event(&x->fw, types[i].type, 6, 2, KIWI_G2G_WHY_TIMEOUT);
		event = fixture_event(x);
		KUNIT_EXPECT_EQ(test, event.type, types[i].told);
		KUNIT_EXPECT_EQ(test, event.id, 6);
		KUNIT_EXPECT_EQ(test, event.code, 2);
		KUNIT_EXPECT_EQ(test, event.info, KIWI_G2G_WHY_TIMEOUT);
	}
}

static void reasons_have_names(struct kunit *test)
{
	unsigned int reason;

	for (reason = 0; reason < KIWI_G2G_WHY_COUNT; reason++)
		KUNIT_EXPECT_STRNEQ(test, kg2g_reason_name(reason), "UNKNOWN");
	KUNIT_EXPECT_STREQ(test, kg2g_reason_name(KIWI_G2G_WHY_COUNT), "UNKNOWN");
	KUNIT_EXPECT_STREQ(test, kg2g_fabric_state_name(99), "UNKNOWN");
}

static struct kunit_case fabric_cases[] = {
	KUNIT_CASE(fabric_set),
	KUNIT_CASE(fabric_names_holders),
	KUNIT_CASE(fabric_holders_are_ascii),
	KUNIT_CASE(fabric_unknown_change),
	KUNIT_CASE(fabric_drains),
	KUNIT_CASE(fabric_never_drains),
	KUNIT_CASE(fabric_drained_before),
	KUNIT_CASE(fabric_states_in_range),
	KUNIT_CASE(port_query),
	KUNIT_CASE(port_set),
	KUNIT_CASE(peer_query_and_change),
	KUNIT_CASE(routes_committed),
	KUNIT_CASE(routes_stale),
	KUNIT_CASE(routes_drained),
	KUNIT_CASE(routes_not_drained),
	KUNIT_CASE(routes_refused_after_drain),
	KUNIT_CASE(log_kept_for_all),
	KUNIT_CASE(log_count_out_of_range),
	KUNIT_CASE(events_of_states),
	KUNIT_CASE(reasons_have_names),
	{}
};

static struct kunit_suite fabric_suite = {
	.name = "kiwi_g2g_fabric",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = fabric_cases,
};

kunit_test_suite(fabric_suite);
