// SPDX-License-Identifier: GPL-2.0
/*
 * The layout of the firmware ABI and of the uapi, as numbers. A structure that is changed is
 * another ABI: this fails although all that is compiled together still agrees.
 */
#include <kunit/test.h>

#include <kiwi_abi/admin.h>
#include <kiwi_abi/queues.h>
#include <kiwi_abi/regs.h>
#include <kiwi_abi/snic.h>
#include <uapi/kiwi/snic.h>

#define AT(type, member, offset) \
	KUNIT_EXPECT_EQ(test, offsetof(struct type, member), offset)
#define SIZE(type, size) \
	KUNIT_EXPECT_EQ(test, sizeof(struct type), size)

static void abi_admin_entry(struct kunit *test)
{
	SIZE(kiwi_aq_entry, 64);
	AT(kiwi_aq_entry, cmd_id, 0);
	AT(kiwi_aq_entry, opcode, 2);
	AT(kiwi_aq_entry, flags, 4);
	AT(kiwi_aq_entry, in_len, 6);
	AT(kiwi_aq_entry, in_addr, 8);
	AT(kiwi_aq_entry, out_addr, 16);
	AT(kiwi_aq_entry, out_len, 24);
	AT(kiwi_aq_entry, in, 32);
}

static void abi_admin_completion(struct kunit *test)
{
	SIZE(kiwi_acq_entry, 64);
	AT(kiwi_acq_entry, cmd_id, 0);
	AT(kiwi_acq_entry, opcode, 2);
	AT(kiwi_acq_entry, status, 4);
	AT(kiwi_acq_entry, out_len, 6);
	AT(kiwi_acq_entry, err_value, 8);
	AT(kiwi_acq_entry, err_limit, 16);
	AT(kiwi_acq_entry, out, 24);
	AT(kiwi_acq_entry, err_field, 56);
	AT(kiwi_acq_entry, flags, 63);
}

static void abi_event(struct kunit *test)
{
	SIZE(kiwi_eqe, 16);
	AT(kiwi_eqe, type, 0);
	AT(kiwi_eqe, code, 1);
	AT(kiwi_eqe, id, 4);
	AT(kiwi_eqe, info, 8);
	AT(kiwi_eqe, flags, 15);
	KUNIT_EXPECT_EQ(test, KIWI_EQE_PHASE, 1);
	KUNIT_EXPECT_EQ(test, KIWI_EQE_OVERRUN, 2);
}

static void abi_page_list(struct kunit *test)
{
	SIZE(kiwi_pbl, 48);
	AT(kiwi_pbl, count, 0);
	AT(kiwi_pbl, page_shift, 4);
	AT(kiwi_pbl, levels, 5);
	AT(kiwi_pbl, table_shift, 6);
	AT(kiwi_pbl, offset, 8);
	AT(kiwi_pbl, addr, 16);
}

static void abi_registers(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, KIWI_MAGIC, 0x4957494b);
	KUNIT_EXPECT_EQ(test, KIWI_REG_CAPS, 0x20);
	KUNIT_EXPECT_EQ(test, KIWI_REG_LIMITS, 0x28);
	KUNIT_EXPECT_EQ(test, KIWI_REG_DEV_CTL, 0x80);
	KUNIT_EXPECT_EQ(test, KIWI_REG_DEV_STS, 0x84);
	KUNIT_EXPECT_EQ(test, KIWI_REG_AQ_BASE, 0x100);
	KUNIT_EXPECT_EQ(test, KIWI_REG_AQ_PI, 0x118);
	KUNIT_EXPECT_EQ(test, KIWI_REG_ACQ_CI, 0x11c);
	KUNIT_EXPECT_EQ(test, KIWI_REG_EQ_DB(3), 0x1018);
	KUNIT_EXPECT_EQ(test, KIWI_REG_DIAG(2), 0x4010);
}

static void abi_capabilities(struct kunit *test)
{
	SIZE(kiwi_snic_caps, 112);
	AT(kiwi_snic_caps, max_mr_size, 16);
	AT(kiwi_snic_caps, max_mr_pages, 24);
	AT(kiwi_snic_caps, max_inline, 28);
	AT(kiwi_snic_caps, page_shift_max, 32);
	AT(kiwi_snic_caps, ports, 34);
	AT(kiwi_snic_caps, max_rd_atomic, 40);
	AT(kiwi_snic_caps, max_msg_size, 48);
	AT(kiwi_snic_caps, link_mbps, 52);
}

static void abi_region(struct kunit *test)
{
	SIZE(kiwi_snic_reg_mr_in, 72);
	AT(kiwi_snic_reg_mr_in, access, 4);
	AT(kiwi_snic_reg_mr_in, iova, 8);
	AT(kiwi_snic_reg_mr_in, length, 16);
	AT(kiwi_snic_reg_mr_in, pbl, 24);
}

static void abi_queues(struct kunit *test)
{
	SIZE(kiwi_snic_create_cq_in, 80);
	AT(kiwi_snic_create_cq_in, ci_offset, 48);
	AT(kiwi_snic_create_cq_in, eqn, 64);
	AT(kiwi_snic_create_cq_in, db_page, 68);
	AT(kiwi_snic_create_cq_in, log2, 72);
	SIZE(kiwi_snic_create_qp_in, 128);
	AT(kiwi_snic_create_qp_in, db_page, 12);
	AT(kiwi_snic_create_qp_in, type, 16);
	AT(kiwi_snic_create_qp_in, rq_stride, 20);
	AT(kiwi_snic_create_qp_in, sq, 32);
	AT(kiwi_snic_create_qp_in, rq, 80);
	SIZE(kiwi_snic_queue_out, 8);
	AT(kiwi_snic_queue_out, epoch, 4);
}

static void abi_queue_pair_attributes(struct kunit *test)
{
	SIZE(kiwi_qp_attr, 64);
	AT(kiwi_qp_attr, dest_qpn, 4);
	AT(kiwi_qp_attr, timeout, 16);
	AT(kiwi_qp_attr, traffic_class, 23);
	AT(kiwi_qp_attr, dmac, 24);
	AT(kiwi_qp_attr, sgid_index, 30);
	AT(kiwi_qp_attr, dgid, 32);
	AT(kiwi_qp_attr, access, 48);
	AT(kiwi_qp_attr, flow_label, 52);
	AT(kiwi_qp_attr, udp_sport, 56);
	AT(kiwi_snic_modify_qp_in, attr, 8);
}

static void abi_states(struct kunit *test)
{
	static const u8 states[] = { KIWI_QPS_RESET, KIWI_QPS_INIT, KIWI_QPS_RTR, KIWI_QPS_RTS,
				     KIWI_QPS_SQD, KIWI_QPS_SQE, KIWI_QPS_ERR };
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(states); n++)
		KUNIT_EXPECT_EQ(test, states[n], n);
	KUNIT_EXPECT_EQ(test, KIWI_QP_ATTR_ALL, 0x7fff);
	KUNIT_EXPECT_EQ(test, KIWI_ST_COUNT, 13);
	KUNIT_EXPECT_EQ(test, KIWI_EV_COUNT, 9);
}

static void abi_work_and_completions(struct kunit *test)
{
	SIZE(kiwi_wqe_ctrl, 16);
	AT(kiwi_wqe_ctrl, imm, 4);
	AT(kiwi_wqe_ctrl, wr_id, 8);
	SIZE(kiwi_sge, 16);
	AT(kiwi_sge, lkey, 8);
	AT(kiwi_sge, len, 12);
	SIZE(kiwi_cqe, 64);
	AT(kiwi_cqe, byte_len, 8);
	AT(kiwi_cqe, qpn, 16);
	AT(kiwi_cqe, sq_index, 24);
	AT(kiwi_cqe, status, 27);
	AT(kiwi_cqe, flags, 63);
	KUNIT_EXPECT_EQ(test, KIWI_DB_VALUE(KIWI_DB_CQ_ARM, 0xabcdef, 0x1234, 0x5678),
			0x03abcdef12345678ULL);
}

static void uapi_numbers(struct kunit *test)
{
	static const unsigned int numbers[][2] = {
		{ KIWI_SNIC_QUERY_DEVICE, 0xe600 }, { KIWI_SNIC_QUERY_PORT, 0xe601 },
		{ KIWI_SNIC_SET_PORT, 0xe602 }, { KIWI_SNIC_QUERY_GID, 0xe603 },
		{ KIWI_SNIC_SET_GID, 0xe604 }, { KIWI_SNIC_LAST_ERROR, 0xe605 },
		{ KIWI_SNIC_DESTROY, 0xe606 }, { KIWI_SNIC_PD_ALLOC, 0xe610 },
		{ KIWI_SNIC_MR_REG, 0xe611 }, { KIWI_SNIC_MR_QUERY, 0xe612 },
		{ KIWI_SNIC_DOORBELL_ALLOC, 0xe613 }, { KIWI_SNIC_CQ_CREATE, 0xe614 },
		{ KIWI_SNIC_QP_CREATE, 0xe615 }, { KIWI_SNIC_QP_MODIFY, 0xe616 },
		{ KIWI_SNIC_QP_QUERY, 0xe617 }, { KIWI_SNIC_DOORBELL_EXPORT, 0xe618 },
		{ KIWI_SNIC_QUEUE_QUERY, 0xe619 }, { KIWI_SNIC_ERROR_PAGE, 0xe61a },
		{ KIWI_SNIC_PREFLIGHT, 0xe61b },
	};
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(numbers); n++)
		KUNIT_EXPECT_EQ(test, numbers[n][0], numbers[n][1]);
}

/* What version 1 had stays where it was; a structure may grow at its end alone. */
static void uapi_layout(struct kunit *test)
{
	AT(kiwi_snic_query_device, max_mr_size, 32);
	AT(kiwi_snic_query_device, page_shift_max, 87);
	AT(kiwi_snic_query_port, mac, 20);
	AT(kiwi_snic_gid, gid, 16);
	AT(kiwi_snic_last_error, text, 32);
	SIZE(kiwi_mem, 24);
	AT(kiwi_mem, addr, 8);
	AT(kiwi_snic_mr_reg, iova, 32);
	AT(kiwi_snic_mr_reg, key, 60);
	AT(kiwi_snic_mr_query, page_shift, 40);
	AT(kiwi_snic_mr_query, bridge, 48);
	AT(kiwi_snic_doorbell_alloc, map_offset, 16);
	AT(kiwi_snic_cq_create, event_fd, 56);
	AT(kiwi_snic_cq_create, epoch, 72);
	AT(kiwi_snic_qp_create, rq, 32);
	AT(kiwi_snic_qp_create, type, 80);
	AT(kiwi_snic_qp_create, epoch, 92);
	AT(kiwi_snic_qp_modify, udp_sport, 36);
	AT(kiwi_snic_qp_modify, dmac, 51);
	AT(kiwi_snic_qp_modify, dgid, 60);
	SIZE(kiwi_snic_event, 24);
	AT(kiwi_snic_event, user_data, 8);
	AT(kiwi_snic_event, code, 16);
}

static struct kunit_case abi_cases[] = {
	KUNIT_CASE(abi_admin_entry),
	KUNIT_CASE(abi_admin_completion),
	KUNIT_CASE(abi_event),
	KUNIT_CASE(abi_page_list),
	KUNIT_CASE(abi_registers),
	KUNIT_CASE(abi_capabilities),
	KUNIT_CASE(abi_region),
	KUNIT_CASE(abi_queues),
	KUNIT_CASE(abi_queue_pair_attributes),
	KUNIT_CASE(abi_states),
	KUNIT_CASE(abi_work_and_completions),
	KUNIT_CASE(uapi_numbers),
	KUNIT_CASE(uapi_layout),
	{}
};

static struct kunit_suite abi_suite = {
	.name = "kiwi_snic_abi",
	.test_cases = abi_cases,
};

kunit_test_suite(abi_suite);
