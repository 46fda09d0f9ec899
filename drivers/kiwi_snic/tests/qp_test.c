// SPDX-License-Identifier: GPL-2.0
/* Queue pairs and completion queues: rings, attributes, states, numbers. */
#include <linux/sizes.h>

#include <kiwi_abi/queues.h>

#include "fixture.h"

static int check_qp(struct kunit *test, u8 sq_log2, u64 sq_length, u8 rq_log2, u8 stride,
		    u64 rq_length)
{
	const struct kiwi_snic_qp_create c = {
		.sq.length = sq_length,
		.rq.length = rq_length,
		.sq_log2 = sq_log2,
		.rq_log2 = rq_log2,
		.rq_stride = stride,
	};
	struct fixture *x = test->priv;

	return kiwi_qp_check(&x->ks.part, &c, &x->err);
}

static void qp_send_queue_size(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check_qp(test, 2, 64 << 2, 0, 5, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 64 << 3, 0, 5, 32), 0);
	KUNIT_EXPECT_EQ(test, check_qp(test, 12, 64 << 12, 0, 5, 32), 0);
	KUNIT_EXPECT_EQ(test, check_qp(test, 13, 64 << 13, 0, 5, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_qp(test, 255, 64, 0, 5, 32), -EINVAL);
}

static void qp_send_queue_length(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 511, 0, 5, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, x->err.value, 511);
	KUNIT_EXPECT_EQ(test, x->err.limit, 512);
	KUNIT_EXPECT_STREQ(test, x->err.text, "sq.length 511: 2^3 times 64 bytes are 512");
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 513, 0, 5, 32), -EINVAL);
}

static void qp_receive_queue_size(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 512, 0, 5, 32), 0);
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 512, 11, 5, 32 << 11), 0);
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 512, 12, 5, 32 << 12), -EINVAL);
}

static void qp_receive_stride(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 512, 1, 4, 32), -EINVAL);
	KUNIT_EXPECT_EQ(test, x->err.value, 4);
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 512, 1, 5, 64), 0);
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 512, 1, 9, 1024), 0);
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 512, 1, 10, 2048), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_qp(test, 3, 512, 1, 9, 1023), -EINVAL);
}

static int check_cq(struct kunit *test, u32 log2, u64 length, u64 ci_offset)
{
	struct fixture *x = test->priv;

	return kiwi_cq_check(&x->ks.part, 0, log2, length, ci_offset, &x->err);
}

static void cq_size(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check_cq(test, 0, SZ_4K, 64), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_cq(test, 1, SZ_4K, 128), 0);
	KUNIT_EXPECT_EQ(test, check_cq(test, 10, SZ_1M, SZ_64K), 0);
	KUNIT_EXPECT_EQ(test, check_cq(test, 11, SZ_1M, SZ_128K), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_cq(test, U32_MAX, SZ_1M, SZ_128K), -EINVAL);
}

static void cq_length(struct kunit *test)
{
	struct fixture *x = test->priv;

	KUNIT_EXPECT_EQ(test, check_cq(test, 6, SZ_4K + 8, SZ_4K), 0);
	KUNIT_EXPECT_EQ(test, check_cq(test, 6, SZ_4K + 7, SZ_4K), -EINVAL);
	KUNIT_EXPECT_EQ(test, x->err.limit, SZ_4K + 8);
}

static void cq_index_record(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, check_cq(test, 6, SZ_8K, SZ_4K - 8), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_cq(test, 6, SZ_8K, SZ_4K + 4), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_cq(test, 6, SZ_8K, SZ_8K - 8), 0);
	KUNIT_EXPECT_EQ(test, check_cq(test, 6, SZ_8K, SZ_8K), -EINVAL);
	KUNIT_EXPECT_EQ(test, check_cq(test, 6, SZ_8K, U64_MAX - 7), -EINVAL);
}

static void cq_on_the_wire(struct kunit *test)
{
	struct fixture *x = test->priv;
	const struct kiwi_snic_create_cq_in *in;
	struct kiwi_cq *cq;

	fixture_db(x);
	cq = fixture_cq(x, fixture_db(x));
	in = (const void *)fake_fw_last(&x->fw)->in;
	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->in_len, sizeof(*in));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->pbl.addr[0]), cq->mem->runs[0].addr);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->ci_offset), SZ_4K);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->length), SZ_4K + 64);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->eqn), 101);	/* vector 3 of 2 */
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->db_page), 1);
	KUNIT_EXPECT_EQ(test, in->log2, 6);
	KUNIT_EXPECT_EQ(test, cq->hw.number, x->fw.last);
	KUNIT_EXPECT_EQ(test, cq->hw.epoch, x->snic.queues.epoch);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&x->ks.queues.cqs, cq->hw.number), (void *)&cq->obj);
}

static struct kiwi_qp *a_qp(struct fixture *x)
{
	struct kiwi_db *db = fixture_db(x);

	return fixture_qp(x, fixture_pd(x), fixture_cq(x, db), fixture_cq(x, db), db);
}

static void qp_on_the_wire(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	const struct kiwi_snic_create_qp_in *in = (const void *)fake_fw_last(&x->fw)->in;

	KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->in_len, sizeof(*in));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->pdn), qp->pd->pdn);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->send_cqn), qp->send_cq->hw.number);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->recv_cqn), qp->recv_cq->hw.number);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(in->db_page), 0);
	KUNIT_EXPECT_EQ(test, in->type, KIWI_QP_RC);
	KUNIT_EXPECT_EQ(test, in->flags, KIWI_QP_SQ_SIG_ALL);
	KUNIT_EXPECT_EQ(test, in->sq_log2, 3);
	KUNIT_EXPECT_EQ(test, in->rq_log2, 6);
	KUNIT_EXPECT_EQ(test, in->rq_stride, 6);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->sq.addr[0]), qp->sq->runs[0].addr);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(in->rq.addr[0]), qp->rq->runs[0].addr);
	KUNIT_EXPECT_EQ(test, qp->hw.number, x->fw.last);
	KUNIT_EXPECT_EQ(test, qp->hw.epoch, x->snic.queues.epoch);
	KUNIT_EXPECT_EQ(test, x->fw.pbls, 0);
}

/* The driver passes each transition of S-20 on as it is asked for. */
static void qp_transitions(struct kunit *test)
{
	static const struct {
		u32 mask;
		u8 state;
	} steps[] = {
		{ KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_PORT | KIWI_QP_ATTR_ACCESS, KIWI_QPS_INIT },
		{ KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_AV | KIWI_QP_ATTR_MTU, KIWI_QPS_RTR },
		{ KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_SQ_PSN, KIWI_QPS_RTS },
		{ KIWI_QP_ATTR_STATE, KIWI_QPS_SQD },
		{ KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_CUR_STATE, KIWI_QPS_RTS },
		{ KIWI_QP_ATTR_STATE, KIWI_QPS_ERR },
		{ KIWI_QP_ATTR_STATE, KIWI_QPS_RESET },
	};
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	const struct kiwi_snic_modify_qp_in *in;
	struct kiwi_qp_attr attr = { };
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(steps); n++) {
		attr.state = steps[n].state;
		attr.port = n;
		KUNIT_ASSERT_EQ(test, kiwi_qp_modify(qp, steps[n].mask, &attr, &x->err), 0);
		KUNIT_EXPECT_EQ(test, fake_fw_last(&x->fw)->opcode, KIWI_SNIC_OP_MODIFY_QP);
		in = (const void *)fake_fw_last(&x->fw)->in;
		KUNIT_EXPECT_EQ(test, le32_to_cpu(in->qpn), qp->hw.number);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(in->mask), steps[n].mask);
		KUNIT_EXPECT_MEMEQ(test, &in->attr, &attr, sizeof(attr));
	}
}

static void qp_transition_refused(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	const struct kiwi_qp_attr attr = { .state = KIWI_QPS_RTS };

	fake_fw_refuse(&x->fw, KIWI_SNIC_OP_MODIFY_QP, KIWI_ST_BAD_STATE);
	x->fw.refusal.field = offsetof(struct kiwi_snic_modify_qp_in, attr.state);
	x->fw.refusal.value = KIWI_QPS_RTS;
	KUNIT_EXPECT_EQ(test, kiwi_qp_modify(qp, KIWI_QP_ATTR_STATE, &attr, &x->err), -EINVAL);
	KUNIT_EXPECT_STREQ(test, x->err.text,
			   "MODIFY_QP refused: not allowed in this state: attr.state 3");
	KUNIT_EXPECT_TRUE(test, qp->obj.live);
}

static void qp_query(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	struct kiwi_qp_attr attr;
	u8 state;

	for (state = KIWI_QPS_RESET; state <= KIWI_QPS_ERR; state++) {
		x->snic.queues.attr.state = state;
		x->snic.queues.attr.sq_psn = cpu_to_le32(0xffffff);
		KUNIT_ASSERT_EQ(test, kiwi_qp_query(qp, &attr, &x->err), 0);
		KUNIT_EXPECT_MEMEQ(test, &attr, &x->snic.queues.attr, sizeof(attr));
	}
}

static void expect_bad_query(struct kunit *test, struct kiwi_qp *qp, const char *field)
{
	struct fixture *x = test->priv;
	struct kiwi_qp_attr attr;
	char text[64];

	snprintf(text, sizeof(text), "QUERY_QP: the firmware replied with %s ", field);
	KUNIT_EXPECT_EQ(test, kiwi_qp_query(qp, &attr, &x->err), -EPROTO);
	KUNIT_EXPECT_MEMEQ(test, x->err.text, text, strlen(text));
	x->snic.queues.attr = (struct kiwi_qp_attr) { };
}

static void qp_query_out_of_range(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp_attr *attr = &x->snic.queues.attr;
	struct kiwi_qp *qp = a_qp(x);

	attr->state = KIWI_QPS_ERR + 1;
	expect_bad_query(test, qp, "state");
	attr->mtu = KIWI_MTU_4096 + 1;
	expect_bad_query(test, qp, "mtu");
	attr->timeout = 32;
	expect_bad_query(test, qp, "timeout");
	attr->retry_cnt = 8;
	expect_bad_query(test, qp, "retry_cnt");
	attr->rnr_retry = 8;
	expect_bad_query(test, qp, "rnr_retry");
	attr->min_rnr_timer = 32;
	expect_bad_query(test, qp, "min_rnr_timer");
	attr->access = cpu_to_le32(0x8000);
	expect_bad_query(test, qp, "access");
	attr->flow_label = cpu_to_le32(0x100000);
	expect_bad_query(test, qp, "flow_label");
}

static void qp_query_numbers_of_25_bits(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp_attr *attr = &x->snic.queues.attr;
	struct kiwi_qp *qp = a_qp(x);

	attr->dest_qpn = cpu_to_le32(0x1000000);
	expect_bad_query(test, qp, "dest_qpn");
	attr->sq_psn = cpu_to_le32(0x1000000);
	expect_bad_query(test, qp, "sq_psn");
	attr->rq_psn = cpu_to_le32(0x80000000);
	expect_bad_query(test, qp, "rq_psn");
}

static void qp_destroyed_is_no_longer_named(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	struct kiwi_qp_attr attr = { };
	unsigned int commands;

	KUNIT_ASSERT_PTR_EQ(test, kiwi_obj_get(x->owner, qp->obj.id, &kiwi_qp_ops, &x->err),
			    (void *)qp);
	KUNIT_ASSERT_EQ(test, fixture_destroy(x, qp->obj.id), 0);
	commands = x->fw.nr_cmds;
	KUNIT_EXPECT_EQ(test, kiwi_qp_modify(qp, KIWI_QP_ATTR_STATE, &attr, &x->err), -ENOENT);
	KUNIT_EXPECT_EQ(test, kiwi_qp_query(qp, &attr, &x->err), -ENOENT);
	KUNIT_EXPECT_EQ(test, x->fw.nr_cmds, commands);
	kiwi_obj_put(&qp->obj);
}

static void qp_leaves_its_queues(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	struct kiwi_cq *send = qp->send_cq, *recv = qp->recv_cq;

	KUNIT_EXPECT_FALSE(test, list_empty(&send->senders));
	KUNIT_EXPECT_TRUE(test, list_empty(&send->receivers));
	KUNIT_EXPECT_FALSE(test, list_empty(&recv->receivers));
	KUNIT_EXPECT_TRUE(test, list_empty(&recv->senders));
	KUNIT_ASSERT_EQ(test, fixture_destroy(x, qp->obj.id), 0);
	KUNIT_EXPECT_TRUE(test, list_empty(&send->senders));
	KUNIT_EXPECT_TRUE(test, list_empty(&recv->receivers));
}

/* Of two queues the one with the lower id is locked first, whichever sends. */
static void qp_queues_in_either_order(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_db *db = fixture_db(x);
	struct kiwi_cq *a = fixture_cq(x, db), *b = fixture_cq(x, db);
	struct kiwi_pd *pd = fixture_pd(x);

	fixture_qp(x, pd, a, b, db);
	fixture_qp(x, pd, b, a, db);
	fixture_qp(x, pd, a, a, db);
	KUNIT_EXPECT_TRUE(test, mutex_trylock(&a->obj.lock));
	KUNIT_EXPECT_TRUE(test, mutex_trylock(&b->obj.lock));
	mutex_unlock(&a->obj.lock);
	mutex_unlock(&b->obj.lock);
}

static void cq_without_eventfd_listens_to_nothing(struct kunit *test)
{
	struct fixture *x = test->priv;

	fixture_cq(x, fixture_db(x));
	KUNIT_EXPECT_EQ(test, x->snic.queues.comps, 0);
}

/* Numbers and events -------------------------------------------------------------------- */

static void event(struct fixture *x, u8 type, u32 number, u8 code)
{
	const struct kiwi_eqe eqe = { .type = type, .code = code, .id = cpu_to_le32(number) };

	ksnic_event(&x->ks.part, &eqe, false);
}

static void event_finds_the_queue_pair(struct kunit *test)
{
	static const u8 types[][2] = {
		{ KIWI_EV_QP_ERROR, KIWI_SNIC_EVENT_QP_ERROR },
		{ KIWI_EV_QP_ACCESS, KIWI_SNIC_EVENT_QP_ACCESS },
		{ KIWI_EV_QP_ESTABLISHED, KIWI_SNIC_EVENT_QP_ESTABLISHED },
		{ KIWI_EV_QP_DRAINED, KIWI_SNIC_EVENT_QP_DRAINED },
	};
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	unsigned int n;

	for (n = 0; n < ARRAY_SIZE(types); n++) {
		event(x, types[n][0], qp->hw.number, 10 + n);
		KUNIT_ASSERT_EQ(test, fixture_events(x), n + 1);
		KUNIT_EXPECT_EQ(test, fixture_event(x, n).type, types[n][1]);
		KUNIT_EXPECT_EQ(test, fixture_event(x, n).code, 10 + n);
		KUNIT_EXPECT_EQ(test, fixture_event(x, n).id, qp->obj.id);
		KUNIT_EXPECT_EQ(test, fixture_event(x, n).user_data, FIXTURE_USER_DATA);
	}
}

static void event_finds_the_completion_queue(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_cq *cq = fixture_cq(x, fixture_db(x));

	event(x, KIWI_EV_CQ_ERROR, cq->hw.number, KIWI_CQ_ERR_OVERRUN);
	KUNIT_ASSERT_EQ(test, fixture_events(x), 1);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).type, KIWI_SNIC_EVENT_CQ_ERROR);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).code, KIWI_CQ_ERR_OVERRUN);
	KUNIT_EXPECT_EQ(test, fixture_event(x, 0).id, cq->obj.id);
}

/* Numbers of CQs and of QPs are apart, and most lead nowhere. */
static void event_of_nobody(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);

	event(x, KIWI_EV_CQ_ERROR, qp->hw.number, 0);
	event(x, KIWI_EV_QP_ERROR, qp->send_cq->hw.number, 0);
	event(x, KIWI_EV_QP_ERROR, 0, 0);
	event(x, KIWI_EV_QP_ERROR, U32_MAX, 0);
	event(x, KIWI_EV_DEVICE_FATAL, qp->hw.number, 0);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 0);
}

/* E-5: events written before the reply are handled before the number is free. */
static void event_before_destruction_is_delivered(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	unsigned int syncs = x->fw.syncs;

	KUNIT_ASSERT_EQ(test, fixture_destroy(x, qp->obj.id), 0);
	KUNIT_EXPECT_EQ(test, x->fw.syncs, syncs + 1);
	KUNIT_EXPECT_TRUE(test, xa_empty(&x->ks.queues.qps));
}

static void event_after_destruction_finds_nobody(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);
	u32 number = qp->hw.number;

	KUNIT_ASSERT_EQ(test, fixture_destroy(x, qp->obj.id), 0);
	event(x, KIWI_EV_QP_ERROR, number, 0);
	KUNIT_EXPECT_EQ(test, fixture_events(x), 0);
}

static void change_state(struct fixture *x, struct kiwi_qp *qp, u8 state)
{
	const struct kiwi_qp_attr attr = { .state = state };

	x->snic.queues.attr.state = state;
	KUNIT_ASSERT_EQ(x->test, kiwi_qp_modify(qp, KIWI_QP_ATTR_STATE, &attr, &x->err), 0);
}

/* How many events LOST there are, and the event after them if there is to be one. */
static void expect_lost(struct fixture *x, unsigned int from, const struct kiwi_qp *qp)
{
	KUNIT_ASSERT_EQ(x->test, fixture_events(x), from + (qp ? 2 : 1));
	KUNIT_EXPECT_EQ(x->test, fixture_event(x, from).type, KIWI_EVENT_LOST);
	if (!qp)
		return;
	KUNIT_EXPECT_EQ(x->test, fixture_event(x, from + 1).type, KIWI_EVENT_QP_ERROR);
	KUNIT_EXPECT_EQ(x->test, fixture_event(x, from + 1).id, qp->obj.id);
	KUNIT_EXPECT_EQ(x->test, fixture_event(x, from + 1).user_data, FIXTURE_USER_DATA);
	KUNIT_EXPECT_EQ(x->test, fixture_event(x, from + 1).code, KIWI_CQE_ST_OK);
}

static void lost_error_is_found_once(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);

	fixture_lose_events(x);
	expect_lost(x, 0, NULL);
	x->snic.queues.attr.state = KIWI_QPS_ERR;
	fixture_lose_events(x);
	expect_lost(x, 1, qp);
	fixture_lose_events(x);
	expect_lost(x, 3, NULL);
}

static void lost_error_of_each_queue_pair(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *a = a_qp(x), *b = a_qp(x);

	event(x, KIWI_EV_QP_ACCESS, a->hw.number, KIWI_CQE_ST_LOC_PROT_ERR);
	x->snic.queues.attr.state = KIWI_QPS_ERR;
	fixture_lose_events(x);
	expect_lost(x, 1, b);
}

static void lost_error_was_told(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);

	event(x, KIWI_EV_QP_ERROR, qp->hw.number, KIWI_CQE_ST_FATAL_ERR);
	x->snic.queues.attr.state = KIWI_QPS_ERR;
	fixture_lose_events(x);
	expect_lost(x, 1, NULL);
}

static void lost_error_is_the_owners(struct kunit *test)
{
	struct fixture *x = test->priv;

	change_state(x, a_qp(x), KIWI_QPS_ERR);
	fixture_lose_events(x);
	expect_lost(x, 0, NULL);
}

static void lost_error_after_a_reset(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_qp *qp = a_qp(x);

	change_state(x, qp, KIWI_QPS_ERR);
	change_state(x, qp, KIWI_QPS_RESET);
	change_state(x, qp, KIWI_QPS_INIT);
	x->snic.queues.attr.state = KIWI_QPS_ERR;
	fixture_lose_events(x);
	expect_lost(x, 0, qp);
}

static void lost_error_and_device(struct kunit *test)
{
	struct fixture *x = test->priv;

	a_qp(x);
	x->snic.queues.attr.state = KIWI_QPS_ERR;
	x->fw.kill = KIWI_SNIC_OP_QUERY_QP;
	x->fw.kill_error = -ENODEV;
	fixture_lose_events(x);
	expect_lost(x, 0, NULL);
}

static struct kiwi_obj *route_of_dying;

/* While the maker of the new object waits, the destroyer of the old one has not come on yet. */
static void expect_old_route(struct kiwi_fw *fw)
{
	struct fixture *x = container_of(fw, struct fixture, fw);

	KUNIT_EXPECT_PTR_EQ(x->test, xa_load(&x->ks.queues.qps, 5), (void *)route_of_dying);
}

static void route_of_a_number_used_again(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *old = fixture_pd(x), *new = fixture_pd(x);

	route_of_dying = &old->obj;
	KUNIT_ASSERT_EQ(test, kiwi_route_add(&old->obj, &x->ks.queues.qps, 5, &x->err), 0);
	old->obj.ending = true;
	x->fw.syncing = expect_old_route;
	KUNIT_EXPECT_EQ(test, kiwi_route_add(&new->obj, &x->ks.queues.qps, 5, &x->err), 0);
	KUNIT_EXPECT_EQ(test, x->fw.syncs, 1);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&x->ks.queues.qps, 5), (void *)&new->obj);
	/* The destroyer of the old one comes late, and leaves the new one's alone. */
	kiwi_route_del(&old->obj, &x->ks.queues.qps, 5);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&x->ks.queues.qps, 5), (void *)&new->obj);
	kiwi_route_del(&new->obj, &x->ks.queues.qps, 5);
	KUNIT_EXPECT_TRUE(test, xa_empty(&x->ks.queues.qps));
}

static void route_of_a_number_given_twice(struct kunit *test)
{
	struct fixture *x = test->priv;
	struct kiwi_pd *a = fixture_pd(x), *b = fixture_pd(x);

	KUNIT_ASSERT_EQ(test, kiwi_route_add(&a->obj, &x->ks.queues.qps, 5, &x->err), 0);
	KUNIT_EXPECT_EQ(test, kiwi_route_add(&b->obj, &x->ks.queues.qps, 5, &x->err), -EPROTO);
	KUNIT_EXPECT_EQ(test, x->fw.fails, 1);
	KUNIT_EXPECT_EQ(test, x->fw.fail_reason, KIWI_RESET_PROTOCOL);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&x->ks.queues.qps, 5), (void *)&a->obj);
	kiwi_route_del(&a->obj, &x->ks.queues.qps, 5);
}

static struct kunit_case qp_cases[] = {
	KUNIT_CASE(qp_send_queue_size),
	KUNIT_CASE(qp_send_queue_length),
	KUNIT_CASE(qp_receive_queue_size),
	KUNIT_CASE(qp_receive_stride),
	KUNIT_CASE(cq_size),
	KUNIT_CASE(cq_length),
	KUNIT_CASE(cq_index_record),
	KUNIT_CASE(cq_on_the_wire),
	KUNIT_CASE(qp_on_the_wire),
	KUNIT_CASE(qp_transitions),
	KUNIT_CASE(qp_transition_refused),
	KUNIT_CASE(qp_query),
	KUNIT_CASE(qp_query_out_of_range),
	KUNIT_CASE(qp_query_numbers_of_25_bits),
	KUNIT_CASE(qp_destroyed_is_no_longer_named),
	KUNIT_CASE(qp_leaves_its_queues),
	KUNIT_CASE(qp_queues_in_either_order),
	KUNIT_CASE(cq_without_eventfd_listens_to_nothing),
	KUNIT_CASE(event_finds_the_queue_pair),
	KUNIT_CASE(event_finds_the_completion_queue),
	KUNIT_CASE(event_of_nobody),
	KUNIT_CASE(event_before_destruction_is_delivered),
	KUNIT_CASE(event_after_destruction_finds_nobody),
	KUNIT_CASE(lost_error_is_found_once),
	KUNIT_CASE(lost_error_of_each_queue_pair),
	KUNIT_CASE(lost_error_was_told),
	KUNIT_CASE(lost_error_is_the_owners),
	KUNIT_CASE(lost_error_after_a_reset),
	KUNIT_CASE(lost_error_and_device),
	KUNIT_CASE(route_of_a_number_used_again),
	KUNIT_CASE(route_of_a_number_given_twice),
	{}
};

static struct kunit_suite qp_suite = {
	.name = "kiwi_snic_qp",
	.init = fixture_init,
	.exit = fixture_exit,
	.test_cases = qp_cases,
};

kunit_test_suite(qp_suite);
