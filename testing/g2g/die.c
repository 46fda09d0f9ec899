// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "die.h"
#include "xpu.h"

#define WAIT_US	(60 * 1000000ULL)	/* the machine may stand still for a while */
#define NAP_US	2000
#define PAGE	4096

void fail(const char *format, ...)
{
	va_list ap;

	printf("WRONG: ");
	va_start(ap, format);
	vprintf(format, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	_exit(1);
}

uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

void wait_until(bool (*holds)(void *arg), void *arg, const char *what)
{
	uint64_t end = now_us() + WAIT_US;

	while (!holds(arg)) {
		if (now_us() > end)
			fail("no end of waiting: %s", what);
		usleep(NAP_US);
	}
}

/* Files --------------------------------------------------------------------- */

void die_open(struct die *die, unsigned int index)
{
	char path[32];

	*die = (struct die) { .index = index };
	snprintf(path, sizeof(path), "/dev/kiwi/g2g%u", index);
	die->fd = open(path, O_RDWR | O_CLOEXEC);
	if (die->fd < 0)
		fail("%s: %s", path, strerror(errno));
	die->xpu = xpu_open(index);
	MUST(die, QUERY_DEVICE, &die->info);
}

void die_close(struct die *die)
{
	close(die->fd);
	if (die->xpu >= 0)
		close(die->xpu);
}

/* All arguments begin with their size. */
int die_try(const struct die *die, unsigned long cmd, void *arg, size_t size)
{
	*(uint32_t *)arg = size;
	return ioctl(die->fd, cmd, arg) < 0 ? -errno : 0;
}

const char *die_error(const struct die *die)
{
	static struct kiwi_last_error last;

	last = (struct kiwi_last_error) { };
	return TRY(die, LAST_ERROR, &last) ? "no words for it" : last.text;
}

void die_must(const struct die *die, unsigned long cmd, void *arg, size_t size, const char *what)
{
	int ret = die_try(die, cmd, arg, size);

	if (ret)
		fail("g2g%u: %s: %s (%s)", die->index, what, strerror(-ret), die_error(die));
}

/* Events and the log ---------------------------------------------------------- */

bool die_event(const struct die *die, uint32_t type, uint32_t id, unsigned int ms,
	       struct kiwi_file_event *event)
{
	struct pollfd pollfd = { .fd = die->fd, .events = POLLIN };
	uint64_t end = now_us() + ms * 1000ULL;
	uint64_t now;

	while ((now = now_us()) < end) {
		if (poll(&pollfd, 1, (end - now) / 1000 + 1) <= 0)
			continue;
		if (read(die->fd, event, sizeof(*event)) != sizeof(*event))
			fail("g2g%u: no event can be read: %s", die->index, strerror(errno));
		if (event->type == type && event->id == id)
			return true;
	}
	return false;
}

unsigned int die_log(const struct die *die, uint64_t after, uint32_t window,
		     struct kiwi_g2g_log_record *records, unsigned int max)
{
	struct kiwi_g2g_log_read log = { .after = after };
	unsigned int found = 0, n;

	do {
		MUST(die, READ_LOG, &log);
		for (n = 0; n < log.count; n++) {
			const struct kiwi_g2g_log_record *r = &log.record[n];

			log.after = r->sequence;
			if (r->kind <= KIWI_G2G_LOG_ATOMIC && r->id == window && found < max)
				records[found++] = *r;
		}
	} while (log.count);
	return found;
}

uint64_t die_log_end(const struct die *die)
{
	struct kiwi_g2g_log_read log = { };

	do {
		MUST(die, READ_LOG, &log);
		if (log.count)
			log.after = log.record[log.count - 1].sequence;
	} while (log.count);
	return log.after;
}

long long die_counter(const struct die *die, const char *name)
{
	char path[80];
	long long value;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/class/kiwi/g2g%u/counters/%s", die->index, name);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%lld", &value) != 1)
		fail("%s cannot be read", path);
	fclose(file);
	return value;
}

/* Exports ----------------------------------------------------------------------- */

int export_try(struct export *e, const struct die *die, uint64_t length, uint32_t rights,
	       uint64_t grantees)
{
	struct kiwi_g2g_export_create create = { .rights = rights, .length = length };
	int ret;

	memcpy(create.grantees, &grantees, sizeof(grantees));
	*e = (struct export) { .die = die, .length = length };
	e->buf = xpu_alloc(die->xpu, (length + PAGE - 1) / PAGE * PAGE, 0, 0);
	if (e->buf < 0)
		fail("xpu%u: no buffer of %llu bytes: %s", die->index,
		     (unsigned long long)length, strerror(-e->buf));
	create.fd = e->buf;
	ret = TRY(die, EXPORT_CREATE, &create);
	if (ret) {
		close(e->buf);
		return ret;
	}
	e->id = create.export_id;
	memcpy(e->handle, create.handle, sizeof(e->handle));
	return 0;
}

void export_make(struct export *e, const struct die *die, uint64_t length, uint32_t rights,
		 uint64_t grantees)
{
	int ret = export_try(e, die, length, rights, grantees);

	if (ret)
		fail("g2g%u: EXPORT_CREATE: %s (%s)", die->index, strerror(-ret), die_error(die));
}

static bool export_gone(void *arg)
{
	const struct export *e = arg;
	struct kiwi_destroy destroy = { .id = e->id };
	int ret = TRY(e->die, DESTROY, &destroy);

	if (ret && ret != -EBUSY)
		fail("g2g%u: DESTROY of an export: %s (%s)", e->die->index, strerror(-ret),
		     die_error(e->die));
	return !ret;
}

/* An importer that let go of it a moment ago may not yet be known to have. */
void export_destroy(struct export *e)
{
	wait_until(export_gone, e, "an export is to be destroyed");
	close(e->buf);
}

/* Imports ------------------------------------------------------------------------ */

int import_try(struct import *i, const struct die *die, const struct export *e, uint32_t rights,
	       uint32_t *reason)
{
	struct kiwi_g2g_import_bind bind = { .accel = e->die->index, .rights = rights };
	struct kiwi_g2g_import_query query = { };
	struct kiwi_file_event event;
	int ret;

	memcpy(bind.handle, e->handle, sizeof(bind.handle));
	*i = (struct import) { .die = die };
	ret = TRY(die, IMPORT_BIND, &bind);
	if (ret)
		return ret;
	i->id = query.import_id = bind.import_id;
	if (!die_event(die, KIWI_G2G_EVENT_IMPORT, bind.import_id, WAIT_US / 1000, &event))
		fail("g2g%u: no answer to IMPORT_BIND", die->index);
	MUST(die, IMPORT_QUERY, &query);
	if (query.state != event.code || query.reason != event.info)
		fail("g2g%u: the import is %u %u, the event said %u %u", die->index, query.state,
		     query.reason, event.code, event.info);
	i->number = query.number;
	*reason = query.reason;
	return query.state;
}

void import_make(struct import *i, const struct die *die, const struct export *e, uint32_t rights)
{
	uint32_t reason;
	int state = import_try(i, die, e, rights, &reason);

	if (state < 0)
		fail("g2g%u: IMPORT_BIND: %s (%s)", die->index, strerror(-state), die_error(die));
	if (state != KIWI_G2G_WINDOW_BOUND)
		fail("g2g%u: import from %u: state %d, reason %u", die->index, e->die->index, state,
		     reason);
}

static volatile uint8_t *map(const struct import *i, uint64_t offset, size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, i->die->fd, offset);

	if (at == MAP_FAILED)
		fail("g2g%u: mmap: %s", i->die->index, strerror(errno));
	return at;
}

void import_map(struct import *i, uint64_t offset, uint64_t length, uint32_t flags)
{
	struct kiwi_g2g_import_map m = {
		.flags = flags,
		.import_id = i->id,
		.export_offset = offset,
		.length = length,
	};

	MUST(i->die, IMPORT_MAP, &m);
	i->size = m.map_size;
	i->at = map(i, m.map_offset, m.map_size);
	i->cells_size = m.atomic_size;
	if (m.atomic_offset)
		i->cells = map(i, m.atomic_offset, m.atomic_size);
}

void import_destroy(struct import *i)
{
	struct kiwi_destroy destroy = { .id = i->id };

	if (i->at)
		munmap((void *)i->at, i->size);
	if (i->cells)
		munmap((void *)i->cells, i->cells_size);
	MUST(i->die, DESTROY, &destroy);
}

uint64_t atomic_run(const struct import *i, unsigned int cell, enum kiwi_g2g_atomic op,
		    uint64_t offset, uint64_t operand, uint64_t compare, uint64_t *before)
{
	volatile uint8_t *at = i->cells + cell * KIWI_G2G_CELL_SIZE;

	*(volatile uint64_t *)(at + KIWI_G2G_CELL_OPERAND) = operand;
	*(volatile uint64_t *)(at + KIWI_G2G_CELL_COMPARE) = compare;
	*(volatile uint64_t *)(at + KIWI_G2G_CELL_GO) =
		(uint64_t)op << KIWI_G2G_CELL_OP_SHIFT | offset;
	*before = *(volatile uint64_t *)(at + KIWI_G2G_CELL_RESULT);
	return *(volatile uint64_t *)(at + KIWI_G2G_CELL_STATUS);
}
