/* SPDX-License-Identifier: GPL-2.0 */
/* Code of the drivers that was reached, from KCOV, if the kernel has it. */
#ifndef COVER_H
#define COVER_H

#include <stdbool.h>
#include <stdint.h>

struct cover;

/* Before any process or thread is started. False, and nothing is done, without KCOV. */
bool cover_init(void);
bool cover_present(void);
/* A buffer, which one thread enables for itself; NULL without KCOV. */
struct cover *cover_new(void);
void cover_enable(struct cover *c);

/* What the thread reached since cover_clear(): how much of that nobody had reached. */
void cover_clear(struct cover *c);
unsigned int cover_collect(struct cover *c);

unsigned int cover_count(void);
/* The places, as MODULE OFFSET. */
bool cover_write(const char *path);

#endif /* COVER_H */
