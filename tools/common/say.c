// SPDX-License-Identifier: GPL-2.0
#include "say.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void line(const char *format, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line(format, args);
	va_end(args);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line(format, args);
	va_end(args);
	exit(EXIT_FAILED);
}

void die_usage(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	line(format, args);
	va_end(args);
	fprintf(stderr, "Try '%s --help'.\n", program_invocation_short_name);
	exit(EXIT_USAGE);
}

unsigned long long number_arg(const char *what, const char *text, unsigned long long min,
			      unsigned long long max)
{
	unsigned int shift = 0;
	unsigned long long n;
	char *end;

	errno = 0;
	n = strtoull(text, &end, 0);
	switch (toupper((unsigned char)*end)) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	}
	if (shift)
		end++;
	if (errno || end == text || *end || !isdigit((unsigned char)*text) ||
	    n > max >> shift || n << shift < min)
		die_usage("%s '%s' is not a number in %llu..%llu", what, text, min, max);
	return n << shift;
}
