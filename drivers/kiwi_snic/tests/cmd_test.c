// SPDX-License-Identifier: GPL-2.0
/* Commands: what they carry, what replies are believed, and what failure means. */
#include "fixture.h"

static struct fake_snic *snic_of(struct kunit *test)
{
	struct fixture *x = test->priv;

	return &x->snic;
}

static void cmd_bad_number(struct kunit *test)
{
	static const u32 numbers[] = { 0, KIWI_SNIC_NUMBER_MAX + 1, U32_MAX };
	struct fixture *x = test->priv;
	unsigned int n;
	u32 pdn = 5;

	for (n = 0; n < ARRAY_SIZE(numbers); n++) {
		x->fw.error = 0;
		x->fw.number = numbers[n];
		KUNIT_EXPECT_EQ(test, kiwi_cmd_alloc_pd(&x->fw, &pdn, &x->err), -EPROTO);
		KUNIT_EXPECT_EQ(test, x->fw.fails, n + 1);
		KUNIT_EXPECT_EQ(test, x->fw.fail_reason, KIWI_RESET_PROTOCOL);
		KUNIT_EXPECT_EQ(test, x->err.value, numbers[n]);
		KUNIT_EXPECT_FALSE(test, x->err.refused);
		KUNIT_EXPECT_EQ(test, pdn, 5);
	}
}

static void cmd_largest_number(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 pdn;

	x->fw.number = KIWI_SNIC_NUMBER_MAX;
	KUNIT_EXPECT_EQ(test, kiwi_cmd_alloc_pd(&x->fw, &pdn, &x->err), 0);
	KUNIT_EXPECT_EQ(test, pdn, KIWI_SNIC_NUMBER_MAX);
	KUNIT_EXPECT_EQ(test, kiwi_cmd_dealloc_pd(&x->fw, pdn, &x->err), 0);
}

static void cmd_bad_key(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *pd = fixture_pd(x);
	const struct kiwi_pbl pbl = { };
	u32 key;

	x->fw.number = 0;
	KUNIT_EXPECT_EQ(test, kiwi_cmd_reg_mr(&x->fw, pd->pdn, 0, 0, 1, &pbl, &key, &x->err),
			-EPROTO);
	KUNIT_EXPECT_EQ(test, x->err.value, 0x5a);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 1);
}

static int create_qp(struct kunit *test, u32 number, struct kiwi_queue_id *id)
{
	struct fixture *x = test->priv;
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_cq *cq = fixture_cq(x, db);
	const struct kiwi_pbl pbl = { };
	struct kiwi_qp_params params = {
		.sq = &pbl,
		.rq = &pbl,
		.pdn = fixture_pd(x)->pdn,
		.send_cqn = cq->hw.number,
		.recv_cqn = cq->hw.number,
		.db_page = db->page.index,
	};
	int ret;

	x->fw.number = number;
	ret = kiwi_cmd_create_qp(&x->fw, &params, id, &x->err);
	x->fw.number = -1;
	if (!ret)
		KUNIT_EXPECT_EQ(test, kiwi_cmd_destroy_qp(&x->fw, id->number, &x->err), 0);
	return ret;
}

static void cmd_qp_numbers_of_management(struct kunit *test)
{
	struct kiwi_queue_id id;

	KUNIT_EXPECT_EQ(test, create_qp(test, 1, &id), -EPROTO);
	KUNIT_EXPECT_EQ(test, snic_of(test)->fw.fails, 1);
}

static void cmd_qp_number_of_multicast(struct kunit *test)
{
	struct kiwi_queue_id id;

	KUNIT_EXPECT_EQ(test, create_qp(test, KIWI_SNIC_NUMBER_MAX, &id), -EPROTO);
	KUNIT_EXPECT_EQ(test, snic_of(test)->fw.fails, 1);
}

static void cmd_qp_numbers_allowed(struct kunit *test)
{
	struct kiwi_queue_id id;

	KUNIT_EXPECT_EQ(test, create_qp(test, 2, &id), 0);
	KUNIT_EXPECT_EQ(test, id.number, 2);
	KUNIT_EXPECT_EQ(test, id.epoch, snic_of(test)->queues.epoch);
	KUNIT_EXPECT_EQ(test, create_qp(test, KIWI_SNIC_NUMBER_MAX - 1, &id), 0);
}

static void cmd_refused_with_field_and_limit(struct kunit *test)
{
	struct fixture *x = test->priv;

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_SET_PORT, KIWI_ST_BAD_PARAM);
	x->fw.refusal.field = offsetof(struct kiwi_snic_set_port_in, mtu);
	x->fw.refusal.value = 6;
	x->fw.refusal.limit = 5;
	KUNIT_EXPECT_EQ(test, ksnic_cmd_set_port(&x->fw, 1, 1, 6, &x->err), -EINVAL);
	KUNIT_EXPECT_STREQ(test, x->err.text,
			   "SET_PORT refused: field out of range: mtu 6, limit 5");
	KUNIT_EXPECT_EQ(test, x->err.value, 6);
	KUNIT_EXPECT_EQ(test, x->err.limit, 5);
	KUNIT_EXPECT_TRUE(test, x->err.refused);
}

static void cmd_refused_with_field_alone(struct kunit *test)
{
	struct fixture *x = test->priv;

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_DEALLOC_PD, KIWI_ST_BAD_HANDLE);
	x->fw.refusal.field = 0;
	x->fw.refusal.value = 9;
	KUNIT_EXPECT_EQ(test, kiwi_cmd_dealloc_pd(&x->fw, 9, &x->err), -ENOENT);
	KUNIT_EXPECT_STREQ(test, x->err.text, "DEALLOC_PD refused: no such object: number 9");
	KUNIT_EXPECT_EQ(test, x->err.limit, 0);
}

static void cmd_refused_without_field(struct kunit *test)
{
	struct fixture *x = test->priv;
	u32 pdn;

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_ALLOC_PD, KIWI_ST_NO_RESOURCE);
	KUNIT_EXPECT_EQ(test, kiwi_cmd_alloc_pd(&x->fw, &pdn, &x->err), -ENOSPC);
	KUNIT_EXPECT_STREQ(test, x->err.text, "ALLOC_PD refused: limit of the device reached");
}

/* A nested field is named as the ABI writes it. */
static void cmd_refused_page_list(struct kunit *test)
{
	struct fixture *x = test->priv;
	const struct kiwi_pbl pbl = { };
	u32 key;

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_REG_MR, KIWI_ST_BAD_PARAM);
	x->fw.refusal.field = offsetof(struct kiwi_snic_reg_mr_in, pbl.count);
	x->fw.refusal.value = 3;
	KUNIT_EXPECT_EQ(test, kiwi_cmd_reg_mr(&x->fw, 1, 0, 0, 1, &pbl, &key, &x->err), -EINVAL);
	KUNIT_EXPECT_STREQ(test, x->err.text,
			   "REG_MR refused: field out of range: pbl.count 3");
}

static void cmd_device_down_is_no_refusal(struct kunit *test)
{
	static const int errors[] = { -EPROTO, -ETIMEDOUT, -EIO, -ENODEV };
	struct fixture *x = test->priv;
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(errors); n++) {
		x->fw.error = errors[n];
		x->err.refused = true;
		KUNIT_EXPECT_EQ(test, kiwi_cmd_dealloc_pd(&x->fw, 1, &x->err), errors[n]);
		KUNIT_EXPECT_FALSE(test, x->err.refused);
	}
}

static void cmd_no_memory_is_a_refusal(struct kunit *test)
{
	struct fixture *x = test->priv;

	x->fw.error = -ENOMEM;
	KUNIT_EXPECT_EQ(test, kiwi_cmd_dealloc_pd(&x->fw, 1, &x->err), -ENOMEM);
	KUNIT_EXPECT_TRUE(test, x->err.refused);
	KUNIT_EXPECT_STREQ(test, x->err.text, "DEALLOC_PD: out of kernel memory");
	x->fw.error = 0;
}

static void cmd_port(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct ksnic_port_info info;

	KUNIT_ASSERT_EQ(test, ksnic_cmd_query_port(&x->fw, 2, &info, &x->err), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpup((__le32 *)fake_fw_last(&x->fw)->in), 2);
	KUNIT_EXPECT_EQ(test, info.mbps, 400000);
	KUNIT_EXPECT_EQ(test, info.state, KIWI_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, info.enabled, 1);
	KUNIT_EXPECT_EQ(test, info.mtu, KIWI_MTU_2048);
	KUNIT_EXPECT_EQ(test, info.mtu_max, KIWI_MTU_4096);
	KUNIT_EXPECT_MEMEQ(test, info.mac, x->snic.port.mac, ETH_ALEN);
}

static void expect_bad_port(struct kunit *test, const char *field, u64 value)
{
	struct fixture *x = test->priv;
	struct ksnic_port_info info;
	char text[80];

	snprintf(text, sizeof(text), "QUERY_PORT: the firmware replied with %s %llu", field,
		 value);
	KUNIT_EXPECT_EQ(test, ksnic_cmd_query_port(&x->fw, 1, &info, &x->err), -EPROTO);
	KUNIT_EXPECT_STREQ(test, x->err.text, text);
}

static void cmd_port_state(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct ksnic_port_info info;

	x->snic.port.state = KIWI_PORT_DOWN;
	KUNIT_EXPECT_EQ(test, ksnic_cmd_query_port(&x->fw, 1, &info, &x->err), 0);
	x->snic.port.state = 0;
	expect_bad_port(test, "state", 0);
	x->snic.port.state = 3;
	expect_bad_port(test, "state", 3);
	x->snic.port.state = 5;
	expect_bad_port(test, "state", 5);
}

static void cmd_port_enabled(struct kunit *test)
{
	struct fixture *x = test->priv;

	x->snic.port.enabled = 2;
	expect_bad_port(test, "enabled", 2);
}

static void cmd_port_mtu(struct kunit *test)
{
	struct fixture *x = test->priv;

	x->snic.port.mtu = 0;
	expect_bad_port(test, "mtu", 0);
	x->snic.port.mtu = KIWI_MTU_4096;
	x->snic.port.mtu_max = KIWI_MTU_2048;
	expect_bad_port(test, "mtu", KIWI_MTU_4096);
	x->snic.port.mtu_max = 6;
	expect_bad_port(test, "mtu_max", 6);
	x->snic.port.mtu_max = 0;
	expect_bad_port(test, "mtu_max", 0);
}

static void cmd_port_mac(struct kunit *test)
{
	struct fixture *x = test->priv;

	memset(x->snic.port.mac, 0, ETH_ALEN);
	expect_bad_port(test, "mac", 0);
	x->snic.port.mac[0] = 1;
	expect_bad_port(test, "mac", 0x010000000000ULL);
}

static void cmd_port_counters(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_snic_port_counters counters;

	KUNIT_ASSERT_EQ(test, ksnic_cmd_query_port_counters(&x->fw, 1, &counters, &x->err), 0);
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->out_len, sizeof(counters));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(counters.retransmitted), 0x1111111111111111ULL);
}

static void cmd_gid(struct kunit *test)
{
	static const u8 gid[16] = { 0xfe, 0x80, [15] = 9 };
	struct fixture *x = test->priv;
	const struct kiwi_snic_set_gid_in *in;

	KUNIT_ASSERT_EQ(test, ksnic_cmd_set_gid(&x->fw, 2, 3, KIWI_GID_ROCE_V2, gid, &x->err), 0);
	in = (const void *)fake_fw_last(&x->fw)->in;
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->in_len, sizeof(*in));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->port), 2);
	KUNIT_EXPECT_EQ(test, in->index, 3);
	KUNIT_EXPECT_EQ(test, in->type, KIWI_GID_ROCE_V2);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(in->rsvd), 0);
	KUNIT_EXPECT_MEMEQ(test, in->gid, gid, sizeof(gid));
}

static void cmd_error_text_is_cut(struct kunit *test)
{
	struct fixture *x = test->priv;
	char text[200];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	KUNIT_EXPECT_EQ(test, kiwi_fail(&x->err, -EBUSY, 1, 2, "%s", text), -EBUSY);
	KUNIT_EXPECT_EQ(test, strlen(x->err.text), sizeof(x->err.text) - 1);
	KUNIT_EXPECT_EQ(test, x->err.value, 1);
	KUNIT_EXPECT_EQ(test, x->err.limit, 2);
}

static void cmd_errno_texts(struct kunit *test)
{
	static const int known[] = { -ENOMEM, -EFAULT, -ENODEV, -EIO, -EOPNOTSUPP, -ETIMEDOUT,
				     -EPROTO, -EINTR };
	unsigned int n, m;

	KUNIT_EXPECT_STREQ(test, kiwi_errno_text(-EXDEV), "failed");
	for (n = 0; n < ARRAY_SIZE(known); n++) {
		KUNIT_EXPECT_STRNEQ(test, kiwi_errno_text(known[n]), "failed");
		for (m = 0; m < n; m++)
			KUNIT_EXPECT_STRNEQ(test, kiwi_errno_text(known[n]),
					    kiwi_errno_text(known[m]));
	}
}

static struct kunit_case cmd_cases[] = {
	KUNIT_CASE(cmd_bad_number),
	KUNIT_CASE(cmd_largest_number),
	KUNIT_CASE(cmd_bad_key),
	KUNIT_CASE(cmd_qp_numbers_of_management),
	KUNIT_CASE(cmd_qp_number_of_multicast),
	KUNIT_CASE(cmd_qp_numbers_allowed),
	KUNIT_CASE(cmd_refused_with_field_and_limit),
	KUNIT_CASE(cmd_refused_with_field_alone),
	KUNIT_CASE(cmd_refused_without_field),
	KUNIT_CASE(cmd_refused_page_list),
	KUNIT_CASE(cmd_device_down_is_no_refusal),
	KUNIT_CASE(cmd_no_memory_is_a_refusal),
	KUNIT_CASE(cmd_port),
	KUNIT_CASE(cmd_port_state),
	KUNIT_CASE(cmd_port_enabled),
	KUNIT_CASE(cmd_port_mtu),
	KUNIT_CASE(cmd_port_mac),
	KUNIT_CASE(cmd_port_counters),
	KUNIT_CASE(cmd_gid),
	KUNIT_CASE(cmd_error_text_is_cut),
	KUNIT_CASE(cmd_errno_texts),
	{}
};

static struct kunit_suite cmd_suite = {
	.name = "kiwi_snic_cmd",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = cmd_cases,
};

kunit_test_suite(cmd_suite);
