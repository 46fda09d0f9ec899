// SPDX-License-Identifier: GPL-2.0
/*
 * Runs commands for the test harness over the second serial port.
 *
 * A request is a line "MARK SCRIPT INPUT", with the lengths in bytes of what follows it: a script
 * for sh, and what that reads. The reply is what the script prints, an empty line, and a line
 * "MARK STATUS". A program of its own, as each process that a shell would need costs an emulated
 * host tens of milliseconds.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#define PORT		"/dev/ttyS1"
#define LENGTH_MAX	(1 << 20)

static char *read_part(FILE *port, size_t length)
{
	char *part;

	if (length > LENGTH_MAX)
		errx(1, "a part of %zu bytes; at most %d", length, LENGTH_MAX);
	part = malloc(length + 1);
	if (!part || fread(part, 1, length, port) != length)
		errx(1, "no part of %zu bytes", length);
	part[length] = 0;
	return part;
}

static int input_file(const char *input, size_t length)
{
	int fd = length ? memfd_create("input", 0) : open("/dev/null", O_RDONLY);

	if (fd < 0 || (length && pwrite(fd, input, length, 0) != (ssize_t)length))
		err(1, "input of %zu bytes", length);
	return fd;
}

static int run(const char *script, const char *input, size_t length)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		setsid();
		dup2(input_file(input, length), STDIN_FILENO);
		execl("/bin/sh", "sh", "-c", script, NULL);
		err(127, "sh");
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		err(1, "sh");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(void)
{
	size_t script_length, input_length;
	struct termios modes;
	char mark[33];
	FILE *port;
	int fd;

	fd = open(PORT, O_RDWR | O_NOCTTY);
	if (fd < 0 || tcgetattr(fd, &modes))
		err(1, PORT);
	cfmakeraw(&modes);
	if (tcsetattr(fd, TCSANOW, &modes) || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		err(1, PORT);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	port = fdopen(fd, "r");
	if (!port)
		err(1, PORT);
	setenv("PATH", "/bin:/usr/bin", 1);
	setenv("HOME", "/root", 1);
	dprintf(STDOUT_FILENO, "agent-ready\n");
	while (fscanf(port, "%32s %zu %zu", mark, &script_length, &input_length) == 3 &&
	       fgetc(port) == '\n') {
		char *script = read_part(port, script_length);
		char *input = read_part(port, input_length);

		dprintf(STDOUT_FILENO, "\n%s %d\n", mark, run(script, input, input_length));
		free(script);
		free(input);
	}
	return 1;
}
