/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One end of a reliable connection, as the test of peer.c needs it. There are
 * two makes of it: verbs-peer.c stands on libibverbs, kiwi-peer.c on libkiwi.
 */
#ifndef INTEROP_ENDPOINT_H
#define INTEROP_ENDPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for work requests of each kind, in each queue. */
#define EP_DEPTH 64

enum ep_op {
	EP_SEND,
	EP_SEND_IMM,
	EP_WRITE,
	EP_WRITE_IMM,
	EP_READ,
	EP_CMP_SWAP,
	EP_FETCH_ADD,
};

/* Completion status, numbered as in libibverbs and in the firmware ABI. */
enum ep_status {
	EP_ST_OK = 0,
	EP_ST_FLUSHED = 5,
	EP_ST_REM_INV_REQ = 9,
	EP_ST_REM_ACCESS = 10,
	EP_ST_REM_OP = 11,
	EP_ST_RNR_RETRY_EXC = 13,
};

struct ep_options {
	const char *device;
	unsigned int gid_index;
	void *buf;
	size_t size;
};

/* What the peer needs to know; goes over the control connection as it is. */
struct ep_address {
	uint64_t addr;		/* of the buffer */
	uint32_t rkey;		/* of the buffer, with all rights */
	uint32_t rkey_read;	/* of the buffer, for reading only */
	uint32_t qpn;
	uint32_t psn;
	uint32_t rd_atomic;	/* READs and atomics taken in flight */
	uint8_t gid[16];
	uint8_t mac[6];
	uint8_t aligned_only;	/* atomics that are not aligned cannot even be posted */
	uint8_t status_too_long; /* how this end refuses what its receive cannot hold */
};

struct ep_params {
	unsigned int mtu;	/* bytes */
	unsigned int rd_atomic;
	unsigned int timeout;
	unsigned int retry_cnt;
	unsigned int rnr_retry;
	unsigned int min_rnr_timer;
};

struct ep_work {
	enum ep_op op;
	uint64_t wr_id;
	size_t local;		/* offset in the buffer */
	size_t len;
	uint64_t raddr;
	uint32_t rkey;
	uint32_t imm;
	uint64_t swap_add;
	uint64_t compare;
};

struct ep_done {
	uint64_t wr_id;
	int status;
	bool recv;		/* what follows is known when it is OK and of a receive */
	bool has_imm;
	uint32_t len;
	uint32_t imm;
};

struct ep;

/* They end the program with a message when the system refuses. */
struct ep *ep_open(const struct ep_options *opt);
void ep_close(struct ep *ep);

/* A new queue pair in the place of the one there was; fills in the address. */
void ep_renew(struct ep *ep, struct ep_address *local);
void ep_connect(struct ep *ep, const struct ep_address *remote, const struct ep_params *p);

void ep_post(struct ep *ep, const struct ep_work *work);
void ep_post_recv(struct ep *ep, uint64_t wr_id, size_t offset, size_t len);
/* One completion if there is one. */
bool ep_poll(struct ep *ep, struct ep_done *done);

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif /* INTEROP_ENDPOINT_H */
