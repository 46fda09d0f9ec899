// SPDX-License-Identifier: GPL-2.0
/* What a G2G IO die tells: ports, peers, fabric, routes, images, log, events. */
#include "g2g.h"
#include "kiwictl.h"

#include "../common/gid.h"
#include "../common/json.h"
#include "../common/say.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void no_more(int argc, char **argv, int expected)
{
	if (argc > expected)
		die_usage("unexpected '%s'", argv[expected]);
}

/* Opens the device, behind which there is no other word. */
static struct kiwi_g2g *only_device(int argc, char **argv)
{
	no_more(argc, argv, 1);
	return g2g_open(argc, argv);
}

static const char *one_of(const char *const *words, unsigned int count, unsigned int value)
{
	return value < count && words[value] ? words[value] : "?";
}

static const char *const fecs[] = { "none", "rs544", "rs272" };
static const char *const flows[] = { "none", "pfc", "cbfc" };
static const char *const modes[] = { NULL, "direct", "switched" };

/* Ports ------------------------------------------------------------------------------- */

static void print_port(uint32_t port, const struct kiwi_g2g_port_query *p)
{
	bool neighbour = p->neighbour != KIWI_G2G_ACCEL_NONE;
	char mac[MAC_TEXT];

	mac_print(p->mac, mac);
	if (as_json) {
		json_open(NULL, '{');
		json_number("port", port);
		json_string("state", kiwi_g2g_port_state_text(p->state));
		json_string("reason", kiwi_g2g_reason_text(p->reason));
		json_bool("enabled", p->config & KIWI_G2G_PORT_ENABLED);
		json_bool("routable", p->config & KIWI_G2G_PORT_ROUTABLE);
		json_bool("llr", p->config & KIWI_G2G_PORT_LLR);
		json_string("mode", one_of(modes, 3, p->mode));
		json_number("station", p->station);
		json_number("lanes", p->lanes);
		json_string("fec", one_of(fecs, 3, p->fec));
		json_string("flow", one_of(flows, 3, p->flow));
		json_number("mtu", p->mtu);
		json_string("mac", mac);
		json_number("mbps", p->mbps);
		json_number("ups", p->ups);
		if (neighbour) {
			json_number("neighbour", p->neighbour);
			json_number("neighbour_port", p->neighbour_port);
		} else {
			json_null("neighbour");
		}
		json_close('}');
		return;
	}
	printf("%-5u %-9s %-15s %-9s %-6s 0x%02x  %-5u %-8u ", port,
	       kiwi_g2g_port_state_text(p->state), kiwi_g2g_reason_text(p->reason),
	       !(p->config & KIWI_G2G_PORT_ENABLED) ? "disabled" :
	       p->config & KIWI_G2G_PORT_ROUTABLE ? "routable" : "enabled",
	       one_of(flows, 3, p->flow), p->lanes, p->mtu, p->mbps);
	if (neighbour)
		printf("%u/%u\n", p->neighbour, p->neighbour_port);
	else
		printf("-\n");
}

int cmd_g2g_ports(int argc, char **argv)
{
	struct kiwi_g2g *g2g = only_device(argc, argv);
	struct kiwi_g2g_port_query p;
	uint32_t port;
	int rc = 0;

	if (as_json)
		json_open(NULL, '[');
	else
		printf("%-5s %-9s %-15s %-9s %-6s %-5s %-5s %-8s %s\n", "PORT", "STATE", "REASON",
		       "USE", "FLOW", "LANES", "MTU", "MBIT/S", "NEIGHBOUR");
	for (port = 0; port < kiwi_g2g_info(g2g)->ports && !rc; port++) {
		rc = kiwi_g2g_query_port(g2g, port, &p);
		if (!rc)
			print_port(port, &p);
	}
	if (as_json)
		json_close(']');
	return g2g_done(g2g, rc);
}

/* Peers ------------------------------------------------------------------------------- */

static void print_peer(unsigned int accel, const struct kiwi_g2g_peer_query *p)
{
	char serial[17];

	snprintf(serial, sizeof(serial), "%016" PRIx64, (uint64_t)p->serial);
	if (as_json) {
		json_open(NULL, '{');
		json_number("accel", accel);
		json_string("state", kiwi_g2g_peer_state_text(p->state));
		json_string("reason", kiwi_g2g_reason_text(p->reason));
		json_string("serial", serial);
		json_number("generation", p->generation);
		json_number("epoch", p->epoch);
		json_number("partition", p->partition);
		json_number("image_id", p->image_id);
		json_number("image_version", p->image_version);
		json_number("bindings", p->bindings);
		json_number("imports", p->imports);
		json_close('}');
		return;
	}
	printf("%-5u %-12s %-13s %-10u %s %-6u %-9u %-8u %u\n", accel,
	       kiwi_g2g_peer_state_text(p->state), kiwi_g2g_reason_text(p->reason), p->generation,
	       serial, p->epoch, p->partition, p->bindings, p->imports);
}

int cmd_g2g_peers(int argc, char **argv)
{
	struct kiwi_g2g *g2g = only_device(argc, argv);
	struct kiwi_g2g_fabric_query fabric;
	struct kiwi_g2g_peer_query p;
	unsigned int accel;
	int rc;

	if (as_json)
		json_open(NULL, '[');
	else
		printf("%-5s %-12s %-13s %-10s %-16s %-6s %-9s %-8s %s\n", "ACCEL", "STATE",
		       "REASON", "SESSIONS", "SERIAL", "EPOCH", "PARTITION", "BINDINGS", "IMPORTS");
	rc = kiwi_g2g_query_fabric(g2g, &fabric);
	for (accel = 0; accel < kiwi_g2g_info(g2g)->accels && !rc; accel++) {
		if (accel == fabric.accel)
			continue;
		rc = kiwi_g2g_query_peer(g2g, accel, &p);
		if (!rc && (p.state != KIWI_G2G_PEER_NONE || p.serial))
			print_peer(accel, &p);
	}
	if (as_json)
		json_close(']');
	return g2g_done(g2g, rc);
}

/* Fabric ------------------------------------------------------------------------------ */

static void pod_print(const uint8_t pod[16], char text[37])
{
	static const uint8_t groups[] = { 4, 2, 2, 2, 6 };
	unsigned int g, i;

	for (g = 0; g < 5; g++) {
		for (i = 0; i < groups[g]; i++)
			text += sprintf(text, "%02x", *pod++);
		if (g < 4)
			*text++ = '-';
	}
}

static void print_ports(const char *key, uint32_t mask)
{
	uint32_t port;

	if (as_json)
		json_open(key, '[');
	else
		printf("  %-14s", key);
	for (port = 0; port < 32; port++) {
		if (!(mask & 1U << port))
			continue;
		if (as_json)
			json_number(NULL, port);
		else
			printf(" %u", port);
	}
	if (as_json)
		json_close(']');
	else
		printf(mask ? "\n" : " none\n");
}

static void print_fabric(struct kiwi_g2g *g2g, const struct kiwi_g2g_fabric_query *f)
{
	const struct { const char *key; uint32_t value; } numbers[] = {
		{ "accel", f->accel }, { "partition", f->partition }, { "epoch", f->epoch },
		{ "image", f->slot }, { "routes", f->routes }, { "peers", f->peers },
	};
	char pod[37];
	unsigned int i;

	pod_print(f->pod, pod);
	if (as_json) {
		json_open(NULL, '{');
		json_string("name", kiwi_g2g_name(g2g));
		json_string("state", kiwi_g2g_fabric_state_text(f->state));
		json_string("reason", kiwi_g2g_reason_text(f->reason));
		json_bool("paused", f->paused);
		json_string("pod", pod);
		for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			json_number(numbers[i].key, numbers[i].value);
	} else {
		printf("%s: %s (%s)%s\n  %-14s %s\n", kiwi_g2g_name(g2g),
		       kiwi_g2g_fabric_state_text(f->state), kiwi_g2g_reason_text(f->reason),
		       f->paused ? ", paused" : "", "pod", pod);
		for (i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
			printf("  %-14s %u\n", numbers[i].key, numbers[i].value);
	}
	print_ports("ports_up", f->ports_up);
	print_ports("ports_routable", f->ports_routable);
	g2g_print_holders(g2g);
	if (as_json)
		json_close('}');
}

int cmd_g2g_fabric_show(int argc, char **argv)
{
	struct kiwi_g2g *g2g = only_device(argc, argv);
	struct kiwi_g2g_fabric_query fabric;
	int rc;

	rc = kiwi_g2g_query_fabric(g2g, &fabric);
	if (!rc)
		print_fabric(g2g, &fabric);
	return g2g_done(g2g, rc);
}

/* Routes ------------------------------------------------------------------------------ */

static uint32_t table_arg(int argc, char **argv)
{
	no_more(argc, argv, 2);
	if (argc < 2 || !strcmp(argv[1], "active"))
		return KIWI_G2G_TABLE_ACTIVE;
	if (!strcmp(argv[1], "staged"))
		return KIWI_G2G_TABLE_STAGED;
	if (!strcmp(argv[1], "previous"))
		return KIWI_G2G_TABLE_PREVIOUS;
	die_usage("no table '%s'", argv[1]);
}

static void print_way(uint32_t accel, const struct kiwi_g2g_route_way *way)
{
	char key[16];

	if (as_json) {
		json_open(NULL, '{');
		json_number("accel", accel);
		json_number("layer", way->layer);
		print_ports("ports", way->ports);
		json_close('}');
		return;
	}
	snprintf(key, sizeof(key), "%u layer %u by", accel, way->layer);
	print_ports(key, way->ports);
}

int cmd_g2g_routes(int argc, char **argv)
{
	uint32_t table = table_arg(argc, argv), first, i;
	struct kiwi_g2g *g2g = g2g_open(argc, argv);
	struct kiwi_g2g_routes_query q;
	int rc = 0;

	for (first = 0; first < kiwi_g2g_info(g2g)->accels; first += KIWI_G2G_ROUTES_READ) {
		rc = kiwi_g2g_query_routes(g2g, table, first, &q);
		if (rc)
			return g2g_done(g2g, rc);
		if (!first && as_json) {
			json_open(NULL, '{');
			json_number("generation", q.generation);
			json_open("routes", '[');
		} else if (!first) {
			printf("%s: routes of generation %u\n", kiwi_g2g_name(g2g), q.generation);
		}
		for (i = 0; i < KIWI_G2G_ROUTES_READ; i++)
			if (q.way[i].ports)
				print_way(first + i, &q.way[i]);
	}
	if (as_json) {
		json_close(']');
		json_close('}');
	}
	return g2g_done(g2g, rc);
}

/* Images ------------------------------------------------------------------------------ */

static void print_semantics(uint8_t semantics)
{
	static const struct { uint8_t bit; const char *name; } all[] = {
		{ KIWI_G2G_SEM_MEMORY, "memory" }, { KIWI_G2G_SEM_MESSAGE, "message" },
	};
	unsigned int i;

	if (as_json)
		json_open("semantics", '[');
	else
		printf("\n  %-14s", "semantics");
	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		if (!(semantics & all[i].bit))
			continue;
		if (as_json)
			json_string(NULL, all[i].name);
		else
			printf(" %s", all[i].name);
	}
	if (as_json)
		json_close(']');
}

static void print_verified(const struct kiwi_g2g_image_query *q, const char *hash)
{
	printf("\n  %-14s %.32s, id %u, version %u%s", "name", q->name, q->id, q->version,
	       q->image_flags & KIWI_G2G_IMAGE_PROVISIONAL ? ", provisional" : "");
	print_semantics(q->semantics);
	printf("\n  %-14s PDUs of %u bytes, %u accelerators, exports of 2^%u bytes", "limits",
	       q->mtu, 1U << q->id_bits, q->addr_bits);
	printf("\n  %-14s %s", "hash", hash);
}

static void print_image(uint32_t slot, const struct kiwi_g2g_image_query *q)
{
	char hash[65];
	unsigned int i;

	for (i = 0; i < 32; i++)
		sprintf(hash + 2 * i, "%02x", q->hash[i]);
	if (as_json) {
		json_open(NULL, '{');
		json_number("slot", slot);
		json_string("state", kiwi_g2g_slot_state_text(q->state));
		json_string("error", kiwi_g2g_image_error_text(q->error));
		json_bool("active", q->active);
		json_number("written", q->written);
		if (q->state == KIWI_G2G_SLOT_VERIFIED) {
			json_string("name", q->name);
			json_number("id", q->id);
			json_number("version", q->version);
			json_bool("provisional", q->image_flags & KIWI_G2G_IMAGE_PROVISIONAL);
			print_semantics(q->semantics);
			json_number("mtu", q->mtu);
			json_number("id_bits", q->id_bits);
			json_number("addr_bits", q->addr_bits);
			json_string("hash", hash);
		}
		json_close('}');
		return;
	}
	printf("slot %u: %s%s, %u bytes written", slot, kiwi_g2g_slot_state_text(q->state),
	       q->active ? ", active" : "", q->written);
	if (q->state == KIWI_G2G_SLOT_BAD)
		printf(", %s", kiwi_g2g_image_error_text(q->error));
	if (q->state == KIWI_G2G_SLOT_VERIFIED)
		print_verified(q, hash);
	putchar('\n');
}

int cmd_g2g_images(int argc, char **argv)
{
	struct kiwi_g2g *g2g = only_device(argc, argv);
	struct kiwi_g2g_image_query q;
	uint32_t slot;
	int rc = 0;

	if (as_json) {
		json_open(NULL, '{');
		json_string("name", kiwi_g2g_name(g2g));
		json_open("slots", '[');
	}
	for (slot = 0; slot < kiwi_g2g_info(g2g)->slots && !rc; slot++) {
		rc = kiwi_g2g_query_image(g2g, slot, &q);
		if (!rc)
			print_image(slot, &q);
	}
	if (as_json)
		json_close(']');
	g2g_print_holders(g2g);
	if (as_json)
		json_close('}');
	return g2g_done(g2g, rc);
}

/* Log and events ------------------------------------------------------------------------ */

static void print_record(const struct kiwi_g2g_log_record *r)
{
	if (as_json) {
		json_open(NULL, '{');
		json_number("sequence", r->sequence);
		json_number("time_us", r->time_us);
		json_string("kind", kiwi_g2g_log_text(r->kind));
		json_string("status", kiwi_g2g_status_text(r->status));
		json_number("id", r->id);
		json_number("addr", r->addr);
		json_number("len", r->len);
		json_number("count", r->count);
		if (r->accel == KIWI_G2G_ACCEL_NONE)
			json_null("accel");
		else
			json_number("accel", r->accel);
		json_close('}');
		return;
	}
	printf("%" PRIu64 " at %" PRIu64 " us: %u x %s %s, id %u, %u bytes at 0x%" PRIx64,
	       (uint64_t)r->sequence, (uint64_t)r->time_us, r->count, kiwi_g2g_log_text(r->kind),
	       kiwi_g2g_status_text(r->status), r->id, r->len, (uint64_t)r->addr);
	if (r->accel == KIWI_G2G_ACCEL_NONE)
		putchar('\n');
	else
		printf(", accelerator %u\n", r->accel);
}

int cmd_g2g_log(int argc, char **argv)
{
	struct kiwi_g2g *g2g = only_device(argc, argv);
	struct kiwi_g2g_log_read log;
	uint64_t after = 0;
	uint32_t i;
	int rc;

	if (as_json)
		json_open(NULL, '[');
	do {
		rc = kiwi_g2g_read_log(g2g, after, &log);
		for (i = 0; !rc && i < log.count && i < KIWI_G2G_LOG_RECORDS; i++) {
			print_record(&log.record[i]);
			after = log.record[i].sequence;
		}
	} while (!rc && log.count);
	if (as_json)
		json_close(']');
	if (!rc && log.lost)
		complain("%s: %" PRIu64 " events found no room in the log", kiwi_g2g_name(g2g),
			 (uint64_t)log.lost);
	return g2g_done(g2g, rc);
}

int cmd_g2g_events(int argc, char **argv)
{
	unsigned long long count = 0, seen = 0;
	struct kiwi_file_event event;
	int within = -1, rc, i;
	struct kiwi_g2g *g2g;
	const char *v;

	for (i = 1; i < argc; i++) {
		if (g2g_value("count", argc, argv, &i, &v))
			count = number_arg("count", v, 1, 1U << 30);
		else if (g2g_value("within", argc, argv, &i, &v))
			within = (int)number_arg("milliseconds", v, 0, 1U << 30);
		else
			die_usage("unexpected '%s'", argv[i]);
	}
	g2g = g2g_open(argc, argv);
	do {
		rc = kiwi_g2g_next_event(g2g, &event, within);
		if (rc > 0)
			g2g_print_event(&event);
	} while (rc > 0 && ++seen != count);
	if (!rc && count) {
		complain("%s: %llu events in %d ms, not %llu", kiwi_g2g_name(g2g), seen, within,
			 count);
		kiwi_g2g_close(g2g);
		return EXIT_FAILED;
	}
	return g2g_done(g2g, rc);
}
