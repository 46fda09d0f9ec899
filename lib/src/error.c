// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Failures in words. */
#include "priv.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char text[256] = "no call has failed";

const char *kiwi_error(void)
{
	return text;
}

int refuse(int err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return -err;
}
