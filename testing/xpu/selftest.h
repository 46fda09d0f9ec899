/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of xpu-selftest share. A check that fails ends the process of its test.
 */
#ifndef SELFTEST_H
#define SELFTEST_H

#include <stdbool.h>

#include "xpu.h"

#define KIB	1024UL
#define MIB	(1024 * KIB)
#define GIB	(1024 * MIB)
#define PAGE	(4 * KIB)

#define CHECK(cond)	check(cond, #cond, __FILE_NAME__, __LINE__)
#define EQUAL(a, b)	equal(a, b, #a " == " #b, __FILE_NAME__, __LINE__)

extern int xpu, peer;	/* /dev/xpu0; /dev/xpu1, or -1 */

void check(bool ok, const char *what, const char *file, int line);
void equal(long long a, long long b, const char *what, const char *file, int line);

void skip(const char *why);	/* ends the test, neither passed nor failed */

int alloc(uint64_t length, uint32_t chunk);
void *map(int buf, size_t length);
struct xpu_query device(int fd);
struct xpu_query_buf state(int buf);

/* kernel-selftest.c */
uint32_t forever(void);		/* a kernel that runs until it is stopped, or for a minute */
void test_kernel_arguments(void);
void test_kernel_local(void);
void test_kernel_faults(void);
void test_kernel_life(void);
void test_kernel_memory(void);
void test_queue_arguments(void);
void test_queue_proxy(void);
void test_queue_doorbell(void);
void test_queue_revoked(void);

#endif /* SELFTEST_H */
