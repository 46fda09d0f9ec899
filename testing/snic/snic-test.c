// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <grp.h>
#include <libgen.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "snic-test.h"

#define NOBODY	65534

unsigned int test_device;

/* Failing ------------------------------------------------------------------ */

static void fail(const char *file, int line)
{
	printf(" (%s:%d)\n", strrchr(file, '/') ? strrchr(file, '/') + 1 : file, line);
	fflush(stdout);
	_exit(1);
}

void test_check(bool ok, const char *what, const char *file, int line)
{
	if (ok)
		return;
	printf("  failed: %s, errno %d", what, errno);
	fail(file, line);
}

void test_equal(long long a, long long b, const char *what, const char *file, int line)
{
	if (a == b)
		return;
	printf("  failed: %s: %lld, %lld", what, a, b);
	fail(file, line);
}

bool test_wanted(const char *name, int count, char **names)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!strcmp(name, names[i]))
			return true;
	}
	return !count;
}

/* The device ----------------------------------------------------------------- */

int snic_open(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/dev/kiwi/snic%u", test_device);
	return open(path, O_RDWR | O_CLOEXEC);
}

int snic_call(int fd, unsigned long cmd, void *arg)
{
	int ret = ioctl(fd, cmd, arg);

	return ret < 0 ? -errno : ret;
}

struct kiwi_snic_query_device snic_caps(int fd)
{
	struct kiwi_snic_query_device q = { .size = sizeof(q) };

	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_DEVICE, &q), 0);
	return q;
}

struct kiwi_snic_last_error snic_last_error(int fd)
{
	struct kiwi_snic_last_error e = { .size = sizeof(e) };

	EQUAL(snic_call(fd, KIWI_SNIC_LAST_ERROR, &e), 0);
	return e;
}

void expect_error(int fd, int error, const char *words)
{
	struct kiwi_snic_last_error e = snic_last_error(fd);

	EQUAL(e.error, error);
	CHECK(memchr(e.text, 0, sizeof(e.text)));
	if (!strstr(e.text, words))
		printf("  not in '%s': %s\n", e.text, words);
	CHECK(strstr(e.text, words));
}

static void attr_path(char *path, size_t size, const char *name)
{
	snprintf(path, size, "/sys/class/kiwi/snic%u/%s", test_device, name);
}

long long snic_attr(const char *name)
{
	char path[160], text[64] = "";
	int fd;

	attr_path(path, sizeof(path), name);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	CHECK(read(fd, text, sizeof(text) - 1) > 0);
	close(fd);
	return strtoll(text, NULL, 0);
}

int write_file(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY), ret;

	if (fd < 0)
		return -errno;
	ret = write(fd, value, strlen(value)) < 0 ? -errno : 0;
	close(fd);
	return ret;
}

int snic_attr_write(const char *name, const char *value)
{
	char path[160];

	attr_path(path, sizeof(path), name);
	return write_file(path, value);
}

void snic_pci_address(char *address, size_t size)
{
	char path[160], *real;

	attr_path(path, sizeof(path), "device");
	real = realpath(path, NULL);
	CHECK(real);
	snprintf(address, size, "%s", basename(real));
	free(real);
}

void *pages(size_t length)
{
	void *p = mmap(NULL, (length + PAGE - 1) & ~(PAGE - 1), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	CHECK(p != MAP_FAILED);
	return p;
}

/* Objects ---------------------------------------------------------------------- */

static struct kiwi_mem user_mem(void *addr, size_t length)
{
	return (struct kiwi_mem) {
		.type = KIWI_MEM_USER, .addr = (uintptr_t)addr, .length = length,
	};
}

struct kiwi_snic_mr_reg mr_args(uint32_t pd, void *addr, size_t length)
{
	return (struct kiwi_snic_mr_reg) {
		.size = sizeof(struct kiwi_snic_mr_reg),
		.mem = user_mem(addr, length),
		.iova = (uintptr_t)addr,
		.pd = pd,
		.access = KIWI_ACCESS_ALL,
		.user_data = 0x4d52,
	};
}

struct kiwi_snic_cq_create cq_args(uint32_t doorbell, void *mem, uint32_t log2)
{
	return (struct kiwi_snic_cq_create) {
		.size = sizeof(struct kiwi_snic_cq_create),
		.mem = user_mem(mem, (sizeof(struct kiwi_cqe) << log2) + sizeof(struct kiwi_cq_ci)),
		.ci_offset = sizeof(struct kiwi_cqe) << log2,
		.user_data = 0x4351,
		.log2 = log2,
		.doorbell = doorbell,
		.event_fd = -1,
	};
}

/* Rings of 8 units and of 8 entries of 64 bytes, one page each. */
struct kiwi_snic_qp_create qp_args(uint32_t pd, uint32_t cq, uint32_t doorbell, void *rings)
{
	return (struct kiwi_snic_qp_create) {
		.size = sizeof(struct kiwi_snic_qp_create),
		.sq = user_mem(rings, KIWI_WQEBB << 3),
		.rq = user_mem((char *)rings + PAGE, 64 << 3),
		.user_data = 0x5150,
		.pd = pd,
		.send_cq = cq,
		.recv_cq = cq,
		.doorbell = doorbell,
		.type = KIWI_QP_RC,
		.sq_log2 = 3,
		.rq_log2 = 3,
		.rq_stride = 6,
	};
}

uint32_t make_pd(int fd)
{
	struct kiwi_snic_pd_alloc a = { .size = sizeof(a) };

	EQUAL(snic_call(fd, KIWI_SNIC_PD_ALLOC, &a), 0);
	CHECK(a.pd);
	return a.pd;
}

struct kiwi_snic_doorbell_alloc make_doorbell(int fd, uint32_t flags)
{
	struct kiwi_snic_doorbell_alloc a = { .size = sizeof(a), .flags = flags };

	EQUAL(snic_call(fd, KIWI_SNIC_DOORBELL_ALLOC, &a), 0);
	CHECK(a.doorbell && a.map_size && a.map_size % PAGE == 0 && a.map_offset);
	CHECK(a.reg_offset + sizeof(uint64_t) <= a.map_size);
	return a;
}

struct kiwi_snic_mr_reg make_mr(int fd, uint32_t pd, void *addr, size_t length)
{
	struct kiwi_snic_mr_reg r = mr_args(pd, addr, length);

	EQUAL(snic_call(fd, KIWI_SNIC_MR_REG, &r), 0);
	CHECK(r.mr && r.key);
	return r;
}

struct kiwi_snic_cq_create make_cq(int fd, uint32_t doorbell, int event_fd, void *mem)
{
	struct kiwi_snic_cq_create c = cq_args(doorbell, mem, 4);

	c.event_fd = event_fd;
	EQUAL(snic_call(fd, KIWI_SNIC_CQ_CREATE, &c), 0);
	CHECK(c.cq && c.cqn && c.cqn <= KIWI_SNIC_NUMBER_MAX && c.epoch <= 0xffff);
	return c;
}

struct kiwi_snic_qp_create make_qp(int fd, uint32_t pd, uint32_t cq, uint32_t doorbell)
{
	struct kiwi_snic_qp_create q = qp_args(pd, cq, doorbell, pages(2 * PAGE));

	EQUAL(snic_call(fd, KIWI_SNIC_QP_CREATE, &q), 0);
	CHECK(q.qp && q.qpn && q.qpn <= KIWI_SNIC_NUMBER_MAX && q.epoch <= 0xffff);
	return q;
}

int destroy(int fd, uint32_t id)
{
	struct kiwi_snic_destroy d = { .size = sizeof(d), .id = id };

	return snic_call(fd, KIWI_SNIC_DESTROY, &d);
}

volatile uint64_t *map_doorbell(int fd, const struct kiwi_snic_doorbell_alloc *db)
{
	char *p = mmap(NULL, db->map_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, db->map_offset);

	CHECK(p != MAP_FAILED);
	return (volatile uint64_t *)(p + db->reg_offset);
}

int modify_state(int fd, uint32_t qp, int state)
{
	struct kiwi_snic_qp_modify m = {
		.size = sizeof(m), .qp = qp, .mask = KIWI_QP_ATTR_STATE, .state = state,
	};

	return snic_call(fd, KIWI_SNIC_QP_MODIFY, &m);
}

void connect_self(int fd, const struct kiwi_snic_qp_create *qp)
{
	struct kiwi_snic_query_port port = { .size = sizeof(port), .port = 1 };
	struct kiwi_snic_gid gid = { .size = sizeof(gid), .port = 1 };
	struct kiwi_snic_qp_modify m = {
		.size = sizeof(m), .qp = qp->qp, .state = KIWI_QPS_INIT, .port = 1,
		.access = KIWI_ACCESS_REMOTE_WRITE | KIWI_ACCESS_REMOTE_READ,
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_PORT | KIWI_QP_ATTR_ACCESS,
	};

	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_PORT, &port), 0);
	EQUAL(snic_call(fd, KIWI_SNIC_QUERY_GID, &gid), 0);
	EQUAL(snic_call(fd, KIWI_SNIC_QP_MODIFY, &m), 0);

	m = (struct kiwi_snic_qp_modify) {
		.size = sizeof(m), .qp = qp->qp, .state = KIWI_QPS_RTR, .mtu = KIWI_MTU_1024,
		.dest_qpn = qp->qpn, .rq_psn = 100, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_AV | KIWI_QP_ATTR_MTU |
			KIWI_QP_ATTR_DEST_QPN | KIWI_QP_ATTR_RQ_PSN |
			KIWI_QP_ATTR_MAX_DEST_RD_ATOMIC | KIWI_QP_ATTR_MIN_RNR_TIMER,
	};
	memcpy(m.dmac, port.mac, sizeof(m.dmac));
	memcpy(m.dgid, gid.gid, sizeof(m.dgid));
	EQUAL(snic_call(fd, KIWI_SNIC_QP_MODIFY, &m), 0);

	m = (struct kiwi_snic_qp_modify) {
		.size = sizeof(m), .qp = qp->qp, .state = KIWI_QPS_RTS, .sq_psn = 100,
		.timeout = 14, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1,
		.mask = KIWI_QP_ATTR_STATE | KIWI_QP_ATTR_SQ_PSN | KIWI_QP_ATTR_TIMEOUT |
			KIWI_QP_ATTR_RETRY_CNT | KIWI_QP_ATTR_RNR_RETRY |
			KIWI_QP_ATTR_MAX_RD_ATOMIC,
	};
	EQUAL(snic_call(fd, KIWI_SNIC_QP_MODIFY, &m), 0);
}

/* Processes -------------------------------------------------------------------- */

static sigjmp_buf touch_jump;

static void touch_failed(int signal)
{
	siglongjmp(touch_jump, signal);
}

int touch(volatile uint64_t *word, bool write)
{
	struct sigaction action = { .sa_handler = touch_failed }, bus, segv;
	int signal;

	sigaction(SIGBUS, &action, &bus);
	sigaction(SIGSEGV, &action, &segv);
	signal = sigsetjmp(touch_jump, 1);
	if (!signal) {
		if (write)
			*word = 0;
		else
			(void)*word;
	}
	sigaction(SIGBUS, &bus, NULL);
	sigaction(SIGSEGV, &segv, NULL);
	return signal;
}

void drop_privileges(void)
{
	EQUAL(setgroups(0, NULL), 0);
	EQUAL(setresgid(NOBODY, NOBODY, NOBODY), 0);
	EQUAL(setresuid(NOBODY, NOBODY, NOBODY), 0);
}
