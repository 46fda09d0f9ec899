/* SPDX-License-Identifier: GPL-2.0 */
#ifndef REPORT_H
#define REPORT_H

#include "load.h"

void report_begin(const struct options *o, const char *device, const char *about,
		  const char *peer_about);
void report_result(const struct options *o, const struct result *r);
/* What was done, as the first members of a result in JSON. */
void report_json_work(const struct options *o, uint64_t size, uint64_t iterations, uint64_t bad);
/* The time of a message. */
double report_us(const struct options *o, const struct result *r);
void report_end(const struct options *o, bool complete);

#endif /* REPORT_H */
