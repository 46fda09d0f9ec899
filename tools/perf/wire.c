// SPDX-License-Identifier: GPL-2.0
#include "wire.h"

#include "../common/say.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void no_delay(int fd)
{
	int one = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
}

/* Split @where into a host and a port, in a copy that the caller frees. */
static char *split(const char *where, const char **host, const char **port)
{
	char *copy = strdup(where), *colon, *end;

	*port = WIRE_PORT;
	if (!copy)
		return NULL;
	*host = copy;
	end = copy[0] == '[' ? strchr(copy, ']') : NULL;
	if (end) {
		*end = 0;
		*host = copy + 1;
		if (end[1] == ':')
			*port = end + 2;
		return copy;
	}
	colon = strchr(copy, ':');
	/* Two colons: an IPv6 address without a port. */
	if (colon && !strchr(colon + 1, ':')) {
		*colon = 0;
		*port = colon + 1;
	}
	return copy;
}

int wire_connect(const char *where)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *a;
	const char *host = NULL, *port;
	char *copy = split(where, &host, &port);
	int rc, fd = -1;

	if (!copy) {
		complain("no memory for '%s'", where);
		return -1;
	}
	rc = getaddrinfo(host, port, &hints, &list);
	if (rc) {
		complain("%s: %s", where, gai_strerror(rc));
		free(copy);
		return -1;
	}
	for (a = list; a; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, a->ai_protocol);
		if (fd < 0)
			continue;
		if (!connect(fd, a->ai_addr, a->ai_addrlen))
			break;
		rc = errno;
		close(fd);
		fd = -1;
		errno = rc;
	}
	if (fd < 0)
		complain("%s: %s", where, strerror(errno));
	else
		no_delay(fd);
	freeaddrinfo(list);
	free(copy);
	return fd;
}

/* A socket that listens in one family; of IPv6 it hears IPv4 as well. */
static int listen_in(int family, const char *port)
{
	struct addrinfo hints = {
		.ai_family = family, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE,
	}, *list;
	int fd, one = 1, err;

	if (getaddrinfo(NULL, port, &hints, &list)) {
		errno = EINVAL;
		return -1;
	}
	fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, list->ai_addr, list->ai_addrlen) || listen(fd, 1)) {
			err = errno;
			close(fd);
			errno = err;
			fd = -1;
		}
	}
	freeaddrinfo(list);
	return fd;
}

int wire_accept(const char *port)
{
	int listener = listen_in(AF_INET6, port), fd;

	if (listener < 0)
		listener = listen_in(AF_INET, port);
	if (listener < 0) {
		complain("cannot listen on port %s: %s", port, strerror(errno));
		return -1;
	}
	do
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	while (fd < 0 && errno == EINTR);
	if (fd < 0)
		complain("accept: %s", strerror(errno));
	else
		no_delay(fd);
	close(listener);
	return fd;
}

bool wire_send(int fd, const char *format, ...)
{
	char line[WIRE_LINE];
	size_t at = 0, len;
	va_list args;
	ssize_t sent;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line) - 1, format, args);
	va_end(args);
	if (n < 0 || n >= (int)sizeof(line) - 1) {
		complain("a control line of %d bytes, at most %zu", n, sizeof(line) - 2);
		return false;
	}
	len = (size_t)n;
	line[len++] = '\n';
	while (at < len) {
		sent = send(fd, line + at, len - at, MSG_NOSIGNAL);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0) {
			complain("control connection: %s", strerror(errno));
			return false;
		}
		at += (size_t)sent;
	}
	return true;
}

bool wire_receive(int fd, char line[WIRE_LINE])
{
	size_t len = 0;
	ssize_t got;

	line[0] = 0;
	for (;;) {
		got = recv(fd, line + len, 1, 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			complain("control connection: %s", strerror(errno));
		else if (!got && len)
			complain("the control connection ended within a line");
		if (got <= 0)
			break;
		if (line[len] == '\n') {
			line[len] = 0;
			return true;
		}
		if (++len == WIRE_LINE) {
			complain("a control line of more than %d bytes", WIRE_LINE - 1);
			break;
		}
	}
	line[0] = 0;
	return false;
}
