// SPDX-License-Identifier: GPL-2.0
/*
 * The guest's side of the tests with a hostile device.
 *
 *	snic-hostile ADDRESS good	a round, every part of which has to succeed
 *	snic-hostile ADDRESS step	a round that may fail; then, if it did, the device has to
 *					be as good as new, at the latest after it was bound anew
 *	snic-hostile ADDRESS bind	the same, and first the device is unbound and bound
 *	snic-hostile ADDRESS start	unbinds and binds
 *	snic-hostile ADDRESS try	unbinds and binds, then a round; all of it may fail
 *	snic-hostile ADDRESS soak FILE	long rounds until FILE exists, the device bound anew
 *					whenever it is down
 *	snic-hostile ADDRESS stray MS	a round; then the memory of its completion queue is used
 *					for something else, and must stay untouched for MS
 *	snic-hostile ADDRESS stray-unbind MS	the same, and first the device is unbound; it is
 *					bound again afterwards
 *
 * ADDRESS: of the function whose device is snic0.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "round.h"

#define DRIVER		"/sys/bus/pci/drivers/kiwi_snic/"
#define NODE		"/dev/kiwi/snic0"
#define BATCHES		2
#define WAIT_MS		500
#define SOAK_BATCHES	32
#define SOAK_WAIT_MS	30
#define OURS		0xa5

static const char *address;

static int write_driver(const char *name)
{
	int fd = open(name, O_WRONLY), ret = 0;

	if (fd < 0 || write(fd, address, strlen(address)) < 0)
		ret = -errno;
	if (fd >= 0)
		close(fd);
	return ret;
}

static int rebind(void)
{
	int ret;

	write_driver(DRIVER "unbind");
	ret = write_driver(DRIVER "bind");
	printf("bound: %s\n", ret ? strerror(-ret) : "good");
	return ret;
}

static bool usable(void)
{
	int fd = open(NODE, O_RDWR);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int run(void)
{
	return round_run(BATCHES, WAIT_MS, NULL);
}

static int step(void)
{
	if (!run())
		return 0;
	printf("again\n");
	if (usable() && !run())
		return 0;
	return rebind() || run();
}

static int bind_step(void)
{
	if (rebind())
		rebind();
	return step();
}

static int try_start(void)
{
	if (!rebind())
		run();
	return 0;
}

static int soak(const char *file)
{
	while (access(file, F_OK)) {
		int ret = round_run(SOAK_BATCHES, SOAK_WAIT_MS, NULL);

		/* Nothing tells a queue that the device has spoilt from one that is empty. */
		if (ret == -ETIMEDOUT || !usable())
			rebind();
	}
	return 0;
}

static int stray(unsigned int ms, bool unbind)
{
	unsigned char *ring = mmap(NULL, ROUND_RING_SIZE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	int touched = 0;

	if (ring == MAP_FAILED)
		return 2;
	printf("round: %s\n", strerror(-round_run(BATCHES, WAIT_MS, ring)));
	if (unbind)
		write_driver(DRIVER "unbind");
	memset(ring, OURS, ROUND_RING_SIZE);
	usleep(ms * 1000);
	for (size_t i = 0; i < ROUND_RING_SIZE; i++)
		touched += ring[i] != OURS;
	printf("%d bytes were touched\n", touched);
	if (unbind)
		write_driver(DRIVER "bind");
	return touched != 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "";

	if (argc < 3)
		return 2;
	address = argv[1];
	if (argc == 4 && !strcmp(mode, "soak"))
		return soak(argv[3]);
	if (argc == 4 && !strcmp(mode, "stray"))
		return stray(atoi(argv[3]), false);
	if (argc == 4 && !strcmp(mode, "stray-unbind"))
		return stray(atoi(argv[3]), true);
	if (!strcmp(mode, "good"))
		return run() != 0;
	if (!strcmp(mode, "step"))
		return step();
	if (!strcmp(mode, "bind"))
		return bind_step();
	if (!strcmp(mode, "start"))
		return rebind() != 0;
	if (!strcmp(mode, "try"))
		return try_start();
	return 2;
}
