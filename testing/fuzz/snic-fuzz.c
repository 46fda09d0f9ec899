// SPDX-License-Identifier: GPL-2.0
/*
 * Fuzzer of the ioctl interface of /dev/kiwi/snic0, with some help of snic1 and xpu0.
 *
 *	--seed N	all that is random follows from it (1)
 *	--calls M	system calls on the devices, beside those of the corpus (10000)
 *	--workers W	processes, each of two threads; every other one without privileges (2)
 *	--corpus FILE	sequences that are run first, and varied
 *	--journal FILE	gets each sequence before it is run
 *	--save FILE	gets the sequences that reached code which those before had not
 *	--places FILE	gets the places of code that were reached
 *
 * A line of the journal is a corpus: with --workers 1 --calls 0 it is run again. Journal
 * and seed name the same sequences again as long as KCOV finds the same new code.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sys/mman.h>

#include <xpu.h>

#include "cover.h"
#include "fuzz.h"
#include "report.h"
#include "sequence.h"
#include "steps.h"
#include "world.h"

#define NOBODY		65534
#define MEMLOCK		(1UL << 20)	/* of those without privileges */
#define CHECK_EVERY	32		/* sequences */
#define STUCK		180		/* seconds without a call */
#define THREADS		2

static struct options {
	uint64_t seed;
	unsigned long calls;
	unsigned int workers;
	const char *corpus, *journal, *save, *places;
} options = { .seed = 1, .calls = 10000, .workers = 2 };

static unsigned int corpus_given;

struct target target;

/* Failing --------------------------------------------------------------------------- */

static const struct sequence *current;

void fault(struct context *ctx, const char *format, ...)
{
	char text[256], line[TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	sequence_print(current, line);
	printf("FAULT of worker %u in %s: %s\n%s", report_worker, step_name(ctx->kind), text,
	       line);
	fflush(stdout);
	report_fail();
}

static void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	fflush(stdout);
	report_fail();
}

/* A sequence in two threads ------------------------------------------------------------- */

static struct world world;
static struct context contexts[THREADS];
static pthread_barrier_t start, finish;

/* One step in three is done by both at the same time. */
static void race(unsigned int thread)
{
	struct context *ctx = &contexts[thread];
	unsigned int i;

	for (i = current->race; i < current->length; i++) {
		if (i % (THREADS + 1) == thread || i % (THREADS + 1) == THREADS)
			step_run(ctx, current->kind[i], current->seed[i]);
	}
}

static void *helper(void *arg)
{
	(void)arg;
	cover_enable(contexts[1].cover);
	for (;;) {
		pthread_barrier_wait(&start);
		race(1);
		pthread_barrier_wait(&finish);
	}
	return NULL;
}

/* How many steps it took to reach all new code that it reached; 0 if there is none. */
static unsigned int run_sequence(struct sequence *s)
{
	unsigned int i, useful = 0;

	current = s;
	world_begin(&world);
	cover_clear(contexts[0].cover);
	cover_clear(contexts[1].cover);
	contexts[0].racing = false;
	for (i = 0; i < s->race && !report_failed(); i++) {
		step_run(&contexts[0], s->kind[i], s->seed[i]);
		if (cover_collect(contexts[0].cover))
			useful = i + 1;
		cover_clear(contexts[0].cover);
	}
	if (s->race < s->length && !report_failed()) {
		contexts[0].racing = true;
		pthread_barrier_wait(&start);
		race(0);
		pthread_barrier_wait(&finish);
		if (cover_collect(contexts[0].cover) + cover_collect(contexts[1].cover))
			useful = s->length;
		cover_clear(contexts[0].cover);
	}
	world_end(&world);
	if (cover_collect(contexts[0].cover))
		useful = s->length;
	return useful;
}

/* A worker ------------------------------------------------------------------------------- */

static void prepare_thread(struct context *ctx)
{
	char *room = mmap(NULL, ARGUMENT_ROOM + PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (room == MAP_FAILED || mprotect(room + ARGUMENT_ROOM, PAGE, PROT_NONE))
		abort();
	ctx->argument = (unsigned char *)room;
	ctx->world = &world;
	ctx->cover = cover_new();
}

static void drop_privileges(void)
{
	struct rlimit limit = { MEMLOCK, MEMLOCK };

	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgroups(0, NULL) ||
	    setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    prctl(PR_SET_DUMPABLE, 1))
		abort();
}

static unsigned int descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (dir && readdir(dir))
		n++;
	closedir(dir);
	return n;
}

static long pinned_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (status && fgets(line, sizeof(line), status))
		sscanf(line, "VmPin: %ld", &kib);
	fclose(status);
	return kib;
}

/* With no file open a process has nothing of the driver. */
static void check_process(void)
{
	static unsigned int open;
	unsigned int now = descriptors();
	long pinned = pinned_kib();

	if (!open)
		open = now;
	if (now != open)
		complain("FAULT: %u descriptors are open, not %u\n", now, open);
	if (pinned)
		complain("FAULT: %ld KiB are pinned with no file open\n", pinned);
}

/* The next sequence: from the corpus that was given, of another, or a new one. */
static bool next_sequence(unsigned int index, struct sequence *s, bool *given)
{
	struct rng rng = { .state = options.seed << 32 ^ (uint64_t)report_worker << 28 ^ index };
	unsigned int place = index * options.workers + report_worker, known = corpus_count();
	struct sequence other;

	*given = place < corpus_given;
	if (*given) {
		corpus_get(place, s);
		return true;
	}
	if (report_calls_of(report_worker) >= options.calls / options.workers)
		return false;
	if (!known || rng_one_in(&rng, 2)) {
		sequence_make(&rng, s);
		return true;
	}
	corpus_get(rng_below(&rng, known), s);
	corpus_get(rng_below(&rng, known), &other);
	sequence_vary(&rng, s, &other);
	return true;
}

static void work(int journal)
{
	unsigned int index, useful;
	char line[TEXT_MAX];
	struct sequence s;
	pthread_t thread;
	bool given;

	world_init(&world);
	prepare_thread(&contexts[0]);
	prepare_thread(&contexts[1]);
	contexts[1].racing = true;
	if (report_worker % 2)
		drop_privileges();
	pthread_barrier_init(&start, NULL, THREADS);
	pthread_barrier_init(&finish, NULL, THREADS);
	if (pthread_create(&thread, NULL, helper, NULL))
		abort();
	cover_enable(contexts[0].cover);

	for (index = 0; !report_failed() && next_sequence(index, &s, &given); index++) {
		if (index % CHECK_EVERY == 0)
			check_process();
		if (journal >= 0 && write(journal, line, sequence_print(&s, line)) < 0)
			complain("FAULT: journal: errno %d\n", errno);
		useful = run_sequence(&s);
		report_sequence();
		if (!useful)
			continue;
		sequence_cut(&s, useful);
		if (given)
			corpus_set_useful(index * options.workers + report_worker);
		else
			corpus_add(&s, true);
	}
	check_process();
}

/* The run --------------------------------------------------------------------------------- */

static const char *const counters[] = { "pd", "mr", "cq", "qp", "db_page" };

#define COUNTERS	(sizeof(counters) / sizeof(counters[0]))
#define DEVICES		2

struct state {
	long live[DEVICES][COUNTERS];
	uint64_t vram_free;
};

static void read_state(struct state *state)
{
	struct xpu_query q = { 0 };
	unsigned int i, device;
	char path[96];
	int xpu = xpu_open(0);
	FILE *file;

	for (device = 0; device < DEVICES; device++) {
		for (i = 0; i < COUNTERS; i++) {
			snprintf(path, sizeof(path), "/sys/class/kiwi/snic%u/diag/live_%s",
				 device, counters[i]);
			file = fopen(path, "r");
			if (!file || fscanf(file, "%ld", &state->live[device][i]) != 1)
				complain("FAULT: cannot read %s\n", path);
			if (file)
				fclose(file);
		}
	}
	if (xpu < 0 || xpu_query(xpu, &q))
		complain("FAULT: cannot query xpu0\n");
	state->vram_free = q.vram_free;
	close(xpu);
}

static void check_state(const struct state *before)
{
	struct state now;
	unsigned int i, device;

	read_state(&now);
	for (device = 0; device < DEVICES; device++) {
		for (i = 0; i < COUNTERS; i++) {
			if (now.live[device][i] != before->live[device][i])
				complain("FAULT: snic%u holds live_%s %ld, not %ld\n", device,
					 counters[i], now.live[device][i], before->live[device][i]);
		}
	}
	if (now.vram_free != before->vram_free)
		complain("FAULT: of VRAM %llu bytes are free, not %llu\n",
			 (unsigned long long)now.vram_free, (unsigned long long)before->vram_free);
}

static void must(int ret, const char *what)
{
	if (!ret)
		return;
	perror(what);
	exit(2);
}

static int open_device(unsigned int device)
{
	int fd = world_open(device ? FILES - 1 : 0);

	must(fd < 0, device ? "/dev/kiwi/snic1" : "/dev/kiwi/snic0");
	return fd;
}

static void learn(unsigned int device, struct target *t)
{
	int fd = open_device(device);
	unsigned int i;

	t->caps.size = sizeof(t->caps);
	must(ioctl(fd, KIWI_SNIC_QUERY_DEVICE, &t->caps), "QUERY_DEVICE");
	must(t->caps.ports > PORTS_MAX, "ports");
	for (i = 0; i < t->caps.ports; i++) {
		t->port[i].size = sizeof(t->port[i]);
		t->port[i].port = i + 1;
		must(ioctl(fd, KIWI_SNIC_QUERY_PORT, &t->port[i]), "QUERY_PORT");
		t->gid[i].size = sizeof(t->gid[i]);
		t->gid[i].port = i + 1;
		must(ioctl(fd, KIWI_SNIC_QUERY_GID, &t->gid[i]), "QUERY_GID");
	}
	close(fd);
}

/* The ports and GIDs that sequences left behind: as they were. */
static void restore(unsigned int device, struct target *t)
{
	struct kiwi_snic_set_port port = { .size = sizeof(port), .enabled = 1 };
	struct kiwi_snic_gid none = { .size = sizeof(none) };
	int fd = open_device(device);
	unsigned int i, index;

	for (i = 0; i < t->caps.ports; i++) {
		port.port = i + 1;
		port.mtu = t->port[i].mtu;
		must(ioctl(fd, KIWI_SNIC_SET_PORT, &port), "SET_PORT");
		none.port = i + 1;
		for (index = 0; index < t->caps.gids; index++) {
			none.index = index;
			must(ioctl(fd, KIWI_SNIC_SET_GID, &none), "SET_GID");
		}
		must(ioctl(fd, KIWI_SNIC_SET_GID, &t->gid[i]), "SET_GID");
	}
	close(fd);
}

static void show_stacks(pid_t pid)
{
	char path[64], line[256];
	struct dirent *task;
	FILE *file;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (task = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/stack", pid, task->d_name);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			printf("%.16s %s", task->d_name, line);
		if (file)
			fclose(file);
	}
	if (dir)
		closedir(dir);
}

static void start_workers(pid_t pids[WORKERS_MAX])
{
	int journal = -1;
	unsigned int i;

	if (options.journal) {
		journal = open(options.journal, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
		must(journal < 0, options.journal);
	}
	fflush(stdout);
	for (i = 0; i < options.workers; i++) {
		pids[i] = fork();
		must(pids[i] < 0, "fork");
		if (pids[i])
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		report_worker = i;
		work(journal);
		exit(0);
	}
}

/* Until all have ended, or one does not go on. */
static void watch_workers(const pid_t pids[WORKERS_MAX])
{
	unsigned int i, left = options.workers;
	time_t last = time(NULL);
	unsigned long calls = 0;
	int status;
	pid_t pid;

	while (left) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0) {
			left--;
			if (status)
				complain("FAULT: a worker ended with status %#x\n", status);
			continue;
		}
		if (report_calls() != calls) {
			calls = report_calls();
			last = time(NULL);
		} else if (time(NULL) - last > STUCK) {
			complain("FAULT: nothing happens any more\n");
			for (i = 0; i < options.workers; i++)
				show_stacks(pids[i]);
			return;
		}
		usleep(100000);
	}
}

static bool parse(int argc, char **argv)
{
	static const struct option known[] = {
		{ "seed", required_argument, NULL, 's' },
		{ "calls", required_argument, NULL, 'c' },
		{ "workers", required_argument, NULL, 'w' },
		{ "corpus", required_argument, NULL, 'C' },
		{ "journal", required_argument, NULL, 'j' },
		{ "save", required_argument, NULL, 'S' },
		{ "places", required_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 }
	};
	int o;

	while ((o = getopt_long(argc, argv, "", known, NULL)) != -1) {
		switch (o) {
		case 's':
			options.seed = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			options.calls = strtoul(optarg, NULL, 0);
			break;
		case 'w':
			options.workers = atoi(optarg);
			break;
		case 'C':
			options.corpus = optarg;
			break;
		case 'j':
			options.journal = optarg;
			break;
		case 'S':
			options.save = optarg;
			break;
		case 'p':
			options.places = optarg;
			break;
		default:
			return false;
		}
	}
	return optind == argc && options.workers && options.workers <= WORKERS_MAX;
}

int main(int argc, char **argv)
{
	struct target found[DEVICES] = { 0 };
	struct state before;
	unsigned int device;
	pid_t pids[WORKERS_MAX];
	int given;

	if (!parse(argc, argv)) {
		fprintf(stderr, "usage: %s [--seed N] [--calls M] [--workers 1..%u]\n", argv[0],
			WORKERS_MAX);
		fprintf(stderr, "\t[--corpus|--journal|--save|--places FILE]...\n");
		return 2;
	}
	report_init();
	corpus_init();
	if (options.corpus) {
		given = corpus_read(options.corpus);
		must(given < 0, options.corpus);
		corpus_given = given;
	}
	if (!cover_init())
		printf("no KCOV: nothing is learnt\n");
	for (device = 0; device < DEVICES; device++)
		learn(device, &found[device]);
	target = found[0];
	read_state(&before);
	printf("seed %llu\n", (unsigned long long)options.seed);
	start_workers(pids);
	watch_workers(pids);
	check_state(&before);
	for (device = 0; device < DEVICES; device++)
		restore(device, &found[device]);

	report_print();
	if (cover_present())
		printf("%u places covered, %u sequences known\n", cover_count(), corpus_count());
	if (options.save)
		must(!corpus_write(options.save), options.save);
	if (options.places && cover_present())
		must(!cover_write(options.places), options.places);
	return report_failed();
}
