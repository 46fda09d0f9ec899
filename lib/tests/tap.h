/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* Test results in TAP. */
#ifndef TAP_H
#define TAP_H

#include <stdbool.h>

/* One line of result; a failure is remembered. Returns @good. */
bool ok(bool good, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A condition that holds in every turn of a loop: silent while it does; say() prints the sum. */
#define holds(cond) holds_(!!(cond), #cond, __FILE__, __LINE__)
bool holds_(bool good, const char *what, const char *file, int line);

/* One line for all holds() since the last say(). */
void say(const char *what);

/* Print the plan. Returns the exit status. */
int tap_end(void);

#endif /* TAP_H */
