// SPDX-License-Identifier: GPL-2.0
#include "json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_DIGITS 15		/* of any decimal number in a double */

static unsigned int depth;
static bool follows;		/* a value precedes in the same bracket */

static void quoted(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < 0x20)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void begin(const char *key)
{
	unsigned int i;

	if (follows)
		putchar(',');
	if (depth)
		putchar('\n');
	for (i = 0; i < depth; i++)
		putchar('\t');
	if (key) {
		quoted(key);
		printf(": ");
	}
	follows = true;
}

void json_open(const char *key, char bracket)
{
	begin(key);
	putchar(bracket);
	depth++;
	follows = false;
}

void json_close(char bracket)
{
	unsigned int i;

	depth--;
	if (follows) {
		putchar('\n');
		for (i = 0; i < depth; i++)
			putchar('\t');
	}
	putchar(bracket);
	follows = depth;
	if (!depth)
		putchar('\n');
}

void json_string(const char *key, const char *value)
{
	begin(key);
	quoted(value);
}

void json_number(const char *key, uint64_t value)
{
	begin(key);
	printf("%" PRIu64, value);
}

void json_real(const char *key, double value)
{
	begin(key);
	printf("%.6g", value);
}

void json_bool(const char *key, bool value)
{
	begin(key);
	printf(value ? "true" : "false");
}

void json_null(const char *key)
{
	begin(key);
	printf("null");
}

void json_text(const char *key, const char *value)
{
	size_t len = strlen(value);

	if (len && len <= EXACT_DIGITS && strspn(value, "0123456789") == len &&
	    (value[0] != '0' || len == 1))
		json_number(key, strtoull(value, NULL, 10));
	else
		json_string(key, value);
}
