/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* libkiwi: order of memory between the CPU and a device. */
#ifndef KIWI_BARRIER_H
#define KIWI_BARRIER_H

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "libkiwi supports little-endian hosts"
#endif
#if __SIZEOF_POINTER__ < 8
#error "libkiwi needs single 64-bit stores, which this host has not"
#endif

#if defined(__x86_64__)

/* Total store order, and uncached stores are not moved before older ones. */
#define KIWI_DMA_WMB_	""
#define KIWI_DMA_RMB_	""
#define KIWI_WC_WMB_	"sfence"

#elif defined(__aarch64__)

#define KIWI_DMA_WMB_	"dmb oshst"
#define KIWI_DMA_RMB_	"dmb oshld"
#define KIWI_WC_WMB_	"dsb st"

#else
#error "libkiwi does not know this architecture's barriers"
#endif

/* Stores to host memory stand before a later store to the device. */
static inline void kiwi_dma_wmb(void)
{
	__asm__ __volatile__(KIWI_DMA_WMB_ ::: "memory");
}

/* A load of what the device wrote stands before all that follows. */
static inline void kiwi_dma_rmb(void)
{
	__asm__ __volatile__(KIWI_DMA_RMB_ ::: "memory");
}

/* Stores through write-combining mappings leave the CPU, and stand before all later ones. */
static inline void kiwi_wc_wmb(void)
{
	__asm__ __volatile__(KIWI_WC_WMB_ ::: "memory");
}

#endif /* KIWI_BARRIER_H */
