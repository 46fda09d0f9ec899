// SPDX-License-Identifier: GPL-2.0
/* System memory handed over as a DMA-buf. */
#include "mem.h"

#include "../common/say.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static int buffer_of(int memfd, size_t size)
{
	struct udmabuf_create create = { .memfd = (uint32_t)memfd, .flags = UDMABUF_FLAGS_CLOEXEC,
					 .size = size };
	int dev = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;

	if (dev < 0)
		return -1;
	fd = ioctl(dev, UDMABUF_CREATE, &create);
	close(dev);
	return fd;
}

static bool udmabuf_alloc(struct mem *mem, const char *argument, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (argument) {
		complain("udmabuf memory takes no ':%s'", argument);
		return false;
	}
	mem->size = (size + page - 1) / page * page;
	mem->device = memfd_create("kiwi", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (mem->device < 0 || ftruncate(mem->device, (off_t)mem->size) ||
	    fcntl(mem->device, F_ADD_SEALS, F_SEAL_SHRINK)) {
		complain("memfd of %zu bytes: %s", mem->size, strerror(errno));
		goto err;
	}
	mem->dmabuf = buffer_of(mem->device, mem->size);
	if (mem->dmabuf < 0) {
		complain("/dev/udmabuf: %zu bytes: %s", mem->size, strerror(errno));
		goto err;
	}
	mem->cpu = mmap(NULL, mem->size, PROT_READ | PROT_WRITE, MAP_SHARED, mem->device, 0);
	if (mem->cpu != MAP_FAILED)
		return true;
	complain("mmap of %zu bytes: %s", mem->size, strerror(errno));
	close(mem->dmabuf);
err:
	if (mem->device >= 0)
		close(mem->device);
	return false;
}

static void udmabuf_free(struct mem *mem)
{
	munmap(mem->cpu, mem->size);
	close(mem->dmabuf);
	close(mem->device);
}

const struct mem_provider mem_udmabuf = {
	.name = "udmabuf",
	.help = "udmabuf             system memory as a DMA-buf, through /dev/udmabuf",
	.alloc = udmabuf_alloc,
	.free = udmabuf_free,
};
