// SPDX-License-Identifier: GPL-2.0
#include "sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *sysfs_root(void)
{
	const char *path = secure_getenv("KIWI_SYSFS_PATH");

	return path ? path : "/sys/class/kiwi";
}

static bool full_path(char out[PATH_MAX], const char *format, va_list args)
{
	int at = snprintf(out, PATH_MAX, "%s/", sysfs_root());

	if (at < 0 || at >= PATH_MAX)
		return false;
	return vsnprintf(out + at, (size_t)(PATH_MAX - at), format, args) < PATH_MAX - at;
}

static bool read_file(char value[SYSFS_VALUE], const char *path)
{
	FILE *f = fopen(path, "re");
	size_t len;
	int err;

	value[0] = 0;
	if (!f)
		return false;
	errno = 0;
	len = fread(value, 1, SYSFS_VALUE - 1, f);
	err = ferror(f) ? errno : 0;
	fclose(f);
	value[len] = 0;
	while (len && (value[len - 1] == '\n' || value[len - 1] == ' '))
		value[--len] = 0;
	errno = err;
	return !err;
}

bool sysfs_read(char value[SYSFS_VALUE], const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = full_path(path, format, args);
	va_end(args);
	value[0] = 0;
	return fits && read_file(value, path);
}

uint64_t sysfs_number(const char *format, ...)
{
	char path[PATH_MAX], value[SYSFS_VALUE];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = full_path(path, format, args);
	va_end(args);
	return fits && read_file(value, path) ? strtoull(value, NULL, 0) : 0;
}

bool sysfs_exists(const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	bool fits;

	va_start(args, format);
	fits = full_path(path, format, args);
	va_end(args);
	return fits && !access(path, F_OK);
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

bool sysfs_names(struct sysfs_list *list, const char *format, ...)
{
	char path[PATH_MAX];
	struct dirent *entry;
	va_list args;
	bool fits;
	DIR *dir;

	list->names = NULL;
	list->count = 0;
	va_start(args, format);
	fits = full_path(path, format, args);
	va_end(args);
	dir = fits ? opendir(path) : NULL;
	if (!dir)
		return false;
	while ((entry = readdir(dir))) {
		char **more, *name;

		if (entry->d_name[0] == '.')
			continue;
		name = strdup(entry->d_name);
		more = realloc(list->names, (list->count + 1) * sizeof(*more));
		if (more)
			list->names = more;
		if (!name || !more) {
			free(name);
			closedir(dir);
			sysfs_free(list);
			errno = ENOMEM;
			return false;
		}
		list->names[list->count++] = name;
	}
	closedir(dir);
	if (list->count)
		qsort(list->names, list->count, sizeof(*list->names), by_name);
	return true;
}

void sysfs_free(struct sysfs_list *list)
{
	while (list->count)
		free(list->names[--list->count]);
	free(list->names);
	list->names = NULL;
}

void sysfs_pci(char value[SYSFS_VALUE], const char *device)
{
	char path[PATH_MAX], target[PATH_MAX], *slash;
	ssize_t len;

	snprintf(value, SYSFS_VALUE, "?");
	if (snprintf(path, sizeof(path), "%s/%s/device", sysfs_root(), device) >= PATH_MAX)
		return;
	len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return;
	target[len] = 0;
	slash = strrchr(target, '/');
	snprintf(value, SYSFS_VALUE, "%.200s", slash ? slash + 1 : target);
}
