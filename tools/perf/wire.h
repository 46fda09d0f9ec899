/* SPDX-License-Identifier: GPL-2.0 */
/* The control connection: lines of text over TCP. */
#ifndef WIRE_H
#define WIRE_H

#include <stdbool.h>
#include <stddef.h>

#define WIRE_PORT	"18516"
#define WIRE_LINE	512

/*
 * These tell what went wrong before they return -1 or false.
 * @where: HOST, HOST:PORT or [HOST]:PORT
 */
int wire_connect(const char *where);
int wire_accept(const char *port);

bool wire_send(int fd, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line without its end. False also when the other side has closed: then @line is "". */
bool wire_receive(int fd, char line[WIRE_LINE]);

#endif /* WIRE_H */
