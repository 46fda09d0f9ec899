/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libkiwi: order of memory between the CPU and a device.
 *
 * kiwi_dma_wmb()	stores to host memory before a store to the device
 * kiwi_dma_rmb()	a load of what the device wrote before all that follows
 * kiwi_wc_wmb()	stores through write-combining mappings leave the CPU, and stand
 *			before all later stores
 */
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
#define kiwi_dma_wmb()	__asm__ __volatile__("" ::: "memory")
#define kiwi_dma_rmb()	__asm__ __volatile__("" ::: "memory")
#define kiwi_wc_wmb()	__asm__ __volatile__("sfence" ::: "memory")

#elif defined(__aarch64__)

#define kiwi_dma_wmb()	__asm__ __volatile__("dmb oshst" ::: "memory")
#define kiwi_dma_rmb()	__asm__ __volatile__("dmb oshld" ::: "memory")
#define kiwi_wc_wmb()	__asm__ __volatile__("dsb st" ::: "memory")

#else
#error "libkiwi does not know this architecture's barriers"
#endif

#endif /* KIWI_BARRIER_H */
