// SPDX-License-Identifier: GPL-2.0
/*
 * A Kiwi SNIC plays pingpong with any RDMA device: this speaks the handshake of
 * rdma-core's ibv_rc_pingpong, as client and as server, with the same options.
 *
 * Over TCP each side sends one text with its final NUL, "LID:QPN:PSN:GID" in hex:
 * the client first, then the server, which is ready by then; then the client "done".
 */
#include <kiwi/kiwi.h>

#include "../common/gid.h"
#include "../common/say.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netpacket/packet.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MESSAGE		sizeof("0000:000000:000000:00000000000000000000000000000000")
#define DONE		"done"
#define FILLING		0x7b	/* of every byte but the first of a page */
#define NOT_RECEIVED	0x55
#define STALL_SECONDS	30

enum { RECV_ID = 1, SEND_ID = 2 };

struct destination {
	unsigned int qpn;
	unsigned int psn;
	uint8_t gid[16];
};

static struct {
	const char *device;
	const char *server;
	const char *port;
	const char *mac;
	unsigned int device_port;
	unsigned int gid_index;
	unsigned int mtu;
	unsigned int ack_timeout;
	uint64_t size;
	uint64_t iters;
	uint32_t rx_depth;
	bool events;
	bool check;
} o = {
	.device = "snic0", .port = "18515", .device_port = 1, .mtu = 1024, .ack_timeout = 14,
	.size = 4096, .iters = 1000, .rx_depth = 500,
};

static struct kiwi_device *dev;
static struct kiwi_cq *cq;
static struct kiwi_qp *qp;
static struct kiwi_mr *send_mr, *recv_mr;
static unsigned char *send_buffer, *recv_buffer;

static void must(int rc)
{
	if (rc)
		die("%s", kiwi_error());
}

static unsigned char *buffer(struct kiwi_pd *pd, struct kiwi_mr **mr)
{
	unsigned char *p = kiwi_memory_alloc(o.size);

	if (!p)
		die("%llu bytes of memory: %m", (unsigned long long)o.size);
	must(kiwi_mr_reg(pd, p, o.size, KIWI_ACCESS_LOCAL_WRITE, mr));
	return p;
}

static void open_all(void)
{
	struct kiwi_cq_config cq_config = { .entries = o.rx_depth + 1, .event_fd = -1 };
	struct kiwi_qp_config qp_config = {
		.sq_units = 16, .rq_entries = o.rx_depth, .recv_sge = 1,
	};
	struct kiwi_pd *pd;
	uint64_t i, page = (uint64_t)sysconf(_SC_PAGESIZE);

	must(kiwi_open(o.device, &dev));
	must(kiwi_pd_alloc(dev, &pd));
	send_buffer = buffer(pd, &send_mr);
	recv_buffer = buffer(pd, &recv_mr);
	memset(send_buffer, FILLING, o.size);
	for (i = 0; o.check && i < o.size; i += page)
		send_buffer[i] = 0;
	if (o.events) {
		cq_config.event_fd = eventfd(0, EFD_CLOEXEC);
		if (cq_config.event_fd < 0)
			die("eventfd: %m");
	}
	must(kiwi_cq_create(dev, &cq_config, &cq));
	qp_config.send_cq = cq;
	must(kiwi_qp_create(pd, &qp_config, &qp));
	must(kiwi_qp_init(qp, o.device_port, 0));
}

/* The peer's MAC address ------------------------------------------------- */

/* The address is one of this host's: the MAC of the interface that has it. */
static bool mac_of_own(const uint8_t gid[16], uint8_t mac[6])
{
	struct ifaddrs *list, *a, *link;
	const char *name = NULL;
	bool found = false;

	if (getifaddrs(&list))
		return false;
	for (a = list; a && !name; a = a->ifa_next) {
		if (!a->ifa_addr)
			continue;
		if (a->ifa_addr->sa_family == AF_INET6 &&
		    !memcmp(&((struct sockaddr_in6 *)a->ifa_addr)->sin6_addr, gid, 16))
			name = a->ifa_name;
		else if (a->ifa_addr->sa_family == AF_INET && gid_is_ipv4(gid) &&
			 !memcmp(&((struct sockaddr_in *)a->ifa_addr)->sin_addr, gid + 12, 4))
			name = a->ifa_name;
	}
	for (link = list; name && link && !found; link = link->ifa_next) {
		struct sockaddr_ll *ll = (struct sockaddr_ll *)link->ifa_addr;

		if (!ll || ll->sll_family != AF_PACKET || ll->sll_halen != 6 ||
		    strcmp(link->ifa_name, name))
			continue;
		memcpy(mac, ll->sll_addr, 6);
		found = true;
	}
	freeifaddrs(list);
	return found;
}

/* The kernel has resolved the IPv4 address for an interface on the same Ethernet. */
static bool mac_of_neighbour(const uint8_t gid[16], uint8_t mac[6])
{
	char line[256], address[64], text[64], want[INET_ADDRSTRLEN];
	bool found = false;
	FILE *f;

	if (!gid_is_ipv4(gid) || !inet_ntop(AF_INET, gid + 12, want, sizeof(want)))
		return false;
	f = fopen("/proc/net/arp", "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%63s %*s %*s %63s", address, text) == 2 &&
			!strcmp(address, want) && mac_parse(text, mac) &&
			strcmp(text, "00:00:00:00:00:00");
	fclose(f);
	return found;
}

static void find_mac(const uint8_t gid[16], uint8_t mac[6])
{
	char text[GID_TEXT];

	if (o.mac) {
		if (!mac_parse(o.mac, mac))
			die_usage("'%s' is no MAC address", o.mac);
		return;
	}
	if (!mac_of_own(gid, mac) && kiwi_gid_to_mac(gid, mac) && !mac_of_neighbour(gid, mac))
		die("no MAC address is known for %s; give it with -M", gid_print(gid, text));
}

/* Handshake --------------------------------------------------------------- */

static void connect_qp(const struct destination *mine, const struct destination *peer)
{
	struct kiwi_connect c;

	must(kiwi_connect_init(dev, o.device_port, &c));
	c.dest_qpn = peer->qpn;
	c.sq_psn = mine->psn;
	c.rq_psn = peer->psn;
	c.sgid_index = (uint8_t)o.gid_index;
	c.mtu = (uint8_t)kiwi_mtu_code(o.mtu);
	c.access = 0;
	c.timeout = (uint8_t)o.ack_timeout;
	c.max_rd_atomic = 1;
	c.max_dest_rd_atomic = 1;
	memcpy(c.dgid, peer->gid, sizeof(c.dgid));
	find_mac(peer->gid, c.dmac);
	must(kiwi_qp_connect(qp, &c));
}

static void send_all(int fd, const void *data, size_t size)
{
	size_t at;
	ssize_t n;

	for (at = 0; at < size; at += (size_t)n) {
		n = send(fd, (const char *)data + at, size - at, MSG_NOSIGNAL);
		if (n < 0)
			die("handshake: %m");
	}
}

static void send_destination(int fd, const struct destination *d)
{
	char text[MESSAGE];
	int at = sprintf(text, "%04x:%06x:%06x:", 0, d->qpn, d->psn), i;

	for (i = 0; i < 16; i++)
		at += sprintf(text + at, "%02x", d->gid[i]);
	send_all(fd, text, sizeof(text));
}

static void receive_destination(int fd, struct destination *d)
{
	char text[MESSAGE + 1] = "", gid[33];
	unsigned int i;

	if (recv(fd, text, MESSAGE, MSG_WAITALL) != MESSAGE)
		die("handshake: the peer sent no address");
	if (sscanf(text, "%*x:%x:%x:%32s", &d->qpn, &d->psn, gid) != 3)
		die("handshake: '%s' is no address", text);
	for (i = 0; i < 16; i++)
		if (sscanf(gid + 2 * i, "%2hhx", &d->gid[i]) != 1)
			die("handshake: '%s' is no GID", gid);
}

static int connect_tcp(struct addrinfo *list)
{
	struct addrinfo *a;
	int fd;

	for (a = list; a; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (fd < 0)
			continue;
		if (!connect(fd, a->ai_addr, a->ai_addrlen))
			return fd;
		close(fd);
	}
	die("cannot connect to %s port %s", o.server, o.port);
}

static int accept_tcp(struct addrinfo *list)
{
	struct addrinfo *a;
	int fd, one = 1, connection;

	for (a = list; a; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype, a->ai_protocol);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
		if (bind(fd, a->ai_addr, a->ai_addrlen) || listen(fd, 1)) {
			close(fd);
			continue;
		}
		connection = accept(fd, NULL, NULL);
		close(fd);
		if (connection < 0)
			die("accept: %m");
		return connection;
	}
	die("cannot listen on port %s", o.port);
}

static void exchange(const struct destination *mine, struct destination *peer)
{
	struct addrinfo hints = {
		.ai_socktype = SOCK_STREAM, .ai_flags = o.server ? 0 : AI_PASSIVE,
	};
	char done[MESSAGE];
	struct addrinfo *list;
	int rc, fd;

	rc = getaddrinfo(o.server, o.port, &hints, &list);
	if (rc)
		die("%s port %s: %s", o.server ? o.server : "this host", o.port, gai_strerror(rc));
	if (o.server) {
		fd = connect_tcp(list);
		send_destination(fd, mine);
		receive_destination(fd, peer);
		connect_qp(mine, peer);
		send_all(fd, DONE, sizeof(DONE));
	} else {
		fd = accept_tcp(list);
		receive_destination(fd, peer);
		connect_qp(mine, peer);
		send_destination(fd, mine);
		if (recv(fd, done, sizeof(DONE), MSG_WAITALL) != sizeof(DONE))
			die("handshake: the peer is not done");
	}
	freeaddrinfo(list);
	close(fd);
}

/* Pingpong ---------------------------------------------------------------- */

static uint32_t post_receives(uint32_t n)
{
	struct kiwi_sg sg = { recv_mr->iova, recv_mr->key, (uint32_t)o.size };
	struct kiwi_recv_wr wr = { .wr_id = RECV_ID, .sg = &sg, .num_sg = 1 };
	uint32_t i;

	for (i = 0; i < n && !kiwi_post_recv(qp, &wr); i++)
		;
	kiwi_qp_ring_recv(qp);
	return i;
}

static void post_send(void)
{
	struct kiwi_sg sg = { send_mr->iova, send_mr->key, (uint32_t)o.size };
	struct kiwi_send_wr wr = {
		.wr_id = SEND_ID, .sg = &sg, .num_sg = 1, .opcode = KIWI_WQE_SEND,
		.flags = KIWI_WQE_SIGNALED,
	};

	if (o.size <= qp->max_inline) {
		wr.flags |= KIWI_WQE_INLINE;
		sg.addr = (uintptr_t)send_buffer;
	}
	if (kiwi_post_send_ring(qp, &wr))
		die("the send queue is full");
}

/* Every byte of what came; the buffer is spoilt again before the peer may send. */
static void check_received(uint64_t count)
{
	uint64_t i;

	for (i = 0; i < o.size; i++)
		if (recv_buffer[i] != send_buffer[i])
			die("message %llu: byte %llu is 0x%02x, not 0x%02x",
			    (unsigned long long)count, (unsigned long long)i, recv_buffer[i],
			    send_buffer[i]);
	memset(recv_buffer, NOT_RECEIVED, o.size);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int wait_for_completions(struct kiwi_wc *wc, int n)
{
	double start = now();
	uint64_t count;
	unsigned int turn;
	int got;

	for (turn = 1;; turn++) {
		struct pollfd pfd = { .fd = cq->event_fd, .events = POLLIN };

		got = kiwi_poll_cq(cq, wc, n);
		if (got)
			return got;
		if ((turn % 65536 == 0 || o.events) && now() - start > STALL_SECONDS)
			die("nothing has come for %d s", STALL_SECONDS);
		if (!o.events)
			continue;
		kiwi_cq_arm(cq, 0);
		if (poll(&pfd, 1, 1000) > 0 && read(cq->event_fd, &count, sizeof(count)) < 0)
			die("eventfd: %m");
	}
}

static void play(void)
{
	uint64_t sent = 0, received = 0;
	uint32_t waiting = o.rx_depth;
	unsigned int pending = RECV_ID;
	struct kiwi_wc wc[2];
	int i, got;

	if (o.server) {
		post_send();
		pending |= SEND_ID;
	}
	while (received < o.iters || sent < o.iters) {
		got = wait_for_completions(wc, 2);
		for (i = 0; i < got; i++) {
			if (wc[i].status != KIWI_CQE_ST_OK)
				die("%s: %s (vendor error %u)",
				    wc[i].wr_id == SEND_ID ? "send" : "receive",
				    kiwi_status_text(wc[i].status), wc[i].vendor_err);
			if (wc[i].wr_id == SEND_ID) {
				sent++;
			} else {
				if (wc[i].byte_len != o.size)
					die("message of %u bytes, not %llu", wc[i].byte_len,
					    (unsigned long long)o.size);
				received++;
				if (o.check)
					check_received(received);
				if (--waiting <= 1)
					waiting += post_receives(o.rx_depth - waiting);
			}
			pending &= ~(unsigned int)wc[i].wr_id;
			if (sent < o.iters && !pending) {
				post_send();
				pending = SEND_ID | RECV_ID;
			}
		}
	}
}

static void print_destination(const char *who, const struct destination *d)
{
	char text[GID_TEXT];

	printf("  %s address:  LID 0x0000, QPN 0x%06x, PSN 0x%06x, GID %s\n", who, d->qpn, d->psn,
	       gid_print(d->gid, text));
	fflush(stdout);
}

/* Options ----------------------------------------------------------------- */

static void usage(void)
{
	printf("Usage: rc-pingpong [OPTION...] [SERVER]\n\n"
	       "Without SERVER: waits for a client. The peer may be ibv_rc_pingpong.\n\n"
	       "  -p, --port PORT       TCP port (18515)\n"
	       "  -d, --ib-dev DEV      SNIC (snic0)\n"
	       "  -i, --ib-port N       port of the SNIC (1)\n"
	       "  -s, --size BYTES      of a message (4096)\n"
	       "  -m, --mtu BYTES       path MTU, the same on both sides (1024)\n"
	       "  -r, --rx-depth N      receives posted at a time (500)\n"
	       "  -n, --iters N         messages each way (1000)\n"
	       "  -e, --events          sleep for completions\n"
	       "  -g, --gid-idx INDEX   local GID (0)\n"
	       "  -c, --chk             check every byte received\n"
	       "  -M, --mac MAC         of the peer; else from its GID or the neighbour table\n"
	       "  -u, --ack-timeout N   4.096 us * 2^N (14)\n");
}

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "ib-dev", required_argument, NULL, 'd' },
		{ "ib-port", required_argument, NULL, 'i' },
		{ "size", required_argument, NULL, 's' },
		{ "mtu", required_argument, NULL, 'm' },
		{ "rx-depth", required_argument, NULL, 'r' },
		{ "iters", required_argument, NULL, 'n' },
		{ "events", no_argument, NULL, 'e' },
		{ "gid-idx", required_argument, NULL, 'g' },
		{ "chk", no_argument, NULL, 'c' },
		{ "mac", required_argument, NULL, 'M' },
		{ "ack-timeout", required_argument, NULL, 'u' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "p:d:i:s:m:r:n:eg:cM:u:h", longs, NULL)) != -1) {
		switch (c) {
		case 'p':
			o.port = optarg;
			break;
		case 'd':
			o.device = optarg;
			break;
		case 'i':
			o.device_port = (unsigned int)number_arg("port", optarg, 1, 255);
			break;
		case 's':
			o.size = number_arg("size", optarg, 1, 1U << 30);
			break;
		case 'm':
			o.mtu = (unsigned int)number_arg("MTU", optarg, 256, 4096);
			break;
		case 'r':
			o.rx_depth = (uint32_t)number_arg("depth", optarg, 2, 1U << 14);
			break;
		case 'n':
			o.iters = number_arg("count", optarg, 1, 1ULL << 40);
			break;
		case 'e':
			o.events = true;
			break;
		case 'g':
			o.gid_index = (unsigned int)number_arg("GID index", optarg, 0, 255);
			break;
		case 'c':
			o.check = true;
			break;
		case 'M':
			o.mac = optarg;
			break;
		case 'u':
			o.ack_timeout = (unsigned int)number_arg("ACK timeout", optarg, 0, 31);
			break;
		case 'h':
			usage();
			exit(0);
		default:
			die_usage("what is meant?");
		}
	}
	if (!kiwi_mtu_code(o.mtu))
		die_usage("MTU %u is none of 256, 512, 1024, 2048, 4096", o.mtu);
	if (optind < argc)
		o.server = argv[optind++];
	if (optind < argc)
		die_usage("unexpected '%s'", argv[optind]);
}

int main(int argc, char **argv)
{
	struct destination mine = { 0 }, peer = { 0 };
	struct kiwi_snic_gid gid;
	double start, seconds;

	parse(argc, argv);
	open_all();
	if (post_receives(o.rx_depth) < o.rx_depth)
		die("the receive queue is full");
	if (o.check)
		memset(recv_buffer, NOT_RECEIVED, o.size);
	must(kiwi_query_gid(dev, o.device_port, o.gid_index, &gid));
	if (gid.type == KIWI_GID_NONE)
		die("%s port %u has no GID %u", o.device, o.device_port, o.gid_index);
	memcpy(mine.gid, gid.gid, sizeof(mine.gid));
	mine.qpn = qp->qpn;
	if (getrandom(&mine.psn, sizeof(mine.psn), 0) != sizeof(mine.psn))
		die("getrandom: %m");
	mine.psn &= 0xffffff;
	print_destination("local", &mine);
	exchange(&mine, &peer);
	print_destination("remote", &peer);

	start = now();
	play();
	seconds = now() - start;
	printf("%llu bytes in %.2f seconds = %.2f Mbit/sec\n",
	       (unsigned long long)(o.size * o.iters * 2), seconds,
	       (double)(o.size * o.iters * 2) * 8 / seconds / 1e6);
	printf("%llu iters in %.2f seconds = %.2f usec/iter\n", (unsigned long long)o.iters,
	       seconds, seconds * 1e6 / (double)o.iters);
	kiwi_close(dev);
	kiwi_memory_free(send_buffer, o.size);
	kiwi_memory_free(recv_buffer, o.size);
	return 0;
}
