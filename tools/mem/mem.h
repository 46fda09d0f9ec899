/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Memory to move bytes from and to. A provider makes a piece of it that the CPU sees;
 * one that is a DMA-buf is registered as such.
 */
#ifndef TOOLS_MEM_H
#define TOOLS_MEM_H

#include <kiwi/kiwi.h>
#include <stdbool.h>

struct mem {
	const struct mem_provider *provider;
	size_t size;
	void *cpu;
	int dmabuf;		/* -1: memory of the process */
	int device;		/* file of the provider's device, or -1 */
};

struct mem_provider {
	const char *name;	/* what stands before ':' in a specification */
	const char *help;

	/*
	 * @argument: what stands behind ':', NULL if nothing does. Fills in all but
	 * @provider. False when it cannot, after telling why.
	 */
	bool (*alloc)(struct mem *mem, const char *argument, size_t size);
	void (*free)(struct mem *mem);
};

extern const struct mem_provider mem_host, mem_gpu, mem_udmabuf;

bool mem_alloc(struct mem *mem, const char *spec, size_t size);
void mem_free(struct mem *mem);

int mem_register(const struct mem *mem, struct kiwi_pd *pd, struct kiwi_mr **mr);

/* The CPU reads and writes the memory between these two; other devices do not. */
void mem_cpu_begin(const struct mem *mem);
void mem_cpu_end(const struct mem *mem);

/* One line for each provider, for the help text. */
void mem_help(void);

#endif /* TOOLS_MEM_H */
