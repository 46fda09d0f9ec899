/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libkiwi: the user library of the Kiwi SNIC; G2G IO dies, and queues on them: kiwi/fabric.h.
 *
 * Calls that can fail return 0 or a negative errno, with the meanings that
 * kiwi/snic.h or kiwi/g2g.h gives; kiwi_error() then says in words what was refused. What a call
 * makes is stored through its last argument, and only on success.
 *
 * The library may be used from several threads; an object is in use by one call
 * at a time (the data path: see kiwi/queue.h).
 */
#ifndef KIWI_KIWI_H
#define KIWI_KIWI_H

#include <stddef.h>
#include <stdint.h>

#include <kiwi/queue.h>
#include <kiwi/snic.h>
#include <kiwi_abi/snic.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KIWI_NAME_MAX	16	/* bytes of a device name, the final NUL included */

struct kiwi_device;
struct kiwi_doorbell;
struct kiwi_proxy;

/* Devices ----------------------------------------------------------------- */

struct kiwi_name {
	char name[KIWI_NAME_MAX];
};

/* Fill in at most @max names, in the order of their numbers. Return: how many devices there are. */
int kiwi_list(struct kiwi_name *names, int max);

/* @name: "snic0", "0" or "/dev/kiwi/snic0". */
int kiwi_open(const char *name, struct kiwi_device **dev);

/*
 * Close @dev; NULL is allowed. All objects that were made with it end, and their
 * handles with them.
 */
void kiwi_close(struct kiwi_device *dev);

const char *kiwi_device_name(const struct kiwi_device *dev);

/* The file: for poll(2), or to be handed to another process. */
int kiwi_device_fd(const struct kiwi_device *dev);

/* Identity and limits, as they were when the device was opened. */
const struct kiwi_snic_query_device *kiwi_device_info(const struct kiwi_device *dev);

/* What the latest call of this thread that failed was refused for: one line, never NULL. */
const char *kiwi_error(void);

/* Ports ------------------------------------------------------------------- */

int kiwi_query_port(struct kiwi_device *dev, uint32_t port, struct kiwi_snic_query_port *out);

/* Needs CAP_NET_ADMIN. @mtu: enum kiwi_mtu */
int kiwi_set_port(struct kiwi_device *dev, uint32_t port, int enabled, unsigned int mtu);

int kiwi_query_gid(struct kiwi_device *dev, uint32_t port, unsigned int index,
		   struct kiwi_snic_gid *out);

/* Needs CAP_NET_ADMIN. @gid: 16 bytes in network byte order, NULL to clear the entry. */
int kiwi_set_gid(struct kiwi_device *dev, uint32_t port, unsigned int index,
		 const uint8_t *gid);

/* The MAC address in a link-local GID made from one; -EINVAL for any other GID. */
int kiwi_gid_to_mac(const uint8_t gid[16], uint8_t mac[6]);

/* Bytes of an MTU code and back; 0 for what is no code or no MTU. */
unsigned int kiwi_mtu_bytes(unsigned int code);
unsigned int kiwi_mtu_code(unsigned int bytes);

/* Preflight --------------------------------------------------------------- */

/*
 * What GPU-initiated work needs, good or bad: fills in at most *@count of @checks; *@count is
 * then how many there are. @fd: DMA-buf of the GPU to be reached, or -1.
 */
int kiwi_preflight(struct kiwi_device *dev, int fd, struct kiwi_check *checks, uint32_t *count);

/* Memory ------------------------------------------------------------------ */

struct kiwi_pd {
	struct kiwi_device *dev;
	uint32_t id;
};

int kiwi_pd_alloc(struct kiwi_device *dev, struct kiwi_pd **pd);
int kiwi_pd_free(struct kiwi_pd *pd);

/**
 * struct kiwi_mr - a memory region
 * @pd: of the region
 * @iova: address of the first byte in work requests
 * @length: bytes
 * @key: lkey and rkey
 * @id: for ioctls, and in events
 */
struct kiwi_mr {
	struct kiwi_pd *pd;
	uint64_t iova;
	uint64_t length;
	uint32_t key;
	uint32_t id;
};

/* Register @length bytes at @addr; work requests name them by the same address. */
int kiwi_mr_reg(struct kiwi_pd *pd, void *addr, uint64_t length, unsigned int access,
		struct kiwi_mr **mr);

/* Register part of a DMA-buf; work requests name its first byte by @iova. */
int kiwi_mr_reg_dmabuf(struct kiwi_pd *pd, int fd, uint64_t offset, uint64_t length,
		       uint64_t iova, unsigned int access, struct kiwi_mr **mr);

/* Register any memory. @user_data is given back in events. */
int kiwi_mr_reg_mem(struct kiwi_pd *pd, const struct kiwi_mem *mem, uint64_t iova,
		    unsigned int access, uint64_t user_data, struct kiwi_mr **mr);

int kiwi_mr_query(struct kiwi_mr *mr, struct kiwi_snic_mr_query *out);
int kiwi_mr_dereg(struct kiwi_mr *mr);

/*
 * Zeroed memory on pages of its own, in huge pages where it is large enough and
 * the system has them; not inherited by fork. NULL, with errno, when there is none.
 */
void *kiwi_memory_alloc(size_t size);
void kiwi_memory_free(void *memory, size_t size);

/* Doorbells --------------------------------------------------------------- */

/* @flags: KIWI_SNIC_DOORBELL_* */
int kiwi_doorbell_alloc(struct kiwi_device *dev, uint32_t flags, struct kiwi_doorbell **db);
int kiwi_doorbell_free(struct kiwi_doorbell *db);

/* The 64-bit register in the mapping. */
volatile uint64_t *kiwi_doorbell_reg(const struct kiwi_doorbell *db);

/*
 * The page as a DMA-buf, for the driver of a GPU that shall ring it: @out->fd, which is the
 * caller's, closed on exec.
 */
int kiwi_doorbell_export(struct kiwi_doorbell *db, struct kiwi_snic_doorbell_export *out);

/* Completion queues ------------------------------------------------------- */

/**
 * struct kiwi_ring_mem - memory of a ring that the caller brings
 * @mem: the memory, zeroed; of a send or receive queue exactly its bytes
 * @cpu: where this process sees its first byte; NULL when it does not: then the
 *	inline functions find the ring always full, or empty, and whoever sees the
 *	memory serves it
 */
struct kiwi_ring_mem {
	struct kiwi_mem mem;
	void *cpu;
};

/**
 * struct kiwi_cq_config - what kiwi_cq_create() makes; unset members are 0
 * @entries: at least so many, rounded up to a power of two
 * @event_fd: eventfd that counts events, -1 or 0 for none
 * @vector: completion vector
 * @flags: KIWI_CQ_*. With KIWI_CQ_OVERRUN_IGNORE whoever polls too late misses completions.
 *	With KIWI_CQ_COLLAPSED @entries is not looked at, one is made, kiwi_poll_cq() finds
 *	none, and kiwi_poll_collapsed() is there in its place
 * @doorbell: to arm with; NULL for the one that the device handle keeps for all
 * @mem: memory of the entries and, behind them, of struct kiwi_cq_ci; NULL: the
 *	library allocates. See kiwi_cq_bytes()
 * @user_data: given back in events
 */
struct kiwi_cq_config {
	uint32_t entries;
	int event_fd;
	uint32_t vector;
	uint32_t flags;
	struct kiwi_doorbell *doorbell;
	const struct kiwi_ring_mem *mem;
	uint64_t user_data;
};

/* Bytes of memory that a CQ of so many entries takes; 0 when there can be none. */
size_t kiwi_cq_bytes(uint32_t entries);

int kiwi_cq_create(struct kiwi_device *dev, const struct kiwi_cq_config *config,
		   struct kiwi_cq **cq);
int kiwi_cq_destroy(struct kiwi_cq *cq);

/* Queue pairs ------------------------------------------------------------- */

/**
 * struct kiwi_qp_config - what kiwi_qp_create() makes; unset members are 0
 * @send_cq: completions of the send queue
 * @recv_cq: completions of the receive queue; NULL for @send_cq, or with KIWI_QP_SQ_ONLY
 * @doorbell: NULL for the one that the device handle keeps for all
 * @sq_units: units of 64 bytes in the send queue, rounded up to a power of two, at
 *	least 8. Work takes 16 bytes, 16 more for all but SEND, 16 more for atomics,
 *	and 16 a piece of memory or for 12, then each 16 bytes of inline data
 * @rq_entries: entries of the receive queue, rounded up to a power of two
 * @recv_sge: pieces of memory of a receive entry, at most 31
 * @flags: KIWI_QP_*; with KIWI_QP_SQ_ONLY all that is of the receive queue is 0
 * @sq_mem: memory of the send queue; NULL: the library allocates
 * @rq_mem: memory of the receive queue, likewise
 * @user_data: given back in events
 * @record_mem: with KIWI_QP_DB_RECORD: memory of struct kiwi_qp_db_record, likewise
 */
struct kiwi_qp_config {
	struct kiwi_cq *send_cq;
	struct kiwi_cq *recv_cq;
	struct kiwi_doorbell *doorbell;
	uint32_t sq_units;
	uint32_t rq_entries;
	uint32_t recv_sge;
	uint32_t flags;
	const struct kiwi_ring_mem *sq_mem;
	const struct kiwi_ring_mem *rq_mem;
	uint64_t user_data;
	const struct kiwi_ring_mem *record_mem;
};

/* An RC queue pair in state RESET. */
int kiwi_qp_create(struct kiwi_pd *pd, const struct kiwi_qp_config *config,
		   struct kiwi_qp **qp);
int kiwi_qp_destroy(struct kiwi_qp *qp);

/*
 * Any transition. @attr: @size, @flags and @qp are filled in. To RESET: all work
 * posted is forgotten, and so are its completions that were not polled.
 */
int kiwi_qp_modify(struct kiwi_qp *qp, const struct kiwi_snic_qp_modify *attr);
int kiwi_qp_query(struct kiwi_qp *qp, struct kiwi_snic_qp_modify *attr);

/**
 * struct kiwi_connect - both ends of a connection, and how it behaves
 * @dest_qpn: QP number of the peer
 * @sq_psn: first packet sequence number sent: the peer's @rq_psn
 * @rq_psn: first packet sequence number expected: the peer's @sq_psn
 * @access: KIWI_ACCESS_REMOTE_*: what the peer may do
 * @flow_label: 20 bits
 * @udp_sport: 0 (the device chooses) or 0xc000..0xffff
 * @port: local port
 * @sgid_index: local GID
 * @mtu: enum kiwi_mtu
 * @timeout: local ACK timeout 4.096 us * 2^n, 0 for none
 * @retry_cnt: 0..7
 * @rnr_retry: 0..7, 7 for no end
 * @min_rnr_timer: IBTA code 0..31
 * @max_rd_atomic: READs and atomics in flight to the peer
 * @max_dest_rd_atomic: READs and atomics in flight from the peer
 * @hop_limit: 0 is taken as 64
 * @traffic_class: DSCP in the upper 6 bits; ECN is the device's to set
 * @dmac: MAC address of the peer, or of the router to it
 * @dgid: GID of the peer; on a G2G IO die see KIWI_G2G_DGID_ACCEL of kiwi_abi/g2g.h
 */
struct kiwi_connect {
	uint32_t dest_qpn;
	uint32_t sq_psn;
	uint32_t rq_psn;
	uint32_t access;
	uint32_t flow_label;
	uint16_t udp_sport;
	uint8_t port;
	uint8_t sgid_index;
	uint8_t mtu;
	uint8_t timeout;
	uint8_t retry_cnt;
	uint8_t rnr_retry;
	uint8_t min_rnr_timer;
	uint8_t max_rd_atomic;
	uint8_t max_dest_rd_atomic;
	uint8_t hop_limit;
	uint8_t traffic_class;
	uint8_t dmac[6];
	uint8_t dgid[16];
};

/*
 * Fill in usual values for @port of @dev: its MTU, GID 0, all rights, timeout 14,
 * 7 retries, RNR retries without end, RNR timer 12, as many READs as the device can.
 * -ENOTTY on a G2G IO die.
 */
int kiwi_connect_init(struct kiwi_device *dev, unsigned int port, struct kiwi_connect *c);

/*
 * RESET to INIT. Receives may be handed over from here on, and no sooner.
 * @access: KIWI_ACCESS_REMOTE_*
 */
int kiwi_qp_init(struct kiwi_qp *qp, unsigned int port, unsigned int access);

/* RESET or INIT to RTS in one call. On failure the QP is where the failing step left it. */
int kiwi_qp_connect(struct kiwi_qp *qp, const struct kiwi_connect *c);

/* Queues for code elsewhere ------------------------------------------------ */

/*
 * Fill in all that code on a GPU needs to work a ring. @id: of a QP or CQ.
 * @kind: enum kiwi_queue_kind
 */
int kiwi_queue_query(struct kiwi_device *dev, uint32_t id, uint32_t kind,
		     struct kiwi_snic_queue_query *out);

/*
 * Have errors published in memory, once for a handle. @mem: the memory; NULL: the library
 * allocates it. @page: where this process sees it; with @mem it is @mem->cpu.
 */
int kiwi_error_page(struct kiwi_device *dev, const struct kiwi_ring_mem *mem,
		    const volatile struct kiwi_error_page **page);

/*
 * Prepare for kiwi_proxy_poll() of kiwi/proxy.h. @queue: descriptor of a send or receive
 * queue; @db: the doorbell page that it names; @producer: 64-bit word that the GPU stores its
 * producer index to, and what it holds now counts as rung. -EINVAL when the page is another one,
 * or the doorbell is none that is rung with one store of 8 bytes.
 */
int kiwi_proxy_init(struct kiwi_proxy *proxy, const struct kiwi_snic_queue_query *queue,
		    const struct kiwi_doorbell *db, const uint64_t *producer);

/* Events ------------------------------------------------------------------ */

/*
 * The next event of the device. @timeout_ms: as poll(2). Return: 1 with @event
 * filled in, 0 when none came in time, a negative errno.
 */
int kiwi_next_event(struct kiwi_device *dev, struct kiwi_snic_event *event, int timeout_ms);

/* Words for values; "?" for what is none. --------------------------------- */

const char *kiwi_status_text(unsigned int cqe_status);
const char *kiwi_opcode_text(unsigned int cqe_opcode);
const char *kiwi_event_text(unsigned int event_type);
const char *kiwi_qp_state_text(unsigned int state);
const char *kiwi_port_state_text(unsigned int state);
const char *kiwi_mr_state_text(unsigned int state);
const char *kiwi_path_text(unsigned int path);
const char *kiwi_path_reason_text(unsigned int reason);
const char *kiwi_check_text(unsigned int id);
const char *kiwi_check_state_text(unsigned int state);

#ifdef __cplusplus
}
#endif

#endif /* KIWI_KIWI_H */
