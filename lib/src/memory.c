// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Memory that the device reaches: page-aligned, zeroed, not inherited by fork. */
#include "priv.h"

#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE	((size_t)2 << 20)

static size_t whole_pages(size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (size + page - 1) & ~(page - 1);
}

void *kiwi_memory_alloc(size_t size)
{
	size_t slack, head, bytes = whole_pages(size);
	char *p;

	if (!size || bytes < size) {
		errno = EINVAL;
		return NULL;
	}
	slack = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
	if (bytes + slack < bytes) {
		errno = ENOMEM;
		return NULL;
	}
	p = mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (slack) {
		head = -(uintptr_t)p & (HUGE_PAGE - 1);
		if (head)
			munmap(p, head);
		if (head < slack)
			munmap(p + head + bytes, slack - head);
		p += head;
		/* A kernel without transparent huge pages refuses: no harm. */
		madvise(p, bytes, MADV_HUGEPAGE);
	}
	madvise(p, bytes, MADV_DONTFORK);
	return p;
}

void kiwi_memory_free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, whole_pages(size));
}

int ring_memory_alloc(struct ring_memory *memory, struct kiwi_mem *mem, size_t size)
{
	memory->cpu = kiwi_memory_alloc(size);
	if (!memory->cpu)
		return refuse(errno, "%zu bytes for a ring: %s", size, strerror(errno));
	memory->size = size;
	*mem = (struct kiwi_mem){
		.type = KIWI_MEM_USER,
		.addr = (uintptr_t)memory->cpu,
		.length = size,
	};
	return 0;
}

void ring_memory_free(struct ring_memory *memory)
{
	if (memory->size)
		kiwi_memory_free(memory->cpu, memory->size);
}

uint32_t round_up_pow2(uint32_t n)
{
	uint32_t p = 1;

	while (p < n && p < UINT32_C(1) << 31)
		p <<= 1;
	return p;
}

unsigned int log2_of(uint32_t pow2)
{
	return (unsigned int)__builtin_ctz(pow2);
}
