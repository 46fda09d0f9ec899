// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ioctls.h"

/* The head of every structure. */
struct head {
	uint32_t size;
	uint32_t flags;
};

#define CANARY		0x5a
#define CANARY_SIZE	64
#define SPOILT_CALLS	16	/* of a step, until one succeeds all the same */

/* Filling ----------------------------------------------------------------------- */

static uint64_t get_limit(const struct field *f)
{
	uint64_t limit = 0;

	if (!f->limit)
		return f->max;
	memcpy(&limit, f->limit, f->limit_size);
	return limit;
}

static void put(void *at, uint64_t value, size_t size)
{
	memcpy(at, &value, size < sizeof(value) ? size : sizeof(value));
}

static void random_bytes(struct rng *rng, unsigned char *at, size_t size)
{
	while (size--)
		*at++ = rng_next(rng);
}

static void fill_memory(struct context *ctx, enum use use, struct kiwi_mem *mem)
{
	struct buffer buffer = world_buffer(ctx);
	uint64_t room, align = use == REGION ? 1 : use == RECORD ? 8 : 512;

	mem->length = use == REGION ? rng_range(&ctx->rng, 1, 1 << rng_below(&ctx->rng, 18)) :
				      PAGE;
	if (buffer.fd < 0 || !rng_one_in(&ctx->rng, 3)) {
		mem->type = KIWI_MEM_USER;
		/* Room for rings whose length is known only later. */
		mem->addr = world_memory(ctx, use == REGION ? mem->length : 1 << 16, align);
		return;
	}
	mem->type = KIWI_MEM_DMABUF;
	mem->fd = buffer.fd;
	room = buffer.length > mem->length ? buffer.length - mem->length : 0;
	mem->addr = use == REGION ? rng_range(&ctx->rng, 0, room) : 0;
}

static void fill(struct context *ctx, const struct field *f, unsigned int slot, void *at)
{
	struct thing thing;

	switch (f->meaning) {
	case NUMBER:
		put(at, rng_range(&ctx->rng, f->min, get_limit(f)), f->size);
		break;
	case BITS:
		put(at, rng_next(&ctx->rng) & f->max, f->size);
		break;
	case ANYTHING:
	case ADDRESS:
		random_bytes(&ctx->rng, at, f->size);
		break;
	case ID:
		world_pick(ctx, f->min, slot, &thing);
		put(at, thing.id, f->size);
		break;
	case EVENT_FD:
		put(at, rng_one_in(&ctx->rng, 2) ? -1 : world_event_fd(ctx), f->size);
		break;
	case BUFFER_FD:
		put(at, rng_one_in(&ctx->rng, 2) ? -1 : world_buffer(ctx).fd, f->size);
		break;
	case MEMORY:
		fill_memory(ctx, f->min, at);
		break;
	case ROOM:
		put(at, world_memory(ctx, f->max, 1), f->size);
		break;
	case RESERVED:
		break;
	case OUT:
		if (!ctx->valid)
			random_bytes(&ctx->rng, at, f->size);
		break;
	}
}

/* Spoiling ------------------------------------------------------------------------- */

static uint64_t odd_address(struct context *ctx)
{
	switch (rng_below(&ctx->rng, 10)) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX - rng_below(&ctx->rng, 2 * PAGE);
	case 2:
		return 0xffff888000000000;	/* the kernel's */
	case 3:
		return 0x7ffffffff000 - rng_below(&ctx->rng, 2 * PAGE);
	case 4:
		return ARENA + ARENA_SIZE - rng_below(&ctx->rng, 2 * PAGE);
	case 5:
		return MAP_AT(rng_below(&ctx->rng, MAPS));
	case 6:
		return VIEW_AT(rng_below(&ctx->rng, BUFFERS));
	case 7:
		return rng_below(&ctx->rng, VIEW_ROOM);
	case 8:
		return 1ULL << 63;
	default:
		return ARENA + rng_below(&ctx->rng, ARENA_SIZE);
	}
}

static void spoil_memory(struct context *ctx, struct kiwi_mem *mem)
{
	switch (rng_below(&ctx->rng, 4)) {
	case 0:
		mem->type = rng_odd_number(&ctx->rng, KIWI_MEM_USER, KIWI_MEM_DMABUF);
		break;
	case 1:
		mem->fd = world_odd_fd(ctx);
		break;
	case 2:
		mem->addr = odd_address(ctx);
		break;
	default:
		mem->length = rng_odd_number(&ctx->rng, 1, target.caps.max_mr_size);
		break;
	}
}

static void spoil(struct context *ctx, const struct field *f, unsigned char *at)
{
	switch (f->meaning) {
	case MEMORY:
		spoil_memory(ctx, (struct kiwi_mem *)at);
		break;
	case EVENT_FD:
	case BUFFER_FD:
		put(at, world_odd_fd(ctx), f->size);
		break;
	case ROOM:
		put(at, odd_address(ctx), f->size);
		break;
	case NUMBER:
	case BITS:
	case ID:
		put(at, rng_odd_number(&ctx->rng, f->meaning == ID ? 1 : f->min,
				       f->meaning == ID ? INT_MAX : get_limit(f)), f->size);
		break;
	default:
		at[rng_below(&ctx->rng, f->size)] ^= 1 << rng_below(&ctx->rng, 8);
		break;
	}
}

static void spoil_head(struct context *ctx, const struct ioctl_rules *rules, struct head *head)
{
	if (rng_one_in(&ctx->rng, 3)) {
		head->flags ^= 1U << rng_below(&ctx->rng, 32);
		return;
	}
	switch (rng_below(&ctx->rng, 5)) {
	case 0:
		head->size = rng_below(&ctx->rng, rules->size);
		break;
	case 1:
		head->size = rules->size - 1;
		break;
	case 2:
		head->size = 4096 + rng_below(&ctx->rng, 2);
		break;
	case 3:
		head->size = rng_odd_number(&ctx->rng, rules->size, 4096);
		break;
	default:
		head->size = rng_range(&ctx->rng, rules->size, 4096);
		break;
	}
}

static unsigned int count_fields(const struct ioctl_rules *rules)
{
	unsigned int n = 0;

	while (n < FIELDS_MAX && rules->fields[n].name)
		n++;
	return n;
}

/* Up to three fields, or size and flags, are not as they should be. */
static void spoil_some(struct context *ctx, const struct ioctl_rules *rules, unsigned char *a)
{
	unsigned int n = count_fields(rules), times = rng_range(&ctx->rng, 1, 3), i;
	const struct field *f;

	while (times--) {
		i = rng_below(&ctx->rng, n + 1);
		if (i == n) {
			spoil_head(ctx, rules, (struct head *)a);
			continue;
		}
		f = &rules->fields[i];
		spoil(ctx, f, a + f->offset);
	}
}

/* Judging ------------------------------------------------------------------------------ */

/* Errnos that a device which is well and a program which is not killed never see. */
static bool allowed(const struct context *ctx, const struct ioctl_rules *rules, int error)
{
	unsigned int i;

	if (error == EINVAL || error == E2BIG || error == EFAULT)
		return true;
	/* Another thread may have closed the file, and its number may be another's. */
	if (ctx->racing && (error == EBADF || error == ENOTTY))
		return true;
	if (error == EREMOTEIO && !ctx->world->had_buffers)
		return false;
	for (i = 0; i < ERRNOS_MAX; i++) {
		if (rules->errnos[i] == error)
			return true;
	}
	return false;
}

static void judge_last_error(struct context *ctx, int fd, const struct ioctl_rules *rules,
			     int error)
{
	struct kiwi_snic_last_error e = { .size = sizeof(e) };

	if (ctx->racing || !rng_one_in(&ctx->rng, 8) ||
	    rules->cmd == KIWI_SNIC_LAST_ERROR)
		return;
	if (ioctl(fd, KIWI_SNIC_LAST_ERROR, &e))
		fault(ctx, "LAST_ERROR: errno %d", errno);
	else if (e.nr != _IOC_NR(rules->cmd) || e.error != (uint32_t)error)
		fault(ctx, "LAST_ERROR says %u of ioctl %#x after errno %d of %s", e.error, e.nr,
		      error, rules->name);
	else if (!e.text[0] || !memchr(e.text, 0, sizeof(e.text)))
		fault(ctx, "LAST_ERROR has no text after errno %d of %s", error, rules->name);
}

static void judge(struct context *ctx, int fd, const struct ioctl_rules *rules, int error,
		  const unsigned char *behind)
{
	unsigned int i;

	for (i = 0; behind && i < CANARY_SIZE; i++) {
		if (behind[i] != CANARY) {
			fault(ctx, "%s wrote %u bytes behind its structure", rules->name, i);
			return;
		}
	}
	if (!error)
		return;
	if (!allowed(ctx, rules, error))
		fault(ctx, "%s: errno %d", rules->name, error);
	else
		judge_last_error(ctx, fd, rules, error);
}

/* Calling -------------------------------------------------------------------------------- */

/* Where the argument is, now and then not wholly in memory. */
static void *place(struct context *ctx, const struct ioctl_rules *rules, unsigned char *good)
{
	unsigned char *end = ctx->argument + ARGUMENT_ROOM, *at;

	switch (ctx->valid ? 0 : rng_below(&ctx->rng, 32)) {
	case 1:
		return NULL;
	case 2:
		return (void *)0xffff888000000000;
	case 3:		/* the last that fits, or a few bytes too far */
		at = end - rules->size + rng_below(&ctx->rng, rules->size + 1);
		memmove(at, good, end - at);
		return at;
	case 4:
		return rules->made ? good : (void *)MAP_AT(rng_below(&ctx->rng, MAPS));
	default:
		return good;
	}
}

static bool has_objects(struct context *ctx, const struct ioctl_rules *rules, unsigned int slot)
{
	const struct field *f;

	for (f = rules->fields; f < rules->fields + FIELDS_MAX && f->name; f++) {
		if (f->meaning == ID && !world_has(ctx->world, f->min, slot))
			return false;
	}
	return true;
}

/* A file with objects of the kinds wanted, if it can be had; or now and then any. */
static int pick_file(struct context *ctx, const struct ioctl_rules *rules, unsigned int *slot)
{
	int fd = world_file(ctx, slot);
	unsigned int i;

	for (i = 0; i < FILES; i++, *slot = (*slot + 1) % FILES) {
		if (has_objects(ctx, rules, *slot))
			return ctx->world->file[*slot];
	}
	return rng_one_in(&ctx->rng, 8) ? fd : -1;
}

static int call(struct context *ctx, const struct ioctl_rules *rules, int fd, unsigned int slot)
{
	unsigned char *a = ctx->argument;
	struct head *head = (struct head *)a;
	const struct field *f;
	void *at;
	int ret;

	memset(a, 0, rules->size);
	head->size = rules->size;
	head->flags = rng_next(&ctx->rng) & rules->flags;
	for (f = rules->fields; f < rules->fields + FIELDS_MAX && f->name; f++)
		fill(ctx, f, slot, a + f->offset);
	if (rules->tidy)
		rules->tidy(ctx, slot, a);
	if (!ctx->valid)
		spoil_some(ctx, rules, a);

	/* A tail of zero, or not, or one that must not be touched. */
	if (head->size > rules->size)
		memset(a + rules->size, rng_one_in(&ctx->rng, 4), PAGE + 1);
	else
		memset(a + rules->size, CANARY, CANARY_SIZE);
	at = place(ctx, rules, a);
	ret = ioctl(fd, rules->cmd, at) ? -errno : 0;
	call_done(ctx, ret);
	judge(ctx, fd, rules, -ret, at == a && head->size <= rules->size ? a + rules->size : NULL);
	if (!ret && rules->made)
		rules->made(ctx, slot, at);
	return ret;
}

void ioctl_step(struct context *ctx, const struct ioctl_rules *rules)
{
	unsigned int slot, tries = ctx->valid ? 1 : rng_range(&ctx->rng, 1, SPOILT_CALLS);
	int fd = pick_file(ctx, rules, &slot);

	while (fd >= 0 && tries--) {
		if (!call(ctx, rules, fd, slot))
			return;
	}
}
