// SPDX-License-Identifier: GPL-2.0
/*
 * Repeats each operation with its first allocation or copy failing, then with its
 * second, and so on, until it makes no more. After each step the operation has to
 * work again, and when its file is closed device and host hold what they held before.
 * The kernel needs fault injection; testing/scenarios/failnth.py sets it up.
 *
 *	fail-nth PART [-s STRIDE] [OPERATION...]	prints a line for each, and a sum
 *	fail-nth PART -r [OPERATION...]			has the device refuse commands in their place
 *
 * PART: snic or g2g, the first device of which is under test. STRIDE: of the very many steps of
 * "bind" only one in so many is taken; 1 by default, that is, all.
 *
 * With -r it is the other end of stdin and stdout that makes the device refuse the Nth command
 * after "ready N", and with a line lets the operation begin. It ends that after "done", and
 * says "met", or something else if there were no N commands.
 */
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host.h"
#include "snic-test.h"
#include "sweep.h"

#define STEPS_MAX	20000
#define SECONDS		3000		/* of one operation, all its steps */

static int fail_nth_fd;

static void fail_nth_set(unsigned int n)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", n);

	/* An operation that made too few may leave the fault to the write that ends it. */
	if (pwrite(fail_nth_fd, text, length, 0) != length)
		CHECK(pwrite(fail_nth_fd, text, length, 0) == length);
}

/* Whether the fault was met. Reading may meet it itself: then nothing before did. */
static bool fail_nth_fired(void)
{
	char text[16] = "";
	bool fired = pread(fail_nth_fd, text, sizeof(text) - 1, 0) > 0 && !atoi(text);

	fail_nth_set(0);
	return fired;
}

static bool refusing;

static bool answer_is(const char *word)
{
	char line[16];

	CHECK(fgets(line, sizeof(line), stdin));
	line[strcspn(line, "\n")] = 0;
	return !strcmp(line, word);
}

static void failing_begin(unsigned int n)
{
	if (!refusing) {
		host_keep_debugging();
		fail_nth_set(n);
		return;
	}
	printf("ready %u\n", n);
	CHECK(answer_is("go"));
}

/* Whether the fault was met. */
static bool failing_end(void)
{
	if (!refusing)
		return fail_nth_fired();
	printf("done\n");
	return answer_is("met");
}

/*
 * What a failing allocation or copy may turn into: EREMOTEIO where it was the exporter's, and in
 * probe what PCI core says when it has no memory to note a BAR or an interrupt.
 */
static bool excused(const struct operation *op, int ret)
{
	if (refusing)
		return ret == -EREMOTEIO;
	return ret == -ENOMEM || ret == -EFAULT || ret == -EREMOTEIO ||
	       (op->run == sweep_bind && (ret == -EBUSY || ret == -ENODEV || ret == -ENOSPC));
}

static const struct part *part;
static char address[32];

/* An attribute of the device under test. */
static void attribute(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/sys/class/kiwi/%s0/%s", part->name, name);
}

static int driver(const char *what)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/kiwi_%s/%s", part->name, what);
	return write_file(path, address);
}

int sweep_unbind(struct world *w)
{
	(void)w;
	return driver("unbind");
}

int sweep_bind(struct world *w)
{
	(void)w;
	return driver("bind");
}

static bool bound(void)
{
	char path[96];

	attribute(path, sizeof(path), "serial");
	return !access(path, F_OK);
}

static long live_objects(const char *kind)
{
	char name[32], path[96];

	snprintf(name, sizeof(name), "diag/live_%s", kind);
	attribute(path, sizeof(path), name);
	return host_number(path);
}

static void nothing_left(const char *name, unsigned int n, const struct host_held *before)
{
	const char *const *kind;

	/* What the device did not destroy, the next file that is closed destroys. */
	if (refusing)
		part->open_and_close();
	for (kind = part->kinds; *kind; kind++) {
		long held = live_objects(*kind);

		if (!held)
			continue;
		printf("  %s, step %u: the device still holds %ld of %s\n", name, n, held, *kind);
		CHECK(false);
	}
	if (!host_held_again(before)) {
		printf("  %s, step %u: the host has given more than before\n", name, n);
		CHECK(false);
	}
}

/* Return: whether a fault was met in step @n. In step 0 there is none. */
static bool step(const struct operation *op, unsigned int n, unsigned int *errors,
		 const struct host_held *before)
{
	struct world *w = part->make(op->needs);
	bool fired = false;
	int ret;

	if (op->run == sweep_bind)
		EQUAL(sweep_unbind(w), 0);
	if (n)
		failing_begin(n);
	ret = op->run(w);
	if (n)
		fired = failing_end();

	if (ret && !(fired && excused(op, ret))) {
		printf("  %s, step %u: %d (%s)\n", op->name, n, ret, strerror(-ret));
		CHECK(false);
	}
	*errors += !!ret;
	/* Binding reports no error of probe; what is not bound is bound now. */
	if (op->run == sweep_bind || op->run == sweep_unbind) {
		if (!bound())
			EQUAL(sweep_bind(w), 0);
		CHECK(bound());
	} else if (ret || !(op->needs & ONCE)) {
		EQUAL(op->run(w), 0);
	}
	part->end(w);
	if (n)
		nothing_left(op->name, n, before);
	return fired;
}

/* The driver keeps the buffer that its first long command needed, until the device is unbound. */
static struct host_held held_before(void)
{
	part->end(part->make(part->usual));
	return host_held();
}

static const struct part *const parts[] = { &snic_part, &g2g_part };

static void choose_part(const char *name)
{
	char path[96], *real;
	size_t i;

	for (i = 0; i < sizeof(parts) / sizeof(parts[0]) && !part; i++) {
		if (!strcmp(parts[i]->name, name))
			part = parts[i];
	}
	CHECK(part);
	attribute(path, sizeof(path), "device");
	real = realpath(path, NULL);
	CHECK(real);
	snprintf(address, sizeof(address), "%s", basename(real));
	free(real);
}

int main(int argc, char **argv)
{
	unsigned int total = 0, stride = 1;
	char path[64];
	size_t i;

	CHECK(argc > 1);
	choose_part(argv[1]);
	argc--;
	argv++;
	if (argc > 1 && !strcmp(argv[1], "-r")) {
		refusing = true;
		argc--;
		argv++;
	} else if (argc > 2 && !strcmp(argv[1], "-s")) {
		stride = atoi(argv[2]);
		CHECK(stride);
		argc -= 2;
		argv += 2;
	}

	setvbuf(stdout, NULL, _IOLBF, 0);
	snprintf(path, sizeof(path), "/proc/self/task/%ld/fail-nth", (long)syscall(SYS_gettid));
	fail_nth_fd = open(path, O_RDWR);
	CHECK(fail_nth_fd >= 0);
	for (i = 0; i < part->nr_operations; i++) {
		const struct operation *op = &part->operations[i];
		unsigned int n = 1, errors = 0, steps = 0;
		struct host_held before;

		if (!test_wanted(op->name, argc - 1, argv + 1))
			continue;
		alarm(SECONDS);
		step(op, 0, &errors, NULL);
		before = held_before();
		while (step(op, n, &errors, &before)) {
			n += op->run == sweep_bind ? stride : 1;
			steps++;
			CHECK(n < STEPS_MAX);
		}
		printf("%-18s faults %5u  errors %5u  of %u\n", op->name, steps, errors, n - 1);
		total += steps;
	}
	printf("%u faults injected\n", total);
	return 0;
}
