/* SPDX-License-Identifier: GPL-2.0 */
/* For programs that end when something goes wrong, and say what as their last line. */
#ifndef MESSAGES_COMMON_H
#define MESSAGES_COMMON_H

#include <stddef.h>
#include <stdint.h>

void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* @rc: of a call of libkiwi; fails with what that says, if it is negative */
void must(int rc);

/* The accelerator of a number, and memory of it */
int memory_xpu(unsigned int number);
int memory_alloc(int xpu, uint64_t length);
void memory_set(int xpu, int buf, const uint8_t *data, uint64_t length);

/* All of a buffer, so that a byte too many shows as well as one too few; after @what */
void memory_verify(int xpu, int buf, const uint8_t *expected, uint64_t length, const char *what);

#endif /* MESSAGES_COMMON_H */
