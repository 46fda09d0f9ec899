// SPDX-License-Identifier: GPL-2.0
#include "mem.h"

#include "../common/say.h"

#include <errno.h>
#include <linux/dma-buf.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

static const struct mem_provider *const providers[] = { &mem_host, &mem_gpu, &mem_udmabuf };

#define COUNT (sizeof(providers) / sizeof(providers[0]))

bool mem_alloc(struct mem *mem, const char *spec, size_t size)
{
	size_t i, len = strcspn(spec, ":");

	for (i = 0; i < COUNT; i++) {
		if (strlen(providers[i]->name) != len || strncmp(spec, providers[i]->name, len))
			continue;
		*mem = (struct mem){
			.provider = providers[i], .size = size, .dmabuf = -1, .device = -1,
		};
		if (providers[i]->alloc(mem, spec[len] ? spec + len + 1 : NULL, size))
			return true;
		mem->provider = NULL;
		return false;
	}
	complain("no memory is named '%s'", spec);
	return false;
}

void mem_free(struct mem *mem)
{
	if (mem->provider)
		mem->provider->free(mem);
	mem->provider = NULL;
}

int mem_register(const struct mem *mem, struct kiwi_pd *pd, struct kiwi_mr **mr)
{
	/* Addresses from 0 on: a region need not be named by where a process sees it. */
	if (mem->dmabuf >= 0)
		return kiwi_mr_reg_dmabuf(pd, mem->dmabuf, 0, mem->size, 0, KIWI_ACCESS_ALL, mr);
	return kiwi_mr_reg(pd, mem->cpu, mem->size, KIWI_ACCESS_ALL, mr);
}

static void cpu_access(const struct mem *mem, uint64_t flags)
{
	struct dma_buf_sync sync = { .flags = flags | DMA_BUF_SYNC_RW };

	if (mem->dmabuf < 0)
		return;
	while (ioctl(mem->dmabuf, DMA_BUF_IOCTL_SYNC, &sync) && (errno == EINTR || errno == EAGAIN))
		;
}

void mem_cpu_begin(const struct mem *mem)
{
	cpu_access(mem, DMA_BUF_SYNC_START);
}

void mem_cpu_end(const struct mem *mem)
{
	cpu_access(mem, DMA_BUF_SYNC_END);
}

void mem_help(void)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		printf("  %s\n", providers[i]->help);
}
