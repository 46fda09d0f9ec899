// SPDX-License-Identifier: GPL-2.0
/* kiwi-perf: moves bytes between two devices, and tells how fast, how, and whether rightly. */
#include "cross.h"
#include "report.h"
#include "stall.h"
#include "way.h"
#include "wire.h"

#include "../common/say.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *const op_names[OP_COUNT] = {
	[OP_WRITE] = "write",
	[OP_READ] = "read",
	[OP_SEND] = "send",
	[OP_FETCH_ADD] = "atomic",
	[OP_CMP_SWAP] = "cas",
};

#define SWEEP_MIN	8
#define SWEEP_MAX	(64ULL << 20)
#define DEFAULT_SIZE	(64ULL << 10)
#define DEFAULT_ITERATIONS 1000
#define DEFAULT_BYTES	(256ULL << 20)	/* moved at most, when no count is given */
#define CROSS_MAX	(1ULL << 20)	/* the same, and the largest size, to compare semantics */
#define STALL_SECONDS	30
#define DEPTH_MAX	(1U << 14)
#define SLOT_ALIGN	64

struct layout layout_for(const struct work *work, uint64_t size, uint64_t iterations)
{
	struct layout l = { .size = size };
	uint64_t slots, most = iterations < work->depth ? iterations : work->depth;

	/* Room for bytes that must stay as they are. */
	l.stride = (size + 2 * SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
	slots = REGION_BYTES / l.stride;
	l.slots = (uint32_t)(slots > most ? most : slots ? slots : 1);
	return l;
}

uint64_t iterations_for(const struct options *o, uint64_t size)
{
	uint64_t n = (o->semantics == SEMANTICS_BOTH ? CROSS_MAX : DEFAULT_BYTES) / size;

	if (o->iterations)
		return o->iterations;
	return n > DEFAULT_ITERATIONS ? DEFAULT_ITERATIONS : n ? n : 1;
}

uint64_t next_size(const struct options *o, uint64_t size)
{
	if (size >= o->max_size)
		return 0;
	return size * 2 < o->max_size ? size * 2 : o->max_size;
}

static uint64_t region_bytes(const struct options *o)
{
	uint64_t size, bytes = 0;

	for (size = o->min_size; size; size = next_size(o, size)) {
		struct layout l = layout_for(&o->work, size, iterations_for(o, size));

		if (l.slots * l.stride > bytes)
			bytes = l.slots * l.stride;
	}
	return bytes;
}

/* Options ----------------------------------------------------------------- */

enum {
	OPT_MIN = 256, OPT_MAX, OPT_PEER_MEM, OPT_PEER_PORT, OPT_PEER_GID,
	OPT_SIGNAL, OPT_INLINE, OPT_ACK, OPT_STALL, OPT_JSON, OPT_SEMANTICS,
};

static const struct option longs[] = {
	{ "device", required_argument, NULL, 'd' },
	{ "peer", required_argument, NULL, 'P' },
	{ "listen", optional_argument, NULL, 'l' },
	{ "connect", required_argument, NULL, 'c' },
	{ "port", required_argument, NULL, 'i' },
	{ "gid", required_argument, NULL, 'g' },
	{ "mem", required_argument, NULL, 'm' },
	{ "peer-port", required_argument, NULL, OPT_PEER_PORT },
	{ "peer-gid", required_argument, NULL, OPT_PEER_GID },
	{ "peer-mem", required_argument, NULL, OPT_PEER_MEM },
	{ "semantics", required_argument, NULL, OPT_SEMANTICS },
	{ "size", required_argument, NULL, 's' },
	{ "all", no_argument, NULL, 'a' },
	{ "min", required_argument, NULL, OPT_MIN },
	{ "max", required_argument, NULL, OPT_MAX },
	{ "iters", required_argument, NULL, 'n' },
	{ "depth", required_argument, NULL, 'q' },
	{ "post-list", required_argument, NULL, 'p' },
	{ "signal-every", required_argument, NULL, OPT_SIGNAL },
	{ "inline", no_argument, NULL, OPT_INLINE },
	{ "test", required_argument, NULL, 't' },
	{ "verify", no_argument, NULL, 'v' },
	{ "events", no_argument, NULL, 'e' },
	{ "mtu", required_argument, NULL, 'M' },
	{ "ack-timeout", required_argument, NULL, OPT_ACK },
	{ "stall", required_argument, NULL, OPT_STALL },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void usage(void)
{
	printf("Usage: kiwi-perf write|read|send|atomic|cas [OPTION...]\n"
	       "       kiwi-perf --listen[=PORT] [OPTION...]\n\n"
	       "Both ends in this process, or the passive one behind --connect:\n"
	       "  -d, --device DEV        SNIC or G2G IO die of this end (snic0)\n"
	       "  -P, --peer DEV          the other end (snic1)\n"
	       "  -l, --listen[=PORT]     serve one client, on TCP port PORT (" WIRE_PORT ")\n"
	       "  -c, --connect HOST[:PORT]  the other end listens there\n"
	       "  -i, --port N            port of the SNIC (1); --peer-port\n"
	       "  -g, --gid INDEX         GID of the port (0); --peer-gid\n"
	       "  -m, --mem MEMORY        memory of this end (host); --peer-mem (the same)\n\n"
	       "Work:\n"
	       "      --semantics S       of dies: memory, message, or both and compare (memory)\n"
	       "  -s, --size BYTES        one size (64K)\n"
	       "  -a, --all               sizes 8 to 64M, each twice the one before; --min, --max\n"
	       "  -n, --iters N           messages of each size (1000, fewer when large)\n"
	       "  -t, --test bw|lat       many in flight, or one after the other (bw)\n"
	       "  -q, --depth N           in flight (64)\n"
	       "  -p, --post-list N       posted with one doorbell (1)\n"
	       "      --signal-every N    completion of each Nth (1)\n"
	       "      --inline            data in the work request where it fits: write, send\n"
	       "  -e, --events            sleep for completions\n"
	       "  -v, --verify            check every byte of every message\n"
	       "  -M, --mtu BYTES         path MTU, at most the ports' (theirs)\n"
	       "      --ack-timeout N     4.096 us * 2^N (18)\n"
	       "      --stall SECONDS     give up when nothing completes for so long (30)\n"
	       "      --json              output for programs\n\n"
	       "MEMORY:\n");
	mem_help();
	printf("\nNumbers take K, M or G behind them.\n");
}

static enum op op_arg(const char *name)
{
	unsigned int op;

	for (op = 0; op < OP_COUNT; op++)
		if (!strcmp(name, op_names[op]))
			return (enum op)op;
	if (!strcmp(name, "fetch_add"))
		return OP_FETCH_ADD;
	if (!strcmp(name, "cmp_swap"))
		return OP_CMP_SWAP;
	die_usage("no operation '%s': write, read, send, atomic or cas", name);
}

static enum semantics semantics_arg(void)
{
	static const char *const names[SEMANTICS_COUNT] = { "memory", "message", "both" };
	unsigned int s;

	for (s = 0; s < SEMANTICS_COUNT; s++)
		if (!strcmp(optarg, names[s]))
			return (enum semantics)s;
	die_usage("semantics '%s' are none of memory, message and both", optarg);
}

/* Of either end. */
static void set_port(struct end_options *end)
{
	end->port = (unsigned int)number_arg("port", optarg, 1, 255);
}

static void set_gid(struct end_options *end)
{
	end->gid = (unsigned int)number_arg("GID index", optarg, 0, 255);
}

static uint64_t size_arg(void)
{
	return number_arg("size", optarg, 1, 1ULL << 31);
}

/* Of what there cannot be more than fits the queues. */
static uint32_t count_arg(const char *what)
{
	return (uint32_t)number_arg(what, optarg, 1, DEPTH_MAX);
}

static void parse_option(struct options *o, int c)
{
	switch (c) {
	case 'd':
		o->local.device = optarg;
		break;
	case 'P':
		o->peer.device = optarg;
		break;
	case 'l':
		o->listen = optarg ? optarg : WIRE_PORT;
		break;
	case 'c':
		o->connect = optarg;
		break;
	case 'i':
		set_port(&o->local);
		break;
	case 'g':
		set_gid(&o->local);
		break;
	case 'm':
		o->local.mem = optarg;
		break;
	case OPT_PEER_PORT:
		set_port(&o->peer);
		break;
	case OPT_PEER_GID:
		set_gid(&o->peer);
		break;
	case OPT_PEER_MEM:
		o->peer.mem = optarg;
		break;
	case 's':
		o->min_size = size_arg();
		o->max_size = o->min_size;
		break;
	case 'a':
		o->min_size = SWEEP_MIN;
		o->max_size = SWEEP_MAX;
		break;
	case OPT_SEMANTICS:
		o->semantics = semantics_arg();
		break;
	case OPT_MIN:
		o->min_size = size_arg();
		break;
	case OPT_MAX:
		o->max_size = size_arg();
		break;
	case 'n':
		o->iterations = number_arg("count", optarg, 1, 1ULL << 40);
		break;
	case 'q':
		o->work.depth = count_arg("depth");
		break;
	case 'p':
		o->post_list = count_arg("list");
		break;
	case OPT_SIGNAL:
		o->signal_every = count_arg("interval");
		break;
	case OPT_INLINE:
		o->use_inline = true;
		break;
	case 't':
		if (strcmp(optarg, "bw") && strcmp(optarg, "lat"))
			die_usage("test '%s' is neither bw nor lat", optarg);
		o->latency = !strcmp(optarg, "lat");
		break;
	case 'v':
		o->work.verify = true;
		break;
	case 'e':
		o->work.events = true;
		break;
	case 'M':
		o->work.mtu = (uint32_t)number_arg("MTU", optarg, 256, 4096);
		if (!kiwi_mtu_code(o->work.mtu))
			die_usage("MTU %u is none of 256, 512, 1024, 2048, 4096", o->work.mtu);
		break;
	case OPT_ACK:
		o->work.ack_timeout = (uint8_t)number_arg("ACK timeout", optarg, 0, 31);
		break;
	case OPT_STALL:
		o->stall_seconds = (unsigned int)number_arg("time", optarg, 1, 86400);
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case 'h':
		usage();
		exit(0);
	default:
		die_usage("what is meant?");
	}
}

/* What is asked for and is about queues; NULL: nothing. */
static const char *about_queues(const struct options *o)
{
	return o->work.op == OP_SEND ? "send" : o->connect ? "--connect" :
	       o->work.events ? "--events" : o->work.mtu ? "--mtu" :
	       o->use_inline ? "--inline" : o->post_list != 1 ? "--post-list" :
	       o->signal_every != 1 ? "--signal-every" : NULL;
}

/* Sets what the user did not. */
static void check_semantics(struct options *o)
{
	bool g2g = g2g_named(o->local.device);

	if (!g2g && o->semantics != SEMANTICS_UNSET)
		die_usage("--semantics goes with dies, not with %s", o->local.device);
	if (!o->connect && g2g_named(o->peer.device) != g2g)
		die_usage("%s and %s do not go together", o->local.device, o->peer.device);
	if (g2g && o->semantics == SEMANTICS_UNSET)
		o->semantics = o->work.op == OP_SEND ? SEMANTICS_MESSAGE : SEMANTICS_MEMORY;
	if (!g2g)
		o->semantics = SEMANTICS_MESSAGE;
	if (g2g && (o->local.port != 1 || o->local.gid || o->peer.port != 1 || o->peer.gid))
		die_usage("ports and GIDs are of SNICs, not of %s", o->local.device);
	if (o->semantics == SEMANTICS_MESSAGE)
		return;
	if (about_queues(o))
		die_usage("%s goes with messages, not with loads and stores", about_queues(o));
	if (strcmp(o->local.mem, "host"))
		die_usage("the near end is the processor: --peer-mem is the memory of the other");
	if (!o->peer.mem)
		o->peer.mem = "udmabuf";
	if (o->semantics == SEMANTICS_BOTH && o->work.op != OP_WRITE && o->work.op != OP_READ)
		die_usage("both semantics are compared by write and read");
}

static void check_options(struct options *o)
{
	check_semantics(o);
	if (!o->peer.mem)
		o->peer.mem = o->local.mem;
	if (o->semantics == SEMANTICS_BOTH && !o->min_size && !o->max_size)
		o->max_size = CROSS_MAX;
	if (!o->min_size)
		o->min_size = o->max_size ? SWEEP_MIN : DEFAULT_SIZE;
	if (!o->max_size)
		o->max_size = o->min_size;
	if (is_atomic(o->work.op)) {
		o->min_size = 8;
		o->max_size = 8;
	}
	if (o->min_size > o->max_size)
		die_usage("sizes %llu to %llu", (unsigned long long)o->min_size,
			  (unsigned long long)o->max_size);
	if (o->latency) {
		o->post_list = 1;
		o->signal_every = 1;
	}
	if (o->post_list > o->work.depth || o->signal_every > o->work.depth)
		die_usage("lists of %u and completions of each %uth need a depth as large, not %u",
			  o->post_list, o->signal_every, o->work.depth);
	if (o->use_inline && o->work.op != OP_WRITE && o->work.op != OP_SEND)
		die_usage("--inline goes with write and send");
	o->work.bytes = region_bytes(o);
}

/* The active side --------------------------------------------------------- */

static bool run_sizes(const struct way *way, const struct options *o, uint64_t *bad)
{
	struct result result;
	uint64_t size;

	for (size = o->min_size; size; size = next_size(o, size)) {
		if (!way->run(size, &result))
			return false;
		report_result(o, &result);
		*bad += result.bad;
	}
	return true;
}

static int drive(const struct way *way, const struct options *o)
{
	struct about about;
	uint64_t bad = 0;
	bool good = way->open(o, &about);

	if (good) {
		report_begin(o, about.device, about.local, about.peer);
		good = run_sizes(way, o, &bad);
		report_end(o, good);
	}
	if (bad)
		complain("%llu messages did not verify", (unsigned long long)bad);
	way->close();
	return good && !bad ? 0 : EXIT_FAILED;
}

/* Memory of an accelerator that was taken back. */
static void memory_gone(int sig)
{
	static const char text[] = "kiwi-perf: memory of a device is gone\n";

	(void)sig;
	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_USAGE);
	_exit(EXIT_FAILED);
}

int main(int argc, char **argv)
{
	struct options o = {
		.local = { .device = "snic0", .mem = "host", .port = 1 },
		.peer = { .device = "snic1", .port = 1 },
		.work = { .depth = 64, .ack_timeout = 18 },
		.semantics = SEMANTICS_UNSET,
		.post_list = 1,
		.signal_every = 1,
		.stall_seconds = STALL_SECONDS,
	};
	int c;

	while ((c = getopt_long(argc, argv, "d:P:l::c:i:g:m:s:an:q:p:t:veM:h", longs, NULL)) != -1)
		parse_option(&o, c);
	stall_seconds = o.stall_seconds;
	signal(SIGBUS, memory_gone);
	if (o.listen) {
		if (optind < argc || o.connect)
			die_usage("the side that listens is told by the other what to do");
		return serve(&o);
	}
	if (optind + 1 != argc)
		die_usage(optind == argc ? "which operation?" : "one operation at a time");
	o.work.op = op_arg(argv[optind]);
	check_options(&o);
	if (o.semantics == SEMANTICS_BOTH)
		return cross_drive(&o);
	return drive(o.semantics == SEMANTICS_MEMORY ? &window_way : &message_way, &o);
}
