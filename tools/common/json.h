/* SPDX-License-Identifier: GPL-2.0 */
/* JSON written as it comes: the caller opens and closes what belongs together. */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stdint.h>

/* @key: NULL inside an array, and for the outermost value. */
void json_open(const char *key, char bracket);		/* '{' or '[' */
void json_close(char bracket);				/* '}' or ']' */
void json_string(const char *key, const char *value);
void json_number(const char *key, uint64_t value);
void json_real(const char *key, double value);
void json_bool(const char *key, bool value);
void json_null(const char *key);

/* A number when @value is one in decimal that every reader holds exactly, else a string. */
void json_text(const char *key, const char *value);

#endif /* TOOLS_JSON_H */
