// SPDX-License-Identifier: GPL-2.0
/*
 * Guest instructions of the operations that a user of the SNIC pays for, and of
 * the same on soft-RoCE. Needs one CPU and -icount; see run.py. Prints lines of
 * "who what count".
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bench.h"

static uint32_t overhead;

void die(const char *format, ...)
{
	va_list ap;

	fputs("bench: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

void need(int ok, const char *what)
{
	if (!ok)
		die("%s: %s", what, strerror(errno));
}

void report(const char *who, const char *what, uint32_t least)
{
	printf("%s %s %u\n", who, what, least - overhead);
	fflush(stdout);
}

void *pages(unsigned long count, enum pages_kind kind)
{
	unsigned long len = count * sysconf(_SC_PAGESIZE);
	void *p;

	p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(p != MAP_FAILED, "mmap");
	if (kind == PAGES_SMALL)
		madvise(p, len, MADV_NOHUGEPAGE);
	memset(p, 0x5a, len);
	return p;
}

int main(int argc, char **argv)
{
	if (argc != 5)
		die("usage: bench SNIC PEER_SNIC RDMA_DEVICE GID_INDEX");

	overhead = LEAST(, (void)0, (void)0);
	printf("host tsc_read %u\n", overhead);
	report("host", "getppid", LEAST(, syscall(SYS_getppid), (void)0));
	bench_snic(argv[1], argv[2]);
	bench_rxe(argv[3], strtoul(argv[4], NULL, 0));
	return 0;
}
