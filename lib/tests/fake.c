// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#include "fake.h"
#include "fake-part.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define FAKE_FD		900
#define MAX_OBJECTS	4096
#define MAX_MODIFIES	1024
#define PAGE		4096
#define DB_MAP_OFFSET	0x10000
#define DB_REG_OFFSET	0x040

enum kind { NONE, PD, MR, DOORBELL, CQ, QP };

static struct {
	enum kind kind;
	unsigned int users;
	union {
		struct kiwi_snic_cq_create cq;
		struct kiwi_snic_qp_create qp;
		struct kiwi_snic_mr_reg mr;
	};
	uint32_t produced;
} objects[MAX_OBJECTS];

static struct kiwi_snic_qp_modify modifies[MAX_MODIFIES];
static unsigned int modify_count;
static struct kiwi_snic_last_error last_error;
static struct kiwi_snic_event events[16];
static unsigned int event_count;
static unsigned int breaches, files;
static unsigned long calls;
static uint32_t next_qpn, last_qpn = 0x1000;
static int down;
static bool is_g2g;
static void *doorbell_page;

static struct {
	unsigned int nr, nth;
	int err;
	const char *text;
	unsigned int any_nth;
	bool happened;
} fail;

int __real_ioctl(int fd, unsigned long request, void *arg);
int __real_open(const char *path, int flags, int mode);
int __real_close(int fd);
ssize_t __real_read(int fd, void *buf, size_t size);
int __wrap_ioctl(int fd, unsigned long request, void *arg);
int __wrap_open(const char *path, int flags, ...);
int __wrap_close(int fd);
ssize_t __wrap_read(int fd, void *buf, size_t size);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off);

void fake_breach(const char *file, int line, const char *what)
{
	printf("# contract: %s:%d: not: %s\n", file, line, what);
	breaches++;
}

void fake_fail(unsigned int nr, unsigned int nth, int err, const char *text)
{
	fail.nr = nr;
	fail.nth = nth;
	fail.err = err;
	fail.text = text;
	fail.happened = false;
}

void fake_fail_nth(unsigned int nth)
{
	fail.any_nth = nth;
	fail.happened = false;
}

bool fake_failed(void)
{
	return fail.happened;
}

unsigned int fake_breaches(void)
{
	return breaches;
}

unsigned int fake_objects(void)
{
	unsigned int i, n = files;

	for (i = 0; i < MAX_OBJECTS; i++)
		n += objects[i].kind != NONE;
	return n + fake_g2g_objects();
}

unsigned long fake_calls(void)
{
	return calls;
}

void fake_down(int err)
{
	down = err;
}

void fake_next_qpn(uint32_t qpn)
{
	next_qpn = qpn;
}

const struct kiwi_snic_qp_create *fake_qp(uint32_t id)
{
	return &objects[id].qp;
}

const struct kiwi_snic_cq_create *fake_cq(uint32_t id)
{
	return &objects[id].cq;
}

const struct kiwi_snic_qp_modify *fake_modify(unsigned int n)
{
	return n < modify_count ? &modifies[n] : NULL;
}

void fake_event(const void *event)
{
	memcpy(&events[event_count++], event, sizeof(events[0]));
}

bool fake_complete(const struct kiwi_cq *cq, const struct kiwi_cqe *cqe)
{
	const struct kiwi_snic_cq_create *arg = &objects[cq->id].cq;
	uint32_t entries = 1U << arg->log2, produced = objects[cq->id].produced;
	struct kiwi_cq_ci *ci = (void *)(uintptr_t)(arg->mem.addr + arg->ci_offset);
	struct kiwi_cqe *slot = (struct kiwi_cqe *)(uintptr_t)arg->mem.addr +
				produced % entries;
	uint8_t flags;

	if (produced - __atomic_load_n(&ci->ci, __ATOMIC_ACQUIRE) >= entries)
		return false;
	memcpy(slot, cqe, offsetof(struct kiwi_cqe, flags));
	flags = cqe->flags & (uint8_t)~KIWI_CQE_PHASE;
	if (produced / entries % 2 == 0)
		flags |= KIWI_CQE_PHASE;
	__atomic_store_n(&slot->flags, flags, __ATOMIC_RELEASE);
	objects[cq->id].produced++;
	return true;
}

uint64_t fake_doorbell(void)
{
	return *(volatile uint64_t *)((char *)doorbell_page + DB_REG_OFFSET);
}

bool fake_doorbell_page_clean(void)
{
	unsigned char *p = doorbell_page;
	size_t i;

	for (i = 0; i < PAGE; i++)
		if (p[i] && (i < DB_REG_OFFSET || i >= DB_REG_OFFSET + 8))
			return false;
	return true;
}

/* System calls ------------------------------------------------------------ */

static bool call_fails(void)
{
	calls++;
	if (!fail.any_nth || --fail.any_nth)
		return false;
	fail.happened = true;
	return true;
}

static uint32_t object_new(enum kind kind)
{
	static uint32_t next = 1;
	uint32_t n;

	for (n = 0; n < MAX_OBJECTS; n++, next++) {
		if (next == MAX_OBJECTS)
			next = 1;
		if (objects[next].kind == NONE)
			break;
	}
	memset(&objects[next], 0, sizeof(objects[next]));
	objects[next].kind = kind;
	return next++;
}

static bool is(uint32_t id, enum kind kind)
{
	return id < MAX_OBJECTS && objects[id].kind == kind;
}

static bool zeroed(uint64_t addr, uint64_t length)
{
	const unsigned char *p = (void *)(uintptr_t)addr;

	while (length--)
		if (*p++)
			return false;
	return true;
}

static void check_ring(const struct kiwi_mem *mem, uint64_t align)
{
	breach_unless(mem->type == KIWI_MEM_USER || mem->type == KIWI_MEM_DMABUF);
	breach_unless(mem->addr % align == 0);
	if (mem->type == KIWI_MEM_USER) {
		breach_unless(mem->fd == 0);
		breach_unless(zeroed(mem->addr, mem->length));
	}
}

static int cq_create(struct kiwi_snic_cq_create *arg)
{
	uint64_t bytes = (uint64_t)64 << arg->log2;
	bool collapsed = arg->flags & KIWI_CQ_COLLAPSED;

	breach_unless(arg->size == sizeof(*arg) && !arg->rsvd);
	breach_unless(!(arg->flags & ~(KIWI_CQ_OVERRUN_IGNORE | KIWI_CQ_COLLAPSED)));
	breach_unless(collapsed ? !arg->log2 : arg->log2 >= 1 && arg->log2 <= FAKE_CQ_LOG2);
	breach_unless(is(arg->doorbell, DOORBELL));
	breach_unless(arg->event_fd >= -1);
	check_ring(&arg->mem, 64);
	if (arg->flags & KIWI_CQ_OVERRUN_IGNORE)
		breach_unless(!arg->ci_offset && arg->mem.length >= bytes);
	else
		breach_unless(arg->ci_offset % 8 == 0 && arg->ci_offset >= bytes &&
			      arg->ci_offset + 8 <= arg->mem.length);
	arg->cq = object_new(CQ);
	arg->cqn = 0x300 + arg->cq;
	arg->epoch = 0x55aa;
	objects[arg->cq].cq = *arg;
	objects[arg->doorbell].users++;
	return 0;
}

static void check_rq(const struct kiwi_snic_qp_create *arg)
{
	if (arg->flags & KIWI_QP_SQ_ONLY) {
		breach_unless(!arg->recv_cq && !arg->rq_log2 && !arg->rq_stride && !arg->rq.type &&
			      !arg->rq.length);
		return;
	}
	breach_unless(is(arg->recv_cq, CQ));
	breach_unless(arg->rq_log2 <= FAKE_RQ_LOG2);
	breach_unless(arg->rq_stride >= KIWI_RQE_MIN_SHIFT && arg->rq_stride <= KIWI_RQE_MAX_SHIFT);
	check_ring(&arg->rq, 1U << arg->rq_stride);
	breach_unless(arg->rq.length == (uint64_t)1 << (arg->rq_log2 + arg->rq_stride));
}

static int qp_create(struct kiwi_snic_qp_create *arg)
{
	breach_unless(arg->size == sizeof(*arg));
	breach_unless(!(arg->flags & ~(KIWI_QP_SQ_SIG_ALL | KIWI_QP_SQ_ONLY | KIWI_QP_DB_RECORD)));
	breach_unless(!arg->rsvd[0] && !arg->rsvd[1] && arg->type == KIWI_QP_RC);
	breach_unless(is(arg->pd, PD) && is(arg->send_cq, CQ) && is(arg->doorbell, DOORBELL));
	breach_unless(arg->sq_log2 >= 3 && arg->sq_log2 <= FAKE_SQ_LOG2);
	check_ring(&arg->sq, 64);
	breach_unless(arg->sq.length == (uint64_t)64 << arg->sq_log2);
	check_rq(arg);
	if (arg->flags & KIWI_QP_DB_RECORD)
		check_ring(&arg->db_record, 8);
	breach_unless(arg->db_record.length ==
		      (arg->flags & KIWI_QP_DB_RECORD ? sizeof(struct kiwi_qp_db_record) : 0));
	arg->qp = object_new(QP);
	arg->qpn = next_qpn ? next_qpn : ++last_qpn;
	arg->epoch = 0xe0c1;
	next_qpn = 0;
	objects[arg->qp].qp = *arg;
	objects[arg->pd].users++;
	objects[arg->send_cq].users++;
	objects[arg->recv_cq].users++;
	objects[arg->doorbell].users++;
	return 0;
}

static int destroy(const struct kiwi_snic_destroy *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
	if (arg->id >= MAX_OBJECTS || objects[arg->id].kind == NONE)
		return ENOENT;
	if (objects[arg->id].users)
		return EBUSY;
	switch (objects[arg->id].kind) {
	case MR:
		objects[objects[arg->id].mr.pd].users--;
		break;
	case CQ:
		objects[objects[arg->id].cq.doorbell].users--;
		break;
	case QP:
		objects[objects[arg->id].qp.pd].users--;
		objects[objects[arg->id].qp.send_cq].users--;
		objects[objects[arg->id].qp.recv_cq].users--;
		objects[objects[arg->id].qp.doorbell].users--;
		break;
	default:
		break;
	}
	objects[arg->id].kind = NONE;
	return 0;
}

static int query_device(struct kiwi_snic_query_device *arg)
{
	breach_unless(arg->size == sizeof(*arg) && !arg->flags);
	arg->serial = 0x1234;
	arg->max_inline = FAKE_INLINE;
	arg->max_sge = FAKE_SGE;
	arg->max_rd_atomic = 16;
	arg->ports = 2;
	arg->gids = 8;
	arg->sq_log2_max = FAKE_SQ_LOG2;
	arg->rq_log2_max = FAKE_RQ_LOG2;
	arg->cq_log2_max = FAKE_CQ_LOG2;
	return 0;
}

static int answer(unsigned long request, void *argument)
{
	static struct kiwi_snic_gid gids[8];

	switch (request) {
	case KIWI_SNIC_QUERY_DEVICE:
		return query_device(argument);
	case KIWI_SNIC_QUERY_PORT: {
		struct kiwi_snic_query_port *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags);
		if (!arg->port || arg->port > 2)
			return EINVAL;
		arg->state = KIWI_PORT_ACTIVE;
		arg->enabled = 1;
		arg->mtu = KIWI_MTU_1024;
		arg->mtu_max = KIWI_MTU_4096;
		return 0;
	}
	case KIWI_SNIC_SET_PORT: {
		struct kiwi_snic_set_port *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd[0] &&
			      !arg->rsvd[1] && arg->enabled <= 1);
		return arg->mtu < KIWI_MTU_256 || arg->mtu > KIWI_MTU_4096 ? EINVAL : 0;
	}
	case KIWI_SNIC_QUERY_GID:
	case KIWI_SNIC_SET_GID: {
		struct kiwi_snic_gid *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd[0] &&
			      !arg->rsvd[1] && arg->index < 8);
		if (request == KIWI_SNIC_SET_GID)
			gids[arg->index] = *arg;
		else
			*arg = gids[arg->index];
		return 0;
	}
	case KIWI_SNIC_DESTROY:
		return destroy(argument);
	case KIWI_SNIC_PREFLIGHT: {
		struct kiwi_snic_preflight *arg = argument;
		struct kiwi_check *checks = (void *)(uintptr_t)arg->checks;
		uint32_t i;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && arg->fd >= -1);
		for (i = 0; i < arg->count && i < FAKE_CHECKS; i++)
			checks[i] = (struct kiwi_check) { .id = i + 1, .state = KIWI_CHECK_OK };
		arg->count = FAKE_CHECKS;
		return 0;
	}
	case KIWI_SNIC_PD_ALLOC: {
		struct kiwi_snic_pd_alloc *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
		arg->pd = object_new(PD);
		return 0;
	}
	case KIWI_SNIC_MR_REG: {
		struct kiwi_snic_mr_reg *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && is(arg->pd, PD));
		arg->mr = object_new(MR);
		arg->key = arg->mr << 8 | 0x5a;
		objects[arg->mr].mr = *arg;
		objects[arg->pd].users++;
		return 0;
	}
	case KIWI_SNIC_MR_QUERY: {
		struct kiwi_snic_mr_query *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
		if (!is(arg->mr, MR))
			return ENOENT;
		arg->key = objects[arg->mr].mr.key;
		arg->length = objects[arg->mr].mr.mem.length;
		return 0;
	}
	case KIWI_SNIC_DOORBELL_ALLOC: {
		struct kiwi_snic_doorbell_alloc *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->rsvd &&
			      !(arg->flags & ~KIWI_SNIC_DOORBELL_WC));
		arg->doorbell = object_new(DOORBELL);
		arg->map_size = PAGE;
		arg->map_offset = DB_MAP_OFFSET;
		arg->reg_offset = DB_REG_OFFSET;
		return 0;
	}
	case KIWI_SNIC_DOORBELL_EXPORT: {
		struct kiwi_snic_doorbell_export *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && arg->flags == O_CLOEXEC &&
			      !arg->rsvd[0] && !arg->rsvd[1] && is(arg->doorbell, DOORBELL));
		arg->fd = 77;
		arg->length = PAGE;
		arg->reg_offset = DB_REG_OFFSET;
		return 0;
	}
	case KIWI_SNIC_QUEUE_QUERY: {
		struct kiwi_snic_queue_query *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->rsvd);
		if (!is(arg->id, arg->kind == KIWI_QUEUE_CQ ? CQ : QP))
			return ENOENT;
		arg->db_width = 8;
		return 0;
	}
	case KIWI_SNIC_ERROR_PAGE: {
		struct kiwi_snic_error_page *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags &&
			      arg->mem.length == KIWI_ERROR_PAGE_BYTES);
		if (arg->mem.type == KIWI_MEM_USER)
			((struct kiwi_error_page *)(uintptr_t)arg->mem.addr)->port_down = 2;
		return 0;
	}
	case KIWI_SNIC_CQ_CREATE:
		return cq_create(argument);
	case KIWI_SNIC_QP_CREATE:
		return qp_create(argument);
	case KIWI_SNIC_QP_MODIFY: {
		struct kiwi_snic_qp_modify *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && is(arg->qp, QP));
		breach_unless(!arg->rsvd[0] && !arg->rsvd[1] && !arg->rsvd[2]);
		breach_unless(arg->mask & KIWI_QP_ATTR_STATE);
		if (modify_count < MAX_MODIFIES)
			modifies[modify_count++] = *arg;
		return 0;
	}
	case KIWI_SNIC_QP_QUERY: {
		struct kiwi_snic_qp_modify *arg = argument;

		breach_unless(arg->size == sizeof(*arg) && !arg->flags && !arg->mask &&
			      is(arg->qp, QP));
		arg->mask = KIWI_QP_ATTR_ALL;
		arg->state = modify_count ? modifies[modify_count - 1].state : KIWI_QPS_RESET;
		return 0;
	}
	default:
		return ENOTTY;
	}
}

static int failed(unsigned int nr, int err, const char *text)
{
	last_error.nr = nr;
	last_error.error = (uint32_t)err;
	snprintf(last_error.text, sizeof(last_error.text), "%s", text ? text : "");
	errno = err;
	return -1;
}

int __wrap_ioctl(int fd, unsigned long request, void *arg)
{
	unsigned int nr = _IOC_NR(request);
	int err;

	if (fd != FAKE_FD)
		return __real_ioctl(fd, request, arg);
	if (request == (is_g2g ? KIWI_G2G_LAST_ERROR : KIWI_SNIC_LAST_ERROR)) {
		memcpy(arg, &last_error, sizeof(last_error));
		return 0;
	}
	if (call_fails())
		return failed(nr, ENOMEM, "the sweep");
	if (down)
		return failed(nr, down, NULL);
	if (fail.nth && nr == fail.nr && !--fail.nth) {
		fail.happened = true;
		return failed(nr, fail.err, fail.text);
	}
	err = is_g2g ? fake_g2g_answer(request, arg) : answer(request, arg);
	return err ? failed(nr, err, NULL) : 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (strcmp(path, "/dev/kiwi/" FAKE_NAME) && strcmp(path, "/dev/kiwi/" FAKE_G2G_NAME))
		return __real_open(path, flags, mode);
	if (call_fails()) {
		errno = EMFILE;
		return -1;
	}
	files++;
	down = 0;
	is_g2g = !strcmp(path, "/dev/kiwi/" FAKE_G2G_NAME);
	return FAKE_FD;
}

int __wrap_close(int fd)
{
	unsigned int i;

	if (fd != FAKE_FD)
		return __real_close(fd);
	/* One file at a time in these tests: with it all objects end. */
	files--;
	for (i = 0; i < MAX_OBJECTS; i++)
		objects[i].kind = NONE;
	fake_g2g_close();
	return 0;
}

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	if (fd != FAKE_FD)
		return __real_read(fd, buf, size);
	calls++;
	if (!event_count) {
		errno = down ? down : EAGAIN;
		return -1;
	}
	breach_unless(size >= sizeof(events[0]));
	memcpy(buf, &events[0], sizeof(events[0]));
	memmove(&events[0], &events[1], sizeof(events[0]) * --event_count);
	return sizeof(events[0]);
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (call_fails()) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	if (fd != FAKE_FD)
		return __real_mmap(addr, len, prot, flags, fd, off);
	if (is_g2g)
		return fake_g2g_mmap(len, prot, flags, off);
	breach_unless(len == PAGE && off == DB_MAP_OFFSET);
	breach_unless(prot == (PROT_READ | PROT_WRITE) && (flags & MAP_SHARED));
	p = __real_mmap(NULL, len, prot, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	doorbell_page = p;
	return p;
}

/* Counting stores --------------------------------------------------------- */

#ifdef __x86_64__

#define TRAP_FLAG 0x100

static volatile sig_atomic_t stores, wrong_stores;
static uint64_t poison = 0xa5a5a5a5a5a5a5a5;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	char *at = info->si_addr;

	(void)sig;
	if (at < (char *)doorbell_page || at >= (char *)doorbell_page + PAGE)
		abort();
	if (at != (char *)doorbell_page + DB_REG_OFFSET)
		wrong_stores++;
	stores++;
	mprotect(doorbell_page, PAGE, PROT_READ | PROT_WRITE);
	/* A store narrower than 8 bytes leaves some of this. */
	*(volatile uint64_t *)((char *)doorbell_page + DB_REG_OFFSET) = poison;
	uc->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
}

static void on_step(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;
	uint64_t value = fake_doorbell();

	(void)sig;
	(void)info;
	if ((value ^ poison) << 32 == 0 || (value ^ poison) >> 32 == 0)
		wrong_stores++;
	uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
	mprotect(doorbell_page, PAGE, PROT_NONE);
}

void fake_count_begin(void)
{
	struct sigaction fault = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
	struct sigaction step = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO };

	sigaction(SIGSEGV, &fault, NULL);
	sigaction(SIGTRAP, &step, NULL);
	stores = 0;
	wrong_stores = 0;
	mprotect(doorbell_page, PAGE, PROT_NONE);
}

unsigned int fake_count_end(bool *sizes_ok)
{
	mprotect(doorbell_page, PAGE, PROT_READ | PROT_WRITE);
	signal(SIGSEGV, SIG_DFL);
	signal(SIGTRAP, SIG_DFL);
	*sizes_ok = !wrong_stores;
	return (unsigned int)stores;
}

#endif /* __x86_64__ */
