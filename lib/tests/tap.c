// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>

static unsigned int results, failures;
static unsigned long turns, turns_failed;

bool ok(bool good, const char *format, ...)
{
	va_list args;

	printf("%s %u - ", good ? "ok" : "not ok", ++results);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	failures += !good;
	return good;
}

bool holds_(bool good, const char *what, const char *file, int line)
{
	turns++;
	/* The first tells enough; a broken loop would fill the disk. */
	if (!good && !turns_failed++)
		printf("# %s:%d: does not hold: %s\n", file, line, what);
	return good;
}

void say(const char *what)
{
	ok(!turns_failed && turns, "%s (%lu checks)", what, turns);
	turns = 0;
	turns_failed = 0;
}

int tap_end(void)
{
	printf("1..%u\n", results);
	return failures || !results;
}
