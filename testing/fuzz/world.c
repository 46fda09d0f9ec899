// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xpu.h>

#include "world.h"

#define KNOWN_ONLY	7	/* of 8 picks that may be odd, so many are not */

/* Memory that may not be there ------------------------------------------------- */

static _Thread_local sigjmp_buf access_jump;
static _Thread_local volatile sig_atomic_t accessing;

static void access_failed(int number)
{
	if (!accessing) {
		signal(number, SIG_DFL);
		return;
	}
	siglongjmp(access_jump, 1);
}

static void store(uintptr_t addr, const void *data, unsigned int width)
{
	switch (width) {
	case 1:
		*(volatile uint8_t *)addr = *(const uint8_t *)data;
		break;
	case 2:
		*(volatile uint16_t *)addr = *(const uint16_t *)data;
		break;
	case 4:
		*(volatile uint32_t *)addr = *(const uint32_t *)data;
		break;
	default:
		*(volatile uint64_t *)addr = *(const uint64_t *)data;
		break;
	}
}

bool world_store(uint64_t addr, const void *data, size_t length, unsigned int width)
{
	volatile size_t done;
	bool ok = false;

	accessing = 1;
	if (!sigsetjmp(access_jump, 0)) {
		for (done = 0; done + width <= length; done += width)
			store(addr + done, (const char *)data + done, width);
		ok = true;
	}
	accessing = 0;
	return ok;
}

bool world_load(uint64_t addr)
{
	bool ok = false;

	accessing = 1;
	if (!sigsetjmp(access_jump, 0)) {
		(void)*(volatile uint64_t *)(uintptr_t)addr;
		ok = true;
	}
	accessing = 0;
	return ok;
}

/* Life ---------------------------------------------------------------------------- */

int world_open(unsigned int slot)
{
	const char *path = slot == FILES - 1 ? "/dev/kiwi/snic1" : "/dev/kiwi/snic0";

	return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

void world_init(struct world *w)
{
	struct sigaction action = { .sa_handler = access_failed, .sa_flags = SA_NODEFER };

	memset(w, 0, sizeof(*w));
	pthread_mutex_init(&w->lock, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
	w->xpu = xpu_open(0);
	w->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	w->arena_dirty = true;
}

void world_begin(struct world *w)
{
	unsigned int i;

	w->nr_things = 0;
	w->had_buffers = false;
	w->strangers = false;
	for (i = 0; i < FILES; i++)
		w->file[i] = world_open(i);
	for (i = 0; i < BUFFERS; i++)
		w->buffer[i].fd = -1;
	for (i = 0; i < EVENT_FDS; i++)
		w->event_fd[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (w->arena_dirty) {
		munmap((void *)ARENA, ARENA_SIZE);
		mmap((void *)ARENA, ARENA_SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	}
	w->arena_dirty = false;
}

static void close_if_open(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void world_end(struct world *w)
{
	unsigned int i;
	int window;

	munmap((void *)MAP_AT(0), MAPS * MAP_ROOM);
	munmap((void *)VIEW_AT(0), BUFFERS * VIEW_ROOM);
	while ((window = world_take_window(w)) >= 0)
		xpu_doorbell_release(w->xpu, window);
	memset(w->map_size, 0, sizeof(w->map_size));
	for (i = 0; i < FILES; i++)
		close_if_open(&w->file[i]);
	for (i = 0; i < BUFFERS; i++)
		close_if_open(&w->buffer[i].fd);
	for (i = 0; i < EVENT_FDS; i++)
		close_if_open(&w->event_fd[i]);
}

/* Files ----------------------------------------------------------------------------- */

int world_file(struct context *ctx, unsigned int *slot)
{
	*slot = rng_one_in(&ctx->rng, ctx->valid ? 16 : 6) ? rng_range(&ctx->rng, 1, FILES - 1) : 0;
	return ctx->world->file[*slot];
}

int world_take_file(struct world *w, unsigned int slot)
{
	unsigned int i;
	int fd;

	pthread_mutex_lock(&w->lock);
	fd = w->file[slot];
	w->file[slot] = -1;
	for (i = 0; i < THINGS; i++) {
		if (w->things[i].slot == slot)
			w->things[i].live = false;
	}
	pthread_mutex_unlock(&w->lock);
	return fd;
}

bool world_put_file(struct world *w, unsigned int slot, int fd)
{
	bool empty;

	pthread_mutex_lock(&w->lock);
	empty = w->file[slot] < 0;
	if (empty)
		w->file[slot] = fd;
	pthread_mutex_unlock(&w->lock);
	return empty;
}

/* Objects ------------------------------------------------------------------------------ */

static unsigned int known(const struct world *w)
{
	return w->nr_things < THINGS ? w->nr_things : THINGS;
}

static struct thing *find(struct world *w, unsigned int slot, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < known(w); i++) {
		if (w->things[i].live && w->things[i].slot == slot && w->things[i].id == id)
			return &w->things[i];
	}
	return NULL;
}

void world_add(struct context *ctx, struct thing thing)
{
	struct world *w = ctx->world;
	bool twice;

	thing.live = true;
	pthread_mutex_lock(&w->lock);
	twice = find(w, thing.slot, thing.id);
	w->things[w->nr_things++ % THINGS] = thing;
	pthread_mutex_unlock(&w->lock);
	if (!thing.id)
		fault(ctx, "an object has id 0");
	if (twice && !ctx->racing && !w->strangers)
		fault(ctx, "id %u is given to a second object", thing.id);
}

static bool pick(struct context *ctx, enum object kind, int slot, bool live, struct thing *thing)
{
	struct world *w = ctx->world;
	unsigned int i, n, at;
	bool found = false;

	pthread_mutex_lock(&w->lock);
	n = known(w);
	at = n ? rng_below(&ctx->rng, n) : 0;
	for (i = 0; i < n && !found; i++) {
		const struct thing *t = &w->things[(at + i) % n];

		found = t->live == live && (kind == KINDS || t->kind == kind) &&
			(slot < 0 || t->slot == (unsigned int)slot);
		if (found)
			*thing = *t;
	}
	pthread_mutex_unlock(&w->lock);
	return found;
}

bool world_pick(struct context *ctx, enum object kind, unsigned int slot, struct thing *thing)
{
	memset(thing, 0, sizeof(*thing));
	if (!ctx->valid && rng_below(&ctx->rng, KNOWN_ONLY + 1) == KNOWN_ONLY) {
		switch (rng_below(&ctx->rng, 4)) {
		case 0:
			return pick(ctx, kind, -1, true, thing);
		case 1:
			return pick(ctx, kind, slot, false, thing);
		case 2:
			return pick(ctx, KINDS, slot, true, thing);
		default:
			thing->id = rng_range(&ctx->rng, 0, 40);
			return true;
		}
	}
	return pick(ctx, kind, slot, true, thing);
}

bool world_has(struct world *w, enum object kind, unsigned int slot)
{
	bool found = false;
	unsigned int i;

	pthread_mutex_lock(&w->lock);
	for (i = 0; i < known(w) && !found; i++)
		found = w->things[i].live && w->things[i].slot == slot &&
			(kind == KINDS || w->things[i].kind == kind);
	pthread_mutex_unlock(&w->lock);
	return found;
}

bool world_has_map(struct world *w, unsigned int slot, uint64_t offset, size_t size)
{
	const struct thing *t = w->things;
	bool found = false;

	pthread_mutex_lock(&w->lock);
	for (; t < w->things + known(w) && !found; t++)
		found = t->live && t->slot == slot && t->kind == DOORBELL &&
			t->map_offset == offset && t->map_size == size;
	pthread_mutex_unlock(&w->lock);
	return found;
}

bool world_find(struct world *w, enum object kind, unsigned int slot, uint32_t id,
		struct thing *thing)
{
	struct thing *t;
	bool found;

	pthread_mutex_lock(&w->lock);
	t = find(w, slot, id);
	found = t && t->kind == kind;
	if (found)
		*thing = *t;
	pthread_mutex_unlock(&w->lock);
	return found;
}

bool world_find_any(struct world *w, unsigned int slot, uint32_t id)
{
	bool found;

	pthread_mutex_lock(&w->lock);
	found = find(w, slot, id);
	pthread_mutex_unlock(&w->lock);
	return found;
}

void world_gone(struct world *w, unsigned int slot, uint32_t id)
{
	struct thing *t;

	pthread_mutex_lock(&w->lock);
	t = find(w, slot, id);
	if (t)
		t->live = false;
	pthread_mutex_unlock(&w->lock);
}

void world_set_state(struct world *w, unsigned int slot, uint32_t id, uint8_t state)
{
	struct thing *t;

	pthread_mutex_lock(&w->lock);
	t = find(w, slot, id);
	if (t)
		t->state = state;
	pthread_mutex_unlock(&w->lock);
}

/* Memory and descriptors ------------------------------------------------------------------ */

uint64_t world_memory(struct context *ctx, uint64_t length, uint64_t align)
{
	uint64_t room = length < ARENA_SIZE ? ARENA_SIZE - length : 0;

	if (!rng_one_in(&ctx->rng, 4))
		align = PAGE;
	return ARENA + rng_below(&ctx->rng, room / align + 1) * align;
}

void world_set_buffer(struct context *ctx, unsigned int i, struct buffer buffer)
{
	struct world *w = ctx->world;
	int old;

	w->had_buffers = true;
	pthread_mutex_lock(&w->lock);
	old = w->buffer[i].fd;
	w->buffer[i] = buffer;
	pthread_mutex_unlock(&w->lock);
	if (old >= 0)
		munmap((void *)VIEW_AT(i), VIEW_ROOM);
	world_close(ctx, old);
}

struct buffer world_buffer(struct context *ctx)
{
	unsigned int at = rng_below(&ctx->rng, BUFFERS), i;
	struct buffer buffer = { .fd = -1 };

	for (i = 0; i < BUFFERS && buffer.fd < 0; i++)
		buffer = ctx->world->buffer[(at + i) % BUFFERS];
	return buffer;
}

int world_take_window(struct world *w)
{
	int window;

	pthread_mutex_lock(&w->lock);
	window = __builtin_ffsll((long long)w->windows) - 1;
	if (window >= 0)
		w->windows &= ~(1ULL << window);
	pthread_mutex_unlock(&w->lock);
	return window;
}

int world_event_fd(struct context *ctx)
{
	return ctx->world->event_fd[rng_below(&ctx->rng, EVENT_FDS)];
}

int world_odd_fd(struct context *ctx)
{
	struct world *w = ctx->world;

	switch (rng_below(&ctx->rng, 8)) {
	case 0:
		return w->null;
	case 1:
		return w->xpu;
	case 2:
		return world_event_fd(ctx);
	case 3:
		return world_buffer(ctx).fd;
	case 4:
		return w->file[rng_below(&ctx->rng, FILES)];
	case 5:
		return 1000;
	case 6:
		return INT32_MIN;
	default:
		return rng_odd_number(&ctx->rng, 0, 20);
	}
}

void world_close(struct context *ctx, int fd)
{
	if (fd >= 0)
		call_done(ctx, close(fd) ? -errno : 0);
}
