// SPDX-License-Identifier: GPL-2.0
/*
 * Checks the xpu driver and its device. Wants /dev/xpu0 to itself; what needs a
 * second device is skipped without /dev/xpu1. The device's copy-timeout-ms should be
 * small: dma-error waits for it twice.
 *
 *	xpu-selftest [TEST...]	runs all tests, or those named
 *	xpu-selftest unplug	holds everything open until the device is taken away
 *	xpu-selftest reset	resets the device, with buffers open
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "selftest.h"

#define UNPLUG_SECONDS	120
#define SKIPPED		77	/* exit status */

int xpu, peer = -1;
static sigjmp_buf bus_jump;

static void fail(const char *file, int line)
{
	printf(" (%s:%d)\n", file, line);
	exit(1);
}

void check(bool ok, const char *what, const char *file, int line)
{
	if (ok)
		return;
	printf("  failed: %s", what);
	fail(file, line);
}

void equal(long long a, long long b, const char *what, const char *file, int line)
{
	if (a == b)
		return;
	printf("  failed: %s: %lld, %lld", what, a, b);
	fail(file, line);
}

void skip(const char *why)
{
	printf("  skipped: %s\n", why);
	exit(SKIPPED);
}

int alloc(uint64_t length, uint32_t chunk)
{
	int fd = xpu_alloc(xpu, length, chunk, 0);

	CHECK(fd >= 0);
	return fd;
}

void *map(int buf, size_t length)
{
	void *p = xpu_map(buf, length);

	CHECK(p);
	return p;
}

static void *memory(size_t length)
{
	void *p = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

struct xpu_query device(int fd)
{
	struct xpu_query query;

	EQUAL(xpu_query(fd, &query), 0);
	return query;
}

struct xpu_query_buf state(int buf)
{
	struct xpu_query_buf query;

	EQUAL(xpu_query_buf(xpu, buf, &query), 0);
	return query;
}

/* Every word tells its place, so that a page out of place shows. */
static uint32_t word(uint32_t seed, size_t i)
{
	return (seed + (uint32_t)i) * 2654435761U;
}

static void fill(void *p, size_t length, uint32_t seed)
{
	uint32_t *w = p;

	for (size_t i = 0; i < length / sizeof(*w); i++)
		w[i] = word(seed, i);
}

static bool filled(const void *p, size_t length, uint32_t seed)
{
	const uint32_t *w = p;

	for (size_t i = 0; i < length / sizeof(*w); i++)
		if (w[i] != word(seed, i))
			return false;
	return true;
}

static bool zero(const void *p, size_t length)
{
	const uint64_t *w = p;

	for (size_t i = 0; i < length / sizeof(*w); i++)
		if (w[i])
			return false;
	return true;
}

static void write_pattern(int buf, size_t length, uint32_t seed)
{
	void *p = memory(length);

	fill(p, length, seed);
	EQUAL(xpu_write(xpu, buf, 0, p, length), 0);
	munmap(p, length);
}

static bool has_pattern(int buf, size_t length, uint32_t seed)
{
	void *p = memory(length);
	bool ok;

	EQUAL(xpu_read(xpu, p, buf, 0, length), 0);
	ok = filled(p, length, seed);
	munmap(p, length);
	return ok;
}

static void on_bus_error(int sig)
{
	(void)sig;
	siglongjmp(bus_jump, 1);
}

static bool bus_error(const volatile uint32_t *p)
{
	struct sigaction on = { .sa_handler = on_bus_error }, old;
	bool hit = true;

	sigaction(SIGBUS, &on, &old);
	if (!sigsetjmp(bus_jump, 1)) {
		(void)*p;
		hit = false;
	}
	sigaction(SIGBUS, &old, NULL);
	return hit;
}

static void test_query(void)
{
	struct xpu_query q = device(xpu);
	int buf;

	CHECK(q.vram_size >= MIB && !(q.vram_size & (q.vram_size - 1)));
	EQUAL(q.vram_free, q.vram_size);
	EQUAL(q.vram_largest, q.vram_size);
	buf = alloc(64 * KIB, 0);
	EQUAL(device(xpu).vram_free, q.vram_size - 64 * KIB);
	EQUAL(state(buf).placement, XPU_PLACE_VRAM);
	EQUAL(state(buf).length, 64 * KIB);
	EQUAL(state(buf).attachments + state(buf).mappings + state(buf).pins, 0);
	EQUAL(lseek(buf, 0, SEEK_END), 64 * KIB);
	close(buf);
	EQUAL(device(xpu).vram_free, q.vram_size);
}

static void test_arguments(void)
{
	struct {
		struct xpu_alloc alloc;
		uint64_t tail;
	} longer = { .alloc = { .size = sizeof(longer), .length = PAGE } };
	uint64_t vram = device(xpu).vram_size;
	struct xpu_query_buf query;
	int buf = alloc(PAGE, 0), none = open("/dev/null", O_RDWR | O_CLOEXEC);
	char page[PAGE];

	EQUAL(xpu_alloc(xpu, 0, 0, 0), -EINVAL);
	EQUAL(xpu_alloc(xpu, PAGE + 1, 0, 0), -EINVAL);
	EQUAL(xpu_alloc(xpu, PAGE, 0, 0x80000000), -EINVAL);
	EQUAL(xpu_alloc(xpu, PAGE, 0, XPU_ALLOC_SCATTERED), -EINVAL);
	EQUAL(xpu_alloc(xpu, 3 * PAGE, 2 * PAGE, 0), -EINVAL);
	EQUAL(xpu_alloc(xpu, PAGE, 512, 0), -EINVAL);
	EQUAL(xpu_alloc(xpu, vram, 0, 0), -ENOSPC);
	EQUAL(xpu_alloc(xpu, 2 * vram, 0, 0), -ENOSPC);
	EQUAL(xpu_alloc(xpu, -PAGE, 0, 0), -ENOSPC);
	EQUAL(xpu_query_buf(xpu, none, &query), -EINVAL);
	EQUAL(xpu_query_buf(xpu, 9999, &query), -EBADF);
	EQUAL(xpu_evict(xpu, xpu), -EINVAL);
	EQUAL(xpu_fail_next_map(xpu, buf, 4096), -EINVAL);

	EQUAL(xpu_write(xpu, buf, 0, page, 0), -EINVAL);
	EQUAL(xpu_write(xpu, buf, 1, page, PAGE), -EINVAL);
	EQUAL(xpu_write(xpu, buf, PAGE, page, 1), -EINVAL);
	EQUAL(xpu_write(xpu, buf, UINT64_MAX, page, 2), -EINVAL);
	EQUAL(xpu_write(xpu, buf, 0, (void *)8, 8), -EFAULT);
	EQUAL(xpu_copy(xpu, 0, 0, 0, 0, 8, XPU_COPY_SRC_USER | XPU_COPY_DST_USER), -EINVAL);
	EQUAL(xpu_copy(xpu, buf, 0, buf, 8, 16, 0), -EINVAL);
	EQUAL(xpu_copy(xpu, buf, 0, buf, 16, 16, 0), 0);

	EQUAL(ioctl(xpu, XPU_ALLOC, &longer), 0);
	close(longer.alloc.fd);
	longer.tail = 1;
	EQUAL(ioctl(xpu, XPU_ALLOC, &longer) < 0 ? errno : 0, E2BIG);
	longer.alloc.size = 8;
	EQUAL(ioctl(xpu, XPU_ALLOC, &longer) < 0 ? errno : 0, EINVAL);
	EQUAL(ioctl(xpu, _IO(XPU_IOC_TYPE, 0x7f), &longer) < 0 ? errno : 0, ENOTTY);
	EQUAL(ioctl(xpu, XPU_QUERY, NULL) < 0 ? errno : 0, EFAULT);
	CHECK(mmap(NULL, 2 * PAGE, PROT_READ, MAP_SHARED, buf, 0) == MAP_FAILED);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, buf, 0) == MAP_FAILED);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, buf, PAGE) == MAP_FAILED);
	close(none);
	close(buf);
}

/* The caller cannot read the number of the descriptor: there must be none. */
static void test_unreadable_reply(void)
{
	struct xpu_alloc *alloc = memory(PAGE);
	uint64_t free = device(xpu).vram_free;

	*alloc = (struct xpu_alloc){ .size = sizeof(*alloc), .length = MIB };
	EQUAL(mprotect(alloc, PAGE, PROT_READ), 0);
	EQUAL(ioctl(xpu, XPU_ALLOC, alloc) < 0 ? errno : 0, EFAULT);
	EQUAL(device(xpu).vram_free, free);
	munmap(alloc, PAGE);
}

static void test_zeroed(void)
{
	const size_t length = 8 * MIB;

	for (int round = 0; round < 2; round++) {
		int buf = alloc(length, 0);
		void *p = map(buf, length);

		CHECK(zero(p, length));
		memset(p, 0xa5, length);
		munmap(p, length);
		close(buf);
	}
}

static void test_mmap(void)
{
	const size_t length = 4 * MIB;
	int buf = alloc(length, 0);
	uint32_t *p = map(buf, length), *part;

	fill(p, length, 1);
	CHECK(has_pattern(buf, length, 1));
	write_pattern(buf, length, 2);
	CHECK(filled(p, length, 2));

	part = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, buf, length - PAGE);
	CHECK(part != MAP_FAILED);
	EQUAL(*part, word(2, (length - PAGE) / sizeof(*p)));
	munmap(part, PAGE);
	close(buf);
	CHECK(filled(p, length, 2));
	munmap(p, length);
}

static void test_copy(void)
{
	static const uint64_t offsets[] = { 0, 1, 7, 4095, 4096, 65537 };
	const size_t length = MIB, n = 300000;
	int a = alloc(length, 0), b = alloc(length, 64 * KIB);
	uint8_t *from = memory(length), *to = memory(length);

	fill(from, length, 3);
	EQUAL(xpu_write(xpu, a, 0, from, length), 0);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		uint64_t off = offsets[i];

		EQUAL(xpu_copy(xpu, b, off, a, 3 * off, n, 0), 0);
		memset(to, 0, length);
		EQUAL(xpu_read(xpu, to + off, b, off, n), 0);
		CHECK(!memcmp(to + off, from + 3 * off, n));
		CHECK(!to[off + n] && (!off || !to[off - 1]));
	}
	close(a);
	close(b);
	munmap(from, length);
	munmap(to, length);
}

static void move_there_and_back(uint32_t chunk)
{
	const size_t length = 8 * MIB;
	int buf = alloc(length, chunk);
	void *p = map(buf, length);
	struct xpu_query before, after;

	fill(p, length, 4);
	before = device(xpu);
	EQUAL(xpu_evict(xpu, buf), 0);
	after = device(xpu);
	EQUAL(state(buf).placement, XPU_PLACE_SYSTEM);
	EQUAL(after.dma_write_bytes - before.dma_write_bytes, length);
	EQUAL(after.dma_read_bytes, before.dma_read_bytes);
	EQUAL(after.vram_free - before.vram_free, length);
	CHECK(after.commands - before.commands >= (chunk ? length / chunk : 1));
	CHECK(filled(p, length, 4));
	CHECK(has_pattern(buf, length, 4));
	fill(p, length, 5);
	EQUAL(xpu_evict(xpu, buf), 0);
	EQUAL(state(buf).moves, 1);

	before = device(xpu);
	EQUAL(xpu_return(xpu, buf), 0);
	after = device(xpu);
	EQUAL(state(buf).placement, XPU_PLACE_VRAM);
	EQUAL(after.dma_read_bytes - before.dma_read_bytes, length);
	EQUAL(before.vram_free - after.vram_free, length);
	CHECK(filled(p, length, 5));
	CHECK(has_pattern(buf, length, 5));
	EQUAL(state(buf).moves, 2);
	munmap(p, length);
	close(buf);
}

static void test_move(void)
{
	move_there_and_back(0);
}

static void test_scattered(void)
{
	move_there_and_back(4 * KIB);
	move_there_and_back(64 * KIB);
	move_there_and_back(2 * MIB);
}

static void test_revoke(void)
{
	const size_t length = MIB;
	uint64_t free = device(xpu).vram_free;

	for (int evicted = 0; evicted < 2; evicted++) {
		int buf = alloc(length, 0);
		uint32_t *p = map(buf, length), *later;

		fill(p, length, 6);
		if (evicted)
			EQUAL(xpu_evict(xpu, buf), 0);
		EQUAL(xpu_revoke(xpu, buf), 0);
		EQUAL(state(buf).placement, XPU_PLACE_REVOKED);
		EQUAL(device(xpu).vram_free, free);
		CHECK(bus_error(p));
		later = map(buf, length);
		CHECK(bus_error(later));
		EQUAL(xpu_revoke(xpu, buf), 0);
		EQUAL(xpu_evict(xpu, buf), -ENODEV);
		EQUAL(xpu_return(xpu, buf), -ENODEV);
		EQUAL(xpu_read(xpu, &(char){ 0 }, buf, 0, 1), -ENODEV);
		munmap(later, length);
		munmap(p, length);
		close(buf);
	}
}

static void test_allocator(void)
{
	enum { N = 64 };
	uint64_t vram = device(xpu).vram_size, part = vram / N;
	int buf[N], big;

	for (int i = 0; i < N; i++)
		buf[i] = alloc(part, 0);
	EQUAL(device(xpu).vram_free, 0);
	EQUAL(device(xpu).vram_largest, 0);
	EQUAL(xpu_alloc(xpu, PAGE, 0, 0), -ENOSPC);
	for (int i = 0; i < N; i += 2)
		close(buf[i]);
	EQUAL(device(xpu).vram_free, vram / 2);
	EQUAL(device(xpu).vram_largest, part);
	EQUAL(xpu_alloc(xpu, part + PAGE, 0, 0), -ENOSPC);
	close(buf[1]);
	EQUAL(device(xpu).vram_largest, 3 * part);
	/* best fit: a gap of one part is used before the one of three */
	buf[0] = alloc(part, 0);
	EQUAL(device(xpu).vram_largest, 3 * part);
	big = alloc(3 * part, 0);
	EQUAL(device(xpu).vram_largest, part);
	close(big);
	close(buf[0]);
	for (int i = 3; i < N; i += 2)
		close(buf[i]);
	EQUAL(device(xpu).vram_largest, vram);
}

static void test_large(void)
{
	uint64_t vram = device(xpu).vram_size, length = vram / 2 < GIB ? vram / 2 : GIB;
	struct xpu_query before = device(xpu), after;
	int buf = alloc(length, 0);
	uint32_t *p = map(buf, length);

	after = device(xpu);
	EQUAL(before.vram_free - after.vram_free, length);
	p[0] = 1;
	p[length / sizeof(*p) - 1] = 2;
	CHECK(p[length / 2 / sizeof(*p)] == 0);
	EQUAL(xpu_copy(xpu, buf, length / 2, buf, 0, length / 2, 0), 0);
	EQUAL(p[length / 2 / sizeof(*p)], 1);
	EQUAL(p[length / sizeof(*p) - 1], 0);
	EQUAL(device(xpu).dma_read_bytes, before.dma_read_bytes);
	munmap(p, length);
	close(buf);
}

static int child_of_fork(void *p, size_t length, int parent)
{
	char c = 0;

	if (!filled(p, length, 7) || write(parent, &c, 1) != 1 || read(parent, &c, 1) != 1)
		return 1;
	return !filled(p, length, 8);
}

static void test_fork(void)
{
	const size_t length = 2 * MIB;
	int buf = alloc(length, 0), status, talk[2];
	void *p = map(buf, length);
	char c = 0;
	pid_t pid;

	fill(p, length, 7);
	EQUAL(socketpair(AF_UNIX, SOCK_STREAM, 0, talk), 0);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		_exit(child_of_fork(p, length, talk[1]));
	close(talk[1]);
	EQUAL(read(talk[0], &c, 1), 1);
	EQUAL(xpu_evict(xpu, buf), 0);
	fill(p, length, 8);
	close(buf);
	munmap(p, length);
	EQUAL(write(talk[0], &c, 1), 1);
	EQUAL(waitpid(pid, &status, 0), pid);
	EQUAL(status, 0);
	close(talk[0]);
}

static void *mover(void *arg)
{
	int buf = *(int *)arg;

	for (int i = 0; i < 20; i++) {
		EQUAL(xpu_evict(xpu, buf), 0);
		EQUAL(xpu_return(xpu, buf), 0);
	}
	return NULL;
}

static void test_move_while_mapped(void)
{
	const size_t length = MIB;
	int buf = alloc(length, 16 * KIB);
	uint32_t *p = map(buf, length);
	pthread_t thread;
	uint32_t seed = 9;

	fill(p, length, seed);
	EQUAL(pthread_create(&thread, NULL, mover, &buf), 0);
	do {
		CHECK(filled(p, length, seed));
		fill(p, length, ++seed);
	} while (state(buf).moves < 40);
	EQUAL(pthread_join(thread, NULL), 0);
	CHECK(has_pattern(buf, length, seed));
	munmap(p, length);
	close(buf);
}

/* The peer copies a buffer of xpu0 into one of its own: it is the importer. */
static void import(int buf, size_t length, uint32_t seed, uint32_t flags)
{
	struct xpu_query before = device(peer), after;
	int own = xpu_alloc(peer, length, 0, 0);
	void *p;

	CHECK(own >= 0);
	EQUAL(xpu_copy(peer, own, 0, buf, 0, length, flags), 0);
	after = device(peer);
	EQUAL(after.dma_read_bytes - before.dma_read_bytes, length);
	p = map(own, length);
	CHECK(filled(p, length, seed));
	munmap(p, length);
	close(own);
	EQUAL(state(buf).attachments + state(buf).mappings + state(buf).pins, 0);
}

static void test_peer(void)
{
	const size_t length = 8 * MIB;
	static const uint32_t chunks[] = { 0, 4 * KIB, 2 * MIB };

	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		int buf = alloc(length, chunks[i]);

		write_pattern(buf, length, 10);
		import(buf, length, 10, 0);
		/* Only a kernel that knows the path may have moved it out of VRAM. */
		if (!(device(xpu).features & XPU_FEATURE_P2P_DISTANCE))
			EQUAL(state(buf).moves, 0);
		EQUAL(xpu_evict(xpu, buf), 0);
		import(buf, length, 10, 0);
		EQUAL(state(buf).placement, XPU_PLACE_SYSTEM);
		close(buf);
	}
}

static void test_peer_without_p2p(void)
{
	const size_t length = 2 * MIB;
	int shy = alloc(length, 0), refuses = xpu_alloc(xpu, length, 0, XPU_ALLOC_NO_P2P);

	CHECK(refuses >= 0);
	write_pattern(shy, length, 11);
	import(shy, length, 11, XPU_COPY_NO_P2P);
	EQUAL(state(shy).placement, XPU_PLACE_SYSTEM);
	write_pattern(refuses, length, 12);
	import(refuses, length, 12, 0);
	EQUAL(state(refuses).placement, XPU_PLACE_SYSTEM);
	EQUAL(xpu_return(xpu, shy), 0);
	EQUAL(xpu_return(xpu, refuses), 0);
	CHECK(has_pattern(refuses, length, 12));
	close(shy);
	close(refuses);
}

static void test_peer_errors(void)
{
	const size_t length = MIB;
	int buf = alloc(length, 0), own = xpu_alloc(peer, length, 0, 0);

	CHECK(own >= 0);
	write_pattern(buf, length, 13);
	EQUAL(xpu_fail_next_map(xpu, buf, EREMOTEIO), 0);
	EQUAL(xpu_copy(peer, own, 0, buf, 0, length, 0), -EREMOTEIO);
	EQUAL(xpu_fail_next_map(xpu, buf, 0), 0);
	EQUAL(xpu_copy(peer, own, 0, buf, 0, length, 0), -ENOMEM);
	import(buf, length, 13, 0);
	EQUAL(xpu_evict(peer, buf), -EINVAL);
	EQUAL(xpu_revoke(xpu, buf), 0);
	EQUAL(xpu_copy(peer, own, 0, buf, 0, length, 0), -ENODEV);
	EQUAL(state(buf).attachments, 0);
	close(buf);
	close(own);
}

/* With bus mastering off the device can neither move bytes nor interrupt. */
static void set_bus_master(bool on)
{
	int fd = open("/sys/class/xpu/xpu0/device/config", O_RDWR | O_CLOEXEC);
	uint16_t command;

	EQUAL(pread(fd, &command, sizeof(command), 4), sizeof(command));
	command = on ? command | 4 : command & ~4;
	EQUAL(pwrite(fd, &command, sizeof(command), 4), sizeof(command));
	close(fd);
}

static void test_dma_error(void)
{
	const size_t length = MIB;
	struct xpu_query before = device(xpu);
	int buf = alloc(length, 0);
	void *p = map(buf, length);

	fill(p, length, 16);
	set_bus_master(false);
	EQUAL(xpu_write(xpu, buf, 0, &(char){ 0 }, 1), -EIO);
	EQUAL(xpu_evict(xpu, buf), -EIO);
	set_bus_master(true);
	EQUAL(device(xpu).dma_errors - before.dma_errors, 2);
	EQUAL(device(xpu).dma_write_bytes, before.dma_write_bytes);
	EQUAL(state(buf).placement, XPU_PLACE_VRAM);
	CHECK(filled(p, length, 16));
	EQUAL(xpu_evict(xpu, buf), 0);
	CHECK(filled(p, length, 16));
	munmap(p, length);
	close(buf);
}

/* The CPU looks into VRAM that is free: nobody else here has an address of it. */
static void test_trap(void)
{
	struct xpu_query before = device(xpu);
	volatile uint8_t *vram;
	int fd, buf;

	if (!(before.features & XPU_FEATURE_TRAP))
		skip("the device has no trap");
	EQUAL(before.stale_reads + before.stale_writes, 0);	/* of all tests before */
	fd = open("/sys/class/xpu/xpu0/device/resource2", O_RDWR | O_CLOEXEC);
	vram = mmap(NULL, before.vram_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	CHECK(vram != MAP_FAILED);
	buf = alloc(before.vram_size, 0);
	EQUAL(vram[PAGE], 0);
	vram[PAGE] = 7;
	EQUAL(vram[PAGE], 7);
	EQUAL(device(xpu).stale_reads + device(xpu).stale_writes, 0);
	close(buf);
	EQUAL(vram[PAGE], 0xff);
	vram[PAGE] = 8;
	EQUAL(device(xpu).stale_reads, 1);
	EQUAL(device(xpu).stale_writes, 1);
	munmap((void *)vram, before.vram_size);
	close(fd);
}

/* Waits for the device to go, then uses all that it held of it. */
static int unplug(void)
{
	const size_t length = 4 * MIB;
	int vram = alloc(length, 0), system = alloc(length, 0), idle = alloc(length, 0);
	uint32_t *a = map(vram, length), *b = map(system, length);
	uint32_t kernel = forever();
	struct xpu_query query;
	struct xpu_wait wait;
	int ret = 0;

	fill(a, length, 14);
	fill(b, length, 15);
	EQUAL(xpu_evict(xpu, system), 0);
	CHECK(b[1] == word(15, 1));
	printf("ready\n");
	fflush(stdout);
	for (int i = 0; i < UNPLUG_SECONDS * 10 && ret != -ENODEV; i++) {
		ret = xpu_query(xpu, &query);
		/* An error that it recovers from may reset it first. */
		CHECK(!ret || ret == -EAGAIN || ret == -ENODEV);
		usleep(100000);
	}
	EQUAL(ret, -ENODEV);
	sleep(1);
	CHECK(bus_error(a));
	CHECK(bus_error(b));
	CHECK(bus_error(map(idle, length)));
	EQUAL(xpu_wait(xpu, kernel, 0, &wait), -ENODEV);
	EQUAL(xpu_alloc(xpu, PAGE, 0, 0), -ENODEV);
	EQUAL(xpu_evict(xpu, vram), -ENODEV);
	EQUAL(xpu_read(xpu, &ret, vram, 0, sizeof(ret)), -ENODEV);
	if (peer >= 0)
		EQUAL(xpu_copy(peer, xpu_alloc(peer, length, 0, 0), 0, vram, 0, length, 0),
		      -ENODEV);
	munmap(a, length);
	close(vram);
	close(xpu);
	close(system);
	printf("unplug: passed\n");
	return 0;
}

/* What is in VRAM is lost with a reset, what is in system memory is not. */
static int reset(void)
{
	const size_t length = MIB;
	int vram = alloc(length, 0), system = alloc(length, 0), fd;
	uint32_t *a = map(vram, length), *b = map(system, length);
	unsigned int resets = device(xpu).resets;
	uint32_t kernel = forever();
	struct xpu_wait wait;

	fill(a, length, 17);
	fill(b, length, 18);
	EQUAL(xpu_evict(xpu, system), 0);
	fd = open("/sys/class/xpu/xpu0/device/reset", O_WRONLY | O_CLOEXEC);
	EQUAL(write(fd, "1", 1), 1);
	close(fd);
	EQUAL(device(xpu).resets, resets + 1);
	EQUAL(xpu_wait(xpu, kernel, 0, &wait), 0);
	EQUAL(wait.state, XPU_EX_FAILED);
	EQUAL(wait.fault, XPU_FAULT_RESET);
	EQUAL(state(vram).placement, XPU_PLACE_REVOKED);
	CHECK(bus_error(a));
	CHECK(filled(b, length, 18));
	EQUAL(xpu_return(xpu, system), 0);
	CHECK(filled(b, length, 18));
	printf("reset: passed\n");
	return 0;
}

static const struct test {
	const char *name;
	void (*run)(void);
	bool needs_peer;
} tests[] = {
	{ "query", test_query, false },
	{ "arguments", test_arguments, false },
	{ "unreadable-reply", test_unreadable_reply, false },
	{ "zeroed", test_zeroed, false },
	{ "mmap", test_mmap, false },
	{ "copy", test_copy, false },
	{ "move", test_move, false },
	{ "scattered", test_scattered, false },
	{ "revoke", test_revoke, false },
	{ "allocator", test_allocator, false },
	{ "large", test_large, false },
	{ "fork", test_fork, false },
	{ "move-while-mapped", test_move_while_mapped, false },
	{ "dma-error", test_dma_error, false },
	{ "kernel-arguments", test_kernel_arguments, false },
	{ "kernel-local", test_kernel_local, false },
	{ "kernel-faults", test_kernel_faults, false },
	{ "kernel-life", test_kernel_life, false },
	{ "kernel-memory", test_kernel_memory, false },
	{ "queue-arguments", test_queue_arguments, true },
	{ "queue-proxy", test_queue_proxy, false },
	{ "queue-doorbell", test_queue_doorbell, true },
	{ "queue-revoked", test_queue_revoked, true },
	{ "peer", test_peer, true },
	{ "peer-without-p2p", test_peer_without_p2p, true },
	{ "peer-errors", test_peer_errors, true },
	{ "trap", test_trap, false },
};

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(name, argv[i]))
			return true;
	return argc == 1;
}

/*
 * In a process of its own, whose end gives back what a failed test had open; with a file of
 * its own, which owns kernels, queues and doorbells.
 */
static int run(const struct test *test)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(xpu);
		xpu = xpu_open(0);
		test->run();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1;
	return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	unsigned int passed = 0, failed = 0, skipped = 0;

	xpu = xpu_open(0);
	if (xpu < 0) {
		fprintf(stderr, "/dev/xpu0: %s\n", strerror(-xpu));
		return 1;
	}
	peer = xpu_open(1);
	if (argc == 2 && !strcmp(argv[1], "unplug"))
		return unplug();
	if (argc == 2 && !strcmp(argv[1], "reset"))
		return reset();

	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		const struct test *test = &tests[i];
		const char *verdict = "FAILED";
		int status;

		if (!wanted(test->name, argc, argv))
			continue;
		status = test->needs_peer && peer < 0 ? SKIPPED : run(test);
		if (!status) {
			verdict = "ok";
			passed++;
		} else if (status == SKIPPED) {
			verdict = peer < 0 ? "skipped, no /dev/xpu1" : "skipped";
			skipped++;
		} else {
			failed++;
		}
		printf("%s: %s\n", test->name, verdict);
	}
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed || !passed;
}
