// SPDX-License-Identifier: GPL-2.0
#include "report.h"

#include "../common/json.h"

#include <inttypes.h>
#include <stdio.h>

static const char *peer_name(const struct options *o)
{
	return o->connect ? o->connect : o->peer.device;
}

double report_us(const struct options *o, const struct result *r)
{
	return o->latency ? r->us_median : r->seconds * 1e6 / (double)r->iterations;
}

static double mb_per_second(const struct result *r)
{
	return r->seconds > 0 ? (double)(r->size * r->iterations) / r->seconds / 1e6 : 0;
}

static struct counts sum(const struct result *r)
{
	return r->same_device ? r->mine : counts_plus(r->mine, r->peers);
}

/* JSON -------------------------------------------------------------------- */

static void json_end(const char *key, const char *device, const char *mem, const char *path)
{
	json_open(key, '{');
	json_string("device", device);
	if (mem)
		json_string("mem", mem);
	json_string("path", path);
	json_close('}');
}

static void json_counts(const char *key, struct counts c)
{
	json_open(key, '{');
	json_number("frames", c.frames);
	json_number("retransmitted", c.retransmitted);
	json_number("dma_peer_bytes", c.dma_peer);
	json_number("dma_system_bytes", c.dma_system);
	json_number("doorbells", c.doorbells);
	json_close('}');
}

static void json_begin(const struct options *o, const char *device, const char *about,
		       const char *peer_about)
{
	json_open(NULL, '{');
	json_string("op", op_names[o->work.op]);
	json_string("test", o->latency ? "lat" : "bw");
	json_bool("events", o->work.events);
	json_number("depth", o->work.depth);
	json_number("post_list", o->post_list);
	json_end("local", device, o->local.mem, about);
	json_end("peer", peer_name(o), o->connect ? NULL : o->peer.mem, peer_about);
	json_open("results", '[');
}

void report_json_work(const struct options *o, uint64_t size, uint64_t iterations, uint64_t bad)
{
	json_number("bytes", size);
	json_number("iterations", iterations);
	if (o->work.verify)
		json_bool("verified", !bad);
	else
		json_null("verified");
}

static void json_result(const struct options *o, const struct result *r)
{
	struct counts c = sum(r);

	json_open(NULL, '{');
	report_json_work(o, r->size, r->iterations, r->bad);
	json_real("mb_per_s", mb_per_second(r));
	json_real("us", report_us(o, r));
	if (o->latency) {
		json_real("us_min", r->us_min);
		json_real("us_p99", r->us_p99);
		json_real("us_max", r->us_max);
	}
	json_number("frames", c.frames);
	json_number("dma_peer_bytes", c.dma_peer);
	json_number("dma_system_bytes", c.dma_system);
	json_counts("local", r->mine);
	json_counts("peer", r->peers);
	json_close('}');
}

/* Text -------------------------------------------------------------------- */

static void text_begin(const struct options *o, const char *device, const char *about,
		       const char *peer_about)
{
	printf("%s, %s\n", op_names[o->work.op], o->latency ? "latency" : "bandwidth");
	printf("  local  %s %s: %s\n", device, o->local.mem, about);
	printf("  peer   %s %s: %s\n", peer_name(o), o->connect ? "" : o->peer.mem, peer_about);
	printf("%10s %10s %8s %10s %10s", "bytes", "iterations", "verified", "MB/s", "us");
	if (o->latency)
		printf(" %10s %10s %10s", "min", "p99", "max");
	printf(" %10s %14s %14s\n", "frames", "DMA to peers", "DMA to system");
}

static void text_result(const struct options *o, const struct result *r)
{
	struct counts c = sum(r);

	printf("%10" PRIu64 " %10" PRIu64 " %8s %10.2f %10.2f", r->size, r->iterations,
	       !o->work.verify ? "-" : r->bad ? "NO" : "yes", mb_per_second(r),
	       report_us(o, r));
	if (o->latency)
		printf(" %10.2f %10.2f %10.2f", r->us_min, r->us_p99, r->us_max);
	printf(" %10" PRIu64 " %14" PRIu64 " %14" PRIu64 "\n", c.frames, c.dma_peer, c.dma_system);
	fflush(stdout);
}

void report_begin(const struct options *o, const char *device, const char *about,
		  const char *peer_about)
{
	(o->json ? json_begin : text_begin)(o, device, about, peer_about);
}

void report_result(const struct options *o, const struct result *r)
{
	(o->json ? json_result : text_result)(o, r);
}

void report_end(const struct options *o, bool complete)
{
	if (!o->json)
		return;
	json_close(']');
	json_bool("complete", complete);
	json_close('}');
}
