// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiwi/kiwi.h>

#include "common.h"
#include "xpu.h"

void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	exit(1);
}

void must(int rc)
{
	if (rc < 0)
		fail("%s (%s)", kiwi_error(), strerror(-rc));
}

int memory_xpu(unsigned int number)
{
	int xpu = xpu_open(number);

	if (xpu < 0)
		fail("xpu%u: %s", number, strerror(-xpu));
	return xpu;
}

int memory_alloc(int xpu, uint64_t length)
{
	int buf = xpu_alloc(xpu, length, 0, 0);

	if (buf < 0)
		fail("memory of an accelerator: %s", strerror(-buf));
	return buf;
}

void memory_set(int xpu, int buf, const uint8_t *data, uint64_t length)
{
	int ret = xpu_write(xpu, buf, 0, data, length);

	if (ret)
		fail("memory of an accelerator: write: %s", strerror(-ret));
}

void memory_verify(int xpu, int buf, const uint8_t *expected, uint64_t length, const char *what)
{
	uint8_t *found = malloc(length);
	uint64_t n;
	int ret;

	if (!found)
		fail("no memory");
	ret = xpu_read(xpu, found, buf, 0, length);
	if (ret)
		fail("memory of an accelerator: read: %s", strerror(-ret));
	for (n = 0; n < length && found[n] == expected[n]; n++)
		;
	if (n < length)
		fail("after %s: %#x at %#llx, not %#x", what, found[n], (unsigned long long)n,
		     expected[n]);
	free(found);
}
