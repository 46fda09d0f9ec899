// SPDX-License-Identifier: GPL-2.0
/* Steps that are no ioctl of the table: files, mappings, events, memory, processes. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xpu.h>

#include "ioctls.h"
#include "rings.h"
#include "steps.h"
#include "world.h"

#define EVENTS		4
#define CHILD_CALLS	3

static long error_of(long ret)
{
	return ret < 0 ? -errno : ret;
}

/* Files ----------------------------------------------------------------------------- */

static void step_close(struct context *ctx)
{
	unsigned int slot;
	int fd;

	world_file(ctx, &slot);
	world_close(ctx, world_take_file(ctx->world, slot));
	fd = world_open(slot);
	call_done(ctx, error_of(fd));
	if (!world_put_file(ctx->world, slot, fd))
		world_close(ctx, fd);
}

/* The file goes on under another descriptor; its objects stay. */
static void step_dup(struct context *ctx)
{
	struct world *w = ctx->world;
	unsigned int slot;
	int fd = world_file(ctx, &slot), other;

	if (fd < 0)
		return;
	other = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	call_done(ctx, error_of(other));
	if (other < 0)
		return;
	pthread_mutex_lock(&w->lock);
	if (w->file[slot] == fd) {
		w->file[slot] = other;
		other = fd;
	}
	pthread_mutex_unlock(&w->lock);
	world_close(ctx, other);
}

/* What a driver is asked to do but for ioctl, mmap, read and poll. */
static void step_other(struct context *ctx)
{
	char byte[sizeof(struct kiwi_snic_event)] = { 0 };
	unsigned int slot;
	int fd = world_file(ctx, &slot);

	if (fd < 0)
		return;
	switch (rng_below(&ctx->rng, 6)) {
	case 0:
		call_done(ctx, error_of(write(fd, byte, sizeof(byte))));
		break;
	case 1:
		call_done(ctx, error_of(lseek(fd, rng_next(&ctx->rng), SEEK_SET)));
		break;
	case 2:
		call_done(ctx, error_of(pread(fd, byte, sizeof(byte), 1)));
		break;
	case 3:
		call_done(ctx, error_of(fsync(fd)));
		break;
	case 4:
		call_done(ctx, error_of(fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC)));
		break;
	default:
		call_done(ctx, error_of(ftruncate(fd, PAGE)));
		break;
	}
}

/* Numbers that name no ioctl, or one of another direction or size. */
static void step_odd_ioctl(struct context *ctx)
{
	unsigned int cmd = ioctl_table[rng_below(&ctx->rng, IOCTLS)].cmd, slot;
	int fd = world_file(ctx, &slot), ret;

	switch (rng_below(&ctx->rng, 4)) {
	case 0:
		cmd = rng_next(&ctx->rng);
		break;
	case 1:
		cmd = _IO(KIWI_SNIC_IOC_TYPE, rng_below(&ctx->rng, 256));
		break;
	default:
		cmd ^= 1U << rng_below(&ctx->rng, 32);
		break;
	}
	if (fd < 0)
		return;
	memset(ctx->argument, rng_one_in(&ctx->rng, 2) ? 0 : 0xff, PAGE);
	ret = ioctl(fd, cmd, ctx->argument) ? -errno : 0;
	call_done(ctx, ret);
	if (!ret && _IOC_TYPE(cmd) == KIWI_SNIC_IOC_TYPE)
		fault(ctx, "ioctl %#x exists", cmd);
}

/* Events ---------------------------------------------------------------------------- */

static void judge_events(struct context *ctx, const struct kiwi_snic_event *events, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (events[i].type < KIWI_SNIC_EVENT_CQ_ERROR ||
		    events[i].type > KIWI_SNIC_EVENT_LOST ||
		    events[i].type == KIWI_SNIC_EVENT_DEVICE_FATAL || events[i].rsvd)
			fault(ctx, "event of type %u, id %u, code %u", events[i].type,
			      events[i].id, events[i].code);
	}
}

static void step_read(struct context *ctx)
{
	struct kiwi_snic_event events[EVENTS];
	size_t want = ctx->valid ? sizeof(events) : rng_below(&ctx->rng, sizeof(events) + 1);
	unsigned int slot;
	int fd = world_file(ctx, &slot);
	bool here = ctx->valid || !rng_one_in(&ctx->rng, 8);
	ssize_t got;

	if (fd < 0)
		return;
	got = read(fd, here ? (void *)events : NULL, want);
	call_done(ctx, error_of(got));
	if (ctx->racing)
		return;
	if (got > 0 && (!here || (size_t)got > want || got % sizeof(*events)))
		fault(ctx, "read of %zu bytes gave %zd", want, got);
	else if (got > 0)
		judge_events(ctx, events, got / sizeof(*events));
	else if (!got || (errno != EAGAIN && errno != EINVAL && errno != EFAULT))
		fault(ctx, "read of %zu bytes: %zd, errno %d", want, got, errno);
}

static void step_poll(struct context *ctx)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET }, out;
	struct pollfd p = { .events = POLLIN | POLLOUT };
	unsigned int slot;
	int epoll;

	p.fd = world_file(ctx, &slot);
	if (p.fd < 0)
		return;
	call_done(ctx, error_of(poll(&p, 1, 0)));
	if (!ctx->racing && p.revents & ~POLLIN)
		fault(ctx, "poll gave %#x", p.revents);
	if (ctx->valid)
		return;
	/* It may still be watched when the last descriptor is closed. */
	epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0)
		return;
	call_done(ctx, error_of(epoll_ctl(epoll, EPOLL_CTL_ADD, p.fd, &event)));
	if (rng_one_in(&ctx->rng, 4))
		world_close(ctx, world_take_file(ctx->world, slot));
	call_done(ctx, error_of(epoll_wait(epoll, &out, 1, 0)));
	close(epoll);
}

/* Doorbell mappings -------------------------------------------------------------------- */

static void step_map(struct context *ctx)
{
	unsigned int slot, i = rng_below(&ctx->rng, MAPS);
	int fd = world_file(ctx, &slot), prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED;
	struct thing db;
	uint64_t offset;
	size_t size;
	void *p;

	if (fd < 0)
		return;
	world_pick(ctx, DOORBELL, slot, &db);
	size = db.map_size ? db.map_size : PAGE;
	offset = db.map_offset;
	if (!ctx->valid) {
		switch (rng_below(&ctx->rng, 6)) {
		case 0:
			offset += PAGE * (rng_below(&ctx->rng, 5) - 2);
			break;
		case 1:
			offset = rng_odd_number(&ctx->rng, PAGE, 32 * PAGE) & ~(PAGE - 1);
			break;
		case 2:
			size = PAGE * rng_range(&ctx->rng, 1, 4);
			break;
		case 3:
			prot = rng_below(&ctx->rng, 8);
			break;
		case 4:
			flags = MAP_PRIVATE;
			break;
		default:
			flags |= MAP_POPULATE | (rng_one_in(&ctx->rng, 2) ? MAP_LOCKED : 0);
			break;
		}
	}
	p = mmap((void *)MAP_AT(i), size, prot, flags | MAP_FIXED, fd, offset);
	call_done(ctx, p == MAP_FAILED ? -errno : 0);
	/* A failure takes away what was there, too. */
	ctx->world->map_size[i] = p == MAP_FAILED ? 0 : size;
	if (p != MAP_FAILED && !ctx->racing && !ctx->world->strangers &&
	    !(flags & MAP_SHARED && world_has_map(ctx->world, slot, offset, size)))
		fault(ctx, "%zu bytes at %#lx are mapped, flags %#x", size, offset, flags);
}

/* A mapping that there is, if there is one. */
static unsigned int pick_map(struct context *ctx)
{
	unsigned int at = rng_below(&ctx->rng, MAPS), i;

	for (i = 0; i < MAPS && !ctx->world->map_size[(at + i) % MAPS]; i++)
		;
	return (at + i) % MAPS;
}

static void step_unmap(struct context *ctx)
{
	unsigned int i = pick_map(ctx);
	size_t size = ctx->world->map_size[i];

	if (!size)
		return;
	if (!ctx->valid && rng_one_in(&ctx->rng, 4)) {		/* a part */
		call_done(ctx, error_of(munmap((char *)MAP_AT(i) + PAGE, PAGE)));
		return;
	}
	call_done(ctx, error_of(munmap((void *)MAP_AT(i), size)));
	ctx->world->map_size[i] = 0;
}

/* All that can be done to a mapping of which the driver says that it stays as it is. */
static void step_remap(struct context *ctx)
{
	unsigned int i = pick_map(ctx), j = rng_below(&ctx->rng, MAPS);
	size_t size = ctx->world->map_size[i];
	char *at = (char *)MAP_AT(i);

	if (!size)
		return;
	switch (rng_below(&ctx->rng, 8)) {
	case 0:
		call_done(ctx, mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, MAP_AT(j)) ==
			       MAP_FAILED ? -errno : 0);
		break;
	case 1:
		call_done(ctx, mremap(at, size, 2 * size, 0) == MAP_FAILED ? -errno : 0);
		break;
	case 2:
		call_done(ctx, mremap(at, 0, size, MREMAP_MAYMOVE | MREMAP_FIXED, MAP_AT(j)) ==
			       MAP_FAILED ? -errno : 0);
		break;
	case 3:
		call_done(ctx, error_of(mprotect(at, size, rng_below(&ctx->rng, 8))));
		break;
	case 4:
		call_done(ctx, error_of(madvise(at, size, rng_below(&ctx->rng, 26))));
		break;
	case 5:
		call_done(ctx, error_of(remap_file_pages(at, size, 0, rng_below(&ctx->rng, 40),
							 0)));
		break;
	case 6:
		call_done(ctx, error_of(mlock(at, size)));
		break;
	default:
		call_done(ctx, mremap(at, size, size, MREMAP_MAYMOVE | MREMAP_FIXED |
				      MREMAP_DONTUNMAP, MAP_AT(j)) == MAP_FAILED ? -errno : 0);
		break;
	}
}

/* Memory ---------------------------------------------------------------------------------- */

/* Other memory where rings and regions are, or none. */
static void step_memory(struct context *ctx)
{
	size_t length = PAGE << rng_below(&ctx->rng, 9);
	void *at = (void *)(world_memory(ctx, length, PAGE));
	int flags = MAP_FIXED | MAP_ANONYMOUS | MAP_PRIVATE, buffer, fd;

	ctx->world->arena_dirty = true;
	switch (rng_below(&ctx->rng, 8)) {
	case 0:
		munmap(at, length);
		break;
	case 1:
		mprotect(at, length, rng_below(&ctx->rng, 4));
		break;
	case 2:
		madvise(at, length, rng_one_in(&ctx->rng, 2) ? MADV_DONTNEED : MADV_HUGEPAGE);
		break;
	case 3:
		mmap(at, length, PROT_READ, flags, -1, 0);
		break;
	case 4:
		mmap(at, length, PROT_READ | PROT_WRITE, (flags & ~MAP_PRIVATE) | MAP_SHARED, -1,
		     0);
		break;
	case 5:		/* pages that cannot be pinned */
		buffer = world_buffer(ctx).fd;
		if (buffer >= 0)
			mmap(at, length, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, buffer, 0);
		break;
	case 6:		/* a file that ends before the mapping does */
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		if (fd >= 0 && !ftruncate(fd, length / 2))
			mmap(at, length, PROT_READ | PROT_WRITE, MAP_FIXED | MAP_SHARED, fd, 0);
		close(fd);
		break;
	default:
		mmap(at, length, PROT_READ | PROT_WRITE, flags, -1, 0);
		break;
	}
}

/* DMA-bufs ----------------------------------------------------------------------------------- */

static void step_buffer(struct context *ctx)
{
	struct world *w = ctx->world;
	unsigned int i = rng_below(&ctx->rng, BUFFERS);
	uint64_t chunks = rng_range(&ctx->rng, 1, 8);
	uint32_t chunk = PAGE << rng_below(&ctx->rng, 5);
	bool scattered = rng_one_in(&ctx->rng, 2), far = rng_one_in(&ctx->rng, 4);
	int fd;

	fd = xpu_alloc(w->xpu, chunks * chunk, scattered ? chunk : 0,
		       far ? XPU_ALLOC_NO_P2P : 0);
	call_done(ctx, fd < 0 ? fd : 0);
	if (fd < 0)
		return;
	world_set_buffer(ctx, i, (struct buffer) { .fd = fd, .length = chunks * chunk });
}

static void step_move(struct context *ctx)
{
	static const int errors[] = { 0, EBUSY, EOPNOTSUPP, ENOMEM, EIO, ENODEV };
	struct world *w = ctx->world;
	unsigned int i = rng_below(&ctx->rng, BUFFERS);
	struct buffer buffer = world_buffer(ctx);
	char word[8] = { 0 };

	if (buffer.fd < 0)
		return;
	switch (rng_below(&ctx->rng, 7)) {
	case 0:
	case 1:
		call_done(ctx, xpu_evict(w->xpu, buffer.fd));
		break;
	case 2:
		call_done(ctx, xpu_return(w->xpu, buffer.fd));
		break;
	case 3:
		call_done(ctx, xpu_revoke(w->xpu, buffer.fd));
		break;
	case 4:
		call_done(ctx, xpu_fail_next_map(w->xpu, buffer.fd,
						 errors[rng_below(&ctx->rng, 6)]));
		break;
	case 5:
		call_done(ctx, mmap((void *)VIEW_AT(i), PAGE, PROT_READ | PROT_WRITE,
				    MAP_SHARED | MAP_FIXED, buffer.fd, 0) == MAP_FAILED ? -errno : 0);
		break;
	default:
		world_store(VIEW_AT(i), word, sizeof(word), sizeof(word));
		break;
	}
}

/* The GPU gets a doorbell, if the buffer is one, or it gives one back. */
static void step_window(struct context *ctx)
{
	struct world *w = ctx->world;
	struct buffer buffer = world_buffer(ctx);
	uint64_t length;
	int window;

	if (rng_one_in(&ctx->rng, 3)) {
		window = world_take_window(w);
		if (window >= 0)
			call_done(ctx, xpu_doorbell_release(w->xpu, window));
		return;
	}
	if (buffer.fd < 0)
		return;
	window = xpu_doorbell_import(w->xpu, buffer.fd, &length);
	call_done(ctx, window);
	if (window < 0)
		return;
	pthread_mutex_lock(&w->lock);
	w->windows |= 1ULL << window;
	pthread_mutex_unlock(&w->lock);
}

/* The descriptor goes; what the device has of the buffer stays. */
static void step_forget(struct context *ctx)
{
	struct world *w = ctx->world;
	unsigned int i = rng_below(&ctx->rng, BUFFERS);
	int fd;

	pthread_mutex_lock(&w->lock);
	fd = w->buffer[i].fd;
	w->buffer[i].fd = -1;
	pthread_mutex_unlock(&w->lock);
	if (fd >= 0)
		munmap((void *)VIEW_AT(i), VIEW_ROOM);
	world_close(ctx, fd);
}

/* Processes -------------------------------------------------------------------------------- */

/* A child has the files, but not the doorbells. It ends, or is killed. */
static void step_fork(struct context *ctx)
{
	struct world *w = ctx->world;
	unsigned int i, calls = rng_below(&ctx->rng, CHILD_CALLS + 1);
	bool killed = rng_one_in(&ctx->rng, 4);
	uint64_t zero = 0;
	int status = 0;
	pid_t pid;

	if (!rng_one_in(&ctx->rng, 4))		/* it costs as much as a hundred calls */
		return;
	pid = fork();
	call_done(ctx, error_of(pid));
	if (pid < 0)
		return;
	if (pid) {
		w->strangers = true;
		if (killed)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(status) && WEXITSTATUS(status))
			fault(ctx, "a child had a doorbell of its parent");
		return;
	}
	ctx->racing = true;
	ctx->cover = NULL;
	pthread_mutex_init(&w->lock, NULL);
	for (i = 0; i < MAPS; i++) {
		if (w->map_size[i] && world_store(MAP_AT(i), &zero, sizeof(zero), sizeof(zero)))
			_exit(1);
	}
	while (calls--)
		ioctl_step(ctx, &ioctl_table[rng_below(&ctx->rng, IOCTLS)]);
	while (killed)
		pause();
	_exit(0);
}

/* All of them ------------------------------------------------------------------------------- */

static const struct {
	const char *name;
	unsigned int weight;
	void (*run)(struct context *ctx);
} others[] = {
	{ "close", 1, step_close },
	{ "dup", 1, step_dup },
	{ "other", 1, step_other },
	{ "odd_ioctl", 2, step_odd_ioctl },
	{ "read", 3, step_read },
	{ "poll", 2, step_poll },
	{ "map", 5, step_map },
	{ "unmap", 4, step_unmap },
	{ "remap", 4, step_remap },
	{ "memory", 3, step_memory },
	{ "buffer", 4, step_buffer },
	{ "move", 5, step_move },
	{ "forget", 1, step_forget },
	{ "fork", 1, step_fork },
	{ "post", 6, rings_post },
	{ "ring", 8, rings_doorbell },
	{ "window", 2, step_window },
};

#define OTHERS	(sizeof(others) / sizeof(others[0]))

const unsigned int step_kinds = IOCTLS + OTHERS;

const char *step_name(unsigned int kind)
{
	return kind < IOCTLS ? ioctl_table[kind].name : others[kind - IOCTLS].name;
}

int step_by_name(const char *name, size_t length)
{
	unsigned int kind;

	for (kind = 0; kind < step_kinds; kind++) {
		if (strlen(step_name(kind)) == length && !strncmp(step_name(kind), name, length))
			return kind;
	}
	return -1;
}

static unsigned int weight(unsigned int kind)
{
	return kind < IOCTLS ? ioctl_table[kind].weight : others[kind - IOCTLS].weight;
}

unsigned int step_random(struct rng *rng)
{
	unsigned int kind, sum = 0;
	uint64_t at;

	for (kind = 0; kind < step_kinds; kind++)
		sum += weight(kind);
	at = rng_below(rng, sum);
	for (kind = 0; at >= weight(kind); kind++)
		at -= weight(kind);
	return kind;
}

void step_run(struct context *ctx, unsigned int kind, uint32_t seed)
{
	ctx->rng = (struct rng) { .state = (uint64_t)kind << 32 | seed };
	ctx->kind = kind;
	ctx->valid = seed & SEED_VALID;
	if (kind < IOCTLS)
		ioctl_step(ctx, &ioctl_table[kind]);
	else
		others[kind - IOCTLS].run(ctx);
}
