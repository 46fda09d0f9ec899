/* SPDX-License-Identifier: GPL-2.0 */
/* A G2G die and its accelerator. What fails ends the program, unless it is said otherwise. */
#ifndef G2G_DIE_H
#define G2G_DIE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kiwi/g2g.h>
#include <kiwi_abi/g2g.h>

#define ONES	UINT64_MAX
#define ALL	KIWI_G2G_RIGHTS

/**
 * struct die - a file of /dev/kiwi/g2gN, and of /dev/xpuN
 * @index: N, which is its accelerator id too
 * @fd: of the die
 * @xpu: of the accelerator, or negative: it has none
 * @info: of the die
 */
struct die {
	unsigned int index;
	int fd;
	int xpu;
	struct kiwi_g2g_query_device info;
};

void die_open(struct die *die, unsigned int index);
void die_close(struct die *die);

/* 0 or a negative errno; sets the size of the argument. */
int die_try(const struct die *die, unsigned long cmd, void *arg, size_t size);
void die_must(const struct die *die, unsigned long cmd, void *arg, size_t size, const char *what);
/* The text of the last ioctl that failed; valid until the next call. */
const char *die_error(const struct die *die);

#define TRY(die, name, arg)	die_try(die, KIWI_G2G_##name, arg, sizeof(*(arg)))
#define MUST(die, name, arg)	die_must(die, KIWI_G2G_##name, arg, sizeof(*(arg)), #name)

/* Says what is wrong, and ends the program. */
void fail(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Waits until a condition holds, for so long as nothing of a fabric takes. */
void wait_until(bool (*holds)(void *arg), void *arg, const char *what);

uint64_t now_us(void);

/* The next event of a type about an id; others are dropped. false: none came in time. */
bool die_event(const struct die *die, uint32_t type, uint32_t id, unsigned int ms,
	       struct kiwi_file_event *event);

/* The reports of the log about a window that came after a sequence number: their number. */
unsigned int die_log(const struct die *die, uint64_t after, uint32_t window,
		     struct kiwi_g2g_log_record *records, unsigned int max);
/* The sequence number of the latest report. */
uint64_t die_log_end(const struct die *die);
/* A counter of it in sysfs. */
long long die_counter(const struct die *die, const char *name);

/* Memory of an accelerator that peers may import. */
struct export {
	const struct die *die;
	int buf;
	uint64_t length;
	uint32_t id;
	uint8_t handle[16];
};

/* Without an exit: 0 or a negative errno. */
int export_try(struct export *e, const struct die *die, uint64_t length, uint32_t rights,
	       uint64_t grantees);
void export_make(struct export *e, const struct die *die, uint64_t length, uint32_t rights,
		 uint64_t grantees);
void export_destroy(struct export *e);

/**
 * struct import - an export of a peer
 * @at: where it is mapped, or NULL
 * @size: of that
 * @cells: its atomic page, or NULL
 * @number: of the window
 */
struct import {
	const struct die *die;
	uint32_t id;
	uint32_t number;
	volatile uint8_t *at;
	size_t size;
	volatile uint8_t *cells;
	size_t cells_size;
};

/* The state that binding ends in, and why; a negative errno if it does not begin. */
int import_try(struct import *i, const struct die *die, const struct export *e, uint32_t rights,
	       uint32_t *reason);
void import_make(struct import *i, const struct die *die, const struct export *e, uint32_t rights);
void import_map(struct import *i, uint64_t offset, uint64_t length, uint32_t flags);
void import_destroy(struct import *i);

/* An atomic by a cell: its status, and the value before. */
uint64_t atomic_run(const struct import *i, unsigned int cell, enum kiwi_g2g_atomic op,
		    uint64_t offset, uint64_t operand, uint64_t compare, uint64_t *before);

#endif /* G2G_DIE_H */
