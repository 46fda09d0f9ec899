// SPDX-License-Identifier: GPL-2.0
/* Memory of the process. */
#include "mem.h"

#include "../common/say.h"

#include <errno.h>
#include <string.h>

#define HUGE_PAGE	((size_t)2 << 20)

static bool host_alloc(struct mem *mem, const char *argument, size_t size)
{
	if (argument) {
		complain("host memory takes no ':%s'", argument);
		return false;
	}
	/* Whole huge pages, so that the page list can name them. */
	if (size > HUGE_PAGE)
		mem->size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	mem->cpu = kiwi_memory_alloc(mem->size);
	if (!mem->cpu)
		complain("%zu bytes of host memory: %s", mem->size, strerror(errno));
	return mem->cpu;
}

static void host_free(struct mem *mem)
{
	kiwi_memory_free(mem->cpu, mem->size);
}

const struct mem_provider mem_host = {
	.name = "host",
	.help = "host                memory of the process",
	.alloc = host_alloc,
	.free = host_free,
};
