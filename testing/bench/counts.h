/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BENCH_COUNTS_H
#define BENCH_COUNTS_H

#define COUNTERS_MAX 128

struct counters {
	unsigned int n;
	struct {
		char name[64];
		unsigned long long value;
	} count[COUNTERS_MAX];
};

/* Counters of a device and of one of its ports, as sysfs shows them. */
struct counts {
	struct counters device;
	struct counters port;
};

/*
 * Reading the port's is a command to the device, which the device counts: so that it
 * does not show, begin and end with the device's own.
 */
void counts_begin(struct counts *c, const char *device, unsigned int port);
void counts_end(struct counts *c, const char *device, unsigned int port);

/* Prints "counts what counter per_message" for each counter that moved. */
void counts_report(const char *what, const struct counts *before, const struct counts *after,
		   unsigned long messages);

#endif /* BENCH_COUNTS_H */
