/* SPDX-License-Identifier: GPL-2.0 */
/* How the tools fail: one line that begins with the program's name. */
#ifndef TOOLS_SAY_H
#define TOOLS_SAY_H

#define EXIT_FAILED	1
#define EXIT_USAGE	2

void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
void die_usage(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* A whole number in @min..@max, with K, M or G behind it for 2^10, 2^20, 2^30; else die_usage(). */
unsigned long long number_arg(const char *what, const char *text, unsigned long long min,
			      unsigned long long max);

#endif /* TOOLS_SAY_H */
