/* SPDX-License-Identifier: GPL-2.0 */
/* One end of the connection: device, memory, queues. */
#ifndef END_H
#define END_H

#include "../mem/mem.h"
#include "g2g.h"
#include "perf.h"

struct end {
	const struct end_options *options;
	const struct work *work;
	struct kiwi_g2g *g2g;	/* NULL: the device is a SNIC */
	struct kiwi_device *dev;
	struct kiwi_pd *pd;
	struct kiwi_cq *send_cq;
	struct kiwi_cq *recv_cq;
	struct kiwi_qp *qp;
	struct kiwi_mr *mr;
	struct mem mem;
	uint32_t psn;
};

/* What the other end has to know. */
struct address {
	uint32_t qpn;
	uint32_t psn;
	uint32_t rkey;
	uint32_t mtu;		/* code */
	uint32_t rd_atomic;
	uint64_t iova;
	uint8_t gid[16];	/* of a die: as struct kiwi_connect has its accelerator id */
	uint8_t mac[6];
};

/* How the region is registered, in words that fit a line of the control connection. */
#define END_ABOUT	160

/* These tell what went wrong before they return false. */
bool end_open(struct end *end, const struct end_options *options, const struct work *work,
	      uint32_t sq_units);
bool end_address(struct end *end, struct address *address);
bool end_connect(struct end *end, const struct address *mine, const struct address *peer);
void end_about(struct end *end, char about[END_ABOUT]);
void end_close(struct end *end);

static inline void *slot_cpu(const struct end *end, const struct layout *l, uint64_t iteration)
{
	return (char *)end->mem.cpu + iteration % l->slots * l->stride;
}

static inline uint64_t slot_addr(uint64_t iova, const struct layout *l, uint64_t iteration)
{
	return iova + iteration % l->slots * l->stride;
}

/* Tell of a completion that is none to be happy with. */
void tell_completion(const struct end *end, const struct kiwi_wc *wc);

/* Tell of all events that wait at the device. False when it, or a queue, is dead. */
bool tell_events(const struct end *end);

#endif /* END_H */
