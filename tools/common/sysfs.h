/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The attributes of a SNIC below /sys/class/kiwi. KIWI_SYSFS_PATH names another
 * folder in its place, for tests.
 */
#ifndef TOOLS_SYSFS_H
#define TOOLS_SYSFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYSFS_VALUE	256

struct sysfs_list {
	char **names;
	size_t count;
};

const char *sysfs_root(void);

/*
 * The value of an attribute, without its newline; @path is below the root:
 * "snic0/serial". False, with errno, when it cannot be read.
 */
bool sysfs_read(char value[SYSFS_VALUE], const char *path, ...)
	__attribute__((format(printf, 2, 3)));

/* The same for a number; 0 when it cannot be read or is none. */
uint64_t sysfs_number(const char *path, ...) __attribute__((format(printf, 1, 2)));

/* Names in a folder below the root, numbers in their order. False, with errno, if there is none. */
bool sysfs_names(struct sysfs_list *list, const char *path, ...)
	__attribute__((format(printf, 2, 3)));
void sysfs_free(struct sysfs_list *list);

bool sysfs_exists(const char *path, ...) __attribute__((format(printf, 1, 2)));

/* PCI address of a device; "?" when it has none. */
void sysfs_pci(char value[SYSFS_VALUE], const char *device);

#endif /* TOOLS_SYSFS_H */
