// SPDX-License-Identifier: GPL-2.0
/* Doorbell mappings: who may map what, and that the device never sees a late access. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "snic-test.h"

static int try_map(int fd, size_t length, int prot, int flags, uint64_t offset)
{
	void *p = mmap(NULL, length, prot, flags, fd, offset);

	if (p == MAP_FAILED)
		return -errno;
	munmap(p, length);
	return 0;
}

static void offsets(void)
{
	int fd = snic_open(), other = snic_open(), rw = PROT_READ | PROT_WRITE;
	struct kiwi_snic_doorbell_alloc db = make_doorbell(fd, 0), of_other = make_doorbell(other, 0);
	size_t size = db.map_size;
	uint64_t off = db.map_offset;

	CHECK(off != of_other.map_offset);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, off), 0);
	EQUAL(try_map(fd, size, PROT_WRITE, MAP_SHARED, off), 0);
	EQUAL(try_map(fd, size, PROT_READ, MAP_SHARED, off), 0);
	EQUAL(try_map(fd, size, rw, MAP_PRIVATE, off), -EINVAL);
	EQUAL(try_map(fd, size + PAGE, rw, MAP_SHARED, off), -EINVAL);
	EQUAL(try_map(fd, 2 * size, rw, MAP_SHARED, off), -EINVAL);
	if (size > PAGE)
		EQUAL(try_map(fd, size - PAGE, rw, MAP_SHARED, off), -EINVAL);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, 0), -EINVAL);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, off + PAGE), -EINVAL);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, off - PAGE), -EINVAL);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, 1ULL << 63), -EINVAL);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, (1ULL << 63) + off), -EINVAL);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, -2 * size), -EINVAL);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, of_other.map_offset), -EINVAL);
	EQUAL(try_map(other, size, rw, MAP_SHARED, off), -EINVAL);
	EQUAL(try_map(other, size, rw, MAP_SHARED, of_other.map_offset), 0);
	EQUAL(destroy(fd, db.doorbell), 0);
	EQUAL(try_map(fd, size, rw, MAP_SHARED, off), -EINVAL);
	close(fd);
	close(other);
}

static void use(void)
{
	int fd = snic_open();
	struct kiwi_snic_doorbell_alloc db = make_doorbell(fd, 0);
	volatile uint64_t *word = map_doorbell(fd, &db), *again = map_doorbell(fd, &db), value;
	long long malformed = snic_attr("diag/db_malformed");
	long long closed = snic_attr("diag/db_closed_page");
	void *base = (char *)word - db.reg_offset, *moved;
	int status;
	pid_t pid;

	value = *word;
	EQUAL(value, 0);
	*word = 0;			/* of no known type */
	EQUAL(snic_attr("diag/db_malformed"), malformed + 1);
	*again = ~0ULL;
	EQUAL(snic_attr("diag/db_malformed"), malformed + 2);

	/* It stays where it is, in one piece. */
	moved = mremap(base, db.map_size, db.map_size, MREMAP_MAYMOVE | MREMAP_FIXED,
		       (char *)pages(db.map_size));
	CHECK(moved == MAP_FAILED);
	moved = mremap(base, db.map_size, 2 * db.map_size, MREMAP_MAYMOVE);
	CHECK(moved == MAP_FAILED);
	moved = mremap(base, 0, db.map_size, MREMAP_MAYMOVE);
	CHECK(moved == MAP_FAILED);
	EQUAL(touch(word, true), 0);
	EQUAL(snic_attr("diag/db_malformed"), malformed + 3);
	if (db.map_size > PAGE) {
		CHECK(munmap(base, PAGE));
		CHECK(mprotect((char *)base + PAGE, PAGE, PROT_READ));
	}

	/* Advice cannot have it inherited nor dropped, and a change of rights leaves it whole. */
	CHECK(madvise(base, db.map_size, MADV_DOFORK));
	CHECK(madvise(base, db.map_size, MADV_DONTNEED));
	EQUAL(mprotect(base, db.map_size, PROT_READ), 0);
	EQUAL(touch(word, true), SIGSEGV);
	EQUAL(mprotect(base, db.map_size, PROT_READ | PROT_WRITE), 0);
	EQUAL(touch(word, true), 0);
	EQUAL(snic_attr("diag/db_malformed"), malformed + 4);

	/* A child does not have it. */
	pid = fork();
	if (!pid)
		_exit(touch(word, true));
	EQUAL(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	EQUAL(WEXITSTATUS(status), SIGSEGV);
	EQUAL(snic_attr("diag/db_malformed"), malformed + 4);

	/* The end of one mapping is not that of another. */
	EQUAL(munmap(base, db.map_size), 0);
	EQUAL(touch(again, true), 0);
	EQUAL(snic_attr("diag/db_malformed"), malformed + 5);
	EQUAL(destroy(fd, db.doorbell), 0);
	EQUAL(touch(again, false), 0);
	EQUAL(touch(again, true), 0);
	EQUAL(snic_attr("diag/db_malformed"), malformed + 5);
	EQUAL(snic_attr("diag/db_closed_page"), closed);
	EQUAL(munmap((char *)again - db.reg_offset, db.map_size), 0);
	close(fd);
}

/* A mapping keeps the file, and with it the objects. */
static void outlive(void)
{
	int fd = snic_open();
	struct kiwi_snic_doorbell_alloc db = make_doorbell(fd, 0);
	volatile uint64_t *word = map_doorbell(fd, &db);

	make_pd(fd);
	close(fd);
	EQUAL(snic_attr("diag/live_pd"), 1);
	EQUAL(touch(word, true), 0);
	EQUAL(munmap((char *)word - db.reg_offset, db.map_size), 0);
	EQUAL(snic_attr("diag/live_pd"), 0);
}

/* Threads that map, write and destroy at once: no store reaches a closed page. */
#define RACE_SECONDS	4

static int race_fd;
static struct kiwi_snic_doorbell_alloc race_db;
static atomic_bool race_over;

static void *mapper(void *arg)
{
	struct kiwi_snic_doorbell_alloc db;
	char *p;
	int i;

	(void)arg;
	while (!race_over) {
		db = race_db;
		p = mmap(NULL, db.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, race_fd,
			 db.map_offset);
		if (p == MAP_FAILED)
			continue;
		for (i = 0; i < 20; i++)
			*(volatile uint64_t *)(p + db.reg_offset) = 0;
		munmap(p, db.map_size);
	}
	return NULL;
}

static void race(void)
{
	time_t end = time(NULL) + RACE_SECONDS;
	long long closed = snic_attr("diag/db_closed_page");
	struct kiwi_snic_doorbell_alloc db;
	pthread_t threads[2];
	int i;

	race_fd = snic_open();
	race_db = make_doorbell(race_fd, 0);
	for (i = 0; i < 2; i++)
		EQUAL(pthread_create(&threads[i], NULL, mapper, NULL), 0);
	while (time(NULL) < end) {
		db = race_db;
		race_db = make_doorbell(race_fd, 0);
		EQUAL(destroy(race_fd, db.doorbell), 0);
	}
	race_over = true;
	for (i = 0; i < 2; i++)
		EQUAL(pthread_join(threads[i], NULL), 0);
	EQUAL(snic_attr("diag/db_closed_page"), closed);
	close(race_fd);
}

/* A mapping made while its doorbell is destroyed is taken away all the same. */
static void *destroyer(void *arg)
{
	EQUAL(destroy(race_fd, *(uint32_t *)arg), 0);
	return NULL;
}

static void map_or_destroy(void)
{
	long long closed = snic_attr("diag/db_closed_page");
	long long malformed = snic_attr("diag/db_malformed");
	struct kiwi_snic_doorbell_alloc db;
	unsigned int mapped = 0, round;
	pthread_t thread;
	char *p;

	race_fd = snic_open();
	for (round = 0; round < 500; round++) {
		db = make_doorbell(race_fd, 0);
		EQUAL(pthread_create(&thread, NULL, destroyer, &db.doorbell), 0);
		p = mmap(NULL, db.map_size, PROT_READ | PROT_WRITE, MAP_SHARED, race_fd,
			 db.map_offset);
		EQUAL(pthread_join(thread, NULL), 0);
		if (p == MAP_FAILED)
			continue;
		mapped++;
		EQUAL(touch((volatile uint64_t *)(p + db.reg_offset), true), 0);
		EQUAL(munmap(p, db.map_size), 0);
	}
	CHECK(mapped);
	EQUAL(snic_attr("diag/db_closed_page"), closed);
	EQUAL(snic_attr("diag/db_malformed"), malformed);
	close(race_fd);
}

const struct test doorbell_tests[] = {
	{ "doorbells.offsets", offsets },
	{ "doorbells.use", use },
	{ "doorbells.outlive", outlive },
	{ "doorbells.race", race },
	{ "doorbells.map-or-destroy", map_or_destroy },
	{ NULL, NULL }
};
