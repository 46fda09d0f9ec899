// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <string.h>

#include <kiwi_abi/queues.h>

#include "rings.h"
#include "world.h"

#define WORDS	(KIWI_WQEBB / 8)

/* A key and an address that some region has, or nearly. */
static void pick_target(struct context *ctx, uint64_t *addr, uint32_t *key)
{
	struct thing mr;

	world_pick(ctx, MR, rng_one_in(&ctx->rng, 4) ? rng_below(&ctx->rng, FILES) : 0, &mr);
	*key = mr.key;
	*addr = mr.addr + (mr.length ? rng_below(&ctx->rng, mr.length) : 0);
	if (!ctx->valid && rng_one_in(&ctx->rng, 4))
		*key ^= 1U << rng_below(&ctx->rng, 32);
	if (!ctx->valid && rng_one_in(&ctx->rng, 4))
		*addr = rng_next(&ctx->rng);
}

static void put_sge(struct context *ctx, struct kiwi_sge *sge)
{
	uint64_t addr;
	uint32_t key;

	pick_target(ctx, &addr, &key);
	sge->addr = htole64(addr);
	sge->lkey = htole32(key);
	sge->len = htole32(rng_below(&ctx->rng, 1 << rng_below(&ctx->rng, 14)));
}

/* A work request of one unit: control, remote address, one entry. */
static void make_wqe(struct context *ctx, unsigned char *unit)
{
	struct kiwi_wqe_ctrl *ctrl = (struct kiwi_wqe_ctrl *)unit;
	struct kiwi_wqe_raddr *remote = (struct kiwi_wqe_raddr *)(ctrl + 1);
	struct kiwi_sge *sge = (struct kiwi_sge *)(ctrl + 1);
	uint64_t addr;
	uint32_t key;

	memset(unit, 0, KIWI_WQEBB);
	ctrl->opcode = rng_below(&ctx->rng, KIWI_WQE_OPCODE_COUNT);
	ctrl->flags = rng_next(&ctx->rng) &
		      (KIWI_WQE_SIGNALED | KIWI_WQE_SOLICITED | KIWI_WQE_FENCE);
	ctrl->wr_id = htole64(rng_next(&ctx->rng));
	ctrl->segs = 1;
	if (ctrl->opcode == KIWI_WQE_NOP)
		return;
	if (ctrl->opcode >= KIWI_WQE_WRITE) {
		pick_target(ctx, &addr, &key);
		remote->addr = htole64(addr);
		remote->rkey = htole32(key);
		sge = (struct kiwi_sge *)(remote + 1);
		ctrl->segs++;
	}
	if (ctrl->opcode >= KIWI_WQE_CMP_SWAP) {
		remote->addr &= htole64(~7ULL);
		sge++;
		ctrl->segs++;
	}
	put_sge(ctx, sge);
	if (ctrl->opcode >= KIWI_WQE_CMP_SWAP)
		sge->len = htole32(8);
	ctrl->segs++;
}

static void make_rqe(struct context *ctx, unsigned char *unit)
{
	struct kiwi_rqe *rqe = (struct kiwi_rqe *)unit;

	memset(unit, 0, KIWI_WQEBB);
	rqe->wr_id = htole64(rng_next(&ctx->rng));
	rqe->num_sge = htole32(1);
	put_sge(ctx, (struct kiwi_sge *)(rqe + 1));
}

static void spoil(struct context *ctx, unsigned char *unit)
{
	unsigned int i, times = rng_range(&ctx->rng, 1, 4);
	uint64_t word;

	if (rng_one_in(&ctx->rng, 4)) {
		for (i = 0; i < WORDS; i++) {
			word = rng_next(&ctx->rng);
			memcpy(unit + 8 * i, &word, sizeof(word));
		}
		return;
	}
	while (times--)		/* half of the time in the control segment */
		unit[rng_below(&ctx->rng, rng_one_in(&ctx->rng, 2) ? 16 : KIWI_WQEBB)] ^=
			1 << rng_below(&ctx->rng, 8);
}

/* Requests into the rings of a QP, from the start or anywhere. */
void rings_post(struct context *ctx)
{
	unsigned int i, n = rng_range(&ctx->rng, 1, 8), mask, first;
	bool receive = rng_one_in(&ctx->rng, 3);
	unsigned char unit[KIWI_WQEBB];
	struct thing qp;
	uint64_t ring;

	if (!world_pick(ctx, QP, 0, &qp) || !qp.number)
		return;
	ring = receive ? qp.rq_addr : qp.addr;
	if (!ring)
		return;
	mask = (1U << (receive ? qp.rq_log2 : qp.log2)) - 1;
	first = rng_one_in(&ctx->rng, 2) ? 0 : rng_next(&ctx->rng);
	for (i = 0; i < n; i++) {
		if (receive)
			make_rqe(ctx, unit);
		else
			make_wqe(ctx, unit);
		if (!ctx->valid)
			spoil(ctx, unit);
		if (receive)
			world_store(ring + (((first + i) & mask) << qp.rq_stride), unit,
				    qp.rq_stride < 6 ? 1U << qp.rq_stride : KIWI_WQEBB, 8);
		else
			world_store(ring + ((first + i) & mask) * KIWI_WQEBB, unit, KIWI_WQEBB, 8);
	}
}

/* A store to a mapping, which need not be there. */
void rings_doorbell(struct context *ctx)
{
	unsigned int i = rng_below(&ctx->rng, MAPS), type, width = 8, tries = MAPS;
	struct thing queue;
	uint64_t value, at;
	uint32_t index;

	while (!ctx->world->map_size[i] && tries--)
		i = (i + 1) % MAPS;
	at = MAP_AT(i) + KIWI_DB_REG;
	type = rng_range(&ctx->rng, KIWI_DB_SQ, KIWI_DB_CQ_ARM_SOLICITED);
	world_pick(ctx, type < KIWI_DB_CQ_ARM ? QP : CQ, 0, &queue);
	value = KIWI_DB_VALUE(type, queue.number, queue.epoch,
			      rng_range(&ctx->rng, 0, 1 << (queue.log2 & 15)));
	if (queue.record) {
		index = htole32(value & 0xffff);
		world_store(queue.record + (type == KIWI_DB_RQ ?
					    offsetof(struct kiwi_qp_db_record, rq) : 0),
			    &index, sizeof(index), sizeof(index));
	}
	if (!ctx->valid) {
		switch (rng_below(&ctx->rng, 5)) {
		case 0:
			value = rng_next(&ctx->rng);
			break;
		case 1:
			value ^= 1ULL << rng_below(&ctx->rng, 64);
			break;
		case 2:
			width = 1U << rng_below(&ctx->rng, 3);
			break;
		case 3:
			at += 8 * rng_below(&ctx->rng, PAGE / 8);
			break;
		default:
			value = (value & ~0xffffULL) | rng_below(&ctx->rng, 0x10000);
			break;
		}
	}
	if (!ctx->valid && rng_one_in(&ctx->rng, 8))
		world_load(at);
	else
		world_store(at, &value, width, width);
}
