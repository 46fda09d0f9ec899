// SPDX-License-Identifier: GPL-2.0
/* Memory of an accelerator: here the stand-in, xpu. Another vendor's goes beside it. */
#include "mem.h"

#include "../common/say.h"
#include "../../testing/xpu/xpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t whole_pages(size_t size, size_t page)
{
	return (size + page - 1) / page * page;
}

static bool gpu_alloc(struct mem *mem, const char *argument, size_t size)
{
	unsigned int index;
	uint32_t chunk = 0;
	int end = 0;

	if (!argument || sscanf(argument, "xpu%u%n", &index, &end) != 1 ||
	    (argument[end] && argument[end] != ':')) {
		complain("GPU memory is named like gpu:xpu0, not 'gpu%s%s'", argument ? ":" : "",
			 argument ? argument : "");
		return false;
	}
	if (argument[end])
		chunk = (uint32_t)number_arg("chunk of GPU memory", argument + end + 1,
					     (unsigned long long)sysconf(_SC_PAGESIZE), 1U << 30);
	mem->device = xpu_open(index);
	if (mem->device < 0) {
		complain("/dev/xpu%u: %s", index, strerror(-mem->device));
		return false;
	}
	mem->size = whole_pages(size, chunk ? chunk : (size_t)sysconf(_SC_PAGESIZE));
	mem->dmabuf = xpu_alloc(mem->device, mem->size, chunk, chunk ? XPU_ALLOC_SCATTERED : 0);
	if (mem->dmabuf < 0) {
		complain("%zu bytes of xpu%u: %s", mem->size, index, strerror(-mem->dmabuf));
		goto err_close;
	}
	mem->cpu = xpu_map(mem->dmabuf, mem->size);
	if (mem->cpu)
		return true;
	complain("mmap of a buffer of xpu%u: %s", index, strerror(errno));
	close(mem->dmabuf);
err_close:
	close(mem->device);
	return false;
}

static void gpu_free(struct mem *mem)
{
	munmap(mem->cpu, mem->size);
	close(mem->dmabuf);
	close(mem->device);
}

const struct mem_provider mem_gpu = {
	.name = "gpu",
	.help = "gpu:xpuN[:CHUNK]    memory of accelerator N, scattered in chunks if given",
	.alloc = gpu_alloc,
	.free = gpu_free,
};
