/* SPDX-License-Identifier: GPL-2.0 */
/* What all processes of a run count together. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>

#define WORKERS_MAX	8

void report_init(void);
void report_sequence(void);
void report_fail(void);
bool report_failed(void);
unsigned long report_calls_of(unsigned int worker);
unsigned long report_calls(void);
void report_print(void);

/* The worker that this process is. */
extern unsigned int report_worker;

#endif /* REPORT_H */
