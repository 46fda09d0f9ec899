/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* What the two files of the played kernel share. */
#ifndef FAKE_PART_H
#define FAKE_PART_H

#include <sys/types.h>

#define breach_unless(cond) ((cond) ? (void)0 : fake_breach(__FILE__, __LINE__, #cond))
void fake_breach(const char *file, int line, const char *what);

void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);

/* Return: 0 or an errno */
int fake_g2g_answer(unsigned long request, void *argument);
void *fake_g2g_mmap(size_t len, int prot, int flags, off_t off);
void fake_g2g_close(void);
unsigned int fake_g2g_objects(void);

#endif /* FAKE_PART_H */
