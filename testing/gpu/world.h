/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ranks that talk to each other through SNICs: each has memory of an accelerator, and queue
 * pairs to the others that its kernels post to. Whatever fails ends the test.
 */
#ifndef GPU_WORLD_H
#define GPU_WORLD_H

#include <kiwi/proxy.h>
#include <snic-test.h>
#include <xpu.h>

#define RANKS_MAX	16
#define LINKS_MAX	32	/* of a rank */

#define RANK_BYTES	(1024 * 1024UL)	/* of a rank's memory */
#define KERNEL_US	60000000	/* bound on a command */
#define KERNEL_MS	60000		/* and on a kernel */

/**
 * struct world_config - what is made
 * @ranks: rank r works on snic and xpu r % 2
 * @links: queue pairs from each rank to each other one; 0 is 1
 * @units: of a send queue; 0 is 64
 * @own_pages: a doorbell page for each queue, not for each rank
 * @keep_pages: the accelerator keeps ringing where a page was
 * @no_record: the doorbell tells the index
 * @phase: completion queues of several entries, not collapsed ones
 * @proxy: the CPU rings: kiwi_proxy_poll() of the rank's
 * @unprivileged: all but the opening is done as a user without privileges
 * @errors: each rank has an error page in its accelerator's memory
 * @ack_timeout: as that of struct kiwi_connect; 0 is 18, a second
 */
struct world_config {
	unsigned int ranks;
	unsigned int links;
	uint32_t units;
	bool own_pages;
	bool keep_pages;
	bool no_record;
	bool phase;
	bool proxy;
	bool unprivileged;
	bool errors;
	uint8_t ack_timeout;
};

/* A doorbell page, and the number it has on the accelerator. */
struct page {
	struct kiwi_doorbell *db;
	int fd;
	unsigned int number;
};

/* A queue pair; rings and record stand in @rings from @at on. */
struct link {
	struct kiwi_cq *cq;
	struct kiwi_qp *qp;
	struct page page;
	uint64_t at;
	uint32_t queue;		/* number, for commands */
};

struct rank {
	unsigned int number;
	struct kiwi_device *nic;
	int xpu;
	struct kiwi_pd *pd;
	struct kiwi_mr *mr;
	int data, rings, list, errors;	/* buffers; errors: -1 if there is no page */
	uint8_t *mem;		/* the CPU's view of @data */
	struct xpu_cmd *cmd;	/* of @list */
	const volatile struct kiwi_error_page *error;	/* and of @errors */
	struct page page;
	struct link link[LINKS_MAX];
	struct kiwi_proxy proxy[LINKS_MAX];
	unsigned int proxies;	/* grows while a thread polls them */
};

struct world {
	struct world_config config;
	struct rank rank[RANKS_MAX];
};

void world_make(struct world *w, const struct world_config *config);

/* In parts: the config is as that of a world. */
void rank_open(struct rank *r, unsigned int number);
void rank_make(struct rank *r, const struct world_config *config);
void link_make(struct rank *r, struct link *l, unsigned int place,
	       const struct world_config *config);
void link_connect(struct rank *r, struct link *l, const struct rank *peer,
		  const struct link *other, const struct world_config *config);
void link_adopt(struct rank *r, struct link *l, const struct world_config *config);
/* The QP and what is its alone of the SNIC; the accelerator's queue stays. */
void link_drop(struct link *l, const struct world_config *config);
/* The accelerator's queue, and its doorbell. */
void link_forget(struct rank *r, struct link *l, const struct world_config *config);

/* The n-th link from rank @from to rank @to. */
struct link *link_of(struct world *w, unsigned int from, unsigned int to, unsigned int n);

/* Address of a byte of the rank's memory in work requests. */
uint64_t iova(const struct rank *r, uint64_t offset);
uint64_t *word_at(struct rank *r, uint64_t offset);

/* Commands that move bytes from rank @r to or from @peer. */
struct xpu_cmd put(const struct link *l, const struct rank *r, uint64_t from,
		   const struct rank *peer, uint64_t to, uint32_t length);
struct xpu_cmd get(const struct link *l, const struct rank *r, uint64_t to,
		   const struct rank *peer, uint64_t from, uint32_t length);
struct xpu_cmd fetch_add(const struct link *l, const struct rank *r, uint64_t old,
			 const struct rank *peer, uint64_t word, uint64_t addend);
struct xpu_cmd quiet(const struct link *l);
struct xpu_cmd wait_for(uint64_t offset, uint64_t value);
struct xpu_cmd store(uint64_t offset, uint64_t value);

/*
 * Runs @count commands a thread, which are in the rank's list. Its memory is buffer 0, and its
 * error page buffer 1.
 */
uint32_t begin(struct rank *r, uint32_t count, uint32_t threads);
/* The same with the list in another buffer. */
uint32_t begin_list(struct rank *r, int list, uint32_t count, uint32_t threads);
struct xpu_wait outcome(struct rank *r, uint32_t kernel);
void done(struct rank *r, uint32_t kernel);
void run_list(struct rank *r, const struct xpu_cmd *cmd, uint32_t count);

/* In seconds, as /proc/uptime. */
double uptime(void);

/* Bytes that are the same in each run. */
void scramble(void *at, size_t length);

#endif /* GPU_WORLD_H */
