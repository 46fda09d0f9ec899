/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the ioctl interface share. A test runs in a process of its own
 * and ends it where something is not as it should be.
 */
#ifndef SNIC_TEST_H
#define SNIC_TEST_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kiwi/snic.h>
#include <kiwi_abi/queues.h>
#include <kiwi_abi/snic.h>

#define PAGE	4096UL

#define CHECK(cond)	test_check(cond, #cond, __FILE__, __LINE__)
#define EQUAL(a, b)	test_equal((long long)(a), (long long)(b), #a " == " #b, __FILE__, __LINE__)

void test_check(bool ok, const char *what, const char *file, int line);
void test_equal(long long a, long long b, const char *what, const char *file, int line);

/* Whether a name is one of those given, or none are. */
bool test_wanted(const char *name, int count, char **names);

struct test {
	const char *name;
	void (*run)(void);
};

/* One array for each file of tests; each ends with a name of NULL. */
extern const struct test args_tests[];
extern const struct test object_tests[];
extern const struct test memory_tests[];
extern const struct test starved_tests[];
extern const struct test queue_tests[];
extern const struct test doorbell_tests[];
extern const struct test event_tests[];
extern const struct test limit_tests[];
extern const struct test life_tests[];
extern const struct test gpu_tests[];
extern const struct test preflight_tests[];

/* The device under test: N of /dev/kiwi/snicN. */
extern unsigned int test_device;

int snic_open(void);
/* 0, or what the ioctl returned, or a negative errno. */
int snic_call(int fd, unsigned long cmd, void *arg);
struct kiwi_snic_query_device snic_caps(int fd);
struct kiwi_snic_last_error snic_last_error(int fd);
/* The last ioctl failed with this errno, and its text holds the words. */
void expect_error(int fd, int error, const char *words);

/* Attributes of the device in sysfs. */
long long snic_attr(const char *name);
int snic_attr_write(const char *name, const char *value);
void snic_pci_address(char *address, size_t size);
int write_file(const char *path, const char *value);

/* Zeroed memory of whole pages. */
void *pages(size_t length);

/* Arguments that would succeed. */
struct kiwi_snic_mr_reg mr_args(uint32_t pd, void *addr, size_t length);
struct kiwi_snic_cq_create cq_args(uint32_t doorbell, void *mem, uint32_t log2);
struct kiwi_snic_qp_create qp_args(uint32_t pd, uint32_t cq, uint32_t doorbell, void *rings);

/* These succeed or end the test. */
uint32_t make_pd(int fd);
struct kiwi_snic_doorbell_alloc make_doorbell(int fd, uint32_t flags);
struct kiwi_snic_mr_reg make_mr(int fd, uint32_t pd, void *addr, size_t length);
struct kiwi_snic_cq_create make_cq(int fd, uint32_t doorbell, int event_fd, void *mem);
struct kiwi_snic_qp_create make_qp(int fd, uint32_t pd, uint32_t cq, uint32_t doorbell);
int destroy(int fd, uint32_t id);
volatile uint64_t *map_doorbell(int fd, const struct kiwi_snic_doorbell_alloc *db);

/* To RTS, connected to itself on port 1. */
void connect_self(int fd, const struct kiwi_snic_qp_create *qp);
int modify_state(int fd, uint32_t qp, int state);

/* What an access to one word does: 0, or the signal that it raised. */
int touch(volatile uint64_t *word, bool write);

/* Becomes a user without privileges. */
void drop_privileges(void);

#endif /* SNIC_TEST_H */
