/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the routes of drivers/kiwi_g2g ask of the kernel, for a program. The headers beside it are
 * named after the kernel's and include it.
 */
#ifndef KIWI_KERNEL_SHIM_H
#define KIWI_KERNEL_SHIM_H

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define U16_MAX			UINT16_MAX
#define U32_MAX			UINT32_MAX
#define BIT(n)			(1UL << (n))
#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))
#define ALIGN(x, to)		(((x) + (to) - 1) / (to) * (to))
#define struct_size(p, member, n) (sizeof(*(p)) + sizeof(*(p)->member) * (n))
#define min(a, b)		((a) < (b) ? (a) : (b))
#define max(a, b)		((a) > (b) ? (a) : (b))
#define max3(a, b, c)		max(max(a, b), c)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define hweight16(x)		__builtin_popcount((u16)(x))
#define __ffs(x)		__builtin_ctzl(x)

#define GOLDEN_RATIO_32		0x61C88647U
static inline u32 hash_32(u32 value, unsigned int bits)
{
	return value * GOLDEN_RATIO_32 >> (32 - bits);
}

#define ERR_PTR(error)		((void *)(intptr_t)(error))
#define PTR_ERR(p)		((int)(intptr_t)(p))
#define IS_ERR(p)		((uintptr_t)(p) >= (uintptr_t)-4095)

#define GFP_KERNEL		0
#define GFP_KERNEL_ACCOUNT	0
#define cond_resched()		do { } while (0)

/* The program's: zeroed memory, which it counts. */
void *shim_alloc(size_t size);
void kvfree(const void *p);

static inline void *kvmalloc(size_t size, int gfp)
{
	(void)gfp;
	return shim_alloc(size);
}

static inline void *kvzalloc(size_t size, int gfp)
{
	return kvmalloc(size, gfp);
}

static inline void *kvcalloc(size_t n, size_t size, int gfp)
{
	return kvmalloc(n * size, gfp);
}

static inline void *kvmalloc_array(size_t n, size_t size, int gfp)
{
	return kvmalloc(n * size, gfp);
}

#endif /* KIWI_KERNEL_SHIM_H */
